/* The expression graph: hash-consing, simplification that keeps the value, derivatives,
 * substitution, collecting.  Values are compared with a separate evaluation made while the
 * expression is built, so a wrong rewriting rule cannot hide. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/graph.h"
#include "expr/subst.h"

enum { VARIABLES = 4 };

typedef struct world {
    ns_arena *arena;
    ns_graph *g;
    ns_ex x[VARIABLES];
    double value[VARIABLES];
    uint64_t seed;
} world;

static int setup(void **state)
{
    static world w;
    w = (world){.arena = ns_arena_new(), .seed = 7};
    w.g = ns_graph_new(w.arena);
    for (uint32_t i = 0; i < VARIABLES; i++) {
        w.x[i] = ns_symbol_new(w.g, "x", NS_SYM_STATE, i);
        w.value[i] = 0.3 + 0.4 * i;
    }
    *state = &w;
    return 0;
}

static int teardown(void **state)
{
    ns_arena_free(((world *)*state)->arena);
    return 0;
}

static double value_of(world *w, ns_ex e)
{
    double out;
    ns_eval(w->g, &e, 1, w->x, w->value, VARIABLES, &out);
    return out;
}

/* A random expression together with its value, computed without the graph. */
typedef struct pair {
    ns_ex e;
    double v, size; /* size: largest magnitude met on the way, for the tolerance */
} pair;

static unsigned pick(world *w, unsigned n)
{
    return (unsigned)(ns_eval_random(&w->seed) * n);
}

static pair grow(world *w, int depth)
{
    ns_graph *g = w->g;
    if (depth == 0) {
        unsigned k = pick(w, VARIABLES + 4);
        if (k < VARIABLES)
            return (pair){w->x[k], w->value[k], 1};
        static const double numbers[] = {0, 1, -1, 2};
        return (pair){ns_number(g, numbers[k - VARIABLES]), numbers[k - VARIABLES], 2};
    }
    pair a = grow(w, depth - 1), b = grow(w, depth - 1), y = a;
    switch (pick(w, 12)) {
    case 0:
    case 1:
        y = (pair){ns_add(g, a.e, b.e), a.v + b.v, 0};
        break;
    case 2:
    case 3:
        y = (pair){ns_sub(g, a.e, b.e), a.v - b.v, 0};
        break;
    case 4:
    case 5:
        y = (pair){ns_mul(g, a.e, b.e), a.v * b.v, 0};
        break;
    case 6:
        if (fabs(b.v) < 1e-3)
            return a;
        y = (pair){ns_div(g, a.e, b.e), a.v / b.v, 0};
        break;
    case 7:
        y = (pair){ns_neg(g, a.e), -a.v, 0};
        break;
    case 8: {
        int n = (int)pick(w, 4);
        y = (pair){ns_powi(g, a.e, n), pow(a.v, n), 0};
        break;
    }
    case 9:
        if (a.v < 0)
            return b;
        y = (pair){ns_sqrt(g, a.e), sqrt(a.v), 0};
        break;
    case 10:
        y = (pair){ns_sin(g, a.e), sin(a.v), 0};
        break;
    default:
        y = (pair){ns_cos(g, a.e), cos(a.v), 0};
    }
    y.size = fmax(fmax(a.size, b.size), fmax(fabs(y.v), 1)) * 1.5;
    return y;
}

static void simplification_keeps_the_value(void **state)
{
    world *w = *state;
    int checked = 0;
    for (int i = 0; i < 20000; i++) {
        pair y = grow(w, 1 + (int)pick(w, 5));
        if (!(fabs(y.v) < 1e6 && y.size < 1e6))
            continue;
        /* Roots and quotients near zero magnify rounding: the bound is generous in the size of
         * intermediate results, and still 1e-9 of them. */
        double got = value_of(w, y.e);
        if (!(fabs(got - y.v) <= 1e-9 * y.size * y.size))
            fail_msg("case %d: %.17g instead of %.17g", i, got, y.v);
        checked++;
    }
    assert_true(checked > 15000);
}

