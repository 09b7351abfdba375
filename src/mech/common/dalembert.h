/* Lagrange-d'Alembert by exact differentiation, shared by the formulations that start from
 * coordinates, a Lagrangian, forces and constraints: mass matrix, forces, constraint rows.
 *
 *     M a = Q + A^T lambda,   A a = b            (Bloch, Marsden and Zenkov 2009 (3.1), Udwadia
 *                                                and Mogharabin 2021 (20), (38))
 *
 * with M = d2L/dv2,  Q = dL/dq + F - (d2L/dv dq) v - d2L/dv dt,  and for every constraint,
 * brought to velocity level as psi(t, q, v) = 0,  A = d psi/dv,  b = -(d psi/dq) v - d
 * psi/dt. */
#ifndef NS_MECH_COMMON_DALEMBERT_H
#define NS_MECH_COMMON_DALEMBERT_H

#include "expr/tree.h"
#include "mech/common/reactions.h"
#include "mech/system.h"

typedef struct ns_dalembert {
    /* given */
    ns_description *d;
    ns_system *s;
    uint32_t n, m;      /* coordinates, constraint rows */
    const ns_ex *q, *v; /* [n] */
    ns_ex lagrangian;
    ns_span lagrangian_span;
    const ns_force_line *forces;
    uint32_t n_forces;
    const ns_constraint_line *constraints; /* [m] */
    bool affine;                           /* constraints must be affine in the velocities */
    bool shorten; /* M by normal forms and Q from it, where that is less work */
    bool sparse;  /* M and A as lists of what is not zero: many bodies */
    /* reactions that forces may contain, as symbols; those that they do contain */
    const ns_ex *reaction;
    uint32_t n_reactions;
    uint32_t used[NS_REACTIONS_MOST], n_used;
    /* derived */
    ns_ex *momentum;       /* [n] dL/dv */
    ns_ex *M, *Q;          /* n x n by rows, NULL if there is a tree or a list; n */
    ns_sparse_rows masses; /* M, if `sparse` */
    ns_tree *tree;         /* in place of M where that is less work: large systems, `shorten` */
    ns_ex *given;          /* [n] Q as given, with reactions as symbols; NULL if it has none */
    ns_ex *A, *b;          /* m x n by rows, NULL if there is a list; m */
    ns_sparse_rows rows;   /* A, if `sparse` */
    ns_sparse_rows columns; /* its transpose */
    ns_ex *psi;             /* [m] constraints at velocity level */
    ns_ex *rest;            /* [m] their terms without velocities, if they are affine */
    uint32_t holonomic;
    /* [m] index among the system's constraints of the row on positions (none: UINT32_MAX) and
     * on velocities */
    uint32_t *at_position, *at_velocity;
    const struct ns_grips *grips; /* mech/grip.h: contacts with friction; or NULL */
    bool conservative;            /* nothing seen that changes the energy */
} ns_dalembert;

/* For a description: its coordinates, nothing else. */
ns_dalembert ns_dalembert_new(ns_description *d, ns_system *s);

/* Derives; adds the constraints (position and velocity level) to the system's manifold and sets
 * its energy and kinetic energy.  False after errors. */
bool ns_dalembert_derive(ns_dalembert *w);

/* Solves for the reactions in forces, whose equations give y[n_reactions] (all of them) in
 * terms of each other, and puts them into a, lambda and Q.  Their symbols have values from then
 * on. */
void ns_dalembert_settle(ns_dalembert *w, const ns_ex *y, ns_ex *a, ns_ex *lambda);

/* An entry of such a list, or zero. */
ns_ex ns_dalembert_entry(const ns_dalembert *w, const ns_sparse_rows *list, uint32_t row,
                         uint32_t column);

/* The whole matrix, n columns. */
ns_ex *ns_dalembert_dense(const ns_dalembert *w, const ns_sparse_rows *list);

/* Lines for `noslip equations`. */
void ns_dalembert_note(const ns_dalembert *w);

#endif
