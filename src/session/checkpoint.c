#define _GNU_SOURCE /* memmem */
/* Layout of a checkpoint:
 *     noslip-checkpoint 1\n
 *     KEY VALUE\n ...             what must be the same to continue, readable
 *     \n
 *     numbers                     struct fixed
 *     the run's block
 *     times and columns of the rows so far
 *     checksum                    of all bytes before */
#include "session/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"

enum { MOST_HEAD = 2048, MOST_CHECKPOINT_MB = 16384 };
static const char magic[] = "noslip-checkpoint 1\n";

typedef struct fixed {
    uint64_t run_bytes, rows, columns, next_time;
    double seconds, t;
} fixed;

/* ---- what identifies a run --------------------------------------------------------------- */

typedef struct head {
    char text[MOST_HEAD];
    size_t length;
} head;

__attribute__((format(printf, 2, 3))) static void add(head *h, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(h->text + h->length, MOST_HEAD - h->length, format, list);
    va_end(list);
    if (n > 0)
        h->length += (size_t)n;
    if (h->length >= MOST_HEAD)
        h->length = MOST_HEAD - 1;
}

/* What tables of inputs say; the text of the model names their files only. */
static uint64_t hash_inputs(const ns_schedule *q)
{
    uint64_t hash = ns_hash_bytes(ns_hash_start, &q->n, sizeof q->n);
    for (size_t i = 0; i < q->n; i++) {
        const double numbers[] = {q->changes[i].t, q->changes[i].param, q->changes[i].value};
        hash = ns_hash_bytes(hash, numbers, sizeof numbers);
    }
    return hash;
}

/* Doubles are written in hexadecimal: they are compared, not read. */
static void describe(const ns_record *r, head *h)
{
    const ns_model *m = r->model;
    const ns_run_options *o = &r->options.run;
    h->length = 0;
    add(h, "%s", magic);
    add(h, "version %s\n", NS_VERSION);
    add(h, "model %016" PRIx64 "\n", ns_hash_bytes(ns_hash_start, m->text, m->length));
    if (ns_description_tables(m->description))
        add(h, "tables %016" PRIx64 "\n", ns_description_tables(m->description));
    if (m->schedule)
        add(h, "inputs %016" PRIx64 "\n", hash_inputs(m->schedule));
    add(h, "parameters %016" PRIx64 "\n",
        ns_hash_bytes(ns_hash_start, m->p, m->description->params.n * sizeof(double)));
    add(h, "start %016" PRIx64 "\n",
        ns_hash_bytes(ns_hash_start, m->x0, m->system->states.n * sizeof(double)));
    add(h, "from %a\n", o->t0);
    add(h, "method %s\n", r->method->name);
    add(h, "tolerance %a\n", o->tolerance);
    add(h, "steps %a %a %a\n", o->fixed_step, o->first_step, o->max_step);
    add(h, "projection %s\n", o->project ? "on" : "off");
    if (r->times)
        add(h, "output %zu times %016" PRIx64 "\n", r->n_times,
            ns_hash_bytes(ns_hash_start, r->times, r->n_times * sizeof(double)));
    else if (r->n_times)
        add(h, "output every %a\n", r->options.every);
    else
        add(h, "output end\n");
    add(h, "\n");
}

/* The first line in which two heads differ: its key, or NULL. */
static const char *difference(const char *mine, const char *theirs, char key[32])
{
    while (*mine && *mine == *theirs) {
        size_t n = strcspn(mine, "\n");
        if (strncmp(mine, theirs, n + 1) != 0)
            break;
        mine += n + 1;
        theirs += n + 1;
    }
    if (!*mine)
        return NULL;
    size_t n = strcspn(mine, " \n");
    snprintf(key, 32, "%.*s", (int)(n < 31 ? n : 31), mine);
    return *key ? key : "settings";
}

/* ---- saving ------------------------------------------------------------------------------ */

static char *put(char *at, const void *bytes, size_t n)
{
    if (n)
        memcpy(at, bytes, n);
    return at + n;
}

void ns_checkpoint_save(ns_record *r, const char *path)
{
    head h;
    describe(r, &h);
    const ns_table *t = &r->table;
    const fixed numbers = {.run_bytes = ns_run_save_size(r->run),
                           .rows = t->rows,
                           .columns = t->columns,
                           .next_time = r->next_time,
                           .seconds = r->seconds,
                           .t = ns_run_time(r->run)};
    const size_t length = h.length + sizeof numbers + (size_t)numbers.run_bytes +
                          ns_table_bytes(t) + sizeof(uint64_t);
    char *bytes = malloc(length);
    if (!bytes) {
        ns_record_fail(r, NS_ERR_MEMORY, "out of memory for a checkpoint");
        return;
    }
    char *at = put(bytes, h.text, h.length);
    at = put(at, &numbers, sizeof numbers);
    ns_run_save(r->run, at);
    at += numbers.run_bytes;
    at = put(at, t->t, t->rows * sizeof(double));
    for (uint32_t i = 0; i < t->columns && t->rows; i++)
        at = put(at, ns_table_column(t, i), t->rows * sizeof(double));
    const uint64_t sum = ns_hash_bytes(ns_hash_start, bytes, (size_t)(at - bytes));
    put(at, &sum, sizeof sum);
    int error = ns_file_write(path, bytes, length);
    free(bytes);
    if (error)
        ns_record_fail(r, NS_ERR_IO, "cannot write %s: %s", path, strerror(error));
}

/* ---- continuing -------------------------------------------------------------------------- */

static void damaged(ns_record *r, const char *name)
{
    ns_record_fail(r, NS_ERR_USAGE, "%s is damaged: it cannot be continued from", name);
}

