/* Fuzz target: damaged and forged tables of sweeps.  The bytes say which of a good table to
 * replace; its seal is repaired if the first byte asks for it, so that what is behind the
 * checksum is reached.  The table is refused with words, or every row that counts is as it was
 * written. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "out/tables/sweep_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { AXES = 2, GETS = 3, ROWS = 40, RECORD = 8 * (AXES + GETS) + sizeof(ns_sweep_end) };
enum { ROOM = 24, CHECKSUM = 32 }; /* in the seal, see sweep_seal.c */

static const ns_sweep_fact facts[] = {{"model", "a model", "another model"},
                                      {"shard", "", "another shard"}};
static const char *const axes[AXES] = {"a", "b"};
static ns_sweep_get gets[GETS];
static const ns_sweep sweep = {.plan = {.rows = ROWS},
                               .n_axes = AXES,
                               .n_gets = GETS,
                               .axis = (const char **)axes,
                               .label = (const char **)axes,
                               .get = gets,
                               .record = RECORD};
static char path[60], *good;
static size_t length;
static char rows[ROWS][RECORD];

static void leave(void)
{
    unlink(path);
}

static ns_sweep_table *open_table(char message[400])
{
    bool fresh;
    ns_status status;
    return ns_sweep_table_open(&sweep, facts, 2, path, &fresh, &status, message);
}

/* The table, half full. */
static void prepare(void)
{
    char message[400];
    snprintf(path, sizeof path, "/dev/shm/fuzz-table-%ld.h5", (long)getpid());
    atexit(leave);
    for (int i = 0; i < GETS; i++)
        gets[i] = (ns_sweep_get){.name = i == 0 ? "x" : i == 1 ? "y" : "z", .unit = ""};
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < AXES + GETS; k++)
            memcpy(&rows[i][8 * k], &(double){i + 0.1 * k}, 8);
    ns_sweep_table *t = open_table(message);
    if (!t || ns_sweep_table_put(t, 0, ROWS / 2, rows)) {
        fprintf(stderr, "fuzz_table: %s\n", message);
        abort();
    }
    ns_sweep_table_close(t);
    FILE *file = fopen(path, "rb");
    good = malloc(1 << 20);
    length = file && good ? fread(good, 1, 1 << 20, file) : 0;
    if (!length || memcmp(good, "noslip sweep 1", 14) != 0)
        abort();
    fclose(file);
}

static void look(void)
{
    char message[400] = "";
    static char got[ROWS][sizeof rows[0]];
    bool there[ROWS] = {false};
    ns_sweep_table *t = open_table(message);
    if (!t) {
        if (!message[0])
            abort(); /* refused without a word */
        return;
    }
    if (ns_sweep_table_get(t, 0, ROWS, got, there) == 0)
        for (int i = 0; i < ROWS; i++)
            if (there[i] && memcmp(got[i], rows[i], RECORD) != 0)
                abort(); /* believed */
    ns_sweep_table_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { PATCH = 11 }; /* two bytes of place, how, eight of a value */
    static int file = -1;
    if (!good) {
        prepare();
        file = open(path, O_RDWR | O_CLOEXEC);
    }
    if (size < 1 + PATCH)
        return 0;
    char *bytes = malloc(length);
    if (!bytes || file < 0)
        abort();
    memcpy(bytes, good, length);
    for (size_t i = 1; i + PATCH <= size && i < 1 + 8 * PATCH; i += PATCH) {
        size_t at = (size_t)data[i] | (size_t)data[i + 1] << 8;
        at = data[i + 2] & 1 ? at % 400 / 8 * 8 : at % (length - 8); /* of the seal, or any */
        if (data[i + 2] & 2)
            memcpy(bytes + at, data + i + 3, 8);
        else
            bytes[at] ^= (char)data[i + 3];
    }
    if (data[0] & 1) { /* the seal, as somebody would make it who knows how */
        uint64_t room, sum = 0;
        memcpy(&room, bytes + ROOM, 8);
        memset(bytes + CHECKSUM, 0, 8);
        if (room <= length)
            sum = ns_hash_bytes(ns_hash_start, bytes, room);
        memcpy(bytes + CHECKSUM, &sum, 8);
    }
    const size_t cut = data[0] & 2 ? length - data[1] % length : length;
    if (ftruncate(file, 0) || pwrite(file, bytes, cut, 0) != (ssize_t)cut)
        abort();
    free(bytes);
    look();
    return 0;
}
