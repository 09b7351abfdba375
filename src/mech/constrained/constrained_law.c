/* Contacts of `constrained` under a law of friction: rolling(S, G) where ground G has
 * `friction`.  The rows of a contact (constrained_contact.c) end with its slip u = (u_1, u_2)
 * in the tangent plane, A_u v + .. = u.
 *
 *     roll:   u = 0, friction T = multipliers of these rows, as long as |T| <= mu_static N
 *     slide:  T = -mu_kinetic N d, d the direction of slip; or -C u (viscous); or 0 (none)
 *
 * Friction acts on the coordinates with A_u^T T; N is what the other rows of the contact do
 * along its normal.  The normal forces of contacts that slide are unknowns z of linear
 * equations (mech/common/reactions.h): multipliers lambda(z) give N(z), and z = N(z) is solved.
 * Every set of sliding contacts is a mode; a contact that always slides has none.
 *
 * Direction of slip, its begin and its end are those of rolling_touch.c, with `way`, `hold`,
 * `far`, `begin` for each contact, in the plane's two components.  Slip begins along e of
 *     T + mu (N + lambda w.e) e + lambda W e = 0                        (meet_impact.c)
 * where T + W beta and N + w.beta are the forces that give the slip the acceleration beta while
 * everything else keeps its mode: W and w are derivatives of the multipliers by b of the slip's
 * rows.  At its end an impulse takes what is left of the slip: the velocities change by the
 * solution of the same equations with forces 0 and b = -u.
 *
 * Contacts do not open here: where N vanishes the run ends, `jams` is Painleve's paradox. */
#include <string.h>

#include "expr/diff.h"
#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/common/reactions.h"
#include "mech/constrained/constrained.h"
#include "mech/contact/meet.h"

enum { MOST = 3, MODES = 1 << MOST, NEVER = -1 };

/* As in rolling_touch.c. */
static const double ends_at = 1e-10, begins_at = 1e-7, nothing = 1e-13, touching = 1e-9;
static const double instants = 1e-12, near_at = 1e-2, far_at = 2e-2;

typedef struct outcome {
    ns_ex *a, *lambda; /* of all rows: friction where one slides */
    ns_ex normal[MOST];
    ns_ex firm; /* det(1 - B) */
} outcome;

typedef struct slip {
    const ns_touch *t;
    const ns_law *law;
    int bit; /* of the mode; NEVER: it always slides */
    ns_ex z; /* normal force as a symbol */
    ns_ex u[2], size;
    ns_ex way[2], slide, hold, far, begin; /* internal states */
    uint32_t at;                           /* the first of them; in this order */
    ns_ex along, tau, d[2];
    ns_ex onset[MODES][2];
} slip;

enum { WAY, SLIDES = 2, HOLD, FAR, BEGIN, STATES };

struct ns_slips {
    ns_description *d;
    ns_system *s;
    ns_graph *g;
    ns_constrained *c;
    slip at[MOST];
    uint32_t n, modes;
    uint32_t friction; /* state */
    ns_ex work;
    outcome in[MODES];
};
typedef struct ns_slips work;

/* ---- reading ----------------------------------------------------------------------------- */

