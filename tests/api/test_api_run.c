/* Calculators and simulations of the public interface, as a stranger would use them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "noslip/noslip.h"

static ns_model *open_gallery(const char *name)
{
    ns_model *m = ns_model_open_gallery(name, NULL, NULL, 0);
    assert_int_equal(ns_model_verdict(m), NS_DONE);
    return m;
}

static double *start_of(const ns_model *m)
{
    const size_t n = ns_model_count(m, NS_STATES);
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    ns_model_numbers(m, NS_STATES, x, n);
    return x;
}

/* ---- calculators ------------------------------------------------------------------------- */

/* So many points that threads share them and results go past the caches: the same bits as in
 * two calls by one thread, with parameters for all and for each, wherever the results go. */
static void shared_by_threads(void **state)
{
    (void)state;
    enum { POINTS = 250003, HALF = POINTS / 2, MOST_SHIFT = 3 };
    ns_model *m = open_gallery("rattleback");
    const size_t n = ns_model_count(m, NS_STATES), np = ns_model_count(m, NS_PARAMETERS);
    double *x0 = start_of(m), *x = calloc(POINTS * n, sizeof *x);
    double *p = calloc(POINTS * np, sizeof *p);
    double *alone = calloc(POINTS * n, sizeof *alone),
           *shared = calloc(POINTS * n + MOST_SHIFT, 8);
    for (size_t i = 0; i < POINTS; i++) {
        ns_model_numbers(m, NS_PARAMETERS, p + i * np, np);
        p[i * np] *= 1 + 1e-6 * (double)i;
        for (size_t k = 0; k < n; k++)
            x[i * n + k] = x0[k] + 1e-3 * sin((double)(i * n + k));
    }
    ns_calculator *c = ns_calculator_new(m, "rates");
    for (int many = 0; many < 2; many++) {
        assert_int_equal(ns_calculator_threads(c, 1), NS_DONE);
        for (size_t i = 0; i < POINTS; i += HALF) {
            const size_t points = POINTS - i < HALF ? POINTS - i : HALF;
            ns_calculator_eval(c, points, NULL, 0, x + i * n, p + (many ? i * np : 0),
                               many ? points : 1, alone + i * n);
        }
        for (size_t threads = 0; threads < 8; threads += 3) {
            double *const to = shared + threads / 3 % (MOST_SHIFT + 1);
            memset(to, 0, POINTS * n * sizeof *to);
            assert_int_equal(ns_calculator_threads(c, threads), NS_DONE);
            ns_calculator_eval(c, POINTS, NULL, 0, x, p, many ? POINTS : 1, to);
            assert_memory_equal(alone, to, POINTS * n * sizeof *alone);
        }
    }
    assert_int_equal(ns_calculator_threads(c, 5000), NS_WRONG);
    assert_int_equal(ns_calculator_threads(NULL, 1), NS_FAILED);
    ns_calculator_close(c);
    free(x0);
    free(x);
    free(p);
    free(alone);
    free(shared);
    ns_model_close(m);
}

/* Many points give the same bits as one by one, with one set of parameters and with many. */
static void many_points(void **state)
{
    (void)state;
    enum { POINTS = 1003 };
    const char *what;
    ns_model *m = open_gallery("rattleback");
    const size_t n = ns_model_count(m, NS_STATES), np = ns_model_count(m, NS_PARAMETERS);
    double *x0 = start_of(m), *x = calloc(POINTS * n, sizeof *x), t[POINTS];
    double *p = calloc(POINTS * np, sizeof *p);
    for (size_t i = 0; i < POINTS; i++) {
        t[i] = 0.1 * (double)i;
        ns_model_numbers(m, NS_PARAMETERS, p + i * np, np);
        p[i * np] *= 1 + 1e-3 * (double)i;
        for (size_t k = 0; k < n; k++)
            x[i * n + k] = x0[k] + 1e-3 * sin((double)(i * n + k));
    }
    for (size_t q = 0; (what = ns_list("quantities", q, NULL)) != NULL; q++) {
        ns_calculator *c = ns_calculator_new(m, what);
        assert_int_equal(ns_calculator_verdict(c), NS_DONE);
        const size_t size = ns_calculator_rows(c) * ns_calculator_columns(c);
        double *all = calloc(POINTS * size + 1, sizeof *all), *one = calloc(size + 1, 8);
        for (int many = 0; many < 2; many++) {
            assert_int_equal(
                ns_calculator_eval(c, POINTS, t, POINTS, x, p, many ? POINTS : 1, all),
                NS_DONE);
            for (size_t i = 0; i < POINTS; i += 101) {
                assert_int_equal(ns_calculator_eval(c, 1, t + i, 1, x + i * n,
                                                    p + (many ? i * np : 0), 1, one),
                                 NS_DONE);
                if (size)
                    assert_memory_equal(all + i * size, one, size * sizeof *one);
            }
        }
        free(all);
        free(one);
        ns_calculator_close(c);
    }
    free(x0);
    free(x);
    free(p);
    ns_model_close(m);
}

