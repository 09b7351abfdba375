/* taylor: Taylor series with the order chosen by the tolerance and the cost, and the step by
 * the series (A. Jorba, M. Zou, Experimental Mathematics 14 (2005) 99-117).
 *
 *     x(t + h) = sum_{k=0..p} x_k h^k
 *
 * A series of radius R allows h = R tol^(1/p), about.  If an order costs as much as its
 * convolutions, p(p+1)/2 products each, the best p is -ln(tol)/2 and h = R/e^2, as in the
 * paper.  But a step has a price of its own, and much of an order does not depend on how many
 * there were: with
 *
 *     cost = C + B p + A p^2      (ns_taylor_order)
 *
 * the best order is higher, 21 instead of 16 at 1e-13 on small systems.  Not for round-off:
 * longer steps have larger terms, whose rounding errors remain, and the order is that of the
 * paper.  The step follows from the last two terms, each relative to the size of its state:
 *
 *     h = min over i, k = p-1, p of (tol size_i / |x_ik|)^(1/k)
 *
 * so that the first term left out is below the tolerance.  The series says nothing about a kink
 * (abs, min, max) ahead, so the derivative of the polynomial at the end is compared with the
 * right-hand side there. */
#include <float.h>

#include "base/math/vecmath.h"
#include "ode/stepper.h"

typedef struct kept {
    double h, from; /* the step the coefficients belong to; h = 0: none yet */
    double order;
    double unused[5];
} kept;

enum { LANES = 8 }; /* states side by side; coefficients are [order + 1][states, rounded up] */

typedef struct taylor {
    kept *k;
    uint32_t order;
    size_t r;
    double *dense; /* coefficients of the last step */
    double *x;     /* of the step being tried */
    double *work_jet, *work, *x_new, *x_new_lo, *f, *slope;
} taylor;

uint32_t ns_taylor_order(const ns_problem *problem, double tolerance)
{
    enum { LEAST = 6, MOST = 30 };
    double products;
    const double operations = ns_program_jet_weight(problem->rhs, &products);
    static const double round_off = 1e-13;
    /* in units of a product of two coefficients, see the prices of auto.c */
    const double step = 300 + 10.0 * problem->n;
    const double per_order = 2 * operations + 14 * products;
    uint32_t best = LEAST;
    double least = INFINITY;
    for (uint32_t p = LEAST; p <= MOST; p++) {
        const double length = ns_math_pow(ns_max(tolerance, round_off),
                                          1.0 / p); /* of the radius */
        const double cost = (step + p * (per_order + p * products)) / length;
        if (cost < least) {
            least = cost;
            best = p;
        }
    }
    const double paper = ns_min(ceil(1 - ns_math_log(tolerance) / 2), MOST);
    return paper > best ? (uint32_t)paper : best;
}

static void layout(ns_stepper *s, ns_layout *kept_arrays, ns_layout *scratch)
{
    taylor *y = s->view;
    y->order = ns_taylor_order(s->problem, s->tolerance);
    y->r = ns_round8(s->n);
    const size_t coefficients = (y->order + (size_t)1) * y->r;
    y->k = ns_layout_take(kept_arrays, 1, sizeof *y->k);
    y->dense = ns_layout_doubles(kept_arrays, coefficients);
    y->work_jet = ns_layout_doubles(scratch, ns_program_work_jet(s->problem->rhs, y->order));
    y->work = ns_layout_doubles(scratch, ns_program_work1(s->problem->rhs));
    NS_LAYOUT_EACH(scratch, y->r, &y->x_new, &y->x_new_lo, &y->f, &y->slope);
    y->x = ns_layout_doubles(scratch, coefficients);
}

static ns_status begin(ns_stepper *s)
{
    const taylor y = *(const taylor *)s->view;
    *y.k = (kept){.order = y.order};
    ns_program_bind_jet(s->problem->rhs, y.work_jet, y.order, s->p);
    ns_program_bind1(s->problem->rhs, y.work, s->p);
    s->now.h = s->first_step > 0 ? s->first_step : INFINITY;
    return NS_OK;
}

/* a^b for positive normal a to three digits: the logarithm and the power of two by short
 * polynomials. */
