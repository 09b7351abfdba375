/* vecmath.inc for one double, in both lanes of a vector of two; and what it leaves to code for
 * one double. */
#include "base/math/vecmath.h"

#include <stdbool.h>

#define NS_WIDTH 2
#define NS_SAME_LANES
#include "base/math/vecmath.inc"

#define NS_MATH_ONE(f)                                                                         \
    double ns_math_##f(double x)                                                               \
    {                                                                                          \
        return vm_##f(spread(x))[0];                                                           \
    }
#define NS_MATH_TWO(f)                                                                         \
    double ns_math_##f(double x, double y)                                                     \
    {                                                                                          \
        return vm_##f(spread(x), spread(y))[0];                                                \
    }
NS_MATH_FUNCTIONS(NS_MATH_ONE, NS_MATH_TWO)

void ns_math_sincos(double x, double *sine, double *cosine)
{
    vector s, c;
    vm_sincos(spread(x), &s, &c);
    *sine = s[0];
    *cosine = c[0];
}

/* log x / log b, with 1/log b in two parts */
static double log_to_base(double x, double high, double low)
{
    if (!(x > 0 && x <= 0x1.fffffffffffffp+1023))
        return log_at_end(spread(x))[0];
    mask k;
    const vector given = normal(spread(x), &k);
    const two l = vm_log_two(given, k), product = multiply(l.high, spread(high));
    return product.high[0] + (product.low[0] + (l.high[0] * low + l.low[0] * high));
}

double ns_math_log2(double x)
{
    return log_to_base(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56);
}

double ns_math_log10(double x)
{
    return log_to_base(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
}

/* sqrt(x^2 + y^2), the sum in two parts */
double ns_math_hypot(double x, double y)
{
    x = fabs(x);
    y = fabs(y);
    if (isinf(x) || isinf(y))
        return (double)INFINITY;
    const double most = x > y ? x : y, least = x > y ? y : x;
    if (!(least > most * 0x1p-60)) /* and 0, and nan */
        return most + least;
    const double scale = most > 0x1p500 ? 0x1p-600 : least < 0x1p-400 ? 0x1p600 : 1;
    const vector a = spread(most * scale), b = spread(least * scale);
    const two aa = multiply(a, a), bb = multiply(b, b);
    two sum = add_small(aa.high, bb.high);
    sum.low += aa.low + bb.low;
    const two h = root(sum);
    return (h.high[0] + h.low[0]) / scale;
}

/* ---- rare arguments ---------------------------------------------------------------------- */

/* 64 bits of a number of 32-bit digits, the lowest first, from a bit on */
static uint64_t bits_from(const uint32_t *digit, unsigned bit)
{
    const unsigned i = bit / 32, rest = bit % 32;
    const uint64_t low = digit[i] | (uint64_t)digit[i + 1] << 32;
    return rest ? low >> rest | (uint64_t)digit[i + 2] << (64 - rest) : low;
}

/* x = m 2^e with an integer m of 53 bits.  Of m 2^e 2/pi the multiples of 4 do not count: so
 * the digits of 2/pi before the i-th do not, and seven from there on give the rest to 2^-138
 * (Payne and Hanek 1983).  No double is nearer than 2^-62 to a multiple of pi/2. */
int64_t ns_math_quadrant(double x, double *y, double *y_low)
{
    static const uint32_t two_over_pi[] = {
        0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599,
        0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c,
        0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639,
        0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f,
        0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7,
        0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046};
    if (!isfinite(x)) {
        *y = *y_low = isnan(x) ? x : (double)NAN;
        return 0;
    }
    int exponent;
    const uint64_t m = (uint64_t)ldexp(frexp(fabs(x), &exponent), 53);
    const int e = exponent - 53, i = (e + 158) / 32 - 5;
    const unsigned point = (unsigned)(32 * (i + 7) - e); /* the bit of 1 in the product */
    uint32_t product[9] = {0};
    for (int part = 0; part < 2; part++) {
        uint64_t carry = 0;
        for (int k = 0; k < 7; k++) {
            const uint64_t digit = two_over_pi[i + 8 - k], factor = m >> 32 * part & UINT32_MAX;
            carry += digit * factor + product[k + part];
            product[k + part] = (uint32_t)carry;
            carry >>= 32;
        }
        product[7 + part] = (uint32_t)carry;
    }
    int64_t quadrant = (int64_t)(bits_from(product, point) & 3);
    uint64_t f1 = bits_from(product, point - 64), f2 = bits_from(product, point - 128);
    const bool past = f1 >> 63; /* more than half: the next multiple is nearer */
    if (past) {
        quadrant++;
        f1 = ~f1;
        f2 = ~f2;
    }
    /* both fractions as doubles of 53 bits */
    int zeros = 0;
    for (; !(f1 >> 63); zeros++) {
        f1 = f1 << 1 | f2 >> 63;
        f2 <<= 1;
    }
    const double high = ldexp((double)(f1 >> 11), -53 - zeros);
    const double low = ldexp((double)((f1 << 53 | f2 >> 11) >> 11), -106 - zeros);
    const double P = 0x1.921fb54442d18p+0, P_low = 0x1.1a62633145c07p-54;
    const two r = multiply(spread(high), spread(P));
    const two sum = add_small(r.high, r.low + (high * P_low + low * P));
    const bool minus = past != (x < 0);
    *y = minus ? -sum.high[0] : sum.high[0];
    *y_low = minus ? -sum.low[0] : sum.low[0];
    return (x < 0 ? -quadrant : quadrant) & 3;
}

/* As the C standard says (annex F). */
double ns_math_power(double x, double y, double size)
{
    if (y == 0 || x == 1)
        return 1;
    if (isnan(x) || isnan(y))
        return x + y;
    const bool whole = floor(y) == y, odd = whole && 2 * floor(y / 2) != y;
    if (x == 0 || isinf(x) || isinf(y))
        size = x == -1 ? 1 : (fabs(x) > 1) == (y > 0) ? (double)INFINITY : 0;
    else if (x < 0 && !whole)
        return (double)NAN;
    return odd && signbit(x) ? -size : size;
}
