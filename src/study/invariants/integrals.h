/* Integrals of motion looked for in a family of functions, without being told a symmetry.
 *
 * A family is spanned by products of atoms: velocities (up to a degree), shape variables (up to
 * another), and single functions such as the energy.  At states x_s spread over the manifold
 * the values phi_k(x_s) and the exact rates phi_k'(x_s) = d phi_k(f) are computed.  With phi
 * made orthonormal over the states (phi = Q R; what depends on earlier ones is a relation on
 * the manifold and left out), the singular values of phi' R^-1 are root mean squares of I' for
 * functions I of variance one: rates, whatever the units of the basis.  Those that vanish
 * belong to integrals, and the ratio of the next to the last of them is the margin of the
 * decision.  docs/theory/integrals.md derives it. */
#ifndef NS_STUDY_INVARIANTS_INTEGRALS_H
#define NS_STUDY_INVARIANTS_INTEGRALS_H

#include "ode/run.h"
#include "study/flow.h"

/* ---- states spread over the manifold ----------------------------------------------------- */

/* The box that a run of the model visits, the same width for all components of a vector, wider
 * by a half; velocities at several scales.  States of it are moved to the manifold. */
typedef struct ns_sampler {
    ns_flow *flow;
    double t0, t1;
    double *middle, *width;    /* [n] */
    ns_flow_program *singular; /* quantities that mark singularities; NULL if there are none */
    double *sign, *now;        /* of them at the start */
    double *x, *target;        /* [n] */
    double *first, *last;      /* [n] the start, the last state */
    uint64_t seed;
    uint32_t refused;
} ns_sampler;

/* NULL if the run cannot begin: *message says why.  Leaves flow->t as it is. */
ns_sampler *ns_sampler_new(ns_flow *flow, const ns_run_options *run, const double *x0,
                           const char **message);
/* The next state; flow->t becomes its time (which is t0 unless time enters the equations).
 * False if none was found in many tries. */
bool ns_sampler_next(ns_sampler *s, double *x);

/* ---- families ---------------------------------------------------------------------------- */

typedef struct ns_atom {
    const char *name; /* in the model language */
    ns_ex value;
} ns_atom;

typedef struct ns_family {
    NS_LIST(ns_atom) velocity, shape, single; /* the last energy first, if it is conserved */
    NS_LIST(ns_atom) variable; /* on which coefficients may depend, see ns_linear_search */
    uint32_t degree_velocity, degree_shape;
    bool energy; /* single.at[0] is the energy */
} ns_family;

enum { NS_INTEGRALS_MOST = 900 }; /* functions in a family */

/* How many functions it has; UINT32_MAX if more than can be counted. */
uint32_t ns_family_size(const ns_family *f);
/* Velocities, vertical and arm of rolling bodies; otherwise the states that change sign with
 * time, and the coordinates that matter (as sine and cosine where the equations use these
 * alone).  The degrees are two and two, or what keeps the family below the limit; *reduced says
 * if they had to be lowered. */
ns_family *ns_family_default(ns_flow *flow, bool *reduced);
/* Fills what is not given: velocities, shape, degrees (UINT32_MAX), the energy. */
void ns_family_complete(ns_flow *flow, ns_family *f, bool *reduced);

/* ---- the search -------------------------------------------------------------------------- */

typedef struct ns_integral {
    uint32_t n;           /* terms */
    uint32_t *term;       /* [n] which of the family's functions */
    double *c;            /* [n] coefficients; the leading one is 1 */
    const char **formula; /* [n] coefficients as text */
    const char *text;     /* the integral in the model language */
    const char *note;     /* what it is, if that is known: "jellett" ...; "" if not */
    bool identically;     /* its rate is zero by the rules of algebra */
    bool fine;            /* `rate` was taken in quadruple precision */
    double rate;          /* largest |I'|/sum of |terms of I'| at new states */
    bool in_parameters;   /* every coefficient is a number or a product of parameters, which
                               holds for other values of the parameters too */
    bool persists;        /* there is such an integral for other values of the parameters */
    double drift;         /* along the model's run, relative to the size of its terms */
} ns_integral;

typedef struct ns_integrals {
    const ns_family *family;
    uint32_t terms, relations; /* functions; combinations that are constant on the manifold */
    uint32_t states;
    uint32_t n;       /* of sigma */
    double *sigma;    /* [n] ascending, 1/s */
    uint32_t zero;    /* this many vanish */
    double margin;    /* sigma[zero]/sigma[zero - 1]; over 1e-16 sigma[n - 1] if zero = 0 */
    uint32_t trivial; /* of the zeros: energy, products and functions of others */
    NS_LIST(const char *) apart; /* the trivial ones in words */
    NS_LIST(ns_integral *) found;
} ns_integrals;

typedef struct ns_integrals_options {
    ns_run_options run;
    uint32_t states;                                  /* 0: chosen */
    bool (*progress)(void *context, double fraction); /* false stops; may be NULL */
    void *context;
} ns_integrals_options;

/* NULL if there are no states to look at, or it was stopped: *message says why. */
ns_integrals *ns_integrals_search(ns_flow *flow, const ns_family *family,
                                  const ns_integrals_options *o, const double *x0,
                                  const char **message);

/* ---- linear in the velocities, with functions of one variable ---------------------------- */

/* I = sum_k c_k(u) phi_k with phi_k linear in the velocities (times products of shape
 * variables) and unknown functions c_k of one shape variable u.  On the states with one value
 * of u, I' = 0 says
 *
 *     u' phi_k c_k'(u) + phi_k' c_k(u) = 0        for all of them:
 *
 * linear equations for c' and c.  Where the phi_k are independent, least squares give c' = T(u)
 * c, and what cannot be met restricts c to a subspace B(u).  Both are taken at Chebyshev points
 * u_j of the range; the values y_j, c(u_j) = B_j y_j, of all solutions of the equation are the
 * null space of the collocation matrix  sum_l D_jl B_l - T_j B_j. */
typedef struct ns_linear_integrals {
    ns_atom along;                   /* u */
    double low, high;                /* its range: that of the model's run, unless given */
    uint32_t functions, independent; /* phi; those independent where u is fixed */
    uint32_t n;                      /* dimension of B */
    const char **part;    /* [n] if B is the same everywhere: its basis psi, in the model
                               language; otherwise [independent] the phi */
    uint32_t parts;       /* n or independent */
    bool constant;        /* B is the same everywhere */
    uint32_t points;      /* Chebyshev points */
    double *u;            /* [points] decreasing */
    uint32_t found, rank; /* solutions; this many are independent functions */
    uint32_t candidates;  /* small singular values of the collocation matrix */
    double *c;            /* [found][parts][points] */
    double *sigma;        /* [n_sigma] ascending, of the collocation matrix */
    uint32_t n_sigma;
    double margin;     /* sigma[found]/sigma[found - 1] */
    double tail;       /* last Chebyshev coefficients, relative: what the points leave open */
    double rate;       /* largest |I'| at new states, relative to its terms */
    double *drift;     /* [found] along the model's run and two others */
    double *value;     /* [found] on the model's run */
    const char **text; /* [found] as sums of Chebyshev polynomials, in the model language */
    const char *why;   /* if nothing is found */
} ns_linear_integrals;

/* low, high NAN: where the run goes.  NULL if it was stopped. */
ns_linear_integrals *ns_linear_search(ns_flow *flow, const ns_family *family,
                                      const ns_integrals_options *o, const double *x0,
                                      const ns_atom *along, double low, double high,
                                      const char **message);

#endif
