/* Special points of a branch to the last digits, where an eigenvalue decides (refine.c).  With
 * F = 0 at the parameter, L = Df - sum c_k A_k and G the gradients of the constraints:
 *   pair           (L - lambda) u = 0, G u = 0, e.u = 1 with complex u, lambda: the real part
 *                  of lambda vanishes
 *   double zero    W spans the symmetries and the family, so that L W lies in W:
 *                      L u - W gamma + b g = 0,  G u = 0,  W^T u = 0,  e.(u, gamma) = 1,
 *                  and g vanishes where L has a kernel beside W. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "mech/common/dense.h"
#include "study/steady/refine_internal.h"

/* ---- pair -------------------------------------------------------------------------------- */

void ns_refine_pair_rows(const ns_pair *c, ns_fine *S, ns_fine *left)
{
    const ns_refiner *f = c->f;
    const uint32_t n = f->n, m = f->m, M = f->N + 1, U = c->unknown;
    const ns_fine *re = c->u, *im = c->u + n, alpha = c->u[2 * n], beta = c->u[2 * n + 1];
    const uint32_t rows = 2 * (n + m) + 2;
    memset(S, 0, (size_t)rows * U * sizeof *S);
    for (uint32_t i = 0; i < n + m; i++) {
        ns_fine *first = S + (size_t)i * U, *second = first + (size_t)(n + m) * U;
        for (uint32_t j = 0; j < n; j++)
            first[j] = second[n + j] = f->D[(size_t)i * M + j];
        if (i >= n)
            continue;
        first[i] -= alpha;
        second[n + i] -= alpha;
        first[n + i] += beta;
        second[i] -= beta;
        first[2 * n] = -re[i];
        second[2 * n] = -im[i];
        first[2 * n + 1] = im[i];
        second[2 * n + 1] = -re[i];
    }
    for (uint32_t j = 0; j < n; j++) {
        ns_fine *first = S + (size_t)(rows - 2) * U, *second = first + U;
        first[j] = c->e[j];
        first[n + j] = c->e[n + j];
        second[j] = -c->e[n + j];
        second[n + j] = c->e[j];
    }
    for (uint32_t i = 0; i < rows; i++) {
        left[i] = i == rows - 2 ? -1 : 0;
        for (uint32_t j = 0; j < 2 * n; j++)
            left[i] += S[(size_t)i * U + j] * c->u[j];
    }
}

/* Real part of the eigenvalue at a parameter, by Newton's method. */
static double real_part(void *context, double parameter)
{
    enum { ROUNDS = 10 };
    ns_pair *c = context;
    ns_refiner *f = c->f;
    const uint32_t rows = 2 * (f->n + f->m) + 2, U = c->unknown;
    f->y[f->N] = parameter;
    if (!ns_refine_settle(f, NS_BORDER_NONE, 0))
        return NAN;
    double before = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        const ns_arena_place mark = ns_arena_mark(f->arena);
        ns_fine *S = NS_NEW_ARRAY(f->arena, ns_fine, (size_t)rows * U);
        ns_fine *left = NS_NEW_ARRAY(f->arena, ns_fine, rows);
        double *coarse = NS_NEW_ARRAY(f->arena, double, (size_t)rows * U);
        double *r = NS_NEW_ARRAY(f->arena, double, rows), size = 0, most = 0;
        double *step = NS_NEW_ARRAY(f->arena, double, U);
        ns_refine_pair_rows(c, S, left);
        for (size_t i = 0; i < (size_t)rows * U; i++)
            coarse[i] = (double)S[i];
        for (uint32_t i = 0; i < rows; i++)
            r[i] = (double)left[i];
        ns_dense_least(f->arena, rows, U, coarse, r, 1e-13, step);
        for (uint32_t j = 0; j < U; j++) {
            c->u[j] -= step[j];
            size = ns_max(size, fabs(step[j]));
            most = ns_max(most, fabs((double)c->u[j]));
        }
        ns_arena_release(f->arena, mark);
        if (!isfinite(size))
            return NAN;
        if (size < 1e-25 * most || (size < 1e-10 * most && size > before / 8))
            return (double)c->u[2 * f->n];
        before = size;
    }
    return NAN;
}

