/* The vector field of a system with everything a study asks of it at one state: the field, its
 * exact Jacobian, the manifold it lives on, and derivatives by a parameter.
 *
 * A field belongs to one thread.  Arrays that are passed in are the caller's. */
#ifndef NS_STUDY_FLOW_H
#define NS_STUDY_FLOW_H

#include <stdbool.h>

#include "ode/problem.h"

/* Quadruple precision where the compiler has it, double elsewhere. */
#if NS_HAVE_QUAD
typedef ns_quad ns_fine;
#else
typedef double ns_fine;
#endif

typedef struct ns_flow_program {
    const ns_program *program;
    double *work;
    uint32_t outputs;
    ns_fine *fine; /* work block of that precision; NULL until needed */
} ns_flow_program;

typedef struct ns_flow {
    const ns_problem *problem;
    const ns_system *system;
    ns_arena *arena;   /* as long as the field */
    ns_arena *scratch; /* between mark and release */
    uint32_t n, m, np; /* states, constraint rows (may be dependent), parameters */
    double t;
    double *p;
    double *sigma; /* [n] what counts as the size of a state */
    ns_flow_program rhs, jacobian, manifold;
    NS_LIST(ns_flow_program *) more; /* bound again with the parameters */
    double *residual;                /* outputs of manifold */
} ns_flow;

/* The problem must have its Jacobian.  Sizes of the states are taken at x and of the field
 * there. */
ns_flow *ns_flow_new(ns_arena *arena, const ns_problem *problem, double t, const double *p,
                     const double *x);
void ns_flow_bind(ns_flow *field, const double *p);

/* A program of further expressions of states, time and parameters (extra inputs after the
 * states: symbols `more`). */
ns_flow_program *ns_flow_program_new(ns_flow *field, const ns_ex *out, uint32_t n_out,
                                     const ns_ex *more, uint32_t n_more);
void ns_flow_eval(const ns_flow *field, const ns_flow_program *program, const double *x,
                  double *out);

/* The same with the digits of ns_fine. */
void ns_flow_eval_fine(ns_flow *field, ns_flow_program *program, const ns_fine *x,
                       ns_fine *out);

void ns_flow_rhs(const ns_flow *field, const double *x, double *f);
void ns_flow_jacobian(const ns_flow *field, const double *x, double *J); /* [n][n] by rows */
/* Residuals C[m] and their Jacobian G[m][n]. */
void ns_flow_manifold(ns_flow *field, const double *x, double *C, double *G);

/* D[rows][n] are derivatives of r[rows] by the states: brings them to units of the sizes.
 * Returns the largest residual over the size of its row, where that of a row of zeros is
 * `bare`; infinite if one is not a number. */
double ns_flow_scale_rows(const ns_flow *field, uint32_t rows, const double *r, double *D,
                          double bare);

/* Orthonormal basis of the tangent space of the manifold, as rows of N[n][n]; its dimension. */
uint32_t ns_flow_tangent(ns_flow *field, const double *x, double *N);
/* JN[n][r] = J N^T for a basis N[r][n] of the tangent space, in quadruple precision where the
 * machine has it, at the nearest point of the manifold and with N made tangent to the last
 * digit: off the manifold the field of a system with dependent constraints changes a million
 * times faster than on it, and takes these digits from a product in double. */
void ns_flow_along_tangent(ns_flow *field, const double *x, uint32_t r, const double *N,
                           double *JN);
/* The same for further programs: the first outputs [rows][n] are derivatives by the states, out
 * [rows][r] takes them along the rows of N; what comes after goes to rest as it is. */
void ns_flow_program_along(ns_flow *field, ns_flow_program *program, uint32_t rows,
                           const double *x, uint32_t r, const double *N, double *out,
                           double *rest);
#if NS_HAVE_QUAD
/* The same point y[n] with the digits that put it on the manifold in quadruple precision. */
void ns_flow_fine_point(ns_flow *field, const double *x, ns_quad *y);
#endif
/* The nearest point of the manifold, in units of the sizes; false if there is none near. */
bool ns_flow_project(ns_flow *field, double *x);

/* The observables at n states x[n][states] and times t[n] (NULL: the field's own), in columns:
 * out[i*stride + k] is observable i at state k. */
void ns_flow_observe(const ns_flow *field, const double *t, const double *x, size_t n,
                     double *out, size_t stride);

/* dp[i]: derivative of each parameter by the parameter `over`, through those that depend on it,
 * as expressions of parameters. */
void ns_flow_param_direction(ns_flow *field, uint32_t over, ns_ex *dp);

/* Does time enter the equations by itself? */
bool ns_flow_autonomous(ns_flow *field);

/* ---- small dense matrices, by rows ------------------------------------------------------- */

/* C[m][n] = A[m][k] B[k][n] */
void ns_flow_multiply(uint32_t m, uint32_t k, uint32_t n, const double *A, const double *B,
                      double *C);
/* C[m][n] = A[m][k] B[n][k]^T */
void ns_flow_multiply_t(uint32_t m, uint32_t k, uint32_t n, const double *A, const double *B,
                        double *C);
/* Orthonormal basis, as rows of out[n - r][n], of what is orthogonal to the rows of A[m][n]; r
 * is their rank at relative tolerance `tol`.  Returns n - r. */
uint32_t ns_flow_complement(ns_arena *scratch, uint32_t m, uint32_t n, const double *A,
                            double tol, double *out);

#endif
