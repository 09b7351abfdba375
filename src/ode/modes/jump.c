/* Making a jump, and going on after it: see modes.h. */
#include <float.h>

#include "base/check.h"
#include "base/math/quad.h"
#include "base/math/vecmath.h"
#include "ode/project.h"
#include "ode/quad/quad_internal.h"
#include "ode/run_internal.h"

enum {
    MOST_AT_ONCE = 100, /* jumps at one time */
    WINDOW = 10000      /* jumps, after which progress is judged */
};
#define PROGRESS 1e-7 /* part of the time so far that they take at least */
#define SOON 1e-6     /* part of the step proposed */
#define PLACES 64 /* units in the last place of the time within which things happen at once */

/* ---- values ------------------------------------------------------------------------------ */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t ns_jump_work(const ns_problem *whole, bool precise)
{
    size_t most = 0, out = whole->n;
    for (uint32_t k = 0; k < whole->n_modes; k++) {
        const ns_problem *in = ns_problem_in_mode(whole, k);
        const ns_program *const all[] = {in->jumps->resets, in->jumps->needs, in->jumps->gates,
                                         in->rhs,           in->monitor,      in->observables};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            most = larger(most,
                          precise ? ns_program_work_quad(all[i]) : ns_program_work1(all[i]));
            out = larger(out, ns_program_nout(all[i]));
        }
    }
    if (!precise)
        return most + out;
    return (most + out + whole->n + whole->np + 4) * sizeof(ns_quad) / sizeof(double);
}

#if NS_HAVE_QUAD
static void eval_quad(ns_run *run, const ns_program *program, double t, double d,
                      const double *x, const double *x_lo, double *out, double *out_lo)
{
    const ns_stepper *s = &run->s;
    const uint32_t np = run->whole->np;
    ns_quad *p = (ns_quad *)run->work_jump, *at = p + np, *value = at + s->n;
    ns_quad *work = value + ns_program_nout(program);
    for (uint32_t i = 0; i < np; i++)
        p[i] = (ns_quad)s->p[i] + (ns_quad)s->p_lo[i];
    for (uint32_t i = 0; i < s->n; i++)
        at[i] = (ns_quad)x[i] + (ns_quad)x_lo[i];
    ns_program_bind_quad(program, work, p);
    ns_program_eval_quad(program, work, ns_quad_time(t) + (ns_quad)d, at, value);
    for (uint32_t i = 0; i < ns_program_nout(program); i++)
        ns_quad_split(value[i], &out[i], &out_lo[i]);
}
#endif

/* Outputs of a program of any mode at the time t + d, as sums of two doubles. */
static void eval(ns_run *run, const ns_program *program, double t, double d, const double *x,
                 const double *x_lo, double *out, double *out_lo)
{
#if NS_HAVE_QUAD
    if (run->s.method->precise) {
        eval_quad(run, program, t, d, x, x_lo, out, out_lo);
        return;
    }
#endif
    (void)d, (void)x_lo;
    ns_program_bind1(program, run->work_jump, run->s.p);
    ns_program_eval1(program, run->work_jump, t, x, out);
    memset(out_lo, 0, ns_program_nout(program) * sizeof *out_lo);
}

static const ns_problem *in_mode(const ns_run *run, uint64_t mode)
{
    return ns_problem_in_mode(run->whole, (uint32_t)mode);
}

void ns_run_observe_event(ns_run *run, uint32_t i, double *values)
{
    const ns_occurrence *one = &run->events[i];
    const double *x = run->event_states + (size_t)i * run->s.n;
    if (!run->whole->jumps || one->before == run->stretch.mode) {
        ns_run_observe(run, one->t, x, values);
        return;
    }
    const ns_program *program = in_mode(run, one->before)->observables;
    ns_program_bind1(program, run->work_jump, run->s.p);
    ns_program_eval1(program, run->work_jump, one->t, x, values);
}

/* g, g' and g''/2 of events with jumps in a mode: the beginning of their Taylor series along
 * the motion, into run->jump_gates[event's][3].  Without series (pinv) the last two are nan. */
