/* Jets: Taylor coefficients in time through the tape, by the recurrences of enum ns_taylor. */
#ifndef NS_CODE_JET_H
#define NS_CODE_JET_H

#include "code/tape.h"

typedef struct ns_jet ns_jet;

/* Adds companions to the graph, lowers outputs and companions to a tape of its own. */
ns_jet *ns_jet_build(ns_arena *arena, const ns_program_spec *spec);

size_t ns_jet_work(const ns_jet *jet, uint32_t order);
void ns_jet_bind(const ns_jet *jet, double *work, uint32_t order, const double *p);
void ns_jet_solve(const ns_jet *jet, double *work, double t, uint32_t order, double *x);
void ns_jet_eval(const ns_jet *jet, double *work, double t, uint32_t order, const double *x,
                 double *out);

#endif
