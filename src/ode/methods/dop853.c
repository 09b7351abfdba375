/* dop853: the explicit Runge-Kutta method 8(5,3) of Dormand and Prince with its interpolant of
 * order 7 (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, II.10).
 *
 *     x(t + u h) = x + u (F0 + (1-u) (F1 + u (F2 + (1-u) (F3 + u (F4 + (1-u) (F5 + u F6))))))
 *     F0 = x_new - x,  F1 = h k_0 - F0,  F2 = F0 - h k_12 - F1,  F3..F6 = h sum_j d_ij k_j
 *
 * Its three extra stages are evaluated only if somebody looks inside the step. */
#include <float.h>

#include "base/math/vecmath.h"
#include "ode/ensemble/ensemble_kernel.h"
#include "ode/methods/dop853_table.h"
#include "ode/stepper.h"

enum { STAGES = 16, DENSE = 7 };

#define SAFETY 0.9  /* of the length that would have the error allowed */
enum { NOISE = 4 }; /* times the noise of the rates is no error of the method */

typedef struct kept {
    double h;     /* signed length of the last step; 0: none yet */
    double dense; /* are the coefficients of the interpolant there? */
    double from;
    double rejected; /* was the step before this one rejected: do not grow at once */
    double unused[4];
} kept;

typedef struct dop853 {
    kept *k;
    double *K; /* [STAGES][n] */
    double *F; /* [DENSE][n] */
    double *w, *x_new, *x_new_lo, *work;
} dop853;

static void layout(ns_stepper *s, ns_layout *kept_arrays, ns_layout *scratch)
{
    dop853 *d = s->view;
    const size_t r = ns_round8(s->n);
    d->k = ns_layout_take(kept_arrays, 1, sizeof *d->k);
    d->K = ns_layout_doubles(kept_arrays, STAGES * r);
    d->F = ns_layout_doubles(kept_arrays, DENSE * r);
    NS_LAYOUT_EACH(scratch, r, &d->w, &d->x_new, &d->x_new_lo);
    d->work = ns_layout_doubles(scratch, ns_program_work1(s->problem->rhs));
}

typedef double pair __attribute__((vector_size(16), may_alias));

/* y = sum_j a_j K_j for 2 * PAIRS states, their sums in registers */
#define SUMS(PAIRS)                                                                            \
    do {                                                                                       \
        pair sum[PAIRS];                                                                       \
        for (int k = 0; k < (PAIRS); k++)                                                      \
            sum[k] = a[0] * ((const pair *)K)[k];                                              \
        for (uint32_t j = 1; j < used; j++) {                                                  \
            const pair *row = (const pair *)(K + j * stride);                                  \
            if (a[j] != 0)                                                                     \
                for (int k = 0; k < (PAIRS); k++)                                              \
                    sum[k] += a[j] * row[k];                                                   \
        }                                                                                      \
        for (int k = 0; k < (PAIRS); k++)                                                      \
            ((pair *)y)[k] = sum[k];                                                           \
    } while (0)

/* y[n] = sum_j a_j K_j.  Rows are longer than n, up to a multiple of eight. */
static void combine(uint32_t n, size_t stride, const double *a, uint32_t used, const double *K,
                    double *y)
{
    for (; n > 4; n -= n < 8 ? n : 8, K += 8, y += 8)
        SUMS(4);
    if (n > 0)
        SUMS(2);
}

/* Stage i of a step of length h from (t, x): the rates at x + h sum_j a_ij k_j. */
static void stage(ns_stepper *s, const dop853 *d, uint32_t i, double t, double h,
                  const double *x)
{
    const uint32_t n = s->n;
    const size_t r = ns_round8(n);
    combine(n, r, dop853_a[i], i, d->K, d->w);
    for (uint32_t k = 0; k < n; k++)
        d->w[k] = x[k] + h * d->w[k];
    ns_stepper_rhs(s, d->work, t + dop853_c[i] * h, d->w, d->K + i * r);
}

static ns_status begin(ns_stepper *s)
{
    const dop853 d = *(const dop853 *)s->view;
    memset(d.k, 0, sizeof *d.k);
    ns_program_bind1(s->problem->rhs, d.work, s->p);
    ns_stepper_rhs(s, d.work, s->now.t, s->x, d.K);
    if (s->first_step > 0) {
        s->now.h = s->first_step;
        return NS_OK;
    }
    /* HNW, II.4: from the sizes of x, x', and of x'' seen by an Euler step */
    enum { PARTS = 100 };
    const double h0 = ns_stepper_guess(s, d.K, PARTS);
    for (uint32_t i = 0; i < s->n; i++)
        d.w[i] = s->x[i] + s->sense * h0 * d.K[i];
    double *f1 = d.K + ns_round8(s->n);
    ns_stepper_rhs(s, d.work, s->now.t + s->sense * h0, d.w, f1);
    double x_max = 0, f_max = 0, second = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        x_max = ns_max(x_max, fabs(s->x[i]));
        f_max = ns_max(f_max, fabs(d.K[i]));
        second = ns_max(second, fabs(f1[i] - d.K[i]) / h0);
    }
    static const double tiny = 1e-300; /* keeps the rate finite */
    const double rate = ns_max(f_max, second) / ns_max(x_max, tiny);
    double h = isfinite(rate) && rate > 0 ? ns_math_pow(0.01 * s->tolerance / rate, 1.0 / 8)
                                          : h0;
    if (!isfinite(h) || h > PARTS * h0)
        h = PARTS * h0;
    s->now.h = h;
    return NS_OK;
}

