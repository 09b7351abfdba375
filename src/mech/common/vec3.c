#include "mech/common/vec3.h"

#include "expr/diff.h"

ns_v3(ns_v3_make)(ns_ex x, ns_ex y, ns_ex z)
{
    return (ns_v3){{x, y, z}};
}

ns_v3 ns_v3_zero(ns_graph *g)
{
    ns_ex zero = ns_zero(g);
    return ns_v3_make(zero, zero, zero);
}

ns_v3 ns_v3_unit(ns_graph *g, int axis)
{
    ns_v3 unit = ns_v3_zero(g);
    unit.at[axis] = ns_one(g);
    return unit;
}

ns_v3(ns_v3_add)(ns_graph *g, ns_v3 a, ns_v3 b)
{
    for (int i = 0; i < 3; i++)
        a.at[i] = ns_add(g, a.at[i], b.at[i]);
    return a;
}

ns_v3(ns_v3_sub)(ns_graph *g, ns_v3 a, ns_v3 b)
{
    for (int i = 0; i < 3; i++)
        a.at[i] = ns_sub(g, a.at[i], b.at[i]);
    return a;
}

ns_v3 ns_v3_neg(ns_graph *g, ns_v3 a)
{
    for (int i = 0; i < 3; i++)
        a.at[i] = ns_neg(g, a.at[i]);
    return a;
}

ns_v3(ns_v3_scale)(ns_graph *g, ns_ex factor, ns_v3 a)
{
    for (int i = 0; i < 3; i++)
        a.at[i] = ns_mul(g, factor, a.at[i]);
    return a;
}

ns_v3(ns_v3_cross)(ns_graph *g, ns_v3 a, ns_v3 b)
{
    ns_v3 c;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        c.at[i] = ns_sub(g, ns_mul(g, a.at[j], b.at[k]), ns_mul(g, a.at[k], b.at[j]));
    }
    return c;
}

ns_ex(ns_v3_dot)(ns_graph *g, ns_v3 a, ns_v3 b)
{
    ns_ex sum = ns_mul(g, a.at[0], b.at[0]);
    sum = ns_add(g, sum, ns_mul(g, a.at[1], b.at[1]));
    return ns_add(g, sum, ns_mul(g, a.at[2], b.at[2]));
}

ns_ex ns_v3_norm(ns_graph *g, ns_v3 a)
{
    return ns_sqrt(g, ns_v3_dot(g, a, a));
}

ns_v3 ns_v3_normalise(ns_graph *g, ns_v3 a, ns_ex *norm)
{
    ns_ex length = ns_v3_norm(g, a);
    if (norm)
        *norm = length;
    if (ns_graph_is_one(g, length))
        return a;
    /* one division, three products: the reciprocal is a node of its own */
    ns_ex inverse = ns_div(g, ns_one(g), length);
    for (int i = 0; i < 3; i++)
        a.at[i] = ns_times(g, inverse, a.at[i]);
    return a;
}

bool ns_v3_is_zero(const ns_graph *g, ns_v3 a)
{
    return ns_graph_is_zero(g, a.at[0]) && ns_graph_is_zero(g, a.at[1]) &&
           ns_graph_is_zero(g, a.at[2]);
}

ns_v3 ns_v3_diff(ns_graph *g, ns_v3 a, ns_ex x)
{
    ns_ex one = ns_one(g);
    ns_v3 out = {{0}};
    ns_diff_along(g, a.at, 3, &x, &one, 1, out.at);
    return out;
}

ns_m3 ns_m3_zero(ns_graph *g)
{
    ns_m3 m;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m.at[i][j] = ns_zero(g);
    return m;
}

ns_m3 ns_m3_identity(ns_graph *g)
{
    ns_m3 m = ns_m3_zero(g);
    for (int i = 0; i < 3; i++)
        m.at[i][i] = ns_one(g);
    return m;
}

ns_m3(ns_m3_add)(ns_graph *g, ns_m3 a, ns_m3 b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.at[i][j] = ns_add(g, a.at[i][j], b.at[i][j]);
    return a;
}

ns_m3(ns_m3_scale)(ns_graph *g, ns_ex factor, ns_m3 a)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.at[i][j] = ns_mul(g, factor, a.at[i][j]);
    return a;
}

ns_m3(ns_m3_mul)(ns_graph *g, ns_m3 a, ns_m3 b)
{
    ns_m3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.at[i][j] = ns_v3_dot(g, ns_v3_make(a.at[i][0], a.at[i][1], a.at[i][2]),
                                   ns_v3_make(b.at[0][j], b.at[1][j], b.at[2][j]));
    return c;
}

ns_m3 ns_m3_transpose(ns_m3 a)
{
    ns_m3 t;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            t.at[i][j] = a.at[j][i];
    return t;
}

ns_m3(ns_m3_outer)(ns_graph *g, ns_v3 a, ns_v3 b)
{
    ns_m3 m;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m.at[i][j] = ns_mul(g, a.at[i], b.at[j]);
    return m;
}