bool ns_constrained_law(ns_description *d, const ns_block *ground, bool slips, ns_span span,
                        const ns_law **out)
{
    ns_law *law = NS_NEW(d->arena, ns_law);
    static const char *const others[] = {
        "resistance.rolling", "resistance.boring",   "restitution", "restitution.tangential",
        "unilateral",         "restitution.poisson", NULL};
    *out = NULL;
    if (!ns_law_read(d, ground, law))
        return false;
    if (!law->any)
        return true;
    for (uint32_t i = 0; others[i]; i++) {
        const ns_property *p = ns_block_find(ground, others[i]);
        if (!p)
            continue;
        ns_diag_error(d->diag, p->span,
                      "contacts between several bodies take `friction` only: `%s` is for one "
                      "body on a ground%s",
                      others[i],
                      i < 2 ? "; a moment with C.force.normal in it can be given as a force"
                            : "");
        return false;
    }
    if (law->friction == NS_FRICTION_CONTENSOU) {
        ns_diag_error(d->diag, law->given[0]->value_span,
                      "contacts between several bodies take `coulomb(MU)`, `coulomb(STATIC, "
                      "KINETIC)`, `viscous(C)` or `none`");
        return false;
    }
    if (slips) {
        ns_diag_error(d->diag, span,
                      "`sliding` is without friction, but its ground has a law: write "
                      "`rolling`, which then slips by that law");
        return false;
    }
    *out = law;
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

bool ns_constrained_law_sizes(const ns_system *s, ns_diag *diag, const double *p)
{
    const ns_constrained *c = s->own;
    sizing z = {s, p};
    for (uint32_t i = 0; c->slips && i < c->slips->n; i++)
        if (!ns_law_sizes(c->slips->at[i].law, diag, number_of, &z))
            return false;
    return true;
}

/* ---- modes ------------------------------------------------------------------------------- */

static bool slides(const slip *one, uint32_t mode)
{
    return one->bit == NEVER || (mode >> one->bit & 1);
}

static uint32_t with(const slip *one, uint32_t mode, bool sliding)
{
    return sliding ? mode | 1u << one->bit : mode & ~(1u << one->bit);
}

/* The contact whose slip row `row` is, and which of the two; NULL if none. */
static const slip *slip_of(const work *k, uint32_t row, uint32_t *part)
{
    for (uint32_t i = 0; i < k->n; i++)
        if (row - k->at[i].t->slip < 2) {
            *part = row - k->at[i].t->slip;
            return &k->at[i];
        }
    return NULL;
}

static ns_ex friction_of(const work *k, const slip *one, uint32_t part)
{
    ns_graph *g = k->g;
    if (one->law->friction == NS_FRICTION_VISCOUS)
        return ns_neg(g, ns_mul(g, one->law->viscous, one->u[part]));
    if (one->law->friction == NS_FRICTION_NONE)
        return ns_zero(g);
    return ns_neg(g, ns_mul(g, ns_mul(g, one->law->moving, one->z), one->d[part]));
}

/* a and lambda where the rows of this mode hold with b, under Q and friction if `forced`. */
static void solve_rows(work *k, uint32_t mode, const ns_ex *b, bool forced, outcome *o)
{
    ns_graph *g = k->g;
    ns_arena *arena = k->s->arena;
    ns_constrained part = *k->c;
    ns_dalembert *eq = &part.eq;
    const ns_dalembert *all = &k->c->eq;
    const uint32_t n = all->n, m = all->m;
    ns_ex *A = NS_NEW_ARRAY(arena, ns_ex, (size_t)m * n + 1);
    ns_ex *held = NS_NEW_ARRAY(arena, ns_ex, m + 1), *right = NS_NEW_ARRAY(arena, ns_ex, m + 1);
    ns_ex *Q = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++)
        Q[i] = forced ? all->Q[i] : ns_zero(g);
    o->a = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    o->lambda = NS_NEW_ARRAY(arena, ns_ex, m + 1);
    eq->m = 0;
    for (uint32_t row = 0, which; row < m; row++) {
        const slip *one = slip_of(k, row, &which);
        const ns_ex *from = all->A + (size_t)row * n;
        if (!one || !slides(one, mode)) {
            memcpy(A + (size_t)eq->m * n, from, n * sizeof *from);
            right[eq->m++] = b[row];
            continue;
        }
        o->lambda[row] = forced ? friction_of(k, one, which) : ns_zero(g);
        for (uint32_t i = 0; i < n; i++)
            Q[i] = ns_add(g, Q[i], ns_mul(g, from[i], o->lambda[row]));
    }
    eq->A = A;
    eq->b = right;
    eq->Q = Q;
    ns_constrained_accelerate(k->s, &part, o->a, held);
    for (uint32_t row = 0, at = 0, which; row < m; row++) {
        const slip *one = slip_of(k, row, &which);
        if (!one || !slides(one, mode))
            o->lambda[row] = held[at++];
    }
}

/* What the rows of a contact but its slip do along the normal. */
static ns_ex normal_of(const work *k, const slip *one, const ns_ex *lambda)
{
    ns_graph *g = k->g;
    const ns_dalembert *w = &k->c->eq;
    const uint32_t first = k->c->members.at[one->t->first].first;
    ns_ex sum = ns_zero(g);
    for (uint32_t row = one->t->row; row < one->t->slip; row++)
        for (uint32_t j = 0; j < 3; j++) {
            ns_ex part = ns_mul(g, w->A[(size_t)row * w->n + first + j], lambda[row]);
            sum = ns_add(g, sum, ns_mul(g, part, one->t->normal.at[j]));
        }
    return sum;
}

