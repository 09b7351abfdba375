#define _GNU_SOURCE
#include "base/math/quad.h"

#include "session/output.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

const ns_output_format *ns_output_find(const ns_output_format *const *formats, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    if (!dot || dot == name)
        return NULL;
    for (const ns_output_format *const *f = formats; *f; f++)
        if (strcmp((*f)->extension, dot + 1) == 0 ||
            ((*f)->alias && strcmp((*f)->alias, dot + 1) == 0))
            return *f;
    return NULL;
}

bool ns_output_error(ns_output *output, int error, const char *what)
{
    snprintf(output->error, sizeof output->error, "%.160s%s: %s", output->path,
             strlen(output->path) > 160 ? "..." : "", what ? what : strerror(error));
    output->failed = true;
    output->code = error;
    return false;
}

bool ns_output_done(const ns_output *output, const ns_record *record, const char **reason)
{
    *reason = output && output->cut ? "there was no room in the file system for more"
              : record->running     ? "not finished when this was written"
                                    : record->message;
    return record->status == NS_OK && !record->running && !(output && output->cut);
}

bool ns_output_open(ns_output *output, const ns_output_format *format, const char *path)
{
    *output = (ns_output){.format = format, .path = path, .descriptor = -1};
    if (output->format->missing)
        return ns_output_error(output, 0, output->format->missing);
    int error = ns_file_target_init(&output->target, path);
    if (error)
        return ns_output_error(output, error, NULL);
    if (output->target.in_place && output->format->needs_file)
        return ns_output_error(output, 0, "this format needs a regular file");
    /* The temporary file is made at once: only this shows that it can be. */
    error = ns_file_target_create(&output->target, &output->descriptor);
    return error ? ns_output_error(output, error, NULL) : true;
}

static bool is_full(int code)
{
    return code == ENOSPC || code == EFBIG || code == EDQUOT;
}

static bool write_up_to(ns_output *output, const ns_record *record, size_t rows, size_t events)
{
    output->rows_end = rows;
    output->events_end = events;
    if (!output->format->write(output, record))
        return false;
    output->rows = rows;
    output->events = events;
    return true;
}

/* With no room for all, as much as fits is better than nothing: half of it, half of that... */
static void write_some(ns_output *output, const ns_record *record)
{
    char error[sizeof output->error];
    memcpy(error, output->error, sizeof error);
    const int code = output->code;
    size_t more = (ns_record_rows(record) - output->rows) / 2;
    output->cut = true;
    for (; more > 0; more /= 2) {
        const double end = record->table.t[output->rows + more - 1 - record->first_row];
        const bool backwards = record->options.run.until < record->options.run.t0;
        size_t events = output->events;
        while (events < record->events.rows &&
               (backwards ? record->events.t[events] >= end : record->events.t[events] <= end))
            events++;
        output->failed = false;
        if (write_up_to(output, record, output->rows + more, events))
            break;
    }
    output->failed = true;
    output->code = code;
    memcpy(output->error, error, sizeof error);
}

bool ns_output_write(ns_output *output, const ns_record *record)
{
    if (output->failed)
        return false;
    if (write_up_to(output, record, ns_record_rows(record), record->events.rows))
        return true;
    if (is_full(output->code) && !output->target.in_place)
        write_some(output, record);
    output->failed = true;
    return false;
}

void ns_output_close(ns_output *output)
{
    if (output->descriptor >= 0)
        close(output->descriptor);
    output->descriptor = -1;
    ns_file_target_free(&output->target);
}

void ns_output_precise(char buffer[64], double value, double low, int digits)
{
#if NS_HAVE_QUAD
    if (isfinite(value)) {
        ns_quad_print(buffer, 64, digits, (ns_quad)value + (ns_quad)low);
        char *comma = strchr(buffer, ',');
        if (comma)
            *comma = '.';
        return;
    }
#else
    (void)low, (void)digits;
#endif
    ns_text_number(buffer, value);
}
