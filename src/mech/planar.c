/* Formulation `planar`: disks, balanced or not, roll in a vertical plane on any curve (Jachnik
 * 2011, section 6), joined by rods if wanted.
 *
 *     ground curve([x, z])  |  profile(z of x)  |  slope([x', z'])         functions of u (of
 *     x)
 *     body disk(r) { mass m; com l; inertia J }
 *
 * The curve c(u) has tangent t = c'(u), unit normal n = (-t_z, t_x)/|t| (to its left; `side
 * right` turns it) and signed curvature k = (t_x t_z' - t_z t_x')/|t|^3 towards n.  With psi
 * the clockwise turn of the disk from where its centre of mass is straight below its centre,
 *
 *     centre = c + r n,       com = centre - l (sin psi, cos psi)                    (6.25)
 *     r theta' = |t| u',      psi = theta - alpha,   alpha the slope           (6.19), (6.20)
 *     =>  psi' = |t| (1/r - k) u'
 *
 * which is the rolling constraint here: on velocities, so that the arc length never has to be
 * known.  A curve may be given by its tangent alone (`slope`, as the curve of stationarity
 * (6.43), (6.45) is): its points are coordinates too then, with x' = t_x u', z' = t_z u'.  Rods
 * keep the distance of two centres.
 *
 * Lagrangian: sum of m/2 |com'|^2 + J/2 psi'^2 - m g com_z, (6.30) before the constraint is put
 * in.
 * This is handed to formulation `lagrange`.  With friction of the ground the slip velocity r
 * psi' - |t| (1 - r k) u' is a contact of mech/grip.h, of the normal force n.(m com'' + m g e).
 * The contact is one point while r k < 1, (6.23). */
#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/formulations.h"
#include "mech/grip.h"
#include "mech/keep.h"

typedef enum curve_kind { CURVE, PROFILE, SLOPE } curve_kind;

typedef struct roller {
    const char *name, *dot; /* dot: prefix of its values, "" if there is one body only */
    const ns_block *block;
    ns_ex r, m, J, l;
    uint32_t place, turn, x; /* coordinates; x (and x + 1) only for SLOPE */
    ns_ex tangent[2], normal[2], point[2], centre[2], com[2];
    ns_ex speed, bend, slope; /* |t|, k, alpha */
    ns_ex rate[2];            /* com' */
} roller;

typedef struct planar {
    ns_description *d;
    ns_system *s;
    ns_graph *g;
    const ns_block *ground;
    curve_kind kind;
    int side;
    ns_ex u, x; /* local names of the curve's functions */
    ns_ex c[2]; /* the curve, or its tangent for SLOPE, in the local name */
    ns_ex gravity;
    roller *at;
    uint32_t n, rods;
    ns_grips grips; /* if the ground has a law of friction */
} planar;

static const char *const kinds[] = {"curve", "profile", "slope", NULL};

static bool fits(const ns_description *d)
{
    for (uint32_t i = 0; i < d->blocks.n; i++)
        for (uint32_t k = 0; kinds[k]; k++)
            if (d->blocks.at[i].form == &ns_block_ground && d->blocks.at[i].kind &&
                strcmp(d->blocks.at[i].kind, kinds[k]) == 0)
                return true;
    return false;
}

/* ---- reading ----------------------------------------------------------------------------- */

