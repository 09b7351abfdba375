/* HDF5: a file that says what it is.
 *
 *     /                attributes title, model (the text), version, formulation, method,
 *                      tolerance, status, reason, t_end
 *     /t               output times                                  attribute unit
 *     /values/NAME     one dataset per observable, same length       attribute unit
 *     /low             of runs in quadruple precision: t and values/NAME again, to be added
 *     /events          datasets name, t, direction; group values as above
 *     /parameters      one attribute per parameter
 *     /diagnostics     attributes energy_drift (or energy_change), steps, rejected,
 *                      evaluations, seconds;
 *                      groups constraints and invariants with one attribute per name
 *
 * HDF5 files that are open for writing do not survive a kill or a full disk for sure.  So the
 * visible file is never open for writing: each update copies it, extends the copy, closes it,
 * and renames it.  record.c sees to it that updates take a small part of the time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/apart.h"
#include "base/series/h5_lists.h"
#include "out/formats.h"
#include "out/tables/h5.h"

#if NS_HDF5

enum { LEAST_CHUNK = 16, EVENT_CHUNK = 128, MOST_CHUNK = 4096 };

/* ---- datasets ---------------------------------------------------------------------------- */

static hid_t create_dataset(hid_t at, const char *name, hid_t type, hsize_t chunk)
{
    const hsize_t none = 0, unlimited = H5S_UNLIMITED;
    hid_t space = H5Screate_simple(1, &none, &unlimited);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 1, &chunk);
    hid_t dataset = H5Dcreate2(at, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    H5Sclose(space);
    return dataset;
}

/* Adds n values after the `have` values a dataset has; creates it with a unit if new. */
static bool append(hid_t at, const char *name, hid_t type, const char *unit, size_t have,
                   size_t n, const void *values, size_t chunk)
{
    const bool old = ns_h5_has(at, name);
    hid_t dataset = old ? H5Dopen2(at, name, H5P_DEFAULT)
                        : create_dataset(at, name, type, chunk);
    if (dataset < 0)
        return false;
    bool good = true;
    if (!old && unit)
        good = ns_h5_put_text(dataset, "unit", unit);
    if (n && good) {
        const hsize_t start = have, count = n, size = have + n;
        good = H5Dset_extent(dataset, &size) >= 0;
        hid_t file_space = H5Dget_space(dataset);
        hid_t space = H5Screate_simple(1, &count, NULL);
        H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &start, NULL, &count, NULL);
        good = good && H5Dwrite(dataset, type, space, file_space, H5P_DEFAULT, values) >= 0;
        H5Sclose(space);
        H5Sclose(file_space);
    }
    if (H5Dclose(dataset) < 0)
        good = false;
    return good;
}

/* Rows first..end of a table; those before the table's own `skipped` rows are elsewhere. */
static bool append_table(hid_t at, const ns_record *r, const ns_table *table, size_t skipped,
                         size_t first, size_t end, size_t chunk)
{
    const ns_system *s = r->model->system;
    const size_t begin = first - skipped, n = end - first;
    bool good = append(at, "t", H5T_NATIVE_DOUBLE, "s", first, n, n ? table->t + begin : NULL,
                       chunk);
    hid_t values = ns_h5_group(at, "values");
    if (values < 0)
        return false;
    for (uint32_t i = 0; i < r->columns && good; i++) {
        const ns_observable *o = &s->observables.at[i];
        good = append(values, o->name, H5T_NATIVE_DOUBLE, o->unit ? o->unit : "", first, n,
                      n ? ns_table_column(table, i) + begin : NULL, chunk);
    }
    return H5Gclose(values) >= 0 && good;
}

/* What times and values of a run in quadruple precision lack. */
static bool append_low(hid_t file, const ns_output *o, const ns_record *r, size_t chunk)
{
    if (!r->low.rows)
        return true;
    hid_t low = ns_h5_group(file, "low");
    return low >= 0 &&
           append_table(low, r, &r->low, r->first_row, o->rows, o->rows_end, chunk) &&
           H5Gclose(low) >= 0;
}

