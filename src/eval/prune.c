#define _GNU_SOURCE
#include "eval/prune.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

enum { KEY = 32 };

const ns_prune_limits ns_prune_usual = {
    .bytes = 256u << 20, .unused = 60 * 86400.0, .young = 3600, .left_behind = 3600};

typedef struct entry {
    char name[KEY + 4]; /* KEY digits, .so */
    double age;
    uint64_t bytes;
} entry;

typedef struct listing {
    entry *at;
    size_t n, room;
} listing;

static bool begins_with_key(const char *name)
{
    return strspn(name, "0123456789abcdef") == KEY;
}

static double age_of(const struct stat *s)
{
    return difftime(time(NULL), s->st_mtim.tv_sec);
}

static void add(listing *l, const char *name, const struct stat *s)
{
    if (l->n == l->room) {
        const size_t room = 2 * l->room + 64;
        entry *more = realloc(l->at, room * sizeof *more);
        if (!more)
            return; /* it is looked at another time */
        l->at = more;
        l->room = room;
    }
    entry *e = &l->at[l->n++];
    memcpy(e->name, name, sizeof e->name); /* with its end */
    e->age = age_of(s);
    e->bytes = (uint64_t)s->st_size;
}

static int oldest_first(const void *a, const void *b)
{
    const entry *p = a, *q = b;
    return p->age != q->age ? (p->age > q->age ? -1 : 1) : strcmp(p->name, q->name);
}

unsigned ns_prune(const char *path, const ns_prune_limits *limits)
{
    NS_CHECK(path && limits);
    DIR *folder = opendir(path);
    if (!folder)
        return 0;
    const int at = dirfd(folder);
    listing l = {0};
    unsigned removed = 0;
    uint64_t bytes = 0;
    for (struct dirent *d; (d = readdir(folder));) {
        struct stat s;
        if (!begins_with_key(d->d_name) ||
            fstatat(at, d->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode))
            continue;
        if (strcmp(d->d_name + KEY, ".so") == 0) {
            add(&l, d->d_name, &s);
            bytes += (uint64_t)s.st_size;
        } else if (d->d_name[KEY] == '-' && age_of(&s) > limits->left_behind)
            removed += unlinkat(at, d->d_name, 0) == 0;
    }
    if (l.n)
        qsort(l.at, l.n, sizeof *l.at, oldest_first);
    for (size_t i = 0; i < l.n && l.at[i].age > limits->young; i++) {
        if (l.at[i].age <= limits->unused && bytes <= limits->bytes)
            break;
        /* gone already: somebody else prunes too */
        removed += unlinkat(at, l.at[i].name, 0) == 0;
        bytes -= l.at[i].bytes;
    }
    free(l.at);
    closedir(folder);
    return removed;
}

void ns_prune_used(const char *path)
{
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}
