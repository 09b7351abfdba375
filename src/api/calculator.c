/* Calculators: quantities at points of the caller's choice, one or many at a time.
 *
 * What a run evaluates too (rates, values, ...) is the run's own program, so that the bits are
 * the same; the rest is built here, on a fork of the system.  From a number of points on they
 * are evaluated eight at a time, by native code when there have been so many that it pays, and
 * by several threads when one call has enough of them.  The bits do not depend on any of it. */
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if NS_X86
#include <emmintrin.h>
#endif

#include "api/api.h"
#include "base/process/plain.h"
#include "expr/diff.h"
#include "session/pool.h"

enum {
    LANES = 8,
    MOST_THREADS = 4096,
    LEAST_FOR_LANES = 3,        /* points from which eight lanes cost less than one by one */
    NATIVE_OPERATIONS = 500000, /* interpreted so far: about a millisecond, what it costs */
    THREAD_OPERATIONS =
        20000000, /* of one call: a millisecond of native code, some twenty times
                                   * what it takes to start a thread */
    BLOCKS =
        8, /* parts of a call for each thread: one that is held up leaves few to wait for */
    SHELF = 1024, /* numbers on their way past the caches: far fewer than the first holds */
    PAST_CACHES =
        1 << 21 /* numbers of a result: 16 MB, more than one core's share of a cache */
};

typedef struct quantity {
    const char *name, *summary;
    /* Fills shape and program; false if memory ran out. */
    bool (*build)(ns_calculator *c, ns_model *model);
} quantity;

/* What one thread needs to evaluate. */
typedef struct desk {
    bool bound1, bound8;
    double *p1, *common; /* [np] for which work1 is bound, and all lanes of work8 */
    double *work1, *work8;
    double *t8, *x8, *p8, *out; /* [8], [nx][8], [np][8], [outputs][8] */
    double *shelf;              /* [SHELF], or eight points if they are more */
} desk;

struct ns_calculator {
    ns_verdict verdict;
    ns_model *model;
    ns_arena *arena; /* of the programs made here */
    size_t rows, columns;
    size_t nx, np;
    size_t skip; /* outputs of the program before those asked for */
    bool absent; /* the model has no such thing: nan */
    const ns_program *program;
    const ns_problem *problem; /* whose program it is, and whose native code; NULL: its own */
    ns_native *native;         /* of its own program */
    bool tried;                /* to make native code */
    double operations;         /* evaluated so far */
    uint32_t threads;          /* at most; 0: as many as processors */
    uint32_t desks;
    desk *at; /* [desks]; the first is that of the calling thread */
};

/* ---- quantities -------------------------------------------------------------------------- */

/* `problem`: whose program it is; NULL: that of the calculator. */
static bool use(ns_calculator *c, const ns_problem *problem, const ns_program *program,
                size_t rows, size_t columns)
{
    c->program = program;
    c->problem = problem;
    c->rows = rows;
    c->columns = columns;
    return program != NULL;
}

static bool rates(ns_calculator *c, ns_model *m)
{
    const ns_problem *problem = ns_model_problem(m, false);
    return use(c, problem, problem->rhs, c->nx, 1);
}

static bool jacobian(ns_calculator *c, ns_model *m)
{
    const ns_problem *problem = ns_model_problem(m, true);
    return problem && use(c, problem, problem->jacobian, c->nx, c->nx);
}

static bool residuals(ns_calculator *c, ns_model *m)
{
    const ns_problem *problem = ns_model_problem(m, false);
    return use(c, problem, problem->residuals, m->system->constraints.n, 1);
}

static bool values(ns_calculator *c, ns_model *m)
{
    const ns_problem *problem = ns_model_problem(m, false);
    return use(c, problem, problem->observables, m->system->observables.n, 1);
}

static bool energy(ns_calculator *c, ns_model *m)
{
    c->absent = !m->system->energy;
    const ns_problem *problem = ns_model_problem(m, false);
    return use(c, problem, problem->monitor, 2, 1);
}

static bool invariants(ns_calculator *c, ns_model *m)
{
    c->skip = 2;
    const ns_problem *problem = ns_model_problem(m, false);
    return use(c, problem, problem->monitor, m->system->invariants.n, 1);
}

static bool events(ns_calculator *c, ns_model *m)
{
    const ns_problem *problem = ns_model_problem(m, false);
    return use(c, problem, problem->events, m->system->events.n, 1);
}

