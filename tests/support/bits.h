/* For tests of evaluators: numbers to the bit, and memory in which a forgotten number shows. */
#ifndef TEST_SUPPORT_BITS_H
#define TEST_SUPPORT_BITS_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* n doubles, aligned for lanes; nothing may be read before it is written. */
static inline double *block_new(size_t n)
{
    double *block = aligned_alloc(64, (n * sizeof(double) + 63) / 64 * 64 + 64);
    if (!block)
        abort();
    for (size_t i = 0; i < n; i++)
        block[i] = NAN;
    return block;
}

#endif
