/* Formulation `rolling`: a rigid body rolls without slipping (Patrick 2022, eqs (4), (12)).
 *
 *     ground KIND(...) { ... }      body KIND(...) { mass, com, inertia }      start { ... }
 *
 * States: quaternion (body to space), angular velocity (body frame), contact coordinates of the
 * body (s from the centre of mass, or surface parameters) and of the ground.  The equations are
 * those of mech/contact/contact.c; the state is kept on its manifold: unit quaternion, contact
 * point on both surfaces, normals opposite.
 *
 * Fewer where they follow from the others.  Bodies whose contact point has a closed form in
 * terms of the ground normal (balls and ellipsoids on surfaces; tori and edges on planes): no
 * coordinates of the body.  Balls with isotropic inertia: angular velocity in space, which with
 * the contact on the ground makes a system of its own; the quaternion follows.  The names of
 * what is not a state is a value. */
#include "mech/rolling/rolling.h"

#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/formulations.h"

static bool fits(const ns_description *d)
{
    bool ground = false;
    for (uint32_t i = 0; i < d->blocks.n; i++)
        ground = ground || d->blocks.at[i].form == &ns_block_ground;
    return ground && d->coordinates.n == 0 && d->states.n == 0 &&
           !ns_formulation_constrained.fits(d); /* more than one body on a ground */
}

/* ---- masses ------------------------------------------------------------------------------ */

/* The same about every axis, whatever the parameters are. */
static bool isotropic(ns_graph *g, ns_m3 I)
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        if (!ns_graph_is_zero(g, I.at[i][j]) || !ns_graph_is_zero(g, I.at[j][i]) ||
            !ns_graph_is_zero(g, ns_sub(g, I.at[i][i], I.at[j][j])))
            return false;
    }
    return true;
}

static bool read_mass(ns_description *d, ns_rolling *r)
{
    const ns_block *b = r->body_block;
    ns_graph *g = d->graph;
    bool compound;
    if (!ns_solid_read(d, &r->mass, &compound))
        return false;
    const ns_property *mass = ns_block_find(b, "mass"), *inertia = ns_block_find(b, "inertia");
    const ns_property *uniform = ns_block_find(b, "uniform"), *turn = ns_block_find(b, "turn");
    const ns_property *com = ns_block_find(b, "com");
    if (!com)
        com = ns_block_find(b, "centre");
    if (compound) {
        const ns_property *extra = mass ? mass : inertia ? inertia : uniform ? uniform : com;
        if (extra) {
            ns_diag_error(d->diag, extra->span,
                          "the `solid` blocks give mass, centre and inertia already");
            return false;
        }
        r->isotropic = isotropic(g, r->mass.inertia);
        return true;
    }
    if (!mass || !ns_block_scalar(d, mass, 0, &r->mass.mass)) {
        if (!mass)
            ns_diag_error(d->diag, b->span, "the body needs `mass` (or `solid` blocks)");
        return false;
    }
    if (!inertia == !uniform) {
        ns_diag_error(d->diag, b->span,
                      inertia ? "give either `inertia` or `uniform`"
                              : "the body needs `inertia` (six tensor entries about the centre "
                                "of mass), or `uniform`, or `solid` blocks");
        return false;
    }
    r->mass.centre = ns_v3_zero(g);
    if (uniform) {
        const char *solid = ns_shapes_solid(b->kind);
        ns_ex sizes[4];
        for (uint32_t i = 0; solid && i < b->nargs && i < 4; i++)
            if (!ns_block_argument(d, b, i, &sizes[i]))
                return false;
        if (!solid || !ns_solid_uniform(g, solid, sizes, b->nargs, r->mass.mass, &r->mass)) {
            ns_diag_error(d->diag, uniform->span,
                          "no closed form for a uniform `%s`: give `inertia` or `solid` blocks",
                          b->kind);
            return false;
        }
        if (com) {
            ns_diag_error(d->diag, com->span, "a uniform body has its centre of mass already");
            return false;
        }
    } else if (!ns_block_matrix(d, inertia, 0, &r->mass.inertia)) {
        return false;
    }
    if (com && !ns_block_vector(d, com, 0, &r->mass.centre))
        return false;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            if (!ns_graph_is_zero(
                    g, ns_sub(g, r->mass.inertia.at[i][j], r->mass.inertia.at[j][i]))) {
                ns_diag_error(
                    d->diag, inertia ? inertia->value_span : b->span,
                    "the inertia tensor is not symmetric: entries %d,%d and %d,%d differ",
                    j + 1, i + 1, i + 1, j + 1);
                return false;
            }
    r->isotropic = isotropic(g, r->mass.inertia);
    if (turn) { /* inertia given along axes that are turned in the body */
        ns_v3 axis;
        ns_ex angle;
        if (!ns_block_vector(d, turn, 0, &axis) || !ns_block_scalar(d, turn, 1, &angle))
            return false;
        if (r->isotropic)
            return true;
        ns_m3 R = ns_solid_turn(g, axis, angle);
        ns_m3 I = ns_m3_mul(g, R, ns_m3_mul(g, r->mass.inertia, ns_m3_transpose(R)));
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++)
                I.at[i][j] = I.at[j][i];
        r->mass.inertia = I;
    }
    return true;
}

