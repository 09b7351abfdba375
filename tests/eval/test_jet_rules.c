/* Taylor jets against Cauchy's integral in quadruple precision.
 *
 * A random analytic curve x(t) goes through an expression.  Its Taylor coefficients are
 *
 *     y_n = 1/N sum_j f(x(z_j)) z_j^-n,    z_j = r exp(2 pi i j/N)
 *
 * with complex functions of the C library in quadruple precision on a circle inside which
 * everything is analytic: nothing in common with the recurrences.  By Cauchy's estimate
 * |y_n| r^n <= S = max |f(x(z)) - y_0| on the circle for n > 0, so S/r^n is the natural size of
 * coefficient n, and errors are measured in units of roundoff, 2^-53, of it. */
#define _GNU_SOURCE
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eval/program.h"
#include "expr/eval.h"

#if NS_HAVE_QUAD && !defined(__clang__) /* which has no complex numbers of that precision */

enum { ORDER = 12, STRIDE = ORDER + 1 };

static double between(uint64_t *seed, double low, double high)
{
    return low + (high - low) * ns_eval_random(seed);
}

__extension__ typedef _Complex _Float128 zquad;

/* ---- complex evaluation of a graph ------------------------------------------------------- */

static zquad polynomial(const double *c, zquad z)
{
    zquad sum = 0;
    for (int k = ORDER; k >= 0; k--)
        sum = sum * z + (zquad)c[k];
    return sum;
}