static void equal_expressions_are_one_node(void **state)
{
    world *w = *state;
    ns_graph *g = w->g;
    ns_ex x = w->x[0], y = w->x[1], two = ns_number(g, 2);
    assert_int_equal(ns_add(g, x, y), ns_add(g, y, x));
    assert_int_equal(ns_mul(g, x, x), ns_powi(g, x, 2));
    assert_int_equal(ns_add(g, x, x), ns_mul(g, two, x));
    assert_int_equal(ns_sub(g, x, x), ns_zero(g));
    assert_int_equal(ns_sub(g, ns_add(g, x, y), y), x);
    assert_int_equal(ns_add(g, x, ns_neg(g, y)), ns_sub(g, x, y));
    assert_int_equal(ns_mul(g, ns_neg(g, x), ns_neg(g, y)), ns_mul(g, x, y));
    assert_int_equal(ns_div(g, ns_mul(g, x, y), y), x);
    assert_int_equal(ns_pow(g, x, ns_number(g, 0.5)), ns_sqrt(g, x));
    assert_int_equal(ns_powi(g, ns_sqrt(g, x), 2), x);
    assert_int_equal(ns_add(g, ns_powi(g, ns_sin(g, x), 2), ns_powi(g, ns_cos(g, x), 2)),
                     ns_one(g));
    assert_int_equal(ns_mul(g, two, ns_mul(g, ns_number(g, 3), x)),
                     ns_mul(g, ns_number(g, 6), x));
    ns_ex z = w->x[2];
    assert_int_equal(ns_div(g, ns_div(g, x, y), z), ns_div(g, x, ns_mul(g, y, z)));
}

/* Numbers fold only when nothing is lost, so a graph means the same in quadruple precision. */
static void numbers_fold_only_exactly(void **state)
{
    world *w = *state;
    ns_graph *g = w->g;
    assert_int_equal(ns_graph_op(g, ns_div(g, ns_one(g), ns_number(g, 3))), NS_OP_DIV);
    assert_int_equal(ns_graph_op(g, ns_div(g, ns_one(g), ns_number(g, 4))), NS_OP_NUMBER);
    ns_ex tenth = ns_decimal(g, "0.1");
    assert_int_equal(ns_graph_op(g, ns_mul(g, tenth, ns_number(g, 3))), NS_OP_MUL);
    assert_int_equal(ns_graph_op(g, ns_add(g, ns_number(g, 1e16), ns_one(g))), NS_OP_ADD);
    assert_int_equal(ns_graph_op(g, ns_sqrt(g, ns_number(g, 2))), NS_OP_SQRT);
    assert_int_equal(ns_graph_op(g, ns_sqrt(g, ns_number(g, 9))), NS_OP_NUMBER);
    assert_int_equal(ns_graph_op(g, ns_div(g, ns_one(g), ns_zero(g))), NS_OP_DIV);
}

/* Forward and reverse differentiation are written separately and must agree; both are compared
 * with a central difference, whose error bounds the tolerance. */
