/* Orders of elimination for sparse symmetric matrices: constrained_order.c. */
#ifndef NS_MECH_COMMON_ORDER_H
#define NS_MECH_COMMON_ORDER_H

#include "expr/sparse.h"

/* What is `first` goes first, then the others; of each the one with fewest neighbours is
 * next. */
const ns_pattern *ns_order_two_stages(ns_graph *g, uint32_t size, uint32_t entries,
                                      const uint32_t *row, const uint32_t *col,
                                      const bool *first);

/* Neighbours of every vertex as lists: first[size+1], neighbour. */
void ns_order_neighbours(ns_arena *arena, uint32_t size, uint32_t entries, const uint32_t *row,
                         const uint32_t *col, uint32_t **first, uint32_t **neighbour);

#endif
