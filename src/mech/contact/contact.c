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
 * Dynamics.  The material point at the contact moves with the ground, v_ground = o' + W x (x -
 * o):
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
 *
 * Rubber: a torque mu gamma joins the right-hand side, so that the body does not turn about the
 * normal, gamma.Omega = 0.  With J Omega' = right + mu gamma, y = J^-1 right, z = J^-1 gamma
 *
 *     Omega' = y + mu z,      mu = -(gamma.y + gamma'.Omega)/(gamma.z)
 */
#include "mech/contact/contact.h"

#include "expr/diff.h"
#include "expr/subst.h"

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

void ns_contact_forms(ns_graph *g, const ns_side *ground, ns_ex first[3], ns_ex second[3])
{
    for (int a = 0; a < 2; a++)
        for (int b = a; b < 2; b++) {
            ns_v3 bend = ns_v3_diff(g, ground->base[a], ground->symbol[b]);
            first[a + b] = ns_v3_dot(g, ground->base[a], ground->base[b]);
            second[a + b] = ns_neg(g, ns_v3_dot(g, ground->normal, bend));
        }
}

ns_ex ns_contact_fit(ns_graph *g, ns_contact *c, const ns_ex metric[3], const ns_ex m[3],
                     ns_ex over)
{
    ns_ex det = ns_sub(g, ns_mul(g, m[0], m[2]), ns_powi(g, m[1], 2));
    ns_ex area = ns_sub(g, ns_mul(g, metric[0], metric[2]), ns_powi(g, metric[1], 2));
    ns_ex mixed = ns_mul(g, ns_number(g, 2), ns_mul(g, metric[1], m[1]));
    ns_ex trace = ns_add(g, ns_mul(g, metric[2], m[0]), ns_mul(g, metric[0], m[2]));
    c->regular = ns_mul(g, ns_powi(g, over, 2), ns_div(g, det, area));
    c->fit = ns_mul(g, over, ns_div(g, ns_sub(g, trace, mixed), area));
    return det;
}

/* s' for two surfaces where the ground has coordinates, and their rates.  In its base e_a, with
 * t_a = C^T e_a, s' = t_a u_a':  (t_a.D t_b + e_a.d_b n_g) u_b' = t_a.(n x omega).
 * For an ellipsoid on z = f(x, y) all of it is multiplied by w = |N|, N = (-f_x, -f_y, 1): with
 * C^T N in the place of gamma, D = sqrt(q) diag(1/a^2, ...) is w D and e_a.d_b n_g becomes
 * -f_ab. */
static ns_v3 roll_chart(ns_graph *g, ns_contact *c, ns_v3 omega, ns_ex *rate)
{
    const ns_side *ground = &c->ground;
    ns_ex first[3], second[3], M[3], right[2], over = ns_one(g), kappa = c->body.kappa;
    ns_v3 t[2], n = c->body.normal, out;
    ns_contact_forms(g, ground, first, second);
    if (c->steep) {
        n = ns_v3_neg(g, c->way_in);
        kappa = c->root;
        over = ground->kappa;
        for (int i = 0; i < 3; i++)
            second[i] = ground->H.at[i / 2][(i + 1) / 2];
    }
    ns_v3 turn = ns_v3_cross(g, n, omega);
    for (int a = 0; a < 2; a++)
        t[a] = ns_m3_apply_transposed(g, c->C, ground->base[a]);
    for (int a = 0; a < 2; a++) {
        ns_v3 bent = ns_m3_apply(g, c->body.H, t[a]);
        for (int b = a; b < 2; b++) {
            ns_ex form = c->radius ? first[a + b] : ns_v3_dot(g, t[b], bent);
            M[a + b] = ns_add(g, ns_mul(g, kappa, form), second[a + b]);
        }
        right[a] = ns_v3_dot(g, t[a], turn);
    }
    ns_ex reciprocal = ns_div(g, ns_one(g), ns_contact_fit(g, c, first, M, over));
    for (int a = 0; a < 2; a++)
        rate[a] = ns_times(
            g, ns_sub(g, ns_mul(g, M[2 - 2 * a], right[a]), ns_mul(g, M[1], right[1 - a])),
            reciprocal);
    out = ns_v3_scale(g, rate[0], t[0]);
    return ns_v3_add(g, out, ns_v3_scale(g, rate[1], t[1]));
}