ns_v3(ns_m3_apply)(ns_graph *g, ns_m3 m, ns_v3 a)
{
    ns_v3 out;
    for (int i = 0; i < 3; i++)
        out.at[i] = ns_v3_dot(g, ns_v3_make(m.at[i][0], m.at[i][1], m.at[i][2]), a);
    return out;
}

ns_v3(ns_m3_apply_transposed)(ns_graph *g, ns_m3 m, ns_v3 a)
{
    return ns_m3_apply(g, ns_m3_transpose(m), a);
}

bool ns_m3_is_zero(const ns_graph *g, ns_m3 m)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (!ns_graph_is_zero(g, m.at[i][j]))
                return false;
    return true;
}

ns_ex ns_m3_adjugate_form(ns_graph *g, ns_m3 m, ns_v3 a, ns_v3 b)
{
    ns_m3 adj;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            adj.at[j][i] = ns_sub(g, ns_mul(g, m.at[i1][j1], m.at[i2][j2]),
                                  ns_mul(g, m.at[i1][j2], m.at[i2][j1]));
        }
    return ns_v3_dot(g, a, ns_m3_apply(g, adj, b));
}

ns_m3 ns_m3_rotation(ns_graph *g, const ns_ex quat[4])
{
    ns_ex w = quat[0], x = quat[1], y = quat[2], z = quat[3], one = ns_one(g);
    ns_ex two = ns_number(g, 2);
    ns_ex x2 = ns_mul(g, two, x), y2 = ns_mul(g, two, y), z2 = ns_mul(g, two, z);
    ns_ex xx = ns_mul(g, x, x2), yy = ns_mul(g, y, y2), zz = ns_mul(g, z, z2);
    ns_ex xy = ns_mul(g, x, y2), xz = ns_mul(g, x, z2), yz = ns_mul(g, y, z2);
    ns_ex wx = ns_mul(g, w, x2), wy = ns_mul(g, w, y2), wz = ns_mul(g, w, z2);
    return (ns_m3){{{ns_sub(g, one, ns_add(g, yy, zz)), ns_sub(g, xy, wz), ns_add(g, xz, wy)},
                    {ns_add(g, xy, wz), ns_sub(g, one, ns_add(g, xx, zz)), ns_sub(g, yz, wx)},
                    {ns_sub(g, xz, wy), ns_add(g, yz, wx), ns_sub(g, one, ns_add(g, xx, yy))}}};
}

void ns_v3_quaternion_rate(ns_graph *g, const ns_ex quat[4], ns_v3 Omega, ns_ex rate[4])
{
    ns_ex half = ns_number(g, 0.5), w = quat[0];
    ns_v3 v = ns_v3_make(quat[1], quat[2], quat[3]);
    ns_v3 cross = ns_v3_cross(g, v, Omega);
    rate[0] = ns_neg(g, ns_mul(g, half, ns_v3_dot(g, v, Omega)));
    for (int i = 0; i < 3; i++)
        rate[i + 1] = ns_mul(g, half, ns_add(g, ns_mul(g, w, Omega.at[i]), cross.at[i]));
}

ns_v3 ns_m3_solve_symmetric(ns_graph *g, ns_m3 m, ns_v3 b)
{
    ns_m3 adj = {{{0}}};
    ns_v3 out;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            adj.at[i][j] = adj.at[j][i] = ns_sub(g, ns_mul(g, m.at[i1][j1], m.at[i2][j2]),
                                                 ns_mul(g, m.at[i1][j2], m.at[i2][j1]));
        }
    ns_v3 row = ns_v3_make(m.at[0][0], m.at[0][1], m.at[0][2]);
    ns_v3 cofactors = ns_v3_make(adj.at[0][0], adj.at[0][1], adj.at[0][2]);
    ns_ex over = ns_div(g, ns_one(g), ns_v3_dot(g, row, cofactors));
    ns_v3 top = ns_m3_apply(g, adj, b);
    for (int i = 0; i < 3; i++)
        out.at[i] = ns_times(g, over, top.at[i]);
    return out;
}

/* After Duff et al., Journal of Computer Graphics Techniques 6 (2017) 1. */
void ns_v3_tangents(ns_graph *g, ns_v3 n, ns_v3 base[2])
{
    const ns_ex *v = n.at;
    /* +1 or -1, never 0: the constant is no component of any likely normal */
    ns_ex s = ns_sign(g, ns_add(g, v[2], ns_number(g, 0.12345678901)));
    ns_ex a = ns_neg(g, ns_div(g, ns_one(g), ns_add(g, s, v[2])));
    ns_ex b = ns_times(g, ns_mul(g, v[0], v[1]), a), sa = ns_mul(g, s, a);
    base[0] = ns_v3_make(ns_add(g, ns_one(g), ns_mul(g, sa, ns_powi(g, v[0], 2))),
                         ns_mul(g, s, b), ns_neg(g, ns_mul(g, s, v[0])));
    base[1] = ns_v3_make(b, ns_add(g, s, ns_times(g, ns_powi(g, v[1], 2), a)), ns_neg(g, v[1]));
}
