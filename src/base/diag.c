#include "base/diag.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/messages/codes.h"
#include "base/messages/tame.h"

/* After this many errors or warnings, or messages at all, further ones are counted, not kept:
 * they rarely help, and each looks for its line in the text. */
enum { MOST_ERRORS = 20, MOST_WARNINGS = 100, MOST_MESSAGES = 1000, MOST_LINE = 160 };

ns_diag *ns_diag_new(ns_arena *arena)
{
    NS_CHECK(arena);
    ns_diag *diag = NS_NEW(arena, ns_diag);
    diag->arena = arena;
    return diag;
}

ns_diag *ns_diag_like(ns_arena *arena, const ns_diag *known)
{
    ns_diag *diag = ns_diag_new(arena);
    diag->sources = known->sources;
    diag->sources.room = diag->sources.n; /* copied when it grows */
    return diag;
}

uint32_t ns_diag_source(ns_diag *diag, const char *name, const char *text, size_t length)
{
    NS_CHECK(name);
    NS_CHECK(text || !length);
    char *shown = ns_arena_string(diag->arena, name, strlen(name));
    ns_tame_text(shown);
    NS_PUSH(diag->arena, diag->sources,
            (ns_source){.name = shown, .text = text, .length = length});
    return diag->sources.n;
}

void ns_diag_add(ns_diag *diag, ns_severity severity, const char *file, ns_span span,
                 const char *format, ...)
{
    NS_CHECK(severity <= NS_ERROR);
    NS_CHECK(span.begin <= span.end);
    if (span.source > diag->sources.n)
        span = (ns_span){0}; /* of another's text: a start that is looked for anew */
    if (severity == NS_ERROR && diag->errors++ >= MOST_ERRORS)
        return;
    if (severity == NS_WARNING && diag->warnings++ >= MOST_WARNINGS)
        return;
    if (severity == NS_NOTE && (diag->errors > MOST_ERRORS || diag->warnings > MOST_WARNINGS ||
                                diag->messages.n >= MOST_MESSAGES))
        return; /* to one of those, or one of very many */
    ns_text text = ns_text_new(diag->arena);
    va_list list;
    va_start(list, format);
    ns_text_vaddf(&text, format, list);
    va_end(list);
    file = severity == NS_NOTE ? "note" : file;
    const char *said = ns_text_string(&text), *code = ns_codes_find(file, format);
    if (!code) /* words that came from elsewhere */
        code = ns_codes_find(file, said);
    NS_PUSH(diag->arena, diag->messages,
            (ns_message){.severity = severity, .span = span, .text = said, .code = code});
}

static const ns_source *source_of(const ns_diag *diag, ns_span span)
{
    return span.source && span.source <= diag->sources.n ? &diag->sources.at[span.source - 1]
                                                         : NULL;
}

/* Bytes 10xxxxxx continue a character. */
static int begins_character(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

void ns_diag_position(const ns_diag *diag, ns_span span, unsigned *line, unsigned *column)
{
    NS_CHECK(line && column);
    *line = *column = 1;
    const ns_source *source = source_of(diag, span);
    for (size_t i = 0; source && i < span.begin && i < source->length; i++) {
        if (source->text[i] == '\n') {
            ++*line;
            *column = 1;
        } else {
            *column += begins_character(source->text[i]) ? 1 : 0;
        }
    }
}

ns_span ns_diag_join(ns_span a, ns_span b)
{
    NS_CHECK(a.begin <= a.end);
    NS_CHECK(b.begin <= b.end);
    if (!a.source || (b.source && a.source != b.source))
        return a.source ? a : b;
    if (!b.source)
        return a;
    return (ns_span){.source = a.source,
                     .begin = a.begin < b.begin ? a.begin : b.begin,
                     .end = a.end > b.end ? a.end : b.end};
}

/* The line with the span's beginning, cut to a readable length, and carets below it. */
static void render_line(const ns_source *source, ns_span span, ns_text *out)
{
    size_t at = span.begin < source->length ? span.begin : source->length;
    size_t first = at, last = at;
    while (first > 0 && source->text[first - 1] != '\n')
        first--;
    while (last < source->length && source->text[last] != '\n')
        last++;
    int cut = 0;
    if (at - first > MOST_LINE / 2) {
        first = at - MOST_LINE / 2;
        cut = 1;
    }
    if (last - first > MOST_LINE)
        last = first + MOST_LINE;
    ns_text_add(out, cut ? "    ..." : "    ");
    for (size_t i = first, n; i < last; i += n) {
        const char *c = source->text + i;
        n = ns_text_character(c, last - i);
        const bool shown = n && !ns_tame_commands(c, last - i);
        n = n ? n : 1;
        ns_text_add_bytes(out, shown ? c : "?", shown ? n : 1);
    }
    ns_text_add(out, cut ? "\n       " : "\n    ");
    for (size_t i = first; i < at; i++) {
        if (source->text[i] == '\t')
            ns_text_add(out, "\t");
        else if (begins_character(source->text[i]))
            ns_text_add(out, " ");
    }
    ns_text_add(out, "^");
    for (size_t i = at + 1; i < span.end && i < last; i++)
        if (begins_character(source->text[i]))
            ns_text_add(out, "~");
    ns_text_add(out, "\n");
}

/* A note belongs to the error or warning before it and follows it wherever that goes. */
typedef struct entry {
    const ns_message *head, *message;
} entry;

static int by_place(const void *a, const void *b)
{
    const entry *p = a, *q = b;
    const ns_message *x = p->head, *y = q->head;
    if (x == y) /* pointers are in order of arrival */
        return p->message < q->message ? -1 : p->message > q->message;
    if (x->span.source != y->span.source)
        return x->span.source < y->span.source ? -1 : 1;
    if (x->span.begin != y->span.begin)
        return x->span.begin < y->span.begin ? -1 : 1;
    return x < y ? -1 : 1;
}

void ns_diag_render(const ns_diag *diag, ns_text *out)
{
    NS_CHECK(out->arena);
    static const char *const names[] = {"note", "warning", "error"};
    uint32_t n = diag->messages.n;
    entry *order = NS_NEW_ARRAY(out->arena, entry, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const ns_message *m = &diag->messages.at[i];
        order[i] = (entry){.head = m->severity == NS_NOTE && i ? order[i - 1].head : m,
                           .message = m};
    }
    qsort(order, n, sizeof *order, by_place);
    for (uint32_t i = 0; i < n; i++) {
        const ns_message *m = order[i].message;
        const ns_source *source = source_of(diag, m->span);
        if (source) {
            unsigned line, column;
            ns_diag_position(diag, m->span, &line, &column);
            ns_text_addf(out, "%s:%u:%u: ", source->name, line, column);
        }
        const bool coded = m->code && m == order[i].head && !strchr(m->text, '\n');
        ns_text_addf(out, "%s: %s", names[m->severity], m->text);
        if (coded)
            ns_text_addf(out, " [%s]", m->code);
        ns_text_add(out, "\n");
        if (source)
            render_line(source, m->span, out);
    }
    if (diag->errors > MOST_ERRORS)
        ns_text_addf(out, "%u more errors are not shown\n", diag->errors - MOST_ERRORS);
    if (diag->warnings > MOST_WARNINGS)
        ns_text_addf(out, "%u more warnings are not shown\n", diag->warnings - MOST_WARNINGS);
    if (diag->messages.n >= MOST_MESSAGES)
        ns_text_add(out, "further notes are not shown\n");
}
