/* Motions in lanes, plain. */
#define NS_BUNDLE ns_bundle_plain
#define NS_BUNDLE_NAME "plain"
#include "ode/ensemble/ensemble_step.inc"
