#define _GNU_SOURCE /* fallocate, locks of an open file */
#include "out/tables/sweep_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "out/tables/sweep_seal.h"

enum { WINDOW = 1024 }; /* rows looked at together */

struct ns_sweep_table {
    const ns_sweep *sweep;
    int fd;
    ns_sweep_layout at;
    size_t record;
    bool fresh;   /* nothing was there when it was opened */
    bool *window; /* [WINDOW] which rows from `seen` on are complete */
    uint64_t seen;
    uint32_t known;
    void *records; /* [WINDOW] */
};

/* ---- checksums --------------------------------------------------------------------------- */

/* Of a row's number and its record, eight bytes at a time; never 0. */
static uint64_t checksum(uint64_t row, const void *record, size_t bytes)
{
    const unsigned char *at = record;
    uint64_t h = 14695981039346656037u ^ (row * 0x9E3779B97F4A7C15u);
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, at + i, bytes - i < 8 ? bytes - i : 8);
        h = (h ^ word) * 0xFF51AFD7ED558CCDu;
        h ^= h >> 32;
    }
    return h ? h : 1;
}

/* ---- opening ----------------------------------------------------------------------------- */

static bool lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES);
}

static int reserve_all(ns_sweep_table *t)
{
    int error = ns_sweep_layout_reserve(t->fd, t->at.check.at, (off_t)(t->at.rows * 8));
    if (!error)
        error = ns_sweep_layout_reserve(t->fd, t->at.status.at, (off_t)t->at.rows);
    for (uint32_t i = 0; i < t->at.columns && !error; i++)
        error = ns_sweep_layout_reserve(t->fd, t->at.column[i].at, (off_t)(t->at.rows * 8));
    return error;
}

/* A new file under its name; the descriptor in t->fd. */
static int create_named(ns_sweep_table *t, const ns_sweep_fact *facts, uint32_t n,
                        const char *path)
{
    ns_file_target target;
    int fd = -1, error = ns_file_target_init(&target, path);
    if (!error)
        error = ns_file_target_create(&target, &fd);
    if (!error && target.in_place)
        error = ESPIPE;
    if (!error)
        error = ns_sweep_layout_make(&t->at, t->sweep, facts, n, target.temporary, fd);
    t->fd = fd;
    if (!error)
        error = reserve_all(t);
    if (!error)
        error = lock(fd) ? ns_file_target_publish_new(&target) : EAGAIN;
    ns_file_target_free(&target);
    return error;
}

