/*
 * Many motions: how many trajectories of the rattleback P1c per second and core, with starts
 * that differ a little, at equal median error of the final state, as a ratio to C853, which
 * runs them one after the other.
 *
 *     bench_ensemble [--rounds N] [--motions N] [--profile K] [--problem NAME]
 *
 * --profile runs one contender alone, for a while, at one tolerance: for perf.
 * --problem takes another problem of the table, without C853: steps and microseconds of a
 * motion.
 */
#include "harness/measure.h"
#include "harness/texts.h"
#include "problems/hand_problems.h"

#include "ode/ensemble/ensemble.h"
#include "session/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024, MOST_RUNGS = 40, MOST_ROUNDS = 51, CONTENDERS = 8, SPIN = 4 };

static const hand_problem *problem;
static int motions = 64, rounds = 5, least = 1;
static double starts[MOST][3]; /* angular velocities of P1c */
static double reference[MOST][HAND_MAX_STATES], end_state[MOST][HAND_MAX_STATES];

static double median_error(void)
{
    static double errors[MOST];
    for (int k = 0; k < motions; k++) {
        errors[k] = 0;
        for (int i = 0; i < problem->n; i++) {
            const double v = reference[k][i];
            const double d = fabs(end_state[k][i] - v) / fmax(1, fabs(v));
            errors[k] = d <= errors[k] ? errors[k] : isnan(d) ? INFINITY : d;
        }
    }
    return bench_median(errors, motions);
}

/* ---- contenders -------------------------------------------------------------------------- */

typedef struct contender {
    const char *name;
    const bench_text *text; /* NULL: C853 */
    ns_ensemble_options options;
    bool native;
    ns_model *model;
    const ns_problem *problem;
    int64_t place[HAND_MAX_STATES];
    int64_t spin[3]; /* P1c: states of the angular velocity */
    double *observed, *work;
    /* while running */
    int next;
    double tolerance;
    uint64_t steps, rejected, evaluations;
} contender;

static void run_c853(contender *c)
{
    const hand_form *form = &problem->forms[0];
    for (int k = 0; k < motions; k++) {
        double y[HAND_MAX_STATES];
        hand_stats stats;
        memcpy(y, form->y0, (size_t)form->n * sizeof *y);
        memcpy(y + SPIN, starts[k], sizeof starts[k]);
        form->dop853(problem->t_end, c->tolerance, y, &stats);
        memcpy(end_state[k], y, (size_t)form->n * sizeof *y);
        c->steps += (uint64_t)stats.steps;
        c->rejected += (uint64_t)stats.rejected;
        c->evaluations += (uint64_t)stats.evaluations;
    }
}

static bool is_p1c(void)
{
    return strcmp(problem->name, "P1c") == 0;
}

static bool next(void *context, uint64_t *id, double *p, double *x0)
{
    contender *c = context;
    if (c->next == motions)
        return false;
    memcpy(p, c->model->p, c->problem->np * sizeof *p);
    memcpy(x0, c->model->x0, c->problem->n * sizeof *x0);
    if (is_p1c())
        for (int i = 0; i < 3; i++)
            x0[c->spin[i]] = starts[c->next][i];
    else
        for (uint32_t i = 0; i < c->problem->n; i++)
            if (bench_text_lists(c->model->system->states.at[i].name, c->text->varied))
                x0[i] *= 1 + 0.03 * ((double)c->next / motions - 0.5);
    *id = (uint64_t)c->next++;
    return true;
}

static bool done(void *context, const ns_ensemble_result *r)
{
    contender *c = context;
    ns_program_eval1(c->problem->observables, c->work, r->outcome->t, r->x, c->observed);
    for (int i = 0; i < problem->n; i++)
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
    if (c->native &&
        !ns_ensemble_native(c->problem, &c->options, message, sizeof message, NULL))
        fprintf(stderr, "no native code: %s\n", message);
    for (int i = 0; i < problem->n; i++) {
        c->place[i] = ns_model_observable(c->model, c->text->values[i]);
        if (i >= SPIN && i < SPIN + 3)
            c->spin[i - SPIN] = state_of(c->model, c->text->values[i]);
    }
    c->observed = calloc(c->model->system->observables.n, sizeof *c->observed);
    c->work = calloc(ns_program_work1(c->problem->observables) + 1, sizeof *c->work);
    if (!c->observed || !c->work)
        return false;
    ns_program_bind1(c->problem->observables, c->work, c->model->p);
    return true;
}

/* ---- the table --------------------------------------------------------------------------- */

typedef struct rung {
    double tolerance, error, seconds[MOST_ROUNDS];
    double per_motion; /* seconds, the median */
    double steps, evaluations;
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

static double evaluations_of(const rung *r)
{
    return r->evaluations;
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
                    r->evaluations = (double)contenders[c].evaluations / motions;
                }
            }
    for (int c = 0; c < count; c++)
        for (int i = 0; i < n; i++)
            rungs[c][i].per_motion = bench_median(rungs[c][i].seconds, rounds) / motions;
}

