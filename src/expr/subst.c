#include "expr/subst.h"

#include <math.h>

#include "base/check.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/graph_internal.h"

void ns_subst(ns_graph *g, const ns_ex *f, size_t nf, const ns_ex *from, const ns_ex *to,
              size_t n, ns_ex *out)
{
    NS_CHECK((f && out) || !nf);
    NS_CHECK((from && to) || !n);
    ns_arena *arena = ns_graph_scratch(g);
    ns_arena_place mark = ns_arena_mark(arena);
    uint32_t most = 1, size;
    const ns_ex *used = ns_graph_reach(g, f, nf, &size);
    for (uint32_t i = 0; i < size; i++)
        if (ns_graph_node(g, used[i])->n > most)
            most = ns_graph_node(g, used[i])->n;
    ns_ex *image = ns_graph_slots(g).value;
    ns_ex *args = NS_NEW_ARRAY(arena, ns_ex, most);
    for (size_t j = 0; j < n; j++)
        image[from[j]] = to[j];
    for (uint32_t i = 0; i < size; i++) {
        const ns_ex e = used[i];
        if (image[e])
            continue;
        bool changed = false;
        uint32_t count = ns_graph_node(g, e)->n;
        for (uint32_t k = 0; k < count; k++) {
            ns_ex arg = ns_graph_args(g, e)[k];
            args[k] = image[arg];
            changed = changed || args[k] != arg;
        }
        image[e] = changed ? ns_rebuild(g, e, args) : e;
    }
    for (size_t i = 0; i < nf; i++)
        out[i] = image[f[i]];
    ns_graph_slots_clear(g, used, size);
    for (size_t j = 0; j < n; j++)
        image[from[j]] = 0;
    ns_arena_release(arena, mark);
}

ns_ex ns_subst_one(ns_graph *g, ns_ex f, const ns_ex *from, const ns_ex *to, size_t n)
{
    ns_ex out;
    ns_subst(g, &f, 1, from, to, n, &out);
    return out;
}

/* Is every e_i independent of x, by structure or, failing that, by value? */
static bool independent(ns_graph *g, const ns_ex *e, size_t ne, const ns_ex *x, size_t n)
{
    for (size_t i = 0; i < ne; i++) {
        if (!ns_graph_depends(g, e[i], x, n))
            continue;
        ns_ex *slope = NS_NEW_ARRAY(ns_graph_arena(g), ns_ex, n);
        ns_diff_gradient(g, e[i], x, n, slope);
        for (size_t j = 0; j < n; j++)
            if (!ns_eval_vanishes(g, slope[j], e[i]))
                return false;
    }
    return true;
}

bool ns_subst_collect_linear(ns_graph *g, ns_ex f, const ns_ex *x, size_t n, ns_ex *linear,
                             ns_ex *rest)
{
    NS_CHECK(linear && rest);
    ns_ex *zero = NS_NEW_ARRAY(ns_graph_arena(g), ns_ex, n);
    for (size_t j = 0; j < n; j++)
        zero[j] = ns_zero(g);
    ns_diff_gradient(g, f, x, n, linear);
    if (!independent(g, linear, n, x, n))
        return false;
    ns_subst(g, linear, n, x, zero, n, linear);
    *rest = ns_subst_one(g, f, x, zero, n);
    return true;
}

bool ns_subst_collect_quadratic(ns_graph *g, ns_ex f, const ns_ex *x, size_t n,
                                ns_ex *quadratic, ns_ex *linear, ns_ex *rest)
{
    NS_CHECK(quadratic && linear && rest);
    ns_ex *zero = NS_NEW_ARRAY(ns_graph_arena(g), ns_ex, n);
    for (size_t j = 0; j < n; j++)
        zero[j] = ns_zero(g);
    ns_diff_gradient(g, f, x, n, linear);
    ns_diff_jacobian(g, linear, n, x, n, quadratic);
    /* Rounding of the builders' order may give the two halves different nodes: take one. */
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < j; k++)
            quadratic[j * n + k] = quadratic[k * n + j];
    if (!independent(g, quadratic, n * n, x, n))
        return false;
    ns_subst(g, quadratic, n * n, x, zero, n, quadratic);
    ns_subst(g, linear, n, x, zero, n, linear);
    *rest = ns_subst_one(g, f, x, zero, n);
    return true;
}
