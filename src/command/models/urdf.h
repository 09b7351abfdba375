/* Robots in URDF, the description of ROS (wiki.ros.org/urdf/XML), as models of this program:
 * links become bodies, joints constraints with an input each, wheels roll on z = 0.  Links that
 * are fixed to each other become one body. */
#ifndef NS_COMMAND_MODELS_URDF_H
#define NS_COMMAND_MODELS_URDF_H

#include "base/text.h"

typedef struct ns_urdf_notes {
    NS_LIST(const char *) at; /* what was left out or assumed */
} ns_urdf_notes;

/* The text of the model, in the arena, and notes; NULL with a message "NAME:LINE:COLUMN: ...".
 * `name` is that of the file. */
const char *ns_urdf_convert(ns_arena *arena, const char *name, const char *text, size_t length,
                            ns_urdf_notes *notes, const char **message);

#endif
