/* The statements of the language: one table that drives parsing and help. */
#ifndef NS_LANG_STATEMENTS_H
#define NS_LANG_STATEMENTS_H

#include <stdbool.h>

struct ns_parser;

typedef enum ns_part { NS_PART_NO, NS_PART_MAYBE, NS_PART_MUST } ns_part;

typedef struct ns_statement {
    const char *keyword;
    bool (*parse)(struct ns_parser *p, const struct ns_statement *statement);
    const char *form, *help;
    bool opens; /* cannot be a property: met inside a block, the block was not closed */
    /* blocks: which parts they have; a lone word is the name if they must have one */
    ns_part name, kind, body;
    bool values;  /* expressions directly behind the keyword */
    bool defines; /* the name stands for things the formulation defines */
    const char
        *gives; /* names a formulation defines because of the block, in blanks: " x y " */
} ns_statement;

extern const ns_statement ns_statements[]; /* ends with a NULL keyword */

#endif
