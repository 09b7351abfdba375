/* --method auto: the method whose steps cost least at the tolerance asked for.
 *
 * Every candidate makes a short trial from the start; its steps, evaluations and coefficients
 * are counted and multiplied with the operations of the equations and the prices of auto.c.
 * Nothing depends on a clock or on the engine: the same input gives the same choice, and the
 * run that follows is that of the chosen method to the bit. */
#ifndef NS_ODE_AUTO_H
#define NS_ODE_AUTO_H

#include "ode/method.h"

#define NS_METHOD_AUTO "auto"

enum { NS_AUTO_MOST = 4 };

typedef struct ns_trial {
    const ns_method *method;
    double
        price; /* nanoseconds for a unit of time, by counts; INFINITY: it failed, or was given
                * up */
} ns_trial;

typedef struct ns_choice {
    const ns_method *method; /* never NULL: the default if no trial came to an end */
    ns_trial trial[NS_AUTO_MOST];
    uint32_t n;
    bool stiff;        /* `gauss` had to iterate by Newton's method */
    double from, span; /* of time that the trials are judged on */
    double total;      /* counted cost of the whole first trial */
    char why[200];     /* one line */
} ns_choice;

extern const char ns_auto_doc[]; /* for `noslip help auto` */

bool ns_auto_asked(const ns_run_options *options);
/* NULL, or why there is no choice for such a run. */
const char *ns_auto_refusal(const ns_run_options *options);

/* problem: as for methods without Jacobian.  options->method is not looked at. */
void ns_auto_choose(const ns_problem *problem, const ns_run_options *options, const double *p,
                    const double *x0, ns_choice *choice);
/* If the problem has turned out stiff: tries `bdf` as well, on a problem with Jacobian. */
void ns_auto_choose_stiff(const ns_problem *problem, const ns_run_options *options,
                          const double *p, const double *x0, ns_choice *choice);

/* Nanoseconds, about, that steps with these counts take. */
double ns_auto_cost(const ns_problem *problem, const ns_method *method, double tolerance,
                    const ns_outcome *counts);

#endif
