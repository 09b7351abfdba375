/* Fuzz target: any bytes as a robot in URDF.  The result is a text that the model language
 * takes for text, whose lines begin as the converter begins them, or a message. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command/models/urdf.h"
#include "lang/syntax/format.h"
#include "lang/syntax/lexer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every line begins as the converter writes lines: nothing of the file began one. */
static void look(ns_arena *arena, const char *model)
{
    static const char *const known[] = {"# From fuzz.", "#   ",     "title \"",    "body ",
                                        "constraint ",  "input u_", "observe at_", "let rate_",
                                        "let drive_",   "force ",   "start {",     "run {",
                                        "    ",         "}"};
    const size_t length = strlen(model);
    ns_diag *diag = ns_diag_new(arena);
    if (!ns_lexer_check(diag, ns_diag_source(diag, "model", model, length), model, length))
        abort();
    for (const char *line = model; *line;) {
        bool good = false;
        for (size_t i = 0; i < sizeof known / sizeof *known && !good; i++)
            good = strncmp(line, known[i], strlen(known[i])) == 0;
        if (!good)
            abort();
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    ns_text laid_out = ns_text_new(arena);
    if (!ns_format_text(model, length, &laid_out))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ns_arena *arena = ns_arena_new();
    if (!arena)
        return 0;
    if (!NS_ARENA_GUARD(arena)) {
        ns_urdf_notes notes = {0};
        const char *message = NULL;
        const char *text = ns_arena_string(arena, (const char *)data, size);
        const char *model = ns_urdf_convert(arena, "fuzz", text, size, &notes, &message);
        if ((model != NULL) == (message != NULL))
            abort();
        if (model)
            look(arena, model);
    }
    ns_arena_free(arena);
    return 0;
}
