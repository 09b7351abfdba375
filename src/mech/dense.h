/* Small dense linear algebra with numbers, for checks and starts (through LAPACK). */
#ifndef NS_MECH_DENSE_H
#define NS_MECH_DENSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Least-squares solution of smallest norm of A x = b (A: m x n by rows).  Returns the rank of A
 * at relative tolerance `rcond`; x[n].  A and b are not changed. */
uint32_t ns_dense_least(ns_arena *arena, uint32_t m, uint32_t n, const double *A,
                        const double *b, double rcond, double *x);

/* Singular values (min(m,n), decreasing) and, if V is given, the right singular vectors as rows
 * of V[n][n]. */
void ns_dense_svd(ns_arena *arena, uint32_t m, uint32_t n, const double *A, double *sigma,
                  double *V);

/* Is the ratio of the largest to the smallest singular value of an n x n matrix surely below `limit`?  Decided
 * by |A| |A^-1| in the norm of Frobenius, which is not below it; false also where that is not enough. */
bool ns_dense_regular(ns_arena *arena, uint32_t n, const double *A, double limit);

/* Makes a vector one of length 1, unless it is zero; its length before. */
double ns_dense_unit(uint32_t n, double *a);

/* Scalar product, in four sums: additions that wait for each other are what such loops spend their time on. */
static inline double ns_dense_dot(uint32_t n, const double *a, const double *b)
{
    double sum[4] = {0};
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (uint32_t k = 0; k < 4; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Eigenvalues of a symmetric n x n matrix, ascending. */
void ns_dense_symmetric(ns_arena *arena, uint32_t n, const double *A, double *lambda);

#endif
