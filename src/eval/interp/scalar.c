/* One lane of doubles. */
#define _GNU_SOURCE
#include "base/math/vecmath.h"

#define NS_FOR_NATIVE
#define NS_REAL double
#define F(f) ns_math_##f
#define NS_SPREAD(hi, lo) (hi)
#define NS_ENGINE(name) ns_scalar_##name
#include "eval/interp/one.inc"
