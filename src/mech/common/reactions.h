/* Reactions in forces: multipliers and contact forces that a load or a force contains.
 *
 * A reaction enters as a symbol z.  What the equations then give for it is affine in all of
 * them, y(z) = y(0) + B z, B = dy/dz, as long as the forces are; it is the reaction where
 *
 *     z = y(z)      <=>      (1 - B) z = y(0)
 *
 * which is solved, not lagged.  det(1 - B) is 1 without reactions in forces; where it falls to
 * zero no or several reactions fit (Painleve 1895). */
#ifndef NS_MECH_COMMON_REACTIONS_H
#define NS_MECH_COMMON_REACTIONS_H

#include "mech/system.h"

enum { NS_REACTIONS_MOST = 8 };

/* Is a force affine in the reactions z[n]?  False after an error at its place. */
bool ns_reactions_affine(ns_system *s, ns_ex force, const ns_ex *z, uint32_t n, ns_span span);

/* Is something that is not a force free of them?  False after an error. */
bool ns_reactions_absent(ns_system *s, ns_ex e, const ns_ex *z, uint32_t n, ns_span span,
                         const char *where);

/* value[n] of the reactions z[n] whose equations give y[n], and det(1 - B). */
ns_ex ns_reactions_solve(ns_graph *g, uint32_t n, const ns_ex *z, const ns_ex *y, ns_ex *value);
/* Replaces z by their values in all places at[count]. */
void ns_reactions_put(ns_graph *g, uint32_t n, const ns_ex *z, const ns_ex *value,
                      ns_ex *const *at, uint32_t count);

/* The event where det(1 - B) vanishes, unless it cannot. */
void ns_reactions_watch(ns_system *s, ns_ex determinant);

#endif
