/*
 * What the library adds to the work itself, on the rattleback; bench/probes/library compares it
 * with the program and with Python.
 *
 *     bench_library lanes|points|call|run|batch
 *
 * prints processor time in seconds: a million points by the bare program of the rates in lanes,
 * the same by a calculator, one call of a calculator, 200 s of motion, 10^4 motions of 2 s.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "eval/native/native.h"
#include "noslip/noslip.h"
#include "session/model.h"

enum { POINTS = 1000000, MOTIONS = 10000, ROUNDS = 20, CALLS = 20000 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Memory in large pages where the system gives them, as numpy's arrays are. */
static double *make_room(size_t numbers)
{
    const size_t page = 2 << 20, size = (numbers * sizeof(double) + page - 1) / page * page;
    double *room = aligned_alloc(page, size);
    if (room)
        madvise(room, size, MADV_HUGEPAGE);
    return room;
}

/* Points near the start, one after the other in memory. */
static double *make_points(const ns_model *m, size_t n)
{
    const size_t states = ns_model_count(m, NS_STATES);
    double *x = make_room(n * states);
    for (size_t i = 0; x && i < n; i++)
        for (size_t k = 0; k < states; k++)
            x[i * states + k] = ns_model_number(m, NS_STATES, k) + 1e-3 * sin((double)(i + k));
    return x;
}

/* The program alone, eight at a time, in place: what lanes can do at most. */
static double bare_lanes(ns_model *m)
{
    const ns_problem *problem = ns_model_problem(m, false);
    const ns_program *rates = problem->rhs;
    const size_t states = m->system->states.n;
    const ns_native_request wish = {.program = rates, .one = true, .eight = true};
    char message[300];
    ns_native *native = ns_native_new(&wish, 1, message, sizeof message, NULL);
    double *work = aligned_alloc(64, (ns_program_work8(rates) + 64) / 8 * 64);
    double *x = aligned_alloc(64, 64 * (states + 1)),
           *out = aligned_alloc(64, 64 * (states + 1));
    double *p = malloc(8 * (m->description->params.n + 1) * sizeof *p);
    _Alignas(64) const double t[8] = {0};
    double best = INFINITY, sum = 0;
    for (size_t k = 0; k < states; k++)
        for (int lane = 0; lane < 8; lane++)
            x[k * 8 + (size_t)lane] = m->x0[k] + 1e-3 * lane;
    for (size_t k = 0; k < m->description->params.n; k++)
        for (int lane = 0; lane < 8; lane++)
            p[k * 8 + (size_t)lane] = m->p[k];
    ns_program_bind8(rates, work, p);
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = seconds();
        for (int i = 0; i < POINTS / 8; i++) {
            ns_program_eval8(rates, work, t, x, out);
            sum += out[0];
        }
        best = fmin(best, seconds() - begin);
    }
    ns_native_free(native);
    free(work);
    free(x);
    free(out);
    free(p);
    return isnan(sum) ? NAN : best;
}

static double by_calculator(ns_model *m, size_t points, size_t calls)
{
    const size_t states = ns_model_count(m, NS_STATES);
    double *x = make_points(m, points), *out = make_room(points * states);
    ns_calculator *c = ns_calculator_new(m, "rates");
    double best = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = seconds();
        for (size_t i = 0; i < calls; i++)
            ns_calculator_eval(c, points, NULL, 0, x, NULL, 0, out);
        best = fmin(best, seconds() - begin);
    }
    ns_calculator_close(c);
    free(x);
    free(out);
    return best / (double)calls;
}

/* With the opening of the model, which the program does too. */
static double whole_run(void)
{
    double best = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = seconds();
        ns_model *m = ns_model_open_gallery("rattleback", NULL, NULL, 0);
        ns_simulate_options o;
        ns_simulate_defaults(&o, sizeof o);
        o.until = 200;
        ns_result_close(ns_simulate(m, &o));
        ns_model_close(m);
        best = fmin(best, seconds() - begin);
    }
    return best;
}

static double whole_batch(ns_model *m)
{
    const double begin = seconds();
    ns_batch *b = ns_batch_new(m);
    ns_batch_over(b, "omega.z=-8:8:10000");
    ns_batch_get(b, "omega.z");
    ns_batch_set_number(b, "until", 2);
    const bool good = ns_batch_run(b) == NS_DONE && ns_batch_rows(b) == MOTIONS;
    ns_batch_close(b);
    return good ? seconds() - begin : NAN;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    ns_model *m = ns_model_open_gallery("rattleback", NULL, NULL, 0);
    const double took = strcmp(what, "lanes") == 0    ? bare_lanes(m)
                        : strcmp(what, "points") == 0 ? by_calculator(m, POINTS, 1)
                        : strcmp(what, "call") == 0   ? by_calculator(m, 1, CALLS)
                        : strcmp(what, "run") == 0    ? whole_run()
                        : strcmp(what, "batch") == 0  ? whole_batch(m)
                                                      : NAN;
    printf("%.9g\n", took);
    ns_model_close(m);
    return isnan(took);
}
