/* gauss: Gauss-Legendre collocation with 8 stages, order 16, the stages in the 8 lanes.
 *
 *     F_j = f(t + c_j h, X_j),   X_i = x + sum_j mu_ij (h b_j F_j),   x_new = x + sum_j h b_j
 *     F_j
 *
 * Solved by fixed-point iteration ("sweeps": one evaluation on eight lanes each), started from
 * the polynomial through the F_j of the last step, extrapolated.  States are solved for by
 * parts (cascade.h): those that depend on each other first, what depends on them afterwards,
 * and without iteration where there is no feedback.  Rounding errors are kept from
 * growing systematically as in Hairer, McLachlan and Razakarivony, BIT 48 (2008): the state is
 * a compensated sum, the weights are exact to 100 bits, and the iteration goes on until it has
 * converged or only rounding errors change.
 *
 * Error.  F is interpolated by a polynomial of degree 7; its Legendre coefficients f_k fall
 * like D^k.  The end point has twice the order of the polynomial, so its error is like the
 * coefficient f_16 that is not there: h |f_7| D^9 = h |f_7|^2 D^2 / |f|.
 * Where the problem is stiff it is no better than the stages, h |f_7| D.
 *
 * Inside the step the polynomial has only half the digits of the end points.  State_at
 * therefore makes a collocation step of its own from the beginning of the step to t; it starts
 * from the polynomial and needs two to four sweeps. */
#include <float.h>

#include "base/math/vecmath.h"
#include "ode/ensemble/ensemble_kernel.h"
#include "ode/gauss/gauss_internal.h"
#include "ode/gauss/gauss_newton.h"
#include "ode/gauss/gauss_table.h"

const double ns_method_nodes[8] = {
    0.019855071751231884, 0.10166676129318664, 0.2372337950418355, 0.4082826787521751,
    0.591717321247825,    0.7627662049581645,  0.8983332387068134, 0.9801449282487681,
};

enum { MAX_SWEEPS = 30 };

/* Step control.  The error is aimed at AIM^16 = 0.2 of the tolerance and accepted up to LIMIT
 * times it: with order 16 the room between is 20 % of the step, and few steps are rejected.
 * Sweeps that contract by less than CONTRACTION cost more than shorter steps would. */
#define AIM 0.9
#define LIMIT 4.0
#define CONTRACTION 0.2

static void layout(ns_stepper *s, ns_layout *kept, ns_layout *scratch)
{
    const ns_problem *problem = s->problem;
    const size_t n = s->n;
    ns_gauss *g = s->view;
    g->k = ns_layout_take(kept, 1, sizeof *g->k);
    g->F = ns_layout_doubles(kept, 8 * n);
    g->Z = ns_layout_doubles(kept, 8 * n);
    g->a = (ns_gauss_arrays){.n = s->n, .size = s->size, .noise = s->noise};
    g->a.Y = ns_layout_doubles(scratch, 8 * n);
    g->a.Z = ns_layout_doubles(scratch, 8 * n);
    g->a.X = ns_layout_doubles(scratch, 8 * n);
    g->rates = ns_layout_doubles(scratch, 8 * n);
    g->E = ns_layout_doubles(scratch, 8 * 8);
    double **const of_stages[] = {&g->a.time, &g->a.hb, &g->a.hb_lo};
    for (size_t i = 0; i < sizeof of_stages / sizeof *of_stages; i++)
        *of_stages[i] = ns_layout_doubles(scratch, 8);
    double **const of_states[] = {&g->a.weight, &g->a.settle, &g->a.share,
                                  &g->x_new,    &g->x_new_lo, &g->f};
    for (size_t i = 0; i < sizeof of_states / sizeof *of_states; i++)
        *of_states[i] = ns_layout_doubles(scratch, n);
    g->legendre = ns_layout_doubles(scratch, 3 * ns_round8(n));
    g->work_jet = ns_layout_doubles(scratch, ns_program_work_jet(problem->rhs, NS_GAUSS_START));
    g->jet = ns_layout_doubles(scratch, (NS_GAUSS_START + 1) * n);
    g->newton = ns_layout_doubles(scratch, ns_newton_memory(problem));
    g->work = ns_layout_doubles(scratch, problem->cascade->work);
}

