/* Jets with vectors of four doubles. */
#define NS_WIDTH 4
#include "code/jet_run.inc"

static bool available(void)
{
    return __builtin_cpu_supports("avx2");
}

const ns_jet_runner ns_jet_avx2 = {.available = available, .run = run};
