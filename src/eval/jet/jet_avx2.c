/* Jets with vectors of four doubles. */
#define NS_WIDTH 4
#include "eval/jet/jet_run.inc"

const ns_jet_runner ns_jet_avx2 = {.run = run};
