#define _GNU_SOURCE
#include "base/math/quad.h"

#include <stdio.h>

int ns_quad_print(char *text, size_t size, int digits, ns_quad x)
{
#ifdef NS_QUAD_IS_LONG_DOUBLE
    return snprintf(text, size, "%.*Lg", digits, x);
#else
    char format[16];
    snprintf(format, sizeof format, "%%.%dg", digits);
    return strfromf128(text, size, format, x);
#endif
}
