/* Output files of a record.  One const descriptor per format; the list of them is
 * out/formats.h. */
#ifndef NS_SESSION_OUTPUT_H
#define NS_SESSION_OUTPUT_H

#include <stdio.h>

#include "base/file.h"
#include "session/record.h"

typedef struct ns_output_format {
    const char *extension; /* without the dot */
    const char *alias;     /* another one, or NULL */
    const char *summary;   /* one line for help */
    bool needs_all;        /* writes all rows each time: they must stay in memory */
    bool needs_motion;     /* draws record->motion */
    bool needs_scene;      /* and what the model looks like */
    bool needs_file;       /* cannot be written to a pipe or a device */
    /* Brings the file up to date with the record: rows and events up to output->rows_end and
     * events_end, diagnostics.  Afterwards the file is complete and readable under its name.
     * False with output->error set; then the file is as it was before, or longer. */
    bool (*write)(ns_output *output, const ns_record *record);
    const char *missing; /* why it cannot be written by this program; NULL: it can */
} ns_output_format;

struct ns_output {
    const ns_output_format *format;
    const char *path; /* as the user wrote it */
    ns_file_target target;
    size_t rows, events;         /* of the record that are in the file */
    size_t rows_end, events_end; /* and that shall be in it after this update */
    bool cut;                    /* these are not all: there was no room for more */
    int descriptor;              /* of formats that append; -1 if not open */
    long long length;            /* of what is complete in the file */
    bool failed;                 /* nothing more is written */
    double due;                  /* when the next update is (record.c) */
    int code;                    /* errno of the failure, 0 if it has none */
    char error[300];
};

/* The format of a file name among those of a list that ends with NULL; NULL if its extension is
 * not known. */
const ns_output_format *ns_output_find(const ns_output_format *const *formats,
                                       const char *path);

/* Ready to write: false with output->error set if the file cannot be written. */
bool ns_output_open(ns_output *output, const ns_output_format *format, const char *path);
bool ns_output_write(ns_output *output, const ns_record *record);
void ns_output_close(ns_output *output);

/* For formats: remembers an error in words; returns false. */
bool ns_output_error(ns_output *output, int error, const char *what);

/* For formats: is the record done, and all of it in the file?  If not, why. */
bool ns_output_done(const ns_output *output, const ns_record *record, const char **reason);

/* The object of `--json`. */
bool ns_output_json_to(FILE *file, const ns_record *record);

/* The sum of two doubles with `digits` digits. */
void ns_output_precise(char buffer[64], double value, double low, int digits);
/* With 34 digits the sum reads back the same; it has 106 bits, so that a decimal number like
 * 0.1 shows as one with 32. */
enum { NS_PRECISE_DIGITS = 34, NS_PRECISE_DECIMAL = 32 };

#endif
