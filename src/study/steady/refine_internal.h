/* Shared by refine.c and refine_spectrum.c: a place of a branch with the digits of ns_fine. */
#ifndef NS_STUDY_STEADY_REFINE_INTERNAL_H
#define NS_STUDY_STEADY_REFINE_INTERNAL_H

#include "study/steady/branch_internal.h"

/* Step in parameter or amplitude with which the search begins, in units of y. */
#define NS_REFINE_STEP 1e-4

/* The column beside D. */
typedef enum ns_border { NS_BORDER_NONE, NS_BORDER_PARAMETER, NS_BORDER_VECTOR } ns_border;

typedef struct ns_refiner {
    ns_follower *w;
    ns_arena *arena;
    uint32_t n, m, N, rows; /* rows: of F */
    const double *K;        /* [k][N] family */
    ns_fine *y;             /* [N + 1]; the parameter is a double */
    ns_fine *r, *D;         /* [rows], [rows][N + 1] at y */
    ns_fine mu;
    double *v, *z0, *beside; /* [N], [N], [rows]: borders */
} ns_refiner;

ns_refiner ns_refine_new(ns_follower *w, const ns_place *p);

/* Solves A[rows][columns] u = b, or as nearly as possible, with the digits of ns_fine. */
bool ns_refine_solve(ns_arena *a, uint32_t rows, uint32_t columns, const ns_fine *A,
                     const ns_fine *b, ns_fine *u);

/* Newton's method for z and the unknown of the border, at an amplitude; then r and D there. */
bool ns_refine_settle(ns_refiner *f, ns_border what, double amplitude);

/* A zero of value(context, s) near *s by the secant method; false if it leads away. */
bool ns_refine_secant(double (*value)(void *context, double s), void *context, double *s);

/* An eigenvalue of a steady motion and its vector (refine_spectrum.c). */
typedef struct ns_pair {
    ns_refiner *f;
    double *e;        /* [2 n] fixes length and phase */
    ns_fine *u;       /* [2 n + 2] real and imaginary parts, then lambda */
    uint32_t unknown; /* 2 n + 2 */
} ns_pair;

/* Rows of (L - lambda) u, G u, and the two conditions, derived by u and lambda: S[2 (n + m) +
 * 2][unknown]; what is left of them in left. */
void ns_refine_pair_rows(const ns_pair *c, ns_fine *S, ns_fine *left);

/* refine_by.c: derivatives of the parameter at which the real part of the eigenvalue vanishes
 * by the parameters spec.by, nan where there are none. */
void ns_refine_pair_by(const ns_pair *c, double *by);

/* Puts the refined y into the place. */
bool ns_refine_finish(const ns_refiner *f, ns_place *p);

#endif
