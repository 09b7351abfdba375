/* The linear-quadratic regulator: see linearise.h. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "mech/common/dense.h"
#include "study/control/linearise.h"

typedef struct riccati {
    ns_arena *a;
    uint32_t n;
    const double *A, *Q; /* Q: the diagonal */
    double *G;           /* B R^-1 B^T */
} riccati;

/* F = A^T P + P A - P G P + Q; the largest entry over that of its terms. */
static double residual(const riccati *w, const double *P, double *F)
{
    const uint32_t n = w->n;
    const ns_arena_place mark = ns_arena_mark(w->a);
    double *PA = NS_NEW_ARRAY(w->a, double, (size_t)n * n + 1);
    double *PG = NS_NEW_ARRAY(w->a, double, (size_t)n * n + 1);
    double *PGP = NS_NEW_ARRAY(w->a, double, (size_t)n * n + 1);
    ns_flow_multiply(n, n, n, P, w->A, PA);
    ns_flow_multiply(n, n, n, P, w->G, PG);
    ns_flow_multiply(n, n, n, PG, P, PGP);
    double most = 0, size = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            const size_t ij = (size_t)i * n + j, ji = (size_t)j * n + i;
            const double q = i == j ? w->Q[i] : 0;
            F[ij] = PA[ij] + PA[ji] - PGP[ij] + q;
            most = ns_max(most, fabs(F[ij]));
            size = ns_max(size, fabs(PA[ij]) + fabs(PA[ji]) + fabs(PGP[ij]) + fabs(q));
        }
    ns_arena_release(w->a, mark);
    return isfinite(most) && isfinite(size) ? most / (size > 0 ? size : 1) : (double)INFINITY;
}

/* Z[N][N] becomes its sign: Z <- (c Z + (c Z)^-1)/2, c = |det Z|^(-1/N). */
static bool sign(ns_arena *a, uint32_t N, double *Z)
{
    enum { ROUNDS = 100 };
    const size_t size = (size_t)N * N;
    double *copy = NS_NEW_ARRAY(a, double, size + 1);
    double *inverse = NS_NEW_ARRAY(a, double, size + 1);
    for (int round = 0, settled = 0; round < ROUNDS && settled < 2; round++) {
        double det;
        int exponent;
        memcpy(copy, Z, size * sizeof *Z);
        if (!ns_algebra_determinant(N, copy, &det, &exponent) || det == 0)
            return false;
        const double c = ns_math_exp(-(ns_math_log(fabs(det)) + exponent * 0.6931471805599453) /
                                     N);
        memcpy(copy, Z, size * sizeof *Z);
        memset(inverse, 0, size * sizeof *inverse);
        for (uint32_t i = 0; i < N; i++)
            inverse[(size_t)i * N + i] = 1;
        if (!ns_dense_solve(N, copy, N, inverse))
            return false;
        double change = 0, whole = 0;
        for (size_t i = 0; i < size; i++) {
            const double now = (c * Z[i] + inverse[i] / c) / 2;
            change = ns_max(change, fabs(now - Z[i]));
            whole = ns_max(whole, fabs(now));
            Z[i] = now;
        }
        if (!isfinite(whole))
            return false;
        settled += change <= 1e-10 * whole;
        if (settled)
            return true;
    }
    return false;
}

/* P from the sign S of the Hamiltonian matrix:  [S12; S22 + 1] P = -[S11 + 1; S21]. */
static bool first_solution(const riccati *w, double *P)
{
    const uint32_t n = w->n, N = 2 * n;
    double *S = NS_NEW_ARRAY(w->a, double, (size_t)N * N + 1);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            S[(size_t)i * N + j] = w->A[(size_t)i * n + j];
            S[(size_t)i * N + n + j] = -w->G[(size_t)i * n + j];
            S[(size_t)(n + i) * N + j] = i == j ? -w->Q[i] : 0;
            S[(size_t)(n + i) * N + n + j] = -w->A[(size_t)j * n + i];
        }
    if (!sign(w->a, N, S))
        return false;
    double *M = NS_NEW_ARRAY(w->a, double, (size_t)N * n + 1);
    double *b = NS_NEW_ARRAY(w->a, double, N + 1), *x = NS_NEW_ARRAY(w->a, double, n + 1);
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = 0; j < n; j++)
            M[(size_t)i * n + j] = S[(size_t)i * N + n + j] + (i == n + j ? 1 : 0);
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t i = 0; i < N; i++)
            b[i] = -S[(size_t)i * N + j] - (i == j ? 1 : 0);
        const ns_arena_place mark = ns_arena_mark(w->a);
        ns_dense_least(w->a, N, n, M, b, 1e-15, x);
        ns_arena_release(w->a, mark);
        for (uint32_t i = 0; i < n; i++)
            P[(size_t)i * n + j] = x[i];
    }
    return true;
}

/* One step of Newton's method: X with  M^T X + X M = -F,  M = A - G P, by its n^2 equations;
 * P += X. */
static bool improve(const riccati *w, const double *F, double *P)
{
    const uint32_t n = w->n, nn = n * n;
    const ns_arena_place mark = ns_arena_mark(w->a);
    double *M = NS_NEW_ARRAY(w->a, double, nn + 1), *X = NS_NEW_ARRAY(w->a, double, nn + 1);
    double *L = NS_NEW_ARRAY(w->a, double, (size_t)nn * nn + 1);
    ns_flow_multiply(n, n, n, w->G, P, M);
    for (uint32_t i = 0; i < nn; i++) {
        M[i] = w->A[i] - M[i];
        X[i] = -F[i];
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t k = 0; k < n; k++) {
                double *row = L + (size_t)(i * n + j) * nn;
                row[k * n + j] += M[(size_t)k * n + i];
                row[i * n + k] += M[(size_t)k * n + j];
            }
    const bool good = ns_dense_solve(nn, L, 1, X);
    for (uint32_t i = 0; i < n && good; i++)
        for (uint32_t j = 0; j < n; j++)
            P[(size_t)i * n + j] += (X[(size_t)i * n + j] + X[(size_t)j * n + i]) / 2;
    ns_arena_release(w->a, mark);
    return good;
}

