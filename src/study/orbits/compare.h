/* Two models of one system: largest difference of common values along the motion. */
#ifndef NS_STUDY_ORBITS_COMPARE_H
#define NS_STUDY_ORBITS_COMPARE_H

#include "ode/run.h"

typedef struct ns_compare_side {
    const ns_problem *problem;
    const double *p, *x0;
    ns_run_options options;
} ns_compare_side;

/* Two values that should be the same.  Quaternions q and -q are the same turn: the components
 * of one quaternion have the same `group` > 0 and change their sign together. */
typedef struct ns_compare_pair {
    uint32_t a, b; /* observables */
    uint32_t group;
    double largest, t;  /* |a - b| and when */
    double size;        /* largest |a|, |b| */
    double *difference; /* [n] a - b at the times; of the caller, or NULL */
} ns_compare_pair;

typedef struct ns_compare_outcome {
    ns_status status; /* of the one that ended early, if any */
    int side;         /* 0: a, 1: b */
    const char *reason;
    size_t rows; /* times reached by both */
} ns_compare_outcome;

/* Runs both to all times[n] (in order) and fills the pairs.  progress: fraction done, false
 * stops; may be NULL. */
ns_compare_outcome ns_compare(ns_arena *arena, const ns_compare_side sides[2],
                              const double *times, size_t n, ns_compare_pair *pairs,
                              uint32_t n_pairs, bool (*progress)(void *, double),
                              void *context);

#endif
