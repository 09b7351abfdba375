/* The public interface, used as a stranger would: only noslip/noslip.h is included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "noslip/noslip.h"

static const char sleigh[] =
    "title \"Sleigh\"\n"
    "param m = 1 kg, J = 1, a = 1 m\n"
    "coordinate theta in rad, x in m, y in m\n"
    "let vx = x' - a*sin(theta)*theta', vy = y' + a*cos(theta)*theta'\n"
    "lagrangian m/2*(vx^2 + vy^2) + J/2*theta'^2\n"
    "constraint blade: y'*cos(theta) - x'*sin(theta) = 0\n"
    "start { theta = 0; x = 0; y = 0; theta' = 1; x' = 0 }\n"
    "observe speed in m/s = x'*cos(theta) + y'*sin(theta)\n"
    "event quarter: theta = pi/2\n"
    "run { until 5 }\n";

static ns_model *open_sleigh(void)
{
    ns_model *model = ns_model_open_text("sleigh", sleigh, NULL, NULL, 0);
    if (ns_model_verdict(model) != NS_DONE)
        print_message("%s", ns_model_messages(model));
    assert_int_equal(ns_model_verdict(model), NS_DONE);
    return model;
}

/* NOSLIP_SIMD: a level that is not there is an error, a lower one gives the same bits. */
static void instruction_sets(void **state)
{
    (void)state;
    const char *was = getenv("NOSLIP_SIMD");
    char *kept = was ? strdup(was) : NULL;
    double x[2];
    for (int i = 0; i < 2; i++) {
        if (i)
            setenv("NOSLIP_SIMD", "plain", 1);
        ns_model *model = open_sleigh();
        ns_result *result = ns_simulate(model, NULL);
        x[i] = ns_result_final(result, "x");
        ns_result_close(result);
        ns_model_close(model);
    }
    assert_memory_equal(&x[0], &x[1], sizeof x[0]);
    setenv("NOSLIP_SIMD", "sse2", 1);
    ns_model *model = ns_model_open_text("sleigh", sleigh, NULL, NULL, 0);
    assert_int_equal(ns_model_verdict(model), NS_WRONG);
    assert_non_null(strstr(ns_model_messages(model), "NOSLIP_SIMD: expected plain, avx2 or"));
    ns_model_close(model);
    if (kept)
        setenv("NOSLIP_SIMD", kept, 1);
    else
        unsetenv("NOSLIP_SIMD");
    free(kept);
}

static void version(void **state)
{
    (void)state;
    assert_string_equal(ns_version(), NS_VERSION);
}

static void models(void **state)
{
    (void)state;
    ns_model *model = open_sleigh();
    assert_string_equal(ns_model_title(model), "Sleigh");
    assert_string_equal(ns_model_formulation(model), "lagrange");
    assert_string_equal(ns_model_messages(model), "");
    assert_int_equal(ns_model_count(model, NS_PARAMETERS), 3);
    assert_int_equal(ns_model_count(model, NS_STATES), 6);
    assert_int_equal(ns_model_count(model, NS_CONSTRAINTS), 1);
    assert_int_equal(ns_model_count(model, NS_EVENTS), 1);
    assert_string_equal(ns_model_name(model, NS_PARAMETERS, 1), "J");
    assert_string_equal(ns_model_unit(model, NS_PARAMETERS, 0), "kg");
    assert_true(ns_model_number(model, NS_PARAMETERS, 1) == 1);
    assert_string_equal(ns_model_name(model, NS_STATES, 0), "theta");
    assert_string_equal(ns_model_unit(model, NS_STATES, 3), "rad/s");
    assert_true(ns_model_number(model, NS_STATES, 3) == 1);
    assert_string_equal(ns_model_name(model, NS_CONSTRAINTS, 0), "blade");
    assert_string_equal(ns_model_name(model, NS_EVENTS, 0), "quarter");
    assert_string_equal(ns_model_name(model, NS_EVENTS, 1), "");
    assert_string_equal(ns_model_unit(model, NS_EVENTS, 0), "");
    assert_true(isnan(ns_model_number(model, NS_EVENTS, 0)));
    assert_int_equal(ns_model_count(model, (ns_kind)99), 0);
    ns_model_close(model);

    const char *names[] = {"m", "J"}, *values[] = {"2 kg", "m/4"};
    model = ns_model_open_text("sleigh", sleigh, names, values, 2);
    assert_int_equal(ns_model_verdict(model), NS_DONE);
    assert_true(ns_model_number(model, NS_PARAMETERS, 0) == 2);
    assert_true(ns_model_number(model, NS_PARAMETERS, 1) == 0.5);
    ns_model_close(model);

    names[0] = "mm";
    model = ns_model_open_text("sleigh", sleigh, names, values, 1);
    assert_int_equal(ns_model_verdict(model), NS_WRONG);
    assert_non_null(strstr(ns_model_messages(model), "mm"));
    assert_int_equal(ns_model_count(model, NS_STATES), 0);
    ns_result *result = ns_simulate(model, NULL);
    assert_int_equal(ns_result_verdict(result), NS_WRONG);
    assert_int_equal(ns_result_rows(result), 0);
    ns_result_close(result);
    ns_model_close(model);

    model = ns_model_open("nosuch.mech", NULL, NULL, 0);
    assert_int_equal(ns_model_verdict(model), NS_WRONG);
    assert_non_null(strstr(ns_model_messages(model), "nosuch.mech"));
    ns_model_close(model);
}

