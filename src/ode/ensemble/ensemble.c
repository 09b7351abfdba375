/* Many motions of one problem: dop853 and gauss with eight of them in the lanes of a bundle and
 * two bundles side by side, other methods with one after the other.
 *
 * A lane has a run of its own (run_internal.h), which is given its state where something must
 * be done for one motion alone: at its start, where it may have met an event, where a state
 * inside a step is wanted, when it ends.  All else is done on the bundle. */
#define _GNU_SOURCE
#include "ode/ensemble/ensemble.h"

#include <stdio.h>
#include <stdlib.h>

#include "ode/ensemble/ensemble_internal.h"
#include "ode/ensemble/ensemble_kernel.h"

/* ---- results ----------------------------------------------------------------------------- */

static void fill(const double *values, uint32_t n, double value)
{
    double *at = (double *)values; /* of the run, which is ours */
    for (uint32_t i = 0; i < n; i++)
        at[i] = value;
}

bool ns_ensemble_report(const ns_ensemble_options *options, const ns_ensemble_client *client,
                        ns_run *run, uint64_t id, const double *at)
{
    const ns_system *system = run->s.problem->system;
    if (run->no_tally)
        run->tally.pending = 0;
    ns_outcome outcome = *ns_run_outcome(run);
    if (!options->diagnostics) {
        outcome.energy_first = outcome.energy_last = outcome.energy_drift = NAN;
        fill(outcome.residual, system->constraints.n, NAN);
        fill(outcome.drift, system->invariants.n, NAN);
    }
    if (!options->extremes) {
        fill(outcome.observable_min, system->observables.n, NAN);
        fill(outcome.observable_max, system->observables.n, NAN);
    }
    const ns_ensemble_result result = {.id = id, .outcome = &outcome, .x = run->s.x, .at = at};
    return client->done(client->context, &result);
}

bool ns_ensemble_refuse(const ns_ensemble_options *options, const ns_ensemble_client *client,
                        ns_run *run, ns_status status, const char *message, uint64_t id,
                        const double *x0, double *at)
{
    ns_stepper *s = &run->s;
    memset(run->block, 0, run->n_block);
    memcpy(s->x, x0, s->n * sizeof *x0);
    s->now = (ns_counters){.t = options->run.t0, .from = options->run.t0};
    run->tally = (ns_tally){0};
    run->n_events = 0;
    fill(at, options->n_times * s->n, NAN);
    ns_run_stop(run, status, "%s", message);
    return ns_ensemble_report(options, client, run, id, at);
}

/* ---- one after the other ----------------------------------------------------------------- */

uint32_t ns_ensemble_follow(ns_run *run, const ns_ensemble_options *options, uint32_t time,
                            double *at)
{
    for (; time < options->n_times; time++) {
        ns_run_to(run, options->times[time]);
        if ((options->times[time] - ns_run_time(run)) * run->s.sense > 0)
            return time;
        ns_run_dense(run, options->times[time], at + (size_t)time * run->s.n);
    }
    ns_run_to(run, options->run.until);
    return time;
}

static ns_status one_after_the_other(const ns_problem *problem,
                                     const ns_ensemble_options *options,
                                     const ns_ensemble_client *client, const char **message)
{
    const uint32_t n = problem->n;
    double *room = calloc((size_t)problem->np + (1 + (size_t)options->n_times) * n + 1,
                          sizeof *room);
    if (!room) {
        *message = "out of memory";
        return NS_ERR_MEMORY;
    }
    double *p = room, *x0 = p + problem->np, *at = x0 + n;
    ns_run_options run_options = options->run;
    run_options.only_stops = !options->events;
    run_options.extremes = options->extremes;
    ns_status status = NS_OK;
    ns_run *run = NULL;
    uint64_t id = 0;
    bool more = true;
    while (more && client->next(client->context, &id, p, x0)) {
        if (!run)
            run = ns_run_make(problem, &run_options, &status, message);
        if (!run)
            break;
        run->no_tally = !options->diagnostics && !options->extremes;
        const char *why;
        const ns_status started = ns_run_start(run, p, x0, &why);
        if (started != NS_OK)
            more = ns_ensemble_refuse(options, client, run, started, why, id, x0, at);
        else {
            const uint32_t reached = ns_ensemble_follow(run, options, 0, at);
            fill(at + (size_t)reached * n, (options->n_times - reached) * n, NAN);
            more = ns_ensemble_report(options, client, run, id, at);
        }
        if (run->s.method->end) { /* it keeps something outside */
            ns_run_free(run);
            run = NULL;
        }
    }
    ns_run_free(run);
    free(room);
    return status;
}

