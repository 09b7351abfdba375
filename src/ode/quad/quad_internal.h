/* The inside of quadruple precision: shared by quad.c (steps), quad_watch.c (diagnostics) and
 * those parts of a run that ask it. */
#ifndef NS_ODE_QUAD_QUAD_INTERNAL_H
#define NS_ODE_QUAD_QUAD_INTERNAL_H

#include "base/math/quad.h"
#include "ode/run_internal.h"

enum { NS_QUAD_STAGES = 16 };

#if NS_HAVE_QUAD
/* Memory of a run in quadruple precision (ns_stepper.outside): nothing in it outlives a
 * step. */
typedef struct ns_quad_engine {
    ns_quad c[NS_QUAD_STAGES], b[NS_QUAD_STAGES], a[NS_QUAD_STAGES][NS_QUAD_STAGES];
    ns_quad last[2][NS_QUAD_STAGES]; /* the last two Legendre coefficients of slopes */
    double series[NS_QUAD_STAGES][NS_QUAD_STAGES];  /* all of them */
    double columns[NS_QUAD_STAGES][NS_QUAD_STAGES]; /* columns of a */
    ns_quad *p;                                     /* [np] */
    ns_quad *work_rhs, *work_shaken, *work_observe, *work_monitor, *work_residuals, *out;
    ns_quad *x, *x_new, *Y, *K; /* [n], K: [n][stages] */
    double *work_tangent;
    double *k, *r, *d, *sum; /* [n][stages] */
    double *inputs, *f;      /* [2][2n][8], [n][8] */
    double *noise;           /* [n] rounding errors of the rates, at the start of the step */
    void *memory;
} ns_quad_engine;
#endif

/* Unit of rounding of a sum of two doubles. */
#define NS_EPSILON_LOW 0x1p-105

/* Residuals of all constraints that are projected, or of all, at x + x_lo. */
void ns_quad_residuals(ns_run *run, double t, const double *x, const double *x_lo,
                       bool projected, double *g);

/* Diagnostics at the start, and at the end of a step. */
void ns_quad_tally_begin(ns_run *run);
void ns_quad_tally(ns_run *run);

/* Observables at a time within the last step, as sums of two doubles. */
void ns_quad_observe(ns_run *run, double t, double *values, double *low);

/* Energy at the start, and the invariants, as sums of two doubles: part of a checkpoint. */
double *ns_quad_first(const ns_run *run);
double *ns_quad_first_invariants(const ns_run *run);

#endif
