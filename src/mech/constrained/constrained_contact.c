/* Contacts for formulation `constrained`: rolling(A, B) and sliding(A, B), where A is a body
 * with a shape and B another one, a ground, or a function  surface G(x, y, z).
 *
 * A particle P of no mass marks the contact point (Udwadia and Mogharabin 2021, section 2).
 * With the frames of the two sides, y = A^T (P - w) for a body and B^T (P - o) for a ground,
 * the rows are
 *
 *   P lies on both sides
 *     implicit surface F      F(y)/|grad F(y)| = 0                       as (22)
 *     height z = f            (y_3 - f(y_1, y_2)) kappa = 0,  kappa = 1/|(-f_1, -f_2, 1)|
 *     plane                   n . (y - y_0) = 0
 *     circle, radius r        y_3 = z,  (y_1^2 + y_2^2 - r^2)/2r = 0
 *     chart y(u, v), curve    P = w + A y(u, v), with u, v as further coordinates without mass
 *   normals are opposite
 *     two surfaces            t_1 . n_A = t_2 . n_A = 0,  t_1, t_2 tangent to B    as (27)
 *     an edge or a wire       tangent . n = 0 with the other side's normal
 *     two curves              nothing
 *   no slip                   t_1, t_2 . (v_A(P) - v_B(P)) = 0                     as (31)
 *
 * v_A(P) = w' + omega x (P - w) is the velocity of the body's material point.  The normal part
 * of no slip follows from the position rows (differentiate P's distance from both sides), so it
 * is left out and the rows of a contact are independent; two curves have no tangent plane given
 * by one side alone, so there all three components are kept.
 *
 * P, u and v have no mass and feel no force, so the rows' generalised forces on them vanish,
 * and what the rows do to A is a wrench that does no work on motions that leave A's point at P
 * at rest relative to B: a force acting at P, the contact force. */
#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/common/dense.h"
#include "mech/constrained/constrained.h"
#include "mech/rolling/rolling.h"

/* One of the two things that touch, seen from the particle. */
typedef struct face {
    const char *name;
    uint32_t member; /* UINT32_MAX: a ground */
    ns_shape shape;
    ns_m3 A; /* own frame to space; only if turned */
    bool turned, moves;
    ns_v3 origin, velocity, omega; /* in space; the last two only if it moves */
    ns_v3 normal;                  /* outwards, or towards the body; in space */
    ns_v3 tangent;                 /* of a curve, unit, in space */
    bool curve;
    ns_m3 K;                /* curvature, on vectors of the tangent plane, in space */
    uint32_t coordinate;    /* of a chart: its first one */
    const ns_block *ground; /* or NULL */
    ns_ex gap;              /* as in ns_touch */
    ns_v3 point;            /* chart, curve: in space */
} face;

typedef struct work {
    ns_description *d;
    ns_graph *g;
    ns_constrained *c;
    const ns_block *block;
    const char *name;
    ns_v3 P;
} work;

static ns_v3 to_space(const work *w, const face *f, ns_v3 v)
{
    return f->turned ? ns_m3_apply(w->g, f->A, v) : v;
}

static ns_v3 to_face(const work *w, const face *f, ns_v3 v)
{
    return f->turned ? ns_m3_apply_transposed(w->g, f->A, v) : v;
}

static void row(work *w, const char *part, uint32_t number, ns_ex residual)
{
    const char *name = ns_arena_format(w->d->arena, "%s.%s", w->name, part);
    if (number)
        name = ns_arena_format(w->d->arena, "%s.%u", name, number);
    ns_constrained_row(w->d, w->c, name, residual, w->block->span);
}

/* ---- what the arguments mean ------------------------------------------------------------- */

/* origin [..] and turn [axis], angle of a ground: functions of time */
static bool ground_motion(work *w, const ns_block *block, face *f)
{
    ns_graph *g = w->g;
    const ns_property *origin = ns_block_find(block, "origin"),
                      *turn = ns_block_find(block, "turn");
    f->origin = ns_v3_zero(g);
    f->moves = origin || turn;
    f->turned = turn != NULL;
    if (origin && !ns_block_vector(w->d, origin, 0, &f->origin))
        return false;
    f->velocity = ns_v3_diff(g, f->origin, w->d->time);
    f->omega = ns_v3_zero(g);
    if (!turn)
        return true;
    ns_v3 axis;
    ns_ex angle;
    if (!ns_block_vector(w->d, turn, 0, &axis) || !ns_block_scalar(w->d, turn, 1, &angle))
        return false;
    f->A = ns_solid_turn(g, axis, angle);
    /* about a fixed axis */
    f->omega = ns_v3_scale(g, ns_diff(g, angle, w->d->time), ns_v3_normalise(g, axis, NULL));
    return true;
}