static void solve_mode(work *k, uint32_t mode, const ns_ex *b, outcome *o)
{
    ns_graph *g = k->g;
    const ns_dalembert *w = &k->c->eq;
    ns_ex z[MOST], y[MOST], value[MOST];
    uint32_t unknowns = 0, places = 0;
    solve_rows(k, mode, b, true, o);
    for (uint32_t i = 0; i < k->n; i++) {
        const slip *one = &k->at[i];
        o->normal[i] = normal_of(k, one, o->lambda);
        if (one->bit == NEVER || !slides(one, mode))
            continue;
        z[unknowns] = one->z;
        y[unknowns++] = o->normal[i];
    }
    o->firm = ns_one(g);
    if (!unknowns)
        return;
    o->firm = ns_reactions_solve(g, unknowns, z, y, value);
    ns_ex **at = NS_NEW_ARRAY(k->s->arena, ns_ex *, w->n + w->m + k->n);
    for (uint32_t i = 0; i < w->n; i++)
        at[places++] = &o->a[i];
    for (uint32_t i = 0; i < w->m; i++)
        at[places++] = &o->lambda[i];
    for (uint32_t i = 0; i < k->n; i++)
        at[places++] = &o->normal[i];
    ns_reactions_put(g, unknowns, z, value, at, places);
}

/* The direction in which contact i would begin to slip in a mode in which it holds. */
static void find_onset(work *k, uint32_t mode, uint32_t i)
{
    ns_graph *g = k->g;
    slip *one = &k->at[i];
    const ns_dalembert *w = &k->c->eq;
    const uint32_t row = one->t->slip;
    const outcome *now = &k->in[mode];
    ns_ex beta[2], zero[2] = {ns_zero(g), ns_zero(g)}, slope[6];
    ns_meet_plane q = {0};
    ns_ex *b = ns_arena_copy(k->s->arena, w->b, w->m * sizeof *b);
    const ns_ex T[2] = {now->lambda[row], now->lambda[row + 1]};
    outcome pushed;
    for (uint32_t j = 0; j < 2; j++) {
        beta[j] = ns_symbol_new(g, "acceleration of slip", NS_SYM_LOCAL, j);
        b[row + j] = ns_add(g, b[row + j], beta[j]);
    }
    solve_mode(k, mode, b, &pushed);
    const ns_ex force[3] = {pushed.lambda[row], pushed.lambda[row + 1], pushed.normal[i]};
    ns_diff_jacobian(g, force, 3, beta, 2, slope);
    ns_subst(g, slope, 6, beta, zero, 2, slope);
    for (uint32_t j = 0; j < 2; j++) {
        q.W[j][0] = slope[2 * j];
        q.W[j][1] = slope[2 * j + 1];
        q.w[j] = slope[4 + j];
    }
    ns_meet_slip_way(g, &q, T, now->normal[i], one->law->moving, one->onset[mode]);
}

/* (static mu N)^2 - |T|^2 of a contact that holds. */
static ns_ex margin(const work *k, uint32_t mode, uint32_t i)
{
    ns_graph *g = k->g;
    const ns_ex *T = k->in[mode].lambda + k->at[i].t->slip;
    ns_ex limit = ns_mul(g, k->at[i].law->fixed, k->in[mode].normal[i]);
    ns_ex used = ns_add(g, ns_powi(g, T[0], 2), ns_powi(g, T[1], 2));
    return ns_sub(g, ns_powi(g, limit, 2), used);
}

static ns_ex by_mode(work *k, ns_ex (*of)(work *k, uint32_t mode, uint32_t i), uint32_t i)
{
    ns_ex value[MODES];
    for (uint32_t mode = 0; mode < k->modes; mode++)
        value[mode] = of(k, mode, i);
    return ns_system_by_mode(k->s, value);
}

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

static ns_ex held_slip(work *k, uint32_t mode, uint32_t row)
{
    uint32_t part;
    const slip *one = slip_of(k, row, &part);
    return slides(one, mode) ? ns_zero(k->g) : one->u[part];
}

static ns_ex power(work *k, uint32_t mode, uint32_t unused)
{
    (void)unused;
    ns_ex sum = ns_zero(k->g);
    for (uint32_t i = 0; i < k->n; i++)
        for (uint32_t j = 0; j < 2 && slides(&k->at[i], mode); j++) {
            ns_ex T = k->in[mode].lambda[k->at[i].t->slip + j];
            sum = ns_add(k->g, sum, ns_mul(k->g, T, k->at[i].u[j]));
        }
    return sum;
}

