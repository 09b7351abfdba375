/* Long arrays in the data of a report page (docs/report.md), packed: a string of their kind, a
 * colon, and the numbers in base64, the least significant byte first. */
#ifndef NS_OUT_REPORT_PACKED_H
#define NS_OUT_REPORT_PACKED_H

#include "base/json.h"

/* From n rows of `width` numbers those that `keep` lists; the first n if it is NULL. */
void ns_packed_f32(ns_json *j, const char *key, const double *v, uint32_t width,
                   const uint32_t *keep, size_t n);
void ns_packed_f64(ns_json *j, const char *key, const double *v, uint32_t width,
                   const uint32_t *keep, size_t n);
void ns_packed_floats(ns_json *j, const char *key, const float *v, size_t n);
/* u16 if none is above `most` <= 65535, u32 otherwise. */
void ns_packed_indices(ns_json *j, const char *key, const uint32_t *v, size_t n, uint32_t most);

#endif
