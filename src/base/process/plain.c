#define _GNU_SOURCE /* uselocale */
#include "base/process/plain.h"

locale_t ns_plain_begin(void)
{
    /* a constant of the C library: nothing is allocated, nothing has to be freed */
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain ? uselocale(plain) : (locale_t)0;
}

void ns_plain_end(const locale_t *before)
{
    if (*before)
        uselocale(*before);
}
