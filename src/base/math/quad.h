/* Quadruple precision where compiler and C library have it: gcc with glibc, clang with glibc on
 * x86-64, and 64-bit ARM, where a long double has 113 bits.  Elsewhere ns_quad is a long double
 * all the same: it has too few digits to run in (or, in WebAssembly, functions that have), but
 * shows the rounding errors of doubles.
 *
 * A file that uses it defines _GNU_SOURCE before its first include. */
#ifndef NS_BASE_MATH_QUAD_H
#define NS_BASE_MATH_QUAD_H

#include <float.h>
#include <math.h>
#include <stdlib.h>

#if defined(__HAVE_FLOAT128) && __HAVE_FLOAT128 && defined(__GNUC__) && !defined(__clang__)
#define NS_HAVE_QUAD 1
__extension__ typedef _Float128 ns_quad;
#elif defined(__clang__) && defined(__x86_64__) && defined(__SIZEOF_FLOAT128__) &&             \
    defined(__GLIBC__)
/* The type has another name, and glibc declares its functions for gcc only. */
#define NS_HAVE_QUAD 1
__extension__ typedef __float128 ns_quad;
#define NS_QUAD_1(f) extern ns_quad f(ns_quad x) __attribute__((nothrow, const));
#define NS_QUAD_2(f) extern ns_quad f(ns_quad x, ns_quad y) __attribute__((nothrow, const));
NS_QUAD_1(sinf128)
NS_QUAD_1(cosf128)
NS_QUAD_1(tanf128)
NS_QUAD_1(asinf128)
NS_QUAD_1(acosf128)
NS_QUAD_1(atanf128)
NS_QUAD_1(sinhf128)
NS_QUAD_1(coshf128)
NS_QUAD_1(tanhf128)
NS_QUAD_1(asinhf128)
NS_QUAD_1(acoshf128)
NS_QUAD_1(atanhf128)
NS_QUAD_1(expf128)
NS_QUAD_1(logf128)
NS_QUAD_1(log2f128)
NS_QUAD_1(log10f128)
NS_QUAD_1(exp2f128)
NS_QUAD_1(sqrtf128)
NS_QUAD_1(fabsf128)
NS_QUAD_2(powf128)
NS_QUAD_2(fminf128)
NS_QUAD_2(fmaxf128)
NS_QUAD_2(atan2f128)
NS_QUAD_2(hypotf128)
extern void sincosf128(ns_quad x, ns_quad *s, ns_quad *c) __attribute__((nothrow));
extern ns_quad strtof128(const char *text, char **end) __attribute__((nothrow));
extern int strfromf128(char *text, size_t size, const char *format, ns_quad x)
    __attribute__((nothrow));
#undef NS_QUAD_1
#undef NS_QUAD_2
#else
#if LDBL_MANT_DIG == 113 && !defined(__wasm__)
#define NS_HAVE_QUAD 1
#else
#define NS_HAVE_QUAD 0
#endif
#define NS_QUAD_IS_LONG_DOUBLE 1
typedef long double ns_quad;
#endif

#ifdef NS_QUAD_IS_LONG_DOUBLE
#define NS_QUAD_LIBM(f) f##l /* the function f */
#define NS_QUAD_READ strtold
#else
#define NS_QUAD_LIBM(f) f##f128
#define NS_QUAD_READ strtof128
#endif

/* As snprintf with "%.*g". */
int ns_quad_print(char *text, size_t size, int digits, ns_quad x);

/* as base/math/vecmath.h does it for doubles */

static inline ns_quad NS_QUAD_LIBM(ns_sgn)(ns_quad a)
{
    return a != a ? a : (ns_quad)((a > 0) - (a < 0));
}

static inline ns_quad NS_QUAD_LIBM(ns_min)(ns_quad a, ns_quad b)
{
    return b != b || a < b ? a : b;
}

static inline ns_quad NS_QUAD_LIBM(ns_max)(ns_quad a, ns_quad b)
{
    return b != b || a > b ? a : b;
}

#endif
