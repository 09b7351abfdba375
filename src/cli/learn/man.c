/* noslip man: a manual page for each command, from its descriptor. */
#include <ctype.h>
#include <string.h>

#include "base/near.h"
#include "cli/program.h"
#include "noslip/noslip.h"

/* Text for roff: backslashes, hyphens and signs at the beginning of a line escaped. */
static void put(FILE *f, const char *text)
{
    bool first = true;
    for (; *text; text++) {
        if (first && (*text == '.' || *text == '\''))
            fputs("\\&", f);
        if (*text == '\\')
            fputs("\\e", f);
        else if (*text == '-')
            fputs("\\-", f);
        else
            fputc(*text, f);
        first = *text == '\n';
    }
}

static void put_upper(FILE *f, const char *text)
{
    for (; *text; text++)
        fputc(toupper((unsigned char)*text), f);
}

static void put_options(FILE *f, const ns_option *options)
{
    for (const ns_option *o = options; o && o->name; o++) {
        fputs(".TP\n\\fB\\-\\-", f);
        put(f, o->name);
        fputs("\\fR", f);
        if (o->argument) {
            fputs(o->optional ? "[=\\fI" : " \\fI", f);
            put(f, o->argument);
            fputs(o->optional ? "\\fR]" : "\\fR", f);
        }
        fputc('\n', f);
        put(f, o->help);
        fputs(o->repeat ? " (repeatable)\n" : "\n", f);
    }
}

static void page(FILE *f, const ns_command *c)
{
    fputs(".TH NOSLIP\\-", f);
    put_upper(f, c->name);
    fprintf(f, " 1 \"\" \"noslip %s\" \"User commands\"\n.SH NAME\nnoslip\\-%s \\- ",
            ns_version(), c->name);
    const char first[] = {(char)tolower((unsigned char)*c->summary), 0};
    put(f, first);
    put(f, c->summary + 1);
    fprintf(f, "\n.SH SYNOPSIS\n.B noslip %s\n", c->name);
    put(f, c->usage);
    fputc('\n', f);
    if (c->doc) {
        fputs(".SH DESCRIPTION\n.nf\n", f);
        put(f, c->doc);
        fputs("\n.fi\n", f);
    }
    fputs(".SH OPTIONS\n", f);
    put_options(f, c->options);
    put_options(f, ns_command_common);
    fputs(
        ".SH EXIT STATUS\n0 done; 1 ended early, or something differs or failed; 2 the command "
        "or the model is wrong; 3 the system failed.\n.SH SEE ALSO\n.BR noslip (1)",
        f);
    for (size_t i = 0; ns_program_command(i); i++)
        if (ns_program_command(i) != c)
            fprintf(f, ",\n.BR noslip\\-%s (1)", ns_program_command(i)->name);
    fputc('\n', f);
}

static int man(ns_host *host, const ns_arguments *a)
{
    if (!a->words.n) {
        for (size_t i = 0; ns_program_command(i); i++)
            fprintf(host->out, "%s\n", ns_program_command(i)->name);
        return 0;
    }
    const ns_command *c = ns_program_find(a->words.at[0]);
    if (c) {
        page(host->out, c);
        return 0;
    }
    ns_near near = {.word = a->words.at[0]};
    for (size_t i = 0; ns_program_command(i); i++)
        ns_near_try(&near, ns_program_command(i)->name);
    if (near.found)
        return ns_command_wrong(host, "no command `%s`; did you mean `%s`?", near.word,
                                near.found);
    return ns_command_wrong(host, "no command `%s`; `noslip man` lists them", near.word);
}

const ns_command ns_command_man = {
    .name = "man",
    .summary = "Print the manual page of a command, or list the commands",
    .usage = "[COMMAND]",
    .doc = "To read one:  noslip man run | man -l -",
    .least = 0,
    .most = 1,
    .run = man,
};
