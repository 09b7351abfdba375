/* JSON: the object that `noslip run --json` prints and FILE.json holds (docs/cli.md).
 * Numbers read back the same; what is not finite is null. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "out/formats.h"
#include "session/digits.h"
#include "session/trust.h"
#include "study/orbits/relative.h"

static void put_number(FILE *f, double value)
{
    char buffer[40];
    if (!isfinite(value)) {
        fputs("null", f);
        return;
    }
    /* Short if that is enough: 0.1 rather than 0.10000000000000001. */
    snprintf(buffer, sizeof buffer, "%.15g", value);
    const double back = strtod(buffer, NULL);
    if (back < value || back > value)
        snprintf(buffer, sizeof buffer, "%.17g", value);
    char *comma = strchr(buffer, ',');
    if (comma)
        *comma = '.';
    fputs(buffer, f);
}

static void put_string(FILE *f, const char *text)
{
    const char *s = text ? text : "";
    size_t left = strlen(s);
    fputc('"', f);
    while (*s) {
        const size_t n = ns_text_character(s, left);
        const unsigned char c = (unsigned char)*s;
        if (n == 0)
            fputs("\\ufffd", f);
        else if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            fprintf(f, "\\u%04x", (unsigned)c);
        else
            fwrite(s, 1, n, f);
        s += n ? n : 1;
        left -= n ? n : 1;
    }
    fputc('"', f);
}

/* The sums of two doubles. */
static void put_sums(FILE *f, const double *values, const double *low, size_t n, int digits)
{
    char buffer[64];
    fputc('[', f);
    for (size_t i = 0; i < n; i++) {
        ns_output_precise(buffer, values[i], low[i], digits);
        fprintf(f, "%s%s", i ? ", " : "", isfinite(values[i]) ? buffer : "null");
    }
    fputc(']', f);
}

static void put_array(FILE *f, const double *values, size_t n)
{
    fputc('[', f);
    for (size_t i = 0; i < n; i++) {
        if (i)
            fputs(", ", f);
        put_number(f, values[i]);
    }
    fputc(']', f);
}

static void put_key(FILE *f, const char *indent, bool first, const char *name)
{
    fprintf(f, "%s\n%s", first ? "" : ",", indent);
    put_string(f, name);
    fputs(": ", f);
}

static void put_values(FILE *f, const ns_record *r, size_t rows)
{
    const ns_system *s = r->model->system;
    fputs("{", f);
    for (uint32_t i = 0; i < r->columns; i++) {
        put_key(f, "    ", i == 0, s->observables.at[i].name);
        if (r->low.rows)
            put_sums(f, ns_table_column(&r->table, i), ns_table_column(&r->low, i), rows,
                     NS_PRECISE_DIGITS);
        else
            put_array(f, ns_table_column(&r->table, i), rows);
    }
    fputs(r->columns ? "\n  }" : "}", f);
}

/* As the values; null where it is not known. */
static void put_trust(FILE *f, const ns_trust *q)
{
    put_key(f, "  ", false, "trust");
    fputs("{", f);
    put_key(f, "    ", true, "until");
    put_number(f, q->until);
    put_key(f, "    ", false, "largest");
    put_number(f, q->largest);
    put_key(f, "    ", false, "tenfold");
    put_number(f, q->tenfold);
    fputs("}", f);
}

static void put_digits(FILE *f, const ns_record *r, size_t rows)
{
    fputc('{', f);
    for (uint32_t c = 0; c < r->columns; c++) {
        put_key(f, "    ", c == 0, r->model->system->observables.at[c].name);
        fputc('[', f);
        for (size_t k = 0; k < rows; k++) {
            const int digits = ns_digits_at(r, c, k);
            fputs(k ? ", " : "", f);
            put_number(f, digits < 0 ? (double)NAN : digits);
        }
        fputc(']', f);
    }
    fputs(r->columns ? "\n  }" : "}", f);
}

