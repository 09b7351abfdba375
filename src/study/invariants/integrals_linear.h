/* Shared by the files of the search for linear integrals: states with one value of the variable
 * and the conditions there (integrals_fibre.c), solutions over its range (integrals_linear.c),
 * what they are and how good (integrals_result.c). */
#ifndef NS_STUDY_INVARIANTS_INTEGRALS_LINEAR_H
#define NS_STUDY_INVARIANTS_INTEGRALS_LINEAR_H

#include "study/invariants/integrals_internal.h"

typedef struct ns_linear_work {
    ns_integrals_work *w;
    ns_linear_integrals *r;
    ns_flow_program *variable; /* u, u', gradient of u */
    uint32_t all, K, F; /* terms linear in velocities; independent ones; states at one u */
    uint32_t *term;     /* [all], then the first K */
    double *size;       /* [K] */
    /* at one value of u */
    double *phi, *dphi, *du; /* [all][F], [all][F], [F] */
} ns_linear_work;

typedef struct ns_linear_nodes {
    uint32_t M, n;   /* intervals, dimension of B at most values */
    double *z;       /* [M + 1] */
    double *T, *B;   /* [M + 1][K][K]; of B the first count[j] rows */
    uint32_t *count; /* [M + 1]: at single values more may be left open */
    uint32_t found;
    double *c; /* [found][K][M + 1] of phi/size */
} ns_linear_nodes;

static inline double ns_linear_dot(uint32_t n, const double *a, const double *b)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* From x to a state with this value of u on the same branch of the manifold; false if that
 * fails. */
bool ns_linear_go_to(ns_linear_work *q, double target, double *x);
/* F states with this value of u, and the terms there; false if they are not found. */
bool ns_linear_sample(ns_linear_work *q, double u);
/* Keeps the terms that are independent at the present states: they come first in the list. */
void ns_linear_choose(ns_linear_work *q);
/* At the present states: T[K][K] with c' = T c, and rows B[n][K] of the c that can be met; n.
 * c belongs to phi/size.  `expected` > 0: this many, if they can be met to fewer digits. */
uint32_t ns_linear_conditions(ns_linear_work *q, uint32_t expected, double *T, double *B);
/* Chebyshev coefficients a[M + 1] of values f[M + 1]. */
void ns_linear_coefficients(uint32_t M, const double *f, double *a);
/* Fills the result: parts, tables, formulas, verification. */
void ns_linear_result(ns_linear_work *q, ns_linear_nodes *d);

#endif
