/* Ensembles: each motion is the one a run of its own gives, and its bits do not depend on the
 * number of lanes, on the other motions, on their order, on the instruction set. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "ode/ensemble/ensemble.h"
#include "session/model.h"

enum { MOST = 64, STATES = 40, TIMES = 8, VALUES = 120, EVENTS = 40 };

/* ---- recording --------------------------------------------------------------------------- */

typedef struct motion {
    bool seen;
    ns_status status;
    char reason[160];
    double t, smallest, largest, energy[3];
    double x[STATES], at[TIMES * STATES];
    double least[VALUES], most[VALUES], residual[VALUES], drift[VALUES];
    uint64_t steps, rejected, evaluations;
    uint32_t n_events;
    ns_occurrence events[EVENTS];
    double event_states[EVENTS * STATES];
} motion;

typedef struct trial {
    ns_model *model;
    const ns_problem *problem;
    ns_ensemble_options options;
    uint32_t n, next;                         /* motions */
    uint32_t order[MOST];                     /* in which they are given */
    double p[MOST][STATES], x0[MOST][STATES]; /* of each */
    uint32_t stop_after;                      /* results; 0: never */
    uint32_t results;
    motion *motions;
} trial;

static const char *method; /* of the lanes: all tests are made with each */

static trial *trial_new(const char *text, uint32_t n)
{
    trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->model = ns_model_load_text("test", text, strlen(text), NULL, 0, NS_MODEL_READY);
    assert_non_null(t->model);
    if (t->model->status != NS_OK)
        fail_msg("%s", t->model->messages);
    t->problem = ns_model_problem(t->model, false);
    t->options.run = ns_run_defaults();
    t->options.run.method = method;
    t->n = n;
    t->motions = calloc(MOST, sizeof *t->motions);
    assert_non_null(t->motions);
    assert_true(t->problem->n <= STATES && t->problem->np <= STATES && n <= MOST);
    for (uint32_t k = 0; k < n; k++) {
        memcpy(t->p[k], t->model->p, t->problem->np * sizeof(double));
        memcpy(t->x0[k], t->model->x0, t->problem->n * sizeof(double));
        t->order[k] = k;
    }
    return t;
}

static void trial_free(trial *t)
{
    ns_model_free(t->model);
    free(t->motions);
    free(t);
}

static uint32_t parameter(const trial *t, const char *name)
{
    const ns_description *d = t->model->system->description;
    for (uint32_t i = 0; i < d->params.n; i++)
        if (strcmp(d->params.at[i].name, name) == 0)
            return i;
    fail_msg("no parameter %s", name);
    return 0;
}

static bool next(void *context, uint64_t *id, double *p, double *x0)
{
    trial *t = context;
    if (t->next == t->n)
        return false;
    const uint32_t k = t->order[t->next++];
    *id = k;
    memcpy(p, t->p[k], t->problem->np * sizeof *p);
    memcpy(x0, t->x0[k], t->problem->n * sizeof *x0);
    return true;
}

static void copy_outcome(const trial *t, motion *m, const ns_outcome *o)
{
    const ns_system *s = t->problem->system;
    m->status = o->status;
    snprintf(m->reason, sizeof m->reason, "%s", o->reason);
    m->t = o->t;
    m->smallest = o->smallest_step;
    m->largest = o->largest_step;
    m->energy[0] = o->energy_first;
    m->energy[1] = o->energy_last;
    m->energy[2] = o->energy_drift;
    m->steps = o->steps;
    m->rejected = o->rejected;
    m->evaluations = o->evaluations;
    memcpy(m->residual, o->residual, s->constraints.n * sizeof(double));
    memcpy(m->drift, o->drift, s->invariants.n * sizeof(double));
    memcpy(m->least, o->observable_min, s->observables.n * sizeof(double));
    memcpy(m->most, o->observable_max, s->observables.n * sizeof(double));
    m->n_events = o->n_events;
    assert_true(o->n_events <= EVENTS);
    for (uint32_t i = 0; i < o->n_events; i++) {
        m->events[i].event = o->events[i].event;
        m->events[i].direction = o->events[i].direction;
        m->events[i].t = o->events[i].t;
    }
    if (o->n_events)
        memcpy(m->event_states, o->event_states,
               (size_t)o->n_events * t->problem->n * sizeof(double));
}