static void print(const contender *contenders, int count, rung (*rungs)[MOST_RUNGS], int n)
{
    static const double targets[] = {1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12};
    enum { TARGETS = sizeof targets / sizeof *targets };
    printf("%s, %d motions of %g s with different starts; medians of %d interleaved rounds\n"
           "%-34s",
           problem->name, motions, problem->t_end, rounds, "median error");
    for (int t = 0; t < TARGETS; t++)
        printf("%9.0e", targets[t]);
    printf("\n");
    for (int c = 0; c < count; c++) {
        printf("%-34s", contenders[c].name);
        for (int t = 0; t < TARGETS; t++)
            printf("%9.1f", 1e6 * at_error(rungs[c], n, targets[t], seconds_of));
        printf("  microseconds of a motion\n%-34s", "");
        for (int t = 0; t < TARGETS; t++)
            printf("%9.0f", at_error(rungs[c], n, targets[t], steps_of));
        printf("  steps tried in a motion\n%-34s", "");
        for (int t = 0; t < TARGETS; t++)
            printf("%9.0f", at_error(rungs[c], n, targets[t], evaluations_of));
        printf("  evaluations\n");
        if (contenders[0].text || c == 0)
            continue;
        printf("%-34s", "");
        for (int t = 0; t < TARGETS; t++)
            printf("%9.2f", at_error(rungs[0], n, targets[t], seconds_of) /
                                at_error(rungs[c], n, targets[t], seconds_of));
        printf("  times as many motions as C853\n");
    }
}

static int usage(void)
{
    fprintf(stderr, "usage: bench_ensemble [--rounds N] [--motions N] [--least 0|1] "
                    "[--profile K] [--problem NAME]\n");
    return 2;
}

int main(int argc, char **argv)
{
    static rung rungs[CONTENDERS][MOST_RUNGS];
    const int n_rungs = 27;
    int profile = -1;
    problem = hand_problem_find("P1c");
    for (int i = 1; i < argc; i++) {
        const int value = i + 1 < argc ? atoi(argv[i + 1]) : 0;
        if (strcmp(argv[i], "--rounds") == 0 && value > 0 && value <= MOST_ROUNDS)
            rounds = value;
        else if (strcmp(argv[i], "--motions") == 0 && value > 0 && value <= MOST)
            motions = value;
        else if (strcmp(argv[i], "--profile") == 0 && i + 1 < argc && value < CONTENDERS)
            profile = value;
        else if (strcmp(argv[i], "--least") == 0 && i + 1 < argc)
            least = value;
        else if (strcmp(argv[i], "--problem") == 0 && i + 1 < argc)
            problem = hand_problem_find(argv[i + 1]);
        else
            return usage();
        i++;
    }
    if (!problem)
        return usage();
    const bench_text *equations = bench_text_find(problem->name, BENCH_EQUATIONS);
    const bench_text *body = bench_text_find(problem->name, BENCH_MECHANICS);
    const bench_text *text = equations ? equations : body;
    if (!text || !text->varied)
        return usage();
    contender contenders[CONTENDERS];
    int count = 0;
    if (is_p1c())
        contenders[count++] = (contender){.name = "C853"};
    contenders[count++] = (contender){.name = "lanes", .text = text, .native = true};
    contenders[count++] = (contender){
        .name = "lanes, gauss", .text = text, .native = true, .options.run.method = "gauss"};
    contenders[count++] = (contender){.name = "gauss, one after the other",
                                      .text = text,
                                      .native = true,
                                      .options = {.run.method = "gauss", .alone = true}};
    contenders[count++] = (contender){
        .name = "lanes, unfused", .text = text, .native = true, .options.unfused = true};
    if (is_p1c()) {
        contenders[count++] = (contender){
            .name = "lanes, derived by rolling", .text = body, .native = true};
        contenders[count++] = (contender){.name = "lanes, gauss, derived by rolling",
                                          .text = body,
                                          .native = true,
                                          .options.run.method = "gauss"};
        contenders[count++] = (contender){.name = "lanes, interpreted", .text = text};
    }
    if (profile >= count)
        return usage();
    for (int c = 0; c < count; c++) {
        const char *method = contenders[c].options.run.method;
        contenders[c].options.run = ns_run_defaults();
        contenders[c].options.run.method = method ? method : "dop853";
        contenders[c].options.run.until = problem->t_end;
        contenders[c].options.run.least_size = least; /* 1 as C853 */
        if (!open_model(&contenders[c]))
            return 1;
    }
    for (int k = 0; k < motions; k++) { /* spread evenly in a box */
        starts[k][0] = 0.01 * (1 + 0.5 * fmod(0.754877666 * k, 1));
        starts[k][1] = 0.02 * (1 + 0.5 * fmod(0.569840291 * k, 1));
        starts[k][2] = -3 * (1 + 0.02 * fmod(0.438579021 * k, 1));
    }
    if (profile >= 0) {
        enum { TIMES = 400 };
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
    contender exact = {.name = "reference", .text = text};
    exact.options.run = ns_run_defaults();
    exact.options.run.until = problem->t_end;
    if (!open_model(&exact))
        return 1;
    run(&exact, 0);
    memcpy(reference, end_state, sizeof reference);
    measure(contenders, count, rungs, n_rungs);
    print(contenders, count, rungs, n_rungs);
    for (int c = 0; c < count; c++) {
        ns_model_free(contenders[c].model);
        free(contenders[c].observed);
        free(contenders[c].work);
    }
    ns_model_free(exact.model);
    free(exact.observed);
    free(exact.work);
    return 0;
}
