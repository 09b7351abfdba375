/* Calculators: quantities at points of the caller's choice, one or many at a time.
 *
 * What a run evaluates too (rates, values, ...) is the run's own program, so that the bits are
 * the same; the rest is built here, on a fork of the system.  From a number of points on they
 * are evaluated eight at a time, and by native code when there have been so many that it
 * pays. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "expr/diff.h"

enum {
    LANES = 8,
    LEAST_FOR_LANES = 3,       /* points from which eight lanes cost less than one by one */
    NATIVE_OPERATIONS = 500000 /* interpreted so far: about a millisecond, what it costs */
};

typedef struct quantity {
    const char *name, *summary;
    /* Fills shape and program; false if memory ran out. */
    bool (*build)(ns_calculator *c, ns_model *model);
} quantity;

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
    bool bound1, bound8;
    double *p1, *common; /* [np] for which work1 is bound, and all lanes of work8 */
    double *work1, *work8;
    double *t8, *x8, *p8, *out; /* [8], [nx][8], [np][8], [outputs][8] */
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

static void take_room(ns_calculator *c)
{
    const size_t outputs = ns_program_nout(c->program);
    c->p1 = NS_NEW_ARRAY(c->arena, double, c->np + 8);
    c->common = NS_NEW_ARRAY(c->arena, double, c->np + 8);
    c->p8 = NS_NEW_ARRAY(c->arena, double, LANES * (c->np + 1));
    c->work1 = NS_NEW_ARRAY(c->arena, double, ns_program_work1(c->program) + 8);
    c->work8 = NS_NEW_ARRAY(c->arena, double, ns_program_work8(c->program) + 8);
    c->t8 = NS_NEW_ARRAY(c->arena, double, LANES);
    c->x8 = NS_NEW_ARRAY(c->arena, double, LANES * (c->nx + 1));
    c->out = NS_NEW_ARRAY(c->arena, double, LANES * (outputs + 1));
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
    if (good)
        take_room(c);
    ns_arena_unguard(c->arena);
    return good ? NS_DONE : NS_FAILED;
}

ns_calculator *ns_calculator_new(ns_model *model, const char *what)
{
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

static void one(ns_calculator *c, const request *r, size_t i)
{
    const size_t outputs = c->rows * c->columns;
    const double *p = parameters_of(c, r, i);
    if (!c->bound1 || differ(c->p1, p, c->np)) {
        memcpy(c->p1, p, c->np * sizeof *p);
        ns_program_bind1(c->program, c->work1, p);
        c->bound1 = true;
    }
    ns_program_eval1(c->program, c->work1, time_of(r, i), r->x + i * c->nx, c->out);
    for (size_t k = 0; k < outputs; k++)
        r->out[i * outputs + k] = c->out[c->skip + k];
}

/* Parameters of points first .. first+n-1 for the lanes; nothing to do if all of them have
 * those of the call before. */
static void bind_eight(ns_calculator *c, const request *r, size_t first, size_t n)
{
    if (r->n_p <= 1 && c->bound8 && !differ(c->common, parameters_of(c, r, first), c->np))
        return;
    for (size_t lane = 0; lane < LANES; lane++) {
        const double *p = parameters_of(c, r, first + (lane < n ? lane : n - 1));
        for (size_t k = 0; k < c->np; k++)
            c->p8[k * LANES + lane] = p[k];
    }
    ns_program_bind8(c->program, c->work8, c->p8);
    memcpy(c->common, parameters_of(c, r, first), c->np * sizeof *c->common);
    c->bound8 = r->n_p <= 1;
}

/* Rows of points to columns of lanes and back, by squares of two: with a million points this is
 * what is left to pay beside the evaluation. */
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

static pair *pair_at(double *at)
{
    return (pair *)(void *)at;
}

static pair pair_of(const double *at)
{
    return *(const pair *)(const void *)at;
}

static void to_lanes(const double *x, size_t n, double *lanes)
{
    for (size_t lane = 0; lane < LANES; lane += 2) {
        const double *a = x + lane * n, *b = a + n;
        size_t k = 0;
        for (; k + 1 < n; k += 2) {
            const pair u = pair_of(a + k), v = pair_of(b + k);
            *pair_at(lanes + k * LANES + lane) = (pair){u[0], v[0]};
            *pair_at(lanes + (k + 1) * LANES + lane) = (pair){u[1], v[1]};
        }
        if (k < n)
            *pair_at(lanes + k * LANES + lane) = (pair){a[k], b[k]};
    }
}

static void from_lanes(const double *lanes, size_t n, double *out)
{
    for (size_t lane = 0; lane < LANES; lane += 2) {
        double *a = out + lane * n, *b = a + n;
        size_t k = 0;
        for (; k + 1 < n; k += 2) {
            const pair u = pair_of(lanes + k * LANES + lane),
                       v = pair_of(lanes + (k + 1) * LANES + lane);
            *pair_at(a + k) = (pair){u[0], v[0]};
            *pair_at(b + k) = (pair){u[1], v[1]};
        }
        if (k < n) {
            a[k] = lanes[k * LANES + lane];
            b[k] = lanes[k * LANES + lane + 1];
        }
    }
}

/* Eight points from the first on. */
static void eight(ns_calculator *c, const request *r, size_t first)
{
    const size_t outputs = c->rows * c->columns;
    bind_eight(c, r, first, LANES);
    for (size_t lane = 0; lane < LANES; lane++)
        c->t8[lane] = time_of(r, first + lane);
    to_lanes(r->x + first * c->nx, c->nx, c->x8);
    ns_program_eval8(c->program, c->work8, c->t8, c->x8, c->out);
    from_lanes(c->out + c->skip * LANES, outputs, r->out + first * outputs);
}

/* The last points, fewer than eight; lanes beyond repeat the last of them. */
static void few(ns_calculator *c, const request *r, size_t first, size_t n)
{
    const size_t outputs = c->rows * c->columns;
    bind_eight(c, r, first, n);
    for (size_t lane = 0; lane < LANES; lane++) {
        const size_t i = first + (lane < n ? lane : n - 1);
        c->t8[lane] = time_of(r, i);
        for (size_t k = 0; k < c->nx; k++)
            c->x8[k * LANES + lane] = r->x[i * c->nx + k];
    }
    ns_program_eval8(c->program, c->work8, c->t8, c->x8, c->out);
    for (size_t lane = 0; lane < n; lane++)
        for (size_t k = 0; k < outputs; k++)
            r->out[(first + lane) * outputs + k] = c->out[(c->skip + k) * LANES + lane];
}

static void go_native(ns_calculator *c, size_t points)
{
    c->operations += (double)points * ns_program_operations(c->program, NULL);
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
    go_native(c, points);
    size_t i = 0;
    for (; i + LANES <= points; i += LANES)
        eight(c, &r, i);
    if (points - i >= LEAST_FOR_LANES)
        few(c, &r, i, points - i);
    else
        for (; i < points; i++)
            one(c, &r, i);
    return NS_DONE;
}
