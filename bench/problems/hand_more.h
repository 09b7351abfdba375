/*
 * More problems in double precision: ellipsoid in a bowl, falling disk, chain, bicycle
 * (hand_rhs_more.inc, hand_rhs_bodies.inc).
 */
#ifndef BENCH_HAND_MORE_H
#define BENCH_HAND_MORE_H

#include "problems/hand_problems.h"

extern const hand_problem hand_more_problems[];
extern const int hand_more_count;

/* The chain's lengths for which there is an instance of DOP853 by hand; 0 ends them. */
extern const int hand_chain_lengths[];

/* Start of a chain of n links in y[2n], and DOP853 on it; -1 also for other lengths. */
void hand_chain_start(int n, double *y);
int hand_chain_dop853(int n, double t_end, double tol, double *restrict y, hand_stats *stats);

#endif