static void put_events(FILE *f, const ns_record *r, size_t n)
{
    const ns_system *s = r->model->system;
    fputc('[', f);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\n    {" : "\n    {", f);
        fputs("\"name\": ", f);
        put_string(f, s->events.at[r->outcome->events[i].event].name);
        fputs(", \"t\": ", f);
        put_number(f, r->events.t[i]);
        fputs(", \"values\": {", f);
        for (uint32_t j = 0; j < r->columns; j++) {
            if (j)
                fputs(", ", f);
            put_string(f, s->observables.at[j].name);
            fputs(": ", f);
            put_number(f, ns_table_column(&r->events, j)[i]);
        }
        fputs("}}", f);
    }
    fputs(n ? "\n  ]" : "]", f);
}

/* What was said about the model, if anything: guesses that changed, doubts about the start. */
static void put_notes(FILE *f, const ns_diag *diag)
{
    if (!diag->messages.n)
        return;
    put_key(f, "    ", false, "notes");
    for (uint32_t i = 0; i < diag->messages.n; i++) {
        fputs(i ? ", " : "[", f);
        put_string(f, diag->messages.at[i].text);
    }
    fputc(']', f);
}

static void put_diagnostics(FILE *f, const ns_record *r)
{
    const ns_system *s = r->model->system;
    const ns_outcome *o = r->outcome;
    fputc('{', f);
    put_key(f, "    ", true, "energy_drift");
    put_number(f, ns_record_energy_drift(r));
    if (s->energy && !s->conservative) {
        put_key(f, "    ", false, "energy_conserved");
        fputs("false", f);
        put_key(f, "    ", false, "energy_change");
        put_number(f, o->energy_drift);
    }
    put_key(f, "    ", false, "constraints");
    fputc('{', f);
    for (uint32_t i = 0; i < s->constraints.n; i++) {
        put_key(f, "      ", i == 0, s->constraints.at[i].name);
        put_number(f, o->residual[i]);
    }
    fputs(s->constraints.n ? "\n    }" : "}", f);
    put_key(f, "    ", false, "invariants");
    fputc('{', f);
    for (uint32_t i = 0; i < s->invariants.n; i++) {
        put_key(f, "      ", i == 0, s->invariants.at[i].name);
        put_number(f, o->drift[i]);
    }
    fputs(s->invariants.n ? "\n    }" : "}", f);
    if (o->rank_coordinates) {
        put_key(f, "    ", false, "rank");
        fprintf(f, "{\"A\": [%u, %u], \"rows\": %u, \"M|A^T\": [%u, %u], \"coordinates\": %u}",
                o->rank_A[0], o->rank_A[1], o->rank_rows, o->rank_all[0], o->rank_all[1],
                o->rank_coordinates);
    }
    if (r->relative) {
        double rest;
        const uint64_t k = ns_relative_periods(r->relative, r->options.run.t0, o->t, &rest);
        put_key(f, "    ", false, "periodic");
        fprintf(f, "{\"period\": %.17g, \"periods\": %llu, \"error\": %.3g}",
                r->relative->period, (unsigned long long)k, ns_relative_error(r->relative, k));
    }
    if (s->pushes.n && o->push_least) {
        put_key(f, "    ", false, "contacts");
        fputc('{', f);
        for (uint32_t i = 0; i < s->pushes.n; i++) {
            put_key(f, "      ", i == 0, s->pushes.at[i].name);
            put_number(f, o->push_least[i]);
        }
        fputs("\n    }", f);
    }
    put_notes(f, r->model->diag);
    put_key(f, "    ", false, "steps");
    put_number(f, (double)o->steps);
    put_key(f, "    ", false, "evaluations");
    put_number(f, (double)o->evaluations);
    put_key(f, "    ", false, "seconds");
    put_number(f, r->seconds);
    fputs("\n  }", f);
}

static bool put_object(FILE *f, const ns_output *output, const ns_record *r)
{
    const ns_system *s = r->model->system;
    const char *reason;
    const bool done = ns_output_done(output, r, &reason);
    const size_t rows = output ? output->rows_end : r->table.rows;
    const size_t events = output ? output->events_end : r->events.rows;
    fputc('{', f);
    put_key(f, "  ", true, "model");
    put_string(f, s->description->title);
    put_key(f, "  ", false, "formulation");
    put_string(f, s->formulation->name);
    put_key(f, "  ", false, "method");
    put_string(f, r->method->name);
    if (r->chosen && r->choice[0]) {
        put_key(f, "  ", false, "method_choice");
        put_string(f, r->choice);
    }
    put_key(f, "  ", false, "status");
    put_string(f, done ? "done" : "stopped");
    put_key(f, "  ", false, "reason");
    put_string(f, reason);
    put_key(f, "  ", false, "t");
    if (r->low.rows)
        put_sums(f, r->table.t, r->low.t, rows, NS_PRECISE_DECIMAL);
    else
        put_array(f, r->table.t, rows);
    put_key(f, "  ", false, "values");
    put_values(f, r, rows);
    if (r->digits) {
        put_key(f, "  ", false, "digits");
        put_digits(f, r, rows);
    }
    if (r->trust)
        put_trust(f, r->trust);
    put_key(f, "  ", false, "events");
    put_events(f, r, events);
    put_key(f, "  ", false, "diagnostics");
    put_diagnostics(f, r);
    fputs("\n}\n", f);
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
