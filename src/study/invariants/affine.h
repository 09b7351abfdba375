/* Affine maps of states, x -> H x + b: elements of the group that the symmetries of a system
 * generate (study/invariants/generators.h). */
#ifndef NS_STUDY_INVARIANTS_AFFINE_H
#define NS_STUDY_INVARIANTS_AFFINE_H

#include "study/invariants/generators.h"

typedef struct ns_affine {
    uint32_t n;
    double *H; /* [n][n] by rows */
    double *b; /* [n] */
} ns_affine;

ns_affine *ns_affine_new(ns_arena *arena, uint32_t n); /* the identity */
void ns_affine_set(ns_affine *to, const ns_affine *from);
void ns_affine_apply(const ns_affine *h, const double *x, double *y);  /* y = H x + b */
void ns_affine_direct(const ns_affine *h, const double *v, double *w); /* w = H v */
/* out = first `inner`, then `outer`.  `out` may be one of them. */
void ns_affine_multiply(ns_arena *scratch, const ns_affine *outer, const ns_affine *inner,
                        ns_affine *out);
/* exp of sum_k c_k xi_k */
void ns_affine_exp(ns_arena *scratch, const ns_generators *g, const double *c, ns_affine *out);
/* h applied k times */
void ns_affine_power(ns_arena *scratch, const ns_affine *h, uint64_t k, ns_affine *out);

/* The element h of the group and the short time dt for which h x comes nearest to y + f(y) dt,
 * in units of the sizes of the states; the largest difference that remains.  h is where the
 * search begins; if that leads nowhere, elements all over the group are tried.  dt NULL:
 * none. */
double ns_affine_match(ns_flow *flow, const ns_generators *g, const double *x, const double *y,
                       ns_affine *h, double *dt);

/* What h does, in words, one line each: "x + 0.3", "(x, y): turn 0.4 rad about (1, 2)". */
typedef NS_LIST(const char *) ns_affine_lines;
ns_affine_lines ns_affine_words(ns_arena *arena, const ns_flow *flow, const ns_affine *h);

/* A pair of states that h turns and moves in a plane: angle in (-pi, pi], move, and the fixed
 * point, nan if it does not turn. */
typedef struct ns_affine_plane {
    uint32_t i, j; /* the states */
    double angle, move[2], centre[2];
} ns_affine_plane;
/* The plane that moves farthest, a path on the ground; false if there is none. */
bool ns_affine_path(const ns_flow *flow, const ns_affine *h, ns_affine_plane *out);

#endif
