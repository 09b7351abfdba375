/* Shapes of bodies, some of which are grounds, too. */
#include <string.h>

#include "expr/subst.h"
#include "mech/contact/shapes_internal.h"

/* A closed surface drawn over u in [0, turn] and v in [0, turn/sheets]. */
static void draw_closed(ns_shapes_work *w, ns_v3 point, double sheets)
{
    const double turn = 6.283185307179586;
    ns_drawing *d = ns_shapes_draw(w, NS_DRAW_CHART);
    d->point = point;
    d->ranged = true;
    d->range[1] = turn;
    d->range[3] = turn / sheets;
}

/* The point of the body whose outward normal is the unit vector w->locals->x, where there is a
 * closed form: starts need it. */
static void set_support(ns_shapes_work *w, ns_v3 point)
{
    w->out->support = point;
    if (w->outward < 0) { /* hollow: opposite to the normal of the full body */
        const ns_v3 way = {{w->locals->x[0], w->locals->x[1], w->locals->x[2]}};
        const ns_v3 back = ns_v3_neg(w->g, way);
        ns_subst(w->g, w->out->support.at, 3, way.at, back.at, 3, w->out->support.at);
    }
    w->out->has_support = true;
    w->out->lowest = w->outward > 0;
}

/* the ellipsoid with these half axes, by longitude u and colatitude v */
static void draw_round(ns_shapes_work *w, ns_ex a, ns_ex b, ns_ex c)
{
    ns_graph *g = w->g;
    ns_ex u = w->locals->u[0], v = w->locals->u[1], sine = ns_sin(g, v);
    const ns_v3 point = ns_v3_make(ns_mul(g, a, ns_mul(g, ns_cos(g, u), sine)),
                                   ns_mul(g, b, ns_mul(g, ns_sin(g, u), sine)),
                                   ns_mul(g, c, ns_cos(g, v)));
    draw_closed(w, point, 2);
}

bool ns_shapes_sphere(ns_shapes_work *w)
{
    ns_graph *g = w->g;
    const ns_ex *x = w->locals->x;
    set_support(w, ns_v3_make(ns_mul(g, w->a[0], x[0]), ns_mul(g, w->a[0], x[1]),
                              ns_mul(g, w->a[0], x[2])));
    w->out->convex = w->outward > 0;
    w->out->radius = w->a[0];
    draw_round(w, w->a[0], w->a[0], w->a[0]);
    ns_ex F = ns_add(g, ns_add(g, ns_shapes_square(g, x[0]), ns_shapes_square(g, x[1])),
                     ns_shapes_square(g, x[2]));
    return ns_shapes_implicit(
        w, ns_mul(g, ns_number(g, 0.5), ns_sub(g, F, ns_shapes_square(g, w->a[0]))));
}

static bool ellipsoid(ns_shapes_work *w)
{
    ns_graph *g = w->g;
    ns_ex F = ns_neg(g, ns_one(g));
    for (int i = 0; i < 3; i++) /* x^2 * (1/a^2): the reciprocal is a constant */
        F = ns_add(g, F,
                   ns_times(g, ns_shapes_square(g, w->locals->x[i]),
                            ns_div(g, ns_one(g), ns_shapes_square(g, w->a[i]))));
    /* y_i = a_i^2 n_i / sqrt(sum a_j^2 n_j^2) */
    ns_ex an[3], square = ns_zero(g);
    for (int i = 0; i < 3; i++) {
        an[i] = ns_mul(g, w->a[i], w->locals->x[i]);
        square = ns_add(g, square, ns_shapes_square(g, an[i]));
    }
    for (int i = 0; i < 3; i++) {
        an[i] = ns_div(g, ns_mul(g, w->a[i], an[i]), ns_sqrt(g, square));
        w->out->squares.at[i] = ns_shapes_square(g, w->a[i]);
    }
    set_support(w, ns_v3_make(an[0], an[1], an[2]));
    w->out->convex = w->out->quadric = w->outward > 0;
    draw_round(w, w->a[0], w->a[1], w->a[2]);
    return ns_shapes_implicit(w, ns_mul(g, ns_number(g, 0.5), F));
}

