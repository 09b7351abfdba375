/* Inner loops of `gauss`, a template: included once per instruction set with NS_GAUSS, the name
 * of the table of functions, and NS_GAUSS_NAME, the name of the instruction set. */
#ifdef NS_GAUSS

#include <math.h>
#if NS_X86
#include <immintrin.h>
#endif

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

/* a b + c, rounded once: the same bits everywhere, and fast where the processor has it */
static inline v8 madd(v8 a, double b, v8 c)
{
#if defined __AVX512F__
    return (v8)_mm512_fmadd_pd((__m512d)a, _mm512_set1_pd(b), (__m512d)c);
#elif defined __FMA__
    typedef double v4 __attribute__((vector_size(32)));
    const __m256d b4 = _mm256_set1_pd(b);
    const v4 low = (v4)_mm256_fmadd_pd((__m256d)__builtin_shufflevector(a, a, 0, 1, 2, 3), b4,
                                       (__m256d)__builtin_shufflevector(c, c, 0, 1, 2, 3));
    const v4 high = (v4)_mm256_fmadd_pd((__m256d)__builtin_shufflevector(a, a, 4, 5, 6, 7), b4,
                                        (__m256d)__builtin_shufflevector(c, c, 4, 5, 6, 7));
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#else
    for (int i = 0; i < 8; i++)
        c[i] = fma(a[i], b, c[i]);
    return c;
#endif
}

static inline v8 larger(v8 a, v8 b)
{
    typedef int64_t i8 __attribute__((vector_size(64)));
    const i8 which = b > a;
    return (v8)((which & (i8)b) | (~which & (i8)a));
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

/* A matrix by columns, in registers. */
typedef struct matrix {
    v8 c0, c1, c2, c3, c4, c5, c6, c7;
} matrix;

static inline matrix load_matrix(const double *E)
{
    return (matrix){load(E),      load(E + 8),  load(E + 16), load(E + 24),
                    load(E + 32), load(E + 40), load(E + 48), load(E + 56)};
}

/* sum_j E[j] y_j in a fixed order */
static inline v8 combine(const matrix *E, v8 y8)
{
    double y[8] __attribute__((aligned(64)));
    store(y, y8);
    /* through memory, or gcc spreads the lanes by permutations that compete with sums */
    __asm__("" : "+m"(y));
    v8 a = E->c0 * y[0], b = E->c4 * y[4];
    a = madd(E->c1, y[1], a);
    b = madd(E->c5, y[5], b);
    a = madd(E->c2, y[2], a);
    b = madd(E->c6, y[6], b);
    a = madd(E->c3, y[3], a);
    b = madd(E->c7, y[7], b);
    return a + b;
}

static void apply(uint32_t n, const double *E, const double *F, double *Y)
{
    const matrix m = load_matrix(E);
    for (uint32_t s = 0; s < n; s++)
        store(Y + 8 * s, combine(&m, load(F + 8 * s)));
}

static void start(uint32_t n, const uint32_t *state, const double *hb, const double *F,
                  const double *x, const double *x_lo, double *Z, double *X)
{
    const v8 hb8 = load(hb);
    const matrix mu = load_matrix(&gauss_mu[0][0]);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t s = state[k];
        const v8 z = combine(&mu, hb8 * load(F + 8 * (size_t)s));
        store(Z + 8 * (size_t)s, z);
        store(X + 8 * (size_t)s, x[s] + (x_lo[s] + z));
    }
}

static double sweep(const ns_rate_block *block, const double *hb, const double *rates,
                    const double *x, const double *x_lo, const double *weight, double *F,
                    double *Z, double *X)
{
    const v8 hb8 = load(hb);
    const matrix mu = load_matrix(&gauss_mu[0][0]);
    v8 sum = hb8 * 0;
    for (uint32_t k = 0; k < block->n; k++) {
        const uint32_t s = block->state[k], row = block->row[k];
        const v8 f = load(row != NS_NO_ROW ? rates + 8 * (size_t)row
                                           : X + 8 * (size_t)block->source[k]);
        store(F + 8 * (size_t)s, f);
        const v8 z = combine(&mu, hb8 * f);
        const v8 change = (z - load(Z + 8 * (size_t)s)) * weight[s];
        sum += change * change;
        store(Z + 8 * (size_t)s, z);
        store(X + 8 * (size_t)s, x[s] + (x_lo[s] + z));
    }
    return add_up(sum);
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

/* Lane i of the result is the largest of row[i]. */
static inline v8 largest_of(const v8 row[8])
{
    v8 two[4], four[2];
    for (int i = 0; i < 4; i++) {
        const v8 a = row[2 * i], b = row[2 * i + 1];
        two[i] = larger(__builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14),
                        __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15));
    }
    for (int i = 0; i < 2; i++) {
        const v8 a = two[2 * i], b = two[2 * i + 1];
        four[i] = larger(__builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13),
                         __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15));
    }
    return larger(__builtin_shufflevector(four[0], four[1], 0, 1, 2, 3, 8, 9, 10, 11),
                  __builtin_shufflevector(four[0], four[1], 4, 5, 6, 7, 12, 13, 14, 15));
}

