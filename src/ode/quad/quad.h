/* Quadruple precision inside a run: what the method `quad` does beside stepping (see quad.c).
 *
 * States and parameters are sums x + x_lo of two doubles, 106 bits.  Times are doubles, as
 * everywhere, but they stand for the decimal number a person means: 0.1 is a tenth (quad_time).
 *
 * Where the compiler has no quadruple precision the method refuses to begin; what doubles lack
 * is then known to the digits of a long double. */
#ifndef NS_ODE_QUAD_QUAD_H
#define NS_ODE_QUAD_QUAD_H

#include "mech/system.h"

/* t + what is returned is the shortest decimal number with at most 15 digits that rounds to t;
 * 0 if there is none. */
double ns_quad_time_low(double t);

/* Parameters and start of a system as sums of two doubles: [np], [np], [n], [n]. */
typedef struct ns_exact {
    double *p, *p_lo, *x, *x_lo;
} ns_exact;

/* They are evaluated again in quadruple precision, where p[np] and x[n] were found in double
 * precision; what was given its value from outside is taken as it is.  `shaken`: with other
 * rounding errors (eval/interp/shaken.c). */
ns_exact ns_quad_start(const ns_system *system, ns_arena *arena, double t0, const double *p,
                       const double *x, bool shaken);

#endif