static bool read_ground(planar *w)
{
    static const char *const names[] = {"side", "from", "to", "friction", NULL};
    static const char *const rigid[] = {"side", "from", "to", NULL};
    ns_description *d = w->d;
    w->u = ns_symbol_new(w->g, "u", NS_SYM_LOCAL, 0);
    w->x = ns_symbol_new(w->g, "x", NS_SYM_LOCAL, 1);
    const ns_scope_entry locals[] = {{.name = "u", .value = {1, 1, &w->u}},
                                     {.name = "x", .value = {1, 1, &w->x}, .unit = "m"}};
    if (!ns_description_offer(d, locals, 2))
        return false;
    w->ground = ns_block_single(d, &ns_block_ground);
    if (!w->ground)
        return false;
    if (!ns_block_known(d, w->ground, names) || !ns_block_rigid(d, w->ground, rigid))
        return false;
    while (kinds[w->kind] && strcmp(kinds[w->kind], w->ground->kind) != 0)
        w->kind++;
    if (!kinds[w->kind]) {
        ns_diag_error(d->diag, w->ground->kind_span,
                      "grounds in a plane are curve([x, z]) of u, profile(z of x) and "
                      "slope([x', z']) of u");
        return false;
    }
    const ns_property *side = ns_block_find(w->ground, "side");
    w->side = side && side->word && strcmp(side->word, "right") == 0 ? -1 : 1;
    if (side && w->side > 0 && !(side->word && strcmp(side->word, "left") == 0)) {
        ns_diag_error(d->diag, side->value_span,
                      "the disks are on the `left` or on the `right`");
        return false;
    }
    uint32_t rows = w->kind == PROFILE ? 1 : 2;
    if (w->ground->nargs != 1 || w->ground->args[0].rows != rows ||
        w->ground->args[0].cols != 1) {
        ns_diag_error(d->diag, w->ground->kind_span, "%s takes one %s of %s", kinds[w->kind],
                      rows == 1 ? "function" : "vector [x, z] of functions",
                      w->kind == PROFILE ? "x" : "u");
        return false;
    }
    const ns_ex *given = w->ground->args[0].at;
    w->c[0] = rows == 1 ? w->x : given[0];
    w->c[1] = rows == 1 ? given[0] : given[1];
    ns_ex other = w->kind == PROFILE ? w->u : w->x;
    if (ns_graph_depends(w->g, w->c[0], &other, 1) ||
        ns_graph_depends(w->g, w->c[1], &other, 1)) {
        ns_diag_error(d->diag, w->ground->kind_span, "a %s is a function of %s alone",
                      kinds[w->kind], w->kind == PROFILE ? "x" : "u");
        return false;
    }
    return true;
}

static uint32_t add_coordinate(planar *w, const roller *a, const char *name, const char *unit)
{
    ns_description *d = w->d;
    const uint32_t i = d->coordinates.n;
    ns_coordinate c = {.unit = unit, .span = a->block->span};
    c.name = ns_arena_format(d->arena, "%s%s", a->dot, name);
    c.q = ns_symbol_new(w->g, c.name, NS_SYM_COORD, i);
    c.v = ns_symbol_new(w->g, ns_arena_format(d->arena, "%s'", c.name), NS_SYM_VELOCITY, i);
    c.a = ns_symbol_new(w->g, ns_arena_format(d->arena, "%s''", c.name), NS_SYM_ACCEL, i);
    NS_PUSH(d->arena, d->coordinates, c);
    return i;
}

static bool read_body(planar *w, const ns_block *block, roller *a)
{
    static const char *const names[] = {"mass", "com", "inertia", "uniform", NULL};
    const ns_description *d = w->d;
    *a = (roller){.block = block, .name = block->name ? block->name : "disk", .dot = ""};
    if (!block->kind || strcmp(block->kind, "disk") != 0 || block->nargs != 1) {
        ns_diag_error(d->diag, block->span,
                      "in a plane bodies are disks: body [NAME] disk(r) "
                      "{ mass m; com l; inertia J }");
        return false;
    }
    if (!ns_block_known(d, block, names) || !ns_block_rigid(d, block, names) ||
        !ns_block_argument(d, block, 0, &a->r))
        return false;
    const ns_property *mass = ns_block_find(block, "mass"), *com = ns_block_find(block, "com");
    const ns_property *inertia = ns_block_find(block, "inertia");
    const ns_property *uniform = ns_block_find(block, "uniform");
    if (!mass || !inertia == !uniform || (uniform && com)) {
        ns_diag_error(
            d->diag, block->span,
            "the disk needs `mass`, and either `inertia` (about the centre of mass) or "
            "`uniform`, which has its centre of mass at the centre");
        return false;
    }
    a->l = ns_zero(w->g);
    if (!ns_block_scalar(d, mass, 0, &a->m) ||
        (inertia && !ns_block_scalar(d, inertia, 0, &a->J)) ||
        (com && !ns_block_scalar(d, com, 0, &a->l)))
        return false;
    if (uniform)
        a->J = ns_mul(w->g, ns_number(w->g, 0.5), ns_mul(w->g, a->m, ns_powi(w->g, a->r, 2)));
    return true;
}

