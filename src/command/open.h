/* What every command that takes a model does: find it, apply --set, say what is wrong. */
#ifndef NS_COMMAND_OPEN_H
#define NS_COMMAND_OPEN_H

#include "command/command.h"
#include "session/gallery.h"
#include "session/model.h"

#define NS_LIMIT_TEXT "1e9; 1e7 in a sweep"

#define NS_OPTION_SET                                                                          \
    {                                                                                          \
        .name = "set", .argument = "NAME=EXPR", .help = "give a parameter another value",      \
        .repeat = true                                                                         \
    }
#define NS_OPTION_QUIET                                                                        \
    {                                                                                          \
        .name = "quiet", .help = "no summary, notes, warnings or progress"                     \
    }
/* Heeded by ns_open_model and by main. */
#define NS_OPTION_LIMITS                                                                       \
    {.name = "max-steps",                                                                      \
     .argument = "N",                                                                          \
     .help = "at most N steps for each motion (the model's, otherwise " NS_LIMIT_TEXT ")"},    \
    {                                                                                          \
        .name = "max-seconds", .argument = "S", .help = "stop after S seconds (never)"         \
    }

/* Loads the model called `name` (a file, "-", or a bundled model) with the --set options.
 * Messages go to host->err.  The caller frees it; NULL after an error, with *exit_status. */
ns_model *ns_open_model(ns_host *host, const ns_arguments *arguments, const char *name,
                        ns_model_depth depth, int *exit_status);

/* Loads a bundled model without looking for a file. */
ns_model *ns_open_entry(ns_host *host, const ns_arguments *arguments,
                        const struct ns_gallery_entry *entry, ns_model_depth depth,
                        int *exit_status);

#endif
