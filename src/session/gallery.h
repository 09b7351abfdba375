/* The bundled models, compiled in from models/ (cmake/EmbedModels.cmake). */
#ifndef NS_SESSION_GALLERY_H
#define NS_SESSION_GALLERY_H

struct ns_gallery_entry {
    const char *name; /* path below models/ without .mech */
    const char *text;
};

extern const struct ns_gallery_entry ns_gallery_entries[];
extern const unsigned ns_gallery_count;

/* A bundled model by name, NULL if there is none; the nearest name, NULL if none is near. */
const struct ns_gallery_entry *ns_gallery_find(const char *name);
const char *ns_gallery_nearest(const char *name);

#endif
