/*
 * What was measured, in words and tables: see report.h.
 */
#define _GNU_SOURCE
#include "harness/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const double bench_targets[BENCH_TARGETS] = {1e-3, 1e-6, 1e-9, 1e-11, 1e-12, 1e-13};

double bench_ratio(const bench_session *s, int problem, int contender, int target)
{
    const bench_result *r = s->results[problem];
    if (r[contender].upper[target] && r[0].upper[target])
        return NAN;
    return r[contender].seconds[target] / r[0].seconds[target];
}

const char *bench_mark(const bench_result *yardstick, const bench_result *result, int target)
{
    return result->upper[target]                                     ? "<"
           : yardstick->upper[target]                                ? ">"
           : result->doubtful[target] || yardstick->doubtful[target] ? "~"
                                                                     : "";
}

int bench_contender_index(const bench_session *s, const char *name)
{
    for (int c = 0; c < s->n_contenders; c++)
        if (strcmp(s->contenders[c]->name, name) == 0)
            return c;
    return -1;
}

int bench_problem_index(const bench_session *s, const char *name)
{
    for (int p = 0; p < s->n_problems; p++)
        if (strcmp(s->problems[p]->name, name) == 0)
            return p;
    return -1;
}

/* ---- aims -------------------------------------------------------------------------------- */

enum { AT_1E3, AT_1E6, AT_1E9, AT_1E11, AT_1E12, AT_1E13 }; /* in bench_targets */

/* How many times faster than C853 the fastest of these is; nan if none has a time. */
static double times_faster(const bench_session *s, const char *problem, int target,
                           const char *const *names, const char **which, bool *at_least)
{
    const int p = bench_problem_index(s, problem);
    double best = NAN;
    *which = "";
    *at_least = false;
    for (; p >= 0 && *names; names++) {
        const int c = bench_contender_index(s, *names);
        const double faster = c > 0 ? 1 / bench_ratio(s, p, c, target) : NAN;
        if (faster > best || (isnan(best) && !isnan(faster))) {
            best = faster;
            *which = *names;
            *at_least = s->results[p][c].upper[target];
        }
    }
    return best;
}

static void aim(FILE *out, const char *what, const char *wanted, double measured, int decimals,
                bool reached, const char *how, bool at_least)
{
    char text[64] = "not measured";
    if (!isnan(measured))
        snprintf(text, sizeof text, "%s%.*f", at_least ? "at least " : "", decimals, measured);
    fprintf(out, "| %s | %s | %s | %s | %s |\n", what, wanted, text,
            isnan(measured) ? ""
            : reached       ? "yes"
                            : "no",
            how);
}

/* Most that the interpreter is slower than native code, with `gauss`. */
static double interpreter(const bench_session *s, const char **where)
{
    static const char *const pairs[][2] = {{"gauss", "gauss-native"},
                                           {"derived", "derived-native"}};
    double most = NAN;
    *where = "";
    for (int k = 0; k < 2; k++) {
        const int a = bench_contender_index(s, pairs[k][0]);
        const int b = bench_contender_index(s, pairs[k][1]);
        for (int p = 0; p < s->n_problems && a > 0 && b > 0; p++)
            for (int t = 0; t < BENCH_TARGETS; t++) {
                if (s->results[p][a].upper[t] || s->results[p][b].upper[t])
                    continue;
                const double r = s->results[p][a].seconds[t] / s->results[p][b].seconds[t];
                if (r > most || (isnan(most) && !isnan(r))) {
                    most = r;
                    *where = s->problems[p]->name;
                }
            }
    }
    return most;
}

/* Operations per second of the ensemble at 1e-9 as a fraction of the peak.  A step of DOP853
 * has 111
   operations for each of the 10 states that are arguments of stages, and 49 for new value and
   error of each
   of the 12 states. */
static double peak_fraction(const bench_session *s)
{
    const int p = bench_problem_index(s, "P1c"), c = bench_contender_index(s, "lanes");
    if (p < 0 || c < 0 || !(s->facts.peak > 0))
        return NAN;
    const bench_result *r = &s->results[p][c];
    for (int i = 0; i < r->n_rungs; i++)
        if (r->rungs[i].error < 1e-9)
            return (double)r->rungs[i].cost.evaluations *
                   ((double)r->operations + (10 * 111 + 12 * 49) / 12.0) / r->rungs[i].seconds /
                   s->facts.peak;
    return NAN;
}

