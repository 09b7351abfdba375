/* Shared by sweep.c and sweep_work.c. */
#ifndef NS_STUDY_SWEEPS_SWEEP_INTERNAL_H
#define NS_STUDY_SWEEPS_SWEEP_INTERNAL_H

#include "eval/program.h"
#include "ode/method.h"
#include "study/sweeps/sweep.h"

/* A place on the motion: its end, a time, the first event of a kind, or all extrema of one
 * value. */
struct ns_sweep_station {
    ns_sweep_kind kind;
    uint32_t event; /* UINT32_MAX: the value does not change */
    double t;
    uint32_t time; /* index among the times of the ensemble */
    NS_LIST(ns_ex) values;
    const ns_program **program; /* [modes] */
};

#endif
