/* What meet.c and meet_impact.c share. */
#ifndef NS_MECH_CONTACT_MEET_INTERNAL_H
#define NS_MECH_CONTACT_MEET_INTERNAL_H

#include "mech/contact/meet.h"

ns_v3 ns_meet_yields(ns_graph *g, const ns_meet *w, ns_v3 force); /* G F, body frame */

/* Coulomb's friction: the direction `onset` in which slip would begin, and `margin`. */
void ns_meet_onset(ns_graph *g, ns_meet *w);

static inline ns_v3 ns_meet_along(ns_graph *g, ns_v3 v, ns_v3 n)
{
    return ns_v3_sub(g, v, ns_v3_scale(g, ns_v3_dot(g, v, n), n));
}

#endif
