/* Inner loops of `gauss`: arrays are [state][8], 64-byte aligned, one lane per stage. */
#ifndef NS_ODE_GAUSS_KERNEL_H
#define NS_ODE_GAUSS_KERNEL_H

#include <stddef.h>
#include <stdint.h>

typedef double ns_v8 __attribute__((vector_size(64)));

/* Columns of the matrix that takes values at the nodes to values at the points u[8]:
 * out[j][i] = l_j(u_i). */
void ns_gauss_interpolation(const double *u, double *out);
/* out[j][i] = integral of l_j from 0 to u_i */
void ns_gauss_integration(const double *u, double *out);

/* Y = F times the matrix with columns E[j]: Y[s][i] = sum_j E[j][i] F[s][j] */
void ns_gauss_apply(uint32_t n, const double *E, const double *F, double *Y);

/* One sweep:  Z_i = sum_j mu_ij hb_j F_j,  X_i = x + (x_lo + Z_i).  Z is overwritten; returned is
 * the Euclidean norm of all changes (Z_new - Z) weight: nan if any F is not finite. */
double ns_gauss_sweep(uint32_t n, const double *hb, const double *F, const double *x,
                      const double *x_lo, const double *weight, double *Z, double *X);

/* x_new + x_new_lo = x + x_lo + sum_j (hb_j + hb_lo_j) F_j, summed without rounding errors */
void ns_gauss_update(uint32_t n, const double *hb, const double *hb_lo, const double *F,
                     const double *x, const double *x_lo, double *x_new, double *x_new_lo);

#endif
