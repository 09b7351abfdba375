/* Text for people: headings and columns, bold where the reader is a terminal. */
#ifndef NS_COMMAND_STYLE_H
#define NS_COMMAND_STYLE_H

#include <stdio.h>

/* Escape sequences; all "" where nobody reads them. */
typedef struct ns_style {
    const char *bold, *dim, *red, *yellow, *plain;
} ns_style;

extern const ns_style ns_style_none;

/* An empty line and a heading. */
void ns_style_heading(FILE *file, const ns_style *style, const char *text);
/* Width of a column of names: the larger of `width` and the name's. */
int ns_style_wider(int width, const char *name);

#endif