static const ns_gauss_kernel *choose_kernel(const ns_stepper *s)
{
#if NS_X86
    const char *lanes = ns_program_lanes_name(s->problem->rhs);
    if (strcmp(lanes, ns_gauss_avx512.name) == 0)
        return &ns_gauss_avx512;
    if (strcmp(lanes, ns_gauss_avx2.name) == 0)
        return &ns_gauss_avx2;
#endif
    (void)s;
    return &ns_gauss_plain;
}

/* Tolerance of the step control.  The error estimate is pessimistic: except near rounding
 * errors it is aimed at ten times the tolerance, while the stages are solved to a part of it.
 * The coefficients say less about the error the slower they fall: loose tolerances are taken
 * more seriously than asked for (1e-4 as 1e-5). */
static double goal(const ns_stepper *s)
{
    const double tolerance = s->tolerance;
    return tolerance * (1 + 9 * tolerance / (tolerance + 1e-15)) / (1 + sqrt(tolerance / 1e-8));
}

/* Relative errors of the states when the iteration ends, about. */
static double settled(const ns_stepper *s)
{
    return ns_larger(DBL_EPSILON, 0.02 * s->tolerance);
}

/* Operations of one sweep of a part. */
static double operations(const ns_rate_part *part)
{
    double sum = 16.0 * part->n;
    for (uint32_t b = 0; b < part->n_blocks; b++)
        sum += part->block[b].rhs ? ns_program_operations(part->block[b].rhs, NULL) : 0;
    return sum;
}

/* The error of a step shows before its sweeps have ended, and to look for it then costs little:
 * the sweeps wait for their own results most of the time, and the length of the next step is
 * known when they end.  Parts that follow without feedback are evaluated for this once more, if
 * they cost little; otherwise they are judged at the end, and the first part apart from them if
 * its sweeps are dear, because steps that will be rejected end early. */
static ns_gauss_judging choose_judging(const ns_cascade *cascade)
{
    const ns_rate_part *first = &cascade->part[0];
    if (!first->feedback)
        return NS_GAUSS_AT_END;
    const double one = operations(first);
    double others = 0;
    for (uint32_t p = 1; p < cascade->n; p++)
        others += cascade->part[p].feedback ? INFINITY : operations(&cascade->part[p]);
    return others <= 0.3 * one ? NS_GAUSS_ALL_EARLY
           : one > 500         ? NS_GAUSS_FIRST_EARLY
                               : NS_GAUSS_AT_END;
}

static ns_status begin(ns_stepper *s)
{
    ns_gauss *const g = s->view;
    g->kernel = choose_kernel(s);
    g->goal = goal(s);
    g->settled = settled(s);
    g->early = 4e-4 * ns_math_pow(s->tolerance, 7.0 / 8);
    g->judging = choose_judging(s->problem->cascade);
    g->price = s->problem->jacobian ? ns_newton_price(s->problem) : 0;
    s->rough_share = DBL_EPSILON / g->settled;
    ns_program_bind_jet(s->problem->rhs, g->work_jet, NS_GAUSS_START, s->p);
    if (s->problem->jacobian)
        ns_newton_bind(s, g->newton);
    const ns_cascade *cascade = s->problem->cascade;
    for (uint32_t p = 0; p < cascade->n; p++)
        for (uint32_t k = 0; k < cascade->part[p].n_blocks; k++) {
            const ns_rate_block *block = &cascade->part[p].block[k];
            if (block->rhs && !block->all)
                ns_program_bind8(block->rhs, g->work + block->place, s->p8);
        }
    memset(g->k, 0, sizeof *g->k);
    g->k->rho = 0.3;

    const uint32_t w = NS_GAUSS_START + 1;
    for (uint32_t i = 0; i < s->n; i++)
        g->jet[i * w] = s->x[i];
    ns_program_solve_jet(s->problem->rhs, g->work_jet, s->now.t, NS_GAUSS_START, g->jet);
    s->now.evaluations += NS_GAUSS_START;
    const double radius = ns_stepper_radius(s, g->jet, NS_GAUSS_START);
    g->series = radius > 0;
    if (s->first_step > 0)
        s->now.h = s->first_step;
    else if (radius > 0)
        s->now.h = radius * ns_smaller(0.8, 4 * ns_math_pow(s->tolerance, 1.0 / 16));
    else {
        for (uint32_t i = 0; i < s->n; i++)
            g->f[i] = g->jet[i * w + 1];
        s->now.h = ns_stepper_guess(s, g->f, 100);
    }
    return NS_OK;
}

