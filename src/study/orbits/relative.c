#include "study/orbits/relative.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/math/vecmath.h"
#include "mech/common/dense.h"
#include "study/orbits/recur.h"

static const double same = 1e-9; /* what counts as the same state, in units of the sizes */
enum { MOST_QUADRATIC = 22 }; /* states up to which invariants of degree two are looked for */

typedef struct watch {
    ns_flow *flow;
    const ns_generators *g;
    uint32_t n, count;
    double *Q, *l; /* [count][n][n] symmetric, [count][n] */
    double *f, *grad;
    ns_affine *h;
    const double *x0;
    double dt;
} watch;

/* ---- invariants of the group ------------------------------------------------------------- */

/* Number of the unknown Q[i][j]. */
static uint32_t pair(uint32_t n, uint32_t i, uint32_t j)
{
    const uint32_t a = i < j ? i : j, b = i < j ? j : i;
    return a * n - a * (a + 1) / 2 + b;
}

/* In units of the sizes: u = x/sigma. */
static void find_invariants(watch *w)
{
    const uint32_t n = w->n, K = w->g->count;
    const uint32_t quadratic = n <= MOST_QUADRATIC ? n * (n + 1) / 2 : 0;
    const uint32_t unknowns = quadratic + n, each = quadratic + n + 1;
    const double *sigma = w->flow->sigma;
    ns_arena *a = w->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *M = NS_NEW_ARRAY(a, double, (size_t)(K + 1) * each * unknowns + 1);
    double *out = NS_NEW_ARRAY(a, double, (size_t)unknowns * unknowns + 1);
    uint32_t row = 0;
    for (uint32_t k = 0; k < K; k++) {
        const double *A = w->g->A + (size_t)k * n * n, *b = w->g->b + (size_t)k * n;
        for (uint32_t i = 0; i < n && quadratic; i++)
            for (uint32_t j = i; j < n; j++, row++)
                for (uint32_t m = 0; m < n; m++) { /* (A^T Q + Q A)[i][j] */
                    M[(size_t)row * unknowns + pair(n, m, j)] += A[(size_t)m * n + i] *
                                                                 sigma[i] / sigma[m];
                    M[(size_t)row * unknowns + pair(n, i, m)] += A[(size_t)m * n + j] *
                                                                 sigma[j] / sigma[m];
                }
        for (uint32_t i = 0; i < n; i++, row++)
            for (uint32_t m = 0; m < n; m++) {
                if (quadratic)
                    M[(size_t)row * unknowns + pair(n, i, m)] += 2 * b[m] / sigma[m];
                M[(size_t)row * unknowns + quadratic + m] += A[(size_t)m * n + i] * sigma[i] /
                                                             sigma[m];
            }
        for (uint32_t m = 0; m < n; m++)
            M[(size_t)row * unknowns + quadratic + m] += b[m] / sigma[m];
        row++;
    }
    w->count = ns_flow_complement(a, row, unknowns, M, 1e-8, out);
    w->Q = NS_NEW_ARRAY(w->flow->arena, double, (size_t)w->count * n * n + 1);
    w->l = NS_NEW_ARRAY(w->flow->arena, double, (size_t)w->count * n + 1);
    for (uint32_t c = 0; c < w->count; c++)
        for (uint32_t i = 0; i < n; i++) {
            const double *v = out + (size_t)c * unknowns;
            w->l[(size_t)c * n + i] = v[quadratic + i] / sigma[i];
            for (uint32_t j = 0; j < n && quadratic; j++)
                w->Q[((size_t)c * n + i) * n + j] = v[pair(n, i, j)] / (sigma[i] * sigma[j]);
        }
    ns_arena_release(a, mark);
}

/* y and y' = (2 Q x + l) f */
static void look(void *context, const double *x, double *y)
{
    watch *w = context;
    const uint32_t n = w->n;
    ns_flow_rhs(w->flow, x, w->f);
    for (uint32_t c = 0; c < w->count; c++) {
        double value = 0, rate = 0;
        for (uint32_t i = 0; i < n; i++) {
            double Qx = 0;
            for (uint32_t j = 0; j < n; j++)
                Qx += w->Q[((size_t)c * n + i) * n + j] * x[j];
            const double li = w->l[(size_t)c * n + i];
            value += (Qx + li) * x[i];
            rate += (2 * Qx + li) * w->f[i];
        }
        y[c] = value;
        y[w->count + c] = rate;
    }
}

static bool accept(void *context, double t, const double *x)
{
    watch *w = context;
    (void)t;
    ns_affine_set(w->h, ns_affine_new(w->flow->arena, w->n));
    return ns_affine_match(w->flow, w->g, w->x0, x, w->h, &w->dt) < 1e-6;
}

/* Where the search begins.  At a turning point (a body that starts without tilting) none of the
 * invariants moves, and a return could not be told; x(t + T) = h x(t) holds at every t, so it
 * begins a step later. */
static const double *begin(watch *w, const ns_run_options *options, const char **message)
{
    const uint32_t n = w->n;
    bool moves = false;
    ns_flow_rhs(w->flow, w->x0, w->f);
    for (uint32_t c = 0; c < w->count; c++) {
        double rate = 0, size = 0;
        for (uint32_t i = 0; i < n; i++) {
            double slope = w->l[(size_t)c * n + i];
            for (uint32_t j = 0; j < n; j++)
                slope += 2 * w->Q[((size_t)c * n + i) * n + j] * w->x0[j];
            rate += slope * w->f[i];
            size += fabs(slope * w->f[i]);
        }
        moves = moves || fabs(rate) > 1e-9 * size;
    }
    if (moves)
        return w->x0;
    ns_status status;
    ns_run *run = ns_run_new(w->flow->problem, options, w->flow->p, w->x0, &status, message);
    if (!run)
        return NULL;
    double *x = NS_NEW_ARRAY(w->flow->arena, double, n + 1);
    ns_run_step(run);
    memcpy(x, ns_run_state(run), n * sizeof *x);
    ns_run_free(run);
    return x;
}

