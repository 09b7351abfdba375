/* noslip import: models from descriptions of other programs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "command/command.h"
#include "command/models/urdf.h"

enum { MOST_BYTES = 16 << 20 };

static int convert(ns_host *host, const char *path, const char *out, const char *text,
                   size_t length)
{
    ns_urdf_notes notes = {0};
    const char *message;
    const char *model = ns_urdf_convert(host->arena, path, text, length, &notes, &message);
    if (!model) {
        fprintf(host->err, "%s\n", message);
        return ns_status_exit(NS_ERR_MODEL);
    }
    if (!out)
        fputs(model, host->out);
    else {
        const int error = ns_file_write(out, model, strlen(model));
        if (error)
            return ns_command_failed(host, NS_ERR_IO, "cannot write %s: %s", out,
                                     strerror(error));
    }
    if (!host->quiet && out) {
        fprintf(host->out, "%s is there.  Left out, or assumed:\n", out);
        for (uint32_t i = 0; i < notes.at.n; i++)
            fprintf(host->out, "  %s\n", notes.at.at[i]);
    }
    return 0;
}

static int import(ns_host *host, const ns_arguments *a)
{
    const char *path = a->words.at[0], *out = ns_command_text(a, "out");
    char *text = NULL;
    size_t length = 0;
    const int error = ns_file_read(path, MOST_BYTES, &text, &length);
    if (error)
        return ns_command_failed(host, NS_ERR_IO, "cannot read %s: %s", path,
                                 error == EFBIG ? "it is too large" : strerror(error));
    const int status = convert(host, path, out, text, length);
    free(text);
    return status;
}

static const ns_option options[] = {
    {.name = "out", .argument = "FILE.mech", .help = "write the model here"},
    {0},
};

const ns_command ns_command_import = {
    .name = "import",
    .summary = "Make a model from the URDF description of a robot",
    .usage = "ROBOT.urdf [--out ROBOT.mech]",
    .doc =
        "Links become bodies with their masses and inertias, joints constraints, each with an\n"
        "input (torque or force) and its angle or way as a value; links that are fixed to "
        "each\n"
        "other become one body.  Cylinders about the axis of a continuous joint are wheels\n"
        "that roll on z = 0, spheres as low as they slide as casters.  What is left out\n"
        "(limits, dry friction, pictures) is said, and stands at the head of the model.",
    .options = options,
    .least = 1,
    .most = 1,
    .run = import,
};
