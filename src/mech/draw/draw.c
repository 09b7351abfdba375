/* draw [above|side|space|algebra] { [NAME:] KIND VALUE, ..., OPTION = VALUE; ... }
 *
 * Each line adds one thing to the scene.  Places are vectors: of 3 in space, of 2 in a plane,
 * which is x-y seen from above or x-z seen from the side.  Places and turns are expressions of
 * anything; sizes are of parameters, since shapes are rigid. */

#include <string.h>

#include "base/near.h"
#include "base/text.h"
#include "mech/draw/draw_internal.h"

enum { /* options */
       COLOUR = 1,
       RADIUS = 2,
       SPOKES = 4,
       THICKNESS = 8,
       OPACITY = 16,
       UNIT = 32,
       SCALE = 64,
       TURN = 128, /* turn, x, y, z */
       AXIS = 256,
       WIDTH = 512,
       SHAPE = COLOUR | OPACITY | TURN,
};

typedef struct thing {
    const char *kind;
    bool (*add)(ns_drawer *w, const struct thing *which);
    const char *form, *help;
    uint32_t least, most; /* values */
    uint32_t options;
    int shape; /* ns_shape_kind of bodies */
} thing;

/* ---- things ------------------------------------------------------------------------------ */

/* Names of bodies are there once. */
static const char *body_name(const ns_drawer *w, const thing *which)
{
    const char *wanted = w->line->name ? w->line->name : which->kind, *name = wanted;
    for (uint32_t number = 2;; number++) {
        bool taken = false;
        for (uint32_t i = 0; i < w->scene->bodies.n; i++)
            taken = taken || strcmp(w->scene->bodies.at[i].name, name) == 0;
        if (!taken)
            return name;
        name = ns_arena_format(w->s->arena, "%s %u", wanted, number);
    }
}

/* [x, y, z], or of a box in a plane [x, y] */
static bool read_lengths(ns_drawer *w, const ns_draw_value *size, ns_scene_shape *shape)
{
    const bool planar_box = w->view != NS_VIEW_SPACE && shape->kind == NS_SHAPE_BOX;
    const bool flat = planar_box && ns_drawer_is_vector(size, 2);
    if (!flat && !ns_drawer_is_vector(size, 3))
        return ns_drawer_complain(w, size,
                                  planar_box ? "two or three lengths" : "three lengths");
    for (uint32_t i = 0; i < size->value.rows; i++) {
        /* from the side the second length is the height */
        const uint32_t k = flat && i == 1 && w->view == NS_VIEW_SIDE ? 2 : i;
        shape->size[k] = ns_drawer_at(w, size, i);
        if (!ns_drawer_fixed(w, size, "a size", shape->size[k]))
            return false;
    }
    if (flat) /* as deep as it is wide, or high */
        shape->size[w->view == NS_VIEW_SIDE ? 1 : 2] = ns_mul(w->g, ns_number(w->g, 0.5),
                                                              ns_drawer_at(w, size, 1));
    return true;
}

static bool read_outline(ns_drawer *w, const ns_draw_value *corners, ns_scene_shape *shape)
{
    const uint32_t n = corners->value.rows;
    if (corners->word || corners->value.cols != 2 || n < 3)
        return ns_drawer_complain(w, corners, "corners [[x, y], [x, y], [x, y], ...]");
    ns_v3 *outline = NS_NEW_ARRAY(w->s->arena, ns_v3, n);
    for (uint32_t i = 0; i < n; i++) {
        outline[i] = ns_v3_make(ns_drawer_at(w, corners, 2 * i),
                                ns_drawer_at(w, corners, 2 * i + 1), ns_zero(w->g));
        for (int k = 0; k < 2; k++)
            if (!ns_drawer_fixed(w, corners, "a corner", outline[i].at[k]))
                return false;
    }
    shape->outline = outline;
    shape->outlines = n;
    return true;
}

