/* The functions of base/math/vecmath.inc: accuracy against quadruple precision, special values,
 * symmetries, and that every engine uses them with the same bits.  NOSLIP_MATH_SAMPLES=1000000
 * takes that many arguments of each range instead of 20000; the errors found are printed,
 * docs/theory/engines.md states them. */
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/math/quad.h"
#include "base/math/vecmath.h"
#include "eval/program.h"
#include "expr/eval.h"
#include "support/bits.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t seed = 11;

static double between(double a, double b)
{
    return a + (b - a) * ns_eval_random(&seed);
}

/* A size from 2^a to 2^b, all exponents alike. */
static double sized(double a, double b)
{
    const double exponent = floor(between(a, b)); /* first, by every compiler */
    return ldexp(between(1, 2), (int)exponent);
}

static double any_sign(double x)
{
    return ns_eval_random(&seed) < 0.5 ? x : -x;
}

/* ---- accuracy ---------------------------------------------------------------------------- */

#if NS_HAVE_QUAD
/* Arguments: `from` + a number from a to b, or + a size from 2^a to 2^b of either sign. */
typedef struct range {
    enum { NONE, BETWEEN, SIZED } kind;
    double a, b, from;
} range;

typedef struct function {
    const char *name;
    double (*value)(double x);
    ns_quad (*exact)(ns_quad x);
    double bound; /* in units in the last place */
    range ranges[6];
} function;

static double argument(const range *r)
{
    return r->from + (r->kind == BETWEEN ? between(r->a, r->b) : any_sign(sized(r->a, r->b)));
}

/* In units in the last place of the rounded value, of a subnormal one 2^-1074. */
static double error_of(double y, ns_quad exact)
{
    const double rounded = (double)exact;
    if (!isfinite(rounded) || !isfinite(y))
        return same_bits(y, rounded)                            ? 0
               : fabs(rounded) == DBL_MAX || fabs(y) == DBL_MAX ? 1
                                                                : 9;
    int exponent;
    frexp(rounded, &exponent);
    const double unit = ldexp(1, exponent < -1021 ? -1074 : exponent - 53);
    return fabs((double)(((ns_quad)y - exact) / (ns_quad)unit));
}

static int samples(void)
{
    const char *given = getenv("NOSLIP_MATH_SAMPLES");
    return given ? atoi(given) : 20000;
}

#define FUNCTION(f, bound, ...)                                                                \
    {                                                                                          \
#f, ns_math_##f, f##f128, bound,                                                       \
        {                                                                                      \
            __VA_ARGS__                                                                        \
        }                                                                                      \
    }
