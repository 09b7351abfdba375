/*
 * Instructions of one trajectory: see counts.h.
 */
#define _GNU_SOURCE
#include "harness/counts.h"

#include "base/file.h"
#include "harness/child.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const bench_contender *const counts_contenders[COUNTS_CONTENDERS] = {
    &contender_c853,
    &contender_noslip_gauss_native,
    &contender_noslip_dop853_native,
    &contender_noslip_derived_native,
    &contender_noslip_lanes,
};
const char *const counts_problems[COUNTS_PROBLEMS] = {"P1c", "P2", "P3min"};
const double counts_targets[COUNTS_TARGETS] = {1e-6, 1e-9, 1e-12};

enum { MOST_RUNGS = 64, TEXT = 16384 };

__attribute__((noinline)) int bench_counted(const bench_contender *contender, void *handle,
                                            double tolerance, double *end, bench_cost *cost)
{
    return contender->run(handle, tolerance, end, cost);
}

/* The number behind a word at the beginning of a line of a file; nan if there is none. */
static double number_in(const char *path, const char *word)
{
    char line[256];
    double value = NAN;
    FILE *f = fopen(path, "r");
    while (f && isnan(value) && fgets(line, sizeof line, f))
        if (strncmp(line, word, strlen(word)) == 0)
            value = atof(line + strlen(word));
    if (f)
        fclose(f);
    return value;
}

/* What noslip-bench-counted says, one line per rung, beside what callgrind wrote after each. */
static int read_rungs(const char *text, const char *folder, bench_rung *rungs)
{
    int n = 0;
    for (int line = 1; *text && n < MOST_RUNGS; line++) {
        double tolerance, error, motions;
        char path[PATH_MAX + 32];
        const int fields = sscanf(text, "%lf %lf %lf", &tolerance, &error, &motions);
        snprintf(path, sizeof path, "%s/out.%d", folder, line);
        const double count = number_in(path, "totals:") / (fields == 3 ? motions : 1);
        if (fields == 3 && isfinite(count) && isfinite(error))
            rungs[n++] = (bench_rung){.tolerance = tolerance,
                                      .error = error,
                                      .seconds = count,
                                      .instructions = count};
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return n;
}

static bool beside(char *path, size_t room, const char *name)
{
    const ssize_t length = readlink("/proc/self/exe", path, room - 1);
    if (length <= 0)
        return false;
    path[length] = 0;
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) + strlen(name) + 2 > room)
        return false;
    strcpy(slash + 1, name);
    return access(path, X_OK) == 0;
}

static void by_callgrind(const char *program, const char *problem,
                         const bench_contender *contender, bench_result *result)
{
    char folder[PATH_MAX], out[PATH_MAX + 32];
    char *text = malloc(TEXT);
    bench_rung *rungs = calloc(MOST_RUNGS, sizeof *rungs);
    if (!text || !rungs || ns_file_pattern(folder, sizeof folder, "noslip-counts") != 0 ||
        !mkdtemp(folder)) {
        free(text);
        free(rungs);
        return;
    }
    snprintf(out, sizeof out, "--callgrind-out-file=%s/out", folder);
    const char *const words[] = {"valgrind",
                                 "--tool=callgrind",
                                 out,
                                 "--toggle-collect=bench_counted",
                                 "--dump-after=bench_counted",
                                 program,
                                 problem,
                                 contender->name,
                                 NULL};
    if (child_run(words, 900, text, TEXT).status == 0) {
        result->n_rungs = read_rungs(text, folder, rungs);
        result->rungs = rungs;
        result->able = result->n_rungs > 0;
        bench_at_errors(rungs, result->n_rungs, counts_targets, COUNTS_TARGETS, result);
    } else
        free(rungs);
    const char *const clean[] = {"rm", "-rf", folder, NULL};
    child_run(clean, 60, NULL, 0);
    free(text);
}

/* By the processor: the rungs of an ordinary measurement, without rounds of timing. */
static void by_processor(const char *name, const bench_contender *contender,
                         bench_result *result)
{
    bench_problem problem;
    const bench_options options = {.rounds = 1, .per_decade = 2};
    if (bench_problem_get(name, &problem) != 0)
        return;
    problem.motions = 8;
    bench_measure(&problem, &contender, 1, counts_targets, COUNTS_TARGETS, &options, result);
    for (int i = 0; i < result->n_rungs; i++)
        result->rungs[i].seconds = result->rungs[i].instructions;
    bench_at_errors(result->rungs, result->n_rungs, counts_targets, COUNTS_TARGETS, result);
}

void bench_counts_measure(bench_counts *counts,
                          bool (*wanted)(const char *problem, void *context), void *context)
{
    static const char *const valgrind[] = {"valgrind", "--version", NULL};
    char program[4096];
    const bool processor = !isnan(bench_instructions());
    *counts = (bench_counts){.counted = true, .how = "by the processor"};
    if (!processor) {
        counts->how = "by valgrind's callgrind, on code without AVX-512";
        if (child_run(valgrind, 60, NULL, 0).status != 0) {
            counts->counted = false;
            counts->how = "the processor's counters are closed here, and valgrind is not "
                          "installed";
        } else if (!beside(program, sizeof program, "noslip-bench-counted")) {
            counts->counted = false;
            counts->how = "noslip-bench-counted is not installed beside noslip-bench";
        }
    }
    for (int p = 0; p < COUNTS_PROBLEMS && counts->counted; p++)
        for (int c = 0; c < COUNTS_CONTENDERS; c++) {
            bench_result *r = &counts->result[p][c];
            for (int t = 0; t < COUNTS_TARGETS; t++)
                r->seconds[t] = NAN;
            if (wanted && !wanted(counts_problems[p], context))
                continue;
            if (processor)
                by_processor(counts_problems[p], counts_contenders[c], r);
            else
                by_callgrind(program, counts_problems[p], counts_contenders[c], r);
        }
}

void bench_counts_free(bench_counts *counts)
{
    for (int p = 0; p < COUNTS_PROBLEMS; p++)
        for (int c = 0; c < COUNTS_CONTENDERS; c++)
            bench_result_free(&counts->result[p][c]);
}
