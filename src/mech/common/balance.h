/* What a step of discrete mechanics is made of (ode/methods/discrete.c): the equations before
 * they are solved for accelerations, on states x = (q, v), coordinates first:
 *
 *     q' = U(t, q, v),      P(t, q, v)' = G(t, q, v) + A(t, q)^T lambda,
 *     phi_k(t, q) = 0  or  psi_k(t, q, v) = 0                                              */
#ifndef NS_MECH_COMMON_BALANCE_H
#define NS_MECH_COMMON_BALANCE_H

#include "expr/graph.h"

typedef struct ns_balance {
    uint32_t nq, nv, m;     /* coordinates, velocities, constraints */
    const ns_ex *U, *P, *G; /* [nq], [nv], [nv] */
    const ns_ex *A, *psi;   /* [m][nv], [m] at velocity level */
    const ns_ex *phi;       /* [m] at position level; 0: psi is not the derivative of one */
} ns_balance;

#endif
