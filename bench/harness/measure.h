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

#include "problems/hand_problems.h"
#include "problems/reference.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct bench_problem {
    const hand_problem *hand; /* name, components, time, and right-hand sides in C */
    const bench_reference *reference;
    int motions; /* how many an ensemble runs */
} bench_problem;

/* What a run did, for the ladder's printout; leave zero what is not known. */
typedef struct bench_cost {
    long steps, rejected, evaluations;
    long operations; /* of one evaluation of the right-hand side */
    long motions;    /* done by this run, if more than one: times are given for one of them */
    double seconds;  /* by the contender's own clock, if it is another process */
} bench_cost;

typedef struct bench_contender {
    const char *name; /* a word: it is also what the user types */
    const char *what;
    double loosest, tightest; /* its ladder of tolerances */
    int per_decade;           /* and how many of them in a decade */
    bool once;                /* too slow to be run again for every round */
    /* A handle for this problem, or NULL if it cannot do it. */
    void *(*open)(const bench_problem *problem);
    /* The whole motion: 0 and the final state in the problem's components, or non-zero if it
       failed at this tolerance. All that this does is timed. */
    int (*run)(void *handle, double tolerance, double *end, bench_cost *cost);
    void (*close)(void *handle);
} bench_contender;

typedef struct bench_options {
    int rounds;     /* of timing */
    int per_decade; /* not more rungs than that in a decade of tolerances; 0: no limit */
    double longest; /* seconds: rungs that take longer are not timed, 0 = no limit */
} bench_options;

/* One tolerance of a contender. */
typedef struct bench_rung {
    double tolerance, error;
    double seconds;      /* of one motion: median over the rounds */
    double instructions; /* of one motion, in user mode; nan where they cannot be counted */
    bench_cost cost;
} bench_rung;

enum { BENCH_MAX_TARGETS = 8 };

/* Seconds at each error, NAN where there is none. */
typedef struct bench_result {
    double seconds[BENCH_MAX_TARGETS];
    bool doubtful[BENCH_MAX_TARGETS]; /* at the method's floor of round-off */
    bool upper[BENCH_MAX_TARGETS];    /* even its loosest run errs less: an upper bound */
    double best_error;                /* of any rung */
    double open_seconds;
    long operations;   /* of the right-hand side; 0: not known */
    bool able;         /* could be opened for this problem */
    bench_rung *rungs; /* from loose to tight; failed ones are left out */
    int n_rungs;
} bench_result;

/* Measures all contenders on one problem; result has one entry per contender, to be released by
   bench_result_free. */
void bench_measure(const bench_problem *problem, const bench_contender *const *contenders,
                   int count, const double *targets, int ntargets, const bench_options *options,
                   bench_result *result);

void bench_result_free(bench_result *result);

/* Fills in `seconds` and what they are marked with from the seconds of rungs (or whatever
 * stands
   there instead). */
void bench_at_errors(const bench_rung *rungs, int n, const double *targets, int ntargets,
                     bench_result *result);

/* The problem of that name, with its reference; 0, or -1 if either is missing. */
int bench_problem_get(const char *name, bench_problem *problem);

/* Error of a final state, INFINITY if a component is not a number. */
double bench_error(const bench_problem *problem, const double *end);

/* CPU time of the thread. */
double bench_cpu_seconds(void);
double bench_median(const double *values, int n);

/* Instructions of this thread in user mode since some moment; nan where the machine does not
   allow to count them. */
double bench_instructions(void);

#endif