static bool read_bodies(planar *w)
{
    ns_description *d = w->d;
    w->at = NS_NEW_ARRAY(w->s->arena, roller, d->blocks.n);
    for (uint32_t i = 0; i < d->blocks.n; i++)
        if (d->blocks.at[i].form == &ns_block_body &&
            !read_body(w, &d->blocks.at[i], &w->at[w->n++]))
            return false;
    if (w->n == 0) {
        ns_diag_error(d->diag, w->ground->span, "there is no `body` on the ground");
        return false;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        roller *a = &w->at[i];
        if (w->n > 1 && !a->block->name) {
            ns_diag_error(d->diag, a->block->span, "several bodies need names");
            return false;
        }
        if (w->n > 1)
            a->dot = ns_arena_format(d->arena, "%s.", a->name);
        a->place = add_coordinate(w, a, "place", w->kind == PROFILE ? "m" : "");
        a->turn = add_coordinate(w, a, "turn", "rad");
        if (w->kind == SLOPE) {
            a->x = add_coordinate(w, a, "x", "m");
            add_coordinate(w, a, "z", "m");
        }
    }
    w->gravity = ns_description_param(d, "g", "m/s^2");
    if (!w->gravity)
        w->gravity = ns_decimal(w->g, "9.81");
    return true;
}

/* ---- geometry ---------------------------------------------------------------------------- */

static ns_ex q(const planar *w, uint32_t i)
{
    return w->d->coordinates.at[i].q;
}

static ns_ex v(const planar *w, uint32_t i)
{
    return w->d->coordinates.at[i].v;
}

/* Derivative along the motion of something in this roller's coordinates. */
static void along(const planar *w, const roller *a, const ns_ex *f, size_t n, ns_ex *out)
{
    ns_ex x[4] = {q(w, a->place), q(w, a->turn)}, dx[4] = {v(w, a->place), v(w, a->turn)};
    const size_t count = w->kind == SLOPE ? 4 : 2;
    for (uint32_t i = 2; i < count; i++) {
        x[i] = q(w, a->x + i - 2);
        dx[i] = v(w, a->x + i - 2);
    }
    ns_diff_along(w->g, f, n, x, dx, count, out);
}

/* Integrals in the curve are watched where each disk touches it. */
static void watch_integrals(planar *w, const roller *a, ns_ex local)
{
    ns_description *d = w->d;
    for (uint32_t i = 0; i < d->events.n; i++) {
        ns_event event = d->events.at[i];
        if (!ns_graph_depends(w->g, event.value, &local, 1))
            continue;
        const ns_ex place = q(w, a->place);
        d->events.at[i].off = true; /* the line itself is done with */
        event.name = ns_arena_format(d->arena, "%s%s", a->dot, event.name);
        event.value = ns_subst_one(w->g, event.value, &local, &place, 1);
        event.off = false;
        NS_PUSH(w->s->arena, w->s->events, event);
    }
}

static void locate(planar *w, roller *a)
{
    ns_graph *g = w->g;
    ns_ex local = w->kind == PROFILE ? w->x : w->u, place = q(w, a->place), t[2], dt[2];
    watch_integrals(w, a, local);
    ns_ex one = ns_one(g), c[2] = {w->c[0], w->c[1]};
    if (w->kind == SLOPE) {
        memcpy(t, c, sizeof t);
        a->point[0] = q(w, a->x);
        a->point[1] = q(w, a->x + 1);
    } else {
        ns_diff_along(g, c, 2, &local, &one, 1, t);
        ns_subst(g, c, 2, &local, &place, 1, a->point);
    }
    ns_diff_along(g, t, 2, &local, &one, 1, dt);
    ns_subst(g, t, 2, &local, &place, 1, t);
    ns_subst(g, dt, 2, &local, &place, 1, dt);
    ns_ex square = ns_add(g, ns_powi(g, t[0], 2), ns_powi(g, t[1], 2));
    a->speed = ns_sqrt(g, square);
    ns_ex side = ns_integer(g, w->side);
    ns_ex bend = ns_sub(g, ns_mul(g, t[0], dt[1]), ns_mul(g, t[1], dt[0]));
    a->bend = ns_mul(g, side, ns_div(g, bend, ns_mul(g, square, a->speed)));
    a->normal[0] = ns_mul(g, side, ns_neg(g, ns_div(g, t[1], a->speed)));
    a->normal[1] = ns_mul(g, side, ns_div(g, t[0], a->speed));
    a->slope = ns_apply(g, NS_OP_ATAN2, t[1], t[0]);
    memcpy(a->tangent, t, sizeof t);
    ns_ex psi = q(w, a->turn), offset[2] = {ns_sin(g, psi), ns_cos(g, psi)};
    for (int i = 0; i < 2; i++) {
        a->centre[i] = ns_add(g, a->point[i], ns_mul(g, a->r, a->normal[i]));
        a->com[i] = ns_sub(g, a->centre[i], ns_mul(g, a->l, offset[i]));
    }
    along(w, a, a->com, 2, a->rate);
}

