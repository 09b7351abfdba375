#include "out/tables/sweep_map.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"

/* Words of cells, in the order of their colours; 0 is a number. */
enum { NUMBER, NEVER, FAILED, LATER, N_WORDS = LATER };
static const char *const words[] = {"does not happen", "failed", "not computed"};

typedef struct content {
    const ns_sweep *sweep;
    uint64_t rows;
    double *value;     /* [axes + gets][rows] */
    int8_t *status;    /* [rows] */
    bool *there;       /* [rows] */
    const char **note; /* [rows] why it ended early; NULL if it did not */
    uint64_t failed, later;
} content;

static bool is_grid(const ns_plan_axis *axis)
{
    return axis->kind == NS_PLAN_GRID || axis->kind == NS_PLAN_LOG;
}

const char *ns_sweep_map_refuses(const ns_sweep *w)
{
    if (w->n_axes == 0 || w->n_axes > 2)
        return "a figure shows one or two varied quantities; for more, set the others with "
               "--set";
    if (w->n_axes == 2 && !(is_grid(&w->plan.axes.at[0]) && is_grid(&w->plan.axes.at[1])))
        return "a figure of two varied quantities needs a grid: give both with --over";
    for (uint32_t i = 0; i < w->n_axes; i++)
        if ((w->plan.axes.at[i].kind == NS_PLAN_LOG ||
             w->plan.axes.at[i].kind == NS_PLAN_LOGUNIFORM) &&
            !(w->plan.axes.at[i].low > 0))
            return "a figure over values in equal ratios needs positive ones";
    if (w->plan.rows > NS_SWEEP_MAP_ROWS)
        return "a figure shows at most 1000000 rows";
    return NULL;
}

/* ---- reading ----------------------------------------------------------------------------- */

static int read_rows(ns_arena *arena, ns_sweep_table *table, content *c)
{
    enum { PART = 1024 };
    const ns_sweep *w = c->sweep;
    const uint32_t columns = w->n_axes + w->n_gets;
    char *records = malloc(PART * w->record);
    int error = records ? 0 : ENOMEM;
    for (uint64_t first = 0; first < c->rows && !error; first += PART) {
        const uint32_t n = (uint32_t)(c->rows - first < PART ? c->rows - first : PART);
        error = ns_sweep_table_get(table, first, n, records, c->there + first);
        for (uint32_t i = 0; i < n && !error; i++) {
            const char *record = records + i * w->record;
            const uint64_t row = first + i;
            ns_sweep_end end;
            for (uint32_t k = 0; k < columns; k++)
                memcpy(&c->value[k * c->rows + row], record + 8 * k, 8);
            memcpy(&end, record + 8 * columns, sizeof end);
            if (!c->there[row]) {
                c->later++;
                continue;
            }
            c->status[row] = (int8_t)end.status;
            c->failed += end.status != NS_OK && end.status != NS_STOP_EVENT;
            if (end.reason[0])
                c->note[row] = ns_arena_string(arena, end.reason,
                                               strnlen(end.reason, sizeof end.reason));
        }
    }
    free(records);
    return error;
}

/* Does a result of a motion that failed on its way still mean what it means for the others? */
static bool holds_early(const ns_sweep_get *get, double value)
{
    switch (get->kind) {
    case NS_SWEEP_TIME:
    case NS_SWEEP_EVENT:
    case NS_SWEEP_WHEN:
    case NS_SWEEP_END:
    case NS_SWEEP_STEPS:
        return !isnan(value);
    case NS_SWEEP_HAPPENED:
        return value > 0;
    default:
        return false;
    }
}

static uint8_t word_of(const content *c, const ns_sweep_get *get, double value, uint64_t row)
{
    if (!c->there[row])
        return LATER;
    if (c->status[row] != NS_OK && c->status[row] != NS_STOP_EVENT && !holds_early(get, value))
        return FAILED;
    return (uint8_t)(isfinite(value) ? NUMBER : NEVER);
}

/* ---- drawing ----------------------------------------------------------------------------- */