static bool done(void *context, const ns_ensemble_result *r)
{
    trial *t = context;
    motion *m = &t->motions[r->id];
    assert_false(m->seen);
    m->seen = true;
    memcpy(m->x, r->x, t->problem->n * sizeof(double));
    memcpy(m->at, r->at, (size_t)t->options.n_times * t->problem->n * sizeof(double));
    copy_outcome(t, m, r->outcome);
    return ++t->results != t->stop_after;
}

static void run(trial *t)
{
    const ns_ensemble_client client = {t, next, done};
    const char *message = NULL;
    t->next = t->results = 0;
    memset(t->motions, 0, MOST * sizeof *t->motions);
    assert_int_equal(ns_ensemble_run(t->problem, &t->options, &client, &message), NS_OK);
    assert_string_equal(message, "");
    for (uint32_t k = 0; k < t->n && !t->stop_after; k++)
        assert_true(t->motions[k].seen);
}

/* What a run of its own gives; event states apart. */
static motion alone(const trial *t, uint32_t k)
{
    motion m = {0};
    ns_status status;
    const char *message;
    ns_run *run = ns_run_new(t->problem, &t->options.run, t->p[k], t->x0[k], &status, &message);
    assert_non_null(run);
    for (uint32_t i = 0; i < t->options.n_times; i++) {
        if (ns_run_to(run, t->options.times[i]) != NS_OK)
            break; /* it ended before */
        ns_run_state_at(run, t->options.times[i], m.at + (size_t)i * t->problem->n);
    }
    ns_run_to(run, t->options.run.until);
    memcpy(m.x, ns_run_state(run), t->problem->n * sizeof(double));
    copy_outcome(t, &m, ns_run_outcome(run));
    ns_run_free(run);
    return m;
}

static void assert_near(const double *a, const double *b, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * fmax(1, fabs(b[i]))) &&
            !(isnan(a[i]) && isnan(b[i])))
            fail_msg("%zu: %.17g is not %.17g", i, a[i], b[i]);
}

/* ---- motions for the tests --------------------------------------------------------------- */

/* Driven and damped; grows beyond all bounds where b is positive and the start is far out; its
 * root ends at x = 5. */
static const char oscillator[] = "param k = 1, c = 0.05, b = 0\n"
                                 "state x' = v, v' = -k*x - c*v + b*x^3 + 0.2*cos(1.3*t)\n"
                                 "state w' = sqrt(5 - x)\n"
                                 "start { x = 1 }\n"
                                 "observe speed = abs(v), total = x + v\n"
                                 "event turn: v = 0 falling\n"
                                 "event outside: x = 3 rising stop \"outside\"\n";

/* Derived equations, projected onto a manifold, with energy and residuals. */
static const char rattleback[] = "param a = 0.2, b = 0.03, c = 0.02, spin = -3\n"
                                 "ground plane\n"
                                 "body ellipsoid(a, b, c) { mass 1; uniform; "
                                 "turn [0, 0, 1], 0.02 }\n"
                                 "start { omega [0.01, 0.02, spin] }\n";

/* Formulation `constrained`: corrections that it gives itself, ranks. */
static const char pendulum[] = "param m = 1, g = 9.81, L = 1\n"
                               "coordinate x, y\n"
                               "lagrangian m/2*(x'^2 + y'^2) - m*g*y\n"
                               "constraint x^2 + y^2 = L^2\n"
                               "formulation constrained\n"
                               "start { x = 1; y = 0 }\n";

/* Starts and parameters that differ; k from 40 on: motions that fail. */
static trial *oscillators(uint32_t n)
{
    trial *t = trial_new(oscillator, n);
    const uint32_t b = parameter(t, "b"), c = parameter(t, "c"), stiff = parameter(t, "k");
    for (uint32_t k = 0; k < n; k++) {
        t->p[k][stiff] = 1 + 0.13 * k;
        t->p[k][c] = 0.02 * (k % 5);
        t->x0[k][0] = 0.5 + 0.05 * (k % 17);
        t->x0[k][1] = 0.3 * (k % 3);
        if (k < 40)
            continue;
        switch (k % 4) {
        case 0:
            t->x0[k][1] = NAN; /* cannot begin */
            break;
        case 1:
            t->p[k][b] = 2; /* falls to minus infinity */
            t->x0[k][0] = -3;
            break;
        case 2:
            t->x0[k][0] = 5.5; /* no rates at the start */
            break;
        default:
            t->x0[k][1] = 12; /* stopped by the event */
        }
    }
    t->options.run.until = 9;
    t->options.run.tolerance = 1e-10;
    return t;
}

