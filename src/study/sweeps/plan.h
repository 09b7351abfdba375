/* The plan of a sweep: which values each row has.  A pure function of the row's number: no row
 * needs another, so that any process can compute any row. */
#ifndef NS_STUDY_SWEEPS_PLAN_H
#define NS_STUDY_SWEEPS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef enum ns_plan_kind {
    NS_PLAN_GRID,       /* n values from low to high, both included */
    NS_PLAN_LOG,        /* the same, in equal ratios */
    NS_PLAN_UNIFORM,    /* between low and high */
    NS_PLAN_LOGUNIFORM, /* its logarithm is uniform */
    NS_PLAN_NORMAL,     /* mean low, deviation high */
    NS_PLAN_LIST        /* listed: values[row] */
} ns_plan_kind;

typedef struct ns_plan_axis {
    const char *name; /* a parameter or a state of the model */
    ns_plan_kind kind;
    double low, high;
    uint64_t n;           /* values of a grid */
    const double *values; /* of a list */
} ns_plan_axis;

typedef struct ns_plan {
    NS_LIST(ns_plan_axis) axes;
    uint64_t rows;  /* set by ns_plan_settle */
    uint64_t first; /* of a part of a plan: its rows are those of the whole from here on */
    uint64_t count; /* samples for each point of the grid */
    uint64_t seed;
    bool sobol;
} ns_plan;

/* Rows of a plan whose axes are filled in: points of the grid (the last axis varies fastest)
 * times samples.
 * NULL, or what is wrong, in words. */
const char *ns_plan_settle(ns_arena *arena, ns_plan *plan);

/* "uniform(LOW, HIGH)", "loguniform(LOW, HIGH)", "normal(MEAN, DEVIATION)": which of them, and
 * what is in the brackets; NULL if it is something else. */
const char *ns_plan_distribution(ns_arena *arena, const char *text, ns_plan_kind *kind);
/* The name of a parameter or a state, which may be called start.NAME as its column is. */
const char *ns_plan_bare(const char *name);

/* values[axes] of a row. */
void ns_plan_row(const ns_plan *plan, uint64_t row, double *values);

/* A line for each axis, with all digits: what makes one plan different from another. */
const char *ns_plan_text(ns_arena *arena, const ns_plan *plan);

#endif