/* SIZES, from value *NEXT on, which is moved past them. */
static bool read_sizes(ns_drawer *w, uint32_t *next, ns_scene_shape *shape)
{
    const ns_draw_value *first = ns_drawer_nth(w->line, *next);
    switch (shape->kind) {
    case NS_SHAPE_BOX:
    case NS_SHAPE_ELLIPSOID:
        ++*next;
        return read_lengths(w, first, shape);
    case NS_SHAPE_PLATE:
        ++*next;
        return read_outline(w, first, shape);
    default:
        break;
    }
    const bool two = shape->kind == NS_SHAPE_TORUS || shape->kind == NS_SHAPE_CYLINDER;
    for (uint32_t i = 0; i < (two ? 2 : 1); i++, ++*next)
        if (!ns_drawer_constant(w, ns_drawer_nth(w->line, *next), "a size", &shape->size[i]))
            return false;
    return true;
}

/* How the thing looks: colour, thickness, width, opacity, spokes. */
static bool read_look(ns_drawer *w, const thing *which, ns_scene_shape *shape)
{
    const uint32_t thin = shape->kind == NS_SHAPE_PLATE ? 0 : 1;
    double spokes = 0;
    if (!ns_drawer_colour(w, &shape->colour) ||
        ((which->options & THICKNESS) &&
         !ns_drawer_optional(w, "thickness", &shape->size[thin])) ||
        ((which->options & WIDTH) && !ns_drawer_optional(w, "width", &shape->size[1])) ||
        !ns_drawer_optional_number(w, "opacity", 0, 1, &shape->opacity) ||
        !ns_drawer_optional_number(w, "spokes", 1, 100, &spokes))
        return false;
    if (shape->kind == NS_SHAPE_WHEEL && shape->size[1]) /* the radius of the tyre */
        shape->size[1] = ns_mul(w->g, ns_number(w->g, 0.5), shape->size[1]);
    shape->spokes = (uint32_t)spokes;
    if ((shape->opacity > 0 && shape->opacity < 1) || shape->kind == NS_SHAPE_BOX)
        shape->pattern = "plain"; /* edges show how a box turns */
    return true;
}

/* The axis: the one given, or, seen from the side, the one by which the thing faces the
 * viewer. */
static bool read_axis(ns_drawer *w, ns_scene_shape *shape)
{
    const ns_draw_value *axis = ns_drawer_option(w->line, "axis");
    const ns_shape_kind kind = shape->kind;
    if (axis) {
        shape->turned = true;
        if (!ns_drawer_vector(w, axis, "a direction", &shape->axis))
            return false;
        for (int k = 0; k < 3; k++)
            if (!ns_drawer_fixed(w, axis, "the axis", shape->axis.at[k]))
                return false;
    } else if (w->view == NS_VIEW_SIDE &&
               (kind == NS_SHAPE_DISK || kind == NS_SHAPE_WHEEL || kind == NS_SHAPE_CYLINDER ||
                kind == NS_SHAPE_TORUS || kind == NS_SHAPE_PLATE)) {
        shape->turned = true;
        shape->axis = ns_v3_neg(w->g, ns_v3_unit(w->g, 1));
    }
    return true;
}

/* KIND CENTRE, SIZES [, ANGLE] */
static bool add_body(ns_drawer *w, const thing *which)
{
    ns_scene_body body = {.name = body_name(w, which)};
    ns_scene_shape shape = {.kind = (ns_shape_kind)which->shape, .at = ns_v3_zero(w->g)};
    uint32_t next = 1;
    if (!ns_drawer_vector(w, ns_drawer_nth(w->line, 0), "the middle", &body.position) ||
        !read_sizes(w, &next, &shape))
        return false;
    const ns_draw_value *angle = ns_drawer_nth(w->line, next);
    if (angle && w->view == NS_VIEW_SPACE) {
        ns_diag_error(w->d->diag, angle->span,
                      "in space a thing is turned by options: z = ANGLE, x = ANGLE, ..., or "
                      "turn = QUATERNION");
        return false;
    }
    if (!ns_drawer_orientation(w, angle, body.quat) || !read_look(w, which, &shape) ||
        !read_axis(w, &shape))
        return false;
    body.colour = shape.colour;
    NS_PUSH(w->s->arena, body.shapes, shape);
    NS_PUSH(w->s->arena, w->scene->bodies, body);
    return true;
}