/* A program of its own for the derivatives of f by some symbols. */
static bool derivatives(ns_calculator *c, ns_model *m, bool by_parameters)
{
    const ns_system *s = ns_system_fork(m->shared, c->arena);
    const ns_ex *by = by_parameters ? ns_system_param_symbols(s, c->arena)
                                    : ns_system_state_symbols(s, c->arena);
    const size_t columns = by_parameters ? c->np : c->nx;
    const size_t rows = by_parameters ? c->nx : s->constraints.n;
    ns_ex *f = NS_NEW_ARRAY(c->arena, ns_ex, rows + 1);
    for (size_t i = 0; i < rows; i++)
        f[i] = by_parameters ? s->states.at[i].rate : s->constraints.at[i].residual;
    ns_ex *J = NS_NEW_ARRAY(c->arena, ns_ex, rows * columns + 1);
    ns_diff_jacobian(s->graph, f, (uint32_t)rows, by, (uint32_t)columns, J);
    return use(c, NULL, ns_problem_program(s, c->arena, J, (uint32_t)(rows * columns)), rows,
               columns);
}

static bool parameter_jacobian(ns_calculator *c, ns_model *m)
{
    return derivatives(c, m, true);
}

static bool residual_jacobian(ns_calculator *c, ns_model *m)
{
    return derivatives(c, m, false);
}

static const quantity quantities[] = {
    {"rates", "x'  [states]", rates},
    {"jacobian", "of the rates by the states  [states][states]", jacobian},
    {"parameter jacobian", "of the rates by the parameters  [states][parameters]",
     parameter_jacobian},
    {"residuals", "of the constraints  [constraints]", residuals},
    {"residual jacobian", "of these by the states  [constraints][states]", residual_jacobian},
    {"values", "all that a run records  [values]", values},
    {"energy", "energy and kinetic energy  [2]", energy},
    {"invariants", "what is conserved  [invariants]", invariants},
    {"events", "whose zeros are the events  [events]", events},
};
enum { QUANTITIES = sizeof quantities / sizeof *quantities };

const char *ns_api_quantity_name(size_t i, const char **summary)
{
    if (i >= QUANTITIES)
        return NULL;
    *summary = quantities[i].summary;
    return quantities[i].name;
}

/* ---- making one -------------------------------------------------------------------------- */

/* Desks for this many threads; false if memory ran out. */
static bool take_room(ns_calculator *c, uint32_t threads)
{
    if (threads <= c->desks)
        return true;
    if (NS_ARENA_GUARD(c->arena)) {
        ns_arena_unguard(c->arena);
        return false;
    }
    const size_t outputs = ns_program_nout(c->program);
    desk *at = NS_NEW_ARRAY(c->arena, desk, threads);
    for (uint32_t i = 0; i < threads; i++) {
        desk *d = &at[i];
        if (i < c->desks) {
            *d = c->at[i];
            continue;
        }
        d->p1 = NS_NEW_ARRAY(c->arena, double, c->np + 8);
        d->common = NS_NEW_ARRAY(c->arena, double, c->np + 8);
        d->p8 = NS_NEW_ARRAY(c->arena, double, LANES * (c->np + 1));
        d->work1 = NS_NEW_ARRAY(c->arena, double, ns_program_work1(c->program) + 8);
        d->work8 = NS_NEW_ARRAY(c->arena, double, ns_program_work8(c->program) + 8);
        d->t8 = NS_NEW_ARRAY(c->arena, double, LANES);
        d->x8 = NS_NEW_ARRAY(c->arena, double, LANES * (c->nx + 1));
        d->out = NS_NEW_ARRAY(c->arena, double, LANES * (outputs + 1));
        d->shelf = NS_NEW_ARRAY(c->arena, double, SHELF + LANES * outputs);
    }
    ns_arena_unguard(c->arena);
    c->at = at;
    c->desks = threads;
    return true;
}

static ns_verdict build(ns_calculator *c, const quantity *q)
{
    if (NS_ARENA_GUARD(c->arena)) {
        ns_arena_unguard(c->arena);
        return NS_FAILED;
    }
    c->nx = c->model->system->states.n;
    c->np = c->model->description->params.n;
    const bool good = q->build(c, c->model);
    ns_arena_unguard(c->arena);
    return good && take_room(c, 1) ? NS_DONE : NS_FAILED;
}

ns_calculator *ns_calculator_new(ns_model *model, const char *what)
{
    NS_PLAIN_NUMBERS;
    ns_calculator *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->model = model;
    c->arena = ns_arena_new();
    c->verdict = !model || !c->arena ? NS_FAILED : NS_WRONG;
    for (size_t i = 0; i < QUANTITIES && c->verdict == NS_WRONG && ns_api_good(model); i++)
        if (strcmp(quantities[i].name, what) == 0) {
            c->verdict = build(c, &quantities[i]);
            break;
        }
    return c;
}

void ns_calculator_close(ns_calculator *c)
{
    if (!c)
        return;
    ns_native_free(c->native);
    ns_arena_free(c->arena);
    free(c);
}

ns_verdict ns_calculator_verdict(const ns_calculator *c)
{
    return c ? c->verdict : NS_FAILED;
}

