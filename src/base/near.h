/* "Did you mean ...?": the one of many names that a misspelt word is nearest to.
 *
 *     ns_near near = {.word = word};
 *     for (...)
 *         ns_near_try(&near, name);
 *     if (near.found) ... */
#ifndef NS_BASE_NEAR_H
#define NS_BASE_NEAR_H

typedef struct ns_near {
    const char *word;
    const char *found; /* NULL: no name so far is near enough to be meant; borrowed */
    unsigned edits;    /* between word and found */
} ns_near;

void ns_near_try(ns_near *near, const char *name);

#endif
