#include "api/api.h"

const char *ns_api_study_name(size_t i, const char **summary)
{
    (void)i;
    (void)summary;
    return NULL;
}
