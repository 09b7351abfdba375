/* What drives a system in time, and how far a step may go without skipping any of it.
 *
 * A method sees the rates at its stages only: a pulse between them, or beyond the last one, is
 * invisible to it and to its error estimate.  The drivers of a system are the largest parts
 * of its rates that depend on time and parameters alone.  These can be enclosed over stretches
 * of time (eval/interval/interval.h), so that nothing in them is missed: see drive.c. */
#ifndef NS_ODE_DRIVE_DRIVE_H
#define NS_ODE_DRIVE_DRIVE_H

#include "ode/stepper.h"

/* The program of the drivers in the roots, without states; NULL if there are none. */
const ns_program *ns_drive_build(const ns_system *system, ns_arena *arena, const ns_ex *roots,
                                 uint32_t n);

/* Its memory: doubles that belong to checkpoints; scratch, NULL without drivers. */
size_t ns_drive_kept(const ns_problem *problem);
ns_drive *ns_drive_layout(const ns_stepper *s, ns_layout *l);

/* Begins at s->now.t; without drivers s->drive becomes NULL. */
void ns_drive_begin(ns_stepper *s, double *kept, ns_drive *d);

/* The longest step from s->now.t.  *end is moved to the next switch if that comes before: a
 * step must not go beyond. */
double ns_drive_limit(const ns_stepper *s, double *end);

/* Is s->now.t at a switch, as near as times can be?  Then *at is where it is, *beyond where
 * rates are smooth again: a few units in the last place. */
bool ns_drive_switch(const ns_stepper *s, double *at, double *beyond);

#endif
