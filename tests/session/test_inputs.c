/* Inputs: tables whose splines are exact, controllers against their recursion, changes from
 * outside, checkpoints in between, and what bad tables say. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/series/series.h"
#include "noslip/noslip.h"
#include "support/motion.h"

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static double cubic(double t)
{
    return 1 + t * (2 - t * (3 - 0.5 * t));
}

/* knots that are not evenly spaced */
static const double knot[] = {0, 0.3, 0.5, 1.1, 1.6, 2};
enum { KNOTS = sizeof knot / sizeof *knot };

static void write_cubic(const char *path)
{
    char text[1000] = "# measured\ntime,u,v\n";
    for (int k = 0; k < KNOTS; k++) {
        const size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%.17g,%.17g,%d\n", knot[k], cubic(knot[k]), k % 2);
    }
    write_file(path, text);
}

static const char body[] = "coordinate x\nlagrangian x'^2/2\nforce x = u\n"
                           "start { x = 0; x' = 0 }\nobserve pull = u\n"
                           "run { until 2; max_step 0.04 }\n"; /* in the middle of periods */

static motion begin(const char *input)
{
    char text[600];
    snprintf(text, sizeof text, "%s\n%s", input, body);
    ns_model *model = motion_model_text(text, NULL);
    ns_status status = NS_OK;
    const char *message = "";
    const ns_run_options o = ns_model_run_options(model);
    motion m = motion_begin(model, NULL);
    ns_run_free(m.run);
    m.run = ns_run_new(model->problem, &o, model->p, model->x0, &status, &message);
    if (!m.run)
        fail_msg("%s", message);
    return m;
}

/* The spline of a cubic is the cubic: x is its double integral. */
static void cubic_table(void **state)
{
    (void)state;
    write_cubic("cubic.csv");
    motion m = begin("input u from \"cubic.csv\" order 3");
    assert_int_equal(ns_run_to(m.run, 2), NS_OK);
    const double t = 2, x = t * t * (1.0 / 2 + t * (2.0 / 6 - t * (3.0 / 12 - 0.5 * t / 20)));
    assert_true(fabs(ns_run_state(m.run)[0] - x) < 1e-14);
    assert_true(ns_run_outcome(m.run)->steps >= KNOTS - 1);
    motion_close(&m);
}

/* Lines and steps, by sums over the pieces. */
static void lines_and_steps(void **state)
{
    (void)state;
    write_cubic("cubic.csv");
    for (int order = 0; order < 2; order++) {
        char input[100];
        snprintf(input, sizeof input, "input u from \"cubic.csv\" order %d", order);
        motion m = begin(input);
        double x = 0, v = 0;
        for (int k = 0; k + 1 < KNOTS; k++) {
            const double h = knot[k + 1] - knot[k], a = cubic(knot[k]);
            const double d = order ? (cubic(knot[k + 1]) - a) / h : 0;
            x += h * (v + h * (a / 2 + h * d / 6));
            v += h * (a + h * d / 2);
        }
        assert_int_equal(ns_run_to(m.run, 2), NS_OK);
        assert_true(fabs(ns_run_state(m.run)[0] - x) < 1e-14);
        assert_true(fabs(ns_run_state(m.run)[1] - v) < 1e-14);
        motion_close(&m);
    }
}

/* A constraint that prescribes the motion by a table: velocity and acceleration are those of
 * the spline. */
static void prescribed(void **state)
{
    (void)state;
    write_cubic("cubic.csv");
    ns_model *model = motion_model_text(
        "input u from \"cubic.csv\" order 3\ncoordinate x, y\n"
        "lagrangian (x'^2 + y'^2)/2\nconstraint c: x' = y*0 + u\n"
        "start { x = 0; y = 0; y' = 1 }\nrun { until 1.9 }\n",
        NULL);
    ns_record *r = motion_record(model, 0);
    const int64_t x = ns_model_observable(model, "x'");
    assert_true(x >= 0 && fabs(r->last[x] - cubic(1.9)) < 1e-14);
    ns_record_free(r);
    ns_model_free(model);
}

/* u held between samples: x+ = x + T v + T^2 u/2, v+ = v + T u. */
static void controller(void **state)
{
    (void)state;
    motion m = begin("param T = 0.1, k = 4\ninput u every T = -k*(x - 1) - 2*x'");
    double x = 0, v = 0;
    const double T = 0.1;
    for (int k = 0; k < 20; k++) {
        const double u = -4 * (x - 1) - 2 * v;
        x += T * v + T * T * u / 2;
        v += T * u;
    }
    assert_int_equal(ns_run_to(m.run, 2), NS_OK);
    assert_true(fabs(ns_run_state(m.run)[0] - x) < 1e-14);
    assert_true(fabs(ns_run_state(m.run)[1] - v) < 1e-14);
    motion_close(&m);
}

