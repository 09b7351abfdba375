/* The table of operations, row by row: values in one lane, eight lanes and quadruple precision,
 * and derivatives against differences of the library's quadruple-precision functions. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "eval/program.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "support/bits.h"

static const char *const lane_names[] = {"plain", "avx2", "avx512"};

typedef struct domain {
    double a0, a1, b0, b1;
} domain;

/* Where the operation is smooth and well conditioned. */
static domain domain_of(ns_op op)
{
    switch (op) {
    case NS_OP_DIV:
        return (domain){-3, 3, 0.2, 3};
    case NS_OP_POW:
        return (domain){0.1, 8, -3, 3};
    case NS_OP_SQRT:
    case NS_OP_LOG:
        return (domain){0.05, 20, 0, 1};
    case NS_OP_TAN:
        return (domain){-1.4, 1.4, 0, 1};
    case NS_OP_ASIN:
    case NS_OP_ACOS:
    case NS_OP_ATANH:
        return (domain){-0.95, 0.95, 0, 1};
    case NS_OP_TANH: /* its derivative 1 - y^2 loses digits where y is near 1 */
        return (domain){-2, 2, 0, 1};
    case NS_OP_ACOSH:
        return (domain){1.05, 10, 0, 1};
    default:
        return (domain){-3, 3, -3, 3};
    }
}

static double between(uint64_t *seed, double low, double high)
{
    return low + (high - low) * ns_eval_random(seed);
}

/* One operation as a program f(a, b), with df/da and df/db behind it. */
typedef struct row_program {
    ns_arena *arena;
    ns_program *program;
    double *work1, *work8;
} row_program;

static row_program row_new(ns_op op)
{
    row_program row = {.arena = ns_arena_new()};
    ns_graph *g = ns_graph_new(row.arena);
    const ns_ex x[2] = {ns_symbol_new(g, "a", NS_SYM_STATE, 0),
                        ns_symbol_new(g, "b", NS_SYM_STATE, 1)};
    const ns_ex f = ns_apply(g, op, x[0], x[1]);
    const ns_ex out[3] = {f, ns_diff(g, f, x[0]), ns_diff(g, f, x[1])};
    row.program = ns_program_build(
        row.arena, &(ns_program_spec){.graph = g, .x = x, .out = out, .nx = 2, .nout = 3});
    row.work1 = NS_NEW_ARRAY(row.arena, double, ns_program_work1(row.program));
    row.work8 = NS_NEW_ARRAY(row.arena, double, ns_program_work8(row.program));
    ns_program_bind1(row.program, row.work1, NULL);
    return row;
}

/* Eight pairs of arguments, in lanes and one after the other. */
static void compare_lanes(const row_program *row, const char *op, const double *x8)
{
    _Alignas(64) double out8[3 * NS_LANES], t8[NS_LANES] = {0};
    ns_program_eval8(row->program, row->work8, t8, x8, out8);
    for (int lane = 0; lane < NS_LANES; lane++) {
        const double x[2] = {x8[lane], x8[NS_LANES + lane]};
        double out[3];
        ns_program_eval1(row->program, row->work1, 0, x, out);
        for (int i = 0; i < 3; i++)
            if (!same_bits(out[i], out8[i * NS_LANES + lane]))
                fail_msg("%s(%a, %a)[%d]: one lane %a, %s %a", op, x[0], x[1], i, out[i],
                         ns_program_lanes_name(row->program), out8[i * NS_LANES + lane]);
    }
}

static void test_lanes_are_bit_equal(void **state)
{
    (void)state;
    static const double edges[] = {0.0,       -0.0,      1.0,    -1.0,    0.5,    -0.5,
                                   2.0,       -2.0,      1e-310, -1e-310, 1e308,  -1e308,
                                   INFINITY,  -INFINITY, NAN,    1e-8,    1e300,  -1e-300,
                                   0x1p-1074, 3.0,       1e22,   -7.25,   0x1p53, M_PI_2};
    enum { EDGES = sizeof edges / sizeof *edges, RANDOM = 500 };
    for (int k = 1; k < NS_OP_COUNT; k++) {
        const ns_op op = (ns_op)k;
        if (ns_ops[op].arity < 0)
            continue;
        row_program row = row_new(op);
        for (size_t n = 0; n < sizeof lane_names / sizeof *lane_names; n++) {
            if (!ns_program_choose_lanes(row.program, lane_names[n]))
                continue;
            _Alignas(64) double x8[2 * NS_LANES];
            _Alignas(64) const double p8[NS_LANES] = {0};
            ns_program_bind8(row.program, row.work8, p8);
            uint64_t seed = 17;
            const domain d = domain_of(op);
            for (int r = 0; r < RANDOM; r++) {
                for (int lane = 0; lane < NS_LANES; lane++) {
                    x8[lane] = between(&seed, d.a0, d.a1);
                    x8[NS_LANES + lane] = between(&seed, d.b0, d.b1);
                }
                compare_lanes(&row, ns_ops[op].name, x8);
            }
            for (int i = 0; i < EDGES; i++)
                for (int j = 0; j < EDGES; j += NS_LANES) {
                    for (int lane = 0; lane < NS_LANES; lane++) {
                        x8[lane] = edges[i];
                        x8[NS_LANES + lane] = edges[(j + lane) % EDGES];
                    }
                    compare_lanes(&row, ns_ops[op].name, x8);
                }
        }
        ns_arena_free(row.arena);
    }
}

