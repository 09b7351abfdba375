/* Reading models as a whole: the examples of the manual, memory that runs out at every place,
 * inputs that are no models, and the functions that formulations call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/file.h"
#include "expr/eval.h"
#include "expr/print/print.h"
#include "lang/description.h"
#include "session/settings.h"

typedef struct world {
    ns_arena *arena;
    ns_diag *diag;
    ns_description *d;
} world;

static world world_new(void)
{
    world w = {.arena = ns_arena_new()};
    assert_non_null(w.arena);
    w.diag = ns_diag_new(w.arena);
    return w;
}

static const char *messages(const world *w)
{
    ns_text text = ns_text_new(w->arena);
    ns_diag_render(w->diag, &text);
    return ns_text_string(&text);
}

static world read_text(const char *text)
{
    world w = world_new();
    w.d = ns_description_read(w.arena, w.diag, &ns_settings_grammar, "model", text,
                              strlen(text), NULL, 0);
    return w;
}

/* ---- the manual -------------------------------------------------------------------------- */

/* A vector of symbols as a formulation would make them, with their rates. */
static void add_symbols(const world *w, ns_scope_entry *entry, uint32_t *n, const char *name,
                        uint32_t size)
{
    ns_ex *at = NS_NEW_ARRAY(w->arena, ns_ex, size);
    for (uint32_t i = 0; i < size; i++) {
        const char *text = size == 1 ? name
                                     : ns_arena_format(w->arena, "%s.%c", name, (int)"xyz"[i]);
        at[i] = ns_symbol_new(w->d->graph, text, NS_SYM_LOCAL, i);
        ns_ex *rate = NS_NEW(w->arena, ns_ex);
        *rate = ns_number(w->d->graph, i + 1.0);
        entry[(*n)++] = (ns_scope_entry){.name = ns_arena_format(w->arena, "%s'", text),
                                         .value = {1, 1, rate}};
    }
    entry[(*n)++] = (ns_scope_entry){.name = name, .value = {size, 1, at}};
}

static void check_example(const char *text, size_t length, unsigned line)
{
    world w = world_new();
    ns_scope_entry early[64], late[64];
    uint32_t n_early = 0, n_late = 0;
    w.d = ns_description_read(w.arena, w.diag, &ns_settings_grammar, "docs/language.md", text,
                              length, NULL, 0);
    if (w.d) {
        add_symbols(&w, early, &n_early, "S.position", 3);
        add_symbols(&w, early, &n_early, "S.omega.space", 3);
        add_symbols(&w, early, &n_early, "P", 3);
        static const char *const algebra[] = {"v1", "v2", "v3", "g.33"};
        for (size_t i = 0; i < sizeof algebra / sizeof *algebra; i++)
            add_symbols(&w, early, &n_early, algebra[i], 1);
        add_symbols(&w, early, &n_early, "lambda.hoop", 1);
        add_symbols(&w, early, &n_early, "e2", 3);
        add_symbols(&w, early, &n_early, "e3", 3);
        add_symbols(&w, late, &n_late, "mu", 3);
        add_symbols(&w, late, &n_late, "mu3", 1);
        add_symbols(&w, late, &n_late, "p3", 1);
        add_symbols(&w, late, &n_late, "lambda.suslov", 1);
        add_symbols(&w, late, &n_late, "energy", 1);
        add_symbols(&w, late, &n_late, "omega", 3);
        add_symbols(&w, late, &n_late, "lambda.blade", 1);
    }
    if (!w.d || !ns_description_define(w.d, early, n_early) ||
        !ns_description_finish(w.d, late, n_late))
        fail_msg("the example in line %u of the manual:\n%s", line, messages(&w));
    ns_arena_free(w.arena);
}

