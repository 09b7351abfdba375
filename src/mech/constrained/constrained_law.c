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
#include "expr/diff.h"
#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/common/reactions.h"
#include "mech/constrained/constrained.h"
#include "mech/contact/meet.h"
#include "mech/contact/sliding.h"

/* As in rolling_touch.c. */
static const double ends_at = 1e-10, begins_at = 1e-7, nothing = 1e-13, touching = 1e-9;
static const double instants = 1e-12, near_at = 1e-2, far_at = 2e-2;

typedef struct slip {
    const ns_touch *t;
    ns_ex way[2], hold, far, begin; /* internal states, with `slide` */
    uint32_t at;                    /* the first of them; in this order */
    ns_ex along, tau, d[2];
    ns_ex onset[NS_SLIDING_MODES][2];
} slip;

enum { WAY, SLIDES = 2, HOLD, FAR, BEGIN, STATES };

struct ns_slips {
    ns_description *d;
    ns_system *s;
    ns_graph *g;
    ns_constrained *c;
    ns_sliding k;
    slip at[NS_SLIDING_MOST];
    uint32_t friction; /* state */
    ns_ex work;
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

bool ns_constrained_law_sizes(const ns_system *s, ns_diag *diag, const double *p)
{
    const ns_constrained *c = s->own;
    for (uint32_t i = 0; c->slips && i < c->slips->k.n; i++)
        if (!ns_law_sizes(c->slips->k.at[i].law, diag, s, p))
            return false;
    return true;
}

/* ---- modes ------------------------------------------------------------------------------- */

static ns_ex friction(const ns_sliding *k, uint32_t i, uint32_t part)
{
    const work *w = k->own;
    const ns_sliding_contact *one = &k->at[i];
    if (one->law->friction == NS_FRICTION_VISCOUS)
        return ns_neg(w->g, ns_mul(w->g, one->law->viscous, one->u[part]));
    if (one->law->friction == NS_FRICTION_NONE)
        return ns_zero(w->g);
    ns_ex size = ns_mul(w->g, one->law->moving, one->z);
    return ns_neg(w->g, ns_mul(w->g, size, w->at[i].d[part]));
}

static void solve(const ns_sliding *k, const ns_dalembert *rows, ns_ex *a, ns_ex *lambda)
{
    const work *w = k->own;
    ns_constrained part = *w->c;
    part.eq = *rows;
    ns_constrained_accelerate(k->s, &part, a, lambda);
}

/* What the rows of a contact but its slip do along the normal. */
static ns_ex normal(const ns_sliding *k, uint32_t i, const ns_sliding_outcome *o)
{
    const work *of = k->own;
    ns_graph *g = of->g;
    const ns_dalembert *w = k->eq;
    const ns_touch *t = of->at[i].t;
    const uint32_t first = of->c->members.at[t->first].first;
    ns_ex sum = ns_zero(g);
    for (uint32_t row = t->row; row < t->slip; row++)
        for (uint32_t j = 0; j < 3; j++) {
            const ns_ex A = ns_dalembert_entry(w, &w->rows, row, first + j);
            ns_ex part = ns_mul(g, A, o->lambda[row]);
            sum = ns_add(g, sum, ns_mul(g, part, t->normal.at[j]));
        }
    return sum;
}

/* The direction in which contact i would begin to slip in a mode in which it holds. */
static void find_onset(work *k, uint32_t mode, uint32_t i)
{
    ns_graph *g = k->g;
    const ns_dalembert *w = &k->c->eq;
    const uint32_t row = k->k.at[i].row;
    const ns_sliding_outcome *now = &k->k.in[mode];
    ns_ex beta[2], zero[2] = {ns_zero(g), ns_zero(g)}, slope[6];
    ns_meet_plane q = {0};
    ns_ex *b = ns_arena_copy(k->s->arena, w->b, w->m * sizeof *b);
    const ns_ex T[2] = {now->lambda[row], now->lambda[row + 1]};
    ns_sliding_outcome pushed;
    for (uint32_t j = 0; j < 2; j++) {
        beta[j] = ns_symbol_new(g, "acceleration of slip", NS_SYM_LOCAL, j);
        b[row + j] = ns_add(g, b[row + j], beta[j]);
    }
    ns_sliding_solve(&k->k, mode, b, &pushed);
    const ns_ex force[3] = {pushed.lambda[row], pushed.lambda[row + 1], pushed.normal[i]};
    ns_diff_jacobian(g, force, 3, beta, 2, slope);
    ns_subst(g, slope, 6, beta, zero, 2, slope);
    for (uint32_t j = 0; j < 2; j++) {
        q.W[j][0] = slope[2 * j];
        q.W[j][1] = slope[2 * j + 1];
        q.w[j] = slope[4 + j];
    }
    ns_meet_slip_way(g, &q, T, now->normal[i], k->k.at[i].law->moving, k->at[i].onset[mode]);
}

static ns_ex onset_1(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    const work *w = k->own;
    return w->at[i].onset[ns_sliding_with(k, mode, i, false)][0];
}

static ns_ex onset_2(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    const work *w = k->own;
    return w->at[i].onset[ns_sliding_with(k, mode, i, false)][1];
}

/* A scale for how fast friction changes the slip, which does not turn with it. */
static ns_ex slowing(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    const work *w = k->own;
    ns_graph *g = w->g;
    ns_ex mass = ns_zero(g), N = k->in[ns_sliding_with(k, mode, i, false)].normal[i];
    for (uint32_t q = 0; q < w->c->members.n; q++)
        mass = ns_add(g, mass, w->c->members.at[q].mass);
    return ns_div(g, ns_mul(g, k->at[i].law->moving, N), mass);
}

/* ---- the system -------------------------------------------------------------------------- */

static ns_ex state_symbol(work *k, uint32_t i, const char *name)
{
    name = ns_arena_format(k->s->arena, "%s%s", k->k.at[i].dot, name);
    return ns_symbol_new(k->g, name, NS_SYM_STATE, 0);
}

/* Direction of slip as friction sees it: aim() of meet.c in two components. */
static void aim(work *k, slip *one, const ns_ex u[2])
{
    ns_graph *g = k->g;
    ns_ex one_ = ns_one(g), loose = ns_sub(g, one_, one->hold);
    ns_ex near = ns_sub(g, one_, one->far), far = one->far;
    const ns_ex *w = one->way;
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

static void prepare(work *k, uint32_t i)
{
    slip *one = &k->at[i];
    if (k->k.at[i].bit == NS_SLIDING_ALWAYS)
        return;
    one->way[0] = state_symbol(k, i, "way.x");
    one->way[1] = state_symbol(k, i, "way.y");
    k->k.at[i].slide = state_symbol(k, i, "slide");
    one->hold = state_symbol(k, i, "hold");
    one->far = state_symbol(k, i, "far");
    one->begin = state_symbol(k, i, "begin");
    aim(k, one, k->k.at[i].u);
}

static bool gather(work *k)
{
    ns_constrained *c = k->c;
    int bits = 0;
    for (uint32_t i = 0; i < c->touches.n; i++) {
        const ns_touch *t = &c->touches.at[i];
        if (!t->law)
            continue;
        if (k->k.n == NS_SLIDING_MOST) {
            ns_diag_error(k->d->diag, t->span, "there may be %d contacts with friction at most",
                          NS_SLIDING_MOST);
            return false;
        }
        const bool holds = t->law->friction == NS_FRICTION_COULOMB;
        k->at[k->k.n].t = t;
        k->k.at[k->k.n++] = (ns_sliding_contact){
            .dot = ns_arena_format(k->s->arena, "%s.", t->name),
            .law = t->law,
            .row = t->slip,
            .rows = 2,
            .bit = holds ? bits++ : NS_SLIDING_ALWAYS};
    }
    k->k.modes = 1u << bits;
    const ns_touch *first = k->k.n ? k->at[0].t : NULL;
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
    work *w = NS_NEW(s->arena, work);
    ns_sliding *k = &w->k;
    *w = (work){.d = d, .s = s, .g = d->graph, .c = c};
    *k = (ns_sliding){
        .s = s, .eq = &c->eq, .own = w, .friction = friction, .normal = normal, .solve = solve};
    if (!gather(w))
        return false;
    if (!k->n)
        return true;
    c->slips = w;
    ns_sliding_begin(k, "roll");
    for (uint32_t i = 0; i < k->n; i++)
        prepare(w, i);
    w->work = ns_symbol_new(w->g, "work.friction", NS_SYM_STATE, 0);
    for (uint32_t mode = 0; mode < k->modes; mode++)
        ns_sliding_solve(k, mode, c->eq.b, &k->in[mode]);
    for (uint32_t mode = 0; mode < k->modes; mode++)
        for (uint32_t i = 0; i < k->n; i++)
            if (!ns_sliding_slides(k, mode, i))
                find_onset(w, mode, i);
    for (uint32_t i = 0; i < c->eq.n; i++)
        c->acceleration[i] = ns_sliding_by_mode(k, ns_sliding_acceleration, i);
    for (uint32_t row = 0; row < c->eq.m; row++)
        c->multiplier[row] = ns_sliding_by_mode(k, ns_sliding_multiplier, row);
    for (uint32_t i = 0; i < k->n; i++)
        for (uint32_t row = k->at[i].row; row < k->at[i].row + 2; row++)
            s->constraints.at[c->eq.at_velocity[row]].residual = ns_sliding_by_mode(
                k, ns_sliding_held, row);
    return true;
}

void ns_constrained_law_states(ns_system *s, const ns_constrained *c)
{
    static const char *const names[STATES] = {"way.x", "way.y", "slide",
                                              "hold",  "far",   "begin"};
    work *w = c->slips;
    ns_ex zero = ns_zero(s->graph);
    if (!w)
        return;
    w->friction = ns_system_add_state(s, NS_QUANTITY_OTHER, "work.friction", w->work,
                                      ns_sliding_by_mode(&w->k, ns_sliding_power, 0), "J");
    for (uint32_t i = 0; i < w->k.n; i++) {
        slip *one = &w->at[i];
        const ns_ex symbol[STATES] = {one->way[0], one->way[1], w->k.at[i].slide,
                                      one->hold,   one->far,    one->begin};
        one->at = s->states.n;
        for (uint32_t j = 0; j < STATES && w->k.at[i].bit != NS_SLIDING_ALWAYS; j++) {
            const char *name = ns_arena_format(s->arena, "%s%s", w->k.at[i].dot, names[j]);
            const uint32_t at = ns_system_add_state(s, NS_QUANTITY_OTHER, name, symbol[j], zero,
                                                    "");
            s->states.at[at].internal = true;
        }
    }
}

/* ---- jumps ------------------------------------------------------------------------------- */

static void reset_slip(const ns_sliding *k, ns_jump *j, const slip *one, const ns_ex way[2],
                       ns_ex hold, ns_ex far, ns_ex begin)
{
    ns_sliding_reset(k, j, one->at + WAY, way[0]);
    ns_sliding_reset(k, j, one->at + WAY + 1, way[1]);
    ns_sliding_reset(k, j, one->at + HOLD, hold);
    ns_sliding_reset(k, j, one->at + FAR, far);
    ns_sliding_reset(k, j, one->at + BEGIN, begin);
}

/* e with the slip of contact i as it begins from this mode. */
static ns_ex as_it_begins(work *w, uint32_t mode, uint32_t i, ns_ex e)
{
    const slip *one = &w->at[i];
    const ns_ex from[4] = {one->way[0], one->way[1], one->hold, one->far};
    const ns_ex to[4] = {one->onset[mode][0], one->onset[mode][1], ns_one(w->g), ns_zero(w->g)};
    return ns_subst_one(w->g, e, from, to, 4);
}

/* As the friction of contact i jumps, others may have to slide from then on, too. */
static void settle_others(work *w, ns_jump *j, uint32_t i, bool let_go)
{
    ns_graph *g = w->g;
    const ns_sliding *k = &w->k;
    ns_ex one_ = ns_one(g);
    for (uint32_t other = 0; other < k->n; other++) {
        const slip *it = &w->at[other];
        ns_ex value[STATES][NS_SLIDING_MODES];
        if (other == i || k->at[other].bit == NS_SLIDING_ALWAYS)
            continue;
        const ns_ex as_is[STATES] = {it->way[0], it->way[1], k->at[other].slide,
                                     it->hold,   it->far,    it->begin};
        for (uint32_t mode = 0; mode < k->modes; mode++) {
            const uint32_t to = ns_sliding_with(k, mode, i, let_go);
            for (uint32_t q = 0; q < STATES; q++)
                value[q][mode] = as_is[q];
            if (ns_sliding_slides(k, mode, other))
                continue;
            value[SLIDES][mode] = ns_step(g, ns_neg(g, ns_sliding_margin(k, to, other)));
            value[WAY][mode] = it->onset[to][0];
            value[WAY + 1][mode] = it->onset[to][1];
            for (uint32_t q = 0; q < HOLD && let_go && !ns_sliding_slides(k, mode, i); q++)
                value[q][mode] = as_it_begins(w, mode, i, value[q][mode]);
            value[HOLD][mode] = value[BEGIN][mode] = one_;
            value[FAR][mode] = ns_zero(g);
        }
        for (uint32_t q = 0; q < STATES; q++)
            ns_sliding_reset(k, j, it->at + q, ns_system_by_mode(k->s, value[q]));
    }
}

/* The impulse that takes the slip of contact i: velocities after it, and its work. */
static void catch_slip(work *of, ns_jump *j, uint32_t i)
{
    ns_graph *g = of->g;
    const ns_sliding *k = &of->k;
    const ns_sliding_contact *one = &k->at[i];
    const ns_dalembert *w = k->eq;
    const uint32_t modes = k->modes;
    ns_ex *b = NS_NEW_ARRAY(k->s->arena, ns_ex, w->m + 1), zero = ns_zero(g);
    ns_ex value[NS_SLIDING_MODES], half = ns_number(g, 0.5);
    ns_sliding_outcome hit[NS_SLIDING_MODES] = {0};
    for (uint32_t row = 0; row < w->m; row++)
        b[row] = row - one->row < 2 ? ns_neg(g, one->u[row - one->row]) : zero;
    for (uint32_t mode = 0; mode < modes; mode++)
        ns_sliding_rows(k, ns_sliding_with(k, mode, i, false), b, false, &hit[mode]);
    for (uint32_t q = 0; q < w->n; q++) {
        for (uint32_t mode = 0; mode < modes; mode++)
            value[mode] = ns_add(g, w->v[q], hit[mode].a[q]);
        ns_sliding_reset(k, j, w->n + q, ns_system_by_mode(k->s, value));
    }
    for (uint32_t mode = 0; mode < modes; mode++) {
        const ns_ex *T = hit[mode].lambda + one->row;
        ns_ex sum = ns_add(g, ns_mul(g, T[0], one->u[0]), ns_mul(g, T[1], one->u[1]));
        value[mode] = ns_add(g, of->work, ns_mul(g, half, sum));
    }
    ns_sliding_reset(k, j, of->friction, ns_system_by_mode(k->s, value));
}

static void add_slipping(work *w, uint32_t i)
{
    ns_graph *g = w->g;
    const ns_sliding *k = &w->k;
    const slip *one = &w->at[i];
    ns_ex one_ = ns_one(g), zero = ns_zero(g), held = ns_sub(g, one->hold, one->far);
    const ns_ex onset[2] = {ns_sliding_by_mode(k, onset_1, i),
                            ns_sliding_by_mode(k, onset_2, i)};
    ns_jump *j = ns_sliding_jump(k, i, "slips", false,
                                 ns_sliding_by_mode(k, ns_sliding_margin_now, i), -1, false);
    ns_sliding_reset(k, j, one->at + SLIDES, one_);
    reset_slip(k, j, one, onset, one_, zero, one_);
    settle_others(w, j, i, true);
    ns_sliding_ways(k, j);

    ns_ex slack = ns_mul(g, one->begin, ns_mul(g, ns_number(g, nothing), k->at[i].size));
    ns_ex value = ns_add(g, ns_mul(g, held, ns_add(g, one->along, slack)),
                         ns_sub(g, one_, held));
    j = ns_sliding_jump(k, i, "sticks", true, value, -1, false);
    catch_slip(w, j, i);
    ns_ex margin = ns_sliding_by_mode(k, ns_sliding_margin_held, i);
    ns_sliding_reset(k, j, one->at + SLIDES, ns_step(g, ns_neg(g, margin)));
    reset_slip(k, j, one, onset, one_, zero, one_);
    settle_others(w, j, i, false);
    ns_sliding_ways(k, j);
}

/* The reference direction of slip, and whether it is needed: as in rolling_touch.c. */
static void add_direction(work *w, uint32_t i)
{
    ns_graph *g = w->g;
    const ns_sliding *k = &w->k;
    const slip *one = &w->at[i];
    const ns_ex size = k->at[i].size, *u = k->at[i].u;
    ns_ex one_ = ns_one(g), zero = ns_zero(g), loose = ns_sub(g, one_, one->hold);
    ns_ex held = ns_sub(g, one->hold, one->far);
    ns_ex value = ns_sub(g, ns_number(g, 0.25), ns_powi(g, one->tau, 2));
    ns_jump *j = ns_sliding_jump(k, i, "slip.turns", true, value, -1, true);
    ns_ex fast = ns_sub(g, one->along, ns_mul(g, ns_number(g, far_at), size));
    ns_ex far = ns_step(g, fast);
    reset_slip(k, j, one, one->d, far, far, zero);

    ns_ex soon = ns_mul(g, k->s->time, ns_sliding_by_mode(k, slowing, i));
    soon = ns_mul(g, ns_number(g, instants), ns_abs(g, soon));
    ns_ex least = ns_add(g, ns_mul(g, ns_number(g, ends_at), size), soon);
    value = ns_add(g, ns_mul(g, loose, ns_sub(g, one->along, least)), one->hold);
    j = ns_sliding_jump(k, i, "slip.ends", true, value, -1, true);
    reset_slip(k, j, one, one->d, one_, zero, zero);

    ns_ex begun = ns_mul(g, ns_number(g, begins_at), size);
    ns_ex missed = ns_mul(g, ns_sub(g, one_, one->begin), ns_mul(g, ns_number(g, 10), least));
    ns_ex more = ns_sub(g, one->along, ns_add(g, ns_mul(g, one->begin, begun), missed));
    value = ns_sub(g, ns_mul(g, held, more), ns_sub(g, one_, held));
    j = ns_sliding_jump(k, i, "slip.begins", true, value, 1, true);
    ns_sliding_reset(k, j, one->at + HOLD, zero);
    ns_sliding_reset(k, j, one->at + BEGIN, zero);

    ns_ex close = ns_powi(g, ns_mul(g, ns_number(g, near_at), size), 2);
    ns_ex square = ns_add(g, ns_powi(g, u[0], 2), ns_powi(g, u[1], 2));
    value = ns_add(g, ns_mul(g, one->far, ns_sub(g, square, close)), ns_sub(g, one_, one->far));
    j = ns_sliding_jump(k, i, "slip.nears", true, value, -1, true);
    reset_slip(k, j, one, one->d, zero, zero, zero);
}

/* As many contacts as can hold do; internal states where it begins. */
static void add_start(work *w)
{
    ns_graph *g = w->g;
    const ns_sliding *k = &w->k;
    ns_ex speed[NS_SLIDING_MOST], one_ = ns_one(g);
    k->s->start.carry = true; /* velocities that are not said are those of rolling */
    for (uint32_t i = 0; i < k->n; i++) {
        const ns_ex *u = k->at[i].u;
        speed[i] = ns_sqrt(g, ns_add(g, ns_powi(g, u[0], 2), ns_powi(g, u[1], 2)));
    }
    ns_sliding_start(k, speed, touching);
    for (uint32_t i = 0; i < k->n; i++) {
        const ns_sliding_contact *one = &k->at[i];
        if (one->bit == NS_SLIDING_ALWAYS)
            continue;
        ns_ex slides = ns_sliding_by_mode(k, ns_sliding_is, i);
        ns_ex least = ns_mul(g, ns_number(g, touching), one->size);
        ns_ex moves = ns_step(g, ns_sub(g, speed[i], least)), rests = ns_sub(g, one_, moves);
        ns_ex over = ns_div(g, moves, ns_add(g, speed[i], ns_number(g, 1e-140)));
        ns_ex way[2];
        for (uint32_t j = 0; j < 2; j++) {
            ns_ex begins = ns_mul(g, rests, ns_sliding_by_mode(k, j ? onset_2 : onset_1, i));
            way[j] = ns_add(g, begins, ns_mul(g, over, one->u[j]));
        }
        const ns_ex value[STATES] = {way[0], way[1], slides, rests, ns_zero(g), rests};
        for (uint32_t q = 0; q < STATES; q++)
            NS_PUSH(k->s->arena, k->s->start.settle, (ns_reset){w->at[i].at + q, value[q]});
    }
}

void ns_constrained_law_events(ns_system *s, const ns_constrained *c)
{
    work *w = c->slips;
    ns_graph *g = s->graph;
    if (!w)
        return;
    /* first: a paradox is no lift-off */
    ns_reactions_watch(s, ns_sliding_by_mode(&w->k, ns_sliding_firm, 0));
    for (uint32_t i = 0; i < w->k.n; i++) {
        const ns_sliding_contact *one = &w->k.at[i];
        ns_ex square = ns_add(g, ns_powi(g, one->u[0], 2), ns_powi(g, one->u[1], 2));
        ns_system_observe(s, NS_QUANTITY_OTHER, ns_arena_format(s->arena, "%sslip", one->dot),
                          ns_sqrt(g, square), "m/s", true);
        if (one->bit != NS_SLIDING_ALWAYS) {
            add_slipping(w, i);
            add_direction(w, i);
        }
        ns_sliding_liftoff(&w->k, i);
    }
    add_start(w);
    if (s->conservative)
        NS_PUSH(s->arena, s->invariants,
                (ns_invariant){.name = "balance", .value = ns_sub(g, s->energy, w->work)});
    s->conservative = false;
}
