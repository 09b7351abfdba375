/* The functions of expr/vecmath.inc: accuracy against quadruple precision, special values, and that
 * every engine uses them with the same bits. */
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/quad.h"
#include "code/program.h"
#include "expr/eval.h"
#include "expr/vecmath.h"
#include "support/bits.h"

static uint64_t seed = 11;

static double between(double a, double b)
{
    return a + (b - a) * ns_eval_random(&seed);
}

/* Both signs, all sizes from a to b alike. */
static double sized(double a, double b)
{
    const double x = exp2(between(log2(a), log2(b)));
    return ns_eval_random(&seed) < 0.5 ? x : -x;
}

#if NS_HAVE_QUAD
static double quad_error(double y, ns_quad exact)
{
    const double rounded = (double)exact;
    if (!isfinite(rounded) || fabs(rounded) < DBL_MIN) /* overflow, subnormal: absolutely */
        return same_bits(y, rounded) ? 0 : fabs(y - rounded) / 0x1p-1074;
    int exponent;
    frexp(rounded, &exponent);
    return fabs((double)(((ns_quad)y - exact) / (ns_quad)ldexp(1, exponent - 53)));
}

static double most;

static void note(const char *name, double x, double error)
{
    if (!(error <= 1))
        fail_msg("%s(%a): %.3f units in the last place", name, x, error);
    most = fmax(most, error);
}

static void check_angle(double x)
{
    double s, c;
    ns_math_sincos(x, &s, &c);
    note("sin", x, quad_error(s, sinf128(x)));
    note("cos", x, quad_error(c, cosf128(x)));
    assert_true(same_bits(s, ns_math_sin(x)) && same_bits(c, ns_math_cos(x)));
}

static void sine_and_cosine(void **state)
{
    (void)state;
    enum { MANY = 40000 };
    const ns_quad half_pi = acosf128(0);
    most = 0;
    for (int i = 0; i < MANY; i++) {
        check_angle(between(-1, 1));
        check_angle(between(-8, 8));
        check_angle(between(-1e4, 1e4));
        check_angle(sized(1e-10, 0x1p19));
    }
    for (int i = 0; i < MANY / 20; i++)
        check_angle(sized(0x1p-1074, DBL_MAX)); /* the C library above 2^19 */
    /* around multiples of pi/2 and of pi/4 */
    for (int i = 0; i < MANY; i++) {
        const double n = floor(sized(1, 0x1p20)) * (i % 2 ? 1 : 0.5);
        double x = (double)((ns_quad)n * half_pi);
        check_angle(x);
        check_angle(nextafter(x, 0));
        check_angle(nextafter(x, INFINITY));
        check_angle(x * (1 + sized(0x1p-50, 0x1p-10)));
    }
    /* the double below 2^19 that is nearest to a multiple of pi/2: all bits cancel */
    double nearest = 0, distance = 1;
    for (int n = 1; n < 333772; n++) {
        const ns_quad exact = n * half_pi;
        const double x = (double)exact, d = fabs((double)(exact - (ns_quad)x));
        if (d < distance) {
            distance = d;
            nearest = x;
        }
    }
    assert_true(distance < 0x1p-48);
    check_angle(nearest);
    check_angle(-nearest);
    for (double x = 0x1p19; x < 0x1.001p19; x = nextafter(x, INFINITY) + 0.05)
        check_angle(x); /* where the C library takes over */
    print_message("sin, cos: %.3f units in the last place\n", most);
}

static void exponential(void **state)
{
    (void)state;
    enum { MANY = 60000 };
    most = 0;
    for (int i = 0; i < MANY; i++) {
        const double near = between(-1, 1), x = between(-708, 709.7), tiny = sized(1e-300, 1);
        note("exp", near, quad_error(ns_math_exp(near), expf128(near)));
        note("exp", x, quad_error(ns_math_exp(x), expf128(x)));
        note("exp", tiny, quad_error(ns_math_exp(tiny), expf128(tiny)));
    }
    print_message("exp: %.3f units in the last place\n", most);
    for (int i = 0; i < MANY; i++) {
        const double small = between(-750, -708); /* subnormal results: rounded twice */
        note("exp", small, quad_error(ns_math_exp(small), expf128(small)));
    }
    assert_true(same_bits(ns_math_exp(0.0), 1) && same_bits(ns_math_exp(-0.0), 1));
    assert_true(ns_math_exp(709.782712893384) < INFINITY);
    assert_true(isinf(ns_math_exp(709.782712893385)) && isinf(ns_math_exp(1e300)));
    assert_true(ns_math_exp(-746) == 0 && ns_math_exp(-1e300) == 0);
}

