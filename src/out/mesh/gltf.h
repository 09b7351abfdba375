/* The scene of a run as binary glTF 2.0: meshes of bodies and ground, animated nodes, paths as
 * lines.
 * The specification's Y axis is up: one node turns ours. */
#ifndef NS_OUT_MESH_GLTF_H
#define NS_OUT_MESH_GLTF_H

#include "session/record.h"

/* The bytes of the file, in the arena; NULL if the model has no picture. */
const unsigned char *ns_gltf_make(const ns_record *record, ns_arena *arena, size_t *length);

#endif
