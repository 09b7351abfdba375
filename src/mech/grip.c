/* A contact g has a slip velocity u_g = A_g v + .. (a row of constraints) and a normal force
 * N_g.
 *
 *     stick:  u_g = 0, friction T_g = lambda_g, as long as |T_g| <= mu_static N_g
 *     slide:  T_g = -mu_kinetic N_g w_g,  w_g = +-1 the direction of slip, a state
 *
 * Friction acts on the coordinates with A_g^T T_g.  Every set of sliding contacts is a mode.
 * In each of them the normal forces of those that slide, and reactions in forces and in normal
 * forces, are unknowns z of linear equations (mech/common/reactions.h): with their symbols in
 * the forces, accelerations a(z) and multipliers lambda(z) are solved for, which gives
 * N_g(a(z), lambda(z), z); then z = y(z) is solved.
 *
 *     event    in     when                          then
 *     slips    stick  |T_g| leaves the static cone  slide, w = -sign T
 *     sticks   slide  w u falls to zero             stick within the cone; otherwise slide the
 *                                                   other way, w = -sign T of stick
 *     liftoff  all    N falls to zero               ends: contacts do not open here
 *     jams     all    det(1 - B) falls to zero      ends (Painleve's paradox)
 *
 * As the friction jumps where one contact changes, others may have to slide from then on, too:
 * those whose T in the new mode leaves the cone.  Internal states, which only jumps change:
 * `way` w_g, `slide` 0 or 1, `begin` 1 while slip has just begun (it may begin with u' = 0). */
#include "mech/grip.h"

#include <string.h>

#include "expr/subst.h"
#include "mech/common/block.h"

/* In relation to speeds around: what is slip, and what is rounding of none. */
static const double begins_at = 1e-7, touching = 1e-9, nothing = 1e-13;

/* ---- reading ----------------------------------------------------------------------------- */

bool ns_grip_read(ns_description *d, ns_system *s, ns_grips *grips)
{
    static const char *const names[] = {"slip", "normal", "friction", NULL};
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *b = &d->blocks.at[i];
        if (b->form != &ns_block_contact)
            continue;
        const ns_property *slip = ns_block_find(b, "slip");
        ns_grip *one = &grips->at[grips->n];
        ns_ex u;
        if (grips->n == NS_GRIPS_MOST) {
            ns_diag_error(d->diag, b->span, "there may be %d contacts at most", NS_GRIPS_MOST);
            return false;
        }
        if (!ns_block_known(d, b, names))
            return false;
        if (!slip || !ns_block_find(b, "normal") || !ns_block_find(b, "friction")) {
            ns_diag_error(d->diag, b->span,
                          "a contact needs `slip` (a velocity), `normal` (a force) and "
                          "`friction coulomb(MU)`");
            return false;
        }
        if (!ns_block_scalar(d, slip, 0, &u) || !ns_law_read(d, b, &one->law))
            return false;
        for (uint32_t k = 0; k < d->constraints.n; k++)
            if (strcmp(d->constraints.at[k].name, b->name) == 0) {
                ns_diag_error(d->diag, b->name_span, "there is a constraint `%s` already",
                              b->name);
                return false;
            }
        if (!ns_graph_depends_kind(d->graph, u, NS_SYM_VELOCITY, NULL)) {
            ns_diag_error(d->diag, slip->value_span,
                          "`slip` is a velocity: what slides there, in terms of x', ...");
            return false;
        }
        one->dot = ns_arena_format(d->arena, "%s.", b->name);
        one->span = b->span;
        one->block = b;
        one->row = d->constraints.n;
        grips->n++;
        NS_PUSH(d->arena, d->constraints,
                (ns_constraint_line){.name = b->name, .residual = u, .span = slip->value_span});
    }
    if (!grips->holds)
        grips->holds = "stick";
    if (grips->n && s->modes.n) {
        ns_diag_error(d->diag, grips->at[0].span,
                      "contacts with friction have modes of their own: leave `mode` lines out");
        return false;
    }
    return true;
}

