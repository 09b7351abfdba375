/* constraint NAME: keep QUANTITY.  A known integral of the motion as a further constraint
 * (Udwadia and Mogharabin 2021, section 3.1 (e)), in every formulation: see keep.c. */
#ifndef NS_MECH_KEEP_H
#define NS_MECH_KEEP_H

#include "mech/system.h"

/* Is it such a line? */
bool ns_keep_is(const ns_block *block);
/* Of a given quantity? */
bool ns_keep_of(const ns_block *block, const char *quantity);

/* After the formulation's states: one more for each level that is kept, except the energy's of
 * formulation `constrained`, which has a row of its own for it.  False after errors. */
bool ns_keep_states(const ns_description *d, ns_system *s);
/* After the invariants: what the levels are of. */
bool ns_keep_levels(const ns_description *d, ns_system *s);

/* Are they constant, with numbers, at the start?  False after errors: a constraint that the
 * motion does not meet by itself would be a force that nobody asked for. */
bool ns_keep_verify(const ns_system *s, ns_diag *diag, const double *p, const double *x);

#endif
