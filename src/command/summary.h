/* What a person reads at the end of a run. */
#ifndef NS_COMMAND_SUMMARY_H
#define NS_COMMAND_SUMMARY_H

#include "command/command.h"
#include "session/record.h"

/* Which observables are shown: numbers of the system's list. */
typedef struct ns_shown {
    uint32_t *at;
    uint32_t n;
} ns_shown;

/* From a list of names separated by commas (NULL: the basic ones).  A name stands for itself or
 * for all names that begin with it and a dot; `all` for all.  False after saying what is
 * wrong. */
bool ns_summary_choose(ns_host *host, const ns_model *model, const char *names,
                       ns_shown *shown);

/* Title, method, time, work, final values, quality, events, files.  Unless `verbose`, rows of
 * one constraint are put together, and of many the worst are shown. */
void ns_summary_print(ns_host *host, const ns_record *record, const ns_shown *shown,
                      bool verbose);
/* The rows of the record, with aligned columns. */
void ns_summary_rows(ns_host *host, const ns_record *record, const ns_shown *shown);
/* Warnings to host->err: an early end, doubts about the result. */
void ns_summary_warn(ns_host *host, const ns_record *record);

/* A unit with a space before it, or "". */
const char *ns_summary_unit(const char *unit, char buffer[64]);

#endif
