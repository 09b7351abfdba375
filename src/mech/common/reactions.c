#include "mech/common/reactions.h"

#include "base/check.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/subst.h"

/* The first of them that e contains; 0 if none. */
static ns_ex first_in(const ns_graph *g, ns_ex e, const ns_ex *z, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (ns_graph_depends(g, e, z + i, 1))
            return z[i];
    return 0;
}

bool ns_reactions_affine(ns_system *s, ns_ex force, const ns_ex *z, uint32_t n, ns_span span)
{
    ns_graph *g = s->graph;
    const ns_ex found = first_in(g, force, z, n);
    ns_ex rest;
    if (!found)
        return true;
    ns_ex *slope = NS_NEW_ARRAY(s->arena, ns_ex, n);
    if (ns_subst_collect_linear(g, force, z, n, slope, &rest)) {
        for (uint32_t i = 0; i < n;
             i++) /* |z| has constant slopes, too, but is none of these */
            rest = ns_add(g, rest, ns_mul(g, slope[i], z[i]));
        if (rest == force || ns_eval_vanishes(g, ns_sub(g, force, rest), force))
            return true;
    }
    ns_diag_error(s->description->diag, span,
                  "a force may contain reactions linearly, so that they can be solved for; in "
                  "`%s` this one is not linear",
                  ns_graph_symbol(g, found)->name);
    return false;
}

bool ns_reactions_absent(ns_system *s, ns_ex e, const ns_ex *z, uint32_t n, ns_span span,
                         const char *where)
{
    const ns_ex found = first_in(s->graph, e, z, n);
    if (!found)
        return true;
    ns_diag_error(s->description->diag, span, "%s cannot contain the reaction `%s`: forces can",
                  where, ns_graph_symbol(s->graph, found)->name);
    return false;
}

/* By the first row; zeros cost nothing. */
static ns_ex determinant(ns_graph *g, uint32_t n, const ns_ex *K, uint32_t stride,
                         const uint32_t *column)
{
    uint32_t rest[NS_REACTIONS_MOST];
    ns_ex sum = ns_zero(g);
    if (n == 0)
        return ns_one(g);
    for (uint32_t j = 0; j < n; j++) {
        const ns_ex entry = K[column[j]];
        if (ns_graph_is_zero(g, entry))
            continue;
        for (uint32_t k = 0, at = 0; k < n; k++)
            if (k != j)
                rest[at++] = column[k];
        const ns_ex minor = determinant(g, n - 1, K + stride, stride, rest);
        const ns_ex term = ns_mul(g, entry, minor);
        sum = j % 2 ? ns_sub(g, sum, term) : ns_add(g, sum, term);
    }
    return sum;
}

ns_ex ns_reactions_solve(ns_graph *g, uint32_t n, const ns_ex *z, const ns_ex *y, ns_ex *value)
{
    enum { MOST = NS_REACTIONS_MOST };
    ns_ex K[MOST * MOST], zero[MOST], right[MOST];
    uint32_t column[MOST] = {0};
    NS_CHECK(n >= 1 && n <= MOST);
    ns_diff_jacobian(g, y, n, z, n, K);
    for (uint32_t i = 0; i < n; i++) {
        zero[i] = ns_zero(g);
        column[i] = i;
    }
    ns_subst(g, y, n, z, zero, n, right);
    ns_subst(g, K, (size_t)n * n, z, zero, n, K); /* they depend on z in appearance only */
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            K[i * n + j] = ns_sub(g, i == j ? ns_one(g) : zero[0], K[i * n + j]);
    if (n == 1)
        value[0] = ns_div(g, right[0], K[0]);
    else
        ns_solve(g, n, K, right, value);
    return determinant(g, n, K, n, column);
}

void ns_reactions_put(ns_graph *g, uint32_t n, const ns_ex *z, const ns_ex *value,
                      ns_ex *const *at, uint32_t count)
{
    ns_ex *all = NS_NEW_ARRAY(ns_graph_arena(g), ns_ex, count + 1);
    for (uint32_t i = 0; i < count; i++)
        all[i] = *at[i];
    ns_subst(g, all, count, z, value, n, all);
    for (uint32_t i = 0; i < count; i++)
        *at[i] = all[i];
}

void ns_reactions_watch(ns_system *s, ns_ex determinant_of)
{
    if (ns_graph_is_number(s->graph, determinant_of, NULL))
        return;
    NS_PUSH(s->arena, s->events,
            (ns_event){.name = "jams",
                       .value = determinant_of,
                       .direction = -1,
                       .condition = true,
                       .action = NS_EVENT_SINGULAR,
                       .meaning = "forces answer the reactions as strongly as these act: no or "
                                  "several reactions fit (Painleve's paradox)"});
}
