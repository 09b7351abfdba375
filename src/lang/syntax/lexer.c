#include "lang/syntax/lexer.h"

#include <stdlib.h>
#include <string.h>

#include "base/messages/tame.h"
#include "base/text.h"

enum { MOST_BYTES = 1 << 28, MOST_DIGITS = 400 };

/* The C library's tests depend on the locale; these do not. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

ns_span ns_lexer_span(const ns_lexer *lexer, ns_token token)
{
    return (ns_span){.source = lexer->source, .begin = token.begin, .end = token.end};
}

static ns_span span_at(uint32_t source, size_t begin, size_t end)
{
    return (ns_span){.source = source, .begin = (uint32_t)begin, .end = (uint32_t)end};
}

bool ns_lexer_check(ns_diag *diag, uint32_t source, const char *text, size_t length)
{
    if (length > MOST_BYTES) {
        ns_diag_error(diag, span_at(source, 0, 0),
                      "a model of %zu bytes is too long; the limit is %d", length, MOST_BYTES);
        return false;
    }
    for (size_t i = 0; i < length;) {
        char c = text[i];
        if (((unsigned char)c < 32 && !is_blank(c) && c != '\n') || c == 127) {
            ns_diag_error(diag, span_at(source, i, i + 1),
                          "this is not text: byte %zu is the control character 0x%02x, "
                          "which no text has",
                          i + 1, (unsigned)(unsigned char)c);
            return false;
        }
        size_t n = ns_text_character(text + i, length - i);
        if (n == 0) {
            ns_diag_error(diag, span_at(source, i, i + 1),
                          "this is not text: byte %zu (0x%02x) is not UTF-8 text", i + 1,
                          (unsigned)(unsigned char)c);
            return false;
        }
        if (n > 1 && ns_tame_commands(text + i, length - i)) {
            ns_diag_error(diag, span_at(source, i, i + n),
                          "this is not text: byte %zu begins a control character, which hides "
                          "or turns what follows",
                          i + 1);
            return false;
        }
        i += n;
    }
    return true;
}

ns_lexer ns_lexer_new(ns_diag *diag, uint32_t source, const char *text, size_t length)
{
    ns_lexer lexer = {.diag = diag,
                      .text = text,
                      .source = source,
                      .length = (uint32_t)length,
                      .last = NS_TOKEN_LINE,
                      .first = true};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        lexer.at = 3; /* byte order mark */
    return lexer;
}

bool ns_lexer_reserved(const char *word, size_t length)
{
    static const char *const words[] = {"in",     "rising", "falling", "stop",
                                        "record", "warn",   "if"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0)
            return true;
    return false;
}

static char peek(const ns_lexer *lexer, uint32_t ahead)
{
    uint32_t i = lexer->at + ahead;
    return i < lexer->length ? lexer->text[i] : 0;
}

/* After these a line's end means nothing. */
static bool continues(int last)
{
    switch (last) {
    case NS_TOKEN_LINE:
    case ';':
    case '{':
    case '+':
    case '-':
    case '*':
    case '/':
    case '^':
    case '=':
    case '~':
    case ',':
    case ':':
        return true;
    default:
        return false;
    }
}

static void skip_comment(ns_lexer *lexer)
{
    const char *end = memchr(lexer->text + lexer->at, '\n', lexer->length - lexer->at);
    lexer->at = end ? (uint32_t)(end - lexer->text) : lexer->length;
}

static void scan_digits(ns_lexer *lexer)
{
    while (is_digit(peek(lexer, 0)))
        lexer->at++;
}

