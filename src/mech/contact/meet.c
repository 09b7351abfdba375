/* The equations, in the order of the code; letters and frames as in contact.c.  n: ground
 * normal
 * towards the body, gamma the same in the body frame, D_b and D_g: derivatives of the normals
 * along the surfaces, x: closest point of the ground, r = A s from the centre of mass to the
 * closest point of the body.
 *
 * Closest points (Montana 1988 for gap 0).  x_body = com + r = x + h n.  V: velocity of the
 * material point there relative to the ground (ground frame), u its part along the ground.
 * Differentiating both, with sigma = C s',
 *
 *     h' = n.V,     u + sigma = x' + h D_g x',     D_b sigma + D_g x' = C (n_b x omega)
 *
 * so with x' = c_b e_b in a base of the tangent plane
 *
 *     e_a.[D_b (1 + h D_g) + D_g] e_b c_b = e_a.[C (n_b x omega) + D_b u]
 *
 * An edge c(v) of the body has v' in the place of sigma = v' k, k = C c':
 *     (1 + h D_g) x' - v' k = u,     v' c''.gamma + k.D_g x' = -c'.(gamma x omega)
 *
 * Dynamics.  F: contact force, M: moment of resistance, f and T: loads,
 *     m v' = F + f - m g e,    I Omega' + Omega x I Omega = s x F + M + T
 * The relative acceleration of the contact points is  V' = G F + (..),  where
 *     G F = F/m + (I^-1 (s x F)) x s,    G^-1 a = W a = m a - m (J^-1 (m s x a)) x s,
 *     J = I + m (|s|^2 - s s^T),
 * and  h'' = n.V' + n'.V,  n' = W_ground x n + D_g x'.
 *
 * roll:   V' = 0, contact.c, with M = N p:  N = N_0/(1 + m (s x gamma).J^-1 p)
 * slide:  F = N (gamma - mu d) - c u, M = N p; h'' = 0 is linear in N:
 *         N K + h''_0 = 0,  K = gamma.G(gamma - mu d) + (s x gamma).I^-1 p
 *         K <= 0: no or several solutions (Painleve 1895; Champneys and Varkonyi 2016)
 * fly:    F = 0
 * p = -(rolling) omega_t/|omega_t| - (boring) sign(omega_n) gamma; below 1e-7 sqrt(g/|s|),
 * which
 * is nothing that is seen, both fade, so that a turn that comes to an end stays at its end.
 *
 * Coulomb-Contensou: contact of radius R with Hertz' pressure, which turns with omega_n; of
 * Zhuravlev's (1998) integrals the limits of slow and fast spin, joined as by Kudra and
 * Awrejcewicz (2011): with b = 8/(3 pi),
 *     F_t = -mu N u/sqrt(|u|^2 + (b R omega_n)^2)
 *     M_n = -mu N R^2 omega_n/sqrt(25 |u|^2 + (16/(3 pi) R omega_n)^2)
 *
 * Loads may contain N and F: each mode solves for them (mech/common/reactions.h), with F = 0 in
 * fly.  Then the loads' own answer to F is a part of G:  G F = .. + f_F/m + (I^-1 T_F) x s.
 *
 * Onset of slip and impact: meet_impact.c. */
#include <string.h>

#include "expr/subst.h"
#include "mech/common/reactions.h"
#include "mech/contact/meet_internal.h"

static ns_v3 to_ground(ns_graph *g, const ns_contact *c, ns_v3 space)
{
    return c->moving ? ns_m3_apply_transposed(g, c->B, space) : space;
}

static ns_v3 to_space(ns_graph *g, const ns_contact *c, ns_v3 ground)
{
    return c->moving ? ns_m3_apply(g, c->B, ground) : ground;
}

/* ---- closest points ------------------------------------------------------------------------
 * */

