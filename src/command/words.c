/* Command lines: of the program, and of claims, which are made of them. */
#include <string.h>

#include "command/command.h"

static bool take_common(ns_host *host, ns_arguments *a, const char *value)
{
    if (a->simd)
        return ns_command_refuse(host, "the option --%s is given twice",
                                 ns_command_common->name);
    if (!value)
        return ns_command_refuse(host, "the option --%s needs a value: --%s %s",
                                 ns_command_common->name, ns_command_common->name,
                                 ns_command_common->argument);
    a->simd = value;
    return true;
}

/* One option at words[i]; returns how many words it took, 0 after an error. */
static int take_option(ns_host *host, int n, char **words, int i, ns_arguments *a)
{
    const char *word = words[i], *equals = strchr(word, '=');
    if (word[1] != '-') { /* there are none of one letter */
        ns_command_take(host, a, word, NULL);
        return 0;
    }
    const char *name = ns_arena_string(host->arena, word + 2,
                                       equals ? (size_t)(equals - word - 2) : strlen(word + 2));
    const size_t length = strlen(name);
    const bool common = ns_command_option(ns_command_common, name, length);
    const ns_option *option = common ? ns_command_common
                                     : ns_command_option(a->command->options, name, length);
    const bool next = option && option->argument && !option->optional && !equals && i + 1 < n;
    const char *value = equals ? equals + 1 : next ? words[i + 1] : NULL;
    if (!(common ? take_common(host, a, value) : ns_command_take(host, a, name, value)))
        return 0;
    return next ? 2 : 1;
}

bool ns_command_parse(ns_host *host, const ns_command *command, int n, char **words,
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
            const int took = take_option(host, n, words, i, a);
            if (!took)
                return false;
            i += took;
        } else {
            NS_PUSH(host->arena, a->words, word);
            i++;
        }
    }
    return ns_command_enough(host, a);
}
