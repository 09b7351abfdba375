/* Plans: inputs that bring a system from its start to a goal at a given time with least effort.
 *
 *     minimise  integral of l(t, x, u) dt,   x' = f(t, x, u),  x(t0) = x0,
 *     g(x(T)) = goal,   low <= u <= high,   low <= c(t, x, u) <= high
 *
 * The inputs are splines of order 0, 1 or 3 through values w at equidistant knots, so that a
 * run follows them exactly (session/inputs).  Between knots the motion is a collocation
 * polynomial on the eight Gauss nodes of a step, as the method `gauss` has it: X_i = x + h
 * sum_j a_ij f(X_j). Stages and states follow from w; what is left is a problem in w alone,
 * small and dense, with exact first and second derivatives:
 *
 *     S = dX/dw        from the linearised stage equations (one factorisation for each step),
 *     H = sum over nodes [S; du/dw]^T  Hessian of (k f + h b l + v c)  [S; du/dw]
 *         + that of the goal, weighted by the multipliers,
 *
 * k the multipliers of the stages, from the adjoint equations of the same steps.
 *
 * First the goals are brought near by damped steps, whatever the effort.  Then Newton's method
 * on the conditions of Karush, Kuhn and Tucker: in the null space of the goals, where the
 * Hessian is made definite if it is not, each step followed by a return to the goals and
 * shortened until the cost falls; inequalities by a primal-dual interior point method with
 * slacks. */
#ifndef NS_STUDY_CONTROL_STEER_H
#define NS_STUDY_CONTROL_STEER_H

#include "base/status.h"
#include "study/flow.h"

/* A value that must reach a number, or stay between two. */
typedef struct ns_steer_value {
    const char *name;
    ns_ex value; /* of time, states and parameters, the inputs among them */
    double low, high;
} ns_steer_value;

typedef struct ns_steer_spec {
    const uint32_t *inputs; /* [m] parameters */
    uint32_t m;
    const double *low, *high;    /* [m] bounds of the inputs, infinite if there are none */
    const ns_steer_value *goals; /* [n_goals] low = high: what is to be reached */
    const ns_steer_value *keeps; /* [n_keeps] between low and high at all nodes */
    uint32_t n_goals, n_keeps;
    ns_ex cost;         /* rate of the cost; 0: the sum of the squares of the inputs */
    const ns_ex *guess; /* [m] of time, 0: none */
    double t0, until;
    uint32_t pieces;                                  /* between knots */
    uint32_t order;                                   /* of the splines: 0, 1, 3 */
    bool (*progress)(void *context, double fraction); /* false: stop */
    void *context;
} ns_steer_spec;

typedef struct ns_steer {
    ns_status status;
    const char *message; /* in words, if there is no plan */
    uint32_t knots, m, n;
    double *t, *u, *x; /* [knots], [knots][m], [knots][n] */
    double cost;
    double miss;  /* largest distance of a goal, relative to its size */
    double error; /* the same of the motion with steps half as long: what the grid costs */
    double slope; /* what is left of the conditions of optimality */
    uint32_t rounds, guesses, found; /* of Newton's method; tried; that led to the goal */
    uint32_t steps;
    double *multiplier; /* [n_goals] change of the cost with the goal */
} ns_steer;

/* Everything lives in the arena. */
ns_steer *ns_steer_find(ns_arena *arena, ns_flow *flow, const ns_steer_spec *spec,
                        const double *x0);

#endif