static ns_ex margin_here(work *k, uint32_t mode, uint32_t i)
{
    return slides(&k->at[i], mode) ? ns_one(k->g) : margin(k, mode, i);
}

static ns_ex margin_held(work *k, uint32_t mode, uint32_t i)
{
    return margin(k, with(&k->at[i], mode, false), i);
}

static ns_ex onset_1(work *k, uint32_t mode, uint32_t i)
{
    return k->at[i].onset[with(&k->at[i], mode, false)][0];
}

static ns_ex onset_2(work *k, uint32_t mode, uint32_t i)
{
    return k->at[i].onset[with(&k->at[i], mode, false)][1];
}

static ns_ex firm(work *k, uint32_t mode, uint32_t unused)
{
    (void)unused;
    return k->in[mode].firm;
}

/* A scale for how fast friction changes the slip; nothing that turns with it. */
static ns_ex slowing(work *k, uint32_t mode, uint32_t i)
{
    ns_graph *g = k->g;
    const slip *one = &k->at[i];
    ns_ex mass = ns_zero(g), N = k->in[with(one, mode, false)].normal[i];
    for (uint32_t q = 0; q < k->c->members.n; q++)
        mass = ns_add(g, mass, k->c->members.at[q].mass);
    return ns_div(g, ns_mul(g, one->law->moving, N), mass);
}

/* ---- the system -------------------------------------------------------------------------- */

static ns_ex state_symbol(work *k, const slip *one, const char *name)
{
    name = ns_arena_format(k->s->arena, "%s.%s", one->t->name, name);
    return ns_symbol_new(k->g, name, NS_SYM_STATE, 0);
}

/* Direction of slip as friction sees it: aim() of meet.c in two components. */
static void aim(work *k, slip *one)
{
    ns_graph *g = k->g;
    ns_ex one_ = ns_one(g), loose = ns_sub(g, one_, one->hold);
    ns_ex near = ns_sub(g, one_, one->far), far = one->far;
    const ns_ex *w = one->way, *u = one->u;
    one->along = ns_add(g, ns_mul(g, u[0], w[0]), ns_mul(g, u[1], w[1]));
    ns_ex across = ns_sub(g, ns_mul(g, u[1], w[0]), ns_mul(g, u[0], w[1]));
    ns_ex under = ns_add(g, ns_mul(g, one->along, loose), one->hold);
    one->tau = ns_div(g, ns_mul(g, loose, across), under);
    ns_ex square = ns_add(g, ns_powi(g, u[0], 2), ns_powi(g, u[1], 2));
    ns_ex size = ns_mul(g, near, ns_add(g, one_, ns_powi(g, one->tau, 2)));
    size = ns_sqrt(g, ns_add(g, size, ns_mul(g, far, square)));
    const ns_ex side[2] = {ns_neg(g, w[1]), w[0]};
    for (int j = 0; j < 2; j++) {
        ns_ex part = ns_mul(g, near, ns_add(g, w[j], ns_mul(g, one->tau, side[j])));
        part = ns_add(g, part, ns_mul(g, far, u[j]));
        one->d[j] = ns_div(g, part, size);
    }
}

static void prepare(work *k, slip *one)
{
    ns_graph *g = k->g;
    const ns_dalembert *w = &k->c->eq;
    ns_ex sum = ns_number(g, 1e-6); /* 1 mm/s: something at rest has a scale, too */
    for (uint32_t j = 0; j < 2; j++) {
        const ns_ex *A = w->A + (size_t)(one->t->slip + j) * w->n;
        one->u[j] = w->psi[one->t->slip + j];
        for (uint32_t q = 0; q < w->n; q++)
            sum = ns_add(g, sum, ns_powi(g, ns_mul(g, A[q], w->v[q]), 2));
    }
    one->size = ns_sqrt(g, sum);
    if (one->bit == NEVER)
        return;
    one->z = ns_symbol_new(g, "normal force", NS_SYM_LOCAL, 0);
    one->way[0] = state_symbol(k, one, "way.x");
    one->way[1] = state_symbol(k, one, "way.y");
    one->slide = state_symbol(k, one, "slide");
    one->hold = state_symbol(k, one, "hold");
    one->far = state_symbol(k, one, "far");
    one->begin = state_symbol(k, one, "begin");
    aim(k, one);
}

