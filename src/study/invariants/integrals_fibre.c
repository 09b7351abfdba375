/* Linear integrals: states with one value of the variable, and what they ask of the
 * coefficients (see study/invariants/integrals.h). */
#include <math.h>
#include <string.h>

#include "base/math/newton.h"
#include "base/math/vecmath.h"
#include "mech/common/dense.h"
#include "study/invariants/integrals_linear.h"

static const double dependent = 1e-9; /* part of a column that earlier ones do not give */
static const double vanishes = 1e-8;  /* of what cannot be met by c', relative to the rates */

/* ---- states where u has a value ---------------------------------------------------------- */

typedef struct fixing {
    ns_linear_work *q;
    double target, *x, *out; /* out: room for u and its gradient */
} fixing;

/* Constraints and u = target. */
static double look(void *context, double *C, double *G)
{
    const fixing *f = context;
    ns_flow *flow = f->q->w->flow;
    const uint32_t n = flow->n, m = flow->m;
    ns_flow_manifold(flow, f->x, C, G);
    ns_flow_eval(flow, f->q->variable, f->x, f->out);
    C[m] = f->out[0] - f->target;
    memcpy(G + (size_t)m * n, f->out + 2, n * sizeof *G);
    return ns_flow_scale_rows(flow, m + 1, C, G, 1);
}

static bool fix(ns_linear_work *q, double target, double *x)
{
    ns_flow *flow = q->w->flow;
    ns_arena *a = flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    fixing f = {.q = q, .target = target, .x = x};
    f.out = NS_NEW_ARRAY(a, double, flow->n + 3);
    const ns_newton newton = {.rows = flow->m + 1,
                              .columns = flow->n,
                              .z = x,
                              .size = flow->n,
                              .context = &f,
                              .look = look,
                              .scale = flow->sigma,
                              .rcond = 1e-9,
                              .rounds = 30,
                              .exact = 4e-16,
                              .near = 1e-13};
    const ns_newton_end end = ns_newton_solve(&newton,
                                              NS_NEW_ARRAY(a, double, ns_newton_work(&newton)));
    ns_arena_release(a, mark);
    return end.settled;
}

/* From x to a state with this value of u by steps along the manifold in the direction in which
 * u changes most, short enough that Newton's method after each changes little of it: on the
 * same branch. */
bool ns_linear_go_to(ns_linear_work *q, double target, double *x)
{
    enum { STEPS = 60 };
    ns_flow *flow = q->w->flow;
    const uint32_t n = flow->n;
    ns_arena *a = flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *N = NS_NEW_ARRAY(a, double, (size_t)n * n + 1), *d = NS_NEW_ARRAY(a, double, n + 1);
    double *y = NS_NEW_ARRAY(a, double, n + 1), *out = NS_NEW_ARRAY(a, double, n + 3);
    double part = 0.25;
    bool there = false;
    for (int k = 0; k < STEPS && !there; k++) {
        double square = 0, step = 0, off = 0;
        ns_flow_eval(flow, q->variable, x, out);
        const uint32_t dimension = ns_flow_tangent(flow, x, N);
        memset(d, 0, n * sizeof *d);
        for (uint32_t j = 0; j < dimension; j++) {
            double along = 0;
            for (uint32_t i = 0; i < n; i++)
                along += N[(size_t)j * n + i] * out[2 + i];
            square += along * along;
            for (uint32_t i = 0; i < n; i++)
                d[i] += along * N[(size_t)j * n + i];
        }
        if (!(square > 0))
            break;
        const double goal = part >= 1 ? target : out[0] + part * (target - out[0]);
        for (uint32_t i = 0; i < n; i++) {
            d[i] *= (goal - out[0]) / square;
            y[i] = x[i] + d[i];
            step = ns_math_hypot(step, d[i] / flow->sigma[i]);
        }
        const bool good = fix(q, goal, y);
        for (uint32_t i = 0; i < n && good; i++)
            off = ns_math_hypot(off, (y[i] - x[i] - d[i]) / flow->sigma[i]);
        if (good && off <= 0.25 * step + 1e-9) {
            memcpy(x, y, n * sizeof *x);
            there = part >= 1;
            part = ns_min(1, 2 * part);
        } else {
            part /= 2;
        }
    }
    ns_arena_release(a, mark);
    return there;
}

/* F states with this value of u, and the terms there; false if they are not found. */
bool ns_linear_sample(ns_linear_work *q, double u)
{
    enum {
        TRIES = 60,
        FIRST = 15
    }; /* this many may fail in all, and before the first success */
    ns_integrals_work *w = q->w;
    ns_flow *flow = w->flow;
    ns_arena *a = flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *x = NS_NEW_ARRAY(a, double, flow->n + 1),
                             *out = NS_NEW_ARRAY(a, double, flow->n + 3);
    double *atom = NS_NEW_ARRAY(a, double, 2 * (size_t)w->atoms + 1);
    uint32_t s = 0;
    for (uint32_t k = 0; s < q->F && k < TRIES + q->F; k++) {
        bool good = ns_sampler_next(w->sampler, x);
        if (!good)
            break;
        if (!s && k == FIRST)
            break;
        if (!ns_linear_go_to(q, u, x))
            continue;
        ns_flow_eval(flow, q->variable, x, out);
        ns_flow_eval(flow, w->rates, x, atom);
        q->du[s] = out[1];
        good = isfinite(out[1]);
        for (uint32_t t = 0; t < q->all && good; t++) {
            double *value = &q->phi[(size_t)t * q->F + s],
                   *rate = &q->dphi[(size_t)t * q->F + s];
            ns_integrals_term(w, q->term[t], atom, value, rate);
            good = isfinite(*value) && isfinite(*rate);
        }
        s += good;
    }
    ns_arena_release(a, mark);
    return s == q->F;
}

