/* gauss: the equations of the stages, by sweeps or by Newton's iteration: see gauss.c. */
#include <float.h>

#include "ode/gauss/gauss_control.h"
#include "ode/gauss/gauss_internal.h"
#include "ode/gauss/gauss_newton.h"

enum { MAX_SWEEPS = 30 };

/* Linear parts are deviations from the motion of the others.  Their errors do not come back to
 * it: they are solved to rounding errors of theirs, without a sweep that shows nothing but
 * those, and may have this many times the error of the motion, which is a fifth of the step. */
static const double ASIDE = 32, ASIDE_LITTLE = DBL_EPSILON;

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
    g->error = ns_gauss_estimate(g, n, state, DBL_EPSILON, unsettled, g->goal, all);
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
    const ns_cascade *cascade = ns_problem_cascade(s->problem);
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
    static const double little = 1e-2; /* of what it would count otherwise */
    double least = 1;
    for (uint32_t i = 0; i < g->a.n; i++)
        least = ns_smaller(least, g->a.share[i]);
    return least < little;
}

/* Where the error of a step shows: changes of the stages below this part of the last Legendre
 * coefficients, squared. */
#define SHOWS 0.0025
/* The same by the coefficients of the step before, which may have been larger. */
#define SHOWED 0.0006

typedef struct look {
    double limit; /* of the error */
    double early; /* change of the stages from which on the error can be told */
    bool done;    /* it has been */
} look;

/* The error of the step, seen before or when the sweeps of the first part end.  CONVERGED: go
 * on. */
static ns_gauss_outcome look_early(ns_stepper *s, ns_gauss *g, const ns_rate_part *part,
                                   const double *x, const double *x_lo, double change,
                                   bool last, look *l)
{
    ns_gauss_judgement all;
    const bool alone = g->judging == NS_GAUSS_FIRST_EARLY;
    if (!finish_part(g, part, x, x_lo) || (!alone && !integrate_rest(s, g, x, x_lo)))
        return NS_GAUSS_NOT_FINITE;
    g->complete = !alone && last;
    const bool give_up = too_long(g, alone ? part->n : s->n, part->state,
                                  ns_larger(sqrt(change), g->settled), l->limit, &all);
    const double shows = SHOWS * g->tail * g->tail;
    l->done = last || change <= shows;
    if (l->done)
        g->sum = all;
    else /* too early: F is not as good as its last coefficients yet */
        l->early = shows;
    return l->done && give_up ? NS_GAUSS_TOO_LONG : NS_GAUSS_CONVERGED;
}

/* Sweeps of one part from the prediction in Y until converged: then Y holds the derivatives at
 * the stages, Zn the increments A Y.  The change of Zn in a sweep is the error before it; times
 * rho, after it; the update has the error of the latter.  g->rho is a guess of it; *contraction
 * becomes the mean of it, 0 if there is nothing to tell it from.  Changes are squared here.
 *
 * The error of the step shows in Y long before: a step that will be rejected, because its error
 * is above the limit, is given up then.  Limit 0: nobody cares about the error. */
static ns_gauss_outcome iterate_part(ns_stepper *s, ns_gauss *g, const ns_rate_part *part,
                                     const double *x, const double *x_lo, double limit,
                                     double *contraction)
{
    const double count = 8.0 * part->live, noise = ns_gauss_noise(count);
    const double enough = ns_gauss_enough(
        part->known ? ns_larger(g->little, ASIDE_LITTLE) : g->little, count);
    look error = {.limit = limit,
                  .early = ns_smaller(g->early, SHOWED * g->k->tail * g->k->tail),
                  .done = !(limit > 0)};
    double first = 0, last = 0;
    double seen = 0; /* the last change that was more than noise, */
    int sweeps = 0;  /* after this many sweeps */
    double slow = 1; /* what it would be if sweeps were slow */
    int passed = 0;
    ns_gauss_outcome result = NS_GAUSS_DIVERGED;
    for (int k = 1; k <= MAX_SWEEPS; k++) {
        double change = 0;
        for (uint32_t b = 0; b < part->n_blocks; b++)
            change += sweep(s, g, &part->block[b], part->block[b].live, x, x_lo);
        if (!(change <= DBL_MAX)) {
            result = NS_GAUSS_NOT_FINITE;
            break;
        }
        passed = k - 1;
        if (k == 1) {
            first = change;
            last = change / (g->rho * g->rho);
        } else {
            slow *= NS_GAUSS_SLOW;
            if (change > noise) {
                seen = change;
                sweeps = k - 1;
            }
        }
        /* change rho <= enough,  or only rounding errors; in the first step rho is not known
         * yet */
        const bool done = (k > 1 || g->k->h != 0) &&
                          (change <= enough || change * change <= enough * last ||
                           (k > 1 && change > NS_GAUSS_STAGNANT * last && change <= noise));
        if (!error.done && (done || change <= error.early)) {
            const ns_gauss_outcome found = look_early(s, g, part, x, x_lo, change, done,
                                                      &error);
            if (found != NS_GAUSS_CONVERGED) {
                result = found;
                break;
            }
        }
        if (done) {
            result = g->complete || finish_part(g, part, x, x_lo) ? NS_GAUSS_CONVERGED
                                                                  : NS_GAUSS_NOT_FINITE;
            break;
        }
        if (k > 1 &&
            (change > NS_GAUSS_DIVERGES * last ||
             (k > NS_GAUSS_PATIENT && sweeps == k - 1 && change > slow * first)) &&
            !(k == 2 && first_hidden(g)))
            break;
        last = change;
    }
    *contraction = sweeps ? ns_gauss_root(seen / first, 2 * sweeps) : 0;
    /* the sweep after it came down to noise at least */
    if (passed > sweeps && sweeps > 0)
        *contraction = ns_smaller(*contraction, ns_gauss_root(noise / first, 2 * (sweeps + 1)));
    return result;
}

