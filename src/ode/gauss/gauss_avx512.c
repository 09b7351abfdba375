/* Inner loops of `gauss`, avx512. */
#define NS_GAUSS ns_gauss_avx512
#define NS_GAUSS_NAME "avx512"
#include "ode/gauss/gauss_lanes.inc"
