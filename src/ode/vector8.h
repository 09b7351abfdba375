/* Vectors of eight doubles, for the kernels that are compiled once per instruction set
 * (gauss_lanes.inc, ensemble_step.inc).  All functions give the same bits on each. */
#ifndef NS_ODE_VECTOR8_H
#define NS_ODE_VECTOR8_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

typedef double v8 __attribute__((vector_size(64)));
typedef int64_t i8 __attribute__((vector_size(64)));
typedef double v8_in_memory __attribute__((vector_size(64), may_alias));
typedef int64_t i8_in_memory __attribute__((vector_size(64), may_alias));

static inline v8 load(const double *at)
{
    return *(const v8_in_memory *)at;
}

static inline void store(double *at, v8 v)
{
    *(v8_in_memory *)at = v;
}

static inline i8 load_mask(const int64_t *at)
{
    return *(const i8_in_memory *)at;
}

static inline void store_mask(int64_t *at, i8 v)
{
    *(i8_in_memory *)at = v;
}

static inline v8 choose(i8 m, v8 a, v8 b)
{
    return (v8)((m & (i8)a) | (~m & (i8)b));
}

static inline v8 all(double a)
{
    return (v8){a, a, a, a, a, a, a, a};
}

static inline v8 size_of(v8 a)
{
    return (v8)((i8)a & INT64_MAX);
}

/* a > b ? a : b, a < b ? a : b; a b + c with one rounding; square roots; -1 in which lanes? */
#if defined(__AVX512DQ__)
static inline v8 larger(v8 a, v8 b)
{
    return (v8)_mm512_max_pd((__m512d)a, (__m512d)b);
}

static inline v8 smaller(v8 a, v8 b)
{
    return (v8)_mm512_min_pd((__m512d)a, (__m512d)b);
}

static inline v8 fused(v8 a, v8 b, v8 c)
{
    return (v8)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

static inline v8 root(v8 a)
{
    return (v8)_mm512_sqrt_pd((__m512d)a);
}

static inline unsigned bits(i8 m)
{
    return _mm512_movepi64_mask((__m512i)m);
}
#elif defined(__AVX2__) && defined(__FMA__)
static inline __m256d low(v8 a)
{
    return (__m256d)__builtin_shufflevector(a, a, 0, 1, 2, 3);
}

static inline __m256d high(v8 a)
{
    return (__m256d)__builtin_shufflevector(a, a, 4, 5, 6, 7);
}

static inline v8 both(__m256d a, __m256d b)
{
    typedef double v4 __attribute__((vector_size(32)));
    return __builtin_shufflevector((v4)a, (v4)b, 0, 1, 2, 3, 4, 5, 6, 7);
}

static inline v8 larger(v8 a, v8 b)
{
    return both(_mm256_max_pd(low(a), low(b)), _mm256_max_pd(high(a), high(b)));
}

static inline v8 smaller(v8 a, v8 b)
{
    return both(_mm256_min_pd(low(a), low(b)), _mm256_min_pd(high(a), high(b)));
}

static inline v8 fused(v8 a, v8 b, v8 c)
{
    return both(_mm256_fmadd_pd(low(a), low(b), low(c)),
                _mm256_fmadd_pd(high(a), high(b), high(c)));
}

static inline v8 root(v8 a)
{
    return both(_mm256_sqrt_pd(low(a)), _mm256_sqrt_pd(high(a)));
}

static inline unsigned bits(i8 m)
{
    return (unsigned)_mm256_movemask_pd(low((v8)m)) | (unsigned)_mm256_movemask_pd(high((v8)m))
                                                          << 4;
}
#else
static inline v8 larger(v8 a, v8 b)
{
    return choose(a > b, a, b);
}

static inline v8 smaller(v8 a, v8 b)
{
    return choose(a < b, a, b);
}

static inline v8 fused(v8 a, v8 b, v8 c)
{
    for (int i = 0; i < 8; i++)
        a[i] = fma(a[i], b[i], c[i]);
    return a;
}

static inline v8 root(v8 a)
{
    for (int i = 0; i < 8; i++)
        a[i] = sqrt(a[i]);
    return a;
}

static inline unsigned bits(i8 m)
{
    unsigned set = 0;
    for (unsigned i = 0; i < 8; i++)
        set |= (unsigned)(m[i] & 1) << i;
    return set;
}
#endif

/* a b + c, with the same b in all lanes */
static inline v8 madd(v8 a, double b, v8 c)
{
#if defined __FMA__ && !defined __AVX512F__
    const __m256d b4 = _mm256_set1_pd(b);
    return both(_mm256_fmadd_pd(low(a), b4, low(c)), _mm256_fmadd_pd(high(a), b4, high(c)));
#else
    return fused(a, all(b), c);
#endif
}

/* ns_two_sum and ns_add_compensated */
static inline v8 two_sum(v8 a, v8 b, v8 *e)
{
    const v8 s = a + b, bb = s - a;
    *e = (a - (s - bb)) + (b - bb);
    return s;
}

static inline v8 add_compensated(v8 x, v8 x_lo, v8 d, v8 *low)
{
    v8 e;
    const v8 sum = two_sum(x, d, &e), small = e + x_lo;
    const v8 y = sum + small; /* the smaller one second: its error takes less */
    *low = small - (y - sum);
    return y;
}

/* 0 in lanes where all values are finite, nan elsewhere */
static inline v8 not_finite(uint32_t n, const double *values)
{
    v8 even = {0}, odd = {0};
    uint32_t i = 0;
    for (; i + 1 < n; i += 2) {
        even = fused(load(values + 8 * (size_t)i), (v8){0}, even);
        odd = fused(load(values + 8 * (size_t)(i + 1)), (v8){0}, odd);
    }
    if (i < n)
        even = fused(load(values + 8 * (size_t)i), (v8){0}, even);
    return even + odd;
}

/* ---- rough functions --------------------------------------------------------------------- */

/* Error norms and step sizes need a few digits only.  A guess from the exponent and Newton's
 * iteration take a few operations each where divisions and roots take dozens of cycles; and
 * they have the same bits everywhere. */

/* 1/a for a > 0, to 0.05, 7e-6 (twice) or 5e-11 (three times) */
static inline v8 rough_inverse(v8 a, int times)
{
    v8 y = (v8)(0x7fde623822fc16e6 - (i8)a); /* to 0.05 */
    for (int k = 0; k < times; k++)
        y = y * fused(-a, y, all(2));
    return y;
}

/* a^(-1/16) for a > 0, to 5e-4; large for 0 */
static inline v8 rough_root(v8 a)
{
    v8 y = (v8)(0x43ee2d0e56041894 - ((i8)a >> 4));
    for (int k = 0; k < 2; k++) {
        const v8 y2 = y * y, y4 = y2 * y2, y8 = y4 * y4;
        y = y * fused(-0.0625 * a * y8, y8, all(1.0625));
    }
    return y;
}

#endif
