/* Checkpoints: the same bits after a restart, and a message for everything that does not
 * fit. */
#include "ode/test_ode_models.h"

static const char *const exact_ones[] = {"gauss", "taylor", "dop853"};

/* The motion of a sleigh with everything a run can have: events, invariants,
 * constraints that are projected, observables, parameters. */
static model full_model(void)
{
    model m = model_sleigh();
    ns_graph *g = m.g;
    const ns_ex k = model_param(&m, "k", 0.25);
    model_event(&m, "middle", m.x[0], 0, NS_EVENT_RECORD);
    model_event(&m, "quarter", ns_sub(g, ns_sin(g, m.x[4]), k), +1, NS_EVENT_WARN);
    model_event(&m, "far", ns_sub(g, m.t, ns_number(g, 70)), 0, NS_EVENT_STOP);
    model_observe(&m, "u", ns_mul(g, k, ns_sub(g, m.x[3], m.x[1])));
    const ns_ex I = ns_add(g, ns_one(g), ns_mul(g, m.x[0], m.x[0]));
    model_invariant(&m, "spin", ns_div(g, m.x[2], I));
    model_constraint(&m, "none", ns_sub(g, m.x[0], m.x[0]), false);
    return m;
}

typedef struct record {
    double t, x[7], values[12];
    uint64_t steps, rejected, evaluations;
    uint32_t n_events;
    ns_occurrence events[256];
    double states[256 * 7];
    ns_status status;
} record;

static void take(ns_run *run, record *r)
{
    memset(r, 0, sizeof *r);
    const ns_outcome *out = ns_run_outcome(run);
    r->t = out->t;
    memcpy(r->x, ns_run_state(run), sizeof r->x);
    const double values[] = {out->smallest_step,     out->largest_step,     out->drift[0],
                             out->residual[0],       out->energy_first,     out->energy_last,
                             out->observable_min[0], out->observable_max[0]};
    memcpy(r->values, values, sizeof values);
    r->steps = out->steps;
    r->rejected = out->rejected;
    r->evaluations = out->evaluations;
    r->n_events = out->n_events;
    r->status = out->status;
    assert_true(out->n_events <= 256);
    for (uint32_t i = 0; i < out->n_events; i++) {
        r->events[i].event = out->events[i].event;
        r->events[i].direction = out->events[i].direction;
        r->events[i].t = out->events[i].t;
    }
    memcpy(r->states, out->event_states, out->n_events * sizeof r->x);
}

static unsigned char *save(const ns_run *run, size_t *size)
{
    *size = ns_run_save_size(run);
    unsigned char *bytes = malloc(*size);
    assert_non_null(bytes);
    ns_run_save(run, bytes);
    return bytes;
}

/* A run at time t, which is then gone. */
static unsigned char *saved_at(model *m, const ns_run_options *o, double t, size_t *size)
{
    ns_run *run = model_run(m, o);
    assert_int_equal(ns_run_to(run, t), NS_OK);
    unsigned char *bytes = save(run, size);
    ns_run_free(run);
    return bytes;
}

/* Interrupted after every few steps, the run ends with the same bits as one without. */
static void test_same_bits(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++)
        for (int every = 1; every <= 13; every += 4) {
            model m = full_model();
            const ns_run_options o = model_options(exact_ones[k], 60, k == 2 ? 1e-10 : 0);
            ns_run *run = model_run(&m, &o);
            ns_run_to(run, 60);
            static record straight, pieces;
            take(run, &straight);
            assert_true(straight.n_events > 15);
            ns_run_free(run);

            run = model_run(&m, &o);
            while (run) {
                ns_status status = NS_OK;
                for (int i = 0; i < every && status == NS_OK && ns_run_time(run) < 60; i++)
                    status = ns_run_step(run);
                size_t size;
                unsigned char *bytes = save(run, &size);
                const bool done = status != NS_OK || ns_run_time(run) == 60;
                ns_run_free(run);
                run = model_run(&m, &o);
                const char *message;
                assert_int_equal(ns_run_restore(run, bytes, size, &message), NS_OK);
                /* saved again at once: the same bytes */
                size_t again_size;
                unsigned char *again = save(run, &again_size);
                assert_int_equal(again_size, size);
                assert_memory_equal(again, bytes, size);
                free(again);
                free(bytes);
                if (done)
                    break;
            }
            take(run, &pieces);
            assert_memory_equal(&straight, &pieces, sizeof straight);
            ns_run_free(run);
            model_free(&m);
        }
}

/* Dense output of the last step survives, too. */
static void test_dense(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        model m = full_model();
        const ns_run_options o = model_options(exact_ones[k], 60, 0);
        ns_run *run = model_run(&m, &o), *other = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 7), NS_OK);
        size_t size;
        unsigned char *bytes = save(run, &size);
        const char *message;
        assert_int_equal(ns_run_restore(other, bytes, size, &message), NS_OK);
        double x[7], y[7];
        ns_run_state_at(run, 7, x);
        ns_run_state_at(other, 7, y);
        assert_memory_equal(x, y, sizeof x);
        free(bytes);
        ns_run_free(run);
        ns_run_free(other);
        model_free(&m);
    }
}