bool ns_grip_normals(ns_description *d, ns_system *s, const ns_dalembert *w, ns_grips *grips)
{
    for (uint32_t i = 0; i < grips->n; i++) {
        ns_grip *one = &grips->at[i];
        const ns_property *friction = one->law.given[0];
        if (one->law.friction != NS_FRICTION_COULOMB) {
            ns_diag_error(d->diag, friction ? friction->value_span : one->span,
                          "this contact takes `friction coulomb(MU)` or `coulomb(STATIC, "
                          "KINETIC)`; other friction is a `force`");
            return false;
        }
        if (!one->block)
            continue;
        const ns_property *normal = ns_block_find(one->block, "normal");
        if (!ns_block_scalar(d, normal, 0, &one->normal) ||
            !ns_reactions_affine(s, one->normal, w->reaction, w->n_reactions,
                                 normal->value_span))
            return false;
        uint32_t used = 0;
        for (uint32_t r = 0; r < w->n_reactions; r++)
            used += ns_graph_depends(d->graph, one->normal, w->reaction + r, 1);
        if (used > 2) {
            ns_diag_error(d->diag, normal->value_span,
                          "a normal force may contain two reactions at most, not %u", used);
            return false;
        }
    }
    return true;
}

typedef struct sizing {
    const ns_system *s;
    const double *p;
} sizing;

static double number_of(void *context, ns_ex e)
{
    const sizing *z = context;
    double value;
    ns_system_eval(z->s, &e, 1, 0, z->p, NULL, &value);
    return value;
}

bool ns_grip_sizes(const ns_system *s, const ns_grips *grips, ns_diag *diag, const double *p)
{
    sizing z = {s, p};
    for (uint32_t i = 0; grips && i < grips->n; i++)
        if (!ns_law_sizes(&grips->at[i].law, diag, number_of, &z))
            return false;
    return true;
}

/* ---- modes ------------------------------------------------------------------------------- */

enum { MODES = 1 << NS_GRIPS_MOST };

typedef struct outcome {
    ns_ex *a, *lambda; /* of all rows: friction where one slides */
    ns_ex normal[NS_GRIPS_MOST];
    ns_ex firm; /* det(1 - B) */
} outcome;

typedef struct work {
    ns_dalembert *w;
    const ns_grips *grips;
    ns_system *s;
    ns_graph *g;
    uint32_t n, m, count, modes;
    void (*solve)(const ns_dalembert *, ns_ex *a, ns_ex *lambda);
    ns_ex z[NS_GRIPS_MOST];   /* normal forces as symbols */
    ns_ex own[NS_GRIPS_MOST]; /* u */
    ns_ex size[NS_GRIPS_MOST];
    ns_ex way[NS_GRIPS_MOST], slide[NS_GRIPS_MOST], begin[NS_GRIPS_MOST];
    uint32_t way_at[NS_GRIPS_MOST], slide_at[NS_GRIPS_MOST], begin_at[NS_GRIPS_MOST];
    uint32_t friction_at;
    outcome in[MODES];
} work;

static bool slides(uint32_t mode, uint32_t i)
{
    return mode >> i & 1;
}

static ns_ex kinetic(const work *k, uint32_t i)
{
    ns_ex size = ns_mul(k->g, k->grips->at[i].law.moving, k->z[i]);
    return ns_neg(k->g, ns_mul(k->g, size, k->way[i]));
}

/* Which grip's slip a row is; UINT32_MAX if none. */
static uint32_t grip_of(const work *k, uint32_t row)
{
    for (uint32_t i = 0; i < k->count; i++)
        if (k->grips->at[i].row == row)
            return i;
    return UINT32_MAX;
}

