/* The driver: one integration from beginning to end.
 *
 * After each accepted step of the method:  projection onto the manifold, events (which may cut
 * the step short), diagnostics. */
#define _GNU_SOURCE
#include <float.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/math/vecmath.h"
#include "mech/common/rank.h"
#include "ode/auto.h"
#include "ode/drive/bump.h"
#include "ode/drive/drive.h"
#include "ode/project.h"
#include "ode/quad/quad_internal.h"
#include "ode/run_internal.h"

ns_run_options ns_run_defaults(void)
{
    return (ns_run_options){
        .until = 1, .project = true, .extremes = true, .max_steps = NS_RUN_MOST_STEPS};
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

/* A stretch begins at the present time and state, with the present problem. */
static ns_status begin_stretch(ns_run *run)
{
    ns_stepper *s = &run->s;
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
    return s->method->begin(s);
}

/* The problem of a mode takes the place of the present one. */
static void change_mode(ns_run *run, uint32_t mode)
{
    ns_stepper *s = &run->s;
    run->stretch.mode = mode;
    if (s->problem == ns_problem_in_mode(run->whole, mode))
        return;
    if (s->method->end)
        s->method->end(s);
    s->outside = NULL;
    free(run->enclosure.memory);
    run->enclosure = (ns_enclosure){0};
    s->problem = ns_problem_in_mode(run->whole, mode);
    ns_run_place(run);
}

ns_status ns_run_change(ns_run *run, uint32_t mode)
{
    change_mode(run, mode);
    return begin_stretch(run);
}

/* Brings the state after a jump onto the manifold of its mode; false if more than rounding
 * errors are wrong with it. */
static bool settle(ns_run *run)
{
    static const double much = 1e-6; /* of the largest state */
    ns_stepper *s = &run->s;
    if (!run->options.project)
        return true;
    memcpy(run->x_event, s->x, s->n * sizeof *s->x);
    ns_project(run, s->now.t, s->x, s->x_lo);
    double most = 0, largest = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        most = ns_larger(most, fabs(s->x[i] - run->x_event[i]));
        largest = ns_larger(largest, s->size[i]);
    }
    if (most <= much * largest)
        return true;
    const ns_system *system = s->problem->system;
    uint32_t worst = 0;
    for (uint32_t lane = 0; lane < 8; lane++) {
        run->time8[lane] = s->now.t;
        for (uint32_t i = 0; i < s->n; i++)
            run->x8[8 * i + lane] = run->x_event[i];
    }
    ns_program_bind8(s->problem->residuals, run->work8_residuals, s->p8);
    ns_program_eval8(s->problem->residuals, run->work8_residuals, run->time8, run->x8,
                     run->out8);
    for (uint32_t i = 0; i < system->constraints.n; i++)
        if (fabs(run->out8[8 * i]) > fabs(run->out8[8 * worst]))
            worst = i;
    ns_run_stop(run, NS_STOP_EVENT,
                "event %s at t = %.10g: the state after it does not satisfy `%s`, which is off "
                "by %.6g",
                system->events.at[run->stretch.fired - 1].name, s->now.t,
                system->constraints.at[worst].name, run->out8[8 * worst]);
    return false;
}

ns_status ns_run_enter(ns_run *run, uint32_t mode)
{
    ns_stepper *s = &run->s;
    change_mode(run, mode);
    run->stretch.origin = s->now.steps;
    s->now.from = s->now.t;
    s->now.moved = false;
    memset(s->size, 0, s->n * sizeof *s->size);
    memset(s->noise, 0, s->n * sizeof *s->noise); /* of other rates */
    memset(s->rough, 0, s->n * sizeof *s->rough);
    s->now.noisy = false;
    s->now.probed = s->now.steps;
    ns_project_begin(run);
    ns_stepper_resize(s);
    /* residuals in quadruple precision need the method's memory for this mode */
    if (s->method->precise && !s->outside && s->method->begin(s) != NS_OK)
        return ns_run_stop(run, NS_ERR_MEMORY, "%s after the jump at t = %.10g", s->why_begin,
                           s->now.t);
    if (!settle(run))
        return run->status;
    const ns_status status = begin_stretch(run);
    if (status != NS_OK)
        return ns_run_stop(run, status, "%s after the jump at t = %.10g", s->why_begin,
                           s->now.t);
    if (run->stretch.fired) { /* the next one of its kind must not be lost in a long step */
        const double gap = run->jump_gap[run->stretch.fired - 1];
        if (gap > 0)
            s->now.h = ns_smaller(s->now.h, 4 * gap);
    }
    if (!run->no_tally)
        ns_tally_enter(run);
    ns_events_begin(run);
    ns_jump_begun(run);
    ns_rank_begin(run);
    return NS_OK;
}