/* Error of the step relative to the tolerance, by the two embedded methods. */
static double estimate(const ns_stepper *s, const dop853 *d, double h)
{
    const size_t r = ns_round8(s->n);
    double e3 = 0, e5 = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        double a3 = 0, a5 = 0;
        for (uint32_t j = 0; j < 12; j++) {
            a3 += dop853_e3[j] * d->K[j * r + i];
            a5 += dop853_e5[j] * d->K[j * r + i];
        }
        /* what rounding errors of the rates make of it is not the method's error */
        const double change = ns_max(fabs(d->x_new[i]), fabs(d->w[i] * h));
        const double scale = s->tolerance * ns_max(s->size[i], change);
        a3 = ns_max(fabs(a3) - NOISE * s->noise[i], 0) / scale;
        a5 = ns_max(fabs(a5) - NOISE * s->noise[i], 0) / scale;
        e3 += a3 * a3;
        e5 += a5 * a5;
    }
    const double both = e5 + DOP853_THIRD * e3;
    return both > 0 ? fabs(h) * e5 / sqrt(s->n * both) : both;
}

/* After a failure: the stages of the last accepted step again, for its interpolant. */
static ns_status fail(ns_stepper *s, const dop853 *d, ns_status status)
{
    const uint32_t n = s->n;
    const size_t r = ns_round8(n);
    const double h = d->k->h;
    if (h == 0 || d->k->dense != 0)
        return status;
    ns_stepper_rhs(s, d->work, d->k->from, s->x0, d->K);
    for (uint32_t i = 1; i < 12; i++)
        stage(s, d, i, d->k->from, h, s->x0);
    ns_stepper_rhs(s, d->work, d->k->from + h, s->x, d->K + 12 * r);
    return status;
}

static ns_status step(ns_stepper *s)
{
    const dop853 d = *(const dop853 *)s->view;
    const uint32_t n = s->n;
    const size_t r = ns_round8(n);
    double want = s->now.h;
    if (d.k->h != 0) {
        if (s->now.moved)
            ns_stepper_rhs(s, d.work, s->now.t, s->x, d.K);
        else
            memcpy(d.K, d.K + 12 * r, n * sizeof(double));
    }
    if (!ns_stepper_finite(d.K, n)) {
        s->why = NS_WHY_NOT_FINITE;
        return fail(s, &d, NS_STOP_SINGULAR);
    }
    for (;;) {
        const double h = ns_stepper_clip(s, want);
        if (ns_stepper_too_small(s, h))
            return fail(s, &d, ns_stepper_give_up(s));
        for (uint32_t i = 1; i < 12; i++)
            stage(s, &d, i, s->now.t, h, s->x);
        combine(n, r, dop853_a[12], 12, d.K, d.w);
        for (uint32_t i = 0; i < n; i++) {
            d.x_new[i] = s->x[i];
            d.x_new_lo[i] = s->x_lo[i];
            ns_add_compensated(&d.x_new[i], &d.x_new_lo[i], h * d.w[i], 0);
        }
        const double error = estimate(s, &d, h);
        bool good = isfinite(error) && (error <= 1 || s->fixed_step > 0);
        if (good) {
            ns_stepper_rhs(s, d.work, s->now.t + h, d.x_new, d.K + 12 * r);
            good = ns_stepper_finite(d.K + 12 * r, n);
        }
        if (!good) {
            const bool finite = isfinite(error) && error > 1;
            s->why = finite ? NS_WHY_STEP : NS_WHY_NOT_FINITE;
            if (s->fixed_step > 0)
                return fail(s, &d, NS_STOP_SINGULAR);
            s->now.rejected++;
            ns_stepper_trouble(s);
            d.k->rejected = 1;
            want = fabs(h) * (finite
                                  ? ns_max(DOP853_SHRINK, SAFETY * ns_math_pow(error, -1.0 / 8))
                                  : DOP853_RETREAT);
            continue;
        }
        double factor = error > 0 ? SAFETY * ns_math_pow(error, -1.0 / 8) : DOP853_GROWTH;
        factor = ns_min(ns_max(factor, DOP853_SHRINK), d.k->rejected != 0 ? 1 : DOP853_GROWTH);
        d.k->rejected = 0;
        d.k->h = h;
        d.k->from = s->now.t;
        d.k->dense = 0;
        ns_stepper_accept(s, h, d.x_new, d.x_new_lo);
        s->now.h = fabs(h) * factor;
        s->why = NS_WHY_NONE;
        return NS_OK;
    }
}

