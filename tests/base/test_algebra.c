/* Linear algebra, with LAPACK as the judge.
 *
 * NOSLIP_MATRICES=N sets the number of random matrices (10,000 unless given; 1,000 under
 * sanitizers). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/algebra.h"

enum { MOST = 300 };

#define GOLDEN 0xc3267fe88db97b22u

static uint64_t seed = 1;

static double uniform(void) /* in (-1, 1) */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11 << 1) * 0x1p-53 - 1;
}

static uint32_t below(uint32_t n)
{
    return (uint32_t)((uniform() + 1) / 2 * n);
}

static double *room(size_t n)
{
    double *a = calloc(n + 1, sizeof *a);
    assert_non_null(a);
    return a;
}

static double *copy(const double *a, size_t n)
{
    double *b = room(n);
    memcpy(b, a, n * sizeof *a);
    return b;
}

/* ---- matrices ---------------------------------------------------------------------------- */

typedef enum kind { FULL, DEFICIENT, GRADED_ROWS, GRADED_COLUMNS, SPARSE, INTEGER, KINDS } kind;

static void fill(uint32_t m, uint32_t n, kind what, double *A)
{
    for (size_t i = 0; i < (size_t)m * n; i++)
        A[i] = uniform();
    if (what == DEFICIENT) {
        const uint32_t r = below(m < n ? m : n);
        double *L = room((size_t)m * r);
        for (size_t i = 0; i < (size_t)m * r; i++)
            L[i] = uniform();
        for (uint32_t i = 0; i < m; i++)
            for (uint32_t j = 0; j < n; j++) {
                double sum = 0;
                for (uint32_t k = 0; k < r; k++)
                    sum += L[i * r + k] * cos(1.0 + k * (j + 0.3) * 1.7);
                A[i * n + j] = sum;
            }
        free(L);
    }
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < n; j++) {
            double *a = A + (size_t)i * n + j;
            if (what == GRADED_ROWS)
                *a *= pow(10, -20.0 * i / m);
            if (what == GRADED_COLUMNS)
                *a *= pow(10, -20.0 * j / n);
            if (what == SPARSE && below(4))
                *a = 0;
            if (what == INTEGER)
                *a = floor(3 * *a);
        }
}

/* Matrices with a bad name, n x n. */
static const char *const named[] = {"zero",    "one",       "Hilbert",      "Frank",
                                    "Grcar",   "Jordan",    "lower Jordan", "Kahan",
                                    "graded",  "Wilkinson", "circulant",    "Forsythe",
                                    "Clement", "Lotkin",    "Toeplitz"};
enum { NAMED = sizeof named / sizeof *named };

static void fill_named(const char *name, uint32_t n, double *A)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            double a = 0;
            const int d = (int)j - (int)i; /* above the diagonal: positive */
            if (!strcmp(name, "one"))
                a = 1;
            else if (!strcmp(name, "Hilbert"))
                a = 1.0 / (i + j + 1);
            else if (!strcmp(name, "Frank"))
                a = d >= 0 ? n - j : d == -1 ? n - j - 1 : 0;
            else if (!strcmp(name, "Grcar"))
                a = d == -1 ? -1 : d >= 0 && d <= 3 ? 1 : 0;
            else if (!strcmp(name, "Jordan"))
                a = d == 0 ? 2 : d == 1;
            else if (!strcmp(name, "lower Jordan"))
                a = d == 0 ? -0.5 : d == -1;
            else if (!strcmp(name, "Kahan"))
                a = pow(sin(1.2), i) * (d == 0 ? 1 : d > 0 ? -cos(1.2) : 0);
            else if (!strcmp(name, "graded"))
                a = pow(10, -(double)(i + j)) * (1 + (i * 7 + j * 3) % 5);
            else if (!strcmp(name, "Wilkinson"))
                a = d == 0 ? fabs(i - (n - 1) / 2.0) : abs(d) == 1;
            else if (!strcmp(name, "circulant")) /* shifts stand still on it */
                a = d == 1 || (i + 1 == n && j == 0);
            else if (!strcmp(name, "Forsythe"))
                a = d == 0 ? 1 : d == 1 ? 1 : (i + 1 == n && j == 0) ? 1e-8 : 0;
            else if (!strcmp(name, "Clement"))
                a = d == 1 ? j : d == -1 ? (double)(n - j - 1) : 0;
            else if (!strcmp(name, "Lotkin"))
                a = i == 0 ? 1 : 1.0 / (i + j + 1);
            else if (!strcmp(name, "Toeplitz"))
                a = d == 1 ? 1e-3 : d == -1 ? 4 : d == 2 ? -2 : 0;
            A[(size_t)i * n + j] = a;
        }
}

