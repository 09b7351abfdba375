/* Inner loops of `gauss`, avx2. */
#define NS_GAUSS ns_gauss_avx2
#define NS_GAUSS_NAME "avx2"
#include "ode/gauss/gauss_lanes.inc"
