/* Meshes of plain shapes (mech/draw/scene.h), in the frame of the body they belong to. */
#ifndef NS_OUT_MESH_MESH_SHAPES_H
#define NS_OUT_MESH_MESH_SHAPES_H

#include "out/mesh/mesh.h"

/* `size`: about how large the scene is, for sizes that were not said.  False if there is
 * nothing to draw. */
bool ns_mesh_shape(ns_arena *arena, const ns_model *model, const ns_scene_shape *shape,
                   double size, ns_mesh *out);

/* Along z from 0 to 1, to be stretched between two points: a rod of radius 1, a coil. */
void ns_mesh_rod(ns_arena *arena, ns_mesh *out);
void ns_mesh_coil(ns_arena *arena, double radius, double wire, ns_mesh *out);
void ns_mesh_ball(ns_arena *arena, double radius, ns_mesh *out);

#endif