/* Start of the very first step. */
static void predict_first(const ns_stepper *s, const ns_gauss *g, double h)
{
    const uint32_t w = NS_GAUSS_START + 1;
    for (uint32_t i = 0; i < s->n; i++)
        for (int j = 0; j < 8; j++)
            g->a.Y[8 * i + (uint32_t)j] = ns_gauss_series_rate(g, g->jet + i * w,
                                                               h * gauss_c[j]);
}

/* Binary logarithms in units of 2^-52, straight between powers of two: off by 0.09 at most.
 * Step control needs no more, and the next step waits for it.  That of zero is -1023. */
static const int64_t log_one = INT64_C(1023) << 52, log_fraction = (INT64_C(1) << 52) - 1;

static int64_t rough_log(double a)
{
    int64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits - log_one;
}

/* The power of two, for a logarithm above -1022; between whole ones a parabola, to 0.2 per
 * cent. */
static double power(int64_t logarithm)
{
    const int64_t bits = logarithm + log_one;
    const int64_t whole = bits & ~log_fraction, rest = (bits & log_fraction) | log_one;
    double a, b;
    memcpy(&a, &whole, sizeof a);
    memcpy(&b, &rest, sizeof b);
    return a * (1 + (b - 1) * (0.6565 + 0.3435 * (b - 1)));
}

/* The n-th root of a number between 0 and 1, about. */
static double rough_root(double a, int n)
{
    return a > DBL_MIN ? power(rough_log(a) / n) : 0;
}

/* Logarithm of D^2, as squares were judged; at most 0. */
static int64_t decay(const ns_gauss_judgement *all)
{
    const int64_t D6 = rough_log(all->m6) / 6, D7 = rough_log(all->m7) / 7,
                  D = D7 > D6 ? D7 : D6;
    return D < 0 ? D : 0;
}

/* Error of the step in units of the tolerance, by these states and those judged before:
 * see the head of the file.  States that hardly change in comparison with the others get credit
 * for that.  What is not the method's error is left out: rounding errors of the states
 * (`least`), and what relative errors `unsettled` of the states make of the rates, rounding
 * errors or what the iteration has left.  g->tail becomes the size of their last coefficients;
 * *all what has been seen including them. */
static double estimate(ns_gauss *g, uint32_t n, const uint32_t *state, double least,
                       double unsettled, double tolerance, ns_gauss_judgement *all)
{
    const ns_gauss_limits limits = {fabs(g->h), least, unsettled / DBL_EPSILON};
    *all = g->sum;
    g->kernel->judge(&g->a, n, n < g->a.n ? state : NULL, &limits, g->legendre, all, &g->tail);
    g->factor = 2;
    if (!(ns_larger(all->e6, all->e7) > 0))
        return 0;
    const int64_t D = decay(all), e6 = rough_log(all->e6) + 2 * D, e7 = rough_log(all->e7);
    const int64_t last = e6 > e7 ? e6 : e7;
    const int64_t error = last / 2 + D - rough_log(tolerance);
    g->factor = AIM * power(-error / 16);
    return power(error);
}

/* The same where the problem is stiff.  The end point follows the polynomial then and is no
 * better than the stages: the error is like the coefficient f_8, h |f_7| D = h |f_6| D^2 (the
 * method has order 16, but stage order 8; and it is not damped at infinity, so that such errors
 * stay). */
static double estimate_stiff(ns_gauss *g, double least, double tolerance)
{
    g->sum = (ns_gauss_judgement){0};
    if (estimate(g, g->a.n, NULL, least, 0, tolerance, &g->sum) == 0 || !(g->tail > 0))
        return 0;
    const int64_t error = rough_log(g->tail) + decay(&g->sum) - rough_log(tolerance);
    g->factor = AIM * power(-error / 9);
    return power(error);
}