static void name_modes(work *k)
{
    for (uint32_t mode = 0; mode < k->modes; mode++) {
        ns_text name = ns_text_new(k->s->arena);
        for (uint32_t i = 0; i < k->n; i++)
            ns_text_addf(&name, "%s%s", i ? "+" : "",
                         slides(&k->at[i], mode) ? "slide" : "roll");
        NS_PUSH(k->s->arena, k->s->modes, ns_text_string(&name));
    }
}

static bool gather(work *k)
{
    ns_constrained *c = k->c;
    int bits = 0;
    for (uint32_t i = 0; i < c->touches.n; i++) {
        const ns_touch *t = &c->touches.at[i];
        if (!t->law)
            continue;
        if (k->n == MOST) {
            ns_diag_error(k->d->diag, t->span, "there may be %d contacts with friction at most",
                          MOST);
            return false;
        }
        const bool holds = t->law->friction == NS_FRICTION_COULOMB;
        k->at[k->n++] = (slip){.t = t, .law = t->law, .bit = holds ? bits++ : NEVER};
    }
    k->modes = 1u << bits;
    const ns_touch *first = k->n ? k->at[0].t : NULL;
    const char *why = !first          ? NULL
                      : k->s->modes.n ? "contacts with friction have modes of their own: leave "
                                        "`mode` lines out"
                      : c->pinv       ? "contacts with friction are solved with `saddle` or "
                                        "`augmented`"
                      : c->reaction   ? "forces that contain reactions do not go with contacts "
                                        "that have friction laws"
                                      : NULL;
    if (why)
        ns_diag_error(k->d->diag, first->span, "%s", why);
    return !why;
}

bool ns_constrained_law_solve(ns_description *d, ns_system *s, ns_constrained *c)
{
    work *k = NS_NEW(s->arena, work);
    *k = (work){.d = d, .s = s, .g = d->graph, .c = c};
    if (!gather(k))
        return false;
    if (!k->n)
        return true;
    c->slips = k;
    name_modes(k);
    for (uint32_t i = 0; i < k->n; i++)
        prepare(k, &k->at[i]);
    k->work = ns_symbol_new(k->g, "work.friction", NS_SYM_STATE, 0);
    for (uint32_t mode = 0; mode < k->modes; mode++)
        solve_mode(k, mode, c->eq.b, &k->in[mode]);
    for (uint32_t mode = 0; mode < k->modes; mode++)
        for (uint32_t i = 0; i < k->n; i++)
            if (!slides(&k->at[i], mode))
                find_onset(k, mode, i);
    for (uint32_t i = 0; i < c->eq.n; i++)
        c->acceleration[i] = by_mode(k, acceleration, i);
    for (uint32_t row = 0; row < c->eq.m; row++)
        c->multiplier[row] = by_mode(k, multiplier, row);
    for (uint32_t i = 0; i < k->n; i++)
        for (uint32_t j = 0; j < 2; j++) {
            const uint32_t row = k->at[i].t->slip + j;
            s->constraints.at[c->eq.at_velocity[row]].residual = by_mode(k, held_slip, row);
        }
    return true;
}

void ns_constrained_law_states(ns_system *s, const ns_constrained *c)
{
    static const char *const names[STATES] = {"way.x", "way.y", "slide",
                                              "hold",  "far",   "begin"};
    work *k = c->slips;
    ns_ex zero = ns_zero(s->graph);
    if (!k)
        return;
    k->friction = ns_system_add_state(s, NS_QUANTITY_OTHER, "work.friction", k->work,
                                      by_mode(k, power, 0), "J");
    for (uint32_t i = 0; i < k->n; i++) {
        slip *one = &k->at[i];
        const ns_ex symbol[STATES] = {one->way[0], one->way[1], one->slide,
                                      one->hold,   one->far,    one->begin};
        one->at = s->states.n;
        for (uint32_t j = 0; j < STATES && one->bit != NEVER; j++) {
            const char *name = ns_arena_format(s->arena, "%s.%s", one->t->name, names[j]);
            const uint32_t at = ns_system_add_state(s, NS_QUANTITY_OTHER, name, symbol[j], zero,
                                                    "");
            s->states.at[at].internal = true;
        }
    }
}

/* ---- jumps ------------------------------------------------------------------------------- */