static bool superellipsoid(ns_shapes_work *w)
{
    ns_graph *g = w->g;
    ns_ex F = ns_neg(g, ns_one(g));
    double e;
    bool even = ns_graph_is_number(g, w->a[3], &e) && e == 2 * (double)(int)(e / 2);
    for (int i = 0; i < 3; i++) {
        ns_ex ratio = ns_div(g, w->locals->x[i], w->a[i]);
        F = ns_add(g, F, ns_pow(g, even ? ratio : ns_abs(g, ratio), w->a[3]));
    }
    /* with h_i = |a_i n_i|:  y_i = a_i sign(n_i) h_i^(1/(e-1)) / (sum h_j^(e/(e-1)))^(1/e) */
    ns_ex y[3], sum = ns_zero(g), one = ns_one(g);
    ns_ex q = ns_div(g, one, ns_sub(g, w->a[3], one));
    for (int i = 0; i < 3; i++) {
        ns_ex h = ns_abs(g, ns_mul(g, w->a[i], w->locals->x[i]));
        y[i] = ns_mul(g, ns_mul(g, w->a[i], ns_sign(g, w->locals->x[i])), ns_pow(g, h, q));
        sum = ns_add(g, sum, ns_pow(g, h, ns_mul(g, w->a[3], q)));
    }
    for (int i = 0; i < 3; i++)
        y[i] = ns_div(g, y[i], ns_pow(g, sum, ns_div(g, one, w->a[3])));
    set_support(w, ns_v3_make(y[0], y[1], y[2]));
    w->out->lowest = false; /* its derivatives do not exist where the surface is flat */
    return ns_shapes_implicit(w, F);
}

bool ns_shapes_torus(ns_shapes_work *w)
{
    ns_graph *g = w->g;
    const ns_ex *x = w->locals->x;
    ns_ex level = ns_sqrt(g, ns_add(g, ns_shapes_square(g, x[0]), ns_shapes_square(g, x[1])));
    ns_ex ring = ns_sub(g, level, w->a[0]);
    ns_ex out = ns_add(g, ns_div(g, w->a[0], level), w->a[1]); /* R n_t/|n_t| + r n */
    set_support(
        w, ns_v3_make(ns_mul(g, out, x[0]), ns_mul(g, out, x[1]), ns_mul(g, w->a[1], x[2])));
    ns_ex u = w->locals->u[0], v = w->locals->u[1];
    ns_ex rho = ns_add(g, w->a[0], ns_mul(g, w->a[1], ns_cos(g, v)));
    const ns_v3 point = ns_v3_make(ns_mul(g, rho, ns_cos(g, u)), ns_mul(g, rho, ns_sin(g, u)),
                                   ns_mul(g, w->a[1], ns_sin(g, v)));
    draw_closed(w, point, 1);
    ns_ex F = ns_sub(g, ns_add(g, ns_shapes_square(g, ring), ns_shapes_square(g, x[2])),
                     ns_shapes_square(g, w->a[1]));
    return ns_shapes_implicit(w, ns_mul(g, ns_number(g, 0.5), F));
}

/* z^2/a^2 + (x^2 + y^2)/b^2 (1 + k z/a) = 1 : an egg whose pointed end is at +z for k > 0 */
static bool egg(ns_shapes_work *w)
{
    ns_graph *g = w->g;
    const ns_ex *x = w->locals->x;
    ns_ex h = ns_div(g, x[2], w->a[0]);
    ns_ex round = ns_div(g, ns_add(g, ns_shapes_square(g, x[0]), ns_shapes_square(g, x[1])),
                         ns_shapes_square(g, w->a[1]));
    ns_ex F = ns_mul(g, round, ns_add(g, ns_one(g), ns_mul(g, w->a[2], h)));
    return ns_shapes_implicit(w, ns_sub(g, ns_add(g, F, ns_shapes_square(g, h)), ns_one(g)));
}

bool ns_shapes_implicit_given(ns_shapes_work *w)
{
    ns_ex F;
    return ns_shapes_argument(w, 0, &F) && ns_shapes_implicit(w, F);
}

