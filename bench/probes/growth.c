/*
 * How costs grow with the number of bodies, of lanes, and with simulated time.
 */
#define _GNU_SOURCE
#include "harness/facts.h"
#include "harness/texts.h"
#include "problems/hand_more.h"
#include "rivals/contenders.h"

#include "ode/ensemble/ensemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { ROUNDS = 3 };

static double children_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* CPU seconds of a run with `gauss`; nan if it fails. The change of energy if wanted. */
static double run(const ns_problem *problem, const ns_model *model, double until,
                  double tolerance, double *energy)
{
    ns_run_options options = ns_run_defaults();
    options.until = until;
    options.tolerance = tolerance;
    ns_status status;
    const char *message;
    const double begin = bench_cpu_seconds();
    ns_run *r = ns_run_new(problem, &options, model->p, model->x0, &status, &message);
    if (!r)
        return NAN;
    status = ns_run_to(r, until);
    const double seconds = bench_cpu_seconds() - begin;
    if (energy)
        *energy = ns_run_outcome(r)->energy_drift;
    ns_run_free(r);
    return status == NS_OK ? seconds : NAN;
}

static double median_run(const ns_problem *problem, const ns_model *model, double until,
                         double tolerance)
{
    double samples[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        samples[i] = run(problem, model, until, tolerance, NULL);
    return bench_median(samples, ROUNDS);
}

static double chain_by_hand(int links, double until, double tolerance)
{
    double samples[ROUNDS], y[2 * 80];
    hand_stats stats;
    for (int i = 0; i < ROUNDS; i++) {
        hand_chain_start(links, y);
        const double begin = bench_cpu_seconds();
        const int status = hand_chain_dop853(links, until, tolerance, y, &stats);
        samples[i] = status == 0 ? bench_cpu_seconds() - begin : NAN;
    }
    return bench_median(samples, ROUNDS);
}

/* The same error at the end as gauss at 1e-10 leaves takes DOP853 about 1e-12. */
static void chain(int links, bench_chain *c)
{
    const double until = 1, tolerance = 1e-10;
    *c = (bench_chain){links, 0, NAN, NAN, NAN, NAN, NAN};
    char *text = bench_chain_text(links);
    double begin = bench_cpu_seconds();
    ns_model *model =
        text ? ns_model_load_text("chain", text, strlen(text), NULL, 0, NS_MODEL_READY) : NULL;
    const ns_problem *problem = model && model->status == NS_OK ? ns_model_problem(model, false)
                                                                : NULL;
    c->derive = bench_cpu_seconds() - begin;
    c->by_hand = chain_by_hand(links, until, tolerance / 100);
    if (problem) {
        char message[300];
        c->operations = (long)ns_program_operations(problem->rhs, NULL);
        c->interpreted = median_run(problem, model, until, tolerance);
        begin = bench_cpu_seconds() + children_seconds();
        const bool native = ns_problem_native(problem, ns_method_find("gauss")->lanes, message,
                                              sizeof message, NULL);
        c->compile = bench_cpu_seconds() + children_seconds() - begin;
        if (native)
            c->native = median_run(problem, model, until, tolerance);
    }
    ns_model_free(model);
    free(text);
}

/* ---- lanes ------------------------------------------------------------------------------- */

typedef struct crowd {
    const ns_model *model;
    const ns_problem *problem;
    int left, count;
    uint32_t spin; /* the state that differs from motion to motion */
} crowd;

static bool next_motion(void *context, uint64_t *id, double *p, double *x0)
{
    crowd *c = context;
    if (c->left == 0)
        return false;
    *id = (uint64_t)--c->left;
    memcpy(p, c->model->p, c->problem->np * sizeof *p);
    memcpy(x0, c->model->x0, c->problem->n * sizeof *x0);
    x0[c->spin] *= 1 + 0.02 * c->left / c->count;
    return true;
}

static bool motion_done(void *context, const ns_ensemble_result *result)
{
    (void)context;
    return result->outcome->status == NS_OK;
}

static double motions_per_second(uint32_t lanes)
{
    enum { COUNT = 32 };
    const bench_text *text = bench_text_find("P1c", BENCH_EQUATIONS);
    ns_model *model = bench_text_load(text);
    if (!model)
        return NAN;
    const ns_problem *problem = ns_model_problem(model, false);
    ns_ensemble_options options = {.run = ns_run_defaults(), .lanes = lanes};
    options.run.method = "dop853";
    options.run.until = 20;
    options.run.tolerance = 1e-10;
    crowd c = {.model = model, .problem = problem, .count = COUNT};
    for (uint32_t i = 0; i < problem->n; i++)
        if (strcmp(model->system->states.at[i].name, "O3") == 0)
            c.spin = i;
    const ns_ensemble_client client = {&c, next_motion, motion_done};
    char message[300];
    const char *words;
    double samples[ROUNDS];
    ns_ensemble_native(problem, &options, message, sizeof message, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        c.left = COUNT;
        const double begin = bench_cpu_seconds();
        const ns_status status = ns_ensemble_run(problem, &options, &client, &words);
        samples[i] = status == NS_OK && c.left == 0 ? COUNT / (bench_cpu_seconds() - begin)
                                                    : NAN;
    }
    ns_model_free(model);
    return bench_median(samples, ROUNDS);
}

/* ---- time -------------------------------------------------------------------------------- */

static void simulated_time(bench_growth *g)
{
    static const double times[GROWTH_TIMES] = {10, 30, 100, 300, 1000, 3000, 10000};
    ns_model *model = bench_text_load(bench_text_find("P2", BENCH_MECHANICS));
    char message[300];
    if (!model)
        return;
    const ns_problem *problem = ns_model_problem(model, false);
    ns_problem_native(problem, ns_method_find("gauss")->lanes, message, sizeof message, NULL);
    for (int i = 0; i < GROWTH_TIMES; i++) {
        g->times[i] = times[i];
        g->seconds[i] = run(problem, model, times[i], 0, &g->energy[i]);
    }
    ns_model_free(model);
}

void bench_growth_measure(bench_growth *growth)
{
    memset(growth, 0, sizeof *growth);
    for (int i = 0; i < GROWTH_CHAINS && hand_chain_lengths[i]; i++)
        chain(hand_chain_lengths[i], &growth->chains[i]);
    for (int i = 0; i < GROWTH_LANES; i++)
        growth->lanes[i] = motions_per_second(1u << i);
    simulated_time(growth);
}
