#include "cli/page.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"

void ns_page_quote(ns_text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+.,/:=@%^";
    if (*word && !word[strspn(word, plain)]) {
        ns_text_add(text, word);
        return;
    }
    ns_text_add(text, "'");
    for (; *word; word++) {
        if (*word == '\'')
            ns_text_add(text, "'\\''");
        else
            ns_text_add_bytes(text, word, 1);
    }
    ns_text_add(text, "'");
}

const char *ns_page_command(ns_cli *cli, const ns_arguments *a)
{
    ns_text text = ns_text_new(cli->arena);
    ns_text_addf(&text, "noslip %s", a->command->name);
    for (uint32_t i = 0; i < a->words.n; i++) {
        ns_text_add(&text, " ");
        ns_page_quote(&text, a->words.at[i]);
    }
    for (uint32_t i = 0; i < a->options.n; i++) {
        const ns_given *given = &a->options.at[i];
        ns_text_addf(&text, " --%s", given->option->name);
        if (given->value) {
            ns_text_add(&text, " ");
            ns_page_quote(&text, given->value);
        }
    }
    return ns_text_string(&text);
}

bool ns_page_possible(ns_cli *cli, const ns_arguments *a)
{
    const char *path = ns_command_text(a, "report");
    if (!path)
        return true;
    if (!ns_page_bytes)
        return ns_command_refuse(
            cli, "--report: this program was built without the page; install nodejs "
                 "and npm (scripts/setup does), and build it again");
    const char *out;
    for (uint32_t k = 0; ns_command_each(a, "out", &k, &out);)
        if (strcmp(out, path) == 0)
            return ns_command_refuse(cli, "'%s' is given twice, as output and as report", path);
    ns_file_target target;
    const int error = ns_file_target_init(&target, path);
    ns_file_target_free(&target);
    return !error || ns_command_refuse(cli, "cannot write %s: %s", path, strerror(error));
}
