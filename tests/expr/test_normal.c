/* Readable forms of expressions: what cancels is cancelled, nothing changes its value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "expr/eval.h"
#include "expr/normal/normal.h"
#include "expr/print/print.h"

typedef struct world {
    ns_arena *arena;
    ns_graph *g;
    ns_ex x, y, a, m;
} world;

static world begin(void)
{
    world w = {.arena = ns_arena_new()};
    assert_non_null(w.arena);
    w.g = ns_graph_new(w.arena);
    w.x = ns_symbol_new(w.g, "x", NS_SYM_COORD, 0);
    w.y = ns_symbol_new(w.g, "y", NS_SYM_COORD, 1);
    w.a = ns_symbol_new(w.g, "a", NS_SYM_PARAM, 0);
    w.m = ns_symbol_new(w.g, "m", NS_SYM_PARAM, 1);
    return w;
}

static ns_ex square(ns_graph *g, ns_ex e)
{
    return ns_powi(g, e, 2);
}

static void same(world *w, ns_ex got, ns_ex expected)
{
    if (got == expected)
        return;
    ns_text text = ns_text_new(w->arena);
    ns_print_text(w->g, got, &text);
    ns_text_add(&text, ", not ");
    ns_print_text(w->g, expected, &text);
    fail_msg("%s", ns_text_string(&text));
}

static void known_forms(void **state)
{
    (void)state;
    world w = begin();
    ns_graph *g = w.g;
    ns_ex s = ns_sin(g, w.x), c = ns_cos(g, w.x), one = ns_one(g);
    /* sin^2 + cos^2, hidden in a longer expression */
    same(&w,
         ns_normal(g, ns_add(g, ns_mul(g, w.a, square(g, s)), ns_mul(g, w.a, square(g, c))),
                   NULL),
         w.a);
    /* (1 - cos^2)/sin = sin */
    same(&w, ns_normal(g, ns_div(g, ns_sub(g, one, square(g, c)), s), NULL), s);
    /* tan cos = sin */
    same(&w, ns_normal(g, ns_mul(g, ns_tan(g, w.x), c), NULL), s);
    /* (a^2 - m^2)/(a - m) = a + m */
    same(&w,
         ns_normal(g, ns_div(g, ns_sub(g, square(g, w.a), square(g, w.m)), ns_sub(g, w.a, w.m)),
                   NULL),
         ns_add(g, w.a, w.m));
    /* sqrt(a)^3 / a */
    ns_ex r = ns_sqrt(g, w.a);
    same(&w, ns_normal(g, ns_div(g, ns_powi(g, r, 3), w.a), NULL), r);
    /* the rotation by x undoes itself */
    ns_ex M[4] = {c, ns_neg(g, s), s, c};
    ns_ex b[2] = {ns_sub(g, ns_mul(g, c, w.a), ns_mul(g, s, w.m)),
                  ns_add(g, ns_mul(g, s, w.a), ns_mul(g, c, w.m))};
    ns_ex z[2];
    ns_solve(g, 2, M, b, z);
    same(&w, ns_normal(g, z[0], NULL), w.a);
    same(&w, ns_normal(g, z[1], NULL), w.m);
    /* a name for a root: k^2 m with k = sqrt(a/m) is a, but k stays k */
    ns_ex k = ns_symbol_new(g, "k", NS_SYM_PARAM, 2), value = ns_sqrt(g, ns_div(g, w.a, w.m));
    ns_normal_names names = {&k, &value, 1};
    ns_ex long_one = ns_add(g, ns_mul(g, ns_mul(g, square(g, k), w.m), square(g, s)),
                            ns_mul(g, w.a, square(g, c)));
    same(&w, ns_normal(g, long_one, &names), w.a);
    same(&w, ns_normal(g, ns_mul(g, k, w.y), &names), ns_mul(g, k, w.y));
    ns_arena_free(w.arena);
}

static void collected(void **state)
{
    (void)state;
    world w = begin();
    ns_graph *g = w.g;
    /* (a x + m y)^2 + (m x)^2, by powers of x and y */
    ns_ex e = ns_add(g, square(g, ns_add(g, ns_mul(g, w.a, w.x), ns_mul(g, w.m, w.y))),
                     square(g, ns_mul(g, w.m, w.x)));
    ns_ex xy[2] = {w.x, w.y}, f = ns_normal_collect(g, e, xy, 2, NULL);
    ns_text text = ns_text_new(w.arena);
    ns_print_expression(g, f, NS_PRINT_PLAIN, NULL, &text);
    assert_non_null(strstr(ns_text_string(&text), "x^2"));
    assert_non_null(strstr(ns_text_string(&text), "y^2"));
    assert_true(ns_eval_vanishes(g, ns_sub(g, e, f), ns_abs(g, e)));
    ns_arena_free(w.arena);
}

/* Random expressions keep their value, whatever is done to them. */
static void values_stay(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int round = 0; round < 300; round++) {
        world w = begin();
        ns_graph *g = w.g;
        ns_ex pool[40] = {w.x, w.y, w.a, w.m, ns_number(g, 0.5), ns_number(g, 3)};
        uint32_t n = 6;
        for (; n < 26; n++) {
            ns_ex a = pool[(uint32_t)(ns_eval_random(&seed) * n)];
            ns_ex b = pool[(uint32_t)(ns_eval_random(&seed) * n)];
            switch ((int)(ns_eval_random(&seed) * 9)) {
            case 0:
            case 1:
                pool[n] = ns_add(g, a, b);
                break;
            case 2:
                pool[n] = ns_sub(g, a, b);
                break;
            case 3:
            case 4:
                pool[n] = ns_mul(g, a, b);
                break;
            case 5:
                pool[n] = ns_graph_is_zero(g, b) ? a : ns_div(g, a, b);
                break;
            case 6:
                pool[n] = ns_sin(g, pool[n % 4]);
                break;
            case 7:
                pool[n] = ns_cos(g, pool[n % 4]);
                break;
            default:
                pool[n] = ns_sqrt(g, ns_add(g, ns_one(g), square(g, pool[n % 4])));
            }
        }
        ns_ex e = pool[n - 1], f = ns_normal(g, e, NULL), xy[2] = {w.x, w.y};
        ns_ex h = ns_normal_collect(g, e, xy, 2, NULL);
        ns_ex symbol[4] = {w.x, w.y, w.a, w.m};
        assert_true(ns_normal_length(g, f) <= ns_normal_length(g, e));
        for (int k = 0; k < 5; k++) {
            double at[4], value[3];
            for (int i = 0; i < 4; i++)
                at[i] = 0.2 + 2 * ns_eval_random(&seed);
            ns_ex all[3] = {e, f, h};
            ns_eval(g, all, 3, symbol, at, 4, value);
            if (!isfinite(value[0]))
                continue;
            /* ill-conditioned points: quotients of differences */
            assert_true(fabs(value[1] - value[0]) <= 1e-6 * (1 + fabs(value[0])));
            assert_true(fabs(value[2] - value[0]) <= 1e-6 * (1 + fabs(value[0])));
        }
        ns_arena_free(w.arena);
    }
}

/* What is too long is left alone, quickly. */
static void too_long(void **state)
{
    (void)state;
    world w = begin();
    ns_graph *g = w.g;
    ns_ex e = w.x;
    for (int i = 0; i < 60; i++)
        e = ns_add(g, ns_mul(g, e, e), ns_sin(g, e));
    assert_true(ns_normal(g, e, NULL) == e);
    ns_arena_free(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_forms),
        cmocka_unit_test(collected),
        cmocka_unit_test(values_stay),
        cmocka_unit_test(too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
