/* Which vector instructions the program uses: the one place that asks the processor.
 *
 *   plain   what every processor of the architecture has
 *   avx2    x86-64 with AVX2 and FMA
 *   avx512  the same and AVX-512 F, DQ, VL
 *
 * Results do not depend on it, to the bit.  The environment variable NOSLIP_SIMD names a lower
 * level than the processor's, to measure it or to test it.  It is read where programs are
 * built; changing it while others are being built is not safe (setenv). */
#ifndef NS_BASE_SIMD_H
#define NS_BASE_SIMD_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ns_simd { NS_SIMD_PLAIN, NS_SIMD_AVX2, NS_SIMD_AVX512 } ns_simd;

#define NS_SIMD_VARIABLE "NOSLIP_SIMD"

/* The level in use: the highest that the machine allows, or that of NOSLIP_SIMD if sound. */
ns_simd ns_simd_level(void);
/* "plain", "avx2", "avx512" */
const char *ns_simd_name(ns_simd level);

/* Can this level be asked for?  If not, `message` says why.  NULL and "" ask for nothing. */
bool ns_simd_check(const char *word, char *message, size_t room);
/* The same for NOSLIP_SIMD; the message names it. */
bool ns_simd_check_variable(char *message, size_t room);

#endif