/* All parts, one after the other.  g->rho is a guess of the contraction and becomes that of the
 * part that contracts least. */
ns_gauss_outcome ns_gauss_iterate(ns_stepper *s, ns_gauss *g, const double *x,
                                  const double *x_lo, double limit)
{
    const ns_cascade *cascade = ns_problem_cascade(s->problem);
    double slowest = 0;
    g->error = -1;
    g->factor = NS_GAUSS_GROWTH;
    g->sum = (ns_gauss_judgement){0};
    g->complete = false;
    ns_gauss_outcome result = NS_GAUSS_CONVERGED;
    const bool early = g->judging != NS_GAUSS_AT_END;
    for (uint32_t p = 0; p < cascade->n && cascade->known; p++)
        for (uint32_t i = 0; i < cascade->part[p].n && cascade->part[p].known; i++)
            g->a.weight[cascade->part[p].state[i]] /= ASIDE;
    for (uint32_t p = 0; p < cascade->n && result == NS_GAUSS_CONVERGED && !g->complete; p++) {
        const ns_rate_part *part = &cascade->part[p];
        if (part->known)
            ns_program_eval8(part->known, g->work + part->place, g->a.time, g->a.X,
                             g->a.X + 8 * ((size_t)s->n + part->first));
        if (part->feedback) {
            double rho = 0;
            result = iterate_part(s, g, part, x, x_lo, early && p == 0 ? limit : 0, &rho);
            slowest = ns_larger(slowest, rho);
        } else if (!integrate_part(s, g, part, x, x_lo))
            result = NS_GAUSS_NOT_FINITE;
    }
    const uint32_t judged = g->judging == NS_GAUSS_ALL_EARLY ? s->n
                            : early                          ? cascade->part[0].n
                                                             : 0;
    if (result == NS_GAUSS_CONVERGED && limit > 0 && judged < s->n &&
        too_long(g, s->n - judged, cascade->state + judged, g->settled, limit, &g->sum))
        result = NS_GAUSS_TOO_LONG;
    g->rho = slowest;
    return result;
}

/* The same by simplified Newton iteration, with the Jacobian at the beginning of the step. */
ns_gauss_outcome ns_gauss_iterate_newton(ns_stepper *s, ns_gauss *g, double t, const double *x,
                                         const double *x_lo, double limit)
{
    /* rounding errors of the linear algebra permit no more; the stages are solved to a
     * hundredth of the tolerance, or until changes that shrink by less than 0.3 are noise */
    static const double least = 1e-14, part = 0.01, stagnant = 0.3, diverges = 0.9;
    enum { NOISE = 64, NOISE_OF_RATES = 16 }; /* units in the last place */
    const double root = sqrt(8.0 * s->n), noise = NOISE * DBL_EPSILON * root;
    const double tolerance = ns_larger(s->tolerance, least), enough = part * tolerance;
    const uint32_t n = s->n;
    double last = INFINITY, rho = 1;
    g->error = -1;
    g->factor = NS_GAUSS_GROWTH;
    g->rho = 0;
    for (uint32_t i = 0; i < n; i++) { /* rates and their rounding errors say little here */
        g->a.weight[i] = g->a.settle[i] = 1 / s->size[i];
        g->a.share[i] = 1;
        for (uint32_t j = 0; j < 8; j++)
            g->a.Z[8 * i + j] -= x_lo[i];
    }
    g->norm = ns_newton_jacobian(s, g->newton, t, x);
    if (!isfinite(g->norm))
        return NS_GAUSS_NOT_FINITE;
    if (!ns_newton_factor(s, g->newton, g->h))
        return NS_GAUSS_DIVERGED;
    for (int k = 1; k <= MAX_SWEEPS; k++) {
        ns_stepper_rhs8(s, s->work8, g->a.time, g->a.X, g->a.Y);
        const double change = ns_newton_correct(s, g->newton, g->h, g->a.Y, g->a.settle,
                                                g->a.Z);
        if (!isfinite(change))
            return NS_GAUSS_NOT_FINITE;
        if (k > 1)
            rho = change / last;
        const bool done = change * ns_smaller(rho, 1) <= enough ||
                          (k > 1 && rho > stagnant && change <= noise);
        for (uint32_t i = 0; i < n && !done; i++)
            for (uint32_t j = 0; j < 8; j++)
                g->a.X[8 * i + j] = x[i] + (x_lo[i] + g->a.Z[8 * i + j]);
        if (done) {
            ns_newton_derivatives(n, g->h, g->a.Z, g->a.Y);
            for (uint32_t i = 0; i < 8 * n; i++)
                g->a.Z[i] += x_lo[i / 8];
            if (limit > 0)
                g->error = ns_gauss_estimate_stiff(g, NOISE_OF_RATES * DBL_EPSILON * root,
                                                   tolerance);
            return g->error > limit ? NS_GAUSS_TOO_LONG : NS_GAUSS_CONVERGED;
        }
        if (k > 2 && rho > diverges)
            return NS_GAUSS_DIVERGED;
        last = change;
    }
    return NS_GAUSS_DIVERGED;
}