/* a(z) and lambda(z): rows that hold, friction of those that do not. */
static void solve_rows(work *k, uint32_t mode)
{
    ns_graph *g = k->g;
    ns_arena *arena = k->s->arena;
    const uint32_t n = k->n;
    ns_dalembert part = *k->w;
    outcome *o = &k->in[mode];
    ns_ex *held = NS_NEW_ARRAY(arena, ns_ex, k->m + 1);
    part.A = NS_NEW_ARRAY(arena, ns_ex, (size_t)k->m * n + 1);
    part.b = NS_NEW_ARRAY(arena, ns_ex, k->m + 1);
    part.Q = ns_arena_copy(arena, k->w->Q, n * sizeof *part.Q);
    part.m = 0;
    o->a = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    o->lambda = NS_NEW_ARRAY(arena, ns_ex, k->m + 1);
    for (uint32_t row = 0; row < k->m; row++) {
        const uint32_t i = grip_of(k, row);
        const ns_ex *A = k->w->A + (size_t)row * n;
        if (i == UINT32_MAX || !slides(mode, i)) {
            memcpy(part.A + (size_t)part.m * n, A, n * sizeof *A);
            part.b[part.m++] = k->w->b[row];
            continue;
        }
        o->lambda[row] = kinetic(k, i);
        for (uint32_t c = 0; c < n; c++)
            part.Q[c] = ns_add(g, part.Q[c], ns_mul(g, A[c], o->lambda[row]));
    }
    k->solve(&part, o->a, held);
    for (uint32_t row = 0, at = 0; row < k->m; row++) {
        const uint32_t i = grip_of(k, row);
        if (i == UINT32_MAX || !slides(mode, i))
            o->lambda[row] = held[at++];
    }
}

/* Normal forces and reactions of a mode, solved for. */
static void solve_mode(work *k, uint32_t mode)
{
    enum { MOST = NS_REACTIONS_MOST };
    ns_graph *g = k->g;
    const ns_dalembert *w = k->w;
    outcome *o = &k->in[mode];
    ns_ex z[MOST], y[MOST], value[MOST];
    uint32_t unknowns = 0;
    solve_rows(k, mode);
    ns_ex *accel = NS_NEW_ARRAY(k->s->arena, ns_ex, k->n);
    for (uint32_t i = 0; i < k->n; i++)
        accel[i] = w->d->coordinates.at[i].a;
    for (uint32_t i = 0; i < k->count; i++) {
        o->normal[i] = ns_subst_one(g, k->grips->at[i].normal, accel, o->a, k->n);
        if (slides(mode, i)) {
            z[unknowns] = k->z[i];
            y[unknowns++] = o->normal[i];
        }
    }
    for (uint32_t r = 0; r < w->n_reactions; r++) {
        bool used = false;
        for (uint32_t i = 0; i < w->n_used; i++)
            used = used || w->used[i] == r;
        for (uint32_t i = 0; i < k->count; i++)
            used = used || ns_graph_depends(g, k->grips->at[i].normal, w->reaction + r, 1);
        if (used && unknowns < MOST) {
            z[unknowns] = w->reaction[r];
            y[unknowns++] = o->lambda[r];
        }
    }
    o->firm = ns_one(g);
    if (!unknowns)
        return;
    o->firm = ns_reactions_solve(g, unknowns, z, y, value);
    ns_ex **at = NS_NEW_ARRAY(k->s->arena, ns_ex *, k->n + k->m + k->count);
    uint32_t places = 0;
    for (uint32_t i = 0; i < k->n; i++)
        at[places++] = &o->a[i];
    for (uint32_t i = 0; i < k->m; i++)
        at[places++] = &o->lambda[i];
    for (uint32_t i = 0; i < k->count; i++)
        at[places++] = &o->normal[i];
    ns_reactions_put(g, unknowns, z, value, at, places);
}

/* (static mu N)^2 - T^2 and T of contact i in this mode. */
static ns_ex margin(const work *k, uint32_t mode, uint32_t i)
{
    const ns_grip *one = &k->grips->at[i];
    ns_ex limit = ns_mul(k->g, one->law.fixed, k->in[mode].normal[i]);
    return ns_sub(k->g, ns_powi(k->g, limit, 2),
                  ns_powi(k->g, k->in[mode].lambda[one->row], 2));
}

