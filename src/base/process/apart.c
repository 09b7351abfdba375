#define _GNU_SOURCE
#include "base/process/apart.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/file.h"

bool ns_apart_say(int to, const void *bytes, size_t length)
{
    return ns_file_put(to, bytes, length) == 0;
}

#if NS_HDF5
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { GOOD = 0, REFUSED = 1 };

static _Noreturn void be_child(bool (*work)(void *, int), void *context, int to, pid_t parent)
{
    static const int asked[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT}; /* the parent decides */
    static const int falls[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    const struct rlimit none = {0, 0};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        signal(asked[i], SIG_IGN);
    for (size_t i = 0; i < sizeof falls / sizeof *falls; i++)
        signal(falls[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would hear it */
    if (getppid() != parent)
        _exit(REFUSED);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) { /* libraries that fall have much to say */
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    _exit(work(context, to) ? GOOD : REFUSED);
}

/* Adds what there is to read; 0 at the end, -1 if it does not go on. */
static int hear(int from, ns_apart *end, size_t *room)
{
    if (*room - end->length < 2) {
        const size_t more = *room ? 2 * *room : 4096;
        char *larger = realloc(end->bytes, more);
        if (!larger)
            return -1;
        end->bytes = larger;
        *room = more;
    }
    const ssize_t n = read(from, end->bytes + end->length, *room - end->length - 1);
    if (n < 0)
        return errno == EINTR ? 1 : -1;
    end->length += (size_t)n;
    end->bytes[end->length] = 0;
    return n > 0;
}

static bool listen_to(int from, double silence, ns_apart *end)
{
    size_t room = 0;
    double heard = ns_clock_seconds();
    for (;;) {
        struct pollfd one = {.fd = from, .events = POLLIN};
        const int ready = poll(&one, 1, 100);
        if (ready < 0 && errno != EINTR)
            return false;
        if (ready <= 0) {
            if (ns_clock_seconds() - heard > silence) {
                snprintf(end->why, sizeof end->why, "HDF5 came to no end within %g s", silence);
                return false;
            }
            continue;
        }
        const int more = hear(from, end, &room);
        heard = ns_clock_seconds();
        if (more < 0) {
            end->memory = true;
            snprintf(end->why, sizeof end->why, "out of memory");
        }
        if (more <= 0)
            return more == 0;
    }
}

/* Is it a message, not a part of the data? */
static bool is_words(const ns_apart *end)
{
    for (size_t i = 0; i < end->length; i++)
        if (end->bytes[i] < ' ' || end->bytes[i] > '~')
            return false;
    return end->length > 0;
}

static bool could_not(ns_apart *end, int error)
{
    end->memory = error == ENOMEM || error == EAGAIN;
    snprintf(end->why, sizeof end->why, "%s",
             error == ENOMEM ? "out of memory" : strerror(error));
    return false;
}

bool ns_apart_do(bool (*work)(void *context, int to), void *context, double silence,
                 ns_apart *end)
{
    NS_CHECK(work && end && silence > 0);
    *end = (ns_apart){0};
    int ways[2];
    if (pipe2(ways, O_CLOEXEC) != 0)
        return could_not(end, errno);
    const pid_t parent = getpid(), child = fork();
    if (child < 0) {
        const int error = errno;
        close(ways[0]);
        close(ways[1]);
        return could_not(end, error);
    }
    if (child == 0)
        be_child(work, context, ways[1], parent);
    close(ways[1]);
    bool good = listen_to(ways[0], silence, end);
    close(ways[0]);
    if (!good)
        kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (good && WIFSIGNALED(status)) {
        good = false;
        end->memory = true;
        snprintf(end->why, sizeof end->why,
                 "HDF5 fell (%s): the file is damaged, or memory ran out",
                 strsignal(WTERMSIG(status)));
    } else if (good && !(WIFEXITED(status) && WEXITSTATUS(status) == GOOD)) {
        good = false;
        end->memory = end->length == 0;
        snprintf(end->why, sizeof end->why, "%.*s", (int)sizeof end->why - 1,
                 is_words(end) ? end->bytes
                 : end->length ? "HDF5 could not read all of it"
                               : "HDF5 gave up: out of memory?");
    }
    if (!good) {
        free(end->bytes);
        end->bytes = NULL;
        end->length = 0;
    }
    return good;
}

#else

bool ns_apart_do(bool (*work)(void *context, int to), void *context, double silence,
                 ns_apart *end)
{
    NS_CHECK(work && end && silence > 0);
    (void)work, (void)context, (void)silence;
    *end = (ns_apart){.why = "this program was built without HDF5"};
    return false;
}

#endif
