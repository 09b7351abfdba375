/* Simplified Newton iteration for the stages of `gauss`, for stiff problems. */
#ifndef NS_ODE_GAUSS_GAUSS_NEWTON_H
#define NS_ODE_GAUSS_GAUSS_NEWTON_H

#include "ode/stepper.h"

/* Doubles of its memory (0 if the problem has no Jacobian). */
size_t ns_newton_memory(const ns_problem *problem);
void ns_newton_bind(ns_stepper *s, double *memory);

/* About how many times more a step costs with it than with sweeps. */
double ns_newton_price(const ns_problem *problem);

/* Jacobian at (t, x).  Returns its norm relative to the sizes of the states,
 * max_i sum_j |J_ij| size_j / size_i;  nan if it is not finite. */
double ns_newton_jacobian(ns_stepper *s, double *memory, double t, const double *x);
/* Factors for steps of length h; false if they are singular. */
bool ns_newton_factor(ns_stepper *s, double *memory, double h);
/* Z[n][8] += the correction for derivatives F[n][8]; returns the norm of its weighted
 * change. */
double ns_newton_correct(ns_stepper *s, double *memory, double h, const double *F,
                         const double *weight, double *Z);
/* F = A^-1 Z / h: the derivatives that belong to increments Z. */
void ns_newton_derivatives(uint32_t n, double h, const double *Z, double *F);

#endif