static int scan_number(ns_lexer *lexer, uint32_t begin)
{
    scan_digits(lexer);
    if (peek(lexer, 0) == '.') {
        lexer->at++;
        scan_digits(lexer);
    }
    char e = peek(lexer, 0), sign = peek(lexer, 1);
    uint32_t skip = sign == '+' || sign == '-' ? 2 : 1;
    if ((e == 'e' || e == 'E') && is_digit(peek(lexer, skip))) {
        lexer->at += skip;
        scan_digits(lexer);
    }
    ns_span span = span_at(lexer->source, begin, lexer->at);
    if (peek(lexer, 0) == '.') {
        span.end++;
        ns_diag_error(lexer->diag, span, "a number has one decimal point");
        return NS_TOKEN_BAD;
    }
    uint32_t length = lexer->at - begin;
    if (length > MOST_DIGITS) {
        ns_diag_error(lexer->diag, span, "a number of %u digits is too long; the limit is %d",
                      length, MOST_DIGITS);
        return NS_TOKEN_BAD;
    }
    char buffer[MOST_DIGITS + 1];
    memcpy(buffer, lexer->text + begin, length);
    buffer[length] = 0;
    double value = strtod(buffer, NULL);
    buffer[strcspn(buffer, "eE")] = 0;
    bool zero = !strpbrk(buffer, "123456789");
    if (value > 1.7976931348623157e308 || (value < 2.2250738585072014e-308 && !zero)) {
        ns_diag_error(lexer->diag, span,
                      value > 1 ? "this number is too large; the largest is about 1.8e308"
                                : "this number is too small; the smallest is about 2.2e-308");
        return NS_TOKEN_BAD;
    }
    return NS_TOKEN_NUMBER;
}

static int scan_string(ns_lexer *lexer, uint32_t begin)
{
    lexer->at++;
    while (lexer->at < lexer->length && peek(lexer, 0) != '"' && peek(lexer, 0) != '\n')
        lexer->at++;
    if (peek(lexer, 0) != '"') {
        ns_diag_error(lexer->diag, span_at(lexer->source, begin, begin + 1),
                      "the string that begins here is not closed on its line: expected \"");
        return NS_TOKEN_BAD;
    }
    lexer->at++;
    return NS_TOKEN_STRING;
}

/* Letters, digits, and dots followed by one of them. */
static int scan_name(ns_lexer *lexer)
{
    for (;;) {
        char c = peek(lexer, 0), next = peek(lexer, 1);
        if (is_letter(c) || is_digit(c) || (c == '.' && (is_letter(next) || is_digit(next))))
            lexer->at++;
        else
            return NS_TOKEN_NAME;
    }
}

/* What people paste from papers, and what to write instead. */
static const char *advice(const char *text)
{
    static const struct {
        const char *character, *words;
    } table[] = {
        {"\xE2\x88\x92", "; the minus sign is -"},          /* U+2212 */
        {"\xE2\x80\x93", "; the minus sign is -"},          /* en dash */
        {"\xC3\x97", "; the product is *"},                 /* multiplication sign */
        {"\xC2\xB7", "; the product is *"},                 /* middle dot */
        {"\xE2\x8B\x85", "; the product is *"},             /* dot operator */
        {"\xE2\x80\x99", "; the time derivative is '"},     /* right quotation mark */
        {"\xE2\x80\xB2", "; the time derivative is '"},     /* prime */
        {"\xC2\xB2", "; the square is ^2"},                 /* superscript two */
        {"\xC2\xB3", "; the cube is ^3"},                   /* superscript three */
        {"\xC2\xB0", "; degrees are written deg"},          /* degree sign */
        {"\xCF\x80", "; it is called pi"},                  /* pi */
        {"\xE2\x80\x9C", "; strings stand between \" \""},  /* left double quotation mark */
        {"\xC2\xA0", "; it is a space that does not break"} /* no-break space */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strncmp(text, table[i].character, strlen(table[i].character)) == 0)
            return table[i].words;
    return "; names are made of the letters a to z, digits and _";
}

static int scan_symbol(ns_lexer *lexer)
{
    char c = peek(lexer, 0);
    if (strchr("+-*/^=~,:;'()[]{}", c) || (lexer->stops && strchr(lexer->stops, c))) {
        lexer->at++;
        lexer->nested += c == '(' || c == '[';
        lexer->nested -= (c == ')' || c == ']') && lexer->nested;
        return c;
    }
    size_t n = ns_text_character(lexer->text + lexer->at, lexer->length - lexer->at);
    char word[8] = {0};
    memcpy(word, lexer->text + lexer->at, n < 4 ? n : 4);
    ns_diag_error(lexer->diag, span_at(lexer->source, lexer->at, lexer->at + n),
                  "the character %s has no meaning here%s", word, n > 1 ? advice(word) : "");
    lexer->at += n ? (uint32_t)n : 1;
    return NS_TOKEN_BAD;
}

