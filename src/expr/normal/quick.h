/* Expressions rewritten for speed where rounding may differ in the last place.
 *
 *   - Divisions are the slowest of the basic operations, and on eight lanes they do not
 *   overlap.
 *     Quotients with a common denominator become products with one reciprocal; so do quotients
 *     whose denominator does not change during a run, whose reciprocal is computed once.
 *   - Linear systems of two and three equations are solved by Cramer's rule: one division and
 *   short
 *     chains of products instead of three divisions that wait for each other, and no search for
 *     pivots.  Scaling rows or columns does not change its relative errors, which are those of
 *     the determinants: a few roundings times sum |products| / |determinant|.
 *
 * The values are the same but for rounding errors. */
#ifndef NS_EXPR_NORMAL_QUICK_H
#define NS_EXPR_NORMAL_QUICK_H

#include "expr/graph.h"

/* out[i] = f_i rewritten; x are the symbols that change during a run (and the time, if any). */
void ns_quick(ns_graph *g, const ns_ex *f, uint32_t n, const ns_ex *x, uint32_t nx, ns_ex *out);

#endif
