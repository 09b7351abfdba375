/* For draw*.c alone: reading the values of a line.  What returns bool is false after an error;
 * `what` names what was expected. */
#ifndef NS_MECH_DRAW_DRAW_INTERNAL_H
#define NS_MECH_DRAW_DRAW_INTERNAL_H

#include "mech/draw/draw.h"

typedef struct ns_drawer {
    ns_description *d;
    ns_system *s;
    ns_graph *g;
    ns_scene *scene;
    ns_scene_view view; /* of the line's block */
    const ns_draw_line *line;
} ns_drawer;

/* The n-th value in order, counted from 0, and an option by name; NULL if there is none. */
const ns_draw_value *ns_drawer_nth(const ns_draw_line *line, uint32_t n);
const ns_draw_value *ns_drawer_option(const ns_draw_line *line, const char *name);

bool ns_drawer_complain(const ns_drawer *w, const ns_draw_value *v, const char *what);
bool ns_drawer_is_vector(const ns_draw_value *v, uint32_t rows);
ns_ex ns_drawer_at(const ns_drawer *w, const ns_draw_value *v, uint32_t i); /* in states */
bool ns_drawer_number(const ns_drawer *w, const ns_draw_value *v, const char *what, ns_ex *out);
/* Does it stay what it is?  Shapes are rigid. */
bool ns_drawer_fixed(const ns_drawer *w, const ns_draw_value *v, const char *what, ns_ex e);
bool ns_drawer_constant(const ns_drawer *w, const ns_draw_value *v, const char *what,
                        ns_ex *out);
/* A place or direction; planes may leave out one component. */
bool ns_drawer_vector(const ns_drawer *w, const ns_draw_value *v, const char *what, ns_v3 *out);

/* Options; what is not there leaves *out as it is. */
bool ns_drawer_colour(const ns_drawer *w, const char **out);
bool ns_drawer_optional(const ns_drawer *w, const char *name, ns_ex *out);
bool ns_drawer_optional_number(const ns_drawer *w, const char *name, double lo, double hi,
                               double *out); /* known now */
bool ns_drawer_optional_text(const ns_drawer *w, const char *name, const char **out);
/* The orientation: the angle among the values (planes; may be NULL), turn = QUATERNION or
 * MATRIX, and turns about the thing's own axes one after the other: z = phi, x = theta, z =
 * psi.  All 0 if it is never turned. */
bool ns_drawer_orientation(const ns_drawer *w, const ns_draw_value *angle, ns_ex quat[4]);

#endif
