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
        if (grips->n == NS_SLIDING_MOST) {
            ns_diag_error(d->diag, b->span, "there may be %d contacts at most",
                          NS_SLIDING_MOST);
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

bool ns_grip_sizes(const ns_system *s, const ns_grips *grips, ns_diag *diag, const double *p)
{
    for (uint32_t i = 0; grips && i < grips->n; i++)
        if (!ns_law_sizes(&grips->at[i].law, diag, s, p))
            return false;
    return true;
}

/* ---- modes ------------------------------------------------------------------------------- */

typedef struct work {
    ns_dalembert *w;
    const ns_grips *grips;
    ns_system *s;
    ns_graph *g;
    uint32_t n, m, count;
    void (*solve)(const ns_dalembert *, ns_ex *a, ns_ex *lambda);
    ns_sliding k;
    ns_ex way[NS_SLIDING_MOST], begin[NS_SLIDING_MOST];
    uint32_t way_at[NS_SLIDING_MOST], slide_at[NS_SLIDING_MOST], begin_at[NS_SLIDING_MOST];
    uint32_t friction_at;
} work;

static ns_ex kinetic(const ns_sliding *k, uint32_t i, uint32_t unused)
{
    (void)unused;
    const work *w = k->own;
    ns_ex size = ns_mul(w->g, k->at[i].law->moving, k->at[i].z);
    return ns_neg(w->g, ns_mul(w->g, size, w->way[i]));
}

static ns_ex normal(const ns_sliding *k, uint32_t i, const ns_sliding_outcome *o)
{
    const work *w = k->own;
    ns_ex *accel = NS_NEW_ARRAY(k->s->arena, ns_ex, w->n);
    for (uint32_t c = 0; c < w->n; c++)
        accel[c] = w->w->d->coordinates.at[c].a;
    return ns_subst_one(w->g, w->grips->at[i].normal, accel, o->a, w->n);
}

static void solve(const ns_sliding *k, const ns_dalembert *rows, ns_ex *a, ns_ex *lambda)
{
    const work *w = k->own;
    w->solve(rows, a, lambda);
}

/* Reactions in forces and in normal forces. */
static void add_reactions(const ns_sliding *k, const ns_sliding_outcome *o,
                          ns_sliding_unknowns *all)
{
    const work *of = k->own;
    const ns_dalembert *w = of->w;
    for (uint32_t r = 0; r < w->n_reactions; r++) {
        bool used = false;
        for (uint32_t i = 0; i < w->n_used; i++)
            used = used || w->used[i] == r;
        for (uint32_t i = 0; i < of->count; i++)
            used = used || ns_graph_depends(of->g, of->grips->at[i].normal, w->reaction + r, 1);
        if (used && all->n < NS_REACTIONS_MOST) {
            all->z[all->n] = w->reaction[r];
            all->y[all->n++] = o->lambda[r];
        }
    }
}

/* The friction that contact i needs to hold. */
static ns_ex needed(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    return k->in[mode].lambda[k->at[i].row];
}

/* The same, as if it held. */
static ns_ex needed_held(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    return needed(k, ns_sliding_with(k, mode, i, false), i);
}

/* ---- states and values ------------------------------------------------------------------- */

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
        k->slide_at[i] = internal(k, "slide", i, &k->k.at[i].slide);
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
        ns_ex a = ns_sliding_by_mode(&k->k, ns_sliding_acceleration, i);
        s->states.at[k->n + i].rate = a;
        for (uint32_t j = 0; j < s->accelerations.n; j++)
            if (s->accelerations.at[j].from == w->d->coordinates.at[i].a)
                s->accelerations.at[j].to = a;
    }
    s->states.at[k->friction_at].rate = ns_sliding_by_mode(&k->k, ns_sliding_power, 0);
    for (uint32_t r = 0; r < w->n_reactions; r++)
        NS_PUSH(s->arena, s->accelerations,
                (ns_replacement){.from = w->reaction[r],
                                 .to = ns_sliding_by_mode(&k->k, ns_sliding_multiplier, r)});
    for (uint32_t i = 0; i < k->count; i++) {
        const uint32_t row = k->grips->at[i].row, at = w->at_velocity[row];
        s->constraints.at[at].residual = ns_sliding_by_mode(&k->k, ns_sliding_held, row);
    }
}

