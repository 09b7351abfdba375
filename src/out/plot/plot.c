/* Layout: where titles, legends, frames and labels of a plot stand.  Numbers of an axis are in
 * plot_axis.c, what is inside a frame is in plot_paint.c. */
#include "out/plot/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/math/vecmath.h"
#include "out/plot/plot_paint.h"

enum { FONT = 12, SMALL = 11, TITLE = 16, GAP = 26, EDGE = 14, ROW = 17 };
static const char INK[] = "#222222", SOFT[] = "#555555", LINE[] = "#888888", GRID[] = "#e7e7e7";

ns_plot *ns_plot_new(ns_arena *arena, const char *title)
{
    ns_plot *plot = NS_NEW(arena, ns_plot);
    plot->arena = arena;
    plot->title = title;
    return plot;
}

ns_plot_panel *ns_plot_add(ns_plot *plot, const char *title, const char *x, const char *x_unit,
                           const char *y, const char *y_unit)
{
    ns_plot_panel *panel = NS_NEW(plot->arena, ns_plot_panel);
    panel->plot = plot;
    panel->title = title ? title : "";
    panel->x = (ns_plot_axis){.label = x, .unit = x_unit};
    panel->y = (ns_plot_axis){.label = y, .unit = y_unit};
    NS_PUSH(plot->arena, plot->panels, panel);
    return panel;
}

static ns_plot_series *add(ns_plot_panel *panel, const char *name, size_t n, const double *x,
                           const double *y)
{
    ns_plot_series *s = NS_NEW(panel->plot->arena, ns_plot_series);
    *s = (ns_plot_series){.name = name, .n = n, .x = x, .y = y};
    NS_PUSH(panel->plot->arena, panel->series, s);
    return s;
}

ns_plot_series *ns_plot_line(ns_plot_panel *panel, const char *name, size_t n, const double *x,
                             const double *y)
{
    ns_plot_series *s = add(panel, name, n, x, y);
    s->line = true;
    return s;
}

ns_plot_series *ns_plot_points(ns_plot_panel *panel, const char *name, size_t n,
                               const double *x, const double *y)
{
    ns_plot_series *s = add(panel, name, n, x, y);
    s->marker = n > 500 ? NS_PLOT_DOT : NS_PLOT_CIRCLE;
    return s;
}

ns_plot_level *ns_plot_at(ns_plot_panel *panel, const char *name, double value)
{
    ns_plot_level *level = NS_NEW(panel->plot->arena, ns_plot_level);
    *level = (ns_plot_level){.name = name, .at = value};
    NS_PUSH(panel->plot->arena, panel->levels, level);
    return level;
}

ns_plot_span *ns_plot_shade(ns_plot_panel *panel, double from, double to)
{
    ns_plot_span *span = NS_NEW(panel->plot->arena, ns_plot_span);
    *span = (ns_plot_span){.from = from, .to = to};
    NS_PUSH(panel->plot->arena, panel->spans, span);
    return span;
}

ns_plot_field *ns_plot_map(ns_plot_panel *panel, size_t columns, size_t rows,
                           const double *value, const double x[2], const double y[2])
{
    ns_plot_field *field = NS_NEW(panel->plot->arena, ns_plot_field);
    *field = (ns_plot_field){
        .columns = columns, .rows = rows, .value = value, .x = {x[0], x[1]}, .y = {y[0], y[1]}};
    panel->field = field;
    return field;
}

/* ---- ranges ------------------------------------------------------------------------------ */

typedef struct range {
    double lo, hi;
} range;

static const range nothing = {INFINITY, -INFINITY};

static void include(range *r, double v, bool log)
{
    if (!(fabs(v) < 1e300) || (log && !(v > 1e-300)))
        return;
    r->lo = ns_min(r->lo, v);
    r->hi = ns_max(r->hi, v);
}

static bool is_set(const ns_plot_axis *axis)
{
    return axis->from != axis->to && isfinite(axis->from - axis->to) &&
           !(axis->log && (axis->from <= 0 || axis->to <= 0));
}

static bool within(const ns_plot_axis *axis, double v)
{
    return !is_set(axis) ||
           (v >= ns_min(axis->from, axis->to) && v <= ns_max(axis->from, axis->to));
}

