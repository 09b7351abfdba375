/* Fuzz target: any bytes as a formula.  Reading and evaluating must end, with a number or with
 * messages, whatever the functions of the caller look at. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lang/formula.h"
#include "lang/syntax/lexer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Looks at each argument as a word, as a string and as a number. */
static double look(const ns_formula_call *c)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const char *word = ns_formula_word(c->world->arena, &c->args[i]);
        const char *string = ns_formula_string(c->world->arena, &c->args[i]);
        sum += word     ? (double)strlen(word)
               : string ? (double)strlen(string)
                        : ns_formula_value(c->world, &c->args[i]);
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const ns_formula_function functions[] = {
        {"end", 1, 3, look, 0}, {"max", 2, 2, look, 0}, {NULL, 0, 0, NULL, 0}};
    ns_arena *arena = ns_arena_new();
    if (!arena)
        return 0;
    if (NS_ARENA_GUARD(arena)) {
        ns_arena_free(arena);
        return 0;
    }
    ns_diag *diag = ns_diag_new(arena);
    const char *text = ns_arena_string(arena, (const char *)data, size);
    const uint32_t source = ns_diag_source(diag, "formula", text, size);
    const ns_formula_world world = {.diag = diag, .arena = arena, .functions = functions};
    ns_formula f;
    ns_span inside;
    uint32_t at = 0;
    if (ns_lexer_check(diag, source, text, size) &&
        ns_formula_read(diag, source, "<>@", "within", &at, (uint32_t)size, &f)) {
        ns_formula_value(&world, &f);
        if (at > size || (ns_formula_argument(&f, "end", &inside) && inside.end > size))
            abort();
    } else if (!diag->errors) {
        abort(); /* refused without a word */
    }
    ns_text messages = ns_text_new(arena);
    ns_diag_render(diag, &messages);
    ns_arena_free(arena);
    return 0;
}
