/* What --report needs: can the page be written, and what repeats the command. */
#ifndef NS_COMMAND_PAGE_H
#define NS_COMMAND_PAGE_H

#include "base/text.h"
#include "command/command.h"
#include "out/report/page.h"
#include "out/report/report.h"

/* A word as a shell reads it back. */
void ns_page_quote(ns_text *text, const char *word);
/* What repeats a command, for a shell. */
const char *ns_page_command(ns_host *host, const ns_arguments *a);
/* The page to be filled: the report's, or with --live the playground's, which is read into
 * *owned (malloc).  False after saying why not. */
bool ns_page_template(ns_host *host, const ns_arguments *a, ns_report_options *page,
                      char **owned);
/* The playground, which such pages are made of, into *bytes (malloc); 0 or an errno. */
int ns_page_playground(char **bytes, size_t *length);
/* Before the work: can the page of --report be written?  False after saying why not. */
bool ns_page_possible(ns_host *host, const ns_arguments *a);

#endif
