/* Taylor series of differential equations: closed forms, agreement of the engines, and that
 * series continue the motion.  test_jet_rules.c looks at the rules one by one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/simd.h"
#include "eval/jet/jet_internal.h"
#include "eval/program.h"

typedef struct equation {
    ns_arena *arena;
    ns_graph *g;
    ns_ex t, x[3], p, out[3];
} equation;

static equation equation_new(void)
{
    equation e = {.arena = ns_arena_new()};
    e.g = ns_graph_new(e.arena);
    e.t = ns_symbol_new(e.g, "t", NS_SYM_TIME, 0);
    e.p = ns_symbol_new(e.g, "p", NS_SYM_PARAM, 0);
    for (uint32_t i = 0; i < 3; i++)
        e.x[i] = ns_symbol_new(e.g, "x", NS_SYM_STATE, i);
    return e;
}

static const ns_program *program_of(const equation *e, uint32_t n, bool jets)
{
    const ns_program_spec spec = {.graph = e->g,
                                  .time = e->t,
                                  .x = e->x,
                                  .p = &e->p,
                                  .out = e->out,
                                  .nx = n,
                                  .np = 1,
                                  .nout = n,
                                  .jets = jets};
    return ns_program_build(e->arena, &spec);
}

/* Series of x' = out from x0 at time t. */
static void series(equation *e, uint32_t n, double t, double p, const double *x0,
                   uint32_t order, double *x)
{
    const ns_program *program = program_of(e, n, true);
    const size_t size = ns_program_work_jet(program, order);
    double *work = malloc(size * sizeof *work);
    for (size_t i = 0; i < size; i++)
        work[i] = NAN; /* nothing may be read before it is written */
    for (uint32_t i = 0; i < n; i++)
        x[i * (order + 1)] = x0[i];
    ns_program_bind_jet(program, work, order, &p);
    ns_program_solve_jet(program, work, t, order, x);
    free(work);
}

static void near(double value, double exact, int k)
{
    if (!(fabs(value - exact) <= (2 + k) * 0x1p-53 * fabs(exact)))
        fail_msg("coefficient %d: %.17g, not %.17g", k, value, exact);
}

static void test_closed_forms(void **state)
{
    (void)state;
    enum { N = 30 };
    double c[3 * (N + 1)];

    equation e = equation_new(); /* x' = p x^2, x(0) = 1: x = 1/(1 - p t) */
    e.out[0] = ns_mul(e.g, e.p, ns_powi(e.g, e.x[0], 2));
    series(&e, 1, 0, 2, (const double[]){1}, N, c);
    for (int k = 0; k <= N; k++)
        near(c[k], ldexp(1, k), k);

    /* x' = y, y' = -x: the circular functions */
    e.out[0] = e.x[1];
    e.out[1] = ns_neg(e.g, e.x[0]);
    series(&e, 2, 0, 0, (const double[]){0, 1}, N, c);
    double factorial = 1;
    for (int k = 0; k <= N; factorial *= ++k) {
        const double cycle[4] = {0, 1, 0, -1};
        near(c[k], cycle[k % 4] / factorial, k);
        near(c[N + 1 + k], cycle[(k + 1) % 4] / factorial, k);
    }

    /* x' = 2 (t - p) x: x = exp((t - p)^2), started at t = p */
    e.out[0] = ns_mul(e.g, ns_mul(e.g, ns_integer(e.g, 2), ns_sub(e.g, e.t, e.p)), e.x[0]);
    series(&e, 1, 0.7, 0.7, (const double[]){1}, N, c);
    factorial = 1;
    for (int k = 0; k <= N / 2; factorial *= ++k)
        near(c[2 * k], 1 / factorial, 2 * k);
    for (int k = 1; k < N; k += 2)
        assert_true(c[k] == 0);

    /* constant rates: x = 1 + p t */
    e.out[0] = e.p;
    e.out[1] = ns_number(e.g, 3);
    e.out[2] = e.t;
    series(&e, 3, 5, 0.25, (const double[]){1, 2, 3}, 4, c);
    const double expected[15] = {1, 0.25, 0, 0, 0, 2, 3, 0, 0, 0, 3, 5, 0.5, 0, 0};
    for (int k = 0; k < 15; k++)
        assert_true(c[k] == expected[k]);
    series(&e, 3, 5, 0.25, (const double[]){1, 2, 3}, 0, c); /* order 0: nothing to do */
    assert_true(c[0] == 1 && c[1] == 2 && c[2] == 3);
    ns_arena_free(e.arena);
}

/* A pendulum on a cart, driven: linear system, functions, time and a parameter. */
static void cart(equation *e)
{
    ns_graph *g = e->g;
    const ns_ex c = ns_cos(g, e->x[0]), s = ns_sin(g, e->x[0]), w = e->x[1];
    const ns_ex M[4] = {ns_integer(g, 3), c, c, ns_add(g, ns_one(g), ns_powi(g, s, 2))};
    const ns_ex b[2] = {ns_mul(g, s, ns_powi(g, w, 2)),
                        ns_sub(g, ns_sin(g, ns_mul(g, e->p, e->t)), s)};
    ns_ex y[2];
    ns_solve(g, 2, M, b, y);
    e->out[0] = w;
    e->out[1] = y[1];
    e->out[2] = ns_add(g, y[0], ns_pow(g, ns_add(g, ns_integer(g, 2), c), w));
}

/* What solve_jet finds satisfies the equation as eval_jet sees it, and lower orders give the
 * same coefficients; order 0 is the value. */
