/* For files of expr/ alone: the graph's memory. */
#ifndef NS_EXPR_GRAPH_INTERNAL_H
#define NS_EXPR_GRAPH_INTERNAL_H

#include "expr/graph.h"

/* Marks that need no clearing: a node is marked when its stamp equals the current one. */
typedef struct ns_marks {
    uint32_t *stamps;
    uint32_t room, now;
    ns_ex *reached; /* [n] what was marked, in no order */
    uint32_t n;
    ns_ex *value; /* see ns_slots */
    ns_ex **vector;
    bool *flag, busy;
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

/* The nodes that the roots need, ascending, in the graph's scratch. */
ns_ex *ns_graph_reach(const ns_graph *g, const ns_ex *roots, size_t n, uint32_t *count);

/* Zeros for every node there is, for one walk at a time, which puts zeros back where it leaves
 * anything: at the nodes of a list.  Nodes made meanwhile have no place. */
typedef struct ns_slots {
    ns_ex *value;
    ns_ex **vector;
    bool *flag;
} ns_slots;
ns_slots ns_graph_slots(const ns_graph *g);
void ns_graph_slots_clear(const ns_graph *g, const ns_ex *list, uint32_t n);

#endif
