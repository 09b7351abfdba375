/* One expression of the language by itself, with a caller's names and functions: what claims
 * expect, the quantities of a sweep.
 *
 * Parser, limits and messages are the language's.  A formula is numbers with units, + - * / ^,
 * pi, the operations of the graph, and functions from a table of the caller.  These get their
 * arguments unevaluated: as a word, as a string, or, when they ask for it, as a number. */
#ifndef NS_LANG_FORMULA_H
#define NS_LANG_FORMULA_H

#include <stdbool.h>

#include "base/diag.h"

struct ns_item;

/* An expression or a part of one, in memory of the arena it was read into. */
typedef struct ns_formula {
    const char *text;         /* of the whole source */
    const struct ns_item *at; /* postfix code */
    const uint32_t *begin;    /* [n] where the operands of an item begin */
    uint32_t first, n;        /* its items are at[first .. n) */
    ns_span span;
} ns_formula;

struct ns_formula_world;

typedef struct ns_formula_call {
    const struct ns_formula_world *world;
    int what;      /* as in the function's row of the table */
    ns_span place; /* of the function's name */
    const ns_formula *args;
    uint32_t n;
} ns_formula_call;

typedef struct ns_formula_function {
    const char *name;
    uint32_t least, most; /* arguments */
    double (*apply)(const ns_formula_call *call);
    int what; /* which one, where several share a function */
} ns_formula_function;

/* What the words of a formula mean, and where messages go. */
typedef struct ns_formula_world {
    ns_diag *diag;
    ns_arena *arena;
    const ns_formula_function *functions; /* ends with a NULL name; they hide the language's */
    void *context;                        /* of the functions */
} ns_formula_world;

/* Reads the expression at *at of a registered source, up to `end`, and moves *at after it.
 * `stops`: further characters that may follow it (none has a meaning in the language);
 * `word`: a word that may follow it, no unit after a number; NULL if none.  False after a
 * message. */
bool ns_formula_read(ns_diag *diag, uint32_t source, const char *stops, const char *word,
                     uint32_t *at, uint32_t end, ns_formula *out);

/* Its value; nan after a message. */
double ns_formula_value(const ns_formula_world *world, const ns_formula *f);

/* A name, with its primes; NULL if it is anything else. */
const char *ns_formula_word(ns_arena *arena, const ns_formula *f);
/* The inside of a string; NULL if it is anything else. */
const char *ns_formula_string(ns_arena *arena, const ns_formula *f);
/* Is it FUNCTION(ARGUMENT), with exactly one argument?  Where that stands. */
bool ns_formula_argument(const ns_formula *f, const char *function, ns_span *argument);

#endif
