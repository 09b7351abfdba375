/* The driver: one integration from beginning to end.
 *
 * After each accepted step of the method:  projection onto the manifold, events (which may cut
 * the step short), diagnostics.  All memory is one block, laid out by `layout`. */
#define _GNU_SOURCE
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/math/vecmath.h"
#include "mech/common/rank.h"
#include "ode/auto.h"
#include "ode/drive/bump.h"
#include "ode/drive/drive.h"
#include "ode/pinv.h"
#include "ode/quad/quad_internal.h"
#include "ode/run_internal.h"

ns_run_options ns_run_defaults(void)
{
    return (ns_run_options){
        .until = 1, .project = true, .extremes = true, .max_steps = NS_RUN_MOST_STEPS};
}

/* ---- memory ------------------------------------------------------------------------------ */

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Places everything in the block, the kept part first; returns its size in bytes. */
static size_t layout(ns_run *run, void *base)
{
    ns_stepper *s = &run->s;
    const ns_problem *problem = s->problem;
    const ns_system *system = problem->system;
    const size_t n = s->n, m = problem->correction ? 0 : problem->n_manifold;
    const size_t n_obs = system->observables.n, n_ev = system->events.n;
    const size_t n_look = ns_program_nout(problem->events);
    const size_t n_inv = system->invariants.n, n_con = system->constraints.n;
    const size_t n_push = system->pushes.n;
    ns_layout l = {.base = base};
    ns_layout own = {0}, own_scratch = {0}; /* of the method */

    run->kept = base;
    s->x = ns_layout_doubles(&l, n);
    s->x_lo = ns_layout_doubles(&l, n);
    s->x0 = ns_layout_doubles(&l, n);
    s->x0_lo = ns_layout_doubles(&l, n);
    s->size = ns_layout_doubles(&l, n);
    s->noise = ns_layout_doubles(&l, n);
    s->rough = ns_layout_doubles(&l, n);
    s->method->layout(s, &own, &own_scratch); /* counts */
    own.base = ns_layout_take(&l, own.used, 1);
    run->residual = ns_layout_doubles(&l, n_con);
    run->invariant_first = ns_layout_doubles(&l, n_inv);
    run->invariant_off = ns_layout_doubles(&l, n_inv);
    run->invariant_scale = ns_layout_doubles(&l, n_inv);
    run->push_least = ns_layout_doubles(&l, n_push);
    run->push_since = ns_layout_doubles(&l, n_push);
    run->observable_min = ns_layout_doubles(&l, n_obs);
    run->observable_max = ns_layout_doubles(&l, n_obs);
    run->event_value = ns_layout_doubles(&l, n_ev);
    run->event_sign = ns_layout_doubles(&l, n_ev);
    run->event_first = ns_layout_doubles(&l, n_ev);
    run->batch_t = ns_layout_doubles(&l, 8);
    run->batch_x = ns_layout_doubles(&l, 8 * n);
    run->drive_kept = ns_layout_doubles(&l, ns_drive_kept(problem));
    run->bump_kept = ns_layout_doubles(&l, ns_bump_kept(problem));
    run->n_kept = l.used / sizeof(double);

    s->change = ns_layout_doubles(&l, n);
    s->other = ns_layout_doubles(&l, n);
    s->rest = ns_layout_doubles(&l, n);
    own_scratch.base = ns_layout_take(&l, own_scratch.used, 1);
    own.used = own_scratch.used = 0;
    s->method->layout(s, &own, &own_scratch);
    run->drive = ns_drive_layout(s, &l);
    run->bump = ns_bump_layout(problem, &l);
    s->p = ns_layout_doubles(&l, problem->np);
    s->p8 = ns_layout_doubles(&l, 8 * (size_t)problem->np);
    s->p_lo = ns_layout_doubles(&l, problem->np);
    run->work_rhs = ns_layout_doubles(&l, ns_program_work1(problem->rhs));
    run->work_observe = ns_layout_doubles(&l, ns_program_work1(problem->observables));
    run->work_events = ns_layout_doubles(&l, ns_program_work1(problem->events));
    if (!problem->correction)
        run->work_manifold = ns_layout_doubles(&l, ns_program_work1(problem->manifold));
    run->work8_observe = ns_layout_doubles(&l, ns_program_work8(problem->observables));
    run->work8_events = ns_layout_doubles(&l, ns_program_work8(problem->events));
    run->work8_residuals = ns_layout_doubles(&l, ns_program_work8(problem->residuals));
    run->work8_monitor = ns_layout_doubles(&l, ns_program_work8(problem->monitor));
    if (problem->pushes)
        run->work8_pushes = ns_layout_doubles(&l, ns_program_work8(problem->pushes));
    run->out8 = ns_layout_doubles(
        &l, 8 * most(most(n_obs, n_con), most(n_look, 2 + 2 * n_inv + n_push)));
    run->time8 = ns_layout_doubles(&l, 8);
    run->x8 = ns_layout_doubles(&l, 8 * n);
    s->work8 = ns_layout_doubles(&l, ns_program_work8(problem->rhs));
    s->t8 = run->time8;
    s->x8 = run->x8;
    s->f8 = ns_layout_doubles(&l, 8 * n);
    run->manifold = ns_layout_doubles(&l, m * (n + 2));
    run->basis = ns_layout_doubles(&l, m * n);
    run->metric = ns_layout_doubles(&l, n);
    run->triangle = ns_layout_doubles(&l, m * m + 3 * m);
    run->x_try = ns_layout_doubles(&l, 2 * ns_round8(n));
    run->zero = ns_layout_doubles(&l, n);
    run->f = ns_layout_doubles(&l, n);
    run->drift = ns_layout_doubles(&l, n_inv);
    run->events_now = ns_layout_doubles(&l, n_look);
    run->events_begin = ns_layout_doubles(&l, n_look);
    run->events_end = ns_layout_doubles(&l, n_look);
    run->events8 = ns_layout_doubles(&l, 8 * n_look);
    run->ends8 = ns_layout_doubles(&l, problem->probes->kinks ? 8 * n_look : 0);
    run->wild = ns_layout_take(&l, problem->probes->words, sizeof(uint64_t));
    run->x_event = ns_layout_doubles(&l, n);
    if (problem->correction) {
        const size_t n_shift = problem->n_shift;
        run->work_shift = ns_layout_doubles(&l, ns_program_work1(problem->shift));
        run->work_correction = ns_layout_doubles(&l, ns_program_work1(problem->correction));
        run->shift = ns_layout_doubles(&l, ns_program_nout(problem->shift));
        run->shift_inputs = ns_layout_doubles(&l, n + n_shift);
    }
    if (problem->pinv)
        s->pinv = ns_pinv_layout(problem, &l);
    if (system->watch) {
        const ns_rank_watch *watch = system->watch;
        run->work_ranks = ns_layout_doubles(&l, ns_program_work1(problem->ranks));
        run->rank_values = ns_layout_doubles(&l, most(watch->entries.n, watch->n));
        run->rank_matrix = ns_layout_doubles(&l, ns_rank_room(watch));
    }
    return l.used;
}

