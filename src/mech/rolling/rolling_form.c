/* The semi-symplectic structure of a rolling body, evaluated (Patrick 2022, eqs (5), (7), (10),
 * (11), (17) to (20)).
 *
 * On the distribution K of variations (dA, ds, dx, dOmega) with ds, dx following dA as rolling
 * follows Omega (7), the two-form
 *
 *     omega(1, 2) = I~dA_1 . dOmega_2 - I~dA_2 . dOmega_1 + I~Omega . (dA_1 x dA_2)
 *                 + m (Omega x ds_1) . (s x dA_2) - m (Omega x ds_2) . (s x dA_1)          (10)
 *
 * is nondegenerate, of rank 6, and the vector field Y satisfies omega(Y, 2) = dE(2) for every
 * variation 2.  dE is taken by differentiating the energy along the variation, not from (11),
 * so that this tests vector field, contact kinematics and energy against each other.
 *
 * In the reduced system (s, Omega) on a plane, with the body's outward normal n, variations
 * have dA orthogonal to n, and the distribution is that of
 *
 *     k(2) = n.I~ dOmega_2 - I~Omega.(dA_2 x n) + m (n.Omega)(s.ds_2) = 0,                 (17)
 *
 * on which the form has rank 4.  Y satisfies k(Y) = 0 and, for every variation,
 *
 *     omega(Y, 2) = dE(2) - (n.Omega) k(2).                                             (18) */
#include <math.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "mech/common/dense.h"
#include "mech/rolling/rolling.h"

typedef struct report {
    uint32_t points;         /* states looked at */
    double worst;            /* largest relative failure */
    uint32_t rank, expected; /* smallest rank found; that of a nondegenerate form */
    double least;            /* smallest singular value counted, over the largest */
} report;

typedef struct variation {
    ns_v3 A, Omega, s;
    ns_ex quat[4], body[3], ground[3];
} variation;

static ns_ex two_form(ns_graph *g, const ns_contact *c, const variation *a, const variation *b)
{
    ns_v3 s = c->s, Omega = c->Omega;
    ns_ex form = ns_v3_dot(g, ns_m3_apply(g, c->about_contact, a->A), b->Omega);
    form = ns_sub(g, form, ns_v3_dot(g, ns_m3_apply(g, c->about_contact, b->A), a->Omega));
    form = ns_add(
        g, form,
        ns_v3_dot(g, ns_m3_apply(g, c->about_contact, Omega), ns_v3_cross(g, a->A, b->A)));
    ns_ex first = ns_v3_dot(g, ns_v3_cross(g, Omega, a->s), ns_v3_cross(g, s, b->A));
    ns_ex second = ns_v3_dot(g, ns_v3_cross(g, Omega, b->s), ns_v3_cross(g, s, a->A));
    return ns_add(g, form, ns_mul(g, c->mass, ns_sub(g, first, second)));
}

/* a without its part along n */
static ns_v3 across(ns_graph *g, ns_v3 a, ns_v3 n)
{
    return ns_v3_sub(g, a, ns_v3_scale(g, ns_v3_dot(g, a, n), n));
}

/* k of (17); *size: of its terms. */
static ns_ex condition(ns_graph *g, const ns_contact *c, const variation *v, ns_ex *size)
{
    const ns_v3 n = ns_v3_neg(g, c->gamma);
    const ns_ex term[3] = {
        ns_v3_dot(g, n, ns_m3_apply(g, c->about_contact, v->Omega)),
        ns_neg(g, ns_v3_dot(g, ns_m3_apply(g, c->about_contact, c->Omega),
                            ns_v3_cross(g, v->A, n))),
        ns_mul(g, ns_mul(g, c->mass, ns_v3_dot(g, n, c->Omega)), ns_v3_dot(g, c->s, v->s))};
    ns_ex sum = ns_zero(g);
    *size = ns_zero(g);
    for (int i = 0; i < 3; i++) {
        sum = ns_add(g, sum, term[i]);
        *size = ns_add(g, *size, ns_abs(g, term[i]));
    }
    return sum;
}

