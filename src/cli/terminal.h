/* What differs between a terminal and a file: colours, and the progress bar. */
#ifndef NS_CLI_TERMINAL_H
#define NS_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "command/command.h"

/* None where there is no terminal, or NO_COLOR is set. */
ns_style ns_terminal_style(FILE *file);

/* A bar on a terminal, once a second has passed. */
typedef struct ns_bar {
    FILE *file;
    bool wanted, shown;
} ns_bar;

ns_bar ns_terminal_bar(FILE *file);
void ns_terminal_bar_draw(ns_bar *bar, const ns_host_progress *p);
void ns_terminal_bar_clear(ns_bar *bar);

#endif
