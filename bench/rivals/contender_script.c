/*
 * Contenders that are other interpreters: child processes that run a script of
 * bench/rivals/scripts and print CPU seconds, steps and the final state. Their start is not
 * timed.
 */
#include "harness/child.h"
#include "rivals/contenders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct handle {
    const hand_problem *problem;
    const char *program;
} handle;

static const double most_seconds = 1500; /* of wall time, on a busy machine */

/* "seconds steps value value ..." */
static int read_line(const char *line, int n, double *end, bench_cost *cost)
{
    double numbers[HAND_MAX_STATES + 2];
    char *next = NULL;
    for (int i = 0; i < n + 2; i++, line = next) {
        numbers[i] = strtod(line, &next);
        if (next == line)
            return -1;
    }
    cost->seconds = fmax(numbers[0], 1e-6);
    cost->steps = (long)numbers[1];
    memcpy(end, numbers + 2, (size_t)n * sizeof *end);
    return 0;
}

static void *new_handle(const bench_problem *problem, const char *program)
{
    handle *h = malloc(sizeof *h);
    if (h)
        *h = (handle){problem->hand, program};
    return h;
}

/* The first interpreter that has it; Debian's own is not always the first on the path. */
static void *open_scipy(const bench_problem *problem)
{
    static const char *const programs[] = {"python3", "/usr/bin/python3"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const char *const test[] = {programs[i], "-c", "import scipy.integrate", NULL};
        if (child_run(test, 60, NULL, 0).status != 0)
            continue;
        /* status 4: the script does not know the problem; 0.1 is as loose as no rung is */
        const char *const known[] = {programs[i],         "-c",  bench_script_with_scipy,
                                     problem->hand->name, "0.1", NULL};
        return child_run(known, 60, NULL, 0).status == 4 ? NULL
                                                         : new_handle(problem, programs[i]);
    }
    return NULL;
}

static int run_scipy(void *opaque, double tolerance, double *end, bench_cost *cost)
{
    const handle *h = opaque;
    char text[40], line[4096];
    snprintf(text, sizeof text, "%.6e", tolerance);
    const char *const words[] = {h->program,       "-c", bench_script_with_scipy,
                                 h->problem->name, text, NULL};
    return child_run(words, most_seconds, line, sizeof line).status == 0
               ? read_line(line, h->problem->n, end, cost)
               : -1;
}

static void *open_octave(const bench_problem *problem)
{
    const char *const test[] = {"octave", "--norc", "--no-gui", "--eval", "1;", NULL};
    if (strcmp(problem->hand->name, "P3") != 0 || child_run(test, 60, NULL, 0).status != 0)
        return NULL;
    return new_handle(problem, "octave");
}

static int octave(double relative, double absolute, int n, double *end, bench_cost *cost)
{
    char line[4096];
    const size_t room = strlen(bench_script_with_octave) + 100;
    char *text = malloc(room);
    if (!text)
        return -1;
    snprintf(text, room, "rtol = %.6e; atol = %.6e;\n%s", relative, absolute,
             bench_script_with_octave);
    const char *const words[] = {"octave", "--norc", "--quiet", "--no-gui",
                                 "--eval", text,     NULL};
    /* Its status is no sign: it may fail while it ends. */
    child_run(words, most_seconds, line, sizeof line);
    free(text);
    return read_line(line, n, end, cost);
}

static int run_octave(void *opaque, double tolerance, double *end, bench_cost *cost)
{
    const handle *h = opaque;
    return octave(tolerance, tolerance, h->problem->n, end, cost);
}

int bench_octave_paper(double *end, bench_cost *cost)
{
    return octave(1e-11, 1e-15, 20, end, cost);
}

const bench_contender contender_scipy = {
    .name = "SciPy",
    .what = "SciPy's DOP853, right-hand side by hand in Python",
    .loosest = 1e-4,
    .tightest = 1e-10,
    .per_decade = 1,
    .once = true,
    .open = open_scipy,
    .run = run_scipy,
    .close = free};

const bench_contender contender_octave = {
    .name = "Octave",
    .what = "GNU Octave, ode45 and equation (45) with pinv, as in the paper of P3",
    .loosest = 1e-5,
    .tightest = 1e-6,
    .per_decade = 1,
    .once = true,
    .open = open_octave,
    .run = run_octave,
    .close = free};
