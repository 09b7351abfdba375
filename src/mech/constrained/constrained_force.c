/* Forces of constraints by name.  The rows of constraint NAME act on the coordinates of a
 * member with the sum of A_k lambda_k over them; what acts on the position of the first member
 * in it is NAME.force (the others feel the opposite, a rod's or a joint's two ends): tension of
 * a rod, reaction of a joint.  It is unique if no row of NAME takes part in a dependence
 * (`check` says which do); the total on a member, S.reaction, always is. */
#include <string.h>

#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/constrained/constrained.h"

/* lambda.ROW of all rows; C.force and C.force.normal of contacts. */
bool ns_constrained_offer(ns_description *d, ns_constrained *c)
{
    if (!ns_description_awaits_reactions(d))
        return true;
    const uint32_t m = c->rows.n, n = m + 4 * c->touches.n;
    ns_ex *z = NS_NEW_ARRAY(d->arena, ns_ex, n + 1);
    NS_LIST(ns_scope_entry) names = {0};
    for (uint32_t k = 0; k < n; k++) {
        static const char *const parts[4] = {"force.x", "force.y", "force.z", "force.normal"};
        const ns_touch *t = k < m ? NULL : &c->touches.at[(k - m) / 4];
        const char *name = t ? ns_arena_format(d->arena, "%s.%s", t->name, parts[(k - m) % 4])
                             : ns_arena_format(d->arena, "lambda.%s", c->rows.at[k].name);
        z[k] = ns_symbol_new(d->graph, name, NS_SYM_LOCAL, k);
        if (!t || ((k - m) % 4 == 3 && t->has_normal))
            NS_PUSH(d->arena, names, (ns_scope_entry){.name = name, .value = {1, 1, &z[k]}});
        else if ((k - m) % 4 == 2)
            NS_PUSH(d->arena, names,
                    (ns_scope_entry){.name = ns_arena_format(d->arena, "%s.force", t->name),
                                     .value = {3, 1, &z[k - 2]}});
    }
    c->reaction = z;
    return ns_description_reactions(d, names.at, names.n);
}

uint32_t ns_constrained_reactions(const ns_constrained *c)
{
    return c->reaction ? c->rows.n + 4 * c->touches.n : 0;
}

ns_ex ns_constrained_aside(ns_description *d, const ns_constrained *c, ns_ex e)
{
    const uint32_t n = ns_constrained_reactions(c);
    ns_ex *zero = NS_NEW_ARRAY(d->arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++)
        zero[i] = ns_zero(d->graph);
    return n ? ns_subst_one(d->graph, e, c->reaction, zero, n) : e;
}

bool ns_constrained_settle(ns_description *d, ns_system *s, ns_constrained *c)
{
    const uint32_t m = c->rows.n, n = ns_constrained_reactions(c);
    if (!c->reaction)
        return true;
    for (uint32_t i = 0; i < d->constraints.n; i++)
        if (!ns_reactions_absent(s, d->constraints.at[i].residual, c->reaction, n,
                                 d->constraints.at[i].span, "a constraint"))
            return false;
    if (c->pinv) {
        ns_diag_error(d->diag, ns_block_single(d, &ns_block_solve)->span,
                      "forces that contain reactions are solved with `saddle` or `augmented`");
        return false;
    }
    ns_ex *y = NS_NEW_ARRAY(s->arena, ns_ex, n + 1);
    memcpy(y, c->multiplier, m * sizeof *y);
    for (uint32_t i = 0; i < c->touches.n; i++) {
        const ns_touch *t = &c->touches.at[i];
        const ns_v3 force = ns_constrained_contact_force(s, c, t);
        memcpy(y + m + 4 * (size_t)i, force.at, sizeof force.at);
        y[m + 4 * i + 3] = t->has_normal ? ns_v3_dot(s->graph, force, t->normal)
                                         : ns_zero(s->graph);
    }
    ns_dalembert_settle(&c->eq, y, c->acceleration, c->multiplier);
    return true;
}

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
                if (!ns_graph_is_zero(s->graph, ns_dalembert_entry(w, &w->rows, k,
                                                                   c->members.at[i].first + j)))
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
                sum.at[j] = ns_add(g, sum.at[j],
                                   ns_mul(g,
                                          ns_dalembert_entry(w, &w->rows, k, member->first + j),
                                          c->multiplier[k]));
        ns_system_observe_vector(s, NS_QUANTITY_FORCE, force, sum, "N", false);
    }
}
