/* Dense linear algebra with numbers, for sizes up to a few hundred, the same bits on every
 * machine: only + - * /, square roots and powers of two, in a fixed order.
 *
 * Matrices are stored by rows and scaled by a power of two first, so that nothing overflows or
 * underflows on the way.  Work space comes from the caller: nothing here allocates.  A function
 * returns false, with results that are not numbers, if an entry of its input is not finite (or,
 * which has never been seen, if an iteration does not converge). */
#ifndef NS_BASE_MATH_ALGEBRA_H
#define NS_BASE_MATH_ALGEBRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of a vector, and of (a, b). */
double ns_algebra_length(uint32_t n, const double *a);
double ns_algebra_hypot(double a, double b);

/* Scalar product, in four sums: additions that wait for each other are what such loops spend
 * their time on. */
static inline double ns_algebra_dot(uint32_t n, const double *a, const double *b)
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

/* Doubles of work space for the two functions below. */
size_t ns_algebra_svd_work(uint32_t m, uint32_t n);

/* Singular values sigma[min(m,n)] of A[m][n], decreasing, and, unless V is NULL, right singular
 * vectors as rows of V[n][n]; those after the rank span the kernel. */
bool ns_algebra_svd(uint32_t m, uint32_t n, const double *A, double *sigma, double *V,
                    double *work);

/* Least-squares solution x[n] of smallest norm of A x = b.  Singular values up to rcond times
 * the largest count as zero; *rank: how many do not. */
bool ns_algebra_least(uint32_t m, uint32_t n, const double *A, const double *b, double rcond,
                      double *x, uint32_t *rank, double *work);

/* Eigenvalues, ascending, of the symmetric matrix with the upper triangle of A[n][n], which is
 * used up. */
bool ns_algebra_symmetric(uint32_t n, double *A, double *lambda);

/* Eigenvalues re + i im of A[n][n], which is used up; the two of a complex pair stand together,
 * the one with im > 0 first. */
bool ns_algebra_eigenvalues(uint32_t n, double *A, double *re, double *im);

/* Determinant of A[n][n], which is used up: value * 2^exponent with 1 <= |value| < 2, or 0. */
bool ns_algebra_determinant(uint32_t n, double *A, double *value, int *exponent);

/* ---- shared by algebra*.c ---------------------------------------------------------------- */

/* x 2^k, for any k. */
double ns_algebra_times_power(double x, int k);

/* 2^k for |k| < 1023, and the exponent of a number that is finite and not zero. */
double ns_algebra_power(int k);
int ns_algebra_exponent(double x);

/* Multiplies A by a power of two that brings its largest entry near 1; *back undoes it.  False
 * if an entry is not finite.  `to` may be A itself. */
bool ns_algebra_scale(size_t count, const double *A, double *to, double *back);

#endif