static void logarithm(void **state)
{
    (void)state;
    enum { MANY = 60000 };
    most = 0;
    for (int i = 0; i < MANY; i++) {
        const double x = fabs(sized(DBL_MIN, DBL_MAX)), near = 1 + sized(0x1p-52, 0.5);
        const double tiny = fabs(sized(0x1p-1074, DBL_MIN)), usual = between(0, 10);
        note("log", x, quad_error(ns_math_log(x), logf128(x)));
        note("log", near, quad_error(ns_math_log(near), logf128(near)));
        note("log", tiny, quad_error(ns_math_log(tiny), logf128(tiny)));
        note("log", usual, quad_error(ns_math_log(usual), logf128(usual)));
    }
    print_message("log: %.3f units in the last place\n", most);
    assert_true(same_bits(ns_math_log(1), 0));
}
#endif

/* What the C standard says of zeros, infinities and nan. */
static void special_values(void **state)
{
    (void)state;
    static const double x[] = {
        0.0,        -0.0,    (double)INFINITY, -(double)INFINITY, (double)NAN, 0x1p-1074,
        -0x1p-1074, DBL_MIN, DBL_MAX,          -DBL_MAX,          -1};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        double s, c;
        ns_math_sincos(x[i], &s, &c);
        assert_true(same_bits(s, sin(x[i])) && same_bits(c, cos(x[i])));
        assert_true(same_bits(ns_math_log(x[i]), log(x[i])));
        if (fabs(x[i]) < 1 || fabs(x[i]) > 1000 || isnan(x[i]))
            assert_true(same_bits(ns_math_exp(x[i]), exp(x[i])));
    }
}

/* Odd and even; monotone through the ends of the intervals. */
static void symmetries(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        const double x = sized(1e-12, 1e6);
        assert_true(same_bits(ns_math_sin(-x), -ns_math_sin(x)));
        assert_true(same_bits(ns_math_cos(-x), ns_math_cos(x)));
    }
}

/* One program with all functions, on all engines, at arguments of all kinds in mixed lanes. */
static void lanes_have_the_same_bits(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    assert_non_null(arena);
    ns_graph *g = ns_graph_new(arena);
    const ns_ex x = ns_symbol_new(g, "x", NS_SYM_STATE, 0);
    const ns_ex out[] = {ns_sin(g, x),
                         ns_cos(g, x),
                         ns_exp(g, x),
                         ns_log(g, x),
                         ns_sin(g, ns_mul(g, x, x)),
                         ns_cos(g, ns_add(g, x, ns_one(g)))};
    enum { OUT = sizeof out / sizeof *out };
    const ns_program_spec spec = {.graph = g, .x = &x, .out = out, .nx = 1, .nout = OUT};
    ns_program *program = ns_program_build(arena, &spec);
    double *work1 = aligned_alloc(64, 4096), *work8 = aligned_alloc(64, 32768);
    assert_true(ns_program_work1(program) * 8 <= 4096);
    assert_true(ns_program_work8(program) * 8 <= 32768);
    static double x8[8] __attribute__((aligned(64))), t8[8] __attribute__((aligned(64)));
    static double out8[8 * OUT] __attribute__((aligned(64)));
    static const char *const names[] = {"plain", "avx2", "avx512"};
    for (int n = 0; n < 3; n++) {
        if (!ns_program_choose_lanes(program, names[n]))
            continue;
        ns_program_bind8(program, work8, t8);
        ns_program_bind1(program, work1, t8);
        for (int i = 0; i < 20000; i++) {
            for (int lane = 0; lane < 8; lane++)
                x8[lane] = i % 4 == 0   ? between(-10, 10)
                           : i % 4 == 1 ? sized(1e-3, 1e7)
                           : i % 4 == 2 ? sized(0x1p-1074, DBL_MAX)
                           : lane % 3   ? between(0, 700)
                                        : (double)INFINITY;
            ns_program_eval8(program, work8, t8, x8, out8);
            for (int lane = 0; lane < 8; lane++) {
                double alone[OUT];
                ns_program_eval1(program, work1, 0, &x8[lane], alone);
                for (int k = 0; k < OUT; k++)
                    if (!same_bits(alone[k], out8[8 * k + lane]))
                        fail_msg("%s, output %d at %a: %a in lanes, %a alone", names[n], k,
                                 x8[lane], out8[8 * k + lane], alone[k]);
                assert_true(same_bits(alone[0], ns_math_sin(x8[lane])));
                assert_true(same_bits(alone[2], ns_ops_value(NS_OP_EXP, x8[lane], 0)));
            }
        }
    }
    free(work1);
    free(work8);
    ns_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if NS_HAVE_QUAD
        cmocka_unit_test(sine_and_cosine),
        cmocka_unit_test(exponential),
        cmocka_unit_test(logarithm),
#endif
        cmocka_unit_test(special_values),
        cmocka_unit_test(symmetries),
        cmocka_unit_test(lanes_have_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