/* With these numbers theta' = sech(t/sqrt 2) and the speed is sqrt 2 tanh(t/sqrt 2). */
/* A run tells its modes; a simulation that is changed on the way stays in its mode. */
static void modes(void **state)
{
    (void)state;
    static const char text[] =
        "mode up, down\nparam a = 1\nstate x' = a*(mode.up - mode.down)\n"
        "start { x = 0; mode up }\nrun { until 3 }\n"
        "event top: x = 1 rising in up { mode down }";
    ns_model *model = ns_model_open_text("modes", text, NULL, NULL, 0);
    assert_int_equal(ns_model_verdict(model), NS_DONE);
    ns_result *result = ns_simulate(model, NULL);
    assert_int_equal(ns_result_modes(result), 2);
    assert_string_equal(ns_result_mode_name(result, 0), "up");
    assert_string_equal(ns_result_mode_name(result, 1), "down");
    assert_true(ns_result_mode_time(result, 1) == 1 && isnan(ns_result_mode_time(result, 2)));
    assert_true(fabs(ns_result_final(result, "x") + 1) < 1e-15);
    ns_result_close(result);
    ns_simulation *simulation = ns_simulation_new(model, NULL);
    assert_int_equal(ns_simulation_advance(simulation, 2), NS_DONE);
    assert_int_equal(ns_simulation_set_parameter(simulation, "a", 2), NS_DONE);
    assert_int_equal(ns_simulation_advance(simulation, 3), NS_DONE);
    assert_true(fabs(ns_simulation_value(simulation, "x") + 2) < 1e-15);
    ns_simulation_close(simulation);
    ns_model_close(model);
}