/* ---- Lagrangian and constraints ---------------------------------------------------------- */

static void constrain(planar *w, const char *name, ns_ex residual, ns_span span)
{
    NS_PUSH(w->d->arena, w->d->constraints,
            (ns_constraint_line){.name = name, .residual = residual, .span = span});
}

/* m com'' + m g e, in accelerations: what the ground must give. */
static void forces(const planar *w, const roller *a, ns_ex pull[2])
{
    ns_graph *g = w->g;
    ns_ex x[8], dx[8], acceleration[2];
    const uint32_t count = w->kind == SLOPE ? 4 : 2;
    for (uint32_t i = 0; i < count; i++) {
        const ns_coordinate *c = &w->d->coordinates.at[i == 0   ? a->place
                                                       : i == 1 ? a->turn
                                                                : a->x + i - 2];
        x[i] = c->q;
        dx[i] = c->v;
        x[count + i] = c->v;
        dx[count + i] = c->a;
    }
    ns_diff_along(g, a->rate, 2, x, dx, 2 * (size_t)count, acceleration);
    for (int i = 0; i < 2; i++)
        pull[i] = ns_mul(g, a->m, i ? ns_add(g, acceleration[i], w->gravity) : acceleration[i]);
}

/* Friction instead of rolling: the slip velocity r psi' - |t| (1 - r k) u', whose multiplier is
 * the friction, and the normal force  n.(m com'' + m g e). */
static ns_ex add_grip(planar *w, const roller *a, ns_ex slip)
{
    ns_grips *all = &w->grips;
    ns_ex pull[2];
    forces(w, a, pull);
    if (all->n < NS_SLIDING_MOST)
        all->at[all->n] = (ns_grip){.dot = a->dot,
                                    .span = a->block->span,
                                    .row = w->d->constraints.n,
                                    .normal = ns_add(w->g, ns_mul(w->g, pull[0], a->normal[0]),
                                                     ns_mul(w->g, pull[1], a->normal[1]))};
    all->n++;
    return ns_mul(w->g, a->r, slip);
}

static void add_roller(planar *w, const roller *a, ns_ex *lagrangian)
{
    ns_graph *g = w->g;
    ns_description *d = w->d;
    ns_ex half = ns_number(g, 0.5), L = *lagrangian;
    ns_ex square = ns_add(g, ns_powi(g, a->rate[0], 2), ns_powi(g, a->rate[1], 2));
    L = ns_add(g, L, ns_mul(g, half, ns_mul(g, a->m, square)));
    L = ns_add(g, L, ns_mul(g, half, ns_mul(g, a->J, ns_powi(g, v(w, a->turn), 2))));
    *lagrangian = ns_sub(g, L, ns_mul(g, ns_mul(g, a->m, w->gravity), a->com[1]));
    ns_ex way = ns_mul(g, a->speed, v(w, a->place));
    ns_ex rate = ns_mul(g, way, ns_sub(g, ns_div(g, ns_one(g), a->r), a->bend));
    if (w->side < 0)
        rate = ns_neg(g, rate);
    ns_ex slip = ns_sub(g, v(w, a->turn), rate);
    if (ns_block_has(w->ground, "friction"))
        slip = add_grip(w, a, slip);
    constrain(w, ns_arena_format(d->arena, "%sroll", a->dot), slip, a->block->span);
    for (uint32_t i = 0; i < 2 && w->kind == SLOPE; i++)
        constrain(w, ns_arena_format(d->arena, "%s%s", a->dot, i ? "z'" : "x'"),
                  ns_sub(g, v(w, a->x + i), ns_mul(g, a->tangent[i], v(w, a->place))),
                  w->ground->span);
}

static const roller *find(const planar *w, const char *name)
{
    for (uint32_t i = 0; name && i < w->n; i++)
        if (strcmp(w->at[i].name, name) == 0)
            return &w->at[i];
    return NULL;
}

