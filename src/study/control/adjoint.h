/* Gradients by the adjoint equations: one number of a motion by many parameters.
 *
 * Of J = h(x(T), p) + integral of g(t, x, p) over the motion x' = f(t, x, p), x(t0) = x0(p),
 *
 *     l' = -f_x^T l - g_x,  l(T) = h_x;     dJ/dp = h_p + l(t0)^T dx0/dp
 *                                                   + integral of l^T f_p + g_p,
 *
 * integrated backwards over the steps of the motion, by collocation on the same Gauss nodes:
 * for methods of this kind the adjoint of the discrete motion is the discrete motion of the
 * adjoint (J. M. Sanz-Serna, SIAM Review 58, 2016).  The cost does not grow with the number of
 * parameters. */
#ifndef NS_STUDY_CONTROL_ADJOINT_H
#define NS_STUDY_CONTROL_ADJOINT_H

#include "session/model.h"

typedef struct ns_adjoint_spec {
    ns_ex end, integral; /* h and g; 0: none */
    /* [n] parameters, or states at the start, as for sensitivities; `start`: all of those */
    const char *const *names;
    uint32_t n;
    double until;
    const ns_system *system; /* whose graph h and g are on */
} ns_adjoint_spec;

typedef struct ns_adjoint {
    ns_status status;
    const char *message; /* if it is not NS_OK */
    double value;        /* J */
    const char **names;  /* [n] of what is varied, each on its own */
    uint32_t n;
    double *gradient; /* [n] */
    double *start;    /* [states] l(t0): dJ/dx0 */
    uint64_t steps;
} ns_adjoint;

/* Everything in the arena.  The model is one that the caller alone uses. */
ns_adjoint *ns_adjoint_find(ns_arena *arena, ns_model *model, const ns_adjoint_spec *spec);

#endif