/* surface G(x, y, z) as a ground: its gradient points to the bodies */
static bool from_function(work *w, const char *word, ns_span span, face *f)
{
    ns_value F;
    ns_ex x[3];
    for (uint32_t i = 0; i < 3; i++)
        x[i] = ns_symbol_new(w->g, "xyz", NS_SYM_LOCAL, i);
    if (!ns_description_call(w->d, word, x, 3, span, &F))
        return false;
    ns_ex value;
    if (!ns_block_value_scalar(w->d, F, span, word, &value))
        return false;
    f->shape = (ns_shape){0};
    f->shape.side = ns_side_implicit(w->g, value, x, ns_v3_make(x[0], x[1], x[2]), 1);
    f->origin = ns_v3_zero(w->g);
    return true;
}

static const ns_block *find_ground(const work *w, const char *word, uint32_t *count)
{
    const ns_block *found = NULL;
    *count = 0;
    for (uint32_t i = 0; i < w->d->blocks.n; i++) {
        const ns_block *b = &w->d->blocks.at[i];
        if (b->form != &ns_block_ground)
            continue;
        ++*count;
        if (!word || (b->name ? strcmp(b->name, word) == 0 : strcmp(word, "ground") == 0))
            found = b;
    }
    return found;
}

static const ns_function *find_function(const ns_description *d, const char *name)
{
    for (uint32_t i = 0; name && i < d->functions.n; i++)
        if (strcmp(d->functions.at[i].name, name) == 0)
            return &d->functions.at[i];
    return NULL;
}

static bool from_body(work *w, uint32_t member, ns_span span, face *f)
{
    const ns_member *m = &w->c->members.at[member];
    f->name = m->name;
    f->member = member;
    if (!m->is_body || !m->block->kind) {
        ns_diag_error(
            w->d->diag, span,
            m->is_body ? "body `%s` has no shape to touch with: write  body %s KIND(SIZES) "
                         "{ ... }; there are: %s"
                       : "`%s` is a particle; a contact is between bodies with a shape, "
                         "written  body %s KIND(SIZES) { ... }; there are: %s",
            m->name, m->is_body ? m->name : "NAME", ns_shapes_list(w->d->arena, false));
        return false;
    }
    if (!ns_shapes_body(w->d, m->block, &w->c->locals, ns_v3_zero(w->g), &f->shape))
        return false;
    f->turned = f->moves = true;
    f->A = m->A;
    f->origin = m->position;
    f->velocity = m->velocity;
    f->omega = ns_m3_apply(w->g, m->A, m->omega);
    return true;
}

/* The first or second thing of a contact, by its name. */
static bool resolve(work *w, uint32_t i, face *f)
{
    const ns_block *b = w->block;
    bool given = i < b->nargs;
    const char *word = given && b->arg_words ? b->arg_words[i] : NULL;
    ns_span span = given ? b->arg_spans[i] : b->kind_span;
    uint32_t member = given ? ns_constrained_argument(w->c, b, i) : UINT32_MAX, grounds;
    *f = (face){.name = word, .member = UINT32_MAX};
    if (member != UINT32_MAX)
        return from_body(w, member, span, f);
    const ns_block *ground = i == 1 && (word || !given) ? find_ground(w, word, &grounds) : NULL;
    if (ground && !given && grounds > 1) {
        ns_diag_error(w->d->diag, span, "there are several grounds: expected %s(BODY, GROUND)",
                      b->kind);
        return false;
    }
    if (ground) {
        f->name = ground->name ? ground->name : "ground";
        f->ground = ground;
        return ns_shapes_ground(w->d, ground, &w->c->locals, &f->shape) &&
               ground_motion(w, ground, f);
    }
    const ns_function *function = i == 1 ? find_function(w->d, word) : NULL;
    if (function && function->arity == 3)
        return from_function(w, word, span, f);
    if (function)
        ns_diag_error(w->d->diag, span,
                      "`%s` is not a surface: expected a function of three coordinates", word);
    else
        ns_diag_error(w->d->diag, span, "%s: expected the name of a %s%s%s%s", b->kind,
                      i ? "body, ground or surface" : "body", word ? ", found `" : "",
                      word ? word : "", word ? "`" : "");
    return false;
}

