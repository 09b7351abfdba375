/* For files of lang/ alone: the parser's place in the text, and expressions. */
#ifndef NS_LANG_SYNTAX_PARSER_H
#define NS_LANG_SYNTAX_PARSER_H

#include "lang/reader.h"
#include "lang/syntax/lexer.h"

typedef struct ns_parser {
    ns_reader *r;
    ns_lexer lexer;
    ns_token token;  /* the next one, not yet taken */
    uint32_t before; /* end of the token taken last */
    uint32_t depth;
    bool strings; /* may stand in expressions, as arguments of a caller's functions */
} ns_parser;

void ns_parser_next(ns_parser *p);
/* Is the next token of this kind?  Accept also takes it; expect complains if it is not. */
bool ns_parser_at(const ns_parser *p, int kind);
bool ns_parser_accept(ns_parser *p, int kind);
bool ns_parser_expect(ns_parser *p, int kind, const char *what);
bool ns_parser_at_word(const ns_parser *p, const char *word);
bool ns_parser_accept_word(ns_parser *p, const char *word);
/* End of a statement or of an entry of a block? */
bool ns_parser_at_end(const ns_parser *p);
/* The first character after the next token, blanks and those of `skip` left out. */
char ns_parser_behind(const ns_parser *p, const char *skip);
ns_span ns_parser_span(const ns_parser *p); /* of the next token */
const char *ns_parser_token_text(const ns_parser *p);
/* "expected WHAT, found ..." at the next token; returns false for convenience. */
bool ns_parser_unexpected(ns_parser *p, const char *what);

/* A name, taken; NULL after a message. */
const char *ns_parser_name(ns_parser *p, const char *what, ns_span *span);
/* After `in`: a unit with its SI label. */
bool ns_parser_unit(ns_parser *p, const ns_unit_product **unit, const char **text,
                    ns_span *span);
bool ns_parser_expression(ns_parser *p, ns_postfix *out);

#endif