/* ---- linear algebra ---------------------------------------------------------------------- */

/* Makes column v orthogonal to Q[k][n], twice; coefficients are added to a[k].  Its length. */
static double orthogonalise(uint32_t n, uint32_t k, const double *Q, double *v, double *a)
{
    for (int round = 0; round < 2; round++)
        for (uint32_t j = 0; j < k; j++) {
            const double part = ns_linear_dot(n, Q + (size_t)j * n, v);
            a[j] += part;
            for (uint32_t i = 0; i < n; i++)
                v[i] -= part * Q[(size_t)j * n + i];
        }
    return sqrt(ns_linear_dot(n, v, v));
}

/* Keeps the terms that are independent where u is fixed: they come first in the list. */
void ns_linear_choose(ns_linear_work *q)
{
    ns_arena *a = q->w->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *Q = NS_NEW_ARRAY(a, double, (size_t)q->all * q->F);
    double *part = NS_NEW_ARRAY(a, double, q->all + 1);
    for (uint32_t t = 0; t < q->all; t++) {
        double *v = Q + (size_t)q->K * q->F;
        memcpy(v, q->phi + (size_t)t * q->F, q->F * sizeof *v);
        const double size = sqrt(ns_linear_dot(q->F, v, v));
        const double rest = orthogonalise(q->F, q->K, Q, v, part);
        if (!(rest > dependent * size))
            continue;
        for (uint32_t i = 0; i < q->F; i++)
            v[i] /= rest;
        memmove(q->phi + (size_t)q->K * q->F, q->phi + (size_t)t * q->F, q->F * sizeof *v);
        memmove(q->dphi + (size_t)q->K * q->F, q->dphi + (size_t)t * q->F, q->F * sizeof *v);
        q->size[q->K] = size / sqrt(q->F);
        q->term[q->K++] = q->term[t];
    }
    q->all = q->K;
    ns_arena_release(a, mark);
}

/* At the present states: T[K][K] with c' = T c, and rows B[n][K] of the c that can be met; n.
 * c belongs to phi/size.  `expected` > 0: this many, if they can be met to fewer digits. */
uint32_t ns_linear_conditions(ns_linear_work *q, uint32_t expected, double *T, double *B)
{
    const uint32_t K = q->K, F = q->F;
    ns_arena *a = q->w->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *Q = NS_NEW_ARRAY(a, double, (size_t)K * F), *R = NS_NEW_ARRAY(a, double, K * K);
    double *E = NS_NEW_ARRAY(a, double, (size_t)F * K), *v = NS_NEW_ARRAY(a, double, F);
    double *part = NS_NEW_ARRAY(a, double, K + 1), most = 0;
    double *weight = NS_NEW_ARRAY(a, double, F); /* all states count alike */
    for (uint32_t s = 0; s < F; s++) {
        for (uint32_t k = 0; k < K; k++)
            weight[s] = ns_max(weight[s], (fabs(q->du[s] * q->phi[(size_t)k * F + s]) +
                                           fabs(q->dphi[(size_t)k * F + s])) /
                                              q->size[k]);
        weight[s] = weight[s] > 0 ? 1 / weight[s] : 0;
    }
    uint32_t n = 0;
    bool good = true;
    for (uint32_t k = 0; k < K && good; k++) {
        double *column = Q + (size_t)k * F;
        for (uint32_t s = 0; s < F; s++)
            column[s] = weight[s] * q->du[s] * q->phi[(size_t)k * F + s] / q->size[k];
        const double size = sqrt(ns_linear_dot(F, column, column));
        memset(part, 0, K * sizeof *part);
        const double rest = orthogonalise(F, k, Q, column, part);
        good = rest > dependent * size;
        for (uint32_t s = 0; s < F && good; s++)
            column[s] /= rest;
        for (uint32_t j = 0; j < k; j++)
            R[j * K + k] = part[j];
        R[k * K + k] = rest;
    }
    for (uint32_t k = 0; k < K && good; k++) { /* columns of T and of what is left */
        for (uint32_t s = 0; s < F; s++)
            v[s] = weight[s] * q->dphi[(size_t)k * F + s] / q->size[k];
        most = ns_max(most, sqrt(ns_linear_dot(F, v, v)));
        memset(part, 0, K * sizeof *part);
        orthogonalise(F, K, Q, v, part);
        for (uint32_t s = 0; s < F; s++)
            E[(size_t)s * K + k] = v[s];
        for (uint32_t j = K; j-- > 0;) {
            double sum = -part[j];
            for (uint32_t l = j + 1; l < K; l++)
                sum -= R[j * K + l] * T[l * K + k];
            T[j * K + k] = sum / R[j * K + j];
        }
    }
    if (good) {
        double *sigma = NS_NEW_ARRAY(a, double, K), *V = NS_NEW_ARRAY(a, double, K * K);
        ns_dense_svd(a, F, K, E, sigma, V);
        while (n < K && sigma[K - 1 - n] <= vanishes * most)
            n++;
        if (expected && n < expected && sigma[K - expected] <= 1e3 * vanishes * most)
            n = expected;
        memcpy(B, V + (size_t)(K - n) * K, (size_t)n * K * sizeof *B);
    }
    ns_arena_release(a, mark);
    return n;
}
