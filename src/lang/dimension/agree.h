/* Do the units of a model agree?  Warnings about sums, equations and arguments of functions
 * whose dimensions contradict each other, with both places.
 *
 * Dimensions are inferred from units that the model says and from those that formulations
 * declare (lang/grammar.h, ns_scope_entry).  What has no unit is unknown, and takes what its
 * uses ask for.  Bare numbers are written for quantities in SI everywhere (x = 1, -4*x), so a
 * number is believed to have no dimension only where it is a factor like 1/2, 2 or 2/5; in a
 * model that has bare numbers in the place of quantities, only 1/2 and 2.  A model without any
 * unit of length, mass or time is not looked at. */
#ifndef NS_LANG_DIMENSION_AGREE_H
#define NS_LANG_DIMENSION_AGREE_H

#include "lang/description.h"

/* After ns_description_finish: all names are known. */
void ns_agree_check(ns_description *d);

#endif
