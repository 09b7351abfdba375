/* Fuzz target: any bytes as a CSV file of measured numbers.  Reading must end, with columns or
 * with a message; times ascend, and a spline through what was read is finite at the times. */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/series/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(ns_arena *arena, const ns_series *s)
{
    const char *message;
    for (size_t i = 1; i < s->rows; i++)
        if (!(s->t[i] > s->t[i - 1]))
            abort();
    for (uint32_t k = 0; k < s->columns.n; k++) {
        const double *y = ns_series_find(arena, s, s->columns.at[k].name, &message);
        bool usual = y && s->rows > 1;
        for (size_t i = 0; i < s->rows && usual; i++)
            usual = fabs(y[i]) < 1e100 && fabs(s->t[i]) < 1e100 &&
                    (i == 0 || s->t[i] - s->t[i - 1] > 1e-100);
        for (unsigned order = 0; order <= 3 && usual; order += order ? 2 : 1) {
            double *c = NS_NEW_ARRAY(arena, double, s->rows * (order + 1));
            ns_series_spline(arena, s->rows, s->t, y, order, c);
            if (c[0] != y[0])
                abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[40];
    const int file = memfd_create("series.csv", 0);
    ns_arena *arena = ns_arena_new();
    if (file < 0 || !arena || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (!NS_ARENA_GUARD(arena)) {
        ns_series series = {0};
        const char *message = NULL;
        if (ns_series_read(arena, path, &series, &message))
            look(arena, &series);
        else if (!message)
            abort(); /* refused without a word */
    }
    ns_arena_free(arena);
    close(file);
    return 0;
}
