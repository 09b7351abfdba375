/* Inner loops of `gauss`, a template: included once per instruction set with NS_GAUSS, the name
 * of the table of functions, and NS_GAUSS_NAME, the name of the instruction set. */
#ifdef NS_GAUSS

#include <math.h>

#include "ode/gauss_kernel.h"
#include "ode/gauss_table.h"
#include "ode/stepper.h"

typedef double v8 __attribute__((vector_size(64)));
typedef double v8_in_memory __attribute__((vector_size(64), may_alias));

static inline v8 load(const double *at)
{
    return *(const v8_in_memory *)at;
}

static inline void store(double *at, v8 v)
{
    *(v8_in_memory *)at = v;
}

static inline double add_up(v8 v)
{
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

static void interpolation(const double *u, double *out)
{
    /* products from the left and from the right: no division, so points on nodes are fine */
    v8 left[8];
    const v8 at = load(u);
    v8 product = at * 0 + 1;
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

static void integration(const double *u, double *out)
{
    /* the quadrature on [0, u] with 8 nodes is exact for polynomials of degree 15 */
    double point[8] __attribute__((aligned(64))), value[64] __attribute__((aligned(64)));
    const v8 at = load(u);
    for (int j = 0; j < 8; j++)
        store(out + 8 * j, at * 0);
    for (int k = 0; k < 8; k++) {
        store(point, at * gauss_c[k]);
        interpolation(point, value);
        for (int j = 0; j < 8; j++)
            store(out + 8 * j, load(out + 8 * j) + gauss_b[k] * load(value + 8 * j));
    }
    for (int j = 0; j < 8; j++)
        store(out + 8 * j, at * load(out + 8 * j));
}

/* sum_j E[j] y_j in a fixed order */
static inline v8 combine(const double *E, v8 y)
{
    const v8 a = load(E) * y[0] + load(E + 8) * y[1];
    const v8 b = load(E + 16) * y[2] + load(E + 24) * y[3];
    const v8 c = load(E + 32) * y[4] + load(E + 40) * y[5];
    const v8 d = load(E + 48) * y[6] + load(E + 56) * y[7];
    return (a + b) + (c + d);
}

static void apply(uint32_t n, const double *E, const double *F, double *Y)
{
    for (uint32_t s = 0; s < n; s++)
        store(Y + 8 * s, combine(E, load(F + 8 * s)));
}

static double sweep(uint32_t n, const uint32_t *order, const uint32_t *source, const double *hb,
                    double *F, const double *x, const double *x_lo, const double *weight,
                    double *Z, double *X)
{
    const v8 hb8 = load(hb);
    v8 sum = hb8 * 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t s = order[k];
        if (source[s] != NS_GAUSS_NO_SOURCE)
            store(F + 8 * s, load(X + 8 * source[s]));
        const v8 z = combine(&gauss_mu[0][0], hb8 * load(F + 8 * s));
        const v8 change = (z - load(Z + 8 * s)) * weight[s];
        sum += change * change;
        store(Z + 8 * s, z);
        store(X + 8 * s, x[s] + (x_lo[s] + z));
    }
    return sqrt(add_up(sum));
}

static void update(uint32_t n, const double *hb, const double *hb_lo, const double *F,
                   const double *x, const double *x_lo, double *x_new, double *x_new_lo)
{
    for (uint32_t s = 0; s < n; s++) {
        /* the increments first, from the outer stages (small weights) to the inner */
        static const int inwards[8] = {0, 7, 1, 6, 2, 5, 3, 4};
        const double *f = F + 8 * s;
        double sum = 0, low = 0;
        for (int k = 0; k < 8; k++) {
            const int j = inwards[k];
            double e;
            sum = ns_two_sum(sum, hb[j] * f[j], &e);
            low += e + hb_lo[j] * f[j];
        }
        x_new[s] = x[s];
        x_new_lo[s] = x_lo[s];
        ns_add_compensated(&x_new[s], &x_new_lo[s], sum, low);
    }
}

static void mean(uint32_t n, const double *F, double *out)
{
    const v8 b = load(gauss_b);
    for (uint32_t s = 0; s < n; s++) {
        const v8 f = load(F + 8 * s);
        out[s] = sqrt(add_up(b * f * f));
    }
}

static void spectrum(uint32_t n, const double *F, double *out)
{
    const v8 b = load(gauss_b), p6 = load(gauss_leg6), p7 = load(gauss_leg7);
    for (uint32_t s = 0; s < n; s++) {
        const v8 f = load(F + 8 * s);
        const v8 d = f - add_up(b * f);
        out[3 * s] = sqrt(add_up(b * d * d));
        out[3 * s + 1] = fabs(add_up(p6 * f));
        out[3 * s + 2] = fabs(add_up(p7 * f));
    }
}

const ns_gauss_kernel NS_GAUSS = {
    .name = NS_GAUSS_NAME,
    .interpolation = interpolation,
    .integration = integration,
    .apply = apply,
    .sweep = sweep,
    .update = update,
    .mean = mean,
    .spectrum = spectrum,
};

#endif