/* ---- comparisons ------------------------------------------------------------------------- */

/* Errors met, in units of eps times the norm (and of what the comparison allows besides). */
static struct worst {
    double sigma, V, residual, symmetric, eigen, matched, least;
} worst;

static void bound(double *most, double value, double limit, const char *what, uint32_t m,
                  uint32_t n)
{
    *most = fmax(*most, value);
    if (!(value <= limit))
        fail_msg("%s of %u x %u: %.3g, allowed %.3g", what, m, n, value, limit);
}

/* Ours and LAPACK's values differ by at most 10 eps |A|, |A| being the largest singular value.
 * LAPACK's own errors grow beyond that with the size: where they differ by more, values of
 * extended precision decide, and ours must be within 10 eps |A| of those. */
enum { EPS_ALLOWED = 10 };

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Turns two columns until they are orthogonal; false if they were. */
static bool turn(uint32_t rows, long double *x, long double *y)
{
    long double a = 0, b = 0, d = 0;
    for (uint32_t i = 0; i < rows; i++) {
        a += x[i] * x[i];
        b += y[i] * y[i];
        d += x[i] * y[i];
    }
    if (fabsl(d) <= sqrtl(a) * sqrtl(b) * 0x1p-60L)
        return false;
    const long double zeta = (b - a) / (2 * d), w = sqrtl(1 + zeta * zeta);
    const long double t = zeta < 0 ? -1 / (w - zeta) : 1 / (w + zeta);
    const long double cosine = 1 / sqrtl(1 + t * t), sine = cosine * t;
    for (uint32_t i = 0; i < rows; i++) {
        const long double u = x[i], v = y[i];
        x[i] = cosine * u - sine * v;
        y[i] = sine * u + cosine * v;
    }
    return true;
}

/* Singular values of A + shift in extended precision, less the shift, by one-sided Jacobi on
 * the columns (of the transpose if A is wide). */
static void exact_values(uint32_t m, uint32_t n, const double *A, double shift, double *value)
{
    const uint32_t rows = m < n ? n : m, columns = m < n ? m : n;
    long double *c = calloc((size_t)rows * columns + 1, sizeof *c);
    assert_non_null(c);
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < n; j++)
            c[m < n ? (size_t)i * rows + j : (size_t)j * rows + i] =
                (long double)A[(size_t)i * n + j] + (i == j ? (long double)shift : 0);
    bool turned = true;
    for (int sweep = 0; sweep < 60 && turned; sweep++) {
        turned = false;
        for (uint32_t p = 0; p < columns; p++)
            for (uint32_t q = p + 1; q < columns; q++)
                turned |= turn(rows, c + (size_t)p * rows, c + (size_t)q * rows);
    }
    assert_false(turned); /* a judge that is not done has no say */
    for (uint32_t k = 0; k < columns; k++) {
        long double sum = 0;
        for (uint32_t i = 0; i < rows; i++)
            sum += c[(size_t)k * rows + i] * c[(size_t)k * rows + i];
        value[k] = (double)(sqrtl(sum) - (long double)shift);
    }
    qsort(value, columns, sizeof *value, descending);
    free(c);
}

static bool agree(uint32_t n, const double *ours, const double *theirs, double unit)
{
    for (uint32_t k = 0; k < n; k++)
        if (!(fabs(ours[k] - theirs[k]) <= EPS_ALLOWED * unit))
            return false;
    return true;
}

static uint32_t asked; /* how often extended precision had to decide */

