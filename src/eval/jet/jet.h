/* Jets: Taylor coefficients in time through the tape, by the recurrences of enum ns_taylor. */
#ifndef NS_EVAL_JET_JET_H
#define NS_EVAL_JET_JET_H

#include "eval/tape.h"

typedef struct ns_jet ns_jet;

/* Adds companions to the graph, lowers outputs and companions to a tape of its own. */
ns_jet *ns_jet_build(ns_arena *arena, const ns_program_spec *spec);

/* Sums and products at one order beside the convolutions; their number, squares as halves. */
double ns_jet_weight(const ns_jet *jet, double *products);

size_t ns_jet_work(const ns_jet *jet, uint32_t order);
void ns_jet_bind(const ns_jet *jet, double *work, uint32_t order, const double *p);
/* Coefficient k of state i at x[i*per_state + k*per_order]. */
void ns_jet_solve(const ns_jet *jet, double *work, double t, uint32_t order, double *x,
                  size_t per_state, size_t per_order);
void ns_jet_eval(const ns_jet *jet, double *work, double t, uint32_t order, const double *x,
                 double *out);

#endif