static bool add_link(ns_drawer *w, const thing *which)
{
    ns_scene_link link = {.kind = (ns_link_kind)which->shape, .name = w->line->name};
    if (!ns_drawer_vector(w, ns_drawer_nth(w->line, 0), "an end", &link.a) ||
        !ns_drawer_vector(w, ns_drawer_nth(w->line, 1), "an end", &link.b) ||
        !ns_drawer_colour(w, &link.colour) || !ns_drawer_optional(w, "radius", &link.radius))
        return false;
    NS_PUSH(w->s->arena, w->scene->links, link);
    return true;
}

static bool add_point(ns_drawer *w, const thing *which)
{
    (void)which;
    ns_scene_point point = {.name = w->line->name};
    if (!ns_drawer_vector(w, ns_drawer_nth(w->line, 0), "a place", &point.at) ||
        !ns_drawer_colour(w, &point.colour))
        return false;
    NS_PUSH(w->s->arena, w->scene->points, point);
    return true;
}

static bool add_trail(ns_drawer *w, const thing *which)
{
    (void)which;
    ns_scene_path path = {.name = w->line->name ? w->line->name : "trail", .body = -1};
    if (!ns_drawer_vector(w, ns_drawer_nth(w->line, 0), "a place", &path.point) ||
        !ns_drawer_colour(w, &path.colour))
        return false;
    NS_PUSH(w->s->arena, w->scene->paths, path);
    return true;
}

static bool add_arrow(ns_drawer *w, const thing *which)
{
    (void)which;
    ns_scene_arrow arrow = {.name = w->line->name ? w->line->name : "arrow", .unit = ""};
    if (!ns_drawer_vector(w, ns_drawer_nth(w->line, 0), "where the arrow begins",
                          &arrow.origin) ||
        !ns_drawer_vector(w, ns_drawer_nth(w->line, 1), "the arrow", &arrow.vector) ||
        !ns_drawer_colour(w, &arrow.colour) ||
        !ns_drawer_optional_text(w, "unit", &arrow.unit) ||
        !ns_drawer_optional(w, "scale", &arrow.scale))
        return false;
    NS_PUSH(w->s->arena, w->scene->arrows, arrow);
    return true;
}

/* A function of the model at symbols of its own; its value has `rows` numbers. */
static bool function(ns_drawer *w, const ns_draw_value *v, const ns_ex *args, uint32_t n,
                     const char *what, ns_value *value)
{
    const ns_function *found = NULL;
    for (uint32_t i = 0; v->word && i < w->d->functions.n; i++)
        if (strcmp(w->d->functions.at[i].name, v->word) == 0)
            found = &w->d->functions.at[i];
    if (!found)
        return ns_drawer_complain(w, v, what);
    if (found->arity != n) {
        ns_diag_error(w->d->diag, v->span, "expected %s, but `%s` has %u arguments", what,
                      v->word, found->arity);
        return false;
    }
    return ns_description_call(w->d, v->word, args, n, v->span, value);
}

static bool add_curve(ns_drawer *w, const thing *which)
{
    ns_scene_curve curve = {.kind = (ns_scene_curve_kind)which->shape,
                            .name = w->line->name ? w->line->name : which->kind,
                            .side = 1};
    ns_draw_value value = *ns_drawer_nth(w->line, 0);
    curve.u = ns_symbol_new(w->g, "u", NS_SYM_LOCAL, 0);
    if (!function(w, &value, &curve.u, 1, "the name of a function of one number, NAME(u)",
                  &value.value))
        return false;
    const char *name = value.word;
    value.word = NULL;
    if (!ns_drawer_vector(w, &value, ns_arena_format(w->s->arena, "%s(u) to be a place", name),
                          &curve.point) ||
        !ns_drawer_constant(w, ns_drawer_nth(w->line, 1), "where the curve begins",
                            &curve.range[0]) ||
        !ns_drawer_constant(w, ns_drawer_nth(w->line, 2), "where the curve ends",
                            &curve.range[1]) ||
        !ns_drawer_colour(w, &curve.colour) ||
        ((which->options & RADIUS) && !ns_drawer_optional(w, "radius", &curve.radius)))
        return false;
    for (int i = 0; i < 3; i++)
        if (!ns_drawer_fixed(w, &value, "a curve", curve.point.at[i]))
            return false;
    NS_PUSH(w->s->arena, w->scene->curves, curve);
    return true;
}

