/* The equations, in the order of the code.
 *
 * Contact point.  The normals stay opposite, C n = -n_ground.  With dn = D ds on the body and
 * d n_ground = D_g dx on the ground, and with x' = C s' for rolling,
 *
 *     (D + C^T D_g C) s' = n x omega        on the tangent plane                     (4), (6)
 *
 * (Lambda of the seed is -(D + C^T D_g C)).  With S the matrix in brackets, a symmetric form on
 * the plane orthogonal to n has the inverse  v -> -n x S (n x v) / (n^T adj(S) n), and
 * n x (n x omega) = -omega_t, so
 *
 *     s' = n x (S omega_t) / (n^T adj(S) n),     omega_t = omega - (n.omega) n
 *
 * If one side is a curve c(u), its tangent stays orthogonal to the other's normal:
 *
 *     edge on surface   c'.gamma = 0:   u' = -c'.(gamma x omega) / (c''.gamma + c'.S_g c')
 *     surface on wire   c'.n_space = 0: u' = -n.(k x omega) / (k.D k + n.C^T c''),  k = C^T c'
 *
 * Dynamics.  The material point at the contact moves with the ground, v_ground = o' + W x (x - o):
 *
 *     velocity of the centre of mass      v = A^T v_ground - Omega x s
 *     its acceleration (body frame)       a = w - Omega' x s - Omega x (s' + Omega x s)
 *                                         w = A^T [o'' + W' x (x-o) + W x (W x (x-o) + A s')]
 *     contact force                       R = m a + m g e - f
 *     angular momentum                    I Omega' + Omega x I Omega = s x R + torque
 *
 * Eliminating R:
 *
 *     (I + m (|s|^2 - s s^T)) Omega' = -Omega x I Omega + torque
 *                              + s x ( m [w - Omega x (s' + Omega x s) + g e] - f )       (12)
 */
#include "mech/contact.h"

/* The form S of two surfaces (up to the factor *scale, which is cheaper to apply later). */
static ns_m3 relative_curvature(ns_graph *g, const ns_contact *c, ns_ex *scale)
{
    if (c->ground.flat) {
        *scale = c->body.kappa;
        return c->body.H;
    }
    ns_m3 Dg = ns_side_curvature(g, &c->ground);
    ns_m3 moved = ns_m3_mul(g, ns_m3_transpose(c->C), ns_m3_mul(g, Dg, c->C));
    ns_m3 S = ns_m3_add(g, ns_side_curvature(g, &c->body), moved);
    for (int i = 0; i < 3; i++) /* symmetric: one node for both halves */
        for (int j = 0; j < i; j++)
            S.at[i][j] = S.at[j][i];
    *scale = ns_one(g);
    return S;
}

/* s' for two surfaces. */
static ns_v3 roll_surfaces(ns_graph *g, ns_contact *c, ns_v3 omega)
{
    ns_v3 n = c->body.normal;
    ns_v3 omega_t = ns_v3_sub(g, omega, ns_v3_scale(g, ns_v3_dot(g, n, omega), n));
    ns_ex scale, trace = ns_zero(g);
    ns_m3 S = relative_curvature(g, c, &scale);
    ns_ex det = ns_m3_adjugate_form(g, S, n, n);
    for (int i = 0; i < 3; i++)
        trace = ns_add(g, trace, S.at[i][i]);
    trace = ns_sub(g, trace, ns_v3_dot(g, n, ns_m3_apply(g, S, n)));
    c->regular = ns_mul(g, ns_powi(g, scale, 2), det);
    c->fit = ns_mul(g, scale, trace);
    ns_v3 turned = ns_v3_cross(g, n, ns_m3_apply(g, S, omega_t)), rate;
    ns_ex factor = ns_div(g, ns_one(g), ns_mul(g, scale, det));
    for (int i = 0; i < 3; i++)
        rate.at[i] = ns_times(g, factor, turned.at[i]);
    return rate;
}

/* u' and s' for an edge of the body on a surface. */
static ns_v3 roll_edge(ns_graph *g, ns_contact *c, ns_v3 omega, ns_ex *speed)
{
    ns_v3 t = c->body.tangent;
    c->regular = ns_v3_dot(g, c->body.second, c->gamma);
    if (!c->ground.flat) {
        ns_v3 k = ns_m3_apply(g, c->C, t);
        ns_ex bend = ns_v3_dot(g, k, ns_m3_apply(g, c->ground.H, k));
        c->regular = ns_add(g, c->regular, ns_mul(g, c->ground.kappa, bend));
    }
    ns_ex turn = ns_v3_dot(g, t, ns_v3_cross(g, c->gamma, omega));
    *speed = ns_neg(g, ns_div(g, turn, c->regular));
    return ns_v3_scale(g, *speed, t);
}