/* A base e_a of the ground's tangent plane and the change D_g e_a of the normal along it. */
static void ground_base(ns_graph *g, const ns_side *ground, ns_v3 e[2], ns_v3 turn[2])
{
    if (ground->kind != NS_SIDE_IMPLICIT) {
        for (int a = 0; a < 2; a++) {
            e[a] = ground->base[a];
            turn[a] = ns_v3_diff(g, ground->normal, ground->symbol[a]);
        }
        return;
    }
    ns_v3_tangents(g, ground->normal, e);
    for (int a = 0; a < 2; a++) {
        ns_v3 bent = ns_v3_scale(g, ground->kappa, ns_m3_apply(g, ground->H, e[a]));
        turn[a] = ns_meet_along(g, bent, ground->normal);
    }
}

/* Two surfaces: c_b of the head of this file. */
static void roll_and_slip(ns_graph *g, const ns_meet *w, const ns_v3 e[2], const ns_v3 turn[2],
                          ns_ex rate[2])
{
    const ns_contact *c = w->c;
    ns_v3 lifted[2], right[2];
    ns_ex M[2][2], b[2];
    ns_v3 swing = ns_m3_apply(g, c->C, ns_v3_cross(g, c->body.normal, c->omega));
    for (int a = 0; a < 2; a++) {
        ns_v3 t = ns_m3_apply_transposed(g, c->C, e[a]);
        ns_v3 bent = ns_v3_scale(g, c->body.kappa, ns_m3_apply(g, c->body.H, t));
        right[a] = ns_m3_apply(g, c->C, bent); /* D_b e_a, symmetric */
        lifted[a] = ns_v3_add(g, e[a], ns_v3_scale(g, w->gap, turn[a]));
    }
    for (int a = 0; a < 2; a++) {
        for (int i = 0; i < 2; i++)
            M[a][i] = ns_add(g, ns_v3_dot(g, right[a], lifted[i]), ns_v3_dot(g, e[a], turn[i]));
        b[a] = ns_add(g, ns_v3_dot(g, e[a], swing), ns_v3_dot(g, right[a], w->slip));
    }
    ns_ex det = ns_sub(g, ns_mul(g, M[0][0], M[1][1]), ns_mul(g, M[0][1], M[1][0]));
    ns_ex over = ns_div(g, ns_one(g), det);
    rate[0] = ns_times(g, ns_sub(g, ns_mul(g, M[1][1], b[0]), ns_mul(g, M[0][1], b[1])), over);
    rate[1] = ns_times(g, ns_sub(g, ns_mul(g, M[0][0], b[1]), ns_mul(g, M[1][0], b[0])), over);
}

/* An edge on a surface: c_b and v'. */
static void edge_and_slip(ns_graph *g, const ns_meet *w, const ns_v3 e[2], const ns_v3 turn[2],
                          ns_ex rate[2], ns_ex *speed)
{
    const ns_contact *c = w->c;
    ns_v3 t = c->body.tangent, k = ns_m3_apply(g, c->C, t);
    ns_ex M[9], b[3], x[3];
    for (int a = 0; a < 2; a++) {
        for (int i = 0; i < 2; i++) {
            ns_v3 lifted = ns_v3_add(g, e[i], ns_v3_scale(g, w->gap, turn[i]));
            M[3 * a + i] = ns_v3_dot(g, e[a], lifted);
        }
        M[3 * a + 2] = ns_neg(g, ns_v3_dot(g, e[a], k));
        b[a] = ns_v3_dot(g, e[a], w->slip);
        M[6 + a] = ns_v3_dot(g, k, turn[a]);
    }
    M[8] = ns_v3_dot(g, c->body.second, c->gamma);
    b[2] = ns_neg(g, ns_v3_dot(g, t, ns_v3_cross(g, c->gamma, c->omega)));
    ns_solve(g, 3, M, b, x);
    rate[0] = x[0];
    rate[1] = x[1];
    *speed = x[2];
}

