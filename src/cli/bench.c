/* noslip bench: hands over to noslip-bench, a program of its own, which links what noslip must
 * not need (rival libraries, code for this one processor). */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "base/text.h"
#include "cli/program.h"

/* Where this program is; NULL if the system does not say. */
static const char *own_path(ns_host *host)
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0 || (size_t)length == sizeof path)
        return NULL;
    return ns_arena_string(host->arena, path, (size_t)length);
}

/* In the build folder it stands beside the program, installed below libexec. */
static const char *companion(ns_host *host, const char *own)
{
    static const char *const places[] = {"noslip-bench", "../libexec/noslip/noslip-bench"};
    const char *slash = own ? strrchr(own, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        const char *path = ns_arena_format(host->arena, "%.*s/%s", (int)(slash - own), own,
                                           places[i]);
        if (access(path, X_OK) == 0)
            return path;
    }
    return NULL;
}

static int bench(ns_host *host, const ns_arguments *a)
{
    const char *own = own_path(host), *path = companion(host, own);
    if (!path)
        return ns_command_failed(
            host, NS_ERR_IO,
            "noslip-bench is not installed: build noslip with "
            "-DNOSLIP_BENCH=ON (cmake), then `make bench` or `make install`");
    /* Texts of the arguments are not changed: exec wants them writable for reasons of
     * history. */
    char **words = NS_NEW_ARRAY(host->arena, char *, 2 * a->options.n + a->words.n + 4);
    size_t n = 0;
    words[n++] = ns_arena_string(host->arena, path, strlen(path));
    words[n++] = ns_arena_format(host->arena, "--noslip");
    words[n++] = ns_arena_string(host->arena, own, strlen(own));
    for (uint32_t i = 0; i < a->options.n; i++) {
        const ns_given *given = &a->options.at[i];
        words[n++] = ns_arena_format(host->arena, "--%s", given->option->name);
        if (given->value)
            words[n++] = ns_arena_string(host->arena, given->value, strlen(given->value));
    }
    for (uint32_t i = 0; i < a->words.n; i++)
        words[n++] = ns_arena_string(host->arena, a->words.at[i], strlen(a->words.at[i]));
    words[n] = NULL;
    fflush(host->out);
    fflush(host->err);
    execv(path, words);
    return ns_command_failed(host, NS_ERR_IO, "%s cannot be started: %s", path,
                             strerror(errno));
}

static const ns_option options[] = {
    {.name = "quick", .help = "fewer tolerances and rounds: about 20 s for all problems"},
    {.name = "with",
     .argument = "NAME,...",
     .help = "these contenders only, and C853, the yardstick",
     .repeat = true},
    {.name = "rounds", .argument = "N", .help = "rounds of timing (default 5)"},
    {.name = "longest",
     .argument = "S",
     .help = "seconds: tighter tolerances are left out where a motion takes longer"},
    {.name = "instructions",
     .help = "count instructions on P1c, P2, P3min instead, by the processor or by valgrind"},
    {.name = "sets",
     .help = "P1c, P2, P3min with every instruction set of this machine instead; --write takes "
             "it"},
    {.name = "csv", .argument = "FILE", .help = "write every measurement"},
    {.name = "write",
     .argument = "FILE.md",
     .help =
         "write the page of docs/performance.md, and its figures in images/bench next to it"},
    {0}};

const ns_command ns_command_bench = {
    .name = "bench",
    .summary = "Measure accuracy against time, in comparison with other programs",
    .usage = "[PROBLEM]... [--with NAME,...] [--quick] [--csv FILE] [--write FILE.md]",
    .doc =
        "Runs standard problems with this program's methods and engines and with others\n"
        "(hand-written C, CVODE, GSL; SciPy and Octave where they are installed), and prints\n"
        "the CPU time at equal error of the final state as a ratio to DOP853 written by hand\n"
        "in C.  Errors are measured against solutions in quadruple precision.  Without names\n"
        "it also measures start-up, compiling, the engines, and how costs grow; this takes\n"
        "minutes.  A wrong name lists problems and contenders; bench/README.md describes\n"
        "them, docs/performance.md shows results.",
    .options = options,
    .most = 16,
    .run = bench,
};
