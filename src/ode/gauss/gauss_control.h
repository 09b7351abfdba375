/* Rules of `gauss` that one motion (gauss.c) and motions in lanes (ensemble_gauss.inc) share:
 * when sweeps end, and how the length of the next step is chosen.  Changes of the stages are
 * sums of squares over `count` numbers. */
#ifndef NS_ODE_GAUSS_GAUSS_CONTROL_H
#define NS_ODE_GAUSS_GAUSS_CONTROL_H

#include <float.h>

/* An error up to this many times the one aimed at is accepted: with order 16 the room between
 * is 20 % of the step, and few steps are rejected. */
#define NS_GAUSS_LIMIT 4.0
/* A step becomes at most twice as long, and at least a tenth of one whose error was too large;
 * where the best length falls by half or more, the next is expected to fall by no more. */
#define NS_GAUSS_GROWTH 2.0
#define NS_GAUSS_SHRINK 0.1
#define NS_GAUSS_TREND 0.5
/* A step with numbers that are not finite is tried again with a quarter of its length. */
#define NS_GAUSS_RETREAT 0.25

/* Contraction of the sweeps as a guess for the next step: within these. */
#define NS_GAUSS_RHO_LEAST 0.01
#define NS_GAUSS_RHO_MOST 0.5
/* Sweeps that make 0.7 of the change each are slow; squared. */
#define NS_GAUSS_SLOW 0.49
/* A change that is more than this part of the last one, squared, and noise: sweeps no longer
 * help.  More than this many times the last one: they diverge. */
#define NS_GAUSS_STAGNANT 0.25
#define NS_GAUSS_DIVERGES 4.0
enum { NS_GAUSS_PATIENT = 4 }; /* sweeps that may be slow */

/* Changes of the stages below this are rounding errors: two units in the last place each. */
static inline double ns_gauss_noise(double count)
{
    return 4 * DBL_EPSILON * DBL_EPSILON * count;
}

/* The change that ends the sweeps: `little` relative to the states, but not below 5e-20, which
 * is less than the low parts of the states hold. */
static inline double ns_gauss_enough(double little, double count)
{
    const double least = 25e-40 * count;
    return little * little > least ? little * little : least;
}

/* States whose rates consist of rounding errors count less: see `prepare` of gauss_kernel.h.
 * So many times the error at the end of the sweeps is usual. */
#define NS_GAUSS_USUAL 64
/* Legendre coefficients below this many rounding errors, of states or rates, say nothing. */
#define NS_GAUSS_CLEAR 4
/* A state whose rate varies by less than this part of the largest one (squared) is judged by
 * that part. */
#define NS_GAUSS_STEADY 1e-6
/* Keeps divisions by sizes finite. */
#define NS_GAUSS_TINY 1e-300

/* Powers of two between whole ones: 1 + a (first + second a), to 0.2 per cent. */
#define NS_GAUSS_POWER_FIRST 0.6565
#define NS_GAUSS_POWER_SECOND 0.3435

#endif
