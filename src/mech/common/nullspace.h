/* Velocities that satisfy linear constraints, as expressions: a basis of the null space of A.
 *
 *     A a = b   <=>   a = T u + c   with free u
 *
 * Row by row, with T the identity at first and alpha = A_k T:
 *
 *   - an entry alpha_j that is a number (x' = ... gives 1): B_k = T_j/alpha_j, and T_j goes;
 *   - two entries with alpha_i^2 + alpha_j^2 a number (a blade: -sin, cos): the columns are
 *   turned,
 *         B_k = (alpha_i T_i + alpha_j T_j)/(alpha_i^2 + alpha_j^2),
 *         alpha_j T_i - alpha_i T_j takes the place of T_i, and T_j goes;
 *
 * then the other columns are freed from the row: T_l -= alpha_l B_k.  So nothing is ever
 * divided by what could vanish.  Rows of another kind are left as constraints on u,
 *
 *     (A_k T) u = b_k - A_k c
 *
 * With rows in the order in which they were taken, A_l B_k is zero for l < k and one for l = k.
 * That gives c = sum_k B_k (b_k - A_k c), in this order, and the multipliers of the rows taken,
 * from M a = Q + A^T lambda  by substitution in the reverse order:
 *
 *     lambda_k = B_k . (M a - Q - sum over rows left of A_l^T lambda_l)
 *                - sum_{l > k} (A_l B_k) lambda_l */
#ifndef NS_MECH_COMMON_NULLSPACE_H
#define NS_MECH_COMMON_NULLSPACE_H

#include "expr/graph.h"

typedef struct ns_nullspace {
    uint32_t n, m;      /* velocities, constraints */
    uint32_t d, taken;  /* columns of T: n - taken; rows taken */
    uint32_t *row;      /* [m] rows taken, in order, then rows left */
    const ns_ex *A, *b; /* as given */
    ns_ex *T;           /* n x d, by columns: T[j*n + i] */
    ns_ex *B;           /* n x taken, by columns */
    ns_ex *c;           /* [n] */
} ns_nullspace;

/* A: m x n by rows; b: [m]. */
ns_nullspace ns_nullspace_make(ns_graph *g, uint32_t n, uint32_t m, const ns_ex *A,
                               const ns_ex *b);

/* Multipliers of the rows taken into lambda[m], where those of the rows left are already, from
 * the residual M a - Q [n]. */
void ns_nullspace_multipliers(ns_graph *g, const ns_nullspace *s, const ns_ex *residual,
                              ns_ex *lambda);

/* sum of x_i y_i */
ns_ex ns_nullspace_dot(ns_graph *g, uint32_t n, const ns_ex *x, const ns_ex *y);

#endif
