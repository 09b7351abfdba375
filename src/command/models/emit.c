/* noslip emit: the equations of a model as a program in C, Python or Octave, or as a functional
 * mock-up unit. */
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "command/open.h"
#include "out/program/emit_c.h"
#include "out/program/emit_fmu.h"
#include "out/program/emit_script.h"

/* Can it be written as a program?  False after saying why not. */
static bool is_plain(ns_host *host, const ns_model *model)
{
    if (model->schedule)
        return ns_command_refuse(host,
                                 "inputs follow a table or a controller; an emitted program "
                                 "needs constant ones: --set NAME=VALUE");
    if (ns_system_jumps(model->system) || model->system->modes.n > 1)
        return ns_command_refuse(host, "the motion of this model jumps at events, or changes "
                                       "its mode, which the program cannot do yet");
    return true;
}

/* The forms that are text, by their names. */
static int language_of(const char *form)
{
    static const char *const forms[] = {"c", "python", "octave"};
    for (int i = 0; i < 3; i++)
        if (strcmp(form, forms[i]) == 0)
            return i;
    return -1;
}

static int emit_text(ns_host *host, const ns_model *model, ns_emit_language language)
{
    ns_text text = ns_text_new(host->arena);
    if (language == NS_EMIT_C)
        ns_emit_c(model, &text);
    else
        ns_emit_script(model, language, &text);
    if (fwrite(ns_text_string(&text), 1, text.length, host->out) != text.length ||
        fflush(host->out) != 0)
        return ns_command_failed(host, NS_ERR_IO, "the text cannot be written");
    if (model->system->events.n && !host->quiet)
        fprintf(host->err, "noslip: note: events of the model are not part of the program\n");
    return 0;
}

static int emit_fmu(ns_host *host, const ns_arguments *a, const ns_model *model, int version)
{
    const char *path = ns_command_text(a, "out"), *message = NULL;
    ns_text archive = ns_text_new(host->arena);
    if (!ns_emit_fmu(model, version, !ns_command_flag(a, "sources"), &archive, &message))
        return ns_command_failed(host, NS_ERR_MODEL, "%s", message);
    ns_command_phase(host, NS_PHASE_WRITE);
    const int error = ns_file_write(path, ns_text_string(&archive), archive.length);
    if (error)
        return ns_command_failed(host, NS_ERR_IO, "%s: %s", path, strerror(error));
    if (!host->quiet)
        fprintf(host->out, "%s: FMI %d.0, model exchange and co-simulation, %zu kB\n", path,
                version, (archive.length + 999) / 1000);
    return 0;
}

/* For hosts without words: a file is asked for by an FMU alone. */
static const char *form_of(const ns_arguments *a)
{
    return ns_command_text(a, "out") ? "fmu" : "c";
}

static int emit(ns_host *host, const ns_arguments *a)
{
    host->quiet = ns_command_flag(a, "quiet");
    const char *form = a->words.at[0], *fmi = ns_command_text(a, "fmi");
    const bool fmu = strcmp(form, "fmu") == 0;
    const int language = language_of(form);
    if (!fmu && language < 0)
        return ns_command_wrong(host,
                                "`noslip emit` writes c, python, octave and fmu, not `%s`: "
                                "noslip emit c MODEL",
                                form);
    if (fmi && strcmp(fmi, "2") != 0 && strcmp(fmi, "3") != 0)
        return ns_command_wrong(host, "--fmi is 2 or 3, not `%s`", fmi);
    if (!fmu && (fmi || ns_command_flag(a, "sources") || ns_command_text(a, "out")))
        return ns_command_wrong(host, "--fmi, --sources and --out are for `noslip emit fmu`");
    if (fmu && !ns_command_text(a, "out"))
        return ns_command_wrong(host, "`noslip emit fmu` needs a file: --out MODEL.fmu");
    int status;
    ns_model *model = ns_open_model(host, a, a->words.at[1], NS_MODEL_READY, &status);
    if (!model)
        return status;
    status = !is_plain(host, model) ? ns_status_exit(NS_ERR_USAGE)
             : fmu                  ? emit_fmu(host, a, model, fmi && *fmi == '3' ? 3 : 2)
                                    : emit_text(host, model, (ns_emit_language)language);
    ns_model_free(model);
    return status;
}

static const ns_option options[] = {
    NS_OPTION_SET,
    {.name = "out", .argument = "FILE.fmu", .help = "the unit to write (fmu)"},
    {.name = "fmi", .argument = "2|3", .help = "version of the standard (2)"},
    {.name = "sources", .help = "the unit without a binary for this machine"},
    NS_OPTION_QUIET,
    {0}};

const ns_command ns_command_emit = {
    .name = "emit",
    .summary = "The equations as a program (C, Python, Octave), or as a unit for other "
               "simulators (FMU)",
    .usage = "c|python|octave|fmu MODEL [--out FILE.fmu] [options]",
    .doc =
        "The program holds right-hand side, values, parameters, start, a small integrator and\n"
        "a main, in one file that needs the C library alone:\n"
        "\n"
        "    noslip emit c rattleback > rattleback.c\n"
        "    cc -O2 -o rattleback rattleback.c -lm\n"
        "    ./rattleback 20 0.01 > rattleback.csv\n"
        "\n"
        "Its functions model_rhs and model_values keep nothing between calls.  Events are not\n"
        "part of it, nor are the checks that `noslip run` makes.  `emit python` and\n"
        "`emit octave` write the same as a script to read and to teach with.\n"
        "\n"
        "    noslip emit fmu rattleback --out rattleback.fmu\n"
        "\n"
        "writes a functional mock-up unit (FMI 2.0, or 3.0 with --fmi 3) for model exchange "
        "and\n"
        "co-simulation: parameters, inputs, values, stop events, exact directional "
        "derivatives,\n"
        "with its source and a binary for this machine.",
    .options = options,
    .models = 1,
    .form = form_of,
    .least = 2,
    .most = 2,
    .run = emit,
};