static const function functions[] = {
    FUNCTION(sin, 0.9, {BETWEEN, -1, 1, 0}, {BETWEEN, -8, 8, 0}, {BETWEEN, -1e5, 1e5, 0},
             {SIZED, -30, 22, 0}, {SIZED, 19, 1024, 0}, {SIZED, -1060, 0, 0}),
    FUNCTION(cos, 0.9, {BETWEEN, -1, 1, 0}, {BETWEEN, -8, 8, 0}, {BETWEEN, -1e5, 1e5, 0},
             {SIZED, -30, 22, 0}, {SIZED, 19, 1024, 0}, {SIZED, -1060, 0, 0}),
    FUNCTION(tan, 0.9, {BETWEEN, -1, 1, 0}, {BETWEEN, -8, 8, 0}, {BETWEEN, -1e5, 1e5, 0},
             {BETWEEN, 0.7, 0.8, 0}, {SIZED, 19, 1024, 0}, {SIZED, -1060, 0, 0}),
    FUNCTION(asin, 0.7, {BETWEEN, -1, 1, 0}, {BETWEEN, 0.2, 0.3, 0}, {SIZED, -53, -1, 0.5},
             {SIZED, -1060, 0, 0}),
    FUNCTION(acos, 0.7, {BETWEEN, -1, 1, 0}, {BETWEEN, 0.9, 1, 0}, {BETWEEN, -1, -0.9, 0},
             {SIZED, -53, -1, 0.5}, {SIZED, -1060, 0, 0}),
    FUNCTION(atan, 0.7, {BETWEEN, -1, 1, 0}, {BETWEEN, -9, 9, 0}, {BETWEEN, 0.2, 0.3, 0},
             {SIZED, -7, 7, 0}, {SIZED, -1074, 1024, 0}),
    FUNCTION(sinh, 0.85, {BETWEEN, -1, 1, 0}, {BETWEEN, 0.3, 0.4, 0}, {BETWEEN, -40, 40, 0},
             {BETWEEN, -712, 712, 0}, {SIZED, -1074, 9, 0}),
    FUNCTION(cosh, 0.8, {BETWEEN, -1, 1, 0}, {BETWEEN, -40, 40, 0}, {BETWEEN, -712, 712, 0},
             {SIZED, -1074, 9, 0}),
    FUNCTION(tanh, 0.8, {BETWEEN, -1, 1, 0}, {BETWEEN, 0.3, 0.5, 0}, {BETWEEN, -22, 22, 0},
             {SIZED, -1074, 9, 0}),
    FUNCTION(asinh, 0.7, {BETWEEN, -1, 1, 0}, {BETWEEN, 0.3, 0.4, 0}, {BETWEEN, -99, 99, 0},
             {SIZED, -30, 70, 0}, {SIZED, -1074, 1024, 0}),
    FUNCTION(acosh, 0.7, {BETWEEN, 1, 2, 0}, {BETWEEN, 1, 1.1, 0}, {BETWEEN, 1, 99, 0},
             {SIZED, 2, 70, 80}, {SIZED, 0, 1023, 0}),
    FUNCTION(atanh, 0.7, {BETWEEN, -1, 1, 0}, {BETWEEN, 0.16, 0.21, 0}, {BETWEEN, 0.99, 1, 0},
             {SIZED, -53, -1, 0.5}, {SIZED, -1074, 0, 0}),
    FUNCTION(exp, 0.95, {BETWEEN, -1, 1, 0}, {BETWEEN, -708, 709.7, 0}, {SIZED, -60, 9, 0}),
    FUNCTION(log, 0.9, {BETWEEN, 0, 9, 0}, {BETWEEN, 0.5, 1.5, 0}, {SIZED, -52, -2, 1},
             {SIZED, -1074, 1024, 0}, {SIZED, -1074, -1022, 0}),
    FUNCTION(log2, 0.51, {BETWEEN, 0, 9, 0}, {BETWEEN, 0.9, 1.1, 0}, {SIZED, -52, -2, 1},
             {SIZED, -1074, 1024, 0}),
    FUNCTION(log10, 0.51, {BETWEEN, 0, 9, 0}, {BETWEEN, 0.9, 1.1, 0}, {SIZED, -52, -2, 1},
             {SIZED, -1074, 1024, 0}),
};

static void accuracy(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(functions); i++) {
        const function *f = &functions[i];
        double most = 0;
        for (const range *r = f->ranges; r < f->ranges + COUNT(f->ranges) && r->kind; r++)
            for (int k = 0; k < samples(); k++) {
                const double x = argument(r);
                const double error = error_of(f->value(x), f->exact(x));
                if (!(error <= f->bound))
                    fail_msg("%s(%a): %.3f units in the last place", f->name, x, error);
                most = ns_max(most, error);
            }
        print_message("%-6s %.3f units in the last place\n", f->name, most);
    }
}

static double sized_around(double a, double b)
{
    return 1 + any_sign(sized(a, b));
}

/* A pair of arguments of x^y, atan2(y, x) or hypot(x, y). */
static void pair(int kind, double *x, double *y)
{
    switch (kind) {
    case 0:
        *x = between(0, 10);
        *y = between(-300, 300);
        break;
    case 1:
        *x = sized(-1074, 1024);
        *y = any_sign(sized(-10, 2));
        break;
    case 2:
        *x = sized_around(-50, -1);
        *y = any_sign(sized(0, 54));
        break;
    case 3:
        *x = between(-1, 1);
        *y = between(-1, 1);
        break;
    case 4:
        *x = any_sign(sized(-1074, 1024));
        *y = any_sign(sized(-1074, 1024));
        break;
    case 5:
        *x = any_sign(sized(-1074, -1000));
        *y = any_sign(sized(-1074, -1000));
        break;
    case 6:
        *x = any_sign(sized(1000, 1024));
        *y = any_sign(sized(1000, 1024));
        break;
    default:
        *x = any_sign(sized(-4, 4));
        *y = any_sign(sized(-4, 4));
    }
}

