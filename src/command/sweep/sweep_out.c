/* What came out of a sweep: CSV, and a summary of its rows. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "command/sweep/sweep.h"
#include "out/tables/csv.h"
#include "out/tables/sheet.h"

enum { ROWS = 512, MOST_REASONS = 12 };

/* ---- walking through the table ----------------------------------------------------------- */

typedef struct row {
    uint64_t number;
    const double *axis, *value;
    const ns_sweep_end *end;
} row;

typedef void (*visitor)(void *context, const row *r);

/* All complete rows, in order; false after saying what is wrong. */
static bool walk(ns_sweep_job *job, visitor visit, void *context)
{
    const ns_sweep *w = job->sweep;
    char *records = malloc(ROWS * w->record);
    bool there[ROWS];
    int error = records ? 0 : ENOMEM;
    for (uint64_t first = 0; first < w->plan.rows && !error; first += ROWS) {
        const uint64_t left = w->plan.rows - first;
        const uint32_t count = left < ROWS ? (uint32_t)left : ROWS;
        error = ns_sweep_table_get(job->table, first, count, records, there);
        for (uint32_t k = 0; k < count && !error; k++) {
            const double *record = (const double *)(records + k * w->record);
            const row r = {.number = first + k,
                           .axis = record,
                           .value = record + w->n_axes,
                           .end = (const ns_sweep_end *)(record + w->n_axes + w->n_gets)};
            if (there[k])
                visit(context, &r);
        }
    }
    free(records);
    if (error)
        ns_command_wrong(job->host, "cannot read the table: %s", strerror(error));
    return !error;
}

static void count_row(void *context, const row *r)
{
    (void)r;
    ++*(uint64_t *)context;
}

bool ns_sweep_job_count(ns_sweep_job *job)
{
    job->complete = 0;
    return walk(job, count_row, &job->complete);
}

/* ---- CSV --------------------------------------------------------------------------------- */

typedef struct csv {
    const ns_sweep *sweep;
    FILE *to;
} csv;

static void csv_row(void *context, const row *r)
{
    const csv *c = context;
    for (uint32_t i = 0; i < c->sweep->n_axes + c->sweep->n_gets; i++) {
        ns_csv_number(c->to,
                      i < c->sweep->n_axes ? r->axis[i] : r->value[i - c->sweep->n_axes]);
        fputc(',', c->to);
    }
    fprintf(c->to, "%d,", (int)r->end->status);
    ns_csv_field(c->to, r->end->reason);
    fputc('\n', c->to);
}

bool ns_sweep_csv(ns_sweep_job *job, FILE *to)
{
    const ns_sweep *w = job->sweep;
    csv c = {.sweep = w, .to = to};
    for (uint32_t i = 0; i < w->n_axes; i++) {
        ns_csv_field(to, w->label[i]);
        fputc(',', to);
    }
    for (uint32_t i = 0; i < w->n_gets; i++) {
        ns_csv_field(to, w->get[i].name);
        fputc(',', to);
    }
    fputs("status,reason\n", to);
    return walk(job, csv_row, &c);
}

int ns_sweep_csv_file(ns_sweep_job *job, const char *path)
{
    ns_file_target target;
    int fd = -1, error = ns_file_target_init(&target, path);
    bool good = true;
    if (!error)
        error = ns_file_target_create(&target, &fd);
    FILE *to = error ? NULL : fdopen(fd, "w");
    if (!error && !to) {
        error = errno;
        close(fd);
    }
    if (to) {
        good = ns_sweep_csv(job, to);
        if (fflush(to) || ferror(to))
            error = errno ? errno : EIO;
        if (fclose(to) && !error)
            error = errno;
    }
    if (!error && good)
        error = ns_file_target_publish(&target);
    ns_file_target_free(&target);
    if (error)
        ns_command_wrong(job->host, "cannot write %s: %s", path, strerror(error));
    return ns_status_exit(error || !good ? NS_ERR_IO : NS_OK);
}

/* ---- for a host that takes results ------------------------------------------------------- */

