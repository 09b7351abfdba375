/*
 * Work against accuracy: see measure.h for what is measured and how.
 */
#include "harness/measure.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_RUNGS = 200, MAX_ROUNDS = 101 };

/* Short runs are repeated within a sample until it lasts this long: clocks cost time too. */
static const double sample_seconds = 1e-3;

/* Longer runs average over disturbances by themselves: the first one is enough. */
static const double slow_seconds = 0.03;

/* How a rung is timed. */
typedef struct timing {
    int repeat, rounds;
    double sample[MAX_ROUNDS]; /* seconds of one motion */
} timing;

typedef struct ladder {
    const bench_contender *contender;
    void *handle;
    int n;
    bench_rung *rungs;
    timing *timings;
} ladder;

double bench_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int bench_problem_get(const char *name, bench_problem *problem)
{
    problem->hand = hand_problem_find(name);
    problem->reference = NULL;
    for (size_t i = 0; i < sizeof bench_references / sizeof *bench_references; i++)
        if (strcmp(bench_references[i].name, name) == 0)
            problem->reference = &bench_references[i];
    return problem->hand && problem->reference && problem->hand->n == problem->reference->n
               ? 0
               : -1;
}

double bench_error(const bench_problem *problem, const double *end)
{
    double largest = 0;
    for (int i = 0; i < problem->reference->n; i++) {
        const double *v = problem->reference->value[i];
        const double d = fabs(end[i] - v[0] - v[1]) / fmax(1, fabs(v[0]));
        if (!(d <= largest))
            largest = isnan(d) ? INFINITY : d;
    }
    return largest;
}

/* ---- the ladder -------------------------------------------------------------------------- */

/* Seconds of one motion, from the start of a run to now. */
static double one_motion(double start, const bench_cost *cost)
{
    const double seconds = cost->seconds > 0 ? cost->seconds : bench_cpu_seconds() - start;
    return seconds / (double)(cost->motions > 1 ? cost->motions : 1);
}

/* Errors, counts and a first idea of the time, rung by rung. */
static void climb(ladder *l, const bench_problem *problem, const bench_options *options)
{
    const bench_contender *c = l->contender;
    const int most = options->per_decade, rounds = c->once ? 1 : options->rounds;
    const int per_decade = most > 0 && most < c->per_decade ? most : c->per_decade;
    const int n = (int)lround(log10(c->loosest / c->tightest) * per_decade) + 1;
    assert(n > 1 && n <= MAX_RUNGS);
    for (int i = 0; i < n; i++) {
        bench_rung *r = &l->rungs[l->n];
        timing *t = &l->timings[l->n];
        double end[HAND_MAX_STATES];
        memset(r, 0, sizeof *r);
        r->tolerance = c->loosest * pow(10, -(double)i / per_decade);
        const double counted = bench_instructions(), start = bench_cpu_seconds();
        const int failed = c->run(l->handle, r->tolerance, end, &r->cost);
        const double took = one_motion(start, &r->cost);
        const double motions = (double)(r->cost.motions > 1 ? r->cost.motions : 1);
        r->instructions = (bench_instructions() - counted) / motions;
        if (failed)
            continue;
        if (options->longest > 0 && took > options->longest && !c->once)
            break;
        r->error = fmax(bench_error(problem, end), 1e-17);
        if (!isfinite(r->error))
            continue;
        t->rounds = took * motions > (motions > 1 ? 5 : 1) * slow_seconds ? 1 : rounds;
        t->repeat = took < sample_seconds && r->cost.motions <= 1
                        ? (int)ceil(sample_seconds / fmax(took, 1e-7))
                        : 1;
        t->sample[0] = took;
        l->n++;
    }
}

static void time_rung(const ladder *l, int i, int round)
{
    double end[HAND_MAX_STATES];
    bench_cost cost = {0};
    timing *t = &l->timings[i];
    const double start = bench_cpu_seconds();
    for (int k = 0; k < t->repeat; k++)
        l->contender->run(l->handle, l->rungs[i].tolerance, end, &cost);
    t->sample[round] = one_motion(start, &cost) / t->repeat;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(const double *values, int n)
{
    double sorted[MAX_ROUNDS];
    n = n < MAX_ROUNDS ? n : MAX_ROUNDS;
    memcpy(sorted, values, (size_t)n * sizeof *values);
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* ---- time at an error -------------------------------------------------------------------- */

/*
 * A stretch of neighbouring rungs of which the tighter are no better than the looser: one
 * error, the mean of its logarithms, reached from the fastest rung on and held to the slowest.
 */
typedef struct pool {
    double error;       /* logarithm */
    double first, last; /* logarithms of seconds */
    int n;
} pool;

/* Pools rungs until errors fall strictly from pool to pool. Returns the number of pools. */
static int pool_ladder(const bench_rung *rungs, int count, pool *pools)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        const double s = log(rungs[i].seconds);
        pool p = {log(rungs[i].error), s, s, 1};
        while (n > 0 && pools[n - 1].error <= p.error) {
            const pool q = pools[--n];
            p.error = (p.error * p.n + q.error * q.n) / (p.n + q.n);
            p.first = fmin(p.first, q.first);
            p.last = fmax(p.last, q.last);
            p.n += q.n;
        }
        pools[n++] = p;
    }
    return n;
}

