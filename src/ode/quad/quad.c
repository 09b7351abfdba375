/* quad: Gauss collocation with 16 stages in quadruple precision.
 *
 *     k_j = f(t + c_j h, x + h sum_l a_jl k_l),    x(t + h) = x + h sum_j b_j k_j      (order
 *     32)
 *
 * Quadruple precision has no hardware, so as little as possible is done in it.  The stages are
 * found in double precision first, by fixed-point sweeps on two times eight lanes.  Then
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

typedef struct kept {
    double h, from; /* the step the slopes belong to; h = 0: none yet */
    double energy[2];
    double unused[4];
} kept;

enum { S = NS_QUAD_STAGES };

/* In ns_stepper.view. */
typedef struct quad {
    kept *last;
    double *k;          /* [n][S] its slopes */
    double *invariants; /* at the start, as sums of two doubles */
} quad;

static void layout(ns_stepper *s, ns_layout *kept_arrays, ns_layout *scratch)
{
    (void)scratch;
    quad *y = s->view;
    y->last = ns_layout_take(kept_arrays, 1, sizeof *y->last);
    y->k = ns_layout_doubles(kept_arrays, (size_t)S * s->n);
    y->invariants = ns_layout_doubles(kept_arrays,
                                      2 * (size_t)s->problem->system->invariants.n);
}

double *ns_quad_first(const ns_run *run)
{
    return ((const quad *)run->s.view)->last->energy;
}