static void bind(ns_run *run)
{
    const ns_problem *problem = run->s.problem;
    const double *p = run->s.p, *p8 = run->s.p8;
    ns_program_bind1(problem->rhs, run->work_rhs, p);
    ns_program_bind8(problem->rhs, run->s.work8, p8);
    ns_program_bind1(problem->observables, run->work_observe, p);
    ns_program_bind1(run->look, run->work_events, p);
    if (!problem->correction)
        ns_program_bind1(problem->manifold, run->work_manifold, p);
    if (problem->correction) {
        ns_program_bind1(problem->shift, run->work_shift, p);
        ns_program_bind1(problem->correction, run->work_correction, p);
    }
    if (problem->pinv)
        ns_pinv_bind(problem, run->s.pinv, p, p8);
    if (problem->ranks)
        ns_program_bind1(problem->ranks, run->work_ranks, p);
    ns_program_bind8(run->look, run->work8_events, p8);
    if (run->no_tally)
        return;
    ns_program_bind8(problem->observables, run->work8_observe, p8);
    ns_program_bind8(problem->residuals, run->work8_residuals, p8);
    ns_program_bind8(problem->monitor, run->work8_monitor, p8);
    if (problem->pushes)
        ns_program_bind8(problem->pushes, run->work8_pushes, p8);
}

