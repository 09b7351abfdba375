/* gauss: Gauss-Legendre collocation with 8 stages, order 16, the stages in the 8 lanes.
 *
 *     F_j = f(t + c_j h, X_j),   X_i = x + sum_j mu_ij (h b_j F_j),   x_new = x + sum_j h b_j F_j
 *
 * Solved by fixed-point iteration ("sweeps": one evaluation on eight lanes each), started from
 * the polynomial through the F_j of the last step, extrapolated.  Rounding errors are kept from
 * growing systematically as in Hairer, McLachlan and Razakarivony, BIT 48 (2008): the state is a
 * compensated sum, the weights are exact to 100 bits, and the iteration goes on until it has
 * converged or only rounding errors change.
 *
 * Error.  F is interpolated by a polynomial of degree 7; its Legendre coefficients f_k fall like
 * D^k.  The end point has twice the order of the polynomial, so its error is like the
 * coefficient f_16 that is not there: h |f_7| D^9 = h |f_7|^2 D^2 / |f|.
 *
 * Inside the step the polynomial has only half the digits of the end points.  State_at therefore
 * makes a collocation step of its own from the beginning of the step to t; it starts from the
 * polynomial and needs two to four sweeps. */
#include <float.h>

#include "ode/gauss_kernel.h"
#include "ode/gauss_table.h"
#include "ode/stepper.h"

const double ns_method_nodes[8] = {
    0.019855071751231884, 0.10166676129318664, 0.2372337950418355, 0.4082826787521751,
    0.591717321247825,    0.7627662049581645,  0.8983332387068134, 0.9801449282487681,
};

enum {
    START_ORDER = 16, /* of the Taylor series that starts the first step */
    MAX_SWEEPS = 30
};

typedef struct kept {
    double h;                /* signed length of the step that F belongs to; 0: no step yet */
    double t, from;          /* its place: state_at works from here */
    double rho;              /* contraction of the iteration in the last step */
    double sweeps, iterated; /* statistics: sweeps of the last step, and of all */
    double unused[2];
} kept;

typedef struct gauss {
    kept *k;
    double *F, *Z; /* kept: derivatives and increments at the stages of the last step */
    double *Y, *Zn, *X, *E, *time, *hb, *hb_lo;
    double *weight, *x_new, *x_new_lo, *f;
    double *work, *work_jet, *jet;
} gauss;

static size_t memory(const ns_problem *problem, double tolerance)
{
    (void)tolerance;
    return 8 + 16 * (size_t)problem->n;
}

static size_t scratch(const ns_problem *problem, double tolerance)
{
    (void)tolerance;
    const size_t n = problem->n;
    return 24 * n + 64 + 24 + 4 * ns_round8(n) + ns_round8(ns_program_work8(problem->rhs)) +
           ns_round8(ns_program_work_jet(problem->rhs, START_ORDER)) + (START_ORDER + 1) * n;
}

static gauss view(const ns_stepper *s)
{
    const size_t n = s->n, n8 = 8 * n, r = ns_round8(n);
    gauss g = {.k = (kept *)s->kept};
    g.F = s->kept + 8;
    g.Z = g.F + n8;
    double *at = s->scratch;
    g.Y = at;
    g.Zn = g.Y + n8;
    g.X = g.Zn + n8;
    g.E = g.X + n8;
    g.time = g.E + 64;
    g.hb = g.time + 8;
    g.hb_lo = g.hb + 8;
    g.weight = g.hb_lo + 8;
    g.x_new = g.weight + r;
    g.x_new_lo = g.x_new + r;
    g.f = g.x_new_lo + r;
    g.work = g.f + r;
    g.work_jet = g.work + ns_round8(ns_program_work8(s->problem->rhs));
    g.jet = g.work_jet + ns_round8(ns_program_work_jet(s->problem->rhs, START_ORDER));
    return g;
}

static ns_status begin(ns_stepper *s)
{
    gauss g = view(s);
    ns_program_bind8(s->problem->rhs, g.work, s->p8);
    ns_program_bind_jet(s->problem->rhs, g.work_jet, START_ORDER, s->p);
    memset(g.k, 0, sizeof *g.k);
    g.k->rho = 0.3;

    const uint32_t w = START_ORDER + 1;
    for (uint32_t i = 0; i < s->n; i++)
        g.jet[i * w] = s->x[i];
    ns_program_solve_jet(s->problem->rhs, g.work_jet, s->now.t, START_ORDER, g.jet);
    s->now.evaluations += START_ORDER;
    const double radius = ns_stepper_radius(s, g.jet, START_ORDER);
    if (s->first_step > 0)
        s->now.h = s->first_step;
    else if (radius > 0)
        s->now.h = radius * fmin(0.8, 4 * pow(s->tolerance, 1.0 / 16));
    else {
        for (uint32_t i = 0; i < s->n; i++)
            g.f[i] = g.jet[i * w + 1];
        s->now.h = ns_stepper_guess(s, g.f, 100);
    }
    return NS_OK;
}

