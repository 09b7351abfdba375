/* Models of the public interface: variants, messages as data, roles, lists.  As a stranger
 * would: only noslip/noslip.h is included. */
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

#include "noslip/noslip.h"

static ns_model *open_gallery(const char *name)
{
    ns_model *m = ns_model_open_gallery(name, NULL, NULL, 0);
    if (ns_model_verdict(m) != NS_DONE)
        print_message("%s", ns_model_messages(m));
    assert_int_equal(ns_model_verdict(m), NS_DONE);
    return m;
}

static void lists(void **state)
{
    (void)state;
    const char *summary, *list;
    size_t n = 0;
    for (; (list = ns_list("lists", n, &summary)) != NULL; n++) {
        assert_non_null(ns_list(list, 0, &summary));
        assert_null(ns_list(list, 100000, NULL));
    }
    assert_true(n >= 8);
    assert_null(ns_list("nosuch", 0, NULL));
    assert_null(ns_gallery_text("nosuch"));
    assert_non_null(strstr(ns_gallery_text("rattleback"), "body"));
    bool gauss = false;
    for (size_t i = 0; ns_list("methods", i, &summary); i++)
        gauss = gauss || strcmp(ns_list("methods", i, NULL), "gauss") == 0;
    assert_true(gauss);
}

/* Derivatives of the motion: a copy with more values, through every function for models. */
static void sensitivities(void **state)
{
    (void)state;
    ns_model *m = open_gallery("harmonic-oscillator-first-order");
    ns_model *with = ns_model_sensitivities(m, "start");
    assert_int_equal(ns_model_verdict(with), NS_DONE);
    const size_t n = ns_model_count(m, NS_STATES);
    assert_int_equal(ns_model_count(with, NS_STATES), n * (n + 1));
    ns_simulate_options o;
    ns_simulate_defaults(&o, sizeof o);
    o.until = 1;
    ns_result *r = ns_simulate(with, &o);
    assert_int_equal(ns_result_verdict(r), NS_DONE);
    char name[200];
    snprintf(name, sizeof name, "%s by start.%s", ns_model_name(m, NS_STATES, 0),
             ns_model_name(m, NS_STATES, 0));
    assert_true(fabs(ns_result_final(r, name)) <= 1);
    ns_result_close(r);
    ns_model *wrong = ns_model_sensitivities(m, "nosuch");
    assert_int_equal(ns_model_verdict(wrong), NS_WRONG);
    assert_non_null(strstr(ns_model_messages(wrong), "nosuch"));
    ns_model_close(wrong);
    ns_model_close(m);
    ns_model_close(with);
    assert_null(ns_model_sensitivities(NULL, "a"));
}

static void opening(void **state)
{
    (void)state;
    ns_model *m = ns_model_open_gallery("ratleback", NULL, NULL, 0);
    assert_int_equal(ns_model_verdict(m), NS_WRONG);
    assert_non_null(strstr(ns_model_messages(m), "did you mean `rattleback`"));
    const char *hint;
    assert_int_equal(ns_model_message_count(m), 1);
    ns_model_message(m, 0, NULL, NULL, NULL, NULL, NULL, &hint);
    assert_string_equal(hint, "did you mean `rattleback`?");
    ns_model_close(m);
    m = ns_model_find("rattleback", NULL, NULL, 0);
    assert_int_equal(ns_model_verdict(m), NS_DONE);
    assert_string_equal(ns_model_source(m), "rattleback");
    assert_string_equal(ns_model_text(m), ns_gallery_text("rattleback"));
    ns_model_close(m);
    m = ns_model_find(NS_MODELS_DIR "/rattleback.mech", NULL, NULL, 0);
    assert_int_equal(ns_model_verdict(m), NS_DONE);
    ns_model_close(m);
    m = ns_model_find("nosuch", NULL, NULL, 0);
    assert_int_equal(ns_model_verdict(m), NS_WRONG);
    ns_model_close(m);
}

static void messages(void **state)
{
    (void)state;
    ns_model *m = ns_model_open_text("two.mech", "param mass = 1\nstate x' = -mas*x\n", NULL,
                                     NULL, 0);
    const char *severity, *file, *hint;
    unsigned line, column, length;
    assert_int_equal(ns_model_verdict(m), NS_WRONG);
    assert_true(ns_model_message_count(m) >= 1);
    const char *text = ns_model_message(m, 0, &severity, &file, &line, &column, &length, &hint);
    assert_non_null(strstr(text, "mas"));
    assert_string_equal(severity, "error");
    assert_string_equal(file, "two.mech");
    assert_int_equal(line, 2);
    assert_int_equal(column, 13);
    assert_int_equal(length, 3);
    assert_string_equal(ns_model_message(m, 99, &severity, NULL, NULL, NULL, NULL, NULL), "");
    assert_string_equal(severity, "");
    ns_model_close(m);
    assert_int_equal(ns_model_message_count(NULL), 0);
}

/* A variant has the numbers, to the bit, of the model read anew. */
static void same_numbers(const ns_model *a, const ns_model *b)
{
    for (ns_kind kind = NS_PARAMETERS; kind <= NS_STATES; kind++) {
        assert_int_equal(ns_model_count(a, kind), ns_model_count(b, kind));
        for (size_t i = 0; i < ns_model_count(a, kind); i++) {
            const double x = ns_model_number(a, kind, i), y = ns_model_number(b, kind, i);
            if (memcmp(&x, &y, sizeof x))
                print_message("%s: %.17g, %.17g\n", ns_model_name(a, kind, i), x, y);
            assert_memory_equal(&x, &y, sizeof x);
        }
    }
}

