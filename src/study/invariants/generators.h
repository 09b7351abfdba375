/* Symmetries of a system that act on its states by affine maps: shifts of cyclic coordinates,
 * turns of the ground, spins of a body about an axis of symmetry, and what couples them.
 *
 * They are found, not declared.  A field xi(x) = A x + b is a symmetry if it commutes with the
 * equations, is tangent to the manifold and keeps the energy:
 *
 *     Df(x) xi(x) - A f(x) = 0,    G(x) xi(x) = 0,    dE(x) xi(x) = 0    for all x,
 *
 * linear equations for (A, b), posed at random states near the start; their null space is the
 * Lie algebra.  A couples only states of one kind (components of one vector or quaternion,
 * coordinates, velocities), which keeps out the motion itself where that is linear. */
#ifndef NS_STUDY_INVARIANTS_GENERATORS_H
#define NS_STUDY_INVARIANTS_GENERATORS_H

#include "study/flow.h"

typedef struct ns_generators {
    uint32_t n, count;
    double *A;         /* [count][n][n] */
    double *b;         /* [count][n] */
    const char **name; /* in words: "shift of x", "turn of quat, contact" */
    /* Where time enters the equations: the field xi_0 = A0 x + b0 with f(t + s, exp(s xi_0) x)
     * = D exp(s xi_0) f(t, x), as on a ground that turns uniformly.  Seen from a frame that
     * moves along with it the equations are f - xi_0, without time.  NULL: time does not enter,
     * or not so. */
    double *A0, *b0;
    double margin; /* smallest singular value that does not belong to a symmetry, over the
                          largest that does */
} ns_generators;

ns_generators *ns_generators_find(ns_flow *field, const double *x);
/* Looks for A0 and b0 as well; of the symmetries only those are kept that commute with it.
 * False if there is none. */
bool ns_generators_find_time(ns_flow *field, const double *x, ns_generators *g);

/* xi[count][n] at a state, by rows. */
void ns_generators_at(const ns_generators *g, const double *x, double *xi);
/* Does symmetry k leave x where it is, but for rounding?  Then no direction at x is along it,
 * and a speed along it means nothing. */
bool ns_generators_rests(const ns_flow *field, const ns_generators *g, uint32_t k,
                         const double *x);

#endif