/* ---- moving grounds ---------------------------------------------------------------------- */

/* origin [..] and turn [axis], angle as functions of time: B, o and their derivatives */
static bool read_motion(ns_description *d, ns_rolling *r)
{
    ns_graph *g = d->graph;
    ns_contact *c = &r->contact;
    const ns_property *origin = ns_block_find(r->ground_block, "origin");
    const ns_property *turn = ns_block_find(r->ground_block, "turn");
    c->moving = origin || turn;
    if (!c->moving)
        return true;
    c->o = ns_v3_zero(g);
    c->B = ns_m3_identity(g);
    if (origin && !ns_block_vector(d, origin, 0, &c->o))
        return false;
    if (turn) {
        ns_v3 axis;
        ns_ex angle;
        if (!ns_block_vector(d, turn, 0, &axis) || !ns_block_scalar(d, turn, 1, &angle))
            return false;
        c->B = ns_solid_turn(g, axis, angle);
    }
    c->o1 = ns_v3_diff(g, c->o, d->time);
    c->o2 = ns_v3_diff(g, c->o1, d->time);
    /* W^ = B' B^T */
    ns_m3 B1;
    ns_ex one = ns_one(g);
    ns_diff_along(g, &c->B.at[0][0], 9, &d->time, &one, 1, &B1.at[0][0]);
    ns_m3 spin = ns_m3_mul(g, B1, ns_m3_transpose(c->B));
    c->W = ns_v3_make(spin.at[2][1], spin.at[0][2], spin.at[1][0]);
    c->W1 = ns_v3_diff(g, c->W, d->time);
    c->driven = !ns_v3_is_zero(g, c->o1) || !ns_v3_is_zero(g, c->W);
    return true;
}

/* ---- the system -------------------------------------------------------------------------- */

