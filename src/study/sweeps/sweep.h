/* A sweep: many motions of one model, one for each row of a plan, and of each the quantities
 * asked for.
 *
 *     ns_sweep         plan, quantities and programs; immutable once made, shared by threads
 *     ns_sweep_worker  computes blocks of rows on the lanes of one thread
 *     record           what one row came to, of fixed size: a block's records can be sent as
 *                      bytes
 *
 * A worker takes blocks of rows from its client and gives their records back.  Who hands out
 * the blocks (threads of one process, processes of many machines) does not matter: the record
 * of a row is the same to the bit whatever the lanes, the blocks, their order and who computes
 * it. */
#ifndef NS_STUDY_SWEEPS_SWEEP_H
#define NS_STUDY_SWEEPS_SWEEP_H

#include "ode/ensemble/ensemble.h"
#include "session/start.h"
#include "study/sweeps/plan.h"

/* ---- quantities -------------------------------------------------------------------------- */

typedef enum ns_sweep_kind {
    NS_SWEEP_FINAL, /* EXPR: where the motion ended */
    NS_SWEEP_TIME,  /* EXPR@T */
    NS_SWEEP_EVENT, /* EXPR@NAME: at the first event of that name */
    NS_SWEEP_MIN,   /* min(EXPR): over the motion, extrema found as zeros of the derivative */
    NS_SWEEP_MAX,   /* max(EXPR) */
    NS_SWEEP_WHEN,  /* event(NAME), reversal(EXPR): time of the first, nan if there was none */
    NS_SWEEP_COUNT, /* count(NAME) */
    NS_SWEEP_HAPPENED, /* happened(NAME), reversed(EXPR): 1 or 0 */
    NS_SWEEP_DRIFT,    /* energy_drift */
    NS_SWEEP_STEPS,    /* steps */
    NS_SWEEP_END       /* end: the time that was reached */
} ns_sweep_kind;

typedef struct ns_sweep_get {
    const char *name; /* of the column */
    const char *unit; /* "" if not known */
    ns_sweep_kind kind;
    ns_ex value;      /* 0 if none */
    uint32_t event;   /* index in the sweep's system */
    double t;         /* of EXPR@T */
    uint32_t station; /* where it is evaluated, and which of the values there */
    uint32_t position;
} ns_sweep_get;

/* ---- records ----------------------------------------------------------------------------- */

enum { NS_SWEEP_REASON = 92 };

/* After the doubles of a record: values of the axes, then of the quantities. */
typedef struct ns_sweep_end {
    int32_t status;               /* ns_status of the motion; NS_ERR_MODEL: it has no start */
    char reason[NS_SWEEP_REASON]; /* "" if it came to its end; filled up with zeros */
} ns_sweep_end;

/* ---- the sweep --------------------------------------------------------------------------- */

/* An expression of the model in terms of states, time and parameters, from text; false after
 * saying what is wrong. */
typedef bool (*ns_sweep_reader)(void *context, const char *text, ns_ex *out);

typedef struct ns_sweep_spec {
    ns_system *system;  /* derived; making the sweep adds to its graph */
    ns_plan plan;       /* settled */
    ns_run_options run; /* method, times, tolerance; the same for all rows */
    const char *const
        *gets; /* [n_gets] [NAME=]QUANTITY; none: the basic values and the drift */
    uint32_t n_gets;
    uint32_t lanes; /* as ns_ensemble_options */
    bool alone;
    ns_sweep_reader reader;
    void *context;
} ns_sweep_spec;

typedef struct ns_sweep_station ns_sweep_station;

typedef struct ns_sweep {
    ns_arena *arena;
    ns_plan plan;
    uint32_t n_axes, n_gets;
    const char **axis;  /* [n_axes] names */
    const char **label; /* [n_axes] of the columns: start.NAME if it is not a parameter */
    ns_sweep_get *get;  /* [n_gets] */
    size_t record;      /* bytes */
    const ns_problem *problem; /* of a system with the events that matter and no observables */
    ns_ensemble_options options;
    ns_sweep_station *station;
    uint32_t n_stations;
} ns_sweep;

/* NULL after a failure, with a message (empty if the reader has said it). */
ns_sweep *ns_sweep_new(ns_arena *arena, const ns_sweep_spec *spec, const char **message);

/* ---- workers ----------------------------------------------------------------------------- */

typedef struct ns_sweep_client {
    void *context;
    /* The next block of rows; false: there are no more for this worker. */
    bool (*next)(void *context, uint64_t *first, uint32_t *count);
    /* Records of a block that next gave, in the order of its rows.  False stops the worker. */
    bool (*done)(void *context, uint64_t first, uint32_t count, const void *records);
} ns_sweep_client;

/* Computes until next has no more; one of them for each thread.  A block under way when a
 * signal comes (run.interrupt) is dropped.  NS_OK, or why no motion could be computed at all,
 * with a message of at most `room` bytes. */
ns_status ns_sweep_work(const ns_sweep *sweep, const ns_sweep_client *client, char *message,
                        size_t room);

/* Rows first .. first+count-1 into records[count * sweep->record], as ns_sweep_work. */
ns_status ns_sweep_rows(const ns_sweep *sweep, uint64_t first, uint32_t count, void *records,
                        char *message, size_t room);

#endif