static void judge_svd(uint32_t m, uint32_t n, const double *A)
{
    const uint32_t least = m < n ? m : n;
    double *sigma = room(least), *theirs = room(least), *V = room((size_t)n * n);
    double *work = room(ns_algebra_svd_work(m, n)), *a = copy(A, (size_t)m * n);
    double *AV = room(m), *none = room(1), *super = room(least);
    assert_true(ns_algebra_svd(m, n, A, sigma, V, work));
    if (least)
        assert_int_equal(LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'N', (int)m, (int)n, a, (int)n,
                                        theirs, none, 1, none, (int)n, super),
                         0);
    const double unit = DBL_EPSILON * (least && theirs[0] > 0 ? theirs[0] : DBL_MIN);
    if (!agree(least, sigma, theirs, unit)) {
        exact_values(m, n, A, 0, theirs);
        asked++;
    }
    for (uint32_t k = 0; k < least; k++) {
        assert_true(sigma[k] >= 0 && (k == 0 || sigma[k] <= sigma[k - 1]));
        bound(&worst.sigma, fabs(sigma[k] - theirs[k]) / unit, EPS_ALLOWED, "sigma", m, n);
    }
    for (uint32_t k = 0; k < n; k++) { /* V orthogonal, |A v_k| = sigma_k */
        for (uint32_t l = 0; l <= k; l++)
            bound(&worst.V,
                  fabs(ns_algebra_dot(n, V + (size_t)k * n, V + (size_t)l * n) - (k == l)) /
                      DBL_EPSILON,
                  4 + 2 * sqrt(n), "orthogonality", m, n);
        for (uint32_t i = 0; i < m; i++)
            AV[i] = ns_algebra_dot(n, A + (size_t)i * n, V + (size_t)k * n);
        bound(&worst.residual,
              fabs(ns_algebra_length(m, AV) - (k < least ? sigma[k] : 0)) / unit,
              10 + 2 * sqrt(m > n ? m : n), "|A v| - sigma", m, n);
    }
    double *sigma_only = room(least);
    assert_true(ns_algebra_svd(m, n, A, sigma_only, NULL, work));
    assert_memory_equal(sigma, sigma_only, least * sizeof *sigma);
    free(sigma_only);
    free(sigma);
    free(theirs);
    free(V);
    free(work);
    free(a);
    free(AV);
    free(none);
    free(super);
}

static void judge_symmetric(uint32_t n, const double *A)
{
    double *a = copy(A, (size_t)n * n), *b = room((size_t)n * n);
    double *lambda = room(n), *theirs = room(n);
    for (uint32_t i = 0; i < n; i++) /* what is below the diagonal must not count */
        for (uint32_t j = 0; j < n; j++)
            b[(size_t)i * n + j] = i <= j ? A[(size_t)i * n + j] : NAN;
    memcpy(a, b, (size_t)n * n * sizeof *a);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            b[(size_t)i * n + j] = b[(size_t)j * n + i];
    assert_true(ns_algebra_symmetric(n, a, lambda));
    double *work = copy(b, (size_t)n * n);
    if (n)
        assert_int_equal(
            LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', (int)n, work, (int)n, theirs), 0);
    const double norm = n ? fmax(fabs(theirs[0]), fabs(theirs[n - 1])) : 0;
    const double unit = DBL_EPSILON * fmax(norm, DBL_MIN);
    if (!agree(n, lambda, theirs, unit)) { /* the shift makes A positive definite */
        exact_values(n, n, b, 2 * norm, theirs);
        asked++;
        for (uint32_t k = 0; k < n / 2; k++) { /* ascending, as ours */
            const double swap = theirs[k];
            theirs[k] = theirs[n - 1 - k];
            theirs[n - 1 - k] = swap;
        }
    }
    for (uint32_t k = 0; k < n; k++)
        bound(&worst.symmetric, fabs(lambda[k] - theirs[k]) / unit, EPS_ALLOWED, "symmetric", n,
              n);
    free(a);
    free(b);
    free(work);
    free(lambda);
    free(theirs);
}

/* The smallest singular value of A - lambda, as a real matrix of twice the size. */
static double backward(uint32_t n, const double *A, double re, double im)
{
    const uint32_t N = im != 0 ? 2 * n : n;
    double *B = room((size_t)N * N), *s = room(N), *none = room(1), *super = room(N);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            const double a = A[(size_t)i * n + j] - (i == j ? re : 0);
            B[(size_t)i * N + j] = a;
            if (N > n)
                B[(size_t)(i + n) * N + j + n] = a;
        }
    for (uint32_t i = 0; i < n && N > n; i++) {
        B[(size_t)i * N + i + n] = im;
        B[(size_t)(i + n) * N + i] = -im;
    }
    LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'N', (int)N, (int)N, B, (int)N, s, none, 1, none,
                   (int)N, super);
    const double least = s[N - 1];
    free(B);
    free(s);
    free(none);
    free(super);
    return least;
}

