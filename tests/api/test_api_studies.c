/* Batches, studies and outputs of the public interface, against what the program prints. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "noslip/noslip.h"

static ns_model *open_gallery(const char *name)
{
    ns_model *m = ns_model_open_gallery(name, NULL, NULL, 0);
    assert_int_equal(ns_model_verdict(m), NS_DONE);
    return m;
}

/* What the program prints for these arguments. */
static char *program(const char *arguments)
{
    char command[600];
    snprintf(command, sizeof command, "%s %s 2>/dev/null", NS_PROGRAM, arguments);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t room = 1 << 22;
    char *text = malloc(room);
    const size_t length = fread(text, 1, room - 1, f);
    text[length] = 0;
    pclose(f);
    return text;
}

/* ---- batches ----------------------------------------------------------------------------- */

/* The rows of a CSV text, numbers of a line from `skip` lines on. */
static void compare_csv(const char *csv, ns_batch *b)
{
    const size_t columns = ns_batch_columns(b);
    const char *at = strchr(csv, '\n');
    for (size_t row = 0; row < ns_batch_rows(b); row++) {
        assert_non_null(at);
        at++;
        for (size_t i = 0; i < columns; i++) {
            char *end;
            const double x = strtod(at, &end), y = ns_batch_values(b)[row * columns + i];
            assert_ptr_not_equal(end, at);
            if (!(isnan(x) && isnan(y)))
                assert_memory_equal(&x, &y, sizeof x);
            at = end + (*end == ',');
        }
        at = strchr(at, '\n');
    }
}

static void sweeps(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    for (int threads = 1; threads < 4; threads += 2) {
        ns_batch *b = ns_batch_new(m);
        assert_int_equal(ns_batch_over(b, "omega.z=-5:5:7"), NS_DONE);
        assert_int_equal(ns_batch_over(b, "m=1:2:2"), NS_DONE);
        assert_int_equal(ns_batch_get(b, "omega.z"), NS_DONE);
        assert_int_equal(ns_batch_get(b, "top=max(omega.x)"), NS_DONE);
        assert_int_equal(ns_batch_set_number(b, "until", 2), NS_DONE);
        assert_int_equal(ns_batch_set_number(b, "threads", threads), NS_DONE);
        if (ns_batch_run(b) != NS_DONE)
            print_message("%s\n", ns_batch_reason(b));
        assert_int_equal(ns_batch_rows(b), 14);
        assert_int_equal(ns_batch_columns(b), 4);
        assert_string_equal(ns_batch_column_name(b, 0), "start.omega.z");
        assert_string_equal(ns_batch_column_name(b, 3), "top");
        assert_string_equal(ns_batch_column_unit(b, 0), "rad/s");
        char *csv = program("sweep rattleback --over omega.z=-5:5:7 --over m=1:2:2 --get "
                            "omega.z --get 'top=max(omega.x)' --until 2 --threads 2");
        compare_csv(csv, b);
        free(csv);
        ns_batch_close(b);
    }
    ns_model_close(m);
}

static int count_rows(void *context, size_t row, const double *columns, ns_verdict verdict,
                      const char *reason)
{
    double *sum = context;
    assert_true(row < 20);
    assert_int_equal(verdict, NS_DONE);
    assert_string_equal(reason, "");
    sum[0]++;
    sum[1] += columns[1];
    return sum[0] >= sum[2];
}

