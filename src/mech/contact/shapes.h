/* The catalogue of bodies and grounds: from  body KIND(sizes) { ... }  and
 * ground KIND(sizes) { ... }  to the sides of a contact (mech/contact/side.h).
 *
 * Inside these blocks x, y, z are the coordinates of the block's own frame and u, v parameters:
 *     body implicit(x^4 + y^4 + z^4 - r^4)        ground height(0.1*cos(3*x))  */
#ifndef NS_MECH_CONTACT_SHAPES_H
#define NS_MECH_CONTACT_SHAPES_H

#include "lang/description.h"
#include "mech/common/quantity.h"
#include "mech/contact/side.h"
#include "mech/draw/scene.h"

/* The local names x, y, z, u, v as symbols; defined once per model. */
typedef struct ns_locals {
    ns_ex x[3], u[2];
} ns_locals;

extern const char *const ns_shapes_letters[5];
/* Makes the locals, and gives the model their names if a shape needs them. */
bool ns_shapes_offer(ns_description *d, ns_locals *locals, bool needed);

/* Where the part of a body that touches ends.  The contact stays on it as long as `value`, of
 * the body's contact coordinates, is positive; or, on an edge, as long as the vector `lean`
 * from the contact to the next part points away from the ground (value = 0 then). */
typedef struct ns_limit {
    const char *name, *meaning; /* of the event */
    ns_ex value;
    ns_v3 lean;
    bool apex; /* the next part is one point: it stands `lean` from the contact */
} ns_limit;

typedef struct ns_shape {
    ns_side side;
    /* the contact coordinates as states: a vector, and the letters of its components */
    ns_quantity kind;
    const char *vector, *axes;
    ns_drawing drawing; /* how it looks */
    ns_v3 support;      /* body: its point with outward normal (x, y, z), if has_support */
    bool has_support;
    bool
        lowest; /* on a plane only that point touches; strictly convex bodies: on any surface */
    bool convex;
    ns_ex radius;  /* of a ball about the origin of the frame; 0 if it is none */
    ns_v3 squares; /* of an ellipsoid's half axes, if quadric */
    bool quadric;
    ns_ex size[4]; /* scalar sizes */
    uint32_t n_sizes;
    const char *sizes,
        *signs;        /* their names; '+' positive, '0' not negative, '1' above 1, '.' any */
    ns_limit limit[4]; /* body */
    uint32_t n_limits;
    bool planar; /* ground: a plane */
    bool level;  /* ground: a horizontal plane */
} ns_shape;

/* `centre` of mass in the body's frame: contact coordinates of implicit bodies are measured
 * from it.  False after errors. */
bool ns_shapes_body(ns_description *d, const ns_block *block, const ns_locals *locals,
                    ns_v3 centre, ns_shape *out);
bool ns_shapes_ground(ns_description *d, const ns_block *block, const ns_locals *locals,
                      ns_shape *out);

/* Is the kind of a body block known, with the right number of sizes?  False after errors. */
bool ns_shapes_known(ns_description *d, const ns_block *block);

/* The variables ("u, v") of the functions that give a body or ground block its shape; NULL if
 * it is given by numbers. */
const char *ns_shapes_variables(const ns_block *block);

/* Properties of a ground block that describe its shape (ends with NULL). */
extern const char *const ns_shapes_ground_properties[];

/* "sphere(r), ellipsoid(a, b, c), ..." */
const char *ns_shapes_list(ns_arena *arena, bool ground);

/* The solid that fills a body of this kind and its sizes, for `uniform`; NULL if none. */
const char *ns_shapes_solid(const char *kind);

#endif
