/* See period.h. */
#include "study/orbits/period.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/subst.h"
#include "mech/common/dense.h"
#include "study/orbits/recur.h"

/* A return counts as one if the reduced state differs by less than this part of the orbit: the
 * integration is close to round-off. */
static const double same = 1e-9;

typedef struct work {
    const ns_system *s;
    const ns_symmetry *y;
    const double *p;
    const ns_program *reduced; /* y and y' as functions of the state */
    double *memory;
    uint32_t n;
    double *there; /* [states] at the return */
} work;

static ns_ex in_states(const ns_system *s, ns_ex velocity)
{
    for (uint32_t i = 0; i < s->accelerations.n; i++)
        if (s->accelerations.at[i].from == velocity)
            return s->accelerations.at[i].to;
    return velocity;
}

static uint32_t state_of(const ns_system *s, ns_ex symbol)
{
    uint32_t i = 0;
    while (i < s->states.n && s->states.at[i].symbol != symbol)
        i++;
    return i;
}

static double *numbers(const ns_system *s, size_t n)
{
    return NS_NEW_ARRAY(s->arena, double, n + 1);
}

/* y = (r, r', p) in states, its rate, and a program for both. */
static void prepare(work *w, ns_period *out)
{
    const ns_system *s = w->s;
    const ns_symmetry *y = w->y;
    const uint32_t sigma = y->sigma, n = 2 * sigma + y->m, nx = s->states.n;
    ns_ex *f = NS_NEW_ARRAY(s->arena, ns_ex, 2 * (size_t)n + 1);
    const ns_ex *x = ns_system_state_symbols(s, s->arena);
    const ns_ex *dx = ns_system_state_rates(s, s->arena);
    out->n = w->n = n;
    out->name = NS_NEW_ARRAY(s->arena, const char *, n + 1);
    for (uint32_t i = 0; i < sigma; i++) {
        const ns_coordinate *c = &s->description->coordinates.at[y->shape[i]];
        f[i] = c->q;
        f[sigma + i] = in_states(s, c->v);
        out->name[i] = c->name;
        out->name[sigma + i] = ns_arena_format(s->arena, "%s'", c->name);
    }
    for (uint32_t a = 0; a < y->m; a++) {
        f[2 * sigma + a] = y->p[a];
        out->name[2 * sigma + a] = ns_arena_format(s->arena, "p%u", a + 1);
    }
    ns_diff_along(s->graph, f, n, x, dx, nx, f + n);
    w->reduced = ns_problem_program(s, s->arena, f, 2 * n);
    w->memory = numbers(s, ns_program_work1(w->reduced));
    ns_program_bind1(w->reduced, w->memory, w->p);
    w->there = numbers(s, nx);
}

static void look(void *context, const double *x, double *now)
{
    const work *w = context;
    ns_program_eval1(w->reduced, w->memory, 0, x, now);
}

/* Every return that is near enough counts; the state there is kept. */
static bool keep(void *context, double t, const double *x)
{
    const work *w = context;
    (void)t;
    memcpy(w->there, x, sizeof *x * w->s->states.n);
    return true;
}

/* The first return; the state there in w->there. */
static bool first_return(work *w, ns_period *out, const ns_run_options *o, const double *x0,
                         const char **message)
{
    ns_recur r = {
        .n = w->n, .look = look, .accept = keep, .context = w, .near = same, .still = 1e-12};
    if (!ns_recur_search(&r, w->s->arena, ns_problem_new(w->s, false), o, w->p, x0, message))
        return false;
    out->start = r.y0;
    out->low = r.low;
    out->high = r.high;
    out->mismatch = r.mismatch;
    out->best = r.best;
    out->found = r.found;
    out->period = out->found ? out->best - o->t0 : NAN;
    return true;
}

/* ---- the shift --------------------------------------------------------------------------- */

/* A = Rz(phi) Rx(theta) Rz(psi) by rows */
static void euler(const double angle[3], double A[9])
{
    const double cf = ns_math_cos(angle[0]), sf = ns_math_sin(angle[0]),
                 ct = ns_math_cos(angle[1]);
    const double st = ns_math_sin(angle[1]), cp = ns_math_cos(angle[2]),
                 sp = ns_math_sin(angle[2]);
    const double rows[9] = {cf * cp - sf * ct * sp,
                            -cf * sp - sf * ct * cp,
                            sf * st,
                            sf * cp + cf * ct * sp,
                            cf * ct * cp - sf * sp,
                            -cf * st,
                            st * sp,
                            st * cp,
                            ct};
    memcpy(A, rows, sizeof rows);
}

/* The group coordinates of one factor in a state. */
static void coordinates(const work *w, const ns_group_factor *f, const double *x, double *g)
{
    for (uint32_t i = 0; i < f->dim && i < 8; i++)
        g[i] = x[state_of(w->s, w->y->q[w->y->group[f->first + i]])];
}

static bool constant_fields(const ns_symmetry *y)
{
    for (uint32_t i = 0; i < y->k * y->n; i++)
        if (ns_graph_depends(y->d->graph, y->X[i], y->q, y->n))
            return false;
    return true;
}