static const double some_times[TIMES] = {0, 0.5, 0.5, 2, 3.25, 7, 8.875, 9};

static void ask_for_all(trial *t)
{
    t->options.times = some_times;
    t->options.n_times = TIMES;
    t->options.extremes = t->options.diagnostics = t->options.events = true;
}

/* ---- tests ------------------------------------------------------------------------------- */

static void compare_with_runs(trial *t, double tolerance)
{
    const ns_system *s = t->problem->system;
    run(t);
    for (uint32_t k = 0; k < t->n; k++) {
        const motion *m = &t->motions[k];
        const motion own = alone(t, k);
        assert_int_equal(m->status, own.status);
        assert_int_equal(m->n_events, own.n_events);
        assert_near(&m->t, &own.t, 1, tolerance);
        assert_near(m->x, own.x, t->problem->n, tolerance);
        assert_near(m->at, own.at, (size_t)t->options.n_times * t->problem->n, tolerance);
        for (uint32_t i = 0; i < m->n_events; i++) {
            assert_int_equal(m->events[i].event, own.events[i].event);
            assert_int_equal(m->events[i].direction, own.events[i].direction);
            assert_near(&m->events[i].t, &own.events[i].t, 1, tolerance);
        }
        assert_near(m->event_states, own.event_states, (size_t)m->n_events * t->problem->n,
                    tolerance);
        assert_near(m->energy, own.energy, 2, tolerance);
        if (!isnan(own.energy[2]))
            assert_true(m->energy[2] < 100 * t->options.run.tolerance);
        for (uint32_t i = 0; i < s->constraints.n; i++)
            assert_true(m->residual[i] <= 1e-14);
        /* extremes are those of the step ends, which differ, most where steps are long */
        const double part = strcmp(method, "gauss") == 0 ? 0.5 : 0.25;
        for (uint32_t i = 0; i < s->observables.n; i++) {
            const double range = own.most[i] - own.least[i];
            assert_true(fabs(m->least[i] - own.least[i]) <= part * range + 1e-9);
            assert_true(fabs(m->most[i] - own.most[i]) <= part * range + 1e-9);
        }
        /* about the same work; gauss makes shorter steps in lanes, with fewer sweeps */
        const uint64_t most = strcmp(method, "gauss") == 0 ? 22 : 13;
        assert_true(m->steps * 10 <= own.steps * most + 20 &&
                    own.steps * 10 <= m->steps * 13 + 20);
        if (m->status == NS_OK)
            assert_true(m->t == t->options.run.until);
    }
}

static void test_oscillators(void **state)
{
    (void)state;
    trial *t = oscillators(40);
    ask_for_all(t);
    compare_with_runs(t, 1e-8);
    trial_free(t);
}

static void test_rattleback(void **state)
{
    (void)state;
    trial *t = trial_new(rattleback, 11);
    const uint32_t a = parameter(t, "a");
    for (uint32_t k = 0; k < t->n; k++) {
        t->p[k][a] = 0.2 + 0.002 * k;
        t->x0[k][6] = -3 - 0.05 * k;
    }
    t->options.run.until = 2;
    t->options.run.tolerance = 1e-11;
    t->options.times = some_times;
    t->options.n_times = 4;
    t->options.extremes = t->options.diagnostics = t->options.events = true;
    compare_with_runs(t, 1e-8);
    trial_free(t);
}

static void test_constrained(void **state)
{
    (void)state;
    trial *t = trial_new(pendulum, 9);
    const uint32_t g = parameter(t, "g");
    for (uint32_t k = 0; k < t->n; k++)
        t->p[k][g] = 9.81 + 0.1 * k;
    t->options.run.until = 3;
    t->options.run.tolerance = 1e-11;
    t->options.diagnostics = t->options.events = true;
    t->options.extremes = true;
    compare_with_runs(t, 1e-8);
    trial_free(t);
}