static bool ground_free(const ns_drawer *w)
{
    if (w->scene->ground.kind == NS_DRAW_NONE)
        return true;
    ns_diag_error(w->d->diag, w->line->span, "there is a ground already");
    return false;
}

static bool add_floor(ns_drawer *w, const thing *which)
{
    (void)which;
    ns_graph *g = w->g;
    ns_ex height = ns_zero(g);
    const ns_draw_value *v = ns_drawer_nth(w->line, 0);
    if (!ground_free(w) || (v && !ns_drawer_constant(w, v, "the height", &height)))
        return false;
    w->scene->ground = (ns_drawing){.kind = NS_DRAW_PLANE,
                                    .point = ns_v3_make(ns_zero(g), ns_zero(g), height),
                                    .base = {ns_v3_unit(g, 0), ns_v3_unit(g, 1)}};
    return true;
}

static bool add_surface(ns_drawer *w, const thing *which)
{
    (void)which;
    ns_drawing ground = {.kind = NS_DRAW_GRAPH};
    const ns_draw_value *v = ns_drawer_nth(w->line, 0);
    ns_value value = {0};
    static const char *const names[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++)
        ground.x[i] = ns_symbol_new(w->g, names[i], NS_SYM_LOCAL, 0);
    uint32_t arity = 2;
    for (uint32_t i = 0; v->word && i < w->d->functions.n; i++)
        if (strcmp(w->d->functions.at[i].name, v->word) == 0 &&
            w->d->functions.at[i].arity == 3)
            arity = 3;
    if (!ground_free(w) ||
        !function(w, v, ground.x, arity,
                  "the name of a function: NAME(x, y), the height, or NAME(x, y, z)", &value))
        return false;
    if (value.rows != 1 || value.cols != 1) {
        ns_diag_error(w->d->diag, v->span, "expected %s to be a number", v->word);
        return false;
    }
    if (arity == 3)
        ground.kind = NS_DRAW_IMPLICIT;
    ground.F = value.at[0];
    if (!ns_drawer_fixed(w, v, "a surface", ground.F))
        return false;
    w->scene->ground = ground;
    return true;
}

/* ---- the picture in a Lie algebra -------------------------------------------------------- */

static bool add_moving(ns_drawer *w, const thing *which)
{
    (void)which;
    ns_scene_algebra *a = &w->scene->algebra;
    if (a->drawn) {
        ns_diag_error(w->d->diag, w->line->span, "this picture has its point already");
        return false;
    }
    a->drawn = true;
    a->name = w->line->name ? w->line->name : "point";
    return ns_drawer_optional_text(w, "unit", &a->unit) &&
           ns_drawer_vector(w, ns_drawer_nth(w->line, 0), "a place", &a->point);
}

static bool add_level(ns_drawer *w, const thing *which)
{
    ns_scene_level level = {.name = w->line->name ? w->line->name : which->kind};
    const ns_draw_value *first = ns_drawer_nth(w->line, 0);
    level.size = ns_zero(w->g);
    level.at = ns_v3_zero(w->g);
    level.kind = (unsigned)which->shape;
    if (!ns_drawer_colour(w, &level.colour))
        return false;
    if (which->shape == NS_LEVEL_SPHERE
            ? !ns_drawer_number(w, first, "a radius", &level.size)
            : !ns_drawer_vector(w, first,
                                which->shape == NS_LEVEL_PLANE       ? "the normal"
                                : which->shape == NS_LEVEL_ELLIPSOID ? "half axes"
                                                                     : "a place",
                                &level.at))
        return false;
    if (which->shape == NS_LEVEL_PLANE && ns_drawer_nth(w->line, 1) &&
        !ns_drawer_number(w, ns_drawer_nth(w->line, 1), "the offset", &level.size))
        return false;
    NS_PUSH(w->s->arena, w->scene->algebra.levels, level);
    return true;
}

