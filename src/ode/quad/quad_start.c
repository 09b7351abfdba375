/* Parameters and start in quadruple precision.
 *
 * Parameters are evaluated again, from the same expressions.  A parameter that is not what its
 * expression gives in double precision, to the bit, was set from outside, and is taken as it is
 * (a start: as the decimal number that a person means by it).  How far the two precisions are
 * apart says nothing: differences such as 3*0.3 - 0.9 + 1e-10 are
 * right to six digits in double precision.  States that the user fixed are evaluated again by
 * the same rule; the free ones are where double precision found them, corrected by steps of
 * least norm
 *
 *     dx = -J^+ r,   J = dr/dx_free,
 *
 * with residuals r in quadruple precision and J in double precision: each step gains 14
 * digits. */
#define _GNU_SOURCE
#include "base/math/quad.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "eval/program.h"
#include "expr/eval.h"
#include "mech/common/dense.h"
#include "ode/quad/quad.h"

typedef struct starter {
    const ns_system *s;
    ns_arena *arena;
    ns_ex *x_symbols, *p_symbols;
    uint32_t n, np;
    bool shaken; /* with other rounding errors */
} starter;

static void evaluate(const starter *b, const ns_program *program, const ns_quad *p, ns_quad t,
                     const ns_quad *x, ns_quad *out)
{
    ns_quad *work = ns_arena_alloc(b->arena,
                                   (ns_program_work_quad(program) + 4) * sizeof(ns_quad));
    if (b->shaken) {
        ns_program_bind_shaken(program, work, p);
        ns_program_eval_shaken(program, work, t, x, out);
    } else {
        ns_program_bind_quad(program, work, p);
        ns_program_eval_quad(program, work, t, x, out);
    }
}

static const ns_program *build(const starter *b, const ns_ex *x, uint32_t nx, const ns_ex *p,
                               uint32_t np, const ns_ex *out, uint32_t nout)
{
    const ns_program_spec spec = {.graph = b->s->graph,
                                  .time = b->s->time,
                                  .x = x,
                                  .p = p,
                                  .out = out,
                                  .nx = nx,
                                  .np = np,
                                  .nout = nout};
    return ns_program_build(b->arena, &spec);
}

static ns_quad *quads(const starter *b, size_t count)
{
    return ns_arena_alloc(b->arena,
                          (count + 4) * sizeof(ns_quad)); /* aligned: 64 bytes or more */
}

/* Are both the same number, found by double precision twice? */
static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void params(const starter *b, const double *p, ns_quad *value)
{
    const ns_description *d = b->s->description;
    ns_ex *out = NS_NEW_ARRAY(b->arena, ns_ex, b->np + 1);
    bool *outside = NS_NEW_ARRAY(b->arena, bool, b->np + 1);
    for (uint32_t i = 0; i < b->np; i++) {
        double again;
        out[i] = d->params.at[i].value;
        ns_eval(b->s->graph, &out[i], 1, b->p_symbols, p, i, &again);
        outside[i] = !same(again, p[i]);
        value[i] = p[i];
    }
    const ns_program *program = build(b, b->p_symbols, b->np, NULL, 0, out, b->np);
    ns_quad *found = quads(b, b->np);
    /* one depends on those before it: as many rounds as it takes */
    bool changed = true;
    for (uint32_t round = 0; round <= b->np && changed; round++) {
        evaluate(b, program, NULL, 0, value, found);
        changed = false;
        for (uint32_t i = 0; i < b->np; i++) {
            if (outside[i])
                continue;
            changed = changed || found[i] != value[i];
            value[i] = found[i];
        }
    }
}

/* Residuals into r, Jacobian by the free states into A; false if there is nothing to do. */
typedef struct newton {
    const ns_program *residuals;
    ns_quad *work, *r;
    double *J, *A, *right, *dx, *x;
    uint32_t m, columns;
    uint32_t *column;
} newton;

static newton newton_new(const starter *b, const ns_quad *p)
{
    const ns_system *s = b->s;
    newton w = {.m = ns_system_start_rows(s)};
    ns_ex *out = NS_NEW_ARRAY(b->arena, ns_ex, w.m + 1);
    for (uint32_t k = 0; k < w.m; k++)
        out[k] = ns_system_start_row(s, k)->residual;
    w.residuals = build(b, b->x_symbols, b->n, b->p_symbols, b->np, out, w.m);
    w.work = quads(b, ns_program_work_quad(w.residuals));
    w.r = quads(b, w.m);
    ns_program_bind_quad(w.residuals, w.work, p);
    w.column = NS_NEW_ARRAY(b->arena, uint32_t, b->n + 1);
    for (uint32_t i = 0; i < b->n; i++)
        if (s->start.free[i])
            w.column[w.columns++] = i;
    w.J = NS_NEW_ARRAY(b->arena, double, (size_t)w.m * b->n + 1);
    w.A = NS_NEW_ARRAY(b->arena, double, (size_t)w.m * w.columns + 1);
    w.right = NS_NEW_ARRAY(b->arena, double, w.m + 1);
    w.dx = NS_NEW_ARRAY(b->arena, double, w.columns + 1);
    w.x = NS_NEW_ARRAY(b->arena, double, b->n + 1);
    return w;
}

