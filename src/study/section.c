#include "study/section.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "expr/diff.h"
#include "mech/dense.h"

/* ---- tracks --------------------------------------------------------------------------------- */

typedef struct crew {
    const ns_variation *v;
    const ns_section_spec *spec;
    const double *x, *p;
    ns_section_track *tracks;
    uint32_t count, event; /* event: number of the surface */
    atomic_uint next, done, crossings;
    atomic_int stop;
} crew;

/* One start: steps until there are enough crossings.  Everything it needs is its own. */
static void follow(crew *w, uint32_t number)
{
    const uint32_t n = w->v->n;
    ns_section_track *track = &w->tracks[number];
    const char *message = "";
    ns_run *run = ns_run_new(w->v->problem, &w->spec->run, w->p, w->x + (size_t)number * n,
                             &track->status, &message);
    if (!run) {
        snprintf(track->reason, sizeof track->reason, "%s", message);
        return;
    }
    uint32_t seen = 0;
    const double end = w->spec->run.until, sign = end < w->spec->run.t0 ? -1 : 1;
    while (track->n < w->spec->crossings && sign * (end - ns_run_time(run)) > 0 && !w->stop) {
        const ns_status status = ns_run_step(run);
        const ns_outcome *o = ns_run_outcome(run);
        for (; seen < o->n_events && track->n < w->spec->crossings; seen++) {
            if (o->events[seen].event != w->event)
                continue;
            track->t[track->n] = o->events[seen].t;
            memcpy(track->x + (size_t)track->n * n, o->event_states + (size_t)seen * n,
                   n * sizeof(double));
            track->n++;
            atomic_fetch_add(&w->crossings, 1);
        }
        if (status != NS_OK) {
            track->status = status;
            snprintf(track->reason, sizeof track->reason, "%s", o->reason);
            break;
        }
    }
    if (w->stop) {
        track->status = NS_STOP_INTERRUPT;
        snprintf(track->reason, sizeof track->reason, "interrupted");
    }
    ns_run_free(run);
}

static void *work(void *context)
{
    crew *w = context;
    for (;;) {
        const uint32_t number = atomic_fetch_add(&w->next, 1);
        if (number >= w->count || w->stop)
            break;
        follow(w, number);
        atomic_fetch_add(&w->done, 1);
    }
    return NULL;
}