/* Arrays, to the bit what single runs give. */
static void arrays(void **state)
{
    (void)state;
    enum { ROWS = 20 };
    double spin[ROWS];
    const char *names[] = {"omega.z", "m"};
    const double two = 2;
    ns_model *base = open_gallery("rattleback");
    ns_model *m = ns_model_variant_numbers(base, names + 1, &two, 1);
    ns_batch *b = ns_batch_new(m);
    for (int i = 0; i < ROWS; i++)
        spin[i] = -5 + 0.3 * i;
    assert_int_equal(ns_batch_vary(b, "omega.z", spin, ROWS), NS_DONE);
    assert_int_equal(ns_batch_vary(b, "a", spin, ROWS - 1), NS_WRONG);
    assert_int_equal(ns_batch_over(b, "a=1:2:3"), NS_WRONG);
    assert_int_equal(ns_batch_get(b, "omega.z"), NS_DONE);
    assert_int_equal(ns_batch_set_number(b, "until", 1), NS_DONE);
    assert_int_equal(ns_batch_set_number(b, "alone", 1), NS_DONE);
    assert_int_equal(ns_batch_set_text(b, "method", "gauss"), NS_DONE);
    assert_int_equal(ns_batch_run(b), NS_DONE);
    assert_int_equal(ns_batch_columns(b), 2); /* what the variant has set is no column */
    const double *last = ns_batch_column(b, "omega.z");
    assert_non_null(last);
    assert_null(ns_batch_column(b, "nosuch"));
    for (int i = 0; i < ROWS; i += 7) {
        ns_model *one = ns_model_variant_numbers(m, names, &spin[i], 1);
        ns_simulate_options o;
        ns_simulate_defaults(&o, sizeof o);
        o.until = 1;
        o.method = "gauss";
        ns_result *r = ns_simulate(one, &o);
        const double final = ns_result_final(r, "omega.z");
        assert_memory_equal(&final, &last[i], sizeof final);
        assert_int_equal(ns_batch_verdict(b, (size_t)i), NS_DONE);
        assert_string_equal(ns_batch_why(b, (size_t)i), "");
        ns_result_close(r);
        ns_model_close(one);
    }
    double all[3] = {0, 0, 1000}, sum = 0;
    for (int i = 0; i < ROWS; i++)
        sum += last[i];
    assert_int_equal(ns_batch_on_row(b, count_rows, all, 0), NS_DONE);
    assert_int_equal(ns_batch_run(b), NS_DONE);
    assert_true(all[0] == ROWS && fabs(all[1] - sum) < 1e-12);
    assert_null(ns_batch_values(b));
    double few[3] = {0, 0, 3};
    ns_batch_on_row(b, count_rows, few, 1);
    ns_batch_set_number(b, "threads", 1);
    assert_int_equal(ns_batch_run(b), NS_STOPPED);
    assert_true(few[0] == 3);
    ns_batch_close(b);
    ns_model_close(m);
    ns_model_close(base);
}

static void wrong_batches(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    ns_batch *b = ns_batch_new(m);
    assert_int_equal(ns_batch_prepare(b), NS_WRONG); /* nothing varies */
    assert_int_equal(ns_batch_over(b, "m=1:2"), NS_WRONG);
    assert_int_equal(ns_batch_random(b, "m=gauss(1, 2)"), NS_WRONG);
    assert_int_equal(ns_batch_random(b, "m=uniform(1, 2)"), NS_DONE);
    assert_int_equal(ns_batch_prepare(b), NS_WRONG); /* no count */
    assert_int_equal(ns_batch_set_number(b, "count", 5), NS_DONE);
    assert_int_equal(ns_batch_set_number(b, "lanes", 3), NS_WRONG);
    assert_int_equal(ns_batch_set_number(b, "nosuch", 3), NS_WRONG);
    assert_int_equal(ns_batch_set_text(b, "method", "nosuch"), NS_WRONG);
    assert_int_equal(ns_batch_set_text(b, "engine", "native"), NS_DONE);
    ns_batch_set_number(b, "lanes", 0);
    assert_int_equal(ns_batch_prepare(b), NS_DONE);
    assert_int_equal(ns_batch_rows(b), 5);
    assert_int_equal(ns_batch_get(b, "nosuch"), NS_DONE);
    assert_int_equal(ns_batch_prepare(b), NS_WRONG);
    assert_true(strlen(ns_batch_reason(b)) > 0);
    ns_batch_close(b);
    b = ns_batch_new(m);
    const double one = 1;
    ns_batch_vary(b, "nosuch", &one, 1);
    assert_int_equal(ns_batch_run(b), NS_WRONG);
    assert_non_null(strstr(ns_batch_reason(b), "nosuch"));
    ns_batch_close(b);
    ns_model_close(m);
    assert_int_equal(ns_batch_run(NULL), NS_FAILED);
    assert_int_equal(ns_batch_rows(NULL), 0);
    assert_int_equal(ns_batch_verdict(NULL, 0), NS_FAILED);
    ns_batch_close(NULL);
}

/* ---- studies ----------------------------------------------------------------------------- */