static void runs(void **state)
{
    (void)state;
    ns_model *model = open_sleigh();
    ns_simulate_options options;
    ns_simulate_defaults(&options, sizeof options);
    options.every = 0.5;
    ns_result *result = ns_simulate(model, &options);
    assert_int_equal(ns_result_verdict(result), NS_DONE);
    assert_string_equal(ns_result_reason(result), "");
    assert_int_equal(ns_result_rows(result), 11);
    const double *t = ns_result_times(result), *omega = ns_result_values(result, "theta'");
    const double *speed = ns_result_values(result, "speed");
    assert_non_null(omega);
    assert_non_null(speed);
    assert_null(ns_result_values(result, "nosuch"));
    for (size_t i = 0; i < 11; i++) {
        assert_true(fabs(omega[i] - 1 / cosh(t[i] / sqrt(2))) < 1e-14);
        assert_true(fabs(speed[i] - sqrt(2) * tanh(t[i] / sqrt(2))) < 1e-14);
    }
    assert_ptr_equal(ns_result_column(result, 0),
                     ns_result_values(result, ns_model_name(model, NS_VALUES, 0)));
    assert_null(ns_result_column(result, 1000));
    assert_true(fabs(ns_result_final(result, "theta'") - omega[10]) == 0);
    assert_true(isnan(ns_result_final(result, "nosuch")));

    assert_int_equal(ns_result_events(result), 1);
    assert_string_equal(ns_result_event_name(result, 0), "quarter");
    assert_int_equal(ns_result_event_direction(result, 0), 1);
    assert_true(fabs(ns_result_event_value(result, 0, "theta") - acos(0)) < 1e-14);
    const double when = ns_result_event_time(result,
                                             0); /* theta = 2 sqrt 2 atan(tanh(t/2 sqrt 2)) */
    assert_true(fabs(2 * sqrt(2) * atan(tanh(when / sqrt(8))) - acos(0)) < 1e-13);
    assert_true(isnan(ns_result_event_time(result, 1)));
    assert_int_equal(ns_result_modes(result), 0);
    assert_string_equal(ns_result_mode_name(result, 0), "");

    assert_true(ns_result_diagnostic(result, "energy_drift") < 1e-14);
    assert_true(ns_result_diagnostic(result, "constraint.blade") < 1e-14);
    assert_true(ns_result_diagnostic(result, "steps") > 0);
    assert_true(ns_result_diagnostic(result, "t_end") == 5);
    assert_true(isnan(ns_result_diagnostic(result, "constraint.nosuch")));
    assert_true(isnan(ns_result_diagnostic(result, "nosuch")));

    assert_int_equal(ns_result_write(result, "api-test.csv"), NS_DONE);
    assert_int_equal(access("api-test.csv", R_OK), 0);
    unlink("api-test.csv");
    assert_int_equal(ns_result_write(result, "api-test.txt"), NS_WRONG);
    assert_non_null(strstr(ns_result_error(result), "api-test.txt"));
    assert_int_equal(ns_result_write(result, "nosuch/api-test.h5"), NS_WRONG);
    assert_non_null(strstr(ns_result_error(result), "nosuch/api-test.h5"));
    ns_result_close(result);

    options.method = "nosuch";
    result = ns_simulate(model, &options);
    assert_int_equal(ns_result_verdict(result), NS_WRONG);
    assert_non_null(strstr(ns_result_reason(result), "nosuch"));
    assert_int_equal(ns_result_write(result, "api-test.csv"), NS_WRONG);
    ns_result_close(result);
    ns_model_close(model);
}

static void options_by_name(void **state)
{
    (void)state;
    ns_model *model = open_sleigh();
    ns_simulate_options *o = ns_options_new();
    const double at[] = {1, 2};
    const char *const files[] = {"api-one.csv", "api-two.json"};
    assert_int_equal(ns_options_set_number(o, "until", 2), NS_DONE);
    assert_int_equal(ns_options_set_numbers(o, "at", at, 2), NS_DONE);
    assert_int_equal(ns_options_set_numbers(o, "at", at, 2), NS_DONE); /* again: no leak */
    assert_int_equal(ns_options_set_text(o, "method", "dop853"), NS_DONE);
    assert_int_equal(ns_options_set_texts(o, "outputs", files, 2), NS_DONE);
    assert_int_equal(ns_options_set_number(o, "project", 0), NS_DONE);
    assert_int_equal(ns_options_set_number(o, "nosuch", 0), NS_WRONG);
    assert_int_equal(ns_options_set_number(o, "method", 0), NS_WRONG);
    assert_int_equal(ns_options_set_text(o, "until", "2"), NS_WRONG);
    size_t n = 0;
    const char *type, *help;
    while (ns_options_name(n, &type, &help)) {
        assert_non_null(type);
        assert_true(strlen(help) > 0);
        n++;
    }
    assert_true(n >= 10);
    ns_result *result = ns_simulate(model, o);
    assert_int_equal(ns_result_verdict(result), NS_DONE);
    assert_int_equal(ns_result_rows(result), 2);
    assert_int_equal(unlink(files[0]) | unlink(files[1]), 0);
    ns_result_close(result);
    ns_options_free(o);
    ns_model_close(model);
}

static int stop_at_once(void *context, double fraction, double t)
{
    (void)fraction;
    (void)t;
    ++*(int *)context;
    return 1;
}

