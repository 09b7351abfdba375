/*
 * noslip-bench, the program behind `noslip bench`: CPU time of every contender at equal error
 * of the final state, as a ratio to C853, which is DOP853 with a right-hand side written by
 * hand in C (below 1: faster than that).
 *
 *     noslip-bench [--quick] [--rounds N] [--longest SECONDS] [--csv FILE] [--with NAME,...]
 *                  [--write FILE.md] [--instructions] [--sets] [--noslip PROGRAM]
 *                  [PROBLEM...]
 *
 * It is a program of its own because it links what noslip must not need: rival libraries, and
 * code compiled for this one processor.
 */
#define _GNU_SOURCE
#include "base/file.h"
#include "harness/child.h"
#include "harness/report.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The first is the yardstick. */
static const bench_contender *const table[] = {
    &contender_c853,           &contender_c853_form2,
    &contender_cvode_adams,    &contender_gsl,
    &contender_noslip_gauss,   &contender_noslip_gauss_native,
    &contender_noslip_dop853,  &contender_noslip_dop853_native,
    &contender_noslip_taylor,  &contender_noslip_automatic,
    &contender_noslip_derived, &contender_noslip_derived_native,
    &contender_noslip_lanes,   &contender_noslip_lanes_gauss,
    &contender_scipy,          &contender_octave,
};

enum { COUNT = sizeof table / sizeof *table };

/* ---- printing ---------------------------------------------------------------------------- */

/* A number in a column of ten, "-" for none, marked when at a floor of round-off. */
static void print_cell(double value, int decimals, const char *mark)
{
    if (isnan(value))
        printf("%10s ", "-");
    else
        printf("%10.*f%s", value >= 100 ? 0 : decimals, value, *mark ? mark : " ");
}

/* Least error, and operations of one evaluation of the right-hand side. */
static void print_last(const bench_result *result)
{
    printf("%10.0e", result->best_error);
    if (result->operations)
        printf("%12ld", result->operations);
    printf("\n");
}

static void print_problem(const bench_session *s, int problem)
{
    const hand_problem *p = s->problems[problem];
    const bench_result *result = s->results[problem];
    printf("\n%s: %s\n%-16s", p->name, p->what, "error");
    for (int t = 0; t < BENCH_TARGETS; t++)
        printf("%10.0e ", bench_targets[t]);
    printf("%10s%12s\n%-16s", "best", "operations", "C853, ms");
    for (int t = 0; t < BENCH_TARGETS; t++)
        print_cell(1e3 * result[0].seconds[t], 3, bench_mark(&result[0], &result[0], t));
    print_last(&result[0]);
    for (int c = 1; c < s->n_contenders; c++) {
        if (!result[c].able)
            continue;
        printf("%-16s", s->contenders[c]->name);
        for (int t = 0; t < BENCH_TARGETS; t++)
            print_cell(bench_ratio(s, problem, c, t), 2, bench_mark(&result[0], &result[c], t));
        print_last(&result[c]);
    }
    fflush(stdout);
}

static int write_csv(const bench_session *s)
{
    FILE *out = fopen(s->csv, "w");
    if (!out)
        return -1;
    fprintf(out, "problem,contender,tolerance,error,seconds,instructions,steps,rejected,"
                 "evaluations\n");
    for (int p = 0; p < s->n_problems; p++)
        for (int c = 0; c < s->n_contenders; c++)
            for (int i = 0; i < s->results[p][c].n_rungs; i++) {
                const bench_rung *r = &s->results[p][c].rungs[i];
                fprintf(out, "%s,%s,%.3e,%.3e,%.4e,", s->problems[p]->name,
                        s->contenders[c]->name, r->tolerance, r->error, r->seconds);
                if (isfinite(r->instructions))
                    fprintf(out, "%.0f", r->instructions);
                fprintf(out, ",%ld,%ld,%ld\n", r->cost.steps, r->cost.rejected,
                        r->cost.evaluations);
            }
    const int failed = ferror(out);
    return fclose(out) == 0 && !failed ? 0 : -1;
}

/* ---- what is asked for ------------------------------------------------------------------- */

static int wrong(const char *what, const char *word)
{
    fprintf(stderr, "noslip bench: %s '%s'\nproblems:", what, word);
    for (int i = 0; hand_problem_at(i); i++)
        fprintf(stderr, " %s", hand_problem_at(i)->name);
    fprintf(stderr, "\ncontenders:");
    for (int c = 0; c < COUNT; c++)
        fprintf(stderr, " %s", table[c]->name);
    fprintf(stderr, "\n");
    return 2;
}

