/* Quadruple precision inside a run: what the method `quad` does beside stepping (see quad.c).
 *
 * States and parameters are sums x + x_lo of two doubles, 106 bits.  Times are doubles like
 * everywhere, but they stand for the decimal number a person means: 0.1 is a tenth (quad_time).
 *
 * Where the compiler has no quadruple precision the method refuses to begin, and none of these
 * functions is called. */
#ifndef NS_ODE_QUAD_H
#define NS_ODE_QUAD_H

#include "mech/system.h"

/* t + what is returned is the shortest decimal number with at most 15 digits that rounds to t; 0 if
 * there is none. */
double ns_quad_time_low(double t);

/* Parameters and start of a system in quadruple precision: what p[np] and x[n], found in double
 * precision, lack.  Parameters that were given their value from outside are taken as they are. */
void ns_quad_start(const ns_system *system, double t0, const double *p, const double *x,
                   double *p_lo, double *x_lo);

#endif
