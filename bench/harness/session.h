/*
 * One run of the benchmarks: what was asked for, and what came out, for the tables on the
 * terminal and for the page of docs/performance.md.
 */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include "harness/counts.h"
#include "harness/facts.h"
#include "harness/sets.h"
#include "rivals/contenders.h"

enum { BENCH_TARGETS = 6, BENCH_MAX_CONTENDERS = 24, BENCH_MAX_PROBLEMS = 16 };

/* Errors at which times are compared. */
extern const double bench_targets[BENCH_TARGETS];

typedef struct bench_session {
    bench_options options;
    bool quick;
    bool everything;    /* no problem and no contender was named */
    const char *noslip; /* path of the program, for what is measured on it as a whole */
    const char *csv;    /* every rung goes there; NULL: nowhere */
    const char *page;   /* performance.md; NULL: not written */
    const hand_problem *problems[BENCH_MAX_PROBLEMS];
    int n_problems;
    const bench_contender *contenders[BENCH_MAX_CONTENDERS]; /* the first is the yardstick */
    int n_contenders;
    bench_result results[BENCH_MAX_PROBLEMS][BENCH_MAX_CONTENDERS];
    bench_facts facts;
    bench_growth growth;
    bool instructions; /* only these are wanted */
    bench_counts counts;
    bool only_sets; /* the same */
    bench_sets sets;
} bench_session;

/* Ratio of a contender's time to the yardstick's at a target; nan if one of them has none, or
 * if
   both are only bounds. */
double bench_ratio(const bench_session *s, int problem, int contender, int target);
/* How it is marked: "~" at a floor of round-off, "<" at most this, ">" at least this, "". */
const char *bench_mark(const bench_result *yardstick, const bench_result *result, int target);

#endif