/* Each eigenvalue is one of a matrix nearby; and where LAPACK says that it is simple, with
 * condition c (from its own left and right vectors), it is LAPACK's within c such errors. */
static void judge_eigen(uint32_t n, const double *A, uint32_t looked_at)
{
    double *re = room(n), *im = room(n), *a = copy(A, (size_t)n * n), norm = 0;
    double *wr = room(n), *wi = room(n), *vl = room((size_t)n * n), *vr = room((size_t)n * n);
    double *scale = room(n), *cond = room(n), *cond_v = room(n);
    lapack_int low, high;
    assert_true(ns_algebra_eigenvalues(n, a, re, im));
    memcpy(a, A, (size_t)n * n * sizeof *a);
    if (n)
        assert_int_equal(LAPACKE_dgeevx(LAPACK_ROW_MAJOR, 'B', 'V', 'V', 'E', (int)n, a, (int)n,
                                        wr, wi, vl, (int)n, vr, (int)n, &low, &high, scale,
                                        &norm, cond, cond_v),
                         0);
    norm = ns_algebra_length((uint32_t)((size_t)n * n), A); /* of Frobenius */
    const double unit = DBL_EPSILON * fmax(norm, DBL_MIN);
    for (uint32_t k = 0; k < n; k++) {
        assert_true(im[k] == 0 || (im[k] > 0 ? im[k + 1] == -im[k] && re[k + 1] == re[k]
                                             : im[k - 1] == -im[k]));
        if (im[k] >= 0 && k < looked_at)
            bound(&worst.eigen, backward(n, A, re[k], im[k]) / unit, 10 + n / 4.0,
                  "backward error of eigenvalues", n, n);
    }
    /* the condition is of first order: only where errors are small beside the distance to the
     * others */
    for (uint32_t k = 0; k < n; k++) {
        double nearest = HUGE_VAL, apart = HUGE_VAL;
        for (uint32_t l = 0; l < n; l++) {
            nearest = fmin(nearest, hypot(wr[k] - re[l], wi[k] - im[l]));
            if (l != k)
                apart = fmin(apart, hypot(wr[k] - wr[l], wi[k] - wi[l]));
        }
        const double error = (10 + n / 4.0) * unit / fmax(cond[k], DBL_MIN);
        if (error < apart / 100)
            bound(&worst.matched, nearest / error * 10, 10, "eigenvalues", n, n);
    }
    double trace = 0, squares = 0; /* none is forgotten or found twice */
    for (uint32_t i = 0; i < n; i++) {
        trace += re[i] - A[(size_t)i * n + i];
        squares += re[i] * re[i] - im[i] * im[i];
        for (uint32_t j = 0; j < n; j++)
            squares -= A[(size_t)i * n + j] * A[(size_t)j * n + i];
    }
    bound(&worst.eigen, fabs(trace) / unit, 10 + n, "trace", n, n);
    bound(&worst.eigen, fabs(squares) / unit / fmax(norm, DBL_MIN), 20 + 2 * n, "trace of A^2",
          n, n);
    free(re);
    free(im);
    free(a);
    free(wr);
    free(wi);
    free(vl);
    free(vr);
    free(scale);
    free(cond);
    free(cond_v);
}

/* The solution of least norm: with the same rank as LAPACK's, the same residual, and the same x
 * as far as the condition of what counts allows. */
