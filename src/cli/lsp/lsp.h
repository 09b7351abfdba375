/* The language server, on any stream: `noslip lsp` serves standard input. */
#ifndef NS_CLI_LSP_LSP_H
#define NS_CLI_LSP_LSP_H

#include <stdio.h>

#include "command/command.h"

/* Answers messages of the protocol until the input ends or asks for it; the exit status. */
int ns_lsp_serve(ns_host *host, FILE *in);

#endif
