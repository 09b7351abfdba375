/* Claims as small text files: which models to run, and what must come out.  docs/claims.md says
 * how they are written; `noslip reproduce` runs the bundled ones (models/claims/NAME.claim) and
 * any other file.
 *
 *     title "..."     source TEXT     against TEXT     slow               # comments
 *     model NAME <<  ...lines of a model...  >>
 *     run NAME: MODEL [PARAMETER=VALUE | until=T | tol=R | method=M | back=R | samples=N]...
 *     series NAME: MODEL PARAMETER=V1,V2,... [...]                       a run for each value
 *     refuse NAME: MODEL "part of the message"
 *     command NAME: WORDS...                                            of noslip itself
 *     expect "label": EXPR = EXPR within TOLERANCE  |  EXPR < EXPR  |  EXPR > EXPR
 *     figure FILE "title": RUN|SERIES X Y [, RUN X Y]...
 *     chart FILE "title": SERIES "label" EXPR [, ...]       over the parameter, logarithmic
 *
 * A file is read as a whole, then run statement by statement. */
#ifndef NS_COMMAND_CLAIMS_CLAIM_H
#define NS_COMMAND_CLAIMS_CLAIM_H

#include "command/command.h"
#include "lang/formula.h"

struct ns_claim_entry {
    const char *name; /* file name without .claim */
    const char *text;
};

/* compiled in from models/claims (cmake/EmbedModels.cmake); ends with {0} */
extern const struct ns_claim_entry ns_claim_entries[];
extern const unsigned ns_claim_count;

typedef enum ns_claim_kind {
    NS_CLAIM_MODEL,
    NS_CLAIM_RUN,
    NS_CLAIM_SERIES,
    NS_CLAIM_REFUSE,
    NS_CLAIM_COMMAND,
    NS_CLAIM_EXPECT,
    NS_CLAIM_FIGURE,
    NS_CLAIM_CHART
} ns_claim_kind;

/* A word of the text. */
typedef struct ns_claim_word {
    const char *text;
    ns_span place;
} ns_claim_word;

/* PARAMETER=VALUE of a run */
typedef struct ns_claim_setting {
    const char *name, *value;
    ns_span place; /* of the value */
} ns_claim_setting;

/* A line of a figure (RUN X Y) or of a chart (SERIES "label" EXPR). */
typedef struct ns_claim_curve {
    ns_claim_word of;
    const char *x, *y;
    const char *label;
    ns_formula value;
} ns_claim_curve;

typedef struct ns_claim_statement {
    ns_claim_kind kind;
    ns_claim_word name;  /* of a figure: its file */
    ns_claim_word model; /* of a run */
    const char *text;    /* of a model; part of a refusal; label; title */
    char sign;           /* < > = */
    ns_formula left, right, tolerance;
    NS_LIST(ns_claim_setting) settings;
    NS_LIST(ns_claim_word) words;
    NS_LIST(ns_claim_curve) curves;
} ns_claim_statement;

typedef struct ns_claim_result {
    const char *label, *text; /* what was expected, in words */
    double obtained;
    bool holds;
} ns_claim_result;

typedef struct ns_claim {
    ns_arena *arena;
    const char *name, *title, *path; /* path: NULL for bundled ones */
    const char *source, *against;    /* where it comes from, what it is held against */
    bool slow;
    NS_LIST(ns_claim_statement) statements;
    NS_LIST(ns_claim_result) results;
    ns_diag *diag; /* with errors if the file is wrong or a run could not be made */
    uint32_t text; /* its number as a source of the messages */
} ns_claim;

/* Reads a claim; the text is borrowed.  Errors are in its diag. */
ns_claim *ns_claim_read(ns_arena *arena, const char *name, const char *path, const char *text,
                        size_t length);

/* Appends the text in its layout (claim_format.c); false, with nothing appended, if it is no
 * claim. */
bool ns_claim_format(const char *text, size_t length, ns_text *out);

/* Runs it, and fills the list of results; figures go to the folder unless it is NULL. */
void ns_claim_run(ns_host *host, ns_claim *claim, const char *folder);

#endif
