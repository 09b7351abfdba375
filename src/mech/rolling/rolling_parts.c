/* Bodies under a contact law that touch with one of two parts, and where a part ends.
 *
 * Two parts of one kind: a ball and its stem (`stem [x, y, z], r`: a second ball, fixed to it),
 * and the two rims of a can.  With k, the state `piece`, 0 or 1, the contact is that of the
 * first part with
 *
 *     the radius           R_1 + k (R_2 - R_1)     of a ball
 *     the centre of mass   at c - k p              from the centre of that part,
 *
 * p from the first part's centre to the second's: for a can (0, 0, -2 z), the first rim at
 * height z.  k changes by jumps (rolling_touch.c); on planes only, where contact coordinates
 * have a closed form.
 *
 * Where a part ends.  The contact with a rim lies down along v, towards the apex of a cone,
 * when gamma.v falls to 0.  The apex is gap + gamma.v above the plane: in flight that says when
 * it lands.  Other ends (a dome's rim) only say, in flight, that another part faces the ground.
 * An edge that is level in flight goes on, and ends where it comes down so. */
#include <string.h>

#include "mech/common/block.h"
#include "mech/rolling/rolling.h"

static void second_part(ns_description *d, ns_rolling *r, ns_v3 from_first)
{
    ns_contact *c = &r->contact;
    r->piece = ns_symbol_new(d->graph, "piece", NS_SYM_STATE, 0);
    c->centre = ns_v3_sub(d->graph, c->centre, ns_v3_scale(d->graph, r->piece, from_first));
}

/* The two rims of a can are alike; with both in play it may fall on its side and tumble. */
static void two_rims(ns_description *d, ns_rolling *r)
{
    ns_graph *g = d->graph;
    const ns_contact *c = &r->contact;
    const char *kind = r->body_block->kind;
    if (!r->law.any || !kind || strcmp(kind, "cylinder") != 0 || !c->closed ||
        c->body.kind != NS_SIDE_CIRCLE || !c->ground.flat)
        return;
    ns_ex height = ns_mul(g, ns_number(g, -2), c->body.point.at[2]);
    second_part(d, r, ns_v3_make(ns_zero(g), ns_zero(g), height));
    r->body.n_limits = 0;
}

bool ns_rolling_two_parts(ns_description *d, ns_rolling *r)
{
    ns_graph *g = d->graph;
    ns_contact *c = &r->contact;
    const ns_property *p = ns_block_find(r->body_block, "stem");
    ns_v3 at;
    ns_ex radius;
    if (!p) {
        two_rims(d, r);
        return true;
    }
    const char *why = !r->law.any
                          ? "a stem needs a contact law: the body hits the ground with it"
                      : !c->radius || !r->ground.planar
                          ? "`stem` goes with a `sphere` on a `plane`"
                      : ns_block_has(r->body_block, "uniform")
                          ? "a body with a stem needs `inertia`: `uniform` is the ball alone"
                      : p->values != 2 ? "expected  stem [x, y, z], r"
                                       : NULL;
    if (why)
        ns_diag_error(d->diag, p->span, "%s", why);
    if (why || !ns_block_vector(d, p, 0, &at) || !ns_block_scalar(d, p, 1, &radius))
        return false;
    r->stem = radius;
    second_part(d, r, at);
    c->radius = ns_add(g, c->radius, ns_mul(g, r->piece, ns_sub(g, radius, c->radius)));
    return true;
}

/* The same value in two modes, another one in the third. */
static ns_ex on_ground_or_in_air(ns_system *s, const ns_rolling *r, ns_ex ground, ns_ex air)
{
    ns_ex value[3];
    for (int k = 0; k < 3; k++)
        if (r->mode[k] != UINT32_MAX)
            value[r->mode[k]] = k == NS_MEET_FLY ? air : ground;
    return ns_system_by_mode(s, value);
}

/* In flight a coin may turn over: it lies flat when it is flat and down. */
ns_ex ns_rolling_lies_flat(ns_system *s, const ns_rolling *r, ns_ex tilt)
{
    ns_graph *g = s->graph;
    ns_ex high = ns_sub(g, ns_div(g, r->touch.gap, r->touch.size), ns_number(g, 1e-9));
    return on_ground_or_in_air(s, r, tilt, ns_apply(g, NS_OP_MAX, tilt, high));
}

static void end(ns_system *s, const char *name, ns_ex value, const char *meaning)
{
    NS_PUSH(s->arena, s->events,
            (ns_event){.name = name,
                       .value = value,
                       .direction = -1,
                       .condition = true,
                       .action = NS_EVENT_STOP,
                       .meaning = meaning});
}

void ns_rolling_part_ends(ns_system *s, const ns_rolling *r)
{
    ns_graph *g = s->graph;
    const ns_contact *c = &r->contact;
    ns_ex one = ns_one(g), faces = 0;
    for (uint32_t i = 0; i < r->body.n_limits; i++) {
        const ns_limit *at = &r->body.limit[i];
        ns_ex value = at->value ? at->value : ns_v3_dot(g, c->gamma, at->lean);
        if (!r->law.any) {
            end(s, at->name, value, at->meaning);
            continue;
        }
        end(s, at->name, on_ground_or_in_air(s, r, value, one), at->meaning);
        if (at->apex && c->ground.flat)
            end(s, "apex", on_ground_or_in_air(s, r, one, ns_add(g, r->touch.gap, value)),
                "the apex hits the ground");
        else
            faces = faces ? ns_apply(g, NS_OP_MIN, faces, value) : value;
    }
    if (faces)
        end(s, "faces", on_ground_or_in_air(s, r, one, faces),
            "in flight, another part of the body has come to face the ground");
}
