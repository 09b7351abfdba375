/* The bundled models, compiled in from models/ (cmake/EmbedModels.cmake). */
#ifndef NS_CLI_COMMANDS_GALLERY_H
#define NS_CLI_COMMANDS_GALLERY_H

struct ns_gallery_entry {
    const char *name; /* path below models/ without .mech */
    const char *text;
};

extern const struct ns_gallery_entry ns_gallery_entries[];
extern const unsigned ns_gallery_count;

#endif
