/* The inside of quadruple precision: shared by quad.c (steps), quad_watch.c (diagnostics) and
 * those parts of a run that ask it. */
#ifndef NS_ODE_QUAD_QUAD_INTERNAL_H
#define NS_ODE_QUAD_QUAD_INTERNAL_H

#include "base/math/quad.h"
#include "ode/quad/quad.h"
#include "ode/run_internal.h"

enum { NS_QUAD_STAGES = 16 };

/* Part of checkpoints. */
typedef struct ns_quad_kept {
    double h, from; /* the step the slopes belong to; h = 0: none yet */
    double energy[2];
    double unused[4];
} ns_quad_kept;

/* In ns_stepper.view. */
typedef struct ns_quad_view {
    ns_quad_kept *last;
    double *k;          /* [n][stages] its slopes */
    double *invariants; /* at the start, as sums of two doubles */
} ns_quad_view;

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

/* The time that a double means: see quad.h. */
static inline ns_quad ns_quad_time(double t)
{
    return (ns_quad)t + (ns_quad)ns_quad_time_low(t);
}

static inline void ns_quad_split(ns_quad value, double *high, double *low)
{
    *high = (double)value;
    *low = (double)(value - (ns_quad)*high);
}

/* quad_solve.c: fills the tables of the method; the rounding errors of the rates at the start
 * of a step, into q->noise; a first guess of the slopes of a step from `from` over h, into
 * q->k; the slopes at the stages of a step from (t, q->x) to t_end, into q->K; its error
 * relative to the sizes, over the tolerance. */
void ns_quad_make_tables(ns_quad_engine *q);
void ns_quad_measure_noise(const ns_stepper *s, ns_quad_engine *q);
void ns_quad_guess(ns_stepper *s, ns_quad_engine *q, double from, double h);
ns_why ns_quad_solve(ns_stepper *s, ns_quad_engine *q, const double *x, double t, double t_end);
double ns_quad_error(const ns_stepper *s, const ns_quad_engine *q, double h);
#endif

/* Unit of rounding of a sum of two doubles. */
#define NS_EPSILON_LOW 0x1p-105

/* Residuals of all constraints that are projected, or of all, at x + x_lo. */
void ns_quad_residuals(ns_run *run, double t, const double *x, const double *x_lo,
                       bool projected, double *g);

/* Diagnostics at the start, and at the end of a step. */
void ns_quad_tally_begin(ns_run *run);
void ns_quad_tally(ns_run *run);
/* Before and after a jump: the energy may change by it. */
void ns_quad_tally_leave(ns_run *run);
void ns_quad_tally_enter(ns_run *run);

/* Observables at a time within the last step, as sums of two doubles. */
void ns_quad_observe(ns_run *run, double t, double *values, double *low);

/* Energy at the start, and the invariants, as sums of two doubles: part of a checkpoint. */
double *ns_quad_first(const ns_run *run);
double *ns_quad_first_invariants(const ns_run *run);

#endif