/* CVODE goes on with what the inputs are now. */
static void other_methods(void **state)
{
    (void)state;
    write_file("steps.csv", "t,u\n0,1\n1,3\n1.5,-2\n4,0\n");
    static const char *const methods[] = {"gauss", "taylor", "dop853", "bdf", "adams"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "input u from \"steps.csv\" order 0\ninput v every 0.5 = -x\n"
                 "state x' = u, y' = v\nstart { x = 0; y = 0 }\n"
                 "run { until 3; method %s }\n",
                 methods[i]);
        ns_model *model = motion_model_text(text, NULL);
        ns_record *r = motion_record(model, 0);
        const int64_t x = ns_model_observable(model, "x"), y = ns_model_observable(model, "y");
        /* x at 0, 0.5, ...: 0, 0.5, 1, 2.5, 1.5, 0.5; errors are those of bdf at 1e-10 */
        assert_true(fabs(r->last[x] + 0.5) < 1e-8);
        assert_true(fabs(r->last[y] + 3) < 1e-8);
        ns_record_free(r);
        ns_model_free(model);
    }
}

/* Inputs that move something must be smooth: where they jump or have corners, the equations
 * between lack the blows.  A table by lines may be a prescribed velocity, or a force. */
static void jumps(void **state)
{
    (void)state;
    write_file("steps.csv", "t,u\n0,1\n1,3\n4,3\n");
    static const char *const inputs[] = {
        "input u from \"steps.csv\" order 0", "input u from \"steps.csv\" order 1",
        "input u every 0.3 = 1 + t", "input u from \"steps.csv\" order 3"};
    static const struct {
        const char *system;
        const char *refused[3]; /* with which words, by order 0, order 1, the controller */
    } cases[] = {
        {"coordinate x\nlagrangian x'^2/2\nconstraint c: x' = u\n", {"rate", NULL, "rate"}},
        {"coordinate x\nlagrangian x'^2/2\nconstraint c: x = u\n",
         {"rate", "acceleration", "rate"}},
        {"coordinate a\nlet p = [u + sin(a), -cos(a)]\nlagrangian dot(p', p')/2 - 9.81*p.y\n",
         {"rate", "acceleration", "rate"}},
        {"ground plane { origin [u, 0, 0] }\nbody sphere(0.1) { mass 1; uniform }\n",
         {"rate", "acceleration", "rate"}},
        {"particle P { mass 1 }\nconstraint r: rod(P, [u, 0, 0], 1)\n"
         "start { P ~ [1, 0, -1] }\n",
         {"rate", "acceleration", "rate"}},
        {"coordinate x\nlagrangian x'^2/2 - x^4/4 + u*x^2\nforce x = u - x'\n",
         {NULL, NULL, NULL}},
        {"body S { mass 1; inertia diag(1, 2, 3) }\nforce S.torque = [u, 0, 0]\n",
         {NULL, NULL, NULL}},
    };
    char text[600];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 4; k++) {
            snprintf(text, sizeof text, "%s\n%srun { until 2 }\n", inputs[k], cases[i].system);
            if (k < 3 && cases[i].refused[k])
                motion_refused(text, cases[i].refused[k]);
            else
                ns_model_free(motion_model_text(text, NULL));
        }
    ns_model *m = ns_model_open_text("m",
                                     "input u = 1\ncoordinate x\nlagrangian x'^2/2\n"
                                     "constraint c: x' = u\nrun { until 2 }\n",
                                     NULL, NULL, 0);
    ns_simulation *s = ns_simulation_new(m, NULL);
    assert_int_equal(ns_simulation_advance(s, 1), NS_DONE);
    assert_int_equal(ns_simulation_set_input(s, "u", 1), NS_DONE);
    assert_int_equal(ns_simulation_set_input(s, "u", 2), NS_WRONG);
    assert_non_null(strstr(ns_simulation_reason(s), "constraint"));
    assert_int_equal(ns_simulation_advance(s, 2), NS_DONE);
    assert_true(fabs(ns_simulation_value(s, "x") - 2) < 1e-14);
    ns_simulation_close(s);
    ns_model_close(m);
}

/* The same bits after a checkpoint anywhere. */
static void checkpoints(void **state)
{
    (void)state;
    write_cubic("cubic.csv");
    const char *const inputs[] = {"input u from \"cubic.csv\" order 3",
                                  "input u every 0.07 = 1 - sin(3*x) - x'"};
    for (int i = 0; i < 2; i++) {
        motion whole = begin(inputs[i]), first = begin(inputs[i]);
        ns_run_to(whole.run, 2);
        while (ns_run_time(first.run) < 2) {
            motion second = begin(inputs[i]);
            const size_t size = ns_run_save_size(first.run);
            void *bytes = malloc(size);
            const char *message = "";
            ns_run_save(first.run, bytes);
            if (ns_run_restore(second.run, bytes, size, &message) != NS_OK)
                fail_msg("%s", message);
            free(bytes);
            ns_run_to(second.run, 2);
            assert_memory_equal(ns_run_state(second.run), ns_run_state(whole.run),
                                2 * sizeof(double));
            motion_close(&second);
            ns_run_step(first.run);
        }
        motion_close(&whole);
        motion_close(&first);
    }
}