static void add_states(ns_system *s, ns_rolling *r)
{
    static const char *const quat[4] = {"quat.w", "quat.x", "quat.y", "quat.z"};
    const char *omega = r->contact.ball ? "omega.space" : "omega";
    ns_contact *c = &r->contact;
    r->quat = s->states.n;
    for (uint32_t i = 0; i < 4 && !c->reduced; i++)
        c->quat[i] = ns_symbol_new(s->graph, quat[i], NS_SYM_STATE, i);
    if (!c->reduced)
        ns_system_add_vector(s, NS_QUANTITY_QUATERNION, "quat", "wxyz", c->quat, "");
    ns_v3 *w = c->ball ? &c->omega_space : &c->Omega;
    for (uint32_t i = 0; i < 3; i++)
        w->at[i] = ns_symbol_new(s->graph, ns_arena_format(s->arena, "%s.%c", omega, "xyz"[i]),
                                 NS_SYM_STATE, i);
    r->omega = ns_system_add_vector(s, NS_QUANTITY_ANGULAR, omega, "xyz", w->at, "rad/s");
    r->side = s->states.n;
    const char *unit = c->body.kind == NS_SIDE_IMPLICIT ? "m" : "";
    if (!c->closed)
        ns_system_add_vector(s, r->body.kind, r->body.vector, r->body.axes, c->body.symbol,
                             unit);
    r->support = s->states.n;
    if (c->reduced)
        return;
    unit = c->ground.kind == NS_SIDE_IMPLICIT || c->ground.kind == NS_SIDE_GRAPH ||
                   r->ground.planar
               ? "m"
               : "";
    ns_system_add_vector(s, r->ground.kind, r->ground.vector, r->ground.axes, c->ground.symbol,
                         unit);
}

static void set_rates(ns_system *s, const ns_rolling *r)
{
    const ns_contact *c = &r->contact;
    for (uint32_t i = 0; i < 4 && !c->reduced; i++)
        s->states.at[r->quat + i].rate = c->quat_rate[i];
    for (uint32_t i = 0; i < 3; i++)
        s->states.at[r->omega + i].rate = (c->ball ? c->omega_space_rate : c->Omega_rate).at[i];
    for (uint32_t i = 0; i < c->body.n && !c->closed; i++)
        s->states.at[r->side + i].rate = c->body_rate[i];
    for (uint32_t i = 0; i < c->ground.n && !c->reduced; i++)
        s->states.at[r->support + i].rate = c->ground_rate[i];
}

void ns_rolling_constrain(ns_system *s, const char *name, ns_ex residual, ns_span span)
{
    NS_PUSH(s->arena, s->constraints,
            (ns_constraint){.name = name, .residual = residual, .project = true, .span = span});
}

void ns_rolling_manifold(ns_system *s, const ns_rolling *r)
{
    ns_graph *g = s->graph;
    const ns_contact *c = &r->contact;
    ns_span body = r->body_block->span, ground = r->ground_block->span;
    if (c->reduced) {
        if (c->body.residual)
            ns_rolling_constrain(s, "body surface", c->body.residual, body);
        return;
    }
    ns_ex norm = ns_zero(g);
    for (int i = 0; i < 4; i++)
        norm = ns_add(g, norm, ns_powi(g, c->quat[i], 2));
    ns_rolling_constrain(s, "quaternion",
                         ns_mul(g, ns_number(g, 0.5), ns_sub(g, norm, ns_one(g))), body);
    if (c->body.residual)
        ns_rolling_constrain(s, ns_side_is_curve(&c->body) ? "rim" : "body surface",
                             c->body.residual, body);
    if (c->ground.residual)
        ns_rolling_constrain(s, "ground surface", c->ground.residual, ground);
    if (c->closed)
        return;
    if (c->tangency) {
        ns_rolling_constrain(s, "tangent", c->tangency, body);
        return;
    }
    /* That the normals are opposite is two equations; their three components in space would be
     * dependent, and one of them of second order wherever the normal points along an axis. */
    ns_v3 base[2] = {c->ground.base[0], c->ground.base[1]};
    if (!r->ground.planar)
        ns_v3_tangents(g, c->ground.normal, base);
    ns_rolling_constrain(s, "normals.x", ns_v3_dot(g, c->align, base[0]), body);
    ns_rolling_constrain(s, "normals.y", ns_v3_dot(g, c->align, base[1]), body);
}

