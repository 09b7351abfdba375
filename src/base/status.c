#include "base/status.h"

const char *ns_status_text(ns_status status)
{
    switch (status) {
    case NS_OK:
        return "done";
    case NS_STOP_EVENT:
        return "stopped by an event";
    case NS_STOP_SINGULAR:
        return "the equations became singular";
    case NS_STOP_STEP:
        return "the step size became too small";
    case NS_STOP_LIMIT:
        return "the limit on steps was reached";
    case NS_STOP_INTERRUPT:
        return "interrupted";
    case NS_STOP_ASKED:
        return "ended by an event of the model";
    case NS_ERR_MODEL:
        return "the model is wrong";
    case NS_ERR_USAGE:
        return "the request is wrong";
    case NS_ERR_MEMORY:
        return "out of memory";
    case NS_ERR_IO:
        return "a file could not be read or written";
    case NS_ERR_SYSTEM:
        return "the system refused";
    }
    return "unknown status";
}

int ns_status_exit(ns_status status)
{
    if (status == NS_OK)
        return 0;
    if (status > 0)
        return 1;
    return status == NS_ERR_MODEL || status == NS_ERR_USAGE ? 2 : 3;
}
