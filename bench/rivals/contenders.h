/*
 * The contenders of the speed table. To add one: write its three functions in a file of its
 * own, declare its entry here and add a line to the table in main.c.
 */
#ifndef BENCH_CONTENDERS_H
#define BENCH_CONTENDERS_H

#include "harness/measure.h"

/* DOP853 and right-hand side written by hand: the yardstick, all ratios are to it. */
extern const bench_contender contender_c853;

/* The same on the problem's second form, to keep the choice of form honest. */
extern const bench_contender contender_c853_form2;

/* SUNDIALS CVODE, Adams with functional iteration, right-hand side by hand. */
extern const bench_contender contender_cvode_adams;

/* The GNU Scientific Library's rk8pd, right-hand side by hand. */
extern const bench_contender contender_gsl;

/* noslip's methods on the equations as a first-order system, interpreted and native; gauss on
 * what it derives from the mechanics; ensembles. */
extern const bench_contender contender_noslip_gauss, contender_noslip_gauss_native;
extern const bench_contender contender_noslip_taylor;
extern const bench_contender contender_noslip_automatic, contender_noslip_lanes;
extern const bench_contender contender_noslip_lanes_gauss;
extern const bench_contender contender_noslip_dop853, contender_noslip_dop853_native;
extern const bench_contender contender_noslip_derived, contender_noslip_derived_native;

/* Other interpreters, as child processes, when they are installed: SciPy's DOP853, and Octave
 * the way of Udwadia and Mogharabin's paper. */
extern const bench_contender contender_scipy, contender_octave;

/* P3 in Octave with the tolerances of the paper, a minute and more; -1 without Octave. */
int bench_octave_paper(double *end, bench_cost *cost);

/* Their scripts (bench/rivals/scripts). */
extern const char bench_script_with_scipy[], bench_script_with_octave[];

#endif
