/*
 * Integration in quadruple precision (113 bits), for reference solutions of autonomous systems:
 *
 *     Gauss  collocation with s stages of order 2s, fixed step, iterated to round-off:
 *                Y_i = y + h sum_j a_ij f(Y_j),  y_new = y + h sum_j b_j f(Y_j)
 *     GBS    (Gragg, Bulirsch, Stoer) the modified midpoint rule with 2, 4, ... 2k substeps,
 *            extrapolated to order 2k, with step control
 *
 * Both add up the steps with compensation.
 */
#ifndef BENCH_QUAD_ODE_H
#define BENCH_QUAD_ODE_H

__extension__ typedef _Float128 quad;
#define Q(x) (__extension__ x##F128)

enum { QUAD_MAX_N = 52 };

typedef void quad_rhs(const void *param, const quad *y, quad *f);

/* y from 0 to t_end in equal steps; -1 when the iteration does not contract. s <= 24. */
int quad_gauss(int s, quad_rhs *rhs, const void *param, int n, quad t_end, int steps, quad *y);

/* y from 0 to t_end with error tol per step; order even, <= 48. Returns the number of steps. */
int quad_gbs(int order, quad tol, quad_rhs *rhs, const void *param, int n, quad t_end, quad *y);

#endif
