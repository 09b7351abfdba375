/* noslip invariants: one descriptor per way of looking for integrals of motion. */
#ifndef NS_COMMAND_INVARIANTS_INVARIANTS_H
#define NS_COMMAND_INVARIANTS_INVARIANTS_H

#include "command/command.h"
#include "out/plot/plot.h"
#include "out/tables/sheet.h"
#include "session/model.h"
#include "study/invariants/integrals.h"

typedef struct ns_invariant_search {
    const char *name;    /* of --search */
    const char *summary; /* one line */
    const char *const
        *options; /* those of its own, beside --set, --json, --quiet; ends with NULL */
    /* NULL if the search is for this model, otherwise why not. */
    const char *(*applies)(const ns_model *model);
    /* Prints what was found (one JSON object if `json`); exit status. */
    int (*run)(ns_host *host, const ns_arguments *arguments, ns_model *model, bool json);
} ns_invariant_search;

extern const ns_invariant_search ns_invariants_momentum, ns_invariants_all,
    ns_invariants_polynomial, ns_invariants_linear;
extern const ns_invariant_search *const ns_invariant_searches[]; /* ends with NULL */

/* invariants_polynomial.c, for the searches in families of functions. */

/* --velocities, --shape, --basis, --degree; false after saying what is wrong. */
bool ns_invariants_read_family(ns_host *host, const ns_arguments *a, ns_model *model,
                               ns_flow *flow, ns_family *f, bool *reduced);
void ns_invariants_print_names(ns_host *host, const char *title, const ns_atom *at, uint32_t n);
/* Search and output of one part, into a sheet and a figure that all parts share; exit
 * status. */
typedef int ns_invariants_part(ns_host *host, const ns_arguments *a, ns_model *model,
                               bool quiet, ns_sheet *sheet, ns_plot **plot);
ns_invariants_part ns_invariants_polynomial_part, ns_invariants_linear_part;
/* A search that consists of parts: one after the other while all is well, and what comes of it;
 * exit status. */
int ns_invariants_run(ns_host *host, const ns_arguments *a, ns_model *model, bool as_json,
                      const char *search, ns_invariants_part *const *parts, size_t n);

#endif