static void judge_least(uint32_t m, uint32_t n, const double *A, double rcond)
{
    const uint32_t most = m > n ? m : n, least = m < n ? m : n;
    double *b = room(most), *x = room(n), *s = room(least), *a = copy(A, (size_t)m * n);
    double *work = room(ns_algebra_svd_work(m, n));
    uint32_t rank;
    lapack_int theirs = 0;
    for (uint32_t i = 0; i < m; i++)
        b[i] = uniform();
    const double size = ns_algebra_length(m, b);
    assert_true(ns_algebra_least(m, n, A, b, rcond, x, &rank, work));
    if (least)
        assert_int_equal(LAPACKE_dgelsd(LAPACK_ROW_MAJOR, (int)m, (int)n, 1, a, (int)n, b, 1, s,
                                        rcond, &theirs),
                         0);
    double gap = HUGE_VAL; /* of the singular values from the limit */
    for (uint32_t k = 0; k < least; k++)
        gap = fmin(gap, fabs(s[k] - rcond * s[0]));
    if (least && s[0] > 0 && gap > 100 * DBL_EPSILON * s[0]) {
        assert_int_equal(rank, theirs);
        /* Wedin: |dx| <= kappa (2 + kappa) eps |b|/sigma_r and what is cut off, over the gap */
        const double kappa = rank ? s[0] / s[rank - 1] : 1;
        const double cut = rank < least ? s[rank] : 0;
        const double inside = rank ? s[rank - 1] - cut : 1;
        const double error = DBL_EPSILON * (2 + kappa + s[0] / inside) * kappa * size / s[0] *
                             sqrt(most);
        for (uint32_t j = 0; j < n; j++)
            bound(&worst.least, fabs(x[j] - b[j]) / error, 10, "least squares", m, n);
    }
    free(b);
    free(x);
    free(s);
    free(a);
    free(work);
}

static void random_matrices(void **state)
{
    (void)state;
    const char *more = getenv("NOSLIP_MATRICES");
#ifdef __SANITIZE_ADDRESS__
    const uint32_t enough = 1000;
#else
    const uint32_t enough = 10000;
#endif
    const uint32_t count = more ? (uint32_t)atoi(more) : enough;
    double *A = room((size_t)MOST * MOST);
    for (uint32_t k = 0; k < count; k++) {
        const bool small = k % 4; /* three of four up to 10, the others up to 30 */
        const uint32_t m = below(small ? 11 : 31), n = below(small ? 11 : 31);
        fill(m, n, (kind)(k / 2 % KINDS), A);
        judge_svd(m, n, A);
        judge_least(m, n, A, k % 3 == 0 ? 1e-6 : k % 3 == 1 ? 1e-9 : 1e-13);
        fill(n, n, (kind)(k % KINDS), A);
        judge_symmetric(n, A);
        judge_eigen(n, A, 1 + k % 3);
    }
    static const uint32_t large[][2] = {{100, 60}, {40, 150}, {120, 120}, {300, 200}};
    for (uint32_t k = 0; k < sizeof large / sizeof *large; k++) {
        const uint32_t m = large[k][0], n = large[k][1];
        fill(m, n, (kind)(k % 3), A);
        judge_svd(m, n, A);
        judge_least(m, n, A, 1e-10);
        fill(n, n, k % 2 ? GRADED_ROWS : FULL, A);
        judge_symmetric(n, A);
        judge_eigen(n, A, 3);
    }
    free(A);
    print_message(
        "errors in units of eps |A|: sigma %.2g, |A v| %.2g, symmetric %.2g, general "
        "(backward) %.2g; V %.2g eps; of what the condition allows: eigenvalues %.2g, "
        "least squares %.2g of 10; extended precision decided %u times\n",
        worst.sigma, worst.residual, worst.symmetric, worst.eigen, worst.V, worst.matched,
        worst.least, asked);
}

static void classical_matrices(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 5, 8, 12, 20, 30, 100};
    double *A = room((size_t)MOST * MOST);
    for (uint32_t k = 0; k < NAMED; k++)
        for (uint32_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const uint32_t n = sizes[s];
            fill_named(named[k], n, A);
            judge_svd(n, n, A);
            judge_eigen(n, A, n > 30 ? 2 : n);
            judge_symmetric(n, A);
            judge_least(n, n, A, 1e-10);
        }
    free(A);
}

/* 1e300 and 1e-300 times a matrix: results to the bit, but for underflow, when the factor is a
 * power of two. */
