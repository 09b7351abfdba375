/* The shortest decimal number that reads back as a given double. */
#ifndef NS_BASE_MATH_DECIMAL_H
#define NS_BASE_MATH_DECIMAL_H

#include <stdint.h>

typedef struct ns_decimal {
    uint64_t digits; /* at most 17 of them, the last not 0; the number is digits 10^exponent */
    int exponent;
} ns_decimal;

/* Of value > 0, finite.  Of all that read back and have as few digits the nearest. */
ns_decimal ns_decimal_shortest(double value);

#endif
