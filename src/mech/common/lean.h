/* M x = b on the graph for matrices that are mostly zeros and ones (frames, diagonal inertias).
 *
 * Unknowns that need no elimination (a row or column with one entry) or a pivot that is the
 * number 1 or -1 are taken out first; what is left is one `solve` node.  So nothing is ever
 * divided by an expression that the determinant does not contain as a factor. */
#ifndef NS_MECH_COMMON_LEAN_H
#define NS_MECH_COMMON_LEAN_H

#include "expr/graph.h"

/* x[i*n ..] solves M x = b[i*n ..] for i < count; M: n x n by rows.  x may be b. */
void ns_lean_solve(ns_graph *g, uint32_t n, const ns_ex *M, const ns_ex *b, uint32_t count,
                   ns_ex *x);

#endif
