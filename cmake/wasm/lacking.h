/* What WASI lacks of POSIX, as far as noslip uses it; included before every file. */
#ifndef NS_WASM_LACKING_H
#define NS_WASM_LACKING_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>

#define NS_WASM_UNSUPPORTED(name, ...)                                                         \
    static inline int name(__VA_ARGS__)                                                        \
    {                                                                                          \
        errno = ENOTSUP;                                                                       \
        return -1;                                                                             \
    }

/* Signals and timers never come, a terminal has no width, and there is one processor. */
struct sigaction {
    void (*sa_handler)(int);
    int sa_flags, sa_mask;
};
#define SA_RESTART 0
#define SA_RESETHAND 0
#define sigemptyset(set) ((void)(set))
NS_WASM_UNSUPPORTED(sigaction, int, const struct sigaction *, struct sigaction *)
#define alarm(seconds) ((void)(seconds))

struct itimerval {
    struct timeval it_interval, it_value;
};
enum { ITIMER_REAL };
NS_WASM_UNSUPPORTED(setitimer, int, const struct itimerval *, struct itimerval *)

struct winsize {
    unsigned short ws_row, ws_col;
};
#define TIOCGWINSZ 0

typedef int cpu_set_t;
#define CPU_COUNT(set) (*(set))
NS_WASM_UNSUPPORTED(sched_getaffinity, int, size_t, cpu_set_t *)

NS_WASM_UNSUPPORTED(execv, const char *, char *const *)

/* Nobody else is there. */
NS_WASM_UNSUPPORTED(kill, int, int)
NS_WASM_UNSUPPORTED(gethostname, char *, size_t)

/* Locks, and space that is taken before it is used: noslip can do without. */
#ifndef F_WRLCK
#define F_WRLCK 1
#define F_OFD_SETLK (-1)
#endif

static inline int fallocate(int descriptor, int mode, off_t at, off_t bytes)
{
    (void)descriptor;
    (void)mode;
    (void)at;
    (void)bytes;
    errno = ENOTSUP;
    return -1;
}

static inline char *realpath(const char *path, char *resolved)
{
    (void)resolved;
    return strdup(path);
}

static inline int fchmod(int descriptor, mode_t mode)
{
    (void)descriptor;
    (void)mode;
    return 0;
}

static inline int mkstemp(char *pattern)
{
    (void)pattern;
    errno = ENOTSUP;
    return -1;
}

static inline char *mkdtemp(char *pattern)
{
    (void)pattern;
    errno = ENOTSUP;
    return NULL;
}

static inline void *memmem(const void *text, size_t n, const void *word, size_t m)
{
    const char *at = text;
    for (size_t i = 0; m <= n && i <= n - m; i++)
        if (memcmp(at + i, word, m) == 0)
            return (void *)(at + i);
    return NULL;
}

#endif