static void accuracy_of_pairs(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double (*value)(double, double);
        ns_quad (*exact)(ns_quad, ns_quad);
        double bound;
        int first, last; /* kinds of pairs */
    } table[] = {{"pow", ns_math_pow, powf128, 0.53, 0, 3},
                 {"atan2", ns_math_atan2, atan2f128, 0.7, 3, 7},
                 {"hypot", ns_math_hypot, hypotf128, 0.51, 3, 7}};
    for (size_t i = 0; i < COUNT(table); i++) {
        double most = 0, most_subnormal = 0;
        for (int kind = table[i].first; kind <= table[i].last; kind++)
            for (int k = 0; k < samples(); k++) {
                double x, y;
                pair(kind, &x, &y);
                const ns_quad exact = table[i].exact(x, y);
                const double error = error_of(table[i].value(x, y), exact);
                const bool subnormal = fabs((double)exact) < DBL_MIN; /* rounded twice */
                if (!(error <= (subnormal ? 1 : table[i].bound)))
                    fail_msg("%s(%a, %a): %.3f units", table[i].name, x, y, error);
                if (subnormal)
                    most_subnormal = ns_max(most_subnormal, error);
                else
                    most = ns_max(most, error);
            }
        print_message("%-6s %.3f units in the last place, subnormal %.3f\n", table[i].name,
                      most, most_subnormal);
    }
    double most = 0;
    for (int k = 0; k < samples(); k++) {
        const double x = between(-746, -708);
        most = ns_max(most, error_of(ns_math_exp(x), expf128(x)));
    }
    assert_true(most <= 1);
    print_message("exp    %.3f of subnormal values\n", most);
}

static void check_angle(double x)
{
    double s, c;
    ns_math_sincos(x, &s, &c);
    assert_true(same_bits(s, ns_math_sin(x)) && same_bits(c, ns_math_cos(x)));
    if (!(error_of(s, sinf128(x)) < 0.9 && error_of(c, cosf128(x)) < 0.9 &&
          error_of(ns_math_tan(x), tanf128(x)) < 0.9))
        fail_msg("sine, cosine or tangent of %a", x);
}

/* Arguments whose bits nearly all cancel in the reduction. */
static void angles_near_multiples(void **state)
{
    (void)state;
    const ns_quad half_pi = acosf128(0);
    for (int i = 0; i < 2 * samples() / 3; i++) {
        const double n = floor(sized(0, 20)) * (i % 2 ? 1 : 0.5);
        const double x = (double)((ns_quad)n * half_pi);
        check_angle(any_sign(x));
        check_angle(nextafter(x, 0));
        check_angle(nextafter(x, INFINITY));
        check_angle(x * (1 + any_sign(sized(-50, -10))));
    }
    /* the double below 2^19 that is nearest to a multiple of pi/2, and that of all doubles */
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
    check_angle(6381956970095103 * 0x1p797);
    for (double x = 0x1p19; x < 0x1.001p19; x = nextafter(x, INFINITY) + 0.05)
        check_angle(x); /* where the reduction changes */
    check_angle(DBL_MAX);
}

/* base/math/vecmath_tables.c */
static void tables(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 128; i++) {
        const double *row = ns_math_log_table[i], c = row[0];
        assert_true(c * 512 == floor(c * 512) && ldexp(row[1], 42) == floor(ldexp(row[1], 42)));
        assert_true(fabsf128(row[1] + (ns_quad)row[2] + logf128(c)) < 0x1p-96);
        for (unsigned end = 0; end < 2; end++) {
            const uint64_t bits = 0x3fe6800000000000 + ((uint64_t)(i + end) << 45) - end;
            double m;
            memcpy(&m, &bits, sizeof m);
            assert_true(fabs(m * c - 1) <= 0x1p-7);
        }
        const ns_quad power = ns_math_exp_table[i][0] + (ns_quad)ns_math_exp_table[i][1];
        assert_true(fabsf128(power - exp2f128((ns_quad)i / 128)) < 0x1p-106);
    }
    /* next to 1 the logarithm must not be a difference */
    assert_true(ns_math_log_table[75][0] == 1 && ns_math_log_table[76][0] == 1);
}
#endif

/* ---- special values ---------------------------------------------------------------------- */

