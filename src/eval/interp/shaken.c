/* One lane in quadruple precision with different rounding errors: the result of every
 * operation is changed in the 107th bit, up or down (stochastic arithmetic, Vignes 1974; states
 * and constants have as many bits).  What two evaluations differ by is what rounding makes of
 * an expression, cancellation included.
 *
 * Up or down is decided by the bits of the result itself: a function of the inputs and of
 * nothing else, without pattern.  A result whose last 60 bits are zero is exact and stays. */
#define _GNU_SOURCE
#include "base/math/quad.h"

#include <stdint.h>
#include <string.h>

static ns_quad rounded(ns_quad value)
{
    uint64_t bits[2] = {0};
    memcpy(bits, &value, sizeof value);
    if (NS_HAVE_QUAD && bits[0] << 4 == 0)
        return value;
    const uint64_t mixed = (bits[0] ^ bits[0] >> 29) * 0x9e3779b97f4a7c15u + bits[1];
    const ns_quad change = mixed >> 63 ? 0x1p-107 : -0x1p-107;
    return value * (1 + change);
}

#if !NS_HAVE_QUAD
#define NS_UNPINNED
#endif
#define NS_REAL ns_quad
#define F(f) NS_QUAD_LIBM(f)
#define NS_SPREAD(hi, lo) ((lo) == 0 ? (ns_quad)(hi) : rounded((ns_quad)(hi) + (ns_quad)(lo)))
#define NS_ROUNDED(x) rounded(x)
#define NS_ENGINE(name) ns_shaken_##name
#include "eval/interp/one.inc"
