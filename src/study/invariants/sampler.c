/* States spread over the manifold of a system (see study/invariants/integrals.h). */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/eval.h"
#include "study/invariants/integrals.h"

/* Components of one vector or quaternion, and of its rate. */
static bool same_vector(const ns_state *a, const ns_state *b)
{
    return a->vector && b->vector && strcmp(a->vector, b->vector) == 0;
}

static bool visit(ns_sampler *s, const ns_run_options *o, const double *x0,
                  const char **message)
{
    enum { STEPS = 400 };
    ns_flow *flow = s->flow;
    const ns_system *system = flow->system;
    const uint32_t n = flow->n;
    ns_status status = NS_OK;
    ns_run_options options = *o;
    if (!isfinite(options.until) || options.until == options.t0)
        options.until = options.t0 + 1;
    ns_run *run = ns_run_new(flow->problem, &options, flow->p, x0, &status, message);
    if (!run && status == NS_ERR_MEMORY)
        ns_arena_exhausted(flow->arena);
    if (!run)
        return false;
    double *low = ns_arena_copy(flow->arena, x0, n * sizeof *low);
    double *high = ns_arena_copy(flow->arena, x0, n * sizeof *high);
    for (int k = 0; k < STEPS && (status = ns_run_step(run)) == NS_OK; k++) {
        const double *x = ns_run_state(run);
        for (uint32_t i = 0; i < n; i++) {
            low[i] = ns_min(low[i], x[i]);
            high[i] = ns_max(high[i], x[i]);
        }
        if (ns_run_time(run) == options.until)
            break;
    }
    s->t1 = ns_run_time(run);
    ns_run_free(run);
    if (status == NS_ERR_MEMORY)
        ns_arena_exhausted(flow->arena);
    for (uint32_t i = 0; i < n; i++) { /* never zero: the run may be a steady motion */
        s->middle[i] = 0.5 * (low[i] + high[i]);
        s->width[i] = ns_max(0.75 * (high[i] - low[i]), 0.5 * flow->sigma[i]);
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            if (same_vector(&system->states.at[i], &system->states.at[j]))
                s->width[i] = s->width[j] = ns_max(s->width[i], s->width[j]);
    return true;
}

ns_sampler *ns_sampler_new(ns_flow *flow, const ns_run_options *run, const double *x0,
                           const char **message)
{
    const ns_system *system = flow->system;
    ns_arena *a = flow->arena;
    ns_sampler *s = NS_NEW(a, ns_sampler);
    s->flow = flow;
    s->t0 = s->t1 = flow->t;
    s->seed = 1897;
    s->middle = NS_NEW_ARRAY(a, double, flow->n + 1);
    s->width = NS_NEW_ARRAY(a, double, flow->n + 1);
    s->x = NS_NEW_ARRAY(a, double, flow->n + 1);
    s->target = NS_NEW_ARRAY(a, double, flow->n + 1);
    s->first = ns_arena_copy(a, x0, (flow->n) * sizeof *x0);
    s->last = ns_arena_copy(a, x0, (flow->n) * sizeof *x0);
    if (!visit(s, run, x0, message))
        return NULL;
    if (ns_flow_autonomous(flow))
        s->t1 = s->t0;
    ns_ex *mark = NS_NEW_ARRAY(a, ns_ex, system->events.n + 1);
    uint32_t marks = 0;
    for (uint32_t i = 0; i < system->events.n; i++)
        if (system->events.at[i].action == NS_EVENT_SINGULAR)
            mark[marks++] = system->events.at[i].value;
    s->sign = NS_NEW_ARRAY(a, double, marks + 1);
    s->now = NS_NEW_ARRAY(a, double, marks + 1);
    if (marks) {
        s->singular = ns_flow_program_new(flow, mark, marks, NULL, 0);
        ns_flow_eval(flow, s->singular, x0, s->sign);
    }
    return s;
}

/* Is it on the same side of all singularities as the start, and is the field finite there? */
static bool usable(ns_sampler *s, const double *x)
{
    ns_flow *flow = s->flow;
    for (uint32_t i = 0; i < flow->n; i++)
        if (!isfinite(x[i]))
            return false;
    ns_flow_rhs(flow, x, s->x);
    for (uint32_t i = 0; i < flow->n; i++)
        if (!(fabs(s->x[i]) < 1e8 * (1 + fabs(x[i]))))
            return false;
    if (!s->singular)
        return true;
    ns_flow_eval(flow, s->singular, x, s->now);
    for (uint32_t i = 0; i < s->singular->outputs; i++)
        if (!(s->now[i] * s->sign[i] > 0))
            return false;
    return true;
}

/* Turns the sign of a quaternion: the way from x to y shall not lead through zero. */
static void turn_quaternions(const ns_system *s, const double *x, double *y)
{
    for (uint32_t i = 0; i + 3 < s->states.n; i++) {
        if (s->states.at[i].kind != NS_QUANTITY_QUATERNION || s->states.at[i].first != i)
            continue;
        double dot = 0;
        for (uint32_t j = i; j < i + 4; j++)
            dot += x[j] * y[j];
        for (uint32_t j = i; j < i + 4 && dot < 0; j++)
            y[j] = -y[j];
    }
}

/* A manifold may have several branches (a body touches from below or, by the equations alone,
 * from above).  A state is reached from the last one by steps along the manifold, short enough
 * that the projection after each changes little of it. */
static bool walk(ns_sampler *s, const double *target, double *x)
{
    enum { STEPS = 6, HALVINGS = 5 };
    ns_flow *flow = s->flow;
    const uint32_t n = flow->n;
    ns_arena *a = flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *N = NS_NEW_ARRAY(a, double, (size_t)n * n + 1), *d = NS_NEW_ARRAY(a, double, n + 1);
    double *y = NS_NEW_ARRAY(a, double, n + 1);
    bool good = flow->m == 0 || s->t1 == s->t0 || ns_flow_project(flow, x);
    for (int k = 0; k < STEPS && good; k++) {
        const uint32_t dimension = ns_flow_tangent(flow, x, N);
        double h = 1.0 / (STEPS - k), step = 0;
        memset(d, 0, n * sizeof *d);
        for (uint32_t j = 0; j < dimension; j++) {
            double part = 0;
            for (uint32_t i = 0; i < n; i++)
                part += N[(size_t)j * n + i] * (target[i] - x[i]);
            for (uint32_t i = 0; i < n; i++)
                d[i] += part * N[(size_t)j * n + i];
        }
        for (uint32_t i = 0; i < n; i++)
            step = ns_math_hypot(step, d[i] / flow->sigma[i]);
        good = step == 0;
        for (int halving = 0; halving < HALVINGS && !good; halving++, h /= 2) {
            double off = 0;
            for (uint32_t i = 0; i < n; i++)
                y[i] = x[i] + h * d[i];
            if (!ns_flow_project(flow, y))
                continue;
            for (uint32_t i = 0; i < n; i++)
                off = ns_math_hypot(off, (y[i] - x[i] - h * d[i]) / flow->sigma[i]);
            good = off < 0.25 * h * step;
        }
        if (good && step > 0)
            memcpy(x, y, n * sizeof *x);
    }
    ns_arena_release(a, mark);
    return good;
}

bool ns_sampler_next(ns_sampler *s, double *x)
{
    enum { TRIES = 15 };
    static const double scale[3] = {0.5, 1, 1.5};
    ns_flow *flow = s->flow;
    const ns_system *system = flow->system;
    const uint32_t n = flow->n;
    for (int k = 0; k < TRIES; k++) {
        const double speed = scale[(int)(3 * ns_eval_random(&s->seed)) % 3];
        for (uint32_t i = 0; i < n; i++) {
            s->target[i] = s->middle[i] + s->width[i] * (2 * ns_eval_random(&s->seed) - 1);
            s->target[i] *= system->states.at[i].odd ? speed : 1;
        }
        flow->t = s->t0 + (s->t1 > s->t0 ? (s->t1 - s->t0) * ns_eval_random(&s->seed) : 0);
        memcpy(x, s->last, n * sizeof *x);
        turn_quaternions(system, x, s->target);
        if (walk(s, s->target, x) && usable(s, x)) {
            memcpy(s->last, x, n * sizeof *x);
            return true;
        }
        if (k % 5 == 4)
            memcpy(s->last, s->first, n * sizeof *x);
        s->refused++;
    }
    return false;
}
