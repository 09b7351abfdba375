/* Motions that are periodic up to a symmetry: phi_T(x) = h x, with h an element of the group
 * that the symmetries found by study/invariants/generators.h generate.  Then x(t + k T) = h^k
 * x(t) for all times: the whole motion is one period and powers of h.
 *
 * What the group does not change is seen by its invariants of degree one and two in the states:
 * of y = x^T Q x + l x with
 *
 *     A_k^T Q + Q A_k = 0,    2 Q b_k + A_k^T l = 0,    l b_k = 0    for all k.
 *
 * When they return, h is looked for among the elements of the group; that it exists is verified
 * on all states. */
#ifndef NS_STUDY_ORBITS_RELATIVE_H
#define NS_STUDY_ORBITS_RELATIVE_H

#include "ode/run.h"
#include "session/record.h"
#include "study/invariants/affine.h"

typedef struct ns_relative {
    bool found;
    const char *message; /* why not */
    double period;
    double residual;       /* largest |phi_T(x) - h x| in units of the states' sizes */
    double second;         /* the same for twelve pairs of times in a first and second period */
    double best, mismatch; /* of the nearest return if none was found */
    uint32_t invariants;   /* how many watched */
    ns_affine *h;
    const ns_generators *g;
} ns_relative;

/* The motion from x, watched until options->until. */
ns_relative *ns_relative_find(ns_arena *arena, ns_flow *flow, const ns_generators *g,
                              const ns_run_options *options, const double *x);

/* x(t): where a time lies in the period, t = t0 + k T + rest; how large the difference from the
 * true state may be after this many periods, in units of the states' sizes. */
uint64_t ns_relative_periods(const ns_relative *r, double t0, double t, double *rest);
double ns_relative_error(const ns_relative *r, uint64_t periods);

/* record_periodic.c: a record of the motion from one period and powers of its shift, if it is
 * periodic. */
extern const ns_record_route ns_relative_route;

#endif
