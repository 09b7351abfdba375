/* Pictures for paper and screen without a browser: lines, points and fields of numbers as SVG.
 *
 *     ns_plot *plot = ns_plot_new(arena, "Pendulum");
 *     ns_plot_panel *panel = ns_plot_add(plot, "", "time", "s", "angle", "rad");
 *     ns_plot_line(panel, "theta", n, t, theta);
 *     ns_plot_line(panel, "small swings", n, t, linear)->dashed = true;
 *     int error = ns_plot_write(plot, "pendulum.svg");          // 0 or errno
 *
 * Panels stand in `columns` columns, filled row by row.  Every axis fits its data unless from
 * and to are set.  What a function returns may be changed until the plot is written; fields
 * that are 0 or NULL mean what is usual.  Numbers and names are borrowed: they must live until
 * then.  The same plot gives the same bytes. */
#ifndef NS_OUT_PLOT_PLOT_H
#define NS_OUT_PLOT_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"

/* Colours that colour-blind readers can tell apart, in the order in which series take them. */
typedef enum ns_plot_colour {
    NS_PLOT_AUTO, /* the next one */
    NS_PLOT_BLUE,
    NS_PLOT_VERMILION,
    NS_PLOT_GREEN,
    NS_PLOT_PURPLE,
    NS_PLOT_ORANGE,
    NS_PLOT_SKY,
    NS_PLOT_BROWN,
    NS_PLOT_BLACK,
    NS_PLOT_GREY
} ns_plot_colour;

typedef enum ns_plot_marker {
    NS_PLOT_NO_MARKER,
    NS_PLOT_DOT, /* small: for thousands of points */
    NS_PLOT_CIRCLE,
    NS_PLOT_SQUARE,
    NS_PLOT_TRIANGLE,
    NS_PLOT_DIAMOND,
    NS_PLOT_CROSS
} ns_plot_marker;

typedef struct ns_plot_axis {
    const char *label, *unit; /* shown as "label (unit)" */
    bool log;                 /* what is not positive is left out */
    double from, to;          /* equal: fit the data; from > to turns the axis round */
} ns_plot_axis;

/* Points joined by a line, or not.  A pair with a nan lifts the pen. */
typedef struct ns_plot_series {
    const char *name; /* in the legend, if it has one */
    size_t n;
    const double *x, *y;
    bool line, dashed;
    ns_plot_marker marker;
    ns_plot_colour colour;
    const char *paint;       /* any colour of SVG instead */
    double width;            /* of the line, or size of the marker, in pixels */
    const char *const *note; /* [n] more about each point, for the page; may be NULL */
} ns_plot_series;

/* A straight line across the panel at a value of y (or of x if vertical). */
typedef struct ns_plot_level {
    const char *name; /* written along it, may be NULL */
    double at;
    bool vertical;
} ns_plot_level;

/* A shaded range of x (or of y if horizontal). */
typedef struct ns_plot_span {
    double from, to;
    bool horizontal;
} ns_plot_span;

/* Numbers on a grid of equal cells (equal in the logarithm on a logarithmic axis), drawn as
 * colours with a bar that explains them: value[row*columns + column], rows along y.
 * Not-a-number stays grey. */
typedef struct ns_plot_field {
    const char *label, *unit; /* of the values */
    size_t columns, rows;
    const double *value;
    double x[2], y[2]; /* outer edges of the grid */
    double from, to;   /* range of the colours; equal: fit */
    bool log;
    bool diverging; /* two colours about zero */
    /* Cells with a word instead of a number: word[cell] is 0 where there is a number, k for
     * words[k - 1], which has a colour of its own and a place in the legend.  May be NULL. */
    const uint8_t *word;
    const char *const *words;
    uint32_t n_words;
    const double *at_x, *at_y; /* [columns], [rows] what cells stand for; NULL: their middles */
    const char *const *note;   /* [cells] more about each, for the page; may be NULL */
} ns_plot_field;

typedef struct ns_plot_panel {
    struct ns_plot *plot;
    const char *title; /* may be "" */
    ns_plot_axis x, y;
    bool equal;    /* same scale on both axes */
    double height; /* of the frame in pixels; 0: a fitting one */
    NS_LIST(ns_plot_series *) series;
    NS_LIST(ns_plot_level *) levels;
    NS_LIST(ns_plot_span *) spans;
    ns_plot_field *field; /* NULL if there is none */
    /* What repeats the run behind a point, shown by the page at a click: {x} and {y} stand for
     * the point's place.  May be NULL. */
    const char *command;
} ns_plot_panel;

typedef struct ns_plot {
    ns_arena *arena;
    const char *title, *subtitle; /* may be NULL */
    unsigned columns;             /* 0: one */
    double width;                 /* in pixels; 0: 760 for one column, 1080 for more */
    NS_LIST(ns_plot_panel *) panels;
} ns_plot;

ns_plot *ns_plot_new(ns_arena *arena, const char *title);
ns_plot_panel *ns_plot_add(ns_plot *plot, const char *title, const char *x, const char *x_unit,
                           const char *y, const char *y_unit);
ns_plot_series *ns_plot_line(ns_plot_panel *panel, const char *name, size_t n, const double *x,
                             const double *y);
ns_plot_series *ns_plot_points(ns_plot_panel *panel, const char *name, size_t n,
                               const double *x, const double *y);
ns_plot_level *ns_plot_at(ns_plot_panel *panel, const char *name, double value);
ns_plot_span *ns_plot_shade(ns_plot_panel *panel, double from, double to);
ns_plot_field *ns_plot_map(ns_plot_panel *panel, size_t columns, size_t rows,
                           const double *value, const double x[2], const double y[2]);

/* The SVG text; it is well-formed whatever the names contain. */
void ns_plot_svg(const ns_plot *plot, ns_text *out);
/* The same as a file, complete or not at all: 0 or an errno value. */
int ns_plot_write(const ns_plot *plot, const char *path);

#endif
