/* Text that grows, in an arena. */
#ifndef NS_BASE_TEXT_H
#define NS_BASE_TEXT_H

#include <stdarg.h>

#include "base/arena.h"

typedef struct ns_text {
    ns_arena *arena;
    char *at; /* always ends with a zero byte once something was added */
    size_t length, room;
} ns_text;

ns_text ns_text_new(ns_arena *arena);
void ns_text_add(ns_text *text, const char *more);
void ns_text_add_bytes(ns_text *text, const char *more, size_t length);
void ns_text_addf(ns_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ns_text_vaddf(ns_text *text, const char *format, va_list list)
    __attribute__((format(printf, 2, 0)));
const char *ns_text_string(const ns_text *text); /* "" when nothing was added */

/* The shortest decimal that reads back as the same double ("0.1", "1e-14", "inf", "nan"),
 * whatever the locale.  Every number that is written for others to read is written by this. */
enum { NS_NUMBER_ROOM = 32 };
size_t ns_text_number(char buffer[NS_NUMBER_ROOM], double value);
void ns_text_add_double(ns_text *text, double value);

/* Length of the well-formed UTF-8 character that a text of this many bytes begins with, 0 if
 * there is none. */
size_t ns_text_character(const char *text, size_t length);

#endif
