/* An ensemble: many motions of one problem, each with its own parameters and start, several at
 * a time in the lanes of the vector registers.  A lane that comes to its end is given the next
 * motion, so that lanes stay full whatever the motions cost.
 *
 * The methods dop853 and gauss have motions in lanes; others run them one after the other.  A
 * motion's results are the same to the bit whatever the number of lanes, the other motions and
 * their order.  One ensemble belongs to one thread. */
#ifndef NS_ODE_ENSEMBLE_ENSEMBLE_H
#define NS_ODE_ENSEMBLE_ENSEMBLE_H

#include "ode/run.h"

typedef struct ns_ensemble_options {
    ns_run_options run;  /* the same for all; until is the end of each motion */
    uint32_t lanes;      /* 1, 2, 4 or 8; 0: as many as pay */
    const double *times; /* [n_times], in the sense of the motion: states wanted there */
    uint32_t n_times;
    bool extremes;    /* observable_min, observable_max in the outcome */
    bool diagnostics; /* energy, residuals and drifts in the outcome */
    bool events;      /* watch the events; without, only those that stop a motion */
    bool alone;       /* one motion after the other: each to the bit what a run gives */
    bool unfused;     /* rates as ns_program_eval8 makes them, not ns_program_eval8_fused */
} ns_ensemble_options;

/* What one motion came to; valid during the call of `done` only. */
typedef struct ns_ensemble_result {
    uint64_t id;               /* as given by `next` */
    const ns_outcome *outcome; /* status, reason, time reached, steps, events, ... */
    const double *x;           /* [n] where it ended */
    const double *at;          /* [n_times][n]; nan from the time on that was not reached */
} ns_ensemble_result;

typedef struct ns_ensemble_client {
    void *context;
    /* The next motion: its id, parameters p[np] and start x0[n].  False: there are no more. */
    bool (*next)(void *context, uint64_t *id, double *p, double *x0);
    /* One is done, well or not.  False stops the ensemble: motions under way are dropped. */
    bool (*done)(void *context, const ns_ensemble_result *result);
} ns_ensemble_client;

/* Runs motions until `next` has no more.  NS_OK, or why no motion could be run at all (a method
 * that does not exist, no memory), with a message in words.  A motion that fails is a
 * result. */
ns_status ns_ensemble_run(const ns_problem *problem, const ns_ensemble_options *options,
                          const ns_ensemble_client *client, const char **message);

/* Native code for what an ensemble with these options evaluates; otherwise as
 * ns_problem_native. */
bool ns_ensemble_native(const ns_problem *problem, const ns_ensemble_options *options,
                        char *message, size_t room, ns_native_facts *facts);

#endif
