/*
 * Instructions of the calling thread in user mode, counted by the processor. Many machines do
 * not allow it (containers, virtual machines without counters): then there is no number.
 */
#define _GNU_SOURCE
#include "harness/measure.h"

#include <math.h>
#include <stdint.h>

#ifdef __linux__
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int counter(void)
{
    struct perf_event_attr wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.type = PERF_TYPE_HARDWARE;
    wanted.size = sizeof wanted;
    wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
    wanted.exclude_kernel = 1;
    wanted.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

double bench_instructions(void)
{
    static int descriptor = -2;
    uint64_t count = 0;
    if (descriptor == -2)
        descriptor = counter();
    if (descriptor < 0 || read(descriptor, &count, sizeof count) != (ssize_t)sizeof count)
        return NAN;
    return (double)count;
}
#else
double bench_instructions(void)
{
    return NAN;
}
#endif
