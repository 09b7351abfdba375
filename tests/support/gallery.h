/* For tests that go through all models. */
#ifndef TEST_SUPPORT_GALLERY_H
#define TEST_SUPPORT_GALLERY_H

#include <stddef.h>

enum { GALLERY_MOST = 512 };

/* Names of all models without the ending, sorted, in memory of malloc: gallery_free.  Aborts if
 * there are too many or none: a model left out would look like a model tested. */
size_t gallery_list(char *names[GALLERY_MOST]);
void gallery_free(char **names, size_t n);

#endif