/* Jacobians against differences of what they are derivatives of. */
static void derivatives(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"rates", "jacobian"},
                                           {"residuals", "residual jacobian"},
                                           {"rates", "parameter jacobian"}};
    ns_model *m = open_gallery("rattleback");
    const size_t n = ns_model_count(m, NS_STATES), np = ns_model_count(m, NS_PARAMETERS);
    double *x = start_of(m), *p = calloc(np + 1, sizeof *p);
    ns_model_numbers(m, NS_PARAMETERS, p, np);
    for (size_t k = 0; k < 3; k++) {
        ns_calculator *f = ns_calculator_new(m, pairs[k][0]);
        ns_calculator *j = ns_calculator_new(m, pairs[k][1]);
        const size_t rows = ns_calculator_rows(j), columns = ns_calculator_columns(j);
        assert_int_equal(rows, ns_calculator_rows(f));
        double *J = calloc(rows * columns + 1, 8), *a = calloc(rows + 1, 8),
               *b = calloc(rows + 1, 8);
        assert_int_equal(ns_calculator_eval(j, 1, NULL, 0, x, p, 1, J), NS_DONE);
        double largest = 1;
        for (size_t i = 0; i < rows * columns; i++)
            largest = fmax(largest, fabs(J[i]));
        for (size_t c = 0; c < columns; c++) {
            double *at = k == 2 ? &p[c] : &x[c];
            const double was = *at, h = 1e-6 * fmax(1, fabs(was));
            *at = was + h;
            ns_calculator_eval(f, 1, NULL, 0, x, p, 1, a);
            *at = was - h;
            ns_calculator_eval(f, 1, NULL, 0, x, p, 1, b);
            *at = was;
            for (size_t r = 0; r < rows; r++) /* h^2 of third derivatives, and rounding / h */
                assert_true(fabs((a[r] - b[r]) / (2 * h) - J[r * columns + c]) <
                            1e-5 * largest);
        }
        free(J);
        free(a);
        free(b);
        ns_calculator_close(f);
        ns_calculator_close(j);
    }
    free(x);
    free(p);
    (void)n;
    ns_model_close(m);
}

static void wrong_calculators(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    double out[200], x[50] = {0};
    ns_calculator *c = ns_calculator_new(m, "nosuch");
    assert_int_equal(ns_calculator_verdict(c), NS_WRONG);
    assert_int_equal(ns_calculator_rows(c), 0);
    assert_int_equal(ns_calculator_columns(c), 0);
    assert_int_equal(ns_calculator_eval(c, 1, NULL, 0, x, NULL, 0, out), NS_WRONG);
    ns_calculator_close(c);
    c = ns_calculator_new(m, "rates");
    assert_int_equal(ns_calculator_eval(c, 3, x, 2, x, NULL, 0, out), NS_WRONG);
    assert_int_equal(ns_calculator_eval(c, 1, NULL, 0, NULL, NULL, 0, out), NS_WRONG);
    assert_int_equal(ns_calculator_eval(c, 0, NULL, 0, NULL, NULL, 0, NULL), NS_DONE);
    ns_calculator_close(c);
    ns_model_close(m);
    c = ns_calculator_new(NULL, "rates");
    assert_int_equal(ns_calculator_verdict(c), NS_FAILED);
    ns_calculator_close(c);
    ns_calculator_close(NULL);
    assert_int_equal(ns_calculator_verdict(NULL), NS_FAILED);
    assert_int_equal(ns_calculator_eval(NULL, 1, NULL, 0, x, NULL, 0, out), NS_FAILED);
}