static double rough_power(double a, double b)
{
    enum { BIAS = 1023, MANTISSA = 52 };
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    const int e = (int)(bits >> MANTISSA) - BIAS;
    bits = (bits & ((UINT64_C(1) << MANTISSA) - 1)) | ((uint64_t)BIAS << MANTISSA);
    double m;
    memcpy(&m, &bits, sizeof m);
    m -= 1; /* 0 .. 1; log2(1 + m) and 2^m are exact at both ends */
    const double log2 = e + m * (1 + (1 - m) * (0.4306 - m * (0.2131 - 0.1006 * m)));
    const double power = b * log2;
    if (!(fabs(power) < BIAS - 1))
        return power < 0 ? 0 : INFINITY;
    int whole = (int)power;
    whole -= power < whole;
    const double part = power - whole;
    bits = (uint64_t)(BIAS + whole) << MANTISSA;
    memcpy(&m, &bits, sizeof m);
    return m * (1 + part * (1 - (1 - part) * (0.3041 + 0.0791 * part)));
}

/* The step the series allows. */
static double reach(const ns_stepper *s, const taylor *y)
{
    const uint32_t p = y->order;
    const double *last = y->x + p * y->r, *before = last - y->r, *rate = y->x + y->r;
    const double radius = s->now.steps ? 0 : ns_stepper_radius(s, y->x, p, 1, y->r);
    double most = 0, most_before = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        /* a state that starts from zero is as large as it soon will be */
        double size = s->size[i];
        if (radius > 0 && isfinite(radius))
            size = ns_larger(size, fabs(rate[i]) * radius / 8);
        const double unit = 1 / size;
        most = ns_larger(most, fabs(last[i]) * unit);
        most_before = ns_larger(most_before, fabs(before[i]) * unit);
    }
    double h = INFINITY;
    if (most > 0)
        h = rough_power(s->tolerance / most, 1.0 / p);
    if (most_before > 0)
        h = ns_smaller(h, rough_power(s->tolerance / most_before, 1.0 / (p - 1)));
    return h;
}

typedef double pair __attribute__((vector_size(16)));
typedef double unaligned __attribute__((vector_size(16), aligned(8), may_alias));

/* Increments of LANES states from the i-th on after time h, first term exactly, the others by
 * Horner's rule; and the derivatives there, if wanted. */
static inline __attribute__((always_inline)) void increments(const taylor *y, const double *x,
                                                             uint32_t i, double h, double *sum,
                                                             double *low, double *slope)
{
    enum { PAIRS = LANES / 2 };
    const pair step = {h, h};
    pair rest[PAIRS] = {{0}}, rate[PAIRS] = {{0}};
    x += i;
    for (uint32_t k = y->order; k > 1; k--) {
        const unaligned *x_k = (const unaligned *)(x + k * y->r);
        const pair degree = {k, k};
        for (uint32_t j = 0; j < PAIRS; j++) {
            rest[j] = (rest[j] + x_k[j]) * step;
            if (slope)
                rate[j] = rate[j] * step + degree * x_k[j];
        }
    }
    for (uint32_t j = 0; j < LANES; j++) {
        const double x_1 = x[y->r + j], first = h * x_1;
        double e;
        sum[j] = ns_two_sum(first, rest[j / 2][j % 2] * h, &e);
        low[j] = e + fma(h, x_1, -first);
        if (slope)
            slope[j] = rate[j / 2][j % 2] * h + x_1;
    }
}

/* Does the polynomial satisfy the equations at the end of the step? */
static bool sound(ns_stepper *s, const taylor *y, double h)
{
    ns_stepper_rhs(s, y->work, s->now.t + h, y->x_new, y->f);
    /* a kink is seen far above the error, which differs by the factor p / h of a derivative */
    static const double kink = 1e4;
    enum { NOISE = 16 };
    const double allowed = kink * ns_larger(s->tolerance, DBL_EPSILON);
    const double *rate = y->x + y->r;
    bool good = true;
    for (uint32_t i = 0; i < s->n; i++) {
        const double size = ns_larger(s->size[i],
                                      ns_larger(fabs(y->x_new[i]), fabs(h * rate[i])));
        good = good && fabs((y->slope[i] - y->f[i]) * h) <=
                           allowed * size + NOISE * fabs(h) * s->noise[i];
    }
    return good;
}

