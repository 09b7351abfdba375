#include "command/command.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/file.h"
#include "base/messages/tame.h"
#include "base/near.h"
#include "base/status.h"
#include "session/model.h"

static void say(ns_host *host, const char *format, va_list list)
{
    char words[4096];
    vsnprintf(words, sizeof words, format, list);
    ns_tame_text(words); /* names of files are what they are */
    fprintf(host->err, "noslip: %serror:%s %s\n", host->style_err.red, host->style_err.plain,
            words);
}

int ns_command_wrong(ns_host *host, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(host, format, list);
    va_end(list);
    return ns_status_exit(NS_ERR_USAGE);
}

bool ns_command_refuse(ns_host *host, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(host, format, list);
    va_end(list);
    return false;
}

int ns_command_failed(ns_host *host, ns_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(host, format, list);
    va_end(list);
    return ns_status_exit(status);
}

void ns_command_phase(const ns_host *host, ns_phase phase)
{
    if (host->phase)
        host->phase(host->context, phase);
}

bool ns_command_progress(const ns_host *host, const ns_host_progress *p)
{
    return (!host->progress || host->progress(host->context, p)) && !*host->stop;
}

/* ---- options ----------------------------------------------------------------------------- */

const ns_option ns_command_common[] = {
    {.name = "simd",
     .argument = "LEVEL",
     .help = "widest vectors to use: plain, avx2 or avx512 (same results, other speed)"},
    {0},
};

const ns_option *ns_command_option(const ns_option *options, const char *name, size_t length)
{
    for (const ns_option *o = options; o && o->name; o++)
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

static bool unknown_option(ns_host *host, const ns_command *command, const char *name)
{
    ns_near near = {.word = name + strspn(name, "-")};
    for (const ns_option *o = command->options; o && o->name; o++)
        ns_near_try(&near, o->name);
    for (const ns_option *o = ns_command_common; o->name; o++)
        ns_near_try(&near, o->name);
    const char *dashes = name[0] == '-' ? "" : "--";
    if (near.found)
        return ns_command_refuse(host, "unknown option `%s%s`; did you mean `--%s`?", dashes,
                                 name, near.found);
    return ns_command_refuse(host, "unknown option `%s%s`; see `noslip help %s`", dashes, name,
                             command->name);
}

bool ns_command_take(ns_host *host, ns_arguments *a, const char *name, const char *value)
{
    const ns_option *option = ns_command_option(a->command->options, name, strlen(name));
    if (!option)
        return unknown_option(host, a->command, name);
    if (option->missing)
        return ns_command_refuse(host, "--%s: %s", name, option->missing);
    if (value && !option->argument)
        return ns_command_refuse(host, "the option --%s takes no value", name);
    if (!value && option->argument && !option->optional)
        return ns_command_refuse(host, "the option --%s needs a value: --%s %s", name, name,
                                 option->argument);
    for (uint32_t i = 0; i < a->options.n && !option->repeat; i++)
        if (a->options.at[i].option == option)
            return ns_command_refuse(host, "the option --%s is given twice", name);
    NS_PUSH(host->arena, a->options, (ns_given){.option = option, .value = value});
    return true;
}

/* What an option does with the file that it names. */
typedef enum use { NO_FILE, READS, WRITES } use;

static use use_of(const ns_option *o)
{
    static const char *const reading[] = {"resume", "from", "join", "data"};
    if (!o->argument || strncmp(o->argument, "FILE", 4) != 0)
        return NO_FILE;
    for (size_t i = 0; i < sizeof reading / sizeof *reading; i++)
        if (strcmp(o->name, reading[i]) == 0)
            return READS;
    return WRITES;
}

bool ns_command_writes(const ns_option *option)
{
    return use_of(option) == WRITES;
}

/* A file that is written must not be one that is read or written otherwise: the model, a
 * checkpoint, another output.  A checkpoint may follow the one it continues. */
static bool files_differ(ns_host *host, const ns_arguments *a)
{
    for (uint32_t i = 0; i < a->options.n; i++) {
        const ns_given *one = &a->options.at[i];
        if (use_of(one->option) != WRITES || !one->value)
            continue;
        for (uint32_t k = 0; k < a->words.n; k++)
            if (ns_file_same(one->value, a->words.at[k]))
                return ns_command_refuse(host,
                                         "--%s %s would overwrite `%s`, which this command "
                                         "reads",
                                         one->option->name, one->value, a->words.at[k]);
        for (uint32_t k = 0; k < a->options.n; k++) {
            const ns_given *other = &a->options.at[k];
            const use used = use_of(other->option);
            const bool follows = strcmp(one->option->name, "checkpoint") == 0 &&
                                 strcmp(other->option->name, "resume") == 0;
            if (k == i || used == NO_FILE || !other->value || follows ||
                !ns_file_same(one->value, other->value))
                continue;
            if (used == READS)
                return ns_command_refuse(host, "--%s %s would overwrite the file of --%s",
                                         one->option->name, one->value, other->option->name);
            return ns_command_refuse(host, "`%s` is given twice: by --%s and --%s",
                                     other->value, one->option->name, other->option->name);
        }
    }
    return true;
}

bool ns_command_enough(ns_host *host, const ns_arguments *a)
{
    const ns_command *command = a->command;
    if (a->words.n < command->least)
        return ns_command_refuse(host, "`noslip %s` needs %s: noslip %s %s", command->name,
                                 command->least == 1 && command->models ? "a model"
                                                                        : "more arguments",
                                 command->name, command->usage);
    for (uint32_t i = 0; a->words.n > command->most && i < a->options.n; i++)
        if (a->options.at[i].option->optional && !a->options.at[i].value)
            return ns_command_refuse(host, "unexpected argument `%s`; is --%s=%s meant?",
                                     a->words.at[command->most], a->options.at[i].option->name,
                                     a->words.at[command->most]);
    if (a->words.n > command->most)
        return ns_command_refuse(host, "unexpected argument `%s`: noslip %s %s",
                                 a->words.at[command->most], command->name, command->usage);
    return files_differ(host, a);
}

/* ---- values ------------------------------------------------------------------------------ */

static const ns_given *find_given(const ns_arguments *a, const char *name)
{
    NS_CHECK(ns_command_option(a->command->options, name, strlen(name)));
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

bool ns_command_pair(ns_host *host, const char *option, const char *form, const char *text,
                     const char **name, const char **rest)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return ns_command_refuse(host, "%s expects %s, not `%s`", option, form, text);
    *name = ns_arena_string(host->arena, text, (size_t)(equals - text));
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

bool ns_command_number(ns_host *host, const ns_arguments *a, const char *name, double *value)
{
    const char *text = ns_command_text(a, name), *end;
    if (!text)
        return true;
    if (parse_number(text, &end, value) && !*end)
        return true;
    return ns_command_refuse(host, "--%s expects a number, not `%s`", name, text);
}

bool ns_command_numbers(ns_host *host, const ns_arguments *a, const char *name, double **values,
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
            return ns_command_refuse(host, "--%s expects numbers separated by commas, not `%s`",
                                     name, text);
        NS_PUSH(host->arena, list, value);
        if (!*end)
            break;
        at = end + 1;
    }
    *values = list.at;
    *n = list.n;
    return true;
}
