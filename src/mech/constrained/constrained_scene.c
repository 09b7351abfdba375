/* What a model of bodies and particles looks like.
 *
 * A body that states its shape (body S sphere(r) { ... }) has it.  For others one is guessed: a
 * wheel if a constraint says so, rods from its origin to its points, or else the ellipsoid of
 * the same inertia; draw lines that use the body take the place of a guess.  Rods and springs
 * are links, joints and particles dots, contact points and particles leave paths. */
#include <string.h>

#include "mech/common/block.h"
#include "mech/constrained/constrained.h"
#include "mech/contact/solid.h"

/* With more, pictures are only crowded. */
enum { MOST_PATHS = 12, MOST_NAMES = 16 };

typedef struct work {
    ns_description *d;
    ns_system *s;
    ns_graph *g;
    const ns_constrained *c;
    ns_scene *scene;
} work;

static bool is(const ns_block *block, const char *kind)
{
    return block->form == &ns_block_constraint && block->kind && strcmp(block->kind, kind) == 0;
}

/* Argument i of a ready-made constraint as a point. */
static bool point(const work *w, const ns_block *block, uint32_t i, ns_v3 *out)
{
    if (i >= block->nargs)
        return false;
    uint32_t k = ns_constrained_argument(w->c, block, i);
    const ns_value *value = &block->args[i];
    if (k != UINT32_MAX)
        *out = w->c->members.at[k].position;
    else if (value->rows == 3 && value->cols == 1)
        *out = ns_v3_make(value->at[0], value->at[1], value->at[2]);
    else
        return false;
    return true;
}

/* ---- bodies ------------------------------------------------------------------------------ */

static const ns_block *wheel_of(const work *w, uint32_t member)
{
    for (uint32_t i = 0; i < w->d->blocks.n; i++)
        if (is(&w->d->blocks.at[i], "wheel") &&
            ns_constrained_argument(w->c, &w->d->blocks.at[i], 0) == member)
            return &w->d->blocks.at[i];
    return NULL;
}

/* The ellipsoid of equal density with this mass and inertia: a^2 = 5 (J2 + J3 - J1)/(2 m). */
static void inertia_ellipsoid(const work *w, const ns_member *m, ns_scene_shape *shape)
{
    ns_graph *g = w->g;
    const ns_ex *J[3] = {m->inertia.at[0], m->inertia.at[1], m->inertia.at[2]};
    ns_ex sum = ns_add(g, J[0][0], ns_add(g, J[1][1], J[2][2]));
    bool diagonal = true;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            diagonal = diagonal && (i == k || ns_graph_is_zero(g, J[i][k]));
    shape->kind = diagonal ? NS_SHAPE_ELLIPSOID : NS_SHAPE_SPHERE;
    shape->at = m->com;
    for (int i = 0; i < 3; i++) {
        ns_ex square = diagonal ? ns_sub(g, sum, ns_mul(g, ns_number(g, 2), J[i][i]))
                                : ns_div(g, sum, ns_number(g, 3));
        /* thin things keep some thickness */
        square = ns_apply(g, NS_OP_MAX, square, ns_mul(g, ns_number(g, 0.003), sum));
        shape->size[i] = ns_sqrt(g, ns_div(g, ns_mul(g, ns_number(g, 2.5), square), m->mass));
    }
}

static void guess_shape(const work *w, uint32_t member, ns_scene_body *body)
{
    const ns_member *m = &w->c->members.at[member];
    const ns_block *wheel = wheel_of(w, member);
    ns_v3 zero = ns_v3_zero(w->g);
    body->guessed = true;
    if (wheel) {
        ns_scene_shape shape = {.kind = NS_SHAPE_WHEEL,
                                .at = zero,
                                .size = {wheel->args[1].at[0], 0, 0},
                                .turned = true,
                                .axis = ns_v3_unit(w->g, 1)};
        NS_PUSH(w->s->arena, body->shapes, shape);
        return;
    }
    for (uint32_t k = 0; k < m->block->properties.n; k++) {
        const ns_property *p = &m->block->properties.at[k];
        ns_v3 end;
        if (!p->assigned || p->values != 1 || p->value[0].rows != 3 || p->value[0].cols != 1)
            continue;
        end = ns_v3_make(p->value[0].at[0], p->value[0].at[1], p->value[0].at[2]);
        if (!ns_v3_is_zero(w->g, end))
            NS_PUSH(w->s->arena, body->shapes,
                    (ns_scene_shape){.kind = NS_SHAPE_ROD, .at = zero, .end = end});
    }
    if (body->shapes.n || ns_graph_is_zero(w->g, m->mass))
        return;
    ns_scene_shape shape = {0};
    inertia_ellipsoid(w, m, &shape);
    NS_PUSH(w->s->arena, body->shapes, shape);
}

