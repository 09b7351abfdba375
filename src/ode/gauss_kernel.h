/* Inner loops of `gauss`: arrays are [state][8], 64-byte aligned, one lane per stage.  Compiled
 * once per instruction set (gauss_plain.c, gauss_avx2.c, gauss_avx512.c) from one text,
 * gauss_lanes.h; all give the same bits. */
#ifndef NS_ODE_GAUSS_KERNEL_H
#define NS_ODE_GAUSS_KERNEL_H

#include "ode/cascade.h"

/* What the error estimate has seen of the Legendre coefficients f_k of F. */
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

typedef struct ns_gauss_kernel {
    const char *name; /* as ns_program_lanes_name */

    /* Columns of the matrix that takes values at the nodes to values at the points u[8]:
     * out[j][i] = l_j(u_i); and to integrals from 0 to u_i. */
    void (*interpolation)(const double *u, double *out);
    void (*integration)(const double *u, double *out);

    /* Y[s][i] = sum_j E[j][i] F[s][j] */
    void (*apply)(uint32_t n, const double *E, const double *F, double *Y);

    /* The beginning:  Z = A F and X = x + (x_lo + Z)  for n states. */
    void (*start)(uint32_t n, const uint32_t *state, const double *hb, const double *F,
                  const double *x, const double *x_lo, double *Z, double *X);

    /* One sweep of a block:  Z_i = sum_j mu_ij hb_j F_j,  X_i = x + (x_lo + Z_i), over its states
     * in their order.  F of a state is the block's row of `rates`, or the new X of its source.
     * Z, X and F are overwritten; returned is the sum of squares of all changes
     * (Z_new - Z) weight: nan if any rate is not finite. */
    double (*sweep)(const ns_rate_block *block, const double *hb, const double *rates,
                    const double *x, const double *x_lo, const double *weight, double *F,
                    double *Z, double *X);

    /* In the following, arrays over states have room for a multiple of eight. */

    /* x_new + x_new_lo = x + x_lo + sum_j (hb_j + hb_lo_j) F_j, summed without rounding errors */
    void (*update)(uint32_t n, const double *hb, const double *hb_lo, const double *F,
                   const double *x, const double *x_lo, double *x_new, double *x_new_lo);

    /* With the root mean square f of F over the step, for each state:  size = max(size, length f),
     * noise = unsettled noise / size;  weight = share / size and settle = share^2 / size  with
     * share = min(1, usual / noise). */
    void (*weights)(uint32_t n, const double *F, double length, double unsettled, double usual,
                    const double *size, const double *noise, double *weight, double *settle);

    /* Adds what n states show to the judgement; tail becomes the size of their last coefficients.
     * room[3][n rounded up]. */
    void (*judge)(uint32_t n, const uint32_t *state, const double *F,
                  const ns_gauss_limits *limits, const double *weight, const double *settle,
                  const double *noise, double *room, ns_gauss_judgement *sum, double *tail);
} ns_gauss_kernel;

extern const ns_gauss_kernel ns_gauss_plain, ns_gauss_avx2, ns_gauss_avx512;

#endif
