/* Fuzz target: any bytes as a CSV file of the rows of a sweep (--from).  Reading must end, with
 * axes of as many finite numbers as there are rows, or with a message. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out/tables/sweep_from.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[60];

static void leave(void)
{
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int file = -1;
    if (file < 0) {
        snprintf(path, sizeof path, "/dev/shm/fuzz-from-%ld.csv", (long)getpid());
        file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        atexit(leave);
    }
    ns_arena *arena = ns_arena_new();
    if (file < 0 || !arena || ftruncate(file, 0) ||
        pwrite(file, data, size, 0) != (ssize_t)size)
        abort();
    if (!NS_ARENA_GUARD(arena)) {
        ns_plan plan = {0};
        const char *wrong = ns_sweep_from(arena, path, &plan);
        if (wrong ? !*wrong : !plan.axes.n || !plan.count)
            abort();
        for (uint32_t k = 0; k < plan.axes.n && !wrong; k++)
            for (uint64_t i = 0; i < plan.count; i++)
                if (!plan.axes.at[k].name[0] || !isfinite(plan.axes.at[k].values[i]))
                    abort();
    }
    ns_arena_free(arena);
    return 0;
}
