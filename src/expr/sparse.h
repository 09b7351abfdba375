/* Sparse symmetric linear systems as nodes.
 *
 * An LDL node is the factorisation  P K P^T = L D L^T  of a symmetric matrix of which only some
 * entries can differ from zero, without exchange of rows: the order of elimination is given and
 * fixed, so that it is known beforehand which operations there are.  That is right for positive
 * definite matrices and for quasidefinite ones, [ H B^T ; B -E ] with H and E positive
 * definite, which have such factors in every order (Vanderbei 1995).  SOLVE and PICK use it as
 * they use FACTOR; derivatives of a solution are solutions with the same factors.
 *
 * Evaluators need no code for it: the tape turns it into single operations (eval/tape.c). */
#ifndef NS_EXPR_SPARSE_H
#define NS_EXPR_SPARSE_H

#include "expr/graph.h"

#define NS_SPARSE_NONE UINT32_MAX

/* Structure of K and of its factors.  Positions are places in the order of elimination. */
typedef struct ns_pattern {
    uint32_t n, entries;
    const uint32_t *row, *col; /* [entries] of K, in its own numbering, row >= col */
    const uint32_t *order;     /* [n] what is eliminated k-th */
    const uint32_t *diagonal;  /* [n] entry of K at position (j, j), or none */
    const uint32_t *start;     /* [n+1] where the columns of L begin */
    const uint32_t *below;     /* [start[n]] position of the row, ascending in a column */
    const uint32_t *source;    /* [start[n]] entry of K there, or none (fill) */
    /* the same by rows: in row j stand the columns left[k] with the elements at[k] of L */
    const uint32_t *row_start, *left, *at;
} ns_pattern;

/* Makes the pattern known to the graph; equal entries and order give the same one. */
const ns_pattern *ns_sparse_pattern(ns_graph *g, uint32_t n, uint32_t entries,
                                    const uint32_t *row, const uint32_t *col,
                                    const uint32_t *order);
/* The pattern of an LDL node. */
const ns_pattern *ns_sparse_of(const ns_graph *g, ns_ex e);

/* x = K^-1 b;  K[entries] */
void ns_sparse_solve(ns_graph *g, const ns_pattern *pattern, const ns_ex *K, const ns_ex *b,
                     ns_ex *x);

/* With numbers: V and L [start[n]], inverse [n] of the pivots, column [n] for scratch. */
void ns_sparse_factor(const ns_pattern *p, const double *K, double *V, double *L,
                      double *inverse, double *column);
/* b and x [n]; they may be the same.  scratch [n] */
void ns_sparse_apply(const ns_pattern *p, const double *L, const double *inverse,
                     const double *b, double *x, double *scratch);

#endif