static void test_manual(void **state)
{
    (void)state;
    char *text;
    size_t length;
    assert_int_equal(ns_file_read(NS_DOCS_DIR "/language.md", 1 << 24, &text, &length), 0);
    unsigned line = 1, examples = 0;
    for (char *at = text; at;) {
        char *next = strchr(at, '\n');
        bool fence = strncmp(at, "```mech", 7) == 0;
        line++;
        at = next ? next + 1 : NULL;
        if (!fence || !at)
            continue;
        char *end = strstr(at, "\n```");
        assert_non_null(end);
        check_example(at, (size_t)(end + 1 - at), line);
        examples++;
    }
    free(text);
    assert_true(examples >= 15);
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Uses every statement, and a mistake or two in the second. */
static const char everything[] =
    "title \"everything\"\n"
    "formulation lagrange\n"
    "param a = 6 cm, g = 9.81 m/s^2, m = 2*a + 1\n"
    "coordinate theta in rad, x in m, y\n"
    "state s' = -s in m\n"
    "let vx = x' - a*sin(theta)*theta', f(u, v) = u*v^2, P = [x, y, 1], late = 2*energy\n"
    "surface G(u, v, w) = w - u^2*v\n"
    "lagrangian m/2*(vx^2 + y'^2) + theta'^2/2 - m*g*y\n"
    "constraint blade: y'*cos(theta) - x'*sin(theta) = 0\n"
    "constraint G(P) = 0\n"
    "constraint touch: S.position = P\n"
    "constraint e: keep energy\n"
    "constraint j: revolute(S.position, free)\n"
    "force theta = -theta', x = f(x, y), S.tip = [1, 2]\n"
    "ground plane\n"
    "body S ellipsoid(a, 2*a) { mass m; solid sphere(a); origin centre; colour \"red\" }\n"
    "particle Q { mass 0 }\n"
    "frame { e1 = [1, 0]; e2 = [0, 1] }\n"
    "symmetry { group SE(2) }\n"
    "algebra so(3)\n"
    "gravity [0, 0, -9.81]\n"
    "solve augmented(kappa2 = 0.02)\n"
    "start { theta = 30 deg; theta' = 1; x ~ 2; s = 1; roll 3 deg; S.omega = [0, 0, 1] }\n"
    "observe speed in km/h = norm(P'), tip = P + grad(G)(P), acc = x'', late\n"
    "observe jac = sum(diff(P, [x, y])*[1, 2]), sol = solve([[1, x], [y, 3]], [x, y])\n"
    "invariant p = diff(m*x'^2, x')\n"
    "event turn: theta = pi/2 rising stop \"turned\"\n"
    "run { until 20; tolerance 1e-14; method gauss }\n";

static bool read_everything(world *w, const char *text, uint64_t fail_at)
{
    static const ns_override set[] = {{"a", "7 cm"}};
    if (NS_ARENA_GUARD(w->arena)) {
        ns_arena_unguard(w->arena);
        return false;
    }
    ns_arena_fail_after(w->arena, fail_at);
    w->diag = ns_diag_new(w->arena);
    w->d = ns_description_read(w->arena, w->diag, &ns_settings_grammar, "model", text,
                               strlen(text), set, 1);
    if (w->d) {
        ns_ex *at = NS_NEW_ARRAY(w->arena, ns_ex, 3);
        for (int i = 0; i < 3; i++)
            at[i] = w->d->coordinates.at[i].q;
        ns_scope_entry early[] = {{"S.position", {3, 1, at}, 0, NULL, NULL}},
                       late[] = {{"energy", {1, 1, at}, 0, NULL, NULL}};
        if (ns_description_define(w->d, early, 1))
            ns_description_finish(w->d, late, 1);
    }
    ns_text text_out = ns_text_new(w->arena);
    ns_diag_render(w->diag, &text_out);
    ns_arena_unguard(w->arena);
    return true;
}

static void test_memory(void **state)
{
    (void)state;
    char *wrong = malloc(sizeof everything + 100);
    assert_non_null(wrong);
    strcpy(wrong, everything);
    strcat(wrong, "lagrangean 1\nlet q = (1 + zeta\nobserve z2 = thta + sin([1, 2])\n");
    const char *const texts[] = {everything, wrong};
    for (int k = 0; k < 2; k++) {
        uint64_t n = 1;
        for (;; n++) {
            world w = {.arena = ns_arena_new()};
            bool whole = read_everything(&w, texts[k], n);
            if (whole && k == 0 && w.diag->errors)
                fail_msg("%s", messages(&w));
            if (whole && k == 1)
                assert_true(w.diag->errors >= 3);
            ns_arena_free(w.arena);
            if (whole)
                break;
        }
        assert_true(n > 200); /* it did fail at that many places before */
    }
    free(wrong);
}

/* ---- what is no model -------------------------------------------------------------------- */

/* Reads text made of `before`, n times `unit`, and `after`; it must be refused quickly. */
static void refuse(const char *before, const char *unit, size_t n, const char *after,
                   const char *message)
{
    size_t a = strlen(before), b = strlen(unit), c = strlen(after), length = a + n * b + c;
    char *text = malloc(length + 1);
    assert_non_null(text);
    memcpy(text, before, a);
    for (size_t i = 0; i < n; i++)
        memcpy(text + a + i * b, unit, b);
    memcpy(text + a + n * b, after, c + 1);
    clock_t begin = clock();
    world w = world_new();
    w.d = ns_description_read(w.arena, w.diag, &ns_settings_grammar, "m", text, length, NULL,
                              0);
    bool good = w.d && ns_description_finish(w.d, NULL, 0);
    assert_false(good);
    assert_true(w.diag->errors > 0);
    const char *found = w.diag->messages.at[0].text;
    if (!found || !strstr(found, message))
        fail_msg("expected: %s\nfound: %s", message, found ? found : "nothing");
    (void)messages(&w);
    /* a guard against work without bound, wide enough for sanitizers on a busy machine */
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 100);
    ns_arena_free(w.arena);
    free(text);
}