void bench_report_aims(FILE *out, const bench_session *s)
{
    static const char *const one[] = {"gauss-native", "dop853-native", "derived-native", NULL};
    static const char *const derived[] = {"derived-native", NULL};
    static const char *const lanes[] = {"lanes", NULL};
    const bench_facts *f = &s->facts;
    const char *which;
    bool bound = false;
    char how[160];
    fprintf(out, "| aim | wanted | measured | reached | how |\n|---|---|---|---|---|\n");
    double x = times_faster(s, "P1c", AT_1E9, one, &which, &bound);
    aim(out, "P1c at 1e-9, one trajectory, times faster than C853", ">= 2", x, 2, x >= 2, which,
        bound);
    x = times_faster(s, "P1c", AT_1E11, one, &which, &bound);
    aim(out, "P1c at 1e-11", ">= 1.5", x, 2, x >= 1.5, which, bound);
    x = times_faster(s, "P2", AT_1E13, one, &which, &bound);
    aim(out, "P2 at 1e-13", ">= 3", x, 2, x >= 3, which, bound);
    x = times_faster(s, "P3", AT_1E3, derived, &which, &bound);
    aim(out, "P3 at 1e-3, formulation `constrained`", ">= 2", x, 2, x >= 2, which, bound);
    x = times_faster(s, "P3", AT_1E6, derived, &which, &bound);
    aim(out, "P3 at 1e-6", ">= 2", x, 2, x >= 2, which, bound);
    x = times_faster(s, "P3min", AT_1E9, derived, &which, &bound);
    aim(out, "P3min at 1e-9, formulation `rolling`", ">= 1", x, 2, x >= 1, which, bound);
    x = times_faster(s, "P3min", AT_1E12, derived, &which, &bound);
    aim(out, "P3min at 1e-12", ">= 1", x, 2, x >= 1, which, bound);
    x = times_faster(s, "P1c", AT_1E9, lanes, &which, &bound);
    snprintf(how, sizeof how, "%s; %.0f %% of the peak of %.0f GFlop/s", which,
             100 * peak_fraction(s), f->peak / 1e9);
    aim(out, "P1c at 1e-9, ensemble in lanes, times C853 per core", ">= 6", x, 2, x >= 6, how,
        bound);
    x = f->compiled ? f->worst[0].seconds : NAN;
    snprintf(how, sizeof how, "%s; median of %d models %.4f s", f->worst[0].name, f->compiled,
             f->compile_median);
    aim(out, "native code of a gallery model, slowest, CPU seconds of all processes", "<= 0.5",
        x, 2, x <= 0.5, how, false);
    x = 1e3 * f->start_cpu;
    snprintf(how, sizeof how, "CPU; least wall time %.0f ms; with the whole motion %.0f ms",
             1e3 * f->start_wall, 1e3 * f->start_all);
    aim(out, "start of `noslip run rattleback`, ms", "<= 60", x, 0, x <= 60, how, false);
    x = interpreter(s, &which);
    snprintf(how, sizeof how, "most, on %s", which);
    aim(out, "interpreter against native code, `gauss`", "<= 6", x, 2, x <= 6, how, false);
    x = f->paper_octave_cpu / f->paper_noslip_cpu;
    snprintf(how, sizeof how,
             "%.1f s, error %.0e, against %.0f ms CPU with start and derivation",
             f->paper_octave_cpu, f->paper_octave_error, 1e3 * f->paper_noslip_cpu);
    aim(out, "`noslip run` on the paper's sphere, times faster than its way in Octave",
        ">= 1000", x, 0, x >= 1000, how, false);
}

/* ---- facts and growth -------------------------------------------------------------------- */

static void cell(FILE *out, double value, int decimals)
{
    if (isnan(value))
        fprintf(out, " - |");
    else
        fprintf(out, " %.*f |", decimals, value);
}

void bench_report_facts(FILE *out, const bench_session *s)
{
    const bench_facts *f = &s->facts;
    fprintf(out, "| model | operations | one lane, interpreted | native | eight lanes, "
                 "interpreted | native |\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < FACTS_ENGINES; i++) {
        const bench_engine *e = &f->engines[i];
        fprintf(out, "| %s | %ld |", e->name ? e->name : "", e->operations);
        cell(out, e->one, 0);
        cell(out, e->one_native, 0);
        cell(out, e->eight, 0);
        cell(out, e->eight_native, 0);
        fprintf(out, "\n");
    }
    fprintf(out,
            "\nNanoseconds for one evaluation of the right-hand side, all lanes together; the "
            "same bits in every column.\n\nMaking native code for the default method, CPU "
            "milliseconds: median of %d gallery models %.1f;",
            f->compiled, 1e3 * f->compile_median);
    for (int i = 0; i < FACTS_WORST && i < f->compiled; i++)
        fprintf(out, "%s %s %.1f", i ? "," : " slowest:", f->worst[i].name,
                1e3 * f->worst[i].seconds);
    fprintf(out, ".\n");
}

