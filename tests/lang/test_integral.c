/* integral(F)(a, b): its nodes, closed forms with their derivatives, what is refused, and a run
 * that leaves what the rule resolves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session/model.h"
#include "support/motion.h"

static const struct {
    const char *x, *weight;
} nodes[] = {
#define NODE(x, weight) {x, weight},
#include "expr/gauss_nodes.def"
#undef NODE
};

/* Roots of P_64, and weights 2/((1 - x^2) P_64'(x)^2); the sums of even powers are 1/(k+1). */
static void test_nodes(void **state)
{
    (void)state;
    double sum[64] = {0};
    for (size_t i = 0; i < 32; i++) {
        const double x = strtod(nodes[i].x, NULL), w = strtod(nodes[i].weight, NULL);
        double before = 1, P = x, power = 1;
        for (int k = 2; k <= 64; k++) {
            const double next = ((2 * k - 1) * x * P - (k - 1) * before) / k;
            before = P;
            P = next;
        }
        const double slope = 64 * (x * P - before) / (x * x - 1);
        assert_true(fabs(P / slope) < 4e-16); /* distance from the root */
        assert_true(fabs(w * (1 - x * x) * slope * slope / 2 - 1) < 1e-12);
        for (int k = 0; k < 64; k++, power *= x * x)
            sum[k] += w * power;
    }
    for (int k = 0; k < 64; k++) /* up to degree 126 */
        assert_true(fabs(sum[k] * (2 * k + 1) - 1) < 1e-14);
}

static ns_model *load(const char *text)
{
    ns_model *model = ns_model_load_text("model", text, strlen(text), NULL, 0, NS_MODEL_READY);
    assert_non_null(model);
    return model;
}

/* Largest value that the observables called e1, e2 .. have at the end, or fails. */
static double worst(const char *text, double until, ns_status expected)
{
    ns_model *model = load(text);
    if (model->status != NS_OK)
        fail_msg("%s", model->messages);
    ns_run_options o = ns_model_run_options(model);
    ns_status status;
    const char *message = "";
    o.until = until;
    ns_run *run = ns_run_new(model->problem, &o, model->p, model->x0, &status, &message);
    assert_non_null(run);
    assert_int_equal(ns_run_to(run, until), expected);
    const ns_outcome *end = ns_run_outcome(run);
    double most = 0;
    for (uint32_t i = 0; i < model->system->observables.n; i++)
        if (model->system->observables.at[i].name[0] == 'e' &&
            model->system->observables.at[i].name[1] < 'a')
            most = fmax(most, fmax(fabs(end->observable_min[i]), fabs(end->observable_max[i])));
    ns_run_free(run);
    ns_model_free(model);
    return most;
}

/* Antiderivatives, the rule of Leibniz, and second derivatives through the integral. */
static void test_closed(void **state)
{
    (void)state;
    const double off = worst("param a = 1.3\n"
                             "let f(u) = 1/(1 + u^2), c(u) = cos(a*u), k(u) = exp(-u)*u^3\n"
                             "state x' = 1, y' = integral(c)(y, x) - integral(c)(y, x) + 2\n"
                             "start { x = -1.5; y = 0 }\n"
                             "observe e1 = integral(f)(0, x) - atan(x)\n"
                             "observe e2 = integral(c)(y, x) - (sin(a*x) - sin(a*y))/a\n"
                             "observe e3 = integral(k)(0, 2) - (6 - 38*exp(-2))\n"
                             "observe e4 = integral(f)(0, x)' - 1/(1 + x^2)\n"
                             "observe e5 = diff(integral(c)(0, x), a) - "
                             "(x*cos(a*x)/a - sin(a*x)/a^2)\n"
                             "run { until 3 }\n",
                             3, NS_OK);
    assert_true(off < 1e-14); /* some units in the last place of sums of 64 terms */
}

/* A spring whose force is an integral: the oscillator it must be. */
static void test_motion(void **state)
{
    (void)state;
    const double off = worst("let pull(u) = 4*u\n"
                             "coordinate q\n"
                             "lagrangian q'^2/2 - integral(pull)(0, q)\n"
                             "start { q = 0.7; q' = 0 }\n"
                             "observe e1 = q - 0.7*cos(2*t)\n"
                             "run { until 20 }\n",
                             20, NS_OK);
    assert_true(off < 1e-12);
}

/* 1/(w^2 + u^2) is resolved while the range is a few dozen w. */
static void test_watched(void **state)
{
    (void)state;
    static const char text[] = "let f(u) = 1/(0.01 + u^2)\n"
                               "state x' = 1\nstart { x = 0.1 }\n"
                               "observe e1 = integral(f)(-x, x) - 20*atan(10*x)\n"
                               "run { until 100 }\n";
    assert_true(worst(text, 0.15, NS_OK) < 1e-13);
    worst(text, 100, NS_STOP_SINGULAR);
}

static void refused(const char *text, const char *why)
{
    ns_model *model = load(text);
    assert_int_not_equal(model->status, NS_OK);
    assert_non_null(strstr(model->messages, why));
    ns_model_free(model);
}

static void test_refused(void **state)
{
    (void)state;
    refused("let f(u) = u\nstate x' = integral(f)(0)\n", "two limits");
    refused("let f(u, v) = u\nstate x' = integral(f)(0, x)\n", "takes 2 arguments");
    refused("let f(u) = [u, 1, 0]\nstate x' = integral(f)(0, x)\n", "a number");
    refused("state x' = integral(g)(0, x)\n", "integral needs a function");
    refused("let f(u) = u\nstate x' = integral(f)\n", "limits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),   cmocka_unit_test(test_closed),
        cmocka_unit_test(test_motion),  cmocka_unit_test(test_watched),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
