/* Integration methods: one const descriptor each. */
#ifndef NS_ODE_METHOD_H
#define NS_ODE_METHOD_H

#include "ode/run.h"

typedef struct ns_stepper ns_stepper; /* what a method sees of a run: ode/stepper.h */

typedef struct ns_method {
    const char *name;
    const char *summary; /* one line */
    const char *doc;     /* for `noslip help NAME`: what it is, source, when to use, options */
    int order;           /* of fixed-order methods; 0 if variable */
    bool needs_jacobian;
    double default_tolerance, least_tolerance;
    size_t (*memory)(const ns_problem *problem); /* doubles of its block */
    ns_status (*begin)(ns_stepper *s);
    ns_status (*step)(ns_stepper *s);                      /* one accepted step */
    void (*state_at)(ns_stepper *s, double t, double *x);  /* inside the last step */
} ns_method;

extern const ns_method *const ns_methods[]; /* ends with NULL; the first is the default */
const ns_method *ns_method_find(const char *name);

#endif
