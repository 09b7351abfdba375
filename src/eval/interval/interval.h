/* Enclosures: intervals that hold every value a program can take on a box, and every Taylor
 * coefficient in time.
 *
 * Given an interval of time T and, for every state, intervals of its value and of its first
 * coefficients (x, x', x''/2, ...) over T, evaluation gives for every output g and k <= order
 * an interval that contains
 *
 *     g_k(t) = (1/k!) d^k g/dt^k   for every t in T and every motion in the box.
 *
 * Order 0 gives ranges, order 1 ranges and rates; for functions of time alone the last
 * coefficient bounds what a polynomial leaves out.  Every operation rounds outward, by more
 * than the error of its value in any engine, so that values as computed lie inside too.
 *
 * What a function does outside its domain is left out: sqrt([-1, 4]) = [0, 2].  Where it has no
 * value at all, where a divisor or a pivot may vanish, the interval is (-inf, inf); so are the
 * coefficients from 1 on where a jump may lie in the box (sign, atan2), and from 2 on where a
 * kink may (abs, min, max; coefficient 1 then holds the rates of both sides). */
#ifndef NS_EVAL_INTERVAL_INTERVAL_H
#define NS_EVAL_INTERVAL_INTERVAL_H

#include "eval/program.h"

typedef struct ns_interval {
    double lo, hi;
} ns_interval;

/* Size of the work block in doubles.  Like all evaluation, this allocates nothing, and the
 * program is shared by threads, each with a block of its own. */
size_t ns_interval_work(const ns_program *program, uint32_t order);

/* Parameters; the order is the same in all calls that follow. */
void ns_interval_bind(const ns_program *program, double *work, uint32_t order, const double *p);

/* x[i*(order+1) + k] are the coefficients of state i, out[i*(order+1) + k] those of output
 * i. */
void ns_interval_eval(const ns_program *program, double *work, uint32_t order, ns_interval t,
                      const ns_interval *x, ns_interval *out);

/* Of a program without states: coefficients of powers of (time - t)/unit, that is g_k unit^k,
 * which for a unit like the times of interest neither overflow nor underflow. */
void ns_interval_series(const ns_program *program, double *work, uint32_t order, ns_interval t,
                        double unit, ns_interval *out);

/* The larger of |lo| and |hi|. */
double ns_interval_size(ns_interval a);

#endif