/* Other methods, or alone: one after the other, to the bit what a run gives. */
static void test_other_methods(void **state)
{
    (void)state;
    const char *const methods[] = {method, "taylor", "adams"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        trial *t = oscillators(7);
        t->options.run.method = methods[i];
        t->options.alone = methods[i] == method;
        ask_for_all(t);
        run(t);
        for (uint32_t k = 0; k < t->n; k++) {
            motion own = alone(t, k);
            own.seen = true;
            assert_memory_equal(&t->motions[k].x, own.x, sizeof own.x);
            assert_int_equal(t->motions[k].steps, own.steps);
            assert_near(t->motions[k].at, own.at, TIMES * t->problem->n, 1e-8);
        }
        trial_free(t);
    }
}

static void choose_lanes(const ns_problem *problem, const char *name)
{
    const ns_program *const programs[] = {problem->rhs,       problem->events,
                                          problem->manifold,  problem->monitor,
                                          problem->residuals, problem->observables};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        ns_program_choose_lanes((ns_program *)programs[i], name);
    if (problem->core)
        ns_program_choose_lanes((ns_program *)problem->core, name);
    for (uint32_t p = 0; p < problem->cascade->n; p++)
        for (uint32_t k = 0; k < problem->cascade->part[p].n_blocks; k++)
            if (problem->cascade->part[p].block[k].rhs)
                ns_program_choose_lanes((ns_program *)problem->cascade->part[p].block[k].rhs,
                                        name);
}

/* Native code for an instruction set, where there is a compiler. */
static void native_code(const trial *t, const char *lanes)
{
    char message[300];
    choose_lanes(t->problem, lanes);
    if (!ns_ensemble_native(t->problem, &t->options, message, sizeof message, NULL))
        print_message("no native code: %s\n", message);
}

/* The same bits whatever the lanes, order and neighbours, the engine and the instruction
 * set. */
static void check_bits(trial *t, uint32_t healthy)
{
    motion *first = calloc(MOST, sizeof *first);
    assert_non_null(first);
    t->options.lanes = 1;
    run(t);
    memcpy(first, t->motions, MOST * sizeof *first);
    static const uint32_t widths[] = {2, 4, 8, 0, 8, 0, 0, 8, 8, 0, 8, 8};
    static const char *const native_lanes[] = {NULL, "avx2", "plain"}; /* the last three */
    const uint32_t all = t->n;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        t->options.lanes = widths[i];
        if (i == 4 || i == 5) /* backwards, and by strides */
            for (uint32_t k = 0; k < all; k++)
                t->order[k] = i == 4 ? all - 1 - k : 7 * k % all;
        if (i == 6) { /* without those that fail */
            t->n = healthy;
            for (uint32_t k = 0; k < all; k++)
                t->order[k] = k;
        }
        if (i == 7)
            choose_lanes(t->problem, "plain");
        if (i == 8)
            choose_lanes(t->problem, "avx2");
        if (i > 8)
            native_code(t, native_lanes[i - 9]);
        run(t);
        ns_problem_interpret(t->problem);
        for (uint32_t k = 0; k < t->n; k++)
            assert_memory_equal(&first[k], &t->motions[k], sizeof *first);
        t->n = all;
    }
    choose_lanes(t->problem, NULL);
    free(first);
}

static void test_bits(void **state)
{
    (void)state;
    trial *t = oscillators(53); /* 7 k mod 53 goes through all */
    ask_for_all(t);
    check_bits(t, 40);
    trial_free(t);
}

static void test_bits_rattleback(void **state)
{
    (void)state;
    trial *t = trial_new(rattleback, 19);
    for (uint32_t k = 0; k < t->n; k++)
        t->x0[k][6] = -3 - 0.05 * k;
    t->options.run.until = 0.7;
    t->options.run.tolerance = 1e-9;
    t->options.diagnostics = t->options.events = true;
    check_bits(t, 13);
    trial_free(t);
}

/* Motions that fail are results, with the reason that a run gives. */
/* Rates with and without fused operations: other last bits, the same motions. */
static void test_unfused(void **state)
{
    (void)state;
    motion *fused = calloc(MOST, sizeof *fused);
    assert_non_null(fused);
    trial *t = trial_new(rattleback, 8);
    for (uint32_t k = 0; k < t->n; k++)
        t->x0[k][6] = -3 - 0.05 * k;
    t->options.run.until = 0.7;
    t->options.run.tolerance = 1e-12;
    run(t);
    memcpy(fused, t->motions, MOST * sizeof *fused);
    t->options.unfused = true;
    run(t);
    bool differ = false;
    for (uint32_t k = 0; k < t->n; k++) {
        assert_near(t->motions[k].x, fused[k].x, t->problem->n, 1e-10);
        differ = differ || memcmp(t->motions[k].x, fused[k].x, t->problem->n * sizeof(double));
    }
    assert_true(differ);
    free(fused);
    trial_free(t);
}