/* Is it done in lanes?  The sums of the steps are made of fused operations. */
static bool in_lanes(const ns_problem *problem, const ns_ensemble_options *options)
{
    const ns_method *method = ns_method_find(options->run.method);
    if (options->alone || problem->jumps || problem->mode)
        return false;
    return method && method->bundle && !problem->pinv && !problem->bumps &&
           (options->run.fixed_step <= 0 || method->bundle[0]->fixed_steps);
}

ns_status ns_ensemble_run(const ns_problem *problem, const ns_ensemble_options *options,
                          const ns_ensemble_client *client, const char **message)
{
    const uint32_t lanes = options->lanes;
    *message = "";
    if (lanes > 8 || (lanes & (lanes - 1))) {
        *message = "the number of lanes must be 1, 2, 4 or 8";
        return NS_ERR_USAGE;
    }
    if (in_lanes(problem, options))
        return ns_ensemble_in_lanes(problem, options, client, message);
    return one_after_the_other(problem, options, client, message);
}

bool ns_ensemble_native(const ns_problem *problem, const ns_ensemble_options *options,
                        char *message, size_t room, ns_native_facts *facts)
{
    const uint32_t most = ns_native_most(problem->rhs);
    const ns_method *method = ns_method_find(options->run.method);
    if (!method) {
        snprintf(message, room, "unknown method");
        return false;
    }
    if (!in_lanes(problem, options))
        return ns_problem_native(problem, method->lanes, message, room, facts);
    const bool tally = options->diagnostics || options->extremes;
    /* the first ones also for a motion alone, where something is located between its steps */
    enum { ALONE = 3 };
    const bool quick = ns_native_is_quick(problem->rhs);
    const ns_program *const others[] = {
        problem->correction ? problem->shift : problem->manifold,
        problem->correction,
        options->events ? problem->events : problem->stops,
        tally ? problem->monitor : NULL,
        tally ? problem->residuals : NULL,
        options->extremes ? problem->observables : NULL,
    };
    enum { MOST_BLOCKS = 24 };
    ns_native_request requests[MOST_BLOCKS + 2 + sizeof others / sizeof *others];
    uint32_t n = 0;
    const bool fused = !options->unfused, by_parts = method->bundle[0]->by_parts;
    const ns_cascade *cascade = problem->cascade;
    bool whole = !by_parts;
    for (uint32_t p = 0; p < cascade->n && by_parts; p++)
        for (uint32_t k = 0; k < cascade->part[p].n_blocks; k++) {
            const ns_rate_block *block = &cascade->part[p].block[k];
            whole = whole || block->all;
            if (block->rhs && !block->all && n < MOST_BLOCKS) /* unfused: between steps */
                requests[n++] = (ns_native_request){
                    .program = block->rhs, .eight = true, .eight_fused = fused};
        }
    if (whole)
        requests[n++] = (ns_native_request){
            .program = problem->rhs, .eight = !fused || by_parts, .eight_fused = fused};
    if (problem->core && !by_parts)
        requests[n++] = (ns_native_request){
            .program = problem->core, .eight = !fused, .eight_fused = fused};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const uint32_t work = others[i] ? ns_program_operations(others[i], NULL) : 0;
        if (work > 0 && work < most)
            requests[n++] = (ns_native_request){
                .program = others[i], .one = quick && i < ALONE, .eight = true};
    }
    return ns_problem_compile(problem, requests, n, message, room, facts);
}