/* Values of an axis: as they are in the table, so that commands repeat rows exactly. */
static const double *stations(const content *c, uint32_t axis, uint64_t stride, uint64_t n,
                              ns_arena *arena)
{
    double *at = NS_NEW_ARRAY(arena, double, n + 1);
    double *plan = NS_NEW_ARRAY(arena, double, c->sweep->n_axes + 1);
    for (uint64_t i = 0; i < n; i++) {
        ns_plan_row(&c->sweep->plan, i * stride,
                    plan); /* rows that are missing have values too */
        at[i] = plan[axis];
    }
    return at;
}

/* Outer edges of the cells about n stations. */
static void edges(const ns_plan_axis *axis, double out[2])
{
    const bool log = axis->kind == NS_PLAN_LOG;
    const double a = log ? ns_math_log10(axis->low) : axis->low,
                 b = log ? ns_math_log10(axis->high) : axis->high;
    double half = axis->n > 1 ? (b - a) / (double)(axis->n - 1) / 2 : 0;
    if (half == 0)
        half = log || a == 0 ? 0.5 : 0.05 * fabs(a);
    out[0] = log ? ns_math_pow(10, a - half) : a - half;
    out[1] = log ? ns_math_pow(10, b + half) : b + half;
}

/* Numbers over many powers of ten are seen in their logarithm. */
static bool wants_log(const double *value, const uint8_t *word, uint64_t n)
{
    double least = INFINITY, most = 0;
    for (uint64_t i = 0; i < n; i++)
        if (word[i] == NUMBER) {
            least = ns_min(least, value[i]);
            most = ns_max(most, value[i]);
        }
    return least > 0 && most / least > 1000;
}

static void draw_map(const content *c, uint32_t k, ns_plot_panel *panel, ns_arena *arena)
{
    const ns_sweep *w = c->sweep;
    const ns_sweep_get *get = &w->get[k];
    const ns_plan_axis *x = &w->plan.axes.at[0], *y = &w->plan.axes.at[1];
    const uint64_t nx = x->n, ny = y->n; /* the last axis varies fastest */
    const double *from = c->value + (w->n_axes + k) * c->rows;
    double *value = NS_NEW_ARRAY(arena, double, c->rows);
    uint8_t *word = NS_NEW_ARRAY(arena, uint8_t, c->rows);
    const char **note = NS_NEW_ARRAY(arena, const char *, c->rows);
    for (uint64_t i = 0; i < nx; i++)
        for (uint64_t j = 0; j < ny; j++) {
            const uint64_t row = i * ny + j, cell = j * nx + i;
            word[cell] = word_of(c, get, from[row], row);
            value[cell] = word[cell] == NUMBER ? from[row] : NAN;
            note[cell] = c->note[row];
        }
    double ex[2], ey[2];
    edges(x, ex);
    edges(y, ey);
    ns_plot_field *field = ns_plot_map(panel, nx, ny, value, ex, ey);
    field->label = get->name;
    field->unit = get->unit;
    field->word = word;
    field->words = words;
    field->n_words = N_WORDS;
    field->note = note;
    field->at_x = stations(c, 0, ny, nx, arena);
    field->at_y = stations(c, 1, 1, ny, arena);
    field->log = wants_log(value, word, c->rows);
    panel->x.log = x->kind == NS_PLAN_LOG;
    panel->y.log = y->kind == NS_PLAN_LOG;
}

