/* What --report needs: can the page be written, and what repeats the command. */
#ifndef NS_CLI_PAGE_H
#define NS_CLI_PAGE_H

#include "base/text.h"
#include "cli/command.h"
#include "out/report/page.h"

/* A word as a shell reads it back. */
void ns_page_quote(ns_text *text, const char *word);
/* What repeats a command, for a shell. */
const char *ns_page_command(ns_cli *cli, const ns_arguments *a);
/* Before the work: can the page of --report be written?  False after saying why not. */
bool ns_page_possible(ns_cli *cli, const ns_arguments *a);

#endif
