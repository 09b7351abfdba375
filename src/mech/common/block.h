/* Reading the blocks of a description: properties by name, with their sizes checked, and errors
 * for those that nobody knows. */
#ifndef NS_MECH_COMMON_BLOCK_H
#define NS_MECH_COMMON_BLOCK_H

#include "lang/description.h"
#include "mech/blocks.h"
#include "mech/common/vec3.h"

/* The only block of this form; NULL if there is none; an error if there are several. */
const ns_block *ns_block_single(const ns_description *d, const ns_block_form *form);

const ns_property *ns_block_find(const ns_block *block, const char *name);
bool ns_block_has(const ns_block *block, const char *name);

/* Value `index` of a property as a scalar, a vector of 3, a 3 x 3 matrix.  False after an error
 * if it is not that; 0 values are an error too. */
bool ns_block_scalar(const ns_description *d, const ns_property *p, uint32_t index, ns_ex *out);
bool ns_block_vector(const ns_description *d, const ns_property *p, uint32_t index, ns_v3 *out);
bool ns_block_matrix(const ns_description *d, const ns_property *p, uint32_t index, ns_m3 *out);

/* Errors for properties that are not in the list (which ends with NULL), with the nearest. */
bool ns_block_known(const ns_description *d, const ns_block *block, const char *const *names);

/* Errors for arguments of the kind, and properties in the list (which ends with NULL), that
 * contain the time: bodies and surfaces are rigid. */
bool ns_block_rigid(const ns_description *d, const ns_block *block, const char *const *names);

/* A value as scalar or vector, for arguments of a kind: `what` names it in the message. */
bool ns_block_value_scalar(const ns_description *d, ns_value value, ns_span span,
                           const char *what, ns_ex *out);
bool ns_block_value_vector(const ns_description *d, ns_value value, ns_span span,
                           const char *what, ns_v3 *out);

/* Argument i of a block's kind: a name that nobody defined was read as a word. */
bool ns_block_argument(const ns_description *d, const ns_block *block, uint32_t i, ns_ex *out);
bool ns_block_argument_vector(const ns_description *d, const ns_block *block, uint32_t i,
                              ns_v3 *out);

/* The word in `known` (ends with NULL) nearest to `name`, or NULL if none is near. */
const char *ns_block_nearest(const char *name, const char *const *known);

#endif