static void fit_axis(const ns_plot_panel *panel, bool vertical, ns_scale *scale)
{
    const ns_plot_axis *axis = vertical ? &panel->y : &panel->x,
                       *other = vertical ? &panel->x : &panel->y;
    scale->log = axis->log;
    if (is_set(axis)) {
        scale->from = axis->from;
        scale->to = axis->to;
        return;
    }
    range r = nothing;
    bool points = panel->equal;
    for (uint32_t i = 0; i < panel->series.n; i++) {
        const ns_plot_series *s = panel->series.at[i];
        points = points || !s->line || s->marker != NS_PLOT_NO_MARKER;
        for (size_t k = 0; k < s->n; k++) {
            double v = vertical ? s->y[k] : s->x[k], w = vertical ? s->x[k] : s->y[k];
            if (isfinite(w) && (!vertical || within(other, w)))
                include(&r, v, axis->log);
        }
    }
    for (uint32_t i = 0; i < panel->levels.n; i++)
        if (panel->levels.at[i]->vertical != vertical)
            include(&r, panel->levels.at[i]->at, axis->log);
    bool field = panel->field && panel->series.n == 0;
    for (int k = 0; panel->field && k < 2; k++)
        include(&r, vertical ? panel->field->y[k] : panel->field->x[k], axis->log);
    ns_scale_fit(scale, r.lo, r.hi, field ? 0 : vertical || points ? 0.05 : 0);
}

/* Same scale on both axes: the one that has too much room gets a larger range. */
static void equalise(ns_scale *x, ns_scale *y)
{
    double w = fabs(x->hi - x->lo), h = fabs(y->hi - y->lo);
    double per_x = (x->to - x->from) / w, per_y = (y->to - y->from) / h;
    ns_scale *wide = fabs(per_x) < fabs(per_y) ? x : y;
    double factor = wide == x ? fabs(per_y / per_x) : fabs(per_x / per_y);
    double middle = (wide->from + wide->to) / 2, half = (wide->to - wide->from) / 2 * factor;
    wide->from = middle - half;
    wide->to = middle + half;
}

/* ---- text -------------------------------------------------------------------------------- */

typedef enum anchor { START, MIDDLE, END } anchor;

static void label(ns_text *out, double x, double y, anchor a, double size, const char *colour,
                  const char *more, const char *text)
{
    static const char *const names[] = {"start", "middle", "end"};
    ns_text_add(out, "<text x=\"");
    ns_paint_number(out, x);
    ns_text_add(out, "\" y=\"");
    ns_paint_number(out, y);
    ns_text_addf(out, "\" text-anchor=\"%s\" font-size=\"", names[a]);
    ns_paint_number(out, size);
    ns_text_addf(out, "\" fill=\"%s\"%s>", colour, more);
    ns_paint_escaped(out, text);
    ns_text_add(out, "</text>\n");
}

static void segment(ns_text *out, double x0, double y0, double x1, double y1, const char *style)
{
    const char *const names[] = {"<line x1=\"", "\" y1=\"", "\" x2=\"", "\" y2=\""};
    const double at[] = {x0, y0, x1, y1};
    for (int i = 0; i < 4; i++) {
        ns_text_add(out, names[i]);
        ns_paint_number(out, at[i]);
    }
    ns_text_addf(out, "\" %s/>\n", style);
}

static void rectangle(ns_text *out, const ns_frame *f, const char *style)
{
    const char *const names[] = {"<rect x=\"", "\" y=\"", "\" width=\"", "\" height=\""};
    const double at[] = {f->left, f->top, f->right - f->left, f->bottom - f->top};
    for (int i = 0; i < 4; i++) {
        ns_text_add(out, names[i]);
        ns_paint_number(out, at[i]);
    }
    ns_text_addf(out, "\" %s/>\n", style);
}

/* "label (×10³ unit)" */
static const char *axis_title(ns_arena *arena, const char *name, const char *unit,
                              const char *factor)
{
    bool has_unit = unit && *unit && strcmp(unit, "1") != 0;
    if (!name || !*name)
        name = "";
    if (!has_unit && !*factor)
        return name;
    ns_text shown = ns_text_new(arena); /* N*m is N·m on paper */
    for (; has_unit && *unit; unit++)
        ns_text_add_bytes(&shown, *unit == '*' ? "·" : unit, *unit == '*' ? strlen("·") : 1);
    unit = ns_text_string(&shown);
    return ns_arena_format(arena, "%s%s(%s%s%s)", name, *name ? " " : "", factor,
                           *factor && has_unit ? " " : "", has_unit ? unit : "");
}

