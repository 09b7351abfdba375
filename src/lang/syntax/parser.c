/* Expressions: one table of priorities and a short function (after the manner of Lua). */
#include "lang/syntax/parser.h"

#include <string.h>

#include "base/near.h"

enum { MOST_NESTED = 200 };

/* Left and right priority; ^ binds to the right, and tighter than the sign before it:
 * -x^2 is -(x^2), 2^-x is 2^(-x). */
static const struct {
    char symbol;
    int left, right;
    ns_postfix_op op;
} binary[] = {
    {'+', 1, 1, NS_POSTFIX_ADD}, {'-', 1, 1, NS_POSTFIX_SUB}, {'*', 2, 2, NS_POSTFIX_MUL},
    {'/', 2, 2, NS_POSTFIX_DIV}, {'^', 5, 4, NS_POSTFIX_POW},
};
enum { SIGN = 3, OPERATORS = sizeof binary / sizeof *binary };

/* ---- tokens ------------------------------------------------------------------------------ */

void ns_parser_next(ns_parser *p)
{
    p->before = p->token.end;
    p->token = ns_lexer_next(&p->lexer);
}

bool ns_parser_at(const ns_parser *p, int kind)
{
    return p->token.kind == kind;
}

bool ns_parser_accept(ns_parser *p, int kind)
{
    if (p->token.kind != kind)
        return false;
    ns_parser_next(p);
    return true;
}

bool ns_parser_expect(ns_parser *p, int kind, const char *what)
{
    return ns_parser_accept(p, kind) || ns_parser_unexpected(p, what);
}

static bool is_word(const ns_parser *p, ns_token token, const char *word)
{
    return token.kind == NS_TOKEN_NAME && strlen(word) == token.end - token.begin &&
           memcmp(p->lexer.text + token.begin, word, token.end - token.begin) == 0;
}

bool ns_parser_at_word(const ns_parser *p, const char *word)
{
    return is_word(p, p->token, word);
}

bool ns_parser_accept_word(ns_parser *p, const char *word)
{
    if (!ns_parser_at_word(p, word))
        return false;
    ns_parser_next(p);
    return true;
}

bool ns_parser_at_end(const ns_parser *p)
{
    int kind = p->token.kind;
    return kind == NS_TOKEN_END || kind == NS_TOKEN_LINE || kind == ';' || kind == '}';
}

char ns_parser_behind(const ns_parser *p, const char *skip)
{
    uint32_t i = p->token.end;
    while (i < p->lexer.length &&
           (strchr(" \t\r", p->lexer.text[i]) || strchr(skip, p->lexer.text[i])))
        i++;
    return i < p->lexer.length ? p->lexer.text[i] : 0;
}

ns_span ns_parser_span(const ns_parser *p)
{
    return ns_lexer_span(&p->lexer, p->token);
}

const char *ns_parser_token_text(const ns_parser *p)
{
    return ns_arena_string(p->r->arena, p->lexer.text + p->token.begin,
                           p->token.end - p->token.begin);
}

/* What other languages write here, and what this one does; NULL if it is none of that. */
static const char *habit(const ns_parser *p)
{
    static const struct {
        const char *text, *words;
    } table[] = {
        {"**", "`**` is the power of other languages; here it is ^: x^2"},
        {"//", "`//` begins a comment in other languages; here it is #"},
        {"/*",
         "`/*` begins a comment in other languages; here every line of one begins with #"},
        {"==", "`==` compares in other languages; here an equation has one ="},
        {":=", "`:=` defines in other languages; here it is ="},
        {"+=", "`+=` changes a value in other languages; here names keep theirs"},
    };
    const char *text = p->lexer.text + p->token.begin; /* at the second sign, or at the first */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if ((p->token.begin > 0 && p->token.begin < p->lexer.length &&
             memcmp(text - 1, table[i].text, 2) == 0) ||
            (p->token.begin + 1 < p->lexer.length && memcmp(text, table[i].text, 2) == 0))
            return table[i].words;
    return NULL;
}

bool ns_parser_unexpected(ns_parser *p, const char *what)
{
    const char *other = p->token.kind == NS_TOKEN_BAD ? NULL : habit(p);
    if (other) {
        ns_diag_error(p->r->diag, ns_parser_span(p), "%s", other);
        return false;
    }
    enum { MOST_SHOWN = 40 };
    ns_span span = ns_parser_span(p);
    int length = (int)(span.end - span.begin > MOST_SHOWN ? MOST_SHOWN : span.end - span.begin);
    const char *text = p->lexer.text + span.begin;
    switch (p->token.kind) {
    case NS_TOKEN_BAD: /* the lexer said it */
        break;
    case NS_TOKEN_END:
        ns_diag_error(p->r->diag, span, "expected %s, found the end of the text", what);
        break;
    case NS_TOKEN_LINE:
        span.end = span.begin;
        ns_diag_error(p->r->diag, span, "expected %s, found the end of the line", what);
        break;
    case NS_TOKEN_NUMBER:
        ns_diag_error(p->r->diag, span, "expected %s, found the number %.*s", what, length,
                      text);
        break;
    case NS_TOKEN_STRING:
        ns_diag_error(p->r->diag, span, "expected %s, found a string", what);
        break;
    default:
        ns_diag_error(p->r->diag, span, "expected %s, found `%.*s`", what, length, text);
    }
    return false;
}

