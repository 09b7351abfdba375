/* The statements of the language: one table that drives parsing and help. */
#ifndef NS_LANG_STATEMENTS_H
#define NS_LANG_STATEMENTS_H

#include <stdbool.h>

struct ns_parser;

typedef struct ns_statement {
    const char *keyword;
    bool (*parse)(struct ns_parser *p);
    const char *form, *help;
    bool opens; /* cannot be a property: met inside a block, the block was not closed */
} ns_statement;

extern const ns_statement ns_statements[]; /* ends with a NULL keyword */

#endif