static ns_ex needed(const work *k, uint32_t mode, uint32_t i)
{
    return k->in[mode].lambda[k->grips->at[i].row];
}

static ns_ex by_mode(work *k, ns_ex (*of)(work *k, uint32_t mode, uint32_t i), uint32_t i)
{
    ns_ex value[MODES];
    for (uint32_t mode = 0; mode < k->modes; mode++)
        value[mode] = of(k, mode, i);
    return ns_system_by_mode(k->s, value);
}

/* ---- states and values ------------------------------------------------------------------- */

static ns_ex acceleration(work *k, uint32_t mode, uint32_t i)
{
    return k->in[mode].a[i];
}

static ns_ex multiplier(work *k, uint32_t mode, uint32_t row)
{
    return k->in[mode].lambda[row];
}

static ns_ex normal_force(work *k, uint32_t mode, uint32_t i)
{
    return k->in[mode].normal[i];
}

static ns_ex power(work *k, uint32_t mode, uint32_t unused)
{
    (void)unused;
    ns_ex sum = ns_zero(k->g);
    for (uint32_t i = 0; i < k->count; i++)
        if (slides(mode, i))
            sum = ns_add(k->g, sum, ns_mul(k->g, needed(k, mode, i), k->own[i]));
    return sum;
}

static ns_ex held_slip(work *k, uint32_t mode, uint32_t i)
{
    return slides(mode, i) ? ns_zero(k->g) : k->own[i];
}

static uint32_t internal(work *k, const char *name, uint32_t i, ns_ex *symbol)
{
    ns_system *s = k->s;
    name = ns_arena_format(s->arena, "%s%s", k->grips->at[i].dot, name);
    *symbol = ns_symbol_new(k->g, name, NS_SYM_STATE, s->states.n);
    return ns_system_add_state(s, NS_QUANTITY_OTHER, name, *symbol, ns_zero(k->g), "");
}

/* Symbols of internal states are needed before there are accelerations; their places are after
 * coordinates and velocities. */
static void add_states(work *k)
{
    const ns_description *d = k->w->d;
    ns_system *s = k->s;
    for (uint32_t i = 0; i < k->n; i++)
        ns_system_add_coordinate(s, &d->coordinates.at[i], k->w->v[i]);
    for (uint32_t i = 0; i < k->n; i++)
        ns_system_add_velocity(s, &d->coordinates.at[i], k->w->v[i], "");
    ns_ex work_symbol = ns_symbol_new(k->g, "work.friction", NS_SYM_STATE, s->states.n);
    k->friction_at = ns_system_add_state(s, NS_QUANTITY_OTHER, "work.friction", work_symbol,
                                         ns_zero(k->g), "J");
    for (uint32_t i = 0; i < k->count; i++) {
        k->way_at[i] = internal(k, "way", i, &k->way[i]);
        k->slide_at[i] = internal(k, "slide", i, &k->slide[i]);
        k->begin_at[i] = internal(k, "begin", i, &k->begin[i]);
        for (uint32_t at = k->way_at[i]; at <= k->begin_at[i]; at++)
            s->states.at[at].internal = true;
    }
}

static void set_rates(work *k)
{
    ns_system *s = k->s;
    ns_dalembert *w = k->w;
    for (uint32_t i = 0; i < k->n; i++) {
        ns_ex a = by_mode(k, acceleration, i);
        s->states.at[k->n + i].rate = a;
        for (uint32_t j = 0; j < s->accelerations.n; j++)
            if (s->accelerations.at[j].from == w->d->coordinates.at[i].a)
                s->accelerations.at[j].to = a;
    }
    s->states.at[k->friction_at].rate = by_mode(k, power, 0);
    for (uint32_t r = 0; r < w->n_reactions; r++)
        NS_PUSH(s->arena, s->accelerations,
                (ns_replacement){.from = w->reaction[r], .to = by_mode(k, multiplier, r)});
    for (uint32_t i = 0; i < k->count; i++) {
        const uint32_t at = w->at_velocity[k->grips->at[i].row];
        s->constraints.at[at].residual = by_mode(k, held_slip, i);
    }
}

