/* Families of functions in which integrals are looked for (see
 * study/invariants/integrals.h). */
#include <string.h>

#include "expr/diff.h"
#include "study/invariants/integrals.h"

/* Functions of degree at most d in n variables: (n + d)! / (n! d!). */
static double choose(uint32_t n, uint32_t d)
{
    double count = 1;
    for (uint32_t k = 1; k <= d; k++)
        count = count * (n + k) / k;
    return count;
}

uint32_t ns_family_size(const ns_family *f)
{
    const double count = choose(f->velocity.n, f->degree_velocity) *
                             choose(f->shape.n, f->degree_shape) +
                         f->single.n;
    return count < 1e9 ? (uint32_t)(count + 0.5) : UINT32_MAX;
}

static ns_ex value_of(const ns_system *s, const char *name)
{
    const uint32_t state = ns_system_state_named(s, name);
    if (state < s->states.n)
        return s->states.at[state].symbol;
    for (uint32_t i = 0; i < s->observables.n; i++)
        if (strcmp(s->observables.at[i].name, name) == 0)
            return s->observables.at[i].value;
    return 0;
}

/* NAME.x, .y, .z; how many there are. */
static uint32_t vector_of(ns_arena *a, const ns_system *s, const char *name, ns_atom out[3])
{
    static const char *const part = "xyz";
    uint32_t n = 0;
    for (int i = 0; i < 3; i++) {
        const char *full = ns_arena_format(a, "%s.%c", name, part[i]);
        const ns_ex value = value_of(s, full);
        if (value)
            out[n++] = (ns_atom){full, value};
    }
    return n;
}

/* How the equations use a coordinate: only within sin(q), cos(q), or otherwise too. */
typedef enum use { UNUSED, ANGLE, PLAIN } use;

static use use_of(ns_flow *flow, ns_ex q)
{
    const ns_system *s = flow->system;
    ns_graph *g = s->graph;
    ns_ex *roots = NS_NEW_ARRAY(flow->arena, ns_ex, s->states.n + s->constraints.n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->states.n; i++)
        roots[n++] = s->states.at[i].rate;
    for (uint32_t i = 0; i < s->constraints.n; i++)
        roots[n++] = s->constraints.at[i].residual;
    const uint32_t size = ns_graph_size(g);
    bool *used = NS_NEW_ARRAY(flow->arena, bool, size);
    /* angle[e]: q enters e only as a summand of angles;  */
    bool *angle = NS_NEW_ARRAY(flow->arena, bool, size);
    ns_graph_mark(g, roots, n, used);
    use found = UNUSED;
    for (uint32_t k = 0; k < n && found != PLAIN; k++)
        found = roots[k] == q ? PLAIN : found;
    angle[q] = true;
    for (ns_ex e = 1; e < size && found != PLAIN; e++) {
        const ns_op op = ns_graph_op(g, e);
        const ns_ex *args = ns_graph_args(g, e);
        for (uint32_t k = 0; used[e] && k < ns_graph_node(g, e)->n; k++) {
            if (!angle[args[k]])
                continue;
            if (op == NS_OP_SIN || op == NS_OP_COS || op == NS_OP_TAN)
                found = found == UNUSED ? ANGLE : found;
            else if (op == NS_OP_ADD || op == NS_OP_SUB || op == NS_OP_NEG)
                angle[e] = true;
            else
                found = PLAIN;
        }
    }
    for (uint32_t k = 0; k < n && found != PLAIN; k++)
        found = angle[roots[k]] ? PLAIN : found;
    return found;
}

static void add_coordinate(ns_flow *flow, ns_family *f, uint32_t i, bool shape)
{
    ns_arena *a = flow->arena;
    const ns_state *x = &flow->system->states.at[i];
    ns_graph *g = flow->system->graph;
    const use how = use_of(flow, x->symbol);
    if (how != UNUSED)
        NS_PUSH(a, f->variable, (ns_atom){x->name, x->symbol});
    if (!shape)
        return;
    if (how == ANGLE) {
        NS_PUSH(a, f->shape,
                (ns_atom){ns_arena_format(a, "cos(%s)", x->name), ns_cos(g, x->symbol)});
        NS_PUSH(a, f->shape,
                (ns_atom){ns_arena_format(a, "sin(%s)", x->name), ns_sin(g, x->symbol)});
    } else if (how == PLAIN) {
        NS_PUSH(a, f->shape, (ns_atom){x->name, x->symbol});
    }
}