/* NULL if the request makes sense, otherwise what is wrong with it. */
static const char *check(const ns_problem *problem, const ns_run_options *o,
                         const ns_method *method)
{
    if (!method)
        return ns_auto_asked(o) ? "auto chooses for one motion: name a method here"
                                : "unknown method";
    if (method->needs_jacobian && !problem->jacobian)
        return "this method needs the Jacobian of the system";
    if (method->precise && problem->pinv)
        return "`solve pinv` works in double precision only: use another `solve`";
    if (method->precise && !problem->tangent)
        return "quadruple precision is for runs: another method has to do here";
    if (method->needs_series && problem->pinv)
        return "`solve pinv` has no Taylor series: use another method, or another `solve`";
    if (!isfinite(o->t0) || isnan(o->until))
        return "the times of the run are not finite";
    if (!(o->tolerance >= 0) || o->tolerance >= 1)
        return "the tolerance must lie between 0 and 1";
    if (!(o->least_size >= 0) || isinf(o->least_size))
        return "the least size of states must not be negative";
    if (!(o->first_step >= 0) || !(o->max_step >= 0) || !(o->fixed_step >= 0) ||
        isinf(o->fixed_step))
        return "step sizes must not be negative";
    return NULL;
}

ns_run *ns_run_make(const ns_problem *problem, const ns_run_options *options, ns_status *status,
                    const char **message)
{
    const ns_method *method = ns_method_find(options->method);
    const char *wrong = check(problem, options, method);
    ns_run *run = NULL;
    *status = NS_ERR_USAGE;
    *message = wrong;
    if (wrong)
        return NULL;

    *status = NS_ERR_MEMORY;
    *message = "out of memory";
    run = calloc(1, sizeof *run + method->view);
    if (!run)
        return NULL;
    ns_stepper *s = &run->s;
    s->view = run + 1;
    run->options = *options;
    const bool stops = options->only_stops && options->last_count == 0;
    run->look = stops ? problem->stops : problem->events;
    s->problem = problem;
    s->method = method;
    s->n = problem->n;
    s->until = options->until;
    s->sense = options->until < options->t0 ? -1 : 1;
    s->tolerance = options->tolerance > 0 ? ns_max(options->tolerance, method->least_tolerance)
                                          : method->default_tolerance;
    s->least_size = options->least_size;
    s->first_step = options->first_step;
    s->max_step = options->max_step;
    s->fixed_step = options->fixed_step;
    run->n_block = layout(run, NULL) + NS_LAYOUT_ALIGNMENT; /* never empty */
    run->block = aligned_alloc(NS_LAYOUT_ALIGNMENT, run->n_block);
    if (!run->block) {
        free(run);
        return NULL;
    }
    layout(run, run->block);
    *status = NS_OK;
    *message = "";
    return run;
}

/* At a switch of the rates in time: to its other side, a few units in the last place of the
 * time, with the rates of either side.  True if there was one: the method is to begin anew. */
