/* Topics of `noslip help` other than commands, methods and formulations. */
#ifndef NS_CLI_TOPICS_H
#define NS_CLI_TOPICS_H

#include "command/command.h"

typedef struct ns_topic {
    const char *name, *summary;
    void (*print)(ns_host *host);
} ns_topic;

extern const ns_topic ns_topics[]; /* ends with a NULL name */

/* A line of a list:  name in a column of its own, then words. */
void ns_topic_line(ns_host *host, int width, const char *name, const char *words);

#endif
