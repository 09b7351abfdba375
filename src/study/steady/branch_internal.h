/* Shared by branch.c and bifurcation.c: places on a branch of steady motions. */
#ifndef NS_STUDY_STEADY_BRANCH_INTERNAL_H
#define NS_STUDY_STEADY_BRANCH_INTERNAL_H

#include "study/steady/steady_internal.h"

typedef struct ns_place {
    double *y;       /* [N + 1] */
    double *tangent; /* [N + 1] */
    double *K;       /* [k][N] kernel: directions of the family */
    ns_linear *linear;
} ns_place;

typedef struct ns_follower {
    ns_steady *q;
    ns_branch *branch;
    ns_linear_shape shape;
    uint32_t k;      /* dimension of the kernel */
    uint32_t rows;   /* of F, of the choice, of the hyperplane */
    double *r, *D;   /* [rows], [rows][N + 1] */
    double *x, *c;   /* work */
    double *r0, *D0; /* of F alone */
    ns_arena *temporary;
    const ns_flow_program *second; /* D^2 (f, C) along directions */
} ns_follower;

double ns_branch_parameter(const ns_follower *w, const double *y);
void ns_branch_unpack(ns_follower *w, const double *y);
bool ns_branch_look(ns_follower *w, const double *y, const double *K);
bool ns_branch_settle(ns_follower *w, ns_place *p, const double *normal,
                      const double *predicted, const double *K, int *rounds);
void ns_branch_tangent(ns_follower *w, const double *along, double *t);
ns_place ns_branch_place(const ns_follower *w, ns_arena *a);
void ns_branch_linearise(ns_follower *w, ns_place *p, ns_arena *a);
ns_steady_point ns_branch_record(ns_follower *w, ns_place *p);
/* A special point that was located at p, to the last digits; false, and p as it was, if that
 * fails. */
bool ns_refine_fold(ns_follower *w, ns_place *p);
bool ns_refine_branch_point(ns_follower *w, ns_place *p);
bool ns_refine_double_zero(ns_follower *w, ns_place *p);
/* by[spec.n_by]: derivatives of the parameter there, if they can be had; may be NULL */
bool ns_refine_pair(ns_follower *w, ns_place *p, double im, double *by);
void ns_bifurcation_watch(ns_follower *w, ns_place *a, ns_place *b);

#endif