static void derivatives_agree(void **state)
{
    world *w = *state;
    int checked = 0;
    for (int i = 0; i < 3000; i++) {
        pair y = grow(w, 4);
        if (!(fabs(y.v) < 1e3 && y.size < 1e3))
            continue;
        ns_ex reverse[VARIABLES];
        ns_diff_gradient(w->g, y.e, w->x, VARIABLES, reverse);
        for (int k = 0; k < VARIABLES; k++) {
            double forward = value_of(w, ns_diff(w->g, y.e, w->x[k]));
            double back = value_of(w, reverse[k]), at = w->value[k], h = 1e-5;
            if (!isfinite(forward) || fabs(forward) > 1e4)
                continue; /* at a root's branch point */
            assert_true(fabs(forward - back) <= 1e-9 * (1 + fabs(forward)) * y.size);
            w->value[k] = at + h;
            double up = value_of(w, y.e);
            w->value[k] = at - h;
            double down = value_of(w, y.e);
            w->value[k] = at + 2 * h;
            double up2 = value_of(w, y.e);
            w->value[k] = at - 2 * h;
            double down2 = value_of(w, y.e);
            w->value[k] = at;
            double slope = (8 * (up - down) - (up2 - down2)) / (12 * h);
            double rough = (up - down) / (2 * h);
            if (!isfinite(slope) || fabs(slope - rough) > 1e-6)
                continue; /* too close to a kink or pole for a difference to tell */
            assert_true(fabs(slope - forward) <= 1e-6 * (1 + fabs(forward)));
            checked++;
        }
    }
    assert_true(checked > 5000);
}

static void solve_and_its_derivatives(void **state)
{
    world *w = *state;
    ns_graph *g = w->g;
    /* M depends on x0, x1; b on x2, x3 */
    ns_ex M[9], b[3], x[3];
    for (int i = 0; i < 9; i++)
        M[i] = ns_add(g, ns_number(g, i % 4 == 0 ? 3 : 0.25 * (i % 5)),
                      ns_mul(g, w->x[i % 2], ns_number(g, 0.125 * (i + 1))));
    for (int i = 0; i < 3; i++)
        b[i] = ns_sin(g, ns_mul(g, w->x[2 + i % 2], ns_number(g, i + 1)));
    ns_solve(g, 3, M, b, x);
    for (int i = 0; i < 3; i++) { /* residual */
        ns_ex sum = ns_neg(g, b[i]);
        for (int j = 0; j < 3; j++)
            sum = ns_add(g, sum, ns_mul(g, M[3 * i + j], x[j]));
        assert_true(fabs(value_of(w, sum)) < 1e-15);
    }
    /* d(M x - b) = 0 along every variable, by both modes */
    for (int k = 0; k < VARIABLES; k++) {
        ns_ex reverse[VARIABLES];
        for (int i = 0; i < 3; i++) {
            ns_diff_gradient(g, x[i], w->x, VARIABLES, reverse);
            double forward = value_of(w, ns_diff(g, x[i], w->x[k]));
            assert_true(fabs(forward - value_of(w, reverse[k])) < 1e-15);
            ns_ex sum = ns_neg(g, ns_diff(g, b[i], w->x[k]));
            for (int j = 0; j < 3; j++)
                sum = ns_add(g, sum,
                             ns_add(g, ns_mul(g, ns_diff(g, M[3 * i + j], w->x[k]), x[j]),
                                    ns_mul(g, M[3 * i + j], ns_diff(g, x[j], w->x[k]))));
            assert_true(fabs(value_of(w, sum)) < 1e-15);
        }
    }
    /* derivatives share the one factorisation */
    uint32_t factors = 0;
    for (ns_ex e = 1; e < ns_graph_size(g); e++)
        factors += ns_graph_op(g, e) == NS_OP_FACTOR;
    assert_int_equal(factors, 2); /* M and its transpose */
}

static void substitution_is_simultaneous(void **state)
{
    world *w = *state;
    ns_graph *g = w->g;
    ns_ex x = w->x[0], y = w->x[1];
    ns_ex f = ns_add(g, ns_mul(g, x, ns_number(g, 2)), ns_sin(g, y));
    ns_ex from[2] = {x, y}, to[2] = {y, x};
    ns_ex swapped = ns_subst_one(g, f, from, to, 2);
    assert_int_equal(swapped, ns_add(g, ns_mul(g, y, ns_number(g, 2)), ns_sin(g, x)));
    assert_int_equal(ns_subst_one(g, swapped, from, to, 2), f);
}