/* Between the end of one pool and the beginning of the next log time is linear in log error. */
static double time_at(const pool *pools, int n, double error)
{
    const double e = log(error);
    for (int i = 0; i + 1 < n; i++)
        if (pools[i].error >= e && e >= pools[i + 1].error) {
            const double x = (e - pools[i].error) / (pools[i + 1].error - pools[i].error);
            return exp(pools[i].last + x * (pools[i + 1].first - pools[i].last));
        }
    return NAN;
}

/* More time does not help any more: a fifth of the slower rungs miss the error all the same. */
static bool at_floor(const bench_rung *rungs, int n, double seconds, double error)
{
    int slower = 0, misses = 0;
    for (int i = 0; i < n; i++)
        if (rungs[i].seconds > seconds) {
            slower++;
            misses += rungs[i].error > error;
        }
    return misses * 5 > slower;
}

/* The fastest run that errs less. */
static double fastest_within(const bench_rung *rungs, int n, double error)
{
    double least = INFINITY;
    for (int i = 0; i < n; i++)
        if (rungs[i].error <= error && rungs[i].seconds < least)
            least = rungs[i].seconds;
    return least;
}

void bench_at_errors(const bench_rung *rungs, int n, const double *targets, int ntargets,
                     bench_result *result)
{
    pool pools[MAX_RUNGS];
    const int count = pool_ladder(rungs, n, pools);
    for (int t = 0; t < ntargets; t++) {
        double *seconds = &result->seconds[t];
        *seconds = time_at(pools, count, targets[t]);
        result->upper[t] = count > 0 && pools[0].error < log(targets[t]);
        result->doubtful[t] = !result->upper[t] && at_floor(rungs, n, *seconds, targets[t]);
        if (result->upper[t])
            *seconds = fastest_within(rungs, n, targets[t]);
        else if (result->doubtful[t])
            *seconds = time_at(pools, count, 2 * targets[t]);
    }
}

static void open_ladder(ladder *l, const bench_problem *problem, const bench_contender *c,
                        bench_result *result)
{
    const double start = bench_cpu_seconds();
    l->contender = c;
    l->handle = c->open(problem);
    *result = (bench_result){.open_seconds = bench_cpu_seconds() - start,
                             .best_error = INFINITY,
                             .able = l->handle != NULL};
    if (!l->handle)
        return;
    l->rungs = calloc(MAX_RUNGS, sizeof *l->rungs);
    l->timings = calloc(MAX_RUNGS, sizeof *l->timings);
    if (!l->rungs || !l->timings)
        abort();
}

/* What the ladder says; its rungs go to the result. */
static void close_ladder(ladder *l, const double *targets, int ntargets, bench_result *result)
{
    for (int i = 0; i < l->n; i++) {
        l->rungs[i].seconds = bench_median(l->timings[i].sample, l->timings[i].rounds);
        result->best_error = fmin(result->best_error, l->rungs[i].error);
        result->operations = l->rungs[i].cost.operations;
    }
    bench_at_errors(l->rungs, l->n, targets, ntargets, result);
    l->contender->close(l->handle);
    free(l->timings);
    result->rungs = l->rungs;
    result->n_rungs = l->n;
}

void bench_measure(const bench_problem *problem, const bench_contender *const *contenders,
                   int count, const double *targets, int ntargets, const bench_options *options,
                   bench_result *result)
{
    const int rounds = options->rounds < MAX_ROUNDS ? options->rounds : MAX_ROUNDS;
    ladder *ladders = calloc((size_t)count, sizeof *ladders);
    if (!ladders)
        abort();
    for (int c = 0; c < count; c++) {
        open_ladder(&ladders[c], problem, contenders[c], &result[c]);
        for (int t = 0; t < ntargets; t++)
            result[c].seconds[t] = NAN;
        if (result[c].able)
            climb(&ladders[c], problem, options);
    }

    /* Rung by rung and contender by contender within a round: neighbours in time are rivals. */
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < MAX_RUNGS; i++)
            for (int c = 0; c < count; c++)
                if (i < ladders[c].n && ladders[c].timings[i].rounds > 1 &&
                    round < ladders[c].timings[i].rounds)
                    time_rung(&ladders[c], i, round);

    for (int c = 0; c < count; c++)
        if (result[c].able)
            close_ladder(&ladders[c], targets, ntargets, &result[c]);
    free(ladders);
}

void bench_result_free(bench_result *result)
{
    free(result->rungs);
    *result = (bench_result){0};
}