static void reset(work *k, ns_jump *j, uint32_t state, ns_ex value)
{
    NS_PUSH(k->s->arena, j->resets, (ns_reset){state, value});
}

static void reset_slip(work *k, ns_jump *j, const slip *one, const ns_ex way[2], ns_ex hold,
                       ns_ex far, ns_ex begin)
{
    reset(k, j, one->at + WAY, way[0]);
    reset(k, j, one->at + WAY + 1, way[1]);
    reset(k, j, one->at + HOLD, hold);
    reset(k, j, one->at + FAR, far);
    reset(k, j, one->at + BEGIN, begin);
}

/* e with the slip of contact i as it begins from this mode. */
static ns_ex as_it_begins(work *k, uint32_t mode, uint32_t i, ns_ex e)
{
    const slip *one = &k->at[i];
    const ns_ex from[4] = {one->way[0], one->way[1], one->hold, one->far};
    const ns_ex to[4] = {one->onset[mode][0], one->onset[mode][1], ns_one(k->g), ns_zero(k->g)};
    return ns_subst_one(k->g, e, from, to, 4);
}

/* As the friction of contact i jumps, others may have to slide from then on, too. */
static void settle_others(work *k, ns_jump *j, uint32_t i, bool let_go)
{
    ns_graph *g = k->g;
    ns_ex one_ = ns_one(g);
    for (uint32_t other = 0; other < k->n; other++) {
        const slip *it = &k->at[other];
        ns_ex value[STATES][MODES];
        if (other == i || it->bit == NEVER)
            continue;
        const ns_ex as_is[STATES] = {it->way[0], it->way[1], it->slide,
                                     it->hold,   it->far,    it->begin};
        for (uint32_t mode = 0; mode < k->modes; mode++) {
            const uint32_t to = with(&k->at[i], mode, let_go);
            for (uint32_t q = 0; q < STATES; q++)
                value[q][mode] = as_is[q];
            if (slides(it, mode))
                continue;
            value[SLIDES][mode] = ns_step(g, ns_neg(g, margin(k, to, other)));
            value[WAY][mode] = it->onset[to][0];
            value[WAY + 1][mode] = it->onset[to][1];
            for (uint32_t q = 0; q < HOLD && let_go && !slides(&k->at[i], mode); q++)
                value[q][mode] = as_it_begins(k, mode, i, value[q][mode]);
            value[HOLD][mode] = value[BEGIN][mode] = one_;
            value[FAR][mode] = ns_zero(g);
        }
        for (uint32_t q = 0; q < STATES; q++)
            reset(k, j, it->at + q, ns_system_by_mode(k->s, value[q]));
    }
}

/* To the mode that the states `slide` say. */
static void add_ways(work *k, ns_jump *j)
{
    ns_graph *g = k->g;
    for (uint32_t mode = 0; mode < k->modes; mode++) {
        ns_way way = {.mode = mode};
        for (uint32_t i = 0; i < k->n; i++) {
            if (k->at[i].bit == NEVER)
                continue;
            ns_ex off = ns_sub(g, k->at[i].slide, ns_number(g, 0.5));
            NS_PUSH(k->s->arena, way.needs, slides(&k->at[i], mode) ? off : ns_neg(g, off));
        }
        NS_PUSH(k->s->arena, j->ways, way);
    }
}

static ns_jump *jump(work *k, const slip *one, const char *name, bool sliding, ns_ex value,
                     int direction, bool hidden)
{
    ns_jump *j = NS_NEW(k->s->arena, ns_jump);
    for (uint32_t mode = 0; mode < k->modes; mode++)
        if (slides(one, mode) == sliding)
            j->in |= (uint64_t)1 << mode;
    NS_PUSH(k->s->arena, k->s->events,
            (ns_event){.name = ns_arena_format(k->s->arena, "%s.%s", one->t->name, name),
                       .value = value,
                       .direction = direction,
                       .action = NS_EVENT_RECORD,
                       .internal = hidden,
                       .jump = j});
    return j;
}