void bench_report_growth(FILE *out, const bench_session *s)
{
    const bench_growth *g = &s->growth;
    fprintf(out,
            "| links | operations | derive | compile | by hand, C853 | interpreted | native "
            "|\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < GROWTH_CHAINS; i++) {
        const bench_chain *c = &g->chains[i];
        fprintf(out, "| %d | %ld |", c->links, c->operations);
        cell(out, 1e3 * c->derive, 0);
        cell(out, 1e3 * c->compile, 0);
        cell(out, 1e3 * c->by_hand, 2);
        cell(out, 1e3 * c->interpreted, 2);
        cell(out, 1e3 * c->native, 2);
        fprintf(out, "\n");
    }
    fprintf(out,
            "\nMilliseconds of CPU time for 1 s of a chain of pendulums, `gauss` at 1e-10, "
            "C853 at 1e-12 with the tensions as unknowns.\n\n"
            "| lanes | 1 | 2 | 4 | 8 |\n|---|---|---|---|---|\n| motions of P1c per second |");
    for (int i = 0; i < GROWTH_LANES; i++)
        cell(out, g->lanes[i], 0);
    fprintf(out,
            "\n\n`dop853`, tolerance 1e-10, native code, one core.\n\n| simulated time of P2, "
            "s |");
    for (int i = 0; i < GROWTH_TIMES; i++)
        fprintf(out, " %g |", g->times[i]);
    fprintf(out, "\n|---|");
    for (int i = 0; i < GROWTH_TIMES; i++)
        fprintf(out, "---|");
    fprintf(out, "\n| CPU time, ms |");
    for (int i = 0; i < GROWTH_TIMES; i++)
        cell(out, 1e3 * g->seconds[i], 1);
    fprintf(out, "\n| change of the energy |");
    for (int i = 0; i < GROWTH_TIMES; i++)
        fprintf(out, " %.0e |", g->energy[i]);
    fprintf(out, "\n\n`gauss` at its default tolerance, native code, equations derived.\n");
}

/* ---- instructions ------------------------------------------------------------------------ */

void bench_report_counts(FILE *out, const bench_counts *counts)
{
    if (!counts->counted) {
        fprintf(out, "Not counted: %s.\n", counts->how);
        return;
    }
    fprintf(out,
            "Instructions of one trajectory at equal error, counted %s. C853 in thousands, the "
            "others as ratios to it.\n\n| problem | error |",
            counts->how);
    for (int c = 0; c < COUNTS_CONTENDERS; c++)
        fprintf(out, " %s%s |", counts_contenders[c]->name, c ? "" : ", thousands");
    fprintf(out, "\n|---|---|");
    for (int c = 0; c < COUNTS_CONTENDERS; c++)
        fprintf(out, "---|");
    for (int p = 0; p < COUNTS_PROBLEMS; p++)
        for (int t = 0; t < COUNTS_TARGETS && counts->result[p][0].able; t++) {
            const bench_result *r = counts->result[p];
            fprintf(out, "\n| %s | %.0e |", counts_problems[p], counts_targets[t]);
            for (int c = 0; c < COUNTS_CONTENDERS; c++) {
                const double v = r[c].seconds[t] / (c ? r[0].seconds[t] : 1000);
                if (!r[c].able || isnan(v))
                    fprintf(out, " |");
                else
                    fprintf(out, " %.*f%s |", c ? 2 : 0, v,
                            bench_mark(c ? &r[0] : &r[c], &r[c], t));
            }
        }
    fprintf(out, "\n");
}

/* ---- the page ---------------------------------------------------------------------------- */

static void machine(FILE *out)
{
    char name[200];
    fprintf(out, "%s, one core of a shared machine; %s", bench_processor(name, sizeof name),
#if defined(__clang__)
            "clang " __clang_version__
#elif defined(__GNUC__)
            "gcc " __VERSION__
#else
            "unknown compiler"
#endif
    );
}

