/*
 * What was measured, in words and tables (they are Markdown and read well on a terminal too),
 * and as the page docs/performance.md with its figures.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "harness/session.h"

#include <stdio.h>

/* The aims of the project for speed, and what was reached. */
void bench_report_aims(FILE *out, const bench_session *s);
void bench_report_facts(FILE *out, const bench_session *s);
/* Instructions. */
void bench_report_counts(FILE *out, const bench_counts *counts);
void bench_report_growth(FILE *out, const bench_session *s);

/* The page, and its figures in images/bench beside it: 0, or -1 after saying on stderr why
 * not. */
int bench_report_write(const bench_session *s);
/* A page of the instruction sets alone. */
int bench_report_write_sets(const bench_session *s);

/* The figures (figures.c), into a folder that exists: 0 or an errno value. */
int bench_figures_write(const bench_session *s, const char *folder);

/* Index of a contender or a problem of the session by its name, -1 if it takes no part. */
int bench_contender_index(const bench_session *s, const char *name);
int bench_problem_index(const bench_session *s, const char *name);

#endif
