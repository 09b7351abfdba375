/* The system for print: see readable.c. */
#ifndef NS_MECH_READABLE_H
#define NS_MECH_READABLE_H

#include "mech/system.h"

/* A fork in the arena with its lines and rates as short as they can be found; large systems as
 * they are. */
const ns_system *ns_system_readable(const ns_system *from, ns_arena *arena);

#endif
