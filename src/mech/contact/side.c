#include "mech/contact/side.h"

#include "expr/diff.h"
#include "expr/subst.h"

ns_side ns_side_implicit(ns_graph *g, ns_ex F, const ns_ex x[3], ns_v3 point, int outward)
{
    ns_side side = {.kind = NS_SIDE_IMPLICIT, .n = 3, .point = point};
    ns_v3 gradient = {{0}};
    for (int i = 0; i < 3; i++)
        side.symbol[i] = x[i];
    if (outward < 0)
        F = ns_neg(g, F);
    ns_diff_gradient(g, F, x, 3, gradient.at);
    ns_diff_jacobian(g, gradient.at, 3, x, 3, &side.H.at[0][0]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            side.H.at[i][j] = side.H.at[j][i];
    ns_ex norm;
    side.normal = ns_v3_normalise(g, gradient, &norm);
    side.kappa = ns_div(g, ns_one(g), norm);
    side.flat = ns_m3_is_zero(g, side.H);
    side.residual = ns_div(g, F, norm); /* distance from the surface, to first order */
    return side;
}

ns_side ns_side_graph(ns_graph *g, ns_ex f, const ns_ex x[2])
{
    ns_side side = {.kind = NS_SIDE_GRAPH, .n = 2};
    ns_ex slope[2], second[4], zero = ns_zero(g), one = ns_one(g), norm;
    side.symbol[0] = x[0];
    side.symbol[1] = x[1];
    side.point = ns_v3_make(x[0], x[1], f);
    ns_diff_gradient(g, f, x, 2, slope);
    ns_diff_jacobian(g, slope, 2, x, 2, second);
    side.normal = ns_v3_normalise(g, ns_v3_make(ns_neg(g, slope[0]), ns_neg(g, slope[1]), one),
                                  &norm);
    side.kappa = ns_div(g, one, norm);
    side.H = ns_m3_zero(g);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            side.H.at[i][j] = ns_neg(g, second[i <= j ? 2 * i + j : 2 * j + i]);
    side.flat = ns_m3_is_zero(g, side.H);
    side.base[0] = ns_v3_make(one, zero, slope[0]);
    side.base[1] = ns_v3_make(zero, one, slope[1]);
    return side;
}

/* Inverse of the metric g_ab = y_a . y_b. */
static void inverse_metric(ns_graph *g, const ns_v3 base[2], ns_ex inverse[3])
{
    ns_ex E = ns_v3_dot(g, base[0], base[0]), F = ns_v3_dot(g, base[0], base[1]);
    ns_ex G = ns_v3_dot(g, base[1], base[1]);
    ns_ex det = ns_sub(g, ns_mul(g, E, G), ns_powi(g, F, 2));
    ns_ex reciprocal = ns_div(g, ns_one(g), det);
    inverse[0] = ns_times(g, G, reciprocal);
    inverse[1] = ns_neg(g, ns_times(g, F, reciprocal));
    inverse[2] = ns_times(g, E, reciprocal);
}

static void dual_base(ns_graph *g, const ns_v3 base[2], ns_v3 dual[2])
{
    ns_ex inverse[3];
    inverse_metric(g, base, inverse);
    for (int a = 0; a < 2; a++)
        dual[a] = ns_v3_add(g, ns_v3_scale(g, inverse[a], base[0]),
                            ns_v3_scale(g, inverse[a + 1], base[1]));
}

ns_side ns_side_chart(ns_graph *g, ns_v3 y, const ns_ex u[2], int outward)
{
    ns_side side = {.kind = NS_SIDE_CHART, .n = 2, .point = y, .kappa = ns_one(g)};
    ns_v3 dual[2], second[3];
    for (int a = 0; a < 2; a++) {
        side.symbol[a] = u[a];
        side.base[a] = ns_v3_diff(g, y, u[a]);
    }
    second[0] = ns_v3_diff(g, side.base[0], u[0]);
    second[1] = ns_v3_diff(g, side.base[0], u[1]);
    second[2] = ns_v3_diff(g, side.base[1], u[1]);
    ns_v3 across = ns_v3_cross(g, side.base[0], side.base[1]);
    side.normal = ns_v3_normalise(g, outward < 0 ? ns_v3_neg(g, across) : across, NULL);
    dual_base(g, side.base, dual);
    side.H = ns_m3_zero(g);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            ns_ex form = ns_neg(g, ns_v3_dot(g, side.normal, second[a + b]));
            if (!ns_graph_is_zero(g, form))
                side.H = ns_m3_add(g, side.H,
                                   ns_m3_scale(g, form, ns_m3_outer(g, dual[a], dual[b])));
        }
    side.flat = ns_m3_is_zero(g, side.H);
    return side;
}

