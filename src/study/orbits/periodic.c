/* Periodic motions through a surface: see section.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "mech/common/dense.h"
#include "study/orbits/section.h"

typedef struct newton {
    ns_flow *flow;
    ns_variation *v;
    const ns_section_spec *spec;
    uint32_t returns, n, t;         /* t: dimension of the manifold */
    const ns_flow_program *surface; /* g and its gradient */
    const ns_flow_program *energy;  /* E and its gradient, NULL if it is not kept */
    double E0;
    double *N;              /* [t][n] tangent basis at x */
    double *end;            /* [n] state at the return */
    double *V;              /* [t][n] deviations there */
    const ns_generators *g; /* NULL: it has to close by itself */
    ns_affine *h;           /* of the shift; the identity without */
    double *hx, *HN, *xi;   /* h x; [t][n] H N; [count][n] symmetries at h x */
    double period;          /* time of the return */
} newton;

static const ns_flow_program *with_gradient(ns_flow *flow, ns_ex value)
{
    const ns_system *s = flow->system;
    const ns_ex *x = ns_system_state_symbols(s, flow->arena);
    ns_ex *out = NS_NEW_ARRAY(flow->arena, ns_ex, flow->n + 2);
    out[0] = value;
    ns_diff_gradient(s->graph, value, x, flow->n, out + 1);
    return ns_flow_program_new(flow, out, flow->n + 1, NULL, 0);
}

/* Integrates x with its deviations to the return. */
static bool to_return(newton *q, ns_periodic *out)
{
    const uint32_t event = q->v->problem->system->events.n - 1;
    ns_run_options options = q->spec->run;
    const uint32_t size = q->n * (q->t + 1);
    ns_run *run = ns_variation_begin(q->v, &options, out->x, q->N, &out->status, &out->message);
    if (!run)
        return false;
    uint32_t seen = 0, met = 0;
    uint64_t since = 0;
    const uint64_t patience = q->spec->patience;
    char missed[160];
    bool good = false;
    while (!good && ns_run_time(run) < options.until) {
        const ns_status status = ns_run_step(run);
        const ns_outcome *o = ns_run_outcome(run);
        for (; seen < o->n_events && !good; seen++) {
            if (o->events[seen].event != event)
                continue;
            since = o->steps;
            if (++met < q->returns)
                continue;
            const double *y = o->event_states + (size_t)seen * size;
            memcpy(q->end, y, q->n * sizeof *y);
            memcpy(q->V, y + q->n, (size_t)q->t * q->n * sizeof *y);
            q->period = o->events[seen].t - options.t0;
            good = true;
        }
        if (status != NS_OK && !good) {
            out->status = status;
            out->message = ns_arena_format(q->flow->arena, "%s", o->reason);
            break;
        }
        if (!good && patience && o->steps - since >= patience)
            break;
    }
    if (!good && out->status == NS_OK) {
        ns_section_missed(missed, sizeof missed, met, ns_run_time(run),
                          ns_run_outcome(run)->steps - since);
        out->message = ns_arena_format(q->flow->arena, "%s", missed);
    }
    ns_run_free(run);
    return good;
}

static uint32_t symmetries(const newton *q)
{
    return q->g ? q->g->count : 0;
}

/* Rows for the tangent step u, the change of the period and that of the shift h <- exp(c xi) h:
 * phi_T(x + N u) - h (x + N u), the surface, the energy.  Returns the largest residual in units
 * of the sizes. */
static double equations(newton *q, const double *x, double *r, double *D)
{
    const uint32_t n = q->n, t = q->t, K = symmetries(q), columns = t + 1 + K;
    ns_arena *a = q->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *f = NS_NEW_ARRAY(a, double, n + 1), *g = NS_NEW_ARRAY(a, double, n + 2), worst = 0;
    ns_flow_rhs(q->flow, q->end, f);
    ns_affine_apply(q->h, x, q->hx);
    for (uint32_t k = 0; k < t; k++)
        ns_affine_direct(q->h, q->N + (size_t)k * n, q->HN + (size_t)k * n);
    if (K)
        ns_generators_at(q->g, q->hx, q->xi);
    for (uint32_t i = 0; i < n; i++) {
        const double sigma = q->flow->sigma[i];
        r[i] = (q->end[i] - q->hx[i]) / sigma;
        worst = ns_max(worst, fabs(r[i]));
        for (uint32_t k = 0; k < t; k++)
            D[(size_t)i * columns + k] = (q->V[(size_t)k * n + i] - q->HN[(size_t)k * n + i]) /
                                         sigma;
        D[(size_t)i * columns + t] = f[i] / sigma;
        for (uint32_t k = 0; k < K; k++)
            D[(size_t)i * columns + t + 1 + k] = -q->xi[(size_t)k * n + i] / sigma;
    }
    for (int which = 0; which < 2; which++) {
        const ns_flow_program *p = which ? q->energy : q->surface;
        double *row = D + (size_t)(n + (uint32_t)which) * columns;
        memset(row, 0, columns * sizeof *row);
        r[n + (uint32_t)which] = 0;
        if (!p)
            continue;
        ns_flow_eval(q->flow, p, x, g);
        double size = 0;
        for (uint32_t i = 0; i < n; i++)
            size += fabs(g[1 + i]) * q->flow->sigma[i];
        size = size > 0 ? size : 1;
        r[n + (uint32_t)which] = (g[0] - (which ? q->E0 : 0)) / size;
        for (uint32_t k = 0; k < t; k++)
            for (uint32_t i = 0; i < n; i++)
                row[k] += g[1 + i] * q->N[(size_t)k * n + i] / size;
    }
    ns_arena_release(a, mark);
    return worst;
}