/* ---- period and shift -------------------------------------------------------------------- */

/* x at the end of a run to the time t, which ends a step. */
static bool go_to(const watch *w, ns_run_options options, double t, double *x,
                  const char **message)
{
    ns_status status;
    options.until = t;
    ns_run *run = ns_run_new(w->flow->problem, &options, w->flow->p, x, &status, message);
    if (!run)
        return false;
    status = ns_run_to(run, t);
    memcpy(x, ns_run_state(run), w->n * sizeof *x);
    ns_run_free(run);
    return status == NS_OK;
}

/* The time of the return by Newton's method, h with it. */
static bool settle(watch *w, ns_relative *r, const ns_run_options *o)
{
    enum { ROUNDS = 6 };
    ns_affine *best = ns_affine_new(w->flow->arena, w->n);
    double *x = NS_NEW_ARRAY(w->flow->arena, double, w->n + 1), period = r->period + w->dt;
    r->residual = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(x, w->x0, w->n * sizeof *x);
        if (!go_to(w, *o, o->t0 + period, x, &r->message))
            return false;
        const double off = ns_affine_match(w->flow, w->g, w->x0, x, w->h, &w->dt);
        if (off < r->residual) {
            r->residual = off;
            r->period = period + w->dt;
            ns_affine_set(best, w->h);
        }
        if (fabs(w->dt) <= 1e-15 * period)
            break;
        period += w->dt;
    }
    ns_affine_set(w->h, best);
    return true;
}

/* x(t + T) = h x(t) at times of the first period. */
static void verify(watch *w, ns_relative *r, const ns_run_options *o)
{
    enum { TIMES = 12 };
    ns_run_options options = *o;
    options.until = o->t0 + 2 * r->period;
    ns_status status;
    double *x = NS_NEW_ARRAY(w->flow->arena, double, (size_t)(2 * TIMES + 1) * w->n + 1);
    double *hx = NS_NEW_ARRAY(w->flow->arena, double, w->n + 1);
    ns_run *run = ns_run_new(w->flow->problem, &options, w->flow->p, w->x0, &status,
                             &r->message);
    r->second = INFINITY;
    for (int k = 0; run && k <= 2 * TIMES; k++) {
        const double t = k == 2 * TIMES ? options.until : o->t0 + r->period * k / TIMES;
        if (ns_run_to(run, t) != NS_OK)
            break;
        ns_run_state_at(run, t, x + (size_t)k * w->n);
        if (k < TIMES)
            continue;
        ns_affine_apply(w->h, x + (size_t)(k - TIMES) * w->n, hx);
        double off = k == TIMES ? 0 : r->second;
        for (uint32_t i = 0; i < w->n; i++)
            off = ns_max(off, fabs(x[(size_t)k * w->n + i] - hx[i]) /
                                  ns_max(w->flow->sigma[i], fabs(hx[i])));
        r->second = off;
    }
    if (run)
        ns_run_free(run);
}

ns_relative *ns_relative_find(ns_arena *arena, ns_flow *flow, const ns_generators *g,
                              const ns_run_options *options, const double *x)
{
    NS_CHECK(g->n == flow->n);
    ns_relative *r = NS_NEW(arena, ns_relative);
    const uint32_t n = flow->n;
    watch w = {.flow = flow, .g = g, .n = n, .x0 = x};
    w.f = NS_NEW_ARRAY(flow->arena, double, n + 1);
    w.h = r->h = ns_affine_new(arena, n);
    r->g = g;
    r->period = r->residual = r->second = NAN;
    r->message = "";
    if (!ns_flow_autonomous(flow)) {
        r->message = "time enters the equations";
        return r;
    }
    find_invariants(&w);
    r->invariants = w.count;
    ns_recur c = {.n = w.count,
                  .look = look,
                  .accept = accept,
                  .context = &w,
                  .near = 1e-6,
                  .still = 1e-9};
    w.x0 = begin(&w, options, &r->message);
    if (!w.x0 ||
        !ns_recur_search(&c, arena, flow->problem, options, flow->p, w.x0, &r->message))
        return r;
    w.x0 = x;
    r->best = c.best - options->t0;
    r->mismatch = c.mismatch;
    if (!c.found) {
        r->message = isfinite(c.mismatch) ? "what the symmetries leave unchanged does not "
                                            "return to where it was"
                                          : "what the symmetries leave unchanged does not move "
                                            "or does not come back";
        return r;
    }
    r->period = r->best;
    if (!settle(&w, r, options))
        return r;
    verify(&w, r, options);
    r->found = r->residual < same && r->second < same;
    if (!r->found)
        r->message = "the motion comes near its start, but is not periodic";
    return r;
}

uint64_t ns_relative_periods(const ns_relative *r, double t0, double t, double *rest)
{
    NS_CHECK(r->period > 0);
    const double k = ns_max(0, floor((t - t0) / r->period));
    *rest = fma(-k, r->period, t - t0);
    if (*rest < 0)
        *rest = 0;
    return (uint64_t)k;
}

double ns_relative_error(const ns_relative *r, uint64_t periods)
{
    /* every period adds the same difference; powers of h round */
    return (double)(periods + 1) * (ns_max(r->residual, r->second) + 1e-16);
}