static bool add_vector(ns_drawer *w, const thing *which)
{
    (void)which;
    ns_scene_arrow arrow = {.name = w->line->name ? w->line->name : "vector",
                            .unit = "",
                            .origin = ns_v3_zero(w->g)};
    if (!ns_drawer_vector(w, ns_drawer_nth(w->line, 0), "a vector", &arrow.vector) ||
        !ns_drawer_colour(w, &arrow.colour) || !ns_drawer_optional_text(w, "unit", &arrow.unit))
        return false;
    NS_PUSH(w->s->arena, w->scene->algebra.vectors, arrow);
    return true;
}

static bool add_axes(ns_drawer *w, const thing *which)
{
    (void)which;
    for (uint32_t i = 0; i < 3; i++) {
        const ns_draw_value *v = ns_drawer_nth(w->line, i);
        if (!v->word)
            return ns_drawer_complain(w, v, "text in quotes");
        w->scene->algebra.axes[i] = v->word;
    }
    if (w->line->name)
        w->scene->algebra.title = w->line->name;
    return true;
}

/* ---- tables ------------------------------------------------------------------------------ */

static const thing things[] = {
    {"point", add_point, "point P", "a dot; a named one is labelled", 1, 1, COLOUR, 0},
    {"rod", add_link, "rod A, B", "a rod between two points", 2, 2, COLOUR | RADIUS,
     NS_LINK_ROD},
    {"spring", add_link, "spring A, B", "a spring", 2, 2, COLOUR | RADIUS, NS_LINK_SPRING},
    {"line", add_link, "line A, B", "a thin line", 2, 2, COLOUR, NS_LINK_LINE},
    {"arrow", add_arrow, "arrow A, V", "an arrow from A along V, as long as V says", 2, 2,
     COLOUR | UNIT | SCALE, 0},
    {"trail", add_trail, "trail P", "the path of a point", 1, 1, COLOUR, 0},
    {"ball", add_body, "ball C, R [, ANGLE]", "a ball", 2, 3, SHAPE, NS_SHAPE_SPHERE},
    {"disk", add_body, "disk C, R [, ANGLE]", "a disk", 2, 3, SHAPE | THICKNESS | AXIS,
     NS_SHAPE_DISK},
    {"wheel", add_body, "wheel C, R [, ANGLE]", "a wheel with spokes", 2, 3,
     SHAPE | SPOKES | AXIS | THICKNESS, NS_SHAPE_WHEEL},
    {"box", add_body, "box C, [LENGTHS] [, ANGLE]", "a box; in a plane also of two lengths", 2,
     3, SHAPE, NS_SHAPE_BOX},
    {"polygon", add_body, "polygon C, [[X, Y], ...] [, ANGLE]", "a plate with these corners", 2,
     3, SHAPE | THICKNESS | AXIS, NS_SHAPE_PLATE},
    {"blade", add_body, "blade C, LENGTH [, ANGLE]", "a knife edge along its x", 2, 3,
     SHAPE | WIDTH, NS_SHAPE_BLADE},
    {"ellipsoid", add_body, "ellipsoid C, [A, B, C] [, ANGLE]", "an ellipsoid", 2, 3, SHAPE,
     NS_SHAPE_ELLIPSOID},
    {"cylinder", add_body, "cylinder C, R, HEIGHT [, ANGLE]", "a cylinder along its z", 3, 4,
     SHAPE | AXIS, NS_SHAPE_CYLINDER},
    {"torus", add_body, "torus C, R, TUBE [, ANGLE]", "a torus about its z", 3, 4, SHAPE | AXIS,
     NS_SHAPE_TORUS},
    {"curve", add_curve, "curve F, FROM, TO", "the points F(u) of a function", 3, 3, COLOUR,
     NS_CURVE_LINE},
    {"wire", add_curve, "wire F, FROM, TO", "the same as a wire", 3, 3, COLOUR | RADIUS,
     NS_CURVE_WIRE},
    {"ground", add_curve, "ground F, FROM, TO",
     "the same as the ground of a plane; things are to its left", 3, 3, COLOUR,
     NS_CURVE_GROUND},
    {"floor", add_floor, "floor [Z]", "a horizontal plane", 0, 1, 0, 0},
    {"surface", add_surface, "surface F", "the ground z = F(x, y), or F(x, y, z) = 0", 1, 1, 0,
     0},
    {.kind = NULL},
};