static int by_modulus(const void *left, const void *right)
{
    const ns_eigenvalue *a = left, *b = right;
    const double x = ns_math_hypot(a->re, a->im), y = ns_math_hypot(b->re, b->im);
    if (x == y && a->im == b->im)
        return a->re > b->re ? -1 : a->re < b->re;
    return x > y ? -1 : x < y ? 1 : a->im > b->im ? -1 : 1;
}

/* V <- H^-1 V */
static void pull_back(newton *q)
{
    const uint32_t n = q->n;
    if (!q->g)
        return;
    ns_arena *a = q->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *w = NS_NEW_ARRAY(a, double, n + 1);
    for (uint32_t k = 0; k < q->t; k++) {
        ns_dense_least(a, n, n, q->h->H, q->V + (size_t)k * n, 1e-13, w);
        memcpy(q->V + (size_t)k * n, w, n * sizeof *w);
    }
    ns_arena_release(a, mark);
}

/* The derivative of h^-1 phi_T maps the direction of the motion and those of the symmetries to
 * themselves and keeps dE: all are divided out of the spectrum. */
static void multipliers(newton *q, ns_arena *arena, ns_periodic *out)
{
    const uint32_t n = q->n, t = q->t;
    ns_arena *a = q->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    const uint32_t K = symmetries(q);
    double *P = NS_NEW_ARRAY(a, double, (size_t)t * t + 1); /* P[i][k]: N_i . V_k */
    double *apart = NS_NEW_ARRAY(a, double, (size_t)(2 + K) * n + 1),
                                 *g = NS_NEW_ARRAY(a, double, n + 2);
    double *inside = NS_NEW_ARRAY(a, double, (size_t)(2 + K) * t + 1);
    double *B = NS_NEW_ARRAY(a, double, (size_t)t * t + 1);
    double *BP = NS_NEW_ARRAY(a, double, (size_t)t * t + 1);
    pull_back(q);
    ns_flow_multiply_t(t, n, t, q->N, q->V, P);
    ns_flow_rhs(q->flow, out->x, apart);
    uint32_t rows = 1;
    if (q->energy) {
        ns_flow_eval(q->flow, q->energy, out->x, g);
        memcpy(apart + n, g + 1, n * sizeof *g);
        rows = 2;
    }
    if (K)
        ns_generators_at(q->g, out->x, apart + (size_t)rows * n);
    rows += K;
    for (uint32_t k = 0; k < rows; k++)
        ns_dense_unit(n, apart + (size_t)k * n);
    ns_flow_multiply_t(rows, n, t, apart, q->N, inside);
    out->n = ns_flow_complement(a, rows, t, inside, 1e-9, B);
    out->multiplier = NS_NEW_ARRAY(arena, ns_eigenvalue, out->n + 1);
    double *M = NS_NEW_ARRAY(a, double, (size_t)out->n * out->n + 1);
    ns_flow_multiply(out->n, t, t, B, P, BP);
    ns_flow_multiply_t(out->n, t, out->n, BP, B, M);
    ns_linear_eigenvalues(a, out->n, M, out->multiplier);
    qsort(out->multiplier, out->n, sizeof *out->multiplier, by_modulus);
    double re = 1, im = 0;
    for (uint32_t i = 0; i < out->n; i++) {
        const double x = re * out->multiplier[i].re - im * out->multiplier[i].im;
        im = re * out->multiplier[i].im + im * out->multiplier[i].re;
        re = x;
    }
    out->product = re;
    ns_arena_release(a, mark);
}

static const char *judge(const ns_periodic *out)
{
    if (!out->n)
        return "no direction is left that could decide";
    const double most = ns_math_hypot(out->multiplier[0].re, out->multiplier[0].im);
    const double least = ns_math_hypot(out->multiplier[out->n - 1].re,
                                       out->multiplier[out->n - 1].im);
    if (most > 1 + 1e-6)
        return "unstable: a multiplier lies outside the unit circle";
    if (most < 1 - 1e-6)
        return "asymptotically stable on its level of energy";
    return least < 1 - 1e-6 ? "linearly stable: some deviations decay, none grows"
                            : "linearly stable: all multipliers lie on the unit circle";
}

/* A motion that closes up to a symmetry returns to the surface only if the symmetry maps it to
 * itself. */