/* Rates of the contact coordinates of both sides on a curved ground; on a plane those of the
 * body are as in rolling, and the ground has none. */
static void move_contacts(ns_graph *g, ns_meet *w)
{
    ns_contact *c = w->c;
    const ns_side *ground = &c->ground;
    ns_v3 e[2], turn[2];
    ns_ex rate[2], speed = 0;
    ground_base(g, ground, e, turn);
    const bool edge = ns_side_is_curve(&c->body);
    if (edge)
        edge_and_slip(g, w, e, turn, rate, &speed);
    else
        roll_and_slip(g, w, e, turn, rate);
    ns_v3 moved = ns_v3_zero(g), turned = moved;
    for (int a = 0; a < 2; a++) {
        moved = ns_v3_add(g, moved, ns_v3_scale(g, rate[a], e[a]));
        turned = ns_v3_add(g, turned, ns_v3_scale(g, rate[a], turn[a]));
        c->ground_rate[a] = rate[a];
    }
    for (int i = 0; i < 3 && ground->kind == NS_SIDE_IMPLICIT; i++)
        c->ground_rate[i] = moved.at[i];
    c->normal_rate = turned; /* D_g x', ground frame */
    if (edge) {
        c->s_rate = ns_v3_scale(g, speed, c->body.tangent);
    } else {
        ns_v3 sigma = ns_v3_add(g, moved, ns_v3_scale(g, w->gap, turned));
        c->s_rate = ns_m3_apply_transposed(g, c->C, ns_v3_sub(g, sigma, w->slip));
    }
    if (c->quadric)
        c->u = ns_v3_neg(g, ns_v3_scale(g, c->root, c->s_rate));
    if (!c->closed)
        ns_side_rates(g, &c->body, c->s_rate, speed, c->body_rate);
}

/* The reference direction in the tangent plane, and the direction friction opposes. */
static void aim(ns_graph *g, ns_meet *w)
{
    ns_v3 n = w->c->ground.normal, way = ns_v3_make(w->way[0], w->way[1], w->way[2]);
    ns_ex one = ns_one(g);
    w->way_now = ns_v3_normalise(g, ns_meet_along(g, way, n), NULL);
    w->way_side = ns_v3_cross(g, n, w->way_now);
    w->along = ns_v3_dot(g, w->slip, w->way_now);
    w->across = ns_v3_dot(g, w->slip, w->way_side);
    ns_ex loose = ns_sub(g, one, w->hold);
    ns_ex under = ns_add(g, ns_mul(g, w->along, loose), w->hold);
    w->tau = ns_div(g, ns_mul(g, loose, w->across), under);
    ns_ex near = ns_sub(g, one, w->far), size = ns_add(g, one, ns_powi(g, w->tau, 2));
    ns_v3 d = ns_v3_add(g, w->way_now, ns_v3_scale(g, w->tau, w->way_side));
    size = ns_mul(g, near, size);
    size = ns_add(g, size, ns_mul(g, w->far, ns_v3_dot(g, w->slip, w->slip)));
    d = ns_v3_scale(g, near, d);
    d = ns_v3_add(g, d, ns_v3_scale(g, w->far, w->slip));
    w->direction = ns_v3_scale(g, ns_div(g, one, ns_sqrt(g, size)), d);
}