/* The object and the summary are the program's, letter by letter. */
static void as_the_program(void **state)
{
    (void)state;
    static const struct {
        const char *model, *study, *name, *value;
    } cases[] = {{"bicycle", "equilibria", "quiet", NULL},
                 {"chaplygin-sleigh", "lyapunov", "until", "5"},
                 {"r2-invariant", "frequencies", "samples", "1024"},
                 {"chaplygin-sleigh", "measure", "quiet", NULL},
                 {"chaplygin-sleigh", "invariants", "quiet", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[300];
        ns_model *m = open_gallery(cases[i].model);
        const char *names[] = {cases[i].name, "json"}, *values[] = {cases[i].value, NULL};
        ns_study *s = ns_study_run(m, NULL, cases[i].study, names, values, 2, NULL, NULL);
        if (ns_study_verdict(s) != NS_DONE)
            print_message("%s: %s\n", cases[i].study, ns_study_messages(s));
        snprintf(arguments, sizeof arguments, "%s %s --%s %s --json", cases[i].study,
                 cases[i].model, cases[i].name, cases[i].value ? cases[i].value : "");
        char *text = program(arguments);
        assert_string_equal(ns_study_json(s), text);
        assert_true(strlen(text) > 10);
        free(text);
        ns_study_close(s);
        ns_model_close(m);
    }
}

static int stop_soon(void *context, double fraction, double at)
{
    (void)at;
    assert_true(fraction >= 0 && fraction <= 1);
    ++*(int *)context;
    return 1;
}

static void studies(void **state)
{
    (void)state;
    ns_model *m = open_gallery("bicycle");
    const char *names[] = {"over"}, *values[] = {"v=4:6.5"};
    ns_study *s = ns_study_run(m, NULL, "equilibria", names, values, 1, NULL, NULL);
    assert_int_equal(ns_study_verdict(s), NS_DONE);
    assert_true(strlen(ns_study_summary(s)) > 0);
    assert_true(ns_study_json(s)[0] == '{');
    assert_true(ns_study_table_count(s) >= 1);
    size_t rows, columns;
    const char *table = ns_study_table(s, 0, &rows, &columns);
    assert_true(rows > 1 && columns > 1);
    const double *numbers;
    const char *unit, *const *texts;
    const char *column = ns_study_column(s, 0, 0, &unit, &numbers, &texts);
    assert_true(strlen(column) > 0 && (numbers || texts));
    size_t again;
    assert_non_null(ns_study_numbers(s, table, "v", &again));
    assert_int_equal(again, rows);
    assert_null(ns_study_numbers(s, table, "nosuch", NULL));
    const char *text;
    double number;
    assert_true(ns_study_fact_count(s) >= 1);
    assert_true(strlen(ns_study_fact(s, 0, &number, &text)) > 0);
    assert_string_equal(ns_study_fact(s, 1000, NULL, NULL), "");
    assert_true(isnan(ns_study_fact_number(s, "nosuch")));
    const char *report = ns_study_report(s);
    assert_true(strncmp(report, "{\"format\":1,", 12) == 0);
    assert_non_null(strstr(report, "\"figures\":[{"));
    assert_ptr_equal(ns_study_report(s), report);
    assert_string_equal(ns_study_report(NULL), "");
    static const char *const files[] = {"api-study.csv", "api-study.json", "api-study.svg"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ns_study_save(s, files[i]), NS_DONE);
        assert_int_equal(access(files[i], F_OK), 0);
        unlink(files[i]);
    }
    assert_int_equal(ns_study_save(s, "api-study.nosuch"), NS_WRONG);
    assert_true(strlen(ns_study_error(s)) > 0);
    ns_study_close(s);
    ns_model_close(m);
    m = open_gallery("chaplygin-sleigh");
    int calls = 0;
    names[0] = "until";
    values[0] = "2000";
    s = ns_study_run(m, NULL, "lyapunov", names, values, 1, stop_soon, &calls);
    assert_int_equal(ns_study_verdict(s), NS_STOPPED);
    assert_true(calls >= 1);
    ns_study_close(s);
    ns_model_close(m);
}

