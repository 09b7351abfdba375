/* Vectors of as many doubles as a register has, for the kernels that are compiled once per
 * instruction set (gauss_lanes.inc, ensemble_step.inc).  All functions give the same bits on
 * each.
 *
 * Eight lanes are PARTS vectors, each beginning at one of the lanes 0, WIDTH ...  Nothing here
 * is longer than a register: gcc keeps longer vectors in memory, copies them by 16 bytes, and
 * loads by 32 then wait for all of the copies. */
#ifndef NS_ODE_VECTOR_H
#define NS_ODE_VECTOR_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "base/math/fused.h"

#if defined(__AVX512DQ__)
#define NS_SQUARE 8
#define NS_EACH_LANE(a) a, a, a, a, a, a, a, a
#elif defined(__AVX2__) && defined(__FMA__)
#define NS_SQUARE 4
#define NS_EACH_LANE(a) a, a, a, a
#else
#define NS_SQUARE 2
#define NS_EACH_LANE(a) a, a
#endif
enum { WIDTH = NS_SQUARE, PARTS = 8 / WIDTH };

typedef double vector __attribute__((vector_size(8 * WIDTH)));
typedef int64_t mask __attribute__((vector_size(8 * WIDTH)));
typedef double vector_in_memory __attribute__((vector_size(8 * WIDTH), may_alias));
typedef int64_t mask_in_memory __attribute__((vector_size(8 * WIDTH), may_alias));

static inline vector load(const double *at)
{
    return *(const vector_in_memory *)at;
}

static inline void store(double *at, vector v)
{
    *(vector_in_memory *)at = v;
}

static inline mask load_mask(const int64_t *at)
{
    return *(const mask_in_memory *)at;
}

static inline void store_mask(int64_t *at, mask v)
{
    *(mask_in_memory *)at = v;
}

static inline vector all(double a)
{
    return (vector){NS_EACH_LANE(a)};
}

static inline vector size_of(vector a)
{
    return (vector)((mask)a & INT64_MAX);
}

/* m ? a : b; a > b ? a : b, a < b ? a : b; a b + c with one rounding; square roots; -1 in which
 * lanes? */
#if defined(__AVX512DQ__)
static inline vector choose(mask m, vector a, vector b)
{
    return (vector)((m & (mask)a) | (~m & (mask)b));
}

static inline vector larger(vector a, vector b)
{
    return (vector)_mm512_max_pd((__m512d)a, (__m512d)b);
}

static inline vector smaller(vector a, vector b)
{
    return (vector)_mm512_min_pd((__m512d)a, (__m512d)b);
}

static inline vector fused(vector a, vector b, vector c)
{
    return (vector)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

static inline vector root(vector a)
{
    return (vector)_mm512_sqrt_pd((__m512d)a);
}

static inline unsigned bits(mask m)
{
    return _mm512_movepi64_mask((__m512i)m);
}
#elif defined(__AVX2__) && defined(__FMA__)
static inline vector choose(mask m, vector a, vector b)
{
    return (vector)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m);
}

static inline vector larger(vector a, vector b)
{
    return (vector)_mm256_max_pd((__m256d)a, (__m256d)b);
}

static inline vector smaller(vector a, vector b)
{
    return (vector)_mm256_min_pd((__m256d)a, (__m256d)b);
}

static inline vector fused(vector a, vector b, vector c)
{
    return (vector)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}

static inline vector root(vector a)
{
    return (vector)_mm256_sqrt_pd((__m256d)a);
}

static inline unsigned bits(mask m)
{
    return (unsigned)_mm256_movemask_pd((__m256d)m);
}
#else
static inline vector choose(mask m, vector a, vector b)
{
    return (vector)((m & (mask)a) | (~m & (mask)b));
}

static inline vector larger(vector a, vector b)
{
    return choose(a > b, a, b);
}

static inline vector smaller(vector a, vector b)
{
    return choose(a < b, a, b);
}

static inline vector fused(vector a, vector b, vector c)
{
    return (vector)ns_pair_fused((ns_pair)a, (ns_pair)b, (ns_pair)c);
}

static inline vector root(vector a)
{
    return (vector){sqrt(a[0]), sqrt(a[1])};
}

static inline unsigned bits(mask m)
{
    return (unsigned)(m[0] & 1) | (unsigned)(m[1] & 1) << 1;
}
#endif

/* The same as bits of eight lanes, for the part that begins at a lane. */
static inline unsigned bits_at(size_t lane, mask m)
{
    return bits(m) << lane;
}

/* The first lanes of all parts. */
#define EACH_PART(lane) for (size_t lane = 0; lane < 8; lane += WIDTH)

/* ns_two_sum and ns_add_compensated */
static inline vector two_sum(vector a, vector b, vector *e)
{
    const vector s = a + b, bb = s - a;
    *e = (a - (s - bb)) + (b - bb);
    return s;
}

static inline vector add_compensated(vector x, vector x_lo, vector d, vector *low)
{
    vector e;
    const vector sum = two_sum(x, d, &e), small = e + x_lo;
    const vector y = sum + small; /* the smaller one second: its error takes less */
    *low = small - (y - sum);
    return y;
}

/* 0 in lanes where all of n rows of eight are finite, nan elsewhere */
static inline vector not_finite(uint32_t n, const double *values)
{
    vector even = {0}, odd = {0};
    uint32_t i = 0;
    for (; i + 1 < n; i += 2) {
        even = fused(load(values + 8 * (size_t)i), (vector){0}, even);
        odd = fused(load(values + 8 * (size_t)(i + 1)), (vector){0}, odd);
    }
    if (i < n)
        even = fused(load(values + 8 * (size_t)i), (vector){0}, even);
    return even + odd;
}

/* ---- rough functions --------------------------------------------------------------------- */

/* Error norms and step sizes need a few digits only.  A guess from the exponent and Newton's
 * iteration take a few operations each where divisions and roots take dozens of cycles; and
 * they have the same bits everywhere. */

/* 1/a for a > 0, to 0.05, 7e-6 (twice) or 5e-11 (three times) */
static inline vector rough_inverse(vector a, int times)
{
    vector y = (vector)(0x7fde623822fc16e6 - (mask)a); /* to 0.05 */
    for (int k = 0; k < times; k++)
        y = y * fused(-a, y, all(2));
    return y;
}

/* a^(-1/16) for a > 0, to 5e-4; large for 0 */
static inline vector rough_root(vector a)
{
    vector y = (vector)(0x43ee2d0e56041894 - ((mask)a >> 4));
    for (int k = 0; k < 2; k++) {
        const vector y2 = y * y, y4 = y2 * y2, y8 = y4 * y4;
        y = y * fused(-0.0625 * a * y8, y8, all(1.0625));
    }
    return y;
}

#endif
