/* Moving energies (Fassò and Sansonetto 2016).
 *
 * With affine constraints a^s(q).q' + b^s(q) = 0 the forces R of the constraints do work at the
 * rate R.q', and E is not conserved.  Let Z be a field on the coordinates whose lift leaves L
 * as it is and that satisfies the constraints, a^s.Z + b^s = 0.  Since
 *
 *     E' = R.q',    d/dt (pi.Z) = Z[L] + R.Z = R.Z,    pi = dL/dq',
 *
 * and R vanishes on q' - Z, which the homogeneous constraints allow, E - pi.Z is constant: on a
 * table that turns, the energy less the rate of turning times the momentum about its axis. */
#ifndef NS_MECH_MOVING_H
#define NS_MECH_MOVING_H

#include "mech/system.h"

/* Looks for Z among the fields B q + c that leave the Lagrangian of the description invariant,
 * for p constraints with rows A[p][n] and terms b[p] without velocities.  If there is one,
 * adds the invariant and value energy.moving and a fact; `energy` and pi[n] are in states. */
void ns_moving_energy(ns_system *s, const ns_description *d, uint32_t p, const ns_ex *A,
                      const ns_ex *b, ns_ex energy, const ns_ex *pi);

#endif