static bool append_events(hid_t file, const ns_output *o, const ns_record *r)
{
    const ns_system *s = r->model->system;
    const size_t first = o->events, end = o->events_end, n = end - first;
    hid_t group = ns_h5_group(file, "events");
    if (group < 0)
        return false;
    bool good = append_table(group, r, &r->events, 0, first, end, EVENT_CHUNK);
    const char **names = malloc((n + 1) * sizeof *names);
    int *directions = malloc((n + 1) * sizeof *directions);
    if (names && directions) {
        for (size_t i = 0; i < n; i++) {
            names[i] = s->events.at[r->outcome->events[first + i].event].name;
            directions[i] = r->outcome->events[first + i].direction;
        }
        hid_t type = ns_h5_text_type();
        good = good && append(group, "name", type, NULL, first, n, names, EVENT_CHUNK) &&
               append(group, "direction", H5T_NATIVE_INT, NULL, first, n, directions,
                      EVENT_CHUNK);
        H5Tclose(type);
    } else {
        good = false;
    }
    free(names);
    free(directions);
    return H5Gclose(group) >= 0 && good;
}

/* ---- the whole file ---------------------------------------------------------------------- */

/* What does not change during a run. */
static bool put_origin(hid_t file, const ns_record *r)
{
    const ns_system *s = r->model->system;
    const ns_description *d = s->description;
    bool good = ns_h5_put_text(file, "title", d->title) &&
                ns_h5_put_text(file, "model", r->model->text) &&
                ns_h5_put_text(file, "version", NS_VERSION) &&
                ns_h5_put_text(file, "formulation", s->formulation->name) &&
                ns_h5_put_text(file, "method", r->method->name) &&
                ns_h5_put_double(file, "tolerance", r->options.run.tolerance);
    hid_t group = ns_h5_group(file, "parameters");
    if (group < 0)
        return false;
    for (uint32_t i = 0; i < d->params.n && good; i++)
        good = ns_h5_put_double(group, d->params.at[i].name, r->model->p[i]);
    return H5Gclose(group) >= 0 && good;
}

static bool put_outcome(hid_t file, const ns_output *output, const ns_record *r)
{
    const ns_system *s = r->model->system;
    const ns_outcome *o = r->outcome;
    const char *reason;
    const bool finished = ns_output_done(output, r, &reason);
    bool good = ns_h5_put_text(file, "status", finished ? "done" : "stopped") &&
                ns_h5_put_text(file, "reason", reason) && ns_h5_put_double(file, "t_end", o->t);
    hid_t group = ns_h5_group(file, "diagnostics");
    if (group < 0)
        return false;
    good = good && ns_h5_put_double(group, "energy_drift", ns_record_energy_drift(r)) &&
           (!s->energy || s->conservative ||
            ns_h5_put_double(group, "energy_change", o->energy_drift)) &&
           ns_h5_put_count(group, "steps", o->steps) &&
           ns_h5_put_count(group, "rejected", o->rejected) &&
           ns_h5_put_count(group, "evaluations", o->evaluations) &&
           ns_h5_put_double(group, "seconds", r->seconds);
    hid_t constraints = ns_h5_group(group, "constraints");
    hid_t invariants = ns_h5_group(group, "invariants");
    for (uint32_t i = 0; i < s->constraints.n && good; i++)
        good = ns_h5_put_double(constraints, s->constraints.at[i].name, o->residual[i]);
    for (uint32_t i = 0; i < s->invariants.n && good; i++)
        good = ns_h5_put_double(invariants, s->invariants.at[i].name, o->drift[i]);
    good = constraints >= 0 && H5Gclose(constraints) >= 0 && good;
    good = invariants >= 0 && H5Gclose(invariants) >= 0 && good;
    return H5Gclose(group) >= 0 && good;
}

static size_t chunk_rows(const ns_record *r)
{
    const size_t expected = r->n_times ? r->n_times : 1;
    return expected < LEAST_CHUNK ? LEAST_CHUNK : expected > MOST_CHUNK ? MOST_CHUNK : expected;
}

static bool fill(hid_t file, const ns_output *o, const ns_record *r, bool fresh)
{
    return (!fresh || put_origin(file, r)) &&
           append_table(file, r, &r->table, r->first_row, o->rows, o->rows_end,
                        chunk_rows(r)) &&
           append_low(file, o, r, chunk_rows(r)) && append_events(file, o, r) &&
           put_outcome(file, o, r);
}

/* An empty file, made in memory. */
static int put_empty(int to)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 4096, false);
    hid_t file = H5Fcreate("empty", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (file < 0)
        return ENOMEM;
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    const ssize_t size = H5Fget_file_image(file, NULL, 0);
    void *image = size > 0 ? malloc((size_t)size) : NULL;
    int error = ENOMEM;
    if (image && H5Fget_file_image(file, image, (size_t)size) == size)
        error = ns_file_put(to, image, (size_t)size);
    free(image);
    H5Fclose(file);
    return error;
}