/* What `check` and `invariants` find is there as numbers. */
static void of_the_papers(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    const char *name = "form", *value = "";
    size_t n;
    ns_study *s = ns_study_run(m, NULL, "check", &name, &value, 1, NULL, NULL);
    assert_int_equal(ns_study_verdict(s), NS_DONE);
    assert_true(ns_study_fact_number(s, "form") < 1e-12);
    const double *rank = ns_study_numbers(s, "ranks", "rank", &n);
    assert_true(n == 1 && rank[0] == 6);
    const double *rate = ns_study_numbers(s, "conserved", "rate", &n);
    assert_true(n >= 1 && rate[0] < 1e-10);
    assert_true(ns_study_json(s)[0] == '{');
    ns_study_close(s);
    ns_model_close(m);
    m = open_gallery("falling-disk");
    const char *names[] = {"until", "points"}, *values[] = {"1", "3"};
    s = ns_study_run(m, NULL, "invariants", names, values, 2, NULL, NULL);
    assert_int_equal(ns_study_verdict(s), NS_DONE);
    assert_true(ns_study_fact_number(s, "found") == 2);
    const double *W = ns_study_numbers(s, "eta", "W", &n);
    const double *theta = ns_study_numbers(s, "eta", "theta", NULL);
    assert_int_equal(n, 3);
    assert_true(fabs(W[2] - W[0] * cos(theta[2]) / cos(theta[0])) < 1e-13);
    assert_int_equal(ns_study_save(s, "api-eta.svg"), NS_DONE);
    unlink("api-eta.svg");
    ns_study_close(s);
    ns_model_close(m);
}

/* A variant is studied with its numbers. */
static void of_variants(void **state)
{
    (void)state;
    const char *name = "v", *slower = "4.6";
    ns_model *m = open_gallery("bicycle");
    ns_model *v = ns_model_variant(m, &name, &slower, 1);
    const char *set = "set", *to = "v=4.6";
    ns_study *a = ns_study_run(v, NULL, "equilibria", NULL, NULL, 0, NULL, NULL);
    ns_study *b = ns_study_run(m, NULL, "equilibria", &set, &to, 1, NULL, NULL);
    assert_int_equal(ns_study_verdict(a), NS_DONE);
    size_t n, k;
    const double *x = ns_study_numbers(a, "eigenvalues", "re", &n);
    const double *y = ns_study_numbers(b, "eigenvalues", "re", &k);
    assert_true(n > 0 && n == k);
    assert_memory_equal(x, y, n * sizeof *x);
    ns_study *c = ns_study_run(m, v, "compare", NULL, NULL, 0, NULL, NULL);
    assert_true(ns_study_fact_number(c, "largest_difference") > 0);
    ns_study *d = ns_study_run(m, m, "compare", NULL, NULL, 0, NULL, NULL);
    assert_true(ns_study_fact_number(d, "largest_difference") == 0);
    ns_study_close(a);
    ns_study_close(b);
    ns_study_close(c);
    ns_study_close(d);
    ns_model_close(v);
    ns_model_close(m);
}

static void wrong_studies(void **state)
{
    (void)state;
    ns_model *m = open_gallery("bicycle");
    const char *name = "nosuch", *value = "1";
    ns_study *s = ns_study_run(m, NULL, "nosuch", NULL, NULL, 0, NULL, NULL);
    assert_int_equal(ns_study_verdict(s), NS_WRONG);
    assert_non_null(strstr(ns_study_messages(s), "nosuch"));
    ns_study_close(s);
    s = ns_study_run(m, NULL, "equilibria", &name, &value, 1, NULL, NULL);
    assert_int_equal(ns_study_verdict(s), NS_WRONG);
    assert_non_null(strstr(ns_study_messages(s), "nosuch"));
    assert_int_equal(ns_study_table_count(s), 0);
    ns_study_close(s);
    ns_model_close(m);
    s = ns_study_run(NULL, NULL, "equilibria", NULL, NULL, 0, NULL, NULL);
    assert_int_equal(ns_study_verdict(s), NS_FAILED);
    ns_study_close(s);
    ns_study_close(NULL);
    assert_int_equal(ns_study_verdict(NULL), NS_FAILED);
    const char *argument, *help;
    assert_non_null(ns_study_option("equilibria", 0, &argument, &help));
    assert_true(strlen(help) > 0);
    assert_null(ns_study_option("equilibria", 1000, NULL, NULL));
    assert_null(ns_study_option("nosuch", 0, NULL, NULL));
}

/* ---- outputs ----------------------------------------------------------------------------- */

