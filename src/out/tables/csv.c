/* CSV: a line of names, comment lines (#) with units and origin, one line per output time.
 * Numbers have the shortest digits that read back the same (34 digits in quadruple precision).
 * The file grows line by line; when there is no room for more it is cut back to its last whole
 * line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "out/formats.h"

typedef struct lines {
    char *at;
    size_t length, room;
    bool failed;
} lines;

static void add(lines *l, const char *text, size_t n)
{
    if (!l->at || l->length + n > l->room) {
        size_t room = (l->length + n) * 2 + 4096;
        char *larger = l->failed ? NULL : realloc(l->at, room);
        if (!larger) {
            l->failed = true;
            return;
        }
        l->at = larger;
        l->room = room;
    }
    memcpy(l->at + l->length, text, n);
    l->length += n;
}

static void add_text(lines *l, const char *text)
{
    add(l, text, strlen(text));
}

static void add_precise(lines *l, double value, double low, int digits)
{
    char buffer[64];
    ns_output_precise(buffer, value, low, digits);
    add_text(l, buffer);
}

static void add_number(lines *l, double value)
{
    char buffer[NS_NUMBER_ROOM];
    ns_text_number(buffer, value);
    add_text(l, buffer);
}

/* A field is quoted if it would be misread otherwise. */
static void add_field(lines *l, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n#")]) {
        add_text(l, text);
        return;
    }
    add_text(l, "\"");
    for (; *text; text++) {
        if (*text == '"')
            add_text(l, "\"");
        add(l, *text == '\n' || *text == '\r' ? " " : text, 1);
    }
    add_text(l, "\"");
}

/* In a comment only a line break would do harm. */
static void add_comment(lines *l, const char *text)
{
    for (; *text; text++)
        add(l, *text == '\n' || *text == '\r' ? " " : text, 1);
}

static void add_head(lines *l, const ns_record *r)
{
    const ns_system *s = r->model->system;
    add_text(l, "t");
    for (uint32_t i = 0; i < r->columns; i++) {
        add_text(l, ",");
        add_field(l, s->observables.at[i].name);
    }
    add_text(l, "\n# unit: s");
    for (uint32_t i = 0; i < r->columns; i++) {
        add_text(l, ",");
        add_comment(l, s->observables.at[i].unit ? s->observables.at[i].unit : "");
    }
    add_text(l, "\n# model: ");
    add_comment(l, s->description->title);
    const ns_description *d = s->description;
    for (uint32_t i = 0; i < d->params.n; i++) {
        add_text(l, i ? ", " : "\n# parameters: ");
        add_comment(l, d->params.at[i].name);
        add_text(l, " = ");
        add_number(l, r->model->p[i]);
    }
    add_text(l, "\n# noslip " NS_VERSION ", formulation ");
    add_comment(l, s->formulation->name);
    add_text(l, ", method ");
    add_comment(l, r->method->name);
    add_text(l, ", tolerance ");
    add_number(l, r->options.run.tolerance);
    add_text(l, "\n");
}

/* When there is no room for all lines, those that were written as a whole stay. */
static void keep_whole_lines(ns_output *o, const lines *l)
{
    const long long written = (long long)lseek(o->descriptor, 0, SEEK_CUR) - o->length;
    size_t keep = written < 0 ? 0 : (size_t)written < l->length ? (size_t)written : l->length;
    while (keep > 0 && l->at[keep - 1] != '\n')
        keep--;
    size_t rows = 0;
    for (size_t i = 0; i < keep; i++)
        rows += l->at[i] == '\n';
    for (const char *at = l->at; at < l->at + keep; at = strchr(at, '\n') + 1)
        rows -= (*at == '#' || *at == 't') ? 1 : 0; /* lines of the head */
    if (ftruncate(o->descriptor, (off_t)(o->length + (long long)keep)) == 0) {
        o->length += (long long)keep;
        o->rows += rows;
    }
}

static bool write_lines(ns_output *o, lines *l, size_t rows)
{
    int error = ns_file_put(o->descriptor, l->at, l->length);
    if (!error) {
        o->length += (long long)l->length;
        o->rows = rows;
        l->length = 0;
        return true;
    }
    if (!o->target.in_place)
        keep_whole_lines(o, l);
    return ns_output_error(o, error, NULL);
}

static bool write_csv(ns_output *o, const ns_record *r)
{
    enum { BLOCK = 1 << 20 };
    if (o->cut) /* what fits is there already */
        return false;
    lines l = {0};
    if (o->length == 0)
        add_head(&l, r);
    bool good = true;
    for (size_t row = o->rows; row < o->rows_end && good && !l.failed; row++) {
        const size_t i = row - r->first_row;
        const bool precise = r->low.rows > i;
        if (precise)
            add_precise(&l, r->table.t[i], r->low.t[i], NS_PRECISE_DECIMAL);
        else
            add_number(&l, r->table.t[i]);
        for (uint32_t j = 0; j < r->columns; j++) {
            add_text(&l, ",");
            if (precise)
                add_precise(&l, ns_table_column(&r->table, j)[i],
                            ns_table_column(&r->low, j)[i], NS_PRECISE_DIGITS);
            else
                add_number(&l, ns_table_column(&r->table, j)[i]);
        }
        add_text(&l, "\n");
        if (l.length > BLOCK && !l.failed)
            good = write_lines(o, &l, row + 1);
    }
    if (l.failed)
        good = ns_output_error(o, ENOMEM, NULL);
    else if (good && l.length)
        good = write_lines(o, &l, o->rows_end);
    free(l.at);
    /* The descriptor follows the file to its real name; later lines are appended there. */
    int error = good || o->length ? ns_file_target_publish(&o->target) : 0;
    return error && good ? ns_output_error(o, error, NULL) : good;
}

const ns_output_format ns_output_csv = {
    .extension = "csv",
    .summary = "a line of names, one line per output time",
    .write = write_csv,
};
