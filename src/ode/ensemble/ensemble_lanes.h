/* The inside of ensembles in lanes: shared by ensemble_lanes.c (motions go into lanes and come
 * to their ends), ensemble_group.c (memory, lanes and their runs), ensemble_after.c (after
 * every step) and ensemble_tally.c (diagnostics). */
#ifndef NS_ODE_ENSEMBLE_ENSEMBLE_LANES_H
#define NS_ODE_ENSEMBLE_ENSEMBLE_LANES_H

#include "ode/ensemble/ensemble_internal.h"
#include "ode/ensemble/ensemble_kernel.h"

typedef struct ns_lane {
    ns_run *run;
    uint64_t id;
    uint32_t time;        /* of the wanted times the next */
    uint64_t evaluations; /* beside those of the attempts */
    double *at;           /* [n_times][n] */
} ns_lane;

/* What has been seen of the motions of a bundle: arrays [quantity][8]. */
typedef struct ns_lanes_seen {
    double *first, *last; /* [2 + invariants]: energy, kinetic energy, invariants */
    double *off;          /* [2 + invariants] largest change */
    double *scale;        /* [1 + invariants]: kinetic energy, sizes of the terms */
    double *residual;     /* [constraints] */
    double *least, *most; /* [observables] */
    double *work_monitor, *work_residuals, *work_observe;
} ns_lanes_seen;

typedef struct ns_lanes_group {
    ns_bundle *b;
    ns_lane lanes[8];
    ns_lanes_seen seen;
    bool rebind; /* parameters have changed */
    double *p;   /* [np][8] */
    double *work_events;
    double *sign; /* [events] as ns_run.event_sign */
    /* [events and probes] at the beginning, a quarter, ... of the last step */
    double *value[5];
    double *out; /* room for outputs */
    void *memory;
} ns_lanes_group;

typedef struct ns_lanes {
    const ns_problem *problem;
    const ns_ensemble_options *options;
    const ns_ensemble_client *client;
    const ns_bundle_kernel *kernel;
    bool tally;
    const ns_program *look; /* for events */
    ns_bundle_watch watch;
    uint32_t n_watch;
    double *p, *x0; /* of a motion */
    ns_lanes_group groups[NS_BUNDLE_MOST];
    uint32_t n_groups, width;
    uint32_t live;
    bool changed; /* a motion has ended */
    bool dry;     /* no more motions */
    bool stopped; /* by the client */
} ns_lanes;

/* A column of an array [n][8]: to a lane, and back. */
static inline void ns_lanes_put(double *block, const double *values, uint32_t n, uint32_t l)
{
    for (uint32_t i = 0; i < n; i++)
        block[8 * (size_t)i + l] = values[i];
}

static inline void ns_lanes_get(const double *block, double *values, uint32_t n, uint32_t l)
{
    for (uint32_t i = 0; i < n; i++)
        values[i] = block[8 * (size_t)i + l];
}

/* Four times the noise counts as no error of the method. */
static inline void ns_lanes_put_noise(ns_bundle *b, const ns_stepper *s, uint32_t l)
{
    for (uint32_t i = 0; i < s->n; i++)
        b->noise[8 * (size_t)i + l] = 4 * s->noise[i];
}

/* Number of the step at which the noise of the rates is measured next, after this many. */
static inline double ns_lanes_next_probe(double steps, bool noisy)
{
    enum { NOW_AND_THEN = 1024 };
    return steps + (noisy ? NS_STEPPER_SOON : NOW_AND_THEN);
}

/* Number of the step at which a motion is judged next, after this many. */
static inline double ns_lanes_next_judgement(const ns_run_options *o, double steps)
{
    const double next = steps + NS_STEPPER_WINDOW, most = (double)o->max_steps;
    return most > 0 && most < next ? most : next;
}

/* ensemble_group.c */
const ns_bundle_kernel *ns_lanes_kernel(const ns_problem *problem, const ns_method *method);
bool ns_lanes_make_group(ns_lanes *e, ns_lanes_group *g, ns_status *status,
                         const char **message);
void ns_lanes_free_group(ns_lanes_group *g);
/* Gives the run of a lane its state and its last step; the same, ready to be looked at inside
 * it. */
ns_run *ns_lanes_hand_over(const ns_lanes *e, const ns_lanes_group *g, uint32_t l);
ns_run *ns_lanes_open_step(const ns_lanes *e, ns_lanes_group *g, uint32_t l);
/* Gives a lane the state of its run, from which the method has begun; and how far time lets its
 * next step go. */
void ns_lanes_give(const ns_lanes *e, ns_lanes_group *g, uint32_t l);
void ns_lanes_bound(ns_bundle *b, const ns_stepper *s, uint32_t l);

/* ensemble_tally.c: what was seen of the start goes to a lane; of a motion, to its run; looks
 * at the ends of the last steps. */
void ns_lanes_tally_load(const ns_lanes *e, ns_lanes_group *g, uint32_t l);
void ns_lanes_tally_store(const ns_lanes *e, const ns_lanes_group *g, uint32_t l);
void ns_lanes_tally(const ns_lanes *e, ns_lanes_group *g);

/* ensemble_lanes.c: the wanted times up to the present one; the end of a motion, whose run has
 * been given its state. */
void ns_lanes_keep_states(const ns_lanes *e, ns_lane *of);
void ns_lanes_report(ns_lanes *e, ns_lane *of);
void ns_lanes_release(ns_lanes *e, ns_lanes_group *g, uint32_t l);
void ns_lanes_unload(ns_lanes *e, ns_lanes_group *g, uint32_t l);

/* ensemble_after.c: events, wanted times, diagnostics and ends, after a step of a bundle. */
void ns_lanes_look_after(ns_lanes *e, ns_lanes_group *g);

#endif
