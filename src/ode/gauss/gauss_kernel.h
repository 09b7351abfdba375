/* Inner loops of `gauss`: arrays are [state][8], 64-byte aligned, one lane per stage.  Compiled
 * once per instruction set (gauss_plain.c, gauss_avx2.c, gauss_avx512.c) from one text,
 * gauss_lanes.inc; all give the same bits. */
#ifndef NS_ODE_GAUSS_GAUSS_KERNEL_H
#define NS_ODE_GAUSS_GAUSS_KERNEL_H

#include "ode/stepper.h"

/* What the error estimate has seen of the Legendre coefficients f_k of F; all of it squared. */
typedef struct ns_gauss_judgement {
    double most;   /* largest deviation of a rate from its mean, weighted */
    double e6, e7; /* largest f_6^2 / f, f_7^2 / f */
    double m6, m7; /* largest f_6 / f, f_7 / f */
} ns_gauss_judgement;

typedef struct ns_gauss_limits {
    double length;    /* of the step */
    double least;     /* coefficients below are rounding errors of the states */
    double unsettled; /* times noise: below are errors of the rates */
} ns_gauss_limits;

/* Arrays of a step; those over states have room for a multiple of eight. */
typedef struct ns_gauss_arrays {
    uint32_t n;
    double *Y, *Z, *X;               /* [n][8] derivatives, increments, stages */
    double *time, *hb, *hb_lo;       /* [8] times of the stages; h b_j = hb_j + hb_lo_j */
    double *weight, *settle, *share; /* [n] of the states, see `prepare`; 0 after the last */
    const double *size, *noise;      /* [n] of ns_stepper */
} ns_gauss_arrays;

typedef struct ns_gauss_kernel {
    const char *name; /* as ns_program_lanes_name */

    /* Columns of the matrix that takes values at the nodes to integrals from 0 to u_i. */
    void (*integration)(const double *u, double *out);

    /* Y[s][i] = sum_j E[j][i] F[s][j] */
    void (*apply)(uint32_t n, const double *E, const double *F, double *Y);

    /* Y[s][i] = value at u_i = shift + ratio c_i of the polynomial through the row F[s] */
    void (*predict)(uint32_t n, double shift, double ratio, const double *F, double *Y);

    /* All that a step of length h begins with, given the prediction Y: times and weights of the
     * stages;  Z = x_lo + A Y  and  X = x + Z;  weights of the states: with the root mean
     * square f of Y, settled the relative error of the states when the sweeps end,
     *     size = max(size, |h| f),   noise = |h| (settled / eps) noise / size,
     *     share = min(1, 64 settled / noise),  weight = share / size,  settle = share^2 /
     *     size. */
    void (*prepare)(const ns_gauss_arrays *a, double t, double h, double settled,
                    const double *x, const double *x_lo);

    /* One sweep of a block:  Z_i = x_lo + sum_j mu_ij hb_j F_j,  X_i = x + Z_i, over its states
     * from..to-1 in their order.  F of a state is the block's row of `rates`, or the new X of
     * its source; it is kept in Y.  Returned is the sum of squares of all changes (Z_new - Z)
     * settle: nan if any rate is not finite. */
    double (*sweep)(const ns_gauss_arrays *a, const ns_rate_block *block, uint32_t from,
                    uint32_t to, const double *rates, const double *x, const double *x_lo);

    /* x_new + x_new_lo = x + x_lo + sum_j (hb_j + hb_lo_j) Y_j, summed without rounding errors;
     * false if one of them is not finite. */
    bool (*update)(const ns_gauss_arrays *a, const double *x, const double *x_lo, double *x_new,
                   double *x_new_lo);

    /* x and x_lo to x0 and x0_lo, the new state to x and x_lo, and ns_stepper_resize */
    void (*accept)(ns_stepper *s, const double *x_new, const double *x_new_lo);

    /* Adds what n states show to the judgement: these, or the first n if state is NULL.  The
     * tail becomes the size of their last coefficients.  room[3][n rounded up]. */
    void (*judge)(const ns_gauss_arrays *a, uint32_t n, const uint32_t *state,
                  const ns_gauss_limits *limits, double *room, ns_gauss_judgement *sum,
                  double *tail);
} ns_gauss_kernel;

extern const ns_gauss_kernel ns_gauss_plain, ns_gauss_avx2, ns_gauss_avx512;

#endif
