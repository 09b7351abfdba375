/* Onset of slip and impact; letters and frames as in meet.c.
 *
 * Onset of slip (and slip at an impact).  F = (T, N) keeps the contact; the tangential part is
 * outside of the cone mu N.  Slip with acceleration lambda e, lambda > 0, under the friction
 * -mu N_e e:   N_e (n - mu e) - F = lambda W e,  in the tangent plane and along n, w = W n:
 *
 *     T + mu (N + lambda w.e) e + lambda W e = 0
 *     e:       lambda = -(T.e + mu N)/(e.We + mu w.e)
 *     across:  f = T.e' + lambda e'.We = 0,    e' = n x e
 *
 * one equation for the angle of e, by Newton's iteration from e = -T/|T|, which is the answer
 * where lambda = 0 (static = kinetic) or W is isotropic.
 *
 * Impact (Moreau 1988; Glocker 2001).  V+ = V- + G P, n.V+ = -e_n n.V-; Coulomb's law for the
 * impulse and u+ + e_t u-: the impulse that makes that zero, if it is inside the cone,
 * otherwise
 * slip as above with velocities in the place of accelerations.  Poisson's law (Pfeiffer and
 * Glocker 1996) in two phases: compression, n.V = 0 at its end, with the impulse P; then the
 * normal impulse L = e n.P, and T with slip u + G_tt T, u what L alone would leave: the same
 * equations with W = G_tt^-1, w = 0, N = L.  Work: P.(V- + V+)/2 with the whole impulse. */
#include <string.h>

#include "expr/diff.h"
#include "mech/contact/meet_internal.h"

/* G F, body frame. */
ns_v3 ns_meet_yields(ns_graph *g, const ns_meet *w, ns_v3 force)
{
    const ns_contact *c = w->c;
    ns_v3 turn = ns_m3_apply(g, w->inverse, ns_v3_cross(g, c->s, force));
    ns_v3 push = ns_v3_scale(g, ns_div(g, ns_one(g), c->mass), force);
    return ns_v3_add(g, push, ns_v3_cross(g, turn, c->s));
}

/* W a, body frame. */
static ns_v3 resists(ns_graph *g, const ns_meet *w, ns_v3 a)
{
    const ns_contact *c = w->c;
    ns_v3 moment = ns_v3_scale(g, c->mass, ns_v3_cross(g, c->s, a));
    ns_v3 turn = ns_m3_solve_symmetric(g, c->about_contact, moment);
    ns_v3 rest = ns_v3_sub(g, a, ns_v3_cross(g, turn, c->s));
    return ns_v3_scale(g, c->mass, rest);
}

/* G^-1 a where loads answer the force of the contact. */
static ns_v3 resists_loaded(ns_graph *g, const ns_meet *w, ns_v3 a)
{
    const ns_contact *c = w->c;
    const uint32_t n = w->n_reactions;
    ns_ex K[9], x[3], load[6], slope[6 * 4];
    if (n == 0)
        return resists(g, w, a);
    memcpy(load, c->force.at, sizeof c->force.at);
    memcpy(load + 3, c->torque.at, sizeof c->torque.at);
    ns_diff_jacobian(g, load, 6, w->reaction, n, slope);
    for (int j = 0; j < 3; j++) { /* by the component j of F in the body frame */
        ns_v3 push = ns_v3_zero(g), turn = push, own = ns_meet_yields(g, w, ns_v3_unit(g, j));
        for (uint32_t k = 0; k < n; k++) {
            ns_ex by = k ? c->A.at[k - 1][j] : c->gamma.at[j];
            for (uint32_t i = 0; i < 3; i++) {
                push.at[i] = ns_add(g, push.at[i], ns_mul(g, slope[i * n + k], by));
                turn.at[i] = ns_add(g, turn.at[i], ns_mul(g, slope[(i + 3) * n + k], by));
            }
        }
        push = ns_m3_apply_transposed(g, c->A, push);
        push = ns_v3_scale(g, ns_div(g, ns_one(g), c->mass), push);
        turn = ns_v3_cross(g, ns_m3_apply(g, w->inverse, turn), c->s);
        own = ns_v3_add(g, own, ns_v3_add(g, push, turn));
        for (int i = 0; i < 3; i++)
            K[3 * i + j] = own.at[i];
    }
    ns_solve(g, 3, K, a.at, x);
    return ns_v3_make(x[0], x[1], x[2]);
}

