/* taylor: order, dense output, kinks, round-off. */
#include <float.h>

#include "ode/test_ode_models.h"

/* Largest error of states read between steps, against a closed form. */
static double between(model *m, double tolerance, double until,
                      void (*exact)(double t, double *x))
{
    const ns_run_options o = model_options("taylor", until, tolerance);
    ns_run *run = model_run(m, &o);
    double worst = 0;
    for (int i = 1; i <= 777; i++) {
        double x[8], y[8] = {0};
        const double t = until * i / 777;
        assert_int_equal(ns_run_to(run, t), NS_OK);
        ns_run_state_at(run, t, x);
        exact(t, y);
        for (uint32_t k = 0; k < m->problem->n; k++)
            worst = fmax(worst, fabs(x[k] - y[k]));
    }
    ns_run_free(run);
    return worst;
}

static void circle(double t, double *x)
{
    x[0] = cos(t);
    x[1] = -sin(t);
}

/* The series is the dense output: between steps as good as at them, at every tolerance. */
static void test_dense(void **state)
{
    (void)state;
    model m = model_oscillator();
    assert_true(between(&m, 0, 50, circle) < 1e-14);
    for (int digits = 4; digits <= 12; digits += 4)
        assert_true(between(&m, pow(10, -digits), 50, circle) < 100 * pow(10, -digits));
    model_free(&m);
}

/* tanh: logistic equation x' = 1 - x^2, poles at i pi/2: a radius of convergence to respect. */
static void tangent(double t, double *x)
{
    x[0] = tanh(t);
}

static void test_poles(void **state)
{
    (void)state;
    model m = model_new();
    const ns_ex x = model_state(&m, "x", 0);
    model_rate(&m, 0, ns_sub(m.g, ns_one(m.g), ns_mul(m.g, x, x)));
    assert_true(between(&m, 0, 10, tangent) < 1e-15);
    /* about e^-2 of the distance to the poles, |t + i pi/2| */
    const ns_run_options o = model_options("taylor", 1, 0);
    ns_run *run = model_run(&m, &o);
    assert_int_equal(ns_run_step(run), NS_OK);
    assert_true(ns_run_time(run) > 0.1 * M_PI / 2 && ns_run_time(run) < 0.25 * M_PI / 2);
    ns_run_free(run);
    model_free(&m);
}

/* A polynomial is one step. */
static void test_polynomial(void **state)
{
    (void)state;
    model m = model_new();
    ns_graph *g = m.g;
    model_state(&m, "x", 1);
    model_rate(&m, 0, ns_sub(g, ns_mul(g, ns_number(g, 3), ns_mul(g, m.t, m.t)), ns_one(g)));
    const ns_run_options o = model_options("taylor", 100, 0);
    ns_run *run = model_run(&m, &o);
    assert_int_equal(ns_run_to(run, 100), NS_OK);
    assert_int_equal(ns_run_outcome(run)->steps, 1);
    assert_true(ns_run_state(run)[0] == 1e6 - 100 + 1);
    ns_run_free(run);
    model_free(&m);
}

/* The series cannot see a kink ahead; the check at the end of the step does.
 * x' = |q - 1|, q' = 1: x = (1 + |t - 1| (t - 1)) / 2. */
static void test_kink(void **state)
{
    (void)state;
    model m = model_new();
    ns_graph *g = m.g;
    model_state(&m, "x", 0);
    const ns_ex q = model_state(&m, "q", 0);
    model_rate(&m, 0, ns_abs(g, ns_sub(g, q, ns_one(g))));
    model_rate(&m, 1, ns_one(g));
    const ns_run_options o = model_options("taylor", 3, 1e-12);
    ns_run *run = model_run(&m, &o);
    assert_int_equal(ns_run_to(run, 3), NS_OK);
    assert_true(fabs(ns_run_state(run)[0] - 2.5) < 1e-8);
    assert_true(ns_run_outcome(run)->rejected > 5);
    ns_run_free(run);
    model_free(&m);
}

/* Fixed steps at a given order: the error falls with the power of the order. */
static void test_order(void **state)
{
    (void)state;
    double error[2], expected = 0;
    for (int i = 0; i < 2; i++) {
        model m = model_pendulum(2, 0);
        ns_run_options o = model_options("gauss", 5, 0);
        ns_run *exact = model_run(&m, &o);
        assert_int_equal(ns_run_to(exact, 5), NS_OK);
        o = model_options("taylor", 5, 1e-4);
        expected = ns_taylor_order(m.problem, 1e-4);
        o.fixed_step = i ? 0.125 : 0.25;
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 5), NS_OK);
        error[i] = fabs(ns_run_state(run)[0] - ns_run_state(exact)[0]);
        ns_run_free(run);
        ns_run_free(exact);
        model_free(&m);
    }
    const double order = log2(error[0] / error[1]);
    assert_true(expected >= 6 && expected <= 10);
    assert_true(order > expected - 0.5 && order < expected + 1.2);
}

/* The order grows with the digits and does not exceed what a paper's formula for costs of the
 * second power gives by more than two thirds; a long series has a lower one than a short
 * one. */
static void test_order_by_cost(void **state)
{
    (void)state;
    model m = model_pendulum(2, 0);
    ns_run_options o = model_options("taylor", 1, 0);
    ns_run_free(model_run(&m, &o)); /* builds the problem */
    uint32_t last = 0;
    for (int digits = 2; digits <= 18; digits++) {
        const double tolerance = pow(10, -digits), formula = ceil(1 - log(tolerance) / 2);
        const uint32_t order = ns_taylor_order(m.problem, tolerance);
        assert_true(order >= last);
        assert_true(order >= fmin(formula, 6) && order <= fmax(formula * 5 / 3, 6) + 1);
        last = order;
    }
    assert_true(last > 20);
    model_free(&m);
}

/* gauss and taylor have nothing in common but the equations: they agree to rounding errors. */
static void test_against_gauss(void **state)
{
    (void)state;
    model m = model_sleigh();
    double end[2][7];
    for (int i = 0; i < 2; i++) {
        const ns_run_options o = model_options(i ? "taylor" : "gauss", 100, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 100), NS_OK);
        memcpy(end[i], ns_run_state(run), sizeof end[0]);
        ns_run_free(run);
    }
    for (int i = 0; i < 7; i++)
        assert_true(fabs(end[0][i] - end[1][i]) < 3e-14 * fmax(1, fabs(end[0][i])));
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense),         cmocka_unit_test(test_poles),
        cmocka_unit_test(test_polynomial),    cmocka_unit_test(test_kink),
        cmocka_unit_test(test_order),         cmocka_unit_test(test_order_by_cost),
        cmocka_unit_test(test_against_gauss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
