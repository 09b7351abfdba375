#include "mech/dense.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

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
