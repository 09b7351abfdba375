/* A ball with isotropic inertia J about its centre: everything in space, where its motion does
 * not see its orientation.  States: contact on the ground, omega (space), quaternion.
 *
 * n: ground normal, r: radius, x: contact, centre = x + r n.  The material point at the contact
 * moves with the ground, so the centre has the velocity  v = v_ground + r omega x n.  On the
 * ground the contact moves with
 *
 *     (1 + r D_g) x' = r (omega - W) x n       (the velocity of the centre relative to the
 *                                              ground)
 *
 * and the normal turns with n' = D_g x' (+ W x n).  With the contact force R, loads f and T,
 * and a = d v_ground/dt = o'' + W' x (x-o) + W x (W x (x-o) + x'),
 *
 *     m v' = R - m g e + f,    J omega' = -r n x R + T.
 *
 * Eliminating R, with n.n' = 0 and J n.omega' = n.T,
 *
 *     (J + m r^2) omega' = m r^2 [(n.omega) n' + (n.T/J) n] - r n x (m g e + m a - f) + T.
 *
 * On a ground with coordinates u_a, base e_a and second form II_ab = e_a . d_b n:
 *     (e_a.e_b + r II_ab) u_b' = r (omega x n).e_a
 * For z = f(x, y), with N = (-f_x, -f_y, 1), w = |N|, E = 1 + f_x^2, F = f_x f_y, G = 1 +
 * f_y^2, this is
 *     (w [E F; F G] - r Hess f) (x', y') = r (omega.(N x e_x), omega.(N x e_y))
 *     n' = w^-3 (G N_1' - F N_2', E N_2' - F N_1', f_x N_1' + f_y N_2'),  N' = -Hess f (x',
 *     y'). */
#include "expr/diff.h"
#include "mech/contact/contact.h"

/* Solution of [a b; b c] y = right by one division; by two where the equations are separate. */
static void solve2(ns_graph *g, const ns_ex m[3], const ns_ex right[2], ns_ex out[2])
{
    if (ns_graph_is_zero(g, m[1])) {
        out[0] = ns_div(g, right[0], m[0]);
        out[1] = ns_div(g, right[1], m[2]);
        return;
    }
    ns_ex over = ns_div(g, ns_one(g), ns_sub(g, ns_mul(g, m[0], m[2]), ns_powi(g, m[1], 2)));
    for (int i = 0; i < 2; i++)
        out[i] = ns_times(
            g, ns_sub(g, ns_mul(g, m[2 - 2 * i], right[i]), ns_mul(g, m[1], right[1 - i])),
            over);
}

/* z = f(x, y) */
typedef struct slope {
    ns_ex x, y;               /* f_x, f_y */
    ns_ex square, root;       /* w^2, w */
    ns_ex inverse, factor;    /* 1/w^2, 1/w */
    ns_ex metric[3], bend[3]; /* E, F, G; f_xx, f_xy, f_yy */
} slope;

static slope slope_of(ns_graph *g, const ns_side *ground)
{
    slope s = {.x = ground->base[0].at[2], .y = ground->base[1].at[2]};
    ns_ex xx = ns_powi(g, s.x, 2), yy = ns_powi(g, s.y, 2), one = ns_one(g);
    s.metric[0] = ns_add(g, one, xx);
    s.metric[1] = ns_mul(g, s.x, s.y);
    s.metric[2] = ns_add(g, one, yy);
    s.square = ns_add(g, s.metric[0], yy);
    s.root = ns_sqrt(g, s.square);
    s.inverse = ns_div(g, one, s.square);
    s.factor = ns_times(g, s.root, s.inverse);
    s.bend[0] = ns_neg(g, ground->H.at[0][0]);
    s.bend[1] = ns_neg(g, ground->H.at[0][1]);
    s.bend[2] = ns_neg(g, ground->H.at[1][1]);
    return s;
}

