/* Layout of the seal:
 *     head       what follows, sizes
 *     shard      which part of a sweep it is, as text ended by zeros
 *     places     of columns, status, reason, check: where, bytes of a row
 *     facts      hashes of their texts
 *     checksum   of the seal before, in the head itself taken as 0 */
#include "out/tables/sweep_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

enum { SHARD = 64, LEAST = 512, ARRAYS = 3, MOST_COLUMNS = 4096, MOST_FACTS = 64 };
static const char magic[16] = "noslip sweep 1\r\n";
#define ORDER_MARK UINT64_C(0x0102030405060708)

typedef struct head {
    char magic[16];
    uint64_t order, room, checksum;
    uint64_t file, rest; /* bytes of the file, checksum of those that belong to no array */
    uint64_t rows, columns, facts;
    char shard[SHARD];
} head;

typedef struct place {
    uint64_t at, bytes;
} place;

static size_t length_with(uint64_t columns, uint64_t facts)
{
    return sizeof(head) + (columns + ARRAYS) * sizeof(place) + facts * sizeof(uint64_t);
}

uint64_t ns_sweep_seal_room(const ns_sweep *sweep, uint32_t n_facts)
{
    uint64_t room = LEAST;
    while (room < length_with(sweep->n_axes + (uint64_t)sweep->n_gets, n_facts))
        room *= 2;
    return room;
}

/* ---- the parts of a file ----------------------------------------------------------------- */

static ns_sweep_place *nth(const ns_sweep_layout *t, uint32_t i)
{
    ns_sweep_layout *at = (ns_sweep_layout *)t;
    ns_sweep_place *const others[ARRAYS] = {&at->status, &at->reason, &at->check};
    return i < t->columns ? &at->column[i] : others[i - t->columns];
}

static int by_place(const void *a, const void *b)
{
    const place *p = a, *q = b;
    return (p->at > q->at) - (p->at < q->at);
}

static int add_range(int fd, uint64_t from, uint64_t to, uint64_t *sum)
{
    char buffer[1 << 16];
    while (from < to) {
        const uint64_t left = to - from;
        const ssize_t n = pread(fd, buffer, left < sizeof buffer ? left : sizeof buffer,
                                (off_t)from);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0)
            return EIO; /* shorter than it was */
        if (n > 0) {
            *sum = ns_hash_bytes(*sum, buffer, (size_t)n);
            from += (uint64_t)n;
        }
    }
    return 0;
}

/* The checksum of what lies between the seal and the end, arrays left out; EILSEQ if arrays
 * overlap or lie elsewhere. */
static int sum_rest(int fd, const ns_sweep_layout *t, uint64_t room, uint64_t file,
                    uint64_t *sum)
{
    const uint32_t n = t->columns + ARRAYS;
    place *all = malloc(n * sizeof *all);
    if (!all)
        return ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        all[i] = (place){(uint64_t)nth(t, i)->at, t->rows * nth(t, i)->bytes};
    qsort(all, n, sizeof *all, by_place);
    uint64_t at = room;
    int error = 0;
    *sum = ns_hash_start;
    for (uint32_t i = 0; i < n && !error; i++) {
        if (all[i].at < at || all[i].bytes > file || all[i].at > file - all[i].bytes)
            error = EILSEQ;
        else
            error = add_range(fd, at, all[i].at, sum);
        at = all[i].at + all[i].bytes;
    }
    free(all);
    return error ? error : add_range(fd, at, file, sum);
}

/* ---- writing ----------------------------------------------------------------------------- */

static const char *fact_text(const ns_sweep_fact *facts, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(facts[i].name, name) == 0)
            return facts[i].text;
    return "";
}

static uint64_t hash_fact(const ns_sweep_fact *fact)
{
    return ns_hash_bytes(ns_hash_start, fact->text, strlen(fact->text));
}

int ns_sweep_seal_put(int fd, const ns_sweep_layout *t, const ns_sweep_fact *facts,
                      uint32_t n_facts)
{
    struct stat info;
    if (fstat(fd, &info))
        return errno;
    const size_t length = length_with(t->columns, n_facts);
    uint64_t room = LEAST;
    while (room < length)
        room *= 2;
    char *bytes = calloc(1, room);
    if (!bytes)
        return ENOMEM;
    head h = {.order = ORDER_MARK,
              .room = room,
              .file = (uint64_t)info.st_size,
              .rows = t->rows,
              .columns = t->columns,
              .facts = n_facts};
    memcpy(h.magic, magic, sizeof magic);
    snprintf(h.shard, SHARD, "%s", fact_text(facts, n_facts, "shard"));
    int error = sum_rest(fd, t, room, h.file, &h.rest);
    memcpy(bytes, &h, sizeof h);
    char *at = bytes + sizeof h;
    for (uint32_t i = 0; i < t->columns + ARRAYS; i++, at += sizeof(place))
        memcpy(at, &(place){(uint64_t)nth(t, i)->at, nth(t, i)->bytes}, sizeof(place));
    for (uint32_t i = 0; i < n_facts; i++, at += sizeof(uint64_t))
        memcpy(at, &(uint64_t){hash_fact(&facts[i])}, sizeof(uint64_t));
    h.checksum = ns_hash_bytes(ns_hash_start, bytes, room);
    memcpy(bytes, &h, sizeof h);
    if (!error && pwrite(fd, bytes, room, 0) != (ssize_t)room)
        error = errno ? errno : EIO;
    free(bytes);
    return error;
}

