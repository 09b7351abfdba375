/* The kind of a message, as a word: shown after it in [ ], explained with an example and its
 * cure by `noslip explain WORD` (docs/errors.md).
 *
 * A message gets its kind by what it says and by the file that says it: see the table.  A test
 * checks that every message of the sources has one, and that the examples give theirs. */
#ifndef NS_BASE_MESSAGES_CODES_H
#define NS_BASE_MESSAGES_CODES_H

/* `file` is the base name of the source file, `format` the message as it stands there. */
const char *ns_codes_find(const char *file, const char *format);

#endif
