/* What a system looks like: shapes with their motion, paths, arrows, links, as expressions.
 * Formulations fill it in; io/ turns it into meshes and samples for the report page, glTF and
 * SVG.  Expressions are in states, time and parameters, shapes in the local names below. */
#ifndef NS_MECH_SCENE_H
#define NS_MECH_SCENE_H

#include "mech/vec3.h"

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
    bool inside; /* a ground that encloses the body */
} ns_drawing;

typedef struct ns_scene_body {
    const char *name;
    ns_drawing drawing;
    ns_v3 position; /* of the drawing's frame, in space */
    ns_ex quat[4];
    ns_v3 com;     /* in the drawing's frame; parameters only */
    ns_m3 inertia; /* about it, for the principal axes; parameters only */
} ns_scene_body;

typedef struct ns_scene_path {
    const char *name;
    int body; /* -1: in space; otherwise in the frame of this body */
    ns_v3 point;
} ns_scene_path;

typedef struct ns_scene_arrow {
    const char *name, *unit;
    ns_v3 origin, vector; /* in space */
} ns_scene_arrow;

/* Lines and marks of planar and other models: written by the user in a `draw` block. */
typedef enum ns_mark_kind {
    NS_MARK_POINT,
    NS_MARK_SEGMENT, /* a to b */
    NS_MARK_SPRING,
    NS_MARK_CIRCLE, /* centre a, radius, and a spoke at angle */
    NS_MARK_BLADE   /* at a, direction angle */
} ns_mark_kind;

typedef struct ns_scene_mark {
    ns_mark_kind kind;
    ns_v3 a, b;
    ns_ex radius, angle;
} ns_scene_mark;

typedef struct ns_scene {
    bool planar; /* drawn in the x-y plane, seen from above */
    NS_LIST(ns_scene_body) bodies;
    NS_LIST(ns_scene_path) paths;
    NS_LIST(ns_scene_arrow) arrows;
    NS_LIST(ns_scene_mark) marks;
    ns_drawing ground; /* kind NONE if there is none */
    bool ground_moves;
    ns_v3 ground_origin;   /* if it moves */
    ns_m3 ground_rotation; /* ground to space */
} ns_scene;

#endif
