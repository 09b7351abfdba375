/* Frequencies of quasi-periodic motions (Laskar 1990, 1999): a signal
 *
 *     s(t) = sum_j A_j exp(i nu_j t) + v t + c
 *
 * known at equally spaced times, is taken apart into its strongest lines; lines of all signals
 * of a motion are integer combinations of a few frequencies, as many as the torus that the
 * motion fills has dimensions.  See frequency.c. */
#ifndef NS_STUDY_ORBITS_FREQUENCY_H
#define NS_STUDY_ORBITS_FREQUENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { NS_FREQUENCY_BASIS = 4, NS_FREQUENCY_SIGNALS = 8 };

typedef struct ns_frequency_line {
    double nu;     /* radians per unit of time, of either sign */
    double re, im; /* amplitude of the signal (of its rate for nu = 0: v) at t = 0 */
    bool known;    /* nu = sum_b k_b omega_b */
    int32_t k[NS_FREQUENCY_BASIS];
} ns_frequency_line;

/* One signal: its rate s'(t) at n times, dt apart, beginning with t = 0. */
typedef struct ns_frequency_signal {
    const double *re, *im; /* [n]; im NULL for a real signal */
    /* filled: */
    uint32_t lines; /* strongest first; of a real signal those with nu > 0 */
    ns_frequency_line *line;
    double drift[2]; /* v: the mean rate */
    double rest;     /* what the lines leave of the rate: root of the weighted mean square over
                      * that of the rate */
} ns_frequency_signal;

typedef struct ns_frequencies {
    uint32_t n;                       /* basis: how many, 0 if the signals are at rest */
    double omega[NS_FREQUENCY_BASIS]; /* the first from the first signal, positive; others
                                       * between -omega/2 and omega/2 of it */
    uint32_t unknown;                 /* lines that are not combinations of them */
    double bin;                       /* 2 pi over the length of the signal */
} ns_frequencies;

/* Takes signals apart, into at most `most` lines each; n a power of two, at least 64. */
ns_frequencies ns_frequency_analyse(ns_arena *arena, ns_frequency_signal *signal,
                                    uint32_t signals, uint32_t n, double dt, uint32_t most);

#endif
