#include "study/steady/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "mech/common/dense.h"

/* A singular value this small in relation to the largest is one of a neutral direction. */
static const double neutral = 1e-9;

/* Both orders are total: what compares equal is the same pair of numbers. */
static int falling(double a, double b)
{
    return a > b ? -1 : a < b;
}

static int by_imaginary_part(const void *left, const void *right)
{
    const ns_eigenvalue *a = left, *b = right;
    const int size = falling(fabs(b->im), fabs(a->im)), sign = falling(a->im, b->im);
    return size ? size : sign ? sign : falling(a->re, b->re);
}

static int by_real_part(const void *left, const void *right)
{
    const ns_eigenvalue *a = left, *b = right;
    const int order = falling(a->re, b->re);
    return order ? order : by_imaginary_part(left, right);
}

/* Real parts that differ by rounding only count as equal: runs of them are sorted by the
 * imaginary part. */
static void sort(uint32_t n, ns_eigenvalue *e)
{
    qsort(e, n, sizeof *e, by_real_part);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && e[i].re - e[end].re <= 1e-9 * (1 + fabs(e[i].re));)
            end++;
        qsort(e + i, end - i, sizeof *e, by_imaginary_part);
    }
}

bool ns_linear_eigenvalues(ns_arena *scratch, uint32_t n, const double *M, ns_eigenvalue *out)
{
    const ns_arena_place mark = ns_arena_mark(scratch);
    double *copy = ns_arena_copy(scratch, M, (size_t)n * n * sizeof *copy);
    double *re = NS_NEW_ARRAY(scratch, double, n + 1),
                              *im = NS_NEW_ARRAY(scratch, double, n + 1);
    const bool good = ns_algebra_eigenvalues(n, copy, re, im);
    for (uint32_t i = 0; i < n; i++)
        out[i] = (ns_eigenvalue){re[i], im[i]};
    ns_arena_release(scratch, mark);
    if (good)
        sort(n, out);
    return good;
}

/* M = B L B^T */
static void compress(ns_arena *scratch, uint32_t r, uint32_t n, const double *B,
                     const double *L, double *M)
{
    const ns_arena_place mark = ns_arena_mark(scratch);
    double *BL = NS_NEW_ARRAY(scratch, double, (size_t)r * n + 1);
    ns_flow_multiply(r, n, n, B, L, BL);
    ns_flow_multiply_t(r, n, r, BL, B, M);
    ns_arena_release(scratch, mark);
}

/* Divides out the kernel of M = B L B^T; returns the rows left.  *d: its dimension, found if
 * `find`. */
static uint32_t divide(ns_arena *scratch, uint32_t r, uint32_t n, double *B, const double *L,
                       double size, bool find, uint32_t *d)
{
    const ns_arena_place mark = ns_arena_mark(scratch);
    double *M = NS_NEW_ARRAY(scratch, double, (size_t)r * r + 1);
    double *V = NS_NEW_ARRAY(scratch, double, (size_t)r * r + 1);
    double *sigma = NS_NEW_ARRAY(scratch, double, r + 1);
    compress(scratch, r, n, B, L, M);
    ns_dense_svd(scratch, r, r, M, sigma, V);
    if (find)
        for (*d = 0; *d < r && sigma[r - 1 - *d] <= neutral * size;)
            ++*d;
    const uint32_t left = r - (*d < r ? *d : r);
    double *made = NS_NEW_ARRAY(scratch, double, (size_t)r * n + 1);
    ns_flow_multiply(left, r, n, V, B, made);
    memcpy(B, made, (size_t)left * n * sizeof *B);
    ns_arena_release(scratch, mark);
    return left;
}

/* Rank of the differentials of energy and invariants on the rows of B. */
static uint32_t conserved(ns_flow *field, const double *x, uint32_t r, const double *B)
{
    const ns_system *s = field->system;
    ns_arena *a = field->scratch;
    const uint32_t n = field->n;
    const bool energy = s->energy && s->conservative;
    const uint32_t k = s->invariants.n + (energy ? 1 : 0);
    if (!k || !r)
        return 0;
    const ns_arena_place mark = ns_arena_mark(a);
    const ns_ex *symbols = ns_system_state_symbols(s, a);
    ns_ex *row = NS_NEW_ARRAY(a, ns_ex, (size_t)k * n);
    double *D = NS_NEW_ARRAY(a, double, (size_t)k * n);
    double *on = NS_NEW_ARRAY(a, double, (size_t)k * r);
    double *sigma = NS_NEW_ARRAY(a, double, k + r);
    for (uint32_t i = 0; i < k; i++)
        ns_diff_gradient(s->graph, i < s->invariants.n ? s->invariants.at[i].value : s->energy,
                         symbols, n, row + (size_t)i * n);
    ns_system_eval(s, row, (size_t)k * n, field->t, field->p, x, D);
    for (uint32_t i = 0; i < k; i++)
        ns_dense_unit(n, D + (size_t)i * n);
    ns_flow_multiply_t(k, n, r, D, B, on);
    ns_dense_svd(a, k, r, on, sigma, NULL);
    uint32_t rank = 0;
    while (rank < k && rank < r && sigma[rank] > 1e-8)
        rank++;
    ns_arena_release(a, mark);
    return rank;
}

