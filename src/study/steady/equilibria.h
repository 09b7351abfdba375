/* Equilibria and steady motions (relative equilibria), and their branches in a parameter.
 *
 * A steady motion satisfies, with the symmetries xi_k of the model
 * (study/invariants/generators.h),
 *
 *     f(x) - sum_k c_k xi_k(x) = 0,    C(x) = 0
 *
 * for the state x and the speeds c; an equilibrium has f = 0.  Steady motions come in families,
 * along the symmetries and along conserved quantities: of a family the member nearest to a
 * given state is taken.  Newton's method with exact Jacobians, steps of least norm. */
#ifndef NS_STUDY_STEADY_EQUILIBRIA_H
#define NS_STUDY_STEADY_EQUILIBRIA_H

#include "study/steady/linear.h"

/* A value kept fixed: an observable (its index) at a number. */
typedef struct ns_hold {
    uint32_t observable;
    double value;
} ns_hold;

typedef struct ns_steady_spec {
    const ns_hold *hold;
    uint32_t n_hold;
    uint32_t over; /* index of the parameter of a branch, UINT32_MAX: none */
    double low, high;
    const uint32_t *by; /* [n_by] parameters by which special points, or steady motions found
                         * one by one, are differentiated */
    uint32_t n_by;
    bool at_rest;   /* equilibria only: all speeds c are zero */
    bool switching; /* follow the branches that leave at pitchforks and branch points, both
                    * ways */
    /* called now and then with the fraction done; false: stop.  May be NULL. */
    bool (*progress)(void *context, double fraction);
    void *context;
} ns_steady_spec;

typedef struct ns_steady ns_steady;

/* x: a state near which symmetries are looked for.  Where time enters the equations f stands
 * for f - xi_0 (study/invariants/generators.h): steady on a ground that turns uniformly.  NULL
 * if there is no such xi_0. */
ns_steady *ns_steady_new(ns_arena *arena, ns_flow *field, const ns_steady_spec *spec,
                         const double *x);
const ns_generators *ns_steady_generators(const ns_steady *q);

/* Derivatives of a steady motion by the parameters spec.by; nan: there are none. */
typedef struct ns_steady_rates {
    double *state;             /* [n_by][n + generators] */
    double *value;             /* [n_by][observables] */
    ns_eigenvalue *eigenvalue; /* [n_by][linear->n] */
} ns_steady_rates;

typedef struct ns_steady_point {
    double parameter;
    double *x, *c; /* [n], [generators] */
    double
        residual; /* largest |f - xi| in units of the states' sizes, over that of its terms */
    uint32_t rounds;   /* of Newton's method */
    ns_linear *linear; /* at branch points only eigenvalues and counts are kept */
    const struct ns_stability *stability; /* study/steady/stability.h; NULL on branches */
    const ns_steady_rates *rates;         /* with spec.by; NULL on branches */
    double *by; /* [spec.n_by] of a pair on the imaginary axis: derivatives of `parameter` by
                 * other parameters; nan: not known.  Otherwise NULL */
    const char *label; /* of a special point: "fold", "hopf", ...; NULL otherwise */
    const char *note;  /* in words */
    double
        *critical; /* [n + generators] where branches may leave: the direction, in units of the
                          sizes; otherwise NULL */
} ns_steady_point;

/* The steady motion nearest to the state x, at the parameters of the field.  False if Newton's
 * method does not get there; *point then holds where it stopped. */
bool ns_steady_find(ns_steady *q, const double *x, ns_steady_point *point);

/* All steady motions found from n guesses x[n][states], each once, with its linearisation; and
 * where the searches that failed came to an end. */
typedef struct ns_steady_set {
    NS_LIST(ns_steady_point) found, failed;
    NS_LIST(uint32_t) failures; /* guesses, from 0 */
} ns_steady_set;
ns_steady_set ns_steady_find_all(ns_steady *q, uint32_t n, const double *x);

typedef struct ns_branch {
    NS_LIST(ns_steady_point) points;  /* in order along the branch */
    NS_LIST(ns_steady_point) special; /* folds, bifurcations, located */
    const char *end;                  /* why it ends */
    NS_LIST(struct ns_branch *) more; /* that leave at special points, with spec.switching */
    uint32_t from;                    /* of those: the special point */
} ns_branch;

/* The branch through the steady motion nearest to the model's own start, from `low` on, until
 * the parameter leaves [low, high].  At each value of the parameter the member of the family
 * nearest to the start of the model for that value is taken.  NULL with a message if there is
 * none. */
ns_branch *ns_steady_follow(ns_steady *q, const char **message);

#endif