/* Rolling bodies: omega, the vertical and the arm to the contact, in the body frame. */
static bool rolling_atoms(ns_flow *flow, ns_family *f)
{
    static const char *const vertical[] = {"vertical", "Gamma"};
    ns_arena *a = flow->arena;
    const ns_system *s = flow->system;
    ns_atom omega[3], up[3], arm[3];
    const uint32_t n_omega = vector_of(a, s, "omega", omega);
    uint32_t n_up = 0;
    for (int k = 0; k < 2 && !n_up; k++)
        n_up = vector_of(a, s, vertical[k], up);
    if (n_omega != 3 || n_up != 3)
        return false;
    const uint32_t n_arm = vector_of(a, s, "s", arm);
    const bool own = f->velocity.n > 0;
    static const char *const heights[] = {"com.z", "normal.z"};
    for (int i = 3; i-- > 0;)
        NS_PUSH(a, f->variable, up[i]);
    for (uint32_t i = n_arm; i-- > 0;)
        NS_PUSH(a, f->variable, arm[i]);
    for (int i = 0; i < 2; i++)
        if (value_of(s, heights[i]))
            NS_PUSH(a, f->variable, (ns_atom){heights[i], value_of(s, heights[i])});
    for (int i = 0; i < 3 && !own; i++)
        NS_PUSH(a, f->velocity, omega[i]);
    if (f->shape.n)
        return true;
    for (uint32_t i = 0; i < n_arm; i++)
        NS_PUSH(a, f->shape, arm[i]);
    for (int i = 0; i < 3; i++)
        NS_PUSH(a, f->shape, up[i]);
    return true;
}

void ns_family_complete(ns_flow *flow, ns_family *f, bool *reduced)
{
    ns_arena *a = flow->arena;
    const ns_system *s = flow->system;
    const bool own_velocity = f->velocity.n > 0, own_shape = f->shape.n > 0;
    *reduced = false;
    if (!rolling_atoms(flow, f)) {
        for (uint32_t i = 0; i < s->states.n; i++) {
            if (s->states.at[i].odd && !own_velocity)
                NS_PUSH(a, f->velocity,
                        (ns_atom){s->states.at[i].name, s->states.at[i].symbol});
            else if (!s->states.at[i].odd)
                add_coordinate(flow, f, i, !own_shape);
        }
    }
    if (s->energy && s->conservative) {
        NS_PUSH(a, f->single, (ns_atom){0});
        memmove(f->single.at + 1, f->single.at, (f->single.n - 1) * sizeof *f->single.at);
        f->single.at[0] = (ns_atom){"energy", s->energy};
        f->energy = true;
    }
    const bool own_v = f->degree_velocity != UINT32_MAX, own_s = f->degree_shape != UINT32_MAX;
    f->degree_velocity = own_v ? f->degree_velocity : 2;
    f->degree_shape = own_s ? f->degree_shape : 2;
    /* states of large systems take long to find */
    const uint32_t most = flow->n > 30 ? NS_INTEGRALS_MOST / 6 : NS_INTEGRALS_MOST;
    while (ns_family_size(f) > most &&
           ((!own_s && f->degree_shape > 0) || (!own_v && f->degree_velocity > 1))) {
        if (!own_s && (f->degree_shape >= f->degree_velocity || own_v))
            f->degree_shape--;
        else if (!own_v && f->degree_velocity > 1)
            f->degree_velocity--;
        else
            f->degree_shape--;
        *reduced = true;
    }
}

ns_family *ns_family_default(ns_flow *flow, bool *reduced)
{
    ns_family *f = NS_NEW(flow->arena, ns_family);
    f->degree_velocity = f->degree_shape = UINT32_MAX;
    ns_family_complete(flow, f, reduced);
    return f;
}
