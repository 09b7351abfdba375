#include "session/gallery.h"

#include <string.h>

#include "base/near.h"

const struct ns_gallery_entry *ns_gallery_find(const char *name)
{
    for (unsigned i = 0; i < ns_gallery_count; i++)
        if (strcmp(ns_gallery_entries[i].name, name) == 0)
            return &ns_gallery_entries[i];
    return NULL;
}

const char *ns_gallery_nearest(const char *name)
{
    ns_near near = {.word = name};
    for (unsigned i = 0; i < ns_gallery_count; i++)
        ns_near_try(&near, ns_gallery_entries[i].name);
    return near.found;
}