/* Names are words or lists of words with commas; upper and lower case are the same. */
static int add_contenders(bench_session *s, char *list)
{
    char *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        const bench_contender *found = NULL;
        for (int c = 0; c < COUNT; c++)
            if (strcasecmp(table[c]->name, name) == 0)
                found = table[c];
        if (!found)
            return wrong("there is no contender", name);
        bool known = false;
        for (int c = 0; c < s->n_contenders; c++)
            known = known || s->contenders[c] == found;
        if (!known)
            s->contenders[s->n_contenders++] = found;
    }
    return 0;
}

static int add_problem(bench_session *s, const char *name)
{
    for (int i = 0; hand_problem_at(i); i++)
        if (strcasecmp(hand_problem_at(i)->name, name) == 0) {
            for (int k = 0; k < s->n_problems; k++)
                if (s->problems[k] == hand_problem_at(i))
                    return 0;
            s->problems[s->n_problems++] = hand_problem_at(i);
            return 0;
        }
    return wrong(*name == '-' ? "there is no option" : "there is no problem", name);
}

/* A positive number; 0 if it is not one. */
static double number(const char *text)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    return end != text && !*end && isfinite(value) && value > 0 ? value : 0;
}

static int read_words(bench_session *s, int argc, char **argv)
{
    double rounds = 0, longest = 0;
    s->contenders[s->n_contenders++] = table[0];
    for (int i = 1; i < argc; i++) {
        char *const value = i + 1 < argc ? argv[i + 1] : NULL;
        int status = 0;
        if (strcmp(argv[i], "--quick") == 0) {
            s->quick = true;
            continue;
        }
        if (strcmp(argv[i], "--instructions") == 0) {
            s->instructions = true;
            continue;
        }
        if (strcmp(argv[i], "--sets") == 0) {
            s->only_sets = true;
            continue;
        }
        if (strncmp(argv[i], "--", 2) != 0) {
            status = add_problem(s, argv[i]);
        } else if (!value) {
            return wrong("something is missing behind", argv[i]);
        } else if (strcmp(argv[i], "--rounds") == 0) {
            rounds = floor(number(argv[++i]));
            status = rounds >= 1 ? 0 : wrong("not a number of rounds:", value);
        } else if (strcmp(argv[i], "--longest") == 0) {
            longest = number(argv[++i]);
            status = longest > 0 ? 0 : wrong("not a number of seconds:", value);
        } else if (strcmp(argv[i], "--csv") == 0) {
            s->csv = argv[++i];
        } else if (strcmp(argv[i], "--write") == 0) {
            s->page = argv[++i];
        } else if (strcmp(argv[i], "--noslip") == 0) {
            s->noslip = argv[++i];
        } else if (strcmp(argv[i], "--with") == 0) {
            status = add_contenders(s, argv[++i]);
        } else {
            status = wrong("there is no option", argv[i]);
        }
        if (status)
            return status;
    }
    s->options.rounds = rounds > 0 ? (int)fmin(rounds, 101) : s->quick ? 3 : 5;
    s->options.longest = longest > 0 ? longest : s->quick ? 0.04 : 0.1;
    s->options.per_decade = s->quick ? 1 : 4;
    s->everything = s->n_problems == 0 && s->n_contenders == 1;
    if (s->page && !s->everything) {
        fprintf(stderr,
                "noslip bench: the page is written from all problems and contenders: no "
                "names with --write\n");
        return 2;
    }
    if (s->n_problems == 0)
        for (int i = 0; hand_problem_at(i); i++)
            s->problems[s->n_problems++] = hand_problem_at(i);
    if (s->n_contenders == 1)
        for (int c = 1; c < COUNT; c++)
            if (!s->quick || !table[c]->once)
                s->contenders[s->n_contenders++] = table[c];
    return 0;
}

/* Octave takes minutes for the paper's problem: it begins first, beside the table. */
static void *paper(void *facts)
{
    bench_facts_octave(facts);
    return NULL;
}

