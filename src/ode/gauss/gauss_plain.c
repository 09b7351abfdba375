/* Inner loops of `gauss`, plain. */
#define NS_GAUSS ns_gauss_plain
#define NS_GAUSS_NAME "plain"
#include "ode/gauss/gauss_lanes.inc"