static void test_failures(void **state)
{
    (void)state;
    trial *t = oscillators(52);
    ask_for_all(t);
    run(t);
    for (uint32_t k = 40; k < t->n; k++) {
        const motion *m = &t->motions[k];
        if (k % 4 == 0) {
            assert_int_equal(m->status, NS_ERR_USAGE);
            assert_string_equal(m->reason, "the initial state is not finite");
            assert_true(isnan(m->at[0]) && m->t == 0);
            continue;
        }
        const motion own = alone(t, k);
        assert_int_equal(m->status, own.status);
        assert_int_not_equal(m->status, NS_OK);
        assert_memory_equal(m->reason, own.reason, 20);
        assert_near(&m->t, &own.t, 1, 1e-6);
        /* states at times that were reached, nan afterwards */
        for (uint32_t i = 0; i < TIMES; i++)
            assert_true(isnan(m->at[i * t->problem->n]) == (some_times[i] > m->t));
        if (k % 4 == 3) {
            assert_int_equal(m->status, NS_STOP_ASKED);
            assert_near(&m->x[0], &(double){3}, 1, 1e-12);
            assert_near(m->x, own.x, t->problem->n, 1e-8);
        }
    }
    trial_free(t);
}

/* Backwards in time: back to where it began; the end is reached exactly. */
static void test_backwards(void **state)
{
    (void)state;
    trial *t = oscillators(20);
    t->options.run.until = 7.3;
    t->options.run.tolerance = 1e-12;
    run(t);
    double start[MOST][STATES];
    memcpy(start, t->x0, sizeof start);
    for (uint32_t k = 0; k < t->n; k++) {
        assert_true(t->motions[k].t == 7.3);
        memcpy(t->x0[k], t->motions[k].x, sizeof t->x0[k]);
    }
    static const double back[] = {7.3, 7, 3, 0, -1};
    t->options.run.t0 = 7.3;
    t->options.run.until = 0;
    t->options.times = back;
    t->options.n_times = 5;
    run(t);
    for (uint32_t k = 0; k < t->n; k++) {
        const motion *m = &t->motions[k];
        const uint32_t n = t->problem->n;
        assert_true(m->t == 0 && m->status == NS_OK);
        assert_near(m->x, start[k], n, 1e-9);
        assert_memory_equal(m->at, t->x0[k], n * sizeof(double));
        assert_memory_equal(m->at + 3 * n, m->x, n * sizeof(double));
        assert_true(isnan(m->at[4 * n])); /* beyond the end */
    }
    trial_free(t);
}

/* Only what was asked for; events that stop are always watched. */
static void test_lean(void **state)
{
    (void)state;
    trial *t = oscillators(52);
    run(t);
    for (uint32_t k = 0; k < t->n; k++) {
        const motion *m = &t->motions[k];
        assert_true(isnan(m->least[0]) && isnan(m->most[1]) && isnan(m->energy[2]));
        assert_int_equal(m->n_events, k >= 40 && k % 4 == 3);
    }
    trial_free(t);
}

/* A motion that makes no progress ends, and its neighbours in the lanes do not notice. */
static void test_no_progress(void **state)
{
    (void)state;
    trial *t = trial_new("param K = 0\nlet w = 1 + K/(1 - t)^2\n"
                         "state u' = w*v\nstate v' = -w*u\nstart { u = 1 }\nrun { until 10 }\n",
                         12);
    t->options.run.until = 10;
    t->p[5][parameter(t, "K")] = 0.1;
    run(t);
    assert_int_equal(t->results, t->n);
    for (uint32_t k = 0; k < t->n; k++)
        if (k != 5) {
            assert_int_equal(t->motions[k].status, NS_OK);
            assert_true(fabs(t->motions[k].x[0] - cos(10)) < 1e-9);
        }
    assert_int_equal(t->motions[5].status, NS_STOP_STEP);
    assert_non_null(strstr(t->motions[5].reason, "no progress near t = 0.9999"));
    assert_true(t->motions[5].steps < 1000000);
    trial_free(t);
}