static void gates(ns_run *run, uint64_t mode, double t, const double *x, const double *x_lo)
{
    const ns_problem *in = in_mode(run, mode);
    const ns_program *program = in->jumps->gates;
    const uint32_t n = run->s.n, count = ns_program_nout(program);
    double *series = run->jump_series, *work = series + 3 * (size_t)n;
    eval(run, program, t, 0, x, x_lo, run->jump_out, run->jump_out_lo);
    for (uint32_t i = 0; i < 3 * n; i++)
        series[i] = i % 3 ? 0 : x[i / 3];
    if (!in->pinv) {
        ns_program_bind_jet(in->rhs, work, 2, run->s.p);
        ns_program_solve_jet(in->rhs, work, t, 2, series);
        ns_program_bind_jet(program, work, 2, run->s.p);
        ns_program_eval_jet(program, work, t, 2, series, run->jump_gates);
    }
    for (uint32_t i = 0; i < count; i++) {
        run->jump_gates[3 * i] = run->jump_out[i];
        if (in->pinv)
            run->jump_gates[3 * i + 1] = run->jump_gates[3 * i + 2] = NAN;
    }
}

size_t ns_jump_series(const ns_problem *whole)
{
    size_t most = 0;
    for (uint32_t k = 0; k < whole->n_modes; k++) {
        const ns_problem *in = ns_problem_in_mode(whole, k);
        most = larger(most, ns_program_work_jet(in->jumps->gates, 2));
        most = larger(most, in->pinv ? 0 : ns_program_work_jet(in->rhs, 2));
    }
    return most + 3 * (size_t)whole->n;
}

/* ---- ways -------------------------------------------------------------------------------- */

/* Does the way hold at the state after a jump?  need: its first. */
static bool holds(ns_run *run, const ns_way *way, uint32_t need, double t, const double *x,
                  const double *x_lo)
{
    if (!way->needs.n)
        return true;
    eval(run, in_mode(run, way->mode)->jumps->needs, t, 0, x, x_lo, run->jump_out,
         run->jump_out_lo);
    for (uint32_t k = 0; k < way->needs.n; k++)
        if (!(run->jump_out[need + k] > 0))
            return false;
    return true;
}

/* The mode that the first of the ways leads to that holds; UINT32_MAX: none does. */
static uint32_t choose(ns_run *run, const ns_way *ways, uint32_t n, uint32_t need, double t,
                       const double *x, const double *x_lo)
{
    for (uint32_t i = 0; i < n; i++) {
        if (holds(run, &ways[i], need, t, x, x_lo))
            return ways[i].mode;
        need += ways[i].needs.n;
    }
    return UINT32_MAX;
}

uint32_t ns_jump_first_mode(ns_run *run, const double *x)
{
    const ns_problem *whole = run->whole;
    const ns_system *system = whole->system;
    if (run->options.mode)
        return run->options.mode - 1;
    if (!whole->mode || system->start.mode || !system->start.ways.n)
        return whole->mode ? ns_system_given_mode(system) : 0;
    return choose(run, system->start.ways.at, system->start.ways.n, whole->jumps->start_need,
                  run->options.t0, x, run->s.x_lo);
}

/* ---- one jump ---------------------------------------------------------------------------- */

static double place_of(double t)
{
    return DBL_EPSILON * fabs(t);
}

/* y += d f(y) in a mode. */
static void shift(ns_run *run, uint64_t mode, double t, double d)
{
    if (d == 0)
        return;
    eval(run, in_mode(run, mode)->rhs, t, 0, run->after, run->after_lo, run->jump_f,
         run->jump_f_lo);
    for (uint32_t i = 0; i < run->s.n; i++) {
        const double change = d * run->jump_f[i];
        if (isfinite(change))
            ns_add_compensated(&run->after[i], &run->after_lo[i], change,
                               run->s.method->precise
                                   ? fma(d, run->jump_f[i], -change) + d * run->jump_f_lo[i]
                                   : 0);
    }
}

/* How far the zero of the event is from t, where it was found inside a step. */
static double distance(ns_run *run, uint32_t event, double t)
{
    const double limit = PLACES * place_of(t) + 1e-9 * fabs(t - run->s.now.from);
    gates(run, run->stretch.next, t, run->after, run->after_lo);
    const double *g = run->jump_gates + 3 * (size_t)run->whole->jumps->of[event].gate;
    const double d = -g[0] / g[1];
    return fabs(d) <= limit ? d : 0;
}

