/* Narrow functions of the state: walls, travelling pulses, layers.
 *
 * A motion may pass through a narrow function of its states between two stages without
 * noticing, just as with functions of time (drive.h); but where it will be is known only after
 * the step.  So the functions that can be narrow are examined along the step just made: see
 * bump.c. */
#ifndef NS_ODE_DRIVE_BUMP_H
#define NS_ODE_DRIVE_BUMP_H

#include "ode/run_internal.h"

/* The program of what can be narrow in the rates; NULL if there is nothing.  clues: that of the
 * arguments of these functions. */
const ns_program *ns_bump_build(const ns_system *system, ns_arena *arena, const ns_ex *rates,
                                const ns_program **clues);

/* Its memory: doubles that belong to checkpoints; scratch, NULL if nothing is narrow. */
size_t ns_bump_kept(const ns_problem *problem);
ns_bump *ns_bump_layout(const ns_problem *problem, ns_layout *l);
void ns_bump_begin(ns_run *run);

/* Did the stages of the last step see all of it?  If not, *part of the step is as far as it
 * should have gone. */
bool ns_bump_seen(ns_run *run, double *part);

#endif