size_t ns_calculator_rows(const ns_calculator *c)
{
    return c && c->verdict == NS_DONE ? c->rows : 0;
}

size_t ns_calculator_columns(const ns_calculator *c)
{
    return c && c->verdict == NS_DONE ? c->columns : 0;
}

ns_verdict ns_calculator_threads(ns_calculator *c, size_t threads)
{
    if (!c || c->verdict != NS_DONE)
        return c ? c->verdict : NS_FAILED;
    if (threads > MOST_THREADS)
        return NS_WRONG;
    c->threads = (uint32_t)threads;
    return NS_DONE;
}

/* ---- evaluation -------------------------------------------------------------------------- */

typedef struct request {
    size_t points;
    const double *t, *x, *p;
    size_t n_t, n_p;
    double *out;
} request;

static double time_of(const request *r, size_t i)
{
    return r->t[r->n_t == 1 ? 0 : i];
}

static const double *parameters_of(const ns_calculator *c, const request *r, size_t i)
{
    return r->n_p == 0 ? c->model->p : r->n_p == 1 ? r->p : r->p + i * c->np;
}

static bool differ(const double *a, const double *b, size_t n)
{
    return memcmp(a, b, n * sizeof *a) != 0;
}

static void one(const ns_calculator *c, desk *d, const request *r, size_t i)
{
    const size_t outputs = c->rows * c->columns;
    const double *p = parameters_of(c, r, i);
    if (!d->bound1 || differ(d->p1, p, c->np)) {
        memcpy(d->p1, p, c->np * sizeof *p);
        ns_program_bind1(c->program, d->work1, p);
        d->bound1 = true;
    }
    ns_program_eval1(c->program, d->work1, time_of(r, i), r->x + i * c->nx, d->out);
    for (size_t k = 0; k < outputs; k++)
        r->out[i * outputs + k] = d->out[c->skip + k];
}

static void bind_eight(const ns_calculator *c, desk *d, const request *r, size_t first,
                       size_t n)
{
    for (size_t lane = 0; lane < LANES; lane++) {
        const double *p = parameters_of(c, r, first + (lane < n ? lane : n - 1));
        for (size_t k = 0; k < c->np; k++)
            d->p8[k * LANES + lane] = p[k];
    }
    ns_program_bind8(c->program, d->work8, d->p8);
}

/* Parameters that all points share; nothing to do if they are those of the call before. */
static void bind_common(const ns_calculator *c, desk *d, const request *r, size_t first)
{
    const double *p = parameters_of(c, r, first);
    if (d->bound8 && !differ(d->common, p, c->np))
        return;
    bind_eight(c, d, r, first, LANES);
    memcpy(d->common, p, c->np * sizeof *p);
    d->bound8 = true;
}

/* Eight points from the first on, to `out`. */
static void eight(const ns_calculator *c, desk *d, const request *r, size_t first, double *out)
{
    const size_t outputs = c->rows * c->columns;
    for (size_t lane = 0; lane < LANES; lane++)
        d->t8[lane] = time_of(r, first + lane);
    ns_program_pack8(c->program, c->nx, r->x + first * c->nx, d->x8);
    ns_program_eval8(c->program, d->work8, d->t8, d->x8, d->out);
    ns_program_unpack8(c->program, outputs, d->out + c->skip * LANES, out);
}

/* Copies numbers that nobody reads soon.  Ordinary stores would first fetch the old contents of
 * every line of `to` from memory, which is as slow as the work itself. */
static void put(double *to, const double *from, size_t n)
{
    size_t i = 0;
#if NS_X86
    if (((uintptr_t)to & 15) == 8 && n > 0)
        to[i] = from[i], i++;
    for (; ((uintptr_t)to & 7) == 0 && i + 2 <= n; i += 2)
        _mm_stream_pd(to + i, _mm_loadu_pd(from + i));
#endif
    memcpy(to + i, from + i, (n - i) * sizeof *to);
}

/* Ask for eight points that are needed soon: the program between hides them from the foresight
 * of the processor. */
static void expect(const ns_calculator *c, const double *x)
{
    for (size_t k = 0; k < LANES * c->nx; k += 64 / sizeof *x)
        __builtin_prefetch(x + k);
}

/* Points from..to, a multiple of eight, past the caches. */
static void eights(const ns_calculator *c, desk *d, const request *r, size_t from, size_t to)
{
    const size_t outputs = c->rows * c->columns;
    size_t held = 0, first = from;
    for (size_t i = from; i < to; i += LANES) {
        if (i + 5 * LANES <= to)
            expect(c, r->x + (i + 4 * LANES) * c->nx);
        eight(c, d, r, i, d->shelf + held);
        held += LANES * outputs;
        if (held >= SHELF || i + LANES >= to) {
            put(r->out + first * outputs, d->shelf, held);
            first = i + LANES;
            held = 0;
        }
    }
#if NS_X86
    _mm_sfence(); /* seen by whoever sees that the call is over */
#endif
}