static void improve(const starter *b, newton *w, ns_quad t, const double *p, ns_quad *x)
{
    enum { ROUNDS = 4 };
    static const double dependent = 1e-12; /* singular values below, relative, count as zero */
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < b->n; i++)
            w->x[i] = (double)x[i];
        ns_system_eval_dense(b->s, b->s->start.jacobian, (double)t, p, w->x, w->J);
        ns_program_eval_quad(w->residuals, w->work, t, x, w->r);
        for (uint32_t k = 0; k < w->m; k++) {
            for (uint32_t j = 0; j < w->columns; j++)
                w->A[k * w->columns + j] = w->J[k * b->n + w->column[j]];
            w->right[k] = (double)w->r[k];
        }
        ns_dense_least(b->arena, w->m, w->columns, w->A, w->right, dependent, w->dx);
        for (uint32_t j = 0; j < w->columns; j++)
            if (isfinite(w->dx[j]))
                x[w->column[j]] -= w->dx[j];
    }
}

/* high and low parts, in the arena */
static void split(ns_arena *arena, uint32_t n, const ns_quad *x, double **high, double **low)
{
    *high = NS_NEW_ARRAY(arena, double, n + 1);
    *low = NS_NEW_ARRAY(arena, double, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        (*high)[i] = (double)x[i];
        (*low)[i] = (double)(x[i] - (ns_quad)(*high)[i]);
    }
}

ns_exact ns_quad_start(const ns_system *s, ns_arena *arena, double t0, const double *p,
                       const double *x0, bool shaken)
{
    enum {
        LARGE = 250000
    }; /* entries of a Jacobian; beyond, the projection of the run does it */
    const uint32_t n = s->states.n, np = s->description->params.n;
    starter b = {.s = s, .n = n, .np = np, .shaken = shaken};
    b.arena = ns_arena_child(s->arena);
    b.x_symbols = ns_system_state_symbols(s, b.arena);
    b.p_symbols = ns_system_param_symbols(s, b.arena);
    ns_quad *value = quads(&b, np), *x = quads(&b, n), *start = quads(&b, n);
    params(&b, p, value);

    const ns_quad t = (ns_quad)t0 + (ns_quad)ns_quad_time_low(t0);
    const ns_program *starts = build(&b, NULL, 0, b.p_symbols, np, s->start.value, n);
    double *again = NS_NEW_ARRAY(b.arena, double, n + 1), largest = 0;
    evaluate(&b, starts, value, t, NULL, start);
    ns_system_eval(s, s->start.value, n, t0, p, NULL, again);
    for (uint32_t i = 0; i < n; i++)
        largest = ns_max(largest, fabs(x0[i]));
    for (uint32_t i = 0; i < n; i++) {
        /* a free one that differs by rounding alone begins where the model says */
        const bool near = s->start.free[i] &&
                          fabs(x0[i] - again[i]) <= 64 * DBL_EPSILON * largest;
        if (near || same(x0[i], again[i]))
            x[i] = start[i];
        else if (s->start.free[i])
            x[i] = x0[i];
        else /* from outside, as times: 0.1 is a tenth */
            x[i] = (ns_quad)x0[i] + (ns_quad)ns_quad_time_low(x0[i]);
    }
    const uint32_t m = ns_system_start_rows(s);
    if (m > 0 && (uint64_t)m * n <= LARGE) {
        newton w = newton_new(&b, value);
        if (w.columns)
            improve(&b, &w, t, p, x);
    }
    for (uint32_t i = 0; i < n; i++)
        start[i] = x[i];
    for (uint32_t i = 0; i < s->start.settle.n; i++) {
        const ns_reset *one = &s->start.settle.at[i];
        if (!s->states.at[one->state].level)
            continue;
        const ns_program *level = build(&b, b.x_symbols, n, b.p_symbols, np, &one->value, 1);
        evaluate(&b, level, value, t, start, &x[one->state]);
    }
    ns_exact exact;
    split(arena, np, value, &exact.p, &exact.p_lo);
    split(arena, n, x, &exact.x, &exact.x_lo);
    return exact;
}