static ns_status step(ns_stepper *s)
{
    const taylor y = *(const taylor *)s->view;
    const uint32_t p = y.order;
    const size_t r = y.r;
    memcpy(y.x, s->x, s->n * sizeof(double));
    ns_program_series(s->problem->rhs, y.work_jet, s->now.t, p, y.x, r);
    s->now.evaluations += p;
    if (!ns_stepper_finite(y.x, r * (p + (size_t)1))) {
        s->why = NS_WHY_NOT_FINITE;
        return NS_STOP_SINGULAR;
    }
    double want = ns_smaller(reach(s, &y), s->now.h);
    for (;;) {
        const double h = ns_stepper_clip(s, want);
        if (ns_stepper_too_small(s, h))
            return ns_stepper_give_up(s);
        for (uint32_t i = 0; i < s->n; i += LANES) {
            double sum[LANES], low[LANES];
            increments(&y, y.x, i, h, sum, low, y.slope + i);
            for (uint32_t j = 0; j < LANES && i + j < s->n; j++) {
                y.x_new[i + j] = s->x[i + j];
                y.x_new_lo[i + j] = s->x_lo[i + j];
                ns_add_compensated(&y.x_new[i + j], &y.x_new_lo[i + j], sum[j], low[j]);
            }
        }
        const bool finite = ns_stepper_finite(y.x_new, s->n);
        if (finite && (s->fixed_step > 0 || sound(s, &y, h))) {
            y.k->h = h;
            y.k->from = s->now.t;
            memcpy(y.dense, y.x, r * (p + (size_t)1) * sizeof(double));
            ns_stepper_accept(s, h, y.x_new, y.x_new_lo);
            s->now.h = INFINITY; /* the next series will say */
            s->why = NS_WHY_NONE;
            return NS_OK;
        }
        s->now.rejected++;
        ns_stepper_trouble(s);
        s->why = finite && ns_stepper_finite(y.f, s->n) ? NS_WHY_STEP : NS_WHY_NOT_FINITE;
        if (s->fixed_step > 0)
            return NS_STOP_SINGULAR;
        want = fabs(h) / 2;
    }
}

static void state_at(ns_stepper *s, double t, double *x)
{
    const taylor y = *(const taylor *)s->view;
    const double h = t - y.k->from;
    for (uint32_t i = 0; i < s->n; i += LANES) {
        double sum[LANES], low[LANES];
        increments(&y, y.dense, i, h, sum, low, NULL);
        for (uint32_t j = 0; j < LANES && i + j < s->n; j++)
            x[i + j] = s->x0[i + j] + (sum[j] + (s->x0_lo[i + j] + low[j]));
    }
}

static void sample(ns_stepper *s, const double *tau, double *x)
{
    const taylor y = *(const taylor *)s->view;
    for (uint32_t i = 0; i < s->n; i += LANES)
        for (uint32_t at = 0; at < 8; at++) {
            double sum[LANES], low[LANES];
            increments(&y, y.dense, i, tau[at] * y.k->h, sum, low, NULL);
            for (uint32_t j = 0; j < LANES && i + j < s->n; j++)
                x[8 * (i + j) + at] = s->x0[i + j] + (sum[j] + (s->x0_lo[i + j] + low[j]));
        }
}

const ns_method ns_method_taylor = {
    .name = "taylor",
    .summary = "Taylor series, order and step chosen by the series itself",
    .doc =
        "Taylor coefficients of the motion by exact recurrences, to an order chosen from the\n"
        "tolerance and the cost of the equations (21 at round-off); the step follows "
        "from\n"
        "the last two terms.  Output and events between steps use the series itself and are\n"
        "as accurate as the steps.\n"
        "\n"
        "Use it for round-off accuracy on small smooth systems, and as an independent check "
        "of\n"
        "gauss.  It cannot start on a point where a derivative does not exist (sqrt(0)).\n"
        "\n"
        "Source: A. Jorba, M. Zou, A software package for the numerical integration of ODEs "
        "by\n"
        "means of high-order Taylor methods, Experimental Mathematics 14 (2005) 99-117.\n",
    .order = 0,
    .exact_restart = true,
    .default_tolerance = 1e-17,
    .least_tolerance = 1e-20,
    .needs_series = true,
    .interpolates = true,
    .drive_part = 1,
    .series_order = ns_taylor_order,
    /* at equal tolerance its final errors are about ten times those of gauss */
    .price = {.step = 440, .digits = 1.1},
    .view = sizeof(taylor),
    .layout = layout,
    .begin = begin,
    .step = step,
    .state_at = state_at,
    .sample = sample,
};
