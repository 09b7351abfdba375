/*
 * Child processes: see child.h.
 */
#define _GNU_SOURCE
#include "harness/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* In the child, up to its new program. */
static void become(const char *const *arguments, int output)
{
    const int nowhere = open("/dev/null", O_RDWR);
    setpgid(0, 0); /* so that its own children end with it */
    if (nowhere < 0 || dup2(nowhere, 0) < 0 || dup2(output, 1) < 0 || dup2(nowhere, 2) < 0)
        _exit(127);
    /* exec does not change its arguments, whatever its type says */
    execvp(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

/* Reads until the other end is closed; false when time is up. */
static int drain(int input, double until, char *out, size_t room)
{
    size_t length = 0;
    for (;;) {
        struct pollfd wait = {.fd = input, .events = POLLIN};
        const double left = until - wall_seconds();
        char bytes[4096];
        if (left <= 0)
            return 0;
        const int ready = poll(&wait, 1, left > 1 ? 1000 : (int)(1000 * left) + 1);
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        const ssize_t got = ready < 0 ? -1 : read(input, bytes, sizeof bytes);
        if (got <= 0)
            return got == 0;
        for (ssize_t i = 0; i < got && out; i++)
            if (length + 1 < room)
                out[length++] = bytes[i];
        if (out)
            out[length] = 0;
    }
}

child_result child_run(const char *const *arguments, double most_seconds, char *out,
                       size_t room)
{
    child_result result = {.status = -1};
    int ends[2];
    if (out)
        *out = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return result;
    const double begin = wall_seconds();
    const pid_t child = fork();
    if (child == 0)
        become(arguments, ends[1]);
    close(ends[1]);
    if (child > 0) {
        const int whole = drain(ends[0], begin + most_seconds, out, room);
        int status = 0;
        struct rusage usage;
        if (!whole)
            kill(-child, SIGKILL);
        while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
            ;
        result.wall = wall_seconds() - begin;
        result.cpu = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
        if (whole && WIFEXITED(status))
            result.status = WEXITSTATUS(status);
    }
    close(ends[0]);
    return result;
}
