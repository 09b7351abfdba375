/* The inside of a result, for result.c and output.c. */
#ifndef NS_API_RESULT_H
#define NS_API_RESULT_H

#include "api/api.h"

struct ns_result {
    ns_record *record; /* NULL if the options were wrong, or memory ran out */
    int stop;          /* set when the progress function wants the run to end */
    ns_progress_function progress;
    void *context;
    char wrong[200]; /* with the options */
    char trust[600];
    char error[400];
};

#endif