double *ns_quad_first_invariants(const ns_run *run)
{
    return ((const quad *)run->s.view)->invariants;
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

static ns_quad time_of(double t)
{
    return (ns_quad)t + (ns_quad)ns_quad_time_low(t);
}

/* ---- tables ------------------------------------------------------------------------------ */

/* P_0 .. P_n at x */
static void legendre(int n, ns_quad x, ns_quad *p)
{
    p[0] = 1;
    p[1] = x;
    for (int k = 1; k < n; k++)
        p[k + 1] = ((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1);
}

static void make_tables(ns_quad_engine *q)
{
    ns_quad p[S + 2], at[S][S + 2], x[S], w[S];
    for (int i = 0; i < S; i++) {
        ns_quad z = -(ns_quad)ns_math_cos(M_PI * (i + 0.75) / (S + 0.5)), slope = 1;
        for (int round = 0; round < 8; round++) {
            legendre(S, z, p);
            slope = S * (z * p[S] - p[S - 1]) / (z * z - 1);
            z -= p[S] / slope;
        }
        legendre(S, z, at[i]);
        slope = S * (z * at[i][S] - at[i][S - 1]) / (z * z - 1);
        x[i] = z;
        w[i] = 2 / ((1 - z * z) * slope * slope);
    }
    for (int i = 0; i < S; i++) {
        q->c[i] = (1 + x[i]) / 2;
        q->b[i] = w[i] / 2;
        for (int m = 0; m < 2; m++)
            q->last[m][i] = (2 * (S - 1 - m) + 1) * q->b[i] * at[i][S - 1 - m];
        for (int m = 0; m < S; m++)
            q->series[m][i] = (double)((2 * m + 1) * q->b[i] * at[i][m]);
        for (int j = 0; j < S; j++) {
            ns_quad sum = (1 + x[i]) / 2;
            for (int k = 1; k < S; k++)
                sum += at[j][k] * (at[i][k + 1] - at[i][k - 1]) / 2;
            q->a[i][j] = w[j] * sum / 2;
            q->columns[j][i] = (double)q->a[i][j];
        }
    }
}

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

/* ---- stages ------------------------------------------------------------------------------ */

/* sum[i][j] = h sum_l a_jl k[i][l] */
static void integrate(const ns_quad_engine *q, uint32_t n, double h, const double *k,
                      double *sum)
{
    for (uint32_t i = 0; i < n; i++) {
        double t[S] = {0};
        for (int l = 0; l < S; l++) {
            const double slope = h * k[S * i + (uint32_t)l];
            for (int j = 0; j < S; j++)
                t[j] += q->columns[l][j] * slope;
        }
        memcpy(sum + (size_t)S * i, t, sizeof t);
    }
}

/* Largest |h a[i][j]| over the size of state i, less many times the rounding errors of its
 * rate; nan counts as infinite. */
static double largest(const ns_stepper *s, double h, const double *a, double many,
                      const double *noise)
{
    double most_of_all = 0;
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t j = 0; j < S; j++) {
            const double ratio = fabs(h) * (fabs(a[S * i + j]) - many * noise[i]) / s->size[i];
            if (!(ratio <= most_of_all))
                most_of_all = isnan(ratio) ? INFINITY : ratio;
        }
    return most_of_all;
}

/* Rounding errors of the rates at the start of a step, into q->noise: what other rounding
 * errors make of them, or those of double precision, as much less as the states are known
 * better.  A rate that should be zero may be exactly that in double precision by luck, and
 * nothing but rounding here. */
static void measure_noise(const ns_stepper *s, ns_quad_engine *q)
{
    const ns_quad t = time_of(s->now.t);
    ns_program_eval_quad(s->problem->rhs, q->work_rhs, t, q->x, q->Y);
    ns_program_eval_shaken(s->problem->rhs, q->work_shaken, t, q->x, q->out);
    for (uint32_t i = 0; i < s->n; i++) {
        const double own = fabs((double)(q->out[i] - q->Y[i]));
        q->noise[i] = s->noise[i] * (NS_EPSILON_LOW / DBL_EPSILON);
        if (own > q->noise[i] && isfinite(own))
            q->noise[i] = own;
    }
}

/* Slopes of the last step's polynomial, of lower degree than it has, at the nodes of a step
 * from `from` over h: a first guess.  Without a last step the slope at the start. */
static void guess(ns_stepper *s, ns_quad_engine *q, double from, double h)
{
    enum { DEGREE = 10 };
    const quad *view = s->view;
    const kept *last = view->last;
    const double *k = view->k;
    double basis[S][DEGREE + 1];
    if (last->h == 0) {
        for (int lane = 0; lane < 8; lane++) {
            s->t8[lane] = s->now.t;
            for (uint32_t i = 0; i < s->n; i++)
                s->x8[8 * i + (uint32_t)lane] = s->x[i];
        }
        ns_stepper_rhs8(s, s->work8, s->t8, s->x8, s->f8);
        for (uint32_t i = 0; i < s->n; i++)
            for (uint32_t j = 0; j < S; j++)
                q->k[S * i + j] = s->f8[8 * i];
        return;
    }
    for (int j = 0; j < S; j++) {
        const double x = 2 * (from + (double)q->c[j] * h - last->from) / last->h - 1;
        basis[j][0] = 1;
        basis[j][1] = x;
        for (int m = 1; m < DEGREE; m++)
            basis[j][m + 1] = ((2 * m + 1) * x * basis[j][m] - m * basis[j][m - 1]) / (m + 1);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        double series[DEGREE + 1] = {0};
        for (int m = 0; m <= DEGREE; m++)
            for (uint32_t j = 0; j < S; j++)
                series[m] += q->series[m][j] * k[S * i + j];
        for (uint32_t j = 0; j < S; j++) {
            double sum = 0;
            for (int m = 0; m <= DEGREE; m++)
                sum += series[m] * basis[j][m];
            q->k[S * i + j] = sum;
        }
    }
}

/* Copies [i][j] to eight lanes at `half`: out[i][lane] = a[i][8 half + lane] + x[i]. */
static void to_lanes(uint32_t n, const double *a, const double *x, int half, double *out)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t lane = 0; lane < 8; lane++)
            out[8 * i + lane] = a[S * i + 8 * (uint32_t)half + lane] + (x ? x[i] : 0);
}