ns_status ns_run_start(ns_run *run, const double *p, const double *x0, const char **message)
{
    ns_stepper *s = &run->s;
    const uint32_t np = s->problem->np;
    *message = "the initial state is not finite";
    if (!ns_stepper_finite(x0, s->n))
        return NS_ERR_USAGE;
    NS_CHECK(p || np == 0);
    memset(run->block, 0, run->n_block);
    double *own_p = (double *)s->p, *own_p8 = (double *)s->p8; /* filled once, here */
    double *own_lo = (double *)s->p_lo;
    for (uint32_t i = 0; i < np; i++) {
        own_p[i] = p[i];
        own_lo[i] = run->options.p_lo ? run->options.p_lo[i] : 0;
        for (uint32_t lane = 0; lane < 8; lane++)
            own_p8[8 * i + lane] = p[i];
    }
    run->parameters = ns_hash_bytes(ns_hash_start, s->p, np * sizeof *s->p);
    ns_run_bind(run);
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
    run->stretch = (ns_stretch){.last_t = NAN, .mark_t = t0};
    for (uint32_t i = 0; run->whole->jumps && i < s->problem->system->events.n; i++)
        run->jump_last[i] = NAN;
    if (run->whole->jumps || run->options.mode) {
        const uint32_t mode = ns_jump_first_mode(run, s->x);
        *message = "the start fits none of the modes of the system";
        if (mode == UINT32_MAX)
            return NS_ERR_USAGE;
        change_mode(run, mode);
        run->first_mode = mode;
    }
    const char *wrong = ns_schedule_begin(run);
    if (wrong) {
        *message = wrong;
        return NS_ERR_USAGE;
    }
    const ns_status status = begin_stretch(run);
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
    static const double very_short = 1e-9, least = 0.1, most = 0.5; /* of a step */
    ns_stepper *s = &run->s;
    ns_status status = s->method->step(s);
    if (!s->problem->bumps || s->fixed_step > 0)
        return status;
    const double whole = fabs(s->now.t - s->now.from);
    double part;
    while (status == NS_OK && s->cap != whole && !ns_bump_seen(run, &part)) {
        s->cap = fabs(s->now.t - s->now.from) * ns_smaller(ns_larger(part, least), most);
        if (s->cap < very_short * whole)
            s->cap = whole;
        status = undo_step(s);
        if (status == NS_OK)
            status = s->method->step(s);
    }
    s->cap = 0;
    return status;
}

/* A step, and the events in it. */
static ns_status step_and_look(ns_run *run, ns_status *stop)
{
    ns_stepper *s = &run->s;
    const ns_status status = make_step(run);
    s->cap = 0;
    if (status != NS_OK)
        return status;
    NS_CHECK(s->sense * (s->now.t - s->now.from) > 0 && s->sense * (s->until - s->now.t) >= 0);
    s->now.moved = run->options.project && ns_project(run, s->now.t, s->x, s->x_lo);
    *stop = ns_events_scan(run);
    return NS_OK;
}

/* ---- stepping ---------------------------------------------------------------------------- */

/* At a time where parameters change: the method begins anew with the new ones. */
static ns_status pass_changes(ns_run *run)
{
    ns_stepper *s = &run->s;
    if (ns_schedule_over(run))
        return ns_run_stop(run, NS_STOP_LIMIT, "%s ends at t = %.10g s",
                           run->options.schedule->of, s->now.t);
    const bool begins = run->options.schedule && s->now.steps == 0;
    const bool changed = ns_schedule_pass(run);
    if ((begins || changed) && ns_project_off(run))
        return ns_run_stop(run, NS_STOP_LIMIT,
                           "an input jumps at t = %.10g s, and constraints with it: places or "
                           "velocities would have to jump; give its table a higher order, or "
                           "let it be a force",
                           s->now.t);
    if (!changed)
        return NS_OK;
    ns_drive_begin(s, run->drive_kept, run->drive);
    ns_bump_begin(run);
    ns_events_changed(run);
    return begin_anew(s);
}

ns_status ns_run_step(ns_run *run)
{
    ns_stepper *s = &run->s;
    if (run->status != NS_OK || s->now.t == run->options.until)
        return run->status;
    if (run->options.interrupt && *run->options.interrupt)
        return ns_run_interrupt(run);
    ns_status status = ns_run_judge(run);
    if (status != NS_OK)
        return status;
    if (run->stretch.pending) {
        bool step = false;
        status = ns_jump_take(run, &step);
        if (step || status != NS_OK)
            return status;
    }
    status = pass_changes(run);
    if (run->status != NS_OK)
        return run->status;
    if (status == NS_OK)
        status = ns_run_cross(run);
    if (status == NS_OK && s->now.t == s->until) /* a switch at the end: no step is left */
        return NS_OK;
    ns_status stop = NS_OK;
    if (status == NS_OK)
        status = step_and_look(run, &stop);
    s->cap = 0;
    if (status != NS_OK)
        return ns_run_explain(run, status);
    if (stop == NS_OK)
        stop = ns_rank_step(run);
    if (!run->no_tally)
        ns_tally_add(run);
    return stop;
}

ns_status ns_run_to(ns_run *run, double t)
{
    const double sense = run->s.sense;
    while (run->status == NS_OK && run->s.now.t != run->options.until &&
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

bool ns_run_strays(ns_run *run)
{
    return ns_project_off(run);
}

uint32_t ns_run_mode(const ns_run *run)
{
    return (uint32_t)run->stretch.mode;
}

const double *ns_run_state(const ns_run *run)
{
    return run->s.x;
}

uint32_t ns_run_next(const ns_run *run, double *x)
{
    const bool jumps = run->stretch.pending != NS_PENDING_NONE;
    memcpy(x, jumps ? run->after : run->s.x, run->s.n * sizeof *x);
    return (uint32_t)(jumps ? run->stretch.next : run->stretch.mode);
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
    if (run->stretch.bridged) {
        ns_accumulate_state(run, t, x, NULL);
        return;
    }
    /* never beyond the step, but for the rounding of sums of times */
    NS_CHECK(s->sense * (t - s->now.t) <= 4 * DBL_EPSILON * fabs(s->now.t));
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
        .first_mode = run->first_mode,
        .mode = (uint32_t)run->stretch.mode,
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
