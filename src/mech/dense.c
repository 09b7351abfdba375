#include "mech/dense.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

double ns_dense_unit(uint32_t n, double *a)
{
    double norm = 0;
    for (uint32_t i = 0; i < n; i++)
        norm = hypot(norm, a[i]);
    for (uint32_t i = 0; i < n && norm > 0; i++)
        a[i] /= norm;
    return norm;
}

uint32_t ns_dense_least(ns_arena *arena, uint32_t m, uint32_t n, const double *A,
                        const double *b, double rcond, double *x)
{
    if (m == 0 || n == 0) {
        memset(x, 0, n * sizeof *x);
        return 0;
    }
    uint32_t least = m < n ? m : n, most = m > n ? m : n;
    double *a = ns_arena_copy(arena, A, (size_t)m * n * sizeof *a);
    double *rhs = NS_NEW_ARRAY(arena, double, most),
                               *sigma = NS_NEW_ARRAY(arena, double, least);
    memcpy(rhs, b, m * sizeof *b);
    lapack_int rank = 0;
    LAPACKE_dgelsd(LAPACK_ROW_MAJOR, (lapack_int)m, (lapack_int)n, 1, a, (lapack_int)n, rhs, 1,
                   sigma, rcond, &rank);
    memcpy(x, rhs, n * sizeof *x);
    return (uint32_t)rank;
}

void ns_dense_svd(ns_arena *arena, uint32_t m, uint32_t n, const double *A, double *sigma,
                  double *V)
{
    if (m == 0 || n == 0)
        return;
    double *a = ns_arena_copy(arena, A, (size_t)m * n * sizeof *a);
    uint32_t least = m < n ? m : n;
    double *superb = NS_NEW_ARRAY(arena, double, least + 1);
    double *right = V ? V : NS_NEW_ARRAY(arena, double, n * n);
    LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', V ? 'A' : 'N', (lapack_int)m, (lapack_int)n, a,
                   (lapack_int)n, sigma, NULL, 1, right, (lapack_int)n, superb);
}

void ns_dense_symmetric(ns_arena *arena, uint32_t n, const double *A, double *lambda)
{
    double *a = ns_arena_copy(arena, A, (size_t)n * n * sizeof *a);
    LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', (lapack_int)n, a, (lapack_int)n, lambda);
}

bool ns_dense_regular(ns_arena *arena, uint32_t n, const double *A, double limit)
{
    double *a = ns_arena_copy(arena, A, (size_t)n * n * sizeof *a); /* becomes the inverse */
    double first = 0, second = 0;
    for (uint32_t i = 0; i < n * n; i++)
        first += A[i] * A[i];
    /* Gauss and Jordan, rows exchanged for the largest pivot: columns of the inverse come out in another
     * order, which does not change its norm */
    for (uint32_t k = 0; k < n; k++) {
        uint32_t best = k;
        for (uint32_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k]))
                best = i;
        const double pivot = a[best * n + k];
        if (!(fabs(pivot) > 0))
            return false;
        for (uint32_t j = 0; j < n; j++) {
            const double x = a[best * n + j];
            a[best * n + j] = a[k * n + j];
            a[k * n + j] = x / pivot;
        }
        a[k * n + k] = 1 / pivot;
        for (uint32_t i = 0; i < n; i++) {
            const double factor = a[i * n + k];
            if (i == k)
                continue;
            a[i * n + k] = 0;
            for (uint32_t j = 0; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
        }
    }
    for (uint32_t i = 0; i < n * n; i++)
        second += a[i] * a[i];
    return sqrt(first) * sqrt(second) < limit; /* false if not a number */
}