typedef enum outcome { CONVERGED, DIVERGED, NOT_FINITE, TOO_LONG } outcome;

/* Rates of the states of a block at X, and a sweep with them over the first `to` of its states:
 * returns its sum of squares. */
static double sweep(ns_stepper *s, ns_gauss *g, const ns_rate_block *block, uint32_t to,
                    const double *x, const double *x_lo)
{
    if (block->all)
        ns_stepper_rhs8(s, s->work8, g->a.time, g->a.X, g->rates);
    else if (block->rhs) {
        ns_program_eval8(block->rhs, g->work + block->place, g->a.time, g->a.X,
                         g->rates + 8 * (size_t)block->rows);
        s->now.evaluations += block->major ? 8 : 0;
    }
    return g->kernel->sweep(&g->a, block, 0, to, g->rates + 8 * (size_t)block->rows, x, x_lo);
}

/* The states of a part that occur in no rate, with the rates there are.  False if they are not
 * finite. */
static bool finish_part(const ns_gauss *g, const ns_rate_part *part, const double *x,
                        const double *x_lo)
{
    double change = 0;
    for (uint32_t b = 0; b < part->n_blocks && part->live < part->n; b++) {
        const ns_rate_block *block = &part->block[b];
        change += g->kernel->sweep(&g->a, block, block->live, block->n,
                                   g->rates + 8 * (size_t)block->rows, x, x_lo);
    }
    return change <= DBL_MAX;
}

/* Is the error of the step too large, by what these states show? */
static bool too_long(ns_gauss *g, uint32_t n, const uint32_t *state, double unsettled,
                     double limit, ns_gauss_judgement *all)
{
    g->error = estimate(g, n, state, DBL_EPSILON, unsettled, g->goal, all);
    return g->error > limit;
}

/* A part without feedback: its rates once.  False if they are not finite. */
static bool integrate_part(ns_stepper *s, ns_gauss *g, const ns_rate_part *part,
                           const double *x, const double *x_lo)
{
    double change = 0;
    for (uint32_t b = 0; b < part->n_blocks; b++)
        change += sweep(s, g, &part->block[b], part->block[b].n, x, x_lo);
    return change <= DBL_MAX;
}

/* All parts but the first, where none has feedback. */
static bool integrate_rest(ns_stepper *s, ns_gauss *g, const double *x, const double *x_lo)
{
    const ns_cascade *cascade = s->problem->cascade;
    bool finite = true;
    for (uint32_t p = 1; p < cascade->n && finite; p++)
        finite = integrate_part(s, g, &cascade->part[p], x, x_lo);
    return finite;
}

/* Does the first sweep show little of what it changed?  Changes of states whose rates consist
 * of rounding errors count for next to nothing there; in the second sweep the others follow
 * them. */
static bool first_hidden(const ns_gauss *g)
{
    double least = 1;
    for (uint32_t i = 0; i < g->a.n; i++)
        least = ns_smaller(least, g->a.share[i]);
    return least < 1e-2;
}

/* Sweeps of one part from the prediction in Y until converged: then Y holds the derivatives at
 * the stages, Zn the increments A Y.  The change of Zn in a sweep is the error before it; times
 * rho, after it; the update has the error of the latter.  g->rho is a guess of it; *contraction
 * becomes the mean of it, 0 if there is nothing to tell it from.  Changes are squared here.
 *
 * The error of the step shows in Y long before: a step that will be rejected, because its error
 * is above the limit, is given up then.  Limit 0: nobody cares about the error. */