void ns_rolling_values(ns_system *s, ns_rolling *r)
{
    ns_graph *g = s->graph;
    ns_contact *c = &r->contact;
    ns_system_observe_vector(s, NS_QUANTITY_ANGULAR, "omega", c->Omega, "rad/s", true);
    ns_system_observe_vector(s, NS_QUANTITY_ON_BODY, "s", c->s, "m",
                             c->closed && c->body.kind == NS_SIDE_IMPLICIT);
    for (uint32_t i = 0; i < 2 && c->closed && c->body.kind == NS_SIDE_CIRCLE; i++)
        ns_system_observe(s, NS_QUANTITY_OTHER, ns_rolling_side_name(s, r, i), c->side[i], "",
                          true);
    ns_system_observe_vector(s, NS_QUANTITY_OTHER, "vertical", c->vertical, "", false);
    ns_system_observe(s, NS_QUANTITY_ENERGY, "energy", c->energy, "J", true);
    ns_system_observe(s, NS_QUANTITY_FORCE, "force.normal", c->normal_force, "N", true);
    ns_system_observe(s, NS_QUANTITY_FORCE, "force.friction", c->friction, "N", true);
    ns_ex ratio = r->ratio ? r->ratio : ns_div(g, c->friction, ns_abs(g, c->normal_force));
    ns_system_observe(s, NS_QUANTITY_FORCE, "force.ratio", ratio, "", true);
    ns_system_observe(s, NS_QUANTITY_OTHER, "regularity", c->regular, "", false);
    if (c->reduced) {
        ns_system_observe(s, NS_QUANTITY_PLACE, "com.z", c->com.at[2], "m", true);
        return;
    }
    ns_system_define(s, "quat", c->quat, 4);
    s->vectors.at[s->vectors.n - 1].axes = "wxyz";
    ns_system_observe_vector(s, NS_QUANTITY_PLACE, "com", c->com, "m", true);
    ns_system_observe_vector(s, NS_QUANTITY_PLACE, "centre", r->body_centre, "m", false);
    ns_system_observe_vector(s, NS_QUANTITY_PLACE, "contact", c->point, "m", true);
    ns_system_observe_vector(s, NS_QUANTITY_OTHER, "velocity", c->velocity, "m/s", false);
    ns_system_observe_vector(s, NS_QUANTITY_ANGULAR, "omega.space", c->omega_space, "rad/s",
                             false);
    ns_v3 normal = c->ball ? c->normal : ns_m3_apply(g, c->A, c->gamma);
    ns_system_observe_vector(s, NS_QUANTITY_OTHER, "normal", normal, "", false);
    ns_system_observe_vector(s, NS_QUANTITY_FORCE, "force", c->force_space, "N", false);
}

bool ns_rolling_action(const ns_description *d, const ns_block *block, const char *name,
                       ns_event_action *action)
{
    const ns_property *p = ns_block_find(block, name);
    *action = NS_EVENT_WARN;
    if (!p)
        return true;
    if (p->word && strcmp(p->word, "stop") == 0)
        *action = NS_EVENT_STOP;
    else if (!(p->word && strcmp(p->word, "warn") == 0)) {
        ns_diag_error(d->diag, p->value_span, "`%s` is `stop` or `warn`", name);
        return false;
    }
    return true;
}

/* Events that end a contact, whatever its law: overlap, curvatures, the ends of a part. */
bool ns_rolling_ends(ns_description *d, ns_system *s, ns_rolling *r)
{
    ns_graph *g = s->graph;
    ns_contact *c = &r->contact;
    ns_event_action overlap;
    if (!ns_rolling_action(d, r->ground_block, "overlap", &overlap))
        return false;
    if (ns_block_has(r->ground_block, "overlap")) {
        ns_ex depth;
        if (!ns_rolling_overlap(d, s, r, &depth))
            return false;
        NS_PUSH(s->arena, s->events,
                (ns_event){.name = "overlap",
                           .value = depth,
                           .direction = -1,
                           .condition = true,
                           .action = overlap,
                           .meaning = "a second point of the body reaches the ground"});
    }
    bool edge = ns_side_is_curve(&c->body);
    /* The contact runs off with a speed like 1/regular, so that zero is never reached by steps
     * of finite length: the event is where it nearly is, in relation to the curvatures. */
    ns_ex nearly = c->regular;
    if (edge)
        nearly = ns_sub(g, nearly,
                        ns_mul(g, ns_number(g, 1e-6), ns_v3_norm(g, c->body.second)));
    else if (c->fit)
        nearly = ns_sub(g, nearly, ns_mul(g, ns_number(g, 1e-7), ns_powi(g, c->fit, 2)));
    if (edge && r->law.any && c->ground.flat)
        nearly = ns_rolling_lies_flat(s, r, nearly);
    if (!(c->ground.flat && r->body.convex)) /* it can happen */
        NS_PUSH(s->arena, s->events,
                (ns_event){
                    .name = edge ? "flat" : "irregular",
                    .value = nearly,
                    .direction = -1,
                    .action = NS_EVENT_SINGULAR,
                    .meaning = edge ? "the edge lies flat on the ground"
                                    : "the curvatures of body and ground became equal in one "
                                      "direction: the contact is no longer a point"});
    ns_rolling_part_ends(s, r);
    return true;
}