static ns_status no_way(ns_run *run, uint32_t event, double t)
{
    const ns_event *e = &run->whole->system->events.at[event];
    return ns_run_stop(run, NS_STOP_EVENT,
                       "event %s at t = %.10g: no mode fits what follows%s%s", e->name, t,
                       e->meaning ? ": " : "", e->meaning ? e->meaning : "");
}

typedef struct change {
    const ns_reset *resets;
    const ns_way *ways;
    uint32_t n_resets, n_ways, reset, need;
    bool (*call)(const ns_system *s, uint32_t event, double t, const double *p, double *x);
} change;

/* Changes run->after and stretch.next. */
static ns_status make(ns_run *run, uint32_t event, double t, double d, const change *c)
{
    ns_stretch *stretch = &run->stretch;
    const ns_problem *in = in_mode(run, stretch->next);
    shift(run, stretch->next, t, d);
    if (c->n_resets)
        eval(run, in->jumps->resets, t, d, run->after, run->after_lo, run->jump_out,
             run->jump_out_lo);
    for (uint32_t i = 0; i < c->n_resets; i++) {
        run->after[c->resets[i].state] = run->jump_out[c->reset + i];
        run->after_lo[c->resets[i].state] = run->jump_out_lo[c->reset + i];
    }
    bool good = true;
    if (c->call && run->s.method->precise)
        return ns_run_stop(run, NS_STOP_EVENT,
                           "event %s at t = %.10g: its jump is known in double precision only",
                           in->system->events.at[event].name, t);
    if (c->call) {
        good = c->call(in->system, event, t, run->s.p, run->after);
        memset(run->after_lo, 0, run->s.n * sizeof *run->after_lo);
    }
    if (!good)
        return no_way(run, event, t);
    if (!ns_stepper_finite(run->after, run->s.n))
        return ns_run_stop(run, NS_STOP_EVENT,
                           "event %s at t = %.10g: the state after it is not finite",
                           in->system->events.at[event].name, t);
    const uint32_t next = c->n_ways ? choose(run, c->ways, c->n_ways, c->need, t, run->after,
                                             run->after_lo)
                                    : (uint32_t)stretch->next;
    if (next == UINT32_MAX)
        return no_way(run, event, t);
    stretch->next = next;
    shift(run, next, t, -d);
    return NS_OK;
}

/* The jump of an occurrence of an event, the last in the list. */
static ns_status jump(ns_run *run, double d)
{
    ns_occurrence *one = &run->events[run->n_events - 1];
    const ns_jump *j = run->whole->system->events.at[one->event].jump;
    const ns_jump_places *of = &run->whole->jumps->of[one->event];
    const change c = {.resets = j->resets.at,
                      .n_resets = j->resets.n,
                      .reset = of->reset,
                      .ways = j->ways.at,
                      .n_ways = j->ways.n,
                      .need = of->need,
                      .call = j->call};
    one->before = (uint32_t)run->stretch.next;
    const ns_status status = make(run, one->event, one->t, d, &c);
    one->after = (uint32_t)run->stretch.next;
    return status;
}

/* Is an event that was found with another one, just before, still to happen? */
static bool still_due(ns_run *run, const ns_occurrence *one, double before)
{
    const ns_problem *in = in_mode(run, run->stretch.next);
    if (in->system->events.at[one->event].off)
        return false;
    gates(run, run->stretch.next, one->t, run->after, run->after_lo);
    const double *at = run->jump_gates + 3 * (size_t)in->jumps->of[one->event].gate;
    const double g = at[0], rate = at[1];
    return rate * one->direction > 0 &&
           fabs(g) <= PLACES * place_of(one->t) * ns_max(fabs(rate), fabs(before));
}

static double rate_before(ns_run *run, const ns_occurrence *one)
{
    gates(run, run->stretch.mode, one->t, run->s.x, run->s.x_lo);
    return run->jump_gates[3 * (size_t)run->whole->jumps->of[one->event].gate + 1];
}