/* Stages in double precision, into q->k.  NS_WHY_NONE if they converged. */
static ns_why sweeps(ns_stepper *s, ns_quad_engine *q, const double *x, double t, double h)
{
    enum { MOST = 100 };
    double before = INFINITY, first = INFINITY;
    for (int round = 0; round < MOST; round++) {
        integrate(q, s->n, h, q->k, q->sum);
        for (int half = 0; half < 2; half++) {
            for (int lane = 0; lane < 8; lane++)
                s->t8[lane] = t + (double)q->c[8 * half + lane] * h;
            to_lanes(s->n, q->sum, x, half, s->x8);
            ns_stepper_rhs8(s, s->work8, s->t8, s->x8, s->f8);
            for (uint32_t i = 0; i < s->n; i++)
                for (uint32_t lane = 0; lane < 8; lane++) {
                    const size_t at = S * i + 8 * (uint32_t)half + lane;
                    q->d[at] = s->f8[8 * i + lane] - q->k[at];
                    q->k[at] = s->f8[8 * i + lane];
                }
        }
        const double change = largest(s, h, q->d, 16, s->noise);
        if (round == 0)
            first = change;
        if (isinf(change))
            return NS_WHY_NOT_FINITE;
        if (change <= 1e-15 || (change <= 1e-11 && change > 0.5 * before))
            return NS_WHY_NONE; /* rounding errors do not become less */
        if (round > 4 && change > 10 * first)
            return NS_WHY_ITERATION;
        before = change;
    }
    return NS_WHY_ITERATION;
}

/* d = r + J h A d at the stages sum + x, in double precision.  False if that does not
 * converge. */
static bool correct(ns_stepper *s, ns_quad_engine *q, const double *x, double t, double h)
{
    enum { MOST = 200 };
    const uint32_t n = s->n;
    integrate(q, n, h, q->k, q->sum);
    for (int half = 0; half < 2; half++)
        to_lanes(n, q->sum, x, half, q->inputs + (size_t)half * 16 * n);
    memcpy(q->d, q->r, (size_t)S * n * sizeof *q->d);
    const double size = largest(s, h, q->r, 0, q->noise);
    double before = INFINITY;
    if (!(size < INFINITY))
        return false;
    for (int round = 0; round < MOST && size > 0; round++) {
        double change = 0;
        integrate(q, n, h, q->d, q->sum);
        for (int half = 0; half < 2; half++) {
            double *inputs = q->inputs + (size_t)half * 16 * n;
            for (int lane = 0; lane < 8; lane++)
                s->t8[lane] = t + (double)q->c[8 * half + lane] * h;
            to_lanes(n, q->sum, NULL, half, inputs + 8 * (size_t)n);
            ns_program_eval8(s->problem->tangent, q->work_tangent, s->t8, inputs, q->f);
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t lane = 0; lane < 8; lane++) {
                    const size_t at = S * i + 8 * (uint32_t)half + lane;
                    const double d = q->r[at] + q->f[8 * i + lane];
                    const double off = fabs(h * (d - q->d[at])) / s->size[i];
                    if (!(off <= change))
                        change = isnan(off) ? INFINITY : off;
                    q->d[at] = d;
                }
        }
        /* where rounding errors end it earlier, the next correction goes on */
        if (change <= 1e-15 * size || (change <= 1e-4 * size && change > 0.8 * before))
            return true;
        if (!(change < 1e6 * size))
            return false;
        before = change;
    }
    return size == 0;
}

/* Error of the step relative to the sizes, over the tolerance.  Slopes of a state that should
 * be zero are made of the errors of the stages, of all degrees alike: what is far less than the
 * other components of a vector is measured by those. */