/* `im`: about the imaginary part. */
bool ns_refine_pair(ns_follower *w, ns_place *p, double im, double *by)
{
    ns_refiner f = ns_refine_new(w, p);
    ns_pair c = {.f = &f, .unknown = 2 * f.n + 2};
    const uint32_t rows = 2 * (f.n + f.m), U = 2 * f.n;
    if (!ns_refine_settle(&f, NS_BORDER_NONE, 0))
        return false;
    c.e = NS_NEW_ARRAY(f.arena, double, U);
    c.u = NS_NEW_ARRAY(f.arena, ns_fine, c.unknown);
    c.u[U + 1] = im;
    ns_fine *S = NS_NEW_ARRAY(f.arena, ns_fine, (size_t)(rows + 2) * c.unknown);
    ns_fine *left = NS_NEW_ARRAY(f.arena, ns_fine, rows + 2);
    double *coarse = NS_NEW_ARRAY(f.arena, double, (size_t)rows * U);
    double *sigma = NS_NEW_ARRAY(f.arena, double, U + 1);
    double *V = NS_NEW_ARRAY(f.arena, double, (size_t)U * U);
    ns_refine_pair_rows(&c, S, left);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < U; j++)
            coarse[(size_t)i * U + j] = (double)S[(size_t)i * c.unknown + j];
    if (!ns_dense_svd(f.arena, rows, U, coarse, sigma, V))
        return false;
    for (uint32_t j = 0; j < U; j++)
        c.u[j] = c.e[j] = V[(size_t)(U - 1) * U + j];
    double s = p->y[f.N];
    if (!ns_refine_secant(real_part, &c, &s))
        return false;
    if (by && !isnan(real_part(&c, s)))
        ns_refine_pair_by(&c, by);
    return ns_refine_finish(&f, p);
}

/* ---- double zero ------------------------------------------------------------------------- */

typedef struct quotient {
    ns_refiner *f;
    uint32_t symmetry, d; /* dimensions of the orbit, of W */
    double *combine;      /* [symmetry][generators] independent ones */
    double *norm
        [NS_LINEAR_LEVELS]; /* [family][n + what W had then] fix the vectors of the family */
    double *e, *b;          /* borders; NULL until known */
    ns_fine *W;             /* [d][n] as rows */
} quotient;

/* S = (L -W; G 0; W^T 0) with d rows of W, and a column and `more` rows after it that are
 * zero. */
static ns_fine *quotient_rows(const quotient *c, uint32_t d, uint32_t more, uint32_t *rows,
                              uint32_t *columns)
{
    const ns_refiner *f = c->f;
    const uint32_t n = f->n, m = f->m;
    *rows = n + m + d + more;
    *columns = n + d + 1;
    ns_fine *S = NS_NEW_ARRAY(f->arena, ns_fine, (size_t)*rows * *columns);
    for (uint32_t i = 0; i < n + m; i++) {
        memcpy(S + (size_t)i * *columns, f->D + (size_t)i * (f->N + 1), n * sizeof *S);
        for (uint32_t l = 0; l < d && i < n; l++)
            S[(size_t)i * *columns + n + l] = -c->W[(size_t)l * n + i];
    }
    for (uint32_t l = 0; l < d; l++)
        memcpy(S + (size_t)(n + m + l) * *columns, c->W + (size_t)l * n, n * sizeof *S);
    return S;
}

/* Right singular vectors of the smallest `count` singular values of S without its last column
 * and `more` rows. */
static double *kernel_of(const quotient *c, const ns_fine *S, uint32_t rows, uint32_t columns,
                         uint32_t count)
{
    ns_arena *a = c->f->arena;
    const uint32_t inner = columns - 1;
    double *coarse = NS_NEW_ARRAY(a, double, (size_t)rows * inner + 1);
    double *sigma = NS_NEW_ARRAY(a, double, inner + 1);
    double *V = NS_NEW_ARRAY(a, double, (size_t)inner * inner + 1);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < inner; j++)
            coarse[(size_t)i * inner + j] = (double)S[(size_t)i * columns + j];
    ns_dense_svd(a, rows, inner, coarse, sigma, V);
    return V + (size_t)(inner - count) * inner;
}

