/* Fits: made-up measurements with known noise give back what they were made with, within the
 * errors that are stated; what cannot be told apart is named. */
#include <math.h>
#include <string.h>

#include "expr/eval.h"
#include "study/fit/fit.h"
#include "support/motion.h"

enum { ROWS = 40 };

typedef struct made {
    ns_series series;
    ns_series_column column[4];
    double t[ROWS], y[3][ROWS];
} made;

static double noise(uint64_t *seed)
{
    const double a = ns_eval_random(seed), b = ns_eval_random(seed);
    return sqrt(-2 * log(1 - a)) * cos(6.283185307179586 * b);
}

/* Values of the model from t = first on, ROWS of them. */
static void measure(made *m, ns_model *model, const char *const *names, uint32_t n,
                    double first, double last)
{
    motion run = motion_begin(model, NULL);
    memset(m, 0, sizeof *m);
    m->series.path = "made";
    m->series.rows = ROWS;
    m->series.t = m->t;
    m->series.columns.at = m->column;
    m->series.columns.n = n + 1;
    m->column[0] = (ns_series_column){"t", m->t};
    for (uint32_t c = 0; c < n; c++)
        m->column[c + 1] = (ns_series_column){names[c], m->y[c]};
    for (int k = 0; k < ROWS; k++) {
        m->t[k] = first + (last - first) * k / (ROWS - 1);
        motion_to(&run, m->t[k]);
        for (uint32_t c = 0; c < n; c++)
            m->y[c][k] = motion_get(&run, names[c]);
    }
    motion_close(&run); /* with the model */
}

static ns_fit_spec spec_of(const ns_model *model, const made *m, const char *const *names,
                           uint32_t n, ns_fit_column *columns, uint32_t n_columns)
{
    static const double low[] = {-INFINITY, -INFINITY, -INFINITY};
    static const double high[] = {INFINITY, INFINITY, INFINITY};
    ns_fit_spec spec = {.names = names,
                        .low = low,
                        .high = high,
                        .n = n,
                        .columns = columns,
                        .n_columns = n_columns,
                        .data = &m->series,
                        .experiments = 1,
                        .run = ns_model_run_options(model)};
    spec.run.tolerance = 1e-12;
    return spec;
}

static const char oscillator[] = "param m = 2, k = 8, c = 0.3, x0 = 1\n"
                                 "state x' = v, v' = -(k*x + c*v)/m\n"
                                 "start { x = x0; v = 0 }\nrun { until 3 }\n";

/* Without noise: to the digits of the runs; with starts, an offset of the clock, and bounds. */
static void exact(void **state)
{
    (void)state;
    static made data;
    const char *const seen[] = {"x", "v"};
    measure(&data, motion_model_text(oscillator, "k=9; c=0.5; x0=1.2"), seen, 2, 0, 3);
    ns_arena *arena = ns_arena_new();
    ns_model *model = motion_model_text(oscillator, NULL);
    ns_fit_column columns[] = {{"x", 0}, {"v", 0}};
    const char *const names[] = {"k", "c", "start.x"};
    ns_fit_spec spec = spec_of(model, &data, names, 3, columns, 2);
    const ns_fit *f = ns_fit_run(arena, model, &spec);
    assert_int_equal(f->status, NS_OK);
    assert_int_equal(f->rank, 3);
    assert_true(fabs(f->value[0] - 9) < 1e-9 && fabs(f->value[1] - 0.5) < 1e-9);
    assert_true(fabs(f->value[2] - 1.2) < 1e-9);

    const double low[] = {0, 0, 0}, high[] = {8.5, 10, 10};
    spec.low = low;
    spec.high = high;
    f = ns_fit_run(arena, model, &spec);
    assert_int_equal(f->status, NS_OK);
    assert_true(f->value[0] == 8.5 && f->bound[0] && !f->bound[1]);
    ns_model_free(model);
    ns_arena_free(arena);
}

