#include "out/report/report_figures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "out/plot/plot_paint.h"
#include "out/report/report_internal.h"

enum { MOST_ROWS = 2000 }; /* of a table; files hold them all */

/* ---- figures ----------------------------------------------------------------------------- */

static void put_flag(ns_json *j, const char *key, bool value)
{
    if (value)
        ns_json_bool(j, key, true);
}

static void put_range(ns_json *j, double from, double to)
{
    if (from == to)
        return;
    ns_json_number(j, "from", from);
    ns_json_number(j, "to", to);
}

static void put_axis(ns_json *j, const char *key, const ns_plot_axis *axis)
{
    ns_json_object(j, key);
    ns_json_text(j, "label", axis->label);
    ns_json_text(j, "unit", axis->unit);
    put_flag(j, "log", axis->log);
    put_range(j, axis->from, axis->to);
    ns_json_end(j);
}

/* Words about some of n things: their numbers and their texts. */
static void put_notes(ns_json *j, const char *const *note, size_t n)
{
    if (!note)
        return;
    ns_json_array(j, "notes");
    for (size_t i = 0; i < n; i++)
        if (note[i] && *note[i]) {
            ns_json_array(j, NULL);
            ns_json_number(j, NULL, (double)i);
            ns_json_text(j, NULL, note[i]);
            ns_json_end(j);
        }
    ns_json_end(j);
}

static void put_words(ns_json *j, const ns_plot_field *f)
{
    if (!f->word || !f->n_words)
        return;
    ns_json_texts(j, "words", f->words, f->n_words);
    ns_json_array(j, "word_colors");
    for (uint32_t k = 0; k < f->n_words; k++)
        ns_json_text(j, NULL, ns_paint_word(k));
    ns_json_end(j);
    /* runs of equal cells: length, word */
    ns_json_array(j, "word");
    const size_t n = f->columns * f->rows;
    for (size_t i = 0, begin = 0; i < n; begin = i) {
        while (i < n && f->word[i] == f->word[begin])
            i++;
        ns_json_number(j, NULL, (double)(i - begin));
        ns_json_number(j, NULL, f->word[begin]);
    }
    ns_json_end(j);
}

static void put_series(ns_json *j, const ns_plot_series *s)
{
    static const char *const markers[] = {
        [NS_PLOT_DOT] = "dot",         [NS_PLOT_CIRCLE] = "circle",
        [NS_PLOT_SQUARE] = "square",   [NS_PLOT_TRIANGLE] = "triangle",
        [NS_PLOT_DIAMOND] = "diamond", [NS_PLOT_CROSS] = "cross"};
    static const char *const colours[] = {
        [NS_PLOT_BLUE] = "blue",     [NS_PLOT_VERMILION] = "vermilion",
        [NS_PLOT_GREEN] = "green",   [NS_PLOT_PURPLE] = "purple",
        [NS_PLOT_ORANGE] = "orange", [NS_PLOT_SKY] = "sky",
        [NS_PLOT_BROWN] = "brown",   [NS_PLOT_BLACK] = "black",
        [NS_PLOT_GREY] = "grey"};
    ns_json_object(j, NULL);
    ns_json_text(j, "name", s->name);
    put_flag(j, "line", s->line);
    put_flag(j, "dashed", s->dashed);
    ns_json_text(j, "marker", markers[s->marker]);
    ns_json_text(j, "color", s->paint ? s->paint : colours[s->colour]);
    if (s->width > 0)
        ns_json_number(j, "width", s->width);
    ns_packed_f64(j, "x", s->x, 1, NULL, s->n);
    ns_packed_f64(j, "y", s->y, 1, NULL, s->n);
    put_notes(j, s->note, s->n);
    ns_json_end(j);
}

static void put_field(ns_json *j, const ns_plot_field *f)
{
    ns_json_object(j, "field");
    ns_json_text(j, "label", f->label);
    ns_json_text(j, "unit", f->unit);
    ns_json_number(j, "columns", (double)f->columns);
    ns_json_number(j, "rows", (double)f->rows);
    ns_json_numbers(j, "x", f->x, 2);
    ns_json_numbers(j, "y", f->y, 2);
    put_range(j, f->from, f->to);
    put_flag(j, "log", f->log);
    put_flag(j, "diverging", f->diverging);
    ns_packed_f64(j, "value", f->value, 1, NULL, f->columns * f->rows);
    if (f->at_x)
        ns_packed_f64(j, "at_x", f->at_x, 1, NULL, f->columns);
    if (f->at_y)
        ns_packed_f64(j, "at_y", f->at_y, 1, NULL, f->rows);
    put_words(j, f);
    put_notes(j, f->note, f->columns * f->rows);
    ns_json_end(j);
}

