/* Measured series: columns of numbers from CSV or HDF5 files, for tables of inputs and for data
 * that models are fitted to.  Files that noslip writes are such files.
 *
 * CSV: the first line names the columns, lines that begin with # are comments, numbers are
 * separated by commas.  HDF5: datasets of one dimension, `t` and the values, in the root or in
 * the group `values`. */
#ifndef NS_BASE_SERIES_SERIES_H
#define NS_BASE_SERIES_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

typedef struct ns_series_column {
    const char *name;
    double *value; /* [rows], nan where a CSV file has nothing */
} ns_series_column;

typedef struct ns_series {
    const char *path;
    size_t rows;
    NS_LIST(ns_series_column) columns;
    const double *t;    /* the column `t` or `time`, else the first: ascending */
    const size_t *line; /* [rows] of a CSV file; NULL otherwise */
} ns_series;

/* The columns alone; then also `t`.  False, with a message in words in the arena (file, line
 * and column of what is wrong). */
bool ns_series_columns(ns_arena *arena, const char *path, ns_series *series,
                       const char **message);
bool ns_series_read(ns_arena *arena, const char *path, ns_series *series, const char **message);
/* A column by its name; NULL, with a message that names the nearest. */
const double *ns_series_find(ns_arena *arena, const ns_series *series, const char *name,
                             const char **message);

/* Coefficients of the interpolating spline of order 0, 1 or 3 (not-a-knot): in piece k, from
 * t[k] to t[k+1], the value is c[k][0] + s (c[k][1] + ...), s = t - t[k]; c[n][order + 1].
 * The last piece of order 0 begins at t[n-1]; else there are n - 1. */
void ns_series_spline(ns_arena *arena, size_t n, const double *t, const double *y,
                      unsigned order, double *c);

#endif
