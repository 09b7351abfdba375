/* What the elaboration of statements and of blocks share. */
#ifndef NS_LANG_ELABORATE_H
#define NS_LANG_ELABORATE_H

#include "lang/blocks.h"

/* Sets of kinds of symbols */
enum {
    NS_KIND_TIME = 1 << NS_SYM_TIME,
    NS_KIND_PARAM = 1 << NS_SYM_PARAM,
    NS_KIND_ACCEL = 1 << NS_SYM_ACCEL,
};

/* False after saying what was found instead: a number; only symbols of the kinds allowed. */
bool ns_elaborate_expect_number(ns_reader *r, ns_span place, const ns_value *value,
                                const char *what);
bool ns_elaborate_expect_kinds(ns_reader *r, ns_span place, const ns_value *value,
                               uint32_t allowed, const char *what);
/* Evaluates one code of a job, with the job's progress; is it done? */
bool ns_elaborate_code(ns_reader *r, ns_job *job, const ns_postfix *code, ns_value *out);

/* elaborate_blocks.c */
void ns_elaborate_property(ns_reader *r, ns_job *job);
void ns_elaborate_block(ns_reader *r, ns_job *job);
void ns_elaborate_setting(ns_reader *r, ns_job *job);

#endif
