/* How people say the orientation of a body at the start:
 *
 *     quat [w, x, y, z]  |  axis [x, y, z], angle  |  euler phi, theta, psi  (z, x, z)
 *                        |  heading, tilt, turn    (the same, by name)
 *                        |  roll, pitch, yaw       (about x, the turned y, the turned z) */
#ifndef NS_MECH_COMMON_ORIENTATION_H
#define NS_MECH_COMMON_ORIENTATION_H

#include "lang/description.h"

/* Names of the properties above (ends with NULL). */
extern const char *const ns_orientation_properties[];

/* The unit quaternion (body to space) that a start block states, the identity if it states
 * none; *guess: any of it is written with ~.  False after errors. */
bool ns_orientation_read(const ns_description *d, const ns_block *block, ns_ex quat[4],
                         bool *guess);

#endif
