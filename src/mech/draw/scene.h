/* What a system looks like: shapes with their motion, paths, arrows, links, as expressions.
 * Formulations fill it in; out/ turns it into meshes and samples for the report page, glTF and
 * SVG.  Expressions are in states, time and parameters, shapes in the local names below. */
#ifndef NS_MECH_DRAW_SCENE_H
#define NS_MECH_DRAW_SCENE_H

#include "mech/common/vec3.h"

typedef enum ns_drawing_kind {
    NS_DRAW_NONE,
    NS_DRAW_IMPLICIT, /* F(x, y, z) = 0, F < 0 inside (ground: F > 0 on the body's side) */
    NS_DRAW_CHART,    /* point(u, v); u in [range[0], range[1]], v in [range[2], range[3]] if
                         ranged, else as far as the motion goes */
    NS_DRAW_PLANE,    /* origin, base[0], base[1] */
    NS_DRAW_GRAPH,    /* z = F(x, y) */
    NS_DRAW_CURVE,    /* point(u), closed if u runs over a turn */
    NS_DRAW_DISK,     /* size[0] radius, size[1] height z; thin */
    NS_DRAW_HOOP,     /* the same, a ring */
    NS_DRAW_CYLINDER, /* size[0] radius, size[1] height, centred */
    NS_DRAW_CONE      /* size[0] radius of the base at z = 0, size[1] height of the apex */
} ns_drawing_kind;

typedef struct ns_drawing {
    ns_drawing_kind kind;
    ns_ex x[3], u[2]; /* the local symbols used below */
    ns_ex F;
    ns_v3 point, base[2];
    ns_ex size[2];
    double range[4];
    bool ranged;
    ns_ex along[2]; /* u, v of the contact during the motion, as states; 0 if it has none */
    bool inside;    /* a ground that encloses the body */
} ns_drawing;

/* Things of plain shape.  Sizes and places are in parameters only. */
typedef enum ns_shape_kind {
    NS_SHAPE_SPHERE,    /* size[0] radius */
    NS_SHAPE_ELLIPSOID, /* size[0..2] half axes */
    NS_SHAPE_TORUS,     /* size[0] radius of the middle circle, size[1] of the tube; about z */
    NS_SHAPE_CYLINDER,  /* size[0] radius, size[1] height, size[2] upper radius; along z,
                        * centred */
    NS_SHAPE_DISK,      /* size[0] radius, size[1] thickness; about z, centred */
    NS_SHAPE_WHEEL,     /* size[0] outer radius, size[1] of the tube; `spokes`; about z */
    NS_SHAPE_BOX,       /* size[0..2] edges, centred */
    NS_SHAPE_ROD,       /* from at to end, size[0] radius */
    NS_SHAPE_PLATE,     /* outline in x and y, size[0] thickness */
    NS_SHAPE_BLADE      /* knife edge along x: size[0] length, size[1] width, size[2] height */
} ns_shape_kind;

typedef struct ns_scene_shape {
    ns_shape_kind kind;
    ns_v3 at, end; /* place in the body */
    ns_ex size[3]; /* 0 where not said (then a fitting one is chosen) */
    bool turned;   /* z of the shape is brought along axis by the shortest turn */
    ns_v3 axis;
    const ns_v3 *outline; /* plates */
    uint32_t outlines;
    uint32_t spokes;     /* wheels; 0: the usual number */
    const char *colour;  /* name or #rrggbb, NULL: a fitting one; these of docs/report.md */
    const char *pattern; /* octants, sectors, halves, plain; NULL: the usual one */
    double opacity;      /* 0: the usual */
} ns_scene_shape;

typedef struct ns_scene_body {
    const char *name;
    ns_drawing drawing; /* kind NONE if it is made of shapes */
    NS_LIST(ns_scene_shape) shapes;
    ns_v3 position; /* of the drawing's frame, in space */
    ns_ex quat[4];  /* all 0: it does not turn */
    bool guessed;   /* nobody stated its shape: draw lines that use the body replace it */
    bool massive;   /* the next two are given: mark the centre of mass, draw the axes */
    ns_v3 com;      /* in the drawing's frame; parameters only */
    ns_m3 inertia;  /* about it, for the principal axes; parameters only; all 0: no axes */
    const char *colour;
} ns_scene_body;

