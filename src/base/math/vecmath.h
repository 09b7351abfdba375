/* Elementary functions of one double, with the bits that vecmath.inc gives in lanes: the same
 * on every processor, for none of them is the C library's.  Results that come from its
 * functions may differ from one processor to the next; of them only those may be used whose
 * value is exact (sqrt, fabs, floor, ldexp and the like: tests/base/test_libm.sh has the
 * list). */
#ifndef NS_BASE_MATH_VECMATH_H
#define NS_BASE_MATH_VECMATH_H

#include <math.h>
#include <stdint.h>

/* Functions of vecmath.inc, of one argument and of two. */
#define NS_MATH_FUNCTIONS(ONE, TWO)                                                            \
    ONE(sin)                                                                                   \
    ONE(cos)                                                                                   \
    ONE(tan)                                                                                   \
    ONE(asin)                                                                                  \
    ONE(acos)                                                                                  \
    ONE(atan)                                                                                  \
    ONE(sinh)                                                                                  \
    ONE(cosh)                                                                                  \
    ONE(tanh)                                                                                  \
    ONE(asinh)                                                                                 \
    ONE(acosh)                                                                                 \
    ONE(atanh)                                                                                 \
    ONE(exp)                                                                                   \
    ONE(log)                                                                                   \
    TWO(pow)                                                                                   \
    TWO(atan2)

#define NS_MATH_ONE(f) double ns_math_##f(double x);
#define NS_MATH_TWO(f) double ns_math_##f(double x, double y);
NS_MATH_FUNCTIONS(NS_MATH_ONE, NS_MATH_TWO)
#undef NS_MATH_ONE
#undef NS_MATH_TWO
void ns_math_sincos(double x, double *sine, double *cosine);

/* No operations, but needed elsewhere. */
double ns_math_log2(double x);
double ns_math_log10(double x);
double ns_math_hypot(double x, double y);

#define ns_math_sqrt sqrt
#define ns_math_fabs fabs
#define ns_math_ns_sgn ns_sgn
#define ns_math_ns_min ns_min
#define ns_math_ns_max ns_max

/* Sign: -1, 0, 1, and nan for nan. */
static inline double ns_sgn(double a)
{
    return a != a ? a : (double)((a > 0) - (a < 0));
}

/* The smaller and the larger: of equals (0 and -0) the second, of a number and nan the number.
 * fmin and fmax leave the sign of zero open. */
static inline double ns_min(double a, double b)
{
    return b != b || a < b ? a : b;
}

static inline double ns_max(double a, double b)
{
    return b != b || a > b ? a : b;
}

/* For vecmath.inc: arguments that are rare, and tables. */

/* x = n pi/2 + y + y_low, |y| <= pi/4, for |x| > 1/2; returns n mod 4. */
int64_t ns_math_quadrant(double x, double *y, double *y_low);

/* x^y from |x|^y, which is known where it is a positive number */
double ns_math_power(double x, double y, double size);

extern const double ns_math_log_table[128][3], ns_math_exp_table[128][2];

#endif