static void variants(void **state)
{
    (void)state;
    static const struct {
        const char *model, *name, *value;
    } cases[] = {{"rattleback", "a", "0.25"},
                 {"rattleback", "c", "2.1 cm"},
                 {"chaplygin-sleigh", "a", "2*m"},
                 {"bicycle", "v", "5"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ns_model *m = open_gallery(cases[i].model);
        ns_model *v = ns_model_variant(m, &cases[i].name, &cases[i].value, 1);
        if (ns_model_verdict(v) != NS_DONE)
            print_message("%s: %s", cases[i].model, ns_model_messages(v));
        assert_int_equal(ns_model_verdict(v), NS_DONE);
        ns_model *anew = ns_model_open_gallery(cases[i].model, &cases[i].name, &cases[i].value,
                                               1);
        same_numbers(v, anew);
        const ns_simulate_options *none = NULL;
        ns_model_close(m); /* the variant lives on */
        ns_result *r = ns_simulate(v, none), *q = ns_simulate(anew, none);
        assert_int_equal(ns_result_verdict(r), ns_result_verdict(q));
        assert_true(ns_result_diagnostic(r, "steps") == ns_result_diagnostic(q, "steps"));
        for (size_t k = 0; k < ns_model_count(v, NS_VALUES); k++)
            if (ns_result_rows(q))
                assert_memory_equal(ns_result_column(r, k), ns_result_column(q, k),
                                    ns_result_rows(q) * sizeof(double));
        ns_result_close(r);
        ns_result_close(q);
        ns_model_close(v);
        ns_model_close(anew);
    }
}

static void starts(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    const char *names[] = {"omega.z", "nosuch"};
    const double values[] = {-7, 1};
    ns_model *v = ns_model_variant_numbers(m, names, values, 1);
    assert_int_equal(ns_model_verdict(v), NS_DONE);
    const long z = ns_model_index(v, NS_STATES, "omega.z");
    assert_true(z >= 0);
    assert_true(ns_model_number(v, NS_STATES, (size_t)z) == -7);
    assert_true(ns_model_number(m, NS_STATES, (size_t)z) != -7);
    ns_model *w = ns_model_variant_numbers(v, names + 1, values, 1); /* of a variant */
    assert_int_equal(ns_model_verdict(w), NS_WRONG);
    assert_non_null(strstr(ns_model_messages(w), "nosuch"));
    ns_model_close(w);
    const char *other = "m", *two = "2", *bad = "2 +", *vector = "[1, 2]";
    w = ns_model_variant(v, &other, &two, 1);
    assert_int_equal(ns_model_verdict(w), NS_DONE);
    assert_true(ns_model_number(w, NS_STATES, (size_t)z) == -7); /* is kept */
    ns_model_close(w);
    w = ns_model_variant(m, &other, &bad, 1);
    assert_int_equal(ns_model_verdict(w), NS_WRONG);
    ns_model_close(w);
    w = ns_model_variant(m, &other, &vector, 1);
    assert_int_equal(ns_model_verdict(w), NS_WRONG);
    ns_model_close(w);
    assert_string_equal(ns_model_messages(m), "");
    ns_model_close(v);
    ns_model_close(m);
    assert_null(ns_model_variant(NULL, NULL, NULL, 0));
    m = ns_model_open_text("bad", "nonsense", NULL, NULL, 0);
    v = ns_model_variant(m, NULL, NULL, 0);
    assert_int_equal(ns_model_verdict(v), NS_WRONG);
    ns_model_close(m);
    assert_true(strlen(ns_model_messages(v)) > 0);
    ns_model_close(v);
}

static void roles(void **state)
{
    (void)state;
    ns_model *m = open_gallery("rattleback");
    size_t numbers[8];
    char name[16];
    assert_int_equal(ns_model_vector(m, NS_STATES, "omega", numbers, 8), 3);
    assert_string_equal(ns_model_name(m, NS_STATES, numbers[2]), "omega.z");
    assert_int_equal(ns_model_vector_of(m, NS_STATES, numbers[2], name, sizeof name), 5);
    assert_string_equal(name, "omega");
    assert_int_equal(ns_model_vector(m, NS_STATES, "quat", numbers, 2), 4);
    assert_string_equal(ns_model_role(m, NS_STATES, numbers[0]), "quaternion");
    assert_int_equal(ns_model_vector(m, NS_VALUES, "energy", numbers, 8), 1);
    assert_string_equal(ns_model_quantity(m, NS_VALUES, numbers[0]), "energy");
    assert_string_equal(ns_model_quantity(m, NS_EVENTS, 0), "");
    assert_int_equal(ns_model_vector_of(m, NS_VALUES, numbers[0], name, sizeof name), 0);
    assert_int_equal(ns_model_vector(m, NS_VALUES, "nosuch", numbers, 8), 0);
    assert_string_equal(ns_model_role(m, NS_PARAMETERS, 0), "given");
    assert_string_equal(ns_model_role(m, NS_STATES, 1000), "");
    assert_string_equal(ns_model_role(m, NS_INPUTS, 0), "");
    double p[2];
    assert_int_equal(ns_model_numbers(m, NS_PARAMETERS, p, 2),
                     ns_model_count(m, NS_PARAMETERS));
    assert_true(p[1] == ns_model_number(m, NS_PARAMETERS, 1));
    assert_int_equal(ns_model_numbers(m, NS_EVENTS, p, 2), 0);
    assert_true(ns_model_setting(m, "until") > 0);
    assert_true(isnan(ns_model_setting(m, "nosuch")));
    ns_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),    cmocka_unit_test(sensitivities), cmocka_unit_test(opening),
        cmocka_unit_test(messages), cmocka_unit_test(variants),      cmocka_unit_test(starts),
        cmocka_unit_test(roles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
