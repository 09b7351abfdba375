/* For sweep_table.c: where the table of a sweep has its arrays.  HDF5 lays them out once; rows
 * are read and written without it. */
#ifndef NS_OUT_TABLES_SWEEP_LAYOUT_H
#define NS_OUT_TABLES_SWEEP_LAYOUT_H

#include <sys/types.h>

#include "out/tables/sweep_table.h"

typedef struct ns_sweep_place {
    off_t at;     /* in the file */
    size_t bytes; /* of one row */
} ns_sweep_place;

typedef struct ns_sweep_layout {
    uint64_t rows;
    uint32_t columns;                     /* axes and quantities */
    ns_sweep_place *column;               /* [columns] */
    ns_sweep_place status, reason, check; /* status: one byte */
} ns_sweep_layout;

/* Takes the space from the system, where it can do that: a disk that is too small is found now.
 * Reasons, which few rows have, are left out.  0 or an errno value. */
int ns_sweep_layout_reserve(int fd, off_t at, off_t bytes);
/* An HDF5 file with the arrays of a sweep, by its descriptor and by its name, sealed
 * (sweep_seal.h), and where they are.  0 or an errno value. */
int ns_sweep_layout_make(ns_sweep_layout *layout, const ns_sweep *sweep,
                         const ns_sweep_fact *facts, uint32_t n_facts, const char *path,
                         int fd);

#endif
