/* Jets with vectors of two doubles, which every processor has. */
#define NS_WIDTH 2
#include "eval/jet/jet_run.inc"

const ns_jet_runner ns_jet_plain = {.run = run};