static ns_meet_plane plane_of(ns_graph *g, const ns_meet *w, bool loaded)
{
    ns_meet_plane q = {0};
    ns_v3_tangents(g, w->c->gamma, q.base);
    for (int a = 0; a < 2; a++) {
        ns_v3 force = (loaded ? resists_loaded : resists)(g, w, q.base[a]);
        for (int b = 0; b < 2; b++)
            q.W[b][a] = ns_v3_dot(g, q.base[b], force);
        q.w[a] = ns_v3_dot(g, w->c->gamma, force);
    }
    if (!loaded || w->n_reactions == 0)
        q.W[0][1] = q.W[1][0]; /* symmetric: one node */
    return q;
}

static ns_ex dot2(ns_graph *g, const ns_ex a[2], const ns_ex b[2])
{
    return ns_add(g, ns_mul(g, a[0], b[0]), ns_mul(g, a[1], b[1]));
}

static void unit2(ns_graph *g, ns_ex e[2])
{
    ns_ex length = ns_sqrt(g, dot2(g, e, e));
    e[0] = ns_div(g, e[0], length);
    e[1] = ns_div(g, e[1], length);
}

ns_ex ns_meet_slip_way(ns_graph *g, const ns_meet_plane *q, const ns_ex T[2], ns_ex N, ns_ex mu,
                       ns_ex e[2])
{
    enum { ROUNDS = 7 };
    ns_ex lambda = 0, zero = ns_zero(g);
    e[0] = ns_neg(g, ns_add(g, T[0], ns_number(g, 1e-140))); /* a direction in any case */
    e[1] = ns_neg(g, T[1]);
    unit2(g, e);
    for (int k = 0; k <= ROUNDS; k++) {
        ns_ex side[2] = {ns_neg(g, e[1]), e[0]}, We[2], Ws[2];
        for (int i = 0; i < 2; i++) {
            We[i] = ns_add(g, ns_mul(g, q->W[i][0], e[0]), ns_mul(g, q->W[i][1], e[1]));
            Ws[i] = ns_add(g, ns_mul(g, q->W[i][0], side[0]), ns_mul(g, q->W[i][1], side[1]));
        }
        ns_ex a = dot2(g, T, e), b = dot2(g, T, side);
        ns_ex first = dot2(g, e, We), mixed = dot2(g, side, We), last = dot2(g, side, Ws);
        ns_ex under = ns_add(g, first, ns_mul(g, mu, dot2(g, q->w, e)));
        ns_ex excess = ns_neg(g, ns_add(g, a, ns_mul(g, mu, N)));
        lambda = ns_apply(g, NS_OP_MAX, zero, ns_div(g, excess, under));
        if (k == ROUNDS)
            break;
        ns_ex both = q->W[0][1] == q->W[1][0] ? ns_mul(g, ns_number(g, 2), mixed)
                                              : ns_add(g, mixed, dot2(g, e, Ws));
        ns_ex bends = ns_add(g, both, ns_mul(g, mu, dot2(g, q->w, side)));
        ns_ex change = ns_neg(g, ns_div(g, ns_add(g, b, ns_mul(g, lambda, bends)), under));
        ns_ex f = ns_add(g, b, ns_mul(g, lambda, mixed));
        ns_ex slope = ns_add(g, ns_mul(g, change, mixed),
                             ns_mul(g, lambda, ns_sub(g, last, first)));
        slope = ns_add(g, ns_sub(g, slope, a), ns_number(g, 1e-150));
        ns_ex step = ns_neg(g, ns_div(g, f, slope));
        for (int i = 0; i < 2; i++)
            side[i] = ns_add(g, e[i], ns_mul(g, step, side[i]));
        unit2(g, side);
        e[0] = side[0];
        e[1] = side[1];
    }
    return lambda;
}

