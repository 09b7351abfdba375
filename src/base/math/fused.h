/* Fused multiply-add where the processor has no instruction for it (WebAssembly, old x86):
 * a b + c rounded once, for two numbers at a time, from sums and products rounded as usual.
 * The C library's fma gives the same bits and takes ten times as long.
 *
 *     uh + ul = a b      exactly (Dekker 1971)
 *     th + tl = c + ul   exactly (Knuth)
 *     vh + vl = uh + th
 *     z = tl + vl rounded to odd;  a b + c = vh + z rounded
 *
 * (Boldo and Melquiond, Emulation of a FMA and correctly rounded sums: proved algorithms using
 * rounding to odd, 2008.)  This holds while nothing overflows and the product's low half does
 * not underflow; other numbers go to the C library. */
#ifndef NS_BASE_MATH_FUSED_H
#define NS_BASE_MATH_FUSED_H

#include <math.h>
#include <stdint.h>

typedef double ns_pair __attribute__((vector_size(16)));
typedef int64_t ns_pair_bits __attribute__((vector_size(16)));

static inline ns_pair ns_pair_size(ns_pair a)
{
    return (ns_pair)((ns_pair_bits)a & INT64_MAX);
}

/* a + b and its rounding error. */
static inline ns_pair ns_pair_sum(ns_pair a, ns_pair b, ns_pair *error)
{
    const ns_pair s = a + b, from_b = s - a;
    *error = (a - (s - from_b)) + (b - from_b);
    return s;
}

/* a in two halves of 26 bits: the return value and *low. */
static inline ns_pair ns_pair_split(ns_pair a, ns_pair *low)
{
    const ns_pair t = 134217729.0 * a, high = t - (t - a); /* 2^27 + 1 */
    *low = a - high;
    return high;
}

/* From ordinary operations, whatever instructions there are. */
static inline ns_pair ns_pair_fused_by_parts(ns_pair a, ns_pair b, ns_pair c)
{
    const ns_pair uh = a * b;
    const ns_pair_bits inside = (ns_pair_size(a) < 0x1p990) & (ns_pair_size(b) < 0x1p990) &
                                (ns_pair_size(c) < 0x1p1000) & (ns_pair_size(uh) < 0x1p1000) &
                                ((ns_pair_size(uh) > 0x1p-900) | (a == 0) | (b == 0));
    if (!(inside[0] & inside[1]))
        return (ns_pair){fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1])};
    ns_pair al, bl, tl, vl, rest;
    const ns_pair ah = ns_pair_split(a, &al), bh = ns_pair_split(b, &bl);
    const ns_pair ul = ((ah * bh - uh) + ah * bl + al * bh) + al * bl;
    const ns_pair th = ns_pair_sum(c, ul, &tl), vh = ns_pair_sum(uh, th, &vl);
    const ns_pair z = ns_pair_sum(tl, vl, &rest);
    /* to odd: an even z that is not exact goes one unit towards the rest */
    const ns_pair_bits bits = (ns_pair_bits)z;
    const ns_pair_bits towards = ((rest > 0) == (z > 0)) & 2; /* away from zero: 2, else 0 */
    const ns_pair_bits step = (rest != 0) & ((bits & 1) == 0) & (towards - 1);
    const ns_pair sum = vh + (ns_pair)(bits + step), plain = uh + c;
    const ns_pair_bits zero = (a == 0) | (b == 0); /* with the signs of zeros */
    return (ns_pair)((zero & (ns_pair_bits)plain) | (~zero & (ns_pair_bits)sum));
}

static inline ns_pair ns_pair_fused(ns_pair a, ns_pair b, ns_pair c)
{
#if defined(                                                                                   \
    __wasm_relaxed_simd__) /* replaced where it is not fused: viewer/engine/module.mjs */
    return (ns_pair)__builtin_wasm_relaxed_madd_f64x2(a, b, c);
#elif defined(__FP_FAST_FMA)
    return (ns_pair){fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1])};
#else
    return ns_pair_fused_by_parts(a, b, c);
#endif
}

#endif
