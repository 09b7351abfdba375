/* A problem: the programs of one system, ready to integrate.  Immutable, shared by threads. */
#ifndef NS_ODE_PROBLEM_H
#define NS_ODE_PROBLEM_H

#include "code/program.h"
#include "mech/system.h"

typedef struct ns_problem {
    const ns_system *system;
    uint32_t n, np;            /* states, parameters */
    const ns_program *rhs;         /* n outputs, with jets */
    const ns_program *jacobian;    /* n*n outputs df_i/dx_j by rows; NULL unless asked for */
    const ns_program *observables; /* in the order of system->observables */
    const ns_program *events;      /* in the order of system->events; with jets */
    const ns_program *residuals;   /* in the order of system->constraints */
    const ns_program *manifold;    /* m residuals to project, then m*n of their Jacobian by rows */
    const ns_program *monitor;     /* energy, kinetic (0 if none), then the invariants */
    uint32_t n_manifold;
} ns_problem;

/* Builds in the system's arena.  `jacobian`: also the Jacobian (methods that need it say so in
 * their descriptor). */
ns_problem *ns_problem_new(const ns_system *system, bool jacobian);

#endif
