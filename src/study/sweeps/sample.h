/* Numbers for samples: each a function of the seed, the dimension and the index alone, so that
 * sample i needs no other and every machine finds the same. */
#ifndef NS_STUDY_SWEEPS_SAMPLE_H
#define NS_STUDY_SWEEPS_SAMPLE_H

#include <stdint.h>

enum { NS_SOBOL_DIMENSIONS = 21 };

/* Philox 4x32-10: four words of 32 bits from a counter and a key. */
void ns_sample_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Uniform in (0, 1), 53 bits: pseudo-random, and the Sobol sequence with a digital shift by the
 * seed. */
double ns_sample_random(uint64_t seed, uint32_t dimension, uint64_t index);
double ns_sample_sobol(uint64_t seed, uint32_t dimension, uint64_t index);

/* The point below which a normal variable with mean 0 and deviation 1 is with probability u. */
double ns_sample_normal(double u);

#endif
