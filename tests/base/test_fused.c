/* Fused multiply-add from ordinary operations: the same bits as the C library's fma. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/math/fused.h"

static uint64_t state = 0x9e3779b97f4a7c15U;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Any sign and mantissa (many with long runs of zeros, where ties are), exponent within
 * `range` of one. */
static double number(unsigned range)
{
    uint64_t mantissa = draw() & 0xfffffffffffffU;
    const unsigned cut = (unsigned)(draw() % 64);
    if (cut < 52)
        mantissa &= ~((1ULL << cut) - 1);
    const uint64_t exponent = 1023 - range + draw() % (2 * range + 1);
    const uint64_t bits = (draw() & 1) << 63 | exponent << 52 | mantissa;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void same(double a, double b, double c)
{
    const ns_pair got = ns_pair_fused_by_parts((ns_pair){a, 1}, (ns_pair){b, 1},
                                               (ns_pair){c, 1});
    const double want = fma(a, b, c), first = got[0];
    if (isnan(want))
        assert_true(isnan(first));
    else
        assert_memory_equal(&first, &want, sizeof want);
    assert_true(got[1] == 2);
}

static void test_random(void **unused)
{
    (void)unused;
    static const unsigned ranges[] = {0, 3, 30, 60, 300, 1022};
    for (size_t i = 0; i < 300000; i++) {
        const unsigned range = ranges[i % 6];
        same(number(range), number(range), number(range));
    }
}

/* The product and its negative rounded: what remains is the rounding error alone. */
static void test_cancellation(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < 100000; i++) {
        const double a = number(200), b = number(200), p = a * b;
        same(a, b, -p);
        same(a, b, -nextafter(p, INFINITY));
        same(a, b, p / 2);
        same(a, b, ldexp(p, 53));
        same(a, b, ldexp(-p, 54));
    }
}

static void test_special(void **unused)
{
    (void)unused;
    static const double some[] = {0.0,       -0.0,      1.0,      -1.0,
                                  0x1p-1074, 0x1p-1022, 0x1p1023, -0x1p1023,
                                  INFINITY,  -INFINITY, NAN,      0x1p-540,
                                  0x1p-480,  3.0,       0x1p995,  0x1.fffffffffffffp1023};
    for (size_t i = 0; i < 16; i++)
        for (size_t j = 0; j < 16; j++)
            for (size_t k = 0; k < 16; k++)
                same(some[i], some[j], some[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_cancellation),
                                       cmocka_unit_test(test_special)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