/* Disks that fall all but flat, where rounding errors rule the rates: all come through. */
static void test_nearly_flat(void **state)
{
    (void)state;
    size_t length;
    char *text = NULL;
    assert_int_equal(ns_file_read(NS_MODELS_DIR "/falling-disk.mech", 1 << 20, &text, &length),
                     0);
    text[length] = 0;
    static const double start[][2] = {{-2, -3}, {1, 1.5}, {2, 3}, {-2.1, 8.0 / 3}, {0.5, 1}};
    trial *t = trial_new(text, sizeof start / sizeof *start);
    t->options.run.until = 2;
    for (uint32_t k = 0; k < t->n; k++) {
        char set[3][40];
        snprintf(set[0], sizeof set[0], "0.1");
        snprintf(set[1], sizeof set[1], "%.17g", start[k][0]);
        snprintf(set[2], sizeof set[2], "%.17g", start[k][1]);
        const ns_override given[] = {
            {"tilt0", set[0]}, {"rolling0", set[1]}, {"turning0", set[2]}};
        ns_model *m = ns_model_load_text("disk", text, length, given, 3, NS_MODEL_READY);
        assert_int_equal(m->status, NS_OK);
        memcpy(t->p[k], m->p, t->problem->np * sizeof(double));
        memcpy(t->x0[k], m->x0, t->problem->n * sizeof(double));
        ns_model_free(m);
    }
    run(t);
    for (uint32_t k = 0; k < t->n; k++) {
        assert_int_equal(t->motions[k].status, NS_OK);
        assert_true(t->motions[k].steps < 200000); /* no end was in sight */
    }
    trial_free(t);
    free(text);
}

static void test_limits(void **state)
{
    (void)state;
    trial *t = oscillators(20);
    t->options.run.max_steps = 5;
    run(t);
    for (uint32_t k = 0; k < t->n; k++) {
        assert_int_equal(t->motions[k].status, NS_STOP_LIMIT);
        assert_int_equal(t->motions[k].steps, 5);
    }
    const volatile int interrupt = 1;
    t->options.run.interrupt = &interrupt;
    t->options.run.max_steps = 0;
    run(t);
    for (uint32_t k = 0; k < t->n; k++)
        assert_int_equal(t->motions[k].status, NS_STOP_INTERRUPT);
    t->options.run.interrupt = NULL;
    t->stop_after = 3; /* the client has enough */
    run(t);
    assert_int_equal(t->results, 3);
    t->stop_after = 0;
    t->options.run.until = 0; /* nowhere to go */
    run(t);
    for (uint32_t k = 0; k < t->n; k++)
        assert_memory_equal(t->motions[k].x, t->x0[k], t->problem->n * sizeof(double));
    t->options.run.until = 2;
    t->options.run.fixed_step = 0.125;
    run(t);
    for (uint32_t k = 0; k < t->n; k++) {
        const motion own = alone(t, k);
        assert_int_equal(t->motions[k].steps, 16);
        assert_near(t->motions[k].x, own.x, t->problem->n, 1e-13);
    }
    trial_free(t);
}

static void test_refused(void **state)
{
    (void)state;
    trial *t = oscillators(1);
    const ns_ensemble_client client = {t, next, done};
    const char *message;
    t->options.lanes = 3;
    assert_int_equal(ns_ensemble_run(t->problem, &t->options, &client, &message), NS_ERR_USAGE);
    t->options.lanes = 0;
    t->options.run.method = "none";
    assert_int_equal(ns_ensemble_run(t->problem, &t->options, &client, &message), NS_ERR_USAGE);
    assert_string_equal(message, "unknown method");
    t->options.run.method = method;
    t->options.run.tolerance = -1;
    assert_int_equal(ns_ensemble_run(t->problem, &t->options, &client, &message), NS_ERR_USAGE);
    trial_free(t);
}

/* Parts that depend on each other: the path needs the angle, which needs the spin. */
static void test_parts(void **state)
{
    (void)state;
    static const char text[] = "param a = 1\n"
                               "state w' = -a*w*u\n"
                               "state u' = a*w^2\n"
                               "state angle' = w\n"
                               "state x' = u*cos(angle)\n"
                               "state y' = u*sin(angle)\n"
                               "start { w = 1; u = -1 }\n";
    trial *t = trial_new(text, 9);
    for (uint32_t k = 0; k < t->n; k++)
        t->p[k][0] = 1 + 0.2 * k;
    t->options.run.until = 5;
    t->options.run.tolerance = 1e-13;
    t->options.extremes = t->options.diagnostics = t->options.events = true;
    compare_with_runs(t, 1e-12);
    trial_free(t);
}