static outcome iterate_part(ns_stepper *s, ns_gauss *g, const ns_rate_part *part,
                            const double *x, const double *x_lo, double limit,
                            double *contraction)
{
    const double count = 8.0 * part->live; /* the norms are of so many numbers */
    const double noise = 4 * DBL_EPSILON * DBL_EPSILON * count;
    const double enough = ns_larger(g->little * g->little, 25e-40 * count);
    /* the error can be told from here on, by what the last step had */
    double early = ns_smaller(g->early, 0.0006 * g->k->tail * g->k->tail);
    double first = 0, last = 0;
    double seen = 0; /* the last change that was more than noise, */
    int sweeps = 0;  /* after so many sweeps */
    double slow = 1; /* what it would be if each made 0.7 */
    int passed = 0;
    bool judged = !(limit > 0);
    outcome result = DIVERGED;
    for (int k = 1; k <= MAX_SWEEPS; k++) {
        double change = 0;
        for (uint32_t b = 0; b < part->n_blocks; b++)
            change += sweep(s, g, &part->block[b], part->block[b].live, x, x_lo);
        if (!(change <= DBL_MAX)) {
            result = NOT_FINITE;
            break;
        }
        passed = k - 1;
        if (k == 1) {
            first = change;
            last = change / (g->rho * g->rho);
        } else {
            slow *= 0.49;
            if (change > noise) {
                seen = change;
                sweeps = k - 1;
            }
        }
        /* change rho <= enough,  or only rounding errors; in the first step rho is not known
         * yet */
        const bool done = (k > 1 || g->k->h != 0) &&
                          (change <= enough || change * change <= enough * last ||
                           (k > 1 && change > 0.25 * last && change <= noise));
        if (!judged && (done || change <= early)) {
            ns_gauss_judgement all;
            const bool alone = g->judging == NS_GAUSS_FIRST_EARLY;
            if (!finish_part(g, part, x, x_lo) || (!alone && !integrate_rest(s, g, x, x_lo))) {
                result = NOT_FINITE;
                break;
            }
            g->complete = !alone && done;
            const bool give_up = too_long(g, alone ? part->n : s->n, part->state,
                                          ns_larger(sqrt(change), g->settled), limit, &all);
            judged = done || change <= 0.0025 * g->tail * g->tail;
            if (judged)
                g->sum = all;
            else /* too early: F is not as good as its last coefficients yet */
                early = 0.0025 * g->tail * g->tail;
            if (judged && give_up) {
                result = TOO_LONG;
                break;
            }
        }
        if (done) {
            result = g->complete || finish_part(g, part, x, x_lo) ? CONVERGED : NOT_FINITE;
            break;
        }
        if (k > 1 &&
            (change > 4 * last || (k > 4 && sweeps == k - 1 && change > slow * first)) &&
            !(k == 2 && first_hidden(g)))
            break;
        last = change;
    }
    *contraction = sweeps ? rough_root(seen / first, 2 * sweeps) : 0;
    /* the sweep after it came down to noise at least */
    if (passed > sweeps && sweeps > 0)
        *contraction = ns_smaller(*contraction, rough_root(noise / first, 2 * (sweeps + 1)));
    return result;
}

/* All parts, one after the other.  g->rho is a guess of the contraction and becomes that of the
 * part that contracts least. */
static outcome iterate(ns_stepper *s, ns_gauss *g, const double *x, const double *x_lo,
                       double limit)
{
    const ns_cascade *cascade = s->problem->cascade;
    double slowest = 0;
    g->error = -1;
    g->factor = 2;
    g->sum = (ns_gauss_judgement){0};
    g->complete = false;
    outcome result = CONVERGED;
    const bool early = g->judging != NS_GAUSS_AT_END;
    for (uint32_t p = 0; p < cascade->n && result == CONVERGED && !g->complete; p++) {
        const ns_rate_part *part = &cascade->part[p];
        if (part->feedback) {
            double rho = 0;
            result = iterate_part(s, g, part, x, x_lo, early && p == 0 ? limit : 0, &rho);
            slowest = ns_larger(slowest, rho);
        } else if (!integrate_part(s, g, part, x, x_lo))
            result = NOT_FINITE;
    }
    const uint32_t judged = g->judging == NS_GAUSS_ALL_EARLY ? s->n
                            : early                          ? cascade->part[0].n
                                                             : 0;
    if (result == CONVERGED && limit > 0 && judged < s->n &&
        too_long(g, s->n - judged, cascade->state + judged, g->settled, limit, &g->sum))
        result = TOO_LONG;
    g->rho = slowest;
    return result;
}