static void add_values(work *k)
{
    ns_system *s = k->s;
    ns_graph *g = k->g;
    const ns_description *d = k->w->d;
    ns_system_observe(s, NS_QUANTITY_ENERGY, "energy", s->energy, "J", true);
    for (uint32_t row = 0; row < k->m; row++)
        ns_system_multiplier(s, d->constraints.at[row].name, by_mode(k, multiplier, row),
                             grip_of(k, row) == UINT32_MAX);
    for (uint32_t i = 0; i < k->count; i++) {
        const char *dot = k->grips->at[i].dot;
        ns_system_observe(s, NS_QUANTITY_OTHER, ns_arena_format(s->arena, "%sslip", dot),
                          k->own[i], "m/s", true);
        if (k->grips->bare)
            continue;
        ns_ex N = by_mode(k, normal_force, i);
        ns_ex T = ns_abs(g, by_mode(k, multiplier, k->grips->at[i].row));
        ns_system_observe(s, NS_QUANTITY_FORCE,
                          ns_arena_format(s->arena, "%sforce.normal", dot), N, "N", true);
        ns_system_observe(s, NS_QUANTITY_FORCE,
                          ns_arena_format(s->arena, "%sforce.friction", dot), T, "N", true);
        ns_system_observe(s, NS_QUANTITY_FORCE, ns_arena_format(s->arena, "%sforce.ratio", dot),
                          ns_div(g, T, ns_abs(g, N)), "", true);
    }
    if (!k->w->conservative)
        return;
    ns_ex spent = s->states.at[k->friction_at].symbol;
    NS_PUSH(s->arena, s->invariants,
            (ns_invariant){.name = "balance", .value = ns_sub(g, s->energy, spent)});
}

/* ---- jumps ------------------------------------------------------------------------------- */

static void reset(work *k, ns_jump *j, uint32_t state, ns_ex value)
{
    NS_PUSH(k->s->arena, j->resets, (ns_reset){state, value});
}

static ns_ex opposite(work *k, ns_ex T)
{
    ns_ex one = ns_one(k->g), two = ns_number(k->g, 2);
    return ns_sub(k->g, one, ns_mul(k->g, two, ns_step(k->g, T))); /* -sign, never 0 */
}

/* The mode after contact `i` is let go or tried to hold: what others do there. */
static ns_ex others_slide(work *k, uint32_t mode, uint32_t to, uint32_t other)
{
    return slides(mode, other) ? ns_one(k->g)
                               : ns_step(k->g, ns_neg(k->g, margin(k, to, other)));
}

static void settle_others(work *k, ns_jump *j, uint32_t i, bool let_go)
{
    ns_graph *g = k->g;
    for (uint32_t other = 0; other < k->count; other++) {
        ns_ex goes[MODES], way[MODES], begins[MODES];
        if (other == i)
            continue;
        for (uint32_t mode = 0; mode < k->modes; mode++) {
            const uint32_t to = let_go ? mode | 1u << i : mode & ~(1u << i);
            goes[mode] = others_slide(k, mode, to, other);
            way[mode] = slides(mode, other) ? k->way[other] : opposite(k, needed(k, to, other));
            if (let_go && !slides(mode, i)) { /* in the direction in which it begins */
                const ns_ex begin = opposite(k, needed(k, mode, i));
                goes[mode] = ns_subst_one(g, goes[mode], &k->way[i], &begin, 1);
                way[mode] = ns_subst_one(g, way[mode], &k->way[i], &begin, 1);
            }
            begins[mode] = slides(mode, other) ? k->begin[other] : ns_one(g);
        }
        reset(k, j, k->slide_at[other], ns_system_by_mode(k->s, goes));
        reset(k, j, k->way_at[other], ns_system_by_mode(k->s, way));
        reset(k, j, k->begin_at[other], ns_system_by_mode(k->s, begins));
    }
}

