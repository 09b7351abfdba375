/* Expressions as text and as LaTeX.
 *
 * Text is what the model language reads: parsed in a scope with the same symbols it gives the
 * same node again (products made by ns_times excepted, which the language writes as quotients;
 * and inf and nan, which it cannot write).  LaTeX is for reading.
 *
 * An expression is printed as a tree.  Where subexpressions are shared, that may be far longer
 * than the graph: name them by ns_print_shared first. */
#ifndef NS_EXPR_PRINT_PRINT_H
#define NS_EXPR_PRINT_PRINT_H

#include "base/text.h"
#include "expr/graph.h"

typedef enum ns_print_style {
    NS_PRINT_TEXT,
    NS_PRINT_LATEX,
    NS_PRINT_PLAIN /* text without the brackets of a + (b + c) and a*(b*c): for reading */
} ns_print_style;

typedef struct ns_shared_item {
    const char *name;
    ns_ex node; /* scalar, or a whole SOLVE (vector) or FACTOR (matrix) */
} ns_shared_item;

/* Named intermediate results, each in terms of those before it. */
typedef struct ns_shared {
    NS_LIST(ns_shared_item) items;
    const uint32_t *place; /* by node: number of its item, from 1; 0 if it has none */
    uint32_t size;         /* of place */
} ns_shared;

void ns_print_text(const ns_graph *g, ns_ex e, ns_text *out);
void ns_print_latex(const ns_graph *g, ns_ex e, ns_text *out);

/* Chooses what to name (t1, t2, ... for prefix "t"; names of symbols are left out): nodes that
 * the roots use more than once and that are longer than a few characters. */
const ns_shared *ns_print_shared(const ns_graph *g, const ns_ex *roots, size_t n,
                                 const char *prefix);

/* With names for the shared parts. */
void ns_print_expression(const ns_graph *g, ns_ex e, ns_print_style style,
                         const ns_shared *shared, ns_text *out);
/* What the item stands for: the right-hand side of `NAME = ...`. */
void ns_print_definition(const ns_graph *g, const ns_shared *shared, uint32_t item,
                         ns_print_style style, ns_text *out);

/* A name alone, in the way of the style: omega.x' becomes \dot{\omega}_{x}. */
void ns_print_name(const char *name, ns_print_style style, ns_text *out);

#endif
