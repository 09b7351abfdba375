/* noslip emit: the equations of a model as a program in C. */
#include <string.h>

#include "base/text.h"
#include "cli/open.h"
#include "out/program/emit_c.h"

static int emit(ns_cli *cli, const ns_arguments *a)
{
    cli->quiet = ns_command_flag(a, "quiet");
    if (strcmp(a->words.at[0], "c") != 0)
        return ns_command_wrong(cli, "`noslip emit` writes c, not '%s': noslip emit c MODEL",
                                a->words.at[0]);
    int status;
    ns_model *model = ns_open_model(cli, a, a->words.at[1], NS_MODEL_READY, &status);
    if (!model)
        return status;
    ns_text text = ns_text_new(cli->arena);
    ns_emit_c(model, &text);
    const bool good = fwrite(ns_text_string(&text), 1, text.length, cli->out) == text.length &&
                      fflush(cli->out) == 0;
    if (!good)
        ns_command_wrong(cli, "the text cannot be written");
    else if (model->system->events.n && !cli->quiet)
        fprintf(cli->err, "noslip: note: events of the model are not part of the C program\n");
    ns_model_free(model);
    return good ? 0 : ns_status_exit(NS_ERR_IO);
}

static const ns_option options[] = {NS_OPTION_SET, NS_OPTION_QUIET, {0}};

const ns_command ns_command_emit = {
    .name = "emit",
    .summary = "Print the equations as a C program of its own",
    .usage = "c MODEL [--set NAME=EXPR]... [--quiet]",
    .doc =
        "The program holds right-hand side, values, parameters, start, a small integrator and\n"
        "a main, in one file that needs the C library alone:\n"
        "\n"
        "    noslip emit c rattleback > rattleback.c\n"
        "    cc -O2 -o rattleback rattleback.c -lm\n"
        "    ./rattleback 20 0.01 > rattleback.csv\n"
        "\n"
        "Its functions model_rhs and model_values keep nothing between calls.  Events are not\n"
        "part of it, nor are the checks that `noslip run` makes.",
    .options = options,
    .least = 2,
    .most = 2,
    .run = emit,
};
