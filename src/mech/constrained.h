/* For the files of the formulation `constrained`: bodies, particles and what derivation leaves
 * behind for checks. */
#ifndef NS_MECH_CONSTRAINED_H
#define NS_MECH_CONSTRAINED_H

#include "mech/dalembert.h"
#include "mech/vec3.h"

typedef struct ns_member {
    const char *name;
    const ns_block *block;
    bool is_body;
    uint32_t first; /* its first coordinate: position, then the quaternion of a body */
    ns_v3 position, velocity; /* coordinates and their derivatives */
    ns_ex quat[4], quat_rate[4];
    ns_m3 A;     /* body to space */
    ns_v3 omega; /* body frame */
    ns_ex mass;
    ns_v3 com; /* centre of mass from the body's origin, body frame */
    ns_v3 com_space, com_velocity;
    ns_m3 inertia;
} ns_member;

typedef struct ns_constrained {
    NS_LIST(ns_member) members;
    NS_LIST(ns_constraint_line)
    rows; /* all constraints: the user's, joints, unit quaternions */
    NS_LIST(ns_force_line) forces;
    ns_ex lagrangian;
    ns_dalembert eq;
    ns_ex gravity;
    ns_ex energy_level; /* state that holds the start's energy, for `keep energy`; else 0 */
    ns_ex *acceleration, *multiplier;
} ns_constrained;

/* constrained_joints.c: rows of a ready-made constraint (block `constraint` with a kind), labels,
 * springs, forces on points. */
bool ns_constrained_joints(ns_description *d, ns_constrained *c);

/* constrained_solve.c: accelerations and multipliers from M, Q, A, b by the route the model asks
 * for; ranks at a state. */
bool ns_constrained_solve(ns_description *d, ns_system *s, ns_constrained *c);
bool ns_constrained_verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                           const double *x);

/* A row of the constraints. */
void ns_constrained_row(ns_description *d, ns_constrained *c, const char *name, ns_ex residual,
                        ns_span span);

#endif
