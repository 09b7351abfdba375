/* Why a run stops, in words. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>

#include "ode/run_internal.h"

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