/* constraint NAME: rod(A, B, length) */
static bool add_rods(planar *w)
{
    ns_graph *g = w->g;
    ns_description *d = w->d;
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *b = &d->blocks.at[i];
        if (b->form != &ns_block_constraint || ns_keep_is(b))
            continue;
        const roller *ends[2] = {NULL, NULL};
        for (uint32_t k = 0; k < 2 && k < b->nargs; k++)
            ends[k] = find(w, b->arg_words ? b->arg_words[k] : NULL);
        ns_ex length;
        if (!b->kind || strcmp(b->kind, "rod") != 0 || b->nargs != 3 || !ends[0] || !ends[1] ||
            ends[0] == ends[1]) {
            ns_diag_error(d->diag, b->span,
                          "disks in a plane are joined by  constraint NAME: rod(A, B, LENGTH)  "
                          "between the centres of two of them");
            return false;
        }
        if (!ns_block_argument(d, b, 2, &length))
            return false;
        ns_ex square = ns_neg(g, ns_powi(g, length, 2));
        for (int k = 0; k < 2; k++)
            square = ns_add(g, square,
                            ns_powi(g, ns_sub(g, ends[1]->centre[k], ends[0]->centre[k]), 2));
        constrain(w, b->name, ns_div(g, square, ns_mul(g, ns_integer(g, 2), length)), b->span);
        NS_PUSH(w->s->arena, w->s->scene.links,
                (ns_scene_link){
                    .kind = NS_LINK_ROD,
                    .name = b->name,
                    .a = ns_v3_make(ends[0]->centre[0], ns_zero(g), ends[0]->centre[1]),
                    .b = ns_v3_make(ends[1]->centre[0], ns_zero(g), ends[1]->centre[1])});
        w->rods++;
    }
    return true;
}

/* ---- values, events, picture ------------------------------------------------------------- */

static ns_v3 in_space(const planar *w, const ns_ex at[2])
{
    return ns_v3_make(at[0], ns_zero(w->g), at[1]);
}

static void add_values(planar *w, const roller *a)
{
    ns_graph *g = w->g;
    ns_system *s = w->s;
    ns_arena *arena = s->arena;
    ns_system_observe_vector(s, NS_QUANTITY_PLACE, ns_arena_format(arena, "%scom", a->dot),
                             in_space(w, a->com), "m", true);
    ns_system_observe_vector(s, NS_QUANTITY_PLACE, ns_arena_format(arena, "%scentre", a->dot),
                             in_space(w, a->centre), "m", false);
    ns_system_observe_vector(s, NS_QUANTITY_PLACE, ns_arena_format(arena, "%scontact", a->dot),
                             in_space(w, a->point), "m", false);
    ns_system_observe(s, NS_QUANTITY_OTHER, ns_arena_format(arena, "%sslope", a->dot), a->slope,
                      "rad", false);
    ns_system_observe(s, NS_QUANTITY_OTHER, ns_arena_format(arena, "%stheta", a->dot),
                      ns_add(g, q(w, a->turn), a->slope), "rad", false);
    ns_ex fit = ns_sub(g, ns_one(g), ns_mul(g, a->r, a->bend));
    ns_system_observe(s, NS_QUANTITY_OTHER, ns_arena_format(arena, "%sfit", a->dot), fit, "",
                      false);
    NS_PUSH(
        arena, s->events,
        (ns_event){.name = ns_arena_format(arena, "%sirregular", a->dot),
                   .value = ns_sub(g, fit, ns_number(g, 1e-7)),
                   .direction = -1,
                   .condition = true,
                   .action = NS_EVENT_SINGULAR,
                   .meaning = "the curve bends as strongly as the disk there: they touch at "
                              "more than one point, (6.23)"});
    if (w->rods)
        return; /* rods share the forces: see lambda */
    ns_ex pull[2];
    forces(w, a, pull);
    ns_ex normal = ns_add(g, ns_mul(g, pull[0], a->normal[0]),
                          ns_mul(g, pull[1], a->normal[1]));
    ns_ex across = ns_sub(g, ns_mul(g, pull[1], a->normal[0]),
                          ns_mul(g, pull[0], a->normal[1]));
    normal = ns_system_in_states(s, normal);
    ns_ex friction = ns_abs(g, ns_system_in_states(s, across));
    ns_system_observe(s, NS_QUANTITY_FORCE, ns_arena_format(arena, "%sforce.normal", a->dot),
                      normal, "N", true);
    ns_system_observe(s, NS_QUANTITY_FORCE, ns_arena_format(arena, "%sforce.friction", a->dot),
                      friction, "N", true);
    ns_system_observe(s, NS_QUANTITY_FORCE, ns_arena_format(arena, "%sforce.ratio", a->dot),
                      ns_div(g, friction, ns_abs(g, normal)), "", true);
    if (w->grips.n)
        return; /* it has that event */
    NS_PUSH(arena, s->events,
            (ns_event){.name = ns_arena_format(arena, "%sliftoff", a->dot),
                       .value = normal,
                       .direction = -1,
                       .condition = true,
                       .action = NS_EVENT_WARN,
                       .meaning = "the contact would lift off"});
}

