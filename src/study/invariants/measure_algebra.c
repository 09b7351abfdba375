/* Invariant measures on Lie algebras (Bloch, Marsden and Zenkov 2009, section 5).
 *
 * On a Lie algebra with l = v.I v/2 and constraints a^s.v = 0, with b^s = I^-1 a^s and K the
 * inverse of the matrix a^s.b^t, the divergence of the Euler-Poincare-Suslov equations (5.4)
 * is
 *
 *     div = < K_st ad*_{b^t} a^s + T , v >,   <T, xi> = Tr ad_xi,  <ad*_x a, y> = <a, [x, y]>
 *
 * (derived in docs/theory/lie.md).  An invariant measure with smooth density exists if and
 * only if it vanishes on the constraints:  K_st ad*_{b^t} a^s + T = gamma_s a^s       (5.5),
 * (5.6) */
#include <math.h>

#include "base/math/vecmath.h"
#include "mech/common/dense.h"
#include "mech/lie/lie.h"
#include "study/invariants/measure_internal.h"

typedef ns_measure_work work;

/* Is a an eigenvector of the inertia, g* being identified with g by the Killing form kappa?
 * That is I^-1 a parallel to kappa^-1 a, or kappa I^-1 a parallel to a. */
static bool is_eigenvector(uint32_t n, const double *kappa, const double *b, const double *a)
{
    double aa = 0, cc = 0, ac = 0, off = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < n; i++) {
            double c = 0;
            for (uint32_t j = 0; j < n; j++)
                c += kappa[i * n + j] * b[j];
            if (pass == 0) {
                aa += a[i] * a[i];
                cc += c * c;
                ac += a[i] * c;
            } else { /* what is left of it beside a */
                off = ns_max(off, fabs(c - ac / aa * a[i]));
            }
        }
    return cc > 0 && off <= 1e-12 * sqrt(cc);
}

static void killing(work *w, ns_measure_algebra *r, const double *C, double *kappa)
{
    uint32_t n = r->n;
    double *eigen = NS_NEW_ARRAY(w->s->arena, double, n);
    ns_lie_killing(n, C, kappa);
    if (!ns_dense_symmetric(w->s->arena, n, kappa, eigen))
        return;
    double most = ns_max(fabs(eigen[0]), fabs(eigen[n - 1]));
    for (uint32_t i = 0; i < n; i++) {
        if (fabs(eigen[i]) <= 1e-10 * most)
            r->zero++;
        else if (eigen[i] < 0)
            r->negative++;
        else
            r->positive++;
    }
}

typedef struct suslov {
    uint32_t n, m;
    double *C;             /* [n][n][n] structure constants */
    double *I, *a, *b, *K; /* as above: [n][n], [m][n], [m][n], [m][m] */
} suslov;

/* b^s = I^-1 a^s and the inverse K of a^s.b^t. */
static void make_constraints(work *w, const ns_lie *lie, suslov *q)
{
    ns_arena *arena = w->s->arena;
    const uint32_t n = q->n, m = q->m;
    q->I = NS_NEW_ARRAY(arena, double, (size_t)n * n);
    q->a = NS_NEW_ARRAY(arena, double, (size_t)m * n + 1);
    q->b = NS_NEW_ARRAY(arena, double, (size_t)m * n + 1);
    q->K = NS_NEW_ARRAY(arena, double, (size_t)m * m + 1);
    double *G = NS_NEW_ARRAY(arena, double, (size_t)m * m + 1);
    double *unit = NS_NEW_ARRAY(arena, double, m + 1);
    ns_system_eval(w->s, lie->M, (size_t)n * n, 0, w->p, w->x0, q->I);
    ns_system_eval(w->s, lie->a, (size_t)m * n, 0, w->p, w->x0, q->a);
    for (uint32_t s = 0; s < m; s++)
        ns_dense_least(arena, n, n, q->I, q->a + s * n, 1e-15, q->b + s * n);
    for (uint32_t s = 0; s < m; s++)
        for (uint32_t t = 0; t < m; t++)
            for (uint32_t i = 0; i < n; i++)
                G[s * m + t] += q->a[s * n + i] * q->b[t * n + i];
    for (uint32_t s = 0; s < m; s++) { /* K by columns; it is symmetric */
        for (uint32_t t = 0; t < m; t++)
            unit[t] = s == t;
        ns_dense_least(arena, m, m, G, unit, 1e-15, q->K + s * m);
    }
}

/* left = K_st ad*_{b^t} a^s + T; returns the size of what is added up, which rounding errors
 * are compared with. */
