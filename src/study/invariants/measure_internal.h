/* What the files of `measure` share. */
#ifndef NS_STUDY_INVARIANTS_MEASURE_INTERNAL_H
#define NS_STUDY_INVARIANTS_MEASURE_INTERNAL_H

#include "study/invariants/measure.h"

typedef struct ns_measure_work {
    const ns_problem *problem;
    const ns_system *s;
    ns_graph *g;
    const double *p, *x0;
    ns_measure *m;
    double *points; /* [found][n] random states on the manifold, at the times when[found] */
    double *when;
    uint32_t found;
    double speed; /* largest relative rate of a state: what is slow compared with it is zero */
} ns_measure_work;

/* Expressions at one of the random states. */
void ns_measure_values(const ns_measure_work *w, const ns_ex *f, size_t n, uint32_t point,
                       double *out);

/* measure_algebra.c: what Theorems 5.1 and 5.2 say; NULL if the system is none on a Lie
 * algebra. */
ns_measure_algebra *ns_measure_algebra_new(ns_measure_work *w);

#endif
