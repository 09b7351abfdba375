/* Accelerations of a constrained system with dependent constraints and a singular mass matrix.
 *
 * They are unique iff rank [M | A^T] = n (43).  Then M^ = M + kappa^2 A^T A is positive definite
 * (44), and a solves
 *
 *     [ M^  A^T ] [  a ]   [ Q + kappa^2 A^T b ]
 *     [ A    0  ] [ -l ] = [ b                 ]
 *
 * for any kappa != 0 (adding kappa^2 A^T times the second row to the first changes nothing).  With
 * dependent rows of A the matrix is singular, though a is unique.  Route `saddle` (default) solves
 *
 *     K_eps = [ M^  A^T ; A  -eps ],   x <- x + K_eps^-1 (r - K_0 x),  twice refined,
 *
 * with one factorisation (r - K_0 x is -eps times the multipliers of the last correction).  On the
 * range of A an iteration multiplies the error by about eps kappa^2 = 1e-8; in the null space of A^T the multiplier grows, but A^T of it is zero and a does
 * not feel it.  Rows are kept, none is dropped: the right-hand side stays smooth off the manifold,
 * where a dependent row is only nearly dependent.  kappa^2 = tr M / tr A A^T unless given, so that
 * both parts of M^ have the same size.
 *
 * Route `augmented(kappa2 = k)` is the same with the given kappa^2: eqs (44)-(45).  Route `pinv`,
 * eq (42), is for runs: see ode/pinv.c; all else about such a model uses the saddle system. */
#include <string.h>

#include "mech/block.h"
#include "mech/constrained.h"

static bool read_route(ns_description *d, ns_ex *kappa2, bool *pinv)
{
    const ns_block *block = ns_block_single(d, "solve");
    *kappa2 = 0;
    if (!block)
        return true;
    static const char *const names[] = {"kappa2", NULL};
    if (!ns_block_known(d, block, names))
        return false;
    const ns_property *p = ns_block_find(block, "kappa2");
    bool augmented = block->kind && strcmp(block->kind, "augmented") == 0;
    *pinv = block->kind && strcmp(block->kind, "pinv") == 0;
    if (!augmented && !*pinv && !(block->kind && strcmp(block->kind, "saddle") == 0)) {
        ns_diag_error(d->diag, block->span,
                      "expected `solve saddle`, `solve pinv` or `solve augmented(kappa2 = "
                      "VALUE)`");
        return false;
    }
    if (augmented != (p != NULL)) {
        ns_diag_error(d->diag, block->span,
                      "`augmented` takes kappa2, `saddle` and `pinv` nothing");
        return false;
    }
    return !p || ns_block_scalar(d, p, 0, kappa2);
}

bool ns_constrained_solve(ns_description *d, ns_system *s, ns_constrained *c)
{
    enum { REFINEMENTS = 2 };
    const ns_dalembert *w = &c->eq;
    ns_graph *g = s->graph;
    uint32_t n = w->n, m = w->m, size = n + m;
    ns_ex kappa2;
    if (!read_route(d, &kappa2, &c->pinv))
        return false;
    c->acceleration = NS_NEW_ARRAY(s->arena, ns_ex, n);
    c->multiplier = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
    if (m && !kappa2) {
        ns_ex masses = ns_zero(g), rows = ns_zero(g);
        for (uint32_t i = 0; i < n; i++)
            masses = ns_add(g, masses, w->M[i * n + i]);
        for (uint32_t k = 0; k < m * n; k++)
            rows = ns_add(g, rows, ns_powi(g, w->A[k], 2));
        kappa2 = ns_div(g, masses, rows);
    }
    ns_ex *K = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)size * size);
    ns_ex *r = NS_NEW_ARRAY(s->arena, ns_ex, size), *x = NS_NEW_ARRAY(s->arena, ns_ex, size);
    for (uint32_t i = 0; i < n; i++) {
        ns_ex pull = ns_zero(g);
        for (uint32_t k = 0; k < m; k++)
            pull = ns_add(g, pull, ns_mul(g, w->A[k * n + i], w->b[k]));
        r[i] = m ? ns_add(g, w->Q[i], ns_mul(g, kappa2, pull)) : w->Q[i];
        for (uint32_t j = 0; j <= i; j++) {
            ns_ex square = ns_zero(g);
            for (uint32_t k = 0; k < m; k++)
                square = ns_add(g, square, ns_mul(g, w->A[k * n + i], w->A[k * n + j]));
            ns_ex entry = m ? ns_add(g, w->M[i * n + j], ns_mul(g, kappa2, square))
                            : w->M[i * n + j];
            K[i * size + j] = K[j * size + i] = entry;
        }
    }
    ns_ex minus_eps = m ? ns_neg(g, ns_div(g, ns_number(g, 0x1p-27), kappa2)) : 0;
    for (uint32_t k = 0; k < m; k++) {
        r[n + k] = w->b[k];
        for (uint32_t i = 0; i < n; i++)
            K[(n + k) * size + i] = K[i * size + n + k] = w->A[k * n + i];
        for (uint32_t j = 0; j < m; j++)
            K[(n + k) * size + n + j] = j == k ? minus_eps : ns_zero(g);
    }
    ns_solve(g, size, K, r, x);
    ns_ex *step = x; /* the last correction; r - K_0 x is -eps times its multipliers */
    for (int round = 0; m && round < REFINEMENTS; round++) {
        ns_ex *rest = NS_NEW_ARRAY(s->arena, ns_ex, size);
        ns_ex *next = NS_NEW_ARRAY(s->arena, ns_ex, size);
        for (uint32_t i = 0; i < size; i++)
            rest[i] = i < n ? ns_zero(g) : ns_mul(g, minus_eps, step[i]);
        ns_solve(g, size, K, rest, next);
        step = next;
        ns_ex *sum = NS_NEW_ARRAY(s->arena, ns_ex, size);
        for (uint32_t i = 0; i < size; i++)
            sum[i] = ns_add(g, x[i], step[i]);
        x = sum;
    }
    for (uint32_t i = 0; i < n; i++)
        c->acceleration[i] = x[i];
    for (uint32_t k = 0; k < m; k++)
        c->multiplier[k] = ns_neg(g, x[n + k]);
    return true;
}
