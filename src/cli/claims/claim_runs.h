/* What a claim works with while it is run: models, runs with samples, series, printed
 * output. */
#ifndef NS_CLI_CLAIMS_CLAIM_RUNS_H
#define NS_CLI_CLAIMS_CLAIM_RUNS_H

#include "cli/claims/claim.h"
#include "session/model.h"

typedef struct ns_claims_setting {
    const char *name, *value;
} ns_claims_setting;

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
    ns_cli *cli;
    ns_arena *arena;
    const char *folder; /* of figures */
    bool head;          /* only the head is read */
    ns_claim_report *claim;
    unsigned line;
    const char *why; /* a function failed */
    NS_LIST(ns_claims_run *) runs;
    NS_LIST(ns_claims_series *) series;
    NS_LIST(ns_claims_text) models, outputs;
} ns_claims_world;

void ns_claims_model(ns_claims_world *w, const char *name, const char *text);
bool ns_claims_start(ns_claims_world *w, const char *name, const char *model,
                     const ns_claims_setting *settings, uint32_t n, bool series);
bool ns_claims_command(ns_claims_world *w, const char *name, int n, char **words);
/* Messages of a model that does not load; NULL if it does. */
const char *ns_claims_messages(ns_claims_world *w, const char *model);
void ns_claims_free(ns_claims_world *w);

ns_claims_run *ns_claims_find(const ns_claims_world *w, const char *name);
ns_claims_series *ns_claims_find_series(const ns_claims_world *w, const char *name);
const char *ns_claims_output(const ns_claims_world *w, const char *name);

/* Functions of a run, by name: see claim.h.  Nan, with claim->error set, if something is
 * missing. */
bool ns_claims_knows(const char *function);
double ns_claims_value(ns_claims_world *w, ns_claims_run *run, const char *function,
                       const char *name, double extra);
double ns_claims_when(ns_claims_world *w, ns_claims_run *run, const char *event,
                      const char *name, double k);
double ns_claims_differ(ns_claims_world *w, ns_claims_run *a, const char *x, ns_claims_run *b,
                        const char *y);
double ns_claims_circle(ns_claims_world *w, ns_claims_run *run, const char *x, const char *y);
/* Samples of a value, of t, of residual.CONSTRAINT, or of energy.error, the relative change of
 * the energy; NULL if there is none. */
const double *ns_claims_samples(ns_claims_world *w, const ns_claims_run *run, const char *name);
const char *ns_claims_unit(const ns_claims_run *run, const char *name);

#endif
