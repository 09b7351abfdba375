/* Tokens of model text, made one at a time: memory does not grow with the text.
 *
 * A statement ends at a line's end or at `;`.  A line's end does not count inside ( ) and [ ],
 * after an operator or a comma, and where nothing was begun.  The lexer is a small value:
 * copying it remembers a place to come back to. */
#ifndef NS_LANG_SYNTAX_LEXER_H
#define NS_LANG_SYNTAX_LEXER_H

#include <stdbool.h>

#include "base/diag.h"

/* Operators and brackets are their own character codes. */
typedef enum ns_token_kind {
    NS_TOKEN_END = 256, /* of the text */
    NS_TOKEN_LINE,      /* end of a line that ends a statement */
    NS_TOKEN_NUMBER,
    NS_TOKEN_NAME, /* may have dots: omega.space, lambda.blade.1 */
    NS_TOKEN_STRING,
    NS_TOKEN_UNIT, /* only from ns_lexer_unit */
    NS_TOKEN_BAD   /* already reported */
} ns_token_kind;

typedef struct ns_token {
    int kind; /* ns_token_kind or a character */
    uint32_t begin, end;
    bool first; /* on its line */
} ns_token;

typedef struct ns_lexer {
    ns_diag *diag;
    const char *text;
    uint32_t source, length, at;
    uint32_t nested; /* open ( and [ */
    int last;        /* kind of the last token */
    bool first;      /* nothing yet on this line */
    /* of a text around the language: characters that are tokens there, and a word that may
     * follow an expression; NULL if none */
    const char *stops, *word;
} ns_lexer;

/* Is it text at all?  False with a message for control bytes, bad UTF-8 or absurd length. */
bool ns_lexer_check(ns_diag *diag, uint32_t source, const char *text, size_t length);

ns_lexer ns_lexer_new(ns_diag *diag, uint32_t source, const char *text, size_t length);
ns_token ns_lexer_next(ns_lexer *lexer);

/* Directly after a number or `in`: the text of a unit, if one stands there on the same line.
 * Words that belong to statements (rising, stop, in, ...) are not units. */
bool ns_lexer_unit(ns_lexer *lexer, bool after_number, ns_token *unit);

/* Goes on from `from` to the end of the statement (inside a block: of the entry), over strings
 * and comments, and over whole { } unless inside a block. */
void ns_lexer_skip(ns_lexer *lexer, uint32_t from, bool in_block);

/* Words that cannot be names because they may follow an expression. */
bool ns_lexer_reserved(const char *word, size_t length);

ns_span ns_lexer_span(const ns_lexer *lexer, ns_token token);

#endif
