#include "command/open.h"

#include <string.h>
#include <unistd.h>

/* The --set options; false after saying what is wrong. */
static bool read_overrides(ns_host *host, const ns_arguments *a, const ns_override **overrides,
                           size_t *n)
{
    NS_LIST(ns_override) list = {0};
    const char *text;
    for (uint32_t k = 0; ns_command_each(a, "set", &k, &text);) {
        ns_override o;
        if (!ns_command_pair(host, "--set", "NAME=EXPR", text, &o.name, &o.expression))
            return false;
        NS_PUSH(host->arena, list, o);
    }
    *overrides = list.at;
    *n = list.n;
    return true;
}

/* --max-steps goes over what the model says. */
static bool read_limit(ns_host *host, const ns_arguments *a, double *max_steps)
{
    const char *text;
    uint32_t k = 0;
    if (!ns_command_each(a, "max-steps", &k, &text))
        return true;
    if (!ns_command_number(host, a, "max-steps", max_steps))
        return false;
    return *max_steps >= 1 ||
           ns_command_refuse(host, "--max-steps must be positive, not %s", text);
}

/* Where to read on about the first error. */
static void hint(ns_host *host, const ns_diag *diag)
{
    for (uint32_t i = 0; diag && i < diag->messages.n; i++)
        if (diag->messages.at[i].severity == NS_ERROR && diag->messages.at[i].code) {
            fprintf(host->err,
                    "noslip: note: `noslip explain %s` has an example and its cure\n",
                    diag->messages.at[i].code);
            return;
        }
}

static ns_model *finish(ns_host *host, const ns_arguments *a, ns_model *model, int *exit_status)
{
    if (!model) {
        ns_command_wrong(host, "out of memory");
        *exit_status = ns_status_exit(NS_ERR_MEMORY);
        return NULL;
    }
    if (model->status != NS_OK || !host->quiet)
        fputs(model->messages, host->err);
    if (model->status == NS_ERR_MODEL && !host->quiet)
        hint(host, model->diag);
    *exit_status = ns_status_exit(model->status);
    if (model->arena)
        ns_arena_support(model->arena, host->arena);
    model->interrupt = host->stop;
    if (model->status == NS_OK && read_limit(host, a, &model->settings.max_steps))
        return model;
    if (model->status == NS_OK)
        *exit_status = ns_status_exit(NS_ERR_USAGE);
    ns_model_free(model);
    return NULL;
}

ns_model *ns_open_entry(ns_host *host, const ns_arguments *a,
                        const struct ns_gallery_entry *entry, ns_model_depth depth,
                        int *exit_status)
{
    const ns_override *overrides;
    size_t n;
    *exit_status = ns_status_exit(NS_ERR_USAGE);
    if (!read_overrides(host, a, &overrides, &n))
        return NULL;
    const char *name = ns_arena_format(host->arena, "%s.mech", entry->name);
    return finish(
        host, a,
        ns_model_load_text(name, entry->text, strlen(entry->text), overrides, n, depth),
        exit_status);
}

static ns_model *open_of_host(ns_host *host, const ns_arguments *a, const char *name,
                              int *exit_status)
{
    const ns_override *overrides;
    size_t n;
    return read_overrides(host, a, &overrides, &n)
               ? finish(host, a, host->open(host->context, name, overrides, n), exit_status)
               : NULL;
}

ns_model *ns_open_model(ns_host *host, const ns_arguments *a, const char *name,
                        ns_model_depth depth, int *exit_status)
{
    *exit_status = ns_status_exit(NS_ERR_USAGE);
    if (host->open)
        return open_of_host(host, a, name, exit_status);
    for (unsigned i = 0; i < host->n_own; i++)
        if (strcmp(host->own[i].name, name) == 0)
            return ns_open_entry(host, a, &host->own[i], depth, exit_status);
    if (strcmp(name, "-") != 0 && access(name, F_OK) != 0) {
        const struct ns_gallery_entry *entry = ns_gallery_find(name);
        if (entry) {
            if (!host->quiet)
                fprintf(host->err,
                        "noslip: note: there is no file `%s`; this is the bundled "
                        "model of that name\n",
                        name);
            return ns_open_entry(host, a, entry, depth, exit_status);
        }
        const char *nearest = ns_gallery_nearest(name);
        if (nearest) {
            ns_command_wrong(host,
                             "there is no file `%s`; did you mean the bundled model `%s`?",
                             name, nearest);
            return NULL;
        }
    }
    const ns_override *overrides;
    size_t n;
    if (!read_overrides(host, a, &overrides, &n))
        return NULL;
    return finish(host, a, ns_model_load(name, overrides, n, depth), exit_status);
}
