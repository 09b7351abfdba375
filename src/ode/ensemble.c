/* Motions one after the other, each a run of its own. */
#include "ode/ensemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Goes on to the end, keeping the states at the wanted times. */
static void follow(ns_run *run, const ns_ensemble_options *options, uint32_t n, double *at)
{
    for (uint32_t k = 0; k < options->n_times; k++) {
        const bool reached = ns_run_to(run, options->times[k]) == NS_OK;
        const double t = ns_run_time(run), from = ns_run_last_time(run);
        const double sense = options->run.until < options->run.t0 ? -1 : 1;
        if (!reached && (options->times[k] - t) * sense > 0) {
            for (size_t i = (size_t)k * n; i < (size_t)options->n_times * n; i++)
                at[i] = NAN;
            return;
        }
        if (t == options->times[k] || t == from)
            memcpy(at + (size_t)k * n, ns_run_state(run), n * sizeof *at);
        else
            ns_run_state_at(run, options->times[k], at + (size_t)k * n);
    }
    ns_run_to(run, options->run.until);
}

ns_status ns_ensemble_run(const ns_problem *problem, const ns_ensemble_options *options,
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
    ns_status status = NS_OK;
    uint64_t id = 0;
    while (client->next(client->context, &id, p, x0)) {
        ns_run *run = ns_run_new(problem, &options->run, p, x0, &status, message);
        if (!run)
            break;
        follow(run, options, n, at);
        const ns_ensemble_result result = {
            .id = id, .outcome = ns_run_outcome(run), .x = ns_run_state(run), .at = at};
        const bool more = client->done(client->context, &result);
        ns_run_free(run);
        if (!more)
            break;
    }
    free(room);
    return status;
}
