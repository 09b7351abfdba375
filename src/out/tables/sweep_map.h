/* Maps: the table of a sweep over one or two quantities as figures, one panel for each result.
 *
 * One quantity: the result over it.  Two, on a grid: colours over both.  Rows without a number
 * are told apart: those to which it did not happen, those that failed, those not computed
 * yet. */
#ifndef NS_OUT_TABLES_SWEEP_MAP_H
#define NS_OUT_TABLES_SWEEP_MAP_H

#include "out/plot/plot.h"
#include "out/tables/sweep_table.h"

typedef struct ns_sweep_map_options {
    const char *title;
    const char *const *unit; /* [axes] of what is varied; NULL where not known */
    const char *command;     /* repeats a row's motion, see ns_plot_panel; or NULL */
} ns_sweep_map_options;

enum { NS_SWEEP_MAP_ROWS = 1000000 }; /* at most */

/* Can the sweep be drawn?  NULL if so, otherwise a message that says why not. */
const char *ns_sweep_map_refuses(const ns_sweep *sweep);

/* The figure, in the arena, and how many rows are not computed yet; 0 or an errno value. */
int ns_sweep_map(ns_arena *arena, const ns_sweep *sweep, ns_sweep_table *table,
                 const ns_sweep_map_options *options, ns_plot **plot, uint64_t *later);

#endif