static size_t chunks(size_t rows, size_t chunk)
{
    return (rows + chunk - 1) / chunk;
}

/* More bytes than an update can need: whole chunks with their share of the index, and 8 kB for
 * the header of each object. */
static off_t growth(const ns_output *o, const ns_record *r)
{
    const ns_system *s = r->model->system;
    const size_t chunk = chunk_rows(r), columns = r->columns + (size_t)4;
    const size_t table = chunks(o->rows_end, chunk) - chunks(o->rows, chunk);
    const size_t events = chunks(o->events_end, EVENT_CHUNK) - chunks(o->events, EVENT_CHUNK);
    const size_t objects = 2 * columns + 16 + s->description->params.n + s->constraints.n +
                           s->invariants.n;
    return (off_t)(columns * (table * (chunk * sizeof(double) + 256) +
                              events * (EVENT_CHUNK * sizeof(double) + 256)) +
                   o->events_end * 64 + objects * 8192 + 2 * r->model->length + (256 << 10));
}

/* The temporary file gets what the visible one holds so far, and room for the update.  HDF5
 * does not recover from a write that fails, so the space is taken from the system before. */
static int prepare(const ns_output *o, const ns_record *r, int to, bool fresh)
{
    int error = 0;
    if (fresh) {
        error = put_empty(to);
    } else {
        int from = open(o->target.path, O_RDONLY | O_CLOEXEC);
        error = from < 0 ? errno : ns_file_copy(from, to);
        if (from >= 0)
            close(from);
    }
    if (!error) {
        const off_t size = lseek(to, 0, SEEK_END);
        error = size < 0 ? errno : posix_fallocate(to, 0, size + growth(o, r));
    }
    return error;
}

/* ---- in a process of its own ------------------------------------------------------------- */

typedef struct update {
    const ns_output *output;
    const ns_record *record;
    int descriptor;
} update;

typedef struct answer {
    int error; /* of the system; 0 */
    bool failed;
    char words[200];
} answer;

static bool make_update(void *context, int to)
{
    const update *u = context;
    const ns_output *o = u->output;
    const bool fresh = o->length == 0;
    ns_h5_be_quiet();
    answer a = {.error = prepare(o, u->record, u->descriptor, fresh)};
    if (!a.error) {
        hid_t file = H5Fopen(o->target.temporary, H5F_ACC_RDWR, H5P_DEFAULT);
        a.failed = file < 0 || !fill(file, o, u->record, fresh);
        if (a.failed)
            ns_h5_cause(a.words);
        if (file >= 0 && H5Fclose(file) < 0 && !a.failed) {
            a.failed = true;
            ns_h5_cause(a.words);
        }
    }
    return ns_apart_say(to, &a, sizeof a);
}

/* What HDF5 came to; memory: it may have run out of it. */
static answer ask(update *u)
{
    static const double silence = 3600; /* s; disks can be slow */
    ns_apart said;
    answer a = {.error = EIO};
    if (ns_apart_do(make_update, u, silence, &said)) {
        if (said.length == sizeof a)
            memcpy(&a, said.bytes, sizeof a);
    } else {
        a = (answer){.error = said.memory ? ENOMEM : 0, .failed = true};
        snprintf(a.words, sizeof a.words, "%s", said.why);
    }
    free(said.bytes);
    return a;
}

static bool write_hdf5(ns_output *o, const ns_record *r)
{
    update u = {o, r, o->descriptor};
    o->descriptor = -1;
    int error = u.descriptor < 0 ? ns_file_target_create(&o->target, &u.descriptor) : 0;
    if (error)
        return ns_output_error(o, error, NULL);
    const answer a = ask(&u);
    error = close(u.descriptor) ? errno : 0;
    error = a.error ? a.error : error;
    if (!error && !a.failed)
        error = ns_file_target_publish(&o->target);
    o->length = o->length || (!error && !a.failed);
    return !error && !a.failed ? true : ns_output_error(o, error, a.words[0] ? a.words : NULL);
}

#endif

const ns_output_format ns_output_hdf5 = {
    .extension = "h5",
    .alias = "hdf5",
    .summary = "HDF5: /t, /values/NAME, /events, model and diagnostics as attributes",
    .needs_file = true,
#if NS_HDF5
    .write = write_hdf5,
#else
    .missing = NS_WITHOUT_HDF5,
#endif
};
