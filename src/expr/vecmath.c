/* vecmath.inc for one double: in both lanes of a vector of two. */
#include "expr/vecmath.h"

#include <stdbool.h>

#define NS_WIDTH 2
#include "expr/vecmath.inc"

static inline vector both(double x)
{
    return (vector){x, x};
}

double ns_math_sin(double x)
{
    return vm_sin(both(x))[0];
}

double ns_math_cos(double x)
{
    return vm_cos(both(x))[0];
}

double ns_math_exp(double x)
{
    return vm_exp(both(x))[0];
}

double ns_math_log(double x)
{
    return vm_log(both(x))[0];
}

void ns_math_sincos(double x, double *sine, double *cosine)
{
    vector s, c;
    vm_sincos(both(x), &s, &c);
    *sine = s[0];
    *cosine = c[0];
}
