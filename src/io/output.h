/* Output files of a record.  One const descriptor per format. */
#ifndef NS_IO_OUTPUT_H
#define NS_IO_OUTPUT_H

#include <stdio.h>

#include "base/file.h"
#include "io/record.h"

typedef struct ns_output_format {
    const char *extension; /* without the dot */
    const char *summary;   /* one line for help */
    bool needs_all;        /* writes all rows each time: they must stay in memory */
    bool needs_file;       /* cannot be written to a pipe or a device */
    /* Brings the file up to date with the record: rows from output->rows on, events,
     * diagnostics.  Afterwards the file is complete and readable under its name.  False with
     * output->error set. */
    bool (*write)(ns_output *output, const ns_record *record);
} ns_output_format;

struct ns_output {
    const ns_output_format *format;
    const char *path; /* as the user wrote it */
    ns_file_target target;
    size_t rows; /* rows of the record that are in the file */
    size_t events;
    int descriptor;   /* of formats that append; -1 if not open */
    long long length; /* of what is complete in it */
    bool failed;      /* nothing more is written */
    char error[300];
};

extern const ns_output_format ns_output_csv, ns_output_json, ns_output_hdf5;
extern const ns_output_format *const ns_output_formats[]; /* ends with NULL */

/* The format of a file name, NULL if its extension is not known. */
const ns_output_format *ns_output_find(const char *path);

/* Ready to write: false with output->error set if the file cannot be written. */
bool ns_output_open(ns_output *output, const char *path);
bool ns_output_write(ns_output *output, const ns_record *record);
void ns_output_close(ns_output *output);

/* For formats: remembers an error in words; returns false. */
bool ns_output_error(ns_output *output, int error, const char *what);

/* The object of `--json`. */
bool ns_output_json_to(FILE *file, const ns_record *record);

/* Locale-proof "%.17g"; nan, inf and -inf in words. */
void ns_output_number(char buffer[40], double value);

#endif
