/* The layout of claims.  Rules:
 *   - a statement begins at the beginning of its line; no blanks at the end of a line, no two
 *     empty lines in a row, one newline at the end;
 *   - models between << and >> are laid out as model files are (lang/syntax/format.c);
 *   - one blank at least after the : of a statement; in `expect`, `figure` and `chart` after
 *     a comma, on either side of = < >, and before a comment.  More blanks stay: they align.
 * Words of commands and settings of runs end at a blank, so these stay as they are.  The text
 * that was made is read again: it must be the same claim. */
#include <string.h>

#include "command/claims/claim.h"
#include "lang/syntax/format.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void put(ns_text *out, char c)
{
    ns_text_add_bytes(out, &c, 1);
}

static bool ends_blank(const ns_text *out)
{
    return is_blank(ns_text_string((ns_text *)out)[out->length - 1]);
}

/* ---- lines ------------------------------------------------------------------------------- */

/* After the first : that is not in a string; n if there is none. */
static size_t behind_colon(const char *line, size_t n)
{
    bool string = false;
    for (size_t i = 0; i < n; i++) {
        string ^= line[i] == '"';
        if (line[i] == ':' && !string)
            return i + 1;
    }
    return n;
}

/* Expressions and curves. */
static void put_formulas(ns_text *out, const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char c = line[i], next = i + 1 < n ? line[i + 1] : 0;
        const bool sign = c == '=' || c == '<' || c == '>';
        if (c == '"') {
            const char *end = memchr(line + i + 1, '"', n - i - 1);
            const size_t stop = end ? (size_t)(end - line) : n - 1;
            ns_text_add_bytes(out, line + i, stop - i + 1);
            i = stop;
            continue;
        }
        if ((sign || c == '#') && !ends_blank(out))
            put(out, ' ');
        if (c == '#') {
            ns_text_add_bytes(out, line + i, n - i);
            return;
        }
        put(out, c);
        if ((sign || c == ',') && next && !is_blank(next))
            put(out, ' ');
    }
}

static bool begins(const char *line, size_t n, const char *word)
{
    const size_t length = strlen(word);
    return n > length && memcmp(line, word, length) == 0 && is_blank(line[length]);
}

/* A statement or comment, without the blanks around it. */
static void put_line(ns_text *out, const char *line, size_t n)
{
    static const char *const named[] = {"run", "series", "refuse", "command"};
    static const char *const formulas[] = {"expect", "figure", "chart"};
    size_t head = n;
    bool expressions = false;
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        if (begins(line, n, named[k]))
            head = behind_colon(line, n);
    for (size_t k = 0; k < sizeof formulas / sizeof *formulas; k++)
        if (begins(line, n, formulas[k])) {
            head = behind_colon(line, n);
            expressions = true;
        }
    ns_text_add_bytes(out, line, head);
    if (head < n && !is_blank(line[head]))
        put(out, ' ');
    if (expressions)
        put_formulas(out, line + head, n - head);
    else
        ns_text_add_bytes(out, line + head, n - head);
    put(out, '\n');
}

/* Lines of a model up to the one that ends it; where that begins. */
static size_t put_model(ns_text *out, const char *text, size_t at, size_t length)
{
    size_t end = at;
    while (end < length && strncmp(text + end, ">>", 2) != 0) {
        const char *newline = memchr(text + end, '\n', length - end);
        end = newline ? (size_t)(newline - text) + 1 : length;
    }
    if (!ns_format_text(text + at, end - at, out)) /* one that is to be refused, perhaps */
        ns_text_add_bytes(out, text + at, end - at);
    return end;
}

static void lay_out(const char *text, size_t length, ns_text *out)
{
    size_t gap = 0;
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - text) : length;
        const size_t next = newline ? end + 1 : length;
        while (at < end && is_blank(text[at]))
            at++;
        while (end > at && is_blank(text[end - 1]))
            end--;
        if (end == at) {
            gap++;
            at = next;
            continue;
        }
        if (gap && out->length)
            put(out, '\n');
        gap = 0;
        put_line(out, text + at, end - at);
        at = begins(text + at, end - at, "model") ? put_model(out, text, next, length) : next;
    }
}

