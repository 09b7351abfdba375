/* Cartan's quartic: is a distribution with the growth vector (2, 3, 5) as symmetric as can be?
 *
 * Two fields X_1, X_2 in five dimensions with X_3 = [X_1, X_2], X_4 = [X_1, X_3] and
 * X_5 = [X_2, X_3] independent have local invariants; the first is a form of the fourth degree
 * on the distribution (Cartan 1910).  It vanishes if and only if the distribution is locally
 * that of  z' = (y'')^2,  whose symmetries are the exceptional group G2 of 14 dimensions.  Two
 * balls that roll without slip and twist have it if their radii are as 3 to 1, and then only
 * (Agrachev 2007, Bor and Montgomery 2009).
 *
 * It is found along abnormal extremals (Zelenko 2006).  With h_i = <p, X_i> these are the
 * curves of C, the field of the Hamiltonian h_4 h_2 - h_5 h_1, on the surface
 * h_1 = h_2 = h_3 = 0 of the cotangent bundle.  Let v be its vertical field with
 *
 *     v(h_4) = -h_5/(h_4^2 + h_5^2),     v(h_5) = h_4/(h_4^2 + h_5^2),
 *
 * and E = p d/dp.  Then w_k = (ad C)^k v obey modulo C and E
 *
 *     w_4 = c_0 w_0 + c_1 w_1 + c_2 w_2,     c_1 = c_2',
 *     w_5 = c_0' w_0 + (c_0 + c_1') w_1 + 2 c_1 w_2 + c_2 w_3,
 *
 * an equation of the fourth order that is its own adjoint, and its invariant under changes of
 * the parameter (Wilczynski 1906, (II.4)) is the quartic in (h_4, h_5):
 *
 *     theta = -c_0 + (3/10) c_1' - (9/100) c_2^2. */
#ifndef NS_STUDY_CONTROL_CARTAN_H
#define NS_STUDY_CONTROL_CARTAN_H

#include "study/flow.h"

enum { NS_CARTAN_N = 5 };

typedef struct ns_cartan {
    double form[5]; /* of h_4^4, h_4^3 h_5, ..., h_5^4 at the first point */
    double size;    /* largest |theta| over the size of its terms, at all points */
    double off;     /* by how much the equations above are violated, in the same units */
    bool flat;      /* the quartic vanishes: G2 */
} ns_cartan;

/* At points x[points][states], of a distribution in the coordinates q with the fields X_1 ...
 * X_5, whose components are like `scale`.  NULL if they are dependent there, or rounding leaves
 * no answer. */
const ns_cartan *ns_cartan_quartic(ns_arena *arena, ns_flow *flow, const ns_ex *q,
                                   const ns_ex *const X[NS_CARTAN_N], const double *scale,
                                   uint32_t points, const double *x);

#endif