static double error(const ns_stepper *s, const ns_quad_engine *q, double h)
{
    static const double nothing = 1e-16;
    const uint32_t *vector = s->problem->vector;
    double worst = 0, *slope = q->f,
           *largest_of = q->f + s->n; /* [n]; of the vector that begins */
    for (uint32_t i = 0; i < s->n; i++) {
        slope[i] = largest_of[i] = 0;
        for (uint32_t j = 0; j < S; j++)
            slope[i] = ns_max(slope[i], fabs(q->k[S * i + j]));
        largest_of[vector[i]] = ns_max(largest_of[vector[i]], slope[i]);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        const double others = largest_of[vector[i]];
        const double all = slope[i] > nothing * others ? slope[i] : others;
        double last = 0;
        for (int m = 0; m < 2; m++) {
            ns_quad sum = 0;
            for (uint32_t j = 0; j < S; j++)
                sum += q->last[m][j] * q->K[S * i + j];
            last = ns_max(last, fabs((double)sum));
        }
        last -= 64 * q->noise[i]; /* no error of the method */
        if (all > 0 && last > 0) {
            const double size = ns_max(s->size[i], fabs(h * slope[i]));
            worst = ns_max(worst, fabs(h) * last * (last / all) / size);
        }
    }
    return worst / s->tolerance;
}

/* The slopes at the stages of a step from (t, q->x) to t_end, into q->K. */
static ns_why solve(ns_stepper *s, ns_quad_engine *q, const double *x, double t, double t_end)
{
    enum { MOST = 8 };
    const uint32_t n = s->n;
    const ns_quad from = time_of(t), h = time_of(t_end) - from;
    const double h1 = t_end - t;
    const ns_why why = sweeps(s, q, x, t, h1);
    if (why != NS_WHY_NONE)
        return why;
    for (size_t at = 0; at < (size_t)S * n; at++)
        q->K[at] = q->k[at];
    double before = INFINITY;
    for (int round = 0; round < MOST; round++) {
        for (uint32_t j = 0; j < S; j++) {
            for (uint32_t i = 0; i < n; i++) {
                ns_quad sum = 0;
                for (uint32_t l = 0; l < S; l++)
                    sum += q->a[j][l] * q->K[S * i + l];
                q->Y[i] = q->x[i] + h * sum;
            }
            ns_program_eval_quad(s->problem->rhs, q->work_rhs, from + q->c[j] * h, q->Y,
                                 q->out);
            for (uint32_t i = 0; i < n; i++)
                q->r[S * i + j] = (double)(q->out[i] - q->K[S * i + j]);
        }
        s->now.evaluations += S;
        if (!correct(s, q, x, t, h1))
            return ns_stepper_finite(q->r, (size_t)S * n) ? NS_WHY_ITERATION
                                                          : NS_WHY_NOT_FINITE;
        for (size_t at = 0; at < (size_t)S * n; at++) {
            q->K[at] += q->d[at];
            q->k[at] = (double)q->K[at];
        }
        const double size = largest(s, h1, q->d, 16, q->noise);
        /* nothing to correct: rates that are constant, or zero; or what remains, less by the
         * same factor once more, is */
        if (!(size > 0) || (round > 0 && size * (size / before) <= 1e-33) ||
            (size <= 1e-28 && size > 0.1 * before))
            return NS_WHY_NONE;
        if (!(size < before))
            return NS_WHY_ITERATION;
        before = size;
    }
    return NS_WHY_ITERATION;
}

static void finish(const ns_stepper *s, ns_quad_engine *q, double t, double t_end)
{
    const ns_quad h = time_of(t_end) - time_of(t);
    for (uint32_t i = 0; i < s->n; i++) {
        ns_quad sum = 0;
        for (uint32_t j = 0; j < S; j++)
            sum += q->b[j] * q->K[S * i + j];
        q->x_new[i] = q->x[i] + h * sum;
    }
}

