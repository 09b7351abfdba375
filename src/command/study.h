/* What the studies' commands share: options, expressions on the command line, output,
 * progress. */
#ifndef NS_COMMAND_STUDY_H
#define NS_COMMAND_STUDY_H

#include "command/open.h"
#include "out/plot/plot.h"
#include "out/tables/sheet.h"
#include "session/record.h"
#include "study/flow.h"

#define NS_STUDY_OPTIONS                                                                       \
    NS_OPTION_SET,                                                                             \
        {.name = "out",                                                                        \
         .argument = "FILE",                                                                   \
         .help = "write the table (.csv, .json, .h5) or the figure (.svg)",                    \
         .repeat = true},                                                                      \
        {.name = "report",                                                                     \
         .argument = "FILE.html",                                                              \
         .help = "write one page for a browser: results, tables, figures to zoom"},            \
        {.name = "json", .help = "print one JSON object instead of the table"},                \
        NS_OPTION_LIMITS, NS_OPTION_QUIET

/* Reads --quiet.  Are all --out files of a known kind, and can --report be written?  False
 * after saying what is wrong. */
bool ns_study_check_outputs(ns_host *host, const ns_arguments *a);
/* Prints the JSON object if asked for and writes the files and the page of --report, which
 * shows the model's text; the exit status.  `plot` may be NULL. */
int ns_study_finish(ns_host *host, const ns_arguments *a, const ns_model *model,
                    const ns_sheet *sheet, const ns_plot *plot);
/* Is a table for people wanted: neither --json nor --quiet? */
bool ns_study_prints(const ns_host *host, const ns_arguments *a);
/* "TITLE: ..." and a new line, the model's title in bold. */
void ns_study_title(ns_host *host, const ns_model *model, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The files and the page alone. */
int ns_study_write(ns_host *host, const ns_arguments *a, const ns_model *model,
                   const ns_sheet *sheet, const ns_plot *plot);

/* The field of a model with its Jacobian; NULL after saying what is wrong (time enters,
 * memory). */
ns_flow *ns_study_flow(ns_host *host, ns_model *model, bool autonomous);

/* What every study of one model begins with: outputs checked, the model of the first word
 * opened, its field.  False after saying what is wrong, with the exit status; nothing is left
 * to be freed then.  After true *status is that of a wrong request. */
bool ns_study_open(ns_host *host, const ns_arguments *a, bool autonomous, ns_model **model,
                   ns_flow **flow, int *status);

/* Parts of a list separated by commas outside brackets. */
typedef NS_LIST(const char *) ns_study_words;
ns_study_words ns_study_split(ns_arena *arena, const char *text, char separator);

/* --engine, auto without it; false after saying what is wrong. */
bool ns_study_engine(ns_host *host, const ns_arguments *a, ns_record_engine *engine);

/* An expression on the command line, in terms of states and parameters (one number); false
 * after saying what is wrong. */
bool ns_study_expression(ns_host *host, ns_model *model, const char *option, const char *text,
                         ns_ex *out);
/* Its value where it depends on parameters alone. */
bool ns_study_number(ns_host *host, ns_model *model, const char *option, const char *text,
                     double *out);
/* NAME=EXPR,...: sets states. */
bool ns_study_assign(ns_host *host, ns_model *model, const char *option, const char *text,
                     double *x);
/* Index of a state or a value by name; false after saying what is wrong. */
bool ns_study_state(ns_host *host, const ns_model *model, const char *name, uint32_t *index);
bool ns_study_value(ns_host *host, const ns_model *model, const char *name, uint32_t *index);
/* The parameter that is an input, or another parameter, by name; false after saying what is
 * wrong. */
bool ns_study_input(ns_host *host, const ns_model *model, const char *name, uint32_t *param);
/* The names of all inputs that have a constant value. */
ns_study_words ns_study_inputs(ns_host *host, const ns_model *model);
/* NAME=A:B:... with n numbers; false after saying that the option expects `form`. */
bool ns_study_parts(ns_host *host, ns_model *model, const char *option, const char *form,
                    const char *text, uint32_t n, const char **name, double *out);
/* NAME=LOW:HIGH for a parameter. */
bool ns_study_range(ns_host *host, ns_model *model, const char *option, const char *text,
                    uint32_t *index, double *low, double *high);
/* A whole number, at least `least`; *value is untouched if the option was not given. */
bool ns_study_count(ns_host *host, const ns_arguments *a, const char *name, uint32_t least,
                    uint32_t *value);

/* Progress of a study; false when it is to stop. */
typedef struct ns_study_progress {
    const ns_host *host;
    const char *what; /* "t": what the numbers count */
    double from, end; /* what it counts; from 0 unless set */
    double begin;     /* in seconds */
} ns_study_progress;
ns_study_progress ns_study_progress_new(ns_host *host, const char *what, double end);
bool ns_study_progress_draw(void *progress, double fraction);
void ns_study_progress_end(const ns_study_progress *progress);

#endif