double ns_linear_tolerance(const ns_linear *l)
{
    return 1e-6 * l->scale;
}

static void count(ns_linear *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        l->scale = ns_max(l->scale, ns_algebra_hypot(l->eigenvalue[i].re, l->eigenvalue[i].im));
    const double tol = ns_linear_tolerance(l);
    for (uint32_t i = 0; i < l->n; i++) {
        const ns_eigenvalue e = l->eigenvalue[i];
        if (e.re > tol)
            l->unstable++;
        else if (e.re < -tol)
            l->stable++;
        else if (ns_algebra_hypot(e.re, e.im) <= tol)
            l->zero++;
    }
}

static void determinant(ns_arena *scratch, ns_linear *l)
{
    const ns_arena_place mark = ns_arena_mark(scratch);
    double *copy = ns_arena_copy(scratch, l->M, (size_t)l->n * l->n * sizeof *copy);
    ns_algebra_determinant(l->n, copy, &l->det, &l->det_exponent);
    ns_arena_release(scratch, mark);
}

/* L on the tangent space, in the basis N[r][n]: N (J - sum_k c_k A_k) N^T. */
static void on_tangent(ns_flow *field, const ns_generators *g, const double *x, const double *c,
                       uint32_t r, const double *N, double *L)
{
    const uint32_t n = field->n;
    ns_arena *a = field->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *JN = NS_NEW_ARRAY(a, double, (size_t)n * r + 1);
    double *A = NS_NEW_ARRAY(a, double, (size_t)n * n + 1);
    double *AN = NS_NEW_ARRAY(a, double, (size_t)n * r + 1);
    ns_flow_along_tangent(field, x, r, N, JN);
    if (g->A0)
        memcpy(A, g->A0, (size_t)n * n * sizeof *A);
    for (uint32_t k = 0; k < g->count; k++)
        for (size_t i = 0; i < (size_t)n * n; i++)
            A[i] += c[k] * g->A[(size_t)k * n * n + i];
    ns_flow_multiply_t(n, n, r, A, N, AN);
    for (size_t i = 0; i < (size_t)n * r; i++)
        JN[i] -= AN[i];
    ns_flow_multiply(r, n, r, N, JN, L);
    ns_arena_release(a, mark);
}

/* L on the tangent space, and what is left of it without the symmetries. */
typedef struct quotient {
    uint32_t t, r;     /* dimensions: of the tangent space, of what is left */
    double *N, *L, *B; /* basis of the tangent space; L in it; what is left, in terms of N */
} quotient;

/* In the field's scratch memory. */
static quotient without_symmetries(ns_flow *field, const ns_generators *g, const double *x,
                                   const double *c)
{
    const uint32_t n = field->n;
    ns_arena *a = field->scratch;
    double *N = NS_NEW_ARRAY(a, double, (size_t)n * n + 1);
    const uint32_t t = ns_flow_tangent(field, x, N);
    double *L = NS_NEW_ARRAY(a, double, (size_t)t * t + 1);
    double *xi = NS_NEW_ARRAY(a, double, (size_t)g->count * n + 1);
    double *along = NS_NEW_ARRAY(a, double, (size_t)g->count * t + 1);
    double *B = NS_NEW_ARRAY(a, double, (size_t)t * t + 1);
    on_tangent(field, g, x, c, t, N, L);
    ns_generators_at(g, x, xi);
    for (uint32_t k = 0; k < g->count; k++)
        if (ns_generators_rests(field, g, k, x))
            memset(xi + (size_t)k * n, 0, n * sizeof *xi);
    ns_flow_multiply_t(g->count, n, t, xi, N, along);
    return (quotient){t, ns_flow_complement(a, g->count, t, along, 1e-8, B), N, L, B};
}

uint32_t ns_linear_quotient(ns_flow *field, const ns_generators *g, ns_arena *arena,
                            const double *x, const double *c, double **basis, double **M)
{
    ns_arena *a = field->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    const quotient q = without_symmetries(field, g, x, c);
    *basis = NS_NEW_ARRAY(arena, double, (size_t)q.r * field->n + 1);
    *M = NS_NEW_ARRAY(arena, double, (size_t)q.r * q.r + 1);
    compress(a, q.r, q.t, q.B, q.L, *M);
    ns_flow_multiply(q.r, q.t, field->n, q.B, q.N, *basis);
    ns_arena_release(a, mark);
    return q.r;
}

