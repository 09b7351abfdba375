/* For emit_c.c and emit_script.c: expressions of the graph as statements of a language. */
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

typedef enum ns_emit_language { NS_EMIT_C, NS_EMIT_PYTHON, NS_EMIT_OCTAVE } ns_emit_language;

typedef struct ns_emit_c_waiting {
    const char *text; /* NULL: a node */
    ns_ex node;
    int least;
} ns_emit_c_waiting;

/* Where a function of the file finds a symbol: array[index]. */
typedef struct ns_emit_c_source {
    ns_ex symbol;
    const char *array;
    uint32_t index;
} ns_emit_c_source;

typedef struct ns_emit_c_writer {
    ns_arena *arena;
    ns_emit_language language;
    const ns_model *model;
    const ns_system *system; /* of the model, or a fork of it */
    const ns_graph *g;
    ns_text *out;
    ns_text line; /* the statement being written */
    const ns_shared *shared;
    const char **names; /* [graph size] of symbols */
    NS_LIST(ns_emit_c_source) sources;
    NS_LIST(const char *) arrays; /* of the sources: parameters of each function */
    NS_LIST(ns_emit_c_waiting) stack;
    bool needs[NS_EMIT_HELPERS];
} ns_emit_c_writer;

/* For expressions of the system, all of which are on its graph now: names for its states and
 * parameters, found in the arrays x and p. */
ns_emit_c_writer ns_emit_c_writer_new(ns_arena *arena, const ns_model *model,
                                      const ns_system *system, ns_text *out);
/* The same in another language. */
ns_emit_c_writer ns_emit_script_writer(ns_arena *arena, const ns_model *model,
                                       ns_emit_language language, ns_text *out);
/* Further symbols, with these names, in an array that all functions from now on have. */
void ns_emit_c_writer_add(ns_emit_c_writer *w, const char *array, const ns_ex *symbols,
                          uint32_t n);
/* Words that can stand in a comment or a string. */
const char *ns_emit_c_comment(ns_arena *arena, const char *words);
/* A number as the language reads it back. */
const char *ns_emit_c_number(ns_emit_c_writer *w, double value);
/* The body of a function that computes `roots` into an array, at their places in it if
 * given. */
void ns_emit_c_body(ns_emit_c_writer *w, const ns_ex *roots, uint32_t n, const char *array,
                    const uint32_t *place, const char *const *comments);

#endif