/* The direct evaluator of expr/ is the table itself. */
static void test_one_lane_is_the_table(void **state)
{
    (void)state;
    uint64_t seed = 23;
    for (int k = 1; k < NS_OP_COUNT; k++) {
        const ns_op op = (ns_op)k;
        if (ns_ops[op].arity < 0)
            continue;
        row_program row = row_new(op);
        const domain d = domain_of(op);
        for (int r = 0; r < 1000; r++) {
            const double x[2] = {between(&seed, d.a0, d.a1), between(&seed, d.b0, d.b1)};
            double out[3];
            ns_program_eval1(row.program, row.work1, 0, x, out);
            const double expected = ns_ops_value(op, x[0], x[1]);
            if (!same_bits(out[0], expected))
                fail_msg("%s(%a, %a): %a, not %a", ns_ops[op].name, x[0], x[1], out[0],
                         expected);
        }
        ns_arena_free(row.arena);
    }
}

#if NS_HAVE_QUAD

#define F(f) f##f128
#define NS_OP_SPECIAL(...)
#define NS_OP(ID, NAME, ARITY, VALUE, ...)                                                     \
    static ns_quad quad_##ID(ns_quad a, ns_quad b)                                             \
    {                                                                                          \
        (void)b;                                                                               \
        return VALUE;                                                                          \
    }
#include "expr/ops.def"
#undef NS_OP
static ns_quad (*const quad_value[NS_OP_COUNT])(ns_quad, ns_quad) = {
#define NS_OP(ID, ...) [NS_OP_##ID] = quad_##ID,
#include "expr/ops.def"
#undef NS_OP
};
#undef NS_OP_SPECIAL

/* Error of a double in units of its last place. */
static double ulps(double value, ns_quad exact)
{
    const double size = fabs((double)exact);
    if (size == 0)
        return value == 0 ? 0 : INFINITY;
    return fabs((double)((ns_quad)value - exact)) / (nextafter(size, INFINITY) - size);
}

/* Correctly rounded are: sums, products, quotients, roots and what only chooses; functions of
 * vecmath.inc are below 1 (tests/base/test_vecmath.c). */
static double allowed_ulps(ns_op op)
{
    return op == NS_OP_POW || op >= NS_OP_EXP ? 1 : 0.5;
}

static ns_quad *work_quad(const row_program *row)
{
    ns_quad *work = ns_arena_alloc(row->arena,
                                   ns_program_work_quad(row->program) * sizeof(ns_quad));
    ns_program_bind_quad(row->program, work, NULL);
    return work;
}

static void test_values_against_quad(void **state)
{
    (void)state;
    uint64_t seed = 31;
    for (int k = 1; k < NS_OP_COUNT; k++) {
        const ns_op op = (ns_op)k;
        if (ns_ops[op].arity < 0)
            continue;
        row_program row = row_new(op);
        ns_quad *work = work_quad(&row);
        const domain d = domain_of(op);
        double worst = 0;
        for (int r = 0; r < 2000; r++) {
            const double x[2] = {between(&seed, d.a0, d.a1), between(&seed, d.b0, d.b1)};
            const ns_quad xq[2] = {(ns_quad)x[0], (ns_quad)x[1]};
            double out[3];
            ns_quad outq[3];
            ns_program_eval1(row.program, row.work1, 0, x, out);
            ns_program_eval_quad(row.program, work, 0, xq, outq);
            /* the engine in quadruple precision is the library, to the bit */
            assert_true(outq[0] == quad_value[op](xq[0], xq[1]));
            worst = fmax(worst, ulps(out[0], outq[0]));
        }
        if (!(worst <= allowed_ulps(op)))
            fail_msg("%s: %g ulps", ns_ops[op].name, worst);
        ns_arena_free(row.arena);
    }
}

