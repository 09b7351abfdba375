/* Invariant measures: does the motion preserve a volume?
 *
 * Three answers, from the sharpest to the most general:
 *   on a Lie algebra, Theorems 5.1 and 5.2 of Bloch, Marsden and Zenkov 2009 decide;
 *   for systems with coordinates, whether there is a density that depends on coordinates alone
 *   is
 *     decided by linear algebra and exact derivatives;
 *   for any system, the divergence of the equations integrated along a motion is the logarithm
 *   of
 *     the growth of a small volume. */
#ifndef NS_STUDY_INVARIANTS_MEASURE_H
#define NS_STUDY_INVARIANTS_MEASURE_H

#include "ode/run.h"

/* Section 5 of Bloch, Marsden and Zenkov 2009: the covector K_st ad*_{b^t} a^s + T and its part
 * beyond the a^s. */
typedef struct ns_measure_algebra {
    uint32_t n, constraints;
    double *T;                         /* [n] Tr ad_{e_a} */
    bool unimodular;                   /* T = 0 */
    uint32_t negative, zero, positive; /* eigenvalues of the Killing form */
    bool applies;      /* l = v.I v/2 and constraints that do not see g: Theorem 5.2 decides */
    double *left;      /* [n] K_st ad*_{b^t} a^s + T, (5.5) */
    double *gamma;     /* [constraints] */
    double *residual;  /* [n] left - gamma_s a^s */
    double rate;       /* largest divergence of a motion with v.I v = 1: the residual's size */
    bool preserved;    /* the residual vanishes */
    bool *eigenvector; /* [constraints] a^s is one of the inertia (by the Killing form) */
    double difference; /* largest difference between the graph's divergence and left.v */
    uint32_t points;   /* at this many random states */
    double spatial;    /* largest relative failure of (5.7); nan if the group is not followed */
} ns_measure_algebra;

/* A density that depends on some coordinates r alone: div = h_a(r) r_a', h = -grad log rho. */
typedef struct ns_measure_density {
    bool found, too_large; /* too large: not looked for */
    uint32_t n;            /* how many coordinates */
    uint32_t *state;       /* [n] which states */
    ns_ex *h;              /* [n] */
    double *at;            /* [n] h at the start */
    double closed;         /* largest failure of dh = 0, relative */
    const char *why;       /* if not found: what fails */
} ns_measure_density;

typedef struct ns_measure {
    uint32_t variables;   /* states whose volume is looked at */
    bool reduced;         /* the velocities of a Lie algebra alone */
    uint32_t constraints; /* equations of the manifold on which the volume is taken */
    bool dependent;       /* they depend on each other: the volume is that of all states */
    ns_ex divergence;
    double at_start;
    double largest; /* |div| at random states near the start, relative to its terms */
    bool vanishes;
    ns_measure_algebra *algebra; /* NULL if there is none */
    ns_measure_density density;
    double given; /* largest relative failure of div + (log rho)' = 0 for the given density */
    /* along the motion */
    ns_status status;
    const char *reason;
    double t0, t;                 /* from, to */
    double integral;              /* of the divergence */
    double least, most;           /* of the integral up to any time */
    double half;                  /* the integral over the second half of the time */
    NS_LIST(double) times, grown; /* ends of steps, and the integral up to them */
} ns_measure;

typedef struct ns_measure_options {
    ns_run_options run;
    ns_ex density; /* to be verified; 0 if none */
} ns_measure_options;

/* Everything lives in the system's arena.  NULL if the run could not begin: *message says
 * why. */
ns_measure *ns_measure_new(const ns_problem *problem, const ns_measure_options *options,
                           const double *p, const double *x0, const char **message);

/* ---- multiplier.c: Chaplygin's reducing multiplier --------------------------------------- */

typedef struct ns_multiplier {
    const char *why;  /* there is nothing to look for; NULL if there is */
    uint32_t n;       /* base: coordinates, by their numbers */
    uint32_t *base;   /* [n] */
    ns_ex rate;       /* (log N)' */
    double force;     /* size of F against that of its terms: none, N = 1 */
    double linear;    /* the rate is linear in r' but for this */
    double closed;    /* d log N is closed but for this */
    double condition; /* the condition (*) of multiplier.c holds but for this, of the terms */
    double given;     /* (log N)' of a given N differs by this; nan if none was given */
    bool trivial, measure, exists;
} ns_multiplier;

/* base[n_base]: coordinates, or none: looked for.  given: N to verify, or 0.  In the system's
 * arena. */
ns_multiplier *ns_multiplier_new(const ns_system *s, const uint32_t *base, uint32_t n_base,
                                 ns_ex given, const double *p, const double *x0);

#endif
