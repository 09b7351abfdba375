#include "command/page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

enum { MOST_BYTES = 1 << 26 }; /* of a playground */

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

const char *ns_page_command(ns_host *host, const ns_arguments *a)
{
    ns_text text = ns_text_new(host->arena);
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

/* Where the playground is: where NOSLIP_PLAYGROUND says, beside the program, in the build
 * folder, or where it was installed. */
int ns_page_playground(char **bytes, size_t *length)
{
    static const char *const places[] = {"playground.html", "../playground.html",
                                         "../share/noslip/playground.html"};
    const char *given = getenv("NOSLIP_PLAYGROUND");
    if (given)
        return ns_file_read(given, MOST_BYTES, bytes, length);
    char program[4096], path[4200];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    char *slash = strrchr(program, '/');
    int error = ENOENT;
    for (size_t i = 0; slash && error && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%.*s/%s", (int)(slash - program), program, places[i]);
        error = ns_file_read(path, MOST_BYTES, bytes, length);
    }
    return error;
}

bool ns_page_template(ns_host *host, const ns_arguments *a, ns_report_options *page,
                      char **owned)
{
    *owned = NULL;
    page->template = ns_page_bytes;
    page->length = ns_page_length;
    if (!ns_command_flag(a, "live"))
        return true;
    const int error = ns_page_playground(owned, &page->length);
    if (error)
        return ns_command_refuse(host,
                                 "--live needs the playground (%s): `make playground` makes "
                                 "it; NOSLIP_PLAYGROUND names one that is elsewhere",
                                 strerror(error));
    page->template = *owned;
    return true;
}

bool ns_page_possible(ns_host *host, const ns_arguments *a)
{
    const char *path = ns_command_text(a, "report");
    if (!path)
        return true;
    if (!ns_page_bytes)
        return ns_command_refuse(
            host, "--report: this program was built without the page; install nodejs "
                  "and npm (scripts/setup does), and build it again");
    ns_file_target target;
    const int error = ns_file_target_init(&target, path);
    ns_file_target_free(&target);
    if (error == ENOMEM)
        ns_arena_exhausted(host->arena);
    return !error || ns_command_refuse(host, "cannot write %s: %s", path, strerror(error));
}
