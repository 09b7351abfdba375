/* Fuzz target: a conversation with the language server.  Lines of the input become messages:
 * the first byte says which, the rest is the text of a document, or stands for a place in it;
 * lines that begin with `{` are messages as they are.  Every answer is a message of the length
 * it says, and the conversation ends. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/lsp/lsp.h"
#include "cli/lsp/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void frame(FILE *out, const char *text)
{
    fprintf(out, "Content-Length: %zu\r\n\r\n%s", strlen(text), text);
}

static void put_message(ns_arena *arena, FILE *out, const char *line, size_t length)
{
    static const char *const methods[] = {"textDocument/didOpen",
                                          "textDocument/didChange",
                                          "textDocument/didClose",
                                          "textDocument/hover",
                                          "textDocument/definition",
                                          "textDocument/completion",
                                          "textDocument/formatting",
                                          "initialize",
                                          "shutdown"};
    enum { METHODS = sizeof methods / sizeof *methods };
    if (line[0] == '{') {
        fprintf(out, "Content-Length: %zu\r\n\r\n", length);
        fwrite(line, 1, length, out);
        return;
    }
    const unsigned which = (unsigned char)line[0];
    char *text = ns_arena_string(arena, line + 1, length - 1);
    for (char *c = text; *c; c++) /* documents of several lines */
        if (*c == '|')
            *c = '\n';
    ns_json j = ns_json_new(arena);
    ns_json_object(&j, NULL);
    ns_json_number(&j, "id", which);
    ns_json_text(&j, "method", methods[which % METHODS]);
    ns_json_object(&j, "params");
    ns_json_object(&j, "textDocument");
    ns_json_text(&j, "uri", which & 128 ? "a.claim" : which & 64 ? "b.mech" : "c.mech");
    ns_json_text(&j, "text", text);
    ns_json_end(&j);
    ns_json_object(&j, "position");
    ns_json_number(&j, "line", length > 1 ? (signed char)line[1] : 0);
    ns_json_number(&j, "character", length > 2 ? (signed char)line[2] : 0);
    ns_json_end(&j);
    ns_json_array(&j, "contentChanges");
    ns_json_object(&j, NULL);
    ns_json_text(&j, "text", text);
    ns_json_end(&j);
    ns_json_end(&j);
    ns_json_end(&j);
    ns_json_end(&j);
    frame(out, ns_json_string(&j));
}

/* All that was answered is messages, and they are JSON. */
static void look(ns_arena *arena, const char *at)
{
    while (*at) {
        size_t length = 0;
        int head = 0;
        if (sscanf(at, "Content-Length: %zu%n", &length, &head) != 1 ||
            strncmp(at + head, "\r\n\r\n", 4) != 0 || strlen(at + head + 4) < length ||
            !ns_lsp_tree_read(arena, at + head + 4, length))
            abort();
        at += (size_t)head + 4 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ns_arena *arena = ns_arena_new();
    char *asked = NULL, *said = NULL;
    size_t n_asked = 0, n_said = 0;
    FILE *to = open_memstream(&asked, &n_asked), *from = open_memstream(&said, &n_said);
    if (!arena || !to || !from || NS_ARENA_GUARD(arena))
        abort();
    const char *text = ns_arena_string(arena, (const char *)data, size), *end = text + size;
    for (const char *line = text; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        const size_t length = (size_t)((next ? next : end) - line);
        if (length)
            put_message(arena, to, line, length);
        line = next ? next + 1 : end;
    }
    fclose(to);
    FILE *in = fmemopen(asked, n_asked + 1, "r"); /* with a zero byte, which is no message */
    ns_host host = {.arena = arena, .out = from, .err = stderr};
    if (in)
        ns_lsp_serve(&host, in);
    if (in)
        fclose(in);
    fclose(from);
    look(arena, said);
    free(asked);
    free(said);
    ns_arena_free(arena);
    return 0;
}