/* A variation from six free numbers, dA and dOmega; *turn: of the angular velocity's states. */
static variation vary(ns_graph *g, ns_contact *c, const ns_ex *symbol, ns_v3 *turn)
{
    variation v;
    for (int i = 0; i < 3; i++) {
        v.A.at[i] = symbol[i];
        v.Omega.at[i] = symbol[i + 3];
    }
    if (c->reduced)
        v.A = across(g, v.A, c->gamma);
    *turn = v.Omega;
    if (c->ball) { /* d(A Omega) = A (dOmega + dA x Omega); fixed ground: x' = A s' */
        ns_contact_ball_sweep(g, c, ns_m3_apply(g, c->A, v.A), v.ground, &v.s, NULL);
        v.s = ns_m3_apply_transposed(g, c->A, v.s);
        *turn = ns_m3_apply(g, c->A, ns_v3_add(g, *turn, ns_v3_cross(g, v.A, c->Omega)));
    } else {
        v.s = ns_contact_sweep(g, c, v.A, v.body, v.ground);
    }
    if (!c->reduced)
        ns_v3_quaternion_rate(g, c->quat, v.A, v.quat);
    return v;
}

/* The change of the states along a variation. */
static ns_ex *in_states(const ns_system *s, const ns_rolling *r, const variation *v, ns_v3 turn)
{
    const ns_contact *c = &r->contact;
    ns_ex *along = NS_NEW_ARRAY(s->arena, ns_ex, s->states.n);
    for (uint32_t i = 0; i < 4 && !c->reduced; i++)
        along[r->quat + i] = v->quat[i];
    for (uint32_t i = 0; i < 3; i++)
        along[r->omega + i] = turn.at[i];
    for (uint32_t i = 0; i < c->body.n && !c->closed; i++)
        along[r->side + i] = v->body[i];
    for (uint32_t i = 0; i < c->ground.n && !c->reduced; i++)
        along[r->support + i] = v->ground[i];
    return along;
}

/* Variations that satisfy (17): dOmega changed along n. */
static void onto(ns_graph *g, const ns_contact *c, variation *v)
{
    const ns_v3 n = ns_v3_neg(g, c->gamma);
    ns_ex size;
    const ns_ex off = ns_div(g, condition(g, c, v, &size),
                             ns_v3_dot(g, n, ns_m3_apply(g, c->about_contact, n)));
    v->Omega = ns_v3_sub(g, v->Omega, ns_v3_scale(g, off, n));
}

/* Rank of the form on the distribution, by singular values of its matrix in the six free
 * numbers, those of dOmega in units of Omega. */
static void find_rank(const ns_system *s, const ns_ex *form, const ns_ex *names, double *value,
                      uint32_t all, uint32_t at, double unit, report *out)
{
    double F[36], sigma[6];
    for (uint32_t k = 0; k < 36; k++) {
        const uint32_t i = k / 6, j = k % 6;
        for (uint32_t l = 0; l < 12; l++)
            value[at + l] = l == i || l == j + 6 ? (l % 6 < 3 ? 1 : unit) : 0;
        ns_eval(s->graph, form, 1, names, value, all, &F[k]);
    }
    if (!ns_dense_svd(s->arena, 6, 6, F, sigma, NULL))
        return;
    uint32_t rank = 0;
    while (rank < 6 && sigma[rank] > 1e-10 * sigma[0])
        rank++;
    out->rank = out->points ? (rank < out->rank ? rank : out->rank) : rank;
    const double least = rank ? sigma[rank - 1] / sigma[0] : 0;
    out->least = out->points ? ns_min(out->least, least) : least;
}