/* Start of the very first step: the derivative of the Taylor polynomial at the nodes, or the
 * derivative at the start if there is no useful polynomial. */
static void predict_first(const ns_stepper *s, const gauss *g, double h)
{
    const uint32_t w = START_ORDER + 1;
    const bool series = ns_stepper_radius(s, g->jet, START_ORDER) > 0;
    for (uint32_t i = 0; i < s->n; i++)
        for (int j = 0; j < 8; j++) {
            double sum = 0;
            for (uint32_t k = series ? START_ORDER : 1; k > 0; k--)
                sum = sum * (h * gauss_c[j]) + k * g->jet[i * w + k];
            g->Y[8 * i + (uint32_t)j] = sum;
        }
}

/* Values at u_i = shift + ratio c_i of the polynomial through the columns of F. */
static void predict(const ns_stepper *s, const gauss *g, double shift, double ratio,
                    const double *F)
{
    double u[8] __attribute__((aligned(64)));
    for (int i = 0; i < 8; i++)
        u[i] = shift + ratio * gauss_c[i];
    ns_gauss_interpolation(u, g->E);
    ns_gauss_apply(s->n, g->E, F, g->Y);
}

static void set_step(const gauss *g, double t, double h)
{
    for (int j = 0; j < 8; j++) {
        g->time[j] = t + h * gauss_c[j];
        g->hb[j] = h * gauss_b[j];
        g->hb_lo[j] = fma(h, gauss_b[j], -g->hb[j]) + h * gauss_b_lo[j];
    }
}

typedef enum outcome { CONVERGED, DIVERGED, NOT_FINITE } outcome;

/* Sweeps from the prediction in Y until converged: then Y holds the derivatives at the stages, Zn
 * the increments A Y.  The change of Zn in a sweep is the error before it; times rho, after it;
 * the update has the error of the latter. */
static outcome iterate(ns_stepper *s, gauss *g, const double *x, const double *x_lo,
                       double enough, double *rho_out, int *sweeps)
{
    const double noise = 4 * DBL_EPSILON * sqrt(8.0 * s->n);
    double rho = *rho_out, last = INFINITY;
    memset(g->Zn, 0, 8 * sizeof(double) * s->n);
    ns_gauss_sweep(s->n, g->hb, g->Y, x, x_lo, g->weight, g->Zn, g->X);
    for (int k = 1; k <= MAX_SWEEPS; k++) {
        ns_stepper_rhs8(s, g->work, g->time, g->X, g->Y);
        const double change = ns_gauss_sweep(s->n, g->hb, g->Y, x, x_lo, g->weight, g->Zn,
                                             g->X);
        if (!isfinite(change))
            return NOT_FINITE;
        if (k > 1)
            rho = change / last;
        *sweeps = k;
        *rho_out = rho;
        if (change * fmin(rho, 1) <= enough)
            return CONVERGED;
        if (k > 1 && rho > 0.5) {
            if (change <= noise)
                return CONVERGED; /* rounding errors only */
            if (rho > 2 || (k > 4 && rho > 0.9))
                return DIVERGED;
        }
        last = change;
    }
    return DIVERGED;
}

/* See the head of the file.  Relative to size; states that hardly change in comparison with the
 * others (rounding errors of a state that is zero) get credit for that. */
static double estimate(const ns_stepper *s, const gauss *g, double h)
{
    const double length = fabs(h);
    double most = 0;
    double *vary = g->f, *f7 = g->x_new_lo; /* free at this moment */
    for (uint32_t i = 0; i < s->n; i++) {
        const double *Y = g->Y + 8 * i;
        double mean = 0, range = 0;
        for (int j = 0; j < 8; j++)
            mean += gauss_b[j] * Y[j];
        for (int j = 0; j < 8; j++)
            range = fmax(range, fabs(Y[j] - mean));
        vary[i] = range;
        most = fmax(most, length * range * g->weight[i]);
    }
    (void)f7;
    double e6 = 0, e7 = 0, m6 = 0, m7 = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const double *Y = g->Y + 8 * i;
        double a6 = 0, a7 = 0;
        for (int j = 0; j < 8; j++) {
            a6 += gauss_leg6[j] * Y[j];
            a7 += gauss_leg7[j] * Y[j];
        }
        const double scale = length * g->weight[i];
        const double all = fmax(scale * vary[i], 1e-3 * most);
        if (all == 0)
            continue;
        a6 = fabs(a6) * scale;
        a7 = fabs(a7) * scale;
        e6 = fmax(e6, a6 * a6 / all);
        e7 = fmax(e7, a7 * a7 / all);
        m6 = fmax(m6, a6 / all);
        m7 = fmax(m7, a7 / all);
    }
    const double D = fmin(1, fmax(pow(m6, 1.0 / 6), pow(m7, 1.0 / 7)));
    return fmax(e7 * D * D, e6 * D * D * D * D);
}

