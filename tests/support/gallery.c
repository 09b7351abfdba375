#include "support/gallery.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t gallery_list(char *names[GALLERY_MOST])
{
    DIR *folder = opendir(NS_MODELS_DIR);
    size_t n = 0;
    for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        const size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".mech") != 0)
            continue;
        if (n == GALLERY_MOST || !(names[n] = strndup(entry->d_name, length - 5)))
            abort();
        n++;
    }
    if (!n)
        abort();
    closedir(folder);
    qsort(names, n, sizeof *names, by_name);
    return n;
}

void gallery_free(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
}
