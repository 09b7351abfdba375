#define _GNU_SOURCE
#include "base/math/quad.h"

#include "session/trust/digits.h"

#include <stdio.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "session/trust/shaken.h"

/* How to run again. */
typedef struct again {
    const char *method;
    double tolerance;
    uint64_t seed; /* of the changes in the last bits; 0: none */
    double parts;  /* into which the time is divided at least; 0: none */
    bool observe;  /* values in quadruple precision */
} again;

/* ---- values of a state in quadruple precision -------------------------------------------- */

typedef struct observer {
    const ns_problem *whole, *problem; /* of all modes, of the present one */
    const double *params;
    double t0_low, *work_rhs, *f;
    ns_quad *work, *p, *x, *out;
    void *memory;
} observer;

static void enter(observer *q, uint32_t mode)
{
    const ns_problem *problem = ns_problem_in_mode(q->whole, mode);
    if (q->problem == problem)
        return;
    q->problem = problem;
    ns_program_bind_quad(problem->observables, q->work, q->p);
    ns_program_bind1(problem->rhs, q->work_rhs, q->params);
}

static bool observer_new(observer *q, const ns_record *r, const ns_exact *exact)
{
    const ns_model *model = ns_model_precise(r->model);
    if (!model)
        return false;
    const ns_problem *problem = model->problem;
    const size_t n = problem->n, nout = ns_program_nout(problem->observables);
    size_t cells = 0, rhs = 0;
    for (uint32_t k = 0; k < problem->n_modes; k++) {
        const ns_problem *in = ns_problem_in_mode(problem, k);
        const size_t more = ns_program_work_quad(in->observables);
        const size_t rates = ns_program_work1(in->rhs);
        cells = more > cells ? more : cells;
        rhs = rates > rhs ? rates : rhs;
    }
    const size_t quads = cells + problem->np + n + nout;
    const size_t doubles = rhs + n;
    *q = (observer){
        .whole = problem, .params = r->model->p, .t0_low = ns_quad_time_low(r->options.run.t0)};
    q->memory = calloc(1, quads * sizeof(ns_quad) + doubles * sizeof(double) + 64);
    if (!q->memory)
        return false;
    q->work = q->memory;
    q->p = q->work + cells;
    q->x = q->p + problem->np;
    q->out = q->x + n;
    q->f = (double *)(q->out + nout);
    q->work_rhs = q->f + n;
    for (uint32_t i = 0; i < problem->np; i++)
        q->p[i] = (ns_quad)exact->p[i] + (ns_quad)exact->p_lo[i];
    enter(q, 0);
    return true;
}

/* At the decimal number that t stands for, as far as the state can tell. */
static void observe(void *context, uint32_t mode, double t, const double *x, double *row,
                    double *low)
{
    observer *q = context;
    enter(q, mode);
    const ns_problem *problem = q->problem;
    const double t_low = ns_quad_time_low(t), later = t_low - q->t0_low;
    memset(q->f, 0, problem->n * sizeof *q->f);
    if (later != 0 && !problem->pinv)
        ns_program_eval1(problem->rhs, q->work_rhs, t, x, q->f);
    for (uint32_t i = 0; i < problem->n; i++)
        q->x[i] = (ns_quad)x[i] + (ns_quad)q->f[i] * (ns_quad)later;
    ns_program_eval_quad(problem->observables, q->work, (ns_quad)t + (ns_quad)t_low, q->x,
                         q->out);
    for (uint32_t i = 0; i < ns_program_nout(problem->observables); i++) {
        row[i] = (double)q->out[i];
        low[i] = (double)(q->out[i] - (ns_quad)row[i]);
    }
}

/* ---- runs -------------------------------------------------------------------------------- */

static ns_record *run_model(const ns_record *r, ns_model *model, const again *how, observer *q)
{
    ns_record_options o = r->options;
    o.outputs = NULL;
    o.n_outputs = 0;
    o.checkpoint = o.resume = NULL;
    o.keep = true;
    o.motion = false;
    o.until_fixed = true;
    o.run.method = how->method;
    o.run.tolerance = how->tolerance;
    o.run.fixed_step = 0;
    o.run.shaken = how->seed != 0;
    o.progress = NULL;
    const double span = fabs(r->outcome->t - o.run.t0);
    if (how->parts > 0 && !(o.run.max_step > 0 && o.run.max_step < span / how->parts))
        o.run.max_step = span / how->parts;
    if (q) {
        o.observe = observe;
        o.observer = q;
    }
    ns_record *other = ns_record_new(model, &o);
    if (other && other->status == NS_OK)
        ns_record_run(other);
    return other;
}

/* `twin`: the model with other numbers, for runs in double precision, or NULL. */
static ns_record *run_again(const ns_record *r, ns_model *twin, const again *how)
{
    const uint32_t n = r->model->system->states.n;
    const uint32_t np = r->model->system->description->params.n;
    const bool precise = ns_method_find(how->method)->precise;
    const ns_exact *exact = ns_model_exact(r->model, false);
    if (precise && !ns_model_precise(r->model))
        return NULL;
    ns_model *base = twin && !precise ? twin : r->model;
    if (!ns_model_problem_for(base, ns_method_find(how->method)))
        return NULL; /* made before the copy, which has no share in the lock of the arena */
    pthread_mutex_lock(&base->lock);
    ns_model model = *base; /* borrows all but these */
    pthread_mutex_unlock(&base->lock);
    pthread_mutex_init(&model.lock, NULL);
    model.exact[0] = precise && how->seed ? ns_model_exact(r->model, true) : exact;
    double *inputs = malloc((n + np + (size_t)1) * sizeof *inputs);
    observer q = {0};
    bool good = inputs && exact && model.exact[0];
    if (good && how->seed && !precise) {
        model.p = inputs;
        model.x0 = inputs + np;
        good = ns_shaken_start(r->model, how->seed, model.p, model.x0);
    }
    if (good && how->observe)
        good = observer_new(&q, r, exact);
    ns_record *other = good ? run_model(r, &model, how, how->observe ? &q : NULL) : NULL;
    if (other)
        other->model = r->model; /* the copy ends here */
    pthread_mutex_destroy(&model.lock);
    free(q.memory);
    free(inputs);
    return other;
}

