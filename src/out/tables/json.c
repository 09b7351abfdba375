/* JSON: the object that `noslip run --json` prints and FILE.json holds (docs/cli.md). */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "base/json.h"
#include "out/formats.h"
#include "session/trust/digits.h"
#include "session/trust/trust.h"
#include "study/orbits/relative.h"

/* The sums of two doubles. */
static void put_sums(ns_json *j, const char *key, const double *values, const double *low,
                     size_t n, int digits)
{
    char buffer[64];
    ns_json_array(j, key);
    for (size_t i = 0; i < n; i++) {
        ns_output_precise(buffer, values[i], low[i], digits);
        ns_json_literal(j, NULL, isfinite(values[i]) ? buffer : "null");
    }
    ns_json_end(j);
}

static void put_values(ns_json *j, const ns_record *r, size_t rows)
{
    const ns_system *s = r->model->system;
    ns_json_object(j, "values");
    for (uint32_t i = 0; i < r->columns; i++) {
        const char *name = s->observables.at[i].name;
        const double *column = ns_table_column(&r->table, i);
        if (r->low.rows)
            put_sums(j, name, column, ns_table_column(&r->low, i), rows, NS_PRECISE_DIGITS);
        else
            ns_json_numbers(j, name, column, rows);
    }
    ns_json_end(j);
}

/* As the values; null where it is not known. */
static void put_digits(ns_json *j, const ns_record *r, size_t rows)
{
    ns_json_object(j, "digits");
    for (uint32_t c = 0; c < r->columns; c++) {
        ns_json_array(j, r->model->system->observables.at[c].name);
        for (size_t k = 0; k < rows; k++) {
            const int digits = ns_digits_at(r, c, k);
            ns_json_number(j, NULL, digits < 0 ? (double)NAN : digits);
        }
        ns_json_end(j);
    }
    ns_json_end(j);
}

/* Of values and parameters, where they are known. */
static void put_units(ns_json *j, const ns_record *r)
{
    const ns_system *s = r->model->system;
    const ns_description *d = s->description;
    ns_json_object(j, "units");
    ns_json_text(j, "t", "s");
    for (uint32_t i = 0; i < r->columns; i++)
        if (s->observables.at[i].unit && *s->observables.at[i].unit)
            ns_json_text(j, s->observables.at[i].name, s->observables.at[i].unit);
    ns_json_end(j);
    ns_json_object(j, "parameter_units");
    for (uint32_t i = 0; i < d->params.n; i++)
        if (*d->params.at[i].unit)
            ns_json_text(j, d->params.at[i].name, d->params.at[i].unit);
    ns_json_end(j);
}

static void put_trust(ns_json *j, const ns_trust *q)
{
    ns_json_object(j, "trust");
    ns_json_number(j, "until", q->until);
    ns_json_number(j, "largest", q->largest);
    ns_json_number(j, "tenfold", q->tenfold);
    ns_json_end(j);
}

static void put_events(ns_json *j, const ns_record *r, size_t n)
{
    const ns_system *s = r->model->system;
    ns_json_array(j, "events");
    for (size_t i = 0; i < n; i++) {
        ns_json_object(j, NULL);
        ns_json_text(j, "name", s->events.at[r->outcome->events[i].event].name);
        ns_json_number(j, "t", r->events.t[i]);
        const ns_occurrence *one = &r->outcome->events[i];
        if (s->modes.n > 1 && one->before != one->after) {
            ns_json_text(j, "from_mode", s->modes.at[one->before]);
            ns_json_text(j, "to_mode", s->modes.at[one->after]);
        }
        if (one->rest)
            ns_json_bool(j, "accumulation", true);
        ns_json_object(j, "values");
        for (uint32_t c = 0; c < r->columns; c++)
            ns_json_number(j, s->observables.at[c].name, ns_table_column(&r->events, c)[i]);
        ns_json_end(j);
        ns_json_end(j);
    }
    ns_json_end(j);
}

/* The stretches of the motion: since when, in which mode. */
static void put_modes(ns_json *j, const ns_record *r)
{
    const ns_system *s = r->model->system;
    double t;
    uint32_t mode;
    ns_json_array(j, "modes");
    for (size_t next = 0; ns_record_stretch(r, &next, &t, &mode);) {
        ns_json_object(j, NULL);
        ns_json_number(j, "t", t);
        ns_json_text(j, "mode", s->modes.at[mode]);
        ns_json_end(j);
    }
    ns_json_end(j);
}

static void put_ranks(ns_json *j, const ns_outcome *o)
{
    const double A[2] = {o->rank_A[0], o->rank_A[1]}, all[2] = {o->rank_all[0], o->rank_all[1]};
    ns_json_object(j, "rank");
    ns_json_numbers(j, "A", A, 2);
    ns_json_number(j, "rows", o->rank_rows);
    ns_json_numbers(j, "M|A^T", all, 2);
    ns_json_number(j, "coordinates", o->rank_coordinates);
    ns_json_end(j);
}