static const thing abstract[] = {
    {"point", add_moving, "point V", "the moving point", 1, 1, COLOUR | UNIT, 0},
    {"sphere", add_level, "sphere R", "a sphere about 0", 1, 1, COLOUR, NS_LEVEL_SPHERE},
    {"ellipsoid", add_level, "ellipsoid [A, B, C]", "an ellipsoid about 0", 1, 1, COLOUR,
     NS_LEVEL_ELLIPSOID},
    {"plane", add_level, "plane N [, OFFSET]", "the plane dot(N, V) = OFFSET", 1, 2, COLOUR,
     NS_LEVEL_PLANE},
    {"mark", add_level, "mark P", "a point at rest", 1, 1, COLOUR, NS_LEVEL_POINT},
    {"arrow", add_vector, "arrow V", "an arrow from 0", 1, 1, COLOUR | UNIT, 0},
    {"axes", add_axes, "axes \"X\", \"Y\", \"Z\"", "names of the axes", 3, 3, 0, 0},
    {.kind = NULL},
};

static const struct {
    const char *name;
    uint32_t bit;
} options[] = {
    {"colour", COLOUR},       {"color", COLOUR},    {"radius", RADIUS}, {"spokes", SPOKES},
    {"thickness", THICKNESS}, {"opacity", OPACITY}, {"unit", UNIT},     {"scale", SCALE},
    {"turn", TURN},           {"x", TURN},          {"y", TURN},        {"z", TURN},
    {"axis", AXIS},           {"width", WIDTH}};

/* Are the options known here, and the values as many as there must be? */
static bool check(const ns_drawer *w, const thing *which)
{
    const ns_draw_line *line = w->line;
    uint32_t n = 0;
    for (uint32_t i = 0; i < line->n; i++) {
        const ns_draw_value *v = &line->values[i];
        bool known = !v->option;
        n += !v->option;
        for (size_t k = 0; v->option && k < sizeof options / sizeof *options; k++)
            known = known || ((options[k].bit & which->options) &&
                              strcmp(options[k].name, v->option) == 0);
        if (!known) {
            ns_text names = ns_text_new(w->s->arena);
            for (size_t k = 0; k < sizeof options / sizeof *options; k++)
                if (options[k].bit & which->options)
                    ns_text_addf(&names, "%s%s", names.length ? ", " : "", options[k].name);
            ns_diag_error(w->d->diag, v->option_span, "`%s` has no option `%s`; %s%s",
                          which->kind, v->option, names.length ? "there are: " : "it has none",
                          ns_text_string(&names));
            return false;
        }
    }
    if (n >= which->least && n <= which->most)
        return true;
    ns_diag_error(w->d->diag, line->span, "expected `%s`, found %u value%s", which->form, n,
                  n == 1 ? "" : "s");
    return false;
}

static bool add_line(ns_drawer *w, const thing *table)
{
    ns_near near = {.word = w->line->kind};
    ns_text known = ns_text_new(w->s->arena);
    for (const thing *i = table; i->kind; i++) {
        if (strcmp(i->kind, w->line->kind) == 0)
            return check(w, i) && i->add(w, i);
        ns_near_try(&near, i->kind);
        ns_text_addf(&known, "%s%s", i == table ? "" : ", ", i->kind);
    }
    if (near.found)
        ns_diag_error(w->d->diag, w->line->span, "cannot draw `%s`; did you mean `%s`?",
                      w->line->kind, near.found);
    else
        ns_diag_error(w->d->diag, w->line->span, "cannot draw `%s`; there are: %s",
                      w->line->kind, ns_text_string(&known));
    return false;
}

/* ---- views ------------------------------------------------------------------------------- */

static bool has_place_in_space(const ns_description *d)
{
    for (uint32_t i = 0; i < d->draws.n; i++) {
        const ns_draw_line *line = &d->draws.at[i];
        const ns_draw_value *first = line->kind ? ns_drawer_nth(line, 0) : NULL;
        if (!line->view && first && ns_drawer_is_vector(first, 3))
            return true;
    }
    return false;
}

