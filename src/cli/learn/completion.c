/* noslip completion: what a shell needs to complete command lines, from the descriptors. */
#include <string.h>

#include "cli/program.h"
#include "cli/topics.h"
#include "command/learn/learn.h"
#include "mech/system.h"
#include "ode/auto.h"
#include "session/gallery.h"

/* Options whose value is a file. */
static const char *const files[] = {"out",  "report", "checkpoint", "resume", "plot", "data",
                                    "from", "figure", "join",       "write",  "csv"};
enum { FILES = sizeof files / sizeof *files };

/* Options whose value is one of some words; those of `method` are the methods. */
static const struct {
    const char *name, *words;
} choices[] = {{"method", NULL},
               {"engine", "interpreter native auto"},
               {"precision", "double quad"},
               {"simd", "plain avx2 avx512"}};
enum { CHOICES = sizeof choices / sizeof *choices };

static bool is_file(const ns_option *o)
{
    for (size_t i = 0; i < FILES; i++)
        if (strcmp(o->name, files[i]) == 0)
            return true;
    return false;
}

/* The words of choice i. */
static void put_choice(FILE *f, size_t i)
{
    if (choices[i].words) {
        fputs(choices[i].words, f);
        return;
    }
    for (const ns_method *const *m = ns_methods; *m; m++)
        fprintf(f, "%s ", (*m)->name);
    fputs(NS_METHOD_AUTO, f);
}

static size_t choice_of(const ns_option *o)
{
    size_t i = 0;
    while (i < CHOICES && strcmp(o->name, choices[i].name) != 0)
        i++;
    return i;
}

static void put_options(FILE *f, const ns_command *c)
{
    for (const ns_option *o = c->options; o && o->name; o++)
        fprintf(f, "--%s ", o->name);
    for (const ns_option *o = ns_command_common; o->name; o++)
        fprintf(f, "--%s ", o->name);
}

static void put_models(FILE *f)
{
    for (unsigned i = 0; i < ns_gallery_count; i++)
        fprintf(f, "%s%s", i ? " " : "", ns_gallery_entries[i].name);
}

static void put_commands(FILE *f)
{
    for (size_t i = 0; ns_program_command(i); i++)
        fprintf(f, "%s%s", i ? " " : "", ns_program_command(i)->name);
}

/* Does the word after the command come from a list?  Then put_first prints it. */
static bool has_first(const ns_command *c)
{
    return c->usage[strcspn(c->usage, " |")] == '|' || strcmp(c->usage, "[CODE]") == 0 ||
           strcmp(c->usage, "[COMMAND]") == 0 || strcmp(c->usage, "[TOPIC]") == 0;
}

static void put_first(FILE *f, const ns_command *c)
{
    char code[64];
    const char *text;
    if (strcmp(c->usage, "[CODE]") == 0) {
        for (const char *at = ns_explain_entries[0].text;
             (at = ns_explain_next(at, code, &text));)
            fprintf(f, "%s ", code);
    } else if (c->usage[0] == '[') {
        put_commands(f);
        for (const ns_topic *t = ns_topics; strcmp(c->usage, "[TOPIC]") == 0 && t->name; t++)
            fprintf(f, " %s", t->name);
    } else {
        for (const char *at = c->usage; *at && *at != ' '; at++)
            fputc(*at == '|' ? ' ' : *at, f);
    }
}

static bool takes_models(const ns_command *c)
{
    return strstr(c->usage, "MODEL") || strstr(c->usage, "A B") ||
           strcmp(c->name, "gallery") == 0;
}

static void put_bash(FILE *f)
{
    fputs("# bash completion for noslip: made by `noslip completion bash`\n"
          "_noslip() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command=${COMP_WORDS[1]} first= options= models=\n"
          "    if [ \"$word\" = = ]; then # --method=\n"
          "        word=\n"
          "    elif [ \"$before\" = = ]; then\n"
          "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    fi\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          f);
    put_commands(f);
    fputs("' -- \"$word\"))\n        return\n    fi\n    case $before in\n", f);
    for (size_t i = 0; i < CHOICES; i++) {
        fprintf(f, "    --%s) COMPREPLY=($(compgen -W '", choices[i].name);
        put_choice(f, i);
        fputs("' -- \"$word\")); return ;;\n", f);
    }
    for (size_t i = 0; i < FILES; i++)
        fprintf(f, "%s--%s", i ? " | " : "    ", files[i]);
    fputs(
        ") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n    esac\n    case $command in\n",
        f);
    const ns_command *c;
    for (size_t i = 0; (c = ns_program_command(i)); i++) {
        fprintf(f, "    %s)\n        options='", c->name);
        put_options(f, c);
        fputs("'\n", f);
        if (has_first(c)) {
            fputs("        first='", f);
            put_first(f, c);
            fputs("'\n", f);
        }
        if (takes_models(c))
            fputs("        models=yes\n", f);
        fputs("        ;;\n", f);
    }
    fputs(
        "    esac\n"
        "    if [[ $word == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
        "    elif [ \"$COMP_CWORD\" = 2 ] && [ -n \"$first\" ]; then\n"
        "        COMPREPLY=($(compgen -W \"$first\" -- \"$word\"))\n"
        "    elif [ -n \"$models\" ]; then\n"
        "        COMPREPLY=($(compgen -f -X '!*.mech' -- \"$word\") $(compgen -d -- \"$word\") "
        "$(compgen -W '",
        f);
    put_models(f);
    fputs("' -- \"$word\"))\n"
          "    else\n"
          "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "    fi\n"
          "}\n"
          "complete -o filenames -F _noslip noslip\n",
          f);
}

/* Text inside '...' of a shell, with what zsh's _arguments would read as its own escaped. */
static void put_quoted(FILE *f, const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", f);
        else if (strchr(special, *text))
            fprintf(f, "\\%c", *text);
        else
            fputc(*text, f);
    }
}

