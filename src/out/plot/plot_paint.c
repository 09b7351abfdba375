#include "out/plot/plot_paint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/math/vecmath.h"

void ns_paint_number(ns_text *out, double value)
{
    char text[48];
    if (!(fabs(value) < 1e6)) /* never, but no file should break on it */
        value = value > 0 ? 1e6 : value < 0 ? -1e6 : 0;
    long long hundredths = llround(value * 100);
    unsigned long long size = (unsigned long long)(hundredths < 0 ? -hundredths : hundredths);
    int n = snprintf(text, sizeof text, "%s%llu", hundredths < 0 ? "-" : "", size / 100);
    if (size % 100)
        snprintf(text + n, sizeof text - (size_t)n, size % 10 ? ".%02llu" : ".%llu",
                 size % 10 ? size % 100 : size % 100 / 10);
    ns_text_add(out, text);
}

/* Length of the UTF-8 character at p, 0 if it is not one. */
static size_t character(const unsigned char *p)
{
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (n == 4 && p[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if (n == 3) {
        unsigned code = (unsigned)(p[0] & 15) << 12 | (unsigned)(p[1] & 63) << 6 | (p[2] & 63u);
        if (code < 0x800 || (code >= 0xd800 && code < 0xe000) || code > 0xfffd)
            return 0;
    }
    if (n == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)))
        return 0;
    return n;
}

void ns_paint_escaped(ns_text *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)(text ? text : ""); *p;) {
        size_t n = character(p);
        if (n == 0 || *p == 0x7f || (*p < 0x20 && *p != '\n' && *p != '\t'))
            ns_text_add(out, n ? " " : "?");
        else if (*p == '<')
            ns_text_add(out, "&lt;");
        else if (*p == '>')
            ns_text_add(out, "&gt;");
        else if (*p == '&')
            ns_text_add(out, "&amp;");
        else if (*p == '"')
            ns_text_add(out, "&quot;");
        else
            ns_text_add_bytes(out, (const char *)p, n);
        p += n ? n : 1;
    }
}

double ns_paint_width(const char *text, double size)
{
    double width = 0;
    for (const unsigned char *p = (const unsigned char *)(text ? text : ""); *p; p++) {
        if ((*p & 0xc0) == 0x80)
            continue;
        width += strchr("iljtfI.,:;'|()[]!", *p)    ? 0.33
                 : *p >= 0x80                       ? 0.55
                 : strchr("mwMW@%", *p)             ? 0.88
                 : (*p >= 'A' && *p <= 'Z')         ? 0.69
                 : *p == ' '                        ? 0.3
                 : strchr("rs'-", *p) && *p != '\'' ? 0.45
                                                    : 0.58;
    }
    return width * size;
}

static const char *const colours[] = {
    [NS_PLOT_AUTO] = "#0072b2",  [NS_PLOT_BLUE] = "#0072b2",   [NS_PLOT_VERMILION] = "#d55e00",
    [NS_PLOT_GREEN] = "#009e73", [NS_PLOT_PURPLE] = "#b5579a", [NS_PLOT_ORANGE] = "#e69f00",
    [NS_PLOT_SKY] = "#56b4e9",   [NS_PLOT_BROWN] = "#7a5230",  [NS_PLOT_BLACK] = "#222222",
    [NS_PLOT_GREY] = "#999999",
};

const char *ns_paint_colour(ns_plot_colour colour)
{
    return colours[colour <= NS_PLOT_GREY ? colour : NS_PLOT_AUTO];
}

ns_plot_colour ns_paint_next(unsigned number)
{
    return (ns_plot_colour)(NS_PLOT_BLUE + number % (NS_PLOT_BLACK - NS_PLOT_BLUE + 1));
}

/* ---- lines ------------------------------------------------------------------------------- */

/* Far outside the frame numbers are cut, so that no viewer meets huge ones; the line's way
 * inside changes by less than is seen, as the cut is made well outside. */
static double tame(double v, double lo, double hi)
{
    double far = 40 * (hi - lo) + 1000;
    return v < lo - far ? lo - far : v > hi + far ? hi + far : v;
}

typedef struct pen {
    ns_text *out;
    bool down, lone; /* a point of its own is drawn as a dot */
    double x, y;
} pen;

