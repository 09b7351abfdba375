/* noslip format: the layout of models and claims. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "command/claims/claim.h"
#include "command/command.h"
#include "lang/syntax/format.h"

/* A file by its name; standard input by what it reads as, which a model never does. */
static bool is_claim(ns_host *host, const char *path, const char *text, size_t n)
{
    const size_t length = strlen(path);
    return strcmp(path, "-") == 0
               ? !ns_claim_read(host->arena, "claim", NULL, text, n)->diag->errors
               : length > 6 && strcmp(path + length - 6, ".claim") == 0;
}

/* The formatted text; NULL after saying why not. */
static const char *formatted(ns_host *host, const char *path, char **text, size_t *length)
{
    size_t n = 0;
    *text = NULL;
    const int error = ns_file_read(path, 64 << 20, text, &n);
    if (error) {
        ns_command_wrong(host, "cannot read %s: %s", path, strerror(error));
        return NULL;
    }
    ns_text out = ns_text_new(host->arena);
    *length = n;
    const bool claim = is_claim(host, path, *text, n);
    if ((claim ? ns_claim_format : ns_format_text)(*text, n, &out))
        return ns_text_string(&out);
    ns_command_wrong(host, "%s is left as it is: it is no %s", path,
                     claim ? "claim; `noslip reproduce` says why" : "model text");
    return NULL;
}

static int one(ns_host *host, const ns_arguments *a, const char *path)
{
    char *text;
    size_t length;
    int status = 0;
    const char *out = formatted(host, path, &text, &length);
    if (!out) {
        status = ns_status_exit(NS_ERR_USAGE);
    } else if (ns_command_flag(a, "check")) {
        if (strlen(out) != length || memcmp(out, text, length) != 0) {
            fprintf(host->out, "%s\n", path);
            status = 1;
        }
    } else if (ns_command_flag(a, "write") && strcmp(path, "-") != 0) {
        const int error = strlen(out) == length && memcmp(out, text, length) == 0
                              ? 0
                              : ns_file_write(path, out, strlen(out));
        if (error)
            status = ns_command_failed(host, NS_ERR_IO, "cannot write %s: %s", path,
                                       strerror(error));
    } else {
        fputs(out, host->out);
    }
    free(text);
    return status;
}

static int format(ns_host *host, const ns_arguments *a)
{
    int worst = 0;
    for (uint32_t i = 0; i < a->words.n; i++) {
        const int status = one(host, a, a->words.at[i]);
        worst = status > worst ? status : worst;
    }
    return worst;
}

static const ns_option options[] = {
    {.name = "write", .help = "write the files instead of printing"},
    {.name = "check", .help = "name the files that would change; exit status 1 if there are"},
    {0},
};

const ns_command ns_command_format = {
    .name = "format",
    .summary = "Format models and claims: indentation, spaces, empty lines",
    .usage = "FILE... [--write | --check]",
    .doc = "Words, numbers, comments and the ends of lines stay as they are, so the meaning\n"
           "does.  Formatting twice changes nothing more.  Files ending .claim are claims, "
           "others\n"
           "models.",
    .options = options,
    .least = 1,
    .most = 100000,
    .run = format,
};
