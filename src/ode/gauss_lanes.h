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

/* sum_j E[j] y_j in a fixed order; y in memory, from where a lane is spread at no cost */
static inline v8 combine(const double *E, const double *y)
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
        store(Y + 8 * s, combine(E, F + 8 * s));
}

static double sweep(uint32_t n, const uint32_t *order, const uint32_t *source, const double *hb,
                    double *F, const double *x, const double *x_lo, const double *weight,
                    double *Z, double *X)
{
    const v8 hb8 = load(hb);
    v8 sum = hb8 * 0;
    double hbF[8] __attribute__((aligned(64)));
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t s = order[k];
        if (source[s] != NS_GAUSS_NO_SOURCE)
            store(F + 8 * s, load(X + 8 * source[s]));
        store(hbF, hb8 * load(F + 8 * s));
        /* through memory, or gcc spreads the lanes by permutations that compete with sums */
        __asm__("" : "+m"(hbF));
        const v8 z = combine(&gauss_mu[0][0], hbF);
        const v8 change = (z - load(Z + 8 * s)) * weight[s];
        sum += change * change;
        store(Z + 8 * s, z);
        store(X + 8 * s, x[s] + (x_lo[s] + z));
    }
    return sqrt(add_up(sum));
}

/* ---- eight states at a time ------------------------------------------------------------------
 * Rows of F become lanes.  Where fewer than eight states are left the last one is repeated; what
 * is stored behind it is never read. */

static inline void load_rows(uint32_t n, uint32_t s, const double *F, v8 row[8])
{
    for (uint32_t i = 0; i < 8; i++)
        row[i] = load(F + 8 * (size_t)(s + i < n ? s + i : n - 1));
}

/* Lane i of the result is add_up(row[i]), with the same roundings. */
static inline v8 add_rows(const v8 row[8])
{
    v8 two[4], four[2];
    for (int i = 0; i < 4; i++) {
        const v8 a = row[2 * i], b = row[2 * i + 1];
        two[i] = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
                 __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < 2; i++) {
        const v8 a = two[2 * i], b = two[2 * i + 1];
        four[i] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
                  __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
    return __builtin_shufflevector(four[0], four[1], 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(four[0], four[1], 4, 5, 6, 7, 12, 13, 14, 15);
}

static inline v8 weighted_sums(v8 weight, const v8 row[8])
{
    v8 product[8];
    for (int i = 0; i < 8; i++)
        product[i] = weight * row[i];
    return add_rows(product);
}

static inline v8 root(v8 a)
{
    v8 y = a;
    for (int i = 0; i < 8; i++)
        y[i] = sqrt(y[i]);
    return y;
}

static inline v8 size_of(v8 a)
{
    typedef int64_t i8 __attribute__((vector_size(64)));
    return (v8)((i8)a & INT64_MAX);
}

/* ns_two_sum and ns_add_compensated on vectors */
static inline v8 two_sums(v8 a, v8 b, v8 *e)
{
    const v8 s = a + b, bb = s - a;
    *e = (a - (s - bb)) + (b - bb);
    return s;
}

static void update(uint32_t n, const double *hb, const double *hb_lo, const double *F,
                   const double *x, const double *x_lo, double *x_new, double *x_new_lo)
{
    /* the increments first, from the outer stages (small weights) to the inner */
    static const int inwards[8] = {0, 7, 1, 6, 2, 5, 3, 4};
    for (uint32_t s = 0; s < n; s += 8) {
        v8 sum = {0}, low = {0}, e;
        const double *row[8];
        for (uint32_t i = 0; i < 8; i++)
            row[i] = F + 8 * (size_t)(s + i < n ? s + i : n - 1);
        for (int k = 0; k < 8; k++) {
            const int j = inwards[k];
            const v8 stage = {row[0][j], row[1][j], row[2][j], row[3][j],
                              row[4][j], row[5][j], row[6][j], row[7][j]};
            sum = two_sums(sum, hb[j] * stage, &e);
            low += e + hb_lo[j] * stage;
        }
        v8 e1, e2;
        const v8 total = two_sums(load(x + s), sum, &e1);
        store(x_new + s, two_sums(total, e1 + (load(x_lo + s) + low), &e2));
        store(x_new_lo + s, e2);
    }
}

static void mean(uint32_t n, const double *F, double *out)
{
    const v8 b = load(gauss_b);
    v8 row[8];
    for (uint32_t s = 0; s < n; s += 8) {
        load_rows(n, s, F, row);
        for (int i = 0; i < 8; i++)
            row[i] = b * row[i] * row[i];
        store(out + s, root(add_rows(row)));
    }
}

static void spectrum(uint32_t n, const double *F, double *out)
{
    const size_t stride = ns_round8(n);
    const v8 b = load(gauss_b), p6 = load(gauss_leg6), p7 = load(gauss_leg7);
    v8 row[8];
    for (uint32_t s = 0; s < n; s += 8) {
        load_rows(n, s, F, row);
        const v8 middle = weighted_sums(b, row);
        store(out + stride + s, size_of(weighted_sums(p6, row)));
        store(out + 2 * stride + s, size_of(weighted_sums(p7, row)));
        for (int i = 0; i < 8; i++) {
            const v8 d = row[i] - middle[i];
            row[i] = b * d * d;
        }
        store(out + s, root(add_rows(row)));
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
