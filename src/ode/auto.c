/* --method auto: see auto.h.
 *
 * Cost of a stretch of a run, in nanoseconds of native code (series: of the interpreter):
 *
 *     on eight lanes  (evaluations/8) (O eight + n state) + attempts step
 *     on one lane     evaluations (O one + n state) + attempts (step + n^2 entry)
 *     by series       steps order (S series + P (pair + order product)) + attempts step
 *     all             steps (M one + E eight + D diagnostics)
 *
 * O, M, E, D: operations of the right-hand side, of the manifold, of the events, of observables
 * and diagnostics, each operation with the weight of its kind; P: convolutions among the S
 * operations of a series; step, state, entry: of the method.  Prices are those of one machine,
 * found by bench_programs/bench_methods, which prints counts and times side by side; only their
 * ratios matter, and only where methods are close.
 *
 * Trials begin at the start.  `gauss` goes first and says how far: until the second half of the
 * time covered took it SETTLED steps and SEEN of the run is covered, at most MOST_STEPS.  Only
 * that half is judged: a state that begins at zero asks for small steps at first, a stiff
 * problem hides behind its transient, and all methods feel their way into their step lengths.
 * The others go the same way and are given up when they cost much more than the best. */
#include "ode/auto.h"

#include <stdio.h>

#include "base/math/vecmath.h"
#include "ode/run_internal.h"

enum { SETTLED = 8, MOST_STEPS = 240 };

/* A run of fewer steps, as the first ones tell, is not worth trials: they would cost as much as
 * they could save. */
enum { FIRST_STEPS = 8, FEW_STEPS = 400 };
#define SEEN 0.02 /* of the time of the run */

/* A candidate must cost less than this part of what the default costs: trials see only the
 * beginning of a motion, and the default is the method that loses fewest digits. */
#define CLEARLY 0.9

/* Nanoseconds of an operation: see the formulas above.  Those of steps and states are with the
 * methods (ns_method.price). */
static const struct {
    double one, eight, diagnostics;
    double series, pair, product;
} price = {
    .one = 0.2, .eight = 0.3, .diagnostics = 1.5, .series = 1.5, .pair = 5, .product = 0.1};

double ns_auto_cost(const ns_problem *problem, const ns_method *method, double tolerance,
                    const ns_outcome *counts)
{
    const double n = problem->n, steps = (double)counts->steps;
    const double attempts = steps + (double)counts->rejected;
    const double evaluations = (double)counts->evaluations;
    const double rhs = ns_program_weight(problem->rhs);
    const double diagnostics = ns_program_weight(problem->observables) +
                               ns_program_weight(problem->residuals) +
                               ns_program_weight(problem->monitor);
    const double manifold = problem->correction ? ns_program_weight(problem->shift) +
                                                      ns_program_weight(problem->correction)
                                                : ns_program_weight(problem->manifold);
    const double all = steps * (manifold * price.one +
                                ns_program_weight(problem->events) * price.eight +
                                diagnostics * price.diagnostics);
    if (method->needs_series) {
        const double order = method->series_order(problem, tolerance);
        double products;
        const double operations = ns_program_jet_weight(problem->rhs, &products);
        return all + attempts * method->price.step +
               steps * order *
                   (operations * price.series +
                    products * (price.pair + order * price.product));
    }
    const double calls = evaluations / method->lanes;
    const double operation = method->lanes > 1 ? price.eight : price.one;
    return all + calls * (rhs * operation + n * method->price.state) +
           attempts * (method->price.step + n * n * method->price.entry);
}

const char ns_auto_doc[] =
    "Each of gauss, dop853 (tolerances of 1e-10 and above) and taylor makes about twenty "
    "steps\n"
    "from the start at the tolerance asked for, and bdf where gauss finds the equations "
    "stiff.\n"
    "Steps and evaluations are counted, priced with the operations of the equations, and put\n"
    "at equal error; the cheapest makes the run, gauss unless another costs clearly less.  No\n"
    "clock is read: the same command always chooses the same method, and its output is that\n"
    "of the method named.  The summary says what was chosen and why.\n"
    "\n"
    "A checkpoint keeps the choice.  Not for steps of fixed length, sweeps and sections.\n";

