/* The inside of `gauss`: shared by gauss*.c. */
#ifndef NS_ODE_GAUSS_GAUSS_INTERNAL_H
#define NS_ODE_GAUSS_GAUSS_INTERNAL_H

#include "ode/gauss/gauss_kernel.h"

enum { NS_GAUSS_START = 16 }; /* order of the Taylor series that starts the first step */

/* Errors of a step below this, relative to the sizes of the states, may be rounding errors,
 * where something narrow could be in the step: elsewhere all may, and a corner is passed in the
 * end. */
static inline double ns_gauss_rounding(const ns_problem *problem)
{
    return problem->bumps || problem->drivers ? 1e-7 : (double)INFINITY;
}

typedef struct ns_gauss_kept {
    double h;            /* signed length of the step that F belongs to; 0: no step yet */
    double from;         /* its beginning: state_at works from here */
    double rho;          /* contraction of the iteration in the last step */
    double best_inverse; /* 1 / step that would have had the error aimed at */
    double slow;         /* how many steps in a row the sweeps, not the error, kept short */
    double stiff;        /* Newton's iteration instead of sweeps for the next step */
    double stiff_step;   /* the last step used it */
    double
        reference; /* |h J| at which sweeps contract by CONTRACTION; < 0: -|h|, J unknown yet */
    double tail;   /* size of the last Legendre coefficients of the last step */
    double h_inverse; /* 1 / h */
    double unused[6];
} ns_gauss_kept; /* sixteen numbers: what follows is aligned */

/* When the error of a step is looked for: see choose_judging. */
typedef enum ns_gauss_judging {
    NS_GAUSS_AT_END,
    NS_GAUSS_FIRST_EARLY,
    NS_GAUSS_ALL_EARLY
} ns_gauss_judging;

/* In ns_stepper.view. */
typedef struct ns_gauss {
    const ns_gauss_kernel *kernel;
    ns_gauss_kept *k;
    double *F, *Z;     /* kept: derivatives and increments at the stages of the last step */
    ns_gauss_arrays a; /* of the step being tried */
    double *E, *x_new, *x_new_lo, *f, *legendre;
    double *work_jet, *jet, *newton;
    double *rates, *work;   /* of the blocks: outputs, work blocks one after the other */
    ns_gauss_judgement sum; /* of the parts that are done */
    double goal, settled;   /* see the functions */
    double early; /* change of the stages from which on the error can be told, squared */
    ns_gauss_judging judging; /* when */
    bool series;              /* there is a useful Taylor polynomial for the first step */
    bool complete;            /* the parts without feedback are evaluated already */
    double little;            /* change of the stages that ends the sweeps */
    double price;             /* of Newton's iteration */
    double h;                 /* step being tried */
    double rho;               /* contraction of its sweeps */
    double error;             /* in units of the tolerance; negative: not known */
    double factor;            /* to the length that would have the error aimed at */
    double tail;              /* size of the last Legendre coefficients */
    double norm;              /* of the Jacobian */
} ns_gauss;

/* What became of an attempt to solve for the stages. */
typedef enum ns_gauss_outcome {
    NS_GAUSS_CONVERGED,
    NS_GAUSS_DIVERGED,
    NS_GAUSS_NOT_FINITE,
    NS_GAUSS_TOO_LONG /* the error of the step is above the limit */
} ns_gauss_outcome;

/* gauss_iterate.c: all parts of the states, one after the other, from the prediction in Y; by
 * Newton's iteration with the Jacobian at (t, x).  Limit 0: nobody cares about the error. */
ns_gauss_outcome ns_gauss_iterate(ns_stepper *s, ns_gauss *g, const double *x,
                                  const double *x_lo, double limit);
ns_gauss_outcome ns_gauss_iterate_newton(ns_stepper *s, ns_gauss *g, double t, const double *x,
                                         const double *x_lo, double limit);

/* gauss_judge.c: the error in units of the tolerance, by n states and those judged before;
 * where the problem is stiff; the n-th root of a number between 0 and 1, about. */
double ns_gauss_estimate(ns_gauss *g, uint32_t n, const uint32_t *state, double least,
                         double unsettled, double tolerance, ns_gauss_judgement *all);
double ns_gauss_estimate_stiff(ns_gauss *g, double least, double tolerance);
double ns_gauss_root(double a, int n);

/* Derivative of the Taylor polynomial of a state at a time after the start, or at the start if
 * there is no useful polynomial. */
static inline double ns_gauss_series_rate(const ns_gauss *g, const double *jet, double t)
{
    double sum = 0;
    for (uint32_t k = g->series ? NS_GAUSS_START : 1; k > 0; k--)
        sum = sum * t + k * jet[k];
    return sum;
}

#endif
