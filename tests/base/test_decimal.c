/* Shortest decimals against printf and strtod. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

/* The shortest by trial: 15, 16 or 17 digits as printf rounds them. */
static void by_trial(char *out, size_t room, double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, room, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool same(double value)
{
    char ours[NS_NUMBER_ROOM], other[40];
    ns_text_number(ours, value);
    by_trial(other, sizeof other, value);
    if (strcmp(ours, other) != 0)
        print_message("%a: %s, by trial %s\n", value, ours, other);
    return strcmp(ours, other) == 0;
}

/* Numbers of all sizes; of the usual ones; whole; short decimals. */
static void random_numbers(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 60000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint64_t mixed = seed ^ seed >> 29;
        const double any = from_bits(mixed & INT64_MAX);
        if (isnormal(any) && (mixed & UINT64_C(0xfffffffffffff)))
            assert_true(same(any));
        assert_true(same(-(double)(mixed >> 11) * 0x1p-53 * (i % 7 + 0.5)));
        assert_true(same((double)(mixed >> (i % 64))));
        assert_true(same((double)(mixed % 100000) / 1000));
    }
}

/* The shortest at the ends of what there is: read back, and no digit less does. */
static void extremes(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } known[] = {{0x1p-1074, "5e-324"},
                 {0x1p-1073, "1e-323"},
                 {0x0.fffffffffffffp-1022, "2.225073858507201e-308"},
                 {0x1p-1022, "2.2250738585072014e-308"},
                 {0x1.fffffffffffffp1023, "1.7976931348623157e+308"},
                 {0x1p53, "9007199254740992"},
                 {9007199254740994, "9007199254740994"},
                 {0x1p-44, "5.684341886080802e-14"},
                 {1e23, "1e+23"},
                 {1e15, "1e+15"},
                 {123456789012345, "123456789012345"},
                 {0.0001, "0.0001"},
                 {0.00001, "1e-05"},
                 {-1e-100, "-1e-100"},
                 {0.0, "0"},
                 {-0.0, "-0"}};
    char text[NS_NUMBER_ROOM];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ns_text_number(text, known[i].value);
        assert_string_equal(text, known[i].text);
        const double back = strtod(text, NULL);
        assert_memory_equal(&back, &known[i].value, sizeof back);
    }
    for (int e = -1074; e < 1024; e++) { /* powers of two: the interval is narrower below */
        ns_text_number(text, ldexp(1, e));
        assert_true(strtod(text, NULL) == ldexp(1, e));
    }
    ns_text_number(text, (double)NAN);
    assert_string_equal(text, "nan");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_numbers),
                                       cmocka_unit_test(extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
