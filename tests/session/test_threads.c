/* One model, shared by eight threads at once: runs by the interpreter and by native code,
 * starts with other parameters, variants, rates and Jacobians, exact starts, rows of a sweep.
 * What each of them gets is, to the bit, what one thread alone gets from a model of its own.
 * The `tsan` preset looks for races in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/pool.h"
#include "session/record.h"
#include "session/start.h"
#include "session/variant.h"
#include "study/sweeps/sweep_run.h"
#include "support/motion.h"

enum { THREADS = 8, MOST = 4000 };

typedef struct subject {
    const char *name, *parameter;
    double low, high; /* of the parameter */
    double until;
} subject;

/* Formulations with starts of every kind: guesses that add expressions, constraints to
 * solve. */
static const subject subjects[] = {
    {"rattleback", "a", 0.19, 0.21, 0.05},
    {"chaplygin-sleigh", "m", 0.5, 2, 0.2},
    {"sphere-one-particle", "r", 0.055, 0.065, 0.02},
    {"snakeboard", "m", 5, 7, 0.05},
    {"falling-disk", "m", 1, 2, 0.02},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* Numbers that a thread has found, in the order of its work. */
typedef struct tally {
    double at[MOST];
    size_t n;
} tally;

static void note(tally *t, const double *values, size_t n)
{
    assert_true(t->n + n <= MOST);
    memcpy(t->at + t->n, values, n * sizeof *values);
    t->n += n;
}

static void run_one(ns_model *model, const char *method, double until, tally *t)
{
    ns_run_options options = ns_model_run_options(model);
    options.method = method;
    options.until = until;
    options.tolerance = 0;
    ns_status status;
    const char *message;
    const ns_problem *problem = ns_model_problem_for(model, ns_method_find(method));
    ns_run *run = ns_run_new(problem, &options, model->p, model->x0, &status, &message);
    assert_non_null(run);
    assert_int_equal(ns_run_to(run, until), NS_OK);
    note(t, ns_run_state(run), problem->n);
    note(t, &ns_run_outcome(run)->energy_drift, 1);
    ns_run_free(run);
}

static void eval(const ns_program *program, const ns_model *model, tally *t)
{
    double *work = calloc(ns_program_work1(program) + 1, sizeof *work);
    double *out = calloc(ns_program_nout(program) + 1, sizeof *out);
    assert_true(work && out);
    ns_program_bind1(program, work, model->p);
    ns_program_eval1(program, work, 0, model->x0, out);
    note(t, out, ns_program_nout(program));
    free(work);
    free(out);
}

/* Rates, Jacobian and projection by the graph of a fork, and the same by programs. */
static void look(ns_model *model, tally *t)
{
    ns_arena *arena = ns_arena_new();
    ns_system *own = ns_system_fork(model->shared, arena);
    const uint32_t n = own->states.n;
    double *rate = NS_NEW_ARRAY(arena, double, n + 1);
    double *x = ns_arena_copy(arena, model->x0, n * sizeof *x);
    ns_system_eval(own, ns_system_state_rates(own, arena), n, 0, model->p, x, rate);
    note(t, rate, n);
    for (uint32_t i = 0; i < n; i++)
        x[i] += 1e-3 * (i + 1);
    const double projected = ns_system_project(own, 0, model->p, x);
    note(t, &projected, 1);
    note(t, x, n);
    const double drift = own->energy
                             ? ns_system_drift_rate(own, own->energy, model->p, model->x0)
                             : 0;
    note(t, &drift, 1);
    eval(model->problem->rhs, model, t);
    eval(ns_model_problem(model, true)->jacobian, model, t);
    ns_arena_free(arena);
}

static void start_many(const ns_model *model, const subject *s, tally *t)
{
    enum { STARTS = 5 };
    ns_arena *arena = ns_arena_new();
    const char *message = "";
    ns_starter *starter = ns_starter_new(arena, model->shared, 0, &s->parameter, 1, &message);
    if (!starter)
        fail_msg("%s: %s", s->name, message);
    const uint32_t np = model->description->params.n, n = model->system->states.n;
    double *p = NS_NEW_ARRAY(arena, double, np + 1), *x = NS_NEW_ARRAY(arena, double, n + 1);
    for (int k = 0; k < STARTS; k++) {
        const double value = s->low + (s->high - s->low) * k / (STARTS - 1);
        char reason[200];
        if (!ns_starter_find(starter, &value, p, x, reason, sizeof reason))
            fail_msg("%s: %s", s->name, reason);
        note(t, p, np);
        note(t, x, n);
    }
    ns_arena_free(arena);
}

/* Another thread reads its expression in the scope of the same model. */
static void vary(ns_model *model, const subject *s, tally *t)
{
    char text[80];
    snprintf(text, sizeof text, "%.17g + (%.17g)/3", s->low, s->high - s->low);
    const ns_variant_value value = {.name = s->parameter, .expression = text};
    ns_model *variant = ns_variant_new(model, &value, 1);
    assert_non_null(variant);
    if (variant->status != NS_OK)
        fail_msg("%s: %s", s->name, variant->messages);
    note(t, variant->x0, variant->system->states.n);
    run_one(variant, "gauss", s->until, t);
    ns_model_free(variant);
}

static void sweep_rows(const ns_sweep *sweep, tally *t)
{
    char message[300];
    const uint32_t rows = (uint32_t)sweep->plan.rows;
    char *records = malloc(rows * sweep->record);
    assert_non_null(records);
    assert_int_equal(ns_sweep_rows(sweep, 0, rows, records, message, sizeof message), NS_OK);
    for (uint32_t i = 0; i < rows; i++)
        note(t, (const double *)(records + i * sweep->record), sweep->n_axes + sweep->n_gets);
    free(records);
}

/* ---- all of it, by one thread and by many ------------------------------------------------ */

typedef struct shared {
    const subject *subject;
    ns_model *model;
    ns_arena *arena; /* of the sweep */
    ns_sweep *sweep;
    tally *tallies; /* [THREADS] */
    uint32_t next;
    pthread_mutex_t lock;
} shared;

static void work_through(const shared *q, tally *t)
{
    char message[300];
    run_one(q->model, "gauss", q->subject->until, t);
    start_many(q->model, q->subject, t);
    look(q->model, t);
    vary(q->model, q->subject, t);
    /* other threads are under way, with the interpreter */
    ns_problem_native(q->model->problem, ns_method_find("gauss")->lanes, message,
                      sizeof message, NULL);
    run_one(q->model, "gauss", q->subject->until, t);
    run_one(q->model, "dop853", q->subject->until, t);
    const ns_exact *exact = ns_model_exact(q->model, false);
    assert_non_null(exact);
    note(t, exact->x_lo, q->model->system->states.n);
    sweep_rows(q->sweep, t);
}

static void work(void *context)
{
    shared *q = context;
    pthread_mutex_lock(&q->lock);
    tally *t = &q->tallies[q->next++];
    pthread_mutex_unlock(&q->lock);
    work_through(q, t);
}

static shared shared_new(const subject *s)
{
    enum { ROWS = 6 };
    shared q = {.subject = s, .model = motion_model_file(s->name, NULL)};
    q.arena = ns_arena_new();
    q.tallies = calloc(THREADS, sizeof *q.tallies);
    assert_true(q.model && q.arena && q.tallies);
    pthread_mutex_init(&q.lock, NULL);
    ns_sweep_spec spec = {.system = q.model->system, .run = ns_model_run_options(q.model)};
    spec.run.until = s->until;
    spec.run.method = "dop853";
    NS_PUSH(q.arena, spec.plan.axes,
            (ns_plan_axis){.name = s->parameter,
                           .kind = NS_PLAN_GRID,
                           .low = s->low,
                           .high = s->high,
                           .n = ROWS});
    assert_null(ns_plan_settle(q.arena, &spec.plan));
    const char *message = "";
    q.sweep = ns_sweep_new(q.arena, &spec, &message);
    if (!q.sweep)
        fail_msg("%s: %s", s->name, message);
    return q;
}

static void shared_free(shared *q)
{
    pthread_mutex_destroy(&q->lock);
    free(q->tallies);
    ns_arena_free(q->arena);
    ns_model_free(q->model);
}

static void threads_get_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++) {
        shared alone = shared_new(&subjects[i]), q = shared_new(&subjects[i]);
        work_through(&alone, &alone.tallies[0]);
        ns_pool *pool = ns_pool_start(THREADS, work, &q);
        assert_non_null(pool);
        assert_int_equal(ns_pool_size(pool), THREADS);
        ns_pool_free(pool);
        assert_int_equal(q.next, THREADS);
        const tally *expected = &alone.tallies[0];
        assert_true(expected->n > 50);
        for (int k = 0; k < THREADS; k++) {
            assert_int_equal(q.tallies[k].n, expected->n);
            assert_memory_equal(q.tallies[k].at, expected->at,
                                expected->n * sizeof *expected->at);
        }
        shared_free(&alone);
        shared_free(&q);
    }
}

