/* 1/k as a sum of two doubles, k = 0 .. 64 (0: not used).  A product with the first alone is
 * off by the same fraction of a unit in the last place in every step: that adds up in long
 * runs. */
#include "eval/jet/jet_internal.h"

/* The first is h, the double next to 1/k; the second is (1 - k h)/k.  With h in two parts, the
 * upper one of 24 bits, products with k and both differences are exact. */
#define FIRST(k) (1.0 / (k))
#define UPPER(k) ((double)(float)FIRST(k))
#define SECOND(k) (((1 - (k)*UPPER(k)) - (k) * (FIRST(k) - UPPER(k))) / (k))
#define ONE(k)                                                                                 \
    {                                                                                          \
        FIRST(k), SECOND(k)                                                                    \
    }
#define FOUR(k) ONE(k), ONE((k) + 1), ONE((k) + 2), ONE((k) + 3)
#define SIXTEEN(k) FOUR(k), FOUR((k) + 4), FOUR((k) + 8), FOUR((k) + 12)

const double ns_jet_inverse[NS_JET_INVERSES][2] = {
    {0, 0}, SIXTEEN(1), SIXTEEN(17), SIXTEEN(33), SIXTEEN(49)};
