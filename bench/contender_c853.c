/*
 * Contender C853: DOP853 written by hand with the right-hand side inlined (hand_problems.c).
 */
#include "contenders.h"

#include <stdlib.h>

typedef struct handle {
    const hand_problem *problem;
    int form;
} handle;

static void *open_form(const bench_problem *problem, int form)
{
    if (!problem->hand->forms[form].what)
        return NULL;
    handle *h = malloc(sizeof *h);
    if (h)
        *h = (handle){problem->hand, form};
    return h;
}

static void *open_first(const bench_problem *problem)
{
    return open_form(problem, 0);
}

static void *open_second(const bench_problem *problem)
{
    return open_form(problem, 1);
}

static int run(void *opaque, double tolerance, double *end, bench_cost *cost)
{
    const handle *h = opaque;
    hand_stats stats;
    const int status = hand_problem_c853(h->problem, h->form, tolerance, end, &stats);
    *cost = (bench_cost){stats.steps, stats.rejected, stats.evaluations,
                         h->problem->forms[h->form].operations};
    return status;
}

const bench_contender contender_c853 = {
    "C853", "DOP853 and right-hand side by hand in C", 1e-3, 1e-18, 8, open_first, run, free};

const bench_contender contender_c853_form2 = {
    "C853 form 2", "the same, second choice of states", 1e-3, 1e-18, 8, open_second, run, free};