/* ---- a sweep on its own threads ---------------------------------------------------------- */

enum { ROWS = 40 };

typedef struct rows {
    const ns_sweep *sweep;
    char *records;
    unsigned char put[ROWS];
    pthread_mutex_t lock;
} rows;

static int put(void *context, uint64_t first, uint32_t count, const void *records)
{
    rows *r = context;
    pthread_mutex_lock(&r->lock);
    memcpy(r->records + first * r->sweep->record, records, count * r->sweep->record);
    for (uint32_t i = 0; i < count; i++)
        r->put[first + i]++;
    pthread_mutex_unlock(&r->lock);
    return 0;
}

static void sweep_is_the_same(void **state)
{
    (void)state;
    shared q = shared_new(&subjects[0]);
    q.sweep->plan.axes.at[0].n = ROWS;
    assert_null(ns_plan_settle(q.arena, &q.sweep->plan));
    char *first = NULL;
    for (uint32_t threads = 1; threads <= THREADS; threads += THREADS - 1) {
        rows r = {.sweep = q.sweep, .records = ns_arena_alloc(q.arena, ROWS * q.sweep->record)};
        pthread_mutex_init(&r.lock, NULL);
        const ns_sweep_sink sink = {.context = &r, .put = put};
        const ns_sweep_run_options options = {.threads = threads,
                                              .engine = threads > 1 ? NS_ENGINE_NATIVE
                                                                    : NS_ENGINE_INTERPRETER};
        ns_sweep_outcome outcome;
        assert_int_equal(ns_sweep_run(q.sweep, &sink, &options, &outcome), NS_OK);
        assert_int_equal(outcome.computed, ROWS);
        for (int i = 0; i < ROWS; i++)
            assert_int_equal(r.put[i], 1);
        if (first)
            assert_memory_equal(first, r.records, ROWS * q.sweep->record);
        first = r.records;
        pthread_mutex_destroy(&r.lock);
    }
    shared_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_get_the_same_bits),
        cmocka_unit_test(sweep_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
