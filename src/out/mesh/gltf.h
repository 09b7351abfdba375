/* The scene of a run as binary glTF 2.0: meshes of bodies and ground, animated nodes, paths as
 * lines.
 * The specification's Y axis is up: one node turns ours. */
#ifndef NS_OUT_MESH_GLTF_H
#define NS_OUT_MESH_GLTF_H

#include "session/record.h"

#endif