static void go(pen *p, double x, double y)
{
    ns_text_add(p->out, p->down ? "L" : "M");
    ns_paint_number(p->out, x);
    ns_text_add(p->out, " ");
    ns_paint_number(p->out, y);
    p->lone = !p->down;
    p->down = true;
    p->x = x;
    p->y = y;
}

static void lift(pen *p)
{
    if (p->lone)
        ns_text_add(p->out, "h0");
    p->down = p->lone = false;
}

/* A run of points that fall into one narrow column of pixels is drawn by its first, lowest,
 * highest and last: nothing that is seen gets lost, and a million points give a small file. */
typedef struct column {
    long at;
    size_t n;
    double first[2], low[2], high[2], last[2];
    bool low_first;
} column;

static void flush(pen *p, const column *c)
{
    if (c->n == 0)
        return;
    go(p, c->first[0], c->first[1]);
    const double *one = c->low_first ? c->low : c->high, *two = c->low_first ? c->high : c->low;
    if (c->n > 2 && one[1] != c->first[1])
        go(p, one[0], one[1]);
    if (c->n > 2 && two[1] != c->last[1])
        go(p, two[0], two[1]);
    if (c->n > 1)
        go(p, c->last[0], c->last[1]);
}

static bool monotone(const ns_plot_series *s)
{
    for (size_t i = 1; i < s->n; i++)
        if (s->x[i] < s->x[i - 1])
            return false;
    return true;
}

static void draw_line(ns_text *out, const ns_plot_series *s, const ns_scale *sx,
                      const ns_scale *sy, const ns_frame *f)
{
    bool columns = s->n > 400 && monotone(s);
    pen p = {.out = out};
    column c = {0};
    for (size_t i = 0; i < s->n; i++) {
        double x = ns_scale_map(sx, s->x[i]), y = ns_scale_map(sy, s->y[i]);
        if (!isfinite(x) || !isfinite(y)) {
            flush(&p, &c);
            c.n = 0;
            lift(&p);
            continue;
        }
        x = tame(x, f->left, f->right);
        y = tame(y, f->top, f->bottom);
        if (!columns) { /* a step that is not seen waits for the next */
            bool last = i + 1 == s->n;
            if (!p.down || last || ns_math_hypot(x - p.x, y - p.y) > 0.2)
                go(&p, x, y);
            continue;
        }
        long at = lround(x * 4);
        if (c.n && at != c.at) {
            flush(&p, &c);
            c.n = 0;
        }
        if (c.n == 0) {
            c = (column){.at = at, .first = {x, y}, .low = {x, y}, .high = {x, y}};
        } else if (y > c.low[1]) {
            c.low[0] = x;
            c.low[1] = y;
            c.low_first = false;
        } else if (y < c.high[1]) {
            c.high[0] = x;
            c.high[1] = y;
            c.low_first = true;
        }
        c.last[0] = x;
        c.last[1] = y;
        c.n++;
    }
    flush(&p, &c);
    lift(&p);
}

/* ---- markers ----------------------------------------------------------------------------- */

static void draw_marker(ns_text *out, ns_plot_marker marker, double x, double y, double size)
{
    static const signed char shape[][8] = {
        [NS_PLOT_TRIANGLE] = {0, -12, 11, 8, -11, 8, 0, 0},
        [NS_PLOT_DIAMOND] = {0, -13, 11, 0, 0, 13, -11, 0},
        [NS_PLOT_SQUARE] = {-9, -9, 9, -9, 9, 9, -9, 9},
        [NS_PLOT_CROSS] = {-9, -9, 9, 9, 9, -9, -9, 9},
    };
    double h = size / 20;
    if (marker == NS_PLOT_DOT || marker == NS_PLOT_CIRCLE) {
        ns_text_add(out, "M");
        ns_paint_number(out, x);
        ns_text_add(out, " ");
        ns_paint_number(out, y);
        ns_text_add(out, "h0");
        return;
    }
    int corners = marker == NS_PLOT_TRIANGLE ? 3 : 4;
    for (int k = 0; k < corners; k++) {
        ns_text_add(out, k == 0 || (marker == NS_PLOT_CROSS && k == 2) ? "M" : "L");
        ns_paint_number(out, x + h * shape[marker][2 * k]);
        ns_text_add(out, " ");
        ns_paint_number(out, y + h * shape[marker][2 * k + 1]);
    }
    if (marker != NS_PLOT_CROSS)
        ns_text_add(out, "Z");
}

