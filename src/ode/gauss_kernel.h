/* Inner loops of `gauss`: arrays are [state][8], 64-byte aligned, one lane per stage.  Compiled
 * once per instruction set (gauss_plain.c, gauss_avx2.c, gauss_avx512.c) from one text,
 * gauss_lanes.h; all give the same bits. */
#ifndef NS_ODE_GAUSS_KERNEL_H
#define NS_ODE_GAUSS_KERNEL_H

#include <stdint.h>

#define NS_GAUSS_NO_SOURCE UINT32_MAX

/* As fmax and fmin where b is the one that may be nan; those are calls of the library. */
static inline double ns_larger(double a, double b)
{
    return b > a ? b : a;
}

static inline double ns_smaller(double a, double b)
{
    return b < a ? b : a;
}

typedef struct ns_gauss_kernel {
    const char *name; /* as ns_program_lanes_name */

    /* Columns of the matrix that takes values at the nodes to values at the points u[8]:
     * out[j][i] = l_j(u_i); and to integrals from 0 to u_i. */
    void (*interpolation)(const double *u, double *out);
    void (*integration)(const double *u, double *out);

    /* Y[s][i] = sum_j E[j][i] F[s][j] */
    void (*apply)(uint32_t n, const double *E, const double *F, double *Y);

    /* One sweep:  Z_i = sum_j mu_ij hb_j F_j,  X_i = x + (x_lo + Z_i), over the states in the
     * given order.  A state whose rate is just another state takes the new values of that one
     * (source[s], already swept) instead of F[s].  Z and such rows of F are overwritten;
     * returned is the Euclidean norm of all changes (Z_new - Z) weight: nan if any F is not
     * finite. */
    double (*sweep)(uint32_t n, const uint32_t *order, const uint32_t *source, const double *hb,
                    double *F, const double *x, const double *x_lo, const double *weight,
                    double *Z, double *X);

    /* In the following, arrays over states have room for a multiple of eight. */

    /* x_new + x_new_lo = x + x_lo + sum_j (hb_j + hb_lo_j) F_j, summed without rounding errors */
    void (*update)(uint32_t n, const double *hb, const double *hb_lo, const double *F,
                   const double *x, const double *x_lo, double *x_new, double *x_new_lo);

    /* Root mean square of F over the step, for each state. */
    void (*mean)(uint32_t n, const double *F, double *mean);
    /* For each state, of F over the step: deviation from its mean, and the sizes of the
     * coefficients of the Legendre polynomials of degree 6 and 7: out[3][states]. */
    void (*spectrum)(uint32_t n, const double *F, double *out);
} ns_gauss_kernel;

extern const ns_gauss_kernel ns_gauss_plain, ns_gauss_avx2, ns_gauss_avx512;

#endif