static void weights(const ns_stepper *s, const gauss *g, double h)
{
    for (uint32_t i = 0; i < s->n; i++) {
        double f = 0;
        for (int j = 0; j < 8; j++)
            f = fmax(f, fabs(g->Y[8 * i + (uint32_t)j]));
        g->weight[i] = 1 / fmax(s->size[i], fabs(h) * f);
    }
}

static ns_status step(ns_stepper *s)
{
    gauss g = view(s);
    kept *k = g.k;
    double want = s->now.h;
    bool inside = false; /* the prediction comes from a rejected longer step */
    double h_tried = 0;
    for (;;) {
        const double h = ns_stepper_clip(s, want);
        if (ns_stepper_too_small(s, h)) {
            if (s->why == NS_WHY_NONE)
                s->why = NS_WHY_STEP;
            return s->why == NS_WHY_NOT_FINITE ? NS_STOP_SINGULAR : NS_STOP_STEP;
        }
        if (inside) {
            memcpy(g.X, g.Y, 8 * sizeof(double) * s->n);
            predict(s, &g, 0, h / h_tried, g.X);
        } else if (k->h != 0)
            predict(s, &g, (s->now.t - k->from) / k->h, h / k->h, g.F);
        else
            predict_first(s, &g, h);
        weights(s, &g, h);
        set_step(&g, s->now.t, h);

        double rho = k->rho;
        int sweeps = 0;
        const double enough = fmax(0.05 * s->tolerance, 1e-17);
        const outcome result = iterate(s, &g, s->x, s->x_lo, enough, &rho, &sweeps);
        k->iterated += sweeps;
        if (result != CONVERGED) {
            s->why = result == NOT_FINITE ? NS_WHY_NOT_FINITE : NS_WHY_ITERATION;
            s->now.rejected++;
            inside = false;
            want = fabs(h) * (result == NOT_FINITE ? 0.25 : 0.5);
            if (s->fixed_step > 0)
                return result == NOT_FINITE ? NS_STOP_SINGULAR : NS_STOP_STEP;
            continue;
        }
        const double error = estimate(s, &g, h) / s->tolerance;
        double factor = error > 0 ? 0.9 * pow(error, -1.0 / 16) : 4;
        if (error > 1 && s->fixed_step <= 0) {
            s->why = NS_WHY_STEP;
            s->now.rejected++;
            inside = true;
            h_tried = h;
            want = fabs(h) * fmax(0.1, factor);
            continue;
        }
        ns_gauss_update(s->n, g.hb, g.hb_lo, g.Y, s->x, s->x_lo, g.x_new, g.x_new_lo);
        if (!ns_stepper_finite(g.x_new, s->n)) {
            s->why = NS_WHY_NOT_FINITE;
            return NS_STOP_SINGULAR;
        }
        memcpy(g.F, g.Y, 8 * sizeof(double) * s->n);
        memcpy(g.Z, g.Zn, 8 * sizeof(double) * s->n);
        k->from = s->now.t;
        k->h = h;
        k->rho = fmin(fmax(rho, 0.01), 0.5);
        k->sweeps = sweeps;
        ns_stepper_accept(s, h, g.x_new, g.x_new_lo);
        s->now.h = fabs(h) * fmin(factor, 2);
        s->why = NS_WHY_NONE;
        return NS_OK;
    }
}

static void state_at(ns_stepper *s, double t, double *x)
{
    gauss g = view(s);
    const double h = t - g.k->from;
    predict(s, &g, 0, h / g.k->h, g.F);
    weights(s, &g, h);
    set_step(&g, g.k->from, h);
    double rho = g.k->rho;
    int sweeps = 0;
    const double enough = fmax(0.05 * s->tolerance, 1e-17);
    iterate(s, &g, s->x0, s->x0_lo, enough, &rho, &sweeps);
    ns_gauss_update(s->n, g.hb, g.hb_lo, g.Y, s->x0, s->x0_lo, g.x_new, g.x_new_lo);
    memcpy(x, g.x_new, s->n * sizeof(double));
}

static void sample(ns_stepper *s, const double *tau, double *x)
{
    gauss g = view(s);
    const double *Z = g.Z;
    if (memcmp(tau, gauss_c, sizeof gauss_c) != 0) {
        double u[8] __attribute__((aligned(64)));
        memcpy(u, tau, sizeof u);
        ns_gauss_integration(u, g.E);
        ns_gauss_apply(s->n, g.E, g.F, g.Zn);
        for (uint32_t i = 0; i < 8 * s->n; i++)
            g.Zn[i] *= g.k->h;
        Z = g.Zn;
    }
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t j = 0; j < 8; j++)
            x[8 * i + j] = s->x0[i] + (s->x0_lo[i] + Z[8 * i + j]);
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
    .default_tolerance = 1e-16,
    .least_tolerance = 1e-17,
    .memory = memory,
    .scratch = scratch,
    .begin = begin,
    .step = step,
    .state_at = state_at,
    .sample = sample,
};
