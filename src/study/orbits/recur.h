/* Returns of a motion as seen by quantities y(x): times at which y passes the plane through
 * y(0) across y'(0) near y(0) again.  Distances are in units of the ranges that the quantities
 * have had so far; what does not move does not count. */
#ifndef NS_STUDY_ORBITS_RECUR_H
#define NS_STUDY_ORBITS_RECUR_H

#include "ode/run.h"

typedef struct ns_recur {
    uint32_t n;                                               /* quantities */
    void (*look)(void *context, const double *x, double *y);  /* y[2n]: y and y' */
    bool (*accept)(void *context, double t, const double *x); /* is this return one? */
    void *context;
    double near;  /* only returns nearer than this are offered to accept */
    double still; /* ranges below this part of the value are rounding errors */
    /* filled: */
    double *y0, *low, *high; /* [n] at the start, and extremes until the search ended */
    double best, mismatch;   /* time and distance of the accepted or else the nearest return */
    bool found;
} ns_recur;

/* Searches up to options->until.  False with a message if no run could be made.  Arrays of the
 * result live in `arena`. */
bool ns_recur_search(ns_recur *r, ns_arena *arena, const ns_problem *problem,
                     const ns_run_options *options, const double *p, const double *x0,
                     const char **message);

#endif
