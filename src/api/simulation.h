/* The inside of a simulation, for simulation.c and simulation_state.c. */
#ifndef NS_API_SIMULATION_H
#define NS_API_SIMULATION_H

#include "api/api.h"

struct ns_simulation {
    ns_verdict verdict;
    char reason[700];
    ns_model *model;
    ns_arena *arena;
    ns_system *system; /* a fork: to evaluate parameters and project states */
    const ns_problem *problem;
    const ns_method *method;
    ns_run_options options; /* t0: where the run began that is under way */
    ns_record_engine engine;
    double seconds;     /* of steps so far */
    unsigned looked;    /* at the clock */
    ns_run *run;        /* NULL: it could not begin */
    double time;        /* the present, inside the last step of the run */
    double *p, *before; /* [np] values of parameters, now and before a change */
    double *given;      /* [np] those given from outside, */
    bool *is_set;       /* [np] and which are */
    double *x, *values, *held;
    size_t next_event; /* that nobody was told of */
    ns_event_function on_event;
    void *context;
};

/* simulation.c: begins at the time t from the state x; what was there before stays if that
 * fails. */
bool ns_simulation_begin(ns_simulation *simulation, double t, const double *x, uint32_t mode);
/* Keeps the reason; NS_WRONG. */
ns_verdict ns_simulation_wrong(ns_simulation *simulation, const char *words);

#endif