static const double specials[] = {0.0,
                                  -0.0,
                                  (double)INFINITY,
                                  -(double)INFINITY,
                                  (double)NAN,
                                  0x1p-1074,
                                  -0x1p-1074,
                                  DBL_MIN,
                                  -DBL_MIN,
                                  DBL_MAX,
                                  -DBL_MAX,
                                  1,
                                  -1,
                                  2,
                                  -2,
                                  3,
                                  -3,
                                  0.5,
                                  -0.5,
                                  1.5,
                                  0x1p53,
                                  -0x1p53,
                                  0x1p52,
                                  0x1.8p52,
                                  0x1p-30,
                                  4503599627370497.5,
                                  -7};

/* What the C standard says of zeros, infinities and nan; elsewhere the C library's value within
 * the errors of both. */
static bool agrees(double own, double library)
{
    if (!isfinite(own) || !isfinite(library) || own == 0 || library == 0)
        return same_bits(own, library);
    return fabs(own - library) <= 2 * fabs(nextafter(library, INFINITY) - library);
}

static void special_values(void **state)
{
    (void)state;
#define ONE(f)                                                                                 \
    for (size_t i = 0; i < COUNT(specials); i++)                                               \
        if (!agrees(ns_math_##f(specials[i]), f(specials[i])))                                 \
            fail_msg(#f "(%a) = %a", specials[i], ns_math_##f(specials[i]));
#define TWO(f)                                                                                 \
    for (size_t i = 0; i < COUNT(specials); i++)                                               \
        for (size_t k = 0; k < COUNT(specials); k++)                                           \
            if (!agrees(ns_math_##f(specials[i], specials[k]), f(specials[i], specials[k])))   \
                fail_msg(#f "(%a, %a) = %a", specials[i], specials[k],                         \
                         ns_math_##f(specials[i], specials[k]));
    NS_MATH_FUNCTIONS(ONE, TWO)
    ONE(log2)
    ONE(log10)
    TWO(hypot)
#undef ONE
#undef TWO
    /* the sign of nan is no processor's choice */
    assert_false(signbit(ns_math_log(-1)) || signbit(ns_math_sin((double)INFINITY)) ||
                 signbit(ns_math_acos(2)) || signbit(ns_math_asin(-2)) ||
                 signbit(ns_math_acosh(0)) || signbit(ns_math_atanh(-2)) ||
                 signbit(ns_math_pow(-1, 0.5)));
    assert_true(same_bits(ns_math_exp(0.0), 1) && same_bits(ns_math_exp(-0.0), 1));
    assert_true(ns_math_exp(709.782712893384) < INFINITY);
    assert_true(isinf(ns_math_exp(709.782712893385)) && isinf(ns_math_exp(1e300)));
    assert_true(ns_math_exp(-746) == 0 && ns_math_exp(-1e300) == 0);
    assert_true(isinf(ns_math_cosh(711)) && ns_math_sinh(-711) == -(double)INFINITY);
    assert_true(same_bits(ns_math_log(1), 0));
}

/* What a double can hold comes out as it is. */
static void exact_values(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        const double x = any_sign(sized(-300, 300)), n = floor(between(-9, 9));
        assert_true(same_bits(ns_math_pow(x, 1), x));
        assert_true(same_bits(ns_math_pow(x, 2), x * x));
        assert_true(same_bits(ns_math_pow(2, n * 100), ldexp(1, (int)n * 100)));
    }
    for (int k = -1074; k < 1024; k++)
        assert_true(ns_math_pow(2, k) == ldexp(1, k) && ns_math_log2(ldexp(1, k)) == k);
    for (int base = 2; base < 40; base++) {
        double power = 1;
        for (int k = 0; power * base <= 0x1p53; k++, power *= base) {
            assert_true(ns_math_pow(base, k) == power && ns_math_pow(-base, k + k % 2) > 0);
            assert_true(ns_math_pow(1 + base * 0x1p-10, 0.0) == 1);
            if (base == 10)
                assert_true(ns_math_log10(power) == k);
        }
        assert_true(ns_math_pow(base * base, 0.5) == base &&
                    ns_math_hypot(3 * base, 4 * base) == 5 * base);
    }
    assert_true(ns_math_atan2(1, 1) == M_PI_4 && ns_math_atan(-INFINITY) == -M_PI_2);
    assert_true(ns_math_acos(-1) == M_PI && ns_math_asin(1) == M_PI_2);
    /* decimal powers as the compiler writes them */
    static const double tenths[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
    for (int k = 0; k < 9; k++)
        assert_true(ns_math_pow(10, -1 - k) == tenths[k]);
}

/* ---- symmetries and joins ---------------------------------------------------------------- */

static void symmetries(void **state)
{
    (void)state;
    static double (*const odd[])(double) = {ns_math_sin,   ns_math_tan,  ns_math_asin,
                                            ns_math_atan,  ns_math_sinh, ns_math_tanh,
                                            ns_math_asinh, ns_math_atanh};
    for (int i = 0; i < 20000; i++) {
        const double x = sized(-40, 21), y = any_sign(sized(-40, 21));
        for (size_t k = 0; k < COUNT(odd); k++)
            assert_true(same_bits(odd[k](-x), -odd[k](x)));
        assert_true(same_bits(ns_math_cos(-x), ns_math_cos(x)));
        assert_true(same_bits(ns_math_cosh(-x), ns_math_cosh(x)));
        assert_true(same_bits(ns_math_atan2(-x, y), -ns_math_atan2(x, y)));
        assert_true(same_bits(ns_math_hypot(y, x), ns_math_hypot(x, -y)));
    }
}

/* Increasing where one way to compute gives way to another: in steps of 2^-48, so that the
 * values differ by more than their errors. */
static void joins(void **state)
{
    (void)state;
    static const struct {
        double (*value)(double);
        double at[8];
    } table[] = {{ns_math_tan, {M_PI_4, 0x1p-27}},
                 {ns_math_asin, {0x1p-27, 0.24253562503633297, 0.6, 0.70710678118654752, 0.8}},
                 {ns_math_atan, {0.25, 0.75, 1, 4.0 / 3, 4}},
                 {ns_math_sinh, {0x1p-27, M_LN2 / 2, 1.5 * M_LN2, 26.5 * M_LN2, 64.5 * M_LN2}},
                 {ns_math_cosh, {M_LN2 / 2, 1.5 * M_LN2, 26.5 * M_LN2, 64.5 * M_LN2}},
                 {ns_math_tanh, {0x1p-27, M_LN2 / 2, 1.5 * M_LN2}},
                 {ns_math_asinh, {0x1p-27, 0.35355339059327379, 1.2374368670764582, 0x1p60}},
                 {ns_math_acosh, {1.0606601717798212, 1.5909902576697319, 0x1p60}},
                 {ns_math_atanh, {0x1p-27, 0.17157287525380990, 0.47759225007251711}},
                 {ns_math_exp, {M_LN2 / 2, 1.5 * M_LN2}},
                 {ns_math_log, {M_SQRT1_2, M_SQRT2, 0x1p-1022}},
                 {ns_math_log2, {0.703125, 1 - 0x1p-8, 1, 1 + 0x1p-7, 1.40625}}};
    for (size_t i = 0; i < COUNT(table); i++)
        for (size_t k = 0; k < COUNT(table[i].at) && table[i].at[k] != 0; k++)
            for (int step = -40; step < 40; step++) {
                const double x = table[i].at[k] * (1 + step * 0x1p-48);
                const double next = table[i].at[k] * (1 + (step + 1) * 0x1p-48);
                if (!(table[i].value(x) <= table[i].value(next)))
                    fail_msg("function %zu decreases at %a", i, x);
            }
}

static void least_and_most(void **state)
{
    (void)state;
    const double nan = (double)NAN;
    assert_true(ns_min(nan, 1) == 1 && ns_min(1, nan) == 1 && isnan(ns_min(nan, nan)));
    assert_true(ns_max(nan, 1) == 1 && ns_max(1, nan) == 1 && isnan(ns_max(nan, nan)));
    assert_true(ns_min(1, 2) == 1 && ns_max(1, 2) == 2 && ns_max(2, -INFINITY) == 2);
    assert_true(same_bits(ns_min(0.0, -0.0), -0.0) && same_bits(ns_min(-0.0, 0.0), 0.0));
    assert_true(same_bits(ns_max(0.0, -0.0), -0.0) && same_bits(ns_max(-0.0, 0.0), 0.0));
}

/* ---- engines ----------------------------------------------------------------------------- */

static double any_argument(int kind, uint32_t lane)
{
    return kind == 0   ? between(-10, 10)
           : kind == 1 ? any_sign(sized(-10, 23))
           : kind == 2 ? any_sign(sized(-1074, 1024))
           : kind == 3 ? between(-1, 1)
           : lane % 3  ? between(0, 700)
                       : specials[(size_t)between(0, COUNT(specials))];
}

static void add_bits(uint64_t *hash, double value)
{
    uint64_t bits = 1; /* any nan */
    if (!isnan(value))
        memcpy(&bits, &value, sizeof bits);
    *hash = (*hash ^ bits) * 0x9e3779b97f4a7c15u ^ *hash >> 29;
}

/* What every processor and compiler must give; a change of the functions changes it
 * knowingly. */
static void same_bits_everywhere(void **state)
{
    (void)state;
    static double (*const one[])(double) = {
#define ONE(f) ns_math_##f,
#define TWO(f)
        NS_MATH_FUNCTIONS(ONE, TWO) ns_math_log2,
        ns_math_log10,
#undef ONE
#undef TWO
    };
    seed = 17;
    uint64_t hash = 0;
    for (int i = 0; i < 20000; i++) {
        const double x = any_argument(i % 4, 0), y = any_argument(i / 4 % 4, 0);
        for (size_t k = 0; k < COUNT(one); k++)
            add_bits(&hash, one[k](x));
        add_bits(&hash, ns_math_pow(x, y));
        add_bits(&hash, ns_math_pow(fabs(x), y));
        add_bits(&hash, ns_math_atan2(x, y));
        add_bits(&hash, ns_math_hypot(x, y));
    }
    if (hash != 0xe70cc36a19a8b65b)
        fail_msg("other bits: 0x%016llx", (unsigned long long)hash);
}

/* One program with all operations, on all engines, at arguments of all kinds in mixed lanes. */
static void lanes_have_the_same_bits(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    assert_non_null(arena);
    ns_graph *g = ns_graph_new(arena);
    const ns_ex x[] = {ns_symbol_new(g, "x", NS_SYM_STATE, 0),
                       ns_symbol_new(g, "y", NS_SYM_STATE, 1)};
    ns_ex out[NS_OP_COUNT];
    ns_op op[NS_OP_COUNT];
    uint32_t n = 0;
    for (int i = 1; i < NS_OP_COUNT; i++)
        if (ns_ops[i].arity > 0) {
            op[n] = (ns_op)i;
            out[n++] = ns_apply(g, (ns_op)i, x[0], ns_ops[i].arity > 1 ? x[1] : 0);
        }
    const ns_program_spec spec = {.graph = g, .x = x, .out = out, .nx = 2, .nout = n};
    ns_program *program = ns_program_build(arena, &spec);
    double *work1 = block_new(ns_program_work1(program));
    double *work8 = block_new(ns_program_work8(program));
    static double x8[16] __attribute__((aligned(64))), t8[8] __attribute__((aligned(64)));
    static double out8[8 * NS_OP_COUNT] __attribute__((aligned(64)));
    static const char *const names[] = {"plain", "avx2", "avx512"};
    for (int k = 0; k < 3; k++) {
        if (!ns_program_choose_lanes(program, names[k]))
            continue;
        ns_program_bind8(program, work8, t8);
        ns_program_bind1(program, work1, t8);
        for (int i = 0; i < 5000; i++) {
            for (uint32_t lane = 0; lane < 8; lane++) {
                x8[lane] = any_argument(i % 5, lane);
                x8[8 + lane] = any_argument(i / 5 % 5, lane);
            }
            ns_program_eval8(program, work8, t8, x8, out8);
            for (uint32_t lane = 0; lane < 8; lane++) {
                const double both[] = {x8[lane], x8[8 + lane]};
                double alone[NS_OP_COUNT];
                ns_program_eval1(program, work1, 0, both, alone);
                for (uint32_t j = 0; j < n; j++)
                    if (!same_bits(alone[j], out8[8 * j + lane]) ||
                        !same_bits(alone[j], ns_ops_value(op[j], both[0], both[1])))
                        fail_msg("%s, %s(%a, %a): %a in lanes, %a alone", names[k],
                                 ns_ops[op[j]].name, both[0], both[1], out8[8 * j + lane],
                                 alone[j]);
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
        cmocka_unit_test(accuracy),
        cmocka_unit_test(accuracy_of_pairs),
        cmocka_unit_test(angles_near_multiples),
        cmocka_unit_test(tables),
#endif
        cmocka_unit_test(special_values),
        cmocka_unit_test(exact_values),
        cmocka_unit_test(symmetries),
        cmocka_unit_test(joins),
        cmocka_unit_test(least_and_most),
        cmocka_unit_test(same_bits_everywhere),
        cmocka_unit_test(lanes_have_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
