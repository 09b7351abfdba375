/* What the files of the catalogue of shapes share. */
#ifndef NS_MECH_CONTACT_SHAPES_INTERNAL_H
#define NS_MECH_CONTACT_SHAPES_INTERNAL_H

#include "mech/common/block.h"
#include "mech/contact/shapes.h"

typedef struct ns_shapes_work {
    ns_description *d;
    ns_graph *g;
    const ns_block *block;
    const ns_locals *locals;
    ns_ex a[4];  /* scalar sizes */
    ns_v3 shift; /* body: centre of mass; ground: where its frame stands */
    bool body;
    int outward; /* -1: the normal is turned round */
    ns_shape *out;
} ns_shapes_work;

typedef struct ns_shapes_kind {
    const char *name, *sizes;
    uint32_t n; /* scalar sizes read into work->a */
    bool (*make)(ns_shapes_work *w);
    const char *solid; /* what fills it */
    const char *signs; /* of the sizes: see ns_shape */
    const char *takes; /* properties that describe shapes and mean something for this one */
} ns_shapes_kind;

/* shapes_bodies.c, shapes_grounds.c: all there are; the last has no name */
extern const ns_shapes_kind ns_shapes_bodies[], ns_shapes_grounds[];

/* A contact coordinate, as a state. */
void ns_shapes_states(ns_shapes_work *w, ns_quantity kind, const char *vector, const char *axes,
                      ns_ex *out);
/* Begins the drawing. */
ns_drawing *ns_shapes_draw(ns_shapes_work *w, ns_drawing_kind how);
/* Expression argument i of the block, scalar or vector. */
bool ns_shapes_argument(ns_shapes_work *w, uint32_t i, ns_ex *out);
bool ns_shapes_argument_vector(ns_shapes_work *w, uint32_t i, ns_v3 *out);
/* An expression in the local names x, y, z as an implicit surface. */
bool ns_shapes_implicit(ns_shapes_work *w, ns_ex F);

/* Bodies that are grounds, too */
bool ns_shapes_sphere(ns_shapes_work *w);
bool ns_shapes_torus(ns_shapes_work *w);
bool ns_shapes_implicit_given(ns_shapes_work *w);
bool ns_shapes_parametric(ns_shapes_work *w);
bool ns_shapes_extruded(ns_shapes_work *w);
bool ns_shapes_curve(ns_shapes_work *w);

/* What the model says about where the part that touches ends: `limit`.  False after errors. */
bool ns_shapes_given_limits(ns_shapes_work *w);

static inline ns_ex ns_shapes_square(ns_graph *g, ns_ex a)
{
    return ns_powi(g, a, 2);
}

#endif
