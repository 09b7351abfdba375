/* For the files that look for starts: the equations with their numbers. */
#ifndef NS_MECH_COMMON_START_INTERNAL_H
#define NS_MECH_COMMON_START_INTERNAL_H

#include "mech/system.h"

typedef struct ns_start_equations {
    uint32_t m, n;
    double *r, *J;              /* residuals; the entries of their Jacobian */
    const ns_sparse_rows *rows; /* where these stand */
    double *row;                /* [n] see ns_start_jacobian_row */
    double *size;               /* [m] what a residual is compared with */
    ns_ex *residual;            /* [m] */
    const bool *use;            /* [m] which of them count; NULL: all */
    bool even; /* rows of the Jacobian are brought to length one, whatever their units */
} ns_start_equations;

/* Relative size of a residual that counts as met: the user's own numbers may be rounded. */
static const double ns_start_met = 1e-10;

void ns_start_look(const ns_system *s, ns_start_equations *q, double t, const double *p,
                   const double *x);
/* Row k of the Jacobian, whole; until it is asked for another one. */
const double *ns_start_jacobian_row(const ns_start_equations *q, uint32_t k);
/* Largest residual in relation to its size, and which; nan counts as infinite. */
double ns_start_worst(const ns_start_equations *q, uint32_t *which);

/* Has the user guessed anything? */
bool ns_start_guessed(const ns_system *s);

/* From the values and guesses in x to the place where the equations hold and the guesses are
 * met as nearly as they permit; false, with x somewhere, if the equations cannot be met so. */
bool ns_start_nearest(const ns_system *s, ns_start_equations *q, double t, const double *p,
                      double *x);

/* Says which guesses (in `given`) had to change by more than rounding, and for which
 * equations. */
void ns_start_changed(const ns_system *s, ns_diag *diag, ns_start_equations *q, double t,
                      const double *p, const double *given, const double *x);

#endif