bool ns_constrained_shapes(ns_description *d, ns_constrained *c)
{
    const char *properties[32];
    uint32_t count = 0;
    for (uint32_t i = 0; ns_shapes_ground_properties[i]; i++)
        properties[count++] = ns_shapes_ground_properties[i];
    for (uint32_t i = 0; ns_law_properties[i]; i++)
        properties[count++] = ns_law_properties[i];
    properties[count] = NULL;
    bool good = true;
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *b = &d->blocks.at[i];
        bool ground = b->form == &ns_block_ground;
        ns_shaped it = {.block = b};
        if (ground)
            good = ns_block_known(d, b, properties) &&
                   ns_shapes_ground(d, b, &c->locals, &it.shape) && good;
        else if (b->form == &ns_block_body && b->kind)
            good = ns_shapes_body(d, b, &c->locals, ns_v3_zero(d->graph), &it.shape) && good;
        else
            continue;
        NS_PUSH(d->arena, c->shapes, it);
    }
    return good;
}

/* ---- rows -------------------------------------------------------------------------------- */

/* The side's curvature where its coordinates have the values q. */
static void bend(work *w, face *f, const ns_ex *q)
{
    ns_graph *g = w->g;
    ns_m3 K = ns_side_curvature(g, &f->shape.side);
    ns_subst(g, &K.at[0][0], 9, f->shape.side.symbol, q, f->shape.side.n, &K.at[0][0]);
    if (f->turned)
        K = ns_m3_mul(g, f->A, ns_m3_mul(g, K, ns_m3_transpose(f->A)));
    f->K = K;
}

/* The circle of this radius at this height, by its two equations. */
static void on_circle(work *w, face *f, const char *part, ns_v3 y)
{
    ns_graph *g = w->g;
    ns_ex r = f->shape.drawing.size[0], z = f->shape.side.point.at[2];
    ns_ex square = ns_add(g, ns_powi(g, y.at[0], 2), ns_powi(g, y.at[1], 2));
    row(w, part, 1, ns_sub(g, y.at[2], z));
    row(w, part, 2,
        ns_div(g, ns_sub(g, square, ns_powi(g, r, 2)), ns_mul(g, ns_number(g, 2), r)));
    ns_v3 along = ns_v3_make(ns_neg(g, ns_div(g, y.at[1], r)), ns_div(g, y.at[0], r),
                             ns_zero(g));
    f->tangent = to_space(w, f, along);
    f->curve = true;
}

/* A side with coordinates of its own: they become coordinates of the system. */
static void on_chart(work *w, face *f, const char *part)
{
    ns_graph *g = w->g;
    ns_side *side = &f->shape.side;
    ns_ex q[2] = {0};
    f->coordinate = w->d->coordinates.n;
    for (uint32_t i = 0; i < side->n; i++)
        q[i] = ns_constrained_coordinate(
                   w->d, ns_arena_format(w->d->arena, "%s.%s.%c", w->name, f->name, "uv"[i]),
                   "", w->block->span)
                   ->q;
    ns_v3 y = {{0}}, n = {{0}};
    ns_subst(g, side->point.at, 3, side->symbol, q, side->n, y.at);
    f->curve = side->kind == NS_SIDE_CURVE;
    ns_subst(g, f->curve ? side->tangent.at : side->normal.at, 3, side->symbol, q, side->n,
             n.at);
    f->point = ns_v3_add(g, f->origin, to_space(w, f, y));
    ns_v3 apart = ns_v3_sub(g, w->P, f->point);
    for (uint32_t i = 0; i < 3; i++)
        row(w, part, i + 1, apart.at[i]);
    if (f->curve)
        f->tangent = to_space(w, f, ns_v3_normalise(g, n, NULL));
    else {
        f->normal = to_space(w, f, n);
        bend(w, f, q);
    }
}

