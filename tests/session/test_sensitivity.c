/* Sensitivities against differences of runs in quadruple precision: the same derivative to ten
 * digits by every formulation and by two methods, of values, of starts, of event times. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/math/quad.h"
#include "session/sensitivity.h"
#include "session/variant.h"
#include "support/motion.h"

static ns_record *record_of(ns_model *model, double until, const char *method)
{
    ns_record_options o = ns_record_defaults(model);
    o.run.until = until;
    o.until_fixed = o.keep = true;
    o.run.method = method;
    o.engine = NS_ENGINE_AUTO;
    o.every = 0;
    ns_record *r = ns_record_new(model, &o);
    assert_non_null(r);
    if (r->status != NS_OK)
        fail_msg("%s", r->message);
    ns_record_run(r);
    assert_true(r->status >= 0);
    return r;
}

static void extend(ns_model *model, const char *name)
{
    const char *message = "";
    if (!ns_sensitivity_extend(model, &name, 1, NULL, 0, &message))
        fail_msg("%s", message);
}

/* d value / d by at the end */
static double last(const ns_record *r, const char *value, const char *by)
{
    char name[200];
    snprintf(name, sizeof name, "%s by %s", value, by);
    const int64_t i = ns_model_observable(r->model, name);
    if (i < 0)
        fail_msg("no value %s", name);
    return r->last[i];
}

#if NS_HAVE_QUAD
typedef struct comparison {
    const char *model, *parameter, *value;
    double until;
} comparison;

/* All values in quadruple precision with the parameter moved by +-h; [2][columns]. */
static void shifted(const comparison *c, double h, ns_quad *out)
{
    char set[100];
    snprintf(set, sizeof set, "%s=(%s)%+.1e", c->parameter, c->value, h);
    ns_model *model = motion_model_file(c->model, set);
    ns_record *r = record_of(model, c->until, "quad");
    for (uint32_t i = 0; i < r->columns; i++)
        out[i] = (ns_quad)r->last[i] + r->last_low[i];
    ns_record_free(r);
    ns_model_free(model);
}

/* Values in double suffer from what the motion makes of rounding errors; a hundred of them is
 * still ten digits below. */
static void compare(const comparison *c)
{
    enum { MOST = 400 };
    static ns_quad high[MOST], low[MOST];
    const double h = 1e-9;
    shifted(c, h, high);
    shifted(c, -h, low);
    static const char *const methods[] = {"gauss", "dop853"};
    for (int m = 0; m < 2; m++) {
        char set[100];
        snprintf(set, sizeof set, "%s=%s", c->parameter, c->value);
        ns_model *model = motion_model_file(c->model, set);
        extend(model, c->parameter);
        const ns_sensitivity *q = model->sensitivity;
        assert_true(q->values <= MOST && q->k == 1);
        ns_record *r = record_of(model, c->until, methods[m]);
        double size = 0, worst = 0;
        for (uint32_t i = 0; i < q->n; i++)
            size = fmax(size, fabs(r->last[q->derivative[i]]));
        for (uint32_t i = 0; i < q->n; i++) {
            const double expected = (double)((high[i] - low[i]) / (2 * (ns_quad)h));
            const double off = fabs(r->last[q->derivative[i]] - expected) / size;
            if (off > 1e-10)
                print_message("%s: %s by %s: %.15g, %.15g\n", c->model,
                              model->system->states.at[i].name, c->parameter,
                              r->last[q->derivative[i]], expected);
            worst = fmax(worst, off);
        }
        assert_true(worst < 1e-10);
        ns_record_free(r);
        ns_model_free(model);
    }
}

/* Rolling, constrained, hamel, lagrange with multipliers, first order, prescribed motions;
 * parameters of the equations, of the start, and such that others depend on. */