static void roll_on_graph(ns_graph *g, ns_contact *c, ns_v3 omega, ns_ex *rate, ns_v3 *turn)
{
    const slope s = slope_of(g, &c->ground);
    ns_ex m[3], right[2];
    for (int i = 0; i < 3; i++)
        m[i] = ns_sub(g, ns_mul(g, s.root, s.metric[i]), ns_mul(g, c->radius, s.bend[i]));
    ns_v3 across[2] = {ns_v3_make(ns_neg(g, s.metric[1]), s.metric[0], s.y),
                       ns_v3_make(ns_neg(g, s.metric[2]), s.metric[1], ns_neg(g, s.x))};
    for (int i = 0; i < 2; i++)
        right[i] = ns_mul(g, c->radius, ns_v3_dot(g, omega, across[i]));
    solve2(g, m, right, rate);
    for (int i = 0; i < 2; i++) /* a direction without slope and curvature: 1/w is known */
        if (ns_graph_is_zero(g, m[1]) && m[2 * i] == s.root)
            rate[i] = ns_mul(g, right[i], s.factor);
    ns_contact_fit(g, c, s.metric, m, ns_div(g, s.factor, c->radius));
    if (!turn)
        return;
    ns_ex N[2];
    for (int i = 0; i < 2; i++)
        N[i] = ns_neg(
            g, ns_add(g, ns_mul(g, s.bend[i], rate[0]), ns_mul(g, s.bend[i + 1], rate[1])));
    ns_ex cube = ns_times(g, s.factor, s.inverse);
    ns_v3 way = ns_v3_make(
        ns_sub(g, ns_mul(g, s.metric[2], N[0]), ns_mul(g, s.metric[1], N[1])),
        ns_sub(g, ns_mul(g, s.metric[0], N[1]), ns_mul(g, s.metric[1], N[0])),
        ns_add(g, ns_mul(g, s.x, N[0]), ns_mul(g, s.y, N[1])));
    *turn = ns_v3_scale(g, cube, way);
}

static void roll_on_chart(ns_graph *g, ns_contact *c, ns_v3 omega, ns_ex *rate, ns_v3 *turn)
{
    const ns_side *ground = &c->ground;
    ns_v3 v = ns_v3_scale(g, c->radius, ns_v3_cross(g, omega, ground->normal));
    if (ground->flat && ground->orthonormal) {
        for (int i = 0; i < 2; i++)
            rate[i] = ns_v3_dot(g, ground->base[i], v);
        c->regular = ns_div(g, ns_one(g), ns_powi(g, c->radius, 2));
        c->fit = ns_div(g, ns_number(g, 2), c->radius);
        if (turn)
            *turn = ns_v3_zero(g);
        return;
    }
    ns_ex metric[3], m[3], right[2];
    ns_contact_forms(g, ground, metric, m);
    for (int i = 0; i < 3; i++)
        m[i] = ns_add(g, metric[i], ns_mul(g, c->radius, m[i]));
    for (int i = 0; i < 2; i++)
        right[i] = ns_v3_dot(g, v, ground->base[i]);
    solve2(g, m, right, rate);
    ns_contact_fit(g, c, metric, m, ns_div(g, ns_one(g), c->radius));
    if (turn) {
        ns_v3 n = ground->normal;
        ns_diff_along(g, n.at, 3, ground->symbol, rate, 2, turn->at);
    }
}

/* F(x) = 0: on the plane orthogonal to n the inverse of S = 1 + r D_g is v -> -n x S(n x
 * v)/det, and n x v = r omega_t. */
static void roll_on_implicit(ns_graph *g, ns_contact *c, ns_v3 omega, ns_v3 *along, ns_v3 *turn)
{
    const ns_side *ground = &c->ground;
    ns_v3 n = ground->normal;
    ns_ex weight = ns_mul(g, c->radius, ground->kappa), over = ns_div(g, ns_one(g), c->radius);
    const ns_m3 *H = &ground->H;
    bool round = H->at[0][0] == H->at[1][1] && H->at[0][0] == H->at[2][2] &&
                 ns_graph_is_zero(g, H->at[0][1]) && ns_graph_is_zero(g, H->at[0][2]) &&
                 ns_graph_is_zero(g, H->at[1][2]);
    if (round) {
        ns_ex size = ns_add(g, ns_one(g), ns_mul(g, weight, H->at[0][0]));
        ns_ex speed = ns_div(g, c->radius, size);
        *along = ns_v3_scale(g, speed, ns_v3_cross(g, omega, n));
        c->regular = ns_powi(g, ns_mul(g, over, size), 2);
        c->fit = ns_mul(g, ns_number(g, 2), ns_mul(g, over, size));
        if (turn)
            *turn = ns_v3_scale(g, ns_mul(g, ground->kappa, H->at[0][0]), *along);
        return;
    }
    ns_m3 S = ns_m3_scale(g, weight, *H);
    for (int i = 0; i < 3; i++)
        S.at[i][i] = ns_add(g, ns_one(g), S.at[i][i]);
    ns_v3 omega_t = ns_v3_sub(g, omega, ns_v3_scale(g, ns_v3_dot(g, n, omega), n));
    ns_ex det = ns_m3_adjugate_form(g, S, n, n);
    ns_v3 v = ns_v3_cross(g, ns_m3_apply(g, S, omega_t), n);
    *along = ns_v3_scale(g, ns_div(g, c->radius, det), v);
    ns_ex trace = ns_add(g, ns_add(g, S.at[0][0], S.at[1][1]), S.at[2][2]);
    trace = ns_sub(g, trace, ns_v3_dot(g, n, ns_m3_apply(g, S, n)));
    c->regular = ns_mul(g, ns_powi(g, over, 2), det);
    c->fit = ns_mul(g, over, trace);
    if (turn) {
        ns_v3 bent = ns_m3_apply(g, *H, *along);
        bent = ns_v3_sub(g, bent, ns_v3_scale(g, ns_v3_dot(g, n, bent), n));
        *turn = ns_v3_scale(g, ground->kappa, bent);
    }
}