static void scales(void **state)
{
    (void)state;
    enum { N = 7 };
    static const int powers[] = {1010, 996, -996, -1010};
    double A[N * N], B[N * N], C[N * N], s[N], t[N], x[N], y[N], b[N], re[2][N], im[2][N];
    double *work = room(ns_algebra_svd_work(N, N));
    uint32_t rank;
    for (int round = 0; round < 40; round++) {
        const double factor = ldexp(1, powers[round % 4]);
        fill(N, N, round % 3 ? FULL : INTEGER, A);
        for (int i = 0; i < N; i++)
            b[i] = uniform();
        for (int i = 0; i < N * N; i++) { /* few digits, so that none is lost near 1e-308 */
            A[i] = floor(A[i] * 1024) / 1024;
            B[i] = A[i] * factor;
        }
        assert_true(ns_algebra_svd(N, N, A, s, NULL, work));
        assert_true(ns_algebra_svd(N, N, B, t, NULL, work));
        assert_true(ns_algebra_least(N, N, A, b, 1e-10, x, &rank, work));
        assert_true(ns_algebra_least(N, N, B, b, 1e-10, y, &rank, work));
        for (int k = 0; k < N; k++) {
            assert_true(fabs(t[k] - s[k] * factor) <= DBL_MIN * DBL_EPSILON);
            assert_true(fabs(y[k] * factor - x[k]) <= 1e-12 * fabs(x[k])); /* y: subnormal */
        }
        memcpy(C, B, sizeof C);
        assert_true(ns_algebra_eigenvalues(N, C, re[1], im[1]));
        memcpy(C, A, sizeof C);
        assert_true(ns_algebra_eigenvalues(N, C, re[0], im[0]));
        for (int k = 0; k < N; k++)
            assert_true(fabs(re[1][k] - re[0][k] * factor) <= DBL_MIN * DBL_EPSILON &&
                        fabs(im[1][k] - im[0][k] * factor) <= DBL_MIN * DBL_EPSILON);
        assert_true(ns_algebra_symmetric(N, memcpy(C, A, sizeof C), s));
        assert_true(ns_algebra_symmetric(N, memcpy(C, B, sizeof C), t));
        for (int k = 0; k < N; k++)
            assert_true(fabs(t[k] - s[k] * factor) <= DBL_MIN * DBL_EPSILON);
        double value[2];
        int exponent[2];
        assert_true(ns_algebra_determinant(N, memcpy(C, A, sizeof C), value, exponent));
        assert_true(ns_algebra_determinant(N, memcpy(C, B, sizeof C), value + 1, exponent + 1));
        assert_true(value[0] == value[1]);
        assert_true(value[0] == 0 || exponent[1] == exponent[0] + N * powers[round % 4]);
    }
    free(work);
    assert_true(ns_algebra_hypot(3e300, -4e300) == 5e300);
    assert_true(ns_algebra_hypot(3e-320, 4e-320) > 4.9e-320);
    assert_true(ns_algebra_hypot(0, -0.0) == 0);
}

/* Not a number, or infinite: said, and no number comes back. */
static void not_finite(void **state)
{
    (void)state;
    enum { N = 5 };
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    double A[N * N], s[N], V[N * N], x[N], b[N] = {1}, *work = room(ns_algebra_svd_work(N, N));
    uint32_t rank = 9;
    double value;
    int exponent;
    for (int k = 0; k < 3; k++) {
        fill(N, N, FULL, A);
        A[N + 2] = bad[k];
        assert_false(ns_algebra_svd(N, N, A, s, V, work));
        assert_true(isnan(s[0]) && isnan(s[N - 1]) && isnan(V[0]) && isnan(V[N * N - 1]));
        assert_false(ns_algebra_least(N, N, A, b, 1e-10, x, &rank, work));
        assert_true(isnan(x[0]) && isnan(x[N - 1]) && rank == 0);
        assert_false(ns_algebra_determinant(N, memcpy(V, A, sizeof V), &value, &exponent));
        assert_true(isnan(value));
        assert_false(ns_algebra_symmetric(N, memcpy(V, A, sizeof V), s));
        assert_true(isnan(s[0]));
        s[0] = x[0] = 0;
        assert_false(ns_algebra_eigenvalues(N, A, s, x));
        assert_true(isnan(s[0]) && isnan(x[0]));
        fill(N, N, FULL, A);
        b[3] = bad[k];
        assert_false(ns_algebra_least(N, N, A, b, 1e-10, x, &rank, work));
        assert_true(isnan(x[0]));
        assert_false(ns_algebra_length(N, b) <= DBL_MAX);
    }
    free(work);
}