void ns_meet_kinematics(ns_graph *g, ns_meet *w)
{
    ns_contact *c = w->c;
    const ns_side *ground = &c->ground;
    for (int i = 0; i < 3; i++) {
        ns_v3 column = ns_m3_solve_symmetric(g, c->inertia, ns_v3_unit(g, i));
        for (int j = 0; j < 3; j++)
            w->inverse.at[j][i] = column.at[j];
    }
    ns_v3 arm = ns_m3_apply(g, c->A, c->s), at = ns_v3_add(g, c->com, arm);
    ns_v3 swing = ns_m3_apply(g, c->A, ns_v3_cross(g, c->Omega, c->s));
    ns_v3 V = ns_v3_add(g, c->velocity, swing);
    if (c->moving) {
        at = ns_v3_sub(g, at, c->o);
        ns_v3 carried = ns_v3_add(g, c->o1, ns_v3_cross(g, c->W, at));
        V = ns_v3_sub(g, V, carried);
    }
    w->reach = to_ground(g, c, at);
    w->relative = to_ground(g, c, V);
    if (ground->flat) { /* straight below */
        ns_ex zero[2] = {ns_zero(g), ns_zero(g)}, u[2];
        ns_v3 origin = {{0}}, off;
        ns_subst(g, ground->point.at, 3, ground->symbol, zero, 2, origin.at);
        off = ns_v3_sub(g, w->reach, origin);
        w->gap = ns_v3_dot(g, off, ground->normal);
        for (int a = 0; a < 2; a++)
            u[a] = ns_v3_dot(g, off, ground->base[a]);
        ns_subst(g, c->ground.point.at, 3, ground->symbol, u, 2, c->ground.point.at);
        w->place[0] = u[0];
        w->place[1] = u[1];
    } else {
        ns_v3 off = ns_v3_sub(g, w->reach, ground->point), base[2];
        w->gap = ns_v3_dot(g, off, ground->normal);
        ns_v3_tangents(g, ground->normal, base);
        w->foot = ns_v3_make(ns_v3_dot(g, off, base[0]), ns_v3_dot(g, off, base[1]), w->gap);
    }
    w->approach = ns_v3_dot(g, ground->normal, w->relative);
    w->slip = ns_meet_along(g, w->relative, ground->normal);
    w->slip_space = to_space(g, c, w->slip);
    w->slip_body = ns_m3_apply_transposed(g, c->C, w->slip);
    ns_v3 rest = ns_v3_sub(g, V, swing);
    ns_ex sum = ns_add(g, ns_v3_dot(g, rest, rest), ns_v3_dot(g, swing, swing));
    w->size = ns_v3_norm(g, c->s);
    w->faint = ns_mul(g, ns_number(g, 1e-6), ns_abs(g, ns_div(g, c->gravity, w->size)));
    w->faint = ns_add(g, w->faint, ns_number(g, 1e-30));
    ns_ex fall = ns_mul(g, ns_number(g, 1e-4), ns_mul(g, c->gravity, w->size));
    sum = ns_add(g, sum, ns_abs(g, fall)); /* a body at rest has a scale, too */
    w->speed = ns_sqrt(g, ns_add(g, sum, ns_number(g, 1e-200)));
    c->point = to_space(g, c, c->ground.point);
    if (c->moving)
        c->point = ns_v3_add(g, c->o, c->point);
    c->normal_rate = ns_v3_zero(g);
    if (!ground->flat)
        move_contacts(g, w);
    if (w->law->friction == NS_FRICTION_COULOMB)
        aim(g, w);
}

/* ---- forces --------------------------------------------------------------------------------
 * */

/* |a| of its square, which does not fall below that of `faint`: (a^8 + faint^4)^(1/8), equal to
 * |a| to round-off where it is a hundred times larger. */
static ns_ex fading(ns_graph *g, ns_ex square, ns_ex faint)
{
    ns_ex sum = ns_add(g, ns_powi(g, square, 4), ns_powi(g, faint, 4));
    return ns_sqrt(g, ns_sqrt(g, ns_sqrt(g, sum)));
}