enum { MOST_KEPT = 2000000 }; /* numbers */

typedef struct kept {
    const ns_sweep *sweep;
    ns_arena *arena;
    uint64_t rows, early;
    double **column; /* of axes and quantities; NULL: only counted */
    double *status;
    const char **reason;
} kept;

static void keep_row(void *context, const row *r)
{
    kept *k = context;
    const uint64_t at = k->rows++;
    k->early += r->end->status != NS_OK;
    if (!k->column)
        return;
    for (uint32_t i = 0; i < k->sweep->n_axes; i++)
        k->column[i][at] = r->axis[i];
    for (uint32_t i = 0; i < k->sweep->n_gets; i++)
        k->column[k->sweep->n_axes + i][at] = r->value[i];
    k->status[at] = r->end->status;
    k->reason[at] = ns_arena_string(k->arena, r->end->reason,
                                    strnlen(r->end->reason, NS_SWEEP_REASON));
}

static void add_columns(kept *k, ns_sheet *sheet, size_t rows)
{
    const ns_sweep *w = k->sweep;
    ns_sheet_table *t = ns_sheet_add(sheet, "motions", rows);
    k->column = NS_NEW_ARRAY(k->arena, double *, w->n_axes + w->n_gets + 1);
    for (uint32_t i = 0; i < w->n_axes; i++)
        k->column[i] = ns_sheet_numbers(sheet, t, w->label[i], "");
    for (uint32_t i = 0; i < w->n_gets; i++)
        k->column[w->n_axes + i] = ns_sheet_numbers(sheet, t, w->get[i].name, w->get[i].unit);
    k->status = ns_sheet_numbers(sheet, t, "status", "");
    k->reason = ns_sheet_words(sheet, t, "reason");
}

bool ns_sweep_found(ns_sweep_job *job, ns_status status)
{
    ns_host *host = job->host;
    const ns_sweep *w = job->sweep;
    if (!host->found)
        return true;
    kept k = {.sweep = w, .arena = host->arena};
    if (!walk(job, keep_row, &k))
        return false;
    ns_sheet *sheet = ns_sheet_new(host->arena, "sweep", job->model->description->title);
    ns_sheet_text(sheet, "status", status == NS_OK ? "done" : "stopped");
    ns_sheet_number(sheet, "rows", (double)w->plan.rows);
    ns_sheet_number(sheet, "complete", (double)k.rows);
    ns_sheet_number(sheet, "from_before", (double)job->complete);
    ns_sheet_number(sheet, "early", (double)k.early);
    if (k.rows * (w->n_axes + w->n_gets + 2) <= MOST_KEPT) {
        add_columns(&k, sheet, k.rows);
        k.rows = k.early = 0;
        if (!walk(job, keep_row, &k))
            return false;
    }
    host->found(host->context, job->model, sheet, job->plot);
    return true;
}

/* ---- summary ----------------------------------------------------------------------------- */

typedef struct range {
    double least, greatest;
    uint64_t where_least, where_greatest, numbers;
} range;

typedef struct cause {
    char words[NS_SWEEP_REASON]; /* numbers replaced by # */
    uint64_t count, first;
} cause;

typedef struct summary {
    const ns_sweep *sweep;
    range *ranges;
    cause causes[MOST_REASONS];
    uint32_t n_causes;
    uint64_t rows, early, other;
} summary;

static bool of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.';
}

/* "near t = 1.25" and "near t = 3e-5" are one cause. */
static void without_numbers(char out[NS_SWEEP_REASON], const char *from)
{
    size_t n = 0;
    for (const char *c = from; *c && n < NS_SWEEP_REASON - 1; c++) {
        const bool begins = c == from || !(c[-1] >= 'A' && c[-1] <= 'z');
        const char *digits = c + (*c == '-');
        if (begins && *digits >= '0' && *digits <= '9') {
            for (c = digits; of_number(*c) || ((*c == 'e' || *c == '-' || *c == '+') &&
                                               (of_number(c[1]) || c[1] == '-' || c[1] == '+'));
                 c++)
                ;
            c--;
            out[n++] = '#';
        } else {
            out[n++] = *c;
        }
    }
    while (n && (out[n - 1] == '.' || out[n - 1] == ' '))
        n--;
    out[n] = 0;
}

