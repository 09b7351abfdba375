/* The lists of the playground's module, in the place of the library's own: the studies that the
 * page offers, and no files.  What is in no list is not linked. */
#include "command/command.h"
#include "out/formats.h"

const ns_command *const ns_commands[] = {
    &ns_command_check,    &ns_command_equilibria, &ns_command_section,
    &ns_command_lyapunov, &ns_command_portrait,   NULL,
};

const ns_output_format *const ns_output_formats[] = {NULL};