void ns_contact_ball_sweep(ns_graph *g, ns_contact *c, ns_v3 omega, ns_ex *rate, ns_v3 *along,
                           ns_v3 *turn)
{
    const ns_side *ground = &c->ground;
    ns_v3 way = {{0}};
    if (c->moving)
        omega = ns_m3_apply_transposed(g, c->B, omega);
    if (ground->kind == NS_SIDE_IMPLICIT) {
        roll_on_implicit(g, c, omega, &way, turn);
        for (int i = 0; i < 3; i++)
            rate[i] = way.at[i];
    } else {
        (ground->kind == NS_SIDE_GRAPH ? roll_on_graph : roll_on_chart)(g, c, omega, rate,
                                                                        turn);
        for (int a = 0; a < 2; a++) {
            ns_v3 part = ns_v3_scale(g, rate[a], ground->base[a]);
            way = a ? ns_v3_add(g, way, part) : part;
        }
    }
    if (along)
        *along = way;
}

static ns_v3 to_space(ns_graph *g, const ns_contact *c, ns_v3 v)
{
    return c->moving ? ns_m3_apply(g, c->B, v) : v;
}

/* q' = (0, omega) q/2 */
static void quaternion_rate(ns_graph *g, const ns_ex quat[4], ns_v3 omega, ns_ex rate[4])
{
    ns_ex half = ns_number(g, 0.5);
    ns_v3 v = ns_v3_make(quat[1], quat[2], quat[3]), cross = ns_v3_cross(g, omega, v);
    rate[0] = ns_neg(g, ns_mul(g, half, ns_v3_dot(g, omega, v)));
    for (int i = 0; i < 3; i++)
        rate[i + 1] = ns_mul(g, half, ns_add(g, ns_mul(g, omega.at[i], quat[0]), cross.at[i]));
}

void ns_contact_ball_kinematics(ns_graph *g, ns_contact *c)
{
    ns_v3 omega = c->omega_space, along;
    c->A = ns_m3_rotation(g, c->quat);
    c->C = c->moving ? ns_m3_mul(g, ns_m3_transpose(c->B), c->A) : c->A;
    c->Omega = ns_m3_apply_transposed(g, c->A, omega);
    c->normal = to_space(g, c, c->ground.normal);
    ns_v3 relative = c->moving ? ns_v3_sub(g, omega, c->W) : omega;
    c->omega = c->moving ? ns_m3_apply_transposed(g, c->A, relative) : c->Omega;
    ns_contact_ball_sweep(g, c, relative, c->ground_rate, &along, &c->normal_rate);
    along = to_space(g, c, along);
    c->normal_rate = to_space(g, c, c->normal_rate);
    if (c->moving)
        c->normal_rate = ns_v3_add(g, c->normal_rate, ns_v3_cross(g, c->W, c->normal));
    quaternion_rate(g, c->quat, omega, c->quat_rate);
    ns_v3 swing = ns_v3_scale(g, c->radius, ns_v3_cross(g, omega, c->normal));
    c->point = to_space(g, c, c->ground.point);
    c->velocity = swing;
    c->carried = ns_v3_zero(g);
    if (c->moving) {
        ns_v3 arm = c->point, wind = ns_v3_cross(g, c->W, arm);
        ns_v3 moved = ns_v3_cross(g, c->W, ns_v3_add(g, wind, along));
        c->carried = ns_v3_add(g, c->o2, ns_v3_add(g, ns_v3_cross(g, c->W1, arm), moved));
        c->velocity = ns_v3_add(g, swing, ns_v3_add(g, c->o1, wind));
        c->point = ns_v3_add(g, c->o, arm);
    }
    c->com = ns_v3_add(g, c->point, ns_v3_scale(g, c->radius, c->normal));
    /* seen from the body */
    c->gamma = ns_m3_apply_transposed(g, c->A, c->normal);
    c->vertical = ns_v3_make(c->A.at[2][0], c->A.at[2][1], c->A.at[2][2]);
    c->s = ns_v3_neg(g, ns_v3_scale(g, c->radius, c->gamma));
    c->s_rate = ns_m3_apply_transposed(g, c->A, along);
    for (int i = 0; i < 3; i++)
        c->side[i] = c->s.at[i];
    c->body.point = c->s;
    c->body.normal = ns_v3_neg(g, c->gamma);
    c->body.kappa = ns_div(g, ns_one(g), c->radius);
    c->body.H = ns_m3_identity(g);
    c->body.residual = 0;
}

