/* Velocities that satisfy linear constraints, as expressions: a basis of the null space of A.
 *
 *     A a = b   <=>   a = T u + c   with free u
 *
 * Row by row, with T the identity at first and alpha = A_k T:
 *
 *   - an entry alpha_j that is a number (x' = ... gives 1): column j of T is eliminated,
 *         T_i -= (alpha_i/alpha_j) T_j,   B_k = T_j/alpha_j
 *   - two entries with alpha_i^2 + alpha_j^2 a number (a blade: -sin, cos): the columns are turned,
 *         T_i = alpha_j T_i - alpha_i T_j,  T_j goes,  B_k = (alpha_i T_i + alpha_j T_j)/(...)
 *
 * so nothing is ever divided by what could vanish; rows of another kind are not handled.
 * A_l B_k is zero for l < k and one for l = k.  That gives c = sum_k B_k (b_k - A_k c), in order of
 * k, and the multipliers of  M a = Q + A^T lambda  by substitution in the reverse order:
 *
 *     lambda_k = B_k . (M a - Q) - sum_{l > k} (A_l B_k) lambda_l                             */
#ifndef NS_MECH_NULLSPACE_H
#define NS_MECH_NULLSPACE_H

#include "expr/graph.h"

typedef struct ns_nullspace {
    uint32_t n, m, d; /* velocities, constraints, n - m */
    ns_ex *T;         /* n x d, by columns: T[j*n + i] */
    ns_ex *B;         /* n x m, by columns */
    ns_ex *L;         /* m x m: A B, by rows */
    ns_ex *c;         /* [n] */
} ns_nullspace;

/* A: m x n by rows; b: [m].  False if a row is of a kind not handled. */
bool ns_nullspace_make(ns_graph *g, uint32_t n, uint32_t m, const ns_ex *A, const ns_ex *b,
                       ns_nullspace *out);

/* lambda[m] from the residual M a - Q [n]. */
void ns_nullspace_multipliers(ns_graph *g, const ns_nullspace *s, const ns_ex *residual,
                              ns_ex *lambda);

/* sum of x_i y_i */
ns_ex ns_nullspace_dot(ns_graph *g, uint32_t n, const ns_ex *x, const ns_ex *y);

#endif
