/*
 * Problem P3: Udwadia and Mogharabin's (2021) uniform sphere in the paper's own form
 * (hand_rhs_paper.inc). In a file of its own because its matrix loops want gcc's straight-line
 * vectoriser, which the other problems do not.
 */
#ifndef BENCH_HAND_PAPER_H
#define BENCH_HAND_PAPER_H

#include "rivals/hand_dop853.h"

extern const double hand_paper_y0[20];

void hand_paper_rhs(const double *restrict y, double *restrict f);
int hand_paper_dop853(double t_end, double tol, double *restrict y, hand_stats *stats);

#endif
