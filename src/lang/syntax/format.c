/* Rules, for everything outside strings and comments:
 *   - lines of a block are indented by four blanks for each open brace; further lines of a
 *     statement keep their distance from its first one;
 *   - no blank before , and ; and one at least after them; one at least on either side of =
 *     and ~ and inside { }; before a comment one at least.  More blanks stay: they align;
 *   - no blanks at the end of a line, no two empty lines in a row, one newline at the end.
 * Signs between numbers, names and units are left alone: 3 m/s and 3 m / s differ. */
#include "lang/syntax/format.h"

#include <string.h>

#include "lang/syntax/lexer.h"

enum { INDENT = 4 };

typedef struct layout {
    ns_text *out;
    int braces, brackets; /* open at the end of what was done */
    bool continued;       /* the last line goes on in the next one */
    int shift;            /* by how much the statement's first line was moved */
} layout;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void put(ns_text *out, char c)
{
    ns_text_add_bytes(out, &c, 1);
}

static bool ends_blank(const ns_text *out, size_t since)
{
    return out->length == since || ns_text_string((ns_text *)out)[out->length - 1] == ' ';
}

/* Ends what is open: is the next line part of this statement? */
static bool goes_on(const layout *l, char last)
{
    return l->brackets > 0 || (last && strchr("+-*/^=~,:", last));
}

/* The content of a line, which begins and ends without blanks. */
static void put_content(layout *l, const char *line, size_t n)
{
    const size_t begin = l->out->length;
    char last = 0; /* the last sign outside comments */
    for (size_t i = 0; i < n; i++) {
        const char c = line[i], next = i + 1 < n ? line[i + 1] : 0;
        if (c == '#') {
            if (!ends_blank(l->out, begin))
                put(l->out, ' ');
            ns_text_add_bytes(l->out, line + i, n - i);
            break;
        }
        if (c == '"') {
            const char *end = memchr(line + i + 1, '"', n - i - 1);
            const size_t stop = end ? (size_t)(end - line) : n - 1;
            ns_text_add_bytes(l->out, line + i, stop - i + 1);
            i = stop;
            last = '"';
            continue;
        }
        if (is_blank(c)) {
            const size_t at = strspn(line + i, " \t\r") + i;
            const bool tight = at < n && (line[at] == ',' || line[at] == ';') && last;
            if (!tight)
                put(l->out, ' ');
            continue;
        }
        const bool spaced = c == '=' || c == '~' || c == '}';
        if (spaced && !ends_blank(l->out, begin))
            put(l->out, ' ');
        put(l->out, c);
        if (strchr(",;{=~", c) && next && !is_blank(next) && next != ',' && next != ';')
            put(l->out, ' ');
        l->braces += (c == '{') - (c == '}' && l->braces);
        l->brackets += (c == '(' || c == '[') - ((c == ')' || c == ']') && l->brackets);
        last = c;
    }
    l->continued = goes_on(l, last);
}

static void put_line(layout *l, const char *line, size_t n)
{
    size_t blanks = 0, column = 0;
    for (; blanks < n && is_blank(line[blanks]); blanks++)
        column += line[blanks] == '\t' ? INDENT : 1;
    while (n > blanks && is_blank(line[n - 1]))
        n--;
    int indent;
    if (l->continued) {
        indent = (int)column + l->shift;
    } else {
        const bool closes = line[blanks] == '}';
        indent = INDENT * (l->braces - (closes && l->braces));
        l->shift = indent - (int)column;
    }
    const bool comment = line[blanks] == '#', was = l->continued;
    for (int i = 0; i < indent; i++)
        put(l->out, ' ');
    put_content(l, line + blanks, n - blanks);
    if (comment) /* a comment between the lines of a statement ends nothing */
        l->continued = was;
    put(l->out, '\n');
}

static void lay_out(const char *text, size_t length, ns_text *out)
{
    layout l = {.out = out};
    bool empty = true; /* the last line was; so none is at the beginning */
    size_t gap = 0;
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        const size_t n = end ? (size_t)(end - text) - at : length - at;
        size_t blanks = 0;
        while (blanks < n && is_blank(text[at + blanks]))
            blanks++;
        if (blanks == n) {
            gap++;
        } else {
            if (gap && !empty)
                put(out, '\n');
            put_line(&l, text + at, n);
            gap = 0;
            empty = false;
        }
        at += n + 1;
    }
}

/* Are they the same tokens?  Comments are not tokens; put_content copies them. */
static bool same_tokens(ns_arena *arena, const char *a, size_t n, const char *b, size_t m)
{
    ns_diag *diag = ns_diag_new(arena);
    const uint32_t first = ns_diag_source(diag, "before", a, n);
    const uint32_t second = ns_diag_source(diag, "after", b, m);
    ns_lexer p = ns_lexer_new(diag, first, a, n), q = ns_lexer_new(diag, second, b, m);
    for (;;) {
        const ns_token s = ns_lexer_next(&p);
        ns_token t = ns_lexer_next(&q);
        if (s.kind == NS_TOKEN_END && t.kind == NS_TOKEN_LINE) /* the newline at the end */
            t = ns_lexer_next(&q);
        if (s.kind == NS_TOKEN_END)
            return t.kind == NS_TOKEN_END;
        if (s.kind != t.kind || s.first != t.first)
            return false;
        if (s.kind != NS_TOKEN_LINE && (s.end - s.begin != t.end - t.begin ||
                                        memcmp(a + s.begin, b + t.begin, s.end - s.begin) != 0))
            return false;
    }
}

bool ns_format_text(const char *text, size_t length, ns_text *out)
{
    ns_diag *diag = ns_diag_new(out->arena);
    if (!ns_lexer_check(diag, ns_diag_source(diag, "text", text, length), text, length))
        return false;
    ns_text made = ns_text_new(out->arena);
    lay_out(text, length, &made);
    if (!same_tokens(out->arena, text, length, ns_text_string(&made), made.length))
        return false;
    ns_text_add_bytes(out, ns_text_string(&made), made.length);
    return true;
}