/* How the picture is seen: as said, or as the places are given.  Two views that differ are an
 * error. */
static bool find_view(const ns_description *d, ns_scene *scene)
{
    static const char *const names[] = {"space", "above", "side", "algebra", NULL};
    bool occupied = scene->bodies.n || scene->ground.kind != NS_DRAW_NONE, good = true;
    int found = -1;
    for (uint32_t i = 0; i < d->draws.n; i++) {
        const ns_draw_line *line = &d->draws.at[i];
        int view = -1;
        if (line->kind || !line->view)
            continue;
        for (int k = 0; names[k]; k++)
            if (strcmp(names[k], line->view) == 0)
                view = k;
        if (view < 0) {
            ns_diag_error(d->diag, line->view_span,
                          "there is no view `%s`; there are: above, side, space, algebra",
                          line->view);
            good = false;
        } else if (view == 3) {
            continue;
        } else if (found >= 0 && found != view) {
            ns_diag_error(d->diag, line->view_span,
                          "the picture is seen from one place: `%s` was said before",
                          names[found]);
            good = false;
        } else if (occupied && view != NS_VIEW_SPACE) {
            ns_diag_error(d->diag, line->view_span,
                          "formulation draws its bodies in space: leave out `%s`", line->view);
            good = false;
        } else {
            found = view;
        }
    }
    scene->view = found >= 0                          ? (ns_scene_view)found
                  : occupied || has_place_in_space(d) ? NS_VIEW_SPACE
                                                      : NS_VIEW_ABOVE;
    return good;
}

/* Is the look of a formulation's body given by lines of the model?  A shape with the same place
 * and orientation replaces it; a guess gives way to anything that hangs on the body. */
static bool is_replaced(const ns_scene *scene, const ns_graph *g, const ns_scene_body *body,
                        uint32_t first_body, uint32_t first_link)
{
    ns_ex own[7];
    memcpy(own, body->position.at, sizeof body->position.at);
    memcpy(own + 3, body->quat, sizeof body->quat);
    for (uint32_t i = first_body; i < scene->bodies.n; i++) {
        const ns_scene_body *other = &scene->bodies.at[i];
        if (memcmp(other->quat, body->quat, sizeof body->quat) == 0 &&
            memcmp(&other->position, &body->position, sizeof body->position) == 0)
            return true;
        for (int k = 0; k < 3; k++)
            if (body->guessed && ns_graph_depends(g, other->position.at[k], own, 7))
                return true;
    }
    for (uint32_t i = first_link; body->guessed && i < scene->links.n; i++)
        for (int k = 0; k < 3; k++)
            if (ns_graph_depends(g, scene->links.at[i].a.at[k], own, 7) ||
                ns_graph_depends(g, scene->links.at[i].b.at[k], own, 7))
                return true;
    return false;
}

bool ns_draw_scene(ns_description *d, ns_system *s)
{
    uint32_t errors = d->diag->errors, bodies = s->scene.bodies.n, links = s->scene.links.n;
    ns_drawer w = {.d = d, .s = s, .g = s->graph, .scene = &s->scene};
    if (d->draws.n == 0)
        return true;
    if (!find_view(d, &s->scene))
        return false;
    for (uint32_t i = 0; i < d->draws.n; i++) {
        w.line = &d->draws.at[i];
        bool algebra = w.line->view && strcmp(w.line->view, "algebra") == 0;
        w.view = algebra ? NS_VIEW_SPACE : s->scene.view;
        if (w.line->kind)
            add_line(&w, algebra ? abstract : things);
    }
    if (s->scene.view == NS_VIEW_ABOVE && s->scene.ground.kind == NS_DRAW_NONE)
        add_floor(
            &(ns_drawer){
                .d = d, .s = s, .g = s->graph, .scene = &s->scene, .line = &(ns_draw_line){0}},
            NULL);
    for (uint32_t i = 0; i < bodies; i++)
        if (is_replaced(&s->scene, s->graph, &s->scene.bodies.at[i], bodies, links)) {
            s->scene.bodies.at[i].shapes.n = 0;
            s->scene.bodies.at[i].drawing.kind = NS_DRAW_NONE;
        }
    return d->diag->errors == errors;
}