static double left_side(const suslov *q, ns_measure_algebra *r)
{
    const uint32_t n = q->n, m = q->m;
    double terms = 0;
    for (uint32_t e = 0; e < n; e++) {
        r->left[e] = r->T[e];
        double sum = fabs(r->T[e]);
        for (uint32_t s = 0; s < m; s++)
            for (uint32_t t = 0; t < m; t++)
                for (uint32_t i = 0; i < n; i++)
                    for (uint32_t c = 0; c < n; c++) {
                        double term = q->K[s * m + t] * q->C[((size_t)i * n + e) * n + c] *
                                      q->b[t * n + i] * q->a[s * n + c];
                        r->left[e] += term;
                        sum += fabs(term);
                    }
        terms = ns_max(terms, sum);
    }
    return terms;
}

/* gamma, and what of the left side gamma_s a^s leaves; `terms`: see left_side. */
static void decide(work *w, const suslov *q, double terms, ns_measure_algebra *r)
{
    const uint32_t n = q->n, m = q->m;
    for (uint32_t s = 0; s < m; s++)
        for (uint32_t t = 0; t < m; t++)
            for (uint32_t i = 0; i < n; i++)
                r->gamma[s] += q->K[s * m + t] * r->left[i] * q->b[t * n + i];
    double largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        r->residual[i] = r->left[i];
        for (uint32_t s = 0; s < m; s++)
            r->residual[i] -= r->gamma[s] * q->a[s * n + i];
        largest = ns_max(largest, fabs(r->residual[i]));
    }
    r->preserved = largest <= 1e-12 * terms;
    double *raised = NS_NEW_ARRAY(w->s->arena, double, n), square = 0;
    ns_dense_least(w->s->arena, n, n, q->I, r->residual, 1e-15, raised);
    for (uint32_t i = 0; i < n; i++)
        square += raised[i] * r->residual[i];
    r->rate = sqrt(ns_max(square, 0));
}

/* The same divergence from the graph. */
static void compare_with_graph(work *w, const ns_lie *lie, double terms, ns_measure_algebra *r)
{
    double *v = NS_NEW_ARRAY(w->s->arena, double, r->n), worst = 0, scale = terms;
    for (uint32_t k = 0; k < w->found; k++, r->points++) {
        double div, expected = 0;
        ns_measure_values(w, &w->m->divergence, 1, k, &div);
        ns_measure_values(w, lie->v, r->n, k, v);
        for (uint32_t i = 0; i < r->n; i++) {
            expected += r->left[i] * v[i];
            scale = ns_max(scale, terms * fabs(v[i]));
        }
        worst = ns_max(worst, fabs(div - expected));
    }
    r->difference = scale > 0 ? worst / scale : worst;
}

static void criterion(work *w, const ns_lie *lie, ns_measure_algebra *r)
{
    ns_arena *arena = w->s->arena;
    const uint32_t n = r->n;
    suslov q = {.n = n, .m = r->constraints};
    double *kappa = NS_NEW_ARRAY(arena, double, (size_t)n * n), size = 0, most = 0;
    q.C = NS_NEW_ARRAY(arena, double, (size_t)n * n * n);
    ns_lie_constants(lie, w->s, w->p, q.C);
    ns_lie_trace(n, q.C, r->T);
    for (uint32_t i = 0; i < n; i++)
        most = ns_max(most, fabs(r->T[i]));
    for (size_t i = 0; i < (size_t)n * n * n; i++)
        size = ns_max(size, fabs(q.C[i]));
    r->unimodular = most <= 1e-12 * (double)n * size;
    killing(w, r, q.C, kappa);
    r->applies = lie->quadratic && lie->invariant;
    if (!r->applies)
        return;
    make_constraints(w, lie, &q);
    const double terms = left_side(&q, r);
    decide(w, &q, terms, r);
    for (uint32_t s = 0; s < q.m; s++)
        r->eigenvector[s] = r->zero == 0 && is_eigenvector(n, kappa, q.b + s * n, q.a + s * n);
    compare_with_graph(w, lie, terms, r);
}

ns_measure_algebra *ns_measure_algebra_new(work *w)
{
    const ns_lie *lie = ns_lie_of(w->s);
    if (!lie)
        return NULL;
    ns_arena *arena = w->s->arena;
    ns_measure_algebra *r = NS_NEW(arena, ns_measure_algebra);
    r->n = lie->n;
    r->constraints = lie->constraints;
    r->T = NS_NEW_ARRAY(arena, double, r->n);
    r->left = NS_NEW_ARRAY(arena, double, r->n);
    r->residual = NS_NEW_ARRAY(arena, double, r->n);
    r->gamma = NS_NEW_ARRAY(arena, double, r->constraints + 1);
    r->eigenvector = NS_NEW_ARRAY(arena, bool, r->constraints + 1);
    criterion(w, lie, r);
    uint32_t points;
    r->spatial = ns_lie_spatial_failure(w->s, w->p, w->x0, &points);
    return r;
}