static void test_no_model(void **state)
{
    (void)state;
    enum { MANY = 10 * 1000 * 1000 };
    const char *deep = "nested more than 200 levels";
    refuse("", "", 0, "", "the model is empty");
    refuse("", "\n", MANY, "", "the model is empty");
    refuse("let a = ", "(", MANY, "", deep);
    refuse("let a = ", "[", MANY, "\nlet b = 1\n", deep);
    refuse("let a = ", "-", MANY, "1", deep);
    refuse("let a = 1", "^1", MANY / 2, "", deep);
    refuse("let a = ", "sin(", MANY / 4, "", deep);
    refuse("run ", "{", MANY, "", "expected the name of a setting");
    refuse("", "(", MANY, "", "expected a statement");
    refuse("", "x y\n", MANY / 4, "", "unknown statement `x`");
    refuse("title \"", "a", MANY, "", "not closed");
    refuse("param a = ", "1", MANY, "", "too long");
    refuse("param a = ", "a", MANY, "", "undefined name");
    refuse("coordinate x\nlet a = 1", "+x", MANY / 2, "", "too large");
    refuse("coordinate x", ", x", MANY / 10, "", "defined twice");
    refuse("", "let a = b, b = a\n", 20000, "", "");
    /* functions of functions: 2^50 calls with arguments all different */
    ns_arena *arena = ns_arena_new();
    ns_text text = ns_text_new(arena);
    ns_text_add(&text, "coordinate x\nlet f0(x) = x\n");
    for (int i = 1; i <= 50; i++)
        ns_text_addf(&text, "let f%d(x) = f%d(2*x) + f%d(x*x + %d)\n", i, i - 1, i - 1, i);
    ns_text_add(&text, "lagrangian f50(x)");
    refuse(ns_text_string(&text), "", 0, "", "too large");
    ns_arena_free(arena);

    static const char binary[] = "\x7f"
                                 "ELF\x02\x01\x01\0\0\0\0\0\0";
    world w = world_new();
    assert_null(ns_description_read(w.arena, w.diag, &ns_settings_grammar, "m", binary,
                                    sizeof binary, NULL, 0));
    assert_non_null(strstr(messages(&w), "this is not text: byte 1 is the control character"));
    ns_arena_free(w.arena);
    w = world_new();
    assert_null(ns_description_read(w.arena, w.diag, &ns_settings_grammar, "m",
                                    "param a\xC3\x28", 9, NULL, 0));
    assert_non_null(strstr(messages(&w), "byte 8 (0xc3) is not UTF-8"));
    ns_arena_free(w.arena);
}