/* f'(x) by central differences of order 12, h = 2^-13: errors below 1e-29 */
static ns_quad difference(ns_quad (*f)(ns_quad, ns_quad), const ns_quad x[2], int k)
{
    static const int weight[6][2] = {{6, 7},   {-15, 56}, {5, 63},
                                     {-1, 56}, {1, 385},  {-1, 5544}};
    const ns_quad h = (ns_quad)0x1p-13;
    ns_quad sum = 0;
    for (int j = 1; j <= 6; j++) {
        const ns_quad up = x[k] + j * h, down = x[k] - j * h;
        const ns_quad rise = k == 0 ? f(up, x[1]) - f(down, x[1]) : f(x[0], up) - f(x[0], down);
        sum += rise * weight[j - 1][0] / weight[j - 1][1];
    }
    return sum / h;
}

static void test_derivatives(void **state)
{
    (void)state;
    uint64_t seed = 41;
    for (int k = 1; k < NS_OP_COUNT; k++) {
        const ns_op op = (ns_op)k;
        if (ns_ops[op].arity < 0)
            continue;
        row_program row = row_new(op);
        ns_quad *work = work_quad(&row);
        const domain d = domain_of(op);
        for (int r = 0; r < 500; r++) {
            const double x[2] = {between(&seed, d.a0, d.a1), between(&seed, d.b0, d.b1)};
            const bool kink = op == NS_OP_ABS || op == NS_OP_SIGN  ? fabs(x[0]) < 0.02
                              : op == NS_OP_MIN || op == NS_OP_MAX ? fabs(x[0] - x[1]) < 0.02
                              : op == NS_OP_ATAN2
                                  ? hypot(x[0], x[1]) < 0.5 || (x[1] < 0 && fabs(x[0]) < 0.02)
                                  : false;
            if (kink)
                continue;
            const ns_quad xq[2] = {(ns_quad)x[0], (ns_quad)x[1]};
            double out[3];
            ns_quad outq[3];
            ns_program_eval1(row.program, row.work1, 0, x, out);
            ns_program_eval_quad(row.program, work, 0, xq, outq);
            for (int i = 0; i < ns_ops[op].arity; i++) {
                const ns_quad exact = difference(quad_value[op], xq, i);
                const double size = fabs((double)exact);
                const double error_quad = fabs((double)(outq[1 + i] - exact));
                const double error = fabs((double)((ns_quad)out[1 + i] - exact));
                if (!(error_quad <= 1e-25 * (size + 1e-3)) || !(error <= 5e-15 * (size + 1e-3)))
                    fail_msg("d%d %s(%a, %a): %.17g, not %.17g (quad %g, double %g)", i,
                             ns_ops[op].name, x[0], x[1], out[1 + i], (double)exact, error_quad,
                             error);
            }
        }
        ns_arena_free(row.arena);
    }
}

#endif

/* Sine and cosine of one argument are computed together: with the bits of separate calls. */
static void test_sincos_is_sin_and_cos(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    ns_graph *g = ns_graph_new(arena);
    const ns_ex x = ns_symbol_new(g, "x", NS_SYM_STATE, 0);
    const ns_ex out[2] = {ns_sin(g, x), ns_cos(g, x)};
    const ns_program *program = ns_program_build(
        arena, &(ns_program_spec){.graph = g, .x = &x, .out = out, .nx = 1, .nout = 2});
    double *work = NS_NEW_ARRAY(arena, double, ns_program_work1(program));
    uint64_t seed = 53;
    for (int r = 0; r < 1000000; r++) {
        /* all sizes, the ranges of reduction by pi/2 and by more among them */
        const double angle = (ns_eval_random(&seed) - 0.5) *
                             exp2((r % 4 ? 8 : 1000) * (ns_eval_random(&seed) - 0.3));
        double value[2];
        ns_program_eval1(program, work, 0, &angle, value);
        if (!same_bits(value[0], ns_ops_value(NS_OP_SIN, angle, 0)) ||
            !same_bits(value[1], ns_ops_value(NS_OP_COS, angle, 0)))
            fail_msg("sincos(%a)", angle);
    }
    ns_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_are_bit_equal),
        cmocka_unit_test(test_one_lane_is_the_table),
#if NS_HAVE_QUAD
        cmocka_unit_test(test_values_against_quad),
        cmocka_unit_test(test_derivatives),
#endif
        cmocka_unit_test(test_sincos_is_sin_and_cos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