/* The impulse that takes the slip of contact i: velocities after it, and its work. */
static void catch_slip(work *k, ns_jump *j, uint32_t i)
{
    ns_graph *g = k->g;
    const slip *one = &k->at[i];
    const ns_dalembert *w = &k->c->eq;
    ns_ex *b = NS_NEW_ARRAY(k->s->arena, ns_ex, w->m + 1), zero = ns_zero(g);
    ns_ex value[MODES], half = ns_number(g, 0.5);
    outcome hit[MODES];
    for (uint32_t row = 0; row < w->m; row++)
        b[row] = row - one->t->slip < 2 ? ns_neg(g, one->u[row - one->t->slip]) : zero;
    for (uint32_t mode = 0; mode < k->modes; mode++)
        solve_rows(k, with(one, mode, false), b, false, &hit[mode]);
    for (uint32_t q = 0; q < w->n; q++) {
        for (uint32_t mode = 0; mode < k->modes; mode++)
            value[mode] = ns_add(g, w->v[q], hit[mode].a[q]);
        reset(k, j, w->n + q, ns_system_by_mode(k->s, value));
    }
    for (uint32_t mode = 0; mode < k->modes; mode++) {
        const ns_ex *T = hit[mode].lambda + one->t->slip;
        ns_ex sum = ns_add(g, ns_mul(g, T[0], one->u[0]), ns_mul(g, T[1], one->u[1]));
        value[mode] = ns_add(g, k->work, ns_mul(g, half, sum));
    }
    reset(k, j, k->friction, ns_system_by_mode(k->s, value));
}

static void add_slipping(work *k, uint32_t i)
{
    ns_graph *g = k->g;
    const slip *one = &k->at[i];
    ns_ex one_ = ns_one(g), zero = ns_zero(g), held = ns_sub(g, one->hold, one->far);
    const ns_ex onset[2] = {by_mode(k, onset_1, i), by_mode(k, onset_2, i)};
    ns_jump *j = jump(k, one, "slips", false, by_mode(k, margin_here, i), -1, false);
    reset(k, j, one->at + SLIDES, one_);
    reset_slip(k, j, one, onset, one_, zero, one_);
    settle_others(k, j, i, true);
    add_ways(k, j);

    ns_ex slack = ns_mul(g, one->begin, ns_mul(g, ns_number(g, nothing), one->size));
    ns_ex value = ns_add(g, ns_mul(g, held, ns_add(g, one->along, slack)),
                         ns_sub(g, one_, held));
    j = jump(k, one, "sticks", true, value, -1, false);
    catch_slip(k, j, i);
    reset(k, j, one->at + SLIDES, ns_step(g, ns_neg(g, by_mode(k, margin_held, i))));
    reset_slip(k, j, one, onset, one_, zero, one_);
    settle_others(k, j, i, false);
    add_ways(k, j);
}

/* The reference direction of slip, and whether it is needed: as in rolling_touch.c. */
static void add_direction(work *k, uint32_t i)
{
    ns_graph *g = k->g;
    const slip *one = &k->at[i];
    ns_ex one_ = ns_one(g), zero = ns_zero(g), loose = ns_sub(g, one_, one->hold);
    ns_ex held = ns_sub(g, one->hold, one->far);
    ns_ex value = ns_sub(g, ns_number(g, 0.25), ns_powi(g, one->tau, 2));
    ns_jump *j = jump(k, one, "slip.turns", true, value, -1, true);
    ns_ex fast = ns_sub(g, one->along, ns_mul(g, ns_number(g, far_at), one->size));
    ns_ex far = ns_step(g, fast);
    reset_slip(k, j, one, one->d, far, far, zero);

    ns_ex soon = ns_mul(g, k->s->time, by_mode(k, slowing, i));
    soon = ns_mul(g, ns_number(g, instants), ns_abs(g, soon));
    ns_ex least = ns_add(g, ns_mul(g, ns_number(g, ends_at), one->size), soon);
    value = ns_add(g, ns_mul(g, loose, ns_sub(g, one->along, least)), one->hold);
    j = jump(k, one, "slip.ends", true, value, -1, true);
    reset_slip(k, j, one, one->d, one_, zero, zero);

    ns_ex begun = ns_mul(g, ns_number(g, begins_at), one->size);
    ns_ex missed = ns_mul(g, ns_sub(g, one_, one->begin), ns_mul(g, ns_number(g, 10), least));
    ns_ex more = ns_sub(g, one->along, ns_add(g, ns_mul(g, one->begin, begun), missed));
    value = ns_sub(g, ns_mul(g, held, more), ns_sub(g, one_, held));
    j = jump(k, one, "slip.begins", true, value, 1, true);
    reset(k, j, one->at + HOLD, zero);
    reset(k, j, one->at + BEGIN, zero);

    ns_ex close = ns_powi(g, ns_mul(g, ns_number(g, near_at), one->size), 2);
    ns_ex square = ns_add(g, ns_powi(g, one->u[0], 2), ns_powi(g, one->u[1], 2));
    value = ns_add(g, ns_mul(g, one->far, ns_sub(g, square, close)), ns_sub(g, one_, one->far));
    j = jump(k, one, "slip.nears", true, value, -1, true);
    reset_slip(k, j, one, one->d, zero, zero, zero);
}