const char *ns_parser_name(ns_parser *p, const char *what, ns_span *span)
{
    *span = ns_parser_span(p);
    if (!ns_parser_at(p, NS_TOKEN_NAME) ||
        ns_lexer_reserved(p->lexer.text + span->begin, span->end - span->begin)) {
        ns_parser_unexpected(p, what);
        return NULL;
    }
    const char *name = ns_parser_token_text(p);
    ns_parser_next(p);
    return name;
}

/* ---- units ------------------------------------------------------------------------------- */

static bool check_unit(ns_parser *p, ns_token token, bool after_number, ns_unit_product *unit)
{
    const char *text = p->lexer.text + token.begin;
    if (ns_units_split(text, token.end - token.begin, unit))
        return true;
    ns_span span = ns_lexer_span(&p->lexer, token);
    if (unit->n >= NS_UNITS_MOST || unit->part[unit->n].unit) {
        ns_diag_error(p->r->diag, span,
                      "this is not a unit: expected something like m/s^2, of at most %d parts "
                      "with powers of one digit",
                      NS_UNITS_MOST);
        return false;
    }
    const ns_unit_part *bad = &unit->part[unit->n];
    span.end = span.begin + bad->end;
    span.begin += bad->begin;
    const char *name = ns_arena_string(p->r->arena, text + bad->begin, bad->end - bad->begin);
    ns_near near = {.word = name};
    for (const ns_unit *u = ns_units; u->name; u++)
        ns_near_try(&near, u->name);
    ns_text hint = ns_text_new(p->r->arena);
    const size_t cut = ns_units_joined(name);
    if (cut)
        ns_text_addf(&hint, "; a product of units is written %.*s*%s", (int)cut, name,
                     name + cut);
    else if (near.found)
        ns_text_addf(&hint, "; did you mean `%s`?", near.found);
    else if (after_number && bad->begin == 0)
        ns_text_addf(&hint, "; a product is written with *");
    else if (after_number)
        ns_text_addf(&hint, "; write spaces around %c if %s is not part of the unit",
                     text[bad->begin - 1], name);
    ns_diag_error(p->r->diag, span, "`%s` is not a unit%s", name, ns_text_string(&hint));
    return false;
}

bool ns_parser_unit(ns_parser *p, const ns_unit_product **unit, const char **text,
                    ns_span *span)
{
    /* The next token is `in`, so the lexer stands directly after it. */
    ns_token token;
    ns_unit_product *product = NS_NEW(p->r->arena, ns_unit_product);
    if (!ns_lexer_unit(&p->lexer, false, &token)) {
        ns_parser_next(p);
        return ns_parser_unexpected(p, "a unit");
    }
    *span = ns_lexer_span(&p->lexer, token);
    if (!check_unit(p, token, false, product))
        return false;
    p->token = token;
    *unit = product;
    *text = ns_parser_token_text(p);
    ns_parser_next(p);
    return true;
}

/* ---- expressions ------------------------------------------------------------------------- */

static void emit(ns_parser *p, ns_postfix_op op, ns_span place, uint32_t count)
{
    NS_PUSH(p->r->arena, p->r->scratch,
            (ns_item){.begin = place.begin,
                      .end = place.end,
                      .op = (uint32_t)op & 0xFF,
                      .count = count & 0xFFFFFF});
}

static bool expression(ns_parser *p, int limit);

/* Expressions up to a closing bracket; how many. */
static bool list(ns_parser *p, int close, const char *what, ns_span open, uint32_t *count)
{
    *count = 0;
    do {
        if (++*count > NS_POSTFIX_MOST_COUNT) {
            ns_diag_error(p->r->diag, open, "more than %d elements", NS_POSTFIX_MOST_COUNT);
            return false;
        }
        if (!expression(p, 0))
            return false;
    } while (ns_parser_accept(p, ','));
    if (ns_parser_at(p, close)) {
        ns_parser_next(p);
        return true;
    }
    ns_parser_unexpected(p, what);
    if (p->token.kind != NS_TOKEN_BAD)
        ns_diag_note(p->r->diag, open, "the bracket was opened here");
    return false;
}

static bool number(ns_parser *p)
{
    emit(p, NS_POSTFIX_NUMBER, ns_parser_span(p), 0);
    ns_token token;
    if (ns_lexer_unit(&p->lexer, true, &token)) {
        ns_unit_product unit;
        if (!check_unit(p, token, true, &unit))
            return false;
        p->token = token;
        emit(p, NS_POSTFIX_UNIT, ns_parser_span(p), 0);
    }
    ns_parser_next(p);
    return true;
}

