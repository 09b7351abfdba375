/* quad: Gauss collocation with 16 stages in quadruple precision.
 *
 *     k_j = f(t + c_j h, x + h sum_l a_jl k_l),   x(t + h) = x + h sum_j b_j k_j   (order 32)
 *
 * Quadruple precision is done in software, so as little as possible is done in it.  The
 * stages are found in double precision first, by fixed-point sweeps on two times eight lanes.
 * Then
 *
 *     r_j = f(t + c_j h, x + h sum_l a_jl k_l) - k_j        in quadruple precision
 *     d_j = r_j + J_j h sum_l a_jl d_l                      in double precision, by sweeps
 *     k_j <- k_j + d_j
 *
 * with J_j d the derivative of f at stage j along d, an exact one (problem->tangent).  The
 * error of d is rounding, 1e-15 of it, and the square of it: from 1e-15 to 1e-29, and once more
 * to the end of the arithmetic.  So a step costs about 32 evaluations in quadruple precision.
 *
 * Error of a step: the slopes are a polynomial with Legendre coefficients k^(m); those of
 * analytic motions fall like r^-m, and the error at the end of the step like r^-2s.  With q the
 * last two of them over the largest slope,
 *
 *     error = h max|k| q^2
 *
 * which overestimates by about r^2.
 *
 * Nodes are the zeros of the Legendre polynomial P_s, by Newton's method; with those and the
 * weights w on (-1, 1) the Lagrange polynomial of node j is  w_j sum_m (2m+1)/2 P_m(x_j)
 * P_m(x),  and the integral of P_m is (P_m+1 - P_m-1)/(2m+1), which gives a_jl without
 * cancellation. */
#define _GNU_SOURCE
#include "base/math/quad.h"

#include <float.h>
#include <stdio.h>

#include "base/math/vecmath.h"
#include "ode/quad/quad.h"
#include "ode/quad/quad_internal.h"

enum { S = NS_QUAD_STAGES };

static void layout(ns_stepper *s, ns_layout *kept, ns_layout *scratch)
{
    (void)scratch;
    ns_quad_view *y = s->view;
    y->last = ns_layout_take(kept, 1, sizeof *y->last);
    y->k = ns_layout_doubles(kept, (size_t)S * s->n);
    y->invariants = ns_layout_doubles(kept, 2 * (size_t)s->problem->system->invariants.n);
}

double *ns_quad_first(const ns_run *run)
{
    return ((const ns_quad_view *)run->s.view)->last->energy;
}

double *ns_quad_first_invariants(const ns_run *run)
{
    return ((const ns_quad_view *)run->s.view)->invariants;
}

double ns_quad_time_low(double t)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", t);
    if (strtod(text, NULL) != t)
        return 0;
    return (double)(NS_QUAD_READ(text, NULL) - (ns_quad)t);
}

#if NS_HAVE_QUAD

/* ---- memory ------------------------------------------------------------------------------ */

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static ns_quad *take(ns_layout *l, size_t count)
{
    return ns_layout_take(l, count, sizeof(ns_quad));
}

static void place(ns_quad_engine *q, const ns_problem *problem, ns_layout *l)
{
    const size_t n = problem->n, all = n * S;
    q->p = take(l, problem->np);
    q->work_rhs = take(l, ns_program_work_quad(problem->rhs));
    q->work_shaken = take(l, ns_program_work_quad(problem->rhs));
    q->work_observe = take(l, ns_program_work_quad(problem->observables));
    q->work_monitor = take(l, ns_program_work_quad(problem->monitor));
    q->work_residuals = take(l, ns_program_work_quad(problem->residuals));
    q->work_tangent = ns_layout_doubles(l, ns_program_work8(problem->tangent));
    q->out = take(
        l, most(most(ns_program_nout(problem->observables), n),
                most(ns_program_nout(problem->monitor), ns_program_nout(problem->residuals))));
    q->x = take(l, n);
    q->x_new = take(l, n);
    q->Y = take(l, n);
    q->K = take(l, all);
    q->k = ns_layout_doubles(l, all);
    q->r = ns_layout_doubles(l, all);
    q->d = ns_layout_doubles(l, all);
    q->sum = ns_layout_doubles(l, all);
    q->inputs = ns_layout_doubles(l, 4 * 8 * n);
    q->f = ns_layout_doubles(l, 8 * n);
    q->noise = ns_layout_doubles(l, n);
}