static ns_v3 from_plane(ns_graph *g, const ns_meet_plane *q, const ns_ex e[2])
{
    return ns_v3_add(g, ns_v3_scale(g, e[0], q->base[0]), ns_v3_scale(g, e[1], q->base[1]));
}

void ns_meet_onset(ns_graph *g, ns_meet *w)
{
    const ns_contact *c = w->c;
    const ns_law *law = w->law;
    const ns_meet_force *f = &w->in[NS_MEET_ROLL];
    const ns_meet_plane q = plane_of(g, w, true);
    ns_ex T[2] = {ns_v3_dot(g, q.base[0], f->force), ns_v3_dot(g, q.base[1], f->force)}, e[2];
    ns_meet_slip_way(g, &q, T, f->normal, law->moving, e);
    w->onset = ns_m3_apply(g, c->C, from_plane(g, &q, e));
    ns_ex limit = ns_mul(g, law->fixed, f->normal);
    w->margin = ns_sub(g, ns_powi(g, limit, 2), dot2(g, T, T));
}

/* The state after an impulse, body frame. */
static ns_meet_impact after(ns_graph *g, const ns_meet *w, ns_v3 impulse)
{
    const ns_contact *c = w->c;
    ns_meet_impact out;
    ns_v3 push = ns_m3_apply(g, c->A, impulse);
    push = ns_v3_scale(g, ns_div(g, ns_one(g), c->mass), push);
    out.velocity = ns_v3_add(g, c->velocity, push);
    ns_v3 turn = ns_m3_apply(g, w->inverse, ns_v3_cross(g, c->s, impulse));
    out.Omega = ns_v3_add(g, c->Omega, turn);
    ns_v3 before = ns_m3_apply_transposed(g, c->C, w->relative),
          change = ns_meet_yields(g, w, impulse);
    ns_v3 mean = ns_v3_add(g, before, ns_v3_scale(g, ns_number(g, 0.5), change));
    out.work = ns_v3_dot(g, impulse, mean);
    ns_v3 now = ns_m3_apply(g, c->C, ns_v3_add(g, before, change));
    out.slip = ns_meet_along(g, now, c->ground.normal);
    out.slips = ns_one(g);
    return out;
}

/* The impulse P that fits Coulomb's law: it sticks with the impulse (T, N) = `held`, or slips.
 * slips: 1 or 0. */
static ns_v3 within_cone(ns_graph *g, const ns_meet *w, const ns_meet_plane *q, ns_v3 held,
                         ns_ex *slips)
{
    const ns_contact *c = w->c;
    ns_ex mu = w->law->moving, N = ns_v3_dot(g, c->gamma, held), limit = ns_mul(g, mu, N), e[2];
    ns_ex T[2] = {ns_v3_dot(g, q->base[0], held), ns_v3_dot(g, q->base[1], held)};
    ns_ex lambda = ns_meet_slip_way(g, q, T, N, mu, e);
    ns_ex room = ns_sub(g, ns_powi(g, limit, 2), dot2(g, T, T));
    ns_ex size = ns_add(g, N, ns_mul(g, lambda, dot2(g, q->w, e)));
    ns_v3 way = ns_v3_sub(g, c->gamma, ns_v3_scale(g, mu, from_plane(g, q, e)));
    ns_v3 slipping = ns_v3_scale(g, size, way);
    *slips = ns_step(g, ns_neg(g, room));
    return ns_v3_add(g, held, ns_v3_scale(g, *slips, ns_v3_sub(g, slipping, held)));
}

static bool no_friction(const ns_law *law)
{
    return law->friction == NS_FRICTION_NONE || law->friction == NS_FRICTION_VISCOUS;
}

