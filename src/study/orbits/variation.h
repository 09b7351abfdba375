/* Variational equations: a system together with k deviations,
 *
 *     x' = f(x),    v_j' = Df(x) v_j,    j = 1..k,
 *
 * exact on the graph and integrated as one system by any method; with k = 0 the system itself.
 * Surfaces given as expressions become its events. */
#ifndef NS_STUDY_ORBITS_VARIATION_H
#define NS_STUDY_ORBITS_VARIATION_H

#include "ode/run.h"
#include "study/flow.h"

typedef struct ns_variation {
    ns_flow *flow;
    const ns_problem *problem; /* of the extended system */
    uint32_t n, k;             /* states, deviations */
    double *y;                 /* [n + k n] work: x, then the deviations one after another */
    double last_step;          /* of the last run: where the next one begins */
} ns_variation;

typedef struct ns_surface {
    ns_ex value;
    int direction; /* +1 rising, -1 falling, 0 both */
    bool stop;     /* the run ends there */
} ns_surface;

ns_variation *ns_variation_new(ns_flow *flow, uint32_t k, const ns_surface *surfaces,
                               uint32_t n_surfaces);

/* A run of the extended system from x and V[k][n]; free it with ns_run_free.  NULL with
 * status. */
ns_run *ns_variation_begin(ns_variation *v, const ns_run_options *options, const double *x,
                           const double *V, ns_status *status, const char **message);

/* From t0 to t1 with x and V changed in place. */
ns_status ns_variation_advance(ns_variation *v, ns_run_options options, double t0, double t1,
                               double *x, double *V, const char **message);

/* Removes from the deviations what is not tangent to the manifold at x. */
void ns_variation_tangent(ns_variation *v, const double *x, double *V);

#endif
