/* Taylor series by native code: the same bits as by the interpreter, for every operation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/motion.h"

/* All rules of jets: sums of products, quotients, powers, roots, functions, systems, kinks. */
static const char all_rules[] =
    "param a = 1.25, b = 0.7\n"
    "state x' = -sin(a*x)*y + 0.5*cos(t)^3 + exp(-y)/(2 + x^2) - min(x, 5 + y) + abs(x - 9)\n"
    "state y' = b*x - y^5/9 + tanh(x) + max(x, -3 - t)/4 + sqrt(1 + x^2 + y^2)^(-0.7)\n"
    "state z' = log(2 + x^2) - atan2(x, 2 + y) + atan(y) - x/(-2) + (2 + x^2)^(0.1*y)\n"
    "state w' = sign(x + 2)*0.1 + asin(0.3*cos(x)) + acos(0.3*sin(x)) + tan(0.1*x) + "
    "3/(1 + cosh(x)) + sinh(0.1*x) - asinh(x) + acosh(2 + x^2) + atanh(0.1*cos(x)) + "
    "solve([[19, x, 0], [x, 17, 1], [0, y, 13]], [1, 2, x*y])[2]\n"
    "start { x = 0.3; y = -0.1; z = 0; w = 0 }\n"
    "run { until 2 }\n";

static char cache[] = "/tmp/noslip-jets-XXXXXX";

static void run(ns_model *model, double until, double *x)
{
    ns_run_options o = ns_model_run_options(model);
    o.method = "taylor";
    o.tolerance = 1e-15;
    o.until = until;
    ns_status status = NS_OK;
    const char *message = "";
    ns_run *r = ns_run_new(model->problem, &o, model->p, model->x0, &status, &message);
    if (!r)
        fail_msg("%s", message);
    if (ns_run_to(r, until) != NS_OK)
        fail_msg("%s", ns_run_outcome(r)->reason);
    memcpy(x, ns_run_state(r), model->problem->n * sizeof *x);
    ns_run_free(r);
}

static void compare(ns_model *model, double until)
{
    const uint32_t n = model->problem->n;
    double *x = calloc(2 * (size_t)n, sizeof *x);
    assert_non_null(x);
    run(model, until, x);
    char message[300];
    ns_native *native = ns_problem_native(model->problem, 0, message, sizeof message, NULL);
    if (!native)
        fail_msg("%s", message);
    run(model, until, x + n);
    ns_native_free(native);
    if (memcmp(x, x + n, n * sizeof *x) != 0)
        fail_msg("%s: other bits", model->name);
    run(model, until, x + n); /* interpreted again */
    assert_memory_equal(x, x + n, n * sizeof *x);
    free(x);
    ns_model_free(model);
}

static void has_the_same_bits(void **state)
{
    (void)state;
    compare(motion_model_text(all_rules, NULL), 2);
    compare(motion_model_file("rattleback", NULL), 1);
    compare(motion_model_file("sleigh-oscillator", NULL), 5);
    compare(motion_model_file("snakeboard", NULL), 1);
}

static int begin(void **state)
{
    (void)state;
    return mkdtemp(cache) ? setenv("XDG_CACHE_HOME", cache, 1) : -1;
}

static int end(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", cache);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(has_the_same_bits, begin, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