static void add_body(const work *w, uint32_t member)
{
    const ns_member *m = &w->c->members.at[member];
    ns_scene_body body = {.name = m->name,
                          .position = m->position,
                          .massive = !ns_graph_is_zero(w->g, m->mass),
                          .com = m->com,
                          .inertia = m->inertia};
    memcpy(body.quat, m->quat, sizeof body.quat);
    ns_shape shape;
    if (m->block->kind &&
        ns_shapes_body(w->d, m->block, &w->c->locals, ns_v3_zero(w->g), &shape))
        body.drawing = shape.drawing;
    else
        guess_shape(w, member, &body);
    NS_PUSH(w->s->arena, w->scene->bodies, body);
}

/* ---- the ground -------------------------------------------------------------------------- */

static void add_ground(const work *w)
{
    ns_graph *g = w->g;
    for (uint32_t i = 0; i < w->d->blocks.n; i++) {
        const ns_block *b = &w->d->blocks.at[i];
        ns_shape shape;
        if (b->form != &ns_block_ground || !ns_shapes_ground(w->d, b, &w->c->locals, &shape))
            continue;
        const ns_property *origin = ns_block_find(b, "origin"),
                          *turn = ns_block_find(b, "turn");
        w->scene->ground = shape.drawing;
        w->scene->ground_moves = origin || turn;
        w->scene->ground_origin = ns_v3_zero(g);
        w->scene->ground_rotation = ns_m3_identity(g);
        if (origin)
            ns_block_vector(w->d, origin, 0, &w->scene->ground_origin);
        ns_v3 axis;
        ns_ex angle;
        if (turn && ns_block_vector(w->d, turn, 0, &axis) &&
            ns_block_scalar(w->d, turn, 1, &angle))
            w->scene->ground_rotation = ns_solid_turn(g, axis, angle);
        return;
    }
    for (uint32_t i = 0; i < w->d->blocks.n; i++) {
        const ns_block *b = &w->d->blocks.at[i];
        bool contact = is(b, "rolling") || is(b, "sliding");
        const char *word = contact && b->nargs > 1 && b->arg_words ? b->arg_words[1] : NULL;
        ns_drawing drawing = {.kind = NS_DRAW_IMPLICIT};
        ns_value F;
        bool function = false;
        for (uint32_t k = 0; word && k < w->d->functions.n; k++)
            function = function || (strcmp(w->d->functions.at[k].name, word) == 0 &&
                                    w->d->functions.at[k].arity == 3);
        if (is(b, "wheel")) { /* on z = 0 */
            w->scene->ground = (ns_drawing){.kind = NS_DRAW_PLANE,
                                            .point = ns_v3_zero(g),
                                            .base = {ns_v3_unit(g, 0), ns_v3_unit(g, 1)}};
            return;
        }
        memcpy(drawing.x, w->c->locals.x, sizeof drawing.x);
        if (function && ns_description_call(w->d, word, drawing.x, 3, b->span, &F) &&
            F.rows == 1 && F.cols == 1) {
            drawing.F = F.at[0];
            w->scene->ground = drawing;
            return;
        }
    }
}

/* ---- constraints ------------------------------------------------------------------------- */

static void add_path(const work *w, const char *name, ns_v3 at, ns_path_role role)
{
    NS_PUSH(w->s->arena, w->scene->paths,
            (ns_scene_path){.name = name, .body = -1, .point = at, .role = role});
}

/* From the hub to the contact with z = 0 of a wheel about e2, as in constrained_joints.c. */
static ns_v3 wheel_contact(const work *w, const ns_member *m, ns_ex radius)
{
    ns_graph *g = w->g;
    ns_v3 a = ns_v3_make(m->A.at[0][1], m->A.at[1][1], m->A.at[2][1]);
    ns_v3 across = ns_v3_sub(g, ns_v3_unit(g, 2), ns_v3_scale(g, a.at[2], a));
    ns_v3 arm = ns_v3_scale(g, ns_neg(g, radius), ns_v3_normalise(g, across, NULL));
    return ns_v3_add(g, m->position, arm);
}

/* A blade at A that cannot move along n: it lies along n x e3. */
static void add_blade(const work *w, const ns_block *b)
{
    ns_graph *g = w->g;
    ns_v3 at, n;
    if (!point(w, b, 0, &at) || !point(w, b, 1, &n))
        return;
    ns_ex half = ns_mul(g, ns_number(g, 0.5),
                        ns_apply(g, NS_OP_ATAN2, ns_neg(g, n.at[0]), n.at[1]));
    ns_scene_body blade = {
        .name = ns_arena_format(w->s->arena, "blade %s", b->name ? b->name : ""),
        .position = at,
        .quat = {ns_cos(g, half), ns_zero(g), ns_zero(g), ns_sin(g, half)}};
    NS_PUSH(w->s->arena, blade.shapes,
            (ns_scene_shape){.kind = NS_SHAPE_BLADE, .at = ns_v3_zero(g), .colour = "black"});
    NS_PUSH(w->s->arena, w->scene->bodies, blade);
}