/* s' of a closed body on a plane: its normal turns with the body alone, gamma' = gamma x
 * omega. */
static ns_v3 roll_closed(ns_graph *g, ns_contact *c, ns_v3 omega)
{
    ns_v3 turn = ns_v3_cross(g, c->gamma, omega), rate = {{0}};
    if (c->quadric) {
        ns_ex grows = ns_times(g, ns_v3_dot(g, c->top, turn), c->inverse);
        for (int i = 0; i < 3; i++) {
            rate.at[i] = ns_sub(g, ns_mul(g, c->squares.at[i], turn.at[i]),
                                ns_mul(g, grows, c->top.at[i]));
            c->u.at[i] = rate.at[i];
            rate.at[i] = ns_neg(g, ns_times(g, c->factor, rate.at[i]));
        }
        return rate;
    }
    turn = ns_v3_neg(g, turn);
    if (c->radius)
        return ns_v3_scale(g, c->radius, turn);
    ns_diff_along(g, c->support.at, 3, c->way, turn.at, 3, rate.at);
    ns_subst(g, rate.at, 3, c->way, c->body.normal.at, 3, rate.at);
    return rate;
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
    if (c->closed && c->ground.flat)
        return roll_closed(g, c, omega);
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
    const ns_side *ground = &c->ground;
    bool curves = ns_side_is_curve(&c->body) || ns_side_is_curve(ground);
    if (!curves && !ground->flat && ground->kind != NS_SIDE_IMPLICIT) {
        rate = roll_chart(g, c, omega, ground_rate);
        if (!c->closed)
            ns_side_rates(g, &c->body, rate, speed, body_rate);
        return rate;
    }
    if (ns_side_is_curve(&c->body))
        rate = roll_edge(g, c, omega, &speed);
    else if (ns_side_is_curve(&c->ground))
        rate = roll_wire(g, c, omega, &speed);
    else
        rate = roll_surfaces(g, c, omega);
    if (!c->closed)
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

/* The body's contact point from the ground normal in the body frame, where it has a closed
 * form: its coordinates become expressions. */
static void close_contact(ns_graph *g, ns_contact *c)
{
    ns_side *body = &c->body;
    ns_v3 down = ns_v3_neg(g, c->gamma), point = {{0}};
    const ns_ex symbol[3] = {body->symbol[0], body->symbol[1], body->symbol[2]};
    ns_ex kappa = 0;
    if (body->kind == NS_SIDE_CIRCLE) { /* its lowest point */
        const ns_ex *x = down.at;
        ns_ex level = ns_sqrt(g, ns_add(g, ns_powi(g, x[0], 2), ns_powi(g, x[1], 2)));
        ns_ex over = ns_div(g, ns_one(g), level);
        c->side[0] = ns_times(g, over, x[0]);
        c->side[1] = ns_times(g, over, x[1]);
        ns_subst(g, body->point.at, 3, symbol, c->side, 2, body->point.at);
        ns_subst(g, body->tangent.at, 3, symbol, c->side, 2, body->tangent.at);
        ns_subst(g, body->second.at, 3, symbol, c->side, 2, body->second.at);
        body->residual = 0;
        return;
    }
    if (c->quadric) { /* root and reciprocal side by side, rather than one after the other */
        for (int i = 0; i < 3; i++)
            c->top.at[i] = ns_mul(g, c->squares.at[i], c->way_in.at[i]);
        c->square = ns_v3_dot(g, c->way_in, c->top);
        c->root = ns_sqrt(g, c->square);
        c->inverse = ns_div(g, ns_one(g), c->square);
        c->factor = ns_times(g, c->root, c->inverse);
        for (int i = 0; i < 3; i++)
            point.at[i] = ns_neg(g, ns_times(g, c->factor, c->top.at[i]));
        /* the gradient of sum s_i^2/a_i^2 / 2 has the length |way_in|/root */
        kappa = c->steep ? ns_mul(g, c->ground.kappa, c->root) : c->root;
    } else if (c->radius) {
        point = ns_v3_scale(g, c->radius, down);
        kappa = ns_div(g, ns_one(g), c->radius);
    } else {
        ns_subst(g, c->support.at, 3, c->way, down.at, 3, point.at);
    }
    ns_v3 s = ns_v3_sub(g, point, c->centre);
    for (int i = 0; i < 3; i++)
        c->side[i] = s.at[i];
    body->point = point;
    body->normal = down;
    body->kappa = kappa ? kappa : ns_subst_one(g, body->kappa, symbol, c->side, 3);
    ns_subst(g, &body->H.at[0][0], 9, symbol, c->side, 3, &body->H.at[0][0]);
    body->residual = 0;
}

/* The normal of z = f(x, y) with root and reciprocal side by side. */
static void steepen(ns_graph *g, ns_side *ground)
{
    ns_ex x = ground->base[0].at[2], y = ground->base[1].at[2], one = ns_one(g);
    ns_ex square = ns_add(g, ns_add(g, one, ns_powi(g, x, 2)), ns_powi(g, y, 2));
    ns_ex factor = ns_times(g, ns_sqrt(g, square), ns_div(g, one, square));
    ground->kappa = factor;
    ground->normal = ns_v3_make(ns_neg(g, ns_mul(g, x, factor)),
                                ns_neg(g, ns_mul(g, y, factor)), factor);
}

void ns_contact_kinematics(ns_graph *g, ns_contact *c)
{
    if (c->ground.kind == NS_SIDE_GRAPH)
        steepen(g, &c->ground);
    if (c->ball) {
        ns_contact_ball_kinematics(g, c);
        return;
    }
    if (c->reduced) {
        c->s = ns_v3_sub(g, c->body.point, c->centre);
        reduced_kinematics(g, c);
        return;
    }
    c->A = ns_m3_rotation(g, c->quat);
    c->C = c->moving ? ns_m3_mul(g, ns_m3_transpose(c->B), c->A) : c->A;
    c->omega = c->moving ? ns_v3_sub(g, c->Omega, ns_m3_apply_transposed(g, c->A, c->W))
                         : c->Omega;
    bool edge = ns_side_is_curve(&c->body);
    c->gamma = edge || c->closed ? ns_m3_apply_transposed(g, c->C, c->ground.normal)
                                 : ns_v3_neg(g, c->body.normal);
    if (c->closed && c->ground.kind == NS_SIDE_GRAPH) {
        ns_v3 t[2] = {ns_m3_apply_transposed(g, c->C, c->ground.base[0]),
                      ns_m3_apply_transposed(g, c->C, c->ground.base[1])};
        c->way_in = ns_v3_cross(g, t[0], t[1]);
        c->gamma = ns_v3_scale(g, c->ground.kappa, c->way_in);
        c->steep = c->quadric && !c->ground.flat;
    }
    if (!c->steep)
        c->way_in = c->gamma;
    if (c->closed)
        close_contact(g, c);
    c->s = ns_v3_sub(g, c->body.point, c->centre);
    c->s_rate = ns_contact_sweep(g, c, c->omega, c->body_rate, c->ground_rate);
    if (c->quadric && !c->ground.flat)
        c->u = ns_v3_neg(g, ns_v3_scale(g, c->root, c->s_rate));
    if (!c->closed)
        fit_together(g, c);
    ns_v3_quaternion_rate(g, c->quat, c->Omega, c->quat_rate);
    c->omega_space = ns_m3_apply(g, c->A, c->Omega);
    /* On a fixed horizontal plane the vertical is the ground normal. */
    c->level = !c->moving && c->ground.flat && !edge &&
               ns_graph_is_one(g, c->ground.normal.at[2]);
    c->vertical = c->level ? c->gamma : ns_v3_make(c->A.at[2][0], c->A.at[2][1], c->A.at[2][2]);
    c->point = c->moving ? ns_v3_add(g, c->o, ns_m3_apply(g, c->B, c->ground.point))
                         : c->ground.point;
    c->com = ns_v3_sub(g, c->point, ns_m3_apply(g, c->A, c->s));
    c->velocity = ns_m3_apply(g, c->A, velocity(g, c));
}

/* m (|s|^2 - s s^T) */
static ns_m3 steiner(ns_graph *g, ns_ex mass, ns_v3 s)
{
    ns_m3 I = {{{0}}};
    ns_v3 weighted = ns_v3_scale(g, mass, s);
    ns_ex square[3];
    for (int i = 0; i < 3; i++)
        square[i] = ns_mul(g, weighted.at[i], s.at[i]);
    for (int i = 0; i < 3; i++) {
        I.at[i][i] = ns_add(g, square[(i + 1) % 3], square[(i + 2) % 3]);
        for (int j = i + 1; j < 3; j++)
            I.at[i][j] = I.at[j][i] = ns_neg(g, ns_mul(g, weighted.at[i], s.at[j]));
    }
    return I;
}

/* Omega' of (12).  With the identity  s x (Omega x (s' + Omega x s)) = (s.s') Omega -
 * (s.Omega)(s' + Omega x s).  For an ellipsoid about its centre everything is multiplied by its
 * square q, which leaves q I + m (|d|^2 - d d^T) with d = D gamma on the left: no root, no
 * division before it. push: forces beside the weight. */
static ns_v3 turn_rate(ns_graph *g, const ns_contact *c, ns_v3 push, ns_v3 free_torque)
{
    bool scaled = c->quadric && ns_v3_is_zero(g, c->centre);
    ns_v3 Omega = c->Omega, s = c->s, rate = c->s_rate;
    ns_m3 I = c->inertia;
    ns_ex weight = ns_mul(g, c->mass, c->gravity);
    if (scaled) {
        s = c->top;
        rate = c->u;
        I = ns_m3_scale(g, c->square, I);
        free_torque = ns_v3_scale(g, c->square, free_torque);
        push = ns_v3_neg(g, ns_v3_scale(g, c->root, push));
        weight = ns_neg(g, ns_mul(g, c->root, weight));
    }
    I = ns_m3_add(g, I, steiner(g, c->mass, s));
    ns_v3 drift = ns_v3_sub(g, rate, ns_v3_cross(g, s, Omega));
    ns_ex along = ns_mul(g, c->mass, ns_v3_dot(g, s, Omega));
    ns_ex across = ns_mul(g, c->mass, ns_v3_dot(g, s, rate));
    ns_v3 right = ns_v3_sub(g, ns_v3_scale(g, along, drift), ns_v3_scale(g, across, Omega));
    ns_v3 tip = ns_v3_cross(g, s, c->vertical);
    for (int i = 0; i < 3 && scaled && c->level; i++) { /* D gamma x gamma */
        int j = (i + 1) % 3, k = (i + 2) % 3;
        tip.at[i] = ns_mul(g, ns_sub(g, c->squares.at[j], c->squares.at[k]),
                           ns_mul(g, c->gamma.at[j], c->gamma.at[k]));
    }
    right = ns_v3_add(g, right, ns_v3_scale(g, weight, tip));
    right = ns_v3_add(g, ns_v3_add(g, free_torque, right), ns_v3_cross(g, s, push));
    return ns_m3_solve_symmetric(g, I, right);
}

/* The same for a ball about its centre, s = -r gamma: I + m r^2 - m r^2 gamma gamma^T is a
 * constant matrix J and one of rank one, so that
 *     Omega' = y + J^-1 gamma (m r^2 gamma.y)/(1 - m r^2 gamma.J^-1 gamma),   y = J^-1 right;
 * s.s' = 0, and on a fixed plane s' + Omega x s = 0. */
static ns_v3 turn_rate_centred(ns_graph *g, const ns_contact *c, ns_v3 push, ns_v3 right)
{
    ns_ex r = c->radius, own = ns_mul(g, c->mass, ns_powi(g, r, 2)), one = ns_one(g);
    ns_m3 J = c->inertia, inverse = {{{0}}};
    for (int i = 0; i < 3; i++)
        J.at[i][i] = ns_add(g, J.at[i][i], own);
    for (int i = 0; i < 3; i++) {
        ns_v3 column = ns_m3_solve_symmetric(g, J, ns_v3_unit(g, i));
        for (int j = 0; j < 3; j++)
            inverse.at[j][i] = column.at[j];
    }
    ns_v3 out = c->gamma;
    if (c->moving || !c->ground.flat) {
        ns_v3 drift = ns_v3_sub(g, c->s_rate, ns_v3_cross(g, c->s, c->Omega));
        ns_ex along = ns_neg(g, ns_mul(g, ns_mul(g, c->mass, r), ns_v3_dot(g, out, c->Omega)));
        right = ns_v3_add(g, right, ns_v3_scale(g, along, drift));
    }
    if (!c->level)
        push = ns_v3_add(g, push, ns_v3_scale(g, ns_mul(g, c->mass, c->gravity), c->vertical));
    right = ns_v3_add(g, right, ns_v3_scale(g, r, ns_v3_cross(g, push, out)));
    ns_v3 y = ns_m3_apply(g, inverse, right), lean = ns_m3_apply(g, inverse, out);
    ns_ex rest = ns_sub(g, one, ns_mul(g, own, ns_v3_dot(g, out, lean)));
    ns_ex factor = ns_div(g, ns_mul(g, own, ns_v3_dot(g, out, y)), rest);
    return ns_v3_add(g, y, ns_v3_scale(g, factor, lean));
}

/* Rubber: y = Omega' as it would be without the torque mu along gamma. */
static void forbid_twist(ns_graph *g, ns_contact *c)
{
    ns_ex symbol[10], rate[10];
    uint32_t n = 0;
    for (uint32_t i = 0; i < 4 && !c->reduced; i++, n++) {
        symbol[n] = c->quat[i];
        rate[n] = c->quat_rate[i];
    }
    for (uint32_t i = 0; i < c->body.n && !c->closed; i++, n++) {
        symbol[n] = c->body.symbol[i];
        rate[n] = c->body_rate[i];
    }
    for (uint32_t i = 0; i < c->ground.n && !c->reduced; i++, n++) {
        symbol[n] = c->ground.symbol[i];
        rate[n] = c->ground_rate[i];
    }
    ns_v3 turned = c->gamma, y = c->Omega_rate;
    ns_diff_along(g, c->gamma.at, 3, symbol, rate, n, turned.at);
    const ns_v3 z = ns_m3_solve_symmetric(g, c->about_contact, c->gamma);
    const ns_ex off = ns_add(g, ns_v3_dot(g, c->gamma, y), ns_v3_dot(g, turned, c->Omega));
    c->twist = ns_neg(g, ns_div(g, off, ns_v3_dot(g, c->gamma, z)));
    c->Omega_rate = ns_v3_add(g, y, ns_v3_scale(g, c->twist, z));
}

void ns_contact_dynamics(ns_graph *g, ns_contact *c)
{
    if (c->ball) {
        ns_contact_ball_dynamics(g, c);
        return;
    }
    ns_v3 Omega = c->Omega, s = c->s, v = velocity(g, c);
    /* force needed beside what weight and turning of the body need: m w - f */
    ns_v3 push = ns_v3_zero(g);
    if (c->moving) {
        ns_v3 arm = ns_m3_apply(g, c->B, c->ground.point);
        ns_v3 carried = ns_v3_cross(g, c->W, arm);
        ns_v3 moved = ns_v3_add(g, carried, ns_m3_apply(g, c->A, c->s_rate));
        ns_v3 w = ns_v3_add(
            g, c->o2, ns_v3_add(g, ns_v3_cross(g, c->W1, arm), ns_v3_cross(g, c->W, moved)));
        push = ns_v3_scale(g, c->mass, ns_m3_apply_transposed(g, c->A, w));
    }
    if (!ns_v3_is_zero(g, c->force))
        push = ns_v3_sub(g, push, ns_m3_apply_transposed(g, c->A, c->force));
    ns_v3 momentum = ns_m3_apply(g, c->inertia, Omega);
    ns_v3 free_torque = ns_v3_cross(g, momentum, Omega);
    const ns_m3 *I = &c->inertia;
    bool three = ns_graph_is_zero(g, I->at[0][1]) && ns_graph_is_zero(g, I->at[0][2]) &&
                 ns_graph_is_zero(g, I->at[1][2]) && I->at[0][0] != I->at[1][1] &&
                 I->at[0][0] != I->at[2][2] && I->at[1][1] != I->at[2][2];
    for (int i = 0; i < 3 && three; i++) { /* differences of moments are constants */
        int j = (i + 1) % 3, k = (i + 2) % 3;
        free_torque.at[i] = ns_mul(g, ns_sub(g, I->at[j][j], I->at[k][k]),
                                   ns_mul(g, Omega.at[j], Omega.at[k]));
    }
    free_torque = ns_v3_add(g, free_torque, c->torque);
    c->about_contact = ns_m3_add(g, c->inertia, steiner(g, c->mass, s));
    bool centred = c->radius && ns_v3_is_zero(g, c->centre);
    c->Omega_rate = (centred ? turn_rate_centred : turn_rate)(g, c, push, free_torque);
    if (c->rubber)
        forbid_twist(g, c);

    /* R = m (w + g e) - f - m [Omega' x s + Omega x (s' + Omega x s)] */
    ns_v3 drift = ns_v3_sub(g, c->s_rate, ns_v3_cross(g, s, Omega));
    ns_v3 swing = ns_v3_add(g, ns_v3_cross(g, c->Omega_rate, s), ns_v3_cross(g, Omega, drift));
    /* gamma.R, of which events ask at every step: gamma.(Omega' x s) = Omega'.(s x gamma),
     * gamma.(Omega x v) = v.(gamma x Omega); gamma.e = 1 on a level plane */
    ns_ex weight = ns_mul(g, c->mass, c->gravity);
    ns_ex rests = c->level ? weight : ns_mul(g, weight, ns_v3_dot(g, c->vertical, c->gamma));
    ns_ex lifts = ns_add(g, ns_v3_dot(g, c->Omega_rate, ns_v3_cross(g, s, c->gamma)),
                         ns_v3_dot(g, drift, ns_v3_cross(g, c->gamma, Omega)));
    c->normal_force = ns_sub(g, ns_add(g, rests, ns_v3_dot(g, push, c->gamma)),
                             ns_mul(g, c->mass, lifts));
    push = ns_v3_add(g, push, ns_v3_scale(g, ns_mul(g, c->mass, c->gravity), c->vertical));
    c->reaction = ns_v3_sub(g, push, ns_v3_scale(g, c->mass, swing));
    if (!c->reduced)
        c->force_space = ns_m3_apply(g, c->A, c->reaction);
    ns_v3 tangential = ns_v3_sub(g, c->reaction, ns_v3_scale(g, c->normal_force, c->gamma));
    c->friction = ns_v3_norm(g, tangential);
    ns_ex twice = ns_add(g, ns_v3_dot(g, Omega, momentum),
                         ns_mul(g, c->mass, ns_v3_dot(g, v, v)));
    c->kinetic = ns_mul(g, ns_number(g, 0.5), twice);
    ns_ex potential = ns_mul(g, ns_mul(g, c->mass, c->gravity), c->com.at[2]);
    c->energy = ns_add(g, c->kinetic, potential);
}