bool ns_auto_asked(const ns_run_options *options)
{
    return options->method && strcmp(options->method, NS_METHOD_AUTO) == 0;
}

const char *ns_auto_refusal(const ns_run_options *options)
{
    return options->fixed_step > 0
               ? "with steps of fixed length there is no error to go by: name a method instead "
                 "of auto"
               : NULL;
}

/* ---- trials ------------------------------------------------------------------------------ */

typedef struct stretch {
    double from, to; /* time at which counting begins, and that must be reached */
    double most;     /* cost for a unit of time above which a trial is given up */
    double total;    /* of the default's trial */
    double all;      /* steps of the whole run, about */
} stretch;

static double counted(ns_run *run)
{
    const ns_stepper *s = &run->s;
    const ns_outcome counts = {
        .steps = s->now.steps, .rejected = s->now.rejected, .evaluations = s->now.evaluations};
    return s->method->price.digits * ns_auto_cost(s->problem, s->method, s->tolerance, &counts);
}

static ns_run *begin(const ns_problem *problem, const ns_run_options *options,
                     const ns_method *method, const double *p, const double *x0)
{
    ns_run_options o = *options;
    o.method = method->name;
    o.max_steps = 0;
    o.last_count = 0;
    o.only_stops = true;
    ns_status status;
    const char *message;
    ns_run *run = ns_run_make(problem, &o, &status, &message);
    if (!run)
        return NULL;
    run->no_tally = true;
    if (ns_run_start(run, p, x0, &message) == NS_OK)
        return run;
    ns_run_free(run);
    return NULL;
}

/* Price of a unit of time on the stretch; INFINITY if it fails or costs too much. */
static double try_out(ns_run *run, const stretch *way)
{
    static const double much = 1.2, much_in_all = 4;
    const double sense = run->s.sense;
    double before = 0, since = run->s.now.t;
    while (ns_run_step(run) == NS_OK) {
        const double t = run->s.now.t, cost = counted(run);
        if (sense * (t - way->to) >= 0 || t == run->options.until)
            return (cost - before) / (sense * (t - since));
        if (sense * (t - way->from) <= 0) {
            before = cost;
            since = t;
        }
        if (cost - before > much * way->most * sense * (way->to - way->from) ||
            cost > much_in_all * way->total)
            break;
    }
    return INFINITY;
}

/* The default's trial, which marks the stretch. */
static double try_first(ns_run *run, stretch *way)
{
    const double sense = run->s.sense, t0 = run->options.t0;
    double t[MOST_STEPS + 1] = {t0}, cost[MOST_STEPS + 1] = {0};
    uint32_t steps = 0, half = 0; /* the last step that ended in the first half */
    const double enough = SEEN * fabs(run->options.until - t0);
    while (steps < MOST_STEPS && run->s.now.t != run->options.until &&
           (steps - half <= SETTLED || fabs(run->s.now.t - t0) < enough) &&
           ns_run_step(run) == NS_OK) {
        steps++;
        t[steps] = run->s.now.t;
        cost[steps] = counted(run);
        way->all = steps * fabs(run->options.until - t0) / fabs(t[steps] - t0);
        if (steps >= FIRST_STEPS && way->all < FEW_STEPS)
            break;
        while (half + 1 < steps && sense * (2 * t[half + 1] - t0 - t[steps]) <= 0)
            half++;
    }
    way->from = t[half];
    way->to = t[steps];
    way->total = cost[steps];
    const double done = sense * (way->to - way->from);
    return done > 0 ? (cost[steps] - cost[half]) / done : INFINITY;
}