/* As many contacts as can hold do; internal states where it begins. */
static void add_start(work *k)
{
    ns_graph *g = k->g;
    ns_start *start = &k->s->start;
    ns_ex speed[MOST], one_ = ns_one(g);
    start->carry = true; /* velocities that are not said are those of rolling */
    for (uint32_t i = 0; i < k->n; i++) {
        const ns_ex *u = k->at[i].u;
        speed[i] = ns_sqrt(g, ns_add(g, ns_powi(g, u[0], 2), ns_powi(g, u[1], 2)));
    }
    for (uint32_t count = 0; count <= k->n; count++)
        for (uint32_t mode = 0; mode < k->modes; mode++) {
            ns_way way = {.mode = mode};
            if ((uint32_t)__builtin_popcount(mode) != count)
                continue;
            for (uint32_t i = 0; i < k->n; i++) {
                if (slides(&k->at[i], mode))
                    continue;
                ns_ex still = ns_mul(g, ns_number(g, touching), k->at[i].size);
                NS_PUSH(k->s->arena, way.needs, ns_sub(g, still, speed[i]));
                NS_PUSH(k->s->arena, way.needs, margin(k, mode, i));
            }
            NS_PUSH(k->s->arena, start->ways, way);
        }
    for (uint32_t i = 0; i < k->n; i++) {
        const slip *one = &k->at[i];
        ns_ex bit[MODES];
        if (one->bit == NEVER)
            continue;
        for (uint32_t mode = 0; mode < k->modes; mode++)
            bit[mode] = slides(one, mode) ? one_ : ns_zero(g);
        ns_ex least = ns_mul(g, ns_number(g, touching), one->size);
        ns_ex moves = ns_step(g, ns_sub(g, speed[i], least)), rests = ns_sub(g, one_, moves);
        ns_ex over = ns_div(g, moves, ns_add(g, speed[i], ns_number(g, 1e-140)));
        ns_ex way[2];
        for (uint32_t j = 0; j < 2; j++) {
            ns_ex begins = ns_mul(g, rests, by_mode(k, j ? onset_2 : onset_1, i));
            way[j] = ns_add(g, begins, ns_mul(g, over, one->u[j]));
        }
        const ns_ex value[STATES] = {way[0], way[1],     ns_system_by_mode(k->s, bit),
                                     rests,  ns_zero(g), rests};
        for (uint32_t q = 0; q < STATES; q++)
            NS_PUSH(k->s->arena, start->settle, (ns_reset){one->at + q, value[q]});
    }
}

void ns_constrained_law_events(ns_system *s, const ns_constrained *c)
{
    work *k = c->slips;
    ns_graph *g = s->graph;
    if (!k)
        return;
    ns_reactions_watch(s, by_mode(k, firm, 0)); /* first: a paradox is no lift-off */
    for (uint32_t i = 0; i < k->n; i++) {
        const slip *one = &k->at[i];
        const char *name = one->t->name;
        ns_ex square = ns_add(g, ns_powi(g, one->u[0], 2), ns_powi(g, one->u[1], 2));
        ns_system_observe(s, NS_QUANTITY_OTHER, ns_arena_format(s->arena, "%s.slip", name),
                          ns_sqrt(g, square), "m/s", true);
        if (one->bit != NEVER) {
            add_slipping(k, i);
            add_direction(k, i);
        }
        NS_PUSH(s->arena, s->events,
                (ns_event){.name = ns_arena_format(s->arena, "%s.liftoff", name),
                           .value = by_mode(k, normal_force, i),
                           .direction = -1,
                           .condition = true,
                           .action = NS_EVENT_STOP,
                           .meaning = "the normal force vanishes: the contact would open"});
    }
    add_start(k);
    if (s->conservative)
        NS_PUSH(s->arena, s->invariants,
                (ns_invariant){.name = "balance", .value = ns_sub(g, s->energy, k->work)});
    s->conservative = false;
}