static void put_periodic(ns_json *j, const ns_record *r)
{
    double rest;
    const uint64_t k = ns_relative_periods(r->relative, r->options.run.t0, r->outcome->t,
                                           &rest);
    ns_json_object(j, "periodic");
    ns_json_number(j, "period", r->relative->period);
    ns_json_number(j, "periods", (double)k);
    ns_json_number(j, "error", ns_relative_error(r->relative, k));
    ns_json_end(j);
}

static void put_diagnostics(ns_json *j, const ns_record *r)
{
    const ns_system *s = r->model->system;
    const ns_outcome *o = r->outcome;
    const ns_diag *diag = r->model->diag;
    ns_json_object(j, "diagnostics");
    ns_json_number(j, "energy_drift", ns_record_energy_drift(r));
    if (s->energy && !s->conservative) {
        ns_json_bool(j, "energy_conserved", false);
        ns_json_number(j, "energy_change", o->energy_drift);
    }
    ns_json_object(j, "constraints");
    for (uint32_t i = 0; i < s->constraints.n; i++)
        ns_json_number(j, s->constraints.at[i].name, o->residual[i]);
    ns_json_end(j);
    ns_json_object(j, "invariants");
    for (uint32_t i = 0; i < s->invariants.n; i++)
        ns_json_number(j, s->invariants.at[i].name, o->drift[i]);
    ns_json_end(j);
    if (o->rank_coordinates)
        put_ranks(j, o);
    if (r->relative)
        put_periodic(j, r);
    if (s->pushes.n && o->push_least) {
        ns_json_object(j, "contacts");
        for (uint32_t i = 0; i < s->pushes.n; i++)
            ns_json_number(j, s->pushes.at[i].name, o->push_least[i]);
        ns_json_end(j);
    }
    if (diag->messages.n) { /* guesses that changed, doubts about the start */
        ns_json_array(j, "notes");
        for (uint32_t i = 0; i < diag->messages.n; i++)
            ns_json_text(j, NULL, diag->messages.at[i].text);
        ns_json_end(j);
    }
    ns_json_number(j, "steps", (double)o->steps);
    ns_json_number(j, "evaluations", (double)o->evaluations);
    ns_json_number(j, "seconds", r->seconds);
    ns_json_end(j);
}

static bool put_object(FILE *f, const ns_output *output, const ns_record *r)
{
    const ns_system *s = r->model->system;
    const char *reason;
    const bool done = ns_output_done(output, r, &reason);
    const size_t rows = output ? output->rows_end : r->table.rows;
    ns_json json = ns_json_to(f), *const j = &json;
    ns_json_object(j, NULL);
    ns_json_text(j, "model", s->description->title);
    ns_json_text(j, "formulation", s->formulation->name);
    ns_json_text(j, "method", r->method->name);
    ns_json_text(j, "method_choice", r->chosen && r->choice[0] ? r->choice : NULL);
    ns_json_text(j, "status", done ? "done" : "stopped");
    ns_json_text(j, "reason", reason ? reason : "");
    if (r->low.rows)
        put_sums(j, "t", r->table.t, r->low.t, rows, NS_PRECISE_DECIMAL);
    else
        ns_json_numbers(j, "t", r->table.t, rows);
    put_values(j, r, rows);
    if (r->digits)
        put_digits(j, r, rows);
    if (r->trust)
        put_trust(j, r->trust);
    put_units(j, r);
    ns_json_object(j, "parameters");
    for (uint32_t i = 0; i < s->description->params.n; i++)
        ns_json_number(j, s->description->params.at[i].name, r->model->p[i]);
    ns_json_end(j);
    put_events(j, r, output ? output->events_end : r->events.rows);
    if (s->modes.n > 1)
        put_modes(j, r);
    put_diagnostics(j, r);
    ns_json_end(j);
    return fflush(f) == 0 && !ferror(f);
}

bool ns_output_json_to(FILE *f, const ns_record *r)
{
    return put_object(f, NULL, r);
}

static bool write_json(ns_output *o, const ns_record *r)
{
    int fd = o->descriptor, error = 0;
    o->descriptor = -1;
    /* The first time the temporary file is there already; later each version gets a new one. */
    if (fd < 0 && (error = ns_file_target_create(&o->target, &fd)))
        return ns_output_error(o, error, NULL);
    FILE *f = fdopen(fd, "w");
    if (!f) {
        error = errno;
        close(fd);
        return ns_output_error(o, error, NULL);
    }
    errno = 0;
    if (!put_object(f, o, r))
        error = errno ? errno : EIO;
    if (fclose(f) && !error)
        error = errno;
    if (!error)
        error = ns_file_target_publish(&o->target);
    return error ? ns_output_error(o, error, NULL) : true;
}

const ns_output_format ns_output_json = {
    .extension = "json",
    .summary = "the object of --json",
    .needs_all = true,
    .write = write_json,
};
