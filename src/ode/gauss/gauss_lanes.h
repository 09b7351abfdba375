/* Inner loops of `gauss`, a template: included once per instruction set with NS_GAUSS, the name
 * of the table of functions, and NS_GAUSS_NAME, the name of the instruction set. */
#ifdef NS_GAUSS

#include <float.h>
#include <math.h>
#if NS_X86
#include <immintrin.h>
#endif

#include "ode/gauss/gauss_kernel.h"
#include "ode/gauss/gauss_table.h"

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

/* a b + c, rounded once: the same bits everywhere, and fast where the processor has it.
 * The larger of two:  b > a ? b : a. */
#if defined __AVX512F__

static inline v8 fused(v8 a, v8 b, v8 c)
{
    return (v8)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

static inline v8 larger(v8 a, v8 b)
{
    return (v8)_mm512_max_pd((__m512d)b, (__m512d)a);
}

static inline v8 root(v8 a)
{
    return (v8)_mm512_sqrt_pd((__m512d)a);
}

#elif defined __FMA__

static inline __m256d low(v8 a)
{
    return (__m256d)__builtin_shufflevector(a, a, 0, 1, 2, 3);
}

static inline __m256d high(v8 a)
{
    return (__m256d)__builtin_shufflevector(a, a, 4, 5, 6, 7);
}

static inline v8 both(__m256d a, __m256d b)
{
    typedef double v4 __attribute__((vector_size(32)));
    return __builtin_shufflevector((v4)a, (v4)b, 0, 1, 2, 3, 4, 5, 6, 7);
}

static inline v8 fused(v8 a, v8 b, v8 c)
{
    return both(_mm256_fmadd_pd(low(a), low(b), low(c)),
                _mm256_fmadd_pd(high(a), high(b), high(c)));
}

static inline v8 larger(v8 a, v8 b)
{
    return both(_mm256_max_pd(low(b), low(a)), _mm256_max_pd(high(b), high(a)));
}

static inline v8 root(v8 a)
{
    return both(_mm256_sqrt_pd(low(a)), _mm256_sqrt_pd(high(a)));
}

#else

static inline v8 fused(v8 a, v8 b, v8 c)
{
    for (int i = 0; i < 8; i++)
        c[i] = fma(a[i], b[i], c[i]);
    return c;
}

static inline v8 larger(v8 a, v8 b)
{
    typedef int64_t i8 __attribute__((vector_size(64)));
    const i8 which = b > a;
    return (v8)((which & (i8)b) | (~which & (i8)a));
}

static inline v8 root(v8 a)
{
    for (int i = 0; i < 8; i++)
        a[i] = sqrt(a[i]);
    return a;
}

#endif

static inline v8 all(double a)
{
    return (v8){a, a, a, a, a, a, a, a};
}

static inline v8 madd(v8 a, double b, v8 c)
{
#if defined __FMA__ && !defined __AVX512F__
    const __m256d b4 = _mm256_set1_pd(b);
    return both(_mm256_fmadd_pd(low(a), b4, low(c)), _mm256_fmadd_pd(high(a), b4, high(c)));
#else
    return fused(a, all(b), c);
#endif
}

static inline double add_up(v8 v)
{
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
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

/* c + sum_j E[j] y_j in a fixed order */
static inline v8 combine(const matrix *E, v8 y8, v8 c)
{
    double y[8] __attribute__((aligned(64)));
    store(y, y8);
    /* through memory, or gcc spreads the lanes by permutations that compete with sums; but the
     * first two, because that takes longer */
    __asm__("" : "+m"(y));
#ifdef __AVX512F__
    v8 a = fused(E->c0, __builtin_shufflevector(y8, y8, 0, 0, 0, 0, 0, 0, 0, 0), c);
    v8 b = E->c4 * __builtin_shufflevector(y8, y8, 4, 4, 4, 4, 4, 4, 4, 4);
#else
    v8 a = madd(E->c0, y[0], c), b = E->c4 * y[4];
#endif
    a = madd(E->c1, y[1], a);
    b = madd(E->c5, y[5], b);
    a = madd(E->c2, y[2], a);
    b = madd(E->c6, y[6], b);
    a = madd(E->c3, y[3], a);
    b = madd(E->c7, y[7], b);
    return a + b;
}

/* l_j(u_i) by columns */
static inline matrix interpolation(v8 at)
{
    /* no division, so points on nodes are fine */
    v8 d[8];
    for (int j = 0; j < 8; j++)
        d[j] = at - gauss_c[j];
    const v8 d01 = d[0] * d[1], d23 = d[2] * d[3], d45 = d[4] * d[5], d67 = d[6] * d[7];
    const v8 left = d01 * d23, right = d45 * d67;
    const v8 l6 = left * d45, r2 = d23 * right;
    return (matrix){gauss_w[0] * (d[1] * r2),
                    gauss_w[1] * (d[0] * r2),
                    gauss_w[2] * ((d01 * d[3]) * right),
                    gauss_w[3] * ((d01 * d[2]) * right),
                    gauss_w[4] * (left * (d[5] * d67)),
                    gauss_w[5] * (left * (d[4] * d67)),
                    gauss_w[6] * (l6 * d[7]),
                    gauss_w[7] * (l6 * d[6])};
}

static void integration(const double *u, double *out)
{
    /* the quadrature on [0, u] with 8 nodes is exact for polynomials of degree 15 */
    const v8 at = load(u);
    v8 sum[8] = {at * 0, at * 0, at * 0, at * 0, at * 0, at * 0, at * 0, at * 0};
    for (int k = 0; k < 8; k++) {
        const matrix m = interpolation(at * gauss_c[k]);
        const v8 value[8] = {m.c0, m.c1, m.c2, m.c3, m.c4, m.c5, m.c6, m.c7};
        for (int j = 0; j < 8; j++)
            sum[j] += gauss_b[k] * value[j];
    }
    for (int j = 0; j < 8; j++)
        store(out + 8 * j, at * sum[j]);
}

static void apply(uint32_t n, const double *E, const double *F, double *Y)
{
    const matrix m = load_matrix(E);
    for (uint32_t s = 0; s < n; s++)
        store(Y + 8 * (size_t)s, combine(&m, load(F + 8 * (size_t)s), all(0)));
}

static void predict(uint32_t n, double shift, double ratio, const double *F, double *Y)
{
    const matrix m = interpolation(shift + ratio * load(gauss_c));
    for (uint32_t s = 0; s < n; s++)
        store(Y + 8 * (size_t)s, combine(&m, load(F + 8 * (size_t)s), all(0)));
}

/* `follow`: there are states whose rate is another state. */
static inline __attribute__((always_inline)) double
sweep_over(bool follow, const ns_gauss_arrays *a, const ns_rate_block *block, uint32_t from,
           uint32_t to, const double *rates, const double *x, const double *x_lo)
{
    const v8 hb = load(a->hb);
    const matrix mu = load_matrix(&gauss_mu[0][0]);
    v8 sum = all(0), latest = sum;
    uint32_t before = NS_NO_ROW; /* the last state; its stages are `latest` */
    /* said once, or they are loaded again after every store */
    double *const Y = a->Y, *const Z = a->Z, *const X = a->X;
    const double *const settle = a->settle;
    const uint32_t *const state = block->state, *const rows = block->row;
    for (uint32_t k = from; k < to; k++) {
        const size_t s = state[k], row = rows[k];
        v8 f;
        if (!follow || row != NS_NO_ROW)
            f = load(rates + 8 * row);
        else if (block->source[k] == before)
            f = latest; /* not through memory: what comes next waits for it */
        else
            f = load(X + 8 * (size_t)block->source[k]);
        store(Y + 8 * s, f);
        const v8 z = combine(&mu, hb * f, all(x_lo[s]));
        const v8 change = (z - load(Z + 8 * s)) * settle[s];
        sum = fused(change, change, sum);
        store(Z + 8 * s, z);
        latest = x[s] + z;
        before = state[k];
        store(X + 8 * s, latest);
    }
    return add_up(sum);
}

static double sweep(const ns_gauss_arrays *a, const ns_rate_block *block, uint32_t from,
                    uint32_t to, const double *rates, const double *x, const double *x_lo)
{
    return block->follow ? sweep_over(true, a, block, from, to, rates, x, x_lo)
                         : sweep_over(false, a, block, from, to, rates, x, x_lo);
}

/* ---- eight states at a time
 * ------------------------------------------------------------------ Rows of F become lanes.
 * Where fewer than eight states are left the last one is repeated; what is stored behind it is
 * never read. */

/* Rows of the states s, s + 1 .. or of those in the list. */
static inline void load_rows(uint32_t n, uint32_t s, const uint32_t *state, const double *F,
                             v8 row[8])
{
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t k = s + i < n ? s + i : n - 1;
        row[i] = load(F + 8 * (size_t)(state ? state[k] : k));
    }
}

/* From rows of states to rows of stages. */
static inline void transpose(const v8 row[8], v8 stage[8])
{
    v8 two[8], four[8];
    for (int i = 0; i < 8; i += 2) {
        const v8 a = row[i], b = row[i + 1];
        two[i] = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
        two[i + 1] = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < 4; i++) {
        const int k = i < 2 ? i : i + 2;
        const v8 a = two[k], b = two[k + 2];
        four[k] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
        four[k + 2] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int i = 0; i < 4; i++) {
        const v8 a = four[i], b = four[i + 4];
        stage[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
        stage[i + 4] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    }
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

static bool update(const ns_gauss_arrays *a, const double *x, const double *x_lo, double *x_new,
                   double *x_new_lo)
{
    /* the increments first, from the outer stages (small weights) to the inner */
    static const int inwards[8] = {0, 7, 1, 6, 2, 5, 3, 4};
    v8 row[8], stage[8], not_finite = all(0);
    for (uint32_t s = 0; s < a->n; s += 8) {
        load_rows(a->n, s, NULL, a->Y, row);
        transpose(row, stage);
        v8 sum = all(0), rest = all(0), e;
        for (int k = 0; k < 8; k++) {
            const int j = inwards[k];
            sum = two_sums(sum, a->hb[j] * stage[j], &e);
            rest += madd(stage[j], a->hb_lo[j], e);
        }
        v8 e1, e2;
        const v8 total = two_sums(load(x + s), sum, &e1);
        const v8 new = two_sums(total, e1 + (load(x_lo + s) + rest), &e2);
        store(x_new + s, new);
        store(x_new_lo + s, e2);
        not_finite += new - new; /* 0, or nan; behind the last state it is repeated */
    }
    return add_up(not_finite) == 0;
}

/* 1 where a state is, 0 behind the last one */
static inline v8 there(uint32_t n, uint32_t s)
{
    static const double ones[16] = {1, 1, 1, 1, 1, 1, 1, 1};
    const uint32_t missing = s + 8 > n ? s + 8 - n : 0;
    v8 out;
    memcpy(&out, ones + missing, sizeof out);
    return out;
}

static void accept(ns_stepper *st, const double *x_new, const double *x_new_lo)
{
    v8 most = all(0);
    for (uint32_t s = 0; s < st->n; s += 8) {
        const v8 old = load(st->x + s), new = load(x_new + s);
        store(st->x0 + s, old);
        store(st->x0_lo + s, load(st->x_lo + s));
        store(st->x + s, new);
        store(st->x_lo + s, load(x_new_lo + s));
        const v8 size = there(st->n, s) * larger(larger(size_of(new), size_of(new - old)),
                                                 0.99 * load(st->size + s));
        store(st->size + s, size);
        most = larger(most, size);
    }
    const double greatest = largest(most);
    const v8 floor = all(ns_larger(1e-8 * (greatest == 0 ? 1 : greatest), st->least_size));
    for (uint32_t s = 0; s < st->n; s += 8)
        store(st->size + s, larger(load(st->size + s), floor));
}

static void prepare(const ns_gauss_arrays *a, double t, double h, double settled,
                    const double *x, const double *x_lo)
{
    const v8 b = load(gauss_b), hb = h * b;
    store(a->time, t + h * load(gauss_c));
    store(a->hb, hb);
    store(a->hb_lo, fused(all(h), b, -hb) + h * load(gauss_b_lo));
    const matrix mu = load_matrix(&gauss_mu[0][0]);
    const uint32_t n = a->n;
    double *const Y = a->Y, *const Z = a->Z, *const X = a->X;
    for (size_t s = 0; s < n; s++) {
        const v8 z = combine(&mu, hb * load(Y + 8 * s), all(x_lo[s]));
        store(Z + 8 * s, z);
        store(X + 8 * s, x[s] + z);
    }
    const double length = fabs(h), unsettled = length * settled / DBL_EPSILON;
    const v8 tiny = all(1e-300), usual = all(64 * settled);
    v8 row[8];
    for (uint32_t s = 0; s < n; s += 8) {
        load_rows(n, s, NULL, Y, row);
        for (int i = 0; i < 8; i++)
            row[i] = b * row[i] * row[i];
        const v8 change = length * root(add_rows(row));
        const v8 one = 1 / larger(larger(load(a->size + s), change), tiny);
        const v8 share = there(a->n, s) * usual /
                         larger(usual, unsettled * load(a->noise + s) * one);
        store(a->share + s, share);
        store(a->weight + s, share * one);
        store(a->settle + s, share * share * one);
    }
}

/* What belongs to the rows of load_rows; 0 behind the last state, where the list ends */
static inline v8 gather(uint32_t n, uint32_t s, const uint32_t *state, const double *from)
{
    if (!state)
        return load(from + s);
    v8 out = all(0);
    for (uint32_t i = 0; i < 8 && s + i < n; i++)
        out[i] = from[state[s + i]];
    return out;
}

/* sum of weight[j] part[j] over the first half of the stages */
static inline v8 weigh(const v8 part[4], const double *weight)
{
    return madd(part[1], weight[1], weight[0] * part[0]) +
           madd(part[3], weight[3], weight[2] * part[2]);
}

static void judge(const ns_gauss_arrays *a, uint32_t n, const uint32_t *state,
                  const ns_gauss_limits *limits, double *room, ns_gauss_judgement *sum,
                  double *tail)
{
    const size_t stride = ns_round8(n);
    v8 row[8], stage[8], most = all(sum->most);
    for (uint32_t s = 0; s < n; s += 8) {
        load_rows(n, s, state, a->Y, row);
        transpose(row, stage);
        /* P_6 is even about the middle, P_7 odd */
        v8 even[4], odd[4];
        for (int j = 0; j < 4; j++) {
            even[j] = stage[j] + stage[7 - j];
            odd[j] = stage[j] - stage[7 - j];
        }
        const v8 twice = 2 * weigh(even, gauss_b);
        const v8 f6 = weigh(even, gauss_leg6), f7 = weigh(odd, gauss_leg7);
        for (int j = 0; j < 4; j++)
            odd[j] *= odd[j];
        for (int j = 0; j < 4; j++) {
            const v8 d = even[j] - twice;
            even[j] = fused(d, d, odd[j]);
        }
        const v8 f = 0.5 * weigh(even, gauss_b);
        const v8 w = gather(n, s, state, a->weight);
        store(room + s, f);
        store(room + stride + s, size_of(f6));
        store(room + 2 * stride + s, size_of(f7));
        most = larger(most, f * w * w);
    }
    sum->most = largest(most);
    *tail = 0;
    if (!(sum->most > 0))
        return;
    const v8 zero = all(0), least = all(limits->least), length = all(limits->length);
    const v8 floor = 1e-6 * (length * length) * sum->most;
    v8 e6 = zero, e7 = zero, m6 = zero, m7 = zero, last = zero;
    for (uint32_t s = 0; s < n; s += 8) {
        const v8 w = length * gather(n, s, state, a->weight);
        const v8 error = 4 *
                         larger(least, w * gather(n, s, state, a->noise) * limits->unsettled);
        const v8 whole = 1 / larger(load(room + s) * w * w, floor);
        const v8 a6 = larger(zero, load(room + stride + s) * w - error);
        const v8 a7 = larger(zero, load(room + 2 * stride + s) * w - error);
        const v8 s6 = a6 * a6, s7 = a7 * a7;
        last = larger(last, larger(a6, a7) * gather(n, s, state, a->share));
        e6 = larger(e6, s6 * s6 * whole);
        e7 = larger(e7, s7 * s7 * whole);
        m6 = larger(m6, s6 * whole);
        m7 = larger(m7, s7 * whole);
    }
    const v8 found[8] = {e6, e7, m6, m7, last, last, last, last};
    const v8 most_of = largest_of(found);
    sum->e6 = ns_larger(sum->e6, most_of[0]);
    sum->e7 = ns_larger(sum->e7, most_of[1]);
    sum->m6 = ns_larger(sum->m6, most_of[2]);
    sum->m7 = ns_larger(sum->m7, most_of[3]);
    *tail = most_of[4];
}

const ns_gauss_kernel NS_GAUSS = {
    .name = NS_GAUSS_NAME,
    .integration = integration,
    .apply = apply,
    .predict = predict,
    .prepare = prepare,
    .sweep = sweep,
    .update = update,
    .accept = accept,
    .judge = judge,
};

#endif
