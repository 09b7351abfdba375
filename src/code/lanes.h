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
 * expr/lu.h in lanes.  Each lane has its own pivots: rows are exchanged under masks, or, when
 * all lanes agree, at once. */

typedef union indices {
    mask part[NS_PARTS];
    int64_t lane[NS_LANES];
} indices;

/* The row all lanes name, or -1. */
static inline int64_t common_row(const indices *row)
{
    int64_t differ = 0;
    for (int lane = 1; lane < NS_LANES; lane++)
        differ |= row->lane[lane] ^ row->lane[0];
    return differ ? -1 : row->lane[0];
}

static inline bool any_names(const indices *row, int64_t i)
{
    bool any = false;
    for (int lane = 0; lane < NS_LANES; lane++)
        any |= row->lane[lane] == i;
    return any;
}

typedef struct lanes {
    vector_in_memory part[NS_PARTS];
} lanes;

/* Exchanges rows k and row (one per lane) of `count` cells, `stride` cells apart. */
static void exchange(lanes *rows, uint32_t n, uint32_t stride, uint32_t k, const indices *row)
{
    int64_t common = common_row(row);
    if (common == (int64_t)k)
        return;
    for (uint32_t i = k + 1; i < n; i++) {
        if (common >= 0 ? common != (int64_t)i : !any_names(row, i))
            continue;
        lanes *upper = rows + (size_t)k * stride, *lower = rows + (size_t)i * stride;
        for (uint32_t j = 0; j < stride; j++)
            for (int p = 0; p < NS_PARTS; p++) {
                const mask m = row->part[p] == (int64_t)i;
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

static void engine_factor(uint32_t n, double *matrix)
{
    lanes *lu = (lanes *)matrix;
    indices *pivot = (indices *)(lu + (size_t)n * n);
    for (uint32_t k = 0; k < n; k++) {
        find_pivot(lu, n, k, &pivot[k]);
        exchange(lu, n, n, k, &pivot[k]);
        lanes *upper = lu + (size_t)k * n;
        for (int p = 0; p < NS_PARTS; p++) {
            const vector inverse = 1 / upper[k].part[p];
            for (uint32_t i = k + 1; i < n; i++) {
                lanes *lower = lu + (size_t)i * n;
                const vector factor = lower[k].part[p] * inverse;
                lower[k].part[p] = factor;
                for (uint32_t j = k + 1; j < n; j++)
                    lower[j].part[p] -= factor * upper[j].part[p];
            }
            upper[k].part[p] = inverse;
        }
    }
}

static void engine_solve(uint32_t n, const double *matrix, double *vector_x)
{
    const lanes *lu = (const lanes *)matrix;
    const indices *pivot = (const indices *)(lu + (size_t)n * n);
    lanes *x = (lanes *)vector_x;
    for (uint32_t k = 0; k < n; k++)
        exchange(x, n, 1, k, &pivot[k]);
    for (int p = 0; p < NS_PARTS; p++) {
        for (uint32_t i = 1; i < n; i++) {
            vector sum = x[i].part[p];
            for (uint32_t j = 0; j < i; j++)
                sum -= lu[(size_t)i * n + j].part[p] * x[j].part[p];
            x[i].part[p] = sum;
        }
        for (uint32_t i = n; i-- > 0;) {
            vector sum = x[i].part[p];
            for (uint32_t j = i + 1; j < n; j++)
                sum -= lu[(size_t)i * n + j].part[p] * x[j].part[p];
            x[i].part[p] = sum * lu[(size_t)i * n + i].part[p];
        }
    }
}

#define NS_LINKAGE static
#include "code/interp.h"

#endif
