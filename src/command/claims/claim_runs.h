/* What a claim works with while it is run: models, runs with samples, series, printed
 * output. */
#ifndef NS_COMMAND_CLAIMS_CLAIM_RUNS_H
#define NS_COMMAND_CLAIMS_CLAIM_RUNS_H

#include "command/claims/claim.h"
#include "session/model.h"

/* A finished run with its values at equal distances in time. */
typedef struct ns_claims_run {
    const char *name;
    ns_model *model;
    ns_run *run;
    ns_status status;
    uint32_t n;
    double *t, *values; /* [n], [n][observables] */
    double *residuals;  /* [n][constraints] */
} ns_claims_run;

typedef struct ns_claims_series {
    const char *name;
    const char *parameter;
    ns_claims_run *runs;
    double *value; /* of the parameter */
    uint32_t n, present;
} ns_claims_series;

typedef struct ns_claims_text {
    const char *name, *text;
} ns_claims_text;

typedef struct ns_claims_world {
    ns_host *host;
    ns_arena *arena;
    const char *folder; /* of figures */
    ns_claim *claim;
    ns_formula_world words; /* of its expressions */
    NS_LIST(ns_claims_run *) runs;
    NS_LIST(ns_claims_series *) series;
    NS_LIST(ns_claims_text) models, outputs;
} ns_claims_world;

/* Does the name of a file stay in its folder? */
bool ns_claims_inside(const char *path);
/* Do what a statement says; false after a message. */
bool ns_claims_start(ns_claims_world *w, const ns_claim_statement *s);
bool ns_claims_command(ns_claims_world *w, const ns_claim_statement *s);
/* Messages of a model that does not load; NULL if it does. */
const char *ns_claims_messages(ns_claims_world *w, const ns_claim_word *model);
void ns_claims_free(ns_claims_world *w);

/* By name; NULL after a message. */
ns_claims_run *ns_claims_find(const ns_claims_world *w, const ns_claim_word *name);
ns_claims_series *ns_claims_find_series(const ns_claims_world *w, const ns_claim_word *name);
const char *ns_claims_output(const ns_claims_world *w, const ns_claim_word *name);
bool ns_claims_is_series(const ns_claims_world *w, const char *name);

/* Samples of a value, of t, of residual.CONSTRAINT, or of energy.error, the relative change of
 * the energy; NULL after a message. */
const double *ns_claims_samples(const ns_claims_world *w, const ns_claims_run *run,
                                ns_span place, const char *name);
const char *ns_claims_unit(const ns_claims_run *run, const char *name);

/* Functions of the expressions of claims (claim_values.c); their context is the world. */
extern const ns_formula_function ns_claims_functions[];

#endif