static void prepare_dense(ns_stepper *s, const dop853 *d)
{
    const uint32_t n = s->n;
    const size_t r = ns_round8(n);
    const double h = d->k->h;
    for (uint32_t i = 13; i < STAGES; i++)
        stage(s, d, i, d->k->from, h, s->x0);
    double *F = d->F;
    combine(n, r, dop853_a[12], 12, d->K, F);
    for (uint32_t i = 0; i < n; i++) {
        F[i] *= h;
        F[r + i] = h * d->K[i] - F[i];
        F[2 * r + i] = F[i] - h * d->K[12 * r + i] - F[r + i];
    }
    for (uint32_t m = 0; m < 4; m++) {
        double *f = F + (3 + m) * r;
        combine(n, r, dop853_d[m], STAGES, d->K, f);
        for (uint32_t i = 0; i < n; i++)
            f[i] *= h;
    }
    d->k->dense = 1;
}

static double interpolate(const ns_stepper *s, const dop853 *d, double u, uint32_t i)
{
    const size_t r = ns_round8(s->n);
    double sum = 0;
    for (uint32_t m = DENSE; m-- > 0;)
        sum = (sum + d->F[m * r + i]) * (m % 2 ? 1 - u : u);
    return s->x0[i] + (s->x0_lo[i] + sum);
}

static void state_at(ns_stepper *s, double t, double *x)
{
    const dop853 d = *(const dop853 *)s->view;
    if (d.k->dense == 0)
        prepare_dense(s, &d);
    const double u = (t - d.k->from) / d.k->h;
    for (uint32_t i = 0; i < s->n; i++)
        x[i] = interpolate(s, &d, u, i);
}

static void sample(ns_stepper *s, const double *tau, double *x)
{
    const dop853 d = *(const dop853 *)s->view;
    if (d.k->dense == 0)
        prepare_dense(s, &d);
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t j = 0; j < 8; j++)
            x[8 * i + j] = interpolate(s, &d, tau[j], i);
}

void ns_dop853_give(const ns_stepper *s, ns_bundle *b, uint32_t lane)
{
    const double *first = ((const dop853 *)s->view)->K;
    for (uint32_t i = 0; i < s->n; i++)
        b->K[8 * (size_t)i + lane] = first[i];
    b->unsound[lane] = ns_stepper_finite(first, s->n) ? 0 : -1;
    b->fresh[lane] = 0;
}

void ns_dop853_take(ns_stepper *s, const ns_bundle *b, uint32_t lane)
{
    const dop853 d = *(const dop853 *)s->view;
    const size_t r = ns_round8(s->n);
    const uint32_t stages = b->dense ? STAGES : 13;
    for (uint32_t i = 0; i < s->n; i++) {
        const size_t at = 8 * (size_t)i + lane;
        for (uint32_t j = 0; j < stages; j++)
            d.K[j * r + i] = b->K[j * b->stride + at];
        for (uint32_t m = 0; m < DENSE && b->dense; m++)
            d.F[m * r + i] = b->F[8 * ((size_t)m * s->n) + at];
    }
    *d.k = (kept){.h = b->h[lane], .dense = b->dense, .from = b->from[lane]};
}

static const ns_bundle_kernel *const bundles[] = {
#if NS_X86
    &ns_bundle_avx512_dop853,
    &ns_bundle_avx2_dop853,
#endif
    &ns_bundle_plain_dop853,
};

const ns_method ns_method_dop853 = {
    .name = "dop853",
    .summary = "explicit Runge-Kutta method 8(5,3) of Dormand and Prince",
    .doc =
        "The classic of order 8 with 12 stages, an error estimate from embedded methods of\n"
        "orders 5 and 3, and an interpolant of order 7 for output and events between steps.\n"
        "\n"
        "Use it at moderate accuracy (tolerances above 1e-10), for right-hand sides that are\n"
        "smooth only piece by piece, and as an independent check of the others.\n"
        "\n"
        "Source: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations\n"
        "I, 2nd edition, II.10.\n",
    .order = 8,
    .exact_restart = true,
    .lanes = 1,
    .interpolates = true,
    .drive_order = 16,
    .drive_part = 0.5,
    /* at equal tolerance its final errors are about 100 times those of gauss; it reaches three
     * digits less before round-off (docs/performance.md) */
    .price = {.step = 590, .state = 2, .digits = 1.8, .least = 1e-10},
    .bundle = bundles,
    .default_tolerance = 1e-14,
    .least_tolerance = 1e-15,
    .view = sizeof(dop853),
    .layout = layout,
    .begin = begin,
    .step = step,
    .state_at = state_at,
    .sample = sample,
};
