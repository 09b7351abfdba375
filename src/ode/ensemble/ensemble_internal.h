/* The inside of ensembles: shared by ensemble.c and ensemble_lanes.c. */
#ifndef NS_ODE_ENSEMBLE_ENSEMBLE_INTERNAL_H
#define NS_ODE_ENSEMBLE_ENSEMBLE_INTERNAL_H

#include "ode/ensemble/ensemble.h"
#include "ode/run_internal.h"

/* ensemble.c: calls `done` for a run that has come to its end, or that could not begin. */
bool ns_ensemble_report(const ns_ensemble_options *options, const ns_ensemble_client *client,
                        ns_run *run, uint64_t id, const double *at);
bool ns_ensemble_refuse(const ns_ensemble_options *options, const ns_ensemble_client *client,
                        ns_run *run, ns_status status, const char *message, uint64_t id,
                        const double *x0, double *at);

/* ensemble.c: goes on to the end, keeping the states at the wanted times from the given one on.
 * Returns the first that was not reached. */
uint32_t ns_ensemble_follow(ns_run *run, const ns_ensemble_options *options, uint32_t time,
                            double *at);

/* ensemble_lanes.c: with dop853 or gauss. */
ns_status ns_ensemble_in_lanes(const ns_problem *problem, const ns_ensemble_options *options,
                               const ns_ensemble_client *client, const char **message);

#endif
