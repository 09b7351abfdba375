/* base/math/algebra.h with memory from an arena. */
#ifndef NS_MECH_COMMON_DENSE_H
#define NS_MECH_COMMON_DENSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/math/algebra.h"

/* Least-squares solution of smallest norm of A x = b (A: m x n by rows).  Returns the rank of A
 * at relative tolerance `rcond`; x[n].  A and b are not changed.  If an entry of them is not
 * finite, x is not a number and the rank 0. */
uint32_t ns_dense_least(ns_arena *arena, uint32_t m, uint32_t n, const double *A,
                        const double *b, double rcond, double *x);

/* Singular values (min(m,n), decreasing) and, if V is given, the right singular vectors as rows
 * of V[n][n].  False, and nothing but nan in both, if an entry of A is not finite. */
bool ns_dense_svd(ns_arena *arena, uint32_t m, uint32_t n, const double *A, double *sigma,
                  double *V);

/* Is the ratio of the largest to the smallest singular value of an n x n matrix surely below
 * `limit`?  Decided by |A| |A^-1| in the norm of Frobenius, which is not below it; false also
 * where that is not enough. */
bool ns_dense_regular(ns_arena *arena, uint32_t n, const double *A, double limit);

/* B[n][k] becomes A^-1 B, by elimination with row pivots; A[n][n] is used up.  False if a pivot
 * vanishes or is not finite. */
bool ns_dense_solve(uint32_t n, double *A, uint32_t k, double *B);

/* Makes a vector one of length 1, unless it is zero; its length before. */
double ns_dense_unit(uint32_t n, double *a);

/* Eigenvalues of a symmetric n x n matrix, ascending; false, and nan, if not all is finite. */
bool ns_dense_symmetric(ns_arena *arena, uint32_t n, const double *A, double *lambda);

/* Scalar product. */
static inline double ns_dense_dot(uint32_t n, const double *a, const double *b)
{
    return ns_algebra_dot(n, a, b);
}

#endif