/* ---- panels ------------------------------------------------------------------------------ */

typedef struct cell {
    const ns_plot_panel *panel;
    ns_scale x, y, z;
    ns_ticks tx, ty, tz;
    ns_frame frame;
    double width, left; /* of the whole, and of what stands left of the frame */
    double above, below, bar;
    unsigned legend_rows;
} cell;

static const char *series_colour(const ns_plot_panel *panel, uint32_t i)
{
    const ns_plot_series *s = panel->series.at[i];
    if (s->paint)
        return s->paint;
    if (s->colour != NS_PLOT_AUTO)
        return ns_paint_colour(s->colour);
    unsigned number = 0;
    for (uint32_t k = 0; k < i; k++)
        number += panel->series.at[k]->colour == NS_PLOT_AUTO && !panel->series.at[k]->paint;
    return ns_paint_colour(ns_paint_next(number));
}

/* Is there more to tell than the label of the axis does? */
static bool has_legend(const ns_plot_panel *panel)
{
    unsigned named = 0;
    const char *only = NULL;
    for (uint32_t i = 0; i < panel->series.n; i++)
        if (panel->series.at[i]->name && *panel->series.at[i]->name) {
            named++;
            only = panel->series.at[i]->name;
        }
    return named > 1 ||
           (named == 1 &&
            (panel->series.n > 1 || !panel->y.label ||
             (strcmp(only, panel->y.label) != 0 && strcmp(only, panel->title) != 0)));
}

/* Does any cell of the field have the k-th word? */
static bool has_word(const ns_plot_field *field, uint32_t k)
{
    const size_t n = field->columns * field->rows;
    return k < field->n_words && field->word && memchr(field->word, (int)k + 1, n);
}

/* Places the legend's entries in rows above the frame, series and then words of the field;
 * draws them if `out`. */
static unsigned legend(const cell *c, ns_text *out)
{
    const ns_plot_panel *panel = c->panel;
    double x = 0, room = c->width - c->left - EDGE - c->bar;
    unsigned rows = 0;
    const uint32_t n = panel->series.n, words = panel->field ? panel->field->n_words : 0;
    for (uint32_t i = has_legend(panel) ? 0 : n; i < n + words; i++) {
        const ns_plot_series *s = i < n ? panel->series.at[i] : NULL;
        const char *name = s ? s->name : panel->field->words[i - n];
        if (!name || !*name || (!s && !has_word(panel->field, i - n)))
            continue;
        double width = 28 + ns_paint_width(name, SMALL) + 16;
        if (rows == 0 || (x > 0 && x + width - 16 > room)) {
            rows++;
            x = 0;
        }
        if (out) {
            double left = c->frame.left + x,
                   y = c->frame.top - 8 - ROW * (c->legend_rows - (double)rows);
            if (s) {
                ns_paint_sample(out, s, series_colour(panel, i), left, y - 4);
            } else {
                char style[60];
                snprintf(style, sizeof style, "fill=\"%s\" stroke=\"#888888\"",
                         ns_paint_word(i - n));
                rectangle(out, &(ns_frame){left + 4, y - 10, left + 20, y}, style);
            }
            label(out, left + 28, y, START, SMALL, INK, "", name);
        }
        x += width;
    }
    return rows;
}

static double widest(const ns_ticks *ticks)
{
    double width = 0;
    for (int i = 0; i < ticks->n; i++)
        width = ns_max(width, ns_paint_width(ticks->text[i], SMALL));
    return width;
}

