/* Rates that are linear in their own states, with coefficients from outside,
 *
 *     v' = J(t, x) v + c(t, x),
 *
 * as those of deviations from a motion are: once x is known at the stages of a step, J and c
 * are, and the iteration for v is left with products and sums. */
#ifndef NS_EXPR_SPLIT_H
#define NS_EXPR_SPLIT_H

#include "expr/graph.h"

typedef struct ns_split {
    ns_graph *graph;
    ns_arena *arena;   /* for the lists */
    const ns_ex *runs; /* [n_runs] symbols that change during a run: states and time */
    uint32_t n_runs;
    NS_LIST(ns_ex) known;  /* coefficients that change, each once */
    NS_LIST(ns_ex) symbol; /* what stands for them in the rates */
} ns_split;

/* rate[i] = sum_j J_ij v_j + c_i with symbols for coefficients that change, which are added to
 * the lists; false, and nothing is added, if the rates are not linear in v[n]. */
bool ns_split_linear(ns_split *l, const ns_ex *v, uint32_t n, ns_ex *rate);

#endif
