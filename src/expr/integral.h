/* Integrals of expressions, written out on the graph: see integral.c. */
#ifndef NS_EXPR_INTEGRAL_H
#define NS_EXPR_INTEGRAL_H

#include "expr/graph.h"

/* The integral of f over u from a to b; *margin is negative where f is not resolved. */
ns_ex ns_integral(ns_graph *g, ns_ex f, ns_ex u, ns_ex a, ns_ex b, ns_ex *margin);

#endif