/* Nothing at all, and determinants. */
static void small_ones(void **state)
{
    (void)state;
    double work[64], V[4], value, x[2];
    uint32_t rank;
    int exponent;
    assert_true(ns_algebra_svd(0, 2, NULL, NULL, V, work));
    assert_true(V[0] == 1 && V[1] == 0 && V[2] == 0 && V[3] == 1);
    assert_true(ns_algebra_svd(2, 0, NULL, NULL, NULL, work));
    assert_true(ns_algebra_least(0, 2, NULL, NULL, 0, x, &rank, work));
    assert_true(x[0] == 0 && x[1] == 0 && rank == 0);
    assert_true(ns_algebra_symmetric(0, NULL, NULL));
    assert_true(ns_algebra_eigenvalues(0, NULL, NULL, NULL));
    assert_true(ns_algebra_determinant(0, NULL, &value, &exponent));
    assert_true(value == 1 && exponent == 0);
    double A[9] = {0, 2, 0, 3, 0, 0, 0, 0, 4};
    assert_true(ns_algebra_determinant(3, A, &value, &exponent));
    assert_true(value * ldexp(1, exponent) == -24);
    double B[4] = {1, 2, 2, 4};
    assert_true(ns_algebra_determinant(2, B, &value, &exponent));
    assert_true(value == 0);
    for (int round = 0; round < 200; round++) {
        enum { N = 6 };
        double C[N * N], D[N * N];
        lapack_int pivot[N];
        fill(N, N, FULL, C);
        memcpy(D, C, sizeof C);
        assert_int_equal(LAPACKE_dgetrf(LAPACK_ROW_MAJOR, N, N, D, N, pivot), 0);
        double expected = 1, size = 1;
        for (int i = 0; i < N; i++) {
            expected *= (pivot[i] == i + 1 ? 1 : -1) * D[i * N + i];
            size *= ns_algebra_length(N, C + i * N); /* Hadamard's bound */
        }
        assert_true(ns_algebra_determinant(N, C, &value, &exponent));
        assert_true(fabs(value * ldexp(1, exponent) - expected) <= 100 * DBL_EPSILON * size);
    }
}

/* ---- the same bits ----------------------------------------------------------------------- */

static void put(uint64_t *hash, const double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, a + i, sizeof bits);
        for (int k = 0; k < 8; k++)
            *hash = (*hash ^ (bits >> 8 * k & 255)) * 0x100000001b3u;
    }
}

/* Whatever compiler, options and processor: this number.  It changes if the order of operations
 * does. */
static void same_bits(void **state)
{
    (void)state;
    enum { N = 12 };
    double A[N * N], B[N * N], V[N * N], s[N], x[N], b[N], work[600], value;
    uint64_t hash = 0xcbf29ce484222325u;
    uint32_t rank;
    int exponent;
    seed = 99;
    for (int round = 0; round < 300; round++) {
        const uint32_t m = 1 + below(N), n = 1 + below(N);
        for (uint32_t i = 0; i < N * N; i++)
            A[i] = round % 3 ? uniform() : floor(4 * uniform());
        for (uint32_t i = 0; i < N; i++)
            b[i] = uniform();
        assert_true(ns_algebra_svd_work(m, n) <= sizeof work / sizeof *work);
        assert_true(ns_algebra_svd(m, n, A, s, V, work));
        put(&hash, s, m < n ? m : n);
        put(&hash, V, (size_t)n * n);
        assert_true(ns_algebra_least(m, n, A, b, 1e-9, x, &rank, work));
        put(&hash, x, n);
        assert_true(ns_algebra_symmetric(n, memcpy(B, A, sizeof B), s));
        put(&hash, s, n);
        assert_true(ns_algebra_eigenvalues(n, memcpy(B, A, sizeof B), s, x));
        put(&hash, s, n);
        put(&hash, x, n);
        assert_true(ns_algebra_determinant(n, memcpy(B, A, sizeof B), &value, &exponent));
        put(&hash, &value, 1);
    }
    print_message("hash of all results: %016llx\n", (unsigned long long)hash);
    assert_true(hash == GOLDEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_matrices), cmocka_unit_test(classical_matrices),
        cmocka_unit_test(scales),          cmocka_unit_test(not_finite),
        cmocka_unit_test(small_ones),      cmocka_unit_test(same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
