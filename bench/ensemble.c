/*
 * Many motions: how many trajectories of the rattleback P1c per second and core, with starts that
 * differ a little, at equal median error of the final state, as a ratio to C853, which runs them
 * one after the other.
 *
 *     bench_ensemble [--rounds N] [--motions N] [--profile]
 *
 * --profile runs the ensemble alone, for a while, at one tolerance: for perf.
 */
#include "hand_problems.h"
#include "measure.h"
#include "texts.h"

#include "io/model.h"
#include "ode/ensemble.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 12, MOST = 1024, MOST_RUNGS = 40, MOST_ROUNDS = 51, CONTENDERS = 5 };

static int motions = 64, rounds = 5;
static double starts[MOST][3], reference[MOST][N], end_state[MOST][N];

static double median_error(void)
{
    static double errors[MOST];
    for (int k = 0; k < motions; k++) {
        errors[k] = 0;
        for (int i = 0; i < N; i++) {
            const double v = reference[k][i];
            const double d = fabs(end_state[k][i] - v) / fmax(1, fabs(v));
            errors[k] = d <= errors[k] ? errors[k] : isnan(d) ? INFINITY : d;
        }
    }
    return bench_median(errors, motions);
}

/* ---- contenders ---------------------------------------------------------------------------- */

typedef struct contender {
    const char *name;
    const bench_text *text; /* NULL: C853 */
    ns_ensemble_options options;
    bool native;
    ns_model *model;
    const ns_problem *problem;
    ns_native *code;
    int64_t place[N];
    int64_t spin[3]; /* states of the angular velocity */
    double *observed, *work;
    /* while running */
    int next;
    double tolerance;
    uint64_t steps, rejected, evaluations;
} contender;

static void run_c853(contender *c)
{
    const hand_problem *p = hand_problem_find("P1c");
    for (int k = 0; k < motions; k++) {
        double y[HAND_MAX_STATES];
        hand_stats stats;
        memcpy(y, p->forms[0].y0, (size_t)p->forms[0].n * sizeof *y);
        memcpy(y + 4, starts[k], sizeof starts[k]);
        p->forms[0].dop853(p->t_end, c->tolerance, y, &stats);
        memcpy(end_state[k], y, sizeof end_state[k]);
        c->steps += (uint64_t)stats.steps;
        c->rejected += (uint64_t)stats.rejected;
        c->evaluations += (uint64_t)stats.evaluations;
    }
}

static bool next(void *context, uint64_t *id, double *p, double *x0)
{
    contender *c = context;
    if (c->next == motions)
        return false;
    memcpy(p, c->model->p, c->problem->np * sizeof *p);
    memcpy(x0, c->model->x0, c->problem->n * sizeof *x0);
    for (int i = 0; i < 3; i++)
        x0[c->spin[i]] = starts[c->next][i];
    *id = (uint64_t)c->next++;
    return true;
}

static bool done(void *context, const ns_ensemble_result *r)
{
    contender *c = context;
    ns_program_eval1(c->problem->observables, c->work, r->outcome->t, r->x, c->observed);
    for (int i = 0; i < N; i++)
        end_state[r->id][i] = c->observed[c->place[i]];
    if (r->outcome->status != NS_OK)
        end_state[r->id][0] = NAN;
    c->steps += r->outcome->steps;
    c->rejected += r->outcome->rejected;
    c->evaluations += r->outcome->evaluations;
    return true;
}

static void run(contender *c, double tolerance)
{
    c->tolerance = tolerance;
    c->next = 0;
    c->steps = c->rejected = c->evaluations = 0;
    if (!c->text) {
        run_c853(c);
        return;
    }
    const ns_ensemble_client client = {c, next, done};
    const char *message;
    ns_ensemble_options options = c->options;
    options.run.tolerance = tolerance;
    if (ns_ensemble_run(c->problem, &options, &client, &message) != NS_OK)
        fprintf(stderr, "%s: %s\n", c->name, message);
}

