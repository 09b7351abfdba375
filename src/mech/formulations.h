/* The formulations, one file each. */
#ifndef NS_MECH_FORMULATIONS_H
#define NS_MECH_FORMULATIONS_H

#include "mech/system.h"

extern const ns_formulation ns_formulation_constrained;
extern const ns_formulation ns_formulation_first_order;
extern const ns_formulation ns_formulation_hamel;
extern const ns_formulation ns_formulation_lagrange;
extern const ns_formulation ns_formulation_lie;
extern const ns_formulation ns_formulation_planar;
extern const ns_formulation ns_formulation_pontryagin;
extern const ns_formulation ns_formulation_reduced;
extern const ns_formulation ns_formulation_rolling;

#endif
