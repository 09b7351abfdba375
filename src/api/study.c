/* Studies: the commands of the program with structured results. */
#include "api/api.h"

static const char *const studies[] = {"equilibria", "section",    "period",
                                      "lyapunov",   "invariants", "measure",
                                      "portrait",   "compare",    "check"};

const char *ns_api_study_name(size_t i, const char **summary)
{
    (void)summary;
    return i < sizeof studies / sizeof *studies ? studies[i] : NULL;
}
