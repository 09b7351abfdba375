/* gauss: Gauss-Legendre collocation with 8 stages, order 16, the stages in the 8 lanes.
 *
 *     F_j = f(t + c_j h, X_j),  X_i = x + sum_j mu_ij (h b_j F_j),  x_new = x + sum_j h b_j F_j
 *
 * Solved by fixed-point iteration ("sweeps": one evaluation on eight lanes each), started from
 * the polynomial through the F_j of the last step, extrapolated.  States are solved for by
 * parts (cascade.h): those that depend on each other first, what depends on them afterwards,
 * and without iteration where there is no feedback.  Rounding errors are kept from growing
 * systematically as in Hairer, McLachlan and Razakarivony, BIT 48 (2008): the state is
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
#include "ode/gauss/gauss_control.h"
#include "ode/gauss/gauss_internal.h"
#include "ode/gauss/gauss_newton.h"
#include "ode/gauss/gauss_table.h"

const double ns_method_nodes[8] = {GAUSS_NODES};

/* Sweeps that contract by less than CONTRACTION cost more than shorter steps would. */
#define CONTRACTION 0.2

static void layout(ns_stepper *s, ns_layout *kept, ns_layout *scratch)
{
    const ns_problem *problem = s->problem;
    const size_t n = s->n;
    ns_gauss *g = s->view;
    g->k = ns_layout_take(kept, 1, sizeof *g->k);
    NS_LAYOUT_EACH(kept, 8 * n, &g->F, &g->Z);
    g->a = (ns_gauss_arrays){.n = s->n, .size = s->size, .noise = s->noise};
    const ns_cascade *cascade = ns_problem_cascade(problem);
    NS_LAYOUT_EACH(scratch, 8 * n, &g->a.Y, &g->a.Z, &g->rates);
    g->a.X = ns_layout_doubles(scratch, 8 * (n + cascade->known));
    g->E = ns_layout_doubles(scratch, 8 * 8);
    NS_LAYOUT_EACH(scratch, 8, &g->a.time, &g->a.hb, &g->a.hb_lo);
    NS_LAYOUT_EACH(scratch, n, &g->a.weight, &g->a.settle, &g->a.share, &g->x_new, &g->x_new_lo,
                   &g->f);
    g->legendre = ns_layout_doubles(scratch, 3 * ns_round8(n));
    g->work_jet = ns_layout_doubles(scratch, ns_program_work_jet(problem->rhs, NS_GAUSS_START));
    g->jet = ns_layout_doubles(scratch, (NS_GAUSS_START + 1) * n);
    g->newton = ns_layout_doubles(scratch, ns_newton_memory(problem));
    g->work = ns_layout_doubles(scratch, cascade->work);
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
    static const double round_off = 1e-15, loose = 1e-8;
    const double tolerance = s->tolerance;
    return tolerance * (1 + 9 * tolerance / (tolerance + round_off)) /
           (1 + sqrt(tolerance / loose));
}

/* Relative errors of the states when the iteration ends, about. */
static double settled(const ns_stepper *s)
{
    return ns_larger(DBL_EPSILON, 0.02 * s->tolerance);
}

/* Change of the stages that ends the sweeps, relative to the states. */
static double little(const ns_stepper *s)
{
    return 0.001 * s->tolerance;
}

/* Operations of one sweep of a part. */
static double operations(const ns_rate_part *part)
{
    enum { STATE = 16 }; /* operations for each, beside its rate */
    double sum = (double)STATE * part->n;
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
    static const double cheap = 0.3; /* of a sweep of the first part */
    static const double dear = 500;  /* operations */
    return others <= cheap * one ? NS_GAUSS_ALL_EARLY
           : one > dear          ? NS_GAUSS_FIRST_EARLY
                                 : NS_GAUSS_AT_END;
}

/* Length of the first step, from the Taylor series at the start. */
static double first_step(const ns_stepper *s, const ns_gauss *g, double radius)
{
    /* of the radius of convergence, as order 16 asks for; further the series tells nothing */
    static const double most = 0.8, reach = 4;
    enum { PARTS = 100 };
    if (s->first_step > 0)
        return s->first_step;
    if (radius > 0)
        return radius * ns_smaller(most, reach * ns_math_pow(s->tolerance, 1.0 / 16));
    for (uint32_t i = 0; i < s->n; i++)
        g->f[i] = g->jet[i * (NS_GAUSS_START + 1) + 1];
    return ns_stepper_guess(s, g->f, PARTS);
}

