/* Formulation `lie`, checks with numbers: Jacobi identity, inertia, constraints, and the
 * equation of the momentum in space. */
#include <math.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "mech/common/block.h"
#include "mech/common/dense.h"
#include "mech/lie/lie.h"

bool ns_lie_verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                   const double *x)
{
    const ns_lie *w = s->own;
    const ns_description *d = s->description;
    uint32_t n = w->n, m = w->constraints;
    double *C = NS_NEW_ARRAY(s->arena, double, (size_t)n * n * n), size;
    uint32_t triple[3] = {0};
    if (!w->numbers) {
        ns_lie_constants(w, s, p, C);
        if (ns_lie_jacobi(s->arena, n, C, triple, &size) > 1e-10) {
            ns_diag_error(diag, w->span,
                          "the brackets violate the Jacobi identity for these parameters");
            return false;
        }
    }
    double *M = NS_NEW_ARRAY(s->arena, double, (size_t)n * n);
    double *eigen = NS_NEW_ARRAY(s->arena, double, n);
    ns_system_eval(s, w->M, (size_t)n * n, t0, p, x, M);
    const bool finite = ns_dense_symmetric(s->arena, n, M, eigen);
    if (!finite || !(eigen[0] > 1e-13 * fabs(eigen[n - 1]))) {
        const ns_property *inertia = ns_block_find(ns_block_single(d, &ns_block_algebra),
                                                   "inertia");
        ns_diag_error(diag, inertia ? inertia->value_span : d->lagrangian_span,
                      finite
                          ? "the inertia is not positive definite: its least eigenvalue is %.6g"
                          : "the inertia is not finite",
                      eigen[0]);
        return false;
    }
    double *a = NS_NEW_ARRAY(s->arena, double, (size_t)m * n + 1);
    double *sigma = NS_NEW_ARRAY(s->arena, double, n + 1);
    ns_system_eval(s, w->a, (size_t)m * n, t0, p, x, a);
    for (uint32_t i = 0; i < m; i++) { /* rows of length 1, so that sizes do not matter */
        const double norm = ns_dense_unit(n, a + i * n);
        if (!ns_dense_svd(s->arena, i + 1, n, a, sigma, NULL)) {
            ns_diag_error(diag, d->constraints.at[i].span,
                          "constraint `%s` is not defined at the start",
                          d->constraints.at[i].name);
            return false;
        }
        if (!(sigma[i] > 1e-10)) {
            ns_diag_error(diag, d->constraints.at[i].span,
                          i ? "constraint `%s` depends on those before it (smallest singular "
                              "value %.2g)"
                            : "constraint `%s` is empty (size %.2g)",
                          d->constraints.at[i].name, i ? sigma[i] : norm);
            return false;
        }
    }
    return true;
}

double ns_lie_spatial_failure(const ns_system *s, const double *p, const double *x,
                              uint32_t *points)
{
    enum { POINTS = 20 };
    const ns_lie *w = s->own;
    ns_graph *g = s->graph;
    uint32_t n = w->n, states = s->states.n;
    *points = 0;
    if (!w->mu)
        return NAN;
    ns_ex *symbol = ns_system_state_symbols(s, s->arena);
    ns_ex *rate = ns_system_state_rates(s, s->arena);
    symbol[states] = s->time;
    rate[states] = ns_one(g);
    ns_ex *both = NS_NEW_ARRAY(s->arena, ns_ex, 2 * n),
                               *body = NS_NEW_ARRAY(s->arena, ns_ex, n);
    ns_diff_along(g, w->mu, n, symbol, rate, states + 1, both);
    for (uint32_t b = 0; b < n; b++) {
        body[b] = w->torque[b];
        for (uint32_t i = 0; i < w->constraints; i++)
            body[b] = ns_add(g, body[b], ns_mul(g, w->lambda[i], w->a[i * n + b]));
    }
    ns_lie_group_to_space(w, (ns_system *)s, body, both + n);
    double *value = NS_NEW_ARRAY(s->arena, double, 2 * n), worst = 0;
    double *y = NS_NEW_ARRAY(s->arena, double, states);
    uint64_t seed = 57;
    for (int k = 0; k < POINTS; k++) {
        for (uint32_t i = 0; i < states; i++)
            y[i] = x[i] + (2 * ns_eval_random(&seed) - 1) * 0.5;
        if (!ns_system_project(s, 0, p, y))
            continue;
        ns_system_eval(s, both, 2 * n, 0, p, y, value);
        double off = 0, size = 0;
        for (uint32_t b = 0; b < n; b++) {
            off = ns_max(off, fabs(value[b] - value[n + b]));
            size = ns_max(size, fabs(value[b]) + fabs(value[n + b]));
        }
        for (uint32_t i = 0; i < n; i++) /* the scale of p v, where both sides vanish */
            size = ns_max(size, y[i] * y[i]);
        worst = ns_max(worst, off / size);
        ++*points;
    }
    return worst;
}