/* Points of rows with one word; those without a number stand below the others. */
static void draw_points(const content *c, uint32_t k, uint8_t wanted, double low,
                        ns_plot_panel *panel, ns_arena *arena)
{
    const ns_sweep_get *get = &c->sweep->get[k];
    const ns_plan_axis *axis = &c->sweep->plan.axes.at[0];
    const double *from = c->value + (c->sweep->n_axes + k) * c->rows;
    const double *at = stations(c, 0, 1, c->rows, arena);
    double *x = NS_NEW_ARRAY(arena, double, c->rows), *y = NS_NEW_ARRAY(arena, double, c->rows);
    const char **note = NS_NEW_ARRAY(arena, const char *, c->rows);
    size_t n = 0;
    const bool line = wanted == NUMBER && is_grid(axis);
    for (uint64_t row = 0; row < c->rows; row++) {
        const bool fits = word_of(c, get, from[row], row) == wanted;
        if (!fits && !line)
            continue;
        x[n] = at[row];
        y[n] = !fits ? NAN : wanted == NUMBER ? from[row] : low;
        note[n++] = fits ? c->note[row] : NULL;
    }
    if (n == 0)
        return;
    const char *name = wanted == NUMBER ? "" : words[wanted - 1];
    ns_plot_series *s = line ? ns_plot_line(panel, name, n, x, y)
                             : ns_plot_points(panel, name, n, x, y);
    if (line)
        s->marker = n <= 100 ? NS_PLOT_CIRCLE : NS_PLOT_NO_MARKER;
    if (wanted != NUMBER) {
        s->marker = wanted == FAILED ? NS_PLOT_CROSS : NS_PLOT_DIAMOND;
        s->colour = wanted == FAILED ? NS_PLOT_VERMILION : NS_PLOT_GREY;
    }
    s->note = note;
}

static void draw_curve(const content *c, uint32_t k, ns_plot_panel *panel, ns_arena *arena)
{
    const ns_sweep_get *get = &c->sweep->get[k];
    const double *from = c->value + (c->sweep->n_axes + k) * c->rows;
    double low = INFINITY, high = -INFINITY;
    for (uint64_t row = 0; row < c->rows; row++)
        if (word_of(c, get, from[row], row) == NUMBER) {
            low = ns_min(low, from[row]);
            high = ns_max(high, from[row]);
        }
    panel->x.log = c->sweep->plan.axes.at[0].kind == NS_PLAN_LOG ||
                   c->sweep->plan.axes.at[0].kind == NS_PLAN_LOGUNIFORM;
    panel->y.log = low > 0 && low < INFINITY && high / low > 1000;
    for (int word = NUMBER; word <= LATER; word++)
        draw_points(c, k, (uint8_t)word, low < INFINITY ? low : 0, panel, arena);
}

int ns_sweep_map(ns_arena *arena, const ns_sweep *w, ns_sweep_table *table,
                 const ns_sweep_map_options *options, ns_plot **plot, uint64_t *later)
{
    const uint64_t rows = w->plan.rows;
    content c = {
        .sweep = w,
        .rows = rows,
        .value = NS_NEW_ARRAY(arena, double, rows *(w->n_axes + w->n_gets)),
                                  .status = NS_NEW_ARRAY(arena, int8_t, rows),
                                      .there = NS_NEW_ARRAY(arena, bool, rows),
                                          .note = NS_NEW_ARRAY(arena, const char *, rows)};
    const int error = read_rows(arena, table, &c);
    if (error)
        return error;
    *later = c.later;
    ns_plot *p = *plot = ns_plot_new(arena, options->title);
    p->columns = w->n_gets > 1 ? 2 : 1;
    ns_text about = ns_text_new(arena);
    ns_text_addf(&about, "%llu motions", (unsigned long long)rows);
    if (c.failed)
        ns_text_addf(&about, ", %llu failed", (unsigned long long)c.failed);
    if (c.later)
        ns_text_addf(&about, ", %llu not computed", (unsigned long long)c.later);
    p->subtitle = ns_text_string(&about);
    for (uint32_t k = 0; k < w->n_gets; k++) {
        const bool map = w->n_axes == 2;
        ns_plot_panel *panel = ns_plot_add(p, map ? w->get[k].name : "", w->axis[0],
                                           options->unit[0], map ? w->axis[1] : w->get[k].name,
                                           map ? options->unit[1] : w->get[k].unit);
        panel->command = options->command;
        if (map)
            draw_map(&c, k, panel, arena);
        else
            draw_curve(&c, k, panel, arena);
    }
    return 0;
}
