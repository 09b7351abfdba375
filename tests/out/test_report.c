/* The data of reports: what they hold is what the run has found, and nothing in it can break
 * out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/print/mathml.h"
#include "out/report/report.h"
#include "support/gallery.h"
#include "support/motion.h"

typedef struct made {
    ns_model *model;
    ns_record *record;
    ns_arena *arena;
    const char *data;
    size_t length;
} made;

static made report_of(ns_model *model, double until)
{
    made m = {.model = model, .record = motion_record(model, until), .arena = ns_arena_new()};
    m.data = ns_report_data(m.record, "noslip run x", true, m.arena, &m.length);
    assert_int_equal(strlen(m.data), m.length);
    return m;
}

static made report_text(const char *text)
{
    return report_of(
        ns_model_load_text("<b>.mech", text, strlen(text), NULL, 0, NS_MODEL_READY), 0);
}

static void done(made *m)
{
    ns_record_free(m->record);
    ns_model_free(m->model);
    ns_arena_free(m->arena);
}

/* ---- reading back ------------------------------------------------------------------------ */

/* Is the text one JSON value?  Returns what follows it, NULL if it is none. */
static const char *json(const char *s, int depth)
{
    if (depth > 40)
        return NULL;
    if (*s == '{' || *s == '[') {
        const char close = *s == '{' ? '}' : ']';
        const bool keys = *s == '{';
        if (*++s == close)
            return s + 1;
        for (;; s++) {
            if (keys) {
                if (*s != '"' || !(s = json(s, depth + 1)) || *s++ != ':')
                    return NULL;
            }
            if (!(s = json(s, depth + 1)))
                return NULL;
            if (*s == close)
                return s + 1;
            if (*s != ',')
                return NULL;
        }
    }
    if (*s == '"') {
        for (s++; *s != '"'; s++) {
            if (!*s || (unsigned char)*s < 0x20)
                return NULL;
            if (*s == '\\' && !*++s)
                return NULL;
        }
        return s + 1;
    }
    static const char *const words[] = {"null", "true", "false"};
    for (int i = 0; i < 3; i++)
        if (strncmp(s, words[i], strlen(words[i])) == 0)
            return s + strlen(words[i]);
    char *end;
    strtod(s, &end);
    return end > s && *s != '+' && *s != 'n' && *s != 'i' ? end : NULL;
}

/* Doubles of the packed array behind "key":"f64:...  */
static size_t doubles(const char *data, const char *key, double *out, size_t room)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *s = strstr(data, key);
    assert_non_null(s);
    s += strlen(key);
    uint32_t bits = 0;
    unsigned have = 0;
    size_t bytes = 0;
    for (; strchr(digits, *s) && *s; s++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, *s) - digits);
        if ((have += 6) >= 8) {
            have -= 8;
            assert_true(bytes < room * sizeof(double));
            ((unsigned char *)out)[bytes++] = (unsigned char)(bits >> have & 255);
        }
    }
    return bytes / sizeof(double);
}

/* Are the tags of all the formulas closed in their order?  In the data < is \u003c. */
static void check_markup(const char *name, const char *data)
{
    const char *open[64];
    int depth = 0;
    for (const char *s = data; (s = strstr(s, "\\u003c"));) {
        s += 6;
        const bool ends = *s == '/';
        const char *tag = ends ? s + 1 : s;
        const size_t length = strspn(tag, "abcdefghijklmnopqrstuvwxyz");
        const char *close = strstr(s, "\\u003e");
        if (!close || strncmp(tag, "m", 1) != 0)
            continue; /* of the model's text */
        if (close[-1] == '/')
            continue;
        if (!ends) {
            assert_true(depth < 64);
            open[depth++] = tag;
        } else if (depth == 0 || strncmp(open[depth - 1], tag, length) != 0) {
            fail_msg("%s: </%.*s> closes nothing", name, (int)length, tag);
        } else {
            depth--;
        }
    }
    if (depth)
        fail_msg("%s: <%.10s> is not closed", name, open[depth - 1]);
}

/* ---- tests ------------------------------------------------------------------------------- */

static void test_gallery(void **state)
{
    (void)state;
    char *names[GALLERY_MOST];
    const size_t n = gallery_list(names);
    for (size_t k = 0; k < n; k++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.mech", NS_MODELS_DIR, names[k]);
        made m = report_of(ns_model_load(path, NULL, 0, NS_MODEL_READY), 0.02);
        const char *end = json(m.data, 0);
        if (!end || *end)
            fail_msg("%s: no JSON near %.40s", names[k], end ? end : "?");
        assert_null(strchr(m.data, '<'));
        check_markup(names[k], m.data);
        assert_non_null(strstr(m.data, "\"format\":1"));
        done(&m);
    }
    gallery_free(names, n);
    assert_true(n > 40);
}

static void test_hostile(void **state)
{
    (void)state;
    made m = report_text("# </script> & \"\\ \t\ntitle \"</script><b>&amp;\"\n"
                         "coordinate x\nlagrangian x'^2/2\nstart { x = 0; x' = 1 }\n"
                         "run { until 1 }\n");
    const char *end = json(m.data, 0);
    assert_true(end && !*end);
    assert_null(strchr(m.data, '<'));
    assert_non_null(
        strstr(m.data, "\"title\":\"\\u003c/script\\u003e\\u003cb\\u003e\\u0026amp;\""));
    assert_non_null(strstr(m.data, "\\u0026 \\\"\\\\ \\u0009"));
    done(&m);
}

