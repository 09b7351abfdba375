/* noslip invariants: one descriptor per way of looking for integrals of motion. */
#ifndef NS_CLI_INVARIANTS_H
#define NS_CLI_INVARIANTS_H

#include "cli/command.h"
#include "io/model.h"

typedef struct ns_invariant_search {
    const char *name;    /* of --search */
    const char *summary; /* one line */
    /* NULL if the search is for this model, otherwise why not. */
    const char *(*applies)(const ns_model *model);
    /* Prints what was found (one JSON object if `json`); exit status. */
    int (*run)(ns_cli *cli, const ns_arguments *arguments, ns_model *model, bool json);
} ns_invariant_search;

extern const ns_invariant_search ns_invariants_momentum;
extern const ns_invariant_search *const ns_invariant_searches[]; /* ends with NULL */

#endif