ns_token ns_lexer_next(ns_lexer *lexer)
{
    for (;;) {
        while (is_blank(peek(lexer, 0)))
            lexer->at++;
        if (peek(lexer, 0) == '#') {
            skip_comment(lexer);
        } else if (peek(lexer, 0) == '\n') {
            lexer->first = true;
            if (!lexer->nested && !continues(lexer->last))
                break;
            lexer->at++;
        } else {
            break;
        }
    }
    ns_token token = {.begin = lexer->at, .first = lexer->first};
    char c = peek(lexer, 0);
    if (lexer->at >= lexer->length) {
        token.kind = NS_TOKEN_END;
    } else if (c == '\n') {
        lexer->at++;
        token.kind = NS_TOKEN_LINE;
    } else {
        if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1))))
            token.kind = scan_number(lexer, token.begin);
        else if (is_letter(c))
            token.kind = scan_name(lexer);
        else if (c == '"')
            token.kind = scan_string(lexer, token.begin);
        else
            token.kind = scan_symbol(lexer);
        lexer->first = false;
    }
    token.end = lexer->at;
    lexer->last = token.kind;
    return token;
}

/* name[^[-]digits] and more of them joined by * or / without a space. */
static void scan_unit(ns_lexer *lexer)
{
    for (;;) {
        while (is_letter(peek(lexer, 0)) || is_digit(peek(lexer, 0)))
            lexer->at++;
        if (peek(lexer, 0) == '^' && (is_digit(peek(lexer, 1)) || peek(lexer, 1) == '-')) {
            lexer->at += 2;
            scan_digits(lexer);
        }
        char c = peek(lexer, 0);
        if ((c != '*' && c != '/') || !is_letter(peek(lexer, 1)))
            return;
        lexer->at++;
    }
}

bool ns_lexer_unit(ns_lexer *lexer, bool after_number, ns_token *unit)
{
    uint32_t begin = lexer->at, end;
    while (begin < lexer->length && is_blank(lexer->text[begin]))
        begin++;
    bool reciprocal = !after_number && lexer->length - begin > 2 && lexer->text[begin] == '1' &&
                      lexer->text[begin + 1] == '/' && is_letter(lexer->text[begin + 2]);
    if (begin >= lexer->length || (!reciprocal && !is_letter(lexer->text[begin])))
        return false;
    for (end = begin; end < lexer->length; end++)
        if (!is_letter(lexer->text[end]) && !is_digit(lexer->text[end]))
            break;
    if (ns_lexer_reserved(lexer->text + begin, end - begin) ||
        (lexer->word && strlen(lexer->word) == end - begin &&
         memcmp(lexer->word, lexer->text + begin, end - begin) == 0))
        return false;
    lexer->at = begin + (reciprocal ? 2 : 0);
    scan_unit(lexer);
    lexer->last = NS_TOKEN_UNIT;
    *unit = (ns_token){.kind = NS_TOKEN_UNIT, .begin = begin, .end = lexer->at};
    return true;
}

void ns_lexer_skip(ns_lexer *lexer, uint32_t from, bool in_block)
{
    uint32_t braces = 0;
    lexer->at = from;
    lexer->nested = 0;
    for (; lexer->at < lexer->length; lexer->at++) {
        char c = peek(lexer, 0);
        if (c == '#') {
            skip_comment(lexer);
            c = peek(lexer, 0);
        } else if (c == '"') {
            uint32_t at = lexer->at + 1;
            while (at < lexer->length && lexer->text[at] != '"' && lexer->text[at] != '\n')
                at++;
            if (at < lexer->length && lexer->text[at] == '"')
                lexer->at = at;
            continue;
        }
        if (!in_block && c == '{')
            braces++;
        if (c == '}' && (in_block || (braces && --braces == 0)))
            break;
        if (!braces && (c == '\n' || c == ';'))
            break;
    }
    if (lexer->at > lexer->length)
        lexer->at = lexer->length;
    if (!in_block && peek(lexer, 0) == '}')
        lexer->at++;
    lexer->last = 0; /* so that the end of the line is seen */
    lexer->first = false;
}
