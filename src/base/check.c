/* The end of a program whose own promise is broken: see check.h. */
#include "base/check.h"

#if NS_CHECKS

#include <stdio.h>
#include <stdlib.h>

_Noreturn void ns_check_failed(const char *condition, const char *file, int line,
                               const char *function)
{
    fprintf(stderr, "%s:%d: %s: check failed: %s\n", file, line, function, condition);
    abort();
}

#else
typedef int ns_check_none; /* a file must declare something */
#endif