static bool add_events(ns_description *d, ns_system *s, ns_rolling *r)
{
    ns_graph *g = s->graph;
    ns_contact *c = &r->contact;
    ns_event_action liftoff, slip;
    if (!ns_rolling_action(d, r->ground_block, "liftoff", &liftoff) ||
        !ns_rolling_action(d, r->ground_block, "slip", &slip))
        return false;
    NS_PUSH(s->arena, s->events,
            (ns_event){.name = "liftoff",
                       .value = c->normal_force,
                       .direction = -1,
                       .condition = true,
                       .action = liftoff,
                       .meaning = "the contact would lift off"});
    const ns_property *mu = ns_block_find(r->ground_block, "mu");
    if (mu) {
        ns_ex limit;
        if (!ns_block_scalar(d, mu, 0, &limit))
            return false;
        NS_PUSH(s->arena, s->events,
                (ns_event){.name = "slip",
                           .value = ns_sub(g, c->friction, ns_mul(g, limit, c->normal_force)),
                           .direction = 1,
                           .condition = true,
                           .action = slip,
                           .meaning = "the body would start to slip"});
    } else if (ns_block_has(r->ground_block, "slip")) {
        ns_diag_error(d->diag, ns_block_find(r->ground_block, "slip")->span,
                      "`slip` needs a friction coefficient: add `mu`");
        return false;
    }
    return ns_rolling_ends(d, s, r);
}

static void note_equations(ns_system *s, const ns_rolling *r)
{
    const ns_contact *c = &r->contact;
    static const char axes[3] = {'x', 'y', 'z'};
    for (int i = 0; i < 3; i++)
        NS_PUSH(s->arena, s->equations,
                (ns_equation_line){.group = "outward normal of the body at the contact, n",
                                   .name = ns_arena_format(s->arena, "n.%c", axes[i]),
                                   .value = ns_neg(s->graph, c->gamma.at[i])});
    for (int i = 0; i < 3; i++)
        NS_PUSH(s->arena, s->equations,
                (ns_equation_line){.group = "motion of the contact in the body, s'",
                                   .name = ns_arena_format(s->arena, "s.%c'", axes[i]),
                                   .value = c->s_rate.at[i]});
    NS_PUSH(s->arena, s->equations,
            (ns_equation_line){.group = "energy", .name = "E", .value = c->energy});
}

