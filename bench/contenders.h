/*
 * The contenders of the speed table. To add one: write its three functions in a file of its
 * own, declare its entry here and add a line to the table in methods.c.
 */
#ifndef BENCH_CONTENDERS_H
#define BENCH_CONTENDERS_H

#include "measure.h"

/* DOP853 and right-hand side written by hand: the yardstick, all ratios are to it. */
extern const bench_contender contender_c853;

/* The same on the problem's second form, to keep the choice of form honest. */
extern const bench_contender contender_c853_form2;

/* SUNDIALS CVODE, Adams with functional iteration, right-hand side by hand. */
extern const bench_contender contender_cvode_adams;

/* noslip, interpreted: its methods on the equations as a first-order system, and gauss on what
 * formulation `rolling` derives from the mechanics. */
extern const bench_contender contender_noslip_gauss;
extern const bench_contender contender_noslip_taylor;
extern const bench_contender contender_noslip_dop853;
extern const bench_contender contender_noslip_adams;
extern const bench_contender contender_noslip_rolling;

/* The same with native code. */
extern const bench_contender contender_noslip_gauss_native;
extern const bench_contender contender_noslip_dop853_native;
extern const bench_contender contender_noslip_rolling_native;

#endif
