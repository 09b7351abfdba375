/* The inside of ensembles: shared by ensemble.c and ensemble_lanes.c. */
#ifndef NS_ODE_ENSEMBLE_INTERNAL_H
#define NS_ODE_ENSEMBLE_INTERNAL_H

#include "ode/ensemble.h"
#include "ode/run_internal.h"

/* ensemble.c: calls `done` for a run that has come to its end, or that could not begin. */
bool ns_ensemble_report(const ns_ensemble_options *options, const ns_ensemble_client *client,
                        ns_run *run, uint64_t id, const double *at);
bool ns_ensemble_refuse(const ns_ensemble_options *options, const ns_ensemble_client *client,
                        ns_run *run, ns_status status, const char *message, uint64_t id,
                        const double *x0, double *at);

/* ensemble_lanes.c: with dop853. */
ns_status ns_ensemble_in_lanes(const ns_problem *problem, const ns_ensemble_options *options,
                               const ns_ensemble_client *client, const char **message);

#endif