/* What is measured beside the table. Nothing is compiled before: the folder for it is new. */
static void the_rest(bench_session *s)
{
    char folder[PATH_MAX];
    errno = ns_file_pattern(folder, sizeof folder, "noslip-bench");
    if (errno || !mkdtemp(folder)) {
        perror("noslip bench");
        return;
    }
    setenv("XDG_CACHE_HOME", folder, 1);
    fprintf(stderr, "noslip bench: instruction sets\n");
    bench_sets_measure(&s->sets, &s->options, 64);
    fprintf(stderr, "noslip bench: growth\n");
    bench_growth_measure(&s->growth);
    fprintf(stderr, "noslip bench: instructions\n");
    bench_counts_measure(&s->counts, NULL, NULL);
    fprintf(stderr, "noslip bench: start-up, engines, compiling\n");
    bench_facts_measure(s->noslip, &s->facts);
    unsetenv("XDG_CACHE_HOME");
    const char *const clean[] = {"rm", "-rf", folder, NULL};
    child_run(clean, 60, NULL, 0);
    printf("\nAims\n\n");
    bench_report_aims(stdout, s);
    printf("\nInstruction sets\n\n");
    bench_report_sets(stdout, &s->sets);
    printf("\nInstructions\n\n");
    bench_report_counts(stdout, &s->counts);
    printf("\nGrowth\n\n");
    bench_report_growth(stdout, s);
    printf("\nEngines\n\n");
    bench_report_facts(stdout, s);
    fflush(stdout);
}

/* All problems; 0 or an exit status. */
static int measure_problems(bench_session *s)
{
    for (int i = 0; i < s->n_problems; i++) {
        bench_problem problem;
        if (bench_problem_get(s->problems[i]->name, &problem) != 0) {
            fprintf(stderr,
                    "noslip bench: %s has no reference: see bench/problems/reference_quad.c\n",
                    s->problems[i]->name);
            return 1;
        }
        problem.motions = s->quick ? 16 : 64;
        bench_measure(&problem, s->contenders, s->n_contenders, bench_targets, BENCH_TARGETS,
                      &s->options, s->results[i]);
        print_problem(s, i);
    }
    return 0;
}

static bool is_wanted(const char *problem, void *context)
{
    return bench_problem_index(context, problem) >= 0;
}

static int count_instructions(bench_session *s)
{
    bench_counts_measure(&s->counts, is_wanted, s);
    bench_report_counts(stdout, &s->counts);
    const bool counted = s->counts.counted;
    bench_counts_free(&s->counts);
    return counted ? 0 : 3;
}

static int measure_sets(bench_session *s)
{
    bench_sets_measure(&s->sets, &s->options, s->quick ? 16 : 64);
    bench_report_sets(stdout, &s->sets);
    const int status = s->page ? bench_report_write_sets(s) : 0;
    bench_sets_free(&s->sets);
    return status ? 3 : 0;
}

int main(int argc, char **argv)
{
    static bench_session session;
    bench_session *s = &session;
    const int status = read_words(s, argc, argv);
    if (status)
        return status;
    if (s->instructions)
        return count_instructions(s);
    if (s->only_sets)
        return measure_sets(s);
    printf(
        "CPU time at equal error of the final state; C853 in milliseconds, the others as "
        "ratios to it.\nMedians of %d interleaved rounds. ~ at a method's floor of "
        "round-off, where luck decides;\n< at most this, its loosest run errs less already; "
        "> at least this, that of C853 does.\nOperations: of one evaluation of the right-hand "
        "side.\n",
        s->options.rounds);
    for (int c = 0; c < s->n_contenders; c++)
        printf("  %-16s%s\n", s->contenders[c]->name, s->contenders[c]->what);
    fflush(stdout);
    s->facts.paper_octave_cpu = s->facts.paper_octave_error = NAN;
    pthread_t octave;
    const bool aside = s->everything && !s->quick &&
                       pthread_create(&octave, NULL, paper, &s->facts) == 0;
    const int bad = measure_problems(s);
    if (aside) /* it is waited for: the times of other child processes are looked at after it */
        pthread_join(octave, NULL);
    if (bad)
        return bad;
    if (s->everything && (!s->quick || s->page))
        the_rest(s);
    if (s->page && bench_report_write(s) != 0)
        return 3;
    if (s->csv && write_csv(s) != 0) {
        fprintf(stderr, "noslip bench: cannot write %s: %s\n", s->csv, strerror(errno));
        return 3;
    }
    for (int i = 0; i < s->n_problems; i++)
        for (int c = 0; c < s->n_contenders; c++)
            bench_result_free(&s->results[i][c]);
    return 0;
}