/* The same by simplified Newton iteration, with the Jacobian at the beginning of the step. */
static outcome iterate_newton(ns_stepper *s, ns_gauss *g, double t, const double *x,
                              const double *x_lo, double limit)
{
    const double root = sqrt(8.0 * s->n);
    const double noise = 64 * DBL_EPSILON * root;
    const double tolerance = ns_larger(s->tolerance,
                                       1e-14); /* rounding errors permit no more */
    const double enough = 0.01 * tolerance;
    const uint32_t n = s->n;
    double last = INFINITY, rho = 1;
    g->error = -1;
    g->factor = 2;
    g->rho = 0;
    for (uint32_t i = 0; i < n; i++) { /* rates and their rounding errors say little here */
        g->a.weight[i] = g->a.settle[i] = 1 / s->size[i];
        g->a.share[i] = 1;
        for (uint32_t j = 0; j < 8; j++)
            g->a.Z[8 * i + j] -= x_lo[i];
    }
    g->norm = ns_newton_jacobian(s, g->newton, t, x);
    if (!isfinite(g->norm))
        return NOT_FINITE;
    if (!ns_newton_factor(s, g->newton, g->h))
        return DIVERGED;
    for (int k = 1; k <= MAX_SWEEPS; k++) {
        ns_stepper_rhs8(s, s->work8, g->a.time, g->a.X, g->a.Y);
        const double change = ns_newton_correct(s, g->newton, g->h, g->a.Y, g->a.settle,
                                                g->a.Z);
        if (!isfinite(change))
            return NOT_FINITE;
        if (k > 1)
            rho = change / last;
        const bool done = change * ns_smaller(rho, 1) <= enough ||
                          (k > 1 && rho > 0.3 && change <= noise); /* rounding errors only */
        for (uint32_t i = 0; i < n && !done; i++)
            for (uint32_t j = 0; j < 8; j++)
                g->a.X[8 * i + j] = x[i] + (x_lo[i] + g->a.Z[8 * i + j]);
        if (done) {
            ns_newton_derivatives(n, g->h, g->a.Z, g->a.Y);
            for (uint32_t i = 0; i < 8 * n; i++)
                g->a.Z[i] += x_lo[i / 8];
            if (limit > 0)
                g->error = estimate_stiff(g, 16 * DBL_EPSILON * root, tolerance);
            return g->error > limit ? TOO_LONG : CONVERGED;
        }
        if (k > 2 && rho > 0.9)
            return DIVERGED;
        last = change;
    }
    return DIVERGED;
}

/* Newton's iteration pays where it allows much longer steps than sweeps do.  In one mode the
 * other one is judged: sweeps contract in proportion to the step, and their error estimate says
 * how long it could be, unless it sees only rounding errors; the Jacobian says how far sweeps
 * would go.  k->slow counts the evidence; after a change of mind for nothing it starts far
 * below. */
static void choose_iteration(const ns_gauss *g, double factor)
{
    ns_gauss_kept *k = g->k;
    const double price = g->price;
    if (k->stiff_step == 0) {
        if (g->rho > 0.8 * CONTRACTION)
            k->slow += factor > 1.5 * price ? 12 : factor > 1.3 ? 1 : 0.1;
        else if (g->rho > 0 && g->rho < 0.5 * CONTRACTION) /* it was seen to contract well */
            k->slow = ns_smaller(k->slow, 0);
        if (k->slow >= 48) {
            k->stiff = 1;
            k->slow = 0;
            k->reference = -fabs(g->h) * CONTRACTION / ns_larger(g->rho, 0.01);
        }
        return;
    }
    if (k->reference < 0)
        k->reference *= -g->norm;
    const double gain = fabs(g->h) * g->norm / k->reference; /* over the step for sweeps */
    if (gain < 0.5) {
        k->stiff = 0; /* sweeps would converge well */
        k->slow = 0;
    } else {
        k->slow = gain < 0.5 * price ? k->slow + 3 : gain < price ? k->slow + 1 : 0;
        if (k->slow >= 12) {
            k->stiff = 0;
            k->slow = -1000;
        }
    }
}

