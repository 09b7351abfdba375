/* Functions of the language beyond the table of operations of the graph, for help. */
#ifndef NS_LANG_FUNCTIONS_H
#define NS_LANG_FUNCTIONS_H

#include <stdint.h>

#include "base/diag.h"
#include "expr/graph.h"

struct ns_reader;
struct ns_cell;

typedef struct ns_builtin {
    const char *name;
    uint32_t least, most; /* arguments */
    bool (*apply)(struct ns_reader *r, ns_span place, const struct ns_cell *args, uint32_t n,
                  struct ns_cell *out);
    const char *form, *help;
} ns_builtin;

extern const ns_builtin ns_builtins[]; /* ends with a NULL name */

#endif
