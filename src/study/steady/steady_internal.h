/* Shared by equilibria.c and branch.c. */
#ifndef NS_STUDY_STEADY_STEADY_INTERNAL_H
#define NS_STUDY_STEADY_STEADY_INTERNAL_H

#include "study/steady/equilibria.h"

struct ns_steady {
    ns_arena *arena;
    ns_flow *field;
    ns_steady_spec spec;
    ns_generators *g;
    uint32_t n, m, h, N;            /* states, constraint rows, held values, unknowns n + g */
    uint32_t rows;                  /* n + m + h */
    double *f, *J, *C, *G, *xi, *H; /* values at the last look: H is h values, then h*n */
    double *p, *p_set;              /* parameters; those given from outside */
    bool *is_set;
    double scale;                  /* of the parameter: high - low */
    ns_flow_program *held;         /* values and gradients of what is held */
    ns_flow_program *by_parameter; /* d(f, C, held)/d parameter */
    double *by;                    /* its values */
    /* d/d parameter of start values, and of all equations of the start */
    const ns_ex *start_value, *start_residual;
    double *start, *start_rate; /* [n] the model's start at the parameter, and its derivative */
    ns_diag *diag;              /* collects complaints about starts */
};

/* The same search along another parameter, which has the value it has. */
ns_steady *ns_steady_along(const ns_steady *q, uint32_t over);
/* motion_by.c: derivatives by the parameters spec.by. */
const ns_steady_rates *ns_steady_derive(ns_steady *q, const ns_steady_point *p);
/* Sets the parameter of the branch. */
void ns_steady_parameter(ns_steady *q, double value);
/* Residuals r[rows] and Jacobian D[rows][N] by (x/sigma, c) at a state. */
void ns_steady_look(ns_steady *q, const double *x, const double *c, double *r, double *D);
/* Largest residual of the first n rows over the size of their terms. */
double ns_steady_quality(const ns_steady *q, const double *c, const double *r);

#endif
