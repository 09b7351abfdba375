/* Mass properties of solids, sheets and wires of uniform density, and of compounds of them. */
#ifndef NS_MECH_CONTACT_SOLID_H
#define NS_MECH_CONTACT_SOLID_H

#include "lang/description.h"
#include "mech/common/vec3.h"

typedef struct ns_mass {
    ns_ex mass;
    ns_v3 centre;  /* of mass */
    ns_m3 inertia; /* about the centre of mass */
} ns_mass;

/* Sum of all `solid` blocks of the model; false after errors.  *found tells whether there is
 * any.
 *
 *     solid KIND(sizes) { density d | mass m; at [x, y, z]; axis [x, y, z];
 *                         turn [x, y, z], angle; hole } */
bool ns_solid_read(const ns_description *d, ns_mass *mass, bool *found);

/* A uniform body of this kind with the given mass (0: of density 1), in its own frame; false if
 * there is no such kind (no message). */
bool ns_solid_uniform(ns_graph *g, const char *kind, const ns_ex *sizes, uint32_t n, ns_ex mass,
                      ns_mass *out);

/* Names of the kinds with their sizes, for messages and help ("cylinder(r, h), ..."). */
const char *ns_solid_kinds(ns_arena *arena);

/* Rotation by `angle` about the direction `axis` (Rodrigues). */
ns_m3 ns_solid_turn(ns_graph *g, ns_v3 axis, ns_ex angle);

#endif
