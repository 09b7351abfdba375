/* Adjoint gradients against sensitivities, which go forwards: two ways to the same numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session/sensitivity.h"
#include "study/control/adjoint.h"
#include "support/motion.h"

/* dJ/dq of value(T) + integral of value^2 by sensitivities: the integral is a state of a second
 * model, so that it is differentiated like all others. */
typedef struct comparison {
    const char *model, *value, *names;
    double until;
} comparison;

static const ns_adjoint *adjoint_of(ns_model *model, const comparison *c, bool end)
{
    NS_LIST(const char *) names = {0};
    char *rest = ns_arena_string(model->arena, c->names, strlen(c->names)), *word;
    while ((word = strsep(&rest, ",")))
        NS_PUSH(model->arena, names, word);
    const ns_ex value =
        model->system->observables.at[ns_model_observable(model, c->value)].value;
    const ns_adjoint_spec spec = {.end = end ? value : 0,
                                  .integral = end ? 0 : value,
                                  .names = names.at,
                                  .n = names.n,
                                  .until = c->until,
                                  .system = model->system};
    return ns_adjoint_find(model->arena, model, &spec);
}

static void compare_end(const comparison *c)
{
    ns_model *model = motion_model_file(c->model, NULL);
    ns_model *wide = ns_sensitivity_model(model, c->names);
    assert_int_equal(wide->status, NS_OK);
    motion m = motion_begin_until(wide, NULL, c->until);
    assert_int_equal(motion_to(&m, c->until), NS_OK);
    const ns_adjoint *g = adjoint_of(model, c, true);
    if (g->status != NS_OK)
        fail_msg("%s: %s", c->model, g->message);
    assert_true(fabs(g->value - motion_get(&m, c->value)) <= 1e-11 * fmax(1, fabs(g->value)));
    double size = 0;
    for (uint32_t j = 0; j < wide->sensitivity->k; j++)
        size = fmax(size, fabs(g->gradient[j]));
    for (uint32_t j = 0; j < wide->sensitivity->k; j++) {
        char name[200];
        snprintf(name, sizeof name, "%s by %s", c->value, wide->sensitivity->label[j]);
        const double forward = motion_get(&m, name), off = fabs(forward - g->gradient[j]);
        /* rounding errors of the motion grow like its deviations do */
        if (!(off <= 1e-10 * fmax(fabs(forward), 1e-3 * size)))
            fail_msg("%s: %s: %.15g forwards, %.15g backwards", c->model, name, forward,
                     g->gradient[j]);
    }
    motion_close(&m);
    ns_model_free(model);
}

static void test_end(void **state)
{
    (void)state;
    static const comparison all[] = {
        {"rattleback", "omega.z", "a,b,c,m,start.omega.z,start.quat.x", 2},
        {"chaplygin-sleigh", "x", "m,J,a,start.theta'", 3},
        {"double-pendulum", "energy", "start", 1},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        compare_end(&all[i]);
}

/* The integral is the end value of a state of its own; time enters, and a parameter that
 * depends on another. */
static void test_integral(void **state)
{
    (void)state;
    static const char text[] = "param k = 3, b = k/10, w = 2\n"
                               "state x' = v, v' = -k*sin(x) - b*v + cos(w*t), s' = x^2*v^2\n"
                               "observe cost = x^2*v^2\n"
                               "start { x = 1; v = k/2; s = 0 }\n";
    ns_model *model = motion_model_text(text, NULL);
    const comparison by_end = {.value = "s", .names = "k,w,start.x", .until = 7};
    const comparison by_integral = {.value = "cost", .names = "k,w,start.x", .until = 7};
    const ns_adjoint *a = adjoint_of(model, &by_end, true),
                     *b = adjoint_of(model, &by_integral, false);
    assert_int_equal(a->status, NS_OK);
    assert_int_equal(b->status, NS_OK);
    assert_true(fabs(a->value - b->value) <= 1e-13 * fabs(a->value));
    for (int j = 0; j < 3; j++)
        assert_true(fabs(a->gradient[j] - b->gradient[j]) <= 1e-12 * fabs(a->gradient[j]));
    ns_model_free(model);
}

static void test_closed_form(void **state)
{
    (void)state;
    ns_model *model = motion_model_text("param k = 2\nstate x' = -k*x\nstart { x = 3/k }\n",
                                        NULL);
    const comparison c = {.value = "x", .names = "k", .until = 1.5};
    /* x(T) = 3 exp(-k T)/k,  d/dk = -3 exp(-k T) (T/k + 1/k^2) */
    const ns_adjoint *g = adjoint_of(model, &c, true);
    const double exact = -3 * exp(-3.0) * (1.5 / 2 + 1.0 / 4);
    assert_true(fabs(g->gradient[0] - exact) <= 1e-14);
    /* integral = 3 (1 - exp(-k T))/k^2 */
    const ns_adjoint *i = adjoint_of(model, &c, false);
    assert_true(fabs(i->value - 3 * (1 - exp(-3.0)) / 4) <= 1e-14);
    const double slope = 3 * (1.5 * exp(-3.0) / 4 - 2 * (1 - exp(-3.0)) / 8);
    assert_true(fabs(i->gradient[0] - slope) <= 1e-14);
    ns_model_free(model);
}

static void test_refused(void **state)
{
    (void)state;
    ns_model *model = motion_model_text("param k = 2\nstate x' = -k*sign(x)\nstart { x = 1 }\n",
                                        NULL);
    const comparison c = {.value = "x", .names = "k", .until = 1};
    assert_non_null(strstr(adjoint_of(model, &c, true)->message, "jump"));
    ns_model_free(model);
    model = motion_model_text("param k = 2\nstate x' = -k*x\nstart { x = 1 }\n", NULL);
    const comparison wrong = {.value = "x", .names = "q", .until = 1};
    assert_non_null(strstr(adjoint_of(model, &wrong, true)->message, "neither a parameter"));
    ns_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_integral),
        cmocka_unit_test(test_closed_form),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
