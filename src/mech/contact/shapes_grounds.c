/* Shapes of grounds. */
#include "expr/subst.h"
#include "mech/contact/shapes_internal.h"

static bool plane(ns_shapes_work *w)
{
    ns_graph *g = w->g;
    const ns_property *tilt = ns_block_find(w->block, "tilt");
    const ns_property *heading = ns_block_find(w->block, "heading");
    ns_ex angle = ns_zero(g), way = ns_zero(g);
    if ((tilt && !ns_block_scalar(w->d, tilt, 0, &angle)) ||
        (heading && !ns_block_scalar(w->d, heading, 0, &way)))
        return false;
    bool level = ns_graph_is_zero(g, angle);
    ns_ex u[2];
    if (level)
        ns_shapes_states(w, NS_QUANTITY_PLACE, "contact", "xy", u);
    else
        ns_shapes_states(w, NS_QUANTITY_PARAMETER, "ground", "uv", u);
    if (level)
        way = angle; /* the axes of a horizontal plane are those of space */
    ns_ex c = ns_cos(g, angle), ch = ns_cos(g, way), sh = ns_sin(g, way);
    /* e1 points downhill */
    ns_v3 e1 = ns_v3_make(ns_mul(g, c, ch), ns_mul(g, c, sh), ns_neg(g, ns_sin(g, angle)));
    ns_v3 e2 = ns_v3_make(ns_neg(g, sh), ch, ns_zero(g));
    w->out->side = ns_side_plane(g, w->shift, e1, e2, u);
    ns_drawing *d = ns_shapes_draw(w, NS_DRAW_PLANE);
    d->point = w->shift;
    d->base[0] = e1;
    d->base[1] = e2;
    w->out->planar = true;
    w->out->level = level && ns_v3_is_zero(g, w->shift);
    return true;
}

/* z = f(x, y) */
static bool height(ns_shapes_work *w)
{
    ns_ex f, u[2];
    if (!ns_shapes_argument(w, 0, &f))
        return false;
    ns_shapes_states(w, NS_QUANTITY_PLACE, "contact", "xy", u);
    ns_ex at[2] = {ns_sub(w->g, u[0], w->shift.at[0]), ns_sub(w->g, u[1], w->shift.at[1])};
    f = ns_add(w->g, ns_subst_one(w->g, f, w->locals->x, at, 2), w->shift.at[2]);
    ns_ex z = w->locals->x[2];
    if (ns_graph_depends(w->g, f, &z, 1)) {
        ns_diag_error(w->d->diag, w->block->kind_span,
                      "a height is a function of x and y only");
        return false;
    }
    w->out->side = ns_side_graph(w->g, f, u);
    ns_shapes_draw(w, NS_DRAW_GRAPH)->F = ns_subst_one(w->g, f, u, w->locals->x, 2);
    return true;
}

/* z = k (x^2 + y^2) */
static bool paraboloid(ns_shapes_work *w)
{
    ns_graph *g = w->g;
    ns_ex u[2];
    ns_shapes_states(w, NS_QUANTITY_PLACE, "contact", "xy", u);
    ns_ex x = ns_sub(g, u[0], w->shift.at[0]), y = ns_sub(g, u[1], w->shift.at[1]);
    ns_ex f = ns_mul(g, w->a[0], ns_add(g, ns_shapes_square(g, x), ns_shapes_square(g, y)));
    f = ns_add(g, f, w->shift.at[2]);
    w->out->side = ns_side_graph(g, f, u);
    ns_shapes_draw(w, NS_DRAW_GRAPH)->F = ns_subst_one(g, f, u, w->locals->x, 2);
    return true;
}

/* about an axis through the origin, vertical unless given */
static bool pipe(ns_shapes_work *w)
{
    ns_graph *g = w->g;
    const ns_property *axis = ns_block_find(w->block, "axis");
    ns_v3 x = ns_v3_make(w->locals->x[0], w->locals->x[1], w->locals->x[2]), u;
    ns_ex along = x.at[2];
    if (axis) {
        if (!ns_block_vector(w->d, axis, 0, &u))
            return false;
        along = ns_v3_dot(g, x, ns_v3_normalise(g, u, NULL));
    }
    ns_ex square = axis ? ns_sub(g, ns_v3_dot(g, x, x), ns_shapes_square(g, along))
                        : ns_add(g, ns_shapes_square(g, x.at[0]), ns_shapes_square(g, x.at[1]));
    ns_ex F = ns_sub(g, square, ns_shapes_square(g, w->a[0]));
    return ns_shapes_implicit(w, ns_mul(g, ns_number(g, 0.5), F));
}

/* cone about the vertical, apex at the origin, opening upwards with this half angle;
 * positive outside:  sqrt(x^2 + y^2) cos(angle) - z sin(angle) */
static bool funnel(ns_shapes_work *w)
{
    ns_graph *g = w->g;
    const ns_ex *x = w->locals->x;
    ns_ex r = ns_sqrt(g, ns_add(g, ns_shapes_square(g, x[0]), ns_shapes_square(g, x[1])));
    return ns_shapes_implicit(
        w, ns_sub(g, ns_mul(g, r, ns_cos(g, w->a[0])), ns_mul(g, x[2], ns_sin(g, w->a[0]))));
}

const ns_shapes_kind ns_shapes_grounds[] = {
    {"plane", "", 0, plane, NULL, "", "tilt heading"},
    {"height", "z of x, y", 0, height, NULL, "", ""},
    {"sphere", "R", 1, ns_shapes_sphere, NULL, "+", "side"},
    {"cylinder", "R", 1, pipe, NULL, "+", "side axis"},
    {"cone", "half angle", 1, funnel, NULL, "+", "side"},
    {"paraboloid", "k", 1, paraboloid, NULL, ".", ""},
    {"torus", "R, r", 2, ns_shapes_torus, NULL, "++", "side"},
    {"implicit", "F of x, y, z", 0, ns_shapes_implicit_given, NULL, "", "side"},
    {"parametric", "[x, y, z] of u, v", 0, ns_shapes_parametric, NULL, "", "side"},
    {"extruded", "x of u, z of u", 0, ns_shapes_extruded, NULL, "", "side"},
    {"wire", "[x, y, z] of u", 0, ns_shapes_curve, NULL, "", ""},
    {0},
};
