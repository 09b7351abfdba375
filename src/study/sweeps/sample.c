/* Sources.
 *   Philox: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel random numbers: as
 *   easy as 1, 2, 3,
 *     SC11 (2011).
 *   Sobol's sequence in the order of Gray's code: I. A. Antonov, V. M. Saleev (1979); primitive
 *   polynomials and
 *     first direction numbers: S. Joe, F. Y. Kuo, Constructing Sobol sequences with better
 *     two-dimensional projections, SIAM J. Sci. Comput. 30 (2008) 2635-2654, the first 21
 *     dimensions of their table.
 *   Quantiles of the normal distribution: M. J. Wichura, Algorithm AS 241 (PPND16), Applied
 *   Statistics 37 (1988)
 *     477-484; relative accuracy about 1e-16. */
#include "study/sweeps/sample.h"

#include <assert.h>
#include <math.h>

#include "base/math/vecmath.h"

void ns_sample_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    enum { ROUNDS = 10 };
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t a = (uint64_t)c0 * 0xD2511F53u, b = (uint64_t)c2 * 0xCD9E8D57u;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* 53 bits; `use` keeps the streams of different purposes apart. */
static uint64_t bits(uint64_t seed, uint32_t use, uint32_t dimension, uint64_t index)
{
    const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), dimension, use};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t out[4];
    ns_sample_philox(counter, key, out);
    return ((uint64_t)out[0] << 21) ^ (out[1] >> 11);
}

/* The middle of one of 2^53 equal parts of (0, 1). */
static double part(uint64_t k)
{
    const double u = ((double)k + 0.5) * 0x1p-53;
    return u < 1 ? u : 1 - 0x1p-53;
}

double ns_sample_random(uint64_t seed, uint32_t dimension, uint64_t index)
{
    return part(bits(seed, 0, dimension, index));
}

/* Dimension 0 is van der Corput's sequence. */
static const struct {
    uint8_t degree,
        a; /* x^s + a_1 x^(s-1) + ... + a_(s-1) x + 1, a = a_1 ... a_(s-1) in binary */
    uint8_t m[7];
} sobol[NS_SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

/* v_k = m_k / 2^k as a number of 53 bits, with
 *     m_k = 2 a_1 m_(k-1) + ... + 2^(s-1) a_(s-1) m_(k-s+1) + 2^s m_(k-s) + m_(k-s)   (sums by
 *     xor) */
static void directions(uint32_t dimension, uint64_t v[53])
{
    for (uint32_t k = 0; k < 53; k++) {
        if (dimension == 0) {
            v[k] = (uint64_t)1 << (52 - k);
            continue;
        }
        const uint32_t s = sobol[dimension - 1].degree, a = sobol[dimension - 1].a;
        if (k < s) {
            v[k] = (uint64_t)sobol[dimension - 1].m[k] << (52 - k);
            continue;
        }
        v[k] = v[k - s] ^ (v[k - s] >> s);
        for (uint32_t j = 1; j < s; j++)
            if ((a >> (s - 1 - j)) & 1)
                v[k] ^= v[k - j];
    }
}

double ns_sample_sobol(uint64_t seed, uint32_t dimension, uint64_t index)
{
    assert(dimension < NS_SOBOL_DIMENSIONS);
    uint64_t v[53] = {0}, x = bits(seed, 1, dimension, 0);
    directions(dimension, v);
    const uint64_t gray = index ^ (index >> 1);
    for (uint32_t k = 0; k < 53; k++)
        if ((gray >> k) & 1)
            x ^= v[k];
    return part(x);
}

static double ratio(const double a[8], const double b[8], double x)
{
    double up = a[7], down = b[7];
    for (int k = 6; k >= 0; k--) {
        up = up * x + a[k];
        down = down * x + b[k];
    }
    return up / down;
}

double ns_sample_normal(double u)
{
    static const double a[8] = {3.3871328727963666080,    1.3314166789178437745e+2,
                                1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[8] = {1.0,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3};
    static const double c[8] = {1.42343711074968357734,    4.63033784615654529590,
                                5.76949722146069140550,    3.64784832476320460504,
                                1.27045825245236838258,    2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1.0,
                                2.05319162663775882187,
                                1.67638483018380384940,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    static const double e[8] = {6.65790464350110377720,    5.46378491116411436990,
                                1.78482653991729133580,    2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[8] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    const double q = u - 0.5;
    if (fabs(q) <= 0.425)
        return q * ratio(a, b, 0.180625 - q * q);
    const double r = sqrt(-ns_math_log(q < 0 ? u : 1 - u));
    const double z = r <= 5 ? ratio(c, d, r - 1.6) : ratio(e, f, r - 5);
    return q < 0 ? -z : z;
}
