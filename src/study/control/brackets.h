/* Can the velocity constraints of a system be integrated?  Iterated Lie brackets tell.
 *
 * Configurations q are the states that keep their sign when time is reversed, velocities v the
 * others.  Rates and constraints are linear in v,
 *
 *     q' = B(q) v,     C(q) v = 0,
 *
 * so the directions in which the system can move span the distribution D, the image under B of
 * the null space of C.  With fields X_1 ... X_r that span it,
 *
 *     D_1 = D,    D_(k+1) = D_k + [D_1, D_k],    [X, Y] = DY X - DX Y
 *
 * by exact derivatives.  The dimensions of D_1, D_2, ... at a point are the growth vector.  It
 * ends where nothing new comes: at the dimension N of the space of configurations if every
 * configuration can be reached (Chow 1939, Rashevskii 1938), at that of D if the constraints
 * are holonomic (Frobenius), between the two if a part of them is.
 *
 * Fields that depend on others at a point in general position are functions times these there,
 * and [X, fY] = f [X, Y] + (X f) Y: leaving them out changes no D_k near it. */
#ifndef NS_STUDY_CONTROL_BRACKETS_H
#define NS_STUDY_CONTROL_BRACKETS_H

#include "study/control/cartan.h"
#include "study/invariants/integrals.h"

/* A field of the flag that was kept, because it adds a dimension. */
typedef struct ns_bracket {
    const char *name;    /* "X1", "[X1, X2]", "[X1, [X1, X2]]" */
    uint32_t level;      /* from 1: how many X it is made of */
    const ns_ex *field;  /* [configurations] */
    const double *value; /* [configurations] at the point */
} ns_bracket;

/* The flag at one point. */
typedef struct ns_flag {
    NS_LIST(uint32_t) growth; /* dimensions of D_1, D_2, ..., as long as they grow */
    NS_LIST(ns_bracket) fields;
    uint32_t dimension; /* of the space of configurations, N */
    double least;       /* sine of the smallest angle that counts as a new direction */
    double most;        /* of the largest that counts as none */
} ns_flag;

typedef struct ns_brackets {
    uint32_t n;            /* configurations */
    const uint32_t *state; /* [n] which states they are */
    ns_flag start;         /* at the start of the model */
    ns_flag general;       /* at a point in general position */
    bool unfinished;       /* there may be more beyond the depth asked for */
    /* Functions of the configuration that stay constant, if D does not grow to N: those that
     * were found among polynomials (of sines and cosines too). */
    const ns_integrals *integrals; /* NULL: not looked for, or none */
    const ns_cartan *cartan;       /* at the start, if D grows as (2, 3, 5) */
} ns_brackets;

enum { NS_BRACKETS_DEPTH = 8, NS_BRACKETS_MOST = 40 }; /* levels; configurations */

/* NULL if the system has no such distribution, or it was stopped: *message says why. */
const ns_brackets *ns_brackets_find(ns_arena *arena, ns_flow *flow,
                                    const ns_integrals_options *o, const double *x0,
                                    uint32_t depth, const char **message);

/* "completely nonholonomic", "holonomic", ..., and what that means. */
const char *ns_brackets_verdict(ns_arena *arena, const ns_brackets *b);

#endif
