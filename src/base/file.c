#define _GNU_SOURCE /* renameat2 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/hash.h"

/* ---- reading ----------------------------------------------------------------------------- */

static int read_all(int fd, size_t most, char **bytes, size_t *length)
{
    size_t room = 16 * 1024, n = 0;
    char *buffer = malloc(room);
    int error = buffer ? 0 : ENOMEM;
    while (!error) {
        if (n + 1 == room) {
            char *larger = realloc(buffer, room * 2);
            if (!larger) {
                error = ENOMEM;
                break;
            }
            buffer = larger;
            room *= 2;
        }
        ssize_t got = read(fd, buffer + n, room - n - 1);
        if (got == 0)
            break;
        if (got < 0)
            error = errno == EINTR ? 0 : errno;
        else
            n += (size_t)got;
        if (n > most)
            error = EFBIG;
    }
    if (error) {
        free(buffer);
        return error;
    }
    buffer[n] = 0;
    *bytes = buffer;
    *length = n;
    return 0;
}

int ns_file_read(const char *path, size_t most, char **bytes, size_t *length)
{
    NS_CHECK(path && bytes && length);
    *bytes = NULL;
    *length = 0;
    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, most, bytes, length);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    struct stat info;
    int error = fstat(fd, &info) ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;
    if (!error)
        error = read_all(fd, most, bytes, length);
    close(fd);
    return error;
}

/* ---- writing ----------------------------------------------------------------------------- */

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* errno of what just failed, never 0. */
static int why(void)
{
    const int error = errno;
    return error ? error : EIO;
}

int ns_file_target_init(ns_file_target *target, const char *path)
{
    NS_CHECK(path);
    *target = (ns_file_target){0};
    struct stat info;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return EISDIR;
        if (access(path, W_OK))
            return why();
        target->in_place = !S_ISREG(info.st_mode);
        target->mode = info.st_mode & 07777;
        target->path = realpath(path, NULL); /* rename would replace a link, not its file */
        if (!target->path)
            return why();
    } else if (errno == ENOENT && *path) {
        target->path = strdup(path);
        if (!target->path)
            return ENOMEM;
    } else {
        return why();
    }
    if (target->in_place)
        return 0;
    char *folder = folder_of(target->path);
    int error = !folder ? ENOMEM : access(folder, W_OK | X_OK) ? why() : 0;
    free(folder);
    if (error)
        ns_file_target_free(target);
    return error;
}

/* Numbers of processes mean something on one machine and in one container only. */
static unsigned this_machine(void)
{
    char name[256] = "", space[64] = "";
    if (gethostname(name, sizeof name - 1) || readlink("/proc/self/ns/pid", space, 63) < 0)
        space[0] = '?';
    uint64_t hash = ns_hash_bytes(ns_hash_start, name, strlen(name));
    hash = ns_hash_bytes(hash, space, strlen(space));
    return (unsigned)(hash ^ (hash >> 32));
}

/* The number of the process that NAME.MACHINE-PROCESS-NUMBER.part belongs to; 0: it is no such
 * file. */
static long owner(const char *file, const char *name, unsigned machine)
{
    const size_t n = strlen(name);
    unsigned where, number;
    long process;
    int end = 0;
    if (strncmp(file, name, n) != 0 ||
        sscanf(file + n, ".%8x-%ld-%u.part%n", &where, &process, &number, &end) != 3 || !end ||
        file[n + (size_t)end] || where != machine || process <= 0)
        return 0;
    return process;
}

/* Removes what processes that were killed have left of this file. */
static void remove_stale(const char *path, unsigned machine)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = folder_of(path);
    DIR *at = folder ? opendir(folder) : NULL;
    for (const struct dirent *entry; at && (entry = readdir(at)) != NULL;) {
        const long process = owner(entry->d_name, name, machine);
        if (process && kill((pid_t)process, 0) != 0 && errno == ESRCH)
            unlinkat(dirfd(at), entry->d_name, 0);
    }
    if (at)
        closedir(at);
    free(folder);
}