typedef enum ns_path_role { NS_PATH_PLAIN, NS_PATH_CONTACT, NS_PATH_COM } ns_path_role;

typedef struct ns_scene_path {
    const char *name;
    int body; /* -1: in space; otherwise in the frame of this body */
    ns_v3 point;
    ns_path_role role;
    const char *colour;
} ns_scene_path;

typedef struct ns_scene_arrow {
    const char *name, *unit;
    ns_v3 origin, vector; /* in space */
    const char *colour;
    ns_ex scale; /* length drawn per unit, parameters only; 0: a fitting one */
} ns_scene_arrow;

/* Between two moving points. */
typedef enum ns_link_kind { NS_LINK_ROD, NS_LINK_SPRING, NS_LINK_LINE } ns_link_kind;
typedef struct ns_scene_link {
    ns_link_kind kind;
    const char *name; /* may be NULL */
    ns_v3 a, b;       /* in space */
    ns_ex radius;     /* 0: a fitting one */
    const char *colour;
} ns_scene_link;

/* A dot; labelled if it has a name. */
typedef struct ns_scene_point {
    const char *name;
    ns_v3 at; /* in space */
    const char *colour;
} ns_scene_point;

/* A curve that stays where it is: point(u), u from range[0] to range[1] (parameters only). */
typedef enum ns_scene_curve_kind {
    NS_CURVE_LINE,   /* thin */
    NS_CURVE_GROUND, /* planar scenes: the other side is hatched */
    NS_CURVE_WIRE    /* round, size radius */
} ns_scene_curve_kind;
typedef struct ns_scene_curve {
    ns_scene_curve_kind kind;
    const char *name;
    ns_ex u, range[2];
    ns_v3 point;
    int side;     /* ground: 1 if bodies are to the left when going along it, -1 to the right */
    ns_ex radius; /* wire; 0: a fitting one */
    const char *colour;
} ns_scene_curve;

/* The abstract picture of a system on a Lie algebra; see docs/report.md, Sphere.  Levels are in
 * parameters and, through constants of the motion, in the states at the start. */
typedef struct ns_scene_level {
    enum { NS_LEVEL_SPHERE, NS_LEVEL_ELLIPSOID, NS_LEVEL_PLANE, NS_LEVEL_POINT } kind;
    const char *name, *colour;
    ns_v3 at;   /* half axes; normal of the plane; place of the point */
    ns_ex size; /* radius; offset of the plane */
} ns_scene_level;
typedef struct ns_scene_algebra {
    const char *title, *unit, *axes[3]; /* NULL where not said */
    const char *name;
    bool drawn;
    ns_v3 point; /* moving */
    NS_LIST(ns_scene_level) levels;
    NS_LIST(ns_scene_arrow) vectors; /* from 0: origin is not used */
} ns_scene_algebra;

typedef enum ns_scene_view {
    NS_VIEW_SPACE,
    NS_VIEW_ABOVE, /* the x-y plane */
    NS_VIEW_SIDE   /* the x-z plane, z up */
} ns_scene_view;

typedef struct ns_scene {
    ns_scene_view view;
    const char *unseen; /* why there is nothing to see, for pages; NULL: not known */
    const char *unit;   /* of lengths; NULL: m */
    NS_LIST(ns_scene_body) bodies;
    NS_LIST(ns_scene_path) paths;
    NS_LIST(ns_scene_arrow) arrows;
    NS_LIST(ns_scene_link) links;
    NS_LIST(ns_scene_point) points;
    NS_LIST(ns_scene_curve) curves;
    NS_LIST(ns_scene_shape) decor; /* glassy, in space, at rest */
    ns_scene_algebra algebra;
    ns_drawing ground; /* kind NONE if there is none */
    bool ground_moves;
    ns_v3 ground_origin;   /* if it moves */
    ns_m3 ground_rotation; /* ground to space */
} ns_scene;

/* Is there anything to see? */
static inline bool ns_scene_is_drawn(const ns_scene *s)
{
    return s->bodies.n || s->paths.n || s->links.n || s->points.n || s->curves.n ||
           s->algebra.drawn;
}

#endif
