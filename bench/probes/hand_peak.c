/*
 * What one core can do at most: multiply-adds on registers full of doubles, twelve independent
 * chains of them.
 */
#include "probes/hand_peak.h"

typedef double lanes __attribute__((vector_size(64)));

double hand_peak_work(long rounds, double *result)
{
    enum { CHAINS = 12 };
    lanes a[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        for (int k = 0; k < 8; k++)
            a[i][k] = 1 + 0.001 * (i + k);
    lanes factor, term;
    for (int k = 0; k < 8; k++) {
        factor[k] = 0.999;
        term[k] = 0.001;
    }
    for (long r = 0; r < rounds; r++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            a[i] = a[i] * factor + term;
    double sum = 0;
    for (int i = 0; i < CHAINS; i++)
        for (int k = 0; k < 8; k++)
            sum += a[i][k];
    *result = sum;
    return 2.0 * 8 * CHAINS * (double)rounds;
}