static void add_scene(ns_system *s, const ns_rolling *r)
{
    const ns_contact *c = &r->contact;
    ns_scene *scene = &s->scene;
    if (c->reduced) {
        scene->unseen = "This body is `reduced`: its states tell how it leans, not where it is "
                        "nor which way it faces. Without `reduced` the page shows it.";
        return;
    }
    ns_scene_body body = {.name = r->body_block->name ? r->body_block->name : "body",
                          .drawing = r->body.drawing,
                          .position = r->body_centre,
                          .massive = true,
                          .com = r->mass.centre,
                          .inertia = r->mass.inertia};
    memcpy(body.quat, c->quat, sizeof body.quat);
    NS_PUSH(s->arena, scene->bodies, body);
    scene->ground = r->ground.drawing;
    scene->ground_moves = c->moving;
    scene->ground_origin = c->o;
    scene->ground_rotation = c->B;
    NS_PUSH(s->arena, scene->paths,
            (ns_scene_path){"contact on the ground", -1, c->point, NS_PATH_CONTACT, NULL});
    NS_PUSH(s->arena, scene->paths,
            (ns_scene_path){"contact on the body", 0, c->body.point, NS_PATH_CONTACT, NULL});
    NS_PUSH(s->arena, scene->paths,
            (ns_scene_path){"centre of mass", -1, c->com, NS_PATH_COM, NULL});
    NS_PUSH(s->arena, scene->arrows,
            (ns_scene_arrow){"angular velocity", "rad/s", c->com, c->omega_space, NULL, 0});
    NS_PUSH(s->arena, scene->arrows,
            (ns_scene_arrow){"contact force", "N", c->point, c->force_space, NULL, 0});
}

void ns_rolling_tell(ns_description *d, ns_system *s, ns_rolling *r)
{
    note_equations(s, r);
    ns_rolling_facts(s, r);
    ns_rolling_prepare_overlap(d, s, r);
    add_scene(s, r);
    ns_system_fact(s, "body", "%s, %s", r->body_block->kind,
                   ns_side_is_curve(&r->contact.body) ? "touching with an edge"
                                                      : "touching with its surface");
    ns_system_fact(s, "ground", "%s%s", r->ground_block->kind,
                   r->contact.driven ? ", moving" : "");
}

static const char *const ground_names[] = {"tilt",
                                           "heading",
                                           "at",
                                           "axis",
                                           "side",
                                           "origin",
                                           "turn",
                                           "mu",
                                           "liftoff",
                                           "slip",
                                           "overlap",
                                           "friction",
                                           "resistance.rolling",
                                           "resistance.boring",
                                           "restitution",
                                           "restitution.tangential",
                                           "restitution.poisson",
                                           "unilateral",
                                           "rubber",
                                           NULL};

/* `rubber`: the body does not turn about the normal of the ground. */
static bool read_rubber(ns_description *d, ns_rolling *r)
{
    const ns_property *rubber = ns_block_find(r->ground_block, "rubber");
    r->contact.rubber = rubber != NULL;
    if (!rubber)
        return true;
    const char *wrong = rubber->values || rubber->word ? "`rubber` takes no value"
                        : r->contact.moving            ? "rubber rolling is for grounds at rest"
                        : r->law.any ? "a contact law and `rubber` exclude each other"
                                     : NULL;
    if (wrong)
        ns_diag_error(d->diag, rubber->span, "%s", wrong);
    return !wrong;
}

