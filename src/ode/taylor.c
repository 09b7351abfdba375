/* taylor: Taylor series with the order chosen by the tolerance and the step by the series
 * (A. Jorba, M. Zou, Experimental Mathematics 14 (2005) 99-117).
 *
 *     x(t + h) = sum_{k=0..p} x_k h^k,    p = ceil(1 - ln(tol)/2)
 *
 * With p as above the best step is about e^-2 of the radius of convergence, whatever the
 * tolerance.  Here it follows from the last two terms, each relative to the size of its state:
 *
 *     h = min over i, k = p-1, p of (tol size_i / |x_ik|)^(1/k)
 *
 * so that the first term left out is below the tolerance.  The series says nothing about a kink
 * (abs, min, max) ahead, so the derivative of the polynomial at the end is compared with the
 * right-hand side there. */
#include <float.h>

#include "ode/stepper.h"

typedef struct kept {
    double h, from; /* the step the coefficients belong to; h = 0: none yet */
    double unused[6];
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

static uint32_t order_for(double tolerance)
{
    return (uint32_t)fmin(fmax(ceil(1 - log(tolerance) / 2), 6), 40);
}

uint32_t ns_taylor_order(const ns_problem *problem, double tolerance)
{
    (void)problem;
    return order_for(tolerance);
}

static size_t coefficients(const ns_problem *problem, double tolerance)
{
    return (ns_taylor_order(problem, tolerance) + (size_t)1) * ns_round8(problem->n);
}

static size_t memory(const ns_problem *problem, double tolerance)
{
    return 8 + coefficients(problem, tolerance);
}

static size_t scratch(const ns_problem *problem, double tolerance)
{
    const uint32_t order = ns_taylor_order(problem, tolerance);
    return ns_round8(ns_program_work_jet(problem->rhs, order)) +
           ns_round8(ns_program_work1(problem->rhs)) + 4 * ns_round8(problem->n) +
           coefficients(problem, tolerance);
}

static taylor view(const ns_stepper *s)
{
    taylor y = {.k = (kept *)s->kept,
                .order = ns_taylor_order(s->problem, s->tolerance),
                .r = ns_round8(s->n),
                .dense = s->kept + 8};
    y.work_jet = s->scratch;
    y.work = y.work_jet + ns_round8(ns_program_work_jet(s->problem->rhs, y.order));
    y.x_new = y.work + ns_round8(ns_program_work1(s->problem->rhs));
    y.x_new_lo = y.x_new + y.r;
    y.f = y.x_new_lo + y.r;
    y.slope = y.f + y.r;
    y.x = y.slope + y.r;
    return y;
}

static ns_status begin(ns_stepper *s)
{
    taylor y = view(s);
    memset(y.k, 0, sizeof *y.k);
    ns_program_bind_jet(s->problem->rhs, y.work_jet, y.order, s->p);
    ns_program_bind1(s->problem->rhs, y.work, s->p);
    s->now.h = s->first_step > 0 ? s->first_step : INFINITY;
    return NS_OK;
}

/* a^b for a > 0 to three digits: the logarithm and the power of two by short polynomials. */
static double rough_power(double a, double b)
{
    int e, k;
    const double m = frexp(a, &e) * 2 - 1; /* 0 .. 1 */
    /* log2(1 + m) and 2^m - 1, exact at both ends */
    const double log2 = e - 1 + m * (1 + (1 - m) * (0.4306 - m * (0.2131 - 0.1006 * m)));
    const double power = b * log2, whole = floor(power), part = power - whole;
    if (!(fabs(power) < 1000))
        return power < 0 ? 0 : INFINITY;
    k = (int)whole;
    return ldexp(1 + part * (1 - (1 - part) * (0.3041 + 0.0791 * part)), k);
}

/* A radius of convergence, about: as ns_stepper_radius. */
static double radius_of(const ns_stepper *s, const taylor *y)
{
    const uint32_t p = y->order;
    double radius = INFINITY;
    for (uint32_t i = 0; i < s->n; i++) {
        double best = 0;
        for (uint32_t j = 0; j < 4; j++) {
            double least = INFINITY;
            for (uint32_t k = p - 1; k <= p; k++)
                if (y->x[k * y->r + i] != 0)
                    least = ns_smaller(least, pow(fabs(y->x[j * y->r + i] / y->x[k * y->r + i]),
                                                  1.0 / (k - j)));
            best = ns_larger(best, least);
        }
        radius = ns_smaller(radius, best);
    }
    return radius;
}

/* The step the series allows. */
static double reach(const ns_stepper *s, const taylor *y)
{
    const uint32_t p = y->order;
    const double *last = y->x + p * y->r, *before = last - y->r, *rate = y->x + y->r;
    const double radius = s->now.steps ? 0 : radius_of(s, y);
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

/* Increments of LANES states from the i-th on after time h, first term exactly, the others by
 * Horner's rule; and the derivatives there, if wanted. */
static inline void increments(const taylor *y, const double *x, uint32_t i, double h,
                              double *sum, double *low, double *slope)
{
    const uint32_t p = y->order;
    double rest[LANES] = {0}, rate[LANES] = {0};
    x += i;
    for (uint32_t k = p; k > 1; k--) {
        const double *x_k = x + k * y->r, degree = k;
        for (uint32_t j = 0; j < LANES; j++) {
            rest[j] = (rest[j] + x_k[j]) * h;
            rate[j] = rate[j] * h + degree * x_k[j];
        }
    }
    for (uint32_t j = 0; j < LANES; j++) {
        const double x_1 = x[y->r + j], first = h * x_1;
        double e;
        sum[j] = ns_two_sum(first, rest[j] * h, &e);
        low[j] = e + fma(h, x_1, -first);
        if (slope)
            slope[j] = rate[j] * h + x_1;
    }
}

/* Does the polynomial satisfy the equations at the end of the step? */
static bool sound(ns_stepper *s, const taylor *y, double h)
{
    ns_stepper_rhs(s, y->work, s->now.t + h, y->x_new, y->f);
    const double allowed = 1e4 * ns_larger(s->tolerance, DBL_EPSILON);
    const double *rate = y->x + y->r;
    bool good = true;
    for (uint32_t i = 0; i < s->n; i++) {
        const double size = ns_larger(s->size[i],
                                      ns_larger(fabs(y->x_new[i]), fabs(h * rate[i])));
        good = good &&
               fabs((y->slope[i] - y->f[i]) * h) <= allowed * size + 16 * fabs(h) * s->noise[i];
    }
    return good;
}

static ns_status step(ns_stepper *s)
{
    taylor y = view(s);
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
        if (ns_stepper_too_small(s, h)) {
            if (s->why == NS_WHY_NONE)
                s->why = NS_WHY_STEP;
            return s->why == NS_WHY_NOT_FINITE ? NS_STOP_SINGULAR : NS_STOP_STEP;
        }
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
    const taylor y = view(s);
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
    const taylor y = view(s);
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
        "tolerance (20 at round-off); the step follows from the last two terms.  Output and\n"
        "events between steps use the series itself and are as accurate as the steps.\n"
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
    .memory = memory,
    .scratch = scratch,
    .begin = begin,
    .step = step,
    .state_at = state_at,
    .sample = sample,
};