/* ---- simulations ------------------------------------------------------------------------- */

/* Output times of a run and the same times of a simulation: the same bits, events too. */
static void as_a_run(void **state)
{
    (void)state;
    static const char *const engines[] = {"interpreter", "native", "auto"};
    ns_model *m = open_gallery("rattleback");
    ns_simulate_options o;
    for (size_t e = 0; e < 3; e++) {
        ns_simulate_defaults(&o, sizeof o);
        o.until = 5;
        o.every = 0.25;
        o.engine = engines[e];
        ns_result *r = ns_simulate(m, &o);
        assert_int_equal(ns_result_verdict(r), NS_DONE);
        o.every = 0;
        ns_simulation *s = ns_simulation_new(m, &o);
        assert_int_equal(ns_simulation_verdict(s), NS_DONE);
        size_t events = 0;
        for (size_t i = 0; i < ns_result_rows(r); i++) {
            const double t = ns_result_times(r)[i];
            assert_int_equal(ns_simulation_advance(s, t), NS_DONE);
            assert_true(ns_simulation_time(s) == t);
            const double v = ns_simulation_value(s, "omega.z");
            assert_memory_equal(&v, ns_result_values(r, "omega.z") + i, sizeof v);
            double when;
            int direction;
            for (long k; (k = ns_simulation_event(s, &when, &direction, NULL)) >= 0; events++) {
                assert_string_equal(ns_model_name(m, NS_EVENTS, (size_t)k),
                                    ns_result_event_name(r, events));
                assert_true(when == ns_result_event_time(r, events) && when <= t);
                assert_int_equal(direction, ns_result_event_direction(r, events));
            }
        }
        assert_int_equal(events, ns_result_events(r));
        assert_true(ns_simulation_diagnostic(s, "steps") == ns_result_diagnostic(r, "steps"));
        assert_true(ns_simulation_diagnostic(s, "energy_drift") < 1e-12);
        assert_int_equal(ns_simulation_step(s), NS_WRONG);
        assert_int_equal(ns_simulation_advance(s, 6), NS_WRONG);
        ns_simulation_close(s);
        ns_result_close(r);
    }
    ns_model_close(m);
}

/* Saved, spoilt and restored, it goes on as if nothing had been. */
static void saving(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    ns_simulation *s = ns_simulation_new(m, NULL);
    assert_int_equal(ns_simulation_advance(s, 1.23), NS_DONE);
    const size_t length = ns_simulation_save(s, NULL, 0), n = ns_model_count(m, NS_STATES);
    unsigned char *bytes = malloc(length);
    assert_int_equal(ns_simulation_save(s, bytes, length), length);
    double *x = start_of(m), *y = start_of(m);
    ns_simulation_advance(s, 3);
    ns_simulation_state(s, x);
    assert_int_equal(ns_simulation_set_parameter(s, "m", 3), NS_DONE);
    assert_true(ns_simulation_parameter(s, "m") == 3);
    ns_simulation_advance(s, 4);
    assert_int_equal(ns_simulation_restore(s, bytes, length), NS_DONE);
    assert_true(ns_simulation_parameter(s, "m") != 3);
    assert_true(ns_simulation_time(s) == 1.23);
    ns_simulation_advance(s, 3);
    ns_simulation_state(s, y);
    assert_memory_equal(x, y, n * sizeof *x);
    ns_simulation *other = ns_simulation_new(m, NULL);
    assert_int_equal(ns_simulation_restore(other, bytes, length), NS_DONE);
    ns_simulation_advance(other, 3);
    ns_simulation_state(other, y);
    assert_memory_equal(x, y, n * sizeof *x);
    assert_int_equal(ns_simulation_restore(other, bytes, length - 1), NS_WRONG);
    assert_int_equal(ns_simulation_restore(other, bytes, 3), NS_WRONG);
    for (size_t i = 0; i < length; i++) { /* whatever is damaged, nothing is believed */
        bytes[i] ^= 1;
        assert_int_equal(ns_simulation_restore(other, bytes, length), NS_WRONG);
        bytes[i] ^= 1;
    }
    assert_int_equal(ns_simulation_restore(other, bytes, length), NS_DONE); /* nor changed */
    ns_simulation_advance(other, 3);
    ns_simulation_state(other, y);
    assert_memory_equal(x, y, n * sizeof *x);
    ns_simulation_close(other);
    ns_simulation_close(s);
    ns_model_close(m);
    free(bytes);
    free(x);
    free(y);
}

