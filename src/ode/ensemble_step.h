/* Steps of dop853 with eight motions in lanes, a template: see ensemble_kernel.h.  Included once per
 * instruction set with NS_BUNDLE, the name of the table of functions, and NS_BUNDLE_NAME.
 *
 * Method and error estimate are those of dop853.c, with three differences.  Sums and rates are
 * made of fused operations; reciprocals and roots of the step control are rough, for divisions are
 * what a vector unit does worst; and the aim of the step control is smaller (SAFETY). */
#ifdef NS_BUNDLE

#include <float.h>
#include <math.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "ode/dop853_table.h"
#include "ode/ensemble_kernel.h"

typedef double v8 __attribute__((vector_size(64)));
typedef int64_t i8 __attribute__((vector_size(64)));
typedef double v8_in_memory __attribute__((vector_size(64), may_alias));
typedef int64_t i8_in_memory __attribute__((vector_size(64), may_alias));

static inline v8 load(const double *at)
{
    return *(const v8_in_memory *)at;
}

static inline void store(double *at, v8 v)
{
    *(v8_in_memory *)at = v;
}

static inline i8 load_mask(const int64_t *at)
{
    return *(const i8_in_memory *)at;
}

static inline void store_mask(int64_t *at, i8 v)
{
    *(i8_in_memory *)at = v;
}

static inline v8 choose(i8 m, v8 a, v8 b)
{
    return (v8)((m & (i8)a) | (~m & (i8)b));
}

static inline v8 all(double a)
{
    return a - (v8){0};
}

static inline v8 size_of(v8 a)
{
    return (v8)((i8)a & INT64_MAX);
}

/* a > b ? a : b, a < b ? a : b; a b + c with one rounding; square roots; -1 in which lanes? */
#if defined(__AVX512DQ__)
static inline v8 larger(v8 a, v8 b)
{
    return (v8)_mm512_max_pd((__m512d)a, (__m512d)b);
}

static inline v8 smaller(v8 a, v8 b)
{
    return (v8)_mm512_min_pd((__m512d)a, (__m512d)b);
}