/* Newton's law: n.V+ = -normal n.V-, u+ = -tangential u- if it sticks. */
static ns_v3 impulse(ns_graph *g, const ns_meet *w, ns_ex normal, ns_ex tangential,
                     ns_ex *slips)
{
    const ns_contact *c = w->c;
    const ns_law *law = w->law;
    ns_ex one = ns_one(g), change = ns_neg(g, ns_mul(g, ns_add(g, one, normal), w->approach));
    *slips = one;
    if (no_friction(law)) {
        ns_ex size = ns_div(g, change, ns_v3_dot(g, c->gamma, ns_meet_yields(g, w, c->gamma)));
        return ns_v3_scale(g, size, c->gamma);
    }
    /* the impulse that sticks */
    ns_ex back = ns_neg(g, ns_add(g, one, tangential));
    ns_v3 along = ns_v3_scale(g, back, w->slip_body);
    ns_v3 wanted = ns_v3_add(g, along, ns_v3_scale(g, change, c->gamma));
    ns_v3 P = resists(g, w, wanted);
    if (law->friction == NS_FRICTION_IDEAL) {
        *slips = ns_zero(g);
        return P;
    }
    const ns_meet_plane q = plane_of(g, w, false);
    return within_cone(g, w, &q, P, slips);
}

/* Poisson's: the normal impulse L of restitution after that P of compression, which took the
 * approach away and left the slip u; friction by Coulomb's law again, for the given L. */
static ns_v3 expansion(ns_graph *g, const ns_meet *w, ns_v3 P, ns_ex normal, ns_ex *slips)
{
    const ns_contact *c = w->c;
    ns_v3 n = c->gamma, before = ns_m3_apply_transposed(g, c->C, w->relative);
    ns_ex L = ns_mul(g, normal, ns_v3_dot(g, n, P));
    if (no_friction(w->law))
        return ns_v3_scale(g, L, n);
    if (w->law->friction == NS_FRICTION_IDEAL) {
        ns_v3 straight = resists(g, w, n);
        return ns_v3_scale(g, ns_div(g, L, ns_v3_dot(g, n, straight)), straight);
    }
    ns_meet_plane q = {0}; /* W: inverse of G in the tangent plane */
    ns_v3 push = ns_v3_add(g, P, ns_v3_scale(g, L, n));
    ns_v3 u = ns_v3_add(g, before, ns_meet_yields(g, w, push));
    ns_v3_tangents(g, n, q.base);
    ns_ex G[2][2], slip[2], T[2];
    for (int a = 0; a < 2; a++) {
        ns_v3 moved = ns_meet_yields(g, w, q.base[a]);
        for (int b = 0; b < 2; b++)
            G[b][a] = ns_v3_dot(g, q.base[b], moved);
        slip[a] = ns_v3_dot(g, q.base[a], u);
        q.w[a] = ns_zero(g);
    }
    ns_ex det = ns_sub(g, ns_mul(g, G[0][0], G[1][1]), ns_mul(g, G[0][1], G[0][1]));
    q.W[0][0] = ns_div(g, G[1][1], det);
    q.W[1][1] = ns_div(g, G[0][0], det);
    q.W[0][1] = q.W[1][0] = ns_neg(g, ns_div(g, G[0][1], det));
    for (int a = 0; a < 2; a++)
        T[a] = ns_neg(g, dot2(g, q.W[a], slip));
    ns_v3 held = ns_v3_add(g, from_plane(g, &q, T), ns_v3_scale(g, L, n));
    return within_cone(g, w, &q, held, slips);
}

ns_meet_impact ns_meet_hit(ns_graph *g, const ns_meet *w, ns_ex normal, ns_ex tangential)
{
    const bool poisson = w->law->poisson && !ns_graph_is_zero(g, normal);
    ns_ex slips;
    ns_v3 P = impulse(g, w, poisson ? ns_zero(g) : normal, tangential, &slips);
    if (poisson)
        P = ns_v3_add(g, P, expansion(g, w, P, normal, &slips));
    ns_meet_impact out = after(g, w, P);
    out.slips = slips;
    return out;
}

ns_meet_impact ns_meet_catch(ns_graph *g, const ns_meet *w)
{
    return after(g, w, resists(g, w, ns_v3_neg(g, w->slip_body)));
}
