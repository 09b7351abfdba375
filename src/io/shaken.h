/* A number changed in its last bit, or not: what its rounding could have made of it. */
#ifndef NS_IO_SHAKEN_H
#define NS_IO_SHAKEN_H

#include <math.h>

#include "expr/eval.h"

/* -1, 0 or 1 units in the last place; zeros stay. */
static inline double ns_shaken(double value, uint64_t *seed)
{
    const double dice = ns_eval_random(seed);
    return value == 0 || dice < 0.2 ? value
           : dice < 0.6             ? nextafter(value, (double)INFINITY)
                                    : nextafter(value, -(double)INFINITY);
}

#endif
