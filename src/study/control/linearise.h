/* Linearisation of a system with inputs, about a steady motion or along any motion.
 *
 * Deviations are measured in values z(t, x) of the model: states, or quantities that people
 * look at (lean, steer and their rates).  Along a motion the deviation v of the state is
 * tangent to the manifold of the constraints, and
 *
 *     dz = Z v,           Z = grad z,
 *     dz' = W v + B du,   W = grad z',    z' = dz/dt + Z f,    B = dz'/du,
 *     dy = Y v + D du,    Y = grad y,     D = dy/du,
 *
 * all exact, on the graph.  The values z are enough if they tell all that matters for their own
 * rates: W = A Z and Y = C Z on the tangent space.  Then
 *
 *     dz' = A dz + B du,     dy = C dz + D du,
 *
 * and symmetries, cyclic coordinates and dependent states need no further thought: what does
 * not act on z falls out.  If the values are not enough a message names a state that is
 * missing. */
#ifndef NS_STUDY_CONTROL_LINEARISE_H
#define NS_STUDY_CONTROL_LINEARISE_H

#include "study/steady/linear.h"

/* A value with its name: an expression of time, states and parameters. */
typedef struct ns_linear_value {
    const char *name, *unit;
    ns_ex value;
} ns_linear_value;

typedef struct ns_linearise_spec {
    const ns_linear_value *states; /* [n]; n = 0: states of the system are chosen */
    uint32_t n;
    const ns_linear_value *outputs; /* [k]; k = 0: the states themselves */
    uint32_t k;
    const uint32_t *inputs; /* [m] parameters */
    uint32_t m;
} ns_linearise_spec;

typedef struct ns_linearise ns_linearise;

/* x: where states are chosen if none are named.  NULL with a message if it cannot be done. */
ns_linearise *ns_linearise_new(ns_arena *arena, ns_flow *field, const ns_linearise_spec *spec,
                               const double *x, const char **message);

typedef struct ns_linear_model {
    uint32_t n, m, k; /* states, inputs, outputs */
    const ns_linear_value *state, *output;
    const char *const *input;
    double t;
    double *z, *rate, *y;  /* [n], [n], [k]: the motion itself */
    double *second;        /* [n] z'': zero along a steady motion that the values are fit for */
    double *A, *B, *C, *D; /* [n][n], [n][m], [k][n], [k][m] */
    ns_eigenvalue *mode;   /* [n] of A */
    uint32_t controllable; /* dimension of what the inputs reach: span B, AB, AAB, ... */
    uint32_t observable;   /* n less the dimension of what the outputs never show */
} ns_linear_model;

/* At the state x and the time field->t; NULL with a message if the values are not enough. */
ns_linear_model *ns_linearise_at(ns_linearise *q, ns_arena *arena, const double *x,
                                 const char **message);

/* The feedback u = -K z that minimises the integral of z^T Q z + u^T R u (Q, R: diagonals).
 *
 * K = R^-1 B^T P, with the stabilising solution P of  A^T P + P A - P B R^-1 B^T P + Q = 0:
 * from the sign of the Hamiltonian matrix (Roberts 1971, scaled as by Byers 1987), improved by
 * Newton's method (Kleinman 1968). */
typedef struct ns_lqr {
    double *K, *P;       /* [m][n], [n][n] */
    ns_eigenvalue *mode; /* [n] of A - B K */
    double residual;     /* of the equation, over the size of its terms */
} ns_lqr;

/* NULL with a message if no feedback makes the motion stable, or the cost does not see a mode
 * on the imaginary axis. */
ns_lqr *ns_lqr_solve(ns_arena *arena, const ns_linear_model *l, const double *Q,
                     const double *R, const char **message);

#endif
