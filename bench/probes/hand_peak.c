/*
 * What one core can do at most: multiply-adds on registers full of doubles, twelve independent
 * chains of them.
 */
#include "probes/hand_peak.h"

/* as long as a register: longer ones would live in memory */
#if defined(__AVX512F__)
enum { LANES = 8 };
#elif defined(__AVX__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif
typedef double lanes __attribute__((vector_size(8 * LANES)));

double hand_peak_work(long rounds, double *result)
{
    enum { CHAINS = 12 };
    lanes a[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        for (int k = 0; k < LANES; k++)
            a[i][k] = 1 + 0.001 * (i + k);
    lanes factor, term;
    for (int k = 0; k < LANES; k++) {
        factor[k] = 0.999;
        term[k] = 0.001;
    }
    for (long r = 0; r < rounds; r++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            a[i] = a[i] * factor + term;
    double sum = 0;
    for (int i = 0; i < CHAINS; i++)
        for (int k = 0; k < LANES; k++)
            sum += a[i][k];
    *result = sum;
    return 2.0 * LANES * CHAINS * (double)rounds;
}
