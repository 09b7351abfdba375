/* JSON text, written as it comes: into memory, or straight to a file.
 *
 * Members of an object take their key first; elements of an array take NULL in its place:
 *
 *     ns_json_object(j, NULL);            {
 *     ns_json_text(j, "name", "disk");      "name": "disk",
 *     ns_json_array(j, "t");                "t": [
 *     ns_json_number(j, NULL, 0.5);           0.5
 *     ns_json_end(j);                       ]
 *     ns_json_end(j);                     }
 *
 * Numbers have the shortest digits that read back the same; what is not finite is null. */
#ifndef NS_BASE_JSON_H
#define NS_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"

typedef struct ns_json {
    ns_text text;
    FILE *file;      /* where the text goes instead; NULL: it stays in `text` */
    bool lines;      /* for people: members on lines of their own, blanks after : and , */
    bool inside;     /* something stands before the next value: a comma must part them */
    uint32_t depth;  /* objects and arrays that are open */
    uint64_t arrays; /* bit k: level k is an array */
    uint64_t broken; /* bit k: it extends over several lines */
} ns_json;

ns_json ns_json_new(ns_arena *arena);   /* compact, in memory */
ns_json ns_json_to(FILE *file);         /* for people, to a file */
const char *ns_json_string(ns_json *j); /* what is in memory */

void ns_json_object(ns_json *j, const char *key);
void ns_json_array(ns_json *j, const char *key);
void ns_json_end(ns_json *j); /* of the innermost one */

void ns_json_number(ns_json *j, const char *key, double value);
void ns_json_bool(ns_json *j, const char *key, bool value);
/* A member whose text is NULL is left out; an element is "" then. */
void ns_json_text(ns_json *j, const char *key, const char *text);
/* A value that is JSON already. */
void ns_json_literal(ns_json *j, const char *key, const char *json);

void ns_json_numbers(ns_json *j, const char *key, const double *v, size_t n);
void ns_json_texts(ns_json *j, const char *key, const char *const *texts, size_t n);

/* For values written in pieces: bytes as they are, after ns_json_literal(j, key, ""). */
void ns_json_bytes(ns_json *j, const char *bytes, size_t n);

#endif
