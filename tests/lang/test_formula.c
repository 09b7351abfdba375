/* Formulas: expressions of the language with a caller's functions, and messages with places. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/formula.h"

/* length("text") or length(word); twice(x) looks at its argument twice; calls are counted */
static double of_length(const ns_formula_call *c)
{
    const char *text = ns_formula_string(c->world->arena, &c->args[0]);
    if (!text)
        text = ns_formula_word(c->world->arena, &c->args[0]);
    return text ? (double)strlen(text) : -1;
}

static double of_twice(const ns_formula_call *c)
{
    ++*(int *)c->world->context;
    return ns_formula_value(c->world, &c->args[0]) +
           c->what * ns_formula_value(c->world, &c->args[c->n - 1]);
}

static const ns_formula_function functions[] = {{"length", 1, 1, of_length, 0},
                                                {"twice", 1, 2, of_twice, 1},
                                                {"once", 1, 1, of_twice, 0},
                                                {"max", 1, 1, of_length, 0}, /* hides max */
                                                {NULL, 0, 0, NULL, 0}};

/* The value of a text, and what was said. */
static double value(const char *text, const char *part, uint32_t *end)
{
    ns_arena *arena = ns_arena_new();
    ns_diag *diag = ns_diag_new(arena);
    const uint32_t source = ns_diag_source(diag, "text", text, strlen(text));
    int calls = 0;
    const ns_formula_world world = {
        .diag = diag, .arena = arena, .functions = functions, .context = &calls};
    ns_formula f;
    double out = (double)NAN;
    *end = 0;
    if (ns_formula_read(diag, source, "<@", "within", end, (uint32_t)strlen(text), &f))
        out = ns_formula_value(&world, &f);
    ns_text said = ns_text_new(arena);
    ns_diag_render(diag, &said);
    if (part && !strstr(ns_text_string(&said), part))
        fail_msg("%s: expected '%s', found '%s'", text, part, ns_text_string(&said));
    assert_int_equal(diag->errors > 0, part != NULL);
    assert_int_equal(isnan(out), part != NULL);
    ns_arena_free(arena);
    return out;
}

static double good(const char *text)
{
    uint32_t end;
    const double out = value(text, NULL, &end);
    assert_int_equal(end, strlen(text));
    return out;
}

static void values(void **state)
{
    (void)state;
    assert_true(good("1 + 2*3 - 4/8") == 6.5);
    assert_true(good("-2^2") == -4);
    assert_true(good("2^3^2") == 512);
    assert_true(good("2^-1*(3 - 5)") == -1);
    assert_true(good("sqrt(16) + abs(-2) + pi") == 6 + 3.141592653589793);
    assert_true(fabs(good("sin(30 deg)") - 0.5) < 1e-16);
    assert_true(good("36 km/h") == 10);
    assert_true(fabs(good("60 rpm") - 2 * 3.141592653589793) < 1e-15);
    assert_true(good("6 cm + 1 km") == 1000 + 0.06);
    assert_true(good("atan2(1, 1)*4") == 3.141592653589793);
}

static void callers(void **state)
{
    (void)state;
    assert_true(good("length(\"a b, (c\")") == 7);
    assert_true(good("length(omega.x'')") == 9);
    assert_true(good("length(1 + 1)") == -1);
    assert_true(good("max(contact.1)") == 9);
    assert_true(good("twice(2 + 1)") == 6);
    assert_true(good("twice(2, 3)*2 - once(4)") == 6);
    assert_true(good("twice(twice(twice(length(abc))))") == 24);
    assert_true(good("1 - twice(once(1) - 2)/2") == 2);
}

static void ends(void **state)
{
    (void)state;
    uint32_t end;
    assert_true(value("1 + 2 < 4", NULL, &end) == 3);
    assert_int_equal(end, 5);
    assert_true(value("2 within 1", NULL, &end) == 2); /* a word, not a unit */
    assert_int_equal(end, 1);
    assert_true(value("3 s@ 1", NULL, &end) == 3);
    assert_int_equal(end, 3);
    assert_true(value("(4) , 5", NULL, &end) == 4);
    assert_int_equal(end, 3);
}

static void messages(void **state)
{
    (void)state;
    uint32_t end;
    value("1 +", "text:1:4: error: expected an expression, found the end of the text", &end);
    value("1 + x", "text:1:5: error: undefined name `x`", &end);
    value("lenght(a)", "text:1:1: error: undefined function `lenght`; did you mean `length`?",
          &end);
    value("sqr(2)", "undefined function `sqr`; did you mean `sqrt`?", &end);
    value("length(a, b)", "length takes 1 argument, found 2", &end);
    value("sqrt(1, 2)", "sqrt takes 1 argument, found 2", &end);
    value("twice(1, 2, 3)", "twice takes 2 arguments, found 3", &end);
    value("1 + \"text\"", "text:1:5: error: expected a number here", &end);
    value("[1, 2]", "expected a number here", &end);
    value("x' + 1", "undefined name `x`", &end);
    value("twice(y)", "text:1:7: error: undefined name `y`", &end);
    value("1 parsec", "`parsec` is not a unit", &end);
    value("\"open", "the string that begins here is not closed", &end);
}

/* Depth is limited; length is not. */
static void limits(void **state)
{
    (void)state;
    enum { DEEP = 1000, LONG = 100000 };
    uint32_t end;
    char *text = calloc(2 * LONG + 1, 1);
    assert_non_null(text);
    memset(text, '(', DEEP);
    value(text, "nested more than 200 levels deep", &end);
    for (int i = 0; i < DEEP; i++)
        memcpy(text + 6 * i, "twice(", 6);
    value(text, "nested more than 200 levels deep", &end);
    memset(text, '1', 2 * LONG);
    for (int i = 1; i < 2 * LONG; i += 2)
        text[i] = '+';
    text[2 * LONG - 1] = 0;
    assert_true(good(text) == LONG);
    free(text);
}

static void arguments(void **state)
{
    (void)state;
    static const struct {
        const char *text, *argument; /* NULL: not of min */
    } cases[] = {{"min((a + b)*c)", "(a + b)*c"},
                 {"min ( x' )", " x' "},
                 {"(min(a))", "a"},
                 {"min(f(a), b)", NULL},
                 {"min(a) + 1", NULL},
                 {"max(a)", NULL},
                 {"min", NULL},
                 {"-min(a)", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ns_arena *arena = ns_arena_new();
        ns_diag *diag = ns_diag_new(arena);
        const uint32_t length = (uint32_t)strlen(cases[i].text);
        const uint32_t source = ns_diag_source(diag, "", cases[i].text, length);
        uint32_t end = 0;
        ns_formula f;
        ns_span inside;
        assert_true(ns_formula_read(diag, source, "", NULL, &end, length, &f));
        assert_int_equal(ns_formula_argument(&f, "min", &inside), cases[i].argument != NULL);
        if (cases[i].argument)
            assert_string_equal(
                ns_arena_string(arena, cases[i].text + inside.begin, inside.end - inside.begin),
                cases[i].argument);
        ns_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),   cmocka_unit_test(callers), cmocka_unit_test(ends),
        cmocka_unit_test(messages), cmocka_unit_test(limits),  cmocka_unit_test(arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
