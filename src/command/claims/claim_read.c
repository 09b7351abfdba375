/* The text of a claim, line by line, to its statements: see claim.h.  Expressions are read by
 * the language's parser. */
#include <ctype.h>
#include <string.h>

#include "command/claims/claim.h"
#include "lang/syntax/lexer.h"

typedef struct scan {
    ns_claim *claim;
    const char *text;
    uint32_t at, end; /* the rest of the present line */
    uint32_t next;    /* where the next one begins */
    uint32_t length;  /* of the whole text */
} scan;

static ns_span place(const scan *s, uint32_t begin, uint32_t end)
{
    return (ns_span){.source = s->claim->text, .begin = begin, .end = end};
}

/* ---- words ------------------------------------------------------------------------------- */

static bool wrong(scan *s, const char *expected)
{
    uint32_t end = s->at;
    while (end < s->end && !isspace((unsigned char)s->text[end]))
        end++;
    if (end == s->at)
        ns_diag_error(s->claim->diag, place(s, s->at, s->at),
                      "expected %s, found the end of the line", expected);
    else
        ns_diag_error(s->claim->diag, place(s, s->at, end), "expected %s, found `%.*s`",
                      expected, (int)(end - s->at), s->text + s->at);
    return false;
}

static void blanks(scan *s)
{
    while (s->at < s->end && isspace((unsigned char)s->text[s->at]))
        s->at++;
}

static bool accept(scan *s, char c)
{
    blanks(s);
    if (s->at == s->end || s->text[s->at] != c)
        return false;
    s->at++;
    return true;
}

/* Nothing more on the line, but for a comment? */
static bool at_end(scan *s)
{
    blanks(s);
    return s->at == s->end || s->text[s->at] == '#';
}

/* Up to a blank or one of the characters. */
static bool word(scan *s, const char *stops, const char *expected, ns_claim_word *out)
{
    blanks(s);
    const uint32_t from = s->at;
    while (s->at < s->end && !isspace((unsigned char)s->text[s->at]) &&
           !strchr(stops, s->text[s->at]))
        s->at++;
    out->place = place(s, from, s->at);
    out->text = ns_arena_string(s->claim->arena, s->text + from, s->at - from);
    return s->at > from || wrong(s, expected);
}

static bool quoted(scan *s, const char *expected, const char **out)
{
    blanks(s);
    if (!accept(s, '"'))
        return wrong(s, expected);
    const uint32_t from = s->at;
    const char *end = memchr(s->text + from, '"', s->end - from);
    if (!end) {
        ns_diag_error(s->claim->diag, place(s, from - 1, from),
                      "the string that begins here is not closed on its line: expected \"");
        return false;
    }
    *out = ns_arena_string(s->claim->arena, s->text + from, (size_t)(end - s->text) - from);
    s->at = (uint32_t)(end - s->text) + 1;
    return true;
}

/* NAME: */
static bool name(scan *s, ns_claim_word *out)
{
    return word(s, ":", "a name", out) && (accept(s, ':') || wrong(s, "`:`"));
}

static bool formula(scan *s, ns_formula *out)
{
    return ns_formula_read(s->claim->diag, s->claim->text, "<>", "within", &s->at, s->end, out);
}

/* ---- statements -------------------------------------------------------------------------- */

static bool read_expect(scan *s, ns_claim_statement *to)
{
    if (!quoted(s, "a label between \" \"", &to->text) ||
        (!accept(s, ':') && !wrong(s, "`:`")) || !formula(s, &to->left))
        return false;
    blanks(s);
    if (s->at == s->end || !strchr("<>=", s->text[s->at]))
        return wrong(s, "=, < or >");
    to->sign = s->text[s->at++];
    if (!formula(s, &to->right))
        return false;
    if (to->sign != '=')
        return true;
    ns_claim_word within;
    blanks(s);
    const uint32_t before = s->at;
    if (!word(s, "", "within TOLERANCE", &within))
        return false;
    if (strcmp(within.text, "within") != 0) {
        s->at = before;
        return wrong(s, "within TOLERANCE");
    }
    return formula(s, &to->tolerance);
}

static bool read_refuse(scan *s, ns_claim_statement *to)
{
    return name(s, &to->name) && word(s, "\"", "a model", &to->model) &&
           quoted(s, "a part of the message between \" \"", &to->text);
}

static bool read_run(scan *s, ns_claim_statement *to)
{
    if (!name(s, &to->name) || !word(s, "", "a model", &to->model))
        return false;
    while (!at_end(s)) {
        ns_claim_word key, value;
        if (!word(s, "=", "NAME=VALUE", &key) ||
            (!accept(s, '=') && !wrong(s, "`=` and a value")) ||
            !word(s, "", "a value", &value))
            return false;
        NS_PUSH(s->claim->arena, to->settings,
                (ns_claim_setting){key.text, value.text, value.place});
    }
    return true;
}

static bool read_command(scan *s, ns_claim_statement *to)
{
    if (!name(s, &to->name))
        return false;
    while (!at_end(s)) {
        ns_claim_word w = {.place = place(s, s->at, s->at + 1)};
        if (s->text[s->at] == '"' ? !quoted(s, "", &w.text) : !word(s, "", "a word", &w))
            return false;
        NS_PUSH(s->claim->arena, to->words, w);
    }
    return to->words.n || wrong(s, "a command of noslip");
}