/* Blocks, masses, shapes and the motion of the ground. */
static bool read_blocks(ns_description *d, ns_rolling *r)
{
    static const char *const body_names[] = {"mass",    "inertia", "uniform", "com",
                                             "centre",  "contact", "turn",    "flip",
                                             "reduced", "limit",   "stem",    NULL};
    static const char *const rigid[] = {"mass", "inertia", "com",     "centre", "turn",
                                        "at",   "axis",    "density", "stem",   NULL};
    ns_contact *c = &r->contact;
    r->body_block = ns_block_single(d, &ns_block_body);
    r->ground_block = ns_block_single(d, &ns_block_ground);
    r->start_block = ns_block_single(d, &ns_block_start);
    if (!r->body_block || !r->ground_block) {
        ns_diag_error(d->diag, d->whole, "rolling needs a `body` and a `ground`");
        return false;
    }
    if (!ns_block_known(d, r->body_block, body_names) ||
        !ns_block_known(d, r->ground_block, ground_names) ||
        !ns_block_rigid(d, r->body_block, rigid) || d->diag->errors)
        return false;
    for (uint32_t i = 0; i < d->blocks.n; i++)
        if (d->blocks.at[i].form == &ns_block_solid &&
            !ns_block_rigid(d, &d->blocks.at[i], rigid))
            return false;
    if (!ns_shapes_known(d, r->body_block) || !read_mass(d, r) ||
        !ns_shapes_body(d, r->body_block, &r->locals, r->mass.centre, &r->body) ||
        !ns_shapes_ground(d, r->ground_block, &r->locals, &r->ground) || !read_motion(d, r) ||
        !ns_law_read(d, r->ground_block, &r->law))
        return false;
    if (r->law.any && r->ground.side.kind == NS_SIDE_IMPLICIT && r->ground.side.flat) {
        r->ground.side = ns_side_flat(d->graph, &r->ground.side);
        r->ground.planar = true;
    }
    c->body = r->body.side;
    c->ground = r->ground.side;
    if (ns_side_is_curve(&c->body) && ns_side_is_curve(&c->ground)) {
        ns_diag_error(
            d->diag, r->ground_block->span,
            "an edge on a wire touches at one fixed point of both: that is not rolling");
        return false;
    }
    if (c->moving) { /* coordinates in the ground's own frame */
        r->ground.kind = r->ground.planar ? NS_QUANTITY_PARAMETER : NS_QUANTITY_COORDINATE;
        r->ground.vector = "ground";
        r->ground.axes = ns_arena_format(d->arena, "%.*s", (int)c->ground.n,
                                         r->ground.planar ? "uv" : "xyz");
    }
    c->reduced = ns_block_has(r->body_block, "reduced");
    if (c->reduced && (!r->ground.level || c->moving || ns_side_is_curve(&c->body))) {
        ns_diag_error(d->diag, ns_block_find(r->body_block, "reduced")->span,
                      "the reduced system (s, omega) exists for a smooth body on a fixed "
                      "horizontal plane");
        return false;
    }
    if (!read_rubber(d, r))
        return false;
    bool surface = !ns_side_is_curve(&c->ground);
    c->closed = !c->reduced && surface &&
                (r->body.convex || (r->body.lowest && c->ground.flat));
    c->radius = c->closed ? r->body.radius : 0;
    c->quadric = c->closed && r->body.quadric;
    c->squares = r->body.squares;
    c->support = r->body.support;
    memcpy(c->way, r->locals.x, sizeof c->way);
    c->ball = !r->law.any && !c->rubber && c->radius && r->isotropic &&
              ns_v3_is_zero(d->graph, r->mass.centre);
    c->centre = r->mass.centre;
    c->mass = r->mass.mass;
    c->inertia = r->mass.inertia;
    c->gravity = ns_description_param(d, "g", "m/s^2");
    if (!c->gravity)
        c->gravity = ns_decimal(d->graph, "9.81");
    return ns_rolling_two_parts(d, r);
}

/* Limits of a part whose contact coordinates have a closed form. */
void ns_rolling_limits(ns_graph *g, ns_rolling *r)
{
    const ns_contact *c = &r->contact;
    for (uint32_t i = 0; i < r->body.n_limits && c->closed; i++) {
        ns_limit *end = &r->body.limit[i];
        if (end->value)
            end->value = ns_subst_one(g, end->value, c->body.symbol, c->side, c->body.n);
        else
            ns_subst(g, end->lean.at, 3, c->body.symbol, c->side, c->body.n, end->lean.at);
    }
}

