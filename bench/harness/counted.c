/*
 * noslip-bench-counted PROBLEM CONTENDER: one run at each of a ladder of tolerances, for
 * callgrind to count (counts.c). Prints a line for each: tolerance, error, motions.
 */
#include "harness/counts.h"

#include <math.h>
#include <string.h>

int main(int argc, char **argv)
{
    const bench_contender *contender = NULL;
    bench_problem problem;
    for (int c = 0; c < COUNTS_CONTENDERS && argc == 3; c++)
        if (strcmp(counts_contenders[c]->name, argv[2]) == 0)
            contender = counts_contenders[c];
    if (!contender || bench_problem_get(argv[1], &problem) != 0) {
        fprintf(stderr, "noslip-bench-counted PROBLEM CONTENDER\n");
        return 2;
    }
    problem.motions = 8;
    void *handle = contender->open(&problem);
    if (!handle)
        return 1;
    /* to round-off, where more work does not help */
    static const double enough = 1e-13;
    double error = INFINITY, best = INFINITY;
    int in_vain = 0;
    for (double tolerance = fmin(contender->loosest, 1e-4);
         tolerance > contender->tightest / 2 && error > enough && in_vain < 2;
         tolerance /= 10) {
        double end[HAND_MAX_STATES];
        bench_cost cost = {0};
        const int failed = bench_counted(contender, handle, tolerance, end, &cost);
        error = failed ? (double)INFINITY : bench_error(&problem, end);
        in_vain = error < best / 2 ? 0 : in_vain + 1;
        best = fmin(best, error);
        printf("%.3e %.3e %ld\n", tolerance, error, cost.motions > 1 ? cost.motions : 1);
    }
    contender->close(handle);
    return 0;
}
