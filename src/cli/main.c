/* The program: finds the command, reads its arguments, runs it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/near.h"
#include "base/simd.h"
#include "base/status.h"
#include "cli/program.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "command/open.h"
#include "session/gallery.h"

static int unknown_command(ns_host *host, const char *name)
{
    ns_near near = {.word = name};
    for (size_t i = 0; ns_program_command(i); i++)
        ns_near_try(&near, ns_program_command(i)->name);
    if (near.found)
        return ns_command_wrong(host, "unknown command `%s`; did you mean `%s`?", name,
                                near.found);
    if (access(name, F_OK) == 0 || ns_gallery_find(name))
        return ns_command_wrong(host, "unknown command `%s`; did you mean `noslip run %s`?",
                                name, name);
    return ns_command_wrong(host, "unknown command `%s`; see `noslip help`", name);
}

/* --help and -h anywhere before -- ask for the help of the command. */
static bool wants_help(int n, char **words)
{
    for (int i = 0; i < n && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0)
            return true;
    return false;
}

/* --max-seconds, of the commands that have it */
static bool limit_time(ns_host *host, const ns_arguments *a)
{
    double seconds = 0;
    const char *text;
    for (uint32_t k = 0; ns_command_each(a, "max-seconds", &k, &text);) {
        if (!ns_command_number(host, a, "max-seconds", &seconds))
            return false;
        if (!(seconds > 0) || seconds > 1e9)
            return ns_command_refuse(host, "--max-seconds must be positive, not %s", text);
        ns_signals_limit(seconds);
    }
    return true;
}

/* The instruction set that --simd names is used by everything after this, and by programs that
 * this one starts: it goes the way of NOSLIP_SIMD. */
static bool choose_simd(ns_host *host, const ns_arguments *arguments)
{
    const char *word = arguments->simd;
    char why[200];
    if (word && !*word) /* to the library it would mean nothing asked for */
        ns_command_wrong(host, "the option --simd needs a value: --simd plain|avx2|avx512");
    else if (word && !ns_simd_check(word, why, sizeof why))
        ns_command_wrong(host, "--simd: %s", why);
    else if (word && setenv(NS_SIMD_VARIABLE, word, 1) != 0)
        ns_command_wrong(host, "--simd: %s", strerror(errno));
    else if (ns_simd_check_variable(why, sizeof why))
        return true;
    else
        ns_command_wrong(host, "%s", why);
    return false;
}

static int start(ns_host *host, int n, char **words)
{
    ns_arguments arguments;
    if (n < 2) {
        fprintf(host->err, "usage: noslip COMMAND ...; `noslip help` says more\n");
        return ns_status_exit(NS_ERR_USAGE);
    }
    const char *name = words[1];
    if (strcmp(name, "--version") == 0)
        name = "version";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    const ns_command *command = ns_program_find(name);
    if (!command)
        return unknown_command(host, name);
    if (wants_help(n - 2, words + 2)) {
        ns_program_help(host, command);
        return 0;
    }
    if (!ns_command_parse(host, command, n - 2, words + 2, &arguments) ||
        !choose_simd(host, &arguments) || !limit_time(host, &arguments))
        return ns_status_exit(NS_ERR_USAGE);
    const int status = command->run(host, &arguments);
    /* a request that came to nothing because somebody stopped it is not wrong */
    return *ns_signals_flag() && status == ns_status_exit(NS_ERR_USAGE)
               ? ns_status_exit(NS_STOP_INTERRUPT)
               : status;
}

/* The part that may run out of memory of the arena. */
static int guarded(ns_host *host, int n, char **words)
{
    if (NS_ARENA_GUARD(host->arena)) {
        fputs("noslip: error: out of memory\n", stderr);
        return ns_status_exit(NS_ERR_MEMORY);
    }
    return start(host, n, words);
}

/* ---- what the program does for its commands ---------------------------------------------- */

typedef struct terminal {
    const ns_host *host;
    ns_bar bar;
} terminal;

static bool draw_progress(void *context, const ns_host_progress *p)
{
    terminal *t = context;
    t->bar.wanted = t->bar.wanted && !t->host->quiet;
    ns_terminal_bar_draw(&t->bar, p);
    return true;
}

static void change_phase(void *context, ns_phase phase)
{
    terminal *t = context;
    if (phase == NS_PHASE_WRITE)
        ns_terminal_bar_clear(&t->bar);
    if (phase == NS_PHASE_STUDY || phase == NS_PHASE_RUN || phase == NS_PHASE_FOLLOW)
        ns_signals_catch(phase != NS_PHASE_FOLLOW);
    ns_signals_insist(phase == NS_PHASE_READ || phase == NS_PHASE_STUDY);
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ,
           SIG_IGN); /* a file that became too large is an error of write, not an end */
    terminal context = {.bar = ns_terminal_bar(stderr)};
    ns_host host = {.arena = ns_arena_new(),
                    .out = stdout,
                    .err = stderr,
                    .style_out = ns_terminal_style(stdout),
                    .style_err = ns_terminal_style(stderr),
                    .owns_process = true,
                    .stop = ns_signals_flag(),
                    .context = &context,
                    .progress = draw_progress,
                    .phase = change_phase};
    context.host = &host;
    if (!host.arena) {
        fputs("noslip: error: out of memory\n", stderr);
        return ns_status_exit(NS_ERR_MEMORY);
    }
    int status = guarded(&host, argc, argv);
    ns_arena_free(host.arena);
    errno = 0;
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "noslip: error: cannot write to standard output%s%s\n",
                errno ? ": " : "", errno ? strerror(errno) : "");
        status = ns_status_exit(NS_ERR_IO);
    }
    return status;
}