/* h with end = h begin */
static ns_shift shift_between(const work *w, const ns_group_factor *f, const double *begin,
                              const double *end)
{
    ns_shift h = {.factor = f, .centre = {NAN, NAN}, .known = true};
    double a[8] = {0}, b[8] = {0}, A[9], B[9];
    coordinates(w, f, begin, a);
    coordinates(w, f, end, b);
    switch (f->kind) {
    case NS_GROUP_FIELDS:
    case NS_GROUP_R:
        h.known = f->dim <= 8 && (f->kind == NS_GROUP_R || constant_fields(w->y));
        for (uint32_t i = 0; i < 8; i++)
            h.move[i] = b[i] - a[i];
        break;
    case NS_GROUP_SE2: {
        h.turn[0] = b[0] - a[0];
        const double c = ns_math_cos(h.turn[0]), s = ns_math_sin(h.turn[0]);
        h.move[0] = b[1] - (c * a[1] - s * a[2]);
        h.move[1] = b[2] - (s * a[1] + c * a[2]);
        const double det = 2 * (1 - c); /* of 1 - R */
        if (det > 1e-12) {
            h.centre[0] = ((1 - c) * h.move[0] - s * h.move[1]) / det;
            h.centre[1] = (s * h.move[0] + (1 - c) * h.move[1]) / det;
        }
        break;
    }
    case NS_GROUP_SO3:
    case NS_GROUP_SE3:
        euler(a, A);
        euler(b, B);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++)
                    h.turn[3 * i + j] += B[3 * i + k] * A[3 * j + k];
        for (int i = 0; i < 3 && f->kind == NS_GROUP_SE3; i++) {
            h.move[i] = b[3 + i];
            for (int k = 0; k < 3; k++)
                h.move[i] -= h.turn[3 * i + k] * a[3 + k];
        }
        break;
    }
    return h;
}

static double shift_difference(const ns_shift *a, const ns_shift *b)
{
    double worst = 0;
    for (int i = 0; i < 9; i++)
        worst = ns_max(worst, fabs(a->turn[i] - b->turn[i]));
    for (int i = 0; i < 8; i++)
        worst = ns_max(worst, fabs(a->move[i] - b->move[i]) / ns_max(1, fabs(a->move[i])));
    return worst;
}

/* g(t + T) = h g(t) at times of the first period. */
static bool verify_shift(const work *w, ns_period *out, const ns_run_options *o,
                         const double *x0, const char **message)
{
    enum { TIMES = 12 };
    const uint32_t nx = w->s->states.n;
    double *x = numbers(w->s, (size_t)(2 * TIMES) * nx);
    ns_status status;
    ns_run_options options = *o;
    options.until = o->t0 + 2.5 * out->period;
    ns_run *run = ns_run_new(ns_problem_new(w->s, false), &options, w->p, x0, &status, message);
    if (!run)
        return false;
    for (int k = 0; k < 2 * TIMES; k++) {
        const double t = o->t0 + out->period * k / TIMES;
        if (ns_run_to(run, t) != NS_OK) {
            ns_run_free(run);
            out->shift_error = NAN;
            return true;
        }
        ns_run_state_at(run, t, x + (size_t)k * nx);
    }
    ns_run_free(run);
    for (int k = 0; k < TIMES; k++)
        for (uint32_t f = 0; f < out->factors; f++) {
            const ns_shift other = shift_between(w, out->shift[f].factor, x + (size_t)k * nx,
                                                 x + (size_t)(TIMES + k) * nx);
            if (out->shift[f].known)
                out->shift_error = ns_max(out->shift_error,
                                          shift_difference(&out->shift[f], &other));
        }
    return true;
}

/* ---- relative equilibria ----------------------------------------------------------------- */

/* The rates of (r, p) with r' = 0, and their Jacobian. */
static const ns_program *equilibrium_equations(const work *w)
{
    const ns_symmetry *y = w->y;
    const ns_system *s = w->s;
    ns_graph *g = s->graph;
    const uint32_t sigma = y->sigma, m = y->m, n = sigma + m, np = s->description->params.n;
    ns_ex *z = NS_NEW_ARRAY(s->arena, ns_ex, n + 1),
                            *P = NS_NEW_ARRAY(s->arena, ns_ex, y->k + 1);
    ns_ex *O = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
    ns_ex *zero = NS_NEW_ARRAY(s->arena, ns_ex, sigma + 1);
    ns_ex *f = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)n * (n + 1) + 1);
    for (uint32_t i = 0; i < sigma; i++) {
        z[i] = y->r[i];
        zero[i] = ns_zero(g);
    }
    for (uint32_t a = 0; a < m; a++)
        z[sigma + a] = ns_symbol_new(g, "p", NS_SYM_LOCAL, a);
    ns_symmetry_velocity(y, z + sigma, O);
    ns_symmetry_full_momentum(y, z + sigma, P);
    ns_symmetry_shape_rate(y, O, P, f);
    ns_symmetry_momentum_rate(y, O, P, f + sigma);
    ns_subst(g, f, n, y->dr, zero, sigma, f);
    ns_diff_jacobian(g, f, n, z, n, f + n);
    const ns_ex *params = ns_system_param_symbols(s, s->arena);
    const ns_program_spec spec = {
        .graph = g, .x = z, .p = params, .out = f, .nx = n, .np = np, .nout = n * (n + 1)};
    return ns_program_build(s->arena, &spec);
}

