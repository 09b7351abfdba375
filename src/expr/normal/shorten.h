/* Fewer operations, for what programs run on: expr/normal/normal.h is for print. */
#ifndef NS_EXPR_NORMAL_SHORTEN_H
#define NS_EXPR_NORMAL_SHORTEN_H

#include "expr/graph.h"

/* Systems with more coordinates are left alone: expressions grow too long, and the derivation
 * with them, for what there is to gain. */
enum { NS_SHORTEN_MOST = 6 };

/* e itself, or its normal form where that takes fewer operations.  Only forms with small
 * exact numbers are used: the result is as good in quadruple precision as e was. */
ns_ex ns_shorten(ns_graph *g, ns_ex e);

/* Operations of one node, about: divisions count as four, functions as a dozen. */
uint32_t ns_shorten_price(const ns_node *node);

/* Operations that evaluate all roots, common parts once; in units of an addition. */
double ns_shorten_cost(const ns_graph *g, const ns_ex *roots, size_t n);

#endif
