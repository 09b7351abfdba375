/* What is known about a rolling body without integrating: mass properties, and the classical
 * integrals with the conditions under which they hold.
 *
 * K = A (I + m(|s|^2 - s s^T)) Omega, the angular momentum about the contact point in space, is
 * constant for balls with the centre of mass at the centre, on a horizontal plane (homogeneous
 * balls, Chaplygin's ball).
 *
 * Bodies with a spherical surface, centre of mass on an axis of inertial symmetry (z), on a
 * horizontal plane (Jachnik 2011, section 5.2):
 *     Jellett   (I Omega).s
 *     Routh     Omega_3 sqrt( A C + m (A (s_1^2 + s_2^2) + C s_3^2) ),  I = diag(A, A, C)
 *
 * J of (16), the momentum of the Euclidean group of the plane, is not conserved in general: its
 * directions do not lie in the distribution (Patrick 2022, section 3). */
#include <string.h>

#include "mech/rolling/rolling.h"

static bool axial(const ns_graph *g, const ns_mass *mass)
{
    bool diagonal = true;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            diagonal = diagonal && (i == j || ns_graph_is_zero(g, mass->inertia.at[i][j]));
    return diagonal && mass->inertia.at[0][0] == mass->inertia.at[1][1] &&
           ns_graph_is_zero(g, mass->centre.at[0]) && ns_graph_is_zero(g, mass->centre.at[1]);
}

static void constants(ns_system *s, const ns_rolling *r)
{
    static const char *const entry[3][3] = {{"inertia.xx", "inertia.xy", "inertia.xz"},
                                            {NULL, "inertia.yy", "inertia.yz"},
                                            {NULL, NULL, "inertia.zz"}};
    static const char *const centre[3] = {"com.x", "com.y", "com.z"};
    ns_system_constant(s, "mass", r->mass.mass, "kg");
    for (int i = 0; i < 3; i++)
        ns_system_constant(s, centre[i], r->mass.centre.at[i], "m");
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            ns_system_constant(s, entry[i][j], r->mass.inertia.at[i][j], "kg m^2");
}

void ns_rolling_facts(ns_system *s, const ns_rolling *r)
{
    static const char *const momentum[3] = {"momentum.x", "momentum.y", "momentum.z"};
    ns_graph *g = s->graph;
    const ns_contact *c = &r->contact;
    constants(s, r);
    if (!s->conservative || c->moving || c->rubber)
        return;
    bool ball = r->body_block->kind && strcmp(r->body_block->kind, "sphere") == 0;
    bool centred = ns_v3_is_zero(g, r->mass.centre), round = ball && axial(g, &r->mass);
    ns_v3 M = ns_m3_apply(g, c->about_contact, c->Omega); /* about the contact, body frame */
    if (!c->reduced) {
        ns_v3 K = ns_m3_apply(g, c->A, M);
        for (int i = 0; i < 3; i++)
            ns_system_claim(s, momentum[i], K.at[i], ball && centred && r->ground.level,
                            "balls with the centre of mass at the centre, horizontal plane");
    }
    const ns_ex *v = c->s.at;
    ns_ex A = r->mass.inertia.at[0][0], C = r->mass.inertia.at[2][2];
    ns_ex across = ns_add(g, ns_powi(g, v[0], 2), ns_powi(g, v[1], 2));
    ns_ex sum = ns_add(g, ns_mul(g, A, across), ns_mul(g, C, ns_powi(g, v[2], 2)));
    ns_ex root = ns_sqrt(g, ns_add(g, ns_mul(g, A, C), ns_mul(g, c->mass, sum)));
    static const char *const where =
        "balls with an axis of inertial symmetry through the centre, horizontal plane";
    ns_system_claim(s, "jellett", ns_v3_dot(g, ns_m3_apply(g, r->mass.inertia, c->Omega), c->s),
                    round && r->ground.level, where);
    ns_system_claim(s, "routh", ns_mul(g, c->Omega.at[2], root), round && r->ground.level,
                    where);
    if (c->reduced)
        return;
    /* J of (16) for the rotation about the vertical through the origin */
    ns_v3 sweep = ns_m3_apply(g, c->A, ns_v3_cross(g, c->Omega, c->s));
    ns_v3 moment = ns_v3_scale(g, c->mass, ns_v3_cross(g, c->point, sweep));
    ns_v3 J = ns_v3_sub(g, ns_m3_apply(g, c->A, M), moment);
    ns_system_claim(s, "J.turn", J.at[2], false,
                    "no rolling body in general (Patrick 2022, after (16))");
}
