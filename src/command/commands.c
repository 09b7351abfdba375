/* The commands that program, library and claims share, in the order of `noslip help`: a model,
 * studies of it, many motions, what leaves the program, help.  In a file of its own: what
 * commands call does not depend on the list of them. */
#include "command/command.h"

/* clang-format off */
const ns_command *const ns_commands[] = {
#ifndef __wasm__ /* not for browsers: what works on files */
    &ns_command_run,
#endif
    &ns_command_check,
    &ns_command_equations,
    &ns_command_equilibria,
    &ns_command_section,
    &ns_command_period,
    &ns_command_portrait,
    &ns_command_lyapunov,
    &ns_command_frequencies,
    &ns_command_invariants,
    &ns_command_measure,
    &ns_command_brackets,
    &ns_command_compare,
#ifndef __wasm__
    &ns_command_sweep,
    &ns_command_fit,
#endif
    &ns_command_gradient,
    &ns_command_linearise,
    &ns_command_plan,
    &ns_command_emit,
#ifndef __wasm__
    &ns_command_import,
    &ns_command_reproduce,
    &ns_command_new,
    &ns_command_explain,
    &ns_command_format,
    &ns_command_words,
#endif
    NULL,
};
/* clang-format on */