/* x = cos t attracts: sweeps would need millions of steps.  With gauss the motions leave the
 * lanes for Newton's iteration, all of them by what they themselves have met. */
static void test_stiff(void **state)
{
    (void)state;
    static const char text[] = "param k = 1e5\n"
                               "state x' = -k*(x - cos(t))*(1 + x^2) - sin(t)\n"
                               "start { x = 1 }\n";
    if (strcmp(method, "gauss") != 0)
        return;
    trial *t = trial_new(text, 9);
    for (uint32_t k = 0; k < t->n; k++)
        t->p[k][0] = k < 5 ? 1e5 * (1 + k) : k; /* stiff, and not */
    t->options.run.until = 10;
    t->options.run.tolerance = 1e-9;
    t->options.times = some_times;
    t->options.n_times = TIMES;
    check_bits(t, 6);
    for (uint32_t k = 0; k < t->n; k++) {
        assert_near(t->motions[k].x, &(double){cos(10)}, 1, 1e-9);
        /* inside the first step, which follows the Taylor series, a stiff motion is less
         * accurate */
        for (uint32_t i = 0; i < TIMES; i++)
            assert_near(&t->motions[k].at[i], &(double){cos(some_times[i])}, 1,
                        k < 5 ? 1e-5 : 1e-9);
        assert_true(t->motions[k].steps < 2000);
    }
    trial_free(t);
}

/* 10^5 steps of equal length: what is lost when small changes are added to a state is carried
 * on.  Without that half a unit of the last place may be lost in the same direction each time,
 * 10^-12 in all; the weights of a method add up to one but for rounding. */
static void test_sums(void **state)
{
    (void)state;
    static const char text[] = "param k = 1e-3\n"
                               "state x' = k\n"
                               "start { x = 1 }\n";
    trial *t = trial_new(text, 9);
    for (uint32_t k = 0; k < t->n; k++)
        t->p[k][0] = 1e-3 / (3 + 0.7 * k);
    t->options.run.until = 300;
    t->options.run.max_step = 3e-3;
    run(t);
    for (uint32_t k = 0; k < t->n; k++) {
        const double exact = fma(300, t->p[k][0], 1);
        const motion own = alone(t, k);
        assert_true(t->motions[k].steps >= 100000 && own.steps >= 100000);
        assert_near(t->motions[k].x, &exact, 1, 1e-15);
        assert_near(own.x, &exact, 1, 1e-15);
    }
    trial_free(t);
}

/* A pulse of height 10, width 0.1 and area sqrt(pi) after a long rest: the steps that run into
 * it must be made again.  Those with a thousand times the error would miss by 1e-7. */
static void test_pulse(void **state)
{
    (void)state;
    static const char text[] = "param k = 0\n"
                               "state x' = 10*exp(-100*(t - 5 - k)^2)\n"
                               "start { x = 0 }\n";
    const double area = 1.77245385090551602730; /* sqrt(pi) */
    trial *t = trial_new(text, 9);
    for (uint32_t k = 0; k < t->n; k++)
        t->p[k][0] = 0.07 * k;
    t->options.run.until = 10;
    t->options.run.max_step = 0.5;
    t->options.run.tolerance = 1e-10;
    run(t);
    for (uint32_t k = 0; k < t->n; k++)
        assert_near(t->motions[k].x, &area, 1, 1e-9);
    trial_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oscillators), cmocka_unit_test(test_rattleback),
        cmocka_unit_test(test_constrained), cmocka_unit_test(test_other_methods),
        cmocka_unit_test(test_bits),        cmocka_unit_test(test_bits_rattleback),
        cmocka_unit_test(test_failures),    cmocka_unit_test(test_backwards),
        cmocka_unit_test(test_lean),        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_no_progress), cmocka_unit_test(test_nearly_flat),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_unfused),
        cmocka_unit_test(test_parts),       cmocka_unit_test(test_stiff),
        cmocka_unit_test(test_sums),        cmocka_unit_test(test_pulse),
    };
    static const char *const methods[] = {"dop853", "gauss"};
    int failed = 0;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        method = methods[i];
        failed += cmocka_run_group_tests_name(method, tests, NULL, NULL);
    }
    return failed;
}
