/* noslip invariants: integrals of motion that the program finds. */
#include "command/invariants/invariants.h"

#include <string.h>

#include "command/study.h"

const ns_invariant_search *const ns_invariant_searches[] = {
    &ns_invariants_momentum, &ns_invariants_all, &ns_invariants_polynomial,
    &ns_invariants_linear, NULL};

/* Options of other searches would be ignored. */
static const char *foreign(const ns_arguments *a, const ns_invariant_search *s)
{
    static const char *const common[] = {"set",       "search",      "json", "quiet",
                                         "max-steps", "max-seconds", NULL};
    for (uint32_t k = 0; k < a->options.n; k++) {
        const char *name = a->options.at[k].option->name;
        bool known = false;
        for (uint32_t i = 0; common[i]; i++)
            known = known || strcmp(common[i], name) == 0;
        for (uint32_t i = 0; s->options[i]; i++)
            known = known || strcmp(s->options[i], name) == 0;
        if (!known)
            return name;
    }
    return NULL;
}

static const char *names(ns_host *host)
{
    ns_text text = ns_text_new(host->arena);
    for (uint32_t i = 0; ns_invariant_searches[i]; i++)
        ns_text_addf(&text, "%s%s", i ? ", " : "", ns_invariant_searches[i]->name);
    return ns_text_string(&text);
}

static int invariants(ns_host *host, const ns_arguments *a)
{
    int status = 0;
    const char *wanted = ns_command_text(a, "search"), *why = NULL;
    const ns_invariant_search *chosen = NULL;
    if (!ns_study_check_outputs(host, a))
        return ns_status_exit(NS_ERR_USAGE);
    ns_model *model = ns_open_model(host, a, a->words.at[0], NS_MODEL_READY, &status);
    if (!model)
        return status;
    const char *other = NULL; /* an option that the search does not have */
    for (uint32_t i = 0; ns_invariant_searches[i] && (!chosen || other); i++) {
        const ns_invariant_search *s = ns_invariant_searches[i];
        if (wanted && strcmp(wanted, s->name) != 0)
            continue;
        why = s->applies(model);
        if (why || (chosen && foreign(a, s)))
            continue;
        chosen = s; /* the first, or the first that has all options */
        other = foreign(a, s);
    }
    if (other)
        status = ns_command_wrong(host, "--%s is not for --search %s", other, chosen->name);
    else if (chosen)
        status = chosen->run(host, a, model, ns_command_flag(a, "json"));
    else if (why)
        status = ns_command_wrong(host, "%s: %s", model->name, why);
    else
        status = ns_command_wrong(host, "there is no search `%s`; there are: %s", wanted,
                                  names(host));
    ns_model_free(model);
    return status;
}

static const ns_option options[] = {
    {.name = "search",
     .argument = "NAME",
     .help = "momentum, polynomial, linear, all (default: momentum with a symmetry block, else "
             "all)"},
    {.name = "degree",
     .argument = "V,S",
     .help = "polynomial: degrees in velocities and shape variables (2,2)"},
    {.name = "velocities",
     .argument = "EXPR,...",
     .help = "polynomial: what counts as velocities"},
    {.name = "shape", .argument = "EXPR,...", .help = "polynomial: the shape variables"},
    {.name = "basis",
     .argument = "EXPR,...",
     .help = "polynomial: further functions; alone: these and no others"},
    {.name = "states", .argument = "N", .help = "polynomial: states at which rates are taken"},
    {.name = "until",
     .argument = "T",
     .help = "length of the run along which they are watched"},
    {.name = "along",
     .argument = "NAME",
     .help = "a group coordinate on which the frame may depend too"},
    {.name = "region",
     .argument = "NAME=LOW:HIGH",
     .help = "where in shape space (default: where the run goes)",
     .repeat = true},
    {.name = "base",
     .argument = "NAME=VALUE",
     .help = "where the fields are those of the frame (default: the start)",
     .repeat = true},
    {.name = "formulas", .help = "linear: print the integrals as lines for the model"},
    {.name = "points", .argument = "N", .help = "rows of the table"},
    NS_STUDY_OPTIONS,
    {0},
};

const ns_command ns_command_invariants = {
    .name = "invariants",
    .summary = "Find integrals of motion: polynomials, linear ones, momenta of a symmetry",
    .usage = "MODEL [--search NAME] [--degree V,S] [--along EXPR] [--out FILE]... [--json]",
    .doc =
        "polynomial: products of velocities and shape variables (--velocities, --shape, "
        "--degree),\n"
        "and functions of --basis.  Combinations with rate zero at states all over the "
        "manifold, by\n"
        "exact derivatives and singular values; energy, relations and functions of others are "
        "set\n"
        "apart; the rest is verified in quadruple precision and printed as lines for the "
        "model.\n"
        "linear: linear in the velocities, with coefficients that are functions of one shape\n"
        "variable (--along; otherwise all are tried), as tables or --formulas.\n"
        "all: both; the default for models without a `symmetry` block.\n"
        "momentum: for models with a `symmetry` block.  Decides by the terms of the momentum\n"
        "equation whether integrals <p, eta(r)> exist (Bloch, Marsden, Zenkov 2009, Theorem\n"
        "4.4), finds eta by integrating d eta = -tau eta over the region of shape space that "
        "the\n"
        "run visits, gives the Wronskian by its determinant and by its law (6.16), and "
        "watches\n"
        "the integrals along the run.  Where the shape alone gives less than all momenta, "
        "frames\n"
        "that depend on one coordinate of the group are tried too (section 6.2).  With one "
        "shape\n"
        "variable and all integrals, the amended potential says between which limits it stays.",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = invariants,
};
