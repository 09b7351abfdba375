/* Keeps the folder of compiled code small. */
#ifndef NS_EVAL_PRUNE_H
#define NS_EVAL_PRUNE_H

#include <stdint.h>

typedef struct ns_prune_limits {
    uint64_t bytes;     /* of all libraries together */
    double unused;      /* seconds after which a library that nobody used is removed */
    double young;       /* seconds within which nothing is removed, whatever the size */
    double left_behind; /* seconds after which files of a compilation that died are removed */
} ns_prune_limits;

extern const ns_prune_limits ns_prune_usual;

/* Removes libraries (32 hexadecimal digits and .so) from the folder, those first that were used
 * longest ago, by the time of their last change, which ns_prune_used sets; other files with
 * such a beginning if they are old; nothing else.  Returns how many files.
 *
 * Several processes may do this at the same time, and others may load a library meanwhile: what
 * is loaded stays, and who finds a file gone compiles it again. */
unsigned ns_prune(const char *folder, const ns_prune_limits *limits);

/* Notes that a library is used. */
void ns_prune_used(const char *path);

#endif