static ns_status begin(ns_stepper *s)
{
    ns_gauss *const g = s->view;
    g->kernel = choose_kernel(s);
    g->goal = goal(s);
    g->settled = settled(s);
    /* the last coefficients of a step with the error allowed, squared, and a margin */
    g->early = 4e-4 * ns_math_pow(s->tolerance, 7.0 / 8);
    g->judging = choose_judging(ns_problem_cascade(s->problem));
    g->price = s->problem->jacobian ? ns_newton_price(s->problem) : 0;
    s->rough_share = DBL_EPSILON / g->settled;
    ns_program_bind_jet(s->problem->rhs, g->work_jet, NS_GAUSS_START, s->p);
    if (s->problem->jacobian)
        ns_newton_bind(s, g->newton);
    const ns_cascade *cascade = ns_problem_cascade(s->problem);
    for (uint32_t p = 0; p < cascade->n; p++) {
        const ns_rate_part *part = &cascade->part[p];
        if (part->known)
            ns_program_bind8(part->known, g->work + part->place, s->p8);
        for (uint32_t k = 0; k < part->n_blocks; k++) {
            const ns_rate_block *block = &part->block[k];
            if (block->rhs && !block->all)
                ns_program_bind8(block->rhs, g->work + block->place, s->p8);
        }
    }
    *g->k = (ns_gauss_kept){.rho = 0.3}; /* nothing is known yet */
    for (uint32_t i = 0; i < s->n; i++)
        g->jet[i * (NS_GAUSS_START + 1)] = s->x[i];
    ns_program_solve_jet(s->problem->rhs, g->work_jet, s->now.t, NS_GAUSS_START, g->jet);
    s->now.evaluations += NS_GAUSS_START;
    const bool finite = ns_stepper_finite(g->jet, (size_t)s->n * (NS_GAUSS_START + 1));
    const double radius = finite ? ns_stepper_radius(s, g->jet, NS_GAUSS_START,
                                                     NS_GAUSS_START + 1, 1)
                                 : 0; /* nothing can be said */
    g->series = radius > 0;
    s->now.h = first_step(s, g, radius);
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

/* Newton's iteration pays where it allows much longer steps than sweeps do.  In one mode the
 * other one is judged: sweeps contract in proportion to the step, and their error estimate says
 * how long it could be, unless it sees only rounding errors; the Jacobian says how far sweeps
 * would go.  k->slow counts the evidence; after a change of mind for nothing it starts far
 * below. */
static void choose_iteration(const ns_gauss *g, double factor)
{
    enum {
        CONVINCED = 48, /* of the evidence below: this many steps that could be longer */
        STRONG = 12,    /* evidence by a step that could be longer than Newton's price */
        RETURN = 12,    /* evidence that takes sweeps back */
        WARY = 1000     /* after that: how far below it starts */
    };
    static const double much = 1.5; /* longer than Newton's price */
    static const double some = 1.3, weak = 0.1;
    ns_gauss_kept *k = g->k;
    const double price = g->price;
    if (k->stiff_step == 0) {
        if (g->rho > 0.8 * CONTRACTION)
            k->slow += factor > much * price ? STRONG : factor > some ? 1 : weak;
        else if (g->rho > 0 && g->rho < 0.5 * CONTRACTION) /* it was seen to contract well */
            k->slow = ns_smaller(k->slow, 0);
        if (k->slow >= CONVINCED) {
            k->stiff = 1;
            k->slow = 0;
            k->reference = -fabs(g->h) * CONTRACTION / ns_larger(g->rho, NS_GAUSS_RHO_LEAST);
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
        if (k->slow >= RETURN) {
            k->stiff = 0;
            k->slow = -WARY;
        }
    }
}

/* Length of the next step after an accepted one. */
static double propose(const ns_stepper *s, const ns_gauss *g, double factor)
{
    static const double shortest = 0.3; /* of this one, for slow sweeps */
    ns_gauss_kept *k = g->k;
    const double length = fabs(g->h), best = length * ns_smaller(factor, NS_GAUSS_GROWTH);
    const double trend = k->best_inverse > 0 ? best * k->best_inverse : 1;
    k->best_inverse = 1 / best;
    /* where the best step shrinks it will go on shrinking */
    double next = best * ns_smaller(ns_larger(trend, NS_GAUSS_TREND), 1);
    if (k->stiff_step == 0 && g->rho > CONTRACTION)
        next = ns_smaller(next, length * ns_larger(CONTRACTION / g->rho, shortest));
    if (s->problem->jacobian)
        choose_iteration(g, factor);
    return next;
}

/* A rejected longer step from here: Y belongs to it. */
typedef struct attempt {
    double h, error; /* h = 0: there was none */
} attempt;

/* The derivatives at the stages of a step of length h, into Y. */
static void predict(const ns_stepper *s, const ns_gauss *g, double h, const attempt *tried)
{
    const ns_gauss_kept *k = g->k;
    if (tried->h != 0) {
        memcpy(g->a.X, g->a.Y, 8 * sizeof(double) * s->n);
        g->kernel->predict(s->n, 0, h / tried->h, g->a.X, g->a.Y);
    } else if (k->h != 0)
        g->kernel->predict(s->n, (s->now.t - k->from) / k->h, h * k->h_inverse, g->F, g->a.Y);
    else
        predict_first(s, g, h);
}

/* As the kernel does, where not all states are measured by each other. */
static void accept_apart(ns_stepper *s, const ns_gauss *g)
{
    const size_t bytes = s->n * sizeof(double);
    memcpy(s->x0, s->x, bytes);
    memcpy(s->x0_lo, s->x_lo, bytes);
    memcpy(s->x, g->x_new, bytes);
    memcpy(s->x_lo, g->x_new_lo, bytes);
    ns_stepper_resize(s);
}

/* Makes the stages those of the last step.  `pass`: whatever its error was. */
static ns_status accept(ns_stepper *s, ns_gauss *g, bool stiff, bool pass)
{
    ns_gauss_kept *k = g->k;
    const size_t bytes = 8 * sizeof(double) * s->n;
    memcpy(g->F, g->a.Y, bytes);
    memcpy(g->Z, g->a.Z, bytes);
    k->from = s->now.t;
    k->h = g->h;
    k->h_inverse = 1 / g->h;
    k->rho = ns_smaller(ns_larger(g->rho, NS_GAUSS_RHO_LEAST), NS_GAUSS_RHO_MOST);
    k->tail = g->tail;
    k->stiff_step = stiff;
    if (s->problem->system->motion)
        accept_apart(s, g);
    else
        g->kernel->accept(s, g->x_new, g->x_new_lo);
    ns_stepper_advance(s, g->h);
    s->now.h = propose(s, g, ns_larger(g->factor, pass ? 1 : 0));
    s->why = NS_WHY_NONE;
    return NS_OK;
}

/* What follows from a step whose error is too large: the length of the next attempt.  An error
 * that hardly gets less in a shorter step is rounding error: let it pass, unless it is larger
 * than those are and the step does not resolve something. */
static double shorten(const ns_stepper *s, const ns_gauss *g, attempt *tried, double *limit)
{
    enum { HARDLY = 6 }; /* power of the length; the error of the method goes by the 16th */
    double want = fabs(g->h) * ns_larger(g->factor, NS_GAUSS_SHRINK);
    if (tried->h != 0 && g->error > tried->error * ns_math_pow(g->h / tried->h, HARDLY) &&
        g->error * g->goal < ns_gauss_rounding(s->problem)) {
        *limit = INFINITY;
        want = fabs(g->h);
    }
    *tried = (attempt){g->h, g->error};
    return want;
}

/* The part of the length that sweeps should manage, after they diverged. */
static double slower(const ns_gauss *g)
{
    static const double least = 0.1, most = 0.5;
    return ns_smaller(ns_larger(CONTRACTION / ns_larger(g->rho, least), least), most);
}

static ns_status step(ns_stepper *s)
{
    ns_gauss *const g = s->view;
    ns_gauss_kept *k = g->k;
    const bool control = s->fixed_step <= 0;
    double want = s->now.h, limit = control ? NS_GAUSS_LIMIT : 0;
    attempt tried = {0};
    for (;;) {
        const double h = ns_stepper_clip(s, want);
        if (ns_stepper_too_small(s, h))
            return ns_stepper_give_up(s);
        predict(s, g, h, &tried);
        g->h = h;
        g->little = little(s);
        g->kernel->prepare(&g->a, s->now.t, h, g->settled, s->x, s->x_lo);
        g->rho = k->rho;
        const bool stiff = k->stiff != 0;
        ns_gauss_outcome result = stiff ? ns_gauss_iterate_newton(s, g, s->now.t, s->x, s->x_lo,
                                                                  limit)
                                        : ns_gauss_iterate(s, g, s->x, s->x_lo, limit);
        if (result == NS_GAUSS_CONVERGED &&
            !g->kernel->update(&g->a, s->x, s->x_lo, g->x_new, g->x_new_lo))
            result = NS_GAUSS_NOT_FINITE;
        if (result == NS_GAUSS_CONVERGED)
            return accept(s, g, stiff, isinf(limit));
        s->now.rejected++;
        /* rounding errors larger than they were look like an error or a lack of convergence */
        if (result != NS_GAUSS_NOT_FINITE && control)
            ns_stepper_trouble(s);
        switch (result) {
        case NS_GAUSS_TOO_LONG:
            s->why = NS_WHY_STEP;
            want = shorten(s, g, &tried, &limit);
            break;
        case NS_GAUSS_DIVERGED:
            s->why = NS_WHY_ITERATION;
            tried.h = 0;
            want = fabs(h) * slower(g);
            if (!stiff && !control && s->problem->jacobian) {
                k->stiff = 1;
                k->reference = -fabs(h) * CONTRACTION;
                continue;
            }
            break;
        default:
            s->why = NS_WHY_NOT_FINITE;
            tried.h = 0;
            want = fabs(h) * NS_GAUSS_RETREAT;
        }
        if (!control)
            return result == NS_GAUSS_DIVERGED ? NS_STOP_STEP : NS_STOP_SINGULAR;
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
    g->little = ns_larger(little(s), 0.05 * DBL_EPSILON); /* x will be rounded */
    g->kernel->predict(s->n, 0, h / g->k->h, g->F, g->a.Y);
    g->kernel->prepare(&g->a, g->k->from, h, g->settled, s->x0, s->x0_lo);
    g->rho = g->k->rho;
    const ns_gauss_outcome result = g->k->stiff_step != 0
                                        ? ns_gauss_iterate_newton(s, g, g->k->from, s->x0,
                                                                  s->x0_lo, 0)
                                        : ns_gauss_iterate(s, g, s->x0, s->x0_lo, 0);
    if (result == NS_GAUSS_CONVERGED) {
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