/* Endless jumps end here. */
static ns_status judge(ns_run *run, uint32_t event)
{
    ns_stretch *stretch = &run->stretch;
    const double t = run->s.now.t;
    const char *name = run->whole->system->events.at[event].name;
    stretch->at_once = t == stretch->last_t ? stretch->at_once + 1 : 1;
    stretch->last_t = t;
    if (stretch->at_once > MOST_AT_ONCE)
        return ns_run_stop(run, NS_STOP_LIMIT,
                           "event %s at t = %.10g: %d jumps at one time, one after the other",
                           name, t, MOST_AT_ONCE);
    if (++stretch->jumps - stretch->mark_jumps < WINDOW)
        return NS_OK;
    const double since = fabs(t - stretch->mark_t), all = fabs(t - run->options.t0);
    if (since < PROGRESS * all)
        return ns_run_stop(run, NS_STOP_LIMIT,
                           "event %s at t = %.10g: the last %d jumps took a time of %.2g only, "
                           "and no law is seen by which they accumulate",
                           name, t, WINDOW, since);
    stretch->mark_jumps = stretch->jumps;
    stretch->mark_t = t;
    return NS_OK;
}

ns_status ns_jump_make(ns_run *run, const ns_occurrence *others, uint32_t n)
{
    enum { MOST = 16 };
    ns_stepper *s = &run->s;
    ns_stretch *stretch = &run->stretch;
    const ns_occurrence first = run->events[run->n_events - 1];
    const ns_event *events = run->whole->system->events.at;
    ns_occurrence also[MOST];
    double rate[MOST];
    uint32_t n_also = 0;
    for (uint32_t i = 0; i < n && n_also < MOST; i++)
        if (others[i].event != first.event && events[others[i].event].jump &&
            fabs(others[i].t - first.t) <= PLACES * place_of(first.t))
            also[n_also++] = others[i];
    for (uint32_t i = 0; i < n_also; i++)
        rate[i] = rate_before(run, &also[i]);
    memcpy(run->after, s->x, s->n * sizeof(double));
    memcpy(run->after_lo, s->x_lo, s->n * sizeof(double));
    stretch->next = stretch->mode;
    const bool inside = s->now.t != s->now.from;
    const double d = inside ? distance(run, first.event, first.t) : 0;
    ns_status status = jump(run, d);
    if (status == NS_OK)
        status = judge(run, first.event);
    for (uint32_t i = 0; i < n_also && status == NS_OK; i++) {
        also[i].t = first.t;
        if (!still_due(run, &also[i], rate[i]))
            continue;
        if (!ns_events_record(run, also[i].event, also[i].direction, first.t, run->after))
            return ns_run_stop(run, NS_ERR_MEMORY, "out of memory for events");
        status = jump(run, 0);
        run->jump_last[also[i].event] = first.t;
        run->jump_gap[also[i].event] = run->jump_widest[also[i].event] = 0;
    }
    if (status != NS_OK)
        return status;
    stretch->fired = first.event + 1;
    stretch->pending = NS_PENDING_JUMP;
    if (events[first.event].internal) {
        run->jump_last[first.event] = first.t;
        run->n_events -= run->events[run->n_events - 1].event == first.event; /* not told */
    } else if (ns_accumulate_find(run, first.event)) {
        stretch->pending = NS_PENDING_BRIDGE;
    }
    return NS_OK;
}

/* ---- going on ---------------------------------------------------------------------------- */

void ns_jump_begun(ns_run *run)
{
    const ns_problem *in = run->s.problem;
    const double t = run->s.now.t;
    if (!in->jumps)
        return;
    gates(run, run->stretch.mode, t, run->s.x, run->s.x_lo);
    double cap = INFINITY;
    for (uint32_t i = 0; i < in->system->events.n; i++) {
        const double *g = run->jump_gates + 3 * (size_t)in->jumps->of[i].gate;
        const ns_event *event = &in->system->events.at[i];
        /* it fired here, or it leaves its zero to the side from which it will come */
        const bool begins = run->jump_last[i] == t || g[1] * event->direction < 0;
        const bool zero = fabs(g[0]) <= PLACES * place_of(t) * fabs(g[1]);
        if (!event->jump || event->off)
            continue;
        /* in quadruple precision one that comes so soon takes long to find in a long step */
        if (run->s.method->precise && !zero && g[0] * g[1] < 0 &&
            fabs(g[0]) < SOON * run->s.now.h * fabs(g[1]))
            cap = ns_min(cap, 4 * fabs(g[0] / g[1]));
        if (!begins || !zero)
            continue;
        run->event_first[i] = run->event_value[i] = 0;
        if (g[1] * g[2] < 0) /* it comes back after about 2 g'/g'': not to be run over */
            cap = ns_min(cap, 0.5 * fabs(g[1] / g[2]));
    }
    if (cap < INFINITY && run->s.fixed_step <= 0)
        run->s.cap = cap;
}

