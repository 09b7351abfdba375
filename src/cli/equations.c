/* noslip equations: the derived equations, readable. */
#include "base/status.h"
#include "cli/open.h"

static int equations(ns_cli *cli, const ns_arguments *a)
{
    (void)a;
    return ns_command_wrong(cli, "`noslip equations` is not available in this version");
}

static const ns_option options[] = {
    {.name = "latex", .help = "a LaTeX document instead of text"}, NS_OPTION_SET, {0}};

const ns_command ns_command_equations = {
    .name = "equations",
    .summary = "Print the derived equations, readable or as LaTeX",
    .usage = "MODEL [--latex] [--set NAME=EXPR]...",
    .options = options,
    .least = 1,
    .most = 1,
    .run = equations,
};
