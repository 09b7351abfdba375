/* The inside of a run: shared by run.c, tally.c, project.c, events.c, checkpoint.c. */
#ifndef NS_ODE_RUN_INTERNAL_H
#define NS_ODE_RUN_INTERNAL_H

#include "eval/interval/interval.h"
#include "ode/modes/modes.h"
#include "ode/stepper.h"

/* What the diagnostics have seen: plain numbers, part of a checkpoint. */
typedef struct ns_tally {
    double energy_first, energy_last;
    double energy_base;  /* what it would be now if it changed by jumps alone */
    double energy_off;   /* largest |E - base| */
    double kinetic_most; /* largest kinetic energy */
    uint64_t pending;    /* step ends waiting in batch_t, batch_x */
    /* see rank.c: smallest and largest rank of A, of [M; A]; at the last step: rank of A,
     * length of the last independent row, its change per time */
    uint64_t rank_A[2], rank_all[2], rank_now;
    double rank_least, rank_slope;
} ns_tally;

/* Room for enclosures of events, taken when one is first needed: see enclose.c. */
typedef struct ns_enclosure {
    void *memory;
    double *work;               /* of the events */
    double *nodes, *ends, *off; /* [n][8], [n][8], [n] */
    ns_interval *x, *out;       /* [n], [events and probes] */
    bool bound;                 /* to the parameters */
    double from, to;            /* `off` belongs to this step; nan: to none */
} ns_enclosure;

typedef struct ns_bump ns_bump; /* drive/bump.h */

struct ns_run {
    ns_stepper s;            /* s.problem: of the present mode */
    const ns_problem *whole; /* with all modes */
    ns_stretch stretch;
    uint32_t first_mode;
    ns_run_options options;
    ns_status status;
    char reason[640];
    ns_tally tally;
    ns_outcome outcome;

    /* Kept: one stretch of memory that a checkpoint copies. */
    double *kept;
    size_t n_kept;           /* doubles */
    double *residual;        /* [constraints] largest so far */
    double *invariant_first; /* [invariants] */
    double *invariant_off;   /* largest |I - I0| */
    double *invariant_scale; /* largest size of its terms */
    double *push_least,
        *push_since; /* [pushes] least so far; when it was first negative, nan */
    double *observable_min, *observable_max;
    double *event_value,
        *event_sign;           /* at the end of the last step; last sign that was not 0 */
    double *event_first;       /* at the start */
    double *batch_t, *batch_x; /* [8], [n][8] */
    /* see modes.h: the state after a jump, and where jumps accumulate; [events] when they
     * jumped last, the time since the one before, the longest of these while they became
     * shorter */
    double *after, *after_lo, *beyond, *beyond_lo;
    double *jump_last, *jump_gap, *jump_widest;
    double *jump_tally;             /* see quad_watch.c */
    double *drive_kept, *bump_kept; /* see drive.c, bump.c */
    double *schedule_kept;          /* see schedule.c */
    uint64_t parameters;            /* a hash of those given */

    /* Scratch: work blocks of the programs and room for their outputs. */
    double *work_rhs, *work_observe, *work_events, *work_manifold;
    double *work8_observe, *work8_events, *work8_residuals, *work8_monitor;
    double *work8_pushes;
    double *out8;                                 /* [largest number of outputs][8] */
    double *time8, *x8;                           /* [8], [n][8] */
    double *manifold, *basis, *triangle, *metric; /* see project.c */
    double *x_try, *f;                            /* [n] */
    double *drift;                                /* [invariants] for ns_outcome */
    /* [events and probes]: anywhere, at the beginning (where a kink is watched) and end of a
     * step */
    double *events_now, *events_begin, *events_end;
    double events_at;        /* the time of events_end; nan: none */
    double *events8, *ends8; /* [events and probes][8] */
    uint64_t *wild;          /* set of probes, see probes.h */
    double *x_event;         /* [n] */
    double *work_shift, *work_correction, *shift, *shift_inputs; /* see project.c */
    ns_drive *drive; /* see drive.c; NULL: nothing happens in time */
    ns_bump *bump;   /* see bump.c; NULL: nothing is narrow */
    double *schedule_work;
    double *work_jump, *jump_out, *jump_out_lo, *jump_f, *jump_f_lo; /* see jump.c */
    double *jump_gates, *jump_series;
    double *work_ranks, *rank_values, *rank_matrix; /* see rank.c */