/* Length of the next step after an accepted one. */
static double propose(const ns_stepper *s, const ns_gauss *g, double factor)
{
    ns_gauss_kept *k = g->k;
    const double length = fabs(g->h), best = length * ns_smaller(factor, 2);
    const double trend = k->best_inverse > 0 ? best * k->best_inverse : 1;
    k->best_inverse = 1 / best;
    /* where the best step shrinks it will go on shrinking */
    double next = best * ns_smaller(ns_larger(trend, 0.5), 1);
    if (k->stiff_step == 0 && g->rho > CONTRACTION)
        next = ns_smaller(next, length * ns_larger(CONTRACTION / g->rho, 0.3));
    if (s->problem->jacobian)
        choose_iteration(g, factor);
    return next;
}

static ns_status step(ns_stepper *s)
{
    ns_gauss *const g = s->view;
    ns_gauss_kept *k = g->k;
    const size_t bytes = 8 * sizeof(double) * s->n;
    const bool control = s->fixed_step <= 0;
    double want = s->now.h, limit = control ? LIMIT : 0;
    double tried = 0, tried_error = 0; /* a rejected longer step: Y belongs to it */
    for (;;) {
        const double h = ns_stepper_clip(s, want);
        if (ns_stepper_too_small(s, h)) {
            if (s->why == NS_WHY_NONE)
                s->why = NS_WHY_STEP;
            return s->why == NS_WHY_NOT_FINITE ? NS_STOP_SINGULAR : NS_STOP_STEP;
        }
        if (tried != 0) {
            memcpy(g->a.X, g->a.Y, bytes);
            g->kernel->predict(s->n, 0, h / tried, g->a.X, g->a.Y);
        } else if (k->h != 0)
            g->kernel->predict(s->n, (s->now.t - k->from) / k->h, h * k->h_inverse, g->F,
                               g->a.Y);
        else
            predict_first(s, g, h);
        g->h = h;
        g->little = 0.001 * s->tolerance;
        g->kernel->prepare(&g->a, s->now.t, h, g->settled, s->x, s->x_lo);
        g->rho = k->rho;
        const bool stiff = k->stiff != 0;
        outcome result = stiff ? iterate_newton(s, g, s->now.t, s->x, s->x_lo, limit)
                               : iterate(s, g, s->x, s->x_lo, limit);
        if (result == CONVERGED &&
            !g->kernel->update(&g->a, s->x, s->x_lo, g->x_new, g->x_new_lo))
            result = NOT_FINITE;
        if (result == CONVERGED) {
            memcpy(g->F, g->a.Y, bytes);
            memcpy(g->Z, g->a.Z, bytes);
            k->from = s->now.t;
            k->h = h;
            k->h_inverse = 1 / h;
            k->rho = ns_smaller(ns_larger(g->rho, 0.01), 0.5);
            k->tail = g->tail;
            k->stiff_step = stiff;
            g->kernel->accept(s, g->x_new, g->x_new_lo);
            ns_stepper_advance(s, h);
            s->now.h = propose(s, g, ns_larger(g->factor, isinf(limit) ? 1 : 0));
            s->why = NS_WHY_NONE;
            return NS_OK;
        }
        s->now.rejected++;
        /* rounding errors larger than they were look like an error or a lack of convergence */
        if (result != NOT_FINITE && control)
            ns_stepper_trouble(s);
        switch (result) {
        case TOO_LONG:
            s->why = NS_WHY_STEP;
            want = fabs(h) * ns_larger(g->factor, 0.1);
            /* an error that hardly gets less in a shorter step is rounding error: let it pass,
             * unless it is larger than those are and the step does not resolve something */
            if (tried != 0 && g->error > tried_error * ns_math_pow(h / tried, 6) &&
                g->error * g->goal < ns_gauss_rounding(s->problem)) {
                limit = INFINITY;
                want = fabs(h);
            }
            tried = h;
            tried_error = g->error;
            break;
        case DIVERGED:
            s->why = NS_WHY_ITERATION;
            tried = 0;
            want = fabs(h) *
                   ns_smaller(ns_larger(CONTRACTION / ns_larger(g->rho, 0.1), 0.1), 0.5);
            if (!stiff && !control && s->problem->jacobian) {
                k->stiff = 1;
                k->reference = -fabs(h) * CONTRACTION;
                continue;
            }
            break;
        default:
            s->why = NS_WHY_NOT_FINITE;
            tried = 0;
            want = fabs(h) * 0.25;
        }
        if (!control)
            return result == DIVERGED ? NS_STOP_STEP : NS_STOP_SINGULAR;
    }
}