static void outputs(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    ns_simulate_options o;
    ns_simulate_defaults(&o, sizeof o);
    o.until = 1;
    o.every = 0.1;
    o.motion = 1;
    o.trust = 1;
    o.digits = 1;
    ns_result *r = ns_simulate(m, &o);
    assert_int_equal(ns_result_verdict(r), NS_DONE);
    const char *format;
    for (size_t i = 0; (format = ns_list("formats", i, NULL)) != NULL; i++) {
        size_t length = 0;
        char *bytes = ns_result_bytes(r, format, &length);
        if (!bytes)
            print_message("%s: %s\n", format, ns_result_error(r));
        const bool lacks = strcmp(format, "live") == 0; /* the playground is built apart */
        const char *why = lacks ? "needs the playground" : "built without";
        assert_true(bytes || strstr(ns_result_error(r), why));
        assert_true(!bytes || length > 100);
        ns_free(bytes);
    }
    assert_null(ns_result_bytes(r, "nosuch", NULL));
    assert_true(strlen(ns_result_error(r)) > 0);
    const signed char *digits = ns_result_digits(r, 0);
    assert_non_null(digits);
    assert_true(digits[5] >= 8 && digits[5] <= 15);
    assert_true(strlen(ns_result_trust(r)) > 0);
    assert_true(ns_result_diagnostic(r, "trust.largest") < 1e-8);
    assert_string_equal(ns_result_method(r, NULL), "gauss");
    double x[40];
    assert_int_equal(ns_result_state(r, x), NS_DONE);
    assert_true(x[ns_model_index(m, NS_STATES, "omega.z")] == ns_result_final(r, "omega.z"));
    ns_result_close(r);
    o.motion = o.trust = o.digits = 0;
    o.engine = "native";
    r = ns_simulate(m, &o);
    const char *why;
    assert_true(ns_result_native(r, &why) || strlen(why) > 0);
    assert_null(ns_result_bytes(r, "svg", NULL)); /* no motion was kept */
    assert_null(ns_result_digits(r, 0));
    assert_string_equal(ns_result_trust(r), "");
    ns_result_close(r);
    o.engine = "nosuch";
    r = ns_simulate(m, &o);
    assert_int_equal(ns_result_verdict(r), NS_WRONG);
    assert_non_null(strstr(ns_result_reason(r), "nosuch"));
    ns_result_close(r);
    ns_model_close(m);
}

static void equations(void **state)
{
    (void)state;
    ns_model *m = open_gallery("chaplygin-sleigh");
    const char *form;
    for (size_t i = 0; (form = ns_list("equations", i, NULL)) != NULL; i++) {
        char *text = ns_model_equations(m, form);
        assert_non_null(text);
        assert_true(strlen(text) > 100);
        if (strcmp(form, "mathml") != 0) {
            char *other = program(strcmp(form, "text") == 0 ? "equations chaplygin-sleigh"
                                  : strcmp(form, "c") == 0
                                      ? "emit c chaplygin-sleigh"
                                      : "equations chaplygin-sleigh --latex");
            if (strcmp(form, "c") != 0) /* which names the file it came from */
                assert_string_equal(text, other);
            free(other);
        }
        ns_free(text);
    }
    assert_null(ns_model_equations(m, "nosuch"));
    assert_null(ns_model_equations(NULL, "text"));
    ns_model_close(m);
}

/* ---- tables of sweeps on disk, and claims ------------------------------------------------ */

/* Limits of ranges are expressions of the model's parameters, or of the variant's. */
static void ranges_by_expressions(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    ns_model *heavy = ns_model_variant_numbers(m, (const char *[]){"m"}, (double[]){3}, 1);
    for (int variant = 0; variant < 2; variant++) {
        ns_batch *b = ns_batch_new(variant ? heavy : m);
        assert_int_equal(ns_batch_over(b, "omega.z=-2*m:max(m, 4):3"), NS_DONE);
        assert_int_equal(ns_batch_get(b, "energy"), NS_DONE);
        assert_int_equal(ns_batch_set_number(b, "until", 0.5), NS_DONE);
        assert_int_equal(ns_batch_run(b), NS_DONE);
        char *csv = program(variant
                                ? "sweep rattleback --set m=3 --over 'omega.z=-2*m:max(m, 4):3'"
                                  " --get energy --until 0.5"
                                : "sweep rattleback --over 'omega.z=-2*m:max(m, 4):3' "
                                  "--get energy --until 0.5");
        compare_csv(csv, b);
        free(csv);
        ns_batch_close(b);
    }
    ns_batch *b = ns_batch_new(m);
    assert_int_equal(ns_batch_over(b, "omega.z=-2*mass:4:3"), NS_DONE);
    assert_int_equal(ns_batch_prepare(b), NS_WRONG);
    assert_non_null(strstr(ns_batch_reason(b), "mass"));
    ns_batch_close(b);
    ns_model_close(heavy);
    ns_model_close(m);
}