/* A controller between its samples does not notice that something else is set. */
static void held(void **state)
{
    (void)state;
    ns_model *m = ns_model_open_text("m",
                                     "input u every 1 = 1 + t\ninput v = 0\n"
                                     "state x' = u + v\nrun { until 4 }\n",
                                     NULL, NULL, 0);
    ns_simulation *s = ns_simulation_new(m, NULL);
    static const double times[] = {0.25, 0.5, 1, 1.75};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        assert_int_equal(ns_simulation_advance(s, times[i]), NS_DONE);
        assert_int_equal(ns_simulation_set_input(s, "v", 0.5), NS_DONE);
    }
    assert_int_equal(ns_simulation_advance(s, 3.5), NS_DONE);
    assert_true(fabs(ns_simulation_value(s, "x") - (1 + 2 + 3 + 4 * 0.5 + 0.5 * 3.25)) < 1e-14);
    ns_simulation_close(s);
    ns_model_close(m);
}

/* Functions of time, --set, and values from outside between steps, as a stranger sees them. */
static void from_outside(void **state)
{
    (void)state;
    char text[600];
    snprintf(text, sizeof text, "input u in N = 0.5\n%s", body);
    ns_model *m = ns_model_open_text("m", text, NULL, NULL, 0);
    ns_simulation *s = ns_simulation_new(m, NULL);
    assert_int_equal(ns_simulation_verdict(s), NS_DONE);
    assert_int_equal(ns_simulation_advance(s, 1), NS_DONE);
    assert_int_equal(ns_simulation_set_input(s, "u", -2), NS_DONE);
    assert_int_equal(ns_simulation_advance(s, 3), NS_DONE);
    assert_true(fabs(ns_simulation_value(s, "x") - (0.25 + 2 * 0.5 - 2 * 2)) < 1e-14);
    assert_int_equal(ns_simulation_set_input(s, "w", 1), NS_WRONG);
    ns_simulation_close(s);
    ns_model_close(m);
    const char *names[] = {"u"}, *values[] = {"6*t"};
    m = ns_model_open_text("m", text, names, values, 1);
    ns_result *r = ns_simulate(m, NULL);
    assert_true(fabs(ns_result_final(r, "x") - 8) < 1e-14);
    ns_result_close(r);
    ns_model_close(m);
}

/* A run beyond the table ends with it, and one before it does not begin. */
static void ends(void **state)
{
    (void)state;
    write_cubic("cubic.csv");
    char text[600];
    snprintf(text, sizeof text, "input u from \"cubic.csv\" order 1\n%s", body);
    ns_model *model = motion_model_text(text, NULL);
    ns_record_options o = ns_record_defaults(model);
    o.run.until = 3;
    o.until_fixed = true;
    ns_record *r = ns_record_new(model, &o);
    ns_record_run(r);
    assert_true(r->status > 0 && r->outcome->t == 2);
    assert_non_null(strstr(r->message, "cubic.csv"));
    ns_record_free(r);
    o.run.t0 = -1;
    r = ns_record_new(model, &o);
    assert_true(r->status < 0);
    assert_non_null(strstr(r->message, "begins"));
    ns_record_free(r);
    ns_model_free(model);
}

static void bad_tables(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"t,u\n0,1\n2,2\n1,3\n", "bad.csv:4: times must ascend"},
        {"t,u\n0,1\n1,\n2,3\n", "no value at t = 1"},
        {"t,u\n0,1\n1,x\n", "`x` is not a number"},
        {"0,1\n1,2\n", "must name the columns"},
        {"t,u\n0,1\n1\n", "1 values"},
        {"t,pull\n0,1\n1,2\n", "bad.csv has no column `u`"},
        {"t,u\n0,1\n", "at least two rows"},
        {"", "has no table"},
    };
    char text[600];
    snprintf(text, sizeof text, "input u from \"bad.csv\"\n%s", body);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file("bad.csv", bad[i].text);
        motion_refused(text, bad[i].words);
    }
    snprintf(text, sizeof text, "input u from \"nosuch.csv\"\n%s", body);
    motion_refused(text, "cannot read nosuch.csv");
    snprintf(text, sizeof text, "input u in mm = 1\n%s", body);
    motion_refused(text, "SI units");
    snprintf(text, sizeof text, "input u every -1 = x\n%s", body);
    motion_refused(text, "must be positive");
    snprintf(text, sizeof text, "input u from \"cubic.csv\" order 2\n%s", body);
    motion_refused(text, "0 (steps), 1 (lines) or 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cubic_table), cmocka_unit_test(lines_and_steps),
        cmocka_unit_test(prescribed),  cmocka_unit_test(controller),
        cmocka_unit_test(checkpoints), cmocka_unit_test(from_outside),
        cmocka_unit_test(ends),        cmocka_unit_test(bad_tables),
        cmocka_unit_test(jumps),       cmocka_unit_test(other_methods),
        cmocka_unit_test(held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
