/*
 * Contenders noslip: the same problems as model text (texts.h), integrated by the library's
 * methods, with the interpreter, with native code, and several motions at a time in the lanes
 * of the vector registers. Reading, deriving and compiling happen on opening and are not timed,
 * as compiling is not timed for C853.
 */
#include "rivals/contenders.h"

#include "harness/texts.h"
#include "ode/ensemble/ensemble.h"

#include <stdlib.h>
#include <string.h>

typedef struct handle {
    ns_model *model;
    const ns_problem *problem;
    ns_run *observer; /* for values at states of an ensemble */
    const char *method;
    double t_end, tolerance;
    int n;
    int64_t place[HAND_MAX_STATES];
    double *values, *end;
    bool *varied; /* states that differ from motion to motion */
    uint64_t next, motions;
    bool failed;
    bench_cost cost;
} handle;

static void close_noslip(void *opaque)
{
    handle *h = opaque;
    ns_run_free(h->observer);
    ns_model_free(h->model);
    free(h->values);
    free(h->end);
    free(h->varied);
    free(h);
}

static int compile(handle *h)
{
    char message[300];
    const ns_method *method = ns_method_find(h->method);
    if (ns_problem_native(h->problem, method ? method->lanes : NS_LANES_ALL, message,
                          sizeof message, NULL))
        return 0;
    fprintf(stderr, "no native code: %s\n", message);
    return -1;
}

static void *open_text(const bench_problem *problem, const bench_text *text, const char *method,
                       bool native)
{
    handle *h = text ? calloc(1, sizeof *h) : NULL;
    if (!h)
        return NULL;
    h->model = bench_text_load(text);
    h->method = method;
    h->t_end = problem->hand->t_end;
    h->n = problem->hand->n;
    h->motions = (uint64_t)problem->motions;
    if (!h->model) {
        free(h);
        return NULL;
    }
    h->problem = ns_model_problem(h->model, false);
    h->values = calloc(h->model->system->observables.n, sizeof *h->values);
    bool good = h->problem && h->values && (!native || compile(h) == 0);
    for (int i = 0; i < h->n && good; i++) {
        h->place[i] = ns_model_observable(h->model, text->values[i]);
        if (h->place[i] < 0) {
            fprintf(stderr, "%s: no value %s\n", text->problem, text->values[i]);
            good = false;
        }
    }
    if (good)
        return h;
    close_noslip(h);
    return NULL;
}

static void *open_kind(const bench_problem *problem, bench_kind kind, const char *method,
                       bool native)
{
    return open_text(problem, bench_text_find(problem->hand->name, kind), method, native);
}

/* The equations as given where there are any. */
static void *open_either(const bench_problem *problem, const char *method, bool native)
{
    const bench_text *text = bench_text_find(problem->hand->name, BENCH_EQUATIONS);
    text = text ? text : bench_text_find(problem->hand->name, BENCH_MECHANICS);
    return open_text(problem, text, method, native);
}

static ns_run_options options_of(const handle *h, double tolerance)
{
    ns_run_options options = ns_run_defaults();
    options.method = h->method;
    options.until = h->t_end;
    options.tolerance = tolerance;
    options.extremes = false;
    options.only_stops = true; /* C853 records no events either */
    return options;
}

static int run(void *opaque, double tolerance, double *end, bench_cost *cost)
{
    handle *h = opaque;
    const ns_run_options options = options_of(h, tolerance);
    ns_status status;
    const char *message;
    ns_run *run = ns_run_new(h->problem, &options, h->model->p, h->model->x0, &status,
                             &message);
    if (!run)
        return -1;
    status = ns_run_to(run, h->t_end);
    ns_run_observe(run, ns_run_time(run), ns_run_state(run), h->values);
    for (int i = 0; i < h->n; i++)
        end[i] = h->values[h->place[i]];
    const ns_outcome *outcome = ns_run_outcome(run);
    cost->steps = (long)outcome->steps;
    cost->rejected = (long)outcome->rejected;
    cost->evaluations = (long)outcome->evaluations;
    cost->operations = (long)ns_program_operations(h->problem->rhs, NULL);
    ns_run_free(run);
    return status == NS_OK ? 0 : -1;
}

/* ---- ensembles --------------------------------------------------------------------------- */

/* Every fourth motion is the problem's own; the others have speeds that differ by up to 3 %, so
   that the lanes do not go in step. */
enum { OWN = 4 };

static bool next_motion(void *context, uint64_t *id, double *p, double *x0)
{
    handle *h = context;
    if (h->next >= h->motions)
        return false;
    *id = h->next++;
    memcpy(p, h->model->p, h->problem->np * sizeof *p);
    memcpy(x0, h->model->x0, h->problem->n * sizeof *x0);
    for (uint32_t i = 0; i < h->problem->n && *id % OWN; i++)
        if (h->varied[i])
            x0[i] *= 1 + 0.03 * ((double)*id / (double)h->motions - 0.5);
    return true;
}

static bool motion_done(void *context, const ns_ensemble_result *result)
{
    handle *h = context;
    h->cost.steps += (long)result->outcome->steps;
    h->cost.rejected += (long)result->outcome->rejected;
    h->cost.evaluations += (long)result->outcome->evaluations;
    if (result->outcome->status != NS_OK)
        h->failed = true;
    if (result->id == 0)
        memcpy(h->end, result->x, h->problem->n * sizeof *h->end);
    return !h->failed;
}

