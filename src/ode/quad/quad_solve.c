/* quad: the equations of the stages, first in double precision, then corrected: see quad.c. */
#define _GNU_SOURCE
#include "base/math/quad.h"

#include <float.h>

#include "base/math/vecmath.h"
#include "ode/quad/quad_internal.h"

#if NS_HAVE_QUAD

enum { S = NS_QUAD_STAGES };
enum { UNITS = 16 }; /* of noise that changes of the slopes may consist of */

/* ---- tables ------------------------------------------------------------------------------ */

/* P_0 .. P_n at x */
static void legendre(int n, ns_quad x, ns_quad *p)
{
    p[0] = 1;
    p[1] = x;
    for (int k = 1; k < n; k++)
        p[k + 1] = ((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1);
}

void ns_quad_make_tables(ns_quad_engine *q)
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
void ns_quad_measure_noise(const ns_stepper *s, ns_quad_engine *q)
{
    const ns_quad t = ns_quad_time(s->now.t);
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
void ns_quad_guess(ns_stepper *s, ns_quad_engine *q, double from, double h)
{
    enum { DEGREE = 10 };
    const ns_quad_view *view = s->view;
    const ns_quad_kept *last = view->last;
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
    enum { MOST = 100, PATIENT = 4 };
    /* rounding errors; where changes below `low` do not become less, they are; many times the
     * first change: it diverges */
    static const double round_off = 1e-15, low = 1e-11, stagnant = 0.5, many = 10;
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
        const double change = largest(s, h, q->d, UNITS, s->noise);
        if (round == 0)
            first = change;
        if (isinf(change))
            return NS_WHY_NOT_FINITE;
        if (change <= round_off || (change <= low && change > stagnant * before))
            return NS_WHY_NONE;
        if (round > PATIENT && change > many * first)
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
    /* of the correction: where rounding errors end it above `low`, the next one goes on */
    static const double round_off = 1e-15, low = 1e-4, stagnant = 0.8, diverged = 1e6;
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
        if (change <= round_off * size || (change <= low * size && change > stagnant * before))
            return true;
        if (!(change < diverged * size))
            return false;
        before = change;
    }
    return size == 0;
}

/* Error of the step relative to the sizes, over the tolerance.  Slopes of a state that should
 * be zero are made of the errors of the stages, of all degrees alike: what is far less than the
 * other components of a vector is measured by those. */
double ns_quad_error(const ns_stepper *s, const ns_quad_engine *q, double h)
{
    static const double nothing = 1e-16;
    enum { NOISE = 64 }; /* times the noise of the rates is no error of the method */
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
        last -= NOISE * q->noise[i];
        if (all > 0 && last > 0) {
            const double size = ns_max(s->size[i], fabs(h * slope[i]));
            worst = ns_max(worst, fabs(h) * last * (last / all) / size);
        }
    }
    return worst / s->tolerance;
}

/* The slopes at the stages of a step from (t, q->x) to t_end, into q->K. */
ns_why ns_quad_solve(ns_stepper *s, ns_quad_engine *q, const double *x, double t, double t_end)
{
    enum { MOST = 8 };
    /* the end of the arithmetic; where corrections below `low` do not become less, it is */
    static const double round_off = 1e-33, low = 1e-28, stagnant = 0.1;
    const uint32_t n = s->n;
    const ns_quad from = ns_quad_time(t), h = ns_quad_time(t_end) - from;
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
        const double size = largest(s, h1, q->d, UNITS, q->noise);
        /* nothing to correct: rates that are constant, or zero; or what remains, less by the
         * same factor once more, is */
        if (!(size > 0) || (round > 0 && size * (size / before) <= round_off) ||
            (size <= low && size > stagnant * before))
            return NS_WHY_NONE;
        if (!(size < before))
            return NS_WHY_ITERATION;
        before = size;
    }
    return NS_WHY_ITERATION;
}

#else
typedef int ns_quad_solve_none; /* a file must declare something */
#endif