static void on_face(work *w, face *f)
{
    ns_graph *g = w->g;
    ns_side *side = &f->shape.side;
    const char *part = ns_arena_format(w->d->arena, "on.%s", f->name);
    ns_v3 y = to_face(w, f, f->moves ? ns_v3_sub(g, w->P, f->origin) : w->P), n = side->normal;
    bool plane = side->kind == NS_SIDE_CHART && side->orthonormal;
    if (side->kind == NS_SIDE_CIRCLE) {
        on_circle(w, f, part, y);
        return;
    }
    if (side->kind == NS_SIDE_CURVE || (side->kind == NS_SIDE_CHART && !plane)) {
        on_chart(w, f, part);
        return;
    }
    if (plane) {
        ns_v3 zero = ns_v3_zero(g), from = {{0}};
        ns_subst(g, side->point.at, 3, side->symbol, zero.at, 2, from.at);
        f->gap = ns_v3_dot(g, n, ns_v3_sub(g, y, from));
        f->K = ns_m3_zero(g);
    } else {
        uint32_t k = side->n;
        ns_subst(g, n.at, 3, side->symbol, y.at, k, n.at);
        f->gap = side->residual;
        if (side->kind == NS_SIDE_GRAPH)
            f->gap = ns_mul(g, ns_sub(g, y.at[2], side->point.at[2]), side->kappa);
        f->gap = ns_subst_one(g, f->gap, side->symbol, y.at, k);
        bend(w, f, y.at);
    }
    f->normal = to_space(w, f, n);
    row(w, part, 0, f->gap);
}

/* Velocity of the face's own point that is at P. */
static ns_v3 velocity_at(const work *w, const face *f)
{
    if (!f->moves)
        return ns_v3_zero(w->g);
    ns_v3 arm = ns_v3_sub(w->g, w->P, f->origin);
    return ns_v3_add(w->g, f->velocity, ns_v3_cross(w->g, f->omega, arm));
}

/* Two directions in the plane of contact; false for two curves. */
static bool tangents(work *w, const face *a, const face *b, ns_v3 base[2])
{
    const face *f = b->curve ? a : b;
    if (f->curve)
        return false;
    const ns_side *side = &f->shape.side;
    if (side->kind == NS_SIDE_CHART && side->orthonormal) { /* a plane: fixed directions */
        base[0] = to_space(w, f, side->base[0]);
        base[1] = to_space(w, f, side->base[1]);
    } else {
        ns_v3_tangents(w->g, f->normal, base);
    }
    return true;
}

static void on_both(work *w, const face *a, const face *b, bool slips, ns_touch *t)
{
    ns_graph *g = w->g;
    ns_v3 base[2];
    t->has_normal = tangents(w, a, b, base);
    if (t->has_normal) {
        t->normal = b->curve ? ns_v3_neg(g, a->normal) : b->normal;
        if (a->curve || b->curve) {
            row(w, "tangent", 0, ns_v3_dot(g, a->curve ? a->tangent : b->tangent, t->normal));
        } else {
            row(w, "normals", 1, ns_v3_dot(g, base[0], a->normal));
            row(w, "normals", 2, ns_v3_dot(g, base[1], a->normal));
            t->facing = ns_v3_dot(g, a->normal, b->normal);
            ns_m3 K = ns_m3_add(g, a->K, b->K);
            for (int i = 0; i < 3; i++) /* 11, 12, 22 */
                t->bend[i] = ns_v3_dot(g, base[i / 2], ns_m3_apply(g, K, base[(i + 1) / 2]));
        }
    }
    if (slips)
        return;
    ns_v3 slip = ns_v3_sub(g, velocity_at(w, a), velocity_at(w, b));
    t->slip = w->c->rows.n;
    for (uint32_t i = 0; i < (t->has_normal ? 2 : 3); i++)
        row(w, "slip", i + 1, t->has_normal ? ns_v3_dot(g, base[i], slip) : slip.at[i]);
}