/* ---- reading ----------------------------------------------------------------------------- */

/* The seal of a file, whole and of this machine; NULL with what is wrong. */
static char *load(int fd, head *h, const char **wrong)
{
    static const char damaged[] = "is damaged: its description has changed; remove it, or give "
                                  "another name";
    *wrong = "is not the table of a sweep of this version of noslip; give another name, or "
             "remove it";
    if (pread(fd, h, sizeof *h, 0) != (ssize_t)sizeof *h ||
        memcmp(h->magic, magic, sizeof magic) != 0)
        return NULL;
    *wrong = "was written on a different kind of machine";
    if (h->order != ORDER_MARK)
        return NULL;
    *wrong = damaged;
    if (h->columns > MOST_COLUMNS || h->facts > MOST_FACTS || h->room < LEAST ||
        h->room > (1u << 20) || length_with(h->columns, h->facts) > h->room)
        return NULL;
    char *bytes = malloc(h->room);
    if (!bytes) {
        *wrong = "cannot be read: out of memory";
        return NULL;
    }
    head zero = *h;
    zero.checksum = 0;
    if (pread(fd, bytes, h->room, 0) == (ssize_t)h->room) {
        memcpy(bytes, &zero, sizeof zero);
        if (ns_hash_bytes(ns_hash_start, bytes, h->room) == h->checksum &&
            memchr(h->shard, 0, SHARD))
            return bytes;
    }
    free(bytes);
    return NULL;
}

static bool same_facts(const char *hashes, const head *h, const ns_sweep_fact *facts,
                       uint32_t n, const char *shown, char message[400])
{
    for (uint32_t i = 0; i < n && h->facts == n; i++) {
        uint64_t hash;
        memcpy(&hash, hashes + i * sizeof hash, sizeof hash);
        if (!facts[i].what || hash == hash_fact(&facts[i]))
            continue;
        snprintf(message, 400, "%s holds a sweep of %s; give another name, or remove it", shown,
                 facts[i].what);
        return false;
    }
    if (h->facts != n)
        snprintf(message, 400, "%s holds something else; give another name, or remove it",
                 shown);
    return h->facts == n;
}

static bool take_places(const char *at, const head *h, ns_sweep_layout *t)
{
    static const size_t bytes[ARRAYS] = {1, NS_SWEEP_REASON, sizeof(uint64_t)};
    if (h->columns != t->columns || h->rows != t->rows)
        return false;
    for (uint32_t i = 0; i < t->columns + ARRAYS; i++) {
        place p;
        memcpy(&p, at + i * sizeof p, sizeof p);
        const size_t expected = i < t->columns ? sizeof(double) : bytes[i - t->columns];
        if (p.bytes != expected || p.at < h->room || p.at > h->file)
            return false;
        *nth(t, i) = (ns_sweep_place){.at = (off_t)p.at, .bytes = expected};
    }
    return true;
}

bool ns_sweep_seal_get(int fd, ns_sweep_layout *t, const ns_sweep_fact *facts, uint32_t n_facts,
                       const char *shown, char message[400])
{
    head h;
    const char *wrong;
    char *bytes = load(fd, &h, &wrong);
    if (!bytes) {
        snprintf(message, 400, "%s %s", shown, wrong);
        return false;
    }
    const char *places = bytes + sizeof h;
    bool good = same_facts(places + (h.columns + ARRAYS) * sizeof(place), &h, facts, n_facts,
                           shown, message);
    if (good && !take_places(places, &h, t)) {
        snprintf(message, 400, "%s is not the table of this sweep", shown);
        good = false;
    }
    free(bytes);
    if (!good)
        return false;
    struct stat info;
    uint64_t sum = 0;
    int error = fstat(fd, &info) ? errno : 0;
    uint64_t rows = 0; /* their bytes: no more than these may be missing at the end */
    for (uint32_t i = 0; i < t->columns + ARRAYS; i++)
        rows += t->rows * nth(t, i)->bytes;
    if (!error && (uint64_t)info.st_size < h.file)
        error = h.file - (uint64_t)info.st_size > rows ? EILSEQ
                : ftruncate(fd, (off_t)h.file)         ? errno
                                                       : 0;
    if (!error)
        error = sum_rest(fd, t, h.room, h.file, &sum);
    if (!error && sum == h.rest)
        return true;
    snprintf(message, 400, "%s is damaged outside its rows: remove it, or give another name",
             shown);
    return false;
}

char *ns_sweep_table_shard(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    head h;
    const char *wrong;
    char *bytes = fd < 0 ? NULL : load(fd, &h, &wrong);
    if (fd >= 0)
        close(fd);
    if (!bytes)
        return NULL;
    free(bytes);
    return strdup(h.shard);
}