static double marker_size(const ns_plot_series *s)
{
    return s->width > 0 && !s->line ? s->width : s->marker == NS_PLOT_DOT ? 1.8 : 6;
}

static void begin_markers(ns_text *out, const ns_plot_series *s, const char *colour)
{
    bool round = s->marker == NS_PLOT_DOT || s->marker == NS_PLOT_CIRCLE;
    ns_text_add(out, "<path fill=\"");
    ns_paint_escaped(out, round || s->marker == NS_PLOT_CROSS ? "none" : colour);
    ns_text_add(out, "\" stroke=\"");
    ns_paint_escaped(out, colour);
    ns_text_add(out, "\" stroke-linecap=\"round\" stroke-width=\"");
    ns_paint_number(out, round ? marker_size(s) : s->marker == NS_PLOT_CROSS ? 1.6 : 0.5);
    ns_text_add(out, "\" d=\"");
}

/* Two points in the same quarter of a pixel are one. */
static void draw_markers(ns_text *out, const ns_plot_series *s, const ns_scale *sx,
                         const ns_scale *sy, const ns_frame *f, ns_arena *arena)
{
    size_t w = (size_t)(2 * (f->right - f->left)) + 3,
           h = (size_t)(2 * (f->bottom - f->top)) + 3;
    unsigned char *seen = s->n > 2000 ? ns_arena_alloc(arena, w * h / 8 + 1) : NULL;
    for (size_t i = 0; i < s->n; i++) {
        double x = ns_scale_map(sx, s->x[i]), y = ns_scale_map(sy, s->y[i]);
        if (!(x >= f->left - 0.5 && x <= f->right + 0.5 && y >= f->top - 0.5 &&
              y <= f->bottom + 0.5))
            continue;
        if (seen) {
            size_t at = (size_t)(2 * (y - f->top + 0.5)) * w +
                        (size_t)(2 * (x - f->left + 0.5));
            if (seen[at / 8] & (1u << at % 8))
                continue;
            seen[at / 8] = (unsigned char)(seen[at / 8] | 1u << at % 8);
        }
        draw_marker(out, s->marker, x, y, marker_size(s));
    }
}

static void begin_line(ns_text *out, const ns_plot_series *s, const char *colour)
{
    ns_text_add(out, "<path fill=\"none\" stroke=\"");
    ns_paint_escaped(out, colour);
    ns_text_add(out, "\" stroke-linejoin=\"round\" stroke-linecap=\"round\" stroke-width=\"");
    ns_paint_number(out, s->width > 0 ? s->width : 1.5);
    ns_text_add(out, s->dashed ? "\" stroke-dasharray=\"6 4\" d=\"" : "\" d=\"");
}

void ns_paint_series(ns_text *out, const ns_plot_series *s, const char *colour,
                     const ns_scale *sx, const ns_scale *sy, const ns_frame *f, ns_arena *arena)
{
    if (s->line) {
        begin_line(out, s, colour);
        draw_line(out, s, sx, sy, f);
        ns_text_add(out, "\"/>\n");
    }
    if (s->marker != NS_PLOT_NO_MARKER) {
        begin_markers(out, s, colour);
        draw_markers(out, s, sx, sy, f, arena);
        ns_text_add(out, "\"/>\n");
    }
}

void ns_paint_sample(ns_text *out, const ns_plot_series *s, const char *colour, double x,
                     double y)
{
    if (s->line) {
        begin_line(out, s, colour);
        pen p = {.out = out};
        go(&p, x, y);
        go(&p, x + 22, y);
        ns_text_add(out, "\"/>\n");
    }
    if (s->marker != NS_PLOT_NO_MARKER) {
        ns_plot_series large = *s;
        if (s->marker == NS_PLOT_DOT)
            large.width = 4, large.line = false;
        begin_markers(out, &large, colour);
        draw_marker(out, s->marker, x + 11, y, marker_size(&large));
        ns_text_add(out, "\"/>\n");
    }
}

