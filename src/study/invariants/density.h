/* Invariant densities of chosen variables, for any system.
 *
 * rho is invariant if  (log rho)' + div = 0  along the motion, div being the rate of growth of
 * the volume on the manifold (study/invariants/measure.h).  If rho depends on variables y of
 * the configuration alone, then at every configuration  div + h.y' = 0  for all velocities,
 * with one h = d log rho/dy: linear equations for h, and what they leave of div excludes a
 * density (`pointwise`).  Then two searches, both linear, at states all over the manifold:
 *
 *   log rho = sum a_k psi_k     psi_k the products of the variables up to a degree: least
 *                               squares.  What is left of
 *                               div, relative to it, for each degree: it falls to rounding
 *                               errors or as the degree grows if there is such a density, and
 *                               stays if there is none;
 *   rho = P^kappa, P = sum a_k psi_k, for simple kappa:  kappa P' + div P = 0  by singular
 *   values, as integrals
 *                               are found (study/invariants/integrals.h): closed forms. */
#ifndef NS_STUDY_INVARIANTS_DENSITY_H
#define NS_STUDY_INVARIANTS_DENSITY_H

#include "study/invariants/integrals.h"
#include "study/invariants/measure.h"

enum { NS_DENSITY_DEGREES = 9 };

typedef struct ns_density {
    uint32_t variables;
    const ns_atom *variable; /* [variables] */
    uint32_t degree;         /* of the largest fit */
    uint32_t states;
    double divergence; /* root mean square over the states */
    double pointwise;  /* largest part of div that no h meets at one configuration; nan if the
                         variables contain velocities */
    double left[NS_DENSITY_DEGREES]; /* of it after the fit of each degree 0 .. degree, at other
                                             states than those of the fit */
    uint32_t functions[NS_DENSITY_DEGREES];
    /* rho = P^(above/below) */
    bool closed;
    int above, below;
    const ns_integral *P; /* coefficients, text, verification as for integrals */
    double margin;        /* between the singular values of P and of the next function */
    double sigma[2];      /* these, relative to the root mean square of div */
    bool vanishing;       /* P changes its sign: the density is singular there */
    const char *text;     /* rho in the model language */
    const char *verdict;  /* in words */
    bool exists, none;    /* decided, one way or the other */
} ns_density;

/* degree 0: chosen.  NULL if no states were found or it was stopped: *message says why. */
ns_density *ns_density_search(ns_flow *flow, const ns_family *variables, ns_ex divergence,
                              uint32_t degree, const ns_integrals_options *o, const double *x0,
                              const char **message);

/* What all that was found says about invariant measures, in words; d may be NULL. */
const char *ns_density_conclusion(const ns_measure *m, const ns_density *d);

#endif
