/* The report of a run: one page with the motion, plots and facts (docs/report.md).
 *
 * The page itself (the template) is made by viewer/ and handed in by the program, which has it
 * compiled in. */
#ifndef NS_OUT_REPORT_REPORT_H
#define NS_OUT_REPORT_REPORT_H

#include "session/record.h"

typedef struct ns_report_options {
    const char *template; /* with the place for the data in it */
    size_t length;
    const char *command; /* what repeats the run; may be NULL */
} ns_report_options;

/* Writes the page.  The record must have been run with options.motion.  False with what is
 * wrong in `buffer`. */
bool ns_report_write(const ns_record *record, const ns_report_options *options,
                     const char *path, char buffer[300]);

/* The data alone, as the page holds it, in the arena; with or without the formulas, which take
 * longest and are the same whatever the numbers are. */
const char *ns_report_data(const ns_record *record, const char *command, bool formulas,
                           ns_arena *arena, size_t *length);

#endif
