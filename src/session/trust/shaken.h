/* Parameters and start as the rounding of given numbers could have made them. */
#ifndef NS_SESSION_TRUST_SHAKEN_H
#define NS_SESSION_TRUST_SHAKEN_H

#include "session/model.h"

/* Those of the model in quadruple precision, where 0.3 is 3/10 and differences have not lost
 * what cancels, rounded to p[np] and x0[n] and changed by -1, 0 or 1 units in the last place;
 * zeros stay.  False if memory ran out. */
bool ns_shaken_start(ns_model *model, uint64_t seed, double *p, double *x0);

#endif