/* FILE "title": CURVE [, CURVE]... */
static bool read_figure(scan *s, ns_claim_statement *to)
{
    if (!word(s, "\"", "the name of a file", &to->name) ||
        !quoted(s, "a title between \" \"", &to->text) || (!accept(s, ':') && !wrong(s, "`:`")))
        return false;
    do {
        ns_claim_curve c = {0};
        ns_claim_word x, y;
        if (!word(s, ",\"", to->kind == NS_CLAIM_CHART ? "a series" : "a run", &c.of))
            return false;
        if (to->kind == NS_CLAIM_CHART) {
            if (!quoted(s, "a label between \" \"", &c.label) || !formula(s, &c.value))
                return false;
        } else {
            if (!word(s, ",", "the value for the horizontal axis", &x) ||
                !word(s, ",", "the value for the vertical axis", &y))
                return false;
            c.x = x.text;
            c.y = y.text;
        }
        NS_PUSH(s->claim->arena, to->curves, c);
    } while (accept(s, ','));
    return true;
}

/* To the next line; false at the end of the text. */
static bool next_line(scan *s)
{
    s->at = s->next;
    const char *newline = memchr(s->text + s->at, '\n', s->length - s->at);
    s->end = newline ? (uint32_t)(newline - s->text) : s->length;
    s->next = newline ? s->end + 1 : s->length;
    return s->at < s->length;
}

/* model NAME <<  lines  >>.  The model's text begins with as many empty lines as come before
 * it, so that messages about it count lines as the claim does. */
static bool read_model(scan *s, ns_claim_statement *to)
{
    ns_claim_word open;
    if (!word(s, "", "a name", &to->name) || !word(s, "", "<<", &open))
        return false;
    if (strcmp(open.text, "<<") != 0) {
        s->at = open.place.begin;
        return wrong(s, "<<");
    }
    const uint32_t from = s->next;
    while (next_line(s) && strncmp(s->text + s->at, ">>", 2) != 0)
        ;
    if (s->at == s->length) {
        ns_diag_error(s->claim->diag, open.place,
                      "the model that begins here has no end: expected a line with >>");
        return false;
    }
    ns_text text = ns_text_new(s->claim->arena);
    for (uint32_t i = 0; i < from; i++)
        if (s->text[i] == '\n')
            ns_text_add(&text, "\n");
    ns_text_add_bytes(&text, s->text + from, s->at - from);
    to->text = ns_text_string(&text);
    s->at += 2;
    return true;
}

static const struct {
    const char *word;
    ns_claim_kind kind;
    bool (*read)(scan *s, ns_claim_statement *to);
} statements[] = {
    {"model", NS_CLAIM_MODEL, read_model},       {"run", NS_CLAIM_RUN, read_run},
    {"series", NS_CLAIM_SERIES, read_run},       {"refuse", NS_CLAIM_REFUSE, read_refuse},
    {"command", NS_CLAIM_COMMAND, read_command}, {"expect", NS_CLAIM_EXPECT, read_expect},
    {"figure", NS_CLAIM_FIGURE, read_figure},    {"chart", NS_CLAIM_CHART, read_figure},
};
enum { STATEMENTS = sizeof statements / sizeof *statements };

/* The rest of the line as it stands. */
static const char *rest(scan *s)
{
    blanks(s);
    const char *text = ns_arena_string(s->claim->arena, s->text + s->at, s->end - s->at);
    s->at = s->end;
    return text;
}

static bool read_statement(scan *s)
{
    ns_claim *c = s->claim;
    ns_claim_word key;
    if (at_end(s))
        return true;
    word(s, "", "a statement", &key);
    bool good = true;
    if (strcmp(key.text, "title") == 0) {
        good = quoted(s, "a title between \" \"", &c->title);
    } else if (strcmp(key.text, "source") == 0) {
        c->source = rest(s);
    } else if (strcmp(key.text, "against") == 0) {
        c->against = rest(s);
    } else if (strcmp(key.text, "slow") == 0) {
        c->slow = true;
    } else {
        uint32_t k = 0;
        while (k < STATEMENTS && strcmp(statements[k].word, key.text) != 0)
            k++;
        if (k == STATEMENTS) {
            ns_diag_error(c->diag, key.place, "unknown statement `%s`", key.text);
            return false;
        }
        ns_claim_statement to = {.kind = statements[k].kind};
        good = statements[k].read(s, &to);
        NS_PUSH(c->arena, c->statements, to);
    }
    return good && (at_end(s) || wrong(s, "the end of the line"));
}

ns_claim *ns_claim_read(ns_arena *arena, const char *name, const char *path, const char *text,
                        size_t length)
{
    ns_claim *c = NS_NEW(arena, ns_claim);
    *c = (ns_claim){.arena = arena, .name = name, .path = path};
    c->title = c->source = c->against = "";
    c->diag = ns_diag_new(arena);
    c->text = ns_diag_source(c->diag, path ? path : name, text, length);
    scan s = {.claim = c, .text = text, .length = (uint32_t)length};
    if (ns_lexer_check(c->diag, c->text, text, length))
        while (next_line(&s))
            read_statement(&s);
    bool some = false;
    for (uint32_t i = 0; i < c->statements.n; i++)
        some = some || c->statements.at[i].kind == NS_CLAIM_EXPECT ||
               c->statements.at[i].kind == NS_CLAIM_REFUSE;
    if (!some && !c->diag->errors)
        ns_diag_error(c->diag, place(&s, 0, 0),
                      "this claims nothing: there is no line with expect or refuse");
    return c;
}