/* ---- fields ------------------------------------------------------------------------------ */

enum { SHADES = 64 };

void ns_paint_map(bool diverging, double place, char colour[8])
{
    /* from dark to light, even in brightness; and blue through white to red */
    static const unsigned char even[][3] = {
        {68, 1, 84},    {72, 40, 120},  {62, 73, 137},  {49, 104, 142}, {38, 130, 142},
        {31, 158, 137}, {53, 183, 121}, {110, 206, 88}, {181, 222, 43}, {253, 231, 37}};
    static const unsigned char two[][3] = {{24, 79, 149},   {67, 135, 196},  {150, 196, 225},
                                           {214, 231, 241}, {247, 247, 247}, {251, 222, 204},
                                           {243, 164, 129}, {214, 96, 77},   {165, 23, 43}};
    const unsigned char(*map)[3] = diverging ? two : even;
    int pieces = diverging ? 8 : 9;
    place = place > 0 ? place < 1 ? place : 1 : 0;
    int k = (int)(place * pieces);
    k = k < pieces ? k : pieces - 1;
    double w = place * pieces - k;
    unsigned rgb[3];
    for (int i = 0; i < 3; i++)
        rgb[i] = (unsigned)lround((1 - w) * map[k][i] + w * map[k + 1][i]) & 255u;
    snprintf(colour, 8, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

const char *ns_paint_word(uint32_t k)
{
    static const char *const words[] = {"#e4e4e4", "#e0703a", "#222222", "#f2a7c3", "#8c8c8c"};
    return words[k % (sizeof words / sizeof *words)];
}

/* -1 for no number, -2, -3, ... for words. */
static int shade(const ns_plot_field *field, const ns_scale *z, size_t cell)
{
    if (field->word && field->word[cell])
        return -1 - (int)field->word[cell];
    const double value = field->value[cell];
    double place = ns_scale_map(z, value);
    if (!isfinite(place))
        return -1;
    int k = (int)floor(place * SHADES);
    return k < 0 ? 0 : k >= SHADES ? SHADES - 1 : k;
}

/* One path per shade, made of the runs of cells that have it, in units of cells. */
void ns_paint_field(ns_text *out, const ns_plot_field *field, const ns_scale *sx,
                    const ns_scale *sy, const ns_scale *z)
{
    double x0 = ns_scale_map(sx, field->x[0]), x1 = ns_scale_map(sx, field->x[1]);
    double y0 = ns_scale_map(sy, field->y[0]), y1 = ns_scale_map(sy, field->y[1]);
    size_t nx = field->columns, ny = field->rows;
    if (!isfinite(x0 + x1 + y0 + y1) || nx == 0 || ny == 0)
        return;
    char matrix[200];
    snprintf(matrix, sizeof matrix, "%.9g 0 0 %.9g %.9g %.9g", (x1 - x0) / (double)nx,
             (y1 - y0) / (double)ny, x0, y0);
    for (char *c = matrix; *c; c++)
        *c = (char)(*c == ',' ? '.' : *c);
    ns_text_addf(out, "<g transform=\"matrix(%s)\" shape-rendering=\"crispEdges\">\n", matrix);
    for (int k = -1 - (int)(field->word ? field->n_words : 0); k < SHADES; k++) {
        char colour[8] = "#dddddd";
        bool begun = false;
        if (k >= 0)
            ns_paint_map(field->diverging, (k + 0.5) / SHADES, colour);
        else if (k < -1)
            snprintf(colour, sizeof colour, "%s", ns_paint_word((uint32_t)(-2 - k)));
        for (size_t row = 0; row < ny; row++)
            for (size_t i = 0; i < nx;) {
                size_t begin = i;
                while (i < nx && shade(field, z, row * nx + i) == k)
                    i++;
                if (i == begin) {
                    i++;
                    continue;
                }
                if (!begun)
                    ns_text_addf(out, "<path fill=\"%s\" d=\"", colour);
                begun = true;
                ns_text_addf(out, "M%zu %zuh%zuv1h-%zuz", begin, row, i - begin, i - begin);
            }
        if (begun)
            ns_text_add(out, "\"/>\n");
    }
    ns_text_add(out, "</g>\n");
}
