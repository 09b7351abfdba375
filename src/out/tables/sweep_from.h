/* Values for the rows of a sweep from a file: a column for each thing that is varied, a line
 * for each row. */
#ifndef NS_OUT_TABLES_SWEEP_FROM_H
#define NS_OUT_TABLES_SWEEP_FROM_H

#include "study/sweeps/plan.h"

/* Adds an axis for each column and sets plan->count.
 *     .csv         a line of names, then lines of numbers; empty lines and lines that begin
 *                  with # do not count
 *     .h5, .hdf5   the arrays of numbers in the group /parameters, or at the top if there is no
 *                  such group
 * Values stay in memory.  Returns NULL, or a message that says what is wrong. */
const char *ns_sweep_from(ns_arena *arena, const char *path, ns_plan *plan);

#endif
