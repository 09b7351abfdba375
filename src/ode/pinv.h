/* Accelerations by pseudo-inverses, Udwadia and Mogharabin 2021 (42), as the right-hand side of
 * a run. */
#ifndef NS_ODE_PINV_H
#define NS_ODE_PINV_H

#include "base/layout.h"
#include "ode/problem.h"

/* Program with what (42) needs, NULL if the model does not ask for it (`solve pinv`). */
const ns_ex *ns_pinv_outputs(const ns_system *system, ns_arena *arena, uint32_t *count);

/* Takes the memory of a run; binding; x' on one lane and on eight. */
double *ns_pinv_layout(const ns_problem *problem, ns_layout *l);
void ns_pinv_bind(const ns_problem *problem, double *work, const double *p, const double *p8);
void ns_pinv_rhs(const ns_problem *problem, double *work, double t, const double *x, double *f);
void ns_pinv_rhs8(const ns_problem *problem, double *work, const double *t, const double *x,
                  double *f);

#endif
