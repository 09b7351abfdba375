/* One lane in quadruple precision, or what there is of it. */
#define _GNU_SOURCE
#include "base/math/quad.h"

#if !NS_HAVE_QUAD
#define NS_UNPINNED
#endif
#define NS_REAL ns_quad
#define F(f) NS_QUAD_LIBM(f)
#define NS_SPREAD(hi, lo) ((ns_quad)(hi) + (ns_quad)(lo))
#define NS_ENGINE(name) ns_quad_##name
#include "eval/interp/one.inc"