/* p: moment of resistance by normal force, body frame; false if there is none. */
static bool resistance(ns_graph *g, const ns_meet *w, bool slides, ns_v3 *p)
{
    const ns_contact *c = w->c;
    const ns_law *law = w->law;
    const bool contensou = slides && law->friction == NS_FRICTION_CONTENSOU;
    *p = ns_v3_zero(g);
    if (!law->rolling && !law->boring && !contensou)
        return false;
    ns_ex spin = ns_v3_dot(g, c->omega, c->gamma);
    if (law->rolling) {
        ns_v3 rolls = ns_v3_sub(g, c->omega, ns_v3_scale(g, spin, c->gamma));
        ns_ex size = fading(g, ns_v3_dot(g, rolls, rolls), w->faint);
        ns_ex factor = ns_neg(g, ns_div(g, law->rolling, size));
        *p = ns_v3_scale(g, factor, rolls);
    }
    if (law->boring) {
        ns_ex size = fading(g, ns_powi(g, spin, 2), w->faint);
        ns_ex factor = ns_neg(g, ns_div(g, ns_mul(g, law->boring, spin), size));
        *p = ns_v3_add(g, *p, ns_v3_scale(g, factor, c->gamma));
    }
    if (contensou) {
        ns_ex u = ns_v3_dot(g, w->slip, w->slip), R = law->radius;
        ns_ex edge = ns_div(g, ns_mul(g, ns_number(g, 16), ns_mul(g, R, spin)),
                            ns_mul(g, ns_number(g, 3), ns_pi(g)));
        ns_ex under = ns_add(g, ns_mul(g, ns_number(g, 25), u), ns_powi(g, edge, 2));
        under = ns_add(g, under, ns_number(g, 1e-200)); /* at rest there is no friction */
        ns_ex top = ns_mul(g, law->moving, ns_mul(g, ns_powi(g, R, 2), spin));
        ns_ex factor = ns_neg(g, ns_div(g, top, ns_sqrt(g, under)));
        *p = ns_v3_add(g, *p, ns_v3_scale(g, factor, c->gamma));
    }
    return true;
}

/* Friction by normal force in slide (opposite to slip), and, for viscous friction, beside it.
 * */
static void friction(ns_graph *g, const ns_meet *w, ns_v3 *by_normal, ns_v3 *beside)
{
    const ns_contact *c = w->c;
    const ns_law *law = w->law;
    *by_normal = *beside = ns_v3_zero(g);
    if (law->friction == NS_FRICTION_VISCOUS)
        *beside = ns_v3_neg(g, ns_v3_scale(g, law->viscous, w->slip_body));
    if (law->friction == NS_FRICTION_COULOMB) {
        ns_v3 d = ns_m3_apply_transposed(g, c->C, w->direction);
        *by_normal = ns_v3_neg(g, ns_v3_scale(g, law->moving, d));
    }
    if (law->friction == NS_FRICTION_CONTENSOU) {
        ns_ex spin = ns_v3_dot(g, c->omega, c->gamma), u = ns_v3_dot(g, w->slip, w->slip);
        ns_ex edge = ns_div(g, ns_mul(g, ns_number(g, 8), ns_mul(g, law->radius, spin)),
                            ns_mul(g, ns_number(g, 3), ns_pi(g)));
        ns_ex under = ns_add(g, u, ns_powi(g, edge, 2));
        under = ns_sqrt(g, ns_add(g, under, ns_number(g, 1e-200)));
        *by_normal = ns_v3_neg(g, ns_v3_scale(g, ns_div(g, law->moving, under), w->slip_body));
    }
}

/* Accelerations under a force and a moment. */
static void accelerate(ns_graph *g, const ns_meet *w, ns_meet_force *f)
{
    const ns_contact *c = w->c;
    ns_ex over = ns_div(g, ns_one(g), c->mass);
    ns_v3 sum = ns_v3_add(g, ns_m3_apply(g, c->A, f->force), c->force);
    f->acceleration = ns_v3_scale(g, over, sum);
    f->acceleration.at[2] = ns_sub(g, f->acceleration.at[2], c->gravity);
    ns_v3 spin = ns_m3_apply(g, c->inertia, c->Omega);
    ns_v3 torque = ns_v3_add(g, ns_v3_cross(g, spin, c->Omega), c->torque);
    ns_v3 moment = ns_v3_add(g, ns_v3_cross(g, c->s, f->force), f->moment);
    f->Omega_rate = ns_m3_apply(g, w->inverse, ns_v3_add(g, torque, moment));
}