    /* Events grow by reallocation, after a step and never inside one. */
    ns_occurrence *events;
    double *event_states;
    uint32_t n_events, room_events;
    uint32_t n_last; /* occurrences of options.last_event */
    ns_enclosure enclosure;

    void *block;    /* everything above but the events */
    size_t n_block; /* bytes */
    size_t common;  /* this many at its beginning mean the same in every mode */

    /* for ensembles, which do with less */
    bool no_tally;          /* no diagnostics */
    const ns_program *look; /* for events: problem->events or stops */
};

/* run_make.c, run.c, the two halves of ns_run_new: all that does not depend on the motion; and
 * a motion, which may be followed by others (methods that keep nothing outside).  message is of
 * the caller's. */
ns_run *ns_run_make(const ns_problem *problem, const ns_run_options *options, ns_status *status,
                    const char **message);
ns_status ns_run_start(ns_run *run, const double *p, const double *x0, const char **message);
/* run.c: another mode, in which the method begins with the present state. */
ns_status ns_run_change(ns_run *run, uint32_t mode);
/* run_make.c: lays out the block for the present problem, and binds its programs. */
void ns_run_place(ns_run *run);
/* run_make.c: binds all programs to the parameters of the motion. */
void ns_run_bind(ns_run *run);
/* If rates switch at the present time: goes to the other side, and the method begins anew. */
ns_status ns_run_cross(ns_run *run);
/* run_stop.c: puts in words why the method could not make a step. */
ns_status ns_run_explain(ns_run *run, ns_status status);
/* Ends the run because options.interrupt says so. */
ns_status ns_run_interrupt(ns_run *run);
/* Does the run end here because it is stuck, or has made as many steps as it may?  NS_OK if
 * not. */
ns_status ns_run_judge(ns_run *run);

/* tally.c */
void ns_tally_begin(ns_run *run);
void ns_tally_add(ns_run *run); /* the end of the last step */
void ns_tally_flush(ns_run *run);
/* Around a jump: the energy changes by it, which is not the method's fault. */
void ns_tally_leave(ns_run *run);
void ns_tally_enter(ns_run *run);

/* events.c: finds, records and acts on the events of the last step.  NS_OK to go on; a stop has
 * cut the step at the event. */
void ns_events_begin(ns_run *run);
void ns_events_changed(ns_run *run);                 /* parameters are others now */
bool ns_events_reserve(ns_run *run, uint32_t count); /* room in the list; false: no memory */
bool ns_events_record(ns_run *run, uint32_t event, int direction, double t, const double *x);
ns_status ns_events_scan(ns_run *run);
/* search.c: finds those of one event in the last step and appends them to the list; NOT_ALL: up
 * to the time `until`. */
typedef enum ns_found {
    NS_FOUND_ALL,
    NS_FOUND_STOP, /* the first one of an event that stops the run */
    NS_FOUND_NOT_ALL,
    NS_FOUND_NO_MEMORY
} ns_found;
ns_found ns_search_step(ns_run *run, uint32_t event, double *until);
bool ns_events_push(ns_run *run, uint32_t event, int direction, double t);
/* enclose.c: where the value of an event lies between two fractions of the last step; how far
 * its value at a time inside may be off by rounding.  Infinite if nothing is known. */
ns_interval ns_enclose_event(ns_run *run, uint32_t event, double l, double r);
double ns_enclose_noise(ns_run *run, uint32_t event, double t);
/* The same at the beginning of the last step, for states off by parts of the largest. */
double ns_enclose_start(ns_run *run, uint32_t event);
void ns_enclose_begin(ns_run *run);                   /* another motion */
bool ns_events_wanted(const ns_run *run, uint32_t i); /* found by scanning */

/* rank.c: ranks at the start, after a step (NS_OK to go on), and as the cause of a failure
 * (true if they are; the reason is set then). */
void ns_rank_begin(ns_run *run);
ns_status ns_rank_step(ns_run *run);
bool ns_rank_explain(ns_run *run);

/* run.c: state inside the last step, projected. */
void ns_run_dense(ns_run *run, double t, double *x);
__attribute__((format(printf, 3, 4))) ns_status ns_run_stop(ns_run *run, ns_status status,
                                                            const char *format, ...);

#endif