static void page_problem(FILE *out, const bench_session *s, int p)
{
    const bench_result *r = s->results[p];
    fprintf(out, "\n### %s: %s\n\n![Accuracy against time](images/bench/%s.svg)\n\n| error |",
            s->problems[p]->name, s->problems[p]->what, s->problems[p]->name);
    for (int t = 0; t < BENCH_TARGETS; t++)
        fprintf(out, " %.0e |", bench_targets[t]);
    fprintf(out, " least error | operations |\n|---|");
    for (int t = 0; t < BENCH_TARGETS + 2; t++)
        fprintf(out, "---|");
    for (int c = 0; c < s->n_contenders; c++) {
        if (!r[c].able)
            continue;
        fprintf(out, "\n| %s%s |", s->contenders[c]->name, c ? "" : ", ms");
        for (int t = 0; t < BENCH_TARGETS; t++) {
            const double v = c ? bench_ratio(s, p, c, t) : 1e3 * r[0].seconds[t];
            if (isnan(v))
                fprintf(out, " |");
            else
                fprintf(out, " %.*f%s |",
                        v >= 100  ? 0
                        : v >= 10 ? 1
                                  : 2,
                        v, bench_mark(c ? &r[0] : &r[c], &r[c], t));
        }
        fprintf(out, " %.0e |", r[c].best_error);
        if (r[c].operations)
            fprintf(out, " %ld", r[c].operations);
        fprintf(out, " |");
    }
    fprintf(out, "\n");
}

static void page(FILE *out, const bench_session *s)
{
    fprintf(out,
            "# Performance\n\nWritten by `noslip bench --write docs/performance.md`: every "
            "number here is measured by that command.\n\n");
    machine(out);
    fprintf(out,
            ". Times are CPU times, medians of %d rounds in which all contenders run in turn; "
            "the ratios hold on processors of this kind, the milliseconds do not. Problems and "
            "method: "
            "[bench/README.md](../bench/README.md).\n\n## Aims\n\n",
            s->options.rounds);
    bench_report_aims(out, s);
    fprintf(
        out,
        "\n## Accuracy against time\n\nTime at equal error of the final state, measured "
        "against solutions in quadruple precision, as a ratio to **C853**: DOP853 with a "
        "right-hand side written by hand in C, compiled for exactly this problem with `-O3 "
        "-march=native`. Below 1 is faster than that. Compiling and deriving are not "
        "counted. `~`: at a method's floor of round-off, where luck decides. `<`: at most "
        "this, the method's loosest run errs less already; `>`: at least this, that of C853 "
        "does.\n\n"
        "![Ratios](images/bench/ratios.svg)\n\n| contender | |\n|---|---|\n");
    for (int c = 0; c < s->n_contenders; c++)
        fprintf(out, "| %s | %s |\n", s->contenders[c]->name, s->contenders[c]->what);
    fprintf(out, "\nMuJoCo takes no part: its contact is soft and it has no rolling without "
                 "slipping.\n");
    for (int p = 0; p < s->n_problems; p++)
        page_problem(out, s, p);
    fprintf(out, "\n## Instruction sets\n\n");
    bench_report_sets(out, &s->sets);
    fprintf(out, "\n## Instructions\n\n");
    bench_report_counts(out, &s->counts);
    fprintf(out, "\n## Growth\n\n![Growth](images/bench/growth.svg)\n\n");
    bench_report_growth(out, s);
    fprintf(out, "\n## Engines\n\n");
    bench_report_facts(out, s);
    fprintf(out, "\nHow native code is made, and how accurate the functions are: "
                 "[theory/engines.md](theory/engines.md).\n");
}

static int failed(const char *path)
{
    fprintf(stderr, "noslip bench: cannot write %s: %s\n", path, strerror(errno));
    return -1;
}

int bench_report_write(const bench_session *s)
{
    char folder[4096], text[4096 + 32];
    const char *slash = strrchr(s->page, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - s->page) : 1,
             slash ? s->page : ".");
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s/images%s", folder, i ? "/bench" : "");
        if (mkdir(text, 0777) != 0 && errno != EEXIST)
            return failed(text);
    }
    const int error = bench_figures_write(s, text);
    if (error) {
        errno = error;
        return failed(text);
    }
    FILE *out = fopen(s->page, "w");
    if (!out)
        return failed(s->page);
    page(out, s);
    const int bad = ferror(out);
    return fclose(out) == 0 && !bad ? 0 : failed(s->page);
}

int bench_report_write_sets(const bench_session *s)
{
    FILE *out = fopen(s->page, "w");
    if (!out)
        return failed(s->page);
    fprintf(out,
            "# Instruction sets\n\nWritten by `noslip bench --sets%s --write %s`. CPU times of "
            "one core of a shared machine at equal error of the final state, medians of %d "
            "rounds in which all contenders run in turn. `~`: at a method's floor of "
            "round-off, where luck decides.\n\n",
            s->quick ? " --quick" : "", s->page, s->options.rounds);
    bench_report_sets(out, &s->sets);
    const int bad = ferror(out);
    return fclose(out) == 0 && !bad ? 0 : failed(s->page);
}