static void refuse(ns_record *r, const char *name, const char *key)
{
    if (strcmp(key, "version") == 0)
        ns_record_fail(r, NS_ERR_USAGE,
                       "%s was written by another version of noslip: it cannot be continued",
                       name);
    else
        ns_record_fail(r, NS_ERR_USAGE,
                       "%s belongs to a run with %s %s: a run is continued with the same "
                       "command",
                       name, key[strlen(key) - 1] == 's' ? "other" : "another",
                       strcmp(key, "from") == 0 ? "begin" : key);
}

/* Checked so far: head and checksum.  `at` points after the head. */
static void restore(ns_record *r, const char *name, const char *at, size_t left)
{
    fixed numbers;
    if (left < sizeof numbers) {
        damaged(r, name);
        return;
    }
    memcpy(&numbers, at, sizeof numbers);
    at += sizeof numbers;
    left -= sizeof numbers;
    const size_t row = (r->columns + (size_t)1) * sizeof(double);
    if (numbers.run_bytes > left || numbers.columns != r->columns ||
        numbers.rows > (left - numbers.run_bytes) / row ||
        numbers.run_bytes + numbers.rows * row != left) {
        damaged(r, name);
        return;
    }
    const double sign = r->options.run.until < r->options.run.t0 ? -1 : 1;
    if (!(sign * numbers.t <= sign * r->options.run.until)) {
        ns_record_fail(r, NS_ERR_USAGE, "%s is already at t = %g, beyond the end of this run",
                       name, numbers.t);
        return;
    }
    if (numbers.next_time > r->n_times) {
        damaged(r, name);
        return;
    }
    const char *message = "";
    ns_status status = ns_run_restore(r->run, at, (size_t)numbers.run_bytes, &message);
    if (status != NS_OK) {
        ns_record_fail(r, status, "%s: %s", name,
                       message && *message ? message : ns_status_text(status));
        return;
    }
    at += numbers.run_bytes;
    const size_t rows = (size_t)numbers.rows;
    if (!ns_table_reserve(&r->table, rows + 1)) {
        ns_record_fail(r, NS_ERR_MEMORY, "out of memory for the checkpoint %s", name);
        return;
    }
    if (rows)
        memcpy(r->table.t, at, rows * sizeof(double));
    for (uint32_t i = 0; i < r->columns && rows; i++)
        memcpy(r->table.values + i * r->table.room,
               at + (i + (size_t)1) * rows * sizeof(double), rows * sizeof(double));
    r->table.rows = rows;
    r->next_time = (size_t)numbers.next_time;
    r->seconds = numbers.seconds;
    r->outcome = ns_run_outcome(r->run);
}

void ns_checkpoint_parse(ns_record *r, const char *name, const void *bytes, size_t length)
{
    const char *text = bytes;
    if (length < sizeof magic || memcmp(text, magic, sizeof magic - 1) != 0) {
        ns_record_fail(r, NS_ERR_USAGE, "%s is not a checkpoint of noslip", name);
        return;
    }
    uint64_t sum;
    if (length < sizeof sum + 2) {
        damaged(r, name);
        return;
    }
    memcpy(&sum, text + length - sizeof sum, sizeof sum);
    const char *end = memmem(text, length < MOST_HEAD ? length : MOST_HEAD, "\n\n", 2);
    if (sum != ns_hash_bytes(ns_hash_start, text, length - sizeof sum) || !end) {
        damaged(r, name);
        return;
    }
    const size_t head_length = (size_t)(end - text) + 2;
    head mine, theirs;
    describe(r, &mine);
    memcpy(theirs.text, text, head_length);
    theirs.text[head_length < MOST_HEAD ? head_length : MOST_HEAD - 1] = 0;
    mine.text[mine.length] = 0;
    char key[32];
    const char *different = difference(mine.text, theirs.text, key);
    if (different)
        refuse(r, name, different);
    else if (head_length + sizeof sum > length)
        damaged(r, name);
    else
        restore(r, name, text + head_length, length - head_length - sizeof sum);
}

void ns_checkpoint_load(ns_record *r, const char *path)
{
    char *bytes = NULL;
    size_t length = 0;
    int error = ns_file_read(path, (size_t)MOST_CHECKPOINT_MB << 20, &bytes, &length);
    if (error) {
        ns_record_fail(r,
                       error == EIO      ? NS_ERR_IO
                       : error == ENOMEM ? NS_ERR_MEMORY
                                         : NS_ERR_USAGE,
                       "cannot read %s: %s", path, strerror(error));
        return;
    }
    ns_checkpoint_parse(r, path, bytes, length);
    free(bytes);
}

const ns_method *ns_checkpoint_method(ns_record *r, const char *path)
{
    static const char key[] = "\nmethod ";
    char text[MOST_HEAD + 1] = "", name[32] = "";
    FILE *file = fopen(path, "rb");
    if (!file) {
        ns_record_fail(r, NS_ERR_USAGE, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    const size_t length = fread(text, 1, MOST_HEAD, file);
    fclose(file);
    const char *end = memmem(text, length, "\n\n", 2);
    const char *at = end ? memmem(text, (size_t)(end - text), key, sizeof key - 1) : NULL;
    if (length < sizeof magic || memcmp(text, magic, sizeof magic - 1) != 0 || !at) {
        ns_record_fail(r, NS_ERR_USAGE, "%s is not a checkpoint of noslip", path);
        return NULL;
    }
    at += sizeof key - 1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\n"), at);
    const ns_method *method = ns_method_find(name);
    if (!method)
        damaged(r, path);
    return method;
}
