/* Fuzz target: the layout of any bytes.  What has one is laid out the same a second time, and
 * is a model exactly if it was one before. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lang/description.h"
#include "lang/syntax/format.h"
#include "session/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool reads(ns_arena *arena, const char *text, size_t size)
{
    ns_diag *diag = ns_diag_new(arena);
    return ns_description_read(arena, diag, &ns_settings_grammar, "model", text, size, NULL,
                               0) &&
           !diag->errors;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ns_arena *arena = ns_arena_new();
    if (!arena)
        return 0;
    if (NS_ARENA_GUARD(arena)) {
        ns_arena_free(arena);
        return 0;
    }
    const char *text = ns_arena_string(arena, (const char *)data, size);
    ns_text once = ns_text_new(arena), twice = ns_text_new(arena);
    if (ns_format_text(text, size, &once)) {
        const char *first = ns_text_string(&once);
        if (!ns_format_text(first, once.length, &twice) || twice.length != once.length ||
            memcmp(ns_text_string(&twice), first, once.length) != 0)
            abort();
        if (reads(arena, text, size) != reads(arena, first, once.length))
            abort();
    }
    ns_arena_free(arena);
    return 0;
}