/* h'' under the accelerations of f, at gap 0. */
static ns_ex second_rate(ns_graph *g, const ns_meet *w, const ns_meet_force *f)
{
    const ns_contact *c = w->c;
    ns_v3 n = c->gamma, drift = ns_v3_sub(g, c->s_rate, ns_v3_cross(g, c->s, c->Omega));
    ns_v3 own = ns_v3_add(g, ns_v3_cross(g, f->Omega_rate, c->s),
                          ns_v3_cross(g, c->Omega, drift));
    ns_v3 a = ns_m3_apply_transposed(g, c->A, f->acceleration);
    ns_ex sum = ns_v3_dot(g, n, ns_v3_add(g, a, own));
    if (!c->ground.flat)
        sum = ns_add(g, sum, ns_v3_dot(g, c->normal_rate, w->slip));
    if (!c->moving)
        return sum;
    /* in space: x_b' - o' = V + W x (x_b - o) + sigma */
    ns_v3 arm = ns_m3_apply(g, c->B, w->reach), normal = ns_m3_apply(g, c->B, c->ground.normal);
    ns_v3 moved = ns_v3_add(g, ns_m3_apply(g, c->B, w->relative), ns_v3_cross(g, c->W, arm));
    moved = ns_v3_add(g, moved, ns_m3_apply(g, c->A, c->s_rate));
    ns_v3 away = ns_v3_add(g, ns_v3_cross(g, c->W1, arm), ns_v3_cross(g, c->W, moved));
    away = ns_v3_add(g, c->o2, away);
    ns_ex turned = ns_v3_dot(g, ns_v3_cross(g, c->W, normal),
                             ns_m3_apply(g, c->B, w->relative));
    return ns_add(g, ns_sub(g, sum, ns_v3_dot(g, normal, away)), turned);
}

/* Puts the reactions of a mode into it; det(1 - B) of reactions.h. */
static ns_ex settle(ns_graph *g, const ns_meet *w, ns_meet_force *f, bool touches)
{
    const uint32_t n = w->n_reactions;
    ns_v3 force = ns_m3_apply(g, w->c->A, f->force);
    ns_ex y[4] = {f->normal, force.at[0], force.at[1], force.at[2]};
    ns_ex value[4], *at[14] = {&f->normal, &f->power}, determinant = ns_one(g);
    ns_v3 *const vectors[4] = {&f->force, &f->moment, &f->acceleration, &f->Omega_rate};
    if (n == 0)
        return determinant;
    for (uint32_t i = 0; i < 4; i++)
        value[i] = ns_zero(g);
    for (uint32_t i = 0; i < 12; i++)
        at[2 + i] = &vectors[i / 3]->at[i % 3];
    if (touches)
        determinant = ns_reactions_solve(g, n, w->reaction, y, value);
    ns_reactions_put(g, n, w->reaction, value, at, 14);
    return determinant;
}

