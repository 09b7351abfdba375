/* One side of a contact: the geometry of a body or a ground near the contact point, in its own
 * frame, as expressions of its own contact coordinates.
 *
 * A surface gives the contact point y, a unit normal n and the derivative D of that normal,
 *
 *     dn = D dy   for tangent dy            (Weingarten map: L = -D)
 *
 * D is stored as kappa * H, of which only the part on the tangent plane matters, so neither
 * needs to be projected.  Body normals point outwards, ground normals towards the body.
 *
 * How a surface is described decides its contact coordinates:
 *   implicit   F(y) = 0        coordinates y itself (3), kept on F = 0;
 *                              n = grad F/|grad F|,  H = Hess F,  kappa = 1/|grad F|
 *   graph      z = f(x, y)     coordinates x, y
 *   chart      y(u, v)         coordinates u, v;  n = y_u x y_v/|y_u x y_v|,
 *                              D = -sum_ab (n . y_ab) e^a e^b^T  with the dual base e^a
 * A curve c(u) (the edge of a disk, a wire) has one coordinate and no normal of its own; the
 * circle uses two, cos u and sin u, so that no trigonometric function is evaluated.  */
#ifndef NS_MECH_CONTACT_SIDE_H
#define NS_MECH_CONTACT_SIDE_H

#include "mech/common/vec3.h"

typedef enum ns_side_kind {
    NS_SIDE_IMPLICIT,
    NS_SIDE_GRAPH,
    NS_SIDE_CHART,
    NS_SIDE_CURVE,
    NS_SIDE_CIRCLE
} ns_side_kind;

typedef struct ns_side {
    ns_side_kind kind;
    uint32_t n;      /* contact coordinates */
    ns_ex symbol[3]; /* NS_SYM_STATE */
    ns_v3 point;     /* y in the side's frame */
    /* surfaces */
    ns_v3 normal;
    ns_ex kappa;
    ns_m3 H;
    bool flat;        /* D = 0: a plane */
    ns_v3 base[2];    /* graph, chart: y_u, y_v */
    bool orthonormal; /* chart: the base is */
    /* curves: derivatives by the curve's parameter */
    ns_v3 tangent, second;
    /* what its coordinates must satisfy: an expression that measures the distance from the
     * surface (or the circle's unit vector from length 1); 0 if nothing */
    ns_ex residual;
} ns_side;

static inline bool ns_side_is_curve(const ns_side *side)
{
    return side->kind == NS_SIDE_CURVE || side->kind == NS_SIDE_CIRCLE;
}

/* Implicit surface: F is an expression in `point`, whose components are the symbols x plus
 * constants; outward: +1 if grad F points to the side of the normal wanted, -1 if opposite. */
ns_side ns_side_implicit(ns_graph *g, ns_ex F, const ns_ex x[3], ns_v3 point, int outward);
/* z = f(x, y), normal upwards */
ns_side ns_side_graph(ns_graph *g, ns_ex f, const ns_ex x[2]);
/* y(u, v); outward as above for y_u x y_v */
ns_side ns_side_chart(ns_graph *g, ns_v3 y, const ns_ex u[2], int outward);
/* plane through `origin` spanned by the orthonormal e1, e2; normal e1 x e2 */
ns_side ns_side_plane(ns_graph *g, ns_v3 origin, ns_v3 e1, ns_v3 e2, const ns_ex u[2]);
/* the same of an implicit side that is flat */
ns_side ns_side_flat(ns_graph *g, const ns_side *side);
ns_side ns_side_curve(ns_graph *g, ns_v3 c, ns_ex u);
/* circle of this radius about the z axis at height z */
ns_side ns_side_circle(ns_graph *g, ns_ex radius, ns_ex z, const ns_ex u[2]);

/* kappa*H as one matrix */
ns_m3 ns_side_curvature(ns_graph *g, const ns_side *side);

/* Rates of the contact coordinates when the contact point moves with velocity w (in the side's
 * frame).  For curves w is tangent * speed and `speed` is given; otherwise it is not used. */
void ns_side_rates(ns_graph *g, const ns_side *side, ns_v3 w, ns_ex speed, ns_ex *rate);

#endif