static inline v8 fused(v8 a, v8 b, v8 c)
{
    return (v8)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

static inline v8 root(v8 a)
{
    return (v8)_mm512_sqrt_pd((__m512d)a);
}

static inline unsigned bits(i8 m)
{
    return _mm512_movepi64_mask((__m512i)m);
}
#elif defined(__AVX2__) && defined(__FMA__)
typedef union halves {
    v8 all;
    __m256d half[2];
} halves;

#define NS_HALVES(operation, ...)                                                              \
    halves y;                                                                                  \
    for (int i = 0; i < 2; i++)                                                                \
        y.half[i] = operation(__VA_ARGS__);                                                    \
    return y.all

static inline v8 larger(v8 a, v8 b)
{
    const halves p = {a}, q = {b};
    NS_HALVES(_mm256_max_pd, p.half[i], q.half[i]);
}

static inline v8 smaller(v8 a, v8 b)
{
    const halves p = {a}, q = {b};
    NS_HALVES(_mm256_min_pd, p.half[i], q.half[i]);
}

static inline v8 fused(v8 a, v8 b, v8 c)
{
    const halves p = {a}, q = {b}, r = {c};
    NS_HALVES(_mm256_fmadd_pd, p.half[i], q.half[i], r.half[i]);
}

static inline v8 root(v8 a)
{
    const halves p = {a};
    NS_HALVES(_mm256_sqrt_pd, p.half[i]);
}

static inline unsigned bits(i8 m)
{
    const halves p = {(v8)m};
    return (unsigned)_mm256_movemask_pd(p.half[0]) | (unsigned)_mm256_movemask_pd(p.half[1])
                                                         << 4;
}
#else
static inline v8 larger(v8 a, v8 b)
{
    return choose(a > b, a, b);
}

static inline v8 smaller(v8 a, v8 b)
{
    return choose(a < b, a, b);
}

static inline v8 fused(v8 a, v8 b, v8 c)
{
    for (int i = 0; i < 8; i++)
        a[i] = fma(a[i], b[i], c[i]);
    return a;
}

static inline v8 root(v8 a)
{
    for (int i = 0; i < 8; i++)
        a[i] = sqrt(a[i]);
    return a;
}

static inline unsigned bits(i8 m)
{
    unsigned set = 0;
    for (unsigned i = 0; i < 8; i++)
        set |= (unsigned)(m[i] & 1) << i;
    return set;
}
#endif

/* ns_two_sum and ns_add_compensated */
static inline v8 two_sum(v8 a, v8 b, v8 *e)
{
    const v8 s = a + b, bb = s - a;
    *e = (a - (s - bb)) + (b - bb);
    return s;
}

static inline v8 add_compensated(v8 x, v8 x_lo, v8 d, v8 *low)
{
    v8 e;
    const v8 sum = two_sum(x, d, &e), small = e + x_lo;
    const v8 y = sum + small; /* the smaller one second: its error takes less */
    *low = small - (y - sum);
    return y;
}

/* 0 in lanes where all values are finite, nan elsewhere */
static inline v8 not_finite(uint32_t n, const double *values)
{
    v8 even = {0}, odd = {0};
    uint32_t i = 0;
    for (; i + 1 < n; i += 2) {
        even = fused(load(values + 8 * (size_t)i), (v8){0}, even);
        odd = fused(load(values + 8 * (size_t)(i + 1)), (v8){0}, odd);
    }
    if (i < n)
        even = fused(load(values + 8 * (size_t)i), (v8){0}, even);
    return even + odd;
}

/* ---- rough functions ---------------------------------------------------------------------------
 * Error norms and step sizes need a few digits only.  A guess from the exponent and Newton's
 * iteration take a few operations each where divisions and roots take dozens of cycles; and they
 * have the same bits everywhere. */

/* 1/a for a > 0, to 0.05, 7e-6 (twice) or 5e-11 (three times) */
static inline v8 rough_inverse(v8 a, int times)
{
    v8 y = (v8)(0x7fde623822fc16e6 - (i8)a); /* to 0.05 */
    for (int k = 0; k < times; k++)
        y = y * fused(-a, y, all(2));
    return y;
}

/* a^(-1/16) for a > 0, to 5e-4; large for 0 */
static inline v8 rough_root(v8 a)
{
    v8 y = (v8)(0x43ee2d0e56041894 - ((i8)a >> 4));
    for (int k = 0; k < 2; k++) {
        const v8 y2 = y * y, y4 = y2 * y2, y8 = y4 * y4;
        y = y * fused(-0.0625 * a * y8, y8, all(1.0625));
    }
    return y;
}

#include "ode/ensemble_project.h"

/* ---- before the stages ----------------------------------------------------------------------- */

/* The first stage, and the step to try: ns_stepper_clip and ns_stepper_too_small in lanes. */
static void begin(ns_bundle *b)
{
    const i8 live = load_mask(b->live), fresh = load_mask(b->fresh);
    const size_t end_of = 8 * (size_t)b->n;
    const double *last = b->K + 12 * b->stride;
    double *first = b->K;
    for (size_t at = 0; at < end_of; at += 8)
        store(first + at, choose(fresh, load(last + at), load(first + at)));
    store_mask(b->fresh, (i8){0});
    b->dense = false;

    const v8 t = load(b->t), until = all(b->until), left = size_of(until - t);
    v8 h = load(b->want);
    i8 end;
    if (b->fixed_step > 0) {
        h = all(b->fixed_step);
        end = h * (1 + 1e-9) >= left;
    } else {
        if (b->max_step > 0)
            h = smaller(all(b->max_step), h);
        h = choose((h - h == 0) | (left - left == 0), h, 1 + size_of(t));
        end = h * 1.001 >= left;
        h = choose(2 * h > left, left / 2, h);
    }
    h = choose(end, until - t, (t + b->sense * h) - t);
    const v8 least = larger(4 * DBL_EPSILON * size_of(t), all(1e-290));
    const i8 tiny = ~(size_of(h) >= least) & (left > least);
    const i8 sound = live & ~load_mask(b->unsound), trying = sound & ~tiny;
    b->singular = bits(live & ~sound);
    b->tiny = bits(sound & tiny);
    h = choose(trying, h, (v8){0});
    store_mask(b->trying, trying);
    store(b->h, h);
    store(b->t_new, choose(end & trying, until, t + h));
}

/* ---- stages ------------------------------------------------------------------------------------ */

#define INLINE static inline __attribute__((always_inline))

/* sum_j a_j K_j of state i, the newest last: the others can be added before it is there */
INLINE v8 combine(const double *a, int used, const double *K, size_t stride)
{
    v8 sum = a[0] * load(K);
#pragma GCC unroll 16
    for (int j = 1; j < used; j++)
        if (a[j] != 0)
            sum = fused(all(a[j]), load(K + (size_t)j * stride), sum);
    return sum;
}

/* Stages 1 to 4 have no weight in the new state, in the errors and in the interpolant: the rates of
 * quadratures are not needed there. */
enum { LAST_WITHOUT_WEIGHT = 4 };

/* Argument of a stage, w = x + h sum_j a_ij k_j, and its rates.  Quadratures are no arguments. */
INLINE void stage(int i, ns_bundle *b, const double *x, const double *t)
{
    const v8 h = load(b->h);
    const ns_problem *problem = b->problem;
    const size_t stride = b->stride;
    const uint32_t *needed = problem->needed, n = problem->n_needed;
    const double *K = b->K;
    double *w = b->w;
    for (uint32_t s = 0; s < n; s++) {
        const size_t at = 8 * (size_t)needed[s];
        store(w + at, fused(h, combine(dop853_a[i], i, K + at, stride), load(x + at)));
    }
    store(b->stage_t, load(t) + dop853_c[i] * h);
    if (i <= LAST_WITHOUT_WEIGHT && problem->core)
        b->rates(problem->core, b->work_core, b->stage_t, w, b->K + (size_t)i * stride);
    else
        b->rates(problem->rhs, b->work, b->stage_t, w, b->K + (size_t)i * stride);
}

static void stage_1(ns_bundle *b)
{
    stage(1, b, b->x, b->t);
}

#define STAGE(i)                                                                               \
    static void stage_##i(ns_bundle *b)                                                        \
    {                                                                                          \
        stage(i, b, b->x, b->t);                                                               \
    }
STAGE(2)
STAGE(3)
STAGE(4)
STAGE(5)
STAGE(6)
STAGE(7)
STAGE(8)
STAGE(9)
STAGE(10)
STAGE(11)
#undef STAGE

/* ---- after the stages ------------------------------------------------------------------------ */

typedef struct changes {
    const double *K, *x, *x_lo, *size, *noise;
    double *x_new, *x_low;
    size_t stride;
    v8 h;
} changes;

/* Of one state: the new value, and what the two embedded methods find wrong in the step, measured
 * by the state's size to five per cent.  The sum is compensated: x_low is what it has rounded
 * off. */
INLINE void new_state(const changes *c, size_t at, v8 *e3, v8 *e5)
{
    const double *K = c->K + at;
    const size_t stride = c->stride;
    const v8 slope = combine(dop853_a[12], 12, K, stride);
    /* the method of order 3 has three stages */
    v8 third = fused(all(dop853_e3[0] - dop853_a[12][0]), load(K), slope);
    third = fused(all(dop853_e3[8] - dop853_a[12][8]), load(K + 8 * stride), third);
    third = fused(all(dop853_e3[11] - dop853_a[12][11]), load(K + 11 * stride), third);
    const v8 old = load(c->x + at), d = fused(c->h, slope, load(c->x_lo + at)), x = old + d;
    store(c->x_new + at, x);
    store(c->x_low + at, d - (x - old));
    /* what rounding errors of the rates make of it is not the method's error */
    const v8 fifth = size_of(combine(dop853_e5, 12, K, stride)) - load(c->noise + at);
    const v8 weight = rough_inverse(larger(size_of(x), load(c->size + at)), 0);
    *e3 = third * weight;
    *e5 = larger((v8){0}, fifth) * weight; /* not a number stays so */
}

/* Errors vary so much from step to step that a smaller part of what is allowed must be aimed at than
 * usual (0.9): less than a tenth of the steps are then rejected instead of a fifth, and at equal
 * error it takes 6 % fewer attempts on P1c, 7 on P2 and P3min, 3 on bowl and disk. */
#define SAFETY 0.8

/* The new state, its error, and what that makes of the next step. */
static void estimate(ns_bundle *b)
{
    const v8 h = load(b->h);
    const changes c = {b->K,     b->x,     b->x_lo,   b->size, b->noise,
                       b->x_new, b->x_low, b->stride, h};
    const uint32_t n = b->n;
    v8 e3 = {0}, e5 = {0}, a3, a5, c3, c5;
    uint32_t s = 0;
    for (; s + 1 < n; s += 2) {
        new_state(&c, 8 * (size_t)s, &a3, &a5);
        new_state(&c, 8 * (size_t)(s + 1), &c3, &c5);
        e3 = fused(a3, a3, fused(c3, c3, e3));
        e5 = fused(a5, a5, fused(c5, c5, e5));
    }
    if (s < n) {
        new_state(&c, 8 * (size_t)s, &a3, &a5);
        e3 = fused(a3, a3, e3);
        e5 = fused(a5, a5, e5);
    }
    /* the square of the error of dop853.c */
    const v8 both = e5 + 0.01 * e3;
    const double allowed = b->tolerance * b->tolerance * n;
    const v8 part = h * e5;
    v8 error = part * part * rough_inverse(allowed * both, 2);
    error = choose(both > 0, error, both);
    i8 good = error <= 1;
    if (b->fixed_step > 0)
        good = error - error == 0;
    store(b->error, error);
    store_mask(b->good, good & load_mask(b->trying));
    store(b->factor, larger(SAFETY * rough_root(error), all(1.0 / 3)));
}

/* Moves the lanes that accept to their new states; the others keep theirs. */
static void move(ns_bundle *b, i8 accepted)
{
    const size_t end = 8 * (size_t)b->n;
    const double *x = b->x, *x_lo = b->x_lo;
    double *x_new = b->x_new, *x_low = b->x_low, *sizes = b->size;
    v8 largest = {0}, least = all(INFINITY);
    for (size_t at = 0; at < end; at += 8) {
        const v8 now = choose(accepted, load(x_new + at), load(x + at));
        const v8 low = choose(accepted, load(x_low + at), load(x_lo + at));
        /* ns_stepper_resize, in essence */
        const v8 old = load(sizes + at);
        const v8 size = choose(accepted, larger(size_of(now), 0.99 * old), old);
        store(x_new + at, now);
        store(x_low + at, low);
        store(sizes + at, size);
        largest = larger(size, largest);
        least = smaller(size, least);
    }
    const v8 floor = larger(1e-8 * choose(largest == 0, all(1), largest), all(b->least_size));
    if (bits(least < floor))
        for (size_t at = 0; at < end; at += 8)
            store(sizes + at, larger(floor, load(sizes + at)));
    double *const old = b->x0, *const old_low = b->x0_lo;
    b->x0 = b->x;
    b->x0_lo = b->x_lo;
    b->x = x_new;
    b->x_lo = x_low;
    b->x_new = old;
    b->x_low = old_low;
}

/* Accepts or rejects, and proposes the next step. */
static void finish(ns_bundle *b)
{
    const i8 trying = load_mask(b->trying), one = (i8)all(1);
    const i8 finite = not_finite(b->n, b->K + 12 * b->stride) == 0;
    const i8 accepted = load_mask(b->good) & finite, rejected = trying & ~accepted;
    const v8 error = load(b->error), length = size_of(load(b->h)), steps = load(b->steps);
    const i8 too_large = (error - error == 0) & (error > 1);
    const i8 cautious = load(b->cautious) != 0;
    move(b, accepted);
    store_mask(b->refused, rejected & ~too_large);
    store_mask(b->fresh, accepted);
    b->accepted = bits(accepted);
    b->ended = bits(accepted & (load(b->t_new) == b->until));
    /* the noise of the rates is measured now and then, and when a step was rejected twice */
    enum { NOW_AND_THEN = 1024 };
    const i8 due = steps - load(b->probed) >= NOW_AND_THEN - 1;
    b->probe = bits((accepted & due) | (rejected & cautious));

    const v8 usual = load(b->factor), most = choose(cautious, all(1), all(6));
    const v8 factor = choose(accepted, smaller(usual, most),
                             choose(too_large, usual, all(0.1)));
    store(b->want, choose(trying, length * factor, load(b->want)));
    store(b->cautious, choose(trying, (v8)(rejected & one), load(b->cautious)));
    const v8 smallest = load(b->smallest), largest = load(b->largest);
    store(b->smallest,
          choose(accepted & ((steps == 0) | (length < smallest)), length, smallest));
    store(b->largest, choose(accepted & (length > largest), length, largest));
    store(b->steps, steps + (v8)(accepted & one));
    store(b->rejected, load(b->rejected) + (v8)(rejected & one));
    store(b->from, choose(accepted, load(b->t), load(b->from)));
    store(b->t, choose(accepted, load(b->t_new), load(b->t)));
}

static void attempt(ns_bundle *const *bundles, uint32_t count)
{
    static void (*const stages[])(ns_bundle *) = {begin,    stage_1,  stage_2, stage_3, stage_4,
                                                  stage_5,  stage_6,  stage_7, stage_8, stage_9,
                                                  stage_10, stage_11, estimate};
    for (size_t k = 0; k < sizeof stages / sizeof *stages; k++)
        for (uint32_t i = 0; i < count; i++)
            stages[k](bundles[i]);
    for (uint32_t i = 0; i < count; i++)
        if (bundles[i]->project)
            project(bundles[i]);
    for (uint32_t i = 0; i < count; i++)
        bundles[i]->rates(bundles[i]->problem->rhs, bundles[i]->work, bundles[i]->t_new,
                          bundles[i]->x_new, bundles[i]->K + 12 * bundles[i]->stride);
    for (uint32_t i = 0; i < count; i++)
        finish(bundles[i]);
}

/* ---- inside the last step -------------------------------------------------------------------- */

static void dense(ns_bundle *b)
{
    if (b->dense)
        return;
    const size_t stride = b->stride, row = 8 * (size_t)b->n;
    const v8 h = load(b->h);
    stage(13, b, b->x0, b->from);
    stage(14, b, b->x0, b->from);
    stage(15, b, b->x0, b->from);
    for (uint32_t s = 0; s < b->n; s++) {
        const size_t at = 8 * (size_t)s;
        const double *K = b->K + at;
        double *F = b->F + at;
        const v8 f0 = h * combine(dop853_a[12], 12, K, stride), f1 = h * load(K) - f0;
        store(F, f0);
        store(F + row, f1);
        store(F + 2 * row, f0 - h * load(K + 12 * stride) - f1);
        for (int m = 0; m < 4; m++)
            store(F + (size_t)(3 + m) * row,
                  h * combine(dop853_d[m], NS_BUNDLE_STAGES, K, stride));
    }
    b->dense = true;
}

static void inside(ns_bundle *b, double u)
{
    const v8 h = load(b->h);
    const double *last = b->K + 12 * b->stride;
    for (uint32_t s = 0; s < b->n; s++) {
        const size_t at = 8 * (size_t)s;
        const v8 x0 = load(b->x0 + at), d = load(b->x + at) - x0;
        const v8 left = h * load(b->K + at) - d, right = h * load(last + at) - d;
        store(b->w + at, x0 + u * (d + (1 - u) * ((1 - u) * left - u * right)));
    }
    store(b->stage_t, load(b->from) + u * h);
}

static unsigned suspects(uint32_t events, const bool *watch, const double *sign,
                         const double *const *values, int count)
{
    i8 safe = ~(i8){0};
    for (uint32_t k = 0; k < events; k++) {
        if (!watch[k])
            continue;
        const size_t at = 8 * (size_t)k;
        const v8 s = load(sign + at);
        v8 a[5], least = all(INFINITY), most = -least, bend = {0};
        i8 known = s != 0;
        for (int i = 0; i < count; i++) {
            a[i] = s * load(values[i] + at);
            known &= a[i] > 0;
            least = smaller(a[i], least);
            most = larger(a[i], most);
        }
        if (count < 5)
            safe &= known & (least > 4 * (most - least));
        else {
            /* between samples it dips by an eighth of the second difference; the fourth tells
             * whether the samples show the function at all */
            for (int i = 1; i < 4; i++)
                bend = larger(size_of(a[i - 1] - 2 * a[i] + a[i + 1]), bend);
            bend += 4 * size_of((a[0] + a[4]) - 4 * (a[1] + a[3]) + 6 * a[2]);
            safe &= known & (least > bend);
        }
    }
    return bits(~safe);
}

const ns_bundle_kernel NS_BUNDLE = {
    .name = NS_BUNDLE_NAME,
    .attempt = attempt,
    .dense = dense,
    .inside = inside,
    .suspects = suspects,
};

#endif