/* A name, a call, grad(F)(...), or integral(F)(from, to). */
static bool name(ns_parser *p)
{
    ns_span place = ns_parser_span(p), open;
    uint32_t count;
    const bool grad = ns_parser_at_word(p, "grad"), sum = ns_parser_at_word(p, "integral");
    if (ns_lexer_reserved(p->lexer.text + place.begin, place.end - place.begin))
        return ns_parser_unexpected(p, "an expression");
    ns_parser_next(p);
    if (grad || (sum && ns_parser_at(p, '('))) {
        if (!ns_parser_expect(p, '(', "`(` and the name of a function"))
            return false;
        place = ns_parser_span(p);
        if (!ns_parser_expect(p, NS_TOKEN_NAME, "the name of a function") ||
            !ns_parser_expect(p, ')', "`)`"))
            return false;
        if (!ns_parser_at(p, '('))
            return ns_parser_unexpected(p, grad ? "`(` and the point: grad(F)(x, y, z)"
                                                : "`(` and the limits: integral(F)(a, b)");
    }
    if (!ns_parser_at(p, '(')) {
        emit(p, NS_POSTFIX_NAME, place, 0);
        return true;
    }
    open = ns_parser_span(p);
    ns_parser_next(p);
    if (!list(p, ')', "`)` or `,`", open, &count))
        return false;
    emit(p, grad ? NS_POSTFIX_GRAD : sum ? NS_POSTFIX_INTEGRAL : NS_POSTFIX_CALL, place, count);
    return true;
}

static bool primary(ns_parser *p)
{
    ns_span open = ns_parser_span(p);
    uint32_t count;
    switch (p->token.kind) {
    case NS_TOKEN_NUMBER:
        return number(p);
    case NS_TOKEN_NAME:
        return name(p);
    case NS_TOKEN_STRING:
        if (!p->strings)
            return ns_parser_unexpected(p, "an expression");
        emit(p, NS_POSTFIX_STRING, open, 0);
        ns_parser_next(p);
        return true;
    case '(':
        ns_parser_next(p);
        if (!expression(p, 0))
            return false;
        if (ns_parser_accept(p, ')'))
            return true;
        ns_parser_unexpected(p, "`)`");
        if (p->token.kind != NS_TOKEN_BAD)
            ns_diag_note(p->r->diag, open, "the bracket was opened here");
        return false;
    case '[':
        ns_parser_next(p);
        if (!list(p, ']', "`]` or `,`", open, &count))
            return false;
        open.end = p->before;
        emit(p, NS_POSTFIX_VECTOR, open, count);
        return true;
    default:
        return ns_parser_unexpected(p, "an expression");
    }
}

/* primary followed by ' and [i] */
static bool suffixed(ns_parser *p)
{
    if (!primary(p))
        return false;
    for (;;) {
        ns_span place = ns_parser_span(p);
        uint32_t count;
        if (ns_parser_accept(p, '\'')) {
            emit(p, NS_POSTFIX_PRIME, place, 0);
        } else if (ns_parser_accept(p, '[')) {
            if (!list(p, ']', "`]` or `,`", place, &count))
                return false;
            place.end = p->before;
            emit(p, NS_POSTFIX_INDEX, place, count);
        } else {
            return true;
        }
    }
}

static bool expression(ns_parser *p, int limit)
{
    if (p->depth == MOST_NESTED) {
        ns_diag_error(p->r->diag, ns_parser_span(p),
                      "the expression is nested more than %d levels deep", MOST_NESTED);
        return false;
    }
    p->depth++;
    ns_span place = ns_parser_span(p);
    bool good;
    if (ns_parser_accept(p, '-')) {
        good = expression(p, SIGN);
        if (good)
            emit(p, NS_POSTFIX_NEG, place, 0);
    } else {
        good = suffixed(p);
    }
    while (good) {
        int k = 0;
        while (k < OPERATORS && p->token.kind != binary[k].symbol)
            k++;
        if (k == OPERATORS || binary[k].left <= limit)
            break;
        place = ns_parser_span(p);
        ns_parser_next(p);
        good = expression(p, binary[k].right);
        if (good)
            emit(p, binary[k].op, place, 0);
    }
    p->depth--;
    return good;
}

bool ns_parser_expression(ns_parser *p, ns_postfix *out)
{
    p->r->scratch.n = 0;
    p->depth = 0;
    ns_span span = ns_parser_span(p);
    if (!expression(p, 0))
        return false;
    span.end = p->before;
    *out = (ns_postfix){.at = ns_arena_copy(p->r->arena, p->r->scratch.at,
                                            p->r->scratch.n * sizeof *p->r->scratch.at),
                        .n = p->r->scratch.n,
                        .span = span};
    return true;
}

bool ns_parser_expression_text(ns_reader *r, uint32_t source, const char *text, size_t length,
                               ns_postfix *out)
{
    if (!ns_lexer_check(r->diag, source, text, length))
        return false;
    ns_parser p = {.r = r, .lexer = ns_lexer_new(r->diag, source, text, length)};
    ns_parser_next(&p);
    if (!ns_parser_expression(&p, out))
        return false;
    ns_parser_accept(&p, NS_TOKEN_LINE);
    return ns_parser_at(&p, NS_TOKEN_END) || ns_parser_unexpected(&p, "an operator or the end");
}