static void finish(const ns_stepper *s, ns_quad_engine *q, double t, double t_end)
{
    const ns_quad h = ns_quad_time(t_end) - ns_quad_time(t);
    for (uint32_t i = 0; i < s->n; i++) {
        ns_quad sum = 0;
        for (uint32_t j = 0; j < S; j++)
            sum += q->b[j] * q->K[S * i + j];
        q->x_new[i] = q->x[i] + h * sum;
    }
}

/* ---- begin and end ----------------------------------------------------------------------- */

static ns_quad_engine *engine_new(const ns_problem *problem)
{
    ns_layout l = {0};
    ns_quad_engine *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    place(q, problem, &l);
    q->memory = aligned_alloc(NS_LAYOUT_ALIGNMENT, l.used + NS_LAYOUT_ALIGNMENT);
    if (!q->memory) {
        free(q);
        return NULL;
    }
    memset(q->memory, 0, l.used);
    place(q, problem, &(ns_layout){.base = q->memory});
    ns_quad_make_tables(q);
    return q;
}

static ns_status begin(ns_stepper *s)
{
    const ns_problem *problem = s->problem;
    ns_quad_engine *q = s->outside ? s->outside : engine_new(problem);
    if (!q) {
        s->why_begin = "out of memory";
        return NS_ERR_MEMORY;
    }
    s->outside = q;
    for (uint32_t i = 0; i < problem->np; i++)
        q->p[i] = (ns_quad)s->p[i] + (ns_quad)s->p_lo[i];
    ns_program_bind_quad(problem->rhs, q->work_rhs, q->p);
    ns_program_bind_shaken(problem->rhs, q->work_shaken, q->p);
    ns_program_bind_quad(problem->observables, q->work_observe, q->p);
    ns_program_bind_quad(problem->monitor, q->work_monitor, q->p);
    ns_program_bind_quad(problem->residuals, q->work_residuals, q->p);
    ns_program_bind8(problem->tangent, q->work_tangent, s->p8);
    *((const ns_quad_view *)s->view)->last = (ns_quad_kept){0};
    ns_quad_guess(s, q, s->now.t, 0);
    for (uint32_t i = 0; i < s->n; i++)
        q->f[i] = q->k[S * i];
    enum { PARTS = 16 };
    s->now.h = s->first_step > 0 ? s->first_step : ns_stepper_guess(s, q->f, PARTS);
    return NS_OK;
}

static void end(ns_stepper *s)
{
    ns_quad_engine *q = s->outside;
    if (q)
        free(q->memory);
    free(q);
    s->outside = NULL;
}

/* ---- steps ------------------------------------------------------------------------------- */

/* Step control: part of the length that would have the error allowed; longest and shortest next
 * step by the error; what is left where the stages could not be found; a step shorter than this
 * part of what was wanted was cut by the end or by a limit, and says nothing. */
#define SAFETY 0.8
#define GROWTH 3
#define SHRINK_LEAST 0.1
#define SHRINK_MOST 0.9
#define RETREAT 0.4
#define CUT 0.9

static ns_status step(ns_stepper *s)
{
    ns_quad_engine *q = s->outside;
    const ns_quad_view *view = s->view;
    ns_quad_kept *last = view->last;
    double want = s->now.h;
    for (uint32_t i = 0; i < s->n; i++)
        q->x[i] = (ns_quad)s->x[i] + (ns_quad)s->x_lo[i];
    ns_quad_measure_noise(s, q);
    for (;;) {
        const double h = ns_stepper_clip(s, want);
        const bool whole = h == s->until - s->now.t;
        const double t_end = whole ? s->until : s->now.t + h;
        if (ns_stepper_too_small(s, h))
            return ns_stepper_give_up(s);
        ns_quad_guess(s, q, s->now.t, h);
        const ns_why why = ns_quad_solve(s, q, s->x, s->now.t, t_end);
        const double off = why == NS_WHY_NONE ? ns_quad_error(s, q, h) : INFINITY;
        const double factor = SAFETY * ns_math_pow(off, -1.0 / (2 * S - 1));
        if (why == NS_WHY_NONE && (off <= 1 || s->fixed_step > 0)) {
            finish(s, q, s->now.t, t_end);
            last->h = h;
            last->from = s->now.t;
            memcpy(view->k, q->k, (size_t)S * s->n * sizeof(double));
            double *x = q->f, *low = q->f + s->n;
            for (uint32_t i = 0; i < s->n; i++)
                ns_quad_split(q->x_new[i], &x[i], &low[i]);
            ns_stepper_accept(s, h, x, low);
            s->now.h = fabs(h) * ns_min(factor, GROWTH);
            if (fabs(h) < CUT * want)
                s->now.h = ns_max(s->now.h, want);
            s->why = NS_WHY_NONE;
            return NS_OK;
        }
        s->now.rejected++;
        s->why = why == NS_WHY_NONE ? NS_WHY_STEP : why;
        const bool estimated = s->why == NS_WHY_STEP;
        if (s->fixed_step > 0)
            return why == NS_WHY_NOT_FINITE ? NS_STOP_SINGULAR : NS_STOP_STEP;
        want = fabs(h) *
               (estimated ? ns_max(ns_min(factor, SHRINK_MOST), SHRINK_LEAST) : RETREAT);
    }
}

