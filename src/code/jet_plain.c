/* Jets with vectors of two doubles, which every processor has. */
#define NS_WIDTH 2
#include "code/jet_run.inc"

static bool available(void)
{
    return true;
}

const ns_jet_runner ns_jet_plain = {.available = available, .run = run};
