/* Rolling without slipping of one side on another: motion of the contact point, and the body's
 * equation of motion (Patrick 2022, eqs (4), (6), (12), extended to edges, wires, loads and
 * moving grounds).  Derivation: docs/theory/rolling.md.
 *
 * Frames: body (origin at the centre of mass), ground, space.  A maps body to space, B ground
 * to space, C = B^T A body to ground; o is the ground's origin in space.  All vectors below are
 * in the body frame unless said otherwise.  s: centre of mass to contact; n: outward normal of
 * the body; gamma = -n: ground normal (towards the body); e: vertical; Omega: angular velocity;
 * omega = Omega - A^T W: relative to the ground, which turns with W (space). */
#ifndef NS_MECH_CONTACT_CONTACT_H
#define NS_MECH_CONTACT_CONTACT_H

#include "mech/contact/side.h"

typedef struct ns_contact {
    /* given */
    ns_side body, ground;
    ns_v3 centre; /* of mass, in the body's geometric frame: s = body.point - centre */
    ns_ex mass, gravity;
    ns_m3 inertia; /* about the centre of mass */
    ns_ex quat[4];
    ns_v3 Omega;       /* if ball: derived from omega_space, which is given then */
    ns_v3 omega_space; /* A Omega */
    /* closed: the body's contact point is not a state but follows from the ground normal, by
     *   an ellipsoid's squared half axes   s + centre = -D gamma/sqrt(gamma.D gamma)
     *   a ball's radius                    s + centre = -radius gamma
     *   the circle's lowest point, or `support`, in terms of the outward normal `way` */
    bool closed, quadric;
    bool ball; /* closed, a ball with isotropic inertia about its centre: contact_ball.c */
    ns_v3 squares;
    ns_ex radius; /* 0 if it is not a ball */
    ns_v3 support;
    ns_ex way[3];
    bool level;       /* fixed horizontal plane, and no edge: the vertical is gamma */
    bool reduced;     /* only s and Omega, on a horizontal plane: eq (14) */
    bool rubber;      /* no twist: gamma.omega = 0; fixed grounds only */
    bool moving;      /* the ground has a place of its own: B, o and their derivatives below */
    bool driven;      /* which changes with time, so that the ground does work */
    ns_m3 B;          /* only if moving, as W ... */
    ns_v3 o, W;       /* origin and angular velocity of the ground, space */
    ns_v3 o1, o2, W1; /* first and second derivative of o, first of W */
    ns_v3 force;      /* further load on the centre of mass, in space */
    ns_v3 torque;     /* further torque, in the body frame */

    /* derived by ns_contact_kinematics */
    ns_m3 A, C;
    ns_v3 s, s_rate;     /* s and ds/dt */
    ns_ex side[3];       /* values of the body's contact coordinates, if closed */
    ns_v3 gamma;         /* ground normal */
    ns_v3 vertical;      /* e3 of space in the body frame */
    ns_v3 point;         /* contact in space */
    ns_v3 com, velocity; /* centre of mass and its velocity in space */
    ns_v3 omega;         /* angular velocity relative to the ground */
    ns_ex regular;       /* det of the relative curvature (or its curve case): > 0 */
    ns_ex fit;           /* its trace for two surfaces: > 0; 0 for curves */
    ns_m3 about_contact; /* inertia about the contact point */
    ns_v3 Omega_rate;
    ns_v3 omega_space_rate; /* if ball */
    ns_v3 reaction;         /* contact force on the body, body frame */
    ns_v3 force_space;      /* the same in space */
    ns_ex normal_force, friction;
    ns_ex twist; /* torque along gamma that keeps a rubber body from turning about it */
    ns_ex energy, kinetic;
    ns_ex quat_rate[4];
    ns_ex body_rate[3], ground_rate[3];
    ns_v3 align;    /* C n + ground normal, ground frame; vanishes (surfaces) */
    ns_ex tangency; /* for a curve: unit tangent . normal of the other side; vanishes */

    /* of an ellipsoid, with way_in = gamma or, if steep, its multiple C^T (-f_x, -f_y, 1) on z
     * = f(x, y):
     * D way_in, the square q = way_in.D way_in, its root and reciprocal, 1/root */
    ns_v3 way_in, top;
    bool steep;
    ns_ex square, root, inverse, factor;
    ns_v3 u; /* -root s' */
    /* of a ball, in space: ground normal and its rate, d v_ground/dt */
    ns_v3 normal, normal_rate, carried;
} ns_contact;

/* Motion of the contact in the body, and rates of both sides' coordinates, when the body turns
 * with omega relative to the ground: (6), and with a variation in place of omega the
 * distribution (7). */
ns_v3 ns_contact_sweep(ns_graph *g, ns_contact *c, ns_v3 omega, ns_ex *body_rate,
                       ns_ex *ground_rate);

/* First everything up to s_rate, velocity and com; then, once loads are set, the rest. */
void ns_contact_kinematics(ns_graph *g, ns_contact *c);
void ns_contact_dynamics(ns_graph *g, ns_contact *c);

/* contact_ball.c: the same for balls. */
void ns_contact_ball_kinematics(ns_graph *g, ns_contact *c);
void ns_contact_ball_dynamics(ns_graph *g, ns_contact *c);
/* Motion of the contact on the ground when the ball turns with omega (space) relative to it:
 * the rates of the ground's coordinates, the velocity of the contact on the ground and the
 * change of its normal, both in the ground's frame (NULL if not wanted). */
void ns_contact_ball_sweep(ns_graph *g, ns_contact *c, ns_v3 omega, ns_ex *ground_rate,
                           ns_v3 *along, ns_v3 *turn);

/* Where the ground has coordinates (not implicit, not a curve): first and second fundamental
 * form, E, F, G and L, M, N with dn = ...: e_a . d_b n, the latter divided by *scale. */
void ns_contact_forms(ns_graph *g, const ns_side *ground, ns_ex first[3], ns_ex second[3]);
/* Relative curvature `over` m in the metric, both symmetric: sets `regular` to its determinant
 * and `fit` to its trace.  The determinant of m. */
ns_ex ns_contact_fit(ns_graph *g, ns_contact *c, const ns_ex metric[3], const ns_ex m[3],
                     ns_ex over);

#endif