static ns_study *sweep(ns_model *m, const char *more, const char *value, const char *out)
{
    const char *const names[] = {"over", "get", "until", "out", more};
    const char *const values[] = {"omega.z=-5:5:6", "energy,top=max(omega.x)", "0.5", out,
                                  value};
    return ns_study_run(m, NULL, "sweep", names, values, more ? 5 : 4, NULL, NULL);
}

#define SWEEP                                                                                  \
    "sweep rattleback --over omega.z=-5:5:6 --get 'energy,top=max(omega.x)' --until 0.5 "

/* Parts, joined and continued, by the library and by the program, are one table. */
static void sweeps_on_disk(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    unlink("part-1.h5");
    unlink("part-2.h5");
    unlink("whole.h5");
    ns_study *s = sweep(m, "shard", "1/2", "part-1.h5");
    if (ns_study_verdict(s) != NS_DONE && strstr(ns_study_messages(s), "HDF5")) {
        ns_study_close(s);
        ns_model_close(m);
        skip();
    }
    assert_int_equal(ns_study_verdict(s), NS_DONE);
    assert_true(ns_study_fact_number(s, "rows") == 3);
    ns_study_close(s);
    free(program(SWEEP "--shard 2/2 --out part-2.h5"));
    s = sweep(m, "join", "part-*.h5", "whole.h5");
    assert_int_equal(ns_study_verdict(s), NS_DONE);
    assert_true(ns_study_fact_number(s, "complete") == 6);
    size_t rows;
    const double *top = ns_study_numbers(s, "motions", "top", &rows);
    assert_int_equal(rows, 6);
    ns_batch *b = ns_batch_new(m);
    ns_batch_over(b, "omega.z=-5:5:6");
    ns_batch_get(b, "energy");
    ns_batch_get(b, "top=max(omega.x)");
    ns_batch_set_number(b, "until", 0.5);
    assert_int_equal(ns_batch_run(b), NS_DONE);
    assert_memory_equal(top, ns_batch_column(b, "top"), rows * sizeof *top);
    ns_batch_close(b);
    ns_study_close(s);
    /* the program finds nothing left to do in it, and draws it */
    char *text = program(SWEEP "--out whole.h5 --figure whole.svg");
    assert_non_null(strstr(text, "6 of 6, 6 of them from before"));
    free(text);
    s = sweep(m, "report", "whole.html", "whole.h5");
    assert_true(ns_study_fact_number(s, "from_before") == 6);
    assert_int_equal(access("whole.html", R_OK), 0);
    assert_int_equal(ns_study_save(s, "again.svg"), NS_DONE);
    ns_study_close(s);
    ns_model_close(m);
}

/* The numbers of a variant are part of its sweeps. */
static void sweeps_of_variants(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    ns_model *v = ns_model_variant_numbers(m, (const char *[]){"m", "omega.x"},
                                           (double[]){3, 0.25}, 2);
    assert_int_equal(ns_model_verdict(v), NS_DONE);
    const char *const names[] = {"over", "get", "until"};
    const char *const values[] = {"omega.z=-5:5:6", "energy", "0.5"};
    ns_study *s = ns_study_run(v, NULL, "sweep", names, values, 3, NULL, NULL);
    assert_int_equal(ns_study_verdict(s), NS_DONE);
    size_t rows;
    const double *energy = ns_study_numbers(s, "motions", "energy", &rows);
    assert_int_equal(rows, 6);
    ns_batch *b = ns_batch_new(v);
    ns_batch_over(b, values[0]);
    ns_batch_get(b, "energy");
    ns_batch_set_number(b, "until", 0.5);
    assert_int_equal(ns_batch_run(b), NS_DONE);
    assert_memory_equal(energy, ns_batch_column(b, "energy"), rows * sizeof *energy);
    ns_batch_close(b);
    ns_study_close(s);
    ns_model_close(v);
    ns_model_close(m);
}

