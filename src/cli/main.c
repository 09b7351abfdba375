/* The program: finds the command, reads its arguments, runs it. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "cli/command.h"
#include "cli/gallery.h"
#include "cli/open.h"

static int unknown_command(ns_cli *cli, const char *name)
{
    const char *nearest = NULL;
    unsigned best = ~0u;
    for (const ns_command *const *c = ns_commands; *c; c++)
        if (ns_model_is_near(name, (*c)->name, &best))
            nearest = (*c)->name;
    if (nearest)
        return ns_command_wrong(cli, "unknown command '%s'; did you mean '%s'?", name, nearest);
    if (access(name, F_OK) == 0 || ns_open_bundled(name))
        return ns_command_wrong(cli, "unknown command '%s'; did you mean `noslip run %s`?",
                                name, name);
    return ns_command_wrong(cli, "unknown command '%s'; see `noslip help`", name);
}

/* --help and -h anywhere before -- ask for the help of the command. */
static bool wants_help(int n, char **words)
{
    for (int i = 0; i < n && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0)
            return true;
    return false;
}

static int start(ns_cli *cli, int n, char **words)
{
    ns_arguments arguments;
    if (n < 2) {
        fprintf(cli->err, "usage: noslip COMMAND ...; `noslip help` says more\n");
        return ns_status_exit(NS_ERR_USAGE);
    }
    const char *name = words[1];
    if (strcmp(name, "--version") == 0)
        name = "version";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    const ns_command *command = ns_command_find(name);
    if (!command)
        return unknown_command(cli, name);
    if (wants_help(n - 2, words + 2)) {
        ns_command_help_text(cli, command);
        return 0;
    }
    if (!ns_command_parse(cli, command, n - 2, words + 2, &arguments))
        return ns_status_exit(NS_ERR_USAGE);
    return command->run(cli, &arguments);
}

/* The part that may run out of memory of the arena. */
static int guarded(ns_cli *cli, int n, char **words)
{
    if (NS_ARENA_GUARD(cli->arena)) {
        fputs("noslip: error: out of memory\n", stderr);
        return ns_status_exit(NS_ERR_MEMORY);
    }
    return start(cli, n, words);
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ,
           SIG_IGN); /* a file that became too large is an error of write, not an end */
    ns_cli cli = {.arena = ns_arena_new(), .out = stdout, .err = stderr};
    if (!cli.arena) {
        fputs("noslip: error: out of memory\n", stderr);
        return ns_status_exit(NS_ERR_MEMORY);
    }
    cli.style_out = ns_terminal_style(stdout);
    cli.style_err = ns_terminal_style(stderr);
    int status = guarded(&cli, argc, argv);
    ns_arena_free(cli.arena);
    errno = 0;
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "noslip: error: cannot write to standard output%s%s\n",
                errno ? ": " : "", errno ? strerror(errno) : "");
        status = ns_status_exit(NS_ERR_IO);
    }
    return status;
}
