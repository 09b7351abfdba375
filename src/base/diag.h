/* Diagnostics: messages with a place in a source text.
 *
 * A source is a model file, or the text after a --set option.  A span is a range of bytes of
 * one source.  Rendering prints  file:line:column: error: message [code],  the line and a
 * caret. */
#ifndef NS_BASE_DIAG_H
#define NS_BASE_DIAG_H

#include <stdarg.h>

#include "base/arena.h"
#include "base/text.h"

typedef struct ns_span {
    uint32_t source;     /* 0: no place; otherwise as returned by ns_diag_source */
    uint32_t begin, end; /* bytes; end is after the last */
} ns_span;

typedef enum ns_severity { NS_NOTE, NS_WARNING, NS_ERROR } ns_severity;

typedef struct ns_message {
    ns_severity severity;
    ns_span span;
    const char *text;
    const char *code; /* its kind, for `noslip explain`: see codes.h; NULL if it has none */
} ns_message;

typedef struct ns_source {
    const char *name; /* file name as the user wrote it */
    const char *text;
    size_t length;
} ns_source;

typedef struct ns_diag {
    ns_arena *arena;
    NS_LIST(ns_source) sources;
    NS_LIST(ns_message) messages;
    uint32_t errors, warnings;
} ns_diag;

ns_diag *ns_diag_new(ns_arena *arena);
/* Without messages, for places in the sources that another knows. */
ns_diag *ns_diag_like(ns_arena *arena, const ns_diag *known);

/* Registers a source; the text is borrowed and must live as long as the arena. */
uint32_t ns_diag_source(ns_diag *diag, const char *name, const char *text, size_t length);

/* `file` is the base name of the source file that says it: part of what makes the code. */
void ns_diag_add(ns_diag *diag, ns_severity severity, const char *file, ns_span span,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));
#define ns_diag_say(diag, severity, span, ...)                                                 \
    ns_diag_add((diag), (severity), __FILE_NAME__, (span), __VA_ARGS__)
#define ns_diag_error(diag, span, ...) ns_diag_say(diag, NS_ERROR, span, __VA_ARGS__)
#define ns_diag_warn(diag, span, ...) ns_diag_say(diag, NS_WARNING, span, __VA_ARGS__)
#define ns_diag_note(diag, span, ...) ns_diag_say(diag, NS_NOTE, span, __VA_ARGS__)

/* Line and column, counted from 1; the column counts characters (UTF-8), not bytes. */
void ns_diag_position(const ns_diag *diag, ns_span span, unsigned *line, unsigned *column);

/* Smallest span that covers both. */
ns_span ns_diag_join(ns_span a, ns_span b);

/* All messages in the order of their places (sources in order of registration). */
void ns_diag_render(const ns_diag *diag, ns_text *out);

#endif
