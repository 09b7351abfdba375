/* Contact laws of a ground: friction, resistance, restitution, one side only.
 *
 *     ground KIND { friction coulomb(MU) | coulomb(STATIC, KINETIC) | viscous(C)
 *                            | contensou(MU, RADIUS) | none;
 *                   resistance.rolling LENGTH; resistance.boring LENGTH;
 *                   restitution E | restitution.poisson E; restitution.tangential E;
 *                   unilateral }
 *
 * Without any of them the contact is ideal: two-sided, without slip. */
#ifndef NS_MECH_CONTACT_LAW_H
#define NS_MECH_CONTACT_LAW_H

#include "mech/system.h"

typedef enum ns_friction {
    NS_FRICTION_IDEAL, /* not said: as much as rolling needs */
    NS_FRICTION_NONE,
    NS_FRICTION_COULOMB,
    NS_FRICTION_VISCOUS,
    NS_FRICTION_CONTENSOU
} ns_friction;

typedef struct ns_law {
    bool any; /* a law is given */
    ns_friction friction;
    ns_ex fixed, moving;      /* Coulomb: static and kinetic coefficient (the latter of all) */
    ns_ex viscous, radius;    /* N s/m; m */
    ns_ex rolling, boring;    /* m; 0 if there is none */
    ns_ex normal, tangential; /* restitution */
    bool poisson;             /* of impulses, not of velocities */
    /* friction, rolling, boring, normal, tangential, unilateral, Poisson's */
    const ns_property *given[7];
} ns_law;

extern const char *const ns_law_properties[]; /* ends with NULL */

/* False after errors. */
bool ns_law_read(ns_description *d, const ns_block *ground, ns_law *out);

/* Are its numbers, for these parameters, what they may be?  False after an error. */
bool ns_law_sizes(const ns_law *law, ns_diag *diag, const ns_system *s, const double *p);

#endif