/* The last points, fewer than eight; lanes beyond repeat the last of them. */
static void few(const ns_calculator *c, desk *d, const request *r, size_t first, size_t n)
{
    const size_t outputs = c->rows * c->columns;
    for (size_t lane = 0; lane < LANES; lane++) {
        const size_t i = first + (lane < n ? lane : n - 1);
        d->t8[lane] = time_of(r, i);
        for (size_t k = 0; k < c->nx; k++)
            d->x8[k * LANES + lane] = r->x[i * c->nx + k];
    }
    ns_program_eval8(c->program, d->work8, d->t8, d->x8, d->out);
    for (size_t lane = 0; lane < n; lane++)
        for (size_t k = 0; k < outputs; k++)
            r->out[(first + lane) * outputs + k] = d->out[(c->skip + k) * LANES + lane];
}

static void span(const ns_calculator *c, desk *d, const request *r, size_t from, size_t to)
{
    if (to - from < LEAST_FOR_LANES) {
        for (size_t i = from; i < to; i++)
            one(c, d, r, i);
        return;
    }
    const bool common = r->n_p <= 1;
    if (common)
        bind_common(c, d, r, from);
    else
        d->bound8 = false;
    size_t i = from;
    if (common && r->points * c->rows * c->columns >= PAST_CACHES) {
        i = to - (to - from) % LANES;
        eights(c, d, r, from, i);
    }
    for (; i < to; i += LANES) {
        const size_t n = to - i < LANES ? to - i : LANES;
        if (!common)
            bind_eight(c, d, r, i, n);
        if (n == LANES)
            eight(c, d, r, i, r->out + i * c->rows * c->columns);
        else
            few(c, d, r, i, n);
    }
}

/* ---- several threads --------------------------------------------------------------------- */

typedef struct job {
    const ns_calculator *c;
    const request *r;
    size_t block;
    atomic_size_t next; /* the first point that nobody has taken */
    atomic_uint seated;
} job;

static void work(void *context)
{
    job *j = context;
    desk *d = &j->c->at[atomic_fetch_add(&j->seated, 1)];
    for (;;) {
        const size_t from = atomic_fetch_add(&j->next, j->block);
        if (from >= j->r->points)
            return;
        const size_t left = j->r->points - from;
        span(j->c, d, j->r, from, from + (left < j->block ? left : j->block));
    }
}

static void evaluate(ns_calculator *c, const request *r, double operations)
{
    const bool many = c->threads != 1 && operations >= THREAD_OPERATIONS;
    const uint32_t threads = !many ? 1 : c->threads ? c->threads : ns_pool_cores();
    if (threads <= 1 || !take_room(c, threads)) {
        span(c, &c->at[0], r, 0, r->points);
        return;
    }
    const size_t blocks = (size_t)threads * BLOCKS * LANES;
    job j = {.c = c, .r = r, .block = (r->points + blocks - 1) / blocks * LANES};
    ns_pool *pool = ns_pool_start(threads - 1, work, &j);
    work(&j);
    if (pool)
        ns_pool_free(pool);
}

static void go_native(ns_calculator *c, double operations)
{
    c->operations += operations;
    if (c->tried || c->operations < NATIVE_OPERATIONS || !ns_native_is_quick(c->program))
        return;
    char message[300];
    const ns_native_request wish = {.program = c->program, .one = true, .eight = true};
    c->tried = true;
    if (c->problem)
        ns_problem_compile(c->problem, &wish, 1, message, sizeof message, NULL);
    else
        c->native = ns_native_new(&wish, 1, message, sizeof message, NULL);
}

ns_verdict ns_calculator_eval(ns_calculator *c, size_t points, const double *t, size_t n_t,
                              const double *x, const double *p, size_t n_p, double *out)
{
    if (!c || c->verdict != NS_DONE)
        return c ? c->verdict : NS_FAILED;
    const bool shaped = (n_t <= 1 || n_t == points) && (n_p <= 1 || n_p == points);
    if (!shaped || (n_t && !t) || (n_p && !p && c->np) || (points && ((c->nx && !x) || !out)))
        return NS_WRONG;
    const double t0 = ns_model_run_options(c->model).t0;
    const request r = {points, n_t ? t : &t0, x, p, n_t ? n_t : 1, n_p, out};
    if (c->absent) {
        for (size_t i = 0; i < points * c->rows * c->columns; i++)
            out[i] = (double)NAN;
        return NS_DONE;
    }
    const double operations = (double)points * ns_program_operations(c->program, NULL);
    go_native(c, operations);
    evaluate(c, &r, operations);
    return NS_DONE;
}