static void offset(void **state)
{
    (void)state;
    static made data;
    const char *const seen[] = {"x"}, *const names[] = {"k"};
    measure(&data, motion_model_text(oscillator, "k=9"), seen, 1, 0.5, 3);
    for (int k = 0; k < ROWS; k++)
        data.t[k] -= 0.07; /* the clock was late */
    ns_arena *arena = ns_arena_new();
    ns_model *model = motion_model_text(oscillator, NULL);
    ns_fit_column columns[] = {{"x", 0.01}};
    ns_fit_spec spec = spec_of(model, &data, names, 1, columns, 1);
    spec.offset = true;
    const ns_fit *f = ns_fit_run(arena, model, &spec);
    assert_int_equal(f->status, NS_OK);
    assert_int_equal(f->n, 2);
    assert_true(fabs(f->value[0] - 9) < 1e-8 && fabs(f->value[1] - 0.07) < 1e-8);
    ns_model_free(model);
    ns_arena_free(arena);
}

/* Only the ratio of stiffness and mass matters. */
static void not_told_apart(void **state)
{
    (void)state;
    static made data;
    const char *const seen[] = {"x"}, *const names[] = {"m", "k"};
    measure(&data, motion_model_text(oscillator, "k=9; c=0"), seen, 1, 0, 3);
    ns_arena *arena = ns_arena_new();
    ns_model *model = motion_model_text(oscillator, "c=0");
    ns_fit_column columns[] = {{"x", 0.01}};
    const ns_fit_spec spec = spec_of(model, &data, names, 2, columns, 1);
    const ns_fit *f = ns_fit_run(arena, model, &spec);
    assert_int_equal(f->status, NS_OK);
    assert_int_equal(f->rank, 1);
    assert_string_equal(f->combination[0], "m, k in the proportion 1 : 1");
    assert_true(isnan(f->error[0]) && isnan(f->error[1]));
    assert_true(fabs(f->value[1] / f->value[0] - 4.5) < 1e-8);
    ns_model_free(model);
    ns_arena_free(arena);
}

/* A rattleback with noise, a hundred times: a value lies within 1.96 errors in 95 of 100; fewer
 * than 89 or a mean of the squares far from 1 would be a fault (three standard deviations). */
static void errors_hold(void **state)
{
    (void)state;
    enum { TRIALS = 100 };
    static made data, noisy;
    const double sigma = 0.02, truth[] = {0.2, 0.03};
    const char *const seen[] = {"omega.x", "omega.y", "omega.z"}, *const names[] = {"a", "b"};
    measure(&data, motion_model_file("rattleback", NULL), seen, 3, 0, 0.6);
    ns_fit_column columns[] = {{"omega.x", sigma}, {"omega.y", sigma}, {"omega.z", sigma}};
    uint64_t seed = 1982;
    uint32_t within[2] = {0};
    double squares[2] = {0};
    for (int trial = 0; trial < TRIALS; trial++) {
        ns_arena *arena = ns_arena_new();
        ns_model *model = motion_model_file("rattleback", "a=0.201; b=0.0301");
        noisy = data;
        noisy.series.t = noisy.t;
        noisy.series.columns.at = noisy.column;
        noisy.column[0].value = noisy.t;
        for (int c = 0; c < 3; c++) {
            noisy.column[c + 1].value = noisy.y[c];
            for (int k = 0; k < ROWS; k++)
                noisy.y[c][k] += sigma * noise(&seed);
        }
        ns_fit_spec spec = spec_of(model, &noisy, names, 2, columns, 3);
        spec.run.tolerance = 1e-10;
        const ns_fit *f = ns_fit_run(arena, model, &spec);
        assert_int_equal(f->status, NS_OK);
        for (int i = 0; i < 2; i++) {
            const double z = (f->value[i] - truth[i]) / f->error[i];
            within[i] += fabs(z) < 1.96;
            squares[i] += z * z / TRIALS;
        }
        ns_model_free(model);
        ns_arena_free(arena);
    }
    print_message("within: %u, %u of %d; mean squares %.3f, %.3f\n", within[0], within[1],
                  TRIALS, squares[0], squares[1]);
    for (int i = 0; i < 2; i++) {
        assert_true(within[i] >= 89);
        assert_true(fabs(squares[i] - 1) < 3 * sqrt(2.0 / TRIALS));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact),
        cmocka_unit_test(offset),
        cmocka_unit_test(not_told_apart),
        cmocka_unit_test(errors_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