/* ---- errors ------------------------------------------------------------------------------ */

static double low_of(const ns_record *r, uint32_t column, size_t row)
{
    return r->low.rows > row ? ns_table_column(&r->low, column)[row] : 0;
}

/* The largest differences of a column so far, row by row, times `share`. */
static void compare(const ns_record *r, const ns_record *other, double share, double *error)
{
    const size_t rows = r->table.rows;
    for (uint32_t c = 0; c < r->columns; c++) {
        const double *a = ns_table_column(&r->table, c);
        const double *b = ns_table_column(&other->table, c);
        double most = 0;
        for (size_t k = 0; k < rows; k++) {
            const double off = k < other->table.rows
                                   ? share * fabs((a[k] - b[k]) +
                                                  (low_of(r, c, k) - low_of(other, c, k)))
                                   : (double)NAN;
            if (!(off <= most))
                most = off; /* nan stays */
            double *e = &error[c * rows + k];
            *e = isnan(most) || isnan(*e) ? (double)NAN : ns_max(*e, most);
        }
    }
}

/* The last digits that can be right: a double, or the sum of two. */
static int digits_of(double value, double error, bool precise)
{
    if (isnan(error) || !isfinite(value))
        return -1;
    const double relative = ns_max(error / fabs(value), precise ? 0x1p-105 : 0x1p-53);
    return relative < 1 ? (int)ns_min(floor(-ns_math_log10(relative)),
                                      precise ? NS_DIGITS_MOST_QUAD : NS_DIGITS_MOST)
                        : 0;
}

static void settle(ns_record *r, const double *error)
{
    const size_t rows = r->table.rows;
    const bool precise = r->method->precise;
    /* what changes the energy of a conservative system changes everything */
    const double energy = precise && r->model->system->conservative &&
                                  isfinite(r->outcome->energy_drift)
                              ? r->outcome->energy_drift
                              : 0;
    for (uint32_t c = 0; c < r->columns; c++) {
        const double *value = ns_table_column(&r->table, c);
        for (size_t k = 0; k < rows; k++) {
            /* an exact zero is right as far as nothing else came out */
            const double e = error[c * rows + k] + energy * fabs(value[k]);
            const bool zero = value[k] == 0 && e == 0;
            r->digits[c * rows + k] = (signed char)(zero ? precise ? NS_DIGITS_MOST_QUAD
                                                                   : NS_DIGITS_MOST
                                                         : digits_of(value[k], e, precise));
        }
    }
}

/* Compares with runs made in other ways; the difference from way i counts share[i] times. */
static bool judge(ns_record *r, const again *ways, const double *share, size_t n, char *message,
                  size_t room)
{
    const size_t cells = r->table.rows * r->columns;
    double *error = calloc(cells + 1, sizeof *error);
    r->digits = malloc(cells + 1);
    bool good = error && r->digits;
    ns_model *twin = r->method->precise ? NULL : ns_model_twin(r->model, NS_MODEL_SHAKEN);
    snprintf(message, room, "out of memory");
    for (size_t i = 0; i < n && good; i++) {
        ns_record *other = run_again(r, twin, &ways[i]);
        good = other && other->status >= 0 && other->outcome;
        if (other && !good)
            snprintf(message, room, "%s", other->message);
        if (good)
            compare(r, other, share[i], error);
        ns_record_free(other);
    }
    if (good)
        settle(r, error);
    else {
        free(r->digits);
        r->digits = NULL;
    }
    free(error);
    return good;
}

bool ns_digits_judge(ns_record *r, char *message, size_t room)
{
    /* series of very long expressions, and of stiff problems, take too long */
    enum { LONG = 2000 };
    static const double luck[] = {5, 5};
    if (r->method->precise)
        return ns_digits_judge_quad(r, message, room);
    const bool series = ns_program_operations(r->model->problem->rhs, NULL) < LONG &&
                        !r->method->needs_jacobian;
    /* steps of another length than the run's, and short enough to meet what it may have passed
     * over */
    const again ways[] = {{"gauss", 1e-17, 1, 1009, true},
                          {series ? "taylor" : "gauss", 1e-16, 2, series ? 0 : 641, false}};
    return judge(r, ways, luck, 2, message, room);
}

bool ns_digits_judge_quad(ns_record *r, char *message, size_t room)
{
    /* A run in double precision is off by the difference from one that is right.  That this is
     * right another one shows, with larger errors: in a chaotic motion they may differ, and
     * then both are wrong by that much. */
    static const double once[] = {1, 1}, luck[] = {5, 5};
    const char *quad = ns_method_quad.name;
    if (!r->method->precise) {
        const again ways[] = {{quad, 1e-30, 0, 64, false}, {quad, 1e-26, 0, 0, false}};
        return judge(r, ways, once, 2, message, room);
    }
    const double tolerance = r->options.run.tolerance;
    const double finer = ns_max(tolerance * 1e-3, ns_method_quad.least_tolerance);
    const again ways[] = {{quad, finer, 1, 64, false}, {quad, tolerance * 1e2, 0, 0, false}};
    return judge(r, ways, luck, 2, message, room);
}

int ns_digits_at(const ns_record *r, uint32_t column, size_t row)
{
    return r->digits[column * r->table.rows + row];
}