static void put_panel(ns_json *j, const ns_plot_panel *p)
{
    ns_json_object(j, NULL);
    ns_json_text(j, "title", p->title);
    put_axis(j, "x", &p->x);
    put_axis(j, "y", &p->y);
    put_flag(j, "equal", p->equal);
    if (p->height > 0)
        ns_json_number(j, "height", p->height);
    ns_json_array(j, "series");
    for (uint32_t i = 0; i < p->series.n; i++)
        put_series(j, p->series.at[i]);
    ns_json_end(j);
    ns_json_array(j, "levels");
    for (uint32_t i = 0; i < p->levels.n; i++) {
        ns_json_object(j, NULL);
        ns_json_text(j, "name", p->levels.at[i]->name);
        ns_json_number(j, "at", p->levels.at[i]->at);
        put_flag(j, "vertical", p->levels.at[i]->vertical);
        ns_json_end(j);
    }
    ns_json_end(j);
    ns_json_array(j, "spans");
    for (uint32_t i = 0; i < p->spans.n; i++) {
        ns_json_object(j, NULL);
        put_range(j, p->spans.at[i]->from, p->spans.at[i]->to);
        put_flag(j, "horizontal", p->spans.at[i]->horizontal);
        ns_json_end(j);
    }
    ns_json_end(j);
    if (p->field)
        put_field(j, p->field);
    ns_json_text(j, "command", p->command);
    ns_json_end(j);
}

/* One figure as a value of the JSON text. */
static void put_figure(ns_json *j, const ns_plot *plot)
{
    ns_json_object(j, NULL);
    ns_json_text(j, "title", plot->subtitle ? plot->subtitle : plot->title);
    ns_json_number(j, "columns", plot->columns ? plot->columns : 1);
    ns_json_array(j, "panels");
    for (uint32_t i = 0; i < plot->panels.n; i++)
        put_panel(j, plot->panels.at[i]);
    ns_json_end(j);
    ns_json_end(j);
}

/* ---- facts and tables -------------------------------------------------------------------- */

static void put_results(ns_json *j, const ns_sheet *sheet)
{
    ns_json_array(j, "results");
    for (uint32_t i = 0; i < sheet->facts.n; i++) {
        const ns_sheet_fact *f = &sheet->facts.at[i];
        ns_json_object(j, NULL);
        ns_json_text(j, "name", f->name);
        if (f->text)
            ns_json_text(j, "text", f->text);
        else
            ns_json_number(j, "value", f->number);
        ns_json_end(j);
    }
    ns_json_end(j);
}

static void put_table(ns_json *j, const ns_sheet_table *t)
{
    const size_t rows = t->rows < MOST_ROWS ? t->rows : MOST_ROWS;
    ns_json_object(j, NULL);
    ns_json_text(j, "name", t->name);
    ns_json_number(j, "rows", (double)t->rows);
    ns_json_array(j, "columns");
    for (uint32_t i = 0; i < t->columns.n; i++) {
        const ns_sheet_column *c = &t->columns.at[i];
        ns_json_object(j, NULL);
        ns_json_text(j, "name", c->name);
        ns_json_text(j, "unit", c->unit);
        if (c->text)
            ns_json_texts(j, "words", c->text, rows);
        else
            ns_packed_f64(j, "data", c->number, 1, NULL, rows);
        ns_json_end(j);
    }
    ns_json_end(j);
    ns_json_end(j);
}

/* ---- the page ---------------------------------------------------------------------------- */

/* The data alone, as the page holds it; in the arena. */
const char *ns_report_study_data(const ns_study_page *page, const char *command,
                                 ns_arena *arena, size_t *length)
{
    const ns_sheet *sheet = page->sheet;
    ns_json json = ns_json_new(arena), *const j = &json;
    const char *reason = NULL;
    bool stopped = false;
    for (uint32_t i = 0; i < sheet->facts.n; i++) {
        const ns_sheet_fact *f = &sheet->facts.at[i];
        if (f->text && strcmp(f->name, "status") == 0)
            stopped = strcmp(f->text, "stopped") == 0;
        if (f->text && strcmp(f->name, "reason") == 0)
            reason = f->text;
    }
    ns_json_object(j, NULL);
    ns_json_number(j, "format", 1);
    ns_json_text(j, "study", sheet->study);
    ns_report_put_model(j, page->model, arena);
    ns_json_text(j, "version", NS_VERSION);
    ns_json_text(j, "status", stopped ? "stopped" : "done");
    if (stopped)
        ns_json_text(j, "reason", reason);
    ns_json_text(j, "command", command);
    ns_report_put_parameters(j, page->model);
    put_results(j, sheet);
    ns_json_array(j, "tables");
    for (uint32_t i = 0; i < sheet->tables.n; i++)
        put_table(j, sheet->tables.at[i]);
    ns_json_end(j);
    ns_json_array(j, "figures");
    if (page->plot)
        put_figure(j, page->plot);
    ns_json_end(j);
    ns_json_end(j);
    *length = j->text.length;
    return ns_json_string(j);
}

/* *data stays as it is when memory runs out. */
static void make(const ns_study_page *page, const char *command, ns_arena *arena,
                 const char **data, size_t *length)
{
    if (!NS_ARENA_GUARD(arena))
        *data = ns_report_study_data(page, command, arena, length);
    ns_arena_unguard(arena);
}

bool ns_report_study_write(const ns_study_page *page, const ns_report_options *options,
                           const char *path, char buffer[300])
{
    size_t length = 0;
    const char *data = NULL;
    ns_arena *arena = ns_arena_new();
    if (arena)
        make(page, options->command, arena, &data, &length);
    const bool good = ns_report_put_page(path, options, data, length, buffer);
    ns_arena_free(arena);
    return good;
}
