/* noslip gallery: list, print or run the bundled models. */
#include "session/gallery.h"

#include <string.h>

#include "cli/program.h"
#include "command/models/run.h"

static int list(ns_host *host)
{
    size_t width = 8;
    for (unsigned i = 0; i < ns_gallery_count; i++)
        if (strlen(ns_gallery_entries[i].name) > width)
            width = strlen(ns_gallery_entries[i].name);
    for (unsigned i = 0; i < ns_gallery_count; i++) {
        const struct ns_gallery_entry *e = &ns_gallery_entries[i];
        ns_model *m = ns_model_load_text(e->name, e->text, strlen(e->text), NULL, 0,
                                         NS_MODEL_READ);
        fprintf(host->out, "%s%-*s%s  %s\n", host->style_out.bold, (int)width, e->name,
                host->style_out.plain, m && m->description ? m->description->title : "");
        ns_model_free(m);
    }
    if (!ns_gallery_count)
        fputs("no models are bundled\n", host->out);
    return 0;
}

static int gallery(ns_host *host, const ns_arguments *a)
{
    host->quiet = ns_command_flag(a, "quiet");
    if (!a->words.n) {
        if (a->options.n)
            return ns_command_wrong(host, "which model? `noslip gallery` lists them");
        return list(host);
    }
    const char *name = a->words.at[0];
    const struct ns_gallery_entry *entry = ns_gallery_find(name);
    if (!entry) {
        const char *nearest = ns_gallery_nearest(name);
        return nearest ? ns_command_wrong(host, "no bundled model `%s`; did you mean `%s`?",
                                          name, nearest)
                       : ns_command_wrong(
                             host, "no bundled model `%s`; `noslip gallery` lists them", name);
    }
    if (ns_command_flag(a, "print")) {
        if (a->options.n > 1)
            return ns_command_wrong(host, "--print takes no other options");
        fputs(entry->text, host->out);
        return 0;
    }
    if (!ns_run_command_words(host, a))
        return ns_status_exit(NS_ERR_USAGE);
    int status;
    ns_model *model = ns_open_entry(host, a, entry, NS_MODEL_READY, &status);
    return model ? ns_run_command_model(host, a, model) : status;
}

static const ns_option options[] = {
    {.name = "print", .help = "print the text of the model instead"},
    NS_RUN_OPTIONS,
    {0},
};

const ns_command ns_command_gallery = {
    .name = "gallery",
    .summary = "List the bundled models, print one, or run one",
    .usage = "[NAME [--print | options of run]]",
    .options = options,
    .least = 0,
    .most = 1,
    .run = gallery,
};
