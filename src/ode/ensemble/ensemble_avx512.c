/* Motions in lanes, avx512. */
#define NS_BUNDLE ns_bundle_avx512
#define NS_BUNDLE_NAME "avx512"
#include "ode/ensemble/ensemble_step.inc"
