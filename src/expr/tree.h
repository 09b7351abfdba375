/* The mass matrix of a Lagrangian whose velocities are built on each other, as those of the
 * bodies of a chain or a tree are: factorised without being written down.
 *
 * The graph of L shows how.  A part of it that is linear in the velocities v and is used more
 * than once, as the velocity of a body is by its own kinetic energy and by the next body, is a
 * velocity w_j of its own,
 *
 *     w_j = sum_i B_ji w_i + sum_k C_jk v_k + d_j      (i < j),
 *
 * and L a quadratic form in v and w with a matrix H of few entries.  M = d2L/dv2 follows from H
 * by putting the w_j in one after the other, the last first, and is eliminated meanwhile: v_k
 * as soon as no w is left that contains it.  Its pivot is then that of M in the same order,
 * since moving v_k moves nothing that is left; so pivots are positive wherever M is definite,
 * and no rows need to be exchanged.  In a tree each step touches one body and the one that
 * carries it: cost is linear (the recursion of Featherstone 1983, found, not programmed). */
#ifndef NS_EXPR_TREE_H
#define NS_EXPR_TREE_H

#include "expr/graph.h"

typedef struct ns_tree ns_tree;

/* NULL if L is not quadratic in v by its form, or if eliminating and solving for this many
 * right-hand sides takes more than `most` operations; then nothing was added to the graph. */
ns_tree *ns_tree_make(ns_graph *g, ns_arena *arena, ns_ex lagrangian, uint32_t n,
                      const ns_ex *v, uint32_t right, double most);

/* x = M^-1 r; x may be r. */
void ns_tree_solve(const ns_tree *tree, const ns_ex *r, ns_ex *x);

/* [n] The pivots of M, and what they would be without the terms that were subtracted: where a
 * pivot is not positive beyond rounding of that, M is singular. */
const ns_ex *ns_tree_pivots(const ns_tree *tree);
const ns_ex *ns_tree_sizes(const ns_tree *tree);

#endif
