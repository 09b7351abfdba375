/* The report page, compiled in from viewer/ (cmake/Page.cmake): HTML with a place for the
 * data. */
#ifndef NS_CLI_PAGE_H
#define NS_CLI_PAGE_H

#include <stddef.h>

#include "base/text.h"
#include "cli/command.h"

extern const char *const ns_page_bytes; /* NULL if the program was built without it */
extern const size_t ns_page_length;

/* A word as a shell reads it back. */
void ns_page_quote(ns_text *text, const char *word);
/* What repeats a command, for a shell. */
const char *ns_page_command(ns_cli *cli, const ns_arguments *a);
/* Before the work: can the page of --report be written?  False after saying why not. */
bool ns_page_possible(ns_cli *cli, const ns_arguments *a);

#endif
