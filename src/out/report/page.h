/* The page of reports, compiled in from viewer/ (cmake/Page.cmake): HTML with a place for the
 * data. */
#ifndef NS_OUT_REPORT_PAGE_H
#define NS_OUT_REPORT_PAGE_H

#include <stddef.h>

extern const char *const ns_page_bytes; /* NULL if this was built without it */
extern const size_t ns_page_length;

#endif