static bool is_slip(const work *k, uint32_t row)
{
    for (uint32_t i = 0; i < k->count; i++)
        if (k->grips->at[i].row == row)
            return true;
    return false;
}

static void add_values(work *k)
{
    ns_system *s = k->s;
    ns_graph *g = k->g;
    const ns_description *d = k->w->d;
    ns_system_observe(s, NS_QUANTITY_ENERGY, "energy", s->energy, "J", true);
    for (uint32_t row = 0; row < k->m; row++)
        ns_system_multiplier(s, d->constraints.at[row].name,
                             ns_sliding_by_mode(&k->k, ns_sliding_multiplier, row),
                             !is_slip(k, row));
    for (uint32_t i = 0; i < k->count; i++) {
        const char *dot = k->grips->at[i].dot;
        ns_system_observe(s, NS_QUANTITY_OTHER, ns_arena_format(s->arena, "%sslip", dot),
                          k->k.at[i].u[0], "m/s", true);
        if (k->grips->bare)
            continue;
        ns_ex N = ns_sliding_by_mode(&k->k, ns_sliding_normal, i);
        ns_ex T = ns_abs(g,
                         ns_sliding_by_mode(&k->k, ns_sliding_multiplier, k->grips->at[i].row));
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

static ns_ex opposite(const work *k, ns_ex T)
{
    ns_ex one = ns_one(k->g), two = ns_number(k->g, 2);
    return ns_sub(k->g, one, ns_mul(k->g, two, ns_step(k->g, T))); /* -sign, never 0 */
}

/* As the friction of contact i jumps, others may have to slide from then on, too. */
static void settle_others(work *w, ns_jump *j, uint32_t i, bool let_go)
{
    ns_graph *g = w->g;
    const ns_sliding *k = &w->k;
    for (uint32_t other = 0; other < k->n; other++) {
        ns_ex goes[NS_SLIDING_MODES], way[NS_SLIDING_MODES], begins[NS_SLIDING_MODES];
        if (other == i)
            continue;
        for (uint32_t mode = 0; mode < k->modes; mode++) {
            const uint32_t to = ns_sliding_with(k, mode, i, let_go);
            const bool slides = ns_sliding_slides(k, mode, other);
            goes[mode] = slides ? ns_one(g)
                                : ns_step(g, ns_neg(g, ns_sliding_margin(k, to, other)));
            way[mode] = slides ? w->way[other] : opposite(w, needed(k, to, other));
            if (let_go && !ns_sliding_slides(k, mode, i)) { /* in the direction in which it
                                                             * begins */
                const ns_ex begin = opposite(w, needed(k, mode, i));
                goes[mode] = ns_subst_one(g, goes[mode], &w->way[i], &begin, 1);
                way[mode] = ns_subst_one(g, way[mode], &w->way[i], &begin, 1);
            }
            begins[mode] = slides ? w->begin[other] : ns_one(g);
        }
        ns_sliding_reset(k, j, w->slide_at[other], ns_system_by_mode(k->s, goes));
        ns_sliding_reset(k, j, w->way_at[other], ns_system_by_mode(k->s, way));
        ns_sliding_reset(k, j, w->begin_at[other], ns_system_by_mode(k->s, begins));
    }
}

static void add_events_of(work *w, uint32_t i)
{
    ns_graph *g = w->g;
    const ns_sliding *k = &w->k;
    const ns_ex size = k->at[i].size;
    ns_ex one = ns_one(g), zero = ns_zero(g);
    ns_ex T = ns_sliding_by_mode(k, needed_held, i);
    ns_jump *j = ns_sliding_jump(k, i, "slips", false,
                                 ns_sliding_by_mode(k, ns_sliding_margin_now, i), -1, false);
    ns_sliding_reset(k, j, w->slide_at[i], one);
    ns_sliding_reset(k, j, w->way_at[i], opposite(w, T));
    ns_sliding_reset(k, j, w->begin_at[i], one);
    settle_others(w, j, i, true);
    ns_sliding_ways(k, j);

    ns_ex along = ns_mul(g, w->way[i], k->at[i].u[0]);
    ns_ex slack = ns_mul(g, w->begin[i], ns_mul(g, ns_number(g, nothing), size));
    j = ns_sliding_jump(k, i, "sticks", true, ns_add(g, along, slack), -1, false);
    ns_ex margin = ns_sliding_by_mode(k, ns_sliding_margin_held, i);
    ns_sliding_reset(k, j, w->slide_at[i], ns_step(g, ns_neg(g, margin)));
    ns_sliding_reset(k, j, w->way_at[i], opposite(w, T));
    ns_sliding_reset(k, j, w->begin_at[i], one);
    settle_others(w, j, i, false);
    ns_sliding_ways(k, j);

    ns_ex more = ns_sub(g, along, ns_mul(g, ns_number(g, begins_at), size));
    ns_ex value = ns_sub(g, ns_mul(g, w->begin[i], more), ns_sub(g, one, w->begin[i]));
    j = ns_sliding_jump(k, i, "slip.begins", true, value, 1, true);
    ns_sliding_reset(k, j, w->begin_at[i], zero);
    ns_sliding_liftoff(k, i);
}

/* As many contacts as can hold do. */
static void add_start(work *w)
{
    ns_graph *g = w->g;
    const ns_sliding *k = &w->k;
    ns_ex speed[NS_SLIDING_MOST];
    for (uint32_t i = 0; i < k->n; i++)
        speed[i] = ns_abs(g, k->at[i].u[0]);
    ns_sliding_start(k, speed, touching);
    for (uint32_t i = 0; i < k->n; i++) {
        ns_ex one = ns_one(g), slides = ns_sliding_by_mode(k, ns_sliding_is, i);
        ns_ex least = ns_mul(g, ns_number(g, touching), k->at[i].size);
        ns_ex moves = ns_step(g, ns_sub(g, speed[i], least));
        ns_ex along = ns_neg(g, opposite(w, k->at[i].u[0]));
        ns_ex begins = opposite(w, ns_sliding_by_mode(k, needed_held, i));
        ns_ex way = ns_add(g, begins, ns_mul(g, moves, ns_sub(g, along, begins)));
        const ns_reset all[3] = {{w->slide_at[i], slides},
                                 {w->way_at[i], way},
                                 {w->begin_at[i], ns_sub(g, one, moves)}};
        for (int r = 0; r < 3; r++)
            NS_PUSH(k->s->arena, k->s->start.settle, all[r]);
    }
}

/* ---- the system -------------------------------------------------------------------------- */

void ns_grip_assemble(ns_dalembert *w, const ns_grips *grips,
                      void (*solve_all)(const ns_dalembert *, ns_ex *a, ns_ex *lambda))
{
    work k = {.w = w,
              .grips = grips,
              .s = w->s,
              .g = w->s->graph,
              .n = w->n,
              .m = w->m,
              .count = grips->n,
              .solve = solve_all,
              .k = {.s = w->s,
                    .eq = w,
                    .n = grips->n,
                    .modes = 1u << grips->n,
                    .own = &k,
                    .friction = kinetic,
                    .normal = normal,
                    .solve = solve,
                    .more = add_reactions}};
    for (uint32_t i = 0; i < grips->n; i++)
        k.k.at[i] = (ns_sliding_contact){.dot = grips->at[i].dot,
                                         .law = &grips->at[i].law,
                                         .row = grips->at[i].row,
                                         .rows = 1,
                                         .bit = (int)i};
    ns_sliding_begin(&k.k, grips->holds);
    add_states(&k);
    for (uint32_t mode = 0; mode < k.k.modes; mode++)
        ns_sliding_solve(&k.k, mode, w->b, &k.k.in[mode]);
    set_rates(&k);
    add_values(&k);
    /* first: a paradox is no lift-off */
    ns_reactions_watch(w->s, ns_sliding_by_mode(&k.k, ns_sliding_firm, 0));
    for (uint32_t i = 0; i < k.count; i++)
        add_events_of(&k, i);
    add_start(&k);
    w->given = w->Q;
}