void ns_contact_ball_dynamics(ns_graph *g, ns_contact *c)
{
    ns_v3 omega = c->omega_space, n = c->normal;
    ns_ex m = c->mass, r = c->radius, J = c->inertia.at[0][0], one = ns_one(g);
    ns_ex own = ns_mul(g, m, ns_powi(g, r, 2)), about = ns_add(g, J, own);
    ns_ex share = ns_div(g, own, about); /* 5/7 of a uniform ball */
    bool loaded = !ns_v3_is_zero(g, c->force), turned = !ns_v3_is_zero(g, c->torque);
    /* what pushes the centre, per mass: g e + a - f/m */
    ns_v3 push = ns_v3_scale(g, c->gravity, ns_v3_unit(g, 2));
    push = ns_v3_add(g, push, c->carried);
    if (loaded)
        push = ns_v3_sub(g, push, ns_v3_scale(g, ns_div(g, one, m), c->force));
    ns_ex spin = ns_v3_dot(g, n, omega);
    ns_v3 rate = ns_v3_scale(g, ns_mul(g, share, spin), c->normal_rate);
    ns_v3 pull = ns_v3_scale(g, ns_div(g, share, r), ns_v3_cross(g, push, n));
    rate = ns_v3_add(g, rate, pull);
    if (turned) {
        ns_v3 T = ns_m3_apply(g, c->A, c->torque);
        ns_ex along = ns_mul(g, ns_div(g, share, J), ns_v3_dot(g, n, T));
        rate = ns_v3_add(g, rate, ns_v3_scale(g, along, n));
        rate = ns_v3_add(g, rate, ns_v3_scale(g, ns_div(g, one, about), T));
    }
    c->omega_space_rate = rate;
    c->Omega_rate = ns_m3_apply_transposed(g, c->A, rate);

    /* R/m = r (omega' x n + omega x n') + push */
    ns_v3 swing = ns_v3_add(g, ns_v3_cross(g, rate, n), ns_v3_cross(g, omega, c->normal_rate));
    c->force_space = ns_v3_scale(g, m, ns_v3_add(g, ns_v3_scale(g, r, swing), push));
    c->reaction = ns_m3_apply_transposed(g, c->A, c->force_space);
    ns_ex bends = ns_v3_dot(g, omega, ns_v3_cross(g, c->normal_rate, n));
    c->normal_force = ns_mul(g, m, ns_add(g, ns_mul(g, r, bends), ns_v3_dot(g, push, n)));
    c->friction = ns_v3_norm(g,
                             ns_v3_sub(g, c->force_space, ns_v3_scale(g, c->normal_force, n)));
    /* inertia about the contact point, body frame */
    ns_ex turns = ns_mul(g, J, ns_v3_dot(g, omega, omega));
    c->kinetic = ns_mul(g, ns_number(g, 0.5),
                        ns_add(g, turns, ns_mul(g, m, ns_v3_dot(g, c->velocity, c->velocity))));
    c->energy = ns_add(g, c->kinetic, ns_mul(g, ns_mul(g, m, c->gravity), c->com.at[2]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            ns_ex product = ns_mul(g, c->s.at[i], c->s.at[j]);
            ns_ex part = ns_neg(g, ns_mul(g, m, product));
            c->about_contact.at[i][j] = i == j ? ns_add(g, about, part) : part;
        }
}