/* Everything of a panel but its place. */
static void measure(cell *c, double width)
{
    const ns_plot_panel *panel = c->panel;
    c->width = width;
    c->bar = panel->field ? 78 : 0;
    fit_axis(panel, false, &c->x);
    fit_axis(panel, true, &c->y);
    double height = panel->height;
    double inner = width - 70 - c->bar;
    double ratio = fabs((c->y.to - c->y.from) / (c->x.to - c->x.from));
    if (!(height > 0))
        height = panel->equal   ? ns_min(ns_max(inner * ratio, 150), ns_min(inner, 460))
                 : panel->field ? ns_min(0.75 * inner, 420)
                                : ns_min(0.6 * inner, 190);
    c->frame = (ns_frame){0, 0, inner, height};
    c->x.lo = 0;
    c->x.hi = inner;
    c->y.lo = height;
    c->y.hi = 0;
    if (panel->equal && !panel->x.log && !panel->y.log)
        equalise(&c->x, &c->y);
    ns_scale_ticks(&c->y, (int)(height / (c->y.log ? 24 : 36)), &c->ty);
    ns_scale_ticks(&c->x, (int)(inner / 62), &c->tx);
    c->left = widest(&c->ty) + 8 + (panel->y.label || *c->ty.factor ? 20 : 0) + EDGE;
    if (panel->field) {
        const ns_plot_field *field = panel->field;
        range r = nothing;
        c->z.log = field->log;
        for (size_t i = 0; i < field->columns * field->rows; i++)
            if (!field->word || !field->word[i])
                include(&r, field->value[i], field->log);
        double most = ns_max(fabs(r.lo), fabs(r.hi));
        if (field->from != field->to && isfinite(field->from - field->to))
            r = (range){field->from, field->to};
        else if (field->diverging && r.lo <= r.hi)
            r = (range){-most, most};
        ns_scale_fit(&c->z, r.lo, r.hi, 0);
        ns_scale_ticks(&c->z, (int)(height / 40), &c->tz);
        c->bar = 22 + 14 + 8 + widest(&c->tz) + 22;
    }
    c->below = 18 + (panel->x.label || *c->tx.factor ? 18 : 0);
}

static void set_frame(cell *c, double x, double y)
{
    ns_frame *f = &c->frame;
    double height = f->bottom - f->top;
    f->left = x + c->left;
    f->right = x + c->width - EDGE - c->bar;
    f->top = y + c->above;
    f->bottom = f->top + height;
    c->x.lo = f->left;
    c->x.hi = f->right;
    c->y.lo = f->bottom;
    c->y.hi = f->top;
    if (c->panel->equal && !c->panel->x.log && !c->panel->y.log)
        equalise(&c->x, &c->y);
    ns_scale_ticks(&c->y, (int)(height / (c->y.log ? 24 : 36)), &c->ty);
    ns_scale_ticks(&c->x, (int)((f->right - f->left) / 62), &c->tx);
    c->z.lo = 0;
    c->z.hi = 1;
}

static void draw_axes(ns_text *out, const cell *c, ns_arena *arena)
{
    const ns_frame *f = &c->frame;
    char grid[64], tick[64];
    snprintf(grid, sizeof grid, "stroke=\"%s\"", GRID);
    snprintf(tick, sizeof tick, "stroke=\"%s\"", LINE);
    for (int i = 0; i < c->tx.n; i++) {
        double x = ns_scale_map(&c->x, c->tx.at[i]);
        if (!c->panel->field)
            segment(out, x, f->top, x, f->bottom, grid);
        segment(out, x, f->bottom, x, f->bottom + 4, tick);
        label(out, x, f->bottom + 16, MIDDLE, SMALL, SOFT, "", c->tx.text[i]);
    }
    for (int i = 0; i < c->ty.n; i++) {
        double y = ns_scale_map(&c->y, c->ty.at[i]);
        if (!c->panel->field)
            segment(out, f->left, y, f->right, y, grid);
        segment(out, f->left - 4, y, f->left, y, tick);
        label(out, f->left - 7, y + 4, END, SMALL, SOFT, "", c->ty.text[i]);
    }
    const char *title = axis_title(arena, c->panel->x.label, c->panel->x.unit, c->tx.factor);
    if (*title)
        label(out, (f->left + f->right) / 2, f->bottom + 33, MIDDLE, FONT, INK, "", title);
    title = axis_title(arena, c->panel->y.label, c->panel->y.unit, c->ty.factor);
    if (*title) {
        ns_text turn = ns_text_new(arena);
        double x = f->left - c->left + EDGE + 9, y = (f->top + f->bottom) / 2;
        ns_text_add(&turn, " transform=\"rotate(-90 ");
        ns_paint_number(&turn, x);
        ns_text_add(&turn, " ");
        ns_paint_number(&turn, y);
        ns_text_add(&turn, ")\"");
        double size = FONT, room = f->bottom - f->top + 30, width = ns_paint_width(title, FONT);
        if (width > room)
            size = ns_max(8, FONT * room / width);
        label(out, x, y, MIDDLE, size, INK, ns_text_string(&turn), title);
    }
}

