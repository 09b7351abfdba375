/* The data of a report page as JSON text (docs/report.md): nothing in it can end the script
 * element that holds it, and every array is compact. */
#ifndef NS_OUT_REPORT_REPORT_JSON_H
#define NS_OUT_REPORT_REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

typedef struct ns_json {
    ns_text text;
    bool fresh; /* nothing stands before the next value that a comma must part it from */
} ns_json;

void ns_json_open(ns_json *j, char bracket);
void ns_json_close(ns_json *j, char bracket);
void ns_json_key(ns_json *j, const char *key);
void ns_json_string(ns_json *j, const char *text); /* NULL: "" */
void ns_json_number(ns_json *j, double value);     /* null if it is not finite */
void ns_json_bool(ns_json *j, bool value);
void ns_json_vector(ns_json *j, const double *v, size_t n); /* a plain array */

/* Key and value at once; a text that is NULL is left out. */
void ns_json_text(ns_json *j, const char *key, const char *text);
void ns_json_value(ns_json *j, const char *key, double value);

/* Packed arrays: kind, colon, base64 of little-endian numbers.  From rows of `width` numbers
 * those that `keep` lists (all if NULL). */
void ns_json_f32(ns_json *j, const double *v, uint32_t width, const uint32_t *keep, size_t n);
void ns_json_f64(ns_json *j, const double *v, uint32_t width, const uint32_t *keep, size_t n);
void ns_json_floats(ns_json *j, const float *v, size_t n);
void ns_json_indices(ns_json *j, const uint32_t *v, size_t n, uint32_t most); /* u16 or u32 */

#endif