static int64_t state_of(const ns_model *model, const char *name)
{
    for (uint32_t i = 0; i < model->system->states.n; i++)
        if (strcmp(model->system->states.at[i].name, name) == 0)
            return i;
    return -1;
}

static bool open_model(contender *c)
{
    if (!c->text)
        return true;
    c->model = bench_text_load(c->text);
    if (!c->model)
        return false;
    c->problem = ns_model_problem(c->model, false);
    char message[300];
    if (c->native)
        c->code = ns_ensemble_native(c->problem, &c->options, message, sizeof message, NULL);
    if (c->native && !c->code)
        fprintf(stderr, "no native code: %s\n", message);
    for (int i = 0; i < N; i++) {
        c->place[i] = ns_model_observable(c->model, c->text->values[i]);
        if (i >= 4 && i < 7)
            c->spin[i - 4] = state_of(c->model, c->text->values[i]);
    }
    c->observed = calloc(c->model->system->observables.n, sizeof *c->observed);
    c->work = calloc(ns_program_work1(c->problem->observables) + 1, sizeof *c->work);
    if (!c->observed || !c->work)
        return false;
    ns_program_bind1(c->problem->observables, c->work, c->model->p);
    return true;
}

/* ---- the table ----------------------------------------------------------------------------- */

typedef struct rung {
    double tolerance, error, seconds[MOST_ROUNDS];
    double per_motion; /* seconds, the median */
    double steps, rejected;
} rung;

static double at_error(const rung *rungs, int n, double error, double (*of)(const rung *))
{
    for (int i = 0; i + 1 < n; i++)
        if (rungs[i].error >= error && error > rungs[i + 1].error) {
            const double u = log(rungs[i].error / error) /
                             log(rungs[i].error / rungs[i + 1].error);
            return exp((1 - u) * log(of(&rungs[i])) + u * log(of(&rungs[i + 1])));
        }
    return NAN;
}

static double seconds_of(const rung *r)
{
    return r->per_motion;
}

static double steps_of(const rung *r)
{
    return r->steps;
}

static void measure(contender *contenders, int count, rung (*rungs)[MOST_RUNGS], int n)
{
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < n; i++)
            for (int c = 0; c < count; c++) {
                rung *r = &rungs[c][i];
                r->tolerance = pow(10, -6 - i / 3.0);
                const double begin = bench_cpu_seconds();
                run(&contenders[c], r->tolerance);
                r->seconds[round] = bench_cpu_seconds() - begin;
                if (round == 0) {
                    r->error = median_error();
                    r->steps = (double)(contenders[c].steps + contenders[c].rejected) / motions;
                    r->rejected = (double)contenders[c].rejected / motions;
                }
            }
    for (int c = 0; c < count; c++)
        for (int i = 0; i < n; i++)
            rungs[c][i].per_motion = bench_median(rungs[c][i].seconds, rounds) / motions;
}

static void print(const contender *contenders, int count, rung (*rungs)[MOST_RUNGS], int n)
{
    static const double targets[] = {1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11};
    enum { TARGETS = sizeof targets / sizeof *targets };
    printf("P1c, %d motions of 20 s with different starts; medians of %d interleaved rounds\n"
           "%-34s",
           motions, rounds, "median error");
    for (int t = 0; t < TARGETS; t++)
        printf("%9.0e", targets[t]);
    printf("\n%-34s", "C853, motions per second and core");
    for (int t = 0; t < TARGETS; t++)
        printf("%9.0f", 1 / at_error(rungs[0], n, targets[t], seconds_of));
    printf("\n%-34s", "C853, steps tried in a motion");
    for (int t = 0; t < TARGETS; t++)
        printf("%9.0f", at_error(rungs[0], n, targets[t], steps_of));
    printf("\nTimes as many motions:\n");
    for (int c = 1; c < count; c++) {
        printf("%-34s", contenders[c].name);
        for (int t = 0; t < TARGETS; t++)
            printf("%9.2f", at_error(rungs[0], n, targets[t], seconds_of) /
                                at_error(rungs[c], n, targets[t], seconds_of));
        printf("\n%-34s", "  steps tried in a motion");
        for (int t = 0; t < TARGETS; t++)
            printf("%9.0f", at_error(rungs[c], n, targets[t], steps_of));
        printf("\n");
    }
}

