/*
 * Work against accuracy, measured honestly.
 *
 * A contender is one entry of a table: it can be opened for a problem and then run at a
 * tolerance as often as asked. The ladder of its tolerances is run once for the errors and the
 * counts, and then timed in rounds: each round runs every rung of every contender once, so that
 * a disturbance of the machine hits all of them alike. Times are CPU times of the thread; a
 * rung's time is the median over the rounds. Opening and closing are not timed.
 *
 * Error: the largest difference of the final state from the quadruple-precision reference, each
 * component divided by max(1, |component|).
 *
 * Time at an error: errors along the ladder scatter, and a lucky rung must not decide. Rungs
 * are pooled until the error falls from pool to pool (isotonic regression on log error);
 * between pools log time is linear in log error. An error that the pools do not bracket has no
 * time: nothing is extrapolated. Where more than a fifth of the slower rungs miss the error,
 * the method is at its floor of round-off and luck decides: the time is marked as doubtful,
 * and it is the one at twice the error.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "hand_problems.h"
#include "reference.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct bench_problem {
    const hand_problem *hand; /* name, components, time, and right-hand sides in C */
    const bench_reference *reference;
} bench_problem;

/* What a run did, for the ladder's printout; leave zero what is not known. */
typedef struct bench_cost {
    long steps, rejected, evaluations;
    long operations; /* of one evaluation of the right-hand side */
} bench_cost;

typedef struct bench_contender {
    const char *name;
    const char *what;
    double loosest, tightest; /* its ladder of tolerances */
    int per_decade;           /* and how many of them in a decade */
    /* A handle for this problem, or NULL if it cannot do it. */
    void *(*open)(const bench_problem *problem);
    /* The whole motion: 0 and the final state in the problem's components, or non-zero if it
       failed at this tolerance. All that this does is timed. */
    int (*run)(void *handle, double tolerance, double *end, bench_cost *cost);
    void (*close)(void *handle);
} bench_contender;

typedef struct bench_options {
    int rounds;     /* of timing */
    double longest; /* seconds: rungs that take longer are not timed, 0 = no limit */
    FILE *ladder;   /* every rung is written here as a line of CSV; NULL = not */
} bench_options;

enum { BENCH_MAX_TARGETS = 8 };

/* Seconds at each error, NAN where there is none. */
typedef struct bench_result {
    double seconds[BENCH_MAX_TARGETS];
    bool doubtful[BENCH_MAX_TARGETS]; /* at the method's floor of round-off */
    double best_error;                /* of any rung */
    double open_seconds;
    long operations; /* of the right-hand side; 0: not known */
    bool able;       /* could be opened for this problem */
} bench_result;

/* Measures all contenders on one problem; result has one entry per contender. */
void bench_measure(const bench_problem *problem, const bench_contender *contenders, int count,
                   const double *targets, int ntargets, const bench_options *options,
                   bench_result *result);

/* The problem of that name, with its reference; 0, or -1 if either is missing. */
int bench_problem_get(const char *name, bench_problem *problem);

/* Error of a final state, INFINITY if a component is not a number. */
double bench_error(const bench_problem *problem, const double *end);

#endif
