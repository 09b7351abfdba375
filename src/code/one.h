/* One lane, a template: included once for doubles and once for quadruple precision with
 * NS_REAL, NS_LIBM(f) (the name of the library's function f), NS_SPREAD and NS_ENGINE (see
 * interp.h). */
#ifdef NS_LIBM

#include <stddef.h>
#include <stdint.h>

#define NS_PART NS_REAL
#define NS_MEMORY NS_REAL
#define NS_PARTS 1
#define F(f) one_##f

#define NS_FUNCTION1(f)                                                                        \
    static inline NS_REAL one_##f(NS_REAL a)                                                   \
    {                                                                                          \
        return NS_LIBM(f)(a);                                                                  \
    }
#define NS_FUNCTION2(f)                                                                        \
    static inline NS_REAL one_##f(NS_REAL a, NS_REAL b)                                        \
    {                                                                                          \
        return NS_LIBM(f)(a, b);                                                               \
    }
#include "code/functions.def"
NS_FUNCTION1(sqrt)
NS_FUNCTION1(fabs)
#undef NS_FUNCTION1
#undef NS_FUNCTION2

/* Sign, smaller and larger: spelt out, with the same choices between equals and for nan as the
 * eight lanes make. */

static inline NS_REAL one_ns_sgn(NS_REAL a)
{
    return a != a ? a : (NS_REAL)((a > 0) - (a < 0));
}

static inline NS_REAL one_fmin(NS_REAL a, NS_REAL b)
{
    return b != b ? a : a < b ? a : b;
}

static inline NS_REAL one_fmax(NS_REAL a, NS_REAL b)
{
    return b != b ? a : a > b ? a : b;
}

static inline void one_sincos(NS_REAL a, NS_REAL *sine, NS_REAL *cosine)
{
    NS_LIBM(sincos)(a, sine, cosine);
}

#define NS_LU_REAL NS_REAL
#define NS_LU_ABS(x) one_fabs(x)
#define NS_LU_NAME(name) lu_##name
#include "expr/lu.inc"

static void engine_factor(uint32_t n, NS_REAL *lu)
{
    lu_factor(n, lu, (unsigned *)(lu + (size_t)n * n));
}

static void engine_solve(uint32_t n, const NS_REAL *lu, NS_REAL *x)
{
    lu_solve(n, lu, (const unsigned *)(lu + (size_t)n * n), x);
}

#define NS_LINKAGE
#include "code/interp.h"

#endif