static int run_lanes(void *opaque, double tolerance, double *end, bench_cost *cost)
{
    handle *h = opaque;
    ns_ensemble_options options = {.run = options_of(h, tolerance)};
    options.run.least_size = 1; /* `noslip sweep --least 1`: errors as C853 counts them */
    const ns_ensemble_client client = {h, next_motion, motion_done};
    const char *message = NULL;
    h->next = 0;
    h->failed = false;
    h->cost = (bench_cost){.motions = (long)h->motions};
    if (ns_ensemble_run(h->problem, &options, &client, &message) != NS_OK || h->failed)
        return -1;
    ns_run_observe(h->observer, h->t_end, h->end, h->values);
    for (int i = 0; i < h->n; i++)
        end[i] = h->values[h->place[i]];
    *cost = h->cost;
    cost->steps /= cost->motions;
    cost->rejected /= cost->motions;
    cost->evaluations /= cost->motions;
    cost->operations = (long)ns_program_operations(h->problem->rhs, NULL);
    if (h->problem->core && strcmp(h->method, "dop853") == 0) /* four evaluations in twelve */
        cost->operations +=
            ((long)ns_program_operations(h->problem->core, NULL) - cost->operations) / 3;
    return 0;
}

static void *open_ensemble(const bench_problem *problem, const char *method)
{
    const bench_text *text = bench_text_find(problem->hand->name, BENCH_EQUATIONS);
    text = text ? text : bench_text_find(problem->hand->name, BENCH_MECHANICS);
    if (!text || !text->varied)
        return NULL;
    handle *h = open_text(problem, text, method, false);
    if (!h)
        return NULL;
    const ns_run_options options = options_of(h, 1e-6);
    const ns_ensemble_options ensemble = {.run = options};
    char why[300];
    if (!ns_ensemble_native(h->problem, &ensemble, why, sizeof why, NULL)) {
        fprintf(stderr, "no native code: %s\n", why);
        close_noslip(h);
        return NULL;
    }
    ns_status status;
    const char *message;
    h->observer = ns_run_new(h->problem, &options, h->model->p, h->model->x0, &status,
                             &message);
    h->end = calloc(h->problem->n, sizeof *h->end);
    h->varied = calloc(h->problem->n, sizeof *h->varied);
    if (!h->observer || !h->end || !h->varied) {
        close_noslip(h);
        return NULL;
    }
    for (uint32_t i = 0; i < h->problem->n; i++)
        h->varied[i] = bench_text_lists(h->model->system->states.at[i].name, text->varied);
    return h;
}

#define CONTENDER(id, label, words, opening, running, loose, tight)                            \
    static void *open_##id(const bench_problem *problem)                                       \
    {                                                                                          \
        return opening;                                                                        \
    }                                                                                          \
    const bench_contender contender_noslip_##id = {.name = label,                              \
                                                   .what = words,                              \
                                                   .loosest = loose,                           \
                                                   .tightest = tight,                          \
                                                   .per_decade = 2,                            \
                                                   .open = open_##id,                          \
                                                   .run = running,                             \
                                                   .close = close_noslip}

CONTENDER(gauss, "gauss", "noslip, interpreted, equations as given",
          open_kind(problem, BENCH_EQUATIONS, "gauss", false), run, 1e-2, 1e-17);
CONTENDER(taylor, "taylor", "noslip, interpreted, equations as given",
          open_kind(problem, BENCH_EQUATIONS, "taylor", false), run, 1e-4, 1e-17);
CONTENDER(dop853, "dop853", "noslip, interpreted, equations as given",
          open_kind(problem, BENCH_EQUATIONS, "dop853", false), run, 1e-4, 1e-16);
CONTENDER(gauss_native, "gauss-native", "noslip, native, equations as given",
          open_kind(problem, BENCH_EQUATIONS, "gauss", true), run, 1e-2, 1e-17);
CONTENDER(dop853_native, "dop853-native", "noslip, native, equations as given",
          open_kind(problem, BENCH_EQUATIONS, "dop853", true), run, 1e-4, 1e-16);
CONTENDER(automatic, "auto", "noslip, native, method chosen by trials, which are timed too",
          open_either(problem, "auto", true), run, 1e-2, 1e-17);
CONTENDER(derived, "derived",
          "noslip, interpreted, gauss on what it derives from the mechanics",
          open_kind(problem, BENCH_MECHANICS, "gauss", false), run, 1e-2, 1e-17);
CONTENDER(derived_native, "derived-native", "the same, native",
          open_kind(problem, BENCH_MECHANICS, "gauss", true), run, 1e-2, 1e-17);
CONTENDER(lanes, "lanes",
          "noslip, native, an ensemble in lanes as of `sweep --least 1`: time of one motion",
          open_ensemble(problem, "dop853"), run_lanes, 1e-4, 1e-16);
CONTENDER(lanes_gauss, "lanes-gauss", "the same by `sweep --method gauss`",
          open_ensemble(problem, "gauss"), run_lanes, 1e-4, 1e-17);
