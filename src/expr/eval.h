/* Direct evaluation of expressions: for constants, checks and tests while a system is built.
 * Integration uses the programs of eval/. */
#ifndef NS_EXPR_EVAL_H
#define NS_EXPR_EVAL_H

#include "expr/graph.h"

/* out[i] = value of f_i with symbol x_j = value[j]; other symbols are nan. */
void ns_eval(const ns_graph *g, const ns_ex *f, size_t nf, const ns_ex *x, const double *value,
             size_t nx, double *out);

/* Value of an expression without variables; nan if it has any. */
double ns_eval_constant(const ns_graph *g, ns_ex f);

/* Does f vanish identically?  Decided by its values at random points with all symbols free,
 * in relation to the size of `scale` there (0: of 1).  Points where f is undefined do not
 * count; if all are, the answer is false. */
bool ns_eval_vanishes(const ns_graph *g, ns_ex f, ns_ex scale);

/* a^n by squaring, n >= 0. */
double ns_eval_power(double a, int32_t n);

/* The generator behind it, for others that need repeatable random numbers in (0, 1). */
double ns_eval_random(uint64_t *state);

#endif