static double solve(const riccati *w, double *P)
{
    enum { SMALL = 20, ROUNDS = 8 };
    const size_t size = (size_t)w->n * w->n;
    if (!first_solution(w, P))
        return (double)INFINITY;
    double *F = NS_NEW_ARRAY(w->a, double, size + 1),
                             *best = NS_NEW_ARRAY(w->a, double, size + 1);
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = 0; j < i; j++)
            P[(size_t)i * w->n + j] = P[(size_t)j * w->n + i] =
                (P[(size_t)i * w->n + j] + P[(size_t)j * w->n + i]) / 2;
    double least = residual(w, P, F);
    for (int round = 0; round < ROUNDS && w->n <= SMALL && isfinite(least); round++) {
        memcpy(best, P, size * sizeof *P);
        if (!improve(w, F, P))
            break;
        const double now = residual(w, P, F);
        if (!(now < least)) {
            memcpy(P, best, size * sizeof *P);
            break;
        }
        least = now;
    }
    return least;
}

/* A mode e of A with Re e >= 0 that no input moves: no v* with  v*(A - e) = 0, v*B != 0.
 * [Re(A - e)^T, Im; -Im, Re; B^T 0; 0 B^T] loses rank. */
static bool stuck(ns_arena *a, const ns_linear_model *l, ns_eigenvalue e, double scale)
{
    const uint32_t n = l->n, m = l->m, rows = 2 * (n + m), N = 2 * n;
    const ns_arena_place mark = ns_arena_mark(a);
    double *M = NS_NEW_ARRAY(a, double, (size_t)rows * N + 1);
    double *sigma = NS_NEW_ARRAY(a, double, N + rows);
    double b = 0;
    for (size_t i = 0; i < (size_t)n * m; i++)
        b = ns_max(b, fabs(l->B[i]));
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++)
            M[(size_t)i * N + j] = M[(size_t)(n + i) * N + n + j] =
                (l->A[(size_t)j * n + i] - (i == j ? e.re : 0)) / scale;
        M[(size_t)i * N + n + i] = e.im / scale;
        M[(size_t)(n + i) * N + i] = -e.im / scale;
        for (uint32_t j = 0; j < m; j++)
            M[(size_t)(N + j) * N + i] = M[(size_t)(N + m + j) * N + n + i] =
                l->B[(size_t)i * m + j] / (b > 0 ? b : 1);
    }
    ns_dense_svd(a, rows, N, M, sigma, NULL);
    const bool yes = !(sigma[N - 1] > 1e-8 * sigma[0]);
    ns_arena_release(a, mark);
    return yes;
}

static const char *why_not(ns_arena *arena, const ns_linear_model *l)
{
    double scale = 0;
    for (size_t i = 0; i < (size_t)l->n * l->n; i++)
        scale = ns_max(scale, fabs(l->A[i]));
    scale = scale > 0 ? scale : 1;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->mode[i].re >= -1e-9 * scale && l->mode[i].im >= 0 &&
            stuck(arena, l, l->mode[i], scale))
            return ns_arena_format(arena,
                                   "no feedback makes this motion stable: the mode with "
                                   "eigenvalue %.6g%s%.6gi does not decay, and no input moves "
                                   "it; leave out values that do not matter (--states)",
                                   l->mode[i].re, "+", l->mode[i].im);
    return "the Riccati equation has no stabilising solution: a mode that does not decay has "
           "no "
           "weight in the cost";
}

ns_lqr *ns_lqr_solve(ns_arena *arena, const ns_linear_model *l, const double *Q,
                     const double *R, const char **message)
{
    const uint32_t n = l->n, m = l->m;
    ns_lqr *q = NS_NEW(arena, ns_lqr);
    riccati w = {.a = ns_arena_child(arena), .n = n, .A = l->A, .Q = Q};
    w.G = NS_NEW_ARRAY(w.a, double, (size_t)n * n + 1);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t k = 0; k < m; k++)
                w.G[(size_t)i * n + j] += l->B[(size_t)i * m + k] * l->B[(size_t)j * m + k] /
                                          R[k];
    q->P = NS_NEW_ARRAY(arena, double, (size_t)n * n + 1);
    q->K = NS_NEW_ARRAY(arena, double, (size_t)m * n + 1);
    q->mode = NS_NEW_ARRAY(arena, ns_eigenvalue, n + 1);
    q->residual = solve(&w, q->P);
    double *closed = ns_arena_copy(w.a, l->A, (size_t)n * n * sizeof *closed);
    for (uint32_t k = 0; k < m; k++)
        for (uint32_t j = 0; j < n; j++) {
            double sum = 0;
            for (uint32_t i = 0; i < n; i++)
                sum += l->B[(size_t)i * m + k] * q->P[(size_t)i * n + j];
            q->K[(size_t)k * n + j] = sum / R[k];
            for (uint32_t i = 0; i < n; i++)
                closed[(size_t)i * n + j] -= l->B[(size_t)i * m + k] * sum / R[k];
        }
    const bool good = q->residual < 1e-9 && ns_linear_eigenvalues(w.a, n, closed, q->mode);
    if (good && (!n || q->mode[0].re < 0))
        return q;
    *message = why_not(arena, l);
    return NULL;
}
