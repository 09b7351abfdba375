/* The layout of model text: indentation, blanks, empty lines.  Words, numbers, comments and the
 * places where lines end stay as they are, so that the meaning does. */
#ifndef NS_LANG_SYNTAX_FORMAT_H
#define NS_LANG_SYNTAX_FORMAT_H

#include <stdbool.h>

#include "base/text.h"

/* Appends the text in its layout; false, with nothing appended, if it is not text or if its
 * tokens would not stay the same. */
bool ns_format_text(const char *text, size_t length, ns_text *out);

#endif
