/* Elementary functions of one double, with the bits that vecmath.inc gives in lanes; what it does
 * not have is the C library's. */
#ifndef NS_EXPR_VECMATH_H
#define NS_EXPR_VECMATH_H

#include <math.h>

double ns_math_sin(double x);
double ns_math_cos(double x);
double ns_math_exp(double x);
double ns_math_log(double x);
void ns_math_sincos(double x, double *sine, double *cosine);

#define ns_math_tan tan
#define ns_math_asin asin
#define ns_math_acos acos
#define ns_math_atan atan
#define ns_math_atan2 atan2
#define ns_math_sinh sinh
#define ns_math_cosh cosh
#define ns_math_tanh tanh
#define ns_math_asinh asinh
#define ns_math_acosh acosh
#define ns_math_atanh atanh
#define ns_math_pow pow
#define ns_math_sqrt sqrt
#define ns_math_fabs fabs
#define ns_math_fmin fmin
#define ns_math_fmax fmax

#endif
