/* How far a trajectory can be trusted: a chaotic disk, a regular pendulum, a run that an event
 * ends. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session/trust/trust.h"
#include "support/motion.h"

static ns_record *recorded(const char *text, double until)
{
    ns_model *model = ns_model_load_text("model", text, strlen(text), NULL, 0, NS_MODEL_READY);
    assert_non_null(model);
    if (model->status != NS_OK)
        fail_msg("%s", model->messages);
    ns_record_options o = ns_record_defaults(model);
    o.run.until = until;
    ns_record *r = ns_record_new(model, &o);
    assert_non_null(r);
    assert_int_equal(r->status, NS_OK);
    ns_record_run(r);
    return r;
}

static void judged(ns_record *r)
{
    char message[300] = "";
    if (!ns_trust_judge(r, message, sizeof message))
        fail_msg("%s", message);
}

static void release(ns_record *r)
{
    ns_model *model = r->model;
    ns_record_free(r);
    ns_model_free(model);
}

static const char disk[] =
    "ground plane\n"
    "body disk(1) { mass 1; com [0.4, 0, 0]; inertia diag(0.25, 0.09, 0.34) }\n"
    "start { tilt 60 deg; omega [0.5, 0.3, 2] }\n";

/* Largest exponent about 0.8 per second (noslip lyapunov erratic-disk): tenfold in log(10)/0.8
 * = 2.9 s, and from the last bit to a thousandth in some 13 of these. */
static void chaotic(void **state)
{
    (void)state;
    ns_record *r = recorded(disk, 100);
    char text[300];
    judged(r);
    assert_true(r->outcome->energy_drift < 1e-12);
    assert_true(r->trust->tenfold > 1.5 && r->trust->tenfold < 5);
    assert_true(r->trust->until > 15 && r->trust->until < 60);
    assert_true(r->trust->largest > 0.1);
    ns_trust_text(r, text, sizeof text);
    assert_non_null(strstr(text, "right to three digits until"));
    assert_non_null(strstr(text, "tenfold"));

    /* never optimistic: a run of another tolerance is with it until then, and not to the end */
    ns_record *other = recorded(disk, 100);
    ns_run_options o = other->options.run;
    ns_status status;
    const char *message;
    o.tolerance = 1e-12;
    const ns_problem *problem = r->model->problem;
    ns_run *a = ns_run_new(problem, &r->options.run, r->model->p, r->model->x0, &status,
                           &message);
    ns_run *b = ns_run_new(problem, &o, r->model->p, r->model->x0, &status, &message);
    double x[32], y[32], most = 0;
    assert_true(a && b && problem->n <= 32);
    const double t = r->trust->until / 2;
    ns_run_to(a, t);
    ns_run_to(b, t);
    ns_run_state_at(a, t, x);
    ns_run_state_at(b, t, y);
    for (uint32_t i = 0; i < problem->n; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    assert_true(most < 1e-3);
    ns_run_free(a);
    ns_run_free(b);
    release(other);
    release(r);
}

static void regular(void **state)
{
    (void)state;
    ns_record *r = recorded("coordinate q\nlagrangian q'^2/2 + 9.81*cos(q)\n"
                            "start { q = 2; q' = 0 }\n",
                            100);
    judged(r);
    assert_true(isnan(r->trust->until) && isnan(r->trust->tenfold));
    assert_true(r->trust->largest < 1e-11); /* 1e-16 times some hundred radians of phase */
    assert_int_equal(r->trust->n, NS_TRUST_POINTS);
    release(r);
}

/* Only what both runs have reached is compared; backwards in time too. */
static void ended(void **state)
{
    (void)state;
    ns_record *r = recorded("coordinate q\nlagrangian q'^2/2 + 9.81*cos(q)\n"
                            "event down: q = 0 stop\nstart { q = 2; q' = 0 }\n",
                            100);
    assert_true(r->outcome->t < 2);
    judged(r);
    assert_true(r->trust->n > NS_TRUST_POINTS - 5 && isnan(r->trust->until));
    release(r);
    r = recorded("coordinate q\nlagrangian q'^2/2 + 9.81*cos(q)\nstart { q = 2; q' = 0 }\n",
                 -10);
    judged(r);
    assert_true(r->trust->largest < 1e-12);
    assert_true(r->trust->t[r->trust->n - 1] == -10);
    release(r);
}

static ns_record *recorded_file(const char *name, double until)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s.mech", NS_MODELS_DIR, name);
    ns_model *model = ns_model_load(path, NULL, 0, NS_MODEL_READY);
    assert_non_null(model);
    ns_record_options o = ns_record_defaults(model);
    o.run.until = until;
    ns_record *r = ns_record_new(model, &o);
    assert_non_null(r);
    assert_int_equal(ns_record_run(r), NS_OK);
    return r;
}

