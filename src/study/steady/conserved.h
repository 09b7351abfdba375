/* Conserved quantities near a steady motion, with their first two derivatives there.
 *
 * Taken are the energy, the model's invariants, and for models with a symmetry the momentum
 * integrals <p, eta(r)> of (4.12) of Bloch, Marsden and Zenkov 2009.  Of those eta is known by
 * its series near r0,
 *
 *     eta = eta0 - T_i eta0 d_i + (T_i T_j - d_j T_i) eta0 d_i d_j/2,      d = r - r0,
 *
 * which has the right derivatives of the first and second order at r0; that such an integral
 * exists is decided by study/invariants/momentum.h.  Kept are those that stay the same along
 * the symmetries: functions on the quotient, where the steady motion is a point. */
#ifndef NS_STUDY_STEADY_CONSERVED_H
#define NS_STUDY_STEADY_CONSERVED_H

#include "study/invariants/generators.h"
#include "study/invariants/momentum.h"

typedef struct ns_conserved {
    ns_flow *field;
    uint32_t n;                  /* functions */
    const char **name;           /* [n] */
    double *unit;                /* [n] length of the differential on the tangent space, or 1 */
    const ns_momentum *momentum; /* NULL without a symmetry, or if nothing is known of it */
    uint32_t rows;               /* constraints of the manifold */
    ns_flow_program *jet;        /* first, then second derivatives of functions and rows */
} ns_conserved;

/* At the state x of a steady motion.  In the field's arena. */
ns_conserved *ns_conserved_at(ns_flow *field, const ns_generators *g, const double *x);

/* D[n][r]: differentials along the rows of B[r][states]. */
void ns_conserved_differentials(const ns_conserved *q, const double *x, uint32_t r,
                                const double *B, double *D);

/* Second variation of sum_i lambda_i F_i on the manifold, at a critical point x of it:
 * H[r][r] = (D^2 F - mu_j D^2 C_j)(B, B) with dF = mu_j dC_j. */
void ns_conserved_second(const ns_conserved *q, const double *x, const double *lambda,
                         uint32_t r, const double *B, double *H);

#endif
