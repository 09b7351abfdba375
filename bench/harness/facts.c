/*
 * Peak, start-up, compiling, engines, the paper's problem: see facts.h.
 */
#define _GNU_SOURCE
#include "harness/facts.h"

#include "harness/child.h"
#include "harness/texts.h"
#include "probes/hand_peak.h"
#include "rivals/contenders.h"

#include "session/gallery.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static double peak(void)
{
    static volatile double kept;
    double best = 0, result;
    for (int i = 0; i < 7; i++) {
        const double begin = bench_cpu_seconds();
        const double done = hand_peak_work(2000000, &result);
        best = fmax(best, done / (bench_cpu_seconds() - begin));
        kept = result;
    }
    (void)kept;
    return best;
}

/* CPU time of this process and of its children that have ended. */
static double all_cpu_seconds(void)
{
    double sum = 0;
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    for (int i = 0; i < 2; i++) {
        struct rusage u;
        getrusage(whose[i], &u);
        sum += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
               1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    }
    return sum;
}

/* ---- the program as a whole -------------------------------------------------------------- */

static void start_up(const char *noslip, bench_facts *facts)
{
    enum { RUNS = 9 };
    double cpu[RUNS], whole[RUNS], wall = INFINITY;
    const char *const words[] = {noslip, "run", "rattleback", "--until", "1e-6", NULL};
    const char *const all[] = {noslip, "run", "rattleback", NULL};
    for (int i = 0; i < RUNS; i++) {
        const child_result r = child_run(words, 60, NULL, 0);
        wall = fmin(wall, r.status == 0 ? r.wall : INFINITY);
        cpu[i] = r.cpu;
        whole[i] = child_run(all, 60, NULL, 0).cpu;
    }
    facts->start_wall = wall;
    facts->start_cpu = bench_median(cpu, RUNS);
    facts->start_all = bench_median(whole, RUNS);
}

/* The sphere in a trough from its model's text to the printed result. */
static void paper_run(const char *noslip, bench_facts *facts)
{
    enum { RUNS = 5 };
    double cpu[RUNS];
    const char *const words[] = {noslip, "run", "sphere-trough", "--until", "10", NULL};
    facts->paper_noslip_wall = INFINITY;
    for (int i = 0; i < RUNS; i++) {
        const child_result r = child_run(words, 60, NULL, 0);
        facts->paper_noslip_wall = fmin(facts->paper_noslip_wall, r.wall);
        cpu[i] = r.cpu;
    }
    facts->paper_noslip_cpu = bench_median(cpu, RUNS);
}

void bench_facts_octave(bench_facts *facts)
{
    bench_problem problem;
    double end[HAND_MAX_STATES];
    bench_cost cost = {0};
    if (bench_problem_get("P3", &problem) == 0 && bench_octave_paper(end, &cost) == 0) {
        facts->paper_octave_cpu = cost.seconds;
        facts->paper_octave_error = bench_error(&problem, end);
    }
}

/* ---- compiling --------------------------------------------------------------------------- */

static int slowest_first(const void *a, const void *b)
{
    const double x = ((const bench_compile *)a)->seconds;
    const double y = ((const bench_compile *)b)->seconds;
    return (x < y) - (x > y);
}

/* Native code of every model of the gallery for its default method, from nothing. */
static void compile_gallery(bench_facts *facts)
{
    bench_compile *list = calloc(ns_gallery_count + 1, sizeof *list);
    if (!list)
        return;
    int n = 0;
    for (unsigned i = 0; i < ns_gallery_count; i++) {
        const char *text = ns_gallery_entries[i].text, *name = ns_gallery_entries[i].name;
        ns_model *model = ns_model_load_text(name, text, strlen(text), NULL, 0, NS_MODEL_READY);
        if (model && model->status == NS_OK) {
            const ns_method *method = ns_method_find(model->settings.method);
            const ns_problem *problem = ns_model_problem(model, method->needs_jacobian);
            char message[300];
            const double begin = all_cpu_seconds();
            if (problem &&
                ns_problem_native(problem, method->lanes, message, sizeof message, NULL)) {
                list[n].seconds = all_cpu_seconds() - begin;
                snprintf(list[n].name, sizeof list[n].name, "%s", name);
                n++;
            }
        }
        ns_model_free(model);
    }
    qsort(list, (size_t)n, sizeof *list, slowest_first);
    facts->compiled = n;
    facts->compile_median = n ? list[n / 2].seconds : NAN;
    for (int i = 0; i < FACTS_WORST && i < n; i++)
        facts->worst[i] = list[i];
    free(list);
}

