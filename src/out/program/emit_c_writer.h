/* For emit_c.c: expressions of the graph as statements of C. */
#ifndef NS_OUT_PROGRAM_EMIT_C_WRITER_H
#define NS_OUT_PROGRAM_EMIT_C_WRITER_H

#include "base/text.h"
#include "expr/print/print.h"
#include "session/model.h"

/* Functions of the file that only some models need. */
typedef enum ns_emit_c_helper {
    NS_EMIT_POWER,
    NS_EMIT_SIGN,
    NS_EMIT_LEAST,
    NS_EMIT_MOST,
    NS_EMIT_SYSTEMS,
    NS_EMIT_HELPERS
} ns_emit_c_helper;

typedef struct ns_emit_c_waiting {
    const char *text; /* NULL: a node */
    ns_ex node;
    int least;
} ns_emit_c_waiting;

typedef struct ns_emit_c_writer {
    ns_arena *arena;
    const ns_model *model;
    const ns_graph *g;
    ns_text *out;
    ns_text line; /* the statement being written */
    const ns_shared *shared;
    const char **names; /* [graph size] of symbols */
    NS_LIST(ns_emit_c_waiting) stack;
    bool needs[NS_EMIT_HELPERS];
} ns_emit_c_writer;

/* The name of a symbol in the file: its own as far as C allows. */
void ns_emit_c_name(ns_emit_c_writer *w, ns_ex symbol, const char *name);
/* Words that can stand in a comment or a string. */
const char *ns_emit_c_comment(ns_arena *arena, const char *words);
/* A number as C reads it back. */
const char *ns_emit_c_number(ns_emit_c_writer *w, double value);
/* The body of a function that computes `roots` into an array, at their places in it if
 * given. */
void ns_emit_c_body(ns_emit_c_writer *w, const ns_ex *roots, uint32_t n, const char *array,
                    const uint32_t *place, const char *const *comments);

#endif
