#ifndef BENCH_HAND_PEAK_H
#define BENCH_HAND_PEAK_H

/* Does that many rounds of multiply-adds; returns how many operations they were. */
double hand_peak_work(long rounds, double *result);

#endif
