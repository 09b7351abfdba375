#include "io/output.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

const ns_output_format *const ns_output_formats[] = {&ns_output_hdf5, &ns_output_csv,
                                                     &ns_output_json, NULL};

const ns_output_format *ns_output_find(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    if (!dot || dot == name)
        return NULL;
    for (const ns_output_format *const *f = ns_output_formats; *f; f++)
        if (strcmp((*f)->extension, dot + 1) == 0)
            return *f;
    if (strcmp(dot, ".hdf5") == 0)
        return &ns_output_hdf5;
    return NULL;
}

bool ns_output_error(ns_output *output, int error, const char *what)
{
    snprintf(output->error, sizeof output->error, "%s: %s", output->path,
             what ? what : strerror(error));
    output->failed = true;
    return false;
}

bool ns_output_open(ns_output *output, const char *path)
{
    *output = (ns_output){.format = ns_output_find(path), .path = path, .descriptor = -1};
    int error = ns_file_target_init(&output->target, path);
    if (error)
        return ns_output_error(output, error, NULL);
    if (output->target.in_place && output->format->needs_file)
        return ns_output_error(output, 0, "this format needs a regular file");
    /* The temporary file is made at once: only this shows that it can be. */
    error = ns_file_target_create(&output->target, &output->descriptor);
    return error ? ns_output_error(output, error, NULL) : true;
}

bool ns_output_write(ns_output *output, const ns_record *record)
{
    if (output->failed || !output->format->write(output, record)) {
        output->failed = true;
        return false;
    }
    output->rows = ns_record_rows(record);
    output->events = record->events.rows;
    return true;
}

void ns_output_close(ns_output *output)
{
    if (output->descriptor >= 0)
        close(output->descriptor);
    output->descriptor = -1;
    ns_file_target_free(&output->target);
}

void ns_output_number(char buffer[40], double value)
{
    if (!isfinite(value)) {
        strcpy(buffer, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    snprintf(buffer, 40, "%.17g", value);
    char *comma = strchr(buffer, ','); /* the program around us may have set a locale */
    if (comma)
        *comma = '.';
}