/* Nobody else reads this file: its arrays follow one another, without HDF5. */
static int create_nameless(ns_sweep_table *t)
{
    off_t end = 0;
    ns_sweep_place *const all[] = {&t->at.check, &t->at.status, &t->at.reason};
    static const size_t bytes[] = {sizeof(uint64_t), 1, NS_SWEEP_REASON};
    for (uint32_t i = 0; i < t->at.columns + 3; i++) {
        const uint32_t k = i - t->at.columns;
        ns_sweep_place *p = i < t->at.columns ? &t->at.column[i] : all[k];
        *p = (ns_sweep_place){.at = end,
                              .bytes = i < t->at.columns ? sizeof(double) : bytes[k]};
        end += (off_t)(t->at.rows * p->bytes);
    }
    char path[4096];
    int error = ns_file_pattern(path, sizeof path, "noslip-sweep");
    if (error)
        return error;
    t->fd = mkstemp(path);
    if (t->fd < 0)
        return errno;
    unlink(path);
    return ftruncate(t->fd, end) ? errno : reserve_all(t);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static ns_status open_or_make(ns_sweep_table *t, const ns_sweep_fact *facts, uint32_t n,
                              const char *path, char message[400])
{
    message[0] = 0;
    if (path && is_there(path)) {
        t->fd = open(path, O_RDWR | O_CLOEXEC);
        if (t->fd < 0) {
            snprintf(message, 400, "cannot write %s: %s", path, strerror(errno));
            return NS_ERR_USAGE;
        }
        if (!lock(t->fd)) {
            snprintf(message, 400, "another process is writing %s", path);
            return NS_ERR_USAGE;
        }
        return ns_sweep_seal_get(t->fd, &t->at, facts, n, path, message) ? NS_OK : NS_ERR_USAGE;
    }
    t->fresh = true;
    const int error = path ? create_named(t, facts, n, path) : create_nameless(t);
    if (!error)
        return NS_OK;
    if (error == EEXIST) /* made meanwhile, by somebody who holds its lock */
        snprintf(message, 400, "another process is writing %s", path);
    else
        snprintf(message, 400, "cannot write %s: %s", path ? path : "a temporary table",
                 strerror(error));
    return error == ENOMEM                                     ? NS_ERR_MEMORY
           : error == ENOSPC || error == EIO || error == EFBIG ? NS_ERR_IO
                                                               : NS_ERR_USAGE;
}

ns_sweep_table *ns_sweep_table_open(const ns_sweep *sweep, const ns_sweep_fact *facts,
                                    uint32_t n_facts, const char *path, bool *fresh,
                                    ns_status *status, char message[400])
{
    ns_sweep_table *t = calloc(1, sizeof *t);
    *status = NS_ERR_MEMORY;
    snprintf(message, 400, "out of memory");
    if (!t)
        return NULL;
    t->fd = -1;
    t->sweep = sweep;
    t->at.rows = sweep->plan.rows;
    t->record = sweep->record;
    t->at.columns = sweep->n_axes + sweep->n_gets;
    t->at.column = calloc(t->at.columns + 1, sizeof *t->at.column);
    t->window = calloc(WINDOW, sizeof *t->window);
    t->records = malloc(WINDOW * t->record);
    if (t->at.column && t->window && t->records)
        *status = open_or_make(t, facts, n_facts, path, message);
    if (*status == NS_OK) {
        *fresh = t->fresh;
        return t;
    }
    ns_sweep_table_close(t);
    return NULL;
}

void ns_sweep_table_close(ns_sweep_table *t)
{
    if (!t)
        return;
    if (t->fd >= 0)
        close(t->fd);
    free(t->at.column);
    free(t->window);
    free(t->records);
    free(t);
}

/* ---- rows -------------------------------------------------------------------------------- */

static int put_at(int fd, const void *bytes, size_t length, off_t at)
{
    const char *from = bytes;
    while (length) {
        const ssize_t n = pwrite(fd, from, length, at);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            from += n;
            at += n;
            length -= (size_t)n;
        }
    }
    return 0;
}

/* A file that ends too early reads as zeros. */
static int get_at(int fd, void *bytes, size_t length, off_t at)
{
    char *to = bytes;
    while (length) {
        const ssize_t n = pread(fd, to, length, at);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0) {
            memset(to, 0, length);
            return 0;
        }
        if (n > 0) {
            to += n;
            at += n;
            length -= (size_t)n;
        }
    }
    return 0;
}

static off_t offset(const ns_sweep_place *p, uint64_t row)
{
    return p->at + (off_t)(row * p->bytes);
}

static const ns_sweep_end *end_of(const ns_sweep_table *t, const void *records, uint32_t k)
{
    const char *record = (const char *)records + k * t->record;
    return (const ns_sweep_end *)(record + t->at.columns * sizeof(double));
}

static int put_reasons(ns_sweep_table *t, uint64_t first, uint32_t count, const void *records,
                       char *buffer)
{
    int error = 0;
    for (uint32_t k = 0; k < count && !error;) {
        uint32_t n = 0; /* a run of rows with a reason, or where some other may be */
        for (; k + n < count && (!t->fresh || end_of(t, records, k + n)->reason[0]); n++)
            memcpy(buffer + (size_t)n * NS_SWEEP_REASON, end_of(t, records, k + n)->reason,
                   NS_SWEEP_REASON);
        if (n)
            error = put_at(t->fd, buffer, (size_t)n * NS_SWEEP_REASON,
                           offset(&t->at.reason, first + k));
        k += n ? n : 1;
    }
    return error;
}