/* radius as a function of z, about the z axis */
static bool revolution(ns_shapes_work *w)
{
    ns_graph *g = w->g;
    const ns_ex *x = w->locals->x;
    ns_ex radius;
    if (!ns_shapes_argument(w, 0, &radius))
        return false;
    ns_ex F = ns_sub(g, ns_add(g, ns_shapes_square(g, x[0]), ns_shapes_square(g, x[1])),
                     ns_shapes_square(g, radius));
    return ns_shapes_implicit(w, ns_mul(g, ns_number(g, 0.5), F));
}

/* y(u, v) */
static bool chart(ns_shapes_work *w, ns_v3 y)
{
    ns_ex u[2];
    ns_shapes_states(w, NS_QUANTITY_PARAMETER, w->body ? "body" : "ground", "uv", u);
    ns_v3 placed = w->body ? y : ns_v3_add(w->g, y, w->shift);
    ns_drawing *d = ns_shapes_draw(w, NS_DRAW_CHART);
    d->point = placed;
    memcpy(d->along, u, sizeof u);
    ns_subst(w->g, placed.at, 3, w->locals->u, u, 2, placed.at);
    w->out->side = ns_side_chart(w->g, placed, u, w->outward);
    return true;
}

bool ns_shapes_parametric(ns_shapes_work *w)
{
    ns_v3 y;
    return ns_shapes_argument_vector(w, 0, &y) && chart(w, y);
}

/* the curve [x(u), z(u)] swept along y */
bool ns_shapes_extruded(ns_shapes_work *w)
{
    ns_ex x, z;
    if (w->block->nargs != 2) {
        ns_diag_error(w->d->diag, w->block->kind_span,
                      "extruded takes two functions of u: extruded(x, z)");
        return false;
    }
    /* d/du x d/dv = (x', 0, z') x (0, 1, 0) = (-z', 0, x'): upwards where x grows */
    return ns_shapes_argument(w, 0, &x) && ns_shapes_argument(w, 1, &z) &&
           chart(w, ns_v3_make(x, w->locals->u[1], z));
}

static bool circle_at(ns_shapes_work *w, ns_ex z)
{
    ns_ex u[2];
    ns_shapes_states(w, NS_QUANTITY_COORDINATE, "rim", "xy", u);
    const char *name = w->block->kind;
    ns_drawing *d = ns_shapes_draw(w, strcmp(name, "cylinder") == 0 ? NS_DRAW_CYLINDER
                                      : strcmp(name, "cone") == 0   ? NS_DRAW_CONE
                                      : strcmp(name, "hoop") == 0   ? NS_DRAW_HOOP
                                                                    : NS_DRAW_DISK);
    bool tall = d->kind == NS_DRAW_CYLINDER || d->kind == NS_DRAW_CONE;
    d->size[0] = w->a[0];
    d->size[1] = tall ? w->a[1] : z;
    w->out->side = ns_side_circle(w->g, w->a[0], z, u);
    w->out->lowest = true;
    return true;
}

static bool disk(ns_shapes_work *w)
{
    return circle_at(w, ns_zero(w->g));
}

static bool rim(ns_shapes_work *w)
{
    return circle_at(w, w->a[1]);
}

/* The contact leaves its part where `value` becomes negative, or (value = 0) lies down along
 * `lean`: see ns_limit. */
static void limit(ns_shapes_work *w, const char *name, ns_ex value, ns_v3 lean,
                  const char *meaning)
{
    w->out->limit[w->out->n_limits++] = (ns_limit){
        .name = name, .meaning = meaning, .value = value, .lean = lean};
}

/* The part that touches, by `contact PART`: its place in the list, which ends with NULL, the
 * first if nothing is said; -1 after an error. */
