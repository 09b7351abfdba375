/* Robots in URDF, read and converted: a model's text or a message. */
#include <stddef.h>
#include <stdint.h>

#include "command/models/urdf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ns_arena *arena = ns_arena_new();
    ns_urdf_notes notes = {0};
    const char *message;
    if (arena)
        (void)ns_urdf_convert(arena, "fuzz", (const char *)data, size, &notes, &message);
    ns_arena_free(arena);
    return 0;
}