static void split(uint32_t n, const ns_quad *x, double *high, double *low)
{
    for (uint32_t i = 0; i < n; i++) {
        high[i] = (double)x[i];
        low[i] = (double)(x[i] - (ns_quad)high[i]);
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
    make_tables(q);
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
    *((const quad *)s->view)->last = (kept){0};
    guess(s, q, s->now.t, 0);
    for (uint32_t i = 0; i < s->n; i++)
        q->f[i] = q->k[S * i];
    s->now.h = s->first_step > 0 ? s->first_step : ns_stepper_guess(s, q->f, 16);
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

static ns_status step(ns_stepper *s)
{
    ns_quad_engine *q = s->outside;
    const quad *view = s->view;
    kept *last = view->last;
    double want = s->now.h;
    for (uint32_t i = 0; i < s->n; i++)
        q->x[i] = (ns_quad)s->x[i] + (ns_quad)s->x_lo[i];
    measure_noise(s, q);
    for (;;) {
        const double h = ns_stepper_clip(s, want);
        const bool whole = h == s->until - s->now.t;
        const double t_end = whole ? s->until : s->now.t + h;
        if (ns_stepper_too_small(s, h))
            return ns_stepper_give_up(s);
        guess(s, q, s->now.t, h);
        const ns_why why = solve(s, q, s->x, s->now.t, t_end);
        const double off = why == NS_WHY_NONE ? error(s, q, h) : INFINITY;
        const double factor = 0.8 * ns_math_pow(off, -1.0 / (2 * S - 1));
        if (why == NS_WHY_NONE && (off <= 1 || s->fixed_step > 0)) {
            finish(s, q, s->now.t, t_end);
            last->h = h;
            last->from = s->now.t;
            memcpy(view->k, q->k, (size_t)S * s->n * sizeof(double));
            double *x = q->f, *low = q->f + s->n;
            split(s->n, q->x_new, x, low);
            ns_stepper_accept(s, h, x, low);
            s->now.h = fabs(h) * ns_min(factor, 3);
            if (fabs(h) < 0.9 * want) /* cut by the end or by a limit: says nothing */
                s->now.h = ns_max(s->now.h, want);
            s->why = NS_WHY_NONE;
            return NS_OK;
        }
        s->now.rejected++;
        s->why = why == NS_WHY_NONE ? NS_WHY_STEP : why;
        const bool estimated = s->why == NS_WHY_STEP;
        if (s->fixed_step > 0)
            return why == NS_WHY_NOT_FINITE ? NS_STOP_SINGULAR : NS_STOP_STEP;
        want = fabs(h) * (estimated ? ns_max(ns_min(factor, 0.9), 0.1) : 0.4);
    }
}

/* A step over the first part of the last one: as accurate as that. */
static void state_low(ns_stepper *s, double t, double *x, double *x_lo)
{
    ns_quad_engine *q = s->outside;
    const kept *last = ((const quad *)s->view)->last;
    for (uint32_t i = 0; i < s->n; i++)
        q->x[i] = (ns_quad)s->x0[i] + (ns_quad)s->x0_lo[i];
    guess(s, q, last->from, t - last->from);
    if (solve(s, q, s->x0, last->from, t) != NS_WHY_NONE)
        for (size_t at = 0; at < (size_t)S * s->n; at++)
            q->K[at] = NAN; /* cannot be where the whole step converged */
    finish(s, q, last->from, t);
    split(s->n, q->x_new, x, x_lo);
}

static void state_at(ns_stepper *s, double t, double *x)
{
    const ns_quad_engine *q = s->outside;
    state_low(s, t, x, q->d);
}

static void sample(ns_stepper *s, const double *tau, double *x)
{
    const ns_quad_engine *q = s->outside;
    const quad *view = s->view;
    const kept *last = view->last;
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

static ns_status step(ns_stepper *s)
{
    (void)s;
    return NS_ERR_USAGE;
}

static void state_low(ns_stepper *s, double t, double *x, double *x_lo)
{
    (void)t;
    memcpy(x, s->x, s->n * sizeof *x);
    memset(x_lo, 0, s->n * sizeof *x);
}

static void state_at(ns_stepper *s, double t, double *x)
{
    (void)t;
    memcpy(x, s->x, s->n * sizeof *x);
}

static void sample(ns_stepper *s, const double *tau, double *x)
{
    (void)s;
    (void)tau;
    (void)x;
}

static void end(ns_stepper *s)
{
    (void)s;
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
    .view = sizeof(quad),
    .layout = layout,
    .begin = begin,
    .step = step,
    .state_at = state_at,
    .state_low = state_low,
    .sample = sample,
    .end = end,
};
