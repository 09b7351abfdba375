/* What WASI lacks of POSIX, as far as noslip uses it; included before every file. */
#ifndef NS_WASM_LACKING_H
#define NS_WASM_LACKING_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

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
