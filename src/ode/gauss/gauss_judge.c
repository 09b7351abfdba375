/* gauss: the error of a step from the Legendre coefficients of its rates: see gauss.c. */
#include <float.h>

#include "base/check.h"
#include "ode/gauss/gauss_control.h"
#include "ode/gauss/gauss_internal.h"

/* The error is aimed at AIM^16 = 0.2 of the tolerance. */
#define AIM 0.9

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
    return a * (1 + (b - 1) * (NS_GAUSS_POWER_FIRST + NS_GAUSS_POWER_SECOND * (b - 1)));
}

double ns_gauss_root(double a, int n)
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
double ns_gauss_estimate(ns_gauss *g, uint32_t n, const uint32_t *state, double least,
                         double unsettled, double tolerance, ns_gauss_judgement *all)
{
    NS_CHECK(n > 0 && n <= g->a.n && tolerance > 0);
    const ns_gauss_limits limits = {fabs(g->h), least, unsettled / DBL_EPSILON};
    *all = g->sum;
    g->kernel->judge(&g->a, n, n < g->a.n ? state : NULL, &limits, g->legendre, all, &g->tail);
    g->factor = NS_GAUSS_GROWTH;
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
double ns_gauss_estimate_stiff(ns_gauss *g, double least, double tolerance)
{
    g->sum = (ns_gauss_judgement){0};
    if (ns_gauss_estimate(g, g->a.n, NULL, least, 0, tolerance, &g->sum) == 0 || !(g->tail > 0))
        return 0;
    const int64_t error = rough_log(g->tail) + decay(&g->sum) - rough_log(tolerance);
    g->factor = AIM * power(-error / 9);
    return power(error);
}
