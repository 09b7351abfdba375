/* Shared by the files that make meshes. */
#ifndef NS_OUT_MESH_MESH_INTERNAL_H
#define NS_OUT_MESH_MESH_INTERNAL_H

#include "out/mesh/mesh.h"

/* Expressions of the local names of a drawing, ready to be evaluated at many points. */
typedef struct ns_field {
    const ns_program *program;
    double *work, *in8, *out8, *t8;
    uint32_t nx, nout;
} ns_field;

ns_field ns_field_new(ns_arena *arena, const ns_model *model, const ns_ex *locals, uint32_t nx,
                      const ns_ex *f, uint32_t nout);
/* in[n][nx], out[n][nout] */
void ns_field_eval(const ns_field *field, const double *in, size_t n, double *out);

/* Growing mesh. */
typedef struct ns_mesh_maker {
    ns_arena *arena;
    NS_LIST(float) positions;
    NS_LIST(float) normals;
    NS_LIST(uint32_t) indices;
} ns_mesh_maker;

uint32_t ns_mesh_vertex(ns_mesh_maker *m, const double position[3], const double normal[3]);
void ns_mesh_triangle(ns_mesh_maker *m, uint32_t a, uint32_t b, uint32_t c);
void ns_mesh_finish(ns_mesh_maker *m, ns_mesh *out);
/* Turns triangles so that they agree with their normals; `flip`: the normals are turned too. */
void ns_mesh_orient(ns_mesh *mesh, bool flip);

/* Turns all normals to the side of the body; out of a closed surface (its volume is
 * positive). */
void ns_mesh_face(ns_mesh *mesh, const ns_mesh_fit *fit);
void ns_mesh_face_out(ns_mesh *mesh);

/* mesh_implicit.c: F = 0 inside a box; `closed`: the box is found, around `seeds`. */
bool ns_mesh_implicit_body(ns_arena *arena, const ns_model *model, const ns_drawing *drawing,
                           const ns_mesh_fit *fit, ns_mesh *out);
bool ns_mesh_implicit_ground(ns_arena *arena, const ns_model *model, const ns_drawing *drawing,
                             const ns_mesh_fit *fit, ns_mesh *out);

/* Smallest box about the points of a fit. */
void ns_mesh_box(const ns_mesh_fit *fit, double low[3], double high[3]);
/* Room about x and y: the margin at least, and of a ground along a straight path no strip, in
 * which its relief would not be seen: each side is at least half of the other. */
void ns_mesh_broaden(double low[3], double high[3], double margin);

#endif