/* The point of side a whose normal is opposite to the contact normal. */
static void support(work *w, const face *a, ns_touch *t)
{
    ns_graph *g = w->g;
    if (!t->has_normal || a->member == UINT32_MAX)
        return;
    ns_v3 n = to_face(w, a, ns_v3_neg(g, t->normal)), y = {{0}};
    if (a->shape.side.kind == NS_SIDE_CIRCLE) {
        ns_ex length = ns_sqrt(g, ns_add(g, ns_powi(g, n.at[0], 2), ns_powi(g, n.at[1], 2)));
        ns_ex scale = ns_div(g, a->shape.drawing.size[0], length);
        y = ns_v3_make(ns_mul(g, scale, n.at[0]), ns_mul(g, scale, n.at[1]),
                       a->shape.side.point.at[2]);
    } else if (a->shape.has_support) {
        ns_subst(g, a->shape.support.at, 3, w->c->locals.x, n.at, 3, y.at);
    } else {
        return;
    }
    t->support = ns_v3_add(g, a->origin, to_space(w, a, y));
    t->has_support = true;
}

/* Where the part of a body that touches ends: a can falls on its side, the dome ends at the
 * rim.  `up` is the normal towards the body. */
static void part_ends(work *w, const face *f, ns_v3 up, ns_touch *t)
{
    ns_graph *g = w->g;
    const ns_side *side = &f->shape.side;
    if (f->member == UINT32_MAX || !t->has_normal ||
        (side->kind != NS_SIDE_IMPLICIT && side->kind != NS_SIDE_CIRCLE))
        return;
    ns_v3 y = to_face(w, f, ns_v3_sub(g, w->P, f->origin)), own = to_face(w, f, up);
    if (side->kind == NS_SIDE_CIRCLE) { /* its coordinates are cosine and sine */
        ns_ex length = ns_sqrt(g, ns_add(g, ns_powi(g, y.at[0], 2), ns_powi(g, y.at[1], 2)));
        for (int i = 0; i < 2; i++)
            y.at[i] = ns_div(g, y.at[i], length);
    }
    for (uint32_t i = 0; i < f->shape.n_limits; i++) {
        ns_limit end = f->shape.limit[i];
        if (!end.value)
            end.value = ns_v3_dot(g, own, end.lean);
        end.value = ns_subst_one(g, end.value, side->symbol, y.at, side->n);
        end.name = ns_arena_format(w->d->arena, "%s.%s", w->name, end.name);
        NS_PUSH(w->d->arena, t->limits, end);
    }
}

/* The particle: the one given, or a new one called NAME.contact. */
static bool particle(work *w, ns_touch *t)
{
    const ns_block *b = w->block;
    if (b->nargs < 3) {
        t->particle = ns_constrained_member(
            w->d, w->c, ns_arena_format(w->d->arena, "%s.contact", w->name), b, false);
    } else {
        t->particle = ns_constrained_argument(w->c, b, 2);
        if (t->particle == UINT32_MAX || w->c->members.at[t->particle].is_body) {
            ns_diag_error(w->d->diag, b->arg_spans[2],
                          "%s: expected a particle that marks the contact,  particle P { mass "
                          "0 }",
                          b->kind);
            return false;
        }
    }
    w->P = w->c->members.at[t->particle].position;
    return true;
}

bool ns_constrained_contact(ns_description *d, ns_constrained *c, const ns_block *block,
                            const char *name, bool slips)
{
    work w = {.d = d, .g = d->graph, .c = c, .block = block, .name = name};
    ns_touch t = {.name = name, .span = block->span, .block = block, .row = c->rows.n};
    face a, b;
    if (!resolve(&w, 0, &a) || !resolve(&w, 1, &b) || !particle(&w, &t))
        return false;
    if (a.member == b.member) {
        ns_diag_error(d->diag, block->kind_span, "a body cannot touch itself");
        return false;
    }
    if (b.ground && !ns_constrained_law(d, b.ground, slips, block->span, &t.law))
        return false;
    if (t.law && b.curve) {
        ns_diag_error(d->diag, b.ground->span,
                      "a wire has no side on which a body lies: contact laws need a surface");
        return false;
    }
    t.first = a.member;
    t.second = b.member;
    on_face(&w, &a);
    on_face(&w, &b);
    on_both(&w, &a, &b, slips, &t);
    support(&w, &a, &t);
    part_ends(&w, &a, t.normal, &t);
    part_ends(&w, &b, ns_v3_neg(d->graph, t.normal), &t);
    if (b.member == UINT32_MAX && b.shape.side.kind == NS_SIDE_CHART && b.point.at[0]) {
        t.chart = b.normal;
        t.chart_first = b.coordinate;
    }
    t.gap = b.gap;
    t.from = b.point;
    t.rows = c->rows.n - t.row;
    NS_PUSH(d->arena, c->touches, t);
    return true;
}