/* A text that is not closed by a zero byte is not read beyond its end. */
static void test_ends(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof everything; n++) {
        char *text = malloc(n ? n : 1); /* exactly: a sanitizer sees one byte more */
        assert_non_null(text);
        memcpy(text, everything, n);
        world w = world_new();
        w.d = ns_description_read(w.arena, w.diag, &ns_settings_grammar, "m", text, n, NULL, 0);
        assert_true(w.d || w.diag->errors);
        (void)messages(&w);
        ns_arena_free(w.arena);
        free(text);
    }
}

/* ---- for formulations -------------------------------------------------------------------- */

static void test_interface(void **state)
{
    (void)state;
    world w = read_text("param k = 3\n"
                        "coordinate theta, x\n"
                        "let f(u, v) = k*u - v, both(u) = [u, 2*u]\n"
                        "observe e = theta'' + x\n");
    assert_non_null(w.d);
    assert_int_equal(w.d->observes.n, 0);
    assert_true(ns_description_finish(w.d, NULL, 0));
    assert_int_equal(w.d->observes.n, 1);

    ns_value value;
    ns_ex args[2] = {w.d->coordinates.at[0].q, ns_number(w.d->graph, 2)};
    assert_true(ns_description_call(w.d, "f", args, 2, w.d->whole, &value));
    ns_value same;
    assert_true(ns_description_evaluate(w.d, "text", "k*theta - 2", &same));
    assert_int_equal(value.at[0], same.at[0]);
    assert_true(ns_description_call(w.d, "both", args, 1, w.d->whole, &value));
    assert_int_equal(value.rows, 2);
    assert_int_equal(w.diag->errors, 0);

    assert_false(ns_description_call(w.d, "g", args, 2, w.d->whole, &value));
    assert_false(ns_description_call(w.d, "f", args, 1, w.d->whole, &value));
    assert_false(ns_description_evaluate(w.d, "text", "thet + 1", &value));
    assert_non_null(strstr(messages(&w), "text:1:1: error: undefined name `thet`; did you mean "
                                         "`theta`?"));
    assert_string_equal(ns_description_nearest(w.d, "thetta"), "theta");
    assert_null(ns_description_nearest(w.d, "completely_different"));
    ns_arena_free(w.arena);
}

/* Numbers keep their value through units and definitions. */
static void test_values(void **state)
{
    static const struct {
        const char *text;
        double value;
    } table[] = {
        {"6 cm", 0.06},
        {"90 deg", 1.5707963267948966},
        {"36 km/h", 10},
        {"9.81 m/s^2", 9.81},
        {"1 turn", 6.283185307179586},
        {"30 rpm", 3.141592653589793},
        {"1 inch", 0.0254},
        {"2 h", 7200},
        {"5 kN*mm", 5},
        {"-2^2", -4},
        {"2^3^2", 512},
        {"7/2/2", 1.75},
        {"1 - 2 - 3", -4},
        {"atan2(1, -1)", 2.356194490192345},
        {"norm([3, 4, 12])", 13},
        {"solve([[2, 1], [1, 3]], [3, 5])[2]", 1.4},
        {"1 arcsec*3600", 0.017453292519943295},
    };
    (void)state;
    world w = read_text("param a = 1");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ns_value value;
        assert_true(ns_description_evaluate(w.d, "text", table[i].text, &value));
        double found = ns_eval_constant(w.d->graph, value.at[0]);
        double error = found > table[i].value ? found - table[i].value : table[i].value - found;
        if (error > 1e-15 * (table[i].value < 0 ? -table[i].value : table[i].value))
            fail_msg("%s is %.17g, found %.17g", table[i].text, table[i].value, found);
    }
    ns_arena_free(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manual),    cmocka_unit_test(test_memory),
        cmocka_unit_test(test_no_model),  cmocka_unit_test(test_ends),
        cmocka_unit_test(test_interface), cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
