/* Linear rates, taken apart: see split.h.  J is the derivative of the rates by v, which must
 * not contain v; c are the rates at v = 0. */
#include "expr/split.h"

#include "expr/diff.h"
#include "expr/subst.h"

static ns_ex stand_in(ns_split *l, ns_ex e)
{
    if (!ns_graph_depends(l->graph, e, l->runs, l->n_runs))
        return e;
    for (uint32_t i = 0; i < l->known.n; i++)
        if (l->known.at[i] == e)
            return l->symbol.at[i];
    const ns_ex symbol = ns_symbol_new(l->graph, "known", NS_SYM_LOCAL, l->known.n);
    NS_PUSH(l->arena, l->known, e);
    NS_PUSH(l->arena, l->symbol, symbol);
    return symbol;
}

bool ns_split_linear(ns_split *l, const ns_ex *v, uint32_t n, ns_ex *rate)
{
    ns_graph *g = l->graph;
    ns_ex *J = NS_NEW_ARRAY(l->arena, ns_ex, (size_t)n * n + 1);
    ns_ex *c = NS_NEW_ARRAY(l->arena, ns_ex, n + 1);
    ns_ex *zero = NS_NEW_ARRAY(l->arena, ns_ex, n + 1);
    ns_diff_jacobian(g, rate, n, v, n, J);
    const uint32_t size = ns_graph_size(g);
    bool *used = NS_NEW_ARRAY(l->arena, bool, size);
    ns_graph_mark(g, J, (size_t)n * n, used);
    for (uint32_t i = 0; i < n; i++) {
        if (used[v[i]])
            return false;
        zero[i] = ns_zero(g);
    }
    ns_subst(g, rate, n, v, zero, n, c);
    for (uint32_t i = 0; i < n; i++) {
        ns_ex sum = stand_in(l, c[i]);
        for (uint32_t j = 0; j < n; j++) {
            const ns_ex term = ns_mul(g, stand_in(l, J[(size_t)i * n + j]), v[j]);
            sum = ns_add(g, sum, term);
        }
        rate[i] = sum;
    }
    return true;
}
