/* Nonlinear stability of a steady motion, as far as it follows from the linear terms, conserved
 * quantities and reversibility.
 *
 * On the quotient by the symmetries the steady motion is a point y0 with the linear part M
 * (study/steady/linear.h).  "Stable" is meant there: up to the symmetries.
 *   - First method (Lyapunov): a growing mode makes it unstable; if all decay, it attracts.
 *   - Lyapunov and Malkin: y0 is one of an f-dimensional manifold of steady motions, zero is an
 *     f-fold eigenvalue with f eigenvectors, and all others decay.  Then y0 is stable and every
 *     motion nearby tends to a member of the family; on a level of conserved quantities that
 *     tell the members apart y0 itself attracts.
 *   - Energy and momentum: F_i are conserved.  If sum lambda_i F_i is critical at y0 and its
 *     second variation is definite on the tangent space of the level of all F_i, then
 *     sum lambda_i F_i + K sum (F_i - F_i(y0))^2 is a Lyapunov function for large K (or minus
 *     it): stable.  If other modes decay, the same is asked on the centre manifold only, which
 *     decides by Pliss' reduction principle.
 *   - Reversible: a map S that reverses time leaves y0, its family (dimension f) and f + 1
 *     directions where they are, and the two others oscillate.  Motions near y0 turn about the
 *     family and meet the set that S leaves fixed, a hypersurface, twice a turn: they are
 *     periodic, and y0 is stable (Bloch, Marsden and Zenkov 2009, section 6.3).
 * Sources: Zenkov, Bloch and Marsden 1998; Malkin 1938; Pliss 1964. */
#ifndef NS_STUDY_STEADY_STABILITY_H
#define NS_STUDY_STEADY_STABILITY_H

#include "study/steady/conserved.h"
#include "study/steady/equilibria.h"

typedef enum ns_stability_kind {
    NS_STABILITY_UNDECIDED,
    NS_STABILITY_UNSTABLE,
    NS_STABILITY_STABLE,   /* nothing more is known, or nothing tends to it */
    NS_STABILITY_ATTRACTS, /* stable, and motions nearby tend to it or to its family */
} ns_stability_kind;

typedef struct ns_stability {
    ns_stability_kind kind;
    const char *method; /* "Lyapunov-Malkin", ... */
    const char *text;   /* the verdict in a sentence */
    const char *leaf;   /* what is said on a level of conserved quantities; "" if nothing */
    uint32_t family;    /* dimension of the manifold of steady motions, if it is one */
    bool is_manifold;   /* neighbours were found in all its directions */
    uint32_t told;      /* of them this many are told apart by conserved quantities */
    uint32_t centre;    /* dimension of the centre manifold, the family included */
    double least;       /* of the definite second variation: smallest over largest eigenvalue */
    const ns_conserved *conserved;
} ns_stability;

const char *ns_stability_word(ns_stability_kind kind);

/* Of a point that ns_steady_find_all has found.  In the arena of q. */
const ns_stability *ns_stability_at(ns_steady *q, const ns_steady_point *point);

#endif
