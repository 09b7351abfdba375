/* Poincare sections: where motions pass a surface g(x) = 0, and periodic motions through it. */
#ifndef NS_STUDY_ORBITS_SECTION_H
#define NS_STUDY_ORBITS_SECTION_H

#include "study/invariants/affine.h"
#include "study/orbits/variation.h"
#include "study/steady/linear.h"

/* ---- starts ------------------------------------------------------------------------------ */

/* Equations a start shall satisfy beside the constraints: value = target. */
typedef struct ns_condition {
    ns_ex value;
    double target;
} ns_condition;

typedef struct ns_starts ns_starts;
ns_starts *ns_starts_new(ns_flow *flow, const ns_condition *conditions, uint32_t n);
/* Moves the states that are not fixed (fixed NULL: none is) as little as possible until
 * constraints and conditions hold.  False if that fails. */
bool ns_starts_solve(ns_starts *q, const bool *fixed, double *x);

/* ---- sections ---------------------------------------------------------------------------- */

typedef struct ns_section_spec {
    ns_surface surface;
    ns_run_options run; /* until: the latest time */
    uint32_t crossings; /* at most this many of each start */
    uint64_t patience;  /* a motion ends after this many steps without a crossing; 0: never */
    uint32_t threads;   /* 0: as many as the machine has */
    const ns_generators *modulo; /* periodic motions: closed up to these; NULL: closed */
    bool (*progress)(void *context, double fraction); /* false stops; may be NULL */
    void *context;
} ns_section_spec;

typedef struct ns_section_track {
    ns_status status;
    uint32_t n;       /* crossings */
    double *t, *x;    /* [crossings], [crossings][states] */
    char reason[120]; /* why it ended early, "" if it did not */
} ns_section_track;

/* One track for each start x[count][n]. */
ns_section_track *ns_section_run(ns_arena *arena, ns_flow *flow, const ns_section_spec *spec,
                                 const double *x, uint32_t count);

/* Says that a motion does not cross the surface, for all the steps it was followed. */
void ns_section_missed(char *text, size_t room, uint32_t crossings, double t, uint64_t steps);

/* ---- periodic motions -------------------------------------------------------------------- */

/* Newton's method on phi_T(x) - h x = 0 with T the time of the `returns`-th passage through the
 * surface, the start on the surface and the conserved energy kept (if it is conserved), with
 * the variational equations.  h is the identity, or with `modulo` an element of the group that
 * is looked for as well: the motion reduced by the symmetries closes, and h is its phase.
 * Multipliers: eigenvalues of the derivative of h^-1 phi_T on the tangent space; the ones that
 * belong to the motion itself, to the symmetries and to the energy are set apart. */
typedef struct ns_periodic {
    ns_status status;
    const char *message;
    bool found;
    uint32_t rounds;
    double period, residual; /* largest |phi_T(x) - x| in units of the states' sizes */
    double *x;
    ns_affine *h;              /* the shift */
    uint32_t tangent, n;       /* dimension of the manifold; multipliers that decide */
    ns_eigenvalue *multiplier; /* [n] by decreasing modulus */
    double product; /* of all multipliers on the manifold: volume growth per period */
    const char *verdict;
} ns_periodic;

ns_periodic *ns_section_periodic(ns_arena *arena, ns_flow *flow, const ns_section_spec *spec,
                                 uint32_t returns, const double *x);

#endif