static void add_constraint(const work *w, const ns_block *b)
{
    ns_v3 A, B;
    if (is(b, "rod") && point(w, b, 0, &A) && point(w, b, 1, &B)) {
        NS_PUSH(w->s->arena, w->scene->links,
                (ns_scene_link){.kind = NS_LINK_ROD, .name = b->name, .a = A, .b = B});
    } else if ((is(b, "revolute") || is(b, "ball") || is(b, "universal")) &&
               point(w, b, 0, &A)) {
        NS_PUSH(w->s->arena, w->scene->points, (ns_scene_point){.at = A});
    } else if (is(b, "knife")) {
        add_blade(w, b);
    } else if (is(b, "wheel")) {
        uint32_t k = ns_constrained_argument(w->c, b, 0);
        if (k != UINT32_MAX)
            add_path(w, ns_arena_format(w->s->arena, "contact of %s", w->c->members.at[k].name),
                     wheel_contact(w, &w->c->members.at[k], b->args[1].at[0]), NS_PATH_CONTACT);
    } else if (b->form == &ns_block_spring) {
        const ns_property *from = ns_block_find(b, "from"), *to = ns_block_find(b, "to");
        if (from && to && ns_block_vector(w->d, from, 0, &A) &&
            ns_block_vector(w->d, to, 0, &B))
            NS_PUSH(w->s->arena, w->scene->links,
                    (ns_scene_link){.kind = NS_LINK_SPRING, .name = b->name, .a = A, .b = B});
    }
}

/* Where bodies touch: the path in space and on the body, and the force. */
static void add_touch(const work *w, const ns_touch *t)
{
    ns_graph *g = w->g;
    const ns_member *m = &w->c->members.at[t->first];
    ns_v3 P = w->c->members.at[t->particle].position;
    ns_v3 y = ns_m3_apply_transposed(g, m->A, ns_v3_sub(g, P, m->position));
    const char *force = ns_arena_format(w->s->arena, "%s.force", t->name);
    add_path(w, ns_arena_format(w->s->arena, "contact %s", t->name), P, NS_PATH_CONTACT);
    for (uint32_t i = 0; i < w->scene->bodies.n; i++)
        if (strcmp(w->scene->bodies.at[i].name, m->name) == 0)
            NS_PUSH(w->s->arena, w->scene->paths,
                    (ns_scene_path){.name = ns_arena_format(w->s->arena, "contact %s on %s",
                                                            t->name, m->name),
                                    .body = (int)i,
                                    .point = y,
                                    .role = NS_PATH_CONTACT});
    for (uint32_t i = 0; i < w->s->vectors.n; i++)
        if (strcmp(w->s->vectors.at[i].name, force) == 0) {
            const ns_ex *at = w->s->vectors.at[i].value.at;
            NS_PUSH(w->s->arena, w->scene->arrows,
                    (ns_scene_arrow){.name = ns_arena_format(w->s->arena, "force %s", t->name),
                                     .unit = "N",
                                     .origin = P,
                                     .vector = ns_v3_make(at[0], at[1], at[2])});
        }
}

static bool is_touch(const ns_constrained *c, uint32_t member)
{
    for (uint32_t i = 0; i < c->touches.n; i++)
        if (c->touches.at[i].particle == member)
            return true;
    return false;
}

void ns_constrained_scene(ns_description *d, ns_system *s, const ns_constrained *c)
{
    work w = {.d = d, .s = s, .g = s->graph, .c = c, .scene = &s->scene};
    uint32_t points = 0, paths = 0;
    for (uint32_t i = 0; i < c->members.n; i++)
        if (c->members.at[i].is_body)
            add_body(&w, i);
    add_ground(&w);
    for (uint32_t i = 0; i < d->blocks.n; i++)
        add_constraint(&w, &d->blocks.at[i]);
    for (uint32_t i = 0; i < c->touches.n; i++)
        add_touch(&w, &c->touches.at[i]);
    for (uint32_t i = 0; i < c->members.n; i++)
        points += !c->members.at[i].is_body && !is_touch(c, i);
    for (uint32_t i = 0; i < c->members.n; i++) {
        const ns_member *m = &c->members.at[i];
        if (is_touch(c, i))
            continue;
        if (!m->is_body)
            NS_PUSH(s->arena, s->scene.points,
                    (ns_scene_point){.name = points <= MOST_NAMES ? m->name : NULL,
                                     .at = m->position});
        /* of many, the last one and those without mass matter */
        bool shown = c->members.n <= MOST_PATHS || i + 1 == c->members.n ||
                     (!m->is_body && ns_graph_is_zero(s->graph, m->mass));
        if (shown && paths++ < MOST_PATHS)
            add_path(&w, m->name, m->com_space, m->is_body ? NS_PATH_COM : NS_PATH_PLAIN);
    }
}
