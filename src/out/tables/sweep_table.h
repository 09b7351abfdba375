/* The table of a sweep: one HDF5 file that is whole at every moment.
 *
 *     /                     attributes: what the table belongs to (model, plan, quantities,
 *                           version, ...)
 *     /parameters/NAME      [rows] what was varied                   attribute name, exact
 *     /results/NAME         [rows] what was asked for                attributes name, unit
 *     /status               [rows] ns_status of the motion           attribute meaning
 *     /reason               [rows] why it ended early, "" otherwise
 *     /check                [rows] checksum of the row; 0: not computed yet
 *
 * The number of rows is known from the beginning.  HDF5 makes the file once, with all space
 * laid out in plain arrays, and closes it; from then on rows are written at their places by
 * pwrite, and HDF5's own structures never change.  So the file can be read at any time, a kill
 * loses what was not handed to the system yet, and a row counts only if its checksum is right:
 * after a power failure rows that did not get to the disk are computed again.  Memory does not
 * depend on the number of rows. */
#ifndef NS_OUT_TABLES_SWEEP_TABLE_H
#define NS_OUT_TABLES_SWEEP_TABLE_H

#include <stdbool.h>

#include "study/sweeps/sweep_run.h"

/* A text about the whole, an attribute of the file.  A file with another text is refused where
 * `what` is given ("another model"). */
typedef struct ns_sweep_fact {
    const char *name, *text, *what;
} ns_sweep_fact;

typedef struct ns_sweep_table ns_sweep_table;

/* Makes the file, or opens one that the same sweep began (*fresh: it was made now).  `path`
 * NULL: a nameless file in the folder for temporary ones.  On failure NULL, with words and the
 * exit status in *status (NS_ERR_USAGE if the file is something else, NS_ERR_IO). */
ns_sweep_table *ns_sweep_table_open(const ns_sweep *sweep, const ns_sweep_fact *facts,
                                    uint32_t n_facts, const char *path, bool *fresh,
                                    ns_status *status, char message[400]);
/* Which shard of a sweep a table holds ("" for the whole), whatever sweep it belongs to; to be
 * freed.  NULL if it is not a table of a sweep. */
char *ns_sweep_table_shard(const char *path);
void ns_sweep_table_close(ns_sweep_table *table);

/* Writes records of rows; several threads may do so at once.  0 or an errno value. */
int ns_sweep_table_put(ns_sweep_table *table, uint64_t first, uint32_t count,
                       const void *records);
/* Sees to it that what was written is on the disk. */
int ns_sweep_table_sync(ns_sweep_table *table);
/* Reads records; there[count]: the row is complete. */
int ns_sweep_table_get(ns_sweep_table *table, uint64_t first, uint32_t count, void *records,
                       bool *there);

/* The table as a place for the rows of ns_sweep_run. */
ns_sweep_sink ns_sweep_table_sink(ns_sweep_table *table);

#endif
