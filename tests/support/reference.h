/* The reference motions of tests/reference: JSON files with samples of a motion that is right
 * to 24 digits or more. */
#ifndef TEST_SUPPORT_REFERENCE_H
#define TEST_SUPPORT_REFERENCE_H

#include <stddef.h>

typedef struct reference {
    char *text;
    size_t samples;
    const char **sample; /* where each begins in the text */
} reference;

reference reference_open(const char *name); /* tests/reference/NAME.json */
void reference_close(reference *r);

/* Numbers under a key of a sample, the first k of them; 1 for a plain number. */
void reference_get(const reference *r, size_t sample, const char *key, double *out, size_t k);
double reference_number(const reference *r, size_t sample, const char *key);
/* The text of component i of it. */
const char *reference_text(const reference *r, size_t sample, const char *key, size_t i);

#endif
