/* Eight lanes, a template: included once per instruction set with NS_WIDTH, the number of
 * doubles in its vectors, and NS_ENGINE(name).
 *
 * Arithmetic, roots and comparisons work on vectors; they round as the scalar instructions do.
 * Functions of the C library are called lane by lane.  So every lane gets the bits it would get
 * alone. */
#ifdef NS_WIDTH

#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "code/engine.h"

typedef double vector __attribute__((vector_size(8 * NS_WIDTH)));
typedef int64_t mask __attribute__((vector_size(8 * NS_WIDTH))); /* of comparisons: 0 or -1 */
typedef double vector_in_memory __attribute__((vector_size(8 * NS_WIDTH), may_alias));

#define NS_REAL double
#define NS_PART vector
#define NS_MEMORY vector_in_memory
#define NS_PARTS (NS_LANES / NS_WIDTH)
#define NS_SPREAD(hi, lo)                                                                      \
    ((void)(lo), (hi) - (vector){0}) /* -0 and all others keep their bits */
#define F(f) lanes_##f

#define NS_FUNCTION1(f)                                                                        \
    static inline vector lanes_##f(vector a)                                                   \
    {                                                                                          \
        for (int lane = 0; lane < NS_WIDTH; lane++)                                            \
            a[lane] = f(a[lane]);                                                              \
        return a;                                                                              \
    }
#define NS_FUNCTION2(f)                                                                        \
    static inline vector lanes_##f(vector a, vector b)                                         \
    {                                                                                          \
        for (int lane = 0; lane < NS_WIDTH; lane++)                                            \
            a[lane] = f(a[lane], b[lane]);                                                     \
        return a;                                                                              \
    }
#include "code/functions.def"
NS_FUNCTION1(sqrt) /* becomes the vector instruction */
#undef NS_FUNCTION1
#undef NS_FUNCTION2

static inline vector choose(mask m, vector a, vector b)
{
    return (vector)((m & (mask)a) | (~m & (mask)b));
}

static inline vector lanes_fabs(vector a)
{
    return (vector)((mask)a & INT64_MAX);
}

static inline vector lanes_ns_sgn(vector a)
{
    const vector one = 1 - (vector){0};
    vector sign = (vector)((mask)one & (a > 0)) - (vector)((mask)one & (a < 0));
    return choose(a == a, sign, a);
}

static inline vector lanes_fmin(vector a, vector b)
{
    return choose((b != b) | (a < b), a, b);
}

static inline vector lanes_fmax(vector a, vector b)
{
    return choose((b != b) | (a > b), a, b);
}

static inline void lanes_sincos(vector a, vector *sine, vector *cosine)
{
    double s[NS_WIDTH], c[NS_WIDTH];
    for (int lane = 0; lane < NS_WIDTH; lane++)
        sincos(a[lane], &s[lane], &c[lane]);
    memcpy(sine, s, sizeof s);
    memcpy(cosine, c, sizeof c);
}

/* ---- linear systems ------------------------------------------------------------------------
 * expr/lu.inc in lanes.  Each lane has its own pivots: rows are exchanged under masks. */

/* Is a mask set in any lane? */
static inline bool any(mask m)
{
#if defined(__AVX512DQ__)
    return _mm512_movepi64_mask((__m512i)m) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_pd((__m256d)m) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_pd((__m128d)m) != 0;
#else
    int64_t set = 0;
    for (int lane = 0; lane < NS_WIDTH; lane++)
        set |= m[lane];
    return set != 0;
#endif
}

typedef struct lanes {
    vector_in_memory part[NS_PARTS];
} lanes;

typedef struct indices {
    mask part[NS_PARTS];
} indices;

static inline bool any_differs(const indices *row, uint32_t k)
{
    bool differs = false;
    for (int p = 0; p < NS_PARTS; p++)
        differs |= any(row->part[p] != (int64_t)k);
    return differs;
}

/* Exchanges row k with the row that each lane names, rows of `length` cells, n of them. */
static void exchange(lanes *rows, uint32_t n, uint32_t length, uint32_t k, const indices *row)
{
    for (uint32_t i = k + 1; i < n; i++)
        for (int p = 0; p < NS_PARTS; p++) {
            const mask m = row->part[p] == (int64_t)i;
            if (!any(m))
                continue;
            lanes *upper = rows + (size_t)k * length, *lower = rows + (size_t)i * length;
            for (uint32_t j = 0; j < length; j++) {
                const vector u = upper[j].part[p], v = lower[j].part[p];
                upper[j].part[p] = choose(m, v, u);
                lower[j].part[p] = choose(m, u, v);
            }
        }
}

static void find_pivot(const lanes *lu, uint32_t n, uint32_t k, indices *row)
{
    for (int p = 0; p < NS_PARTS; p++) {
        vector most = lanes_fabs(lu[(size_t)k * n + k].part[p]);
        mask best = (mask){0} + (int64_t)k;
        for (uint32_t i = k + 1; i < n; i++) {
            const vector size = lanes_fabs(lu[(size_t)i * n + k].part[p]);
            const mask m = size > most;
            most = choose(m, size, most);
            best = (m & (int64_t)i) | (~m & best);
        }
        row->part[p] = best;
    }
}

/* y -= f * x for one cell */
static inline void subtract(lanes *y, const lanes *f, const lanes *x)
{
    for (int p = 0; p < NS_PARTS; p++)
        y->part[p] -= f->part[p] * x->part[p];
}

static void engine_factor(uint32_t n, double *matrix)
{
    lanes *lu = (lanes *)matrix;
    indices *pivot = (indices *)(lu + (size_t)n * n);
    for (uint32_t k = 0; k < n; k++) {
        lanes *upper = lu + (size_t)k * n;
        find_pivot(lu, n, k, &pivot[k]);
        if (any_differs(&pivot[k], k))
            exchange(lu, n, n, k, &pivot[k]);
        for (int p = 0; p < NS_PARTS; p++)
            upper[k].part[p] = 1 / upper[k].part[p];
        for (uint32_t i = k + 1; i < n; i++) {
            lanes *lower = lu + (size_t)i * n, factor;
            for (int p = 0; p < NS_PARTS; p++)
                factor.part[p] = lower[k].part[p] * upper[k].part[p];
            lower[k] = factor;
            for (uint32_t j = k + 1; j < n; j++)
                subtract(&lower[j], &factor, &upper[j]);
        }
    }
}

static void engine_solve(uint32_t n, const double *matrix, double *vector_x)
{
    const lanes *lu = (const lanes *)matrix;
    const indices *pivot = (const indices *)(lu + (size_t)n * n);
    lanes *x = (lanes *)vector_x;
    for (uint32_t k = 0; k < n; k++)
        if (any_differs(&pivot[k], k))
            exchange(x, n, 1, k, &pivot[k]);
    for (uint32_t i = 1; i < n; i++) {
        lanes sum = x[i];
        for (uint32_t j = 0; j < i; j++)
            subtract(&sum, &lu[(size_t)i * n + j], &x[j]);
        x[i] = sum;
    }
    for (uint32_t i = n; i-- > 0;) {
        lanes sum = x[i];
        for (uint32_t j = i + 1; j < n; j++)
            subtract(&sum, &lu[(size_t)i * n + j], &x[j]);
        for (int p = 0; p < NS_PARTS; p++)
            x[i].part[p] = sum.part[p] * lu[(size_t)i * n + i].part[p];
    }
}

#define NS_LINKAGE static
#include "code/interp.h"

#endif
