#include "ode/run_internal.h"
void ns_events_begin(ns_run *run)
{
    (void)run;
}
ns_status ns_events_scan(ns_run *run)
{
    (void)run;
    return NS_OK;
}
