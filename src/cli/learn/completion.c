/* noslip completion: what a shell needs to complete command lines, from the descriptors. */
#include <string.h>

#include "cli/program.h"
#include "mech/system.h"
#include "ode/auto.h"
#include "session/gallery.h"

/* The words that an option's value may be, or "file" or "" */
static const char *values_of(const ns_option *o)
{
    static const char *const files[] = {"out",  "report", "checkpoint", "resume", "plot",
                                        "from", "figure", "join",       "write"};
    if (strcmp(o->name, "method") == 0)
        return "method";
    if (strcmp(o->name, "engine") == 0)
        return "interpreter native auto";
    if (strcmp(o->name, "precision") == 0)
        return "double quad";
    if (strcmp(o->name, "simd") == 0)
        return "plain avx2 avx512";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(o->name, files[i]) == 0)
            return "file";
    return "";
}

static void put_methods(FILE *f)
{
    for (const ns_method *const *m = ns_methods; *m; m++)
        fprintf(f, "%s ", (*m)->name);
    fputs(NS_METHOD_AUTO, f);
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

/* What stands for the words of a command that are no options. */
static const char *words_of(const ns_command *c)
{
    if (strcmp(c->name, "new") == 0)
        return "rolling bodies lagrange frame lie planar";
    if (strcmp(c->name, "completion") == 0)
        return "bash zsh fish";
    if (strcmp(c->name, "emit") == 0)
        return "c fmu";
    if (strcmp(c->name, "help") == 0 || strcmp(c->name, "man") == 0)
        return "command";
    return strstr(c->usage, "MODEL") || strstr(c->usage, "A B") ||
                   strcmp(c->name, "gallery") == 0
               ? "model"
               : "";
}

static void put_bash(FILE *f)
{
    fputs("# bash completion for noslip: made by `noslip completion bash`\n"
          "_noslip() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command=${COMP_WORDS[1]} words= options=\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          f);
    put_commands(f);
    fputs("' -- \"$word\"))\n        return\n    fi\n    case $before in\n    --method) "
          "COMPREPLY=($(compgen -W '",
          f);
    put_methods(f);
    fputs("' -- \"$word\")); return ;;\n"
          "    --engine) COMPREPLY=($(compgen -W 'interpreter native auto' -- \"$word\")); "
          "return ;;\n"
          "    --precision) COMPREPLY=($(compgen -W 'double quad' -- \"$word\")); return ;;\n"
          "    --simd) COMPREPLY=($(compgen -W 'plain avx2 avx512' -- \"$word\")); return ;;\n"
          "    --out | --report | --checkpoint | --resume | --plot | --figure | --from) "
          "COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"
          "    esac\n    case $command in\n",
          f);
    const ns_command *c;
    for (size_t i = 0; (c = ns_program_command(i)); i++) {
        const char *words = words_of(c);
        fprintf(f, "    %s)\n        options='", c->name);
        put_options(f, c);
        fputs("'\n        words='", f);
        if (strcmp(words, "model") == 0)
            put_models(f);
        else if (strcmp(words, "command") == 0)
            put_commands(f);
        else
            fputs(words, f);
        fputs("'\n        ;;\n", f);
    }
    fputs(
        "    esac\n"
        "    case $word in\n"
        "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
        "    *) COMPREPLY=($(compgen -f -X '!*.mech' -- \"$word\") $(compgen -W \"$words\" -- "
        "\"$word\")) ;;\n"
        "    esac\n"
        "}\n"
        "complete -o filenames -o bashdefault -F _noslip noslip\n",
        f);
}

/* Text inside '...' of a shell, with what zsh's _arguments would read as its own masked. */
static void put_quoted(FILE *f, const char *text, const char *masked)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", f);
        else if (strchr(masked, *text))
            fprintf(f, "\\%c", *text);
        else
            fputc(*text, f);
    }
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
        const char *words = words_of(c);
        fprintf(f, "    %s)\n        _arguments -s '2:: :'", c->name);
        for (int own = 1; own >= 0; own--)
            for (const ns_option *o = own ? c->options : ns_command_common; o && o->name; o++) {
                fprintf(f, " \\\n            '%s--%s%s[", o->repeat ? "*" : "", o->name,
                        !o->argument  ? ""
                        : o->optional ? "=-"
                                      : "");
                put_quoted(f, o->help, "[]:");
                fputc(']', f);
                const char *values = values_of(o);
                if (o->argument) {
                    fputs(o->optional ? "::" : ":", f);
                    put_quoted(f, o->argument, "[]:");
                    if (strcmp(values, "file") == 0) {
                        fputs(":_files", f);
                    } else if (strcmp(values, "method") == 0) {
                        fputs(":(", f);
                        put_methods(f);
                        fputc(')', f);
                    } else {
                        fprintf(f, *values ? ":(%s)" : ":%s", values); /* both with one word */
                    }
                }
                fputc('\'', f);
            }
        if (strcmp(words, "model") == 0)
            fputs(" \\\n            '*:model:{ compadd -a models; _files -g \"*.mech\" }'", f);
        else if (strcmp(words, "command") == 0)
            fputs(" \\\n            '*:command:{ _describe command commands }'", f);
        else if (*words)
            fprintf(f, " \\\n            '3:what:(%s)' '*:file:_files'", words);
        else
            fputs(" \\\n            '*:file:_files'", f);
        fputs("\n        ;;\n", f);
    }
    fputs("    esac\n}\n_noslip \"$@\"\n", f);
}

static void put_fish(FILE *f)
{
    const ns_command *c;
    fputs("# fish completion for noslip: made by `noslip completion fish`\n", f);
    for (size_t i = 0; (c = ns_program_command(i)); i++) {
        const char *words = words_of(c);
        fprintf(f, "complete -c noslip -f -n __fish_use_subcommand -a %s -d '", c->name);
        put_quoted(f, c->summary, "");
        fputs("'\n", f);
        const char *seen = ns_program_command(i)->name;
        for (int own = 1; own >= 0; own--)
            for (const ns_option *o = own ? c->options : ns_command_common; o && o->name; o++) {
                const char *values = values_of(o);
                fprintf(f, "complete -c noslip -n '__fish_seen_subcommand_from %s' -l %s", seen,
                        o->name);
                if (o->argument && !o->optional)
                    fputs(strcmp(values, "file") == 0 ? " -r" : " -x", f);
                if (strcmp(values, "method") == 0) {
                    fputs(" -a '", f);
                    put_methods(f);
                    fputc('\'', f);
                } else if (*values && strcmp(values, "file") != 0) {
                    fprintf(f, " -a `%s`", values);
                }
                fputs(" -d '", f);
                put_quoted(f, o->help, "");
                fputs("'\n", f);
            }
        if (*words && strcmp(words, "command") != 0) {
            fprintf(f, "complete -c noslip -n '__fish_seen_subcommand_from %s' -a '", seen);
            if (strcmp(words, "model") == 0)
                put_models(f);
            else
                fputs(words, f);
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
    .summary = "Print the completion of command lines for a shell",
    .usage = "bash|zsh|fish",
    .doc = "bash: put it into ~/.local/share/bash-completion/completions/noslip\n"
           "zsh:  into a folder of $fpath, as _noslip\n"
           "fish: into ~/.config/fish/completions/noslip.fish",
    .least = 1,
    .most = 1,
    .run = completion,
};
