/* Expressions in readable form: as quotients of polynomials in symbols, sines, cosines, roots
 * and other functions, with what cancels cancelled.  For print: programs run on expressions as
 * they were built. */
#ifndef NS_EXPR_NORMAL_NORMAL_H
#define NS_EXPR_NORMAL_NORMAL_H

#include "expr/graph.h"

/* Names that stand for expressions (a parameter defined by others): where it makes the result
 * shorter, the expression is put in for the name (but not within sin(..) and the like). */
typedef struct ns_normal_names {
    const ns_ex *name, *value; /* [n] */
    size_t n;
} ns_normal_names;

/* A shorter expression of the same value, or e itself if none is found.  `names` may be
 * NULL. */
ns_ex ns_normal(ns_graph *g, ns_ex e, const ns_normal_names *names);

/* The same, as a sum over products of powers of the symbols x, each with one coefficient. */
ns_ex ns_normal_collect(ns_graph *g, ns_ex e, const ns_ex *x, size_t n,
                        const ns_normal_names *names);

/* How many operations and operands it has in print, a solve counting as a hundred. */
double ns_normal_length(ns_graph *g, ns_ex e);

#endif