static bool evaluate(const ns_system *s, const double *p, const double *x, report *out)
{
    enum { TRIES = 12 };
    ns_rolling *r = s->own;
    ns_contact *c = &r->contact;
    ns_graph *g = s->graph;
    const ns_description *d = s->description;
    *out = (report){.expected = c->reduced ? 4 : 6};
    if (!s->conservative || c->moving || c->rubber)
        return false; /* a fixed ground without loads, and a body that may twist on it */
    const uint32_t n = s->states.n, np = d->params.n, all = n + np + 13;
    ns_ex free_symbols[12], size, size_Y;
    for (uint32_t i = 0; i < 12; i++)
        free_symbols[i] = ns_symbol_new(g, "variation", NS_SYM_LOCAL, i);
    ns_v3 turn, other;
    variation v = vary(g, c, free_symbols, &turn), w = vary(g, c, free_symbols + 6, &other);
    variation Y = {.A = c->Omega, .Omega = c->Omega_rate, .s = c->s_rate};
    if (c->reduced)
        Y.A = across(g, Y.A, c->gamma);
    /* the form, dE, two of its terms as a measure of size; (17) for Y */
    ns_ex ask[6] = {two_form(g, c, &Y, &v)};
    ns_diff_along(g, &c->energy, 1, ns_system_state_symbols(s, s->arena),
                  in_states(s, r, &v, turn), n, &ask[1]);
    ask[2] = ns_v3_dot(g, ns_m3_apply(g, c->about_contact, c->Omega), v.Omega);
    ask[3] = ns_v3_dot(g, ns_m3_apply(g, c->about_contact, c->Omega_rate), v.A);
    ask[4] = ask[5] = ns_zero(g);
    if (c->reduced) {
        const ns_ex lambda = ns_v3_dot(g, c->gamma, c->Omega); /* - n.Omega */
        ask[1] = ns_add(g, ask[1], ns_mul(g, lambda, condition(g, c, &v, &size)));
        ask[4] = condition(g, c, &Y, &size_Y);
        ask[5] = size_Y;
        onto(g, c, &v);
        onto(g, c, &w);
    }
    const ns_ex pair = two_form(g, c, &v, &w);
    uint64_t seed = 2022;
    ns_ex *names = NS_NEW_ARRAY(s->arena, ns_ex, all);
    double *value = NS_NEW_ARRAY(s->arena, double, all);
    for (uint32_t i = 0; i < n + np; i++)
        names[i] = i < n ? s->states.at[i].symbol : d->params.at[i - n].symbol;
    for (uint32_t i = 0; i < 12; i++)
        names[n + np + i] = free_symbols[i];
    names[all - 1] = s->time;
    for (int k = 0; k < TRIES; k++) {
        for (uint32_t i = 0; i < n; i++)
            value[i] = x[i] +
                       (k ? 0.2 * (fabs(x[i]) + 0.05) * (2 * ns_eval_random(&seed) - 1) : 0);
        if (k && !ns_system_project(s, 0, p, value))
            continue;
        for (uint32_t i = 0; i < np; i++)
            value[n + i] = p[i];
        double unit = 1, at[6];
        for (uint32_t i = 0; i < 12; i++)
            value[n + np + i] = 2 * ns_eval_random(&seed) - 1;
        for (uint32_t i = 0; i < 3; i++)
            unit = ns_max(unit, fabs(value[r->omega + i]));
        ns_eval(g, ask, 6, names, value, all, at);
        const double sum = fabs(at[1]) + fabs(at[2]) + fabs(at[3]);
        const double ratio = fabs(at[0] - at[1]) / sum;
        if (!isfinite(ratio))
            continue;
        out->worst = ns_max(out->worst, ratio);
        if (at[5] > 0)
            out->worst = ns_max(out->worst, fabs(at[4]) / at[5]);
        find_rank(s, &pair, names, value, all, n + np, unit, out);
        out->points++;
    }
    return out->points > 0;
}

double ns_rolling_form(const ns_system *s, const double *p, const double *x, uint32_t *points)
{
    report r;
    const bool good = evaluate(s, p, x, &r);
    *points = r.points;
    return good ? r.rank == r.expected ? r.worst : INFINITY : NAN;
}

void ns_rolling_ranks(const ns_system *s, double t0, const double *p, const double *x,
                      ns_rank_facts *out)
{
    report r;
    (void)t0;
    if (!evaluate(s, p, x, &r))
        return;
    NS_PUSH(s->arena, out->at,
            (ns_rank_fact){.matrix = "two-form", .rank = r.rank, .full = r.expected});
    ns_text_addf(&out->lines,
                 "  two-form on the distribution: rank %u of %u, %s (singular values within "
                 "%.1e)\n",
                 r.rank, r.expected, r.rank == r.expected ? "nondegenerate" : "degenerate",
                 r.least);
}