/* ---- is it the same claim? --------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static uint32_t behind_blanks(const char *text, uint32_t at, uint32_t end)
{
    while (at < end && is_blank(text[at]))
        at++;
    return at;
}

/* The same but for blanks; in strings these count. */
static bool same_formula(const ns_formula *a, const ns_formula *b)
{
    uint32_t i = a->span.begin, k = b->span.begin;
    bool string = false;
    for (; a->n == b->n; i++, k++) {
        if (!string) {
            i = behind_blanks(a->text, i, a->span.end);
            k = behind_blanks(b->text, k, b->span.end);
        }
        if (i >= a->span.end || k >= b->span.end)
            return i >= a->span.end && k >= b->span.end;
        if (a->text[i] != b->text[k])
            return false;
        string ^= a->text[i] == '"';
    }
    return false;
}

/* Models have the same tokens, as ns_format_text has seen to: so their layout is the same. */
static bool same_model(ns_arena *arena, const char *a, const char *b)
{
    ns_text x = ns_text_new(arena), y = ns_text_new(arena);
    if (!ns_format_text(a, strlen(a), &x) || !ns_format_text(b, strlen(b), &y))
        return strcmp(a + strspn(a, "\n"), b + strspn(b, "\n")) == 0;
    return strcmp(ns_text_string(&x), ns_text_string(&y)) == 0;
}

static bool same_statement(ns_arena *arena, const ns_claim_statement *a,
                           const ns_claim_statement *b)
{
    bool same = a->kind == b->kind && same_text(a->name.text, b->name.text) &&
                same_text(a->model.text, b->model.text) && a->sign == b->sign &&
                a->settings.n == b->settings.n && a->words.n == b->words.n &&
                a->curves.n == b->curves.n && same_formula(&a->left, &b->left) &&
                same_formula(&a->right, &b->right) &&
                same_formula(&a->tolerance, &b->tolerance) &&
                (a->kind == NS_CLAIM_MODEL ? same_model(arena, a->text, b->text)
                                           : same_text(a->text, b->text));
    for (uint32_t i = 0; same && i < a->settings.n; i++)
        same = same_text(a->settings.at[i].name, b->settings.at[i].name) &&
               same_text(a->settings.at[i].value, b->settings.at[i].value);
    for (uint32_t i = 0; same && i < a->words.n; i++)
        same = same_text(a->words.at[i].text, b->words.at[i].text);
    for (uint32_t i = 0; same && i < a->curves.n; i++) {
        const ns_claim_curve *p = &a->curves.at[i], *q = &b->curves.at[i];
        same = same_text(p->of.text, q->of.text) && same_text(p->x, q->x) &&
               same_text(p->y, q->y) && same_text(p->label, q->label) &&
               same_formula(&p->value, &q->value);
    }
    return same;
}

bool ns_claim_format(const char *text, size_t length, ns_text *out)
{
    const ns_claim *before = ns_claim_read(out->arena, "claim", NULL, text, length);
    if (before->diag->errors)
        return false;
    ns_text made = ns_text_new(out->arena);
    lay_out(text, length, &made);
    const char *laid = ns_text_string(&made);
    const ns_claim *after = ns_claim_read(out->arena, "claim", NULL, laid, made.length);
    bool same = !after->diag->errors && same_text(before->title, after->title) &&
                same_text(before->against, after->against) && before->slow == after->slow &&
                before->statements.n == after->statements.n;
    for (uint32_t i = 0; same && i < before->statements.n; i++)
        same = same_statement(out->arena, &before->statements.at[i], &after->statements.at[i]);
    if (same)
        ns_text_add_bytes(out, laid, made.length);
    return same;
}