static void changing(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    const size_t n = ns_model_count(m, NS_STATES);
    ns_simulation *s = ns_simulation_new(m, NULL);
    double *x = start_of(m), *y = start_of(m), *v = calloc(ns_model_count(m, NS_VALUES), 8);
    /* the same start again gives the same motion */
    ns_simulation_advance(s, 0.5);
    ns_simulation_state(s, y);
    assert_int_equal(ns_simulation_set_state(s, 0, x, 0), NS_DONE);
    ns_simulation_advance(s, 0.5);
    double *z = start_of(m);
    ns_simulation_state(s, z);
    assert_memory_equal(y, z, n * sizeof *y);
    /* a state off the manifold is brought back */
    size_t q[4];
    assert_int_equal(ns_model_vector(m, NS_STATES, "quat", q, 4), 4);
    x[q[0]] *= 1.1;
    assert_int_equal(ns_simulation_set_state(s, 1, x, 1), NS_DONE);
    assert_true(ns_simulation_time(s) == 1);
    ns_simulation_state(s, z);
    double norm = 0;
    for (size_t i = 0; i < 4; i++)
        norm += z[q[i]] * z[q[i]];
    assert_true(fabs(norm - 1) < 1e-14);
    /* steps, and states inside the last of them */
    assert_int_equal(ns_simulation_step(s), NS_DONE);
    const double a = ns_simulation_from(s), b = ns_simulation_reached(s);
    assert_true(a == 1 && b > 1 && ns_simulation_time(s) == b);
    assert_int_equal(ns_simulation_state_at(s, (a + b) / 2, z), NS_DONE);
    assert_int_equal(ns_simulation_state_at(s, b + 1, z), NS_WRONG);
    assert_int_equal(ns_simulation_advance(s, (a + b) / 2), NS_DONE);
    assert_int_equal(ns_simulation_state(s, y), NS_DONE);
    assert_int_equal(ns_simulation_state_at(s, (a + b) / 2, z), NS_DONE);
    assert_memory_equal(y, z, n * sizeof *y);
    assert_int_equal(ns_simulation_advance(s, 0.5), NS_WRONG);
    assert_int_equal(ns_simulation_values(s, v), NS_DONE);
    /* what is wrong changes nothing */
    x[0] = NAN;
    assert_int_equal(ns_simulation_set_state(s, 0, x, 0), NS_WRONG);
    assert_int_equal(ns_simulation_set_parameter(s, "nosuch", 1), NS_WRONG);
    assert_true(strlen(ns_simulation_reason(s)) > 0);
    assert_int_equal(ns_simulation_set_parameter(s, "m", NAN), NS_WRONG);
    assert_int_equal(ns_simulation_set_input(s, "u", 1), NS_WRONG);
    ns_model_numbers(m, NS_PARAMETERS, v, ns_model_count(m, NS_PARAMETERS));
    assert_int_equal(ns_simulation_set_parameters(s, v), NS_DONE);
    assert_int_equal(ns_simulation_verdict(s), NS_DONE);
    assert_true(isnan(ns_simulation_value(s, "nosuch")));
    free(x);
    free(y);
    free(z);
    free(v);
    ns_simulation_close(s);
    ns_model_close(m);
}

static int note(void *context, size_t event, double t, int direction, const double *x)
{
    double *seen = context;
    (void)x;
    seen[0] = t;
    seen[1] = (double)event + 10 * direction;
    seen[2]++;
    return 1;
}

