#include "cli/command.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "base/status.h"
#include "session/model.h"

/* clang-format off */
const ns_command *const ns_commands[] = {
    &ns_command_run,
    &ns_command_check,
    &ns_command_period,
    &ns_command_reproduce,
    &ns_command_invariants,
    &ns_command_equations,
    &ns_command_emit,
    &ns_command_equilibria,
    &ns_command_compare,
    &ns_command_sweep,
    &ns_command_section,
    &ns_command_lyapunov,
    &ns_command_portrait,
    &ns_command_measure,
    &ns_command_bench,
    &ns_command_gallery,
    &ns_command_help,
    &ns_command_version,
    NULL,
};
/* clang-format on */

const ns_command *ns_command_find(const char *name)
{
    for (const ns_command *const *c = ns_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

static void say(ns_cli *cli, const char *format, va_list list)
{
    fprintf(cli->err, "noslip: %serror:%s ", cli->style_err.red, cli->style_err.plain);
    vfprintf(cli->err, format, list);
    fputc('\n', cli->err);
}

int ns_command_wrong(ns_cli *cli, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(cli, format, list);
    va_end(list);
    return ns_status_exit(NS_ERR_USAGE);
}

bool ns_command_refuse(ns_cli *cli, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(cli, format, list);
    va_end(list);
    return false;
}

int ns_command_failed(ns_cli *cli, ns_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(cli, format, list);
    va_end(list);
    return ns_status_exit(status);
}

/* ---- parsing ----------------------------------------------------------------------------- */

/* Every command has it; it is not among the command's own options. */
static const ns_option common[] = {
    {.name = "simd",
     .argument = "LEVEL",
     .help = "highest instruction set: plain, avx2 or avx512 (the same bits, slower)"},
    {0},
};

static const ns_option *find_in(const ns_option *options, const char *name, size_t length)
{
    for (const ns_option *o = options; o && o->name; o++)
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

static const ns_option *find_option(const ns_command *command, const char *name, size_t length)
{
    const ns_option *own = find_in(command->options, name, length);
    return own ? own : find_in(common, name, length);
}

static bool unknown_option(ns_cli *cli, const ns_command *command, const char *word,
                           const char *name)
{
    ns_near near = {.word = name};
    for (const ns_option *o = command->options; o && o->name; o++)
        ns_near_try(&near, o->name);
    for (const ns_option *o = common; o->name; o++)
        ns_near_try(&near, o->name);
    if (near.found)
        ns_command_wrong(cli, "unknown option '%s'; did you mean '--%s'?", word, near.found);
    else
        ns_command_wrong(cli, "unknown option '%s'; see `noslip help %s`", word, command->name);
    return false;
}

static bool add_option(ns_cli *cli, ns_arguments *a, const ns_option *option, const char *value)
{
    if (option->missing)
        return ns_command_refuse(cli, "--%s: %s", option->name, option->missing);
    bool twice = option == common && a->simd;
    for (uint32_t i = 0; i < a->options.n && !option->repeat; i++)
        twice = twice || a->options.at[i].option == option;
    if (twice)
        return ns_command_refuse(cli, "the option --%s is given twice", option->name);
    if (option == common)
        a->simd = value;
    else
        NS_PUSH(cli->arena, a->options, (ns_given){.option = option, .value = value});
    return true;
}

/* One option at words[i]; returns how many words it took, 0 after an error. */
static int take_option(ns_cli *cli, const ns_command *command, int n, char **words, int i,
                       ns_arguments *a)
{
    const char *word = words[i], *equals = strchr(word, '=');
    if (word[1] != '-') {
        char name[2] = {word[1], 0};
        unknown_option(cli, command, word, word[2] ? word + 1 : name);
        return 0;
    }
    const char *name = word + 2;
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const ns_option *option = find_option(command, name, length);
    if (!option) {
        const char *cut = ns_arena_string(cli->arena, name, length);
        unknown_option(cli, command, ns_arena_format(cli->arena, "--%s", cut), cut);
        return 0;
    }
    if (!option->argument || (option->optional && !equals)) {
        if (equals) {
            ns_command_wrong(cli, "the option --%s takes no value", option->name);
            return 0;
        }
        return add_option(cli, a, option, NULL) ? 1 : 0;
    }
    if (equals)
        return add_option(cli, a, option, equals + 1) ? 1 : 0;
    if (i + 1 == n) {
        /* What does not work at all should say so even without its value. */
        if (option->missing)
            add_option(cli, a, option, "");
        else
            ns_command_wrong(cli, "the option --%s needs a value: --%s %s", option->name,
                             option->name, option->argument);
        return 0;
    }
    return add_option(cli, a, option, words[i + 1]) ? 2 : 0;
}

bool ns_command_parse(ns_cli *cli, const ns_command *command, int n, char **words,
                      ns_arguments *a)
{
    *a = (ns_arguments){.command = command};
    bool only_words = false;
    for (int i = 0; i < n;) {
        const char *word = words[i];
        if (!only_words && strcmp(word, "--") == 0) {
            only_words = true;
            i++;
        } else if (!only_words && word[0] == '-' && word[1]) {
            const int took = take_option(cli, command, n, words, i, a);
            if (!took)
                return false;
            i += took;
        } else {
            NS_PUSH(cli->arena, a->words, word);
            i++;
        }
    }
    if (a->words.n < command->least)
        return ns_command_refuse(cli, "`noslip %s` needs %s: noslip %s %s", command->name,
                                 command->least == 1 ? "a model" : "more arguments",
                                 command->name, command->usage);
    if (a->words.n > command->most)
        return ns_command_refuse(cli, "unexpected argument '%s': noslip %s %s",
                                 a->words.at[command->most], command->name, command->usage);
    return true;
}

/* ---- values ------------------------------------------------------------------------------ */

static const ns_given *find_given(const ns_arguments *a, const char *name)
{
    assert(find_in(a->command->options, name, strlen(name)));
    for (uint32_t i = 0; i < a->options.n; i++)
        if (strcmp(a->options.at[i].option->name, name) == 0)
            return &a->options.at[i];
    return NULL;
}

const char *ns_command_text(const ns_arguments *a, const char *name)
{
    const ns_given *given = find_given(a, name);
    return given ? given->value : NULL;
}

bool ns_command_flag(const ns_arguments *a, const char *name)
{
    return find_given(a, name) != NULL;
}

bool ns_command_each(const ns_arguments *a, const char *name, uint32_t *at, const char **value)
{
    while (*at < a->options.n) {
        const ns_given *given = &a->options.at[(*at)++];
        if (strcmp(given->option->name, name) == 0) {
            *value = given->value;
            return true;
        }
    }
    return false;
}

bool ns_command_pair(ns_cli *cli, const char *option, const char *form, const char *text,
                     const char **name, const char **rest)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return ns_command_refuse(cli, "%s expects %s, not '%s'", option, form, text);
    *name = ns_arena_string(cli->arena, text, (size_t)(equals - text));
    *rest = equals + 1;
    return true;
}

/* A decimal number; hexadecimal, inf and nan are refused. */
static bool parse_number(const char *text, const char **end, double *value)
{
    const char *at = text;
    while (*at == ' ')
        at++;
    const char *digits = *at == '-' || *at == '+' ? at + 1 : at;
    if (!isdigit((unsigned char)*digits) && *digits != '.')
        return false;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
        return false;
    char *stop;
    *value = strtod(at, &stop);
    if (stop == at)
        return false;
    while (*stop == ' ')
        stop++;
    *end = stop;
    return isfinite(*value);
}

bool ns_command_number(ns_cli *cli, const ns_arguments *a, const char *name, double *value)
{
    const char *text = ns_command_text(a, name), *end;
    if (!text)
        return true;
    if (parse_number(text, &end, value) && !*end)
        return true;
    return ns_command_refuse(cli, "--%s expects a number, not '%s'", name, text);
}

bool ns_command_numbers(ns_cli *cli, const ns_arguments *a, const char *name, double **values,
                        size_t *n)
{
    *n = 0;
    *values = NULL;
    const char *text = ns_command_text(a, name);
    if (!text)
        return true;
    NS_LIST(double) list = {0};
    for (const char *at = text;;) {
        double value;
        const char *end;
        if (!parse_number(at, &end, &value) || (*end && *end != ','))
            return ns_command_refuse(cli, "--%s expects numbers separated by commas, not '%s'",
                                     name, text);
        NS_PUSH(cli->arena, list, value);
        if (!*end)
            break;
        at = end + 1;
    }
    *values = list.at;
    *n = list.n;
    return true;
}

/* ---- help -------------------------------------------------------------------------------- */

static void print_options(ns_cli *cli, const ns_option *options)
{
    for (const ns_option *o = options; o && o->name; o++) {
        char head[64];
        snprintf(head, sizeof head, "--%s%s%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        fprintf(cli->out, "  %-26s %s%s%s\n", head, o->help, o->repeat ? " (repeatable)" : "",
                o->missing ? " (not in this version)" : "");
    }
}

void ns_command_help_text(ns_cli *cli, const ns_command *command)
{
    const ns_style *s = &cli->style_out;
    fprintf(cli->out, "%snoslip %s%s %s\n\n%s.\n", s->bold, command->name, s->plain,
            command->usage, command->summary);
    if (command->doc)
        fprintf(cli->out, "\n%s\n", command->doc);
    fprintf(cli->out, "\n%sOptions%s\n", s->bold, s->plain);
    print_options(cli, command->options);
    print_options(cli, common);
}
