/* Characters that command a terminal or turn the direction of what follows: C0 but for tab and
 * newline, C1, the directional controls of Unicode.  No model has them, no message shows
 * them. */
#ifndef NS_BASE_MESSAGES_TAME_H
#define NS_BASE_MESSAGES_TAME_H

#include <stdbool.h>
#include <stddef.h>

/* Does the text begin with one? */
bool ns_tame_commands(const char *text, size_t length);
/* Puts a question mark in place of each of their bytes. */
void ns_tame_text(char *text);

#endif
