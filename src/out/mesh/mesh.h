/* Meshes of what a scene describes: bodies and grounds as triangles with normals, all in the
 * frame of the drawing.  Surfaces without end are cut to fit the motion.
 *
 *     ns_mesh mesh;
 *     if (ns_mesh_body(arena, model, &scene->bodies.at[0].drawing, &fit, &mesh)) ...
 *
 * Vertices lie on the surface to round-off and normals are its own (from exact derivatives), so
 * coarse meshes look smooth; where a surface has edges, vertices are there twice. */
#ifndef NS_OUT_MESH_MESH_H
#define NS_OUT_MESH_MESH_H

#include "session/motion.h"

typedef struct ns_mesh {
    float *positions, *normals; /* [3 vertices]; body: outwards, ground: to the body's side */
    uint32_t *indices;          /* [3 triangles], counter-clockwise seen from outside */
    uint32_t vertices, triangles;
} ns_mesh;

/* What the motion needs to see. */
typedef struct ns_mesh_fit {
    const double *path; /* [n][3] contact points (or any that matter) in the drawing's frame */
    size_t n;
    const double *u[2];   /* [n] the same in a chart's or a curve's own coordinates; or NULL */
    const double *toward; /* [3] ground: a point on the body's side of path[0]; or NULL */
    double size;          /* ground: radius of the body, for margins */
} ns_mesh_fit;

/* False if there is nothing to draw (kind NONE, a surface that cannot be found).  All memory is
 * of the arena. */
bool ns_mesh_body(ns_arena *arena, const ns_model *model, const ns_drawing *drawing,
                  const ns_mesh_fit *fit, ns_mesh *out);
bool ns_mesh_ground(ns_arena *arena, const ns_model *model, const ns_drawing *drawing,
                    const ns_mesh_fit *fit, ns_mesh *out);

/* Body i of a scene, cut to fit the motion. */
bool ns_mesh_scene_body(ns_arena *arena, const ns_model *model, const ns_frames *frames,
                        uint32_t i, ns_mesh *out);
/* n points of one of its curves, [n][3]. */
double *ns_mesh_scene_curve(ns_arena *arena, const ns_model *model, const ns_scene_curve *curve,
                            size_t n);

/* The points of a curve (NS_DRAW_CURVE), [n][3]; closed: the last joins the first. */
double *ns_mesh_curve(ns_arena *arena, const ns_model *model, const ns_drawing *drawing,
                      const ns_mesh_fit *fit, size_t *n, bool *closed);

/* A plane's point, unit normal and first direction, with numbers. */
void ns_mesh_plane(const ns_model *model, const ns_drawing *drawing, double point[3],
                   double normal[3], double along[3]);

/* Largest distance of a vertex from the origin of the frame. */
double ns_mesh_radius(const ns_mesh *mesh);

/* A tube about a curve, for wires and edges. */
void ns_mesh_tube(ns_arena *arena, const double *points, size_t n, bool closed, double radius,
                  ns_mesh *out);

#endif
