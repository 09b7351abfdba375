/* Loads: forces and torques beside the contact, and the forces of the contact in them
 * (mech/common/reactions.h). */
#include <string.h>

#include "mech/common/block.h"
#include "mech/common/reactions.h"
#include "mech/rolling/rolling.h"

/* Names that loads may use. */
bool ns_rolling_names(ns_description *d, ns_rolling *r)
{
    static const char *const reactions[4] = {"force.normal", "force.x", "force.y", "force.z"};
    ns_contact *c = &r->contact;
    for (uint32_t i = 0; i < 4; i++)
        r->reaction[i] = ns_symbol_new(d->graph, reactions[i], NS_SYM_LOCAL, i);
    ns_scope_entry names[] = {
        {.name = "force.normal", .value = {1, 1, &r->reaction[0]}, .unit = "N"},
        {.name = "omega", .value = {3, 1, c->Omega.at}, .unit = "rad/s"},
        {.name = "vertical", .value = {3, 1, c->vertical.at}, .unit = "1"},
        {.name = "quat", .value = {4, 1, c->quat}, .unit = "1", .axes = "wxyz"},
        {.name = "com", .value = {3, 1, c->com.at}, .unit = "m"},
        {.name = "contact", .value = {3, 1, c->point.at}, .unit = "m"},
        {.name = "velocity", .value = {3, 1, c->velocity.at}, .unit = "m/s"},
        {.name = "force", .value = {3, 1, &r->reaction[1]}, .unit = "N"}};
    return ns_description_define(d, names, c->reduced ? 3 : 8);
}

/* Reactions in a load, which must be linear in them. */
static bool note_reactions(ns_system *s, ns_rolling *r, const ns_v3 *v, ns_span span)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (!ns_reactions_affine(s, v->at[i], r->reaction, 4, span))
            return false;
        if (ns_graph_depends(s->graph, v->at[i], r->reaction + 1, 3))
            r->n_reactions = 4;
        else if (!r->n_reactions && ns_graph_depends(s->graph, v->at[i], r->reaction, 1))
            r->n_reactions = 1;
    }
    return true;
}

/* load { force [..] (space, at the centre of mass); torque [..] (body); torque.space [..] } */
bool ns_rolling_loads(ns_description *d, ns_system *s, ns_rolling *r, bool *any)
{
    static const char *const names[] = {"force", "force.body", "torque", "torque.space", NULL};
    ns_graph *g = d->graph;
    ns_contact *c = &r->contact;
    *any = false;
    c->force = c->torque = ns_v3_zero(g);
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *block = &d->blocks.at[i];
        if (block->form != &ns_block_load)
            continue;
        if (!ns_block_known(d, block, names))
            return false;
        for (uint32_t k = 0; k < block->properties.n; k++) {
            const ns_property *p = &block->properties.at[k];
            ns_v3 v;
            if (!ns_block_vector(d, p, 0, &v) || !note_reactions(s, r, &v, p->value_span))
                return false;
            if (strcmp(p->name, "force.body") == 0)
                v = ns_m3_apply(g, c->A, v);
            if (strcmp(p->name, "torque.space") == 0)
                v = ns_m3_apply_transposed(g, c->A, v);
            ns_v3 *sum = p->name[0] == 'f' ? &c->force : &c->torque;
            *sum = ns_v3_add(g, *sum, v);
            *any = true;
        }
    }
    return true;
}

void ns_rolling_reactions(ns_system *s, const ns_rolling *r)
{
    const ns_contact *c = &r->contact;
    for (uint32_t i = 0; i < (c->reduced ? 1u : 4u); i++)
        NS_PUSH(s->arena, s->accelerations,
                (ns_replacement){.from = r->reaction[i],
                                 .to = i ? c->force_space.at[i - 1] : c->normal_force});
}

void ns_rolling_settle(ns_system *s, ns_rolling *r)
{
    ns_contact *c = &r->contact;
    ns_graph *g = s->graph;
    const uint32_t n = r->n_reactions;
    ns_v3 *const vectors[] = {&c->Omega_rate, &c->reaction,    &c->force,
                              &c->torque,     &c->force_space, &c->omega_space_rate};
    const uint32_t count = c->reduced ? 4 : c->ball ? 6 : 5;
    if (n == 0) {
        ns_rolling_reactions(s, r);
        return;
    }
    ns_ex y[4] = {c->normal_force, c->force_space.at[0], c->force_space.at[1],
                  c->force_space.at[2]};
    ns_ex value[4], *at[20] = {&c->normal_force, &c->friction};
    for (uint32_t i = 0; i < 3 * count; i++)
        at[2 + i] = &vectors[i / 3]->at[i % 3];
    ns_reactions_watch(s, ns_reactions_solve(g, n, r->reaction, y, value));
    ns_reactions_put(g, n, r->reaction, value, at, 2 + 3 * count);
    ns_rolling_reactions(s, r);
}
