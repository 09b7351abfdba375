/* For files of expr/ alone: the graph's memory. */
#ifndef NS_EXPR_GRAPH_INTERNAL_H
#define NS_EXPR_GRAPH_INTERNAL_H

#include "expr/graph.h"

/* Marks that need no clearing: a node is marked when its stamp equals the current one. */
typedef struct ns_marks {
    uint32_t *stamps;
    uint32_t room, now;
} ns_marks;

struct ns_graph {
    ns_arena *arena;
    ns_arena *scratch;   /* for arrays that live during one call; see ns_arena_mark */
    ns_arena *workspace; /* the same, for work that builds expressions meanwhile */
    ns_marks *marks;     /* scratch of the read-only walks */
    NS_LIST(ns_node) nodes;
    NS_LIST(ns_ex) pool; /* arguments of all nodes */
    NS_LIST(ns_symbol) symbols;
    NS_LIST(const struct ns_pattern *) patterns; /* of LDL nodes */
    ns_ex *table; /* open addressing, a power of two, at most half full */
    uint32_t table_size;
    bool shaken; /* see ns_graph_shake */
};

/* The one node with this content, made if it is new.  No simplification. */
ns_ex ns_graph_intern(ns_graph *g, ns_node node, const ns_ex *args);

#endif