/* The times are those of the run; between the samples the page draws a straight motion
 * exactly. */
static void test_times(void **state)
{
    (void)state;
    made m = report_text("coordinate x\nlagrangian x'^2/2 - x^2/2\nstart { x = 1; x' = 0 }\n"
                         "observe y = x\nrun { until 50 }\n");
    static double t[20000];
    const size_t n = doubles(m.data, "\"time\":\"f64:", t, 20000);
    assert_true(n > 100 && n < 5000);
    assert_true(t[0] == 0 && t[n - 1] == 50);
    for (size_t i = 1; i < n; i++) {
        assert_true(t[i] > t[i - 1]);
        assert_true(t[i] - t[i - 1] <
                    0.6); /* a cosine drawn by lines within 0.4 % of its range */
    }
    done(&m);
}

static void expect_math(const char *text, const char *wanted)
{
    char model[300];
    snprintf(model, sizeof model,
             "param a = 1, omega_1 = 2\ncoordinate x\nlagrangian x'^2/2\n"
             "start { x = 0; x' = 1 }\nobserve f = %s\nrun { until 1 }\n",
             text);
    ns_model *m = ns_model_load_text("m", model, strlen(model), NULL, 0, NS_MODEL_READY);
    if (m->status != NS_OK)
        fail_msg("%s", m->messages);
    ns_text out = ns_text_new(m->arena);
    ns_mathml_expression(m->system->graph,
                         m->system->observables.at[ns_model_observable(m, "f")].value, NULL,
                         &out);
    assert_string_equal(ns_text_string(&out), wanted);
    ns_model_free(m);
}

static void test_mathml(void **state)
{
    (void)state;
    expect_math("x/(1 + x^2)",
                "<mfrac><mrow><mi>x</mi></mrow><mrow><mn>1</mn><mo>+</mo><msup><mrow><mi>x</mi>"
                "</mrow><mrow><mn>2</mn></mrow></msup></mrow></mfrac>");
    expect_math("sin(x)^2", "<mrow><msup><mi>sin</mi><mn>2</mn></msup>"
                            "<mspace width=\"0.17em\"/><mi>x</mi></mrow>");
    expect_math("omega_1*(x - a)",
                "<msub><mi>&#x3C9;</mi><mrow><mn>1</mn></mrow></msub><mspace width=\"0.17em\"/>"
                "<mrow><mo>(</mo><mi>x</mi><mo>&#x2212;</mo><mi>a</mi><mo>)</mo></mrow>");
    expect_math("x - (-a)*x^3",
                "<mi>x</mi><mo>+</mo><mi>a</mi><mspace width=\"0.17em\"/><msup><mrow><mi>x</mi>"
                "</mrow><mrow><mn>3</mn></mrow></msup>");
    expect_math("(a + x)^2",
                "<msup><mrow><mrow><mo>(</mo><mi>a</mi><mo>+</mo><mi>x</mi><mo>)</mo>"
                "</mrow></mrow><mrow><mn>2</mn></mrow></msup>");
    expect_math("1.5e-7*x",
                "<mn>1.5</mn><mo>&#xB7;</mo><msup><mn>10</mn><mrow><mo>&#x2212;</mo>"
                "<mn>7</mn></mrow></msup><mspace width=\"0.17em\"/><mi>x</mi>");
    ns_arena *arena = ns_arena_new();
    ns_text out = ns_text_new(arena);
    ns_mathml_name("v<&.x'", &out);
    assert_string_equal(
        ns_text_string(&out),
        "<msub><mover><mi>v&lt;&amp;</mi><mo>&#x2D9;</mo></mover><mrow><mi>x</mi>"
        "</mrow></msub>");
    ns_arena_free(arena);
}

/* Running out of memory anywhere while a report is made is an error in words, not a crash. */
static void test_memory(void **state)
{
    (void)state;
    static const char text[] = "ground plane\nbody sphere(0.1) { mass 1; uniform }\n"
                               "start { omega [1, 2, 3] }\nrun { until 0.1 }\n";
    static const char page[] = "<p>/*NOSLIP_DATA*/</p>";
    const ns_report_options options = {.template = page, .length = sizeof page - 1};
    char path[] = "report_memory.html", message[300] = "";
    ns_model *model = ns_model_load_text("m", text, sizeof text - 1, NULL, 0, NS_MODEL_READY);
    ns_record *r = motion_record(model, 0);
    unsigned failures = 0;
    for (uint64_t n = 1; n < 4000; n = n * 3 / 2 + 1) {
        ns_arena_fail_after(model->arena, n);
        failures += ns_report_write(r, &options, path, message) ? 0 : 1;
    }
    ns_arena_fail_after(model->arena, 0);
    assert_true(failures > 0);
    assert_non_null(strstr(message, "memory"));
    assert_true(ns_report_write(r, &options, path, message));
    remove(path);
    assert_false(ns_report_write(r, &options, "no/such/folder/x.html", message));
    assert_non_null(strstr(message, "No such file"));
    ns_record_free(r);
    ns_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mathml), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_times), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_gallery)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