/* ---- values ------------------------------------------------------------------------------ */

ns_v3 ns_constrained_contact_force(const ns_system *s, const ns_constrained *c,
                                   const ns_touch *t)
{
    ns_graph *g = s->graph;
    const ns_dalembert *eq = &c->eq;
    const ns_member *m = &c->members.at[t->first];
    ns_v3 force = ns_v3_zero(g);
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t j = t->row; j < t->row + t->rows; j++)
            force.at[k] = ns_add(g, force.at[k],
                                 ns_mul(g, ns_dalembert_entry(eq, &eq->rows, j, m->first + k),
                                        c->multiplier[j]));
    return force;
}

/* NAME.force on the first body in space, NAME.force.normal, .friction, .ratio; the particle's
 * place is a coordinate of its own. */
void ns_constrained_contact_values(ns_system *s, const ns_constrained *c)
{
    ns_graph *g = s->graph;
    for (uint32_t i = 0; i < c->touches.n; i++) {
        const ns_touch *t = &c->touches.at[i];
        const ns_v3 force = ns_constrained_contact_force(s, c, t);
        const char *name = ns_arena_format(s->arena, "%s.force", t->name);
        ns_system_observe_vector(s, NS_QUANTITY_FORCE, name, force, "N", false);
        for (uint32_t k = 0; k < t->limits.n; k++)
            NS_PUSH(s->arena, s->events,
                    (ns_event){.name = t->limits.at[k].name,
                               .value = t->limits.at[k].value,
                               .direction = -1,
                               .condition = true,
                               .action = NS_EVENT_STOP,
                               .meaning = t->limits.at[k].meaning});
        if (!t->has_normal)
            continue;
        ns_ex normal = ns_v3_dot(g, force, t->normal);
        ns_v3 rest = ns_v3_sub(g, force, ns_v3_scale(g, normal, t->normal));
        ns_ex friction = ns_v3_norm(g, rest);
        NS_PUSH(s->arena, s->pushes, (ns_observable){.name = t->name, .value = normal});
        ns_system_observe(s, NS_QUANTITY_FORCE, ns_arena_format(s->arena, "%s.normal", name),
                          normal, "N", false);
        ns_system_observe(s, NS_QUANTITY_FORCE, ns_arena_format(s->arena, "%s.friction", name),
                          friction, "N", false);
        ns_system_observe(s, NS_QUANTITY_FORCE, ns_arena_format(s->arena, "%s.ratio", name),
                          ns_div(g, friction, ns_abs(g, normal)), "", false);
    }
}

/* ---- starts ------------------------------------------------------------------------------ */

/* First guesses: the particle at the foot of the body's origin on the second side, then at the
 * point of the body that faces it; a body whose position was left open is put there. */
void ns_constrained_contact_guess(const ns_system *s, double t0, const double *p, double *x)
{
    enum { STEPS = 30 };
    const ns_constrained *c = s->own;
    for (uint32_t i = 0; i < c->touches.n; i++) {
        const ns_touch *t = &c->touches.at[i];
        uint32_t P = c->members.at[t->particle].first, w = c->members.at[t->first].first;
        bool known = s->start.span[P].source != 0;
        double v[4];
        if (!known && !t->gap) {
            ns_system_eval(s, t->from.at, 3, t0, p, x, x + P);
        } else if (!known) {
            const ns_ex foot[4] = {t->normal.at[0], t->normal.at[1], t->normal.at[2], t->gap};
            memcpy(x + P, x + w, 3 * sizeof *x);
            for (int k = 0; k < STEPS; k++) {
                ns_system_eval(s, foot, 4, t0, p, x, v);
                for (int j = 0; j < 3 && isfinite(v[3] * v[j]); j++)
                    x[P + (uint32_t)j] -= v[3] * v[j];
                if (!(fabs(v[3]) > 1e-12))
                    break;
            }
        }
        if (!t->has_support)
            continue;
        ns_system_eval(s, t->support.at, 3, t0, p, x, v);
        for (uint32_t j = 0; j < 3 && isfinite(v[0] + v[1] + v[2]); j++) {
            if (s->start.span[w + j].source == 0 && s->start.free[w + j])
                x[w + j] += x[P + j] - v[j]; /* the body goes to the particle */
            else if (!known)
                x[P + j] = v[j];
        }
    }
}

