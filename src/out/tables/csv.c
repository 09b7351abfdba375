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
#include "out/tables/csv.h"

void ns_csv_number(FILE *to, double value)
{
    char buffer[NS_NUMBER_ROOM];
    const size_t length = ns_text_number(buffer, value);
    fwrite(buffer, 1, length, to);
}

/* In a comment only a line break would do harm. */
static void put_comment(FILE *to, const char *text)
{
    for (; *text; text++)
        fputc(*text == '\n' || *text == '\r' ? ' ' : *text, to);
}

void ns_csv_field(FILE *to, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n#")]) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text == '\n' || *text == '\r' ? ' ' : *text, to);
    }
    fputc('"', to);
}

static void put_precise(FILE *to, double value, double low, int digits)
{
    char buffer[64];
    ns_output_precise(buffer, value, low, digits);
    fputs(buffer, to);
}

static void put_head(FILE *to, const ns_record *r)
{
    const ns_system *s = r->model->system;
    fputs("t", to);
    for (uint32_t i = 0; i < r->columns; i++) {
        fputs(",", to);
        ns_csv_field(to, s->observables.at[i].name);
    }
    fputs("\n# unit: s", to);
    for (uint32_t i = 0; i < r->columns; i++) {
        fputs(",", to);
        put_comment(to, s->observables.at[i].unit ? s->observables.at[i].unit : "");
    }
    fputs("\n# model: ", to);
    put_comment(to, s->description->title);
    const ns_description *d = s->description;
    for (uint32_t i = 0; i < d->params.n; i++) {
        fputs(i ? ", " : "\n# parameters: ", to);
        put_comment(to, d->params.at[i].name);
        fputs(" = ", to);
        ns_csv_number(to, r->model->p[i]);
    }
    fputs("\n# noslip " NS_VERSION ", formulation ", to);
    put_comment(to, s->formulation->name);
    fputs(", method ", to);
    put_comment(to, r->method->name);
    fputs(", tolerance ", to);
    ns_csv_number(to, r->options.run.tolerance);
    fputs("\n", to);
}

/* A row, put together before it goes to the stream: calls for each number take a quarter of the
 * time of its digits. */
static void put_row(FILE *to, const ns_record *r, size_t i)
{
    enum { ROOM = 2048 };
    char line[ROOM + 2 * NS_NUMBER_ROOM];
    size_t used = ns_text_number(line, r->table.t[i]);
    for (uint32_t j = 0; j < r->columns; j++) {
        line[used++] = ',';
        used += ns_text_number(line + used, ns_table_column(&r->table, j)[i]);
        if (used >= ROOM) {
            fwrite(line, 1, used, to);
            used = 0;
        }
    }
    line[used++] = '\n';
    fwrite(line, 1, used, to);
}

/* Rows from *row on, until there is a block of them. */
static void put_rows(FILE *to, const ns_output *o, const ns_record *r, size_t *row)
{
    enum { BLOCK = 1 << 20 };
    while (*row < o->rows_end && ftell(to) < BLOCK) {
        const size_t i = (*row)++ - r->first_row;
        if (r->low.rows <= i) {
            put_row(to, r, i);
            continue;
        }
        put_precise(to, r->table.t[i], r->low.t[i], NS_PRECISE_DECIMAL);
        for (uint32_t j = 0; j < r->columns; j++) {
            fputc(',', to);
            put_precise(to, ns_table_column(&r->table, j)[i], ns_table_column(&r->low, j)[i],
                        NS_PRECISE_DIGITS);
        }
        fputc('\n', to);
    }
}

/* When there is no room for all lines, those that were written as a whole stay. */
static void keep_whole_lines(ns_output *o, const char *lines, size_t length)
{
    const long long written = (long long)lseek(o->descriptor, 0, SEEK_CUR) - o->length;
    size_t keep = written < 0 ? 0 : (size_t)written < length ? (size_t)written : length;
    while (keep > 0 && lines[keep - 1] != '\n')
        keep--;
    size_t rows = 0;
    for (const char *at = lines; at < lines + keep; at = strchr(at, '\n') + 1)
        rows += *at != '#' && *at != 't'; /* these are lines of the head */
    if (ftruncate(o->descriptor, (off_t)(o->length + (long long)keep)) == 0) {
        o->length += (long long)keep;
        o->rows += rows;
    }
}

/* The next block of lines. */
static bool write_block(ns_output *o, const ns_record *r)
{
    char *lines = NULL;
    size_t length = 0, row = o->rows;
    FILE *to = open_memstream(&lines, &length);
    if (!to)
        return ns_output_error(o, ENOMEM, NULL);
    if (o->length == 0)
        put_head(to, r);
    put_rows(to, o, r, &row);
    const bool whole = !ferror(to);
    int error = fclose(to) || !whole ? ENOMEM : ns_file_put(o->descriptor, lines, length);
    if (!error) {
        o->length += (long long)length;
        o->rows = row;
    } else if (error != ENOMEM && !o->target.in_place) {
        keep_whole_lines(o, lines, length);
    }
    free(lines);
    return error ? ns_output_error(o, error, NULL) : true;
}

static bool write_csv(ns_output *o, const ns_record *r)
{
    if (o->cut) /* what fits is there already */
        return false;
    bool good = true;
    while (good && (o->length == 0 || o->rows < o->rows_end))
        good = write_block(o, r);
    /* The descriptor follows the file to its real name; later lines are appended there. */
    int error = good || o->length ? ns_file_target_publish(&o->target) : 0;
    return error && good ? ns_output_error(o, error, NULL) : good;
}

const ns_output_format ns_output_csv = {
    .extension = "csv",
    .summary = "a line of names, one line per output time",
    .write = write_csv,
};
