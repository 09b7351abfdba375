/* One lane in quadruple precision. */
#define _GNU_SOURCE
#include "base/quad.h"

#if NS_HAVE_QUAD
#define NS_REAL ns_quad
#define NS_LIBM(f) f##f128
#define NS_SPREAD(hi, lo) ((ns_quad)(hi) + (ns_quad)(lo))
#define NS_ENGINE(name) ns_quad_##name
#include "code/one.inc"
#else
typedef int ns_quad_is_missing;
#endif