static inline double largest(v8 v)
{
    v = larger(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
    v = larger(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
    return ns_larger(v[0], v[1]);
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

static void weights(uint32_t n, const double *F, double length, double unsettled, double usual,
                    const double *size, const double *noise, double *weight, double *settle)
{
    const v8 b = load(gauss_b);
    v8 row[8];
    for (uint32_t s = 0; s < n; s += 8) {
        load_rows(n, s, F, row);
        for (int i = 0; i < 8; i++)
            row[i] = b * row[i] * row[i];
        const v8 tiny = b * 0 + 1e-300;
        const v8 one = 1 / larger(larger(load(size + s), length * root(add_rows(row))), tiny);
        const v8 share = usual / larger(b * 0 + usual, unsettled * load(noise + s) * one);
        store(weight + s, share * one);
        store(settle + s, share * share * one);
    }
}

static inline v8 gather(uint32_t n, const uint32_t *index, const double *from)
{
    v8 out = {0};
    for (uint32_t i = 0; i < 8; i++)
        out[i] = from[index[i < n ? i : n - 1]];
    return out;
}

static void judge(uint32_t n, const uint32_t *state, const double *F,
                  const ns_gauss_limits *limits, const double *weight, const double *settle,
                  const double *noise, double *room, ns_gauss_judgement *sum, double *tail)
{
    const size_t stride = ns_round8(n);
    const v8 b = load(gauss_b), p6 = load(gauss_leg6), p7 = load(gauss_leg7);
    v8 row[8], most = b * 0 + sum->most;
    for (uint32_t s = 0; s < n; s += 8) {
        for (uint32_t i = 0; i < 8; i++)
            row[i] = load(F + 8 * (size_t)state[s + i < n ? s + i : n - 1]);
        const v8 middle = weighted_sums(b, row);
        store(room + stride + s, size_of(weighted_sums(p6, row)));
        store(room + 2 * stride + s, size_of(weighted_sums(p7, row)));
        for (int i = 0; i < 8; i++) {
            const v8 d = row[i] - middle[i];
            row[i] = b * d * d;
        }
        const v8 f = root(add_rows(row));
        store(room + s, f);
        most = larger(most, f * gather(n - s, state + s, weight));
    }
    sum->most = largest(most);
    *tail = 0;
    if (!(sum->most > 0))
        return;
    v8 e6 = b * 0, e7 = e6, m6 = e6, m7 = e6, last = e6;
    const v8 zero = e6, least = e6 + limits->least, length = e6 + limits->length;
    const v8 floor = 1e-3 * length * sum->most;
    for (uint32_t s = 0; s < n; s += 8) {
        const v8 scale = gather(n - s, state + s, weight), w = length * scale;
        const v8 error = 4 *
                         larger(least, w * gather(n - s, state + s, noise) * limits->unsettled);
        const v8 whole = 1 / larger(load(room + s) * w, floor);
        const v8 a6 = larger(zero, load(room + stride + s) * w - error);
        const v8 a7 = larger(zero, load(room + 2 * stride + s) * w - error);
        last = larger(last, larger(a6, a7) * (gather(n - s, state + s, settle) / scale));
        e6 = larger(e6, a6 * a6 * whole);
        e7 = larger(e7, a7 * a7 * whole);
        m6 = larger(m6, a6 * whole);
        m7 = larger(m7, a7 * whole);
    }
    const v8 found[8] = {e6, e7, m6, m7, last, last, last, last};
    const v8 all = largest_of(found);
    sum->e6 = ns_larger(sum->e6, all[0]);
    sum->e7 = ns_larger(sum->e7, all[1]);
    sum->m6 = ns_larger(sum->m6, all[2]);
    sum->m7 = ns_larger(sum->m7, all[3]);
    *tail = all[4];
}

const ns_gauss_kernel NS_GAUSS = {
    .name = NS_GAUSS_NAME,
    .interpolation = interpolation,
    .integration = integration,
    .apply = apply,
    .start = start,
    .sweep = sweep,
    .update = update,
    .weights = weights,
    .judge = judge,
};

#endif
