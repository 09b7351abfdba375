/* The commands of the program: those that the library has too (command/command.h), and those
 * that are about the program itself. */
#ifndef NS_CLI_PROGRAM_H
#define NS_CLI_PROGRAM_H

#include "command/command.h"

extern const ns_command ns_command_bench;
extern const ns_command ns_command_gallery;
extern const ns_command ns_command_lsp;
extern const ns_command ns_command_completion;
extern const ns_command ns_command_man;
extern const ns_command ns_command_help;
extern const ns_command ns_command_version;

/* The i-th command; NULL if there are fewer. */
const ns_command *ns_program_command(size_t i);
const ns_command *ns_program_find(const char *name);

/* The help of a command, to host->out. */
void ns_program_help(const ns_host *host, const ns_command *command);

#endif
