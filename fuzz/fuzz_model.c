/* Fuzz target: any bytes as a model.  Reading must end, with a description or with messages;
 * what was read must print, and its text must read back. */
#include <stdint.h>
#include <stdlib.h>

#include "expr/print/print.h"
#include "lang/description.h"
#include "session/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A tree may be far longer than its graph: only short ones are printed whole. */
static void print_back(ns_description *d, ns_ex e)
{
    enum { MOST_BYTES = 2000 };
    const ns_shared *shared = ns_print_shared(d->graph, &e, 1, "shared");
    ns_text text = ns_text_new(d->arena);
    ns_value value;
    ns_print_expression(d->graph, e, NS_PRINT_LATEX, shared, &text);
    if (shared->items.n)
        return;
    text = ns_text_new(d->arena);
    ns_print_text(d->graph, e, &text);
    if (text.length < MOST_BYTES)
        ns_description_evaluate(d, "printed", ns_text_string(&text), &value);
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
    ns_diag *diag = ns_diag_new(arena);
    static const ns_override set = {.name = "a", .expression = "2 cm"};
    ns_description *d = ns_description_read(arena, diag, &ns_settings_grammar, "model",
                                            (const char *)data, size, &set, size % 2);
    if (!d && !diag->errors)
        abort(); /* refused without a word */
    if (d && ns_description_finish(d, NULL, 0)) {
        for (uint32_t i = 0; i < d->observes.n && i < 20; i++)
            print_back(d, d->observes.at[i].value);
        if (d->lagrangian)
            print_back(d, d->lagrangian);
    }
    ns_text text = ns_text_new(arena);
    ns_diag_render(diag, &text);
    ns_arena_free(arena);
    return 0;
}