static void roll(ns_graph *g, ns_meet *w)
{
    const ns_contact *c = w->c;
    ns_meet_force *f = &w->in[NS_MEET_ROLL];
    ns_v3 p;
    *f = (ns_meet_force){.force = c->reaction,
                         .moment = ns_v3_zero(g),
                         .normal = c->normal_force,
                         .power = ns_zero(g),
                         .Omega_rate = c->Omega_rate};
    if (resistance(g, w, false, &p)) {
        ns_v3 turn = ns_m3_solve_symmetric(g, c->about_contact, p);
        ns_ex lifts = ns_v3_dot(g, ns_v3_cross(g, c->s, c->gamma), turn);
        ns_ex under = ns_add(g, ns_one(g), ns_mul(g, c->mass, lifts));
        f->normal = ns_div(g, f->normal, under);
        turn = ns_v3_scale(g, f->normal, turn);
        f->Omega_rate = ns_v3_add(g, f->Omega_rate, turn);
        f->force = ns_v3_sub(g, f->force, ns_v3_scale(g, c->mass, ns_v3_cross(g, turn, c->s)));
        f->moment = ns_v3_scale(g, f->normal, p);
        f->power = ns_v3_dot(g, f->moment, c->omega);
    }
    ns_v3 sum = ns_v3_add(g, ns_m3_apply(g, c->A, f->force), c->force);
    f->acceleration = ns_v3_scale(g, ns_div(g, ns_one(g), c->mass), sum);
    f->acceleration.at[2] = ns_sub(g, f->acceleration.at[2], c->gravity);
    w->firm = settle(g, w, f, true);
}

static void fly(ns_graph *g, ns_meet *w)
{
    ns_meet_force *f = &w->in[NS_MEET_FLY];
    ns_ex zero = ns_zero(g);
    *f = (ns_meet_force){
        .force = ns_v3_zero(g), .moment = ns_v3_zero(g), .normal = zero, .power = zero};
    accelerate(g, w, f);
    w->parting = second_rate(g, w, f);
}

static void slide(ns_graph *g, ns_meet *w)
{
    const ns_contact *c = w->c;
    ns_meet_force *f = &w->in[NS_MEET_SLIDE];
    ns_v3 by_normal, beside, p, n = c->gamma;
    friction(g, w, &by_normal, &beside);
    const bool turns = resistance(g, w, true, &p);
    ns_v3 per = ns_v3_add(g, n, by_normal);
    ns_v3 lever = ns_v3_cross(g, c->s, n);
    w->stiff = ns_v3_dot(g, n, ns_meet_yields(g, w, per));
    if (turns) {
        ns_v3 bent = ns_m3_apply(g, w->inverse, p);
        w->stiff = ns_add(g, w->stiff, ns_v3_dot(g, lever, bent));
    }
    ns_ex apart = w->parting;
    if (w->law->friction == NS_FRICTION_VISCOUS)
        apart = ns_add(g, apart, ns_v3_dot(g, n, ns_meet_yields(g, w, beside)));
    f->normal = ns_neg(g, ns_div(g, apart, w->stiff));
    f->force = ns_v3_add(g, ns_v3_scale(g, f->normal, per), beside);
    f->moment = turns ? ns_v3_scale(g, f->normal, p) : ns_v3_zero(g);
    ns_v3 drag = ns_v3_add(g, ns_v3_scale(g, f->normal, by_normal), beside);
    f->power = ns_v3_dot(g, drag, w->slip_body);
    if (turns)
        f->power = ns_add(g, f->power, ns_v3_dot(g, f->moment, c->omega));
    accelerate(g, w, f);
    w->stiff = ns_mul(g, w->stiff, settle(g, w, f, true));
}

/* h'' of a body that flies, after those of the other modes: there are no reactions. */
static void part(ns_graph *g, ns_meet *w)
{
    ns_ex zero[4];
    for (uint32_t i = 0; i < 4; i++)
        zero[i] = ns_zero(g);
    if (w->n_reactions)
        w->parting = ns_subst_one(g, w->parting, w->reaction, zero, w->n_reactions);
}

void ns_meet_dynamics(ns_graph *g, ns_meet *w)
{
    const ns_law *law = w->law;
    w->firm = ns_one(g);
    fly(g, w);
    if (law->friction == NS_FRICTION_IDEAL || law->friction == NS_FRICTION_COULOMB)
        roll(g, w);
    if (law->friction != NS_FRICTION_IDEAL)
        slide(g, w);
    settle(g, w, &w->in[NS_MEET_FLY], false);
    part(g, w);
    if (law->friction == NS_FRICTION_COULOMB)
        ns_meet_onset(g, w);
}
