/*
 * Contender C853: DOP853 written by hand with the right-hand side inlined (hand_problems.c).
 */
#include "rivals/contenders.h"

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
    *cost = (bench_cost){.steps = stats.steps,
                         .rejected = stats.rejected,
                         .evaluations = stats.evaluations,
                         .operations = h->problem->forms[h->form].operations};
    return status;
}

const bench_contender contender_c853 = {.name = "C853",
                                        .what = "DOP853 and right-hand side by hand in C",
                                        .loosest = 1e-3,
                                        .tightest = 1e-18,
                                        .per_decade = 8,
                                        .open = open_first,
                                        .run = run,
                                        .close = free};

const bench_contender contender_c853_form2 = {.name = "C853-2",
                                              .what = "the same, second choice of states",
                                              .loosest = 1e-3,
                                              .tightest = 1e-18,
                                              .per_decade = 8,
                                              .open = open_second,
                                              .run = run,
                                              .close = free};
