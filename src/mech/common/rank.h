/* Ranks of constrained systems with numbers: of the constraint rows A, and of [M; A], which
 * decides whether accelerations are unique (Udwadia and Mogharabin 2021, (43)).  Used at the
 * start, by `check`, and by runs at every step. */
#ifndef NS_MECH_COMMON_RANK_H
#define NS_MECH_COMMON_RANK_H

#include "mech/system.h"

typedef struct ns_ranks {
    uint32_t A, all;           /* of A; of [M; A] */
    double least_A, least_all; /* shortest row taken, before it was brought to length one */
} ns_ranks;

/* Room in doubles for the matrix [A; M] and what counting needs. */
size_t ns_rank_work(uint32_t n, uint32_t m);

/* For systems where orthogonalising dense rows would cost too much: prepares sparse factors. */
void ns_rank_prepare(ns_system *s, ns_rank_watch *watch);
/* Fill and count, one way or the other; share[n] as below. */
size_t ns_rank_room(const ns_rank_watch *watch);
ns_ranks ns_rank_of(const ns_rank_watch *watch, const double *values, uint32_t most,
                    double *work, double *share);

/* Puts the values of the watch's entries (in their order) into `work`, ready to count. */
void ns_rank_fill(const ns_rank_watch *watch, const double *values, double *work);

extern const double ns_rank_small;

/* Names of the coordinates with a large share. */
void ns_rank_names(const ns_system *s, const double *share, char *text, size_t size);

/* The constraints that follow from others, row by row in the model's order. */
typedef struct ns_dependence {
    uint32_t row;
    uint32_t *from; /* rows it is a combination of */
    double *share;  /* with these coefficients */
    uint32_t count;
} ns_dependence;
typedef NS_LIST(ns_dependence) ns_dependences;
ns_dependences ns_rank_dependences(ns_arena *arena, uint32_t n, uint32_t m, const double *A);

#endif