static bool derive(ns_description *d, ns_system *s)
{
    ns_rolling *r = NS_NEW(s->arena, ns_rolling);
    ns_contact *c = &r->contact;
    ns_graph *g = d->graph;
    bool loaded;
    s->own = r;
    if (!ns_shapes_offer(d, &r->locals, true) || !read_blocks(d, r))
        return false;
    if (r->law.any)
        return ns_rolling_touch(d, s, r);
    add_states(s, r);
    ns_contact_kinematics(g, c);
    if (!c->reduced)
        r->body_centre = ns_v3_sub(g, c->com, ns_m3_apply(g, c->A, r->mass.centre));
    ns_rolling_limits(g, r);
    if (!ns_rolling_names(d, r) || !ns_rolling_loads(d, s, r, &loaded))
        return false;
    ns_contact_dynamics(g, c);
    ns_rolling_settle(s, r);
    set_rates(s, r);
    s->energy = c->energy;
    s->kinetic = c->kinetic;
    s->conservative = !loaded && !c->driven;
    ns_rolling_manifold(s, r);
    if (c->rubber)
        ns_rolling_constrain(s, "twist", ns_v3_dot(g, c->gamma, c->Omega),
                             ns_block_find(r->ground_block, "rubber")->span);
    ns_rolling_values(s, r);
    if (c->rubber)
        ns_system_observe(s, NS_QUANTITY_FORCE, "torque.twist", c->twist, "N m", false);
    if (!add_events(d, s, r))
        return false;
    ns_rolling_tell(d, s, r);
    ns_system_fact(s, "degrees of freedom", "%d (velocities), 5 (positions)",
                   c->rubber ? 2 : 3);
    return ns_rolling_start(d, s, r);
}

static const ns_block_form *const blocks[] = {&ns_block_body, &ns_block_ground, &ns_block_solid,
                                              &ns_block_load, &ns_block_start,  NULL};

const ns_formulation ns_formulation_rolling = {
    .name = "rolling",
    .summary = "a rigid body rolls without slipping on any surface",
    .doc =
        "ground KIND(sizes) { ... }   body KIND(sizes) { mass, com, inertia | uniform }\n"
        "start { ... }   load { ... }\n\n"
        "Bodies: sphere(r)  ellipsoid(a, b, c)  superellipsoid(a, b, c, exponent)\n"
        "  torus(R, r)  egg(a, b, k)  disk(r)  hoop(r)  rim(r, z)  cylinder(r, h)  cone(r, h)\n"
        "  hemisphere(r)  revolution(radius of z)  implicit(F of x, y, z)\n"
        "  parametric([x, y, z] of u, v)  edge([x, y, z] of u)\n"
        "Grounds: plane  height(z of x, y)  sphere(R)  cylinder(R)  cone(half angle)\n"
        "  paraboloid(k)  torus(R, r)  implicit(F of x, y, z)  parametric([x, y, z] of u, v)\n"
        "  extruded(x of u, z of u)  wire([x, y, z] of u)\n\n"
        "The body touches the ground at one point with a smooth surface or an edge and rolls\n"
        "without slipping; the contact is two-sided (lift-off is reported, and stops the run\n"
        "if asked).  Contact laws in the block of the ground make it one-sided: friction\n"
        "coulomb(STATIC, KINETIC), viscous(C) or none; restitution E; resistance.rolling L.\n"
        "It then slips, flies and bounces (docs/rolling.md).\n\n"
        "States: quat (body to space), omega (body frame; of uniform balls in space), s\n"
        "(centre of mass to contact, body frame) or surface coordinates unless they have a\n"
        "closed form, and the contact on the ground.\n\n"
        "Values: com, centre, contact, velocity, s, omega.space, normal, force (vectors .x .y "
        ".z),\n"
        "energy, force.normal, force.friction, force.ratio (the friction coefficient "
        "needed).\n\n"
        "Source: Patrick 2022, eqs (4), (12); derivation in docs/theory/rolling.md.",
    .refuses = NS_REFUSES_COORDINATE | NS_REFUSES_STATE | NS_REFUSES_LAGRANGIAN,
    .fits = fits,
    .derive = derive,
    .sizes = ns_rolling_all_sizes,
    .verify = ns_rolling_verify,
    .doubts = ns_rolling_doubts,
    .guess = ns_rolling_guess,
    .form = ns_rolling_form,
    .ranks = ns_rolling_ranks,
    .blocks = blocks,
};
