/* The list of methods. */
#include "ode/method.h"

#include <string.h>

const ns_method *const ns_methods[] = {
    &ns_method_gauss, &ns_method_taylor,   &ns_method_dop853, &ns_method_bdf,
    &ns_method_adams, &ns_method_discrete, &ns_method_quad,   NULL,
};

const ns_method *ns_method_find(const char *name)
{
    if (!name)
        return ns_methods[0];
    for (const ns_method *const *m = ns_methods; *m; m++)
        if (strcmp((*m)->name, name) == 0)
            return *m;
    return NULL;
}
