/*
 * DOP853 by hand: what the instances of the template hand_dop853.inc have in common.
 */
#ifndef BENCH_HAND_DOP853_H
#define BENCH_HAND_DOP853_H

/* What a run cost, in things that can be counted. */
typedef struct hand_stats {
    long steps;       /* accepted */
    long rejected;    /* tried and thrown away */
    long evaluations; /* of the right-hand side */
} hand_stats;

#endif