/* States that should be zero are rounding, in two runs differently: no reason for an alarm. */
static void rounding_alone(void **state)
{
    (void)state;
    static const char *const models[] = {"bicycle", "sleigh-se2", "snakeboard-parts",
                                         "two-rollers"};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        ns_record *r = recorded_file(models[k], 1);
        char text[300];
        judged(r);
        ns_trust_text(r, text, sizeof text);
        assert_true(isnan(r->trust->until));
        assert_true(r->trust->zeros > 0);
        assert_non_null(strstr(text, "zero but for rounding"));
        release(r);
    }
}

/* A body that has come to roll remembers the way in which it slipped last: in two runs another
 * one, which says nothing about the motion. */
static void memory_of_a_contact(void **state)
{
    (void)state;
    ns_record *r = recorded_file("bowling-ball", 3); /* sticks at 1.967 s */
    judged(r);
    assert_true(isnan(r->trust->until));
    /* on its way it meets a turn of 65 rad/s for 3 s: 200 rad of rounding errors */
    assert_true(r->trust->largest < 1e-10);
    release(r);
}

/* Impacts that keep the energy do no work but rounding. */
static void work_that_is_rounding(void **state)
{
    (void)state;
    ns_record *r = recorded_file("superball-ground", 2.5); /* three impacts */
    judged(r);
    assert_true(isnan(r->trust->until));
    assert_true(r->trust->largest < 1e-10);
    release(r);
}

/* A state that begins as rounding and grows to its full size is no rounding any more: a pencil
 * on its tip, which should stand.  Its angle grows as exp(5 t), from 1e-17 to 1 in about 8
 * s. */
static void rounding_that_grows(void **state)
{
    (void)state;
    ns_record *r = recorded("param a = 0.1\nstate q' = v, v' = 25*sin(q) + (a*3 - 0.3)\n"
                            "start { q = 0; v = 0 }\n",
                            20);
    judged(r);
    assert_true(!isnan(r->trust->until));
    assert_true(r->trust->until < 10);
    release(r);
}

/* Steps that pass over a pulse: the other run's are shorter. */
static void passed_over(void **state)
{
    (void)state;
    ns_model *model = motion_model_text(
        "state x' = v, v' = -x + exp(-((t - 5)/0.01)^2)/0.01\nstart { x = 1; v = 0 }\n", NULL);
    ns_record_options o = ns_record_defaults(model);
    o.run.until = 10;
    o.run.fixed_step = 0.5;
    ns_record *r = ns_record_new(model, &o);
    assert_non_null(r);
    assert_int_equal(ns_record_run(r), NS_OK);
    judged(r);
    assert_true(r->trust->until > 4.4 && r->trust->until < 5.1);
    release(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chaotic),
                                       cmocka_unit_test(regular),
                                       cmocka_unit_test(ended),
                                       cmocka_unit_test(rounding_alone),
                                       cmocka_unit_test(memory_of_a_contact),
                                       cmocka_unit_test(work_that_is_rounding),
                                       cmocka_unit_test(rounding_that_grows),
                                       cmocka_unit_test(passed_over)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
