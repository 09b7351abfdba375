/* The blocks that formulations read.  A new one is declared here, listed in ns_blocks for the
 * language, and named by the descriptors of the formulations that take it. */
#ifndef NS_MECH_BLOCKS_H
#define NS_MECH_BLOCKS_H

#include "lang/grammar.h"

extern const ns_block_form ns_block_algebra, ns_block_body, ns_block_contact, ns_block_damper,
    ns_block_frame, ns_block_gravity, ns_block_ground, ns_block_label, ns_block_load,
    ns_block_particle, ns_block_rolling, ns_block_solid, ns_block_solve, ns_block_spring,
    ns_block_symmetry;

extern const ns_block_form *const ns_blocks[]; /* all of them, ends with NULL */

#endif
