/* Motions in lanes, avx2. */
#define NS_BUNDLE ns_bundle_avx2
#define NS_BUNDLE_NAME "avx2"
#include "ode/ensemble/ensemble_step.inc"
