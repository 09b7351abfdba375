/* Steps of dop853 with eight motions in lanes, part of the template ensemble_step.h.
 *
 * Method and error estimate are those of dop853.c, with three differences.  Sums and rates are
 * made of fused operations; reciprocals and roots of the step control are rough, for divisions
 * are what a vector unit does worst; and the aim of the step control is smaller (SAFETY). */
#ifdef NS_BUNDLE

#include "ode/methods/dop853_table.h"

/* The first stage, and the step to try. */
static void begin(ns_bundle *b)
{
    const i8 fresh = load_mask(b->fresh);
    const size_t end_of = 8 * (size_t)b->n;
    const double *last = b->K + 12 * b->stride;
    double *first = b->K;
    for (size_t at = 0; at < end_of; at += 8)
        store(first + at, choose(fresh, load(last + at), load(first + at)));
    store_mask(b->fresh, (i8){0});
    b->dense = false;
    choose_step(b);
}

/* ---- stages ------------------------------------------------------------------------------ */

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

/* Stages 1 to 4 have no weight in the new state, in the errors and in the interpolant: the
 * rates of quadratures are not needed there. */
enum { LAST_WITHOUT_WEIGHT = 4 };

/* Argument of a stage, w = x + h sum_j a_ij k_j, and its rates.  Quadratures are no
 * arguments. */
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

/* ---- after the stages -------------------------------------------------------------------- */

typedef struct changes {
    const double *K, *x, *x_lo, *size, *noise;
    double *x_new, *x_low;
    size_t stride;
    v8 h;
} changes;

/* Of one state: the new value, and what the two embedded methods find wrong in the step,
 * measured by the state's size to five per cent.  The sum is compensated: x_low is what it has
 * rounded off. */
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

/* Errors vary so much from step to step that a smaller part of what is allowed must be aimed at
 * than usual (0.9): less than a tenth of the steps are then rejected instead of a fifth, and at
 * equal error it takes 6 % fewer attempts on P1c, 7 on P2 and P3min, 3 on bowl and disk. */
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

/* Accepts or rejects, and proposes the next step. */
static void finish(ns_bundle *b)
{
    const i8 trying = load_mask(b->trying);
    const i8 finite = not_finite(b->n, b->K + 12 * b->stride) == 0;
    const i8 accepted = load_mask(b->good) & finite, rejected = trying & ~accepted;
    const v8 error = load(b->error), length = size_of(load(b->h));
    const i8 too_large = (error - error == 0) & (error > 1);
    const i8 cautious = load(b->cautious) != 0;
    const v8 usual = load(b->factor), most = choose(cautious, all(1), all(6));
    const v8 factor = choose(accepted, smaller(usual, most),
                             choose(too_large, usual, all(0.1)));
    store_mask(b->refused, rejected & ~too_large);
    store_mask(b->fresh, accepted);
    store(b->evaluations, load(b->evaluations) + choose(trying, all(12), (v8){0}));
    /* noise is measured again where a step was rejected twice */
    settle(b, accepted, rejected, length * factor, rejected & cautious);
}

static unsigned attempt(ns_bundle *const *bundles, uint32_t count)
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
    return (1u << count) - 1;
}

/* ---- inside the last step ---------------------------------------------------------------- */

static uint32_t dense(ns_bundle *b)
{
    if (b->dense)
        return 3; /* counted for every lane */
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
    return 3;
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

const ns_bundle_kernel NS_JOIN(NS_BUNDLE, _dop853) = {
    .name = NS_BUNDLE_NAME,
    .kept = 1,
    .fixed_steps = true,
    .attempt = attempt,
    .dense = dense,
    .inside = inside,
    .suspects = suspects,
    .give = ns_dop853_give,
    .take = ns_dop853_take,
};

#endif
