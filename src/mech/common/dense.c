#include "mech/common/dense.h"

#include <math.h>

double ns_dense_unit(uint32_t n, double *a)
{
    const double norm = ns_algebra_length(n, a);
    for (uint32_t i = 0; i < n && norm > 0; i++)
        a[i] /= norm;
    return norm;
}

static double *work_space(ns_arena *arena, uint32_t m, uint32_t n)
{
    return NS_NEW_ARRAY(arena, double, ns_algebra_svd_work(m, n) + 1);
}

uint32_t ns_dense_least(ns_arena *arena, uint32_t m, uint32_t n, const double *A,
                        const double *b, double rcond, double *x)
{
    uint32_t rank;
    ns_algebra_least(m, n, A, b, rcond, x, &rank, work_space(arena, m, n));
    return rank;
}

bool ns_dense_svd(ns_arena *arena, uint32_t m, uint32_t n, const double *A, double *sigma,
                  double *V)
{
    return ns_algebra_svd(m, n, A, sigma, V, work_space(arena, m, n));
}

bool ns_dense_symmetric(ns_arena *arena, uint32_t n, const double *A, double *lambda)
{
    return ns_algebra_symmetric(n, ns_arena_copy(arena, A, (size_t)n * n * sizeof *A), lambda);
}

bool ns_dense_regular(ns_arena *arena, uint32_t n, const double *A, double limit)
{
    double *a = ns_arena_copy(arena, A, (size_t)n * n * sizeof *a); /* becomes the inverse */
    double first = 0, second = 0;
    for (uint32_t i = 0; i < n * n; i++)
        first += A[i] * A[i];
    /* Gauss and Jordan, rows exchanged for the largest pivot: columns of the inverse come out
     * in another order, which does not change its norm */
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

static void exchange_rows(uint32_t n, double *a, double *b)
{
    for (uint32_t j = 0; j < n && a != b; j++) {
        const double swap = a[j];
        a[j] = b[j];
        b[j] = swap;
    }
}

bool ns_dense_solve(uint32_t n, double *A, uint32_t k, double *B)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pivot = i;
        for (uint32_t r = i + 1; r < n; r++)
            pivot = fabs(A[(size_t)r * n + i]) > fabs(A[(size_t)pivot * n + i]) ? r : pivot;
        exchange_rows(n, A + (size_t)i * n, A + (size_t)pivot * n);
        exchange_rows(k, B + (size_t)i * k, B + (size_t)pivot * k);
        const double *row = A + (size_t)i * n;
        if (!(fabs(row[i]) > 0) || !isfinite(row[i]))
            return false;
        for (uint32_t r = i + 1; r < n; r++) {
            double *below = A + (size_t)r * n;
            const double f = below[i] / row[i];
            if (f == 0)
                continue;
            for (uint32_t j = i + 1; j < n; j++)
                below[j] -= f * row[j];
            for (uint32_t j = 0; j < k; j++)
                B[(size_t)r * k + j] -= f * B[(size_t)i * k + j];
        }
    }
    for (uint32_t i = n; i-- > 0;) {
        const double *row = A + (size_t)i * n;
        for (uint32_t l = i + 1; l < n; l++)
            for (uint32_t j = 0; j < k; j++)
                B[(size_t)i * k + j] -= row[l] * B[(size_t)l * k + j];
        for (uint32_t j = 0; j < k; j++)
            B[(size_t)i * k + j] /= row[i];
    }
    return true;
}