static bool invariant_surface(newton *q, ns_periodic *out)
{
    const uint32_t n = q->n;
    if (!q->g)
        return true;
    double *grad = NS_NEW_ARRAY(q->flow->arena, double, n + 2);
    ns_flow_eval(q->flow, q->surface, out->x, grad);
    ns_generators_at(q->g, out->x, q->xi);
    for (uint32_t k = 0; k < q->g->count; k++) {
        double along = 0, size = 0;
        for (uint32_t i = 0; i < n; i++) {
            along += grad[1 + i] * q->xi[(size_t)k * n + i];
            size += fabs(grad[1 + i]) * q->flow->sigma[i];
        }
        if (fabs(along) > 1e-7 * size) {
            out->message = ns_arena_format(
                q->flow->arena, "the surface is not left in place by the symmetry `%s`",
                q->g->name[k]);
            return false;
        }
    }
    return true;
}

ns_periodic *ns_section_periodic(ns_arena *arena, ns_flow *flow, const ns_section_spec *spec,
                                 uint32_t returns, const double *x)
{
    NS_CHECK(returns > 0);
    NS_CHECK(!spec->modulo || spec->modulo->n == flow->n);
    enum { ROUNDS = 40 };
    const ns_system *s = flow->system;
    const uint32_t n = flow->n;
    ns_periodic *out = NS_NEW(arena, ns_periodic);
    out->message = "";
    out->x = ns_arena_copy(arena, x, n * sizeof *x);
    newton q = {.flow = flow, .spec = spec, .returns = returns, .n = n, .g = spec->modulo};
    q.h = out->h = ns_affine_new(arena, n);
    q.hx = NS_NEW_ARRAY(arena, double, n + 1);
    q.HN = NS_NEW_ARRAY(arena, double, (size_t)n * n + 1);
    q.xi = NS_NEW_ARRAY(arena, double, (size_t)symmetries(&q) * n + 1);
    q.N = NS_NEW_ARRAY(arena, double, (size_t)n * n + 1);
    q.V = NS_NEW_ARRAY(arena, double, (size_t)n * n + 1);
    q.end = NS_NEW_ARRAY(arena, double, n + 1);
    q.t = out->tangent = ns_flow_tangent(flow, x, q.N);
    q.surface = with_gradient(flow, spec->surface.value);
    if (s->energy && s->conservative && !ns_system_jumps(s)) {
        q.energy = with_gradient(flow, s->energy);
        ns_system_eval(s, &s->energy, 1, flow->t, flow->p, x, &q.E0);
    }
    ns_surface surface = spec->surface;
    surface.stop = false;
    q.v = ns_variation_new(flow, q.t, &surface, 1);
    if (!invariant_surface(&q, out))
        return out;
    const uint32_t K = symmetries(&q), columns = q.t + 1 + K;
    double *r = NS_NEW_ARRAY(arena, double, n + 3);
    double *D = NS_NEW_ARRAY(arena, double, (size_t)(n + 2) * columns + 1);
    double *u = NS_NEW_ARRAY(arena, double, columns + 1), before = INFINITY;
    ns_affine *step = ns_affine_new(arena, n);
    for (out->rounds = 0; out->rounds < ROUNDS; out->rounds++) {
        if (!ns_flow_project(flow, out->x)) {
            out->message = "the state left the manifold of the constraints";
            return out;
        }
        ns_flow_tangent(flow, out->x, q.N);
        if (!to_return(&q, out))
            return out;
        if (K && !out->rounds) /* where to begin: what comes nearest */
            ns_affine_match(flow, q.g, out->x, q.end, q.h, NULL);
        out->residual = equations(&q, out->x, r, D);
        out->period = q.period;
        const double off = ns_max(out->residual, ns_max(fabs(r[n]), fabs(r[n + 1])));
        out->found = off < 1e-9;
        if (off < 1e-14 || (off < 1e-9 && off >= before / 2))
            break;
        before = off;
        const ns_arena_place mark = ns_arena_mark(flow->scratch);
        ns_dense_least(flow->scratch, n + 2, columns, D, r, 1e-9, u);
        ns_arena_release(flow->scratch, mark);
        double length = 0;
        for (uint32_t k = 0; k < q.t; k++)
            for (uint32_t i = 0; i < n; i++)
                length = ns_max(length, fabs(u[k] * q.N[(size_t)k * n + i]) / flow->sigma[i]);
        const double part = length > 0.5 ? 0.5 / length : 1; /* not too far at once */
        for (uint32_t k = 0; k < q.t; k++)
            for (uint32_t i = 0; i < n; i++)
                out->x[i] -= part * u[k] * q.N[(size_t)k * n + i];
        if (K) {
            for (uint32_t k = 0; k < K; k++)
                u[q.t + 1 + k] *= -part;
            ns_affine_exp(flow->scratch, q.g, u + q.t + 1, step);
            ns_affine_multiply(flow->scratch, step, q.h, q.h);
        }
    }
    if (out->found) {
        multipliers(&q, arena, out);
        out->verdict = judge(out);
    } else
        out->message = "Newton's method does not converge from here";
    return out;
}
