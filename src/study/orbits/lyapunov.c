#include "study/orbits/lyapunov.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "mech/common/dense.h"
#include "ode/method.h"

/* From decreasing exponents: j + (l_1 + ... + l_j)/|l_(j+1)|, j the last with a sum not below
 * 0. */
static double dimension_of(const double *exponent, uint32_t n)
{
    double sum = 0;
    for (uint32_t j = 0; j < n; j++) {
        if (sum + exponent[j] < 0)
            return exponent[j] < 0 ? j + sum / -exponent[j] : 0;
        sum += exponent[j];
    }
    return n;
}

/* Rows of W made orthonormal in order, and the rows of V[k][n] combined in the same way;
 * length[j] is what row j of W had beside the rows before it.  V may be W. */
static void orthonormalise(uint32_t k, uint32_t n, double *W, double *V, double *length)
{
    for (uint32_t j = 0; j < k; j++) {
        double *w = W + (size_t)j * n, *v = V + (size_t)j * n;
        for (int twice = 0; twice < 2; twice++)
            for (uint32_t i = 0; i < j; i++) {
                const double *u = W + (size_t)i * n;
                double dot = 0;
                for (uint32_t l = 0; l < n; l++)
                    dot += u[l] * w[l];
                for (uint32_t l = 0; l < n; l++)
                    w[l] -= dot * u[l];
                for (uint32_t l = 0; l < n && V != W; l++)
                    v[l] -= dot * V[(size_t)i * n + l];
            }
        double sum = 0;
        for (uint32_t l = 0; l < n; l++)
            sum += w[l] * w[l];
        length[j] = sqrt(sum);
        for (uint32_t l = 0; l < n; l++)
            w[l] /= length[j];
        for (uint32_t l = 0; l < n && V != W; l++)
            v[l] /= length[j];
    }
}

/* ---- canonical variables ----------------------------------------------------------------- */

/* The motion of a Lagrangian system without constraints is symplectic in (q, p), p = dL/dq'.
 * Lengths of deviations are measured there, and the first deviations are chosen as
 *
 *     dq_1, ..., dq_N, dp_N, ..., dp_1:
 *
 * of the spaces W_k that the first k of them span, W_(2N-k) is the skew-orthogonal complement
 * of W_k, and a symplectic map multiplies the volumes of both by the same factor.  So the
 * exponents pair, l_j + l_(2N+1-j) = 0, at every time and not only in the limit. */
typedef struct canonical {
    const ns_flow_program *map; /* d(q, p)/d(states), by rows */
    double *T;
    uint32_t *q, *v; /* [N] states */
    uint32_t N;
} canonical;

static uint32_t state_of(const ns_system *s, ns_ex symbol)
{
    uint32_t i = 0;
    while (i < s->states.n && s->states.at[i].symbol != symbol)
        i++;
    return i;
}

static canonical *find_canonical(ns_arena *arena, ns_flow *flow)
{
    const ns_system *s = flow->system;
    const ns_description *d = s->description;
    const uint32_t n = flow->n, N = d->coordinates.n;
    if (!d->lagrangian || s->constraints.n || !N || n != 2 * N)
        return NULL;
    canonical *c = NS_NEW(arena, canonical);
    c->N = N;
    c->q = NS_NEW_ARRAY(arena, uint32_t, N);
    c->v = NS_NEW_ARRAY(arena, uint32_t, N);
    const ns_ex *x = ns_system_state_symbols(s, arena);
    ns_ex *out = NS_NEW_ARRAY(arena, ns_ex, (size_t)n * n);
    for (uint32_t i = 0; i < N; i++) {
        c->q[i] = state_of(s, d->coordinates.at[i].q);
        c->v[i] = state_of(s, d->coordinates.at[i].v);
        if (c->q[i] == n || c->v[i] == n)
            return NULL;
        ns_diff_gradient(s->graph, d->coordinates.at[i].q, x, n, out + (size_t)i * n);
        ns_diff_gradient(s->graph, ns_diff(s->graph, d->lagrangian, d->coordinates.at[i].v), x,
                         n, out + (size_t)(N + i) * n);
    }
    c->map = ns_flow_program_new(flow, out, n * n, NULL, 0);
    c->T = NS_NEW_ARRAY(arena, double, (size_t)n * n);
    return c;
}

