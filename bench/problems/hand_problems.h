/*
 * The problems of the speed table with right-hand sides written by hand (hand_rhs.inc) and the
 * yardstick itself, C853: DOP853 with that right-hand side inlined. Compiled with the flags of
 * an expert: -O3 -march=native -fno-math-errno -mprefer-vector-width=128.
 *
 * A problem has one definition and may have several forms: the states an integrator works on.
 * The first form is the fastest one found; the yardstick uses it. Every form can give the final
 * state in the problem's own components, which is what errors are measured on.
 */
#ifndef BENCH_HAND_PROBLEMS_H
#define BENCH_HAND_PROBLEMS_H

#include "rivals/hand_dop853.h"

enum { HAND_MAX_STATES = 52, HAND_MAX_FORMS = 2 };

typedef struct hand_form {
    const char *what; /* its states, in words; NULL ends the list of forms */
    int n;
    const double *y0;
    void (*rhs)(const double *restrict y, double *restrict f);
    /* From 0 to t_end in place; 0, or -1 if the step became too small. */
    int (*dop853)(double t_end, double tol, double *restrict y, hand_stats *stats);
    /* The problem's components from the form's; NULL if they are its first ones. */
    void (*finish)(const double *form, double *problem);
    int operations; /* of the right-hand side, as bench/probes/count-operations counts; 0: not
                     * known */
} hand_form;

typedef struct hand_problem {
    const char *name;
    const char *what;
    int n;                     /* components of the final state */
    const char *const *labels; /* their names, n of them */
    double t_end;
    hand_form forms[HAND_MAX_FORMS];
} hand_problem;

/* NULL if there is no problem of that name. */
const hand_problem *hand_problem_find(const char *name);

/* By number from 0, NULL past the last. */
const hand_problem *hand_problem_at(int i);

/* Integrates one form with C853 and gives the problem's final state (n of the problem). */
int hand_problem_c853(const hand_problem *p, int form, double tol, double *end,
                      hand_stats *stats);

#endif
