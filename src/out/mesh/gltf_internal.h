/* Shared by gltf*.c: the parts of a file while it is made. */
#ifndef NS_OUT_MESH_GLTF_INTERNAL_H
#define NS_OUT_MESH_GLTF_INTERNAL_H

#include "base/text.h"
#include "out/mesh/mesh.h"

typedef struct ns_gltf_view {
    size_t offset, length;
    int target; /* 34962 vertices, 34963 indices, 0 none */
} ns_gltf_view;

typedef struct ns_gltf_accessor {
    uint32_t view, count, width; /* width 1, 3, 4 */
    bool indices;                /* unsigned integers; otherwise floats */
    bool bounded;
    float low[3], high[3];
} ns_gltf_accessor;

typedef struct ns_gltf_material {
    const char *name;
    double rgb[3], alpha;
    bool thin; /* seen from both sides */
} ns_gltf_material;

typedef struct ns_gltf_primitive {
    int position, normal, indices; /* accessors, -1 if none */
    uint32_t material;
    bool line;
} ns_gltf_primitive;

typedef struct ns_gltf_mesh {
    const char *name;
    NS_LIST(ns_gltf_primitive) primitives;
} ns_gltf_mesh;

typedef struct ns_gltf_node {
    const char *name;
    int mesh, parent;                             /* -1: none, the root */
    double translation[3], rotation[4], scale[3]; /* rotation x y z w */
} ns_gltf_node;

typedef enum ns_gltf_path { NS_GLTF_TRANSLATION, NS_GLTF_ROTATION, NS_GLTF_SCALE } ns_gltf_path;

typedef struct ns_gltf_channel {
    uint32_t node, output;
    ns_gltf_path path;
} ns_gltf_channel;

typedef struct ns_gltf {
    ns_arena *arena;
    ns_text bytes; /* of the binary chunk */
    NS_LIST(ns_gltf_view) views;
    NS_LIST(ns_gltf_accessor) accessors;
    NS_LIST(ns_gltf_material) materials;
    NS_LIST(ns_gltf_mesh) meshes;
    NS_LIST(ns_gltf_node) nodes;
    NS_LIST(ns_gltf_channel) channels;
    int times; /* accessor, -1 if nothing moves */
} ns_gltf;

/* Floats in rows of `width`; bounded: with the smallest and largest, as positions and times
 * must be. */
uint32_t ns_gltf_floats(ns_gltf *f, const float *v, uint32_t count, uint32_t width,
                        bool bounded, int target);
/* A colour by the names of docs/report.md or #rrggbb; `fallback` if NULL.  `shade` above 0
 * makes it lighter. */
uint32_t ns_gltf_colour(ns_gltf *f, const char *colour, const char *fallback, double shade,
                        double opacity, bool thin);
uint32_t ns_gltf_mesh_new(ns_gltf *f, const char *name);
/* Adds triangles to a mesh; with a second material other >= 0 in a pattern: 'o' octants, 's'
 * sectors about z. */
void ns_gltf_triangles(ns_gltf *f, uint32_t mesh, const ns_mesh *triangles, uint32_t material,
                       int other, char pattern);
void ns_gltf_line(ns_gltf *f, uint32_t mesh, const float *points, uint32_t n,
                  uint32_t material);
uint32_t ns_gltf_node_new(ns_gltf *f, const char *name, int mesh, int parent);
void ns_gltf_animate(ns_gltf *f, uint32_t node, ns_gltf_path path, const float *v, uint32_t n);

/* The whole file. */
const unsigned char *ns_gltf_finish(ns_gltf *f, const char *title, size_t *length);

#endif