/* u' and s' for a surface of the body on a curve. */
static ns_v3 roll_wire(ns_graph *g, ns_contact *c, ns_v3 omega, ns_ex *speed)
{
    ns_v3 k = ns_m3_apply_transposed(g, c->C, c->ground.tangent), n = c->body.normal;
    ns_v3 second = ns_m3_apply_transposed(g, c->C, c->ground.second);
    ns_ex bend = ns_mul(g, c->body.kappa, ns_v3_dot(g, k, ns_m3_apply(g, c->body.H, k)));
    c->regular = ns_add(g, bend, ns_v3_dot(g, n, second));
    ns_ex turn = ns_v3_dot(g, n, ns_v3_cross(g, k, omega));
    *speed = ns_neg(g, ns_div(g, turn, c->regular));
    return ns_v3_scale(g, *speed, k);
}

ns_v3 ns_contact_sweep(ns_graph *g, ns_contact *c, ns_v3 omega, ns_ex *body_rate,
                       ns_ex *ground_rate)
{
    ns_ex speed = 0;
    ns_v3 rate;
    if (ns_side_is_curve(&c->body))
        rate = roll_edge(g, c, omega, &speed);
    else if (ns_side_is_curve(&c->ground))
        rate = roll_wire(g, c, omega, &speed);
    else
        rate = roll_surfaces(g, c, omega);
    ns_side_rates(g, &c->body, rate, speed, body_rate);
    if (!c->reduced)
        ns_side_rates(g, &c->ground, ns_m3_apply(g, c->C, rate), speed, ground_rate);
    return rate;
}

/* Velocity of the centre of mass in the body frame. */
static ns_v3 velocity(ns_graph *g, const ns_contact *c)
{
    ns_v3 v = ns_v3_neg(g, ns_v3_cross(g, c->Omega, c->s));
    if (!c->moving)
        return v;
    ns_v3 carried = ns_v3_cross(g, c->W, ns_m3_apply(g, c->B, c->ground.point));
    return ns_v3_add(g, v, ns_m3_apply_transposed(g, c->A, ns_v3_add(g, c->o1, carried)));
}

/* What stays zero: opposite normals, or a tangent orthogonal to the other side's normal. */
static void fit_together(ns_graph *g, ns_contact *c)
{
    if (ns_side_is_curve(&c->body)) {
        ns_v3 t = c->body.tangent;
        c->tangency = ns_div(g, ns_v3_dot(g, t, c->gamma), ns_v3_norm(g, t));
    } else if (ns_side_is_curve(&c->ground)) {
        ns_v3 k = ns_m3_apply(g, c->C, c->body.normal), t = c->ground.tangent;
        c->tangency = ns_div(g, ns_v3_dot(g, k, t), ns_v3_norm(g, t));
    } else {
        c->align = ns_v3_add(g, ns_m3_apply(g, c->C, c->body.normal), c->ground.normal);
    }
}

/* The reduced system (14): no orientation, no place on the plane; only the height is known. */
static void reduced_kinematics(ns_graph *g, ns_contact *c)
{
    c->omega = c->Omega;
    c->gamma = c->vertical = ns_v3_neg(g, c->body.normal);
    c->s_rate = ns_contact_sweep(g, c, c->omega, c->body_rate, NULL);
    c->com = ns_v3_make(ns_zero(g), ns_zero(g), ns_neg(g, ns_v3_dot(g, c->s, c->gamma)));
}