static void draw_bar(ns_text *out, const cell *c, ns_arena *arena)
{
    enum { STEPS = 64 };
    const ns_plot_field *field = c->panel->field;
    const ns_frame *f = &c->frame;
    ns_frame bar = {f->right + 22, f->top, f->right + 36, f->bottom};
    double h = (f->bottom - f->top) / STEPS;
    for (int k = 0; k < STEPS; k++) {
        char colour[8], style[60];
        ns_paint_map(field->diverging, (k + 0.5) / STEPS, colour);
        snprintf(style, sizeof style, "fill=\"%s\" shape-rendering=\"crispEdges\"", colour);
        ns_frame piece = {bar.left, f->bottom - (k + 1) * h, bar.right, f->bottom - k * h};
        rectangle(out, &piece, style);
    }
    rectangle(out, &bar, "fill=\"none\" stroke=\"#888888\"");
    for (int i = 0; i < c->tz.n; i++) {
        double y = f->bottom + (f->top - f->bottom) * ns_scale_map(&c->z, c->tz.at[i]);
        segment(out, bar.right, y, bar.right + 4, y, "stroke=\"#888888\"");
        label(out, bar.right + 7, y + 4, START, SMALL, SOFT, "", c->tz.text[i]);
    }
    const char *title = axis_title(arena, field->label, field->unit, c->tz.factor);
    if (!*title)
        return;
    ns_text turn = ns_text_new(arena);
    double x = bar.right + 7 + widest(&c->tz) + 15, y = (f->top + f->bottom) / 2;
    ns_text_add(&turn, " transform=\"rotate(-90 ");
    ns_paint_number(&turn, x);
    ns_text_add(&turn, " ");
    ns_paint_number(&turn, y);
    ns_text_add(&turn, ")\"");
    label(out, x, y, MIDDLE, FONT, INK, ns_text_string(&turn), title);
}

/* Lines across the frame lie below the data, their names above. */
static void draw_levels(ns_text *out, const cell *c, bool names)
{
    static const char style[] = "stroke=\"#777777\" stroke-dasharray=\"5 4\"",
                      halo[] = " stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\"";
    const ns_frame *f = &c->frame;
    for (uint32_t i = 0; i < c->panel->levels.n; i++) {
        const ns_plot_level *level = c->panel->levels.at[i];
        bool vertical = level->vertical;
        double at = ns_scale_map(vertical ? &c->x : &c->y, level->at);
        if (!(at >= (vertical ? f->left : f->top) - 0.5 &&
              at <= (vertical ? f->right : f->bottom) + 0.5) ||
            (names && (!level->name || !*level->name)))
            continue;
        bool late = at > (f->left + f->right) / 2;
        if (names && vertical)
            label(out, late ? at - 4 : at + 4, f->top + 12, late ? END : START, 10, SOFT, halo,
                  level->name);
        else if (names)
            label(out, f->right - 4, at < f->top + 16 ? at + 12 : at - 4, END, 10, SOFT, halo,
                  level->name);
        else if (vertical)
            segment(out, at, f->top, at, f->bottom, style);
        else
            segment(out, f->left, at, f->right, at, style);
    }
}

static void draw_spans(ns_text *out, const cell *c)
{
    for (uint32_t i = 0; i < c->panel->spans.n; i++) {
        const ns_plot_span *span = c->panel->spans.at[i];
        ns_frame box = c->frame;
        const ns_scale *scale = span->horizontal ? &c->y : &c->x;
        double a = ns_scale_map(scale, span->from), b = ns_scale_map(scale, span->to);
        if (!isfinite(a) || !isfinite(b))
            continue;
        if (span->horizontal) {
            box.top = ns_max(box.top, ns_min(a, b));
            box.bottom = ns_min(box.bottom, ns_max(a, b));
        } else {
            box.left = ns_max(box.left, ns_min(a, b));
            box.right = ns_min(box.right, ns_max(a, b));
        }
        if (box.left < box.right && box.top < box.bottom)
            rectangle(out, &box, "fill=\"#d55e00\" fill-opacity=\"0.12\"");
    }
}