static void add_picture(planar *w, const roller *a)
{
    ns_graph *g = w->g;
    ns_scene *scene = &w->s->scene;
    ns_ex half = ns_mul(g, ns_number(g, 0.5), q(w, a->turn)), zero = ns_zero(g);
    ns_scene_body body = {.name = a->name,
                          .position = in_space(w, a->centre),
                          .quat = {ns_cos(g, half), zero, ns_sin(g, half), zero},
                          .massive = true,
                          .com = ns_v3_make(zero, zero, ns_neg(g, a->l)),
                          .inertia = ns_m3_zero(g)};
    ns_scene_shape disk = {.kind = NS_SHAPE_DISK,
                           .at = ns_v3_zero(g),
                           .end = ns_v3_zero(g),
                           .turned = true,
                           .axis = ns_v3_unit(g, 1)};
    disk.size[0] = a->r;
    NS_PUSH(w->s->arena, body.shapes, disk);
    NS_PUSH(w->s->arena, scene->bodies, body);
    NS_PUSH(w->s->arena, scene->paths,
            (ns_scene_path){.name = ns_arena_format(w->s->arena, "%scentre of mass", a->dot),
                            .body = -1,
                            .point = in_space(w, a->com),
                            .role = NS_PATH_COM});
}

static bool draw_ground(planar *w)
{
    const ns_property *from = ns_block_find(w->ground, "from"), *to;
    ns_graph *g = w->g;
    ns_scene *scene = &w->s->scene;
    to = ns_block_find(w->ground, "to");
    scene->view = NS_VIEW_SIDE;
    if (!from != !to) {
        ns_diag_error(w->d->diag, (from ? from : to)->span,
                      "`from` and `to` go together: the part of the curve to draw");
        return false;
    }
    if (w->kind == SLOPE || !from) {
        NS_PUSH(w->s->arena, scene->paths,
                (ns_scene_path){.name = "ground",
                                .body = -1,
                                .point = in_space(w, w->at[0].point),
                                .role = NS_PATH_CONTACT});
        return true;
    }
    ns_scene_curve curve = {.kind = NS_CURVE_GROUND,
                            .name = "ground",
                            .u = w->kind == PROFILE ? w->x : w->u,
                            .point = in_space(w, w->c),
                            .side = w->side};
    if (!ns_block_scalar(w->d, from, 0, &curve.range[0]) ||
        !ns_block_scalar(w->d, to, 0, &curve.range[1]))
        return false;
    curve.radius = ns_zero(g);
    NS_PUSH(w->s->arena, scene->curves, curve);
    return true;
}

/* friction coulomb(..) of the ground, for all disks. */
static bool read_law(planar *w)
{
    ns_description *d = w->d;
    const ns_property *friction = ns_block_find(w->ground, "friction");
    if (!friction)
        return true;
    const char *why = w->n > NS_SLIDING_MOST
                          ? "there are too many disks for friction: three at most"
                      : w->rods       ? "disks with rods only roll: leave `friction` out"
                      : w->s->modes.n ? "friction has modes of its own: leave `mode` lines out"
                                      : NULL;
    if (why) {
        ns_diag_error(d->diag, friction->span, "%s", why);
        return false;
    }
    w->grips.holds = "roll";
    w->grips.bare = true;
    for (uint32_t i = 0; i < w->grips.n; i++)
        if (!ns_law_read(d, w->ground, &w->grips.at[i].law))
            return false;
    return true;
}

