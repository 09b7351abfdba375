/*
 * Many bodies: what deriving, one evaluation and a motion cost over the number of links.
 *
 *     bench_bodies [--no-motion] [LINKS ...]        (10 80 300 1000)
 *
 * The chain of bench/README.md from its Lagrangian, angles from the vertical; the same with
 * angles from link to link; a binary tree of such links. One second of the first, at equal
 * error against C853 with the tensions as unknowns, and 0.05 s of the others. CPU times, least
 * of three rounds.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/measure.h"
#include "harness/texts.h"
#include "problems/hand_more.h"
#include "session/model.h"

enum { ROUNDS = 3 };

typedef enum shape { CHAIN, ARM, TREE } shape;

static const char *const names[] = {"chain", "arm", "tree"};

/* Link i hangs on link `parent` (0: on the fixed point). */
static int parent(shape s, int i)
{
    return s == TREE ? i / 2 : i - 1;
}

static char *text_of(shape s, int links)
{
    if (s == CHAIN)
        return bench_chain_text(links);
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fprintf(f,
            "param m = %.17g, l = %.17g, g = 9.81\n"
            "let arm(q) = l*[sin(q), -cos(q)]\n"
            "let share(p) = m/2*dot(p', p') - m*g*p.y\n",
            3.0 / links, 3.0 / links);
    for (int i = 1; i <= links; i++) {
        const int on = parent(s, i);
        fprintf(f, "coordinate q%d in rad\nlet a%d = ", i, i);
        if (on && s == ARM)
            fprintf(f, "a%d + ", on);
        fprintf(f, "q%d\nlet p%d = ", i, i);
        if (on)
            fprintf(f, "p%d + ", on);
        fprintf(f, "arm(a%d)\n", i);
    }
    fprintf(f, "lagrangian share(p1)");
    for (int i = 2; i <= links; i++)
        fprintf(f, " +\n share(p%d)", i);
    fprintf(f, "\nstart {\n");
    for (int i = 1; i <= links; i++)
        fprintf(f, "q%d = 0.6*%d/%d\n", i, s == ARM ? 1 : i, links);
    fprintf(f, "}\n");
    fclose(f);
    return text;
}

typedef struct figures {
    double derive, one, eight; /* seconds; of an evaluation, with one and eight lanes */
    double kilobytes;          /* of numbers that eight lanes work on */
    double run, energy;
    long operations;
    unsigned long steps, evaluations;
} figures;

static double *aligned(size_t n)
{
    double *at = aligned_alloc(64, (n * sizeof *at + 63) / 64 * 64);
    if (!at)
        exit(1);
    return at;
}

static void evaluation(const ns_problem *p, const ns_model *m, figures *f)
{
    double *work = aligned(ns_program_work8(p->rhs)), *out = aligned(8 * (size_t)p->n);
    double *x = aligned(8 * (size_t)p->n), *q = aligned(8 * (size_t)p->np + 8);
    double *t = aligned(8);
    memset(t, 0, 8 * sizeof *t);
    for (uint32_t i = 0; i < 8 * p->n; i++)
        x[i] = m->x0[i / 8];
    for (uint32_t i = 0; i < 8 * p->np; i++)
        q[i] = m->p[i / 8];
    const long repeat = 20000000 / (f->operations + 100) + 1;
    f->one = f->eight = HUGE_VAL;
    f->kilobytes = (double)ns_program_work8(p->rhs) * sizeof *work / 1024;
    for (int round = 0; round < ROUNDS; round++) {
        ns_program_bind1(p->rhs, work, m->p);
        double begin = bench_cpu_seconds();
        for (long i = 0; i < repeat; i++)
            ns_program_eval1(p->rhs, work, 0, m->x0, out);
        f->one = fmin(f->one, (bench_cpu_seconds() - begin) / (double)repeat);
        ns_program_bind8(p->rhs, work, q);
        begin = bench_cpu_seconds();
        for (long i = 0; i < repeat; i++)
            ns_program_eval8(p->rhs, work, t, x, out);
        f->eight = fmin(f->eight, (bench_cpu_seconds() - begin) / (double)repeat);
    }
    free(work);
    free(out);
    free(x);
    free(q);
    free(t);
}

