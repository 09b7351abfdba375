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

typedef struct taylor {
    kept *k;
    uint32_t order;
    double *dense; /* [n][order + 1] coefficients of the last step */
    double *x;     /* of the step being tried */
    double *work_jet, *work, *x_new, *x_new_lo, *f;
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

static size_t memory(const ns_problem *problem, double tolerance)
{
    return 8 + (size_t)problem->n * (order_for(tolerance) + 1);
}

static size_t scratch(const ns_problem *problem, double tolerance)
{
    const uint32_t order = order_for(tolerance);
    return ns_round8(ns_program_work_jet(problem->rhs, order)) +
           ns_round8(ns_program_work1(problem->rhs)) + 3 * ns_round8(problem->n) +
           (size_t)problem->n * (order + 1);
}

static taylor view(const ns_stepper *s)
{
    taylor y = {.k = (kept *)s->kept, .order = order_for(s->tolerance), .dense = s->kept + 8};
    const size_t r = ns_round8(s->n);
    y.work_jet = s->scratch;
    y.work = y.work_jet + ns_round8(ns_program_work_jet(s->problem->rhs, y.order));
    y.x_new = y.work + ns_round8(ns_program_work1(s->problem->rhs));
    y.x_new_lo = y.x_new + r;
    y.f = y.x_new_lo + r;
    y.x = y.f + r;
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

/* The step the series allows. */
static double reach(const ns_stepper *s, const taylor *y)
{
    const uint32_t p = y->order, w = p + 1;
    double h = INFINITY;
    const double radius = s->now.steps ? 0 : ns_stepper_radius(s, y->x, p);
    for (uint32_t i = 0; i < s->n; i++) {
        const double *x = y->x + (size_t)i * w;
        /* a state that starts from zero is as large as it soon will be */
        double size = s->size[i];
        if (radius > 0 && isfinite(radius))
            size = fmax(size, fabs(x[1]) * radius / 8);
        for (uint32_t k = p - 1; k <= p; k++)
            if (x[k] != 0)
                h = fmin(h, pow(s->tolerance * size / fabs(x[k]), 1.0 / k));
    }
    return h;
}

/* Increment of state i after time h: first term exactly, the others by Horner's rule. */
static double increment(const double *x, uint32_t order, double h, double *low)
{
    double rest = 0;
    for (uint32_t k = order; k > 1; k--)
        rest = (rest + x[k]) * h;
    rest *= h;
    const double first = h * x[1];
    double e;
    const double sum = ns_two_sum(first, rest, &e);
    *low = e + fma(h, x[1], -first);
    return sum;
}

/* Does the polynomial satisfy the equations at the end of the step? */
static bool sound(ns_stepper *s, const taylor *y, double h)
{
    const uint32_t p = y->order, w = p + 1;
    ns_stepper_rhs(s, y->work, s->now.t + h, y->x_new, y->f);
    const double allowed = 1e4 * fmax(s->tolerance, DBL_EPSILON);
    for (uint32_t i = 0; i < s->n; i++) {
        const double *x = y->x + (size_t)i * w;
        double slope = 0;
        for (uint32_t k = p; k > 0; k--)
            slope = slope * h + k * x[k];
        const double size = fmax(s->size[i], fmax(fabs(y->x_new[i]), fabs(h * x[1])));
        if (!(fabs((slope - y->f[i]) * h) <= allowed * size + 16 * fabs(h) * s->noise[i]))
            return false;
    }
    return true;
}

static ns_status step(ns_stepper *s)
{
    taylor y = view(s);
    const uint32_t p = y.order, w = p + 1;
    for (uint32_t i = 0; i < s->n; i++)
        y.x[(size_t)i * w] = s->x[i];
    ns_program_solve_jet(s->problem->rhs, y.work_jet, s->now.t, p, y.x);
    s->now.evaluations += p;
    if (!ns_stepper_finite(y.x, (size_t)s->n * w)) {
        s->why = NS_WHY_NOT_FINITE;
        return NS_STOP_SINGULAR;
    }
    double want = fmin(reach(s, &y), s->now.h);
    for (;;) {
        const double h = ns_stepper_clip(s, want);
        if (ns_stepper_too_small(s, h)) {
            if (s->why == NS_WHY_NONE)
                s->why = NS_WHY_STEP;
            return s->why == NS_WHY_NOT_FINITE ? NS_STOP_SINGULAR : NS_STOP_STEP;
        }
        for (uint32_t i = 0; i < s->n; i++) {
            double low;
            const double d = increment(y.x + (size_t)i * w, p, h, &low);
            y.x_new[i] = s->x[i];
            y.x_new_lo[i] = s->x_lo[i];
            ns_add_compensated(&y.x_new[i], &y.x_new_lo[i], d, low);
        }
        const bool finite = ns_stepper_finite(y.x_new, s->n);
        if (finite && (s->fixed_step > 0 || sound(s, &y, h))) {
            y.k->h = h;
            y.k->from = s->now.t;
            memcpy(y.dense, y.x, (size_t)s->n * w * sizeof(double));
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
    for (uint32_t i = 0; i < s->n; i++) {
        double low;
        const double d = increment(y.dense + (size_t)i * (y.order + 1), y.order, h, &low);
        x[i] = s->x0[i] + (d + (s->x0_lo[i] + low));
    }
}

static void sample(ns_stepper *s, const double *tau, double *x)
{
    const taylor y = view(s);
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t j = 0; j < 8; j++) {
            double low;
            const double d = increment(y.dense + (size_t)i * (y.order + 1), y.order,
                                       tau[j] * y.k->h, &low);
            x[8 * i + j] = s->x0[i] + (d + (s->x0_lo[i] + low));
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
