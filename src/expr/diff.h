/* Exact derivatives on the graph. */
#ifndef NS_EXPR_DIFF_H
#define NS_EXPR_DIFF_H

#include "expr/graph.h"

/* df/dx */
ns_ex ns_diff(ns_graph *g, ns_ex f, ns_ex x);

/* Forward: out[i] = sum_j (df_i/dx_j) dx_j, one walk for all f.  With x the coordinates and
 * dx their velocities this is the time derivative (add x = time, dx = 1 if time enters). */
void ns_diff_along(ns_graph *g, const ns_ex *f, size_t nf, const ns_ex *x, const ns_ex *dx,
                   size_t nx, ns_ex *out);

/* One step of it: the derivative of e from those of its arguments, d[argument], 0 where one
 * vanishes.  Not for parts of linear systems (ns_diff_plain). */
bool ns_diff_plain(const ns_graph *g, ns_ex e);
ns_ex ns_diff_step(ns_graph *g, ns_ex e, const ns_ex *d);

/* Reverse: out[j] = df/dx_j, one walk for all x. */
void ns_diff_gradient(ns_graph *g, ns_ex f, const ns_ex *x, size_t nx, ns_ex *out);

/* out[i*nx + j] = df_i/dx_j, by columns forward or by rows in reverse, whichever is less. */
void ns_diff_jacobian(ns_graph *g, const ns_ex *f, size_t nf, const ns_ex *x, size_t nx,
                      ns_ex *out);

/* The same entries, but only those that are not zero: of row i  start[i] .. start[i+1]-1,
 * columns ascending.  Costs what the rows and columns contain, not rows times columns. */
typedef struct ns_sparse_rows {
    uint32_t rows;
    uint32_t *start, *column;
    ns_ex *value;
} ns_sparse_rows;
ns_sparse_rows *ns_diff_sparse(ns_graph *g, ns_arena *arena, const ns_ex *f, size_t nf,
                               const ns_ex *x, size_t nx);
ns_sparse_rows *ns_sparse_transposed(ns_arena *arena, const ns_sparse_rows *a,
                                     uint32_t columns);

#endif
