/* Sensitivities: a model together with the derivatives of its motion by parameters and by
 * starting values,
 *
 *     x' = f(t, x; p),    v_j' = (df/dx) v_j + df/dp dp/dq_j,    v_j(t0) = dx0/dq_j,
 *
 * exact on the graph.  The deviations v_j are further states, so that every method, engine,
 * file, page and function of the library has them.  Every value y gets companions `y by q`, the
 * derivative at the same time, and every event E a value `E.t by q`: at an occurrence it is the
 * derivative of the time of that occurrence, -(g_x v + g_q) / (g_t + g_x f).
 *
 * The start belongs to it: states that follow from constraints move with the parameters. */
#ifndef NS_SESSION_SENSITIVITY_H
#define NS_SESSION_SENSITIVITY_H

#include "session/model.h"

typedef struct ns_sensitivity {
    uint32_t n, k;      /* states of the motion itself, columns */
    const char **label; /* [k] what is varied: `a`, `start.omega.z` */
    uint32_t values;    /* observables of the motion itself */
    /* [values], [values * k]: where value i and its derivative by column j stand among the
     * observables */
    const uint32_t *value, *derivative;
    const uint32_t *event; /* [events * k] the same of the derivatives of event times */
    bool loose; /* the start is not determined by what is given: see docs/components.md */
} ns_sensitivity;

/* Changes the model, whose only user the caller is: names are parameters, states (their value
 * at the start; also as start.NAME), or `start` for all states.  `held` are states that were
 * given at the start from outside, whatever the model says of them.  False, with a message in
 * the model's arena, if a name is wrong or the equations have no derivatives. */
bool ns_sensitivity_extend(ns_model *model, const char *const *names, uint32_t n,
                           const char *const *held, uint32_t n_held, const char **message);

/* The start of the model with sensitivities for the numbers of a variant of the model they were
 * asked of: x0[n (k + 1)].  False with a message in the variant's arena. */
bool ns_sensitivity_start(const ns_sensitivity *sensitivity, ns_model *variant, double *x0,
                          const char **message);

/* Do the derivatives at the end of a run still say something about the motion?  Not if a change
 * of what is varied in its last digit changes a state by more than a thousandth of it: the
 * motion itself has no digits left then.  *worst is the column, *since about when that
 * began, if it grew exponentially from the time t0 on.  last: values at the time t. */
bool ns_sensitivity_useless(const ns_model *model, const double *last, double t0, double t,
                            uint32_t *worst, double *since);

/* A model of its own with the numbers of `model` (a variant or not) and sensitivities; names
 * are separated by commas.  NULL if memory ran out; what is wrong is in status and messages. */
ns_model *ns_sensitivity_model(const ns_model *model, const char *names);

#endif
