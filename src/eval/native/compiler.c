/* The system's compiler: see compiler.h. */
#define _GNU_SOURCE
#include "eval/native/compiler.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#if NS_NATIVE

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Says what is wrong; false. */
#define fail(c, ...) failed(snprintf((c)->message, (c)->room, __VA_ARGS__))
static bool failed(int length)
{
    (void)length;
    return false;
}

/* The file that would run: `cc` along PATH, symbolic links resolved. */
bool ns_compiler_find(ns_compiler *c)
{
    const char *name = getenv("NOSLIP_CC");
    if (name && !*name)
        return fail(c, "the compiler is switched off (NOSLIP_CC is empty)");
    if (!name)
        name = "cc";
    char candidate[PATH_MAX];
    const char *path = strchr(name, '/') ? "" : getenv("PATH");
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    for (const char *at = path;; at++) {
        const size_t length = strcspn(at, ":");
        const int n = *name == '/' || !length
                          ? snprintf(candidate, sizeof candidate, "%s", name)
                          : snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, at,
                                     name);
        struct stat s;
        if (n > 0 && (size_t)n < sizeof candidate && (length || strchr(name, '/')) &&
            access(candidate, X_OK) == 0 && stat(candidate, &s) == 0 && S_ISREG(s.st_mode)) {
            if (!realpath(candidate, c->path))
                snprintf(c->path, sizeof c->path, "%s", candidate);
            return true;
        }
        at += length;
        if (!*at)
            return fail(c, "there is no compiler `%s`", name);
    }
}

/* Starts the compiler on files (the list ends with NULL); what it complains of goes to
 * `complaints`. */
bool ns_compiler_start(const ns_compiler *c, const char *what, const char *const *files,
                       const char *made, const char *complaints, pid_t *child)
{
    const char *arguments[NS_COMPILER_FLAGS + 8];
    uint32_t n = 0;
    arguments[n++] = c->path;
    for (const char *const *flag = c->flags; *flag; flag++)
        arguments[n++] = *flag;
    arguments[n++] = what;
    arguments[n++] = "-o";
    arguments[n++] = made;
    for (; *files; files++)
        arguments[n++] = *files;
    arguments[n] = NULL;
    posix_spawn_file_actions_t streams;
    if (posix_spawn_file_actions_init(&streams) != 0)
        return fail(c, "out of memory");
    posix_spawn_file_actions_addopen(&streams, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&streams, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&streams, 2, complaints, O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    const int error = posix_spawn(child, c->path, &streams, NULL, (char *const *)arguments,
                                  environ);
    posix_spawn_file_actions_destroy(&streams);
    return !error || fail(c, "the compiler %s did not start: %s", c->path, strerror(error));
}

/* Ends a compiler that is not wanted any more. */
void ns_compiler_stop(pid_t child)
{
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Waits until a compiler has ended.  One that hangs must not hold up a run, which does without:
 * it is stopped when a signal comes that ends things, or after MOST_SECONDS.  Signals wait
 * meanwhile, so that none is missed.  0, an errno value, EINTR, or ETIMEDOUT. */
static int await(pid_t child, int *status)
{
    enum { MOST_SECONDS = 600 };
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    enum { ENDS = sizeof ends / sizeof *ends };
    sigset_t mine, before, waiting;
    sigemptyset(&mine);
    for (int i = 0; i < ENDS; i++) {
        struct sigaction now;
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&mine, ends[i]);
    }
    pthread_sigmask(SIG_BLOCK, &mine, &before);
    struct timespec pause = {.tv_nsec = 100000};
    double waited = 0;
    pid_t ended;
    int error = 0;
    while ((ended = waitpid(child, status, WNOHANG)) != child && !error) {
        error = ended < 0 && errno != EINTR ? errno : waited > MOST_SECONDS ? ETIMEDOUT : 0;
        sigpending(&waiting);
        for (int i = 0; i < ENDS; i++)
            if (sigismember(&waiting, ends[i]) && sigismember(&mine, ends[i]))
                error = EINTR;
        nanosleep(&pause, NULL);
        waited += 1e-9 * (double)pause.tv_nsec;
        pause.tv_nsec = pause.tv_nsec < 4000000 ? 2 * pause.tv_nsec : 5000000;
    }
    if (ended == child)
        error = 0;
    if (error == EINTR || error == ETIMEDOUT)
        ns_compiler_stop(child);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

bool ns_compiler_wait(const ns_compiler *c, const char *complaints, pid_t child)
{
    int status = 0;
    const int error = await(child, &status);
    if (error == EINTR || error == ETIMEDOUT)
        return fail(c, "the compiler %s was stopped%s", c->path,
                    error == EINTR ? "" : ": it took too long");
    if (error)
        return fail(c, "the compiler was lost: %s", strerror(error));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    char *said = NULL;
    size_t length = 0;
    if (ns_file_read(complaints, 1 << 20, &said, &length) != 0)
        said = NULL;
    fail(c, "the compiler %s failed%s%.*s", c->path, said && length ? ": " : "",
         said ? (int)strcspn(said, "\n") : 0, said ? said : "");
    free(said);
    return false;
}

static bool put_source(const ns_compiler *c, const char *path, const char *text, size_t length)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const int error = file < 0 ? errno : ns_file_put(file, text, length);
    if (file >= 0)
        close(file);
    return !error || fail(c, "%s: %s", path, strerror(error));
}

bool ns_compiler_library(const char *text, size_t length, char **bytes, size_t *n,
                         char *message, size_t room)
{
    enum { SOURCE, LIBRARY, LOG, FILES, MOST = 256 << 20 };
    static const size_t long_text = 200000; /* from here on compiling must be quick */
    static const char *const names[FILES] = {"model.c", "model.so", "log"};
    const char *const flags[] = {"-std=c99",
                                 length > long_text ? "-O1" : "-O2",
                                 "-fPIC",
                                 "-fvisibility=hidden",
                                 "-ffp-contract=off",
                                 NULL};
    char folder[PATH_MAX], files[FILES][PATH_MAX + 16];
    ns_compiler c = {.message = message, .room = room};
    memcpy(c.flags, flags, sizeof flags);
    if (!ns_compiler_find(&c))
        return false;
    int error = ns_file_pattern(folder, sizeof folder, "noslip");
    if (!error && !mkdtemp(folder))
        error = errno;
    if (error)
        return fail(&c, "there is no folder to compile in: %s", strerror(error));
    for (int i = 0; i < FILES; i++)
        snprintf(files[i], sizeof files[i], "%s/%s", folder, names[i]);
    const char *inputs[] = {files[SOURCE], "-lm", NULL};
    pid_t child;
    bool good = put_source(&c, files[SOURCE], text, length) &&
                ns_compiler_start(&c, "-shared", inputs, files[LIBRARY], files[LOG], &child) &&
                ns_compiler_wait(&c, files[LOG], child);
    if (good && (error = ns_file_read(files[LIBRARY], MOST, bytes, n)) != 0)
        good = fail(&c, "%s: %s", files[LIBRARY], strerror(error));
    for (int i = 0; i < FILES; i++)
        unlink(files[i]);
    rmdir(folder);
    return good;
}

#else /* left out: CMake, NOSLIP_NATIVE */

bool ns_compiler_library(const char *text, size_t length, char **bytes, size_t *n,
                         char *message, size_t room)
{
    (void)text, (void)length, (void)bytes, (void)n;
    snprintf(message, room, "this program was built without native code");
    return false;
}

#endif