/* x = M^-1 b by elimination; rows are exchanged by the size of the entries. */
static void complex_solve(uint32_t n, zquad *M, zquad *b)
{
    for (uint32_t k = 0; k < n; k++) {
        uint32_t best = k;
        for (uint32_t i = k + 1; i < n; i++)
            if (cabsf128(M[i * n + k]) > cabsf128(M[best * n + k]))
                best = i;
        for (uint32_t j = 0; j < n; j++) {
            const zquad swap = M[k * n + j];
            M[k * n + j] = M[best * n + j];
            M[best * n + j] = swap;
        }
        const zquad swap = b[k];
        b[k] = b[best];
        b[best] = swap;
        for (uint32_t i = 0; i < n; i++) {
            const zquad factor = i == k ? 0 : M[i * n + k] / M[k * n + k];
            for (uint32_t j = k; j < n; j++)
                M[i * n + j] -= factor * M[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (uint32_t k = 0; k < n; k++)
        b[k] /= M[k * n + k];
}

/* Continues f from the real point `center` (values of a and b there) to complex arguments. */
static zquad complex_value(ns_op op, zquad a, zquad b, const double center[2])
{
    switch (op) {
    case NS_OP_ADD:
        return a + b;
    case NS_OP_SUB:
        return a - b;
    case NS_OP_MUL:
        return a * b;
    case NS_OP_DIV:
        return a / b;
    case NS_OP_NEG:
        return -a;
    case NS_OP_POW:
        return cexpf128(b * clogf128(a));
    case NS_OP_SQRT:
        return csqrtf128(a);
    case NS_OP_ABS:
        return center[0] < 0 ? -a : a;
    case NS_OP_SIGN:
        return center[0] < 0 ? -1 : 1;
    case NS_OP_MIN:
        return center[0] < center[1] ? a : b;
    case NS_OP_MAX:
        return center[0] > center[1] ? a : b;
    case NS_OP_EXP:
        return cexpf128(a);
    case NS_OP_LOG:
        return clogf128(a);
    case NS_OP_SIN:
        return csinf128(a);
    case NS_OP_COS:
        return ccosf128(a);
    case NS_OP_TAN:
        return ctanf128(a);
    case NS_OP_ASIN:
        return casinf128(a);
    case NS_OP_ACOS:
        return cacosf128(a);
    case NS_OP_ATAN:
        return catanf128(a);
    case NS_OP_ATAN2: { /* the angle from the axis that is near */
        const ns_quad angle = atan2f128((ns_quad)center[0], (ns_quad)center[1]);
        const zquad c = cosf128(angle), s = sinf128(angle);
        return angle + catanf128((a * c - b * s) / (b * c + a * s));
    }
    case NS_OP_SINH:
        return csinhf128(a);
    case NS_OP_COSH:
        return ccoshf128(a);
    case NS_OP_TANH:
        return ctanhf128(a);
    case NS_OP_ASINH:
        return casinhf128(a);
    case NS_OP_ACOSH:
        return cacoshf128(a);
    case NS_OP_ATANH:
        return catanhf128(a);
    default:
        fail_msg("no complex function for %s", ns_ops[op].name);
        return 0;
    }
}

/* All nodes at one complex point; `center` holds the real values at the middle of the
 * circle. */
static void complex_eval(const ns_graph *g, zquad *v, zquad *block, const double *center)
{
    uint32_t free_place = 0;
    uint32_t *place = calloc(ns_graph_size(g), sizeof *place);
    for (ns_ex e = 1; e < ns_graph_size(g); e++) {
        const ns_node *node = ns_graph_node(g, e);
        const ns_ex *args = ns_graph_args(g, e);
        const uint32_t n = (uint32_t)node->integer;
        if (node->op == NS_OP_NUMBER)
            v[e] = (ns_quad)node->hi + (ns_quad)node->lo;
        else if (node->op == NS_OP_POWI) {
            v[e] = 1;
            for (uint32_t k = 0; k < n; k++)
                v[e] *= v[args[0]];
        } else if (node->op == NS_OP_SOLVE) {
            const ns_ex *M = ns_graph_args(g, args[0]);
            zquad matrix[36];
            place[e] = free_place;
            for (uint32_t k = 0; k < n * n; k++)
                matrix[k] = v[M[k]];
            for (uint32_t k = 0; k < n; k++)
                block[free_place++] = v[args[k + 1]];
            complex_solve(n, matrix, block + place[e]);
        } else if (node->op == NS_OP_PICK)
            v[e] = block[place[args[0]] + n];
        else if (ns_ops[node->op].arity > 0) {
            const ns_ex b = node->n > 1 ? args[1] : args[0];
            const double middle[2] = {center[args[0]], center[b]};
            v[e] = complex_value((ns_op)node->op, v[args[0]], v[b], middle);
        }
    }
    free(place);
}

/* ---- comparison -------------------------------------------------------------------------- */

typedef struct path {
    ns_graph *g;
    ns_ex time;
    const ns_ex *x;
    uint32_t nx;
    double t;
    const double *c; /* [nx][STRIDE] */
    double radius;   /* of the circle, */
    uint32_t points; /* on it */
} path;

/* Exact coefficients of `out` along the curve, and their natural sizes for this radius. */
static void cauchy(const path *curve, const ns_ex *out, uint32_t nout, ns_quad *exact,
                   double *size, double *value_size)
{
    const ns_graph *g = curve->g;
    const uint32_t points = curve->points;
    const uint32_t nodes = ns_graph_size(g);
    zquad *v = calloc(nodes, sizeof *v), *block = calloc(nodes, sizeof *block);
    zquad *sum = calloc((size_t)nout * STRIDE, sizeof *sum);
    zquad *sample = calloc((size_t)nout * points, sizeof *sample);
    double *center = calloc(nodes, sizeof *center);
    ns_ex *all = calloc(nodes, sizeof *all);

    ns_ex *symbol = calloc(curve->nx + 1, sizeof *symbol);
    double *value = calloc(curve->nx + 1, sizeof *value);
    for (uint32_t i = 0; i < curve->nx; i++) {
        symbol[i] = curve->x[i];
        value[i] = curve->c[i * STRIDE];
    }
    symbol[curve->nx] = curve->time;
    value[curve->nx] = curve->t;
    uint32_t scalars = 0;
    for (ns_ex e = 1; e < nodes; e++)
        if (ns_graph_op(g, e) != NS_OP_FACTOR && ns_graph_op(g, e) != NS_OP_SOLVE)
            all[scalars++] = e;
    double *values = calloc(nodes, sizeof *values);
    ns_eval(g, all, scalars, symbol, value, curve->nx + 1, values);
    for (uint32_t i = 0; i < scalars; i++)
        center[all[i]] = values[i];

    const ns_quad two_pi = 8 * atanf128(1);
    for (uint32_t j = 0; j < points; j++) {
        const ns_quad angle = two_pi * j / points;
        zquad unit, power = 1;
        __real__ unit = cosf128(angle);
        __imag__ unit = sinf128(angle);
        const zquad z = unit * (ns_quad)curve->radius;
        for (uint32_t i = 0; i < curve->nx; i++)
            v[curve->x[i]] = polynomial(curve->c + i * STRIDE, z);
        v[curve->time] = (ns_quad)curve->t + z;
        complex_eval(g, v, block, center);
        for (int k = 0; k <= ORDER; k++, power *= conjf128(unit))
            for (uint32_t i = 0; i < nout; i++)
                sum[i * STRIDE + (uint32_t)k] += v[out[i]] * power;
        for (uint32_t i = 0; i < nout; i++)
            sample[i * points + j] = v[out[i]];
    }
    for (uint32_t i = 0; i < nout; i++)
        for (int k = 0; k <= ORDER; k++)
            exact[i * STRIDE + (uint32_t)k] = crealf128(sum[i * STRIDE + (uint32_t)k]) /
                                              (points * powf128((ns_quad)curve->radius, k));
    for (uint32_t i = 0; i < nout; i++) {
        size[i] = value_size[i] = 0;
        for (uint32_t j = 0; j < points; j++)
            value_size[i] = fmax(value_size[i], (double)cabsf128(sample[i * points + j]));
        for (uint32_t j = 0; j < points; j++)
            size[i] = fmax(size[i],
                           (double)cabsf128(sample[i * points + j] - exact[i * STRIDE]));
    }
    free(v), free(block), free(sum), free(sample), free(center), free(all), free(values);
    free(symbol), free(value);
}

/* Largest error of the program's jets in units of roundoff of the natural size. */
static double worst_error(ns_arena *arena, const path *curve, const ns_ex *out, uint32_t nout)
{
    /* the exact values first: building a program with jets adds companions to the graph */
    ns_quad *exact = calloc((size_t)nout * STRIDE, sizeof *exact);
    double *size = calloc(nout, sizeof *size), *value_size = calloc(nout, sizeof *size);
    cauchy(curve, out, nout, exact, size, value_size);

    const ns_program *program = ns_program_build(arena, &(ns_program_spec){.graph = curve->g,
                                                                           .time = curve->time,
                                                                           .x = curve->x,
                                                                           .out = out,
                                                                           .nx = curve->nx,
                                                                           .nout = nout,
                                                                           .jets = true});
    double *work = malloc(ns_program_work_jet(program, ORDER) * sizeof *work);
    double *jet = malloc((size_t)nout * STRIDE * sizeof *jet);
    ns_program_bind_jet(program, work, ORDER, NULL);
    ns_program_eval_jet(program, work, curve->t, ORDER, curve->c, jet);
    double worst = 0;
    for (uint32_t i = 0; i < nout; i++)
        for (int k = 0; k <= ORDER; k++) {
            const size_t at = i * STRIDE + (uint32_t)k;
            const double error = fabs((double)((ns_quad)jet[at] - exact[at]));
            const double natural = (k ? size[i] : value_size[i]) / pow(curve->radius, k);
            const double noise = 1e-26 * value_size[i] /
                                 pow(curve->radius, k); /* of the integral */
            const double units = error <= noise ? 0 : error / (natural * 0x1p-53);
            worst = units > worst || isnan(units) ? units : worst;
        }
    free(exact), free(size), free(value_size), free(work), free(jet);
    return worst;
}

/* ---- every rule -------------------------------------------------------------------------- */

typedef struct range {
    double a0, a1, b0, b1;
} range;

static range range_of(ns_op op)
{
    switch (op) {
    case NS_OP_DIV:
        return (range){-2, 2, 1, 3};
    case NS_OP_POW:
        return (range){1, 3, -2, 2};
    case NS_OP_SQRT:
    case NS_OP_LOG:
    case NS_OP_ABS:
    case NS_OP_SIGN:
        return (range){1, 3, 0, 1};
    case NS_OP_MIN:
        return (range){2, 3, -1, 0};
    case NS_OP_MAX:
        return (range){-1, 0, 2, 3};
    case NS_OP_TAN:
        return (range){-0.8, 0.8, 0, 1};
    case NS_OP_ASIN:
    case NS_OP_ACOS:
    case NS_OP_ATANH:
        return (range){-0.5, 0.5, 0, 1};
    case NS_OP_ACOSH:
        return (range){1.8, 4, 0, 1};
    case NS_OP_ATAN2:
        return (range){1, 2, -2, 2};
    default:
        return (range){-1.5, 1.5, -1.5, 1.5};
    }
}

/* Coefficients that keep |x(z) - x(0)| below `spread` on the unit circle. */
static void random_curve(uint64_t *seed, double *c, double value, double spread)
{
    double total = 0;
    c[0] = value;
    for (int k = 1; k <= ORDER; k++)
        total += fabs(c[k] = between(seed, -1, 1));
    for (int k = 1; k <= ORDER; k++)
        c[k] *= spread / total;
}

/* Operation number op on curves a, b; which = 0: both vary, 1: only a, 2: only b (the other is
 * a number). */
static double rule_error(ns_op op, int which, uint64_t *seed)
{
    ns_arena *arena = ns_arena_new();
    ns_graph *g = ns_graph_new(arena);
    const ns_ex t = ns_symbol_new(g, "t", NS_SYM_TIME, 0);
    const ns_ex x[2] = {ns_symbol_new(g, "a", NS_SYM_STATE, 0),
                        ns_symbol_new(g, "b", NS_SYM_STATE, 1)};
    const range r = range_of(op);
    double c[2 * STRIDE];
    double a = between(seed, r.a0, r.a1);
    if ((op == NS_OP_ABS || op == NS_OP_SIGN) && ns_eval_random(seed) < 0.5)
        a = -a;
    random_curve(seed, c, a, 0.3);
    random_curve(seed, c + STRIDE, between(seed, r.b0, r.b1), 0.3);
    const ns_ex f = ns_apply(g, op, which == 2 ? ns_number(g, c[0]) : x[0],
                             which == 1 ? ns_number(g, c[STRIDE]) : x[1]);
    const path curve = {
        .g = g, .time = t, .x = x, .nx = 2, .t = 0.5, .c = c, .radius = 0.9, .points = 384};
    const double error = worst_error(arena, &curve, &f, 1);
    ns_arena_free(arena);
    return error;
}

static void test_every_rule(void **state)
{
    (void)state;
    uint64_t seed = 61;
    for (int k = 1; k < NS_OP_COUNT; k++) {
        const ns_op op = (ns_op)k;
        if (ns_ops[op].arity < 0)
            continue;
        double worst = 0;
        for (int which = 0; which < (ns_ops[op].arity == 2 ? 3 : 1); which++)
            for (int r = 0; r < 5; r++)
                worst = fmax(worst, rule_error(op, which, &seed));
        if (!(worst <= 2))
            fail_msg("%s: %g units of roundoff", ns_ops[op].name, worst);
    }
}

/* ---- special operations ------------------------------------------------------------------ */

static void test_integer_powers(void **state)
{
    (void)state;
    uint64_t seed = 67;
    for (int32_t n = 2; n <= 13; n++) {
        ns_arena *arena = ns_arena_new();
        ns_graph *g = ns_graph_new(arena);
        const ns_ex t = ns_symbol_new(g, "t", NS_SYM_TIME, 0);
        const ns_ex x = ns_symbol_new(g, "x", NS_SYM_STATE, 0);
        /* at 0, too, where the rule for real powers would divide by it */
        const double values[] = {0, 1.3, -0.7};
        for (int k = 0; k < 3; k++) {
            double c[STRIDE];
            random_curve(&seed, c, values[k], 0.5);
            const ns_ex f = ns_powi(g, x, n);
            const path curve = {
                .g = g, .time = t, .x = &x, .nx = 1, .c = c, .radius = 1, .points = 200};
            const double error = worst_error(arena, &curve, &f, 1);
            if (!(error <= 1))
                fail_msg("power %d of %g: %g units of roundoff", n, values[k], error);
        }
        ns_arena_free(arena);
    }
}

/* Diagonally dominant matrices; entries vary, or are numbers, or the time. */
static void test_linear_systems(void **state)
{
    (void)state;
    uint64_t seed = 71;
    double worst = 0;
    for (uint32_t n = 2; n <= 6; n++)
        for (int round = 0; round < 4; round++) {
            ns_arena *arena = ns_arena_new();
            ns_graph *g = ns_graph_new(arena);
            const ns_ex t = ns_symbol_new(g, "t", NS_SYM_TIME, 0);
            ns_ex x[42], M[36], b[6], y[6];
            static double c[42 * STRIDE];
            for (uint32_t i = 0; i < n * n + n; i++) {
                const bool diagonal = i < n * n && i % (n + 1) == 0;
                const double value = diagonal ? n + 1 : between(&seed, -1, 1);
                x[i] = ns_symbol_new(g, "x", NS_SYM_STATE, i);
                random_curve(&seed, c + i * STRIDE, value, 0.2);
                const double dice = ns_eval_random(&seed);
                const ns_ex entry = dice < 0.2 && round % 2                ? ns_number(g, value)
                                    : dice < 0.3 && round % 2 && !diagonal ? t
                                                                           : x[i];
                if (i < n * n)
                    M[(i + n * (uint32_t)round) % (n * n)] = entry; /* rows turned: pivoting */
                else
                    b[i - n * n] = entry;
            }
            ns_solve(g, n, M, b, y);
            const path curve = {.g = g,
                                .time = t,
                                .x = x,
                                .nx = n * n + n,
                                .t = 0.3,
                                .c = c,
                                .radius = 0.9,
                                .points = 384};
            worst = fmax(worst, worst_error(arena, &curve, y, n));
            ns_arena_free(arena);
        }
    if (!(worst <= 5))
        fail_msg("solve: %g units of roundoff", worst);
}

/* ---- whole graphs ------------------------------------------------------------------------ */

/* op(a, b) with its arguments led into its domain. */
static ns_ex tamed(ns_graph *g, ns_op op, ns_ex a, ns_ex b)
{
    const ns_ex two = ns_integer(g, 2);
    switch (op) {
    case NS_OP_DIV:
        return ns_div(g, a, ns_add(g, two, ns_cos(g, b)));
    case NS_OP_POW:
    case NS_OP_LOG:
    case NS_OP_SQRT:
    case NS_OP_ABS:
    case NS_OP_ACOSH:
    case NS_OP_ATAN2:
        return ns_apply(g, op, ns_add(g, two, ns_mul(g, ns_number(g, 0.5), ns_sin(g, a))),
                        ns_sin(g, b));
    case NS_OP_MIN:
    case NS_OP_MAX:
        return ns_apply(g, op, ns_add(g, two, ns_sin(g, a)), ns_sub(g, ns_sin(g, b), two));
    case NS_OP_MUL:
    case NS_OP_ADD:
    case NS_OP_SUB:
    case NS_OP_NEG:
        return ns_apply(g, op, a, b);
    case NS_OP_SIGN:
        return ns_mul(g, ns_sign(g, ns_add(g, two, ns_sin(g, a))), b);
    default:
        return ns_apply(g, op, ns_mul(g, ns_number(g, 0.5), ns_sin(g, a)), 0);
    }
}

static void test_random_graphs(void **state)
{
    (void)state;
    enum { INPUTS = 3, NODES = 40, OUT = 6 };
    for (uint64_t round = 0; round < 40; round++) {
        uint64_t seed = 100 + round;
        ns_arena *arena = ns_arena_new();
        ns_graph *g = ns_graph_new(arena);
        ns_ex pool[NODES + 1], x[INPUTS];
        double c[INPUTS * STRIDE];
        const ns_ex t = ns_symbol_new(g, "t", NS_SYM_TIME, 0);
        uint32_t n = 0;
        for (uint32_t i = 0; i < INPUTS; i++) {
            pool[n++] = x[i] = ns_symbol_new(g, "x", NS_SYM_STATE, i);
            random_curve(&seed, c + i * STRIDE, between(&seed, -1, 1), 0.2);
        }
        pool[n++] = t;
        while (n < NODES) {
            const ns_op op = (ns_op)between(&seed, 1, NS_OP_LDL);
            const ns_ex a = pool[(uint32_t)between(&seed, 0, n)];
            const ns_ex b = pool[(uint32_t)between(&seed, 0, n)];
            if (op == NS_OP_SOLVE) {
                const ns_ex three = ns_integer(g, 3);
                const ns_ex M[4] = {ns_sin(g, a), ns_add(g, three, ns_cos(g, b)), three,
                                    ns_sin(g, b)};
                ns_ex y[2];
                ns_solve(g, 2, M, (const ns_ex[2]){a, b}, y);
                pool[n++] = ns_sin(g, y[0]);
                pool[n++] = ns_sin(g, y[1]);
            } else if (op == NS_OP_POWI)
                pool[n++] = ns_powi(g, ns_sin(g, a), (int32_t)between(&seed, 2, 8));
            else if (ns_ops[op].arity > 0)
                pool[n++] = ns_sin(g, tamed(g, op, a, b));
        }
        const path curve = {.g = g,
                            .time = t,
                            .x = x,
                            .nx = INPUTS,
                            .t = 0.2,
                            .c = c,
                            .radius = 0.5,
                            .points = 128};
        const double error = worst_error(arena, &curve, pool + n - OUT, OUT);
        if (!(error <= 100)) /* errors of forty operations, magnified on their way */
            fail_msg("round %d: %g units of roundoff", (int)round, error);
        ns_arena_free(arena);
    }
}

#endif

int main(void)
{
#if NS_HAVE_QUAD && !defined(__clang__)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rule),
        cmocka_unit_test(test_integer_powers),
        cmocka_unit_test(test_linear_systems),
        cmocka_unit_test(test_random_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    return 0;
#endif
}