static void test_engines_agree(void **state)
{
    (void)state;
    enum { N = 20 };
    equation e = equation_new();
    cart(&e);
    const double x0[3] = {0.4, -1.3, 0.2}, p = 1.7, t = 0.35;
    double x[3 * (N + 1)], rate[3 * (N + 1)], lower[3 * (N + 1)];
    series(&e, 3, t, p, x0, N, x);
    const ns_program *program = program_of(&e, 3, true);
    double *work = malloc(ns_program_work_jet(program, N) * sizeof *work);
    ns_program_bind_jet(program, work, N, &p);
    ns_program_eval_jet(program, work, t, N, x, rate);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < N; k++)
            assert_true(x[i * (N + 1) + k + 1] == ns_jet_divide(rate[i * (N + 1) + k], k + 1));

    double value[3];
    double *work1 = malloc(ns_program_work1(program) * sizeof *work1);
    ns_program_bind1(program, work1, &p);
    ns_program_eval1(program, work1, t, x0, value);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(value[i] == rate[i * (N + 1)]);

    for (uint32_t order = 1; order < N; order += 3) {
        ns_program_bind_jet(program, work, order, &p);
        for (uint32_t i = 0; i < 3; i++)
            lower[i * (order + 1)] = x0[i];
        ns_program_solve_jet(program, work, t, order, lower);
        for (uint32_t i = 0; i < 3; i++)
            for (uint32_t k = 0; k <= order; k++)
                assert_true(lower[i * (order + 1) + k] == x[i * (N + 1) + k]);
    }
    free(work), free(work1);
    ns_arena_free(e.arena);
}

/* The series continues the motion: its value and derivative at a later time fit the
 * equation. */
static void test_series_fits_the_equation(void **state)
{
    (void)state;
    enum { N = 24 };
    equation e = equation_new();
    cart(&e);
    const double x0[3] = {0.4, -1.3, 0.2}, p = 1.7, t = 0.35;
    double c[3 * (N + 1)];
    series(&e, 3, t, p, x0, N, c);
    const ns_program *program = program_of(&e, 3, false);
    double *work = malloc(ns_program_work1(program) * sizeof *work);
    ns_program_bind1(program, work, &p);
    for (int j = -4; j <= 4; j++) {
        const double h = 0.02 * j;
        double x[3] = {0}, rate[3] = {0}, value[3];
        for (uint32_t i = 0; i < 3; i++)
            for (uint32_t k = N + 1; k-- > 0;) {
                const double coefficient = c[i * (N + 1) + k];
                x[i] = x[i] * h + coefficient;
                rate[i] = k ? rate[i] * h + k * coefficient : rate[i];
            }
        ns_program_eval1(program, work, t + h, x, value);
        for (uint32_t i = 0; i < 3; i++)
            assert_true(fabs(rate[i] - value[i]) <= 4e-15);
    }
    free(work);
    ns_arena_free(e.arena);
}

/* All instruction sets sum in the same order. */
static void test_runners_are_bit_equal(void **state)
{
    (void)state;
#if NS_X86
    if (ns_simd_level() < NS_SIMD_AVX2)
        skip();
    enum { N = 33 };
    equation e = equation_new();
    cart(&e);
    e.out[0] = ns_add(e.g, e.out[0], ns_apply(e.g, NS_OP_ATAN2, e.x[0], e.x[1]));
    e.out[1] = ns_add(e.g, e.out[1], ns_apply(e.g, NS_OP_ASIN, ns_sin(e.g, e.x[2]), 0));
    ns_jet jet = *ns_jet_build(e.arena, &(ns_program_spec){.graph = e.g,
                                                           .time = e.t,
                                                           .x = e.x,
                                                           .p = &e.p,
                                                           .out = e.out,
                                                           .nx = 3,
                                                           .np = 1,
                                                           .nout = 3,
                                                           .jets = true});
    const ns_jet_runner *const runners[2] = {&ns_jet_plain, &ns_jet_avx2};
    for (uint32_t order = 1; order <= N; order++) {
        double x[2][3 * (N + 1)], *work = malloc(ns_jet_work(&jet, order) * sizeof *work);
        for (int k = 0; k < 2; k++) {
            jet.runner = runners[k];
            for (uint32_t i = 0; i < 3; i++)
                x[k][i * (order + 1)] = 0.3 + 0.5 * i;
            ns_jet_bind(&jet, work, order, &(double){1.7});
            ns_jet_solve(&jet, work, 0.35, order, x[k], order + (size_t)1, 1);
        }
        for (uint32_t i = 0; i < 3 * (order + 1); i++)
            assert_true(x[0][i] == x[1][i]);
        free(work);
    }
    ns_arena_free(e.arena);
#endif
}

/* The companion of atan2(sin x, cos x) is simplified to the number 1: constant in time. */
static void test_constant_companion(void **state)
{
    (void)state;
    enum { N = 12 };
    equation e = equation_new();
    const ns_ex angle = ns_apply(e.g, NS_OP_ATAN2, ns_sin(e.g, e.x[0]), ns_cos(e.g, e.x[0]));
    e.out[0] = angle; /* x' = x */
    double c[N + 1], factorial = 1;
    series(&e, 1, 0, 0, (const double[]){1}, N, c);
    for (int k = 0; k <= N; factorial *= ++k)
        assert_true(fabs(c[k] - 1 / factorial) < 4e-16);
    ns_arena_free(e.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_engines_agree),
        cmocka_unit_test(test_series_fits_the_equation),
        cmocka_unit_test(test_runners_are_bit_equal),
        cmocka_unit_test(test_constant_companion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