static int part(ns_shapes_work *w, const char *const *parts)
{
    const ns_property *p = ns_block_find(w->block, "contact");
    if (!p)
        return 0;
    ns_text list = ns_text_new(w->d->arena);
    for (int i = 0; parts[i]; i++) {
        if (p->word && strcmp(p->word, parts[i]) == 0)
            return i;
        ns_text_addf(&list, "%s%s", i == 0 ? "" : parts[i + 1] ? ", " : " or ", parts[i]);
    }
    ns_diag_error(w->d->diag, p->value_span, "a %s touches with its %s", w->block->kind,
                  ns_text_string(&list));
    return -1;
}

/* a can: its rim below, the one above, or the side */
static bool cylinder(ns_shapes_work *w)
{
    static const char *const parts[] = {"bottom", "top", "side", NULL};
    static const char *const falls = "the cylinder falls on its side";
    ns_graph *g = w->g;
    ns_ex half = ns_mul(g, ns_number(g, 0.5), w->a[1]), zero = ns_zero(g), one = ns_one(g);
    switch (part(w, parts)) {
    case 0:
        limit(w, "falls", 0, ns_v3_make(zero, zero, one), falls);
        return circle_at(w, ns_neg(g, half));
    case 1:
        limit(w, "falls", 0, ns_v3_make(zero, zero, ns_neg(g, one)), falls);
        return circle_at(w, half);
    case 2: {
        ns_drawing *d = ns_shapes_draw(w, NS_DRAW_CYLINDER);
        d->size[0] = w->a[0];
        d->size[1] = w->a[1];
        const ns_ex *x = w->locals->x;
        ns_ex F = ns_sub(g, ns_add(g, ns_shapes_square(g, x[0]), ns_shapes_square(g, x[1])),
                         ns_shapes_square(g, w->a[0]));
        if (!ns_shapes_implicit(w, ns_mul(g, ns_number(g, 0.5), F)))
            return false;
        ns_ex z = w->out->side.point.at[2];
        limit(w, "rim", ns_sub(g, ns_shapes_square(g, half), ns_shapes_square(g, z)),
              ns_v3_zero(g), "the contact reaches a rim of the cylinder");
        return true;
    }
    default:
        return false;
    }
}

/* cone with its base circle at z = 0 and its apex at z = h */
static bool cone(ns_shapes_work *w)
{
    static const char *const parts[] = {"base", "side", NULL};
    ns_graph *g = w->g;
    ns_ex r = w->a[0], h = w->a[1];
    switch (part(w, parts)) {
    case 0: {
        if (!circle_at(w, ns_zero(g)))
            return false;
        ns_v3 apex = ns_v3_make(ns_zero(g), ns_zero(g), h);
        limit(w, "falls", 0, ns_v3_sub(g, apex, w->out->side.point),
              "the cone falls on its side");
        w->out->limit[w->out->n_limits - 1].apex = true;
        return true;
    }
    case 1: {
        ns_drawing *d = ns_shapes_draw(w, NS_DRAW_CONE);
        d->size[0] = r;
        d->size[1] = h;
        /* distance from the side: (h rho + r (z - h))/sqrt(r^2 + h^2) */
        const ns_ex *x = w->locals->x;
        ns_ex rho = ns_sqrt(g, ns_add(g, ns_shapes_square(g, x[0]), ns_shapes_square(g, x[1])));
        ns_ex F = ns_add(g, ns_mul(g, h, rho), ns_mul(g, r, ns_sub(g, x[2], h)));
        if (!ns_shapes_implicit(w, ns_div(g, F,
                                          ns_sqrt(g, ns_add(g, ns_shapes_square(g, r),
                                                            ns_shapes_square(g, h))))))
            return false;
        ns_ex z = w->out->side.point.at[2];
        limit(w, "base", z, ns_v3_zero(g), "the contact reaches the base of the cone");
        limit(w, "apex", ns_sub(g, h, z), ns_v3_zero(g),
              "the contact reaches the apex of the cone");
        return true;
    }
    default:
        return false;
    }
}