static void by_differences(void **state)
{
    (void)state;
    static const comparison all[] = {
        {"rattleback", "a", "0.2", 1.5},
        {"rattleback", "c", "0.02", 1.5},
        {"chaplygin-sleigh", "a", "0.4", 3},
        {"chaplygin-sleigh", "v0", "-0.8", 3},
        {"bicycle", "v", "5", 0.3},
        {"bicycle", "zb", "0.9", 0.3},
        {"snakeboard", "m", "6", 2},
        {"sphere-one-particle", "r", "0.06", 0.2},
        {"double-pendulum", "l1", "1", 2},
        {"sleigh-frame", "a", "0.4", 3},
        {"suslov", "B", "2", 3},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        compare(&all[i]);
}
#endif

/* x = x0 cos(w t) + v0/w sin(w t): every column in closed form. */
static void oscillator(void **state)
{
    (void)state;
    static const char text[] = "param w = 2, x0 = 0.7, twice = 2*w\n"
                               "state x' = v, v' = -twice^2/4*x\n"
                               "start { x = x0; v = 0.3 }\n"
                               "event down: x = 0 falling\n";
    const double w = 2, t = 3, c = cos(w * t), s = sin(w * t);
    ns_model *model = motion_model_text(text, NULL);
    const char *const names[] = {"w", "x0", "start"};
    const char *message = "";
    assert_true(ns_sensitivity_extend(model, names, 3, NULL, 0, &message));
    assert_int_equal(model->sensitivity->k, 4);
    assert_false(model->sensitivity->loose);
    ns_record *r = record_of(model, t, "gauss");
    const double by_w = -0.7 * t * s + 0.3 * (t * c / w - s / w / w);
    assert_true(fabs(last(r, "x", "w") - (by_w)) < 1e-13);
    assert_true(fabs(last(r, "x", "x0") - (c)) < 1e-14);
    assert_true(fabs(last(r, "x", "start.x") - (c)) < 1e-14);
    assert_true(fabs(last(r, "x", "start.v") - (s / w)) < 1e-14);
    assert_true(fabs(last(r, "v", "start.x") - (-w * s)) < 1e-13);
    /* at a zero: dT = -cos(w T) / x'(T) */
    assert_true(r->events.rows >= 1);
    const double T = r->events.t[0];
    const int64_t at = ns_model_observable(model, "down.t by x0");
    assert_true(at >= 0);
    const double pace = -w * 0.7 * sin(w * T) + 0.3 * cos(w * T);
    assert_true(fabs(ns_table_column(&r->events, (uint32_t)at)[0] + cos(w * T) / pace) < 1e-13);
    ns_record_free(r);
    ns_model_free(model);
}

/* The time of a reversal, against differences of sixth order of times that are right to the
 * last digits. */
static void reversal_time(void **state)
{
    (void)state;
    static const double weight[] = {3.0 / 4, -3.0 / 20, 1.0 / 60}, h = 4e-6;
    ns_model *model = motion_model_file("rattleback", NULL);
    extend(model, "b");
    ns_record *r = record_of(model, 2.5, "gauss");
    const int64_t at = ns_model_observable(model, "reversal.t by b");
    assert_true(at >= 0 && r->events.rows > 2);
    double sum = 0;
    for (int k = -3; k <= 3; k++) {
        char set[60];
        if (!k)
            continue;
        snprintf(set, sizeof set, "b=0.03%+.10f", k * h);
        ns_model *other = motion_model_file("rattleback", set);
        ns_record *o = record_of(other, 2.5, "gauss");
        sum += (k > 0 ? 1 : -1) * weight[abs(k) - 1] * o->events.t[0];
        ns_record_free(o);
        ns_model_free(other);
    }
    const double found = ns_table_column(&r->events, (uint32_t)at)[0];
    print_message("reversal by b: %.15g, differences %.15g\n", found, sum / h);
    assert_true(fabs(found - sum / h) < 1e-10 * fabs(found));
    ns_record_free(r);
    ns_model_free(model);
}

/* Where rates jump the run ends, right up to there; a jump at a fixed time does no harm. */
static void jumps(void **state)
{
    (void)state;
    static const char by_state[] = "param k = 2\nstate x' = -k*(2 + sign(x - 0.5))\n"
                                   "start { x = 1 }\n";
    static const char by_time[] = "param k = 2\nstate x' = -k*(2 + sign(t - 0.5))*x\n"
                                  "start { x = 1 }\n";
    ns_model *model = motion_model_text(by_state, NULL);
    extend(model, "k");
    ns_record *r = record_of(model, 1, "gauss");
    assert_true(r->status > 0 && strstr(r->message, "jump"));
    assert_true(fabs(last(r, "x", "k") + 3 * r->outcome->t) < 1e-14);
    ns_record_free(r);
    ns_model_free(model);
    model = motion_model_text(by_time, NULL);
    extend(model, "k");
    r = record_of(model, 1, "gauss");
    assert_int_equal(r->status, NS_OK);
    assert_true(fabs(last(r, "x", "k") + 2 * exp(-4)) < 1e-14);
    ns_record_free(r);
    ns_model_free(model);
}

/* Names that are none. */
static void refused(void **state)
{
    (void)state;
    const char *message = "", *name;
    ns_model *model = motion_model_file("rattleback", NULL);
    name = "omega.zz";
    assert_false(ns_sensitivity_extend(model, &name, 1, NULL, 0, &message));
    assert_non_null(strstr(message, "omega.z"));
    const char *const twice[] = {"a", "a"};
    assert_false(ns_sensitivity_extend(model, twice, 2, NULL, 0, &message));
    assert_non_null(strstr(message, "twice"));
    ns_model_free(model);
}

/* A copy has the numbers of a variant; what it sets does not follow from other parameters. */
static void of_variants(void **state)
{
    (void)state;
    static const char text[] = "param a = 1, b = 2*a\nstate x' = b*x\nstart { x = a }\n";
    ns_model *model = motion_model_text(text, NULL);
    const ns_variant_value set = {.name = "b", .number = 0.5};
    ns_model *variant = ns_variant_new(model, &set, 1);
    ns_model *with = ns_sensitivity_model(variant, "a, b");
    assert_int_equal(with->status, NS_OK);
    ns_record *r = record_of(with, 2, "gauss");
    assert_true(fabs(last(r, "x", "a") - (exp(1))) < 1e-14);
    assert_true(fabs(last(r, "x", "b") - (2 * exp(1))) < 1e-14);
    ns_record_free(r);
    ns_model *again = ns_variant_new(with, &set, 1);
    assert_int_equal(again->status, NS_ERR_MODEL);
    ns_model_free(again);
    ns_model_free(with);
    ns_model_free(variant);
    ns_model_free(model);
}

/* Deviations of a chaotic motion grow by twenty powers of ten: the motion beside them stays
 * what it is, and it is said from when on they tell nothing (`run --digits` says 32.6 s). */
static void chaos(void **state)
{
    (void)state;
    ns_model *model = motion_model_file("erratic-disk", NULL);
    extend(model, "start.omega.z");
    ns_record *r = record_of(model, 60, "gauss");
    uint32_t worst = 9;
    double since = 0;
    assert_int_equal(r->status, NS_OK);
    assert_true(r->outcome->energy_drift < 1e-13);
    assert_true(fabs(last(r, "omega.z", "start.omega.z")) > 1e15);
    assert_true(ns_sensitivity_useless(model, r->last, 0, 60, &worst, &since));
    assert_int_equal(worst, 0);
    assert_true(since > 25 && since < 40);
    ns_record_free(r);
    r = record_of(model, 5, "gauss");
    assert_false(ns_sensitivity_useless(model, r->last, 0, 5, &worst, &since));
    ns_record_free(r);
    ns_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oscillator),
#if NS_HAVE_QUAD
        cmocka_unit_test(by_differences),
#endif
        cmocka_unit_test(reversal_time),
        cmocka_unit_test(jumps),
        cmocka_unit_test(refused),
        cmocka_unit_test(of_variants),
        cmocka_unit_test(chaos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
