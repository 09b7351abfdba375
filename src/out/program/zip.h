/* Archives of the kind `zip`, with members that are stored as they are. */
#ifndef NS_OUT_PROGRAM_ZIP_H
#define NS_OUT_PROGRAM_ZIP_H

#include "base/text.h"

typedef struct ns_zip {
    ns_text *out;
    ns_text directory; /* what comes at the end */
    unsigned members;
} ns_zip;

ns_zip ns_zip_new(ns_text *out);
/* Names have no leading slash and need fewer than 2^16 bytes; all together fewer than 2^31. */
void ns_zip_add(ns_zip *zip, const char *name, const char *bytes, size_t length);
void ns_zip_end(ns_zip *zip);

#endif
