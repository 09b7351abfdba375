/* The inside of a batch, for batch.c and batch_run.c. */
#ifndef NS_API_BATCH_H
#define NS_API_BATCH_H

#include "api/api.h"
#include "study/sweeps/sweep_run.h"

/* From where to where an axis goes, or what describes its samples; NULL: its values are there.
 * Read when the batch is prepared, on a copy of the model. */
typedef struct ns_batch_limits {
    const char *low, *high;
} ns_batch_limits;

struct ns_batch {
    ns_model *model;
    char reason[400];
    ns_arena *arena;                 /* of what was asked for */
    ns_plan plan;                    /* as asked for so far */
    NS_LIST(ns_batch_limits) limits; /* of its axes; expressions of parameters */
    NS_LIST(const char *) gets;
    ns_run_options run;
    bool until_said, tolerance_said, method_said;
    uint32_t threads, lanes;
    bool alone;
    ns_record_engine engine;
    ns_row_function on_row;
    void *row_context;
    bool forget; /* rows are not kept */
    ns_progress_function progress;
    void *progress_context;

    /* made by ns_batch_prepare */
    ns_model *own; /* a copy: reading expressions adds to its graph */
    ns_arena *made;
    ns_sweep *sweep;
    uint32_t shown; /* axes that the caller has given; those after fix a variant's numbers */
    double *values; /* [rows][columns], nan where a row is not done */
    double *column; /* [rows] of the last column asked for by name */
    int *status;    /* [rows]; NOT_DONE */
    char (*why)[NS_SWEEP_REASON];
    int stop;
    pthread_mutex_t lock; /* for rows that come from several threads */
};

enum { NS_BATCH_NOT_DONE = -1000 };

/* Keeps the reason. */
ns_verdict ns_batch_refuse(ns_batch *batch, ns_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Forgets what ns_batch_prepare made: something else is asked for now. */
void ns_batch_change(ns_batch *batch);

#endif