/* The next level of the family: u with L u in W, u across W. */
static bool add_level(quotient *c, uint32_t level, uint32_t count)
{
    const ns_refiner *f = c->f;
    uint32_t rows, columns;
    const uint32_t d = c->d;
    ns_fine *S = quotient_rows(c, d, count, &rows, &columns);
    if (!c->norm[level])
        c->norm[level] = kernel_of(c, S, rows - count, columns, count);
    ns_fine *right = NS_NEW_ARRAY(f->arena, ns_fine, rows + 1);
    ns_fine *u = NS_NEW_ARRAY(f->arena, ns_fine, columns);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t j = 0; j < columns - 1; j++)
            S[(size_t)(rows - count + k) * columns + j] =
                c->norm[level][(size_t)k * (columns - 1) + j];
    for (uint32_t k = 0; k < count; k++) {
        memset(right, 0, rows * sizeof *right);
        right[rows - count + k] = 1;
        if (!ns_refine_solve(f->arena, rows, columns, S, right,
                             u)) /* the empty column stays zero */
            return false;
        memcpy(c->W + (size_t)c->d++ * f->n, u, f->n * sizeof *u);
    }
    return true;
}

/* W at the place where f stands. */
static bool find_neutral(quotient *c)
{
    const ns_refiner *f = c->f;
    const uint32_t n = f->n, count = f->w->q->g->count;
    const ns_linear_shape *shape = &f->w->shape;
    if (!c->combine) {
        double *xi = NS_NEW_ARRAY(f->arena, double, (size_t)n * count + 1);
        double *sigma = NS_NEW_ARRAY(f->arena, double, count + 1);
        c->combine = NS_NEW_ARRAY(f->arena, double, (size_t)count * count + 1);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < count; k++)
                xi[(size_t)i * count + k] = (double)f->D[(size_t)i * (f->N + 1) + n + k];
        ns_dense_svd(f->arena, n, count, xi, sigma, c->combine);
    }
    c->W = NS_NEW_ARRAY(f->arena, ns_fine, (size_t)n * n + 1);
    c->d = c->symmetry;
    for (uint32_t l = 0; l < c->d; l++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < count; k++)
                c->W[(size_t)l * n + i] += c->combine[(size_t)l * count + k] *
                                           f->D[(size_t)i * (f->N + 1) + n + k];
    for (uint32_t k = 0; k < shape->levels; k++)
        if (c->d + shape->family[k] > n || !add_level(c, k, shape->family[k]))
            return false;
    return true;
}

/* g at a parameter. */
static double beside_neutral(void *context, double parameter)
{
    quotient *c = context;
    ns_refiner *f = c->f;
    uint32_t rows, columns;
    f->y[f->N] = parameter;
    if (!ns_refine_settle(f, NS_BORDER_NONE, 0) || !find_neutral(c))
        return NAN;
    ns_fine *S = quotient_rows(c, c->d, 1, &rows, &columns);
    if (!c->e) { /* the kernel, at the first place */
        c->e = kernel_of(c, S, rows - 1, columns, 1);
        return 0;
    }
    if (!c->b) { /* what is made of it at the second: beside the range at the first */
        double length = 0;
        c->b = NS_NEW_ARRAY(f->arena, double, rows);
        for (uint32_t i = 0; i < rows - 1; i++) {
            for (uint32_t j = 0; j < columns - 1; j++)
                c->b[i] += (double)S[(size_t)i * columns + j] * c->e[j];
            length += c->b[i] * c->b[i];
        }
        for (uint32_t i = 0; i < rows; i++)
            c->b[i] /= sqrt(length);
        return 0;
    }
    ns_fine *right = NS_NEW_ARRAY(f->arena, ns_fine, rows);
    ns_fine *u = NS_NEW_ARRAY(f->arena, ns_fine, columns);
    for (uint32_t i = 0; i < rows - 1; i++)
        S[(size_t)i * columns + columns - 1] = c->b[i];
    for (uint32_t j = 0; j < columns - 1; j++)
        S[(size_t)(rows - 1) * columns + j] = c->e[j];
    right[rows - 1] = 1;
    return ns_refine_solve(f->arena, rows, columns, S, right, u) ? (double)u[columns - 1] : NAN;
}

bool ns_refine_double_zero(ns_follower *w, ns_place *p)
{
    ns_refiner f = ns_refine_new(w, p);
    quotient c = {.f = &f, .symmetry = p->linear->symmetry};
    double s = p->y[f.N];
    return beside_neutral(&c, s) == 0 && beside_neutral(&c, s + NS_REFINE_STEP) == 0 &&
           ns_refine_secant(beside_neutral, &c, &s) && ns_refine_finish(&f, p);
}