/* The step over accumulating jumps, and what comes after. */
static ns_status bridge(ns_run *run)
{
    ns_stepper *s = &run->s;
    ns_stretch *stretch = &run->stretch;
    const uint32_t event = (uint32_t)stretch->fired - 1;
    const ns_event *e = &run->whole->system->events.at[event];
    const bool all = stretch->until <= s->until;
    memcpy(s->x0, run->after, s->n * sizeof *s->x);
    memcpy(s->x0_lo, run->after_lo, s->n * sizeof *s->x);
    stretch->bridged = 1;
    s->now.from = s->now.t;
    s->now.t = stretch->until;
    memcpy(s->x, run->beyond, s->n * sizeof *s->x);
    memcpy(s->x_lo, run->beyond_lo, s->n * sizeof *s->x);
    s->now.steps++;
    stretch->pending = NS_PENDING_NONE;
    if (!all) {
        ns_accumulate_state(run, s->until, run->after, run->after_lo);
        memcpy(s->x, run->after, s->n * sizeof *s->x);
        memcpy(s->x_lo, run->after_lo, s->n * sizeof *s->x);
        s->now.t = s->until;
        return NS_OK;
    }
    const ns_occurrence last = run->events[run->n_events - 1];
    if (!ns_events_record(run, event, last.direction, s->now.t, s->x))
        return ns_run_stop(run, NS_ERR_MEMORY, "out of memory for events");
    ns_occurrence *one = &run->events[run->n_events - 1];
    one->rest = true;
    one->before = one->after = (uint32_t)stretch->next;
    const ns_jump *j = e->jump;
    if (!j->rest.n && !j->rest_resets.n)
        return ns_run_stop(
            run, NS_STOP_EVENT,
            "the jumps of event %s accumulate at t = %.16g, each following after "
            "%.6g of the time before it; what comes then the model does not say",
            e->name, s->now.t, stretch->ratio);
    const ns_jump_places *of = &run->whole->jumps->of[event];
    const change c = {.resets = j->rest_resets.at,
                      .n_resets = j->rest_resets.n,
                      .reset = of->rest_reset,
                      .ways = j->rest.at,
                      .n_ways = j->rest.n,
                      .need = of->rest_need};
    memcpy(run->after, s->x, s->n * sizeof *s->x);
    memcpy(run->after_lo, s->x_lo, s->n * sizeof *s->x);
    const ns_status status = make(run, event, s->now.t, 0, &c);
    one->after = (uint32_t)stretch->next;
    run->jump_last[event] = s->now.t;
    run->jump_gap[event] = run->jump_widest[event] = 0;
    stretch->last_t = s->now.t;
    stretch->pending = NS_PENDING_JUMP;
    return status;
}

ns_status ns_jump_take(ns_run *run, bool *step)
{
    ns_stepper *s = &run->s;
    ns_stretch *stretch = &run->stretch;
    *step = stretch->pending == NS_PENDING_BRIDGE;
    if (!run->no_tally)
        ns_tally_leave(run);
    if (*step) {
        const ns_status status = bridge(run);
        if (!run->no_tally)
            ns_tally_enter(run);
        return status;
    }
    memcpy(s->x, run->after, s->n * sizeof *s->x);
    memcpy(s->x_lo, run->after_lo, s->n * sizeof *s->x);
    stretch->pending = NS_PENDING_NONE;
    stretch->bridged = 0;
    return ns_run_enter(run, (uint32_t)stretch->next);
}