static void events(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    ns_simulate_options o;
    ns_simulate_defaults(&o, sizeof o);
    o.until = 20;
    ns_result *r = ns_simulate(m, &o);
    assert_true(ns_result_events(r) > 0);
    ns_simulation *s = ns_simulation_new(m, NULL);
    double seen[3] = {0};
    assert_int_equal(ns_simulation_on_event(s, note, seen), NS_DONE);
    assert_int_equal(ns_simulation_advance(s, 20), NS_DONE);
    assert_true(seen[2] == 1 && seen[0] == ns_result_event_time(r, 0));
    assert_true(ns_simulation_time(s) == seen[0]);
    assert_true(fabs(ns_simulation_value(s, "omega.z")) < 1e-12); /* a reversal */
    while (ns_simulation_time(s) < 20)
        assert_int_equal(ns_simulation_advance(s, 20), NS_DONE);
    assert_true(seen[2] == (double)ns_result_events(r));
    ns_simulation_close(s);
    ns_result_close(r);
    ns_model_close(m);
}

static void refusals(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    ns_simulate_options o;
    for (int i = 0; i < 5; i++) {
        ns_simulate_defaults(&o, sizeof o);
        o.every = i == 0;
        o.method = i == 1 ? "auto" : i == 2 ? "nosuch" : i == 3 ? "quad" : NULL;
        o.engine = i == 4 ? "nosuch" : NULL;
        ns_simulation *s = ns_simulation_new(m, &o);
        double x[50];
        assert_int_equal(ns_simulation_verdict(s), NS_WRONG);
        assert_true(strlen(ns_simulation_reason(s)) > 0);
        assert_int_equal(ns_simulation_step(s), NS_WRONG);
        assert_int_equal(ns_simulation_advance(s, 1), NS_WRONG);
        assert_int_equal(ns_simulation_state(s, x), NS_WRONG);
        assert_int_equal(ns_simulation_save(s, NULL, 0), 0);
        assert_true(isnan(ns_simulation_time(s)));
        ns_simulation_close(s);
    }
    ns_model_close(m);
    assert_int_equal(ns_simulation_step(NULL), NS_FAILED);
    assert_int_equal(ns_simulation_advance(NULL, 1), NS_FAILED);
    assert_int_equal(ns_simulation_verdict(NULL), NS_FAILED);
    assert_int_equal(ns_simulation_event(NULL, NULL, NULL, NULL), -1);
    assert_int_equal(ns_simulation_set_input(NULL, "u", 1), NS_FAILED);
    ns_simulation_close(NULL);
}

/* ---- threads ----------------------------------------------------------------------------- */

typedef struct worker {
    ns_model *model;
    pthread_t thread;
    double sum;
} worker;

static void *work(void *context)
{
    worker *w = context;
    const char *name = "m", *value = "1.5";
    const double T = 1;
    ns_simulate_options o;
    ns_simulate_defaults(&o, sizeof o);
    o.until = T;
    o.engine = "native";
    for (int i = 0; i < 3; i++) {
        ns_result *r = ns_simulate(w->model, &o);
        w->sum += ns_result_final(r, "omega.z");
        ns_result_close(r);
        ns_simulation *s = ns_simulation_new(w->model, NULL);
        ns_simulation_advance(s, T / 2);
        w->sum += ns_simulation_value(s, "omega.x");
        ns_simulation_close(s);
        ns_model *v = ns_model_variant(w->model, &name, &value, 1);
        r = ns_simulate(v, &o);
        w->sum += ns_result_final(r, "omega.z");
        ns_result_close(r);
        ns_calculator *c = ns_calculator_new(v, "jacobian");
        double x[30], J[900];
        ns_model_numbers(v, NS_STATES, x, 30);
        ns_calculator_eval(c, 1, NULL, 0, x, NULL, 0, J);
        w->sum += J[5];
        ns_calculator_close(c);
        ns_model_close(v);
        w->sum += (double)ns_model_message_count(w->model);
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    worker w[THREADS + 1];
    ns_model *m = open_gallery("rattleback");
    for (int i = 0; i <= THREADS; i++)
        w[i] = (worker){.model = m};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(w[i].thread, NULL);
    work(&w[THREADS]);
    for (int i = 0; i < THREADS; i++)
        assert_memory_equal(&w[i].sum, &w[THREADS].sum, sizeof w[i].sum);
    assert_true(isfinite(w[0].sum));
    ns_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_points), cmocka_unit_test(shared_by_threads),
        cmocka_unit_test(derivatives), cmocka_unit_test(wrong_calculators),
        cmocka_unit_test(as_a_run),    cmocka_unit_test(saving),
        cmocka_unit_test(changing),    cmocka_unit_test(events),
        cmocka_unit_test(refusals),    cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
