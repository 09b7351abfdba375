/* Lists of numbers in HDF5 files of anybody, read in a process of its own: a file that makes
 * HDF5 crash or loop gets a message. */
#ifndef NS_BASE_SERIES_H5_LISTS_H
#define NS_BASE_SERIES_H5_LISTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* What is said where HDF5 is asked for and was left out (CMake: NOSLIP_HDF5). */
#define NS_WITHOUT_HDF5 "this program was built without HDF5"

typedef struct ns_h5_list {
    const char *name; /* its attribute `name`, else that of the dataset */
    size_t rank;      /* 1, or it is not a list and has no values */
    size_t rows;
    double *value;
} ns_h5_list;

typedef NS_LIST(ns_h5_list) ns_h5_lists;

typedef struct ns_h5_lists_request {
    const char *group; /* in which to look; where there is none, and with `both`, in the root */
    bool both;         /* in the root first */
    bool as_made;      /* in the order they were made in, where the file knows it */
} ns_h5_lists_request;

/* All datasets of numbers.  False with a message in the arena. */
bool ns_h5_lists_read(ns_arena *arena, const char *path, const ns_h5_lists_request *request,
                      ns_h5_lists *lists, const char **message);

#endif