/* The state at its end if wanted. */
static bool motion(const ns_problem *p, const ns_model *m, double until, double tolerance,
                   figures *f, double *end)
{
    ns_run_options options = ns_run_defaults();
    options.until = until;
    options.tolerance = tolerance;
    ns_status status;
    const char *message;
    const double begin = bench_cpu_seconds();
    ns_run *r = ns_run_new(p, &options, m->p, m->x0, &status, &message);
    if (!r || ns_run_to(r, until) != NS_OK)
        return false;
    f->run = fmin(f->run, bench_cpu_seconds() - begin);
    const ns_outcome *o = ns_run_outcome(r);
    f->energy = o->energy_drift;
    f->steps = (unsigned long)o->steps;
    f->evaluations = (unsigned long)o->evaluations;
    if (end)
        memcpy(end, ns_run_state(r), p->n * sizeof *end);
    ns_run_free(r);
    return true;
}

static double distance(const double *a, const double *b, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* C853 at the loosest tolerance that errs no more than `error`. */
static void against_hand(int links, const double *exact, double error)
{
    const int n = 2 * links;
    double *y = aligned((size_t)n);
    hand_stats stats;
    for (double tolerance = 1e-7; tolerance > 1e-15; tolerance /= 2) {
        double least = HUGE_VAL, off = HUGE_VAL;
        for (int round = 0; round < ROUNDS; round++) {
            hand_chain_start(links, y);
            const double begin = bench_cpu_seconds();
            if (hand_chain_dop853(links, 1, tolerance, y, &stats) != 0)
                break;
            least = fmin(least, bench_cpu_seconds() - begin);
            off = distance(y, exact, n);
            if (off > error)
                break;
        }
        if (off <= error) {
            printf("    C853 at %.1e: %.4g ms, error %.1e\n", tolerance, 1e3 * least, off);
            break;
        }
    }
    free(y);
}

static void measure(shape s, int links, bool moves)
{
    char *text = text_of(s, links), message[300];
    figures f = {.run = moves ? HUGE_VAL : 0};
    double begin = bench_cpu_seconds();
    ns_model *m = text
                      ? ns_model_load_text("links", text, strlen(text), NULL, 0, NS_MODEL_READY)
                      : NULL;
    if (!m || m->status != NS_OK) {
        fputs(m ? m->messages : "out of memory\n", stderr);
        exit(1);
    }
    const ns_problem *p = ns_model_problem(m, false);
    f.derive = bench_cpu_seconds() - begin;
    f.operations = (long)ns_program_operations(p->rhs, NULL);
    ns_problem_native(p, ns_method_find("gauss")->lanes, message, sizeof message, NULL);
    evaluation(p, m, &f);
    double *end = aligned(p->n), *exact = aligned(p->n);
    for (int round = 0; moves && round < ROUNDS; round++)
        if (!motion(p, m, s == CHAIN ? 1 : 0.05, 1e-10, &f, end))
            exit(1);
    printf("| %s | %d | %ld | %.1f | %.4g | %.4g | %.0f | %lu | %lu | %.4g | %.0e |\n",
           names[s], links, f.operations, 1e3 * f.derive, 1e6 * f.one, 1e6 * f.eight,
           f.kilobytes, f.steps, f.evaluations, 1e3 * f.run, f.energy);
    figures precise = f;
    if (s == CHAIN && moves && motion(p, m, 1, 1e-14, &precise, exact)) {
        const double error = distance(end, exact, (int)p->n);
        printf("    error %.1e\n", error);
        against_hand(links, exact, error);
    }
    fflush(stdout);
    free(end);
    free(exact);
    ns_model_free(m);
    free(text);
}

int main(int argc, char **argv)
{
    static const int usual[] = {10, 80, 300, 1000};
    const bool moves = argc < 2 || strcmp(argv[1], "--no-motion") != 0;
    argc -= !moves;
    argv += !moves;
    const int count = argc > 1 ? argc - 1 : (int)(sizeof usual / sizeof *usual);
    printf("| | links | operations | derived, ms | evaluation, us | eight lanes | kB | steps | "
           "evaluations | motion at 1e-10, ms | energy "
           "|\n|---|---|---|---|---|---|---|---|---|---|"
           "---|\n");
    for (int s = CHAIN; s <= TREE; s++)
        for (int i = 0; i < count; i++)
            measure((shape)s, argc > 1 ? atoi(argv[i + 1]) : usual[i], moves);
    return 0;
}