/* The polynomial of the last step at fractions u[8] of it: x_lo and increments into Z. */
static void polynomial(const ns_stepper *s, const ns_gauss *g, const double *u)
{
    double at[8] __attribute__((aligned(64)));
    memcpy(at, u, sizeof at);
    g->kernel->integration(at, g->E);
    g->kernel->apply(s->n, g->E, g->F, g->a.Z);
    for (uint32_t i = 0; i < 8 * s->n; i++)
        g->a.Z[i] = s->x0_lo[i / 8] + g->k->h * g->a.Z[i];
}

static void state_at(ns_stepper *s, double t, double *x)
{
    ns_gauss *const g = s->view;
    const double h = t - g->k->from;
    g->h = h;
    g->little = ns_larger(0.001 * s->tolerance, 0.05 * DBL_EPSILON); /* x will be rounded */
    g->kernel->predict(s->n, 0, h / g->k->h, g->F, g->a.Y);
    g->kernel->prepare(&g->a, g->k->from, h, g->settled, s->x0, s->x0_lo);
    g->rho = g->k->rho;
    const outcome result = g->k->stiff_step != 0
                               ? iterate_newton(s, g, g->k->from, s->x0, s->x0_lo, 0)
                               : iterate(s, g, s->x0, s->x0_lo, 0);
    if (result == CONVERGED) {
        g->kernel->update(&g->a, s->x0, s->x0_lo, g->x_new, g->x_new_lo);
        memcpy(x, g->x_new, s->n * sizeof(double));
        return;
    }
    double u[8];
    for (int i = 0; i < 8; i++)
        u[i] = h / g->k->h;
    polynomial(s, g, u);
    for (uint32_t i = 0; i < s->n; i++)
        x[i] = s->x0[i] + g->a.Z[8 * i];
}

static void sample(ns_stepper *s, const double *tau, double *x)
{
    ns_gauss *const g = s->view;
    const double *Z = g->Z;
    if (memcmp(tau, gauss_c, sizeof gauss_c) != 0) {
        polynomial(s, g, tau);
        Z = g->a.Z;
    }
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t j = 0; j < 8; j++)
            x[8 * i + j] = s->x0[i] + Z[8 * i + j];
}

static bool is_stiff(const ns_stepper *s)
{
    const ns_gauss_kept *k = ((const ns_gauss *)s->view)->k;
    return k->stiff != 0 || k->stiff_step != 0;
}

const ns_method ns_method_gauss = {
    .name = "gauss",
    .summary = "Gauss-Legendre collocation of order 16, eight stages in eight lanes (default)",
    .doc =
        "Implicit Runge-Kutta method with 8 stages and order 16, solved by fixed-point\n"
        "iteration from the extrapolated polynomial of the last step; the eight stages are\n"
        "evaluated at once in the lanes of the processor.  Compensated summation keeps "
        "rounding\n"
        "errors random: energy errors grow like the square root of time.  The method keeps\n"
        "quadratic invariants (unit quaternions, angular momentum), is reversible in time, "
        "and\n"
        "is A-stable.\n"
        "\n"
        "Use it for everything that is smooth, above all for long and accurate runs.\n"
        "\n"
        "Source: E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, II.1 and\n"
        "VIII.6; E. Hairer, R. McLachlan, A. Razakarivony, BIT 48 (2008) 231-243.\n",
    .order = 16,
    .exact_restart = true,
    .lanes = 8,
    .collocation = true,
    .loses_at_corners = true,
    .drive_order = 16,
    .drive_part = 0.25,
    .price = {.step = 600, .state = 5, .digits = 1},
    .is_stiff = is_stiff,
    .bundle = ns_gauss_bundles,
    .default_tolerance = 1e-17,
    .least_tolerance = 1e-18,
    .view = sizeof(ns_gauss),
    .layout = layout,
    .begin = begin,
    .step = step,
    .state_at = state_at,
    .sample = sample,
};
