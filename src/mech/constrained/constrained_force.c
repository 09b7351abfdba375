/* Forces of constraints by name.  The rows of constraint NAME act on the coordinates of a
 * member with the sum of A_k lambda_k over them; what acts on the position of the first member
 * in it is NAME.force (the others feel the opposite, a rod's or a joint's two ends): tension of
 * a rod, reaction of a joint.  It is unique if no row of NAME takes part in a dependence
 * (`check` says which do); the total on a member, S.reaction, always is. */
#include <string.h>

#include "mech/constrained/constrained.h"

static bool named(const ns_system *s, const char *name)
{
    for (uint32_t i = 0; i < s->observables.n; i++)
        if (strcmp(s->observables.at[i].name, name) == 0)
            return true;
    return false;
}

/* The member that rows first .. end-1 act on, by its position; NULL if none. */
static const ns_member *acted_on(const ns_system *s, const ns_constrained *c, uint32_t first,
                                 uint32_t end)
{
    const ns_dalembert *w = &c->eq;
    for (uint32_t i = 0; i < c->members.n; i++)
        for (uint32_t k = first; k < end; k++)
            for (uint32_t j = 0; j < 3; j++)
                if (!ns_graph_is_zero(s->graph,
                                      w->A[(size_t)k * w->n + c->members.at[i].first + j]))
                    return &c->members.at[i];
    return NULL;
}

/* Length of the name without the number of the row. */
static size_t stem(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && strspn(dot + 1, "0123456789") == strlen(dot + 1) ? (size_t)(dot - name)
                                                                   : strlen(name);
}

void ns_constrained_forces(ns_system *s, const ns_constrained *c)
{
    const ns_dalembert *w = &c->eq;
    ns_graph *g = s->graph;
    for (uint32_t first = 0, end; first < w->m; first = end) {
        const char *name = w->constraints[first].name;
        const size_t length = stem(name);
        for (end = first + 1; end < w->m && stem(w->constraints[end].name) == length &&
                              strncmp(w->constraints[end].name, name, length) == 0;)
            end++;
        const ns_member *member = acted_on(s, c, first, end);
        const char *force = ns_arena_format(s->arena, "%.*s.force", (int)length, name);
        if (!member || named(s, ns_arena_format(s->arena, "%s.x", force)))
            continue;
        ns_v3 sum = ns_v3_zero(g);
        for (uint32_t k = first; k < end; k++)
            for (uint32_t j = 0; j < 3; j++)
                sum.at[j] = ns_add(
                    g, sum.at[j],
                    ns_mul(g, w->A[(size_t)k * w->n + member->first + j], c->multiplier[k]));
        ns_system_observe_vector(s, NS_QUANTITY_FORCE, force, sum, "N", false);
    }
}
