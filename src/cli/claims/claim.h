/* Claims of the literature as small text files (models/claims/NAME.claim): which models to run,
 * and what must come out.  `noslip reproduce` runs them.
 *
 *     title "..."          source TEXT          slow                     # comments
 *     model NAME <<  ...lines of a model...  >>
 *     run NAME: MODEL [PARAMETER=VALUE | until=T | tol=R | method=M | back=R | samples=N]...
 *                          back: from the end of run R, with velocities and momenta reversed
 *     series NAME: MODEL PARAMETER=V1,V2,... [...]                       a run for each value
 *     refuse NAME: MODEL "part of the message"
 *     command NAME: WORDS...                                            of noslip itself
 *     expect "label": EXPR = EXPR within TOLERANCE  |  EXPR < EXPR  |  EXPR > EXPR
 *     figure FILE "title": RUN|SERIES X Y [, RUN X Y]...                 t is the time
 *                          beside values: t, residual.CONSTRAINT, energy.error
 *     chart FILE "title": SERIES "label" EXPR [, ...]       over the parameter, logarithmic
 *
 * The words of a command may name models of the claim; --option figures/FILE goes to the folder
 * of figures, and is left out when there is none.
 *
 * Expressions: numbers, + - * / ^, pi, sqrt sin cos tan exp log abs, and of runs
 *     start(R, V) end(R, V) at(R, V, t) max(R, V) min(R, V) change(R, V)     of a value
 *     event(R, NAME, k) count(R, NAME) time(R) stopped(R)                   k from 0
 *     when(R, NAME, V, k)                 the value V where the event happens
 *     drift(R) residual(R) invariant(R, NAME) param(R, NAME)
 *     differ(R, V, R2, V2)                largest difference at the same times
 *     circle(R, X, Y)                     largest distance from a circle, in parts of its
 *                                         radius
 *     order(S, EXPR) largest(S, EXPR) smallest(S, EXPR)      of a series; S stands for its run
 *     falls(S, EXPR)                      1 if each value is below the one before, otherwise 0
 *     has(C, "text") number(C, "text" [, k])
 *                                         of what a command printed: the number behind the
 *                                         text, the k-th time it occurs (k from 0) */
#ifndef NS_CLI_CLAIMS_CLAIM_H
#define NS_CLI_CLAIMS_CLAIM_H

#include "cli/command.h"

struct ns_claim_entry {
    const char *name; /* file name without .claim */
    const char *text;
};

/* compiled in from models/claims (cmake/EmbedModels.cmake); ends with {0} */
extern const struct ns_claim_entry ns_claim_entries[];
extern const unsigned ns_claim_count;

typedef struct ns_claim_result {
    const char *label, *text; /* what was expected, in words */
    double obtained;
    bool holds;
} ns_claim_result;

typedef struct ns_claim_report {
    const char *name, *title, *source;
    bool slow;
    NS_LIST(ns_claim_result) results;
    const char *error; /* the file is wrong, or a run could not be made; NULL if neither */
} ns_claim_report;

/* Reads only the head: title, source, slow. */
void ns_claim_head(ns_arena *arena, const struct ns_claim_entry *entry, ns_claim_report *out);

/* Runs it; figures go to the folder unless it is NULL. */
void ns_claim_run(ns_cli *cli, ns_arena *arena, const struct ns_claim_entry *entry,
                  const char *folder, ns_claim_report *out);

#endif
