/* Periodic motions of a system reduced by its symmetry (Bloch, Marsden and Zenkov 2009, section
 * 6.3).
 *
 * The reduced state y = (r, r', p) of a motion may be periodic, y(t + T) = y(t); then the group
 * coordinates move by one and the same element in every period,
 *
 *     g(t + T) = h g(t).
 *
 * T is the first return of y to the plane through y(0) across y'(0), if y comes back to the
 * same point there. */
#ifndef NS_STUDY_ORBITS_PERIOD_H
#define NS_STUDY_ORBITS_PERIOD_H

#include "mech/reduced/symmetry.h"
#include "ode/run.h"

/* What one factor of the group does in a period. */
typedef struct ns_shift {
    const ns_group_factor *factor;
    double turn[9];   /* the rotation: SE(2) its angle in [0], SO(3) and SE(3) by rows */
    double move[8];   /* translation after it: x -> turn x + move; R(n): the differences */
    double centre[2]; /* SE(2): the fixed point, nan if it does not turn */
    bool known;       /* false for groups given by fields that are not constant */
} ns_shift;

typedef struct ns_period {
    bool found;
    double period;   /* T; nan if the motion did not come back */
    double mismatch; /* |y(T) - y(0)| relative to the size of the orbit; of the best return */
    double best;     /* time of the best return */
    uint32_t n;      /* reduced state: names, start, smallest and largest value */
    const char **name;
    double *start, *low, *high;
    uint32_t factors;
    ns_shift *shift;
    double shift_error; /* largest |g(t + T) - h g(t)| over a second period */
    /* relative equilibrium nearest to the start: y with r' = 0 and y' = 0 */
    bool equilibrium;
    double *at;      /* [sigma + m] r, p */
    uint32_t family; /* dimension of the family it belongs to */
    bool *free;      /* [sigma + m] which r, p are free in it, to first order */
    double residual; /* of its equations, relative */
} ns_period;

/* Looks for a return up to the time `until`.  NULL with *message if no run could be made. */
const ns_period *ns_period_find(const ns_system *s, double until, const ns_run_options *run,
                                const double *p, const double *x0, const char **message);

#endif