static void draw_panel(ns_text *out, const cell *c, unsigned number, ns_arena *arena)
{
    const ns_plot_panel *panel = c->panel;
    const ns_frame *f = &c->frame;
    if (*panel->title)
        label(out, f->left, f->top - 8 - ROW * c->legend_rows, START, 13, INK,
              " font-weight=\"600\"", panel->title);
    legend(c, out);
    draw_axes(out, c, arena);
    ns_text_addf(out, "<clipPath id=\"frame%u\">", number);
    rectangle(out, f, "");
    ns_text_addf(out, "</clipPath>\n<g clip-path=\"url(#frame%u)\">\n", number);
    draw_spans(out, c);
    if (panel->field)
        ns_paint_field(out, panel->field, &c->x, &c->y, &c->z);
    draw_levels(out, c, false);
    for (uint32_t i = 0; i < panel->series.n; i++)
        ns_paint_series(out, panel->series.at[i], series_colour(panel, i), &c->x, &c->y, f,
                        arena);
    draw_levels(out, c, true);
    ns_text_add(out, "</g>\n");
    rectangle(out, f, "fill=\"none\" stroke=\"#888888\"");
    if (panel->field)
        draw_bar(out, c, arena);
}

/* ---- the whole --------------------------------------------------------------------------- */

void ns_plot_svg(const ns_plot *plot, ns_text *out)
{
    unsigned columns = plot->columns ? plot->columns : 1, n = plot->panels.n;
    if (columns > n)
        columns = n ? n : 1;
    double total = plot->width > 0 ? plot->width : columns == 1 ? 760 : 1080;
    double width = (total - EDGE - (columns - 1.0) * 10) / columns;
    bool has_title = plot->title && *plot->title, has_sub = plot->subtitle && *plot->subtitle;
    double y = EDGE + (has_title ? 20 : 0) + (has_sub ? 18 : 0);
    cell *cells = NS_NEW_ARRAY(plot->arena, cell, n + 1);
    for (unsigned i = 0; i < n; i++) {
        cells[i].panel = plot->panels.at[i];
        measure(&cells[i], width);
    }
    /* Frames of one column begin at the same place, those of one row at the same height. */
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = i % columns; k < n; k += columns)
            cells[i].left = ns_max(cells[i].left, cells[k].left);
    for (unsigned row = 0; row * columns < n; row++) {
        double above = 0, height = 0, tall = 0;
        unsigned first = row * columns, end = first + columns < n ? first + columns : n;
        for (unsigned i = first; i < end; i++) {
            cell *c = &cells[i];
            c->legend_rows = legend(c, NULL);
            c->above = 12 + ROW * c->legend_rows + (*c->panel->title ? 18 : 0);
            above = ns_max(above, c->above);
            tall = ns_max(tall, c->frame.bottom - c->frame.top);
        }
        for (unsigned i = first; i < end; i++) {
            cell *c = &cells[i];
            c->above = above;
            if (!c->panel->equal && !(c->panel->height > 0))
                c->frame.bottom = c->frame.top + tall;
            set_frame(c, EDGE / 2.0 + (i - first) * (width + 10), y);
            height = ns_max(height, c->frame.bottom - y + c->below);
        }
        y += height + GAP / 2.0;
    }
    y += EDGE / 2.0;
    ns_text_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"");
    ns_paint_number(out, total);
    ns_text_add(out, "\" height=\"");
    ns_paint_number(out, y);
    ns_text_add(out, "\" viewBox=\"0 0 ");
    ns_paint_number(out, total);
    ns_text_add(out, " ");
    ns_paint_number(out, y);
    ns_text_add(out, "\" role=\"img\" font-family=\"Helvetica, Arial, 'DejaVu Sans', "
                     "sans-serif\">\n<title>");
    ns_paint_escaped(out, has_title ? plot->title : "plot");
    ns_text_add(out, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    if (has_title)
        label(out, EDGE, EDGE + 12, START, TITLE, INK, " font-weight=\"600\"", plot->title);
    if (has_sub)
        label(out, EDGE, EDGE + (has_title ? 31 : 12), START, FONT, SOFT, "", plot->subtitle);
    for (unsigned i = 0; i < n; i++)
        draw_panel(out, &cells[i], i, plot->arena);
    ns_text_add(out, "</svg>\n");
}

int ns_plot_write(const ns_plot *plot, const char *path)
{
    ns_text text = ns_text_new(plot->arena);
    ns_plot_svg(plot, &text);
    return ns_file_write(path, text.at, text.length);
}
