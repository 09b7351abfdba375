/* noslip explain: what a message means, with an example and its cure.  The text is a section
 * of docs/errors.md, which is compiled in. */
#include <string.h>

#include "base/near.h"
#include "command/command.h"
#include "command/learn/learn.h"

const char *ns_explain_next(const char *page, char word[64], const char **text)
{
    const char *at = strstr(page, "\n## ");
    if (!at)
        return NULL;
    at += 4;
    const size_t length = strcspn(at, "\n");
    const size_t kept = length < 63 ? length : 63;
    memcpy(word, at, kept);
    word[kept] = 0;
    *text = at + length;
    return at;
}

/* Markdown for a terminal: models indented, addresses of links and fences left out. */
static void print_line(ns_host *host, const char *line, size_t length, bool in_model)
{
    if (in_model)
        fputs("    ", host->out);
    for (size_t i = 0; i < length; i++) {
        if (!in_model && line[i] == ']' && i + 1 < length && line[i + 1] == '(') {
            const char *end = memchr(line + i, ')', length - i);
            i = end ? (size_t)(end - line) : i;
        } else if (in_model || line[i] != '[') {
            fputc(line[i], host->out);
        }
    }
    fputc('\n', host->out);
}

static void print_section(ns_host *host, const char *word, const char *text)
{
    const char *end = strstr(text, "\n## ");
    const size_t size = end ? (size_t)(end - text) : strlen(text);
    bool in_model = false;
    fprintf(host->out, "%s%s%s\n", host->style_out.bold, word, host->style_out.plain);
    for (size_t at = 1; at < size;) {
        const char *line = text + at, *stop = memchr(line, '\n', size - at);
        const size_t length = stop ? (size_t)(stop - line) : size - at;
        if (length >= 3 && memcmp(line, "```", 3) == 0)
            in_model = !in_model;
        else
            print_line(host, line, length, in_model);
        at += length + 1;
    }
}

/* Length of the first sentence, or of its part before a colon: a dot inside a name or a file's
 * name ends none. */
static size_t sentence(const char *text)
{
    size_t n = strcspn(text, ":;\n.");
    while (text[n] == '.' && !strchr(" \n", text[n + 1]))
        n += 1 + strcspn(text + n + 1, ":;\n.");
    return n;
}

static int explain(ns_host *host, const ns_arguments *a)
{
    const char *page = ns_explain_count ? ns_explain_entries[0].text : "", *text;
    char word[64];
    ns_near near = {.word = a->words.n ? a->words.at[0] : ""};
    for (const char *at = page; (at = ns_explain_next(at, word, &text));) {
        if (!a->words.n) {
            const char *begin = text + strspn(text, "\n");
            const char *line = ns_arena_string(host->arena, begin, sentence(begin));
            fprintf(host->out, "  %-18s  %s\n", word, line);
        } else if (strcmp(word, a->words.at[0]) == 0) {
            print_section(host, word, text);
            return 0;
        } else {
            ns_near_try(&near, ns_arena_string(host->arena, word, strlen(word)));
        }
    }
    if (!a->words.n)
        return 0;
    if (near.found)
        return ns_command_wrong(host, "no message has the code `%s`; did you mean `%s`?",
                                near.word, near.found);
    return ns_command_wrong(host, "no message has the code `%s`; `noslip explain` lists them",
                            near.word);
}

const ns_command ns_command_explain = {
    .name = "explain",
    .summary = "Explain a message by its code, with an example and its cure",
    .usage = "[CODE]",
    .doc = "CODE is the word in [ ] at the end of a message.  Without it all are listed.",
    .least = 0,
    .most = 1,
    .run = explain,
};
