/* The motion of a plan as a function of the knots of its inputs, with two derivatives. */
#ifndef NS_STUDY_CONTROL_STEER_PATH_H
#define NS_STUDY_CONTROL_STEER_PATH_H

#include "study/control/steer.h"

enum { NS_PATH_NODES = 8 };

typedef struct ns_path {
    const ns_steer_spec *spec;
    ns_flow *flow;
    ns_arena *arena, *scratch;
    uint32_t n, m, values, size; /* states, inputs, knots of each, unknowns m * values */
    uint32_t steps, nodes;       /* nodes: of all steps */
    uint32_t goals, keeps;
    double h;
    double *weight; /* [nodes][values] of the knots in the inputs */
    const double *x0;
    ns_flow_program *first, *second, *end, *end_second;
    /* at the last solution */
    double *X, *x;   /* [nodes][n], [steps + 1][n] */
    double *at;      /* [nodes][outputs of first] f, df, l, dl, c, dc */
    double *S, *x_w; /* [nodes][n][size], [n][size] of the end */
    double cost;
    double *g, *c;              /* [goals] off by; [nodes][keeps] */
    double *cost_w, *g_w, *c_w; /* [size], [goals][size], [nodes * keeps][size] */
    bool warm;                  /* X is a first guess */
} ns_path;

/* NULL with a message if the system cannot be planned for. */
ns_path *ns_path_new(ns_arena *arena, ns_flow *flow, const ns_steer_spec *spec,
                     const double *x0, const char **message);
/* How many doubles the derivatives take with this many steps. */
double ns_path_room(const ns_path *p, uint32_t steps);
/* Knots and steps; steps is a multiple of the pieces. */
void ns_path_grid(ns_path *p, uint32_t steps);

/* States, cost, g and c for the knots w[size]; false if the motion does not get through. */
bool ns_path_solve(ns_path *p, const double *w);
/* Their derivatives, where it was solved last. */
bool ns_path_derive(ns_path *p);
/* Hessian H[size][size] of cost + lambda g - zeta c, with zeta[nodes * keeps]; without `curved`
 * that of the cost alone for motions that follow the linearised equations. */
bool ns_path_hessian(ns_path *p, const double *w, const double *lambda, const double *zeta,
                     bool curved, double *H);

#endif
