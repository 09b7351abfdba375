#include "cli/program.h"

#include <string.h>

static const ns_command *const own[] = {
    &ns_command_gallery, &ns_command_bench, &ns_command_lsp,     &ns_command_completion,
    &ns_command_man,     &ns_command_help,  &ns_command_version,
};
enum { OWN = sizeof own / sizeof *own };

const ns_command *ns_program_command(size_t i)
{
    size_t shared = 0;
    while (ns_commands[shared])
        shared++;
    return i < shared ? ns_commands[i] : i - shared < OWN ? own[i - shared] : NULL;
}

const ns_command *ns_program_find(const char *name)
{
    const ns_command *c;
    for (size_t i = 0; (c = ns_program_command(i)); i++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static void print_options(const ns_host *host, const ns_option *options)
{
    for (const ns_option *o = options; o && o->name; o++) {
        char head[64];
        snprintf(head, sizeof head, "--%s%s%s%s", o->name,
                 !o->argument  ? ""
                 : o->optional ? "[="
                               : " ",
                 o->argument ? o->argument : "", o->optional ? "]" : "");
        fprintf(host->out, "  %-26s %s%s%s\n", head, o->help, o->repeat ? " (repeatable)" : "",
                o->missing ? " (not in this version)" : "");
    }
}

void ns_program_help(const ns_host *host, const ns_command *command)
{
    const ns_style *s = &host->style_out;
    fprintf(host->out, "%snoslip %s%s%s%s\n\n%s.\n", s->bold, command->name, s->plain,
            *command->usage ? " " : "", command->usage, command->summary);
    if (command->doc)
        fprintf(host->out, "\n%s\n", command->doc);
    fprintf(host->out, "\n%sOptions%s\n", s->bold, s->plain);
    print_options(host, command->options);
    print_options(host, ns_command_common);
}
