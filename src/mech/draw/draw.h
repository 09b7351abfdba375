/* The draw blocks of a model: from lines of a description to the scene of a system. */
#ifndef NS_MECH_DRAW_DRAW_H
#define NS_MECH_DRAW_DRAW_H

#include "mech/system.h"

/* Adds what the model draws to the scene; the names of all values are known.  False after
 * errors. */
bool ns_draw_scene(ns_description *d, ns_system *s);

/* Names of the colours, ending with NULL. */
extern const char *const ns_draw_colours[];

#endif
