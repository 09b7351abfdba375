/*
 * The speed table: CPU time of every method at equal final error, as a ratio to C853, which is
 * DOP853 with a right-hand side written by hand in C (below 1: faster than that).
 *
 *     bench_methods [--rounds N] [--longest SECONDS] [--ladder FILE.csv] [PROBLEM...]
 */
#include "contenders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first is the yardstick. */
static const bench_contender *const table[] = {
    &contender_c853,
    &contender_c853_form2,
    &contender_cvode_adams,
    &contender_noslip_gauss,
    &contender_noslip_taylor,
    &contender_noslip_dop853,
    &contender_noslip_adams,
    &contender_noslip_rolling,
    &contender_noslip_gauss_native,
    &contender_noslip_dop853_native,
    &contender_noslip_rolling_native,
};

enum { COUNT = sizeof table / sizeof *table };

static const double targets[] = {1e-3, 1e-6, 1e-9, 1e-11, 1e-12, 1e-13};

enum { TARGETS = sizeof targets / sizeof *targets };

/* A number in a column of ten, "-" for none, marked when at a floor of round-off. */
static void print_cell(double value, int decimals, bool doubtful)
{
    if (isnan(value))
        printf("%10s ", "-");
    else
        printf("%10.*f%s", decimals, value, doubtful ? "~" : " ");
}

/* Least error, and operations of one evaluation of the right-hand side. */
static void print_last(const bench_result *result)
{
    printf("%10.0e", result->best_error);
    if (result->operations)
        printf("%12ld", result->operations);
    printf("\n");
}

static void print_problem(const hand_problem *p, const bench_contender *contenders,
                          const bench_result *result)
{
    printf("\n%s: %s\n%-14s", p->name, p->what, "error");
    for (int t = 0; t < TARGETS; t++)
        printf("%10.0e ", targets[t]);
    printf("%10s%12s\n%-14s", "best", "operations", "C853, ms");
    for (int t = 0; t < TARGETS; t++)
        print_cell(1e3 * result[0].seconds[t], 3, result[0].doubtful[t]);
    print_last(&result[0]);
    for (int c = 1; c < COUNT; c++) {
        if (!result[c].able)
            continue;
        printf("%-14s", contenders[c].name);
        for (int t = 0; t < TARGETS; t++)
            print_cell(result[c].seconds[t] / result[0].seconds[t], 2,
                       result[c].doubtful[t] || result[0].doubtful[t]);
        print_last(&result[c]);
    }
    fflush(stdout);
}

static int usage(void)
{
    fprintf(stderr, "usage: bench_methods [--rounds N] [--longest SECONDS] [--ladder FILE.csv] "
                    "[PROBLEM...]\nproblems:");
    for (int i = 0; hand_problem_at(i); i++)
        fprintf(stderr, " %s", hand_problem_at(i)->name);
    fprintf(stderr, "\n");
    return 2;
}

int main(int argc, char **argv)
{
    bench_options options = {.rounds = 5, .longest = 0.2, .ladder = NULL};
    const char *names[64] = {NULL};
    int n = 0;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--rounds") == 0 && value) {
            options.rounds = atoi(value);
            i++;
        } else if (strcmp(argv[i], "--longest") == 0 && value) {
            options.longest = atof(value);
            i++;
        } else if (strcmp(argv[i], "--ladder") == 0 && value && !options.ladder) {
            options.ladder = fopen(value, "w");
            if (!options.ladder) {
                perror(value);
                return 3;
            }
            i++;
        } else if (hand_problem_find(argv[i]) && n < 64) {
            names[n++] = argv[i];
        } else {
            return usage();
        }
    }
    if (options.rounds < 1)
        return usage();
    if (n == 0)
        for (; hand_problem_at(n); n++)
            names[n] = hand_problem_at(n)->name;

    bench_contender contenders[COUNT];
    for (int c = 0; c < COUNT; c++)
        contenders[c] = *table[c];
    if (options.ladder)
        fprintf(options.ladder,
                "problem,method,tolerance,error,seconds,steps,rejected,evaluations\n");
    printf("CPU time at equal error of the final state; C853 in milliseconds, the others as "
           "ratios to "
           "it.\nMedians of %d interleaved rounds. ~ at a method's floor of round-off, where "
           "luck decides.\nOperations: of one evaluation of the right-hand side.\n",
           options.rounds);
    for (int c = 0; c < COUNT; c++)
        printf("  %-14s%s\n", contenders[c].name, contenders[c].what);
    for (int i = 0; i < n; i++) {
        bench_problem problem;
        bench_result result[COUNT];
        if (bench_problem_get(names[i], &problem) != 0) {
            fprintf(stderr, "%s has no reference: see reference_quad.c\n", names[i]);
            return 1;
        }
        bench_measure(&problem, contenders, COUNT, targets, TARGETS, &options, result);
        print_problem(problem.hand, contenders, result);
    }
    if (options.ladder && fclose(options.ladder) != 0) {
        perror("ladder");
        return 3;
    }
    return 0;
}