/* Newton steps in the `rank` directions of the largest singular values: families of equilibria
 * have fewer independent equations than unknowns, and full steps would leave them.  The
 * residual relative to the Jacobian's entries at the start. */
static double approach(const work *w, const ns_program *program, double *memory, uint32_t n,
                       uint32_t rank, double *at)
{
    enum { ITERATIONS = 60 };
    const ns_system *s = w->s;
    double *v = numbers(s, (size_t)n * (n + 1)), *sigma = numbers(s, n), first = 0, most = 0;
    double *V = numbers(s, (size_t)n * n);
    for (int k = 0; k <= ITERATIONS; k++) {
        ns_program_eval1(program, memory, 0, at, v);
        most = 0;
        for (uint32_t i = 0; i < n; i++)
            most = ns_max(most, fabs(v[i]));
        for (uint32_t i = 0; k == 0 && i < n * n; i++)
            first = ns_max(first, fabs(v[n + i]));
        if (!(most > 0) || !isfinite(most) || k == ITERATIONS)
            break;
        ns_dense_svd(s->arena, n, n, v + n, sigma, V);
        for (uint32_t d = 0; d < rank && sigma[d] > 1e-13 * sigma[0]; d++) {
            double product = 0;
            for (uint32_t i = 0; i < n; i++) {
                double image = 0; /* sigma_d u_d = J v_d */
                for (uint32_t j = 0; j < n; j++)
                    image += v[n + i * n + j] * V[(size_t)d * n + j];
                product += image * v[i];
            }
            for (uint32_t j = 0; j < n; j++)
                at[j] -= V[(size_t)d * n + j] * product / (sigma[d] * sigma[d]);
        }
    }
    return isfinite(most) ? (first > 0 ? most / first : most) : INFINITY;
}

/* (r, p) with r' = 0 and vanishing rates: the nearest that is found. */
static void equilibrium(const work *w, ns_period *out)
{
    const ns_system *s = w->s;
    const uint32_t sigma = w->y->sigma, n = sigma + w->y->m;
    out->at = numbers(s, n);
    out->free = NS_NEW_ARRAY(s->arena, bool, n + 1);
    out->residual = INFINITY;
    if (!n)
        return;
    const ns_program *program = equilibrium_equations(w);
    double *memory = numbers(s, ns_program_work1(program)),
           *v = numbers(s, (size_t)n * (n + 1));
    double *singular = numbers(s, n), *V = numbers(s, (size_t)n * n), nearest = INFINITY;
    double *at = numbers(s, n);
    ns_program_bind1(program, memory, w->p);
    for (uint32_t rank = 1; rank <= n; rank++) {
        double distance = 0;
        for (uint32_t i = 0; i < n; i++)
            at[i] = i < sigma ? out->start[i] : out->start[sigma + i];
        const double residual = approach(w, program, memory, n, rank, at);
        for (uint32_t i = 0; i < n; i++) {
            const double start = i < sigma ? out->start[i] : out->start[sigma + i];
            distance += (at[i] - start) * (at[i] - start);
        }
        if (residual < 1e-12 && distance < nearest) {
            nearest = distance;
            out->equilibrium = true;
            out->residual = residual;
            memcpy(out->at, at, n * sizeof *at);
        }
    }
    if (!out->equilibrium)
        return;
    ns_program_eval1(program, memory, 0, out->at, v);
    ns_dense_svd(s->arena, n, n, v + n, singular, V);
    while (out->family < n && singular[n - 1 - out->family] <= 1e-7 * singular[0])
        out->family++;
    for (uint32_t i = n - out->family; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            out->free[j] = out->free[j] || fabs(V[(size_t)i * n + j]) > 1e-6;
}

const ns_period *ns_period_find(const ns_system *s, double until, const ns_run_options *o,
                                const double *p, const double *x0, const char **message)
{
    ns_period *out = NS_NEW(s->arena, ns_period);
    work w = {.s = s, .y = s->symmetry, .p = p};
    ns_run_options options = *o;
    options.until = until;
    prepare(&w, out);
    out->period = NAN;
    if (!first_return(&w, out, &options, x0, message))
        return NULL;
    out->factors = w.y->factors.n;
    out->shift = NS_NEW_ARRAY(s->arena, ns_shift, out->factors + 1);
    for (uint32_t f = 0; f < out->factors && out->found; f++)
        out->shift[f] = shift_between(&w, &w.y->factors.at[f], x0, w.there);
    if (out->found && !verify_shift(&w, out, &options, x0, message))
        return NULL;
    equilibrium(&w, out);
    return out;
}