/* An end that the model asks for is done, with its reason. */
static void ending_as_asked(void **state)
{
    (void)state;
    static const char text[] = "param v = 1\nstate x' = v\nstart { x = 0 }\n"
                               "event wall: x = 1 stop\nrun { until 2 }\n";
    ns_model *model = ns_model_open_text("wall", text, NULL, NULL, 0);
    ns_result *result = ns_simulate(model, NULL);
    assert_int_equal(ns_result_verdict(result), NS_DONE);
    assert_string_equal(ns_result_reason(result), "ended at t = 1 by the event wall");
    assert_true(ns_result_diagnostic(result, "t_end") == 1);
    ns_result_close(result);
    ns_model_close(model);
}

static void stopping(void **state)
{
    (void)state;
    ns_model *model = open_sleigh();
    ns_simulate_options options;
    ns_simulate_defaults(&options, sizeof options);
    int calls = 0;
    options.until = 1e6;
    options.max_step = 0.01;
    options.progress = stop_at_once;
    options.context = &calls;
    ns_result *result = ns_simulate(model, &options);
    assert_int_equal(ns_result_verdict(result), NS_STOPPED);
    assert_true(strlen(ns_result_reason(result)) > 0);
    assert_true(calls == 1 && ns_result_diagnostic(result, "t_end") < 1e6);
    assert_int_equal(ns_result_rows(result), 1);
    ns_result_close(result);
    ns_model_close(model);
}

/* A caller compiled for a version with fewer options. */
static void shorter_struct(void **state)
{
    (void)state;
    ns_model *model = open_sleigh();
    struct {
        size_t size;
        double until;
    } early;
    memset(&early, 0, sizeof early);
    ns_simulate_defaults((ns_simulate_options *)&early, sizeof early);
    assert_int_equal(early.size, sizeof early);
    early.until = 1;
    ns_result *result = ns_simulate(model, (const ns_simulate_options *)&early);
    assert_int_equal(ns_result_verdict(result), NS_DONE);
    assert_true(ns_result_diagnostic(result, "t_end") == 1);
    ns_result_close(result);
    ns_model_close(model);
}

static void nothing(void **state)
{
    (void)state;
    assert_int_equal(ns_model_verdict(NULL), NS_FAILED);
    assert_string_equal(ns_model_title(NULL), "");
    assert_int_equal(ns_model_count(NULL, NS_STATES), 0);
    ns_result *result = ns_simulate(NULL, NULL);
    assert_int_equal(ns_result_verdict(result), NS_FAILED);
    assert_int_equal(ns_result_write(result, "x.csv"), NS_FAILED);
    ns_result_close(result);
    assert_int_equal(ns_result_verdict(NULL), NS_FAILED);
    assert_int_equal(ns_result_rows(NULL), 0);
    assert_null(ns_result_values(NULL, "x"));
    assert_true(isnan(ns_result_diagnostic(NULL, "steps")));
    assert_int_equal(ns_options_set_number(NULL, "until", 1), NS_FAILED);
    ns_model_close(NULL);
    ns_result_close(NULL);
    ns_options_free(NULL);
}

/* Runs in quadruple precision, where the library has them. */
static void quad(void **state)
{
    (void)state;
    ns_model *model = open_sleigh();
    ns_simulate_options options;
    ns_simulate_defaults(&options, sizeof options);
    options.until = 1;
    ns_result *plain = ns_simulate(model, &options);
    assert_int_equal(ns_result_verdict(plain), NS_DONE);
    assert_null(ns_result_low(plain, 0));
    options.method = "quad";
    ns_result *result = ns_simulate(model, &options);
    if (ns_result_verdict(result) == NS_DONE) {
        const double *value = ns_result_column(result, 0), *low = ns_result_low(result, 0);
        assert_non_null(low);
        assert_true(fabs(low[0]) <= 0x1p-53 * fabs(value[0]));
        assert_true(fabs(value[0] - ns_result_column(plain, 0)[0]) < 1e-12);
        assert_true(ns_result_diagnostic(result, "energy_drift") < 1e-29);
    } else
        assert_non_null(strstr(ns_result_reason(result), "gcc"));
    ns_result_close(plain);
    ns_result_close(result);
    ns_model_close(model);
}