/* To the mode that the states `slide` say. */
static void add_ways(work *k, ns_jump *j)
{
    ns_graph *g = k->g;
    for (uint32_t mode = 0; mode < k->modes; mode++) {
        ns_way way = {.mode = mode};
        for (uint32_t i = 0; i < k->count; i++) {
            ns_ex off = ns_sub(g, k->slide[i], ns_number(g, 0.5));
            NS_PUSH(k->s->arena, way.needs, slides(mode, i) ? off : ns_neg(g, off));
        }
        NS_PUSH(k->s->arena, j->ways, way);
    }
}

static ns_jump *jump(work *k, uint32_t i, const char *name, bool sliding, ns_ex value,
                     int direction, bool hidden)
{
    ns_jump *j = NS_NEW(k->s->arena, ns_jump);
    for (uint32_t mode = 0; mode < k->modes; mode++)
        if (slides(mode, i) == sliding)
            j->in |= (uint64_t)1 << mode;
    NS_PUSH(k->s->arena, k->s->events,
            (ns_event){.name = ns_arena_format(k->s->arena, "%s%s", k->grips->at[i].dot, name),
                       .value = value,
                       .direction = direction,
                       .action = NS_EVENT_RECORD,
                       .internal = hidden,
                       .jump = j});
    return j;
}

static ns_ex margin_here(work *k, uint32_t mode, uint32_t i)
{
    return slides(mode, i) ? ns_one(k->g) : margin(k, mode, i);
}

/* As if contact i held: its margin, and the friction it needs. */
static ns_ex margin_held(work *k, uint32_t mode, uint32_t i)
{
    return margin(k, mode & ~(1u << i), i);
}

static ns_ex needed_held(work *k, uint32_t mode, uint32_t i)
{
    return needed(k, mode & ~(1u << i), i);
}

static ns_ex firm(work *k, uint32_t mode, uint32_t unused)
{
    (void)unused;
    return k->in[mode].firm;
}

static void add_events_of(work *k, uint32_t i)
{
    ns_graph *g = k->g;
    ns_ex one = ns_one(g), zero = ns_zero(g);
    ns_ex T = by_mode(k, needed_held, i);
    ns_jump *j = jump(k, i, "slips", false, by_mode(k, margin_here, i), -1, false);
    reset(k, j, k->slide_at[i], one);
    reset(k, j, k->way_at[i], opposite(k, T));
    reset(k, j, k->begin_at[i], one);
    settle_others(k, j, i, true);
    add_ways(k, j);

    ns_ex along = ns_mul(g, k->way[i], k->own[i]);
    ns_ex slack = ns_mul(g, k->begin[i], ns_mul(g, ns_number(g, nothing), k->size[i]));
    j = jump(k, i, "sticks", true, ns_add(g, along, slack), -1, false);
    reset(k, j, k->slide_at[i], ns_step(g, ns_neg(g, by_mode(k, margin_held, i))));
    reset(k, j, k->way_at[i], opposite(k, T));
    reset(k, j, k->begin_at[i], one);
    settle_others(k, j, i, false);
    add_ways(k, j);

    ns_ex more = ns_sub(g, along, ns_mul(g, ns_number(g, begins_at), k->size[i]));
    ns_ex value = ns_sub(g, ns_mul(g, k->begin[i], more), ns_sub(g, one, k->begin[i]));
    j = jump(k, i, "slip.begins", true, value, 1, true);
    reset(k, j, k->begin_at[i], zero);

    NS_PUSH(k->s->arena, k->s->events,
            (ns_event){.name = ns_arena_format(k->s->arena, "%sliftoff", k->grips->at[i].dot),
                       .value = by_mode(k, normal_force, i),
                       .direction = -1,
                       .condition = true,
                       .action = NS_EVENT_STOP,
                       .meaning = "the normal force vanishes: the contact would open"});
}