bool ns_constrained_sizes(const ns_system *s, ns_diag *diag, const double *p)
{
    const ns_constrained *c = s->own;
    if (!ns_constrained_law_sizes(s, diag, p))
        return false;
    for (uint32_t i = 0; i < c->shapes.n; i++)
        if (!ns_rolling_sizes(s, diag, p, &c->shapes.at[i].shape, c->shapes.at[i].block))
            return false;
    for (uint32_t i = 0; i < c->members.n; i++) {
        const ns_member *m = &c->members.at[i];
        double mass = 0, inertia[9], moment[3] = {0};
        if (m->mass)
            ns_system_eval(s, &m->mass, 1, 0, p, NULL, &mass);
        if (m->is_body) {
            ns_system_eval(s, &m->inertia.at[0][0], 9, 0, p, NULL, inertia);
            if (!ns_dense_symmetric(s->arena, 3, inertia, moment)) {
                ns_diag_error(diag, m->block->span, "the inertia of `%s` is not finite",
                              m->name);
                return false;
            }
        }
        if (mass < 0 || moment[0] < -1e-12 * moment[2]) {
            ns_diag_error(diag, m->block->span,
                          mass < 0
                              ? "the mass of `%s` must not be negative; it is %.6g"
                              : "the inertia of `%s` has a negative principal moment: %.6g",
                          m->name, mass < 0 ? mass : moment[0]);
            return false;
        }
    }
    return true;
}

/* Two surfaces may satisfy all rows with one inside the other. */
bool ns_constrained_contact_verify(const ns_system *s, ns_diag *diag, double t0,
                                   const double *p, const double *x)
{
    const ns_constrained *c = s->own;
    for (uint32_t i = 0; i < c->touches.n; i++) {
        const ns_touch *t = &c->touches.at[i];
        double facing = -1;
        if (t->chart.at[0] && ns_rolling_flipped(s, &t->chart, t->chart_first, t0, p, x)) {
            ns_diag_error(
                diag, t->span,
                "contact `%s` starts on the wrong side of the ground: at %s = %.6g, %s "
                "= %.6g its chart runs over a pole and y_u x y_v points to the other "
                "side; give a better guess of %s",
                t->name, s->states.at[t->chart_first].name, x[t->chart_first],
                s->states.at[t->chart_first + 1].name, x[t->chart_first + 1],
                c->members.at[t->particle].name);
            return false;
        }
        if (t->facing)
            ns_system_eval(s, &t->facing, 1, t0, p, x, &facing);
        if (!(facing < 0)) {
            ns_diag_error(diag, t->span,
                          "contact `%s`: `%s` touches from the wrong side at the start (its "
                          "outward normal must be opposite to that of the other side); give a "
                          "better guess of its position or of %s",
                          t->name, c->members.at[t->first].name,
                          c->members.at[t->particle].name);
            return false;
        }
    }
    return true;
}

/* Sides that touch in a point have curvatures whose sum is positive there. */
void ns_constrained_contact_doubts(const ns_system *s, ns_diag *diag, double t0,
                                   const double *p, const double *x)
{
    const ns_constrained *c = s->own;
    for (uint32_t i = 0; i < c->touches.n; i++) {
        const ns_touch *t = &c->touches.at[i];
        double m[3];
        if (!t->bend[0])
            continue;
        ns_system_eval(s, t->bend, 3, t0, p, x, m);
        if (m[0] + m[2] > 0 && m[0] * m[2] - m[1] * m[1] > 0)
            continue;
        ns_diag_warn(diag, t->span,
                     "contact `%s`: `%s` does not fit at the start, it is flatter than what it "
                     "touches: they would meet in more than one point",
                     t->name, c->members.at[t->first].name);
    }
}
