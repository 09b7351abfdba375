/* See decimal.h.  R. Giulietti, "The Schubfach way to render doubles" (2020).
 *
 * The numbers that read back as c 2^q lie between (c - 1/2) 2^q and (c + 1/2) 2^q; where c 2^q
 * is a power of two they begin at (c - 1/4) 2^q.  With the power of ten 10^k that is just
 * shorter than this interval, at least one and at most ten multiples of 10^k lie in it, and at
 * most one of 10^(k+1).  Everything is divided by 10^k / 4, rounded so that comparisons with
 * whole numbers stay right (an inexact result is odd), which takes 126 bits of the power. */
#include "base/math/decimal.h"

#include <stdbool.h>
#include <string.h>

#include "base/check.h"

enum { LEAST_POWER = -292, MOST_POWER = 324 };

typedef struct wide {
    uint64_t hi, lo;
} wide;

/* 10^k 2^-(floor(log2 10^k) - 127), rounded up */
static const wide powers[MOST_POWER - LEAST_POWER + 1] = {
#include "base/math/decimal_powers.def"
};

static wide product(uint64_t a, uint64_t b)
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t low = a0 * b0, cross = a1 * b0 + (low >> 32);
    const uint64_t other = a0 * b1 + (uint32_t)cross;
    return (wide){a1 * b1 + (cross >> 32) + (other >> 32), other << 32 | (uint32_t)low};
}

/* g a / 2^128, odd if it is not whole */
static uint64_t round_to_odd(wide g, uint64_t a)
{
    const wide x = product(g.lo, a), y = product(g.hi, a);
    const uint64_t middle = y.lo + x.hi;
    return (y.hi + (middle < y.lo)) | (middle > 1);
}

/* floor(a / 2^bits) */
static int floor_shift(int a, int bits)
{
    return a >= 0 ? a >> bits : -((-a + (1 << bits) - 1) >> bits);
}

static ns_decimal without_zeros(uint64_t digits, int exponent)
{
    enum { MANY = 8 };
    static const uint64_t many = 100000000; /* 10^MANY */
    if (digits % 10)
        return (ns_decimal){digits, exponent};
    while (digits % many == 0) {
        digits /= many;
        exponent += MANY;
    }
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    return (ns_decimal){digits, exponent};
}

ns_decimal ns_decimal_shortest(double value)
{
    NS_CHECK(value > 0);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t fraction = bits & UINT64_C(0xfffffffffffff);
    const int biased = (int)(bits >> 52);
    const uint64_t c = biased ? fraction | UINT64_C(1) << 52 : fraction;
    const int q = (biased ? biased : 1) - 1075;
    if (q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0)
        return without_zeros(c >> -q, 0); /* a whole number below 2^53 */

    const bool closer = fraction == 0 && biased > 1, odd = c & 1;
    const int k = floor_shift(q * 1262611 - (closer ? 524031 : 0), 22);
    const int shift = q + floor_shift(-k * 1741647, 19) + 1;
    NS_CHECK(-k >= LEAST_POWER && -k <= MOST_POWER && shift >= 1 && shift <= 4);
    const wide g = powers[-k - LEAST_POWER];
    const uint64_t low = round_to_odd(g, (4 * c - 2 + closer) << shift) + odd;
    const uint64_t here = round_to_odd(g, (4 * c) << shift);
    const uint64_t high = round_to_odd(g, (4 * c + 2) << shift) - odd;

    const uint64_t s = here / 4, tens = s / 10;
    const bool tens_in = low <= 40 * tens, next_tens_in = 40 * tens + 40 <= high;
    if (s >= 10 && tens_in != next_tens_in)
        return without_zeros(tens + next_tens_in, k + 1);
    const bool in = low <= 4 * s, next_in = 4 * s + 4 <= high;
    if (in != next_in)
        return without_zeros(s + next_in, k);
    const uint64_t middle = 4 * s + 2;
    const bool up = here > middle || (here == middle && s & 1);
    return without_zeros(s + up, k);
}
