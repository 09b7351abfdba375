/* Fuzz target: any bytes as JSON, as the language server gets it.  What is read lies inside the
 * text, and its parts read again by themselves. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lsp/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(ns_arena *arena, const ns_lsp_tree *tree, const char *text, size_t size)
{
    if (tree->raw < text || tree->raw + tree->raw_length > text + size)
        abort();
    const ns_lsp_tree *again = ns_lsp_tree_read(arena, tree->raw, tree->raw_length);
    if (!again || again->kind != tree->kind)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 50 }; /* parts that are looked at: each is read again as a whole */
    ns_arena *arena = ns_arena_new();
    if (!arena)
        return 0;
    if (NS_ARENA_GUARD(arena)) {
        ns_arena_free(arena);
        return 0;
    }
    const char *text = ns_arena_string(arena, (const char *)data, size);
    const ns_lsp_tree *tree = ns_lsp_tree_read(arena, text, size);
    int looked = 0;
    for (const ns_lsp_tree *at = tree; at && looked < MOST; looked++) {
        look(arena, at, text, size);
        at = at->child ? at->child : at->next;
    }
    ns_lsp_tree_number(tree, "params.position.line");
    (void)strlen(ns_lsp_tree_text(tree, "params.textDocument.uri"));
    ns_arena_free(arena);
    return 0;
}