/* The first deviations, as rows of V. */
static void canonical_start(const canonical *c, ns_flow *flow, const double *x, double *V)
{
    const uint32_t n = 2 * c->N;
    const ns_arena_place mark = ns_arena_mark(flow->scratch);
    double *w = NS_NEW_ARRAY(flow->scratch, double, n);
    ns_flow_eval(flow, c->map, x, c->T);
    for (uint32_t j = 0; j < n; j++) {
        memset(w, 0, n * sizeof *w);
        w[j < c->N ? j : n - 1 - (j - c->N)] = 1;
        ns_dense_least(flow->scratch, n, n, c->T, w, 1e-14, V + (size_t)j * n);
    }
    ns_arena_release(flow->scratch, mark);
}

/* A time in which deviations change by about e: from the size of the Jacobian at the start. */
static double choose_interval(ns_flow *flow, const double *x, double span)
{
    const uint32_t n = flow->n;
    const ns_arena_place mark = ns_arena_mark(flow->scratch);
    double *N = NS_NEW_ARRAY(flow->scratch, double, (size_t)n * n + 1);
    const uint32_t t = ns_flow_tangent(flow, x, N);
    double *JN = NS_NEW_ARRAY(flow->scratch, double, (size_t)n * t + 1);
    double most = 0;
    ns_flow_along_tangent(flow, x, t, N, JN);
    for (size_t i = 0; i < (size_t)n * t; i++)
        most = ns_max(most, fabs(JN[i]));
    ns_arena_release(flow->scratch, mark);
    const double interval = most > 0 ? 5 / most : span;
    return ns_min(ns_max(interval, span / 100000), span / 100);
}

static void finish(ns_lyapunov *out, const double *sum, uint32_t room)
{
    for (uint32_t j = 0; j < out->n; j++) {
        out->exponent[j] = sum[j] / out->span;
        double low = INFINITY, high = -INFINITY;
        for (uint32_t r = out->rows / 2; r < out->rows; r++) {
            low = ns_min(low, out->running[(size_t)j * room + r]);
            high = ns_max(high, out->running[(size_t)j * room + r]);
        }
        out->spread[j] = high - low;
    }
    /* by size: close exponents may come in another order */
    for (uint32_t j = 1; j < out->n; j++)
        for (uint32_t i = j; i > 0 && out->exponent[i] > out->exponent[i - 1]; i--) {
            const double e = out->exponent[i], s = out->spread[i];
            out->exponent[i] = out->exponent[i - 1];
            out->spread[i] = out->spread[i - 1];
            out->exponent[i - 1] = e;
            out->spread[i - 1] = s;
            for (uint32_t r = 0; r < out->rows; r++) {
                double *a = &out->running[(size_t)i * room + r], *b = a - room, swap = *a;
                *a = *b;
                *b = swap;
            }
        }
    out->sum = out->dimension_ky = NAN;
    if (out->n == out->dimension) {
        out->sum = 0;
        for (uint32_t j = 0; j < out->n; j++)
            out->sum += out->exponent[j];
        out->dimension_ky = dimension_of(out->exponent, out->n);
    }
}

