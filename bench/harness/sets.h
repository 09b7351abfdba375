/*
 * The same problems with every instruction set that this machine has, each asked for by name:
 * what is true on one processor need not be on the next.
 */
#ifndef BENCH_SETS_H
#define BENCH_SETS_H

#include <stdio.h>

#include "rivals/contenders.h"

enum { SETS = 3, SETS_PROBLEMS = 3, SETS_CONTENDERS = 5, SETS_TARGETS = 4 };

typedef struct bench_sets {
    int n; /* levels measured, from plain on */
    bench_result result[SETS][SETS_PROBLEMS][SETS_CONTENDERS];
} bench_sets;

void bench_sets_measure(bench_sets *sets, const bench_options *options, int motions);
/* As a table, with the name of the processor. */
void bench_report_sets(FILE *out, const bench_sets *sets);
void bench_sets_free(bench_sets *sets);

/* Name of the processor, as the system tells it. */
const char *bench_processor(char *name, size_t room);

#endif
