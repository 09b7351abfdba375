/* noslip new: writes a commented starting model. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/near.h"
#include "base/text.h"
#include "command/command.h"
#include "command/learn/learn.h"

static const char *kinds(ns_host *host)
{
    ns_text text = ns_text_new(host->arena);
    for (unsigned i = 0; i < ns_template_count; i++)
        ns_text_addf(&text, "%s%s", i ? ", " : "", ns_template_entries[i].name);
    return ns_text_string(&text);
}

static int unknown(ns_host *host, const char *kind)
{
    ns_near near = {.word = kind};
    for (unsigned i = 0; i < ns_template_count; i++)
        ns_near_try(&near, ns_template_entries[i].name);
    if (near.found)
        return ns_command_wrong(host, "no starting model `%s`; did you mean `%s`?", kind,
                                near.found);
    return ns_command_wrong(host, "no starting model `%s`; there are: %s", kind, kinds(host));
}

/* The text, with the name of the file where it says FILE. */
static const char *fill(ns_host *host, const char *text, const char *name)
{
    ns_text out = ns_text_new(host->arena);
    for (const char *at; (at = strstr(text, "FILE")); text = at + 4) {
        ns_text_add_bytes(&out, text, (size_t)(at - text));
        ns_text_add(&out, name);
    }
    ns_text_add(&out, text);
    return ns_text_string(&out);
}

static int make(ns_host *host, const ns_arguments *a)
{
    const char *kind = a->words.at[0], *text = NULL;
    for (unsigned i = 0; i < ns_template_count; i++)
        if (strcmp(ns_template_entries[i].name, kind) == 0)
            text = ns_template_entries[i].text;
    if (!text)
        return unknown(host, kind);
    if (a->words.n < 2) {
        fputs(fill(host, text, "FILE.mech"), host->out);
        return 0;
    }
    const char *path = a->words.at[1];
    if (access(path, F_OK) == 0)
        return ns_command_wrong(host, "there is a file `%s` already; it is kept", path);
    const char *filled = fill(host, text, path);
    const int error = ns_file_write(path, filled, strlen(filled));
    if (error)
        return ns_command_failed(host, NS_ERR_IO, "cannot write %s: %s", path, strerror(error));
    fprintf(host->out, "%s is written; edit it and run it:\n\n    noslip run %s\n", path, path);
    return 0;
}

const ns_command ns_command_new = {
    .name = "new",
    .summary = "Write a commented model to start from",
    .usage = "rolling|bodies|lagrange|frame|lie|planar [NAME.mech]",
    .doc = "rolling   a body that rolls on a ground\n"
           "bodies    bodies and particles, joined by constraints\n"
           "lagrange  coordinates, a Lagrangian, constraints on velocities\n"
           "frame     the same in quasivelocities\n"
           "lie       a Lie algebra with an inertia and constraints\n"
           "planar    disks that roll on a curve in a vertical plane\n"
           "\n"
           "Without a file name the model is printed.  A file that exists is never touched.",
    .least = 1,
    .most = 2,
    .run = make,
};