/* half a ball: flat face at z = 0, dome above it */
static bool hemisphere(ns_shapes_work *w)
{
    static const char *const parts[] = {"dome", "rim", NULL};
    ns_graph *g = w->g;
    switch (part(w, parts)) {
    case 0:
        if (!ns_shapes_sphere(w))
            return false;
        w->out->drawing.range[3] = 3.141592653589793 / 2;
        limit(w, "rim", w->out->side.point.at[2], ns_v3_zero(g),
              "the contact reaches the rim of the hemisphere");
        return true;
    case 1:
        if (!circle_at(w, ns_zero(g)))
            return false;
        draw_round(w, w->a[0], w->a[0], w->a[0]);
        w->out->drawing.range[3] = 3.141592653589793 / 2;
        limit(w, "dome", 0, ns_v3_make(ns_zero(g), ns_zero(g), ns_one(g)),
              "the contact passes from the rim to the dome");
        return true;
    default:
        return false;
    }
}

/* `limit F, ...`: where a part given by the user ends, in x, y, z or the surface's u, v */
bool ns_shapes_given_limits(ns_shapes_work *w)
{
    const ns_property *p = ns_block_find(w->block, "limit");
    const ns_side *side = &w->out->side;
    for (uint32_t i = 0; p && i < p->values; i++) {
        ns_ex F;
        if (w->out->n_limits == sizeof w->out->limit / sizeof *w->out->limit) {
            ns_diag_error(w->d->diag, p->span, "a part has up to four limits");
            return false;
        }
        if (!ns_block_scalar(w->d, p, i, &F))
            return false;
        F = ns_subst_one(w->g, F, w->locals->x, side->point.at, 3);
        if (side->kind != NS_SIDE_IMPLICIT)
            F = ns_subst_one(w->g, F, w->locals->u, side->symbol, side->n);
        if (ns_graph_depends(w->g, F, w->locals->u, 2)) {
            ns_diag_error(w->d->diag, p->value_span, "a `%s` has no parameters u, v",
                          w->block->kind);
            return false;
        }
        limit(w, "limit", F, ns_v3_zero(w->g),
              "the contact leaves the part of the body given by `limit`");
    }
    return true;
}

bool ns_shapes_curve(ns_shapes_work *w)
{
    ns_v3 c;
    if (!ns_shapes_argument_vector(w, 0, &c))
        return false;
    ns_ex u;
    ns_shapes_states(w, NS_QUANTITY_PARAMETER, w->body ? "edge" : "wire", "u", &u);
    ns_v3 placed = w->body ? c : ns_v3_add(w->g, c, w->shift);
    ns_drawing *d = ns_shapes_draw(w, NS_DRAW_CURVE);
    d->point = placed;
    d->along[0] = u;
    ns_subst(w->g, placed.at, 3, w->locals->u, &u, 1, placed.at);
    w->out->side = ns_side_curve(w->g, placed, u);
    return true;
}

const ns_shapes_kind ns_shapes_bodies[] = {
    {"sphere", "r", 1, ns_shapes_sphere, "sphere", "+", "flip limit"},
    {"ellipsoid", "a, b, c", 3, ellipsoid, "ellipsoid", "+++", "flip limit"},
    {"superellipsoid", "a, b, c, exponent", 4, superellipsoid, NULL, "+++1", "flip limit"},
    {"torus", "R, r", 2, ns_shapes_torus, "torus", "++", "flip limit"},
    {"egg", "a, b, k", 3, egg, NULL, "++.", "flip limit"},
    {"revolution", "radius of z", 0, revolution, NULL, "", "flip limit"},
    {"implicit", "F of x, y, z", 0, ns_shapes_implicit_given, NULL, "", "flip limit"},
    {"parametric", "[x, y, z] of u, v", 0, ns_shapes_parametric, NULL, "", "flip limit"},
    {"disk", "r", 1, disk, "disk", "+", ""},
    {"hoop", "r", 1, disk, "hoop", "+", ""},
    {"rim", "r, z", 2, rim, NULL, "+.", ""},
    {"cylinder", "r, h", 2, cylinder, "cylinder", "+0", "contact"},
    {"cone", "r, h", 2, cone, "cone", "+0", "contact"},
    {"hemisphere", "r", 1, hemisphere, "hemisphere", "+", "contact"},
    {"edge", "[x, y, z] of u", 0, ns_shapes_curve, NULL, "", "limit"},
    {0},
};
