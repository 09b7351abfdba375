/* Motions that are periodic up to a symmetry, for people: the shift as text, tables and
 * figures. */
#ifndef NS_COMMAND_RELATIVE_H
#define NS_COMMAND_RELATIVE_H

#include "command/study.h"
#include "study/invariants/affine.h"

/* Lines below a heading; nothing if h does nothing. */
void ns_relative_print(ns_host *host, const ns_flow *flow, const ns_affine *h);
/* The table "shift": what h does in words; and turn, centre or move of the first plane it
 * turns. */
void ns_relative_sheet(ns_host *host, ns_sheet *sheet, const ns_flow *flow, const ns_affine *h);

typedef struct ns_orbit {
    const double *x; /* where it begins */
    double period;
    const ns_affine *h;
    int64_t horizontal, vertical; /* observables to be drawn over a period; -1: chosen */
} ns_orbit;
/* One period in two values that h leaves as they are, and the path in a plane that h moves. */
ns_plot *ns_relative_plot(ns_host *host, ns_model *model, const ns_flow *flow,
                          const ns_orbit *o);

/* noslip period for models without a symmetry block; the exit status. */
int ns_relative_period(ns_host *host, const ns_arguments *a, ns_model *model, double until);

#endif
