/* The semi-symplectic structure of a rolling body, evaluated (Patrick 2022, eqs (7), (10),
 * (11)).
 *
 * On the distribution K of variations (dA, ds, dx, dOmega) with ds, dx following dA as rolling
 * follows Omega (7), the two-form
 *
 *     omega(1, 2) = I~dA_1 . dOmega_2 - I~dA_2 . dOmega_1 + I~Omega . (dA_1 x dA_2)
 *                 + m (Omega x ds_1) . (s x dA_2) - m (Omega x ds_2) . (s x dA_1)          (10)
 *
 * and the vector field Y satisfy  omega(Y, 2) = dE(2)  for every variation 2.  dE is taken by
 * differentiating the energy along the variation, not from (11), so that this tests the vector
 * field, the contact kinematics and the energy against each other. */
#include <math.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "mech/rolling/rolling.h"

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

double ns_rolling_form(const ns_system *s, const double *p, const double *x, uint32_t *points)
{
    enum { TRIES = 12 };
    *points = 0;
    ns_rolling *r = s->own;
    if (!s->conservative || r->contact.reduced)
        return NAN; /* the identity is about a fixed ground without loads, and needs A and x */
    ns_contact *c = &r->contact;
    ns_graph *g = s->graph;
    uint32_t n = s->states.n;
    variation v, Y = {.A = c->Omega, .Omega = c->Omega_rate, .s = c->s_rate};
    ns_ex free_symbols[6];
    for (uint32_t i = 0; i < 6; i++)
        free_symbols[i] = ns_symbol_new(g, "variation", NS_SYM_LOCAL, i);
    for (int i = 0; i < 3; i++) {
        v.A.at[i] = free_symbols[i];
        v.Omega.at[i] = free_symbols[i + 3];
    }
    ns_v3 turn = v.Omega; /* of the states of angular velocity */
    if (c->ball) {        /* d(A Omega) = A (dOmega + dA x Omega); fixed ground: x' = A s' */
        ns_contact_ball_sweep(g, c, ns_m3_apply(g, c->A, v.A), v.ground, &v.s, NULL);
        v.s = ns_m3_apply_transposed(g, c->A, v.s);
        turn = ns_m3_apply(g, c->A, ns_v3_add(g, turn, ns_v3_cross(g, v.A, c->Omega)));
    } else {
        v.s = ns_contact_sweep(g, c, v.A, v.body, v.ground);
    }
    ns_v3_quaternion_rate(g, c->quat, v.A, v.quat);
    const ns_ex *symbols = ns_system_state_symbols(s, s->arena);
    ns_ex *along = NS_NEW_ARRAY(s->arena, ns_ex, n);
    for (uint32_t i = 0; i < 4; i++)
        along[r->quat + i] = v.quat[i];
    for (uint32_t i = 0; i < 3; i++)
        along[r->omega + i] = turn.at[i];
    for (uint32_t i = 0; i < c->body.n && !c->closed; i++)
        along[r->side + i] = v.body[i];
    for (uint32_t i = 0; i < c->ground.n; i++)
        along[r->support + i] = v.ground[i];
    /* the form, dE, and its two largest terms as a measure of size */
    ns_ex ask[4] = {two_form(g, c, &Y, &v), 0, 0, 0};
    ns_diff_along(g, &c->energy, 1, symbols, along, n, &ask[1]);
    ask[2] = ns_v3_dot(g, ns_m3_apply(g, c->about_contact, c->Omega), v.Omega);
    ask[3] = ns_v3_dot(g, ns_m3_apply(g, c->about_contact, c->Omega_rate), v.A);

    double worst = 0;
    uint64_t seed = 2022;
    const ns_description *d = s->description;
    uint32_t np = d->params.n, all = n + np + 7;
    ns_ex *names = NS_NEW_ARRAY(s->arena, ns_ex, all);
    double *value = NS_NEW_ARRAY(s->arena, double, all), *y = value;
    for (uint32_t i = 0; i < n; i++)
        names[i] = symbols[i];
    for (uint32_t i = 0; i < np; i++)
        names[n + i] = d->params.at[i].symbol;
    for (uint32_t i = 0; i < 6; i++)
        names[n + np + i] = free_symbols[i];
    names[all - 1] = s->time;
    for (int k = 0; k < TRIES; k++) {
        for (uint32_t i = 0; i < n; i++)
            y[i] = x[i] + (k ? 0.2 * (fabs(x[i]) + 0.05) * (2 * ns_eval_random(&seed) - 1) : 0);
        if (k && !ns_system_project(s, 0, p, y))
            continue;
        for (uint32_t i = 0; i < np; i++)
            value[n + i] = p[i];
        for (uint32_t i = 0; i < 6; i++)
            value[n + np + i] = 2 * ns_eval_random(&seed) - 1;
        double out[4];
        ns_eval(g, ask, 4, names, value, all, out);
        double size = fabs(out[1]) + fabs(out[2]) + fabs(out[3]);
        double ratio = fabs(out[0] - out[1]) / size;
        if (!isfinite(ratio))
            continue;
        worst = ns_max(worst, ratio);
        ++*points;
    }
    return worst;
}