int ns_sweep_table_put(ns_sweep_table *t, uint64_t first, uint32_t count, const void *records)
{
    const char *at = records;
    void *buffer = malloc((size_t)count * NS_SWEEP_REASON + 8);
    if (!buffer)
        return ENOMEM;
    double *numbers = buffer;
    int8_t *status = buffer;
    uint64_t *check = buffer;
    int error = 0;
    for (uint32_t c = 0; c < t->at.columns && !error; c++) {
        for (uint32_t k = 0; k < count; k++)
            memcpy(&numbers[k], at + k * t->record + c * sizeof(double), sizeof(double));
        error = put_at(t->fd, numbers, count * sizeof(double), offset(&t->at.column[c], first));
    }
    if (!error) {
        for (uint32_t k = 0; k < count; k++)
            status[k] = (int8_t)end_of(t, records, k)->status;
        error = put_at(t->fd, status, count, offset(&t->at.status, first));
    }
    if (!error)
        error = put_reasons(t, first, count, records, buffer);
    if (!error) {
        for (uint32_t k = 0; k < count; k++)
            check[k] = checksum(first + k, at + k * t->record, t->record);
        error = put_at(t->fd, check, count * sizeof *check, offset(&t->at.check, first));
    }
    free(buffer);
    return error;
}

int ns_sweep_table_sync(ns_sweep_table *t)
{
    return fdatasync(t->fd) && errno != EINVAL && errno != ENOSYS ? errno : 0;
}

int ns_sweep_table_get(ns_sweep_table *t, uint64_t first, uint32_t count, void *records,
                       bool *there)
{
    char *at = records;
    const size_t end = t->at.columns * sizeof(double);
    void *buffer = malloc((size_t)count * NS_SWEEP_REASON + 8);
    if (!buffer)
        return ENOMEM;
    const double *numbers = buffer;
    const int8_t *status = buffer;
    const uint64_t *check = buffer;
    int error = 0;
    memset(records, 0, count * t->record);
    for (uint32_t c = 0; c < t->at.columns && !error; c++) {
        error = get_at(t->fd, buffer, count * sizeof(double), offset(&t->at.column[c], first));
        for (uint32_t k = 0; k < count; k++)
            memcpy(at + k * t->record + c * sizeof(double), &numbers[k], sizeof(double));
    }
    if (!error)
        error = get_at(t->fd, buffer, count, offset(&t->at.status, first));
    for (uint32_t k = 0; k < count && !error; k++)
        ((ns_sweep_end *)(at + k * t->record + end))->status = (int32_t)status[k];
    if (!error)
        error = get_at(t->fd, buffer, (size_t)count * NS_SWEEP_REASON,
                       offset(&t->at.reason, first));
    for (uint32_t k = 0; k < count && !error; k++)
        memcpy(((ns_sweep_end *)(at + k * t->record + end))->reason,
               (char *)buffer + (size_t)k * NS_SWEEP_REASON, NS_SWEEP_REASON);
    if (!error)
        error = get_at(t->fd, buffer, count * sizeof *check, offset(&t->at.check, first));
    for (uint32_t k = 0; k < count && !error; k++)
        there[k] = check[k] && check[k] == checksum(first + k, at + k * t->record, t->record);
    free(buffer);
    return error;
}

/* The first run of rows from *first on that are not complete, at most `most` of them; *count 0:
 * there is none.  One thread at a time; rows asked for only grow. */
static int sink_missing(void *table, uint64_t *first, uint32_t most, uint32_t *count)
{
    ns_sweep_table *t = table;
    *count = 0;
    if (t->fresh) {
        const uint64_t left = *first < t->at.rows ? t->at.rows - *first : 0;
        *count = left < most ? (uint32_t)left : most;
        return 0;
    }
    for (uint64_t row = *first; row < t->at.rows && *count < most; row++) {
        if (row < t->seen || row >= t->seen + t->known) {
            const uint64_t left = t->at.rows - row;
            t->seen = row;
            t->known = left < WINDOW ? (uint32_t)left : WINDOW;
            const int error = ns_sweep_table_get(t, row, t->known, t->records, t->window);
            if (error)
                return error;
        }
        const bool there = t->window[row - t->seen];
        if (!there && (*count)++ == 0)
            *first = row;
        if (there && *count)
            break;
    }
    return 0;
}

/* ---- as a sink --------------------------------------------------------------------------- */

static int sink_put(void *table, uint64_t first, uint32_t count, const void *records)
{
    return ns_sweep_table_put(table, first, count, records);
}

static int sink_sync(void *table)
{
    return ns_sweep_table_sync(table);
}

ns_sweep_sink ns_sweep_table_sink(ns_sweep_table *table)
{
    return (ns_sweep_sink){
        .context = table, .missing = sink_missing, .put = sink_put, .sync = sink_sync};
}
