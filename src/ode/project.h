/* Projection onto the manifold: see project.c; ensemble_project.inc for motions in lanes. */
#ifndef NS_ODE_PROJECT_H
#define NS_ODE_PROJECT_H

#include "ode/run_internal.h"

enum { NS_PROJECT_ROUNDS = 8 };
#define NS_PROJECT_ENOUGH 4.0   /* a residual of this many rounding errors is left alone */
#define NS_PROJECT_PROGRESS 0.5 /* a round that leaves more of it was the last */
#define NS_PROJECT_TERMS 1e-3 /* part of the size of a residual that its terms have at least */

void ns_project_begin(ns_run *run);
/* Moves x + x_lo (x_lo may be NULL) onto the manifold; false if it was there. */
bool ns_project(ns_run *run, double t, double *x, double *x_lo);
/* Is the present state off the manifold by much more than rounding errors?  So it is where
 * inputs jump on which constraints depend. */
bool ns_project_off(ns_run *run);

#endif
