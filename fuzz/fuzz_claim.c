/* Fuzz target: any bytes as a claim.  Reading must end, with statements or with messages; the
 * layout of what was read must read back, and be its own layout. */
#include <stdint.h>
#include <stdlib.h>

#include "command/claims/claim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void lay_out(ns_arena *arena, const char *text, size_t size)
{
    ns_text once = ns_text_new(arena), twice = ns_text_new(arena);
    if (!ns_claim_format(text, size, &once))
        return;
    const char *first = ns_text_string(&once);
    if (!ns_claim_format(first, once.length, &twice) || twice.length != once.length ||
        memcmp(ns_text_string(&twice), first, once.length) != 0)
        abort();
    if (ns_claim_read(arena, "laid out", NULL, first, once.length)->diag->errors)
        abort();
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
    const ns_claim *claim = ns_claim_read(arena, "claim", "claim", text, size);
    if (!claim->diag->errors)
        lay_out(arena, text, size);
    ns_text messages = ns_text_new(arena);
    ns_diag_render(claim->diag, &messages);
    ns_arena_free(arena);
    return 0;
}
