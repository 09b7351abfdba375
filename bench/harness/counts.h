/*
 * Instructions of one trajectory at equal error. The processor counts them where the machine
 * allows it (instructions.c); elsewhere valgrind's callgrind does, if it is installed, on a
 * copy of the contenders without AVX-512, which it does not know: noslip-bench-counted, of
 * which the code written by hand is compiled for AVX2 and FMA, and noslip chooses its own by
 * the processor it sees.
 */
#ifndef BENCH_COUNTS_H
#define BENCH_COUNTS_H

#include "rivals/contenders.h"

enum { COUNTS_CONTENDERS = 5, COUNTS_PROBLEMS = 3, COUNTS_TARGETS = 3 };

extern const bench_contender *const counts_contenders[COUNTS_CONTENDERS]; /* C853 first */
extern const char *const counts_problems[COUNTS_PROBLEMS];
extern const double counts_targets[COUNTS_TARGETS];

typedef struct bench_counts {
    bool counted;
    const char *how;                                         /* by whom, or why not */
    bench_result result[COUNTS_PROBLEMS][COUNTS_CONTENDERS]; /* `seconds` are instructions */
} bench_counts;

/* The only function whose instructions callgrind collects: one run of a contender. */
int bench_counted(const bench_contender *contender, void *handle, double tolerance, double *end,
                  bench_cost *cost);

/* Counts; takes a minute with callgrind. Problems not wanted (NULL: all are) are left out. */
void bench_counts_measure(bench_counts *counts,
                          bool (*wanted)(const char *problem, void *context), void *context);
void bench_counts_free(bench_counts *counts);

#endif
