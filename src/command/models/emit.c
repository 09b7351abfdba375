/* noslip emit: the equations of a model as a program in C. */
#include <string.h>

#include "base/text.h"
#include "command/open.h"
#include "out/program/emit_c.h"

static int emit(ns_host *host, const ns_arguments *a)
{
    host->quiet = ns_command_flag(a, "quiet");
    if (strcmp(a->words.at[0], "c") != 0)
        return ns_command_wrong(host, "`noslip emit` writes c, not '%s': noslip emit c MODEL",
                                a->words.at[0]);
    int status;
    ns_model *model = ns_open_model(host, a, a->words.at[1], NS_MODEL_READY, &status);
    if (!model)
        return status;
    if (model->schedule) {
        ns_model_free(model);
        return ns_command_wrong(host,
                                "inputs follow a table or a controller; an emitted program "
                                "needs constant ones: --set NAME=VALUE");
    }
    if (ns_system_jumps(model->system) || model->system->modes.n > 1) {
        ns_model_free(model);
        return ns_command_wrong(host,
                                "the motion of this model jumps at events, or changes its "
                                "mode, which the C program cannot do yet");
    }
    ns_text text = ns_text_new(host->arena);
    ns_emit_c(model, &text);
    const bool good = fwrite(ns_text_string(&text), 1, text.length, host->out) == text.length &&
                      fflush(host->out) == 0;
    if (!good)
        ns_command_wrong(host, "the text cannot be written");
    else if (model->system->events.n && !host->quiet)
        fprintf(host->err, "noslip: note: events of the model are not part of the C program\n");
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