ns_linear *ns_linear_at(ns_flow *field, const ns_generators *g, ns_arena *arena,
                        const double *x, const double *c, const ns_linear_shape *shape)
{
    const uint32_t n = field->n;
    ns_arena *a = field->scratch;
    ns_linear *l = NS_NEW(arena, ns_linear);
    const ns_arena_place mark = ns_arena_mark(a);
    const quotient q = without_symmetries(field, g, x, c);
    double *N = q.N, *L = q.L, *B = q.B, whole = 0;
    const uint32_t t = l->tangent = q.t;
    uint32_t r = q.r;
    for (size_t i = 0; i < (size_t)t * t; i++)
        whole = ns_max(whole, fabs(L[i]));
    l->symmetry = t - r;
    l->basis = NS_NEW_ARRAY(arena, double, (size_t)t * n + 1);
    if (!shape) {
        ns_flow_multiply(r, t, n, B, N, l->basis);
        l->conserved = conserved(field, x, r, l->basis);
    }
    /* the size of L on what is left sets the scale of what is neutral */
    double *M = NS_NEW_ARRAY(a, double, (size_t)r * r + 1), size = 0;
    compress(a, r, t, B, L, M);
    for (size_t i = 0; i < (size_t)r * r; i++)
        size = ns_max(size, fabs(M[i]));
    const uint32_t levels = shape ? shape->levels : NS_LINEAR_LEVELS;
    for (uint32_t k = 0; k < levels && r; k++) {
        uint32_t d = shape ? shape->family[k] : 0;
        r = divide(a, r, t, B, L, size, !shape, &d);
        if (!d)
            break;
        l->shape.family[l->shape.levels++] = d;
        l->family += d;
    }
    l->n = r;
    l->M = NS_NEW_ARRAY(arena, double, (size_t)r * r + 1);
    l->eigenvalue = NS_NEW_ARRAY(arena, ns_eigenvalue, r + 1);
    compress(a, r, t, B, L, l->M);
    ns_flow_multiply(r, t, n, B, N, l->basis);
    ns_arena_release(a, mark);
    ns_linear_eigenvalues(a, r, l->M, l->eigenvalue);
    l->scale = 1e-2 * whole; /* eigenvalues far smaller than the rates of the motion are zero */
    count(l);
    if (r)
        determinant(a, l);
    return l;
}

void ns_linear_join(ns_arena *scratch, uint32_t n, const ns_eigenvalue *guess,
                    const ns_eigenvalue *now, uint32_t *order)
{
    const ns_arena_place mark = ns_arena_mark(scratch);
    bool *used = NS_NEW_ARRAY(scratch, bool, n + 1), *done = NS_NEW_ARRAY(scratch, bool, n + 1);
    for (uint32_t round = 0; round < n; round++) {
        double least = INFINITY;
        uint32_t from = UINT32_MAX, to = 0;
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t i = 0; i < n && !done[k]; i++) {
                const double d = ns_algebra_hypot(now[i].re - guess[k].re,
                                                  now[i].im - guess[k].im);
                if (used[i] || (from < n && !(d < least)))
                    continue;
                least = d;
                from = k;
                to = i;
            }
        order[from] = to;
        done[from] = used[to] = true;
    }
    ns_arena_release(scratch, mark);
}

const char *ns_linear_verdict(ns_arena *arena, const ns_linear *l)
{
    const ns_eigenvalue first = l->n ? l->eigenvalue[0] : (ns_eigenvalue){0, 0};
    const char *among = l->symmetry + l->family ? " (but for neutral directions)" : "";
    if (!l->n)
        return "neutral: every direction is one of symmetry or of neighbouring steady motions";
    if (isnan(first.re))
        return "unknown: the eigenvalues could not be computed";
    if (l->unstable && fabs(first.im) > ns_linear_tolerance(l))
        return ns_arena_format(arena,
                               "unstable: oscillations of %.6g rad/s grow by e in %.6g s",
                               fabs(first.im), 1 / first.re);
    if (l->unstable)
        return ns_arena_format(arena, "unstable: deviations grow by e in %.6g s", 1 / first.re);
    if (l->zero)
        return "on the border: an eigenvalue vanishes; higher terms decide";
    if (l->stable == l->n)
        return ns_arena_format(arena,
                               "asymptotically stable%s: the slowest decay is by e in %.6g s",
                               among, -1 / first.re);
    if (l->stable)
        return ns_arena_format(
            arena, "linearly stable%s: some deviations decay, others oscillate", among);
    return ns_arena_format(arena, "linearly stable%s: deviations oscillate, none grows", among);
}