void ns_contact_kinematics(ns_graph *g, ns_contact *c)
{
    c->s = ns_v3_sub(g, c->body.point, c->centre);
    if (c->reduced) {
        reduced_kinematics(g, c);
        return;
    }
    c->A = ns_m3_rotation(g, c->quat);
    c->C = c->moving ? ns_m3_mul(g, ns_m3_transpose(c->B), c->A) : c->A;
    c->omega = c->moving ? ns_v3_sub(g, c->Omega, ns_m3_apply_transposed(g, c->A, c->W))
                         : c->Omega;
    bool edge = ns_side_is_curve(&c->body);
    c->gamma = edge ? ns_m3_apply_transposed(g, c->C, c->ground.normal)
                    : ns_v3_neg(g, c->body.normal);
    c->s_rate = ns_contact_sweep(g, c, c->omega, c->body_rate, c->ground_rate);
    fit_together(g, c);
    ns_v3_quaternion_rate(g, c->quat, c->Omega, c->quat_rate);
    /* On a fixed horizontal plane the vertical is the ground normal. */
    bool level = !c->moving && c->ground.flat && !edge &&
                 ns_graph_is_one(g, c->ground.normal.at[2]);
    c->vertical = level ? c->gamma : ns_v3_make(c->A.at[2][0], c->A.at[2][1], c->A.at[2][2]);
    c->point = c->moving ? ns_v3_add(g, c->o, ns_m3_apply(g, c->B, c->ground.point))
                         : c->ground.point;
    c->com = ns_v3_sub(g, c->point, ns_m3_apply(g, c->A, c->s));
    c->velocity = ns_m3_apply(g, c->A, velocity(g, c));
}

void ns_contact_dynamics(ns_graph *g, ns_contact *c)
{
    ns_v3 Omega = c->Omega, s = c->s;
    ns_v3 sweep = ns_v3_cross(g, Omega, s);
    ns_v3 v = velocity(g, c);
    /* the part of the centre of mass's acceleration without Omega' */
    ns_v3 a = ns_v3_neg(g, ns_v3_cross(g, Omega, ns_v3_add(g, c->s_rate, sweep)));
    if (c->moving) {
        ns_v3 arm = ns_m3_apply(g, c->B, c->ground.point);
        ns_v3 carried = ns_v3_cross(g, c->W, arm);
        ns_v3 moved = ns_v3_add(g, carried, ns_m3_apply(g, c->A, c->s_rate));
        ns_v3 w = ns_v3_add(
            g, c->o2, ns_v3_add(g, ns_v3_cross(g, c->W1, arm), ns_v3_cross(g, c->W, moved)));
        a = ns_v3_add(g, a, ns_m3_apply_transposed(g, c->A, w));
    }
    ns_v3 f = ns_v3_is_zero(g, c->force) ? c->force : ns_m3_apply_transposed(g, c->A, c->force);
    ns_v3 push = ns_v3_add(g, a, ns_v3_scale(g, c->gravity, c->vertical));
    push = ns_v3_sub(g, ns_v3_scale(g, c->mass, push), f); /* R without Omega' */
    ns_v3 momentum = ns_m3_apply(g, c->inertia, Omega);
    ns_v3 right = ns_v3_sub(g, ns_v3_cross(g, s, push), ns_v3_cross(g, Omega, momentum));
    right = ns_v3_add(g, right, c->torque);
    /* inertia about the contact point */
    ns_ex square = ns_v3_dot(g, s, s);
    ns_m3 I = c->inertia; /* becomes I + m (|s|^2 - s s^T) */
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            ns_ex product = ns_mul(g, s.at[i], s.at[j]);
            ns_ex part = i == j ? ns_sub(g, square, product) : ns_neg(g, product);
            I.at[i][j] = I.at[j][i] = ns_add(g, I.at[i][j], ns_mul(g, c->mass, part));
        }
    c->about_contact = I;
    c->Omega_rate = ns_m3_solve_spd(g, I, right);

    ns_v3 swing = ns_v3_cross(g, c->Omega_rate, s);
    c->reaction = ns_v3_sub(g, push, ns_v3_scale(g, c->mass, swing));
    c->normal_force = ns_v3_dot(g, c->reaction, c->gamma);
    ns_v3 tangential = ns_v3_sub(g, c->reaction, ns_v3_scale(g, c->normal_force, c->gamma));
    c->friction = ns_v3_norm(g, tangential);
    ns_ex twice = ns_add(g, ns_v3_dot(g, Omega, momentum),
                         ns_mul(g, c->mass, ns_v3_dot(g, v, v)));
    c->kinetic = ns_mul(g, ns_number(g, 0.5), twice);
    ns_ex potential = ns_mul(g, ns_mul(g, c->mass, c->gravity), c->com.at[2]);
    c->energy = ns_add(g, c->kinetic, potential);
}
