/* The method `discrete`: what it needs is said, a restart continues to the bit, forces and time
 * in it, states between the nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ode/method.h"
#include "session/model.h"
#include "support/motion.h"

static const char sleigh[] = "coordinate theta, x, y\n"
                             "let vx = x' - sin(theta)*theta', vy = y' + cos(theta)*theta'\n"
                             "lagrangian (vx^2 + vy^2)/2 + theta'^2/2\n"
                             "constraint blade: y'*cos(theta) - x'*sin(theta) = 0\n"
                             "force theta = 0.3*cos(t) - 0.1*theta'\n"
                             "start { theta = 0; x = 0; y = 0; theta' = 1; x' = 0.5; y' = 0 }\n"
                             "run { until 3; method discrete; step 0.03125 }\n";

static ns_model *load(const char *text)
{
    ns_model *model = ns_model_load_text("model", text, strlen(text), NULL, 0, NS_MODEL_READY);
    assert_non_null(model);
    if (model->status != NS_OK)
        fail_msg("%s", model->messages);
    return model;
}

static ns_run *begin(ns_model *model, const char *method, double step)
{
    ns_run_options o = ns_model_run_options(model);
    ns_status status;
    const char *message = "";
    o.method = method;
    o.fixed_step = step;
    ns_run *run = ns_run_new(ns_model_problem_for(model, ns_method_find(method)), &o, model->p,
                             model->x0, &status, &message);
    if (!run)
        fail_msg("%s", message);
    return run;
}

static void test_restart(void **state)
{
    (void)state;
    ns_model *model = load(sleigh);
    ns_run *whole = begin(model, "discrete", 0.03125);
    ns_run *half = begin(model, "discrete", 0.03125), *rest = begin(model, "discrete", 0.03125);
    for (int i = 0; i < 40; i++)
        assert_int_equal(ns_run_step(half), NS_OK);
    const size_t size = ns_run_save_size(half);
    void *bytes = malloc(size);
    const char *message;
    ns_run_save(half, bytes);
    assert_int_equal(ns_run_restore(rest, bytes, size, &message), NS_OK);
    double x[6], y[6];
    ns_run_state_at(half, 39.4 * 0.03125, x); /* inside the last step too */
    ns_run_state_at(rest, 39.4 * 0.03125, y);
    assert_memory_equal(x, y, sizeof x);
    assert_int_equal(ns_run_to(whole, 3), NS_OK);
    assert_int_equal(ns_run_to(rest, 3), NS_OK);
    assert_memory_equal(ns_run_state(whole), ns_run_state(rest), 6 * sizeof(double));
    free(bytes);
    ns_run_free(whole);
    ns_run_free(half);
    ns_run_free(rest);
    ns_model_free(model);
}

/* A force that depends on time and velocity: order 2 at nodes and between them. */
static void test_order(void **state)
{
    (void)state;
    ns_model *model = load(sleigh);
    ns_run *exact = begin(model, "gauss", 0);
    double at_node[2], between[2], x[6], y[6];
    assert_int_equal(ns_run_to(exact, 2), NS_OK);
    ns_run_state_at(exact, 2, y);
    for (int k = 0; k < 2; k++) {
        const double h = k ? 0.015625 : 0.03125;
        ns_run *run = begin(model, "discrete", h);
        assert_int_equal(ns_run_to(run, 2), NS_OK);
        at_node[k] = between[k] = 0;
        for (int i = 0; i < 6; i++)
            at_node[k] = fmax(at_node[k], fabs(ns_run_state(run)[i] - y[i]));
        ns_run_free(run);
    }
    ns_run_free(exact);
    for (int k = 0; k < 2; k++) {
        const double h = k ? 0.015625 : 0.03125, t = 2 - 0.3 * h;
        ns_run *run = begin(model, "discrete", h);
        exact = begin(model, "gauss", 0);
        assert_int_equal(ns_run_to(run, 2), NS_OK);
        assert_int_equal(ns_run_to(exact, 2), NS_OK);
        ns_run_state_at(run, t, x);
        ns_run_state_at(exact, t, y);
        for (int i = 0; i < 6; i++)
            between[k] = fmax(between[k], fabs(x[i] - y[i]));
        ns_run_free(run);
        ns_run_free(exact);
    }
    /* the ratio of the errors is 4 (1 + O(h^2)) */
    assert_true(fabs(at_node[0] / at_node[1] - 4) < 0.05);
    assert_true(fabs(between[0] / between[1] - 4) < 0.1);
    assert_true(at_node[0] > 1e-6 && at_node[0] < 1e-3);
    ns_model_free(model);
}

static void refused(const char *text, double step, const char *why)
{
    ns_model *model = load(text);
    ns_run_options o = ns_model_run_options(model);
    ns_status status;
    const char *message = "";
    o.method = "discrete";
    o.fixed_step = step;
    o.until = 1;
    assert_null(ns_run_new(ns_model_problem_for(model, &ns_method_discrete), &o, model->p,
                           model->x0, &status, &message));
    assert_int_equal(status, NS_ERR_USAGE);
    assert_non_null(strstr(message, why));
    ns_model_free(model);
}

static void test_refused(void **state)
{
    (void)state;
    refused(sleigh, 0, "constant length");
    refused("state x' = -x\nstart { x = 1 }\n", 0.1, "discrete mechanics");
    refused("ground plane\nbody sphere(0.1) { mass 1; uniform }\n", 0.1, "discrete mechanics");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