static void note(ns_choice *choice, const ns_method *method, double cost)
{
    const double best = choice->n ? choice->trial[0].price : INFINITY;
    double least = best * CLEARLY;
    for (uint32_t i = 1; i < choice->n; i++)
        least = ns_min(least, choice->trial[i].price);
    choice->trial[choice->n++] = (ns_trial){method, cost};
    if (cost < least)
        choice->method = method;
}

/* "gauss 1, dop853 1.62, taylor given up", in units of the chosen one. */
static void explain(ns_choice *choice)
{
    double unit = INFINITY;
    for (uint32_t i = 0; i < choice->n; i++)
        if (choice->trial[i].method == choice->method)
            unit = choice->trial[i].price;
    size_t used = 0;
    choice->why[0] = 0;
    for (uint32_t i = 0; i < choice->n && used < sizeof choice->why; i++) {
        const ns_trial *t = &choice->trial[i];
        const int more =
            isfinite(t->price) && isfinite(unit)
                ? snprintf(choice->why + used, sizeof choice->why - used, "%s%s %.2f",
                           i ? ", " : "counted cost: ", t->method->name, t->price / unit)
                : snprintf(choice->why + used, sizeof choice->why - used, "%s%s given up",
                           i ? ", " : "counted cost: ", t->method->name);
        used += more > 0 ? (size_t)more : 0;
    }
}

static double try_method(const ns_problem *problem, const ns_run_options *options,
                         const ns_method *method, const double *p, const double *x0,
                         const ns_choice *choice)
{
    stretch way = {.from = choice->from,
                   .to = choice->from + choice->span,
                   .most = INFINITY,
                   .total = choice->total};
    for (uint32_t i = 0; i < choice->n; i++)
        way.most = ns_min(way.most, choice->trial[i].price);
    ns_run *run = begin(problem, options, method, p, x0);
    if (!run)
        return INFINITY;
    const double cost = try_out(run, &way);
    ns_run_free(run);
    return cost;
}

void ns_auto_choose(const ns_problem *problem, const ns_run_options *options, const double *p,
                    const double *x0, ns_choice *choice)
{
    *choice = (ns_choice){.method = ns_methods[0]};
    ns_run *run = begin(problem, options, ns_methods[0], p, x0);
    if (!run || !isfinite(options->until) || options->until == options->t0) {
        ns_run_free(run);
        snprintf(choice->why, sizeof choice->why, "nothing could be tried");
        return;
    }
    stretch way = {0};
    const double first = try_first(run, &way);
    choice->from = way.from;
    choice->span = way.to - way.from;
    choice->total = way.total;
    choice->stiff = run->s.method->is_stiff && run->s.method->is_stiff(&run->s);
    ns_run_free(run);
    note(choice, ns_methods[0], first);
    if (way.all < FEW_STEPS) {
        choice->stiff = false;
        snprintf(choice->why, sizeof choice->why,
                 "%s, for a run of some %.0f steps is too short for trials to pay",
                 ns_methods[0]->name, ceil(way.all));
        return;
    }
    static const ns_method *const others[] = {&ns_method_dop853, &ns_method_taylor};
    for (size_t i = 0; i < sizeof others / sizeof *others && isfinite(first); i++) {
        const bool series = !problem->pinv && !choice->stiff; /* of use here */
        if (options->tolerance >= others[i]->price.least &&
            (series || !others[i]->needs_series))
            note(choice, others[i], try_method(problem, options, others[i], p, x0, choice));
    }
    explain(choice);
}

void ns_auto_choose_stiff(const ns_problem *problem, const ns_run_options *options,
                          const double *p, const double *x0, ns_choice *choice)
{
    if (!choice->stiff || choice->n >= NS_AUTO_MOST || !isfinite(choice->trial[0].price))
        return;
    note(choice, &ns_method_bdf, try_method(problem, options, &ns_method_bdf, p, x0, choice));
    explain(choice);
}