static void forms_are_collected(void **state)
{
    world *w = *state;
    ns_graph *g = w->g;
    ns_ex u = w->x[0], v = w->x[1], a = w->x[2], b = w->x[3], linear[2], rest, quadratic[4];
    ns_ex in[2] = {u, v};
    /* (u + a)^2 - u^2 = 2 a u + a^2 is linear in u, though not by its looks */
    ns_ex f = ns_sub(g, ns_powi(g, ns_add(g, u, a), 2), ns_powi(g, u, 2));
    f = ns_add(g, f, ns_mul(g, b, v));
    assert_true(ns_subst_collect_linear(g, f, in, 2, linear, &rest));
    assert_true(fabs(value_of(w, linear[0]) - 2 * w->value[2]) < 1e-15);
    assert_true(fabs(value_of(w, linear[1]) - w->value[3]) < 1e-15);
    assert_true(fabs(value_of(w, rest) - w->value[2] * w->value[2]) < 1e-15);
    for (int i = 0; i < 2; i++)
        assert_false(ns_graph_depends(g, linear[i], in, 2));
    assert_false(ns_subst_collect_linear(g, ns_mul(g, u, v), in, 2, linear, &rest));
    assert_false(ns_subst_collect_linear(g, ns_sin(g, u), in, 2, linear, &rest));

    ns_ex q = ns_add(g, ns_mul(g, a, ns_powi(g, ns_sub(g, u, v), 2)), ns_mul(g, b, u));
    assert_true(ns_subst_collect_quadratic(g, q, in, 2, quadratic, linear, &rest));
    assert_true(fabs(value_of(w, quadratic[0]) - 2 * w->value[2]) < 1e-15);
    assert_true(fabs(value_of(w, quadratic[1]) + 2 * w->value[2]) < 1e-15);
    assert_int_equal(quadratic[1], quadratic[2]);
    assert_true(fabs(value_of(w, linear[0]) - w->value[3]) < 1e-15);
    assert_true(ns_graph_is_zero(g, rest));
    assert_false(
        ns_subst_collect_quadratic(g, ns_powi(g, u, 3), in, 2, quadratic, linear, &rest));
}

/* A chain of a million operations: no walk may recurse. */
static void depth_does_not_matter(void **state)
{
    world *w = *state;
    ns_graph *g = w->g;
    ns_ex e = w->x[0];
    for (int i = 0; i < 500000; i++)
        e = ns_sin(g, ns_add(g, e, w->x[1]));
    assert_true(isfinite(value_of(w, e)));
    ns_ex slope[2];
    ns_diff_gradient(g, e, w->x, 2, slope);
    assert_true(isfinite(value_of(w, slope[0])));
    assert_true(isfinite(value_of(w, ns_diff(g, e, w->x[1]))));
    ns_ex zero = ns_zero(g);
    assert_false(ns_graph_depends(g, ns_subst_one(g, e, w->x, &zero, 1), w->x, 1));
}

static void dependence_is_seen(void **state)
{
    world *w = *state;
    ns_ex p = ns_symbol_new(w->g, "p", NS_SYM_PARAM, 0), found = 0;
    ns_ex f = ns_mul(w->g, p, ns_sin(w->g, w->x[2]));
    assert_true(ns_graph_depends(w->g, f, &w->x[2], 1));
    assert_false(ns_graph_depends(w->g, f, w->x, 2));
    assert_true(ns_graph_depends_kind(w->g, f, NS_SYM_PARAM, &found));
    assert_int_equal(found, p);
    assert_false(ns_graph_depends_kind(w->g, f, NS_SYM_TIME, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        TEST(simplification_keeps_the_value),
        TEST(equal_expressions_are_one_node),
        TEST(numbers_fold_only_exactly),
        TEST(derivatives_agree),
        TEST(solve_and_its_derivatives),
        TEST(substitution_is_simultaneous),
        TEST(forms_are_collected),
        TEST(depth_does_not_matter),
        TEST(dependence_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