ns_section_track *ns_section_run(ns_arena *arena, ns_flow *flow, const ns_section_spec *spec,
                                 const double *x, uint32_t count)
{
    enum { MOST_THREADS = 64 };
    const uint32_t n = flow->n;
    ns_surface surface = spec->surface;
    surface.stop = false;
    crew w = {.spec = spec, .x = x, .p = flow->p, .count = count};
    w.v = ns_variation_new(flow, 0, &surface, 1);
    w.event = w.v->problem->system->events.n - 1;
    w.tracks = NS_NEW_ARRAY(arena, ns_section_track, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        w.tracks[i].t = NS_NEW_ARRAY(arena, double, spec->crossings + 1);
        w.tracks[i].x = NS_NEW_ARRAY(arena, double, (size_t)spec->crossings * n + 1);
    }
    pthread_t thread[MOST_THREADS];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t wanted = spec->threads ? spec->threads : cores > 0 ? (uint32_t)cores : 1;
    wanted = wanted > count ? count : wanted > MOST_THREADS ? MOST_THREADS : wanted;
    uint32_t started = 0;
    while (started < wanted && pthread_create(&thread[started], NULL, work, &w) == 0)
        started++;
    if (!started)
        work(&w);
    while (started && w.done < count && !w.stop) {
        const struct timespec pause = {.tv_nsec = 20000000};
        nanosleep(&pause, NULL);
        if (spec->progress &&
            !spec->progress(spec->context,
                            (double)w.crossings / ((double)count * (double)spec->crossings)))
            w.stop = 1;
    }
    for (uint32_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    return w.tracks;
}

/* ---- periodic motions ------------------------------------------------------------------------ */

typedef struct newton {
    ns_flow *flow;
    ns_variation *v;
    const ns_section_spec *spec;
    uint32_t returns, n, t;         /* t: dimension of the manifold */
    const ns_flow_program *surface; /* g and its gradient */
    const ns_flow_program *energy;  /* E and its gradient, NULL if it is not kept */
    double E0;
    double *N;     /* [t][n] tangent basis at x */
    double *end;   /* [n] state at the return */
    double *V;     /* [t][n] deviations there */
    double period; /* time of the return */
} newton;

static const ns_flow_program *with_gradient(ns_flow *flow, ns_ex value)
{
    const ns_system *s = flow->system;
    ns_ex *x = NS_NEW_ARRAY(flow->arena, ns_ex, flow->n + 1);
    ns_ex *out = NS_NEW_ARRAY(flow->arena, ns_ex, flow->n + 2);
    for (uint32_t i = 0; i < flow->n; i++)
        x[i] = s->states.at[i].symbol;
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
    bool good = false;
    while (!good && ns_run_time(run) < options.until) {
        const ns_status status = ns_run_step(run);
        const ns_outcome *o = ns_run_outcome(run);
        for (; seen < o->n_events && !good; seen++) {
            if (o->events[seen].event != event || ++met < q->returns)
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
    }
    if (!good && out->status == NS_OK)
        out->message = "the motion does not come back to the surface before the end time";
    ns_run_free(run);
    return good;
}

/* Rows for the tangent step u and the change of the period: phi_T(x + N u) - x - N u, the surface, the
 * energy.  Returns the largest residual in units of the sizes. */
static double equations(newton *q, const double *x, double *r, double *D)
{
    const uint32_t n = q->n, t = q->t, columns = t + 1;
    ns_arena *a = q->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *f = NS_NEW_ARRAY(a, double, n + 1), *g = NS_NEW_ARRAY(a, double, n + 2), worst = 0;
    ns_flow_rhs(q->flow, q->end, f);
    for (uint32_t i = 0; i < n; i++) {
        const double sigma = q->flow->sigma[i];
        r[i] = (q->end[i] - x[i]) / sigma;
        worst = fmax(worst, fabs(r[i]));
        for (uint32_t k = 0; k < t; k++)
            D[(size_t)i * columns + k] = (q->V[(size_t)k * n + i] - q->N[(size_t)k * n + i]) /
                                         sigma;
        D[(size_t)i * columns + t] = f[i] / sigma;
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
    const double x = hypot(a->re, a->im), y = hypot(b->re, b->im);
    return x > y ? -1 : x < y ? 1 : a->im > b->im ? -1 : a->im < b->im;
}

/* The derivative of phi_T maps the direction of the motion to itself and keeps dE: both are divided
 * out of the spectrum. */
static void multipliers(newton *q, ns_arena *arena, ns_periodic *out)
{
    const uint32_t n = q->n, t = q->t;
    ns_arena *a = q->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *P = NS_NEW_ARRAY(a, double, (size_t)t * t + 1); /* P[i][k]: N_i . V_k */
    double *apart = NS_NEW_ARRAY(a, double, (size_t)2 * n + 1),
                                 *g = NS_NEW_ARRAY(a, double, n + 2);
    double *inside = NS_NEW_ARRAY(a, double, (size_t)2 * t + 1);
    double *B = NS_NEW_ARRAY(a, double, (size_t)t * t + 1);
    double *BP = NS_NEW_ARRAY(a, double, (size_t)t * t + 1);
    ns_flow_multiply_t(t, n, t, q->N, q->V, P);
    ns_flow_rhs(q->flow, out->x, apart);
    uint32_t rows = 1;
    if (q->energy) {
        ns_flow_eval(q->flow, q->energy, out->x, g);
        memcpy(apart + n, g + 1, n * sizeof *g);
        rows = 2;
    }
    for (uint32_t k = 0; k < rows; k++) { /* of length one each */
        double sum = 0;
        for (uint32_t i = 0; i < n; i++)
            sum += apart[(size_t)k * n + i] * apart[(size_t)k * n + i];
        for (uint32_t i = 0; i < n && sum > 0; i++)
            apart[(size_t)k * n + i] /= sqrt(sum);
    }
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
    const double most = hypot(out->multiplier[0].re, out->multiplier[0].im);
    const double least = hypot(out->multiplier[out->n - 1].re, out->multiplier[out->n - 1].im);
    if (most > 1 + 1e-6)
        return "unstable: a multiplier lies outside the unit circle";
    if (most < 1 - 1e-6)
        return "asymptotically stable on its level of energy";
    return least < 1 - 1e-6 ? "linearly stable: some deviations decay, none grows"
                            : "linearly stable: all multipliers lie on the unit circle";
}

ns_periodic *ns_section_periodic(ns_arena *arena, ns_flow *flow, const ns_section_spec *spec,
                                 uint32_t returns, const double *x)
{
    enum { ROUNDS = 40 };
    const ns_system *s = flow->system;
    const uint32_t n = flow->n;
    ns_periodic *out = NS_NEW(arena, ns_periodic);
    out->message = "";
    out->x = ns_arena_copy(arena, x, n * sizeof *x);
    newton q = {.flow = flow, .spec = spec, .returns = returns, .n = n};
    q.N = NS_NEW_ARRAY(arena, double, (size_t)n * n + 1);
    q.V = NS_NEW_ARRAY(arena, double, (size_t)n * n + 1);
    q.end = NS_NEW_ARRAY(arena, double, n + 1);
    q.t = out->tangent = ns_flow_tangent(flow, x, q.N);
    q.surface = with_gradient(flow, spec->surface.value);
    if (s->energy && s->conservative) {
        q.energy = with_gradient(flow, s->energy);
        ns_system_eval(s, &s->energy, 1, flow->t, flow->p, x, &q.E0);
    }
    ns_surface surface = spec->surface;
    surface.stop = false;
    q.v = ns_variation_new(flow, q.t, &surface, 1);
    const uint32_t columns = q.t + 1;
    double *r = NS_NEW_ARRAY(arena, double, n + 3);
    double *D = NS_NEW_ARRAY(arena, double, (size_t)(n + 2) * columns + 1);
    double *u = NS_NEW_ARRAY(arena, double, columns + 1), before = INFINITY;
    for (out->rounds = 0; out->rounds < ROUNDS; out->rounds++) {
        if (!ns_flow_project(flow, out->x)) {
            out->message = "the state left the manifold of the constraints";
            return out;
        }
        ns_flow_tangent(flow, out->x, q.N);
        if (!to_return(&q, out))
            return out;
        out->residual = equations(&q, out->x, r, D);
        out->period = q.period;
        const double off = fmax(out->residual, fmax(fabs(r[n]), fabs(r[n + 1])));
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
                length = fmax(length, fabs(u[k] * q.N[(size_t)k * n + i]) / flow->sigma[i]);
        const double part = length > 0.5 ? 0.5 / length : 1; /* not too far at once */
        for (uint32_t k = 0; k < q.t; k++)
            for (uint32_t i = 0; i < n; i++)
                out->x[i] -= part * u[k] * q.N[(size_t)k * n + i];
    }
    if (out->found) {
        multipliers(&q, arena, out);
        out->verdict = judge(out);
    } else
        out->message = "Newton's method does not converge from here";
    return out;
}