ns_side ns_side_plane(ns_graph *g, ns_v3 origin, ns_v3 e1, ns_v3 e2, const ns_ex u[2])
{
    ns_side side = {.kind = NS_SIDE_CHART, .n = 2, .kappa = ns_one(g), .flat = true};
    side.orthonormal = true;
    side.symbol[0] = u[0];
    side.symbol[1] = u[1];
    side.base[0] = e1;
    side.base[1] = e2;
    side.point = ns_v3_add(g, origin,
                           ns_v3_add(g, ns_v3_scale(g, u[0], e1), ns_v3_scale(g, u[1], e2)));
    side.normal = ns_v3_cross(g, e1, e2);
    side.H = ns_m3_zero(g);
    return side;
}

ns_side ns_side_flat(ns_graph *g, const ns_side *side)
{
    ns_ex zero[3] = {ns_zero(g), ns_zero(g), ns_zero(g)};
    ns_v3 base[2];
    ns_ex off = ns_subst_one(g, side->residual, side->symbol, zero, 3);
    ns_v3_tangents(g, side->normal, base);
    return ns_side_plane(g, ns_v3_scale(g, ns_neg(g, off), side->normal), base[0], base[1],
                         side->symbol);
}

ns_side ns_side_curve(ns_graph *g, ns_v3 c, ns_ex u)
{
    ns_side side = {.kind = NS_SIDE_CURVE, .n = 1, .point = c, .symbol = {u}};
    side.tangent = ns_v3_diff(g, c, u);
    side.second = ns_v3_diff(g, side.tangent, u);
    return side;
}

ns_side ns_side_circle(ns_graph *g, ns_ex radius, ns_ex z, const ns_ex u[2])
{
    ns_side side = {.kind = NS_SIDE_CIRCLE, .n = 2, .symbol = {u[0], u[1]}};
    ns_ex x = ns_mul(g, radius, u[0]), y = ns_mul(g, radius, u[1]), zero = ns_zero(g);
    side.point = ns_v3_make(x, y, z);
    side.tangent = ns_v3_make(ns_neg(g, y), x, zero);
    side.second = ns_v3_make(ns_neg(g, x), ns_neg(g, y), zero);
    ns_ex length = ns_add(g, ns_powi(g, u[0], 2), ns_powi(g, u[1], 2));
    side.residual = ns_mul(g, ns_number(g, 0.5), ns_sub(g, length, ns_one(g)));
    return side;
}

ns_m3 ns_side_curvature(ns_graph *g, const ns_side *side)
{
    return ns_m3_scale(g, side->kappa, side->H);
}

void ns_side_rates(ns_graph *g, const ns_side *side, ns_v3 w, ns_ex speed, ns_ex *rate)
{
    switch (side->kind) {
    case NS_SIDE_IMPLICIT:
        for (int i = 0; i < 3; i++)
            rate[i] = w.at[i];
        break;
    case NS_SIDE_GRAPH:
        rate[0] = w.at[0];
        rate[1] = w.at[1];
        break;
    case NS_SIDE_CHART:
        if (side->orthonormal) {
            rate[0] = ns_v3_dot(g, side->base[0], w);
            rate[1] = ns_v3_dot(g, side->base[1], w);
        } else {
            ns_v3 dual[2];
            dual_base(g, side->base, dual);
            rate[0] = ns_v3_dot(g, dual[0], w);
            rate[1] = ns_v3_dot(g, dual[1], w);
        }
        break;
    case NS_SIDE_CURVE:
        rate[0] = speed;
        break;
    case NS_SIDE_CIRCLE:
        rate[0] = ns_neg(g, ns_mul(g, side->symbol[1], speed));
        rate[1] = ns_mul(g, side->symbol[0], speed);
        break;
    }
}
