/* Running a sweep: threads of this process take blocks of rows and give their records to a
 * sink.  Of several processes rank 0 has the sink and gives blocks to the others too
 * (sweep_ranks.h). */
#ifndef NS_STUDY_SWEEPS_SWEEP_RUN_H
#define NS_STUDY_SWEEPS_SWEEP_RUN_H

#include "session/record.h"
#include "study/sweeps/sweep_ranks.h"

/* Where rows go, and which of them are missing there.  0 or an errno value each. */
typedef struct ns_sweep_sink {
    void *context;
    /* The first run of rows from *first on that are missing, at most `most` of them; *count 0:
     * there is none.  One thread at a time; rows asked for only grow.  NULL: every row. */
    int (*missing)(void *context, uint64_t *first, uint32_t most, uint32_t *count);
    /* Records of rows; several threads may be at it at once. */
    int (*put)(void *context, uint64_t first, uint32_t count, const void *records);
    int (*sync)(void *context); /* every two seconds and at the end; may be NULL */
} ns_sweep_sink;

typedef struct ns_sweep_progress {
    uint64_t computed; /* rows, so far */
    double seconds;    /* since the beginning */
} ns_sweep_progress;

typedef struct ns_sweep_run_options {
    uint32_t threads; /* 0: one for each processor */
    ns_record_engine engine;
    const ns_sweep_rank *rank; /* NULL: there are no other processes */
    const char *identity;      /* what makes this sweep different from another, for ranks */
    volatile int *interrupt;   /* once it is set the run stops soon */
    /* Every tenth of a second once the first is over; or NULL. */
    void (*progress)(void *context, const ns_sweep_progress *progress);
    void *context;
} ns_sweep_run_options;

typedef struct ns_sweep_outcome {
    uint64_t computed; /* rows of this run */
    double seconds;    /* that it took */
    bool lost;         /* one of them is silent: nobody waits for it (ns_sweep_rank_leave) */
    bool met; /* the other ranks have been dealt with; otherwise ns_sweep_rank_dismiss */
    char message[400];     /* what went wrong */
    char interpreted[300]; /* why there is no native code though it was asked for; "" */
} ns_sweep_outcome;

/* Rank 0, or alone: computes all rows that the sink misses.  Other ranks: what rank 0 gives;
 * the sink may be NULL.  NS_OK, NS_STOP_INTERRUPT, or a failure with its message; rows that
 * were put are good in any case. */
ns_status ns_sweep_run(const ns_sweep *sweep, const ns_sweep_sink *sink,
                       const ns_sweep_run_options *options, ns_sweep_outcome *out);

#endif
