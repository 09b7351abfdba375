/*
 * Work against accuracy: see measure.h for what is measured and how.
 */
#include "measure.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_RUNGS = 200, MAX_ROUNDS = 101 };

/* Short runs are repeated within a sample until it lasts this long: clocks cost time too. */
static const double sample_seconds = 1e-3;

/* Longer runs average over disturbances by themselves and are timed three times at most. */
static const double slow_seconds = 0.02;

typedef struct rung {
    double tolerance, error;
    int repeat, rounds;
    double sample[MAX_ROUNDS]; /* seconds of one run */
    double seconds;            /* their median */
    bench_cost cost;
} rung;

typedef struct ladder {
    void *handle;
    int n;
    rung *rungs; /* from loose to tight; failed ones are left out */
} ladder;

static double cpu_seconds(void)
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

/* Errors, counts and a first idea of the time, rung by rung. */
static void climb(ladder *l, const bench_problem *problem, const bench_contender *c, int rounds,
                  double longest)
{
    const int n = (int)lround(log10(c->loosest / c->tightest) * c->per_decade) + 1;
    assert(n > 1 && n <= MAX_RUNGS);
    for (int i = 0; i < n; i++) {
        rung *r = &l->rungs[l->n];
        double end[HAND_MAX_STATES];
        memset(r, 0, sizeof *r);
        r->tolerance = c->loosest * pow(10, -(double)i / c->per_decade);
        const double start = cpu_seconds();
        const int failed = c->run(l->handle, r->tolerance, end, &r->cost);
        const double took = cpu_seconds() - start;
        if (failed)
            continue;
        if (longest > 0 && took > longest)
            break;
        r->error = fmax(bench_error(problem, end), 1e-17);
        if (!isfinite(r->error))
            continue;
        r->rounds = took > slow_seconds && rounds > 3 ? 3 : rounds;
        r->repeat = took < sample_seconds ? (int)ceil(sample_seconds / fmax(took, 1e-7)) : 1;
        l->n++;
    }
}

static void time_rung(const ladder *l, const bench_contender *c, rung *r, int round)
{
    double end[HAND_MAX_STATES];
    bench_cost cost;
    const double start = cpu_seconds();
    for (int i = 0; i < r->repeat; i++)
        c->run(l->handle, r->tolerance, end, &cost);
    r->sample[round] = (cpu_seconds() - start) / r->repeat;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int n)
{
    double sorted[MAX_ROUNDS];
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
static int pool_ladder(const ladder *l, pool *pools)
{
    int n = 0;
    for (int i = 0; i < l->n; i++) {
        const double s = log(l->rungs[i].seconds);
        pool p = {log(l->rungs[i].error), s, s, 1};
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
static bool at_floor(const ladder *l, double seconds, double error)
{
    int slower = 0, misses = 0;
    for (int i = 0; i < l->n; i++)
        if (l->rungs[i].seconds > seconds) {
            slower++;
            misses += l->rungs[i].error > error;
        }
    return misses * 5 > slower;
}

static void write_ladder(FILE *out, const bench_problem *problem, const bench_contender *c,
                         const ladder *l)
{
    for (int i = 0; i < l->n; i++) {
        const rung *r = &l->rungs[i];
        fprintf(out, "%s,%s,%.3e,%.3e,%.4e,%ld,%ld,%ld\n", problem->hand->name, c->name,
                r->tolerance, r->error, r->seconds, r->cost.steps, r->cost.rejected,
                r->cost.evaluations);
    }
}

void bench_measure(const bench_problem *problem, const bench_contender *contenders, int count,
                   const double *targets, int ntargets, const bench_options *options,
                   bench_result *result)
{
    const int rounds = options->rounds < MAX_ROUNDS ? options->rounds : MAX_ROUNDS;
    ladder *ladders = calloc((size_t)count, sizeof *ladders);
    if (!ladders)
        abort();
    for (int c = 0; c < count; c++) {
        const double start = cpu_seconds();
        ladder *l = &ladders[c];
        l->handle = contenders[c].open(problem);
        result[c] = (bench_result){.open_seconds = cpu_seconds() - start,
                                   .best_error = INFINITY,
                                   .able = l->handle != NULL};
        for (int t = 0; t < ntargets; t++)
            result[c].seconds[t] = NAN;
        if (!l->handle)
            continue;
        l->rungs = calloc(MAX_RUNGS, sizeof *l->rungs);
        if (!l->rungs)
            abort();
        climb(l, problem, &contenders[c], rounds, options->longest);
    }

    /* Rung by rung and contender by contender within a round: neighbours in time are rivals. */
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < MAX_RUNGS; i++)
            for (int c = 0; c < count; c++)
                if (i < ladders[c].n && round < ladders[c].rungs[i].rounds)
                    time_rung(&ladders[c], &contenders[c], &ladders[c].rungs[i], round);

    for (int c = 0; c < count; c++) {
        ladder *l = &ladders[c];
        if (!l->handle)
            continue;
        for (int i = 0; i < l->n; i++) {
            l->rungs[i].seconds = median(l->rungs[i].sample, l->rungs[i].rounds);
            result[c].best_error = fmin(result[c].best_error, l->rungs[i].error);
            result[c].operations = l->rungs[i].cost.operations;
        }
        pool pools[MAX_RUNGS];
        const int n = pool_ladder(l, pools);
        for (int t = 0; t < ntargets; t++) {
            double *seconds = &result[c].seconds[t];
            *seconds = time_at(pools, n, targets[t]);
            result[c].doubtful[t] = at_floor(l, *seconds, targets[t]);
            if (result[c].doubtful[t])
                *seconds = time_at(pools, n, 2 * targets[t]);
        }
        if (options->ladder)
            write_ladder(options->ladder, problem, &contenders[c], l);
        contenders[c].close(l->handle);
        free(l->rungs);
    }
    free(ladders);
}