/* As many contacts as can hold do. */
static void add_start(work *k)
{
    ns_graph *g = k->g;
    ns_start *start = &k->s->start;
    for (uint32_t count = 0; count <= k->count; count++)
        for (uint32_t mode = 0; mode < k->modes; mode++) {
            ns_way way = {.mode = mode};
            if ((uint32_t)__builtin_popcount(mode) != count)
                continue;
            for (uint32_t i = 0; i < k->count; i++) {
                if (slides(mode, i))
                    continue;
                ns_ex still = ns_mul(g, ns_number(g, touching), k->size[i]);
                NS_PUSH(k->s->arena, way.needs, ns_sub(g, still, ns_abs(g, k->own[i])));
                NS_PUSH(k->s->arena, way.needs, margin(k, mode, i));
            }
            NS_PUSH(k->s->arena, start->ways, way);
        }
    for (uint32_t i = 0; i < k->count; i++) {
        ns_ex bit[MODES], one = ns_one(g);
        for (uint32_t mode = 0; mode < k->modes; mode++)
            bit[mode] = slides(mode, i) ? one : ns_zero(g);
        ns_ex least = ns_mul(g, ns_number(g, touching), k->size[i]);
        ns_ex moves = ns_step(g, ns_sub(g, ns_abs(g, k->own[i]), least));
        ns_ex along = ns_neg(g, opposite(k, k->own[i]));
        ns_ex begins = opposite(k, by_mode(k, needed_held, i));
        ns_ex way = ns_add(g, begins, ns_mul(g, moves, ns_sub(g, along, begins)));
        const ns_reset all[3] = {{k->slide_at[i], ns_system_by_mode(k->s, bit)},
                                 {k->way_at[i], way},
                                 {k->begin_at[i], ns_sub(g, one, moves)}};
        for (int r = 0; r < 3; r++)
            NS_PUSH(k->s->arena, start->settle, all[r]);
    }
}

/* ---- the system -------------------------------------------------------------------------- */

static void prepare(work *k)
{
    ns_graph *g = k->g;
    ns_text name;
    for (uint32_t i = 0; i < k->count; i++) {
        const uint32_t row = k->grips->at[i].row;
        const ns_ex *A = k->w->A + (size_t)row * k->n;
        ns_ex sum = ns_number(g, 1e-6); /* 1 mm/s: something at rest has a scale, too */
        for (uint32_t c = 0; c < k->n; c++)
            sum = ns_add(g, sum, ns_powi(g, ns_mul(g, A[c], k->w->v[c]), 2));
        k->own[i] = k->w->psi[row];
        k->size[i] = ns_sqrt(g, sum);
        k->z[i] = ns_symbol_new(g, "normal force", NS_SYM_LOCAL, i);
    }
    for (uint32_t mode = 0; mode < k->modes; mode++) {
        name = ns_text_new(k->s->arena);
        for (uint32_t i = 0; i < k->count; i++)
            ns_text_addf(&name, "%s%s", i ? "+" : "",
                         slides(mode, i) ? "slide" : k->grips->holds);
        NS_PUSH(k->s->arena, k->s->modes, ns_text_string(&name));
    }
}

void ns_grip_assemble(ns_dalembert *w, const ns_grips *grips,
                      void (*solve)(const ns_dalembert *, ns_ex *a, ns_ex *lambda))
{
    work k = {.w = w,
              .grips = grips,
              .s = w->s,
              .g = w->s->graph,
              .n = w->n,
              .m = w->m,
              .count = grips->n,
              .modes = 1u << grips->n,
              .solve = solve};
    prepare(&k);
    add_states(&k);
    for (uint32_t mode = 0; mode < k.modes; mode++)
        solve_mode(&k, mode);
    set_rates(&k);
    add_values(&k);
    ns_reactions_watch(w->s, by_mode(&k, firm, 0)); /* first: a paradox is no lift-off */
    for (uint32_t i = 0; i < k.count; i++)
        add_events_of(&k, i);
    add_start(&k);
    w->given = w->Q;
}
