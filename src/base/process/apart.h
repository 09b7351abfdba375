/* Work in a process of its own.
 *
 * HDF5 loops for ever or crashes on some damaged files, and crashes where memory runs out.  Its
 * code therefore runs in a child, which may end in any way: the parent gets what the child has
 * said, or learns that it crashed or fell silent.  The child sees the parent's memory as it
 * was; what it changes there is lost, what it writes to files is not. */
#ifndef NS_BASE_PROCESS_APART_H
#define NS_BASE_PROCESS_APART_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ns_apart {
    char *bytes; /* what the child has said, with a zero byte after it; from malloc */
    size_t length;
    char why[120]; /* it did not come to its end: why */
    bool memory;   /* of which there may have been too little */
} ns_apart;

/* Says something to the parent; false if that is not possible. */
bool ns_apart_say(int to, const void *bytes, size_t length);

/* Does the work.  False if the child crashed, was silent for longer than this, or could not be
 * made: then `why` says it and there are no bytes. */
bool ns_apart_do(bool (*work)(void *context, int to), void *context, double silence,
                 ns_apart *end);

#endif