/* ---- engines ----------------------------------------------------------------------------- */

/* Nanoseconds of one evaluation: the median of some samples of a millisecond or so. */
static double one_lane(const ns_problem *p, const ns_model *m)
{
    enum { SAMPLES = 7 };
    double sample[SAMPLES];
    double *work = calloc(ns_program_work1(p->rhs) + 1, sizeof *work);
    double *out = calloc(p->n, sizeof *out);
    if (!work || !out)
        abort();
    ns_program_bind1(p->rhs, work, m->p);
    const long repeat = 2000000 / (ns_program_operations(p->rhs, NULL) + 100) + 1;
    for (int s = 0; s < SAMPLES; s++) {
        const double begin = bench_cpu_seconds();
        for (long i = 0; i < repeat; i++)
            ns_program_eval1(p->rhs, work, 0, m->x0, out);
        sample[s] = 1e9 * (bench_cpu_seconds() - begin) / (double)repeat;
    }
    free(work);
    free(out);
    return bench_median(sample, SAMPLES);
}

static double *aligned(size_t n)
{
    double *p = aligned_alloc(64, (n * sizeof *p + 63) / 64 * 64 + 64);
    if (!p)
        abort();
    memset(p, 0, n * sizeof *p);
    return p;
}

static double eight_lanes(const ns_problem *p, const ns_model *m)
{
    enum { SAMPLES = 7 };
    double sample[SAMPLES];
    double *work = aligned(ns_program_work8(p->rhs)), *out = aligned(8 * (size_t)p->n);
    double *x = aligned(8 * (size_t)p->n), *q = aligned(8 * (size_t)p->np + 8), *t = aligned(8);
    for (size_t k = 0; k < 8; k++) {
        for (size_t i = 0; i < p->n; i++)
            x[8 * i + k] = m->x0[i];
        for (size_t i = 0; i < p->np; i++)
            q[8 * i + k] = m->p[i];
    }
    ns_program_bind8(p->rhs, work, q);
    const long repeat = 2000000 / (ns_program_operations(p->rhs, NULL) + 100) + 1;
    for (int s = 0; s < SAMPLES; s++) {
        const double begin = bench_cpu_seconds();
        for (long i = 0; i < repeat; i++)
            ns_program_eval8(p->rhs, work, t, x, out);
        sample[s] = 1e9 * (bench_cpu_seconds() - begin) / (double)repeat;
    }
    free(work);
    free(out);
    free(x);
    free(q);
    free(t);
    return bench_median(sample, SAMPLES);
}

static void engines(bench_facts *facts)
{
    static const char *const names[FACTS_ENGINES] = {
        "rattleback",          "chaplygin-sleigh", "falling-disk", "snakeboard",
        "sphere-one-particle", "chain-30",         "bicycle"};
    for (int i = 0; i < FACTS_ENGINES; i++) {
        bench_engine *e = &facts->engines[i];
        const char *text = bench_gallery_text(names[i]);
        ns_model *model = text ? ns_model_load_text(names[i], text, strlen(text), NULL, 0,
                                                    NS_MODEL_READY)
                               : NULL;
        const ns_problem *p = model && model->status == NS_OK ? ns_model_problem(model, false)
                                                              : NULL;
        *e = (bench_engine){names[i], 0, NAN, NAN, NAN, NAN};
        if (p) {
            char message[300];
            e->operations = (long)ns_program_operations(p->rhs, NULL);
            e->one = one_lane(p, model);
            e->eight = eight_lanes(p, model);
            const ns_native_request request = {.program = p->rhs, .one = true, .eight = true};
            ns_native *native = ns_native_new(&request, 1, message, sizeof message, NULL);
            if (native) {
                e->one_native = one_lane(p, model);
                e->eight_native = eight_lanes(p, model);
            }
            ns_native_free(native);
        }
        ns_model_free(model);
    }
}

void bench_facts_measure(const char *noslip, bench_facts *facts)
{
    facts->peak = peak();
    facts->start_wall = facts->start_cpu = facts->start_all = NAN;
    facts->paper_noslip_cpu = facts->paper_noslip_wall = NAN;
    if (noslip) {
        start_up(noslip, facts);
        paper_run(noslip, facts);
    }
    compile_gallery(facts); /* before anything of it is compiled */
    engines(facts);
}
