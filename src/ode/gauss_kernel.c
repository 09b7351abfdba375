/* Inner loops of `gauss`: see gauss_kernel.h. */
#include "ode/gauss_kernel.h"

#include <math.h>

#include "ode/gauss_table.h"
#include "ode/stepper.h"

static inline ns_v8 load(const double *at)
{
    return *(const ns_v8 *)at;
}

static inline void store(double *at, ns_v8 v)
{
    *(ns_v8 *)at = v;
}

void ns_gauss_interpolation(const double *u, double *out)
{
    /* products from the left and from the right: no division, so points on nodes are fine */
    ns_v8 left[8];
    const ns_v8 at = load(u);
    ns_v8 product = at * 0 + 1;
    for (int j = 0; j < 8; j++) {
        left[j] = product;
        product *= at - gauss_c[j];
    }
    product = at * 0 + 1;
    for (int j = 8; j-- > 0;) {
        store(out + 8 * j, gauss_w[j] * (left[j] * product));
        product *= at - gauss_c[j];
    }
}

void ns_gauss_integration(const double *u, double *out)
{
    /* the quadrature on [0, u] with 8 nodes is exact for polynomials of degree 15 */
    double point[8] __attribute__((aligned(64))), value[64] __attribute__((aligned(64)));
    const ns_v8 at = load(u);
    for (int j = 0; j < 8; j++)
        store(out + 8 * j, at * 0);
    for (int k = 0; k < 8; k++) {
        store(point, at * gauss_c[k]);
        ns_gauss_interpolation(point, value);
        for (int j = 0; j < 8; j++)
            store(out + 8 * j, load(out + 8 * j) + gauss_b[k] * load(value + 8 * j));
    }
    for (int j = 0; j < 8; j++)
        store(out + 8 * j, at * load(out + 8 * j));
}

/* sum_j E[j] y_j in a fixed order */
static inline ns_v8 combine(const double *E, ns_v8 y)
{
    const ns_v8 a = load(E) * y[0] + load(E + 8) * y[1];
    const ns_v8 b = load(E + 16) * y[2] + load(E + 24) * y[3];
    const ns_v8 c = load(E + 32) * y[4] + load(E + 40) * y[5];
    const ns_v8 d = load(E + 48) * y[6] + load(E + 56) * y[7];
    return (a + b) + (c + d);
}

void ns_gauss_apply(uint32_t n, const double *E, const double *F, double *Y)
{
    for (uint32_t s = 0; s < n; s++)
        store(Y + 8 * s, combine(E, load(F + 8 * s)));
}

double ns_gauss_sweep(uint32_t n, const double *hb, const double *F, const double *x,
                      const double *x_lo, const double *weight, double *Z, double *X)
{
    const ns_v8 hb8 = load(hb);
    ns_v8 sum = hb8 * 0;
    for (uint32_t s = 0; s < n; s++) {
        const ns_v8 z = combine(&gauss_mu[0][0], hb8 * load(F + 8 * s));
        const ns_v8 change = (z - load(Z + 8 * s)) * weight[s];
        sum += change * change;
        store(Z + 8 * s, z);
        store(X + 8 * s, x[s] + (x_lo[s] + z));
    }
    return sqrt(((sum[0] + sum[1]) + (sum[2] + sum[3])) +
                ((sum[4] + sum[5]) + (sum[6] + sum[7])));
}

void ns_gauss_update(uint32_t n, const double *hb, const double *hb_lo, const double *F,
                     const double *x, const double *x_lo, double *x_new, double *x_new_lo)
{
    for (uint32_t s = 0; s < n; s++) {
        /* the increments first, from the outer stages (small weights) to the inner */
        static const int order[8] = {0, 7, 1, 6, 2, 5, 3, 4};
        const double *f = F + 8 * s;
        double sum = 0, low = 0;
        for (int k = 0; k < 8; k++) {
            const int j = order[k];
            double e;
            sum = ns_two_sum(sum, hb[j] * f[j], &e);
            low += e + hb_lo[j] * f[j];
        }
        x_new[s] = x[s];
        x_new_lo[s] = x_lo[s];
        ns_add_compensated(&x_new[s], &x_new_lo[s], sum, low);
    }
}