static bool cross_switch(ns_run *run)
{
    ns_stepper *s = &run->s;
    double at, beyond;
    if (!ns_drive_switch(s, &at, &beyond))
        return false;
    const double times[] = {s->now.t, at, beyond};
    for (int side = 0; side < 2; side++) {
        const double h = times[side + 1] - times[side];
        ns_stepper_rhs(s, run->work_rhs, times[2 * side], s->x, run->f);
        for (uint32_t i = 0; i < s->n; i++)
            if (isfinite(run->f[i]))
                ns_add_compensated(&s->x[i], &s->x_lo[i], h * run->f[i], 0);
    }
    s->now.t = s->now.from = beyond;
    memcpy(s->x0, s->x, s->n * sizeof *s->x);
    memcpy(s->x0_lo, s->x_lo, s->n * sizeof *s->x);
    return true;
}

ns_status ns_run_start(ns_run *run, const double *p, const double *x0, const char **message)
{
    ns_stepper *s = &run->s;
    const uint32_t np = s->problem->np;
    *message = "the initial state is not finite";
    if (!ns_stepper_finite(x0, s->n))
        return NS_ERR_USAGE;
    memset(run->block, 0, run->n_block);
    double *own_p = (double *)s->p, *own_p8 = (double *)s->p8; /* filled once, here */
    double *own_lo = (double *)s->p_lo;
    for (uint32_t i = 0; i < np; i++) {
        own_p[i] = p[i];
        own_lo[i] = run->options.p_lo ? run->options.p_lo[i] : 0;
        for (uint32_t lane = 0; lane < 8; lane++)
            own_p8[8 * i + lane] = p[i];
    }
    bind(run);
    run->status = NS_OK;
    run->reason[0] = 0;
    run->n_events = 0;
    run->n_last = 0;
    s->why = NS_WHY_NONE;
    const double t0 = run->options.t0;
    s->now = (ns_counters){.t = t0, .from = t0, .mark_t = t0};
    memcpy(s->x, x0, s->n * sizeof(double));
    const double *x0_lo = s->method->precise ? run->options.x0_lo : NULL;
    for (uint32_t i = 0; i < s->n && x0_lo; i++)
        ns_add_compensated(&s->x[i], &s->x_lo[i], x0_lo[i], 0);
    memcpy(s->x0, s->x, s->n * sizeof(double));
    memcpy(s->x0_lo, s->x_lo, s->n * sizeof(double));
    ns_stepper_resize(s);
    s->rough_share = 1;
    ns_stepper_measure_noise(s);
    ns_project_begin(run);
    ns_drive_begin(s, run->drive_kept, run->drive);
    cross_switch(run);
    ns_bump_begin(run);
    s->why_begin = "the method could not begin";
    const ns_status status = s->method->begin(s);
    *message = s->why_begin;
    if (status != NS_OK)
        return status;
    if (!run->no_tally)
        ns_tally_begin(run);
    ns_events_begin(run);
    ns_rank_begin(run);
    *message = "";
    return NS_OK;
}

ns_run *ns_run_new(const ns_problem *problem, const ns_run_options *options, const double *p,
                   const double *x0, ns_status *status, const char **message)
{
    ns_run_options chosen = *options;
    if (ns_auto_asked(options)) {
        ns_choice choice;
        *status = NS_ERR_USAGE;
        *message = ns_auto_refusal(options);
        if (*message)
            return NULL;
        ns_auto_choose(problem, options, p, x0, &choice);
        chosen.method = choice.method->name;
    }
    ns_run *run = ns_run_make(problem, &chosen, status, message);
    if (run)
        *status = ns_run_start(run, p, x0, message);
    if (*status == NS_OK)
        return run;
    ns_run_free(run);
    return NULL;
}

void ns_run_free(ns_run *run)
{
    if (!run)
        return;
    if (run->s.method->end)
        run->s.method->end(&run->s);
    free(run->events);
    free(run->event_states);
    free(run->enclosure.memory);
    free(run->block);
    free(run);
}

/* ---- stopping ---------------------------------------------------------------------------- */

ns_status ns_run_stop(ns_run *run, ns_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(run->reason, sizeof run->reason, format, list);
    va_end(list);
    run->status = status;
    return status;
}

