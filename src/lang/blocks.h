/* For files of lang/ alone: statements with braces. */
#ifndef NS_LANG_BLOCKS_H
#define NS_LANG_BLOCKS_H

#include "lang/statements.h"
#include "lang/syntax/parser.h"

/* After this many errors the text is something other than a model. */
enum { NS_STATEMENTS_MOST_ERRORS = 100 };

/* statements.c */
ns_name *ns_statements_declare(ns_parser *p, ns_name_kind kind, const char *text, ns_span span);
/* The same for names with a space of their own; false after a message. */
bool ns_statements_declare_in(ns_parser *p, ns_scope *scope, const char *text, ns_span span,
                              const char *what);
ns_job *ns_statements_job(ns_parser *p, ns_job_kind kind, const char *name, ns_span span,
                          const ns_postfix *code, uint32_t n);
const ns_statement *ns_statements_find(const char *word, size_t length);
/* After an error: to where reading can go on.  `begin` is where the statement began. */
void ns_statements_recover(ns_parser *p, uint32_t begin, bool in_block);

/* input.c */
bool ns_input_parse(ns_parser *p);
/* "FILE" [column "NAME"] [order N]; the order is left as it is if none is named. */
bool ns_input_table(ns_parser *p, ns_input *input);

/* table.c */
/* The same for a function of the model: reads the file. */
bool ns_table_parse(ns_parser *p, ns_name *name);

/* draw.c */
bool ns_draw_parse(ns_parser *p);

/* blocks.c */
/* { ENTRY; ENTRY ... }: calls `entry` for each, goes on after errors. */
bool ns_blocks_body(ns_parser *p, bool (*entry)(ns_parser *p, uint32_t block), uint32_t block);
/* "text", or one of the words that elsewhere end an expression; NULL if it is neither. */
const char *ns_blocks_text(ns_parser *p);
bool ns_blocks_parse(ns_parser *p, const ns_block_form *form);
bool ns_blocks_parse_start(ns_parser *p);
bool ns_blocks_parse_run(ns_parser *p);
/* constraint NAME: KIND WORD */
void ns_blocks_word(ns_parser *p, const char *name, ns_span span, const char *kind,
                    const char *word, ns_span word_span);
/* constraint NAME: KIND(ARGUMENTS), parsed as a call */
void ns_blocks_call(ns_parser *p, const char *name, ns_span span, const ns_postfix *call);
/* The block of a start or force statement; made when first needed (*number from 1). */
uint32_t ns_blocks_find(ns_reader *r, uint32_t *number, const ns_block_form *form,
                        ns_span span);

/* jumps.c: modes, and what events change */
bool ns_jumps_parse_mode(ns_parser *p);
/* Of an event, after all else:  in MODE, ... { ... } */
bool ns_jumps_parse(ns_parser *p, ns_job *job);
/* start { mode NAME } */
bool ns_jumps_parse_start(ns_parser *p);

#endif
