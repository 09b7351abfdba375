/* What differs between a terminal and a file: colours, and the progress bar. */
#ifndef NS_CLI_TERMINAL_H
#define NS_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Escape sequences, all "" where there is no terminal, or NO_COLOR is set. */
typedef struct ns_style {
    const char *bold, *dim, *red, *yellow, *plain;
} ns_style;

ns_style ns_terminal_style(FILE *file);

/* An empty line and a heading. */
void ns_terminal_heading(FILE *file, const ns_style *style, const char *text);
/* Width of a column of names: the larger of `width` and the name's. */
int ns_terminal_wider(int width, const char *name);

/* A bar on a terminal, from the second second on. */
typedef struct ns_bar {
    FILE *file;
    bool wanted, shown;
    const char *what; /* "t": what the numbers count */
    double end;
} ns_bar;

ns_bar ns_terminal_bar(FILE *file, bool wanted, const char *what, double end);
void ns_terminal_bar_draw(ns_bar *bar, double fraction, double at, double seconds);
void ns_terminal_bar_clear(ns_bar *bar);

#endif