static bool derive(ns_description *d, ns_system *s)
{
    planar *w = NS_NEW(s->arena, planar);
    *w = (planar){.d = d, .s = s, .g = d->graph};
    if (!read_ground(w) || !read_bodies(w))
        return false;
    for (uint32_t i = 0; i < w->n; i++)
        locate(w, &w->at[i]);
    uint32_t n = d->coordinates.n;
    ns_scope_entry *names = NS_NEW_ARRAY(s->arena, ns_scope_entry, 2 * (size_t)n);
    for (uint32_t i = 0; i < n; i++) {
        const ns_coordinate *c = &d->coordinates.at[i];
        names[2 * i] = (ns_scope_entry){.name = c->name, .value = {1, 1, &c->q}};
        names[2 * i + 1] = (ns_scope_entry){.name = ns_arena_format(s->arena, "%s'", c->name),
                                            .value = {1, 1, &c->v}};
    }
    if (d->lagrangian || d->states.n) {
        ns_diag_error(d->diag, d->lagrangian ? d->lagrangian_span : d->states.at[0].span,
                      "the Lagrangian of disks on a curve is known: leave it out");
        return false;
    }
    if (!ns_description_define(d, names, 2 * n))
        return false;
    d->lagrangian = ns_zero(w->g);
    d->lagrangian_span = w->ground->span;
    for (uint32_t i = 0; i < w->n; i++)
        add_roller(w, &w->at[i], &d->lagrangian);
    if (!add_rods(w) || !read_law(w) || !ns_lagrange_derive(d, s, &w->grips))
        return false;
    for (uint32_t i = 0; i < w->n; i++) {
        add_values(w, &w->at[i]);
        add_picture(w, &w->at[i]);
    }
    ns_system_fact(s, "ground", "%s", kinds[w->kind]);
    return draw_ground(w);
}

static bool sizes(const ns_system *s, ns_diag *diag, const double *p)
{
    const ns_description *d = s->description;
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *b = &d->blocks.at[i];
        if (b->form != &ns_block_body)
            continue;
        const ns_property *mass = ns_block_find(b, "mass"), *J = ns_block_find(b, "inertia");
        double r, m, moment = 0;
        ns_system_eval(s, &b->args[0].at[0], 1, 0, p, NULL, &r);
        ns_system_eval(s, &mass->value[0].at[0], 1, 0, p, NULL, &m);
        if (J)
            ns_system_eval(s, &J->value[0].at[0], 1, 0, p, NULL, &moment);
        if (r > 0 && m > 0 && moment >= 0)
            continue;
        if (!(r > 0))
            ns_diag_error(diag, b->kind_span, "the radius must be positive; it is %.6g", r);
        else if (!(m > 0))
            ns_diag_error(diag, mass->value_span, "the mass must be positive; it is %.6g", m);
        else if (J)
            ns_diag_error(diag, J->value_span, "the inertia must not be negative; it is %.6g",
                          moment);
        return false;
    }
    return ns_lagrange_sizes(s, diag, p);
}

static bool verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                   const double *x)
{
    return ns_formulation_lagrange.verify(s, diag, t0, p, x);
}

static const ns_block_form *const blocks[] = {&ns_block_ground, &ns_block_body,
                                              &ns_block_constraint, &ns_block_start, NULL};

const ns_formulation ns_formulation_planar = {
    .name = "planar",
    .summary = "disks, balanced or not, roll in a vertical plane on any curve",
    .doc =
        "ground curve([x, z]) | profile(z of x) | slope([x', z'])    functions of u (x)\n"
        "  { friction coulomb(STATIC, KINETIC) }: the disks roll and slide\n"
        "body [NAME] disk(r) { mass m; com l; inertia J | uniform }\n"
        "constraint NAME: rod(A, B, length)\n\n"
        "Coordinates of each disk (with its name in front if there are several): place, the\n"
        "curve's parameter at the contact, and turn, clockwise from where the centre of mass "
        "is\n"
        "below the centre.  The ground is drawn between `from` and `to` of its block.\n\n"
        "Values: com, centre, contact (.x .y .z), slope, theta (from the normal), fit (1 - r\n"
        "times the curvature, positive while they touch at one point), force.normal,\n"
        "force.friction, force.ratio (without rods), lambda.NAME of rods.\n\n"
        "Source: Jachnik 2011, section 6; docs/theory/planar.md.",
    .fits = fits,
    .derive = derive,
    .sizes = sizes,
    .verify = verify,
    .blocks = blocks,
};
