/* Shared by urdf.c (reading) and urdf_write.c. */
#ifndef NS_COMMAND_MODELS_URDF_INTERNAL_H
#define NS_COMMAND_MODELS_URDF_INTERNAL_H

#include <stdbool.h>

#include "command/models/urdf.h"
#include "command/models/xml.h"

enum { NS_URDF_NONE = -1 };

/* A frame in another one: v there = R v + p. */
typedef struct ns_pose {
    double R[3][3], p[3];
} ns_pose;

typedef enum ns_joint_kind {
    NS_JOINT_FIXED,
    NS_JOINT_REVOLUTE,
    NS_JOINT_CONTINUOUS,
    NS_JOINT_PRISMATIC,
    NS_JOINT_FLOATING,
    NS_JOINT_PLANAR
} ns_joint_kind;

typedef struct ns_urdf_joint {
    const ns_xml *xml;
    const char *name, *id;
    ns_joint_kind kind;
    int parent, child;
    ns_pose origin;
    double axis[3]; /* in the child's frame */
    double damping;
} ns_urdf_joint;

typedef struct ns_urdf_link {
    const ns_xml *xml;
    const char *name, *id;
    int joint;    /* to its parent; NONE: the root */
    int body;     /* the link whose body it belongs to */
    ns_pose pose; /* of its frame in space, all joints at zero */
    /* of its body, about its centre of mass, along the axes of space */
    double mass, com[3], inertia[3][3];
    double radius; /* of a wheel or a ball; 0: none */
    bool ball;     /* a sphere */
    ns_pose shape; /* of its cylinder or sphere, in space */
    ns_pose frame; /* of the body: that of the link, or e2 along the axle of a wheel */
    bool wheel, caster;
    bool done; /* its pose is known */
} ns_urdf_link;

typedef struct ns_urdf {
    ns_arena *arena;
    const char *file, *robot;
    NS_LIST(ns_urdf_link) links;
    NS_LIST(ns_urdf_joint) joints;
    bool world; /* the root is the ground */
    int root;
    ns_urdf_notes *notes;
    const char **message;
} ns_urdf;

void ns_urdf_note(ns_urdf *u, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A vector from the frame of a pose to space, without the shift, and back. */
void ns_pose_turn(const ns_pose *a, const double v[3], double out[3]);
void ns_pose_back(const ns_pose *a, const double v[3], double out[3]);
const char *ns_urdf_write(ns_urdf *u);

#endif