static int stop_at_once(void *context, double fraction, double at)
{
    (void)context;
    (void)fraction;
    (void)at;
    return 1;
}

static void claims(void **state)
{
    (void)state;
    const char *const any[] = {""};
    ns_study *s = ns_study_run(NULL, NULL, "reproduce", any, (const char *[]){"b-measure"}, 1,
                               NULL, NULL);
    assert_int_equal(ns_study_verdict(s), NS_DONE);
    assert_true(ns_study_fact_number(s, "claims") == 1);
    assert_true(ns_study_fact_number(s, "failed") == 0);
    size_t rows;
    const double *holds = ns_study_numbers(s, "results", "holds", &rows);
    assert_true(rows >= 2 && (double)rows == ns_study_fact_number(s, "expectations"));
    for (size_t i = 0; i < rows; i++)
        assert_true(holds[i] == 1);
    assert_int_equal(ns_study_save(s, "claims.html"), NS_WRONG);
    assert_int_equal(ns_study_save(s, "claims.csv"), NS_DONE);
    ns_study_close(s);
    FILE *f = fopen("own.claim", "w");
    fputs("title \"two\"\nsource nobody\nexpect \"right\": 1 + 1 = 2 within 0\n"
          "expect \"wrong\": 1 + 1 = 3 within 0\n",
          f);
    fclose(f);
    s = ns_study_run(NULL, NULL, "reproduce", any, (const char *[]){"own.claim"}, 1, NULL,
                     NULL);
    assert_int_equal(ns_study_verdict(s), NS_STOPPED);
    holds = ns_study_numbers(s, "results", "holds", &rows);
    assert_int_equal(rows, 2);
    assert_true(holds[0] == 1 && holds[1] == 0);
    ns_study_close(s);
    s = ns_study_run(NULL, NULL, "reproduce", any, (const char *[]){"nothing"}, 1, NULL, NULL);
    assert_int_equal(ns_study_verdict(s), NS_WRONG);
    ns_study_close(s);
    s = ns_study_run(NULL, NULL, "reproduce", NULL, NULL, 0, stop_at_once, NULL);
    assert_int_equal(ns_study_verdict(s), NS_STOPPED);
    assert_true(ns_study_fact_number(s, "claims") == 0);
    ns_study_close(s);
}

/* What the program does with texts of models, without a model. */
static void texts(void **state)
{
    (void)state;
    const char *const any[] = {""};
    ns_study *s = ns_study_run(NULL, NULL, "new", any, (const char *[]){"lie"}, 1, NULL, NULL);
    ns_model *m = ns_model_open_text("new", ns_study_summary(s), NULL, NULL, 0);
    assert_int_equal(ns_model_verdict(m), NS_DONE);
    assert_string_equal(ns_model_formulation(m), "lie");
    ns_model_close(m);
    ns_study_close(s);
    s = ns_study_run(NULL, NULL, "new", any, (const char *[]){"lye"}, 1, NULL, NULL);
    assert_int_equal(ns_study_verdict(s), NS_WRONG);
    assert_non_null(strstr(ns_study_messages(s), "did you mean `lie`"));
    ns_study_close(s);
    s = ns_study_run(NULL, NULL, "new", NULL, NULL, 0, NULL, NULL);
    assert_int_equal(ns_study_verdict(s), NS_WRONG);
    ns_study_close(s);
    FILE *f = fopen("untidy.mech", "w");
    fputs("param a=1 ,b=2", f);
    fclose(f);
    s = ns_study_run(NULL, NULL, "format", any, (const char *[]){"untidy.mech"}, 1, NULL, NULL);
    assert_string_equal(ns_study_summary(s), "param a = 1, b = 2\n");
    ns_study_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),          cmocka_unit_test(sweeps),
        cmocka_unit_test(arrays),         cmocka_unit_test(wrong_batches),
        cmocka_unit_test(as_the_program), cmocka_unit_test(studies),
        cmocka_unit_test(of_the_papers),  cmocka_unit_test(of_variants),
        cmocka_unit_test(wrong_studies),  cmocka_unit_test(outputs),
        cmocka_unit_test(equations),      cmocka_unit_test(ranges_by_expressions),
        cmocka_unit_test(sweeps_on_disk), cmocka_unit_test(sweeps_of_variants),
        cmocka_unit_test(claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
