/* Starts of one system for many values of its parameters and of its starting states: parameters
 * that depend on others, then the state that satisfies all constraints, as ns_system_params and
 * ns_system_start find them, with compiled expressions.
 *
 * A starter belongs to one thread; its system is shared by all who read it. */
#ifndef NS_SESSION_START_H
#define NS_SESSION_START_H

#include <stdbool.h>

#include "mech/system.h"

typedef struct ns_starter ns_starter;

/* Names are parameters, states, or velocities that a start may give.  On failure NULL, and a
 * message of the arena; the starter lives in the arena too. */
ns_starter *ns_starter_new(ns_arena *arena, const ns_system *system, double t0,
                           const char *const *names, uint32_t n, const char **message);

/* The first setting of the block `run` that changes with what is varied: many motions take it
 * at one value.  NULL: none does.  until, tolerance: these are given otherwise. */
const char *ns_starter_setting(const ns_starter *starter, const ns_description *description,
                               bool until, bool tolerance);

/* From the values of the names: parameters p[np] and start x[n].  False, with a reason in
 * words, if there is no such start. */
bool ns_starter_find(ns_starter *starter, const double *values, double *p, double *x,
                     char *reason, size_t room);

#endif
