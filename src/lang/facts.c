/* What is known about nodes of the graph: on which kinds of symbols they depend, and the value
 * of those that depend on parameters at most.  Kept for all nodes in the order of their
 * handles, so that every question costs nothing more than the nodes made since the last one. */
#include <math.h>

#include "expr/eval.h"
#include "lang/reader.h"

static ns_fact_of fact_of(ns_reader *r, ns_ex e)
{
    const ns_node *node = ns_graph_node(r->g, e);
    const ns_ex *args = ns_graph_args(r->g, e);
    ns_fact_of fact = {.value = (double)NAN};
    for (uint32_t k = 0; k < node->n; k++) {
        const ns_fact_of *arg = &r->facts.at[args[k]];
        fact.kinds |= arg->kinds;
        fact.params = arg->params > fact.params ? arg->params : fact.params;
    }
    switch (node->op) {
    case NS_OP_NUMBER:
        fact.value = node->hi;
        break;
    case NS_OP_SYMBOL:
        fact.kinds = 1u << ns_graph_symbol(r->g, e)->kind;
        if (fact.kinds == 1u << NS_SYM_PARAM)
            fact.params = ns_graph_symbol(r->g, e)->index + 1;
        break;
    case NS_OP_POWI:
        fact.value = ns_eval_power(r->facts.at[args[0]].value, node->integer);
        break;
    case NS_OP_FACTOR:
    case NS_OP_LDL:
    case NS_OP_SOLVE:
        break;
    case NS_OP_PICK:
        if (fact.kinds == 0)
            fact.value = ns_eval_constant(r->g, e);
        break;
    default:
        if ((fact.kinds & ~(1u << NS_SYM_PARAM)) == 0)
            fact.value = ns_ops_value((ns_op)node->op, r->facts.at[args[0]].value,
                                      node->n > 1 ? r->facts.at[args[1]].value : 0);
    }
    return fact;
}

static const ns_fact_of *look(ns_reader *r, ns_ex e)
{
    if (r->facts.n == 0)
        NS_PUSH(r->arena, r->facts, (ns_fact_of){0}); /* handle 0 */
    while (r->facts.n <= e) {
        ns_fact_of fact = fact_of(r, r->facts.n);
        NS_PUSH(r->arena, r->facts, fact);
    }
    return &r->facts.at[e];
}

uint32_t ns_facts_kinds(ns_reader *r, ns_ex e)
{
    return look(r, e)->kinds;
}

uint32_t ns_facts_last_param(ns_reader *r, ns_ex e)
{
    return look(r, e)->params;
}

double ns_facts_value(ns_reader *r, ns_ex e)
{
    return look(r, e)->value;
}

bool ns_facts_constant(ns_reader *r, ns_ex e, double *value)
{
    const ns_fact_of *fact = look(r, e);
    *value = fact->value;
    return fact->kinds == 0;
}

void ns_facts_set(ns_reader *r, ns_ex symbol, double value)
{
    look(r, symbol);
    r->facts.at[symbol].value = value;
}