/* Adds to the reason: " NAME = value" for up to six states, or their rates. */
static void append(ns_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(ns_run *run, const char *format, ...)
{
    const size_t used = strlen(run->reason);
    va_list list;
    va_start(list, format);
    vsnprintf(run->reason + used, sizeof run->reason - used, format, list);
    va_end(list);
}

static void append_states(ns_run *run)
{
    const ns_system *system = run->s.problem->system;
    enum { SHOWN = 8 };
    append(run, "; state there:");
    for (uint32_t i = 0; i < run->s.n && i < SHOWN; i++)
        append(run, "%s %s = %.6g", i ? "," : "", system->states.at[i].name, run->s.x[i]);
    if (run->s.n > SHOWN)
        append(run, ", ...");
}

/* The state that changes most for its size, at the rates run->f. */
static void append_fastest(ns_run *run)
{
    const ns_stepper *s = &run->s;
    uint32_t fastest = 0;
    for (uint32_t i = 1; i < s->n; i++)
        if (fabs(run->f[i]) * s->size[fastest] > fabs(run->f[fastest]) * s->size[i])
            fastest = i;
    if (s->n)
        append(run, "; fastest there: %s' = %.6g", s->problem->system->states.at[fastest].name,
               run->f[fastest]);
}

/* Is a quantity that marks a singularity about to vanish?  No step reaches the zero itself
 * where the rates grow without bound on the way. */
static const ns_event *near_singular(ns_run *run)
{
    static const double close = 1e-3; /* of its value at the start */
    ns_stepper *s = &run->s;
    const ns_system *system = s->problem->system;
    ns_program_eval1(run->look, run->work_events, s->now.t, s->x, run->events_now);
    for (uint32_t i = 0; i < system->events.n; i++)
        if (system->events.at[i].action == NS_EVENT_SINGULAR &&
            fabs(run->events_now[i]) < close * fabs(run->event_first[i]))
            return &system->events.at[i];
    return NULL;
}

/* Puts in words why the method could not make a step. */
ns_status ns_run_explain(ns_run *run, ns_status status)
{
    ns_stepper *s = &run->s;
    const ns_system *system = s->problem->system;
    double *f = run->f;
    const ns_event *cause = near_singular(run);
    if (cause) {
        ns_run_stop(run, NS_STOP_SINGULAR, "%s near t = %.10g",
                    cause->meaning ? cause->meaning : cause->name, s->now.t);
        append_states(run);
        return NS_STOP_SINGULAR;
    }
    if (ns_rank_explain(run))
        return run->status;
    ns_program_eval1(s->problem->rhs, run->work_rhs, s->now.t, s->x, f);
    const bool here = !ns_stepper_finite(f, s->n);
    if (s->why == NS_WHY_OTHER)
        return ns_run_stop(run, status, "%s at t = %.10g", s->why_text, s->now.t);
    if (here) {
        ns_run_stop(run, status, "the right-hand side is not finite at t = %.10g%s:", s->now.t,
                    s->now.steps ? "" : ", the start");
        for (uint32_t i = 0, shown = 0; i < s->n && shown < 3; i++)
            if (!isfinite(f[i]))
                append(run, "%s %s' = %g", shown++ ? "," : "", system->states.at[i].name, f[i]);
    } else if (s->why == NS_WHY_NOT_FINITE)
        ns_run_stop(run, status, "the right-hand side is not finite just after t = %.10g",
                    s->now.t);
    else {
        if (s->why == NS_WHY_STALLED)
            ns_run_stop(
                run, status, "no progress near t = %.10g: the last of %llu steps are %.2g long",
                s->now.t, (unsigned long long)s->now.steps, fabs(s->now.t - s->now.from));
        else
            ns_run_stop(run, status,
                        "the step size fell below what the arithmetic resolves near t = "
                        "%.10g%s",
                        s->now.t,
                        s->why == NS_WHY_ITERATION ? " (the stages do not converge)" : "");
        append_fastest(run);
    }
    append_states(run);
    return status;
}

/* The method forgets the steps before. */
static ns_status begin_anew(ns_stepper *s)
{
    s->now.moved = true;
    if (!s->method->resume)
        return s->method->begin(s);
    s->method->resume(s);
    return NS_OK;
}

ns_status ns_run_cross(ns_run *run)
{
    ns_stepper *s = &run->s;
    if (!s->drive || !cross_switch(run))
        return NS_OK;
    return begin_anew(s);
}

/* Back to the beginning of the last step. */
static ns_status undo_step(ns_stepper *s)
{
    memcpy(s->x, s->x0, s->n * sizeof *s->x);
    memcpy(s->x_lo, s->x0_lo, s->n * sizeof *s->x);
    s->now.t = s->now.from;
    s->now.steps--;
    s->now.rejected++;
    return begin_anew(s);
}

/* A step of the method, again and shorter while something narrow was run over.  What is not
 * seen in a very short step either is left alone: enclosures do not tell all. */
static ns_status make_step(ns_run *run)
{
    static const double very_short = 1e-9;
    ns_stepper *s = &run->s;
    ns_status status = s->method->step(s);
    if (!s->problem->bumps || s->fixed_step > 0)
        return status;
    const double whole = fabs(s->now.t - s->now.from);
    double part;
    while (status == NS_OK && s->cap != whole && !ns_bump_seen(run, &part)) {
        s->cap = fabs(s->now.t - s->now.from) * ns_smaller(ns_larger(part, 0.1), 0.5);
        if (s->cap < very_short * whole)
            s->cap = whole;
        status = undo_step(s);
        if (status == NS_OK)
            status = s->method->step(s);
    }
    s->cap = 0;
    return status;
}

ns_status ns_run_interrupt(ns_run *run)
{
    return ns_run_stop(run, NS_STOP_INTERRUPT,
                       *run->options.interrupt == NS_INTERRUPT_TIME
                           ? "the limit of time was reached at t = %.10g"
                           : "interrupted at t = %.10g",
                       run->s.now.t);
}

ns_status ns_run_judge(ns_run *run)
{
    ns_stepper *s = &run->s;
    const uint64_t most = run->options.max_steps;
    if (s->fixed_step <= 0 && ns_stepper_stalled(&s->now, run->options.t0, s->until)) {
        s->why = NS_WHY_STALLED;
        return ns_run_explain(run, NS_STOP_STEP);
    }
    if (!most || s->now.steps < most)
        return NS_OK;
    ns_run_stop(run, NS_STOP_LIMIT,
                "the limit of %llu steps was reached at t = %.10g, the last %.2g long",
                (unsigned long long)most, s->now.t, fabs(s->now.t - s->now.from));
    ns_program_eval1(s->problem->rhs, run->work_rhs, s->now.t, s->x, run->f);
    append_fastest(run);
    return NS_STOP_LIMIT;
}

/* ---- stepping ---------------------------------------------------------------------------- */

ns_status ns_run_step(ns_run *run)
{
    ns_stepper *s = &run->s;
    if (run->status != NS_OK || s->now.t == s->until)
        return run->status;
    if (run->options.interrupt && *run->options.interrupt)
        return ns_run_interrupt(run);
    ns_status status = ns_run_judge(run);
    if (status != NS_OK)
        return status;
    status = ns_run_cross(run);
    if (status == NS_OK && s->now.t == s->until) /* a switch at the end: no step is left */
        return NS_OK;
    if (status == NS_OK)
        status = make_step(run);
    if (status != NS_OK)
        return ns_run_explain(run, status);
    s->now.moved = run->options.project && ns_project(run, s->now.t, s->x, s->x_lo);
    ns_status stop = ns_events_scan(run);
    if (stop == NS_OK)
        stop = ns_rank_step(run);
    if (!run->no_tally)
        ns_tally_add(run);
    return stop;
}

ns_status ns_run_to(ns_run *run, double t)
{
    const double sense = run->s.sense;
    while (run->status == NS_OK && run->s.now.t != run->s.until &&
           sense * (t - run->s.now.t) > 0)
        ns_run_step(run);
    return run->status;
}

double ns_run_time(const ns_run *run)
{
    return run->s.now.t;
}

double ns_run_last_time(const ns_run *run)
{
    return run->s.now.from;
}

const double *ns_run_state(const ns_run *run)
{
    return run->s.x;
}

void ns_run_dense(ns_run *run, double t, double *x)
{
    ns_stepper *s = &run->s;
    const size_t bytes = s->n * sizeof(double);
    if (t == s->now.t || s->now.from == s->now.t) {
        memcpy(x, s->x, bytes);
        return;
    }
    if (s->sense * (t - s->now.from) <= 0) { /* a switch is crossed between steps */
        memcpy(x, s->x0, bytes);
        return;
    }
    s->method->state_at(s, t, x);
    if (run->options.project && !s->method->precise)
        ns_project(run, t, x, NULL);
}

void ns_run_state_at(ns_run *run, double t, double *x)
{
    ns_run_dense(run, t, x);
}

uint32_t ns_run_operations(const ns_run *run)
{
    return ns_program_operations(run->s.problem->rhs, NULL);
}

const double *ns_run_noise(const ns_run *run)
{
    return run->s.noise;
}

bool ns_run_observe_precise(ns_run *run, double t, double *values, double *low)
{
    if (!run->s.method->precise)
        return false;
    ns_quad_observe(run, t, values, low);
    return true;
}

void ns_run_observe(ns_run *run, double t, const double *x, double *values)
{
    ns_program_eval1(run->s.problem->observables, run->work_observe, t, x, values);
}

const ns_outcome *ns_run_outcome(ns_run *run)
{
    ns_tally_flush(run);
    const ns_system *system = run->s.problem->system;
    const ns_tally *tally = &run->tally;
    const double scale = ns_max(fabs(tally->energy_first), tally->kinetic_most);
    for (uint32_t i = 0; i < system->invariants.n; i++) {
        const double size = ns_max(fabs(run->invariant_first[i]), run->invariant_scale[i]);
        run->drift[i] = run->invariant_off[i] == 0 ? 0 : run->invariant_off[i] / size;
    }
    const bool energy = system->energy != 0;
    run->outcome = (ns_outcome){
        .status = run->status,
        .reason = run->reason,
        .t = run->s.now.t,
        .steps = run->s.now.steps,
        .rejected = run->s.now.rejected,
        .evaluations = run->s.now.evaluations,
        .smallest_step = run->s.now.smallest,
        .largest_step = run->s.now.largest,
        .energy_first = energy ? tally->energy_first : (double)NAN,
        .energy_last = energy ? tally->energy_last : (double)NAN,
        .energy_drift = !energy                  ? (double)NAN
                        : tally->energy_off == 0 ? 0
                                                 : tally->energy_off / scale,
        .residual = run->residual,
        .drift = run->drift,
        .first = run->invariant_first,
        .change = run->invariant_off,
        .push_least = run->push_least,
        .push_since = run->push_since,
        .events = run->events,
        .event_states = run->event_states,
        .n_events = run->n_events,
        .rank_rows = system->watch ? system->watch->m : 0,
        .rank_coordinates = system->watch ? system->watch->n : 0,
        .rank_A = {(uint32_t)tally->rank_A[0], (uint32_t)tally->rank_A[1]},
        .rank_all = {(uint32_t)tally->rank_all[0], (uint32_t)tally->rank_all[1]},
        .observable_min = run->observable_min,
        .observable_max = run->observable_max,
    };
    return &run->outcome;
}
