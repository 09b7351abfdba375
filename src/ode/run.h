/* A run: one integration.  All its mutable state is one block of memory, so that a checkpoint
 * is that block and stepping allocates nothing.
 *
 * Usage:  ns_run_new, then ns_run_to(t) repeatedly (or ns_run_step), reading states with
 * ns_run_state_at; ns_run_outcome at any time.  Everything up to ns_run_time stays valid when a
 * call returns a positive status (stopped). */
#ifndef NS_ODE_RUN_H
#define NS_ODE_RUN_H

#include "base/status.h"
#include "ode/drive/schedule.h"
#include "ode/problem.h"

typedef struct ns_run ns_run;

typedef struct ns_run_options {
    const char *method; /* NULL: default */
    double t0, until;   /* until may be before t0: backwards in time */
    double tolerance;   /* relative to the size of each state; 0: default, close to round-off */
    double least_size;  /* smaller states are measured by this; 0: each by its own size */
    double first_step, max_step; /* 0: chosen by the method / unlimited */
    double fixed_step;  /* > 0: constant steps, no error control (for convergence tests) */
    bool extremes;      /* of the observables over all step ends; default true */
    bool only_stops;    /* of the events only those that stop the run; no others are recorded */
    bool project;       /* keep the state on its manifold; default true */
    uint64_t max_steps; /* 0: no limit; default NS_RUN_MOST_STEPS */
    /* for precise methods: [np], [n] what parameters and start lack (ode/quad/quad.h); NULL:
     * nothing */
    const double *p_lo, *x0_lo;
    bool shaken;   /* for precise methods: observables with other rounding errors
                 * (eval/interp/shaken.c) */
    uint32_t mode; /* at the start: number + 1; 0: as the system says */
    uint32_t last_event, last_count; /* stop at the last_count-th occurrence of event number
                                        last_event; last_count 0: never */
    const ns_schedule *schedule;     /* of parameters; NULL: they are constant */
    const double *held; /* what samplings gave last, for a start between samples; NULL: ask */
    const volatile int *interrupt; /* looked at between steps; non-zero stops; may be NULL */
} ns_run_options;

enum {
    NS_INTERRUPT_TIME = 2
}; /* *interrupt: time is up; otherwise somebody wants it to stop */

#define NS_RUN_MOST_STEPS UINT64_C(1000000000) /* hours of a small model */
ns_run_options ns_run_defaults(void);

/* One occurrence of an event. */
typedef struct ns_occurrence {
    uint32_t event; /* index in system->events */
    int direction;  /* +1 rising, -1 falling */
    double t;
    uint32_t before, after; /* modes */
    bool rest;              /* not one of its own: where the ones before accumulate */
} ns_occurrence;

/* What is known about the quality of the run so far.  Arrays belong to the run. */
typedef struct ns_outcome {
    ns_status status;
    const char *reason;                    /* in words; "" while all is well */
    double t;                              /* reached */
    uint64_t steps, rejected, evaluations; /* evaluations count each lane */
    double smallest_step, largest_step;
    double energy_first, energy_last,
        energy_drift;             /* largest relative change; nan if there is no energy */
    const double *residual;       /* [constraints] largest |residual| */
    const double *drift;          /* [invariants] largest |I - I0| / max(|I0|, scale) */
    const double *first, *change; /* [invariants] I0, largest |I - I0| */
    /* [pushes] least normal force at step ends, and the first of them where it is negative, or
     * nan */
    const double *push_least, *push_since;
    /* ranks over all steps, smallest and largest, where they are watched (rank_coordinates >
     * 0) */
    uint32_t rank_coordinates, rank_rows, rank_A[2], rank_all[2];
    uint32_t first_mode, mode; /* at the start, now */
    const ns_occurrence *events;
    const double *event_states; /* [n_events][n] before the jump, if they make one */
    uint32_t n_events;
    const double *observable_min, *observable_max; /* [observables] over all step ends */
} ns_outcome;

/* x0[n] and p[np] are copied.  On failure NULL, with status and a message in words. */
ns_run *ns_run_new(const ns_problem *problem, const ns_run_options *options, const double *p,
                   const double *x0, ns_status *status, const char **message);
void ns_run_free(ns_run *run);

/* One accepted step, not beyond options.until.  NS_OK, or a status as in base/status.h. */
ns_status ns_run_step(ns_run *run);
/* Steps until the time t is covered (the last step may reach beyond it). */
ns_status ns_run_to(ns_run *run, double t);

double ns_run_time(const ns_run *run);      /* end of the last accepted step */
double ns_run_last_time(const ns_run *run); /* its beginning */
/* Are constraints violated, by much more than rounding errors, with its present parameters? */
bool ns_run_strays(ns_run *run);
uint32_t ns_run_mode(const ns_run *run); /* in which the last step was made */
/* At the end of the last step; if a jump follows, before it. */
const double *ns_run_state(const ns_run *run);
/* The mode in which the motion goes on from there, and the state x[n], after a jump if one
 * follows. */
uint32_t ns_run_next(const ns_run *run, double *x);
/* State at a time inside the last step, to the accuracy of the method. */
void ns_run_state_at(ns_run *run, double t, double *x);
/* Operations of one evaluation of the right-hand side: what a state inside a step costs, in
 * units. */
uint32_t ns_run_operations(const ns_run *run);
/* [n] rounding errors of the rates, as they were measured last (ode/stepper.h). */
const double *ns_run_noise(const ns_run *run);
/* Observables at a state. */
void ns_run_observe(ns_run *run, double t, const double *x, double *values);
/* Observables at an occurrence of an event, before the jump if it makes one. */
void ns_run_observe_event(ns_run *run, uint32_t i, double *values);
/* Of a precise method: observables at a time inside the last step as sums of two doubles; false
 * for other methods. */
bool ns_run_observe_precise(ns_run *run, double t, double *values, double *low);

const ns_outcome *ns_run_outcome(ns_run *run);

/* Checkpoints: bytes that continue the run bit for bit with the same problem and options. */
size_t ns_run_save_size(const ns_run *run);
void ns_run_save(const ns_run *run, void *bytes);
ns_status ns_run_restore(ns_run *run, const void *bytes, size_t size, const char **message);

#endif
