/* Vectors and matrices of expressions in space, for the formulas of rigid bodies. */
#ifndef NS_MECH_COMMON_VEC3_H
#define NS_MECH_COMMON_VEC3_H

#include "expr/graph.h"

typedef struct ns_v3 {
    ns_ex at[3];
} ns_v3;

typedef struct ns_m3 {
    ns_ex at[3][3];
} ns_m3;

ns_v3 ns_v3_make(ns_ex x, ns_ex y, ns_ex z);
ns_v3 ns_v3_zero(ns_graph *g);
ns_v3 ns_v3_unit(ns_graph *g, int axis); /* e_1, e_2, e_3 for 0, 1, 2 */
ns_v3 ns_v3_add(ns_graph *g, ns_v3 a, ns_v3 b);
ns_v3 ns_v3_sub(ns_graph *g, ns_v3 a, ns_v3 b);
ns_v3 ns_v3_neg(ns_graph *g, ns_v3 a);
ns_v3 ns_v3_scale(ns_graph *g, ns_ex factor, ns_v3 a);
ns_v3 ns_v3_cross(ns_graph *g, ns_v3 a, ns_v3 b);
ns_ex ns_v3_dot(ns_graph *g, ns_v3 a, ns_v3 b);
ns_ex ns_v3_norm(ns_graph *g, ns_v3 a);
ns_v3 ns_v3_normalise(ns_graph *g, ns_v3 a, ns_ex *norm); /* norm may be NULL */
bool ns_v3_is_zero(const ns_graph *g, ns_v3 a);
ns_v3 ns_v3_diff(ns_graph *g, ns_v3 a, ns_ex x);

ns_m3 ns_m3_zero(ns_graph *g);
ns_m3 ns_m3_identity(ns_graph *g);
ns_m3 ns_m3_add(ns_graph *g, ns_m3 a, ns_m3 b);
ns_m3 ns_m3_scale(ns_graph *g, ns_ex factor, ns_m3 a);
ns_m3 ns_m3_mul(ns_graph *g, ns_m3 a, ns_m3 b);
ns_m3 ns_m3_transpose(ns_m3 a);
ns_m3 ns_m3_outer(ns_graph *g, ns_v3 a, ns_v3 b);            /* a b^T */
ns_v3 ns_m3_apply(ns_graph *g, ns_m3 m, ns_v3 a);            /* m a */
ns_v3 ns_m3_apply_transposed(ns_graph *g, ns_m3 m, ns_v3 a); /* m^T a */
bool ns_m3_is_zero(const ns_graph *g, ns_m3 m);

/* a^T adj(m) b for a symmetric m: on the plane orthogonal to a unit vector n, n^T adj(m) n is
 * the determinant of m restricted to the plane. */
ns_ex ns_m3_adjugate_form(ns_graph *g, ns_m3 m, ns_v3 a, ns_v3 b);

/* Two unit vectors orthogonal to the unit vector n and to each other. */
void ns_v3_tangents(ns_graph *g, ns_v3 n, ns_v3 base[2]);

/* m^-1 b for a symmetric m by cofactors: one division, where LDL^T has three in a row. */
ns_v3 ns_m3_solve_symmetric(ns_graph *g, ns_m3 m, ns_v3 b);

/* Rotation body -> space of the unit quaternion (w, x, y, z), and the quaternion's rate
 * q' = q (0, Omega)/2 for the angular velocity Omega in the body frame. */
ns_m3 ns_m3_rotation(ns_graph *g, const ns_ex quat[4]);
void ns_v3_quaternion_rate(ns_graph *g, const ns_ex quat[4], ns_v3 Omega, ns_ex rate[4]);

/* The last argument is made first, as in graph.h. */
#ifndef __cppcheck__
#define ns_v3_make(x, y, z) NS_V3_LAST_FIRST_(__COUNTER__, x, y, z)
#define NS_V3_LAST_FIRST_(id, x, y, z) NS_V3_LAST_FIRST__(id, x, y, z)
#define NS_V3_LAST_FIRST__(id, x, y, z)                                                        \
    __extension__({                                                                            \
        const ns_ex last_##id = (z);                                                           \
        const ns_ex middle_##id = (y);                                                         \
        ns_v3_make(x, middle_##id, last_##id);                                                 \
    })
#define ns_v3_add(g, a, b) NS_LAST_FIRST(ns_v3_add, g, a, b)
#define ns_v3_sub(g, a, b) NS_LAST_FIRST(ns_v3_sub, g, a, b)
#define ns_v3_scale(g, a, b) NS_LAST_FIRST(ns_v3_scale, g, a, b)
#define ns_v3_cross(g, a, b) NS_LAST_FIRST(ns_v3_cross, g, a, b)
#define ns_v3_dot(g, a, b) NS_LAST_FIRST(ns_v3_dot, g, a, b)
#define ns_m3_add(g, a, b) NS_LAST_FIRST(ns_m3_add, g, a, b)
#define ns_m3_scale(g, a, b) NS_LAST_FIRST(ns_m3_scale, g, a, b)
#define ns_m3_mul(g, a, b) NS_LAST_FIRST(ns_m3_mul, g, a, b)
#define ns_m3_outer(g, a, b) NS_LAST_FIRST(ns_m3_outer, g, a, b)
#define ns_m3_apply(g, m, a) NS_LAST_FIRST(ns_m3_apply, g, m, a)
#define ns_m3_apply_transposed(g, m, a) NS_LAST_FIRST(ns_m3_apply_transposed, g, m, a)
#endif

#endif