static int usage(void)
{
    fprintf(stderr, "usage: bench_ensemble [--rounds N] [--motions N] [--profile K]\n");
    return 2;
}

int main(int argc, char **argv)
{
    const bench_text *equations = bench_text_find("P1c", BENCH_EQUATIONS);
    const bench_text *body = bench_text_find("P1c", BENCH_MECHANICS);
    static rung rungs[CONTENDERS][MOST_RUNGS];
    const int n_rungs = 27;
    int profile = -1;
    for (int i = 1; i < argc; i++) {
        const int value = i + 1 < argc ? atoi(argv[i + 1]) : 0;
        if (strcmp(argv[i], "--rounds") == 0 && value > 0 && value <= MOST_ROUNDS)
            rounds = value;
        else if (strcmp(argv[i], "--motions") == 0 && value > 0 && value <= MOST)
            motions = value;
        else if (strcmp(argv[i], "--profile") == 0 && i + 1 < argc && value < CONTENDERS)
            profile = value;
        else
            return usage();
        i++;
    }
    contender contenders[CONTENDERS] = {
        {.name = "C853"},
        {.name = "lanes, native", .text = equations, .native = true},
        {.name = "lanes, native, derived by rolling", .text = body, .native = true},
        {.name = "lanes, native, fused",
         .text = equations,
         .native = true,
         .options.fused = true},
        {.name = "lanes, interpreted", .text = equations},
    };
    for (int c = 0; c < CONTENDERS; c++) {
        contenders[c].options.run = ns_run_defaults();
        contenders[c].options.run.method = "dop853";
        contenders[c].options.run.until = 20;
        contenders[c].options.run.least_size = 1; /* as C853 */
        if (!open_model(&contenders[c]))
            return 1;
    }
    for (int k = 0; k < motions; k++) { /* spread evenly in a box */
        starts[k][0] = 0.01 * (1 + 0.5 * fmod(0.754877666 * k, 1));
        starts[k][1] = 0.02 * (1 + 0.5 * fmod(0.569840291 * k, 1));
        starts[k][2] = -3 * (1 + 0.02 * fmod(0.438579021 * k, 1));
    }
    if (profile >= 0) {
        enum { TIMES = 40 };
        contender *c = &contenders[profile];
        double seconds[TIMES];
        for (int k = 0; k < TIMES; k++) {
            const double begin = bench_cpu_seconds();
            run(c, 1e-9);
            seconds[k] = bench_cpu_seconds() - begin;
        }
        bench_median(seconds, TIMES);
        const double took = seconds[0] / motions; /* the least disturbed */
        printf("%.1f steps, %.1f rejected, %.1f evaluations of a motion; %.1f us, %.2f ns for "
               "an evaluation of one of the stages\n",
               (double)c->steps / motions, (double)c->rejected / motions,
               (double)c->evaluations / motions, 1e6 * took,
               1e9 * took * motions / (12 * (double)(c->steps + c->rejected)));
        return 0;
    }
    /* the reference: gauss, to round-off */
    contender exact = {.name = "reference", .text = equations};
    exact.options.run = ns_run_defaults();
    exact.options.run.until = 20;
    if (!open_model(&exact))
        return 1;
    run(&exact, 0);
    memcpy(reference, end_state, sizeof reference);
    measure(contenders, CONTENDERS, rungs, n_rungs);
    print(contenders, CONTENDERS, rungs, n_rungs);
    for (int c = 0; c < CONTENDERS; c++) {
        ns_native_free(contenders[c].code);
        ns_model_free(contenders[c].model);
        free(contenders[c].observed);
        free(contenders[c].work);
    }
    ns_model_free(exact.model);
    free(exact.observed);
    free(exact.work);
    return 0;
}
