/* Formulation `hamel`: what its files share. */
#ifndef NS_MECH_HAMEL_HAMEL_H
#define NS_MECH_HAMEL_HAMEL_H

#include "mech/system.h"

typedef struct ns_hamel {
    ns_description *d;
    ns_system *s;
    ns_graph *g;
    uint32_t n, p;    /* coordinates, constraints */
    bool multipliers; /* (3.6) in any frame: no quasivelocity is left out */
    ns_ex *q, *dq;    /* [n] coordinates and their velocities as symbols */
    ns_ex *u;         /* [n][n] field i by rows: u[i*n + k] is its component along q_k */
    ns_ex *A, *b;     /* [p][n] constraint rows, [p] their terms without velocities */
    bool affine;      /* some b is not zero, or time enters rows or frame */
    ns_ex *v;         /* [n] quasivelocities: states; given by the constraints for i >= n-p */
    ns_ex *vs;        /* [n] quasivelocities as symbols, before the constraints */
    ns_ex *rate;      /* [n] q' in terms of q and vs */
    ns_ex *pi;        /* [n] dL/dq', in states once the equations are made */
    ns_ex *momentum;  /* [n] dl/dv */
    ns_ex *force;     /* [n] d/dt dl/dv without the forces of the constraints */
    ns_ex *dv;        /* [states] v' */
    ns_ex *lambda;    /* [p] */
    ns_ex l;          /* L in terms of q and vs */
} ns_hamel;

/* ---- hamel_frame.c ---- */

bool ns_hamel_constraints(ns_hamel *w);
/* The frame given by the model, or one made from the constraints; and the quasivelocities that
 * the constraints give.  False after errors. */
bool ns_hamel_frame(ns_hamel *w, const ns_block *frame);
/* a^s(u_j) */
ns_ex ns_hamel_on_field(const ns_hamel *w, uint32_t s, uint32_t j);
/* With numbers, at the start: the fields are independent, and so are the constraints. */
bool ns_hamel_verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                     const double *x);

/* ---- hamel_note.c ---- */

/* Lines for `noslip equations`: frame, brackets, l, momenta, Hamel's equations, simplified. */
void ns_hamel_note(ns_hamel *w);

/* Component k of [X, Y] = DY X - DX Y. */
ns_ex ns_hamel_bracket(const ns_hamel *w, const ns_ex *X, const ns_ex *Y, uint32_t k);

#endif
