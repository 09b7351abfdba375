/*
 * See sets.h.
 */
#define _GNU_SOURCE
#include "harness/sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/simd.h"

static const char *const problems[SETS_PROBLEMS] = {"P1c", "P2", "P3min"};
static const double targets[SETS_TARGETS] = {1e-6, 1e-9, 1e-11, 1e-13};
static const bench_contender *const contenders[SETS_CONTENDERS] = {
    &contender_c853, &contender_noslip_gauss_native, &contender_noslip_derived_native,
    &contender_noslip_lanes, &contender_noslip_lanes_gauss};

const char *bench_processor(char *name, size_t room)
{
    char line[256] = "";
    snprintf(name, room, "unknown processor");
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(name, room, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (f)
        fclose(f);
    return name;
}

void bench_sets_measure(bench_sets *sets, const bench_options *options, int motions)
{
    const char *before = getenv(NS_SIMD_VARIABLE);
    char *kept = before ? strdup(before) : NULL;
    for (int level = 0; level <= (int)NS_SIMD_AVX512; level++) {
        const char *name = ns_simd_name((ns_simd)level);
        char why[200];
        if (!ns_simd_check(name, why, sizeof why))
            break;
        fprintf(stderr, "noslip bench: %s\n", name);
        setenv(NS_SIMD_VARIABLE, name, 1); /* read where programs are built */
        for (int p = 0; p < SETS_PROBLEMS; p++) {
            bench_problem problem;
            if (bench_problem_get(problems[p], &problem) != 0)
                continue;
            problem.motions = motions;
            bench_measure(&problem, contenders, SETS_CONTENDERS, targets, SETS_TARGETS, options,
                          sets->result[level][p]);
        }
        sets->n = level + 1;
    }
    if (kept)
        setenv(NS_SIMD_VARIABLE, kept, 1);
    else
        unsetenv(NS_SIMD_VARIABLE);
    free(kept);
}

static void put_row(FILE *out, int level, int problem, const bench_result *row, int c)
{
    fprintf(out, "| %s | %s | %s%s |", problems[problem], ns_simd_name((ns_simd)level),
            contenders[c]->name, c ? "" : ", ms");
    for (int t = 0; t < SETS_TARGETS; t++) {
        const double v = c ? row[c].seconds[t] / row[0].seconds[t] : 1e3 * row[0].seconds[t];
        if (isnan(v) || (c && row[c].upper[t] && row[0].upper[t]))
            fprintf(out, " |");
        else
            fprintf(out, " %.2f%s |", v,
                    row[c].upper[t]                            ? "<"
                    : row[0].upper[t]                          ? ">"
                    : row[c].doubtful[t] || row[0].doubtful[t] ? "~"
                                                               : "");
    }
    fprintf(out, "\n");
}

void bench_report_sets(FILE *out, const bench_sets *sets)
{
    char name[200];
    fprintf(out,
            "%s: noslip with each instruction set it has, asked for by `NOSLIP_SIMD`; C853, "
            "compiled for this processor, in milliseconds, the others as ratios to it "
            "(below 1 is faster).\n\n| problem | set | error |",
            bench_processor(name, sizeof name));
    for (int t = 0; t < SETS_TARGETS; t++)
        fprintf(out, " %.0e |", targets[t]);
    fprintf(out, "\n|---|---|---|---|---|---|---|\n");
    for (int p = 0; p < SETS_PROBLEMS; p++)
        for (int level = sets->n - 1; level >= 0; level--)
            for (int c = 0; c < SETS_CONTENDERS; c++)
                if (sets->result[level][p][c].able)
                    put_row(out, level, p, sets->result[level][p], c);
}

void bench_sets_free(bench_sets *sets)
{
    for (int level = 0; level < sets->n; level++)
        for (int p = 0; p < SETS_PROBLEMS; p++)
            for (int c = 0; c < SETS_CONTENDERS; c++)
                bench_result_free(&sets->result[level][p][c]);
}