static void put_zsh_option(FILE *f, const ns_option *o)
{
    const size_t choice = choice_of(o);
    fprintf(f, " \\\n            '%s--%s%s[", o->repeat ? "*" : "", o->name,
            o->argument && o->optional ? "=-" : "");
    put_quoted(f, o->help, "[]:");
    fputc(']', f);
    if (o->argument) {
        fputs(o->optional ? "::" : ":", f);
        put_quoted(f, o->argument, "[]:");
        if (is_file(o)) {
            fputs(":_files", f);
        } else if (choice < CHOICES) {
            fputs(":(", f);
            put_choice(f, choice);
            fputc(')', f);
        } else {
            fputc(':', f);
        }
    }
    fputc('\'', f);
}

static void put_zsh(FILE *f)
{
    const ns_command *c;
    fputs("#compdef noslip\n# zsh completion for noslip: made by `noslip completion zsh`\n"
          "_noslip() {\n    local -a commands models\n    commands=(\n",
          f);
    for (size_t i = 0; (c = ns_program_command(i)); i++) {
        fprintf(f, "        '%s:", c->name);
        put_quoted(f, c->summary, ":");
        fputs("'\n", f);
    }
    fputs("    )\n    models=(", f);
    put_models(f);
    fputs(")\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
          "        return\n    fi\n    case $words[2] in\n",
          f);
    for (size_t i = 0; (c = ns_program_command(i)); i++) {
        fprintf(f, "    %s)\n        _arguments -s '1:: :'", c->name);
        for (int own = 1; own >= 0; own--)
            for (const ns_option *o = own ? c->options : ns_command_common; o && o->name; o++)
                put_zsh_option(f, o);
        if (has_first(c)) {
            fputs(" \\\n            '2:what:(", f);
            put_first(f, c);
            fputs(")'", f);
        }
        fputs(takes_models(c)
                  ? " \\\n            '*:model:{ compadd -a models; _files -g \"*.mech\" }'"
                  : " \\\n            '*:file:_files'",
              f);
        fputs("\n        ;;\n", f);
    }
    fputs("    esac\n}\n_noslip \"$@\"\n", f);
}

static void put_fish_option(FILE *f, const ns_command *c, const ns_option *o)
{
    const size_t choice = choice_of(o);
    fprintf(f, "complete -c noslip -n '__fish_seen_subcommand_from %s' -l %s", c->name,
            o->name);
    if (o->argument && !o->optional)
        fputs(is_file(o) ? " -r" : " -x", f);
    if (choice < CHOICES) {
        fputs(" -a '", f);
        put_choice(f, choice);
        fputc('\'', f);
    }
    fputs(" -d '", f);
    put_quoted(f, o->help, "");
    fputs("'\n", f);
}

static void put_fish(FILE *f)
{
    const ns_command *c;
    fputs("# fish completion for noslip: made by `noslip completion fish`\n", f);
    for (size_t i = 0; (c = ns_program_command(i)); i++) {
        fprintf(f, "complete -c noslip -f -n __fish_use_subcommand -a %s -d '", c->name);
        put_quoted(f, c->summary, "");
        fputs("'\n", f);
        for (int own = 1; own >= 0; own--)
            for (const ns_option *o = own ? c->options : ns_command_common; o && o->name; o++)
                put_fish_option(f, c, o);
        if (has_first(c)) {
            fprintf(f,
                    "complete -c noslip -f -n 'test (count (commandline -opc)) = 2; "
                    "and __fish_seen_subcommand_from %s' -a '",
                    c->name);
            put_first(f, c);
            fputs("'\n", f);
        }
        if (takes_models(c)) {
            fprintf(f, "complete -c noslip -n '%s__fish_seen_subcommand_from %s' -a '",
                    has_first(c) ? "test (count (commandline -opc)) != 2; and " : "", c->name);
            put_models(f);
            fputs("'\n", f);
        }
    }
}

static int completion(ns_host *host, const ns_arguments *a)
{
    const char *shell = a->words.at[0];
    if (strcmp(shell, "bash") == 0)
        put_bash(host->out);
    else if (strcmp(shell, "zsh") == 0)
        put_zsh(host->out);
    else if (strcmp(shell, "fish") == 0)
        put_fish(host->out);
    else
        return ns_command_wrong(host, "no completion for `%s`; there are: bash, zsh, fish",
                                shell);
    return 0;
}

const ns_command ns_command_completion = {
    .name = "completion",
    .summary = "Print a completion script for a shell",
    .usage = "bash|zsh|fish",
    .doc = "bash: put it into ~/.local/share/bash-completion/completions/noslip\n"
           "zsh:  into a folder of $fpath, as _noslip\n"
           "fish: into ~/.config/fish/completions/noslip.fish",
    .least = 1,
    .most = 1,
    .run = completion,
};