/* A step over the first part of the last one: as accurate as that. */
static void state_low(ns_stepper *s, double t, double *x, double *x_lo)
{
    ns_quad_engine *q = s->outside;
    const ns_quad_kept *last = ((const ns_quad_view *)s->view)->last;
    for (uint32_t i = 0; i < s->n; i++)
        q->x[i] = (ns_quad)s->x0[i] + (ns_quad)s->x0_lo[i];
    ns_quad_guess(s, q, last->from, t - last->from);
    if (ns_quad_solve(s, q, s->x0, last->from, t) != NS_WHY_NONE)
        for (size_t at = 0; at < (size_t)S * s->n; at++)
            q->K[at] = NAN; /* cannot be where the whole step converged */
    finish(s, q, last->from, t);
    for (uint32_t i = 0; i < s->n; i++)
        ns_quad_split(q->x_new[i], &x[i], &x_lo[i]);
}

static void state_at(ns_stepper *s, double t, double *x)
{
    const ns_quad_engine *q = s->outside;
    state_low(s, t, x, q->d);
}

static void sample(ns_stepper *s, const double *tau, double *x)
{
    const ns_quad_engine *q = s->outside;
    const ns_quad_view *view = s->view;
    const ns_quad_kept *last = view->last;
    const double *k = view->k;
    double integral[S][8]; /* of P_m from the start */
    for (int lane = 0; lane < 8; lane++) {
        double p[S + 1];
        const double u = 2 * tau[lane] - 1;
        p[0] = 1;
        p[1] = u;
        for (int m = 1; m < S; m++)
            p[m + 1] = ((2 * m + 1) * u * p[m] - m * p[m - 1]) / (m + 1);
        integral[0][lane] = tau[lane];
        for (int m = 1; m < S; m++)
            integral[m][lane] = (p[m + 1] - p[m - 1]) / (2 * (2 * m + 1));
    }
    for (uint32_t i = 0; i < s->n; i++) {
        double sum[8] = {0};
        for (int m = 0; m < S; m++) {
            double series = 0;
            for (uint32_t j = 0; j < S; j++)
                series += q->series[m][j] * k[S * i + j];
            for (int lane = 0; lane < 8; lane++)
                sum[lane] += series * integral[m][lane];
        }
        for (uint32_t lane = 0; lane < 8; lane++)
            x[8 * i + lane] = s->x0[i] + (last->h * sum[lane] + s->x0_lo[i]);
    }
}

#else /* no quadruple precision */

static ns_status begin(ns_stepper *s)
{
    s->why_begin =
        "this program was built without quadruple precision: gcc and clang with glibc have it";
    return NS_ERR_USAGE;
}

#endif

const ns_method ns_method_quad = {
    .name = "quad",
    .summary = "Gauss collocation of order 32 in quadruple precision",
    .doc =
        "Gauss collocation with 16 stages in quadruple precision, 113 bits: for motions to be\n"
        "known to 25 or 30 digits.  --precision quad means this method.  Parameters, starts "
        "and\n"
        "constants are taken as the decimal numbers they are written as, and so are times: "
        "0.1\n"
        "is a tenth.  States are sums of two doubles (106 bits, 32 digits).\n"
        "\n"
        "The stages are found in double precision first; two corrections with residuals in\n"
        "quadruple precision do the rest.  Manifolds, energy and residuals are kept and\n"
        "watched in quadruple precision too; the times of events are known to 16 digits.\n"
        "\n"
        "It takes some 100 times as long as gauss.  Not for `solve pinv`.\n",
    .order = 2 * S,
    .lanes = 8,
    .exact_restart = true,
    .precise = true,
    .collocation = true,
    .drive_order = 2 * S,
    .drive_part = 0.25,
    .price = {.digits = 1},
    .default_tolerance = 1e-30,
    .least_tolerance = 1e-33,
    .view = sizeof(ns_quad_view),
    .layout = layout,
    .begin = begin,
#if NS_HAVE_QUAD
    .step = step,
    .state_at = state_at,
    .state_low = state_low,
    .sample = sample,
    .end = end,
#endif
};