int ns_file_target_create(ns_file_target *target, int *descriptor)
{
    NS_CHECK(target->path);
    *descriptor = -1;
    if (target->in_place) {
        *descriptor = open(target->path, O_WRONLY | O_CLOEXEC);
        return *descriptor < 0 ? errno : 0;
    }
    const size_t room = strlen(target->path) + 64;
    const unsigned machine = this_machine();
    if (target->temporary)
        unlink(target->temporary); /* of an attempt that was given up */
    else
        remove_stale(target->path, machine);
    free(target->temporary);
    target->temporary = malloc(room);
    if (!target->temporary)
        return ENOMEM;
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(target->temporary, room, "%s.%08x-%ld-%u.part", target->path, machine,
                 (long)getpid(), i);
        *descriptor = open(target->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*descriptor >= 0) {
            /* Failing to copy permissions is no reason to refuse results. */
            if (target->mode && fchmod(*descriptor, target->mode))
                errno = 0;
            return 0;
        }
        if (errno != EEXIST)
            break;
    }
    int error = errno;
    free(target->temporary);
    target->temporary = NULL;
    return error;
}

/* A name for a name that is new; hard links where the system knows no such rename. */
static int rename_new(const char *from, const char *to)
{
#ifdef RENAME_NOREPLACE
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
#endif
    if (link(from, to))
        return errno;
    unlink(from);
    return 0;
}

static int publish(ns_file_target *target, bool is_new)
{
    NS_CHECK(target->path);
    if (!target->temporary)
        return 0;
    int fd = open(target->temporary, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = fsync(fd) && errno != EINVAL && errno != ENOSYS ? errno : 0;
    close(fd);
    if (!error && is_new)
        error = rename_new(target->temporary, target->path);
    else if (!error && rename(target->temporary, target->path))
        error = errno;
    if (error)
        return error;
    free(target->temporary);
    target->temporary = NULL;
    return 0;
}

int ns_file_target_publish(ns_file_target *target)
{
    NS_CHECK(target);
    return publish(target, false);
}

int ns_file_target_publish_new(ns_file_target *target)
{
    NS_CHECK(target);
    return publish(target, true);
}

void ns_file_target_free(ns_file_target *target)
{
    if (target->temporary)
        unlink(target->temporary);
    free(target->temporary);
    free(target->path);
    *target = (ns_file_target){0};
}

/* The name without links and dots; its last part need not exist.  Of malloc. */
static char *plain_name(const char *path)
{
    char *whole = realpath(path, NULL);
    if (whole)
        return whole;
    char *folder = folder_of(path), *plain = folder ? realpath(folder, NULL) : NULL;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t room = plain ? strlen(plain) + strlen(name) + 2 : 0;
    whole = plain ? malloc(room) : NULL;
    if (whole)
        snprintf(whole, room, "%s/%s", plain, name);
    free(folder);
    free(plain);
    return whole;
}

bool ns_file_same(const char *a, const char *b)
{
    NS_CHECK(a && b);
    struct stat one, other;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    if (stat(a, &one) == 0 && stat(b, &other) == 0)
        return S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    char *first = plain_name(a), *second = plain_name(b);
    const bool same = first && second && strcmp(first, second) == 0;
    free(first);
    free(second);
    return same;
}

int ns_file_pattern(char *path, size_t room, const char *stem)
{
    NS_CHECK(path && room && stem);
    const char *folder = getenv("TMPDIR");
    const int n = snprintf(path, room, "%s/%s-XXXXXX",
                           folder && *folder == '/' ? folder : "/tmp", stem);
    return n < 0 || (size_t)n >= room ? ENAMETOOLONG : 0;
}

int ns_file_put(int descriptor, const void *bytes, size_t length)
{
    NS_CHECK(bytes || !length);
    const char *at = bytes;
    while (length) {
        ssize_t n = write(descriptor, at, length);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            at += n;
            length -= (size_t)n;
        }
    }
    return 0;
}

int ns_file_copy(int from, int to)
{
    NS_CHECK(from >= 0 && to >= 0);
    enum { ROOM = 1 << 20 };
    char *buffer = malloc(ROOM);
    if (!buffer)
        return ENOMEM;
    int error = 0;
    while (!error) {
        ssize_t n = read(from, buffer, ROOM);
        if (n == 0)
            break;
        if (n > 0)
            error = ns_file_put(to, buffer, (size_t)n);
        else if (errno != EINTR)
            error = errno;
    }
    free(buffer);
    return error;
}

int ns_file_write(const char *path, const void *bytes, size_t length)
{
    NS_CHECK(path);
    NS_CHECK(bytes || !length);
    ns_file_target target;
    int fd, error = ns_file_target_init(&target, path);
    if (error)
        return error;
    error = ns_file_target_create(&target, &fd);
    if (!error) {
        error = ns_file_put(fd, bytes, length);
        if (close(fd) && !error)
            error = errno;
    }
    if (!error)
        error = ns_file_target_publish(&target);
    ns_file_target_free(&target);
    return error;
}