/* All that a model of fractions comes to, in texts; to be freed. */
static char *texts_of_fractions(void)
{
    static const char text[] =
        "param a = 0.75\ncoordinate x\ninput push from \"%s\"\n"
        "lagrangian x'^2/2 - 1.5*a*x^2/2\nforce x = push - 0.25*x'\n"
        "event low: x = -0.125\nstart { x = 0.5; x' = 1e-1 }\nrun { until 1.5 }\n";
    static const char *const forms[] = {"text", "latex", "c"};
    static const char *const names[] = {"until"}, *const words[] = {"0.75"};
    char path[] = "/tmp/noslip-commas-XXXXXX", model_text[400], *out = NULL;
    size_t length = 0, n = 0;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    static const char table[] = "t,push\n0,0.5\n2.5,1.25\n";
    assert_int_equal(write(file, table, sizeof table - 1), sizeof table - 1);
    close(file);
    snprintf(model_text, sizeof model_text, text, path);
    FILE *all = open_memstream(&out, &length);
    ns_model *model = ns_model_open_text("fractions", model_text, NULL, NULL, 0);
    if (ns_model_verdict(model) != NS_DONE)
        fail_msg("%s", ns_model_messages(model));
    for (int i = 0; i < 3; i++) {
        char *equations = ns_model_equations(model, forms[i]);
        fprintf(all, "%s\n", equations ? equations : "none");
        ns_free(equations);
    }
    ns_simulate_options *options = ns_options_new();
    ns_options_set_number(options, "every", 0.125);
    for (int quad = 0; quad < 2; quad++) {
        ns_options_set_text(options, "method", quad ? "quad" : "gauss");
        ns_result *result = ns_simulate(model, options);
        char *bytes = ns_result_bytes(result, "csv", &n);
        fprintf(all, "%.*s\n%s\n", (int)n, bytes ? bytes : "", ns_result_reason(result));
        ns_free(bytes);
        ns_result_close(result);
    }
    ns_options_free(options);
    ns_batch *batch = ns_batch_new(model);
    ns_batch_over(batch, "a=0.25:1.25:3");
    ns_batch_get(batch, "x@0.625");
    ns_batch_run(batch);
    for (size_t i = 0; i < ns_batch_rows(batch) * ns_batch_columns(batch); i++)
        fprintf(all, "%.0f ", 1e12 * ns_batch_values(batch)[i]);
    ns_batch_close(batch);
    ns_study *study = ns_study_run(model, NULL, "lyapunov", names, words, 1, NULL, NULL);
    fprintf(all, "%s\n", ns_study_messages(study));
    for (size_t i = 0; i < ns_study_fact_count(study); i++) {
        const char *value = "";
        double number = 0;
        const char *name = ns_study_fact(study, i, &number, &value);
        if (!strstr(name, "seconds"))
            fprintf(all, "%s %s %.0f\n", name, value ? value : "", 1e12 * number);
    }
    ns_study_close(study);
    ns_model_close(model);
    unlink(path);
    fclose(all);
    for (char *at = out; (at = strstr(at, path)) != NULL;) /* another name each time */
        memset(at, '-', sizeof path - 1);
    return out;
}

/* A program whose numbers have commas gets the same texts and numbers, and keeps its commas. */
static void commas(void **state)
{
    (void)state;
    char folder[] = "/tmp/noslip-locale-XXXXXX", command[200];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 --no-archive %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    const char *was = getenv("LOCPATH");
    char *right = texts_of_fractions(), *kept = was ? strdup(was) : NULL;
    setenv("LOCPATH", folder, 1);
    const bool there = system(command) == 0 && setlocale(LC_ALL, "de_DE.UTF-8");
    char *got = there ? texts_of_fractions() : NULL;
    const bool comma = strcmp(localeconv()->decimal_point, ",") == 0;
    setlocale(LC_ALL, "C");
    kept ? setenv("LOCPATH", kept, 1) : unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r %s", folder);
    (void)!system(command);
    if (there) {
        assert_true(comma);
        assert_string_equal(got, right);
    }
    free(kept);
    free(got);
    free(right);
    if (!there)
        skip(); /* no localedef, or nothing to make a locale of */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quad),
        cmocka_unit_test(version),
        cmocka_unit_test(instruction_sets),
        cmocka_unit_test(models),
        cmocka_unit_test(runs),
        cmocka_unit_test(modes),
        cmocka_unit_test(options_by_name),
        cmocka_unit_test(stopping),
        cmocka_unit_test(ending_as_asked),
        cmocka_unit_test(shorter_struct),
        cmocka_unit_test(nothing),
        cmocka_unit_test(commas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