/* A stop that was final stays; an interrupt and a limit on steps do not. */
static void test_stopped(void **state)
{
    (void)state;
    model m = full_model();
    ns_run_options o = model_options("gauss", 1000, 0);
    ns_run *run = model_run(&m, &o);
    assert_int_equal(ns_run_to(run, 1000), NS_STOP_EVENT);
    const double end = ns_run_time(run);
    size_t size;
    unsigned char *bytes = save(run, &size);
    ns_run_free(run);
    run = model_run(&m, &o);
    const char *message;
    assert_int_equal(ns_run_restore(run, bytes, size, &message), NS_OK);
    assert_int_equal(ns_run_step(run), NS_STOP_EVENT);
    assert_non_null(strstr(ns_run_outcome(run)->reason, "far"));
    assert_true(ns_run_time(run) == end);
    free(bytes);
    ns_run_free(run);

    o.max_steps = 5;
    run = model_run(&m, &o);
    assert_int_equal(ns_run_to(run, 1000), NS_STOP_LIMIT);
    bytes = save(run, &size);
    ns_run_free(run);
    o.max_steps = 0;
    run = model_run(&m, &o);
    assert_int_equal(ns_run_restore(run, bytes, size, &message), NS_OK);
    assert_int_equal(ns_run_to(run, 1000), NS_STOP_EVENT);
    assert_true(ns_run_time(run) == end);
    free(bytes);
    ns_run_free(run);
    model_free(&m);
}

/* CVODE restarts from the state: the same motion to its tolerance. */
static void test_cvode(void **state)
{
    (void)state;
    static const char *const names[] = {"bdf", "adams"};
    for (int k = 0; k < 2; k++) {
        model m = model_oscillator();
        const ns_run_options o = model_options(names[k], 20, 1e-10);
        ns_run *run = model_run(&m, &o), *other = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 7), NS_OK);
        size_t size;
        unsigned char *bytes = save(run, &size);
        const char *message;
        assert_int_equal(ns_run_restore(other, bytes, size, &message), NS_OK);
        assert_true(ns_run_time(other) == ns_run_time(run));
        assert_int_equal(ns_run_to(run, 20), NS_OK);
        assert_int_equal(ns_run_to(other, 20), NS_OK);
        assert_true(fabs(ns_run_state(run)[0] - ns_run_state(other)[0]) < 1e-6);
        assert_true(fabs(ns_run_state(other)[0] - cos(20)) < 1e-6);
        free(bytes);
        ns_run_free(run);
        ns_run_free(other);
        model_free(&m);
    }
}

/* What does not belong together is told apart, in words. */
static void test_mismatch(void **state)
{
    (void)state;
    model m = full_model();
    const ns_run_options o = model_options("gauss", 60, 0);
    size_t size;
    unsigned char *bytes = saved_at(&m, &o, 30, &size);

    static const char *const expected[] = {"method",        "tolerance",  "options",
                                           "after the end", "parameters", "model"};
    for (int c = 0; c < 6; c++) {
        model other = full_model();
        ns_run_options p = o;
        if (c == 0)
            p.method = "taylor";
        else if (c == 1)
            p.tolerance = 1e-9;
        else if (c == 2)
            p.project = false;
        else if (c == 3)
            p.until = 10;
        else if (c == 4)
            other.value[0] = 0.26;
        else
            model_rate(&other, 0, ns_neg(other.g, other.x[1]));
        ns_run *run = model_run(&other, &p);
        const char *message;
        assert_int_equal(ns_run_restore(run, bytes, size, &message), NS_ERR_USAGE);
        assert_non_null(strstr(message, expected[c]));
        /* the run that refused is as good as new */
        assert_true(ns_run_time(run) == 0);
        assert_int_equal(ns_run_step(run), NS_OK);
        ns_run_free(run);
        model_free(&other);
    }
    free(bytes);
    model_free(&m);
}

/* Damaged bytes: every single byte changed, every length: a message, no crash. */
static void test_damaged(void **state)
{
    (void)state;
    model m = full_model();
    const ns_run_options o = model_options("gauss", 60, 0);
    size_t size;
    unsigned char *bytes = saved_at(&m, &o, 10, &size);
    ns_run *run = model_run(&m, &o);
    const char *message;
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x55;
        assert_int_equal(ns_run_restore(run, bytes, size, &message), NS_ERR_USAGE);
        assert_true(strlen(message) > 10);
        bytes[i] ^= 0x55;
    }
    for (size_t length = 0; length < size; length += length < 400 ? 1 : 97) {
        unsigned char *copy = malloc(length + 1); /* exact size: the sanitizer watches */
        assert_non_null(copy);
        memcpy(copy, bytes, length);
        assert_int_equal(ns_run_restore(run, copy, length, &message), NS_ERR_USAGE);
        free(copy);
    }
    assert_int_equal(ns_run_restore(run, bytes, size, &message), NS_OK);
    free(bytes);
    ns_run_free(run);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits), cmocka_unit_test(test_dense),
        cmocka_unit_test(test_stopped),   cmocka_unit_test(test_cvode),
        cmocka_unit_test(test_mismatch),  cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
