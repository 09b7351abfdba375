/* For files of plot*.c alone: SVG elements. */
#ifndef NS_OUT_PLOT_PLOT_PAINT_H
#define NS_OUT_PLOT_PLOT_PAINT_H

#include "out/plot/plot.h"
#include "out/plot/plot_axis.h"

typedef struct ns_frame { /* of a panel, in pixels */
    double left, top, right, bottom;
} ns_frame;

/* A number with at most two digits after the point, the same in every locale. */
void ns_paint_number(ns_text *out, double value);
/* Text that may contain anything, so that the file stays well-formed. */
void ns_paint_escaped(ns_text *out, const char *text);
/* Width in pixels, about, of text in a sans-serif font. */
double ns_paint_width(const char *text, double size);

const char *ns_paint_colour(ns_plot_colour colour);
ns_plot_colour ns_paint_next(unsigned number); /* the colour of the n-th series */

void ns_paint_series(ns_text *out, const ns_plot_series *series, const char *colour,
                     const ns_scale *x, const ns_scale *y, const ns_frame *frame,
                     ns_arena *arena);
/* The marker or line of a legend, 24 pixels wide, centred at y. */
void ns_paint_sample(ns_text *out, const ns_plot_series *series, const char *colour, double x,
                     double y);
/* The cells of a field; `z` maps values to 0 ... 1. */
void ns_paint_field(ns_text *out, const ns_plot_field *field, const ns_scale *x,
                    const ns_scale *y, const ns_scale *z);
/* Colour of the k-th word of fields, none of those that stand for numbers. */
const char *ns_paint_word(uint32_t k);
/* "#rrggbb" of a place 0 ... 1 in the range of colours. */
void ns_paint_map(bool diverging, double place, char colour[8]);

#endif