ns_lyapunov *ns_lyapunov_run(ns_arena *arena, ns_flow *flow, const ns_lyapunov_spec *spec,
                             const double *x)
{
    const uint32_t n = flow->n;
    ns_lyapunov *out = NS_NEW(arena, ns_lyapunov);
    double *N = NS_NEW_ARRAY(arena, double, (size_t)n * n + 1);
    out->message = "";
    out->x = ns_arena_copy(arena, x, n * sizeof *x);
    const double sign = spec->span < 0 ? -1 : 1, t0 = spec->run.t0;
    if (spec->transient != 0) {
        ns_variation *plain = ns_variation_new(flow, 0, NULL, 0);
        out->status = ns_variation_advance(plain, spec->run, t0, t0 + spec->transient, out->x,
                                           NULL, &out->message);
        if (out->status != NS_OK)
            return out;
    }
    out->dimension = ns_flow_tangent(flow, out->x, N);
    out->n = spec->count && spec->count < out->dimension ? spec->count : out->dimension;
    ns_variation *v = ns_variation_new(flow, out->n, NULL, 0);
    out->interval = spec->interval > 0 ? spec->interval
                                       : choose_interval(flow, out->x, fabs(spec->span));
    const uint64_t steps = (uint64_t)ns_max(1, ceil(fabs(spec->span) / out->interval - 1e-9));
    out->interval = fabs(spec->span) / (double)steps;
    const uint32_t room = steps < spec->rows ? (uint32_t)steps : spec->rows;
    out->exponent = NS_NEW_ARRAY(arena, double, out->n + 1);
    out->spread = NS_NEW_ARRAY(arena, double, out->n + 1);
    out->t = NS_NEW_ARRAY(arena, double, room + 1);
    out->running = NS_NEW_ARRAY(arena, double, (size_t)room * out->n + 1);
    double *sum = NS_NEW_ARRAY(arena, double, out->n + 1);
    double *length = NS_NEW_ARRAY(arena, double, out->n + 1);
    canonical *pairs = find_canonical(arena, flow);
    double *W = pairs ? NS_NEW_ARRAY(arena, double, (size_t)n * n + 1) : N;
    if (pairs)
        canonical_start(pairs, flow, out->x, N);
    const ns_method *method = ns_method_find(spec->run.method);
    bool asked = !method;
    char why[300];
    const double began = ns_clock_seconds();
    for (uint64_t k = 0; k < steps; k++) {
        if (!asked && ns_problem_native_pays(v->problem, ns_clock_seconds() - began,
                                             (double)k / (double)steps)) {
            ns_problem_native(v->problem, method->lanes, why, sizeof why, NULL); /* same bits */
            asked = true;
        }
        const double from = t0 + spec->transient + sign * out->interval * (double)k;
        const double to = t0 + spec->transient + sign * out->interval * (double)(k + 1);
        out->status = ns_variation_advance(v, spec->run, from, to, out->x, N, &out->message);
        if (out->status != NS_OK)
            break;
        ns_variation_tangent(v, out->x, N);
        if (pairs) {
            ns_flow_eval(flow, pairs->map, out->x, pairs->T);
            ns_flow_multiply_t(out->n, n, n, N, pairs->T, W);
        }
        orthonormalise(out->n, n, W, N, length);
        out->span = out->interval * (double)(k + 1);
        for (uint32_t j = 0; j < out->n; j++)
            sum[j] += sign * ns_math_log(length[j]);
        if ((k + 1) * room / steps > out->rows) {
            out->t[out->rows] = out->span;
            for (uint32_t j = 0; j < out->n; j++)
                out->running[(size_t)j * room + out->rows] = sum[j] / out->span;
            out->rows++;
        }
        if (spec->progress && k % 16 == 0 &&
            !spec->progress(spec->context, (double)k / (double)steps)) {
            out->status = NS_STOP_INTERRUPT;
            out->message = "interrupted";
            break;
        }
    }
    if (out->span > 0)
        finish(out, sum, room);
    /* columns one after the other, without gaps */
    for (uint32_t j = 1; j < out->n && out->rows < room; j++)
        memmove(out->running + (size_t)j * out->rows, out->running + (size_t)j * room,
                out->rows * sizeof *out->running);
    return out;
}