static void add_cause(summary *s, const row *r)
{
    char words[NS_SWEEP_REASON];
    without_numbers(words, r->end->reason);
    uint32_t i = 0;
    while (i < s->n_causes && strcmp(s->causes[i].words, words) != 0)
        i++;
    if (i == MOST_REASONS) {
        s->other++;
        return;
    }
    if (i == s->n_causes) {
        s->n_causes++;
        memcpy(s->causes[i].words, words, sizeof words);
        s->causes[i].first = r->number;
    }
    s->causes[i].count++;
}

static void sum_row(void *context, const row *r)
{
    summary *s = context;
    s->rows++;
    if (r->end->status != NS_OK) {
        s->early++;
        add_cause(s, r);
    }
    for (uint32_t i = 0; i < s->sweep->n_gets; i++) {
        range *q = &s->ranges[i];
        const double v = r->value[i];
        if (isnan(v))
            continue;
        if (!q->numbers || v < q->least) {
            q->least = v;
            q->where_least = r->number;
        }
        if (!q->numbers || v > q->greatest) {
            q->greatest = v;
            q->where_greatest = r->number;
        }
        q->numbers++;
    }
}

static void print_ranges(const summary *s, FILE *to, const ns_style *style)
{
    int width = 8;
    for (uint32_t i = 0; i < s->sweep->n_gets; i++)
        width = ns_style_wider(width, s->sweep->get[i].name);
    ns_style_heading(to, style, "Quantities");
    fprintf(to, "  %-*s  %16s  %9s  %16s  %9s\n", width, "", "least", "row", "greatest", "row");
    for (uint32_t i = 0; i < s->sweep->n_gets; i++) {
        const range *r = &s->ranges[i];
        const char *unit = s->sweep->get[i].unit;
        fprintf(to, "  %-*s", width, s->sweep->get[i].name);
        if (r->numbers)
            fprintf(to, "  %16.10g  %9" PRIu64 "  %16.10g  %9" PRIu64 "%s%s", r->least,
                    r->where_least, r->greatest, r->where_greatest, *unit ? "  " : "", unit);
        if (r->numbers < s->rows)
            fprintf(to, "  (no value in %" PRIu64 " rows)", s->rows - r->numbers);
        fputc('\n', to);
    }
}

bool ns_sweep_summary(ns_sweep_job *job, FILE *to, const ns_style *style)
{
    const ns_sweep *w = job->sweep;
    summary s = {.sweep = w, .ranges = calloc(w->n_gets + 1, sizeof(range))};
    if (!s.ranges)
        return ns_command_refuse(job->host, "out of memory");
    const bool good = walk(job, sum_row, &s);
    if (good) {
        ns_style_heading(to, style, "Sweep");
        fprintf(to, "  rows      %" PRIu64 " of %" PRIu64, s.rows, w->plan.rows);
        if (job->complete)
            fprintf(to, ", %" PRIu64 " of them from before", job->complete);
        fputc('\n', to);
        if (job->outcome.computed)
            fprintf(to, "  computed  %" PRIu64 " in %.3g s, %.4g per second\n",
                    job->outcome.computed, job->outcome.seconds,
                    (double)job->outcome.computed / job->outcome.seconds);
        fprintf(to, "  ended     %" PRIu64 " as asked for, %" PRIu64 " early\n",
                s.rows - s.early, s.early);
        for (uint32_t i = 0; i < s.n_causes; i++)
            fprintf(to, "    %9" PRIu64 "  %s (first: row %" PRIu64 ")\n", s.causes[i].count,
                    s.causes[i].words, s.causes[i].first);
        if (s.other)
            fprintf(to, "    %9" PRIu64 "  for other reasons\n", s.other);
        print_ranges(&s, to, style);
    }
    free(s.ranges);
    return good;
}
