/* Deciding which eta are integrals, and following them; see momentum.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/eval.h"
#include "mech/common/dense.h"
#include "study/invariants/momentum.h"

/* Relative size up to which a condition holds: conditions are sums of a few dozen terms,
 * carried by an integration close to round-off. */
static const double holds = 1e-9;

static double *numbers(const ns_parallel *c, size_t n)
{
    return NS_NEW_ARRAY(c->y->d->arena, double, n + 1);
}

/* Values of functions of z and the parameters. */
static void at_point(const ns_parallel *c, const ns_ex *f, size_t n, const double *p,
                     const double *z, double *out)
{
    const ns_description *d = c->y->d;
    const uint32_t np = d->params.n;
    ns_ex *symbol = NS_NEW_ARRAY(d->arena, ns_ex, np + c->dim + 1);
    double *value = numbers(c, np + c->dim);
    for (uint32_t i = 0; i < np; i++) {
        symbol[i] = d->params.at[i].symbol;
        value[i] = p[i];
    }
    for (uint32_t i = 0; i < c->dim; i++) {
        symbol[np + i] = c->z[i];
        value[np + i] = z[i];
    }
    ns_eval(d->graph, f, n, symbol, value, np + c->dim, out);
}

/* ---- carrying eta ------------------------------------------------------------------------ */

/* eta(z) = Phi eta(base) at one point, with ln W from the trace; false if the way there
 * fails. */
static bool carry(const ns_parallel *c, const double *p, const double *base, const double *z,
                  double *Phi, double *trace)
{
    const uint32_t m = c->m, dim = c->dim, n = 2 * dim + m * m + 1;
    double *x = numbers(c, n), far = 0;
    for (uint32_t i = 0; i < dim; i++) {
        x[i] = base[i];
        x[dim + i] = z[i] - base[i];
        far = ns_max(far, fabs(x[dim + i]));
    }
    for (uint32_t a = 0; a < m; a++)
        x[2 * dim + a * m + a] = 1;
    if (far > 0) {
        ns_run_options options = ns_run_defaults();
        ns_status status;
        const char *message;
        options.until = 1;
        ns_run *run = ns_run_new(c->carrier, &options, p, x, &status, &message);
        if (!run)
            return false;
        status = ns_run_to(run, 1);
        if (status == NS_OK)
            memcpy(x, ns_run_state(run), n * sizeof *x);
        ns_run_free(run);
        if (status != NS_OK)
            return false;
    }
    memcpy(Phi, x + 2 * dim, sizeof *Phi * m * m);
    *trace = x[n - 1];
    return true;
}

static double determinant(uint32_t n, double *A)
{
    double det = 1;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t row = k;
        for (uint32_t i = k; i < n; i++)
            if (fabs(A[i * n + k]) > fabs(A[row * n + k]))
                row = i;
        for (uint32_t j = 0; j < n && row != k; j++) {
            const double swap = A[k * n + j];
            A[k * n + j] = A[row * n + j];
            A[row * n + j] = swap;
        }
        det *= row != k ? -A[k * n + k] : A[k * n + k];
        for (uint32_t i = k + 1; i < n && A[k * n + k] != 0; i++) {
            const double factor = A[i * n + k] / A[k * n + k];
            for (uint32_t j = k; j < n; j++)
                A[i * n + j] -= factor * A[k * n + j];
        }
    }
    return det;
}

/* ---- the region -------------------------------------------------------------------------- */

uint32_t ns_momentum_state(const ns_system *s, ns_ex symbol)
{
    uint32_t i = 0;
    while (i < s->states.n && s->states.at[i].symbol != symbol)
        i++;
    return i;
}

/* Where the run goes: extremes of z over points inside every step. */
static bool visited(const ns_system *s, const ns_parallel *c, const ns_run_options *o,
                    double until, const double *p, const double *x0, double *low, double *high,
                    const char **message)
{
    enum { INSIDE = 8 };
    ns_run_options options = *o;
    ns_status status;
    options.until = until;
    ns_run *run = ns_run_new(ns_problem_new(s, false), &options, p, x0, &status, message);
    if (!run)
        return false;
    double *x = numbers(c, s->states.n);
    for (uint32_t i = 0; i < c->dim; i++)
        low[i] = high[i] = x0[ns_momentum_state(s, c->z[i])];
    do {
        status = ns_run_step(run);
        const double from = ns_run_last_time(run), to = ns_run_time(run);
        for (int k = 1; k <= INSIDE && to > from; k++) {
            ns_run_state_at(run, from + (to - from) * k / INSIDE, x);
            for (uint32_t i = 0; i < c->dim; i++) {
                low[i] = ns_min(low[i], x[ns_momentum_state(s, c->z[i])]);
                high[i] = ns_max(high[i], x[ns_momentum_state(s, c->z[i])]);
            }
        }
    } while (status == NS_OK && ns_run_time(run) < until);
    ns_run_free(run);
    return true;
}

/* Points of the table: even for one variable, otherwise the box's corners and points inside. */
static void choose_points(ns_momentum *f, uint32_t wanted)
{
    const uint32_t dim = f->c->dim, corners = dim < 4 ? 1u << dim : 0;
    f->points = dim == 0 ? 1 : dim == 1 ? wanted : wanted + corners;
    f->at = numbers(f->c, (size_t)f->points * dim);
    uint64_t seed = 2003;
    for (uint32_t k = 0; k < f->points; k++)
        for (uint32_t i = 0; i < dim; i++) {
            const double part = dim == 1      ? (wanted > 1 ? k / (wanted - 1.0) : 0)
                                : k < corners ? (double)(k >> i & 1)
                                              : ns_eval_random(&seed);
            f->at[k * dim + i] = f->low[i] + part * (f->high[i] - f->low[i]);
        }
}

/* ---- the decision ------------------------------------------------------------------------ */

static double largest(const double *x, uint32_t from, uint32_t to)
{
    double most = 0;
    for (uint32_t i = from; i < to; i++)
        most = ns_max(most, fabs(x[i]));
    return most;
}

static bool defined(const double *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* All conditions at all points, on eta at the base in scaled units: singular values. */
static void decide(ns_momentum *f, const double *p)
{
    const ns_parallel *c = f->c;
    const uint32_t m = c->m, per = c->rows + c->pairs * m;
    const uint32_t rows = per * f->points;
    double *all = numbers(c, (size_t)(rows > m ? rows : m) * m);
    double *K = numbers(c, (size_t)c->rows * m), *F = numbers(c, (size_t)c->pairs * m * m);
    double *F_size = numbers(c, (size_t)c->pairs * m * m), *terms = numbers(c, c->n_terms);
    double *at0 = numbers(c, m), *at = numbers(c, m), *moved = numbers(c, (size_t)m * m);
    double *V = numbers(c, (size_t)m * m), scale = 0, F_scale = 0, size;
    f->sigma = numbers(c, m);
    at_point(c, c->scale, m, p, f->base, at0);
    /* sizes first: they set what "vanishes" means */
    for (uint32_t k = 0; k < f->points; k++) {
        at_point(c, c->terms, c->n_terms, p, f->at + (size_t)k * c->dim, terms);
        at_point(c, c->F_size, (size_t)c->pairs * m * m, p, f->at + (size_t)k * c->dim, F_size);
        scale = ns_max(scale, largest(terms, 0, c->n_D));
        F_scale = ns_max(F_scale, largest(F_size, 0, c->pairs * m * m));
        f->size_Q = ns_max(f->size_Q, largest(terms, c->n_structure, c->n_Q));
        f->size_tau = ns_max(f->size_tau, largest(terms, c->n_Q, c->n_tau));
        f->size_D = ns_max(f->size_D, largest(terms, c->n_tau, c->n_D));
    }
    if (!(scale > 0))
        scale = 1;
    if (!(F_scale > 0))
        F_scale = 1;
    for (uint32_t k = 0; k < f->points; k++) {
        const double *z = f->at + (size_t)k * c->dim, *Phi = f->Phi + (size_t)k * m * m;
        if (isnan(f->W[k]))
            continue;
        at_point(c, c->K, (size_t)c->rows * m, p, z, K);
        at_point(c, c->F, (size_t)c->pairs * m * m, p, z, F);
        at_point(c, c->scale, m, p, z, at);
        if (!defined(K, c->rows * m) || !defined(F, c->pairs * m * m) || !defined(at, m)) {
            f->W[k] = NAN; /* outside of the frame's domain: the point tells nothing */
            continue;
        }
        f->used++;
        size = 0;
        for (uint32_t e = 0; e < m; e++)
            for (uint32_t a = 0; a < m; a++) {
                moved[e * m + a] = at[e] * Phi[e * m + a] / at0[a];
                size = ns_max(size, fabs(moved[e * m + a]));
            }
        for (uint32_t r = 0; r < per; r++) {
            const double *row = r < c->rows ? K + (size_t)r * m : F + (size_t)(r - c->rows) * m;
            const double unit = (r < c->rows ? scale : F_scale) * size;
            for (uint32_t a = 0; a < m; a++)
                for (uint32_t e = 0; e < m; e++)
                    all[((size_t)k * per + r) * m + a] += row[e] * moved[e * m + a] / unit;
        }
        f->curvature = ns_max(f->curvature, largest(F, 0, c->pairs * m * m) / F_scale);
    }
    f->size_Q /= scale;
    f->size_tau /= scale;
    f->size_D /= scale;
    ns_dense_svd(c->y->d->arena, rows > m ? rows : m, m, all, f->sigma, V);
    while (f->found < m && f->sigma[m - 1 - f->found] <= holds)
        f->found++;
    f->all = f->found == m;
    f->eta0 = numbers(c, (size_t)f->found * m);
    for (uint32_t i = 0; i < f->found; i++)
        for (uint32_t a = 0; a < m; a++)
            f->eta0[i * m + a] = f->all ? (double)(i == a)
                                        : V[(size_t)(m - f->found + i) * m + a] / at0[a];
    /* row echelon form: the simplest vectors of the space */
    for (uint32_t i = 0; !f->all && i < f->found; i++) {
        uint32_t pivot = 0;
        for (uint32_t a = 0; a < m; a++)
            if (fabs(f->eta0[i * m + a] * at0[a]) > fabs(f->eta0[i * m + pivot] * at0[pivot]))
                pivot = a;
        const double divide = f->eta0[i * m + pivot];
        for (uint32_t a = 0; a < m; a++)
            f->eta0[i * m + a] /= divide;
        for (uint32_t j = 0; j < f->found; j++) {
            const double factor = f->eta0[j * m + pivot];
            for (uint32_t a = 0; a < m && j != i; a++)
                f->eta0[j * m + a] -= factor * f->eta0[i * m + a];
        }
    }
}

/* eta_i^a e_a at the points of the table. */
static void along_basis(ns_momentum *f, const double *p)
{
    const ns_parallel *c = f->c;
    const uint32_t m = c->m, k = c->y->k;
    double *e = numbers(c, (size_t)m * k);
    f->field = numbers(c, (size_t)f->points * f->found * k);
    for (uint32_t at = 0; at < f->points; at++) {
        at_point(c, c->y->e, (size_t)m * k, p, f->at + (size_t)at * c->dim, e);
        for (uint32_t i = 0; i < f->found; i++)
            for (uint32_t a = 0; a < m; a++) {
                double eta = 0;
                for (uint32_t b = 0; b < m; b++)
                    eta += f->Phi[((size_t)at * m + a) * m + b] * f->eta0[i * m + b];
                for (uint32_t A = 0; A < k; A++)
                    f->field[((size_t)at * f->found + i) * k + A] += eta * e[a * k + A];
            }
    }
}

static bool is_constant(const ns_parallel *c)
{
    const size_t n = (size_t)c->dim * c->m * c->m;
    for (size_t i = 0; i < n; i++)
        if (ns_graph_depends(c->y->d->graph, c->T[i], c->z, c->dim))
            return false;
    return c->dim > 0;
}

/* ---- along the motion -------------------------------------------------------------------- */

/* The system with eta carried along as further states, and the integrals as invariants. */
ns_system *ns_momentum_with_eta(const ns_system *s, const ns_momentum *f, ns_ex *eta)
{
    const ns_parallel *c = f->c;
    ns_graph *g = s->graph;
    const uint32_t m = c->m;
    ns_system *t = ns_arena_copy(s->arena, s, sizeof *s);
    t->states.at = NULL;
    t->states.n = t->states.room = 0;
    for (uint32_t i = 0; i < s->states.n; i++)
        NS_PUSH(s->arena, t->states, s->states.at[i]);
    t->invariants.at = NULL;
    t->invariants.n = t->invariants.room = 0;
    for (uint32_t i = 0; i < f->found * m; i++)
        eta[i] = ns_symbol_new(g, ns_arena_format(s->arena, "eta%u.%u", i / m + 1, i % m + 1),
                               NS_SYM_STATE, s->states.n + i);
    for (uint32_t i = 0; i < f->found; i++) {
        ns_ex integral = ns_zero(g);
        for (uint32_t e = 0; e < m; e++) {
            ns_ex rate = ns_zero(g);
            for (uint32_t v = 0; v < c->dim; v++)
                for (uint32_t a = 0; a < m; a++)
                    rate = ns_sub(
                        g, rate,
                        ns_mul(g, ns_mul(g, c->T[((size_t)v * m + e) * m + a], eta[i * m + a]),
                               c->dz[v]));
            const char *name = ns_graph_symbol(g, eta[i * m + e])->name;
            ns_system_add_state(t, NS_QUANTITY_OTHER, name, eta[i * m + e], rate, "");
            integral = ns_add(g, integral, ns_mul(g, c->y->p[e], eta[i * m + e]));
        }
        NS_PUSH(s->arena, t->invariants,
                (ns_invariant){.name = ns_arena_format(s->arena, "integral%u", i + 1),
                               .value = integral});
    }
    return t;
}

static bool watch(const ns_system *s, ns_momentum *f, const ns_run_options *o, const double *p,
                  const double *x0, const char **message)
{
    const ns_parallel *c = f->c;
    const uint32_t m = c->m, n = s->states.n, all = n + f->found * m;
    ns_ex *eta = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)f->found * m + 1);
    const ns_system *t = ns_momentum_with_eta(s, f, eta);
    double *x = numbers(c, all), *z = numbers(c, c->dim), *Phi = numbers(c, (size_t)m * m);
    double trace;
    memcpy(x, x0, n * sizeof *x);
    for (uint32_t i = 0; i < f->found; i++)
        for (uint32_t e = 0; e < m; e++)
            for (uint32_t a = 0; a < m; a++)
                x[n + i * m + e] += f->Phi_start[e * m + a] * f->eta0[i * m + a];
    ns_run_options options = *o;
    options.until = f->until;
    f->value = numbers(c, f->found);
    f->drift = numbers(c, f->found);
    for (uint32_t i = 0; i < f->found; i++)
        ns_system_eval(t, &t->invariants.at[i].value, 1, o->t0, p, x, &f->value[i]);
    ns_run *run = ns_run_new(ns_problem_new(t, false), &options, p, x, &f->status, message);
    if (!run)
        return false;
    f->status = ns_run_to(run, f->until);
    const ns_outcome *outcome = ns_run_outcome(run);
    f->reason = ns_arena_format(s->arena, "%s", outcome->reason);
    f->until = ns_run_time(run);
    memcpy(f->drift, outcome->drift, f->found * sizeof *f->drift);
    memcpy(x, ns_run_state(run), all * sizeof *x);
    ns_run_free(run);
    for (uint32_t i = 0; i < c->dim; i++)
        z[i] = x[ns_momentum_state(s, c->z[i])];
    f->path_difference = NAN;
    if (!carry(c, p, f->base, z, Phi, &trace))
        return true;
    double most = 0, size = 0;
    for (uint32_t i = 0; i < f->found; i++)
        for (uint32_t e = 0; e < m; e++) {
            double there = 0;
            for (uint32_t a = 0; a < m; a++)
                there += Phi[e * m + a] * f->eta0[i * m + a];
            const double off = fabs(there - x[n + i * m + e]);
            if (!(off <= most)) /* nan too */
                most = off;
            size = ns_max(size, fabs(there));
        }
    f->path_difference = most / size;
    return true;
}

const ns_momentum *ns_momentum_search(const ns_system *s, const ns_parallel *c,
                                      const ns_momentum_options *options,
                                      const ns_run_options *run, const double *p,
                                      const double *x0, const char **message)
{
    const uint32_t m = c->m, dim = c->dim;
    ns_momentum *f = NS_NEW(s->arena, ns_momentum);
    f->c = c;
    f->until = options->until;
    f->low = numbers(c, dim);
    f->high = numbers(c, dim);
    f->base = numbers(c, dim);
    f->start = numbers(c, dim);
    f->Phi_start = numbers(c, (size_t)m * m);
    for (uint32_t i = 0; i < dim; i++) {
        f->start[i] = f->base[i] = x0[ns_momentum_state(s, c->z[i])];
        if (options->base && isfinite(options->base[i]))
            f->base[i] = options->base[i];
    }
    double trace;
    if (!carry(c, p, f->base, f->start, f->Phi_start, &trace)) {
        *message = "the fields cannot be carried from the base to the start";
        return NULL;
    }
    if (!visited(s, c, run, options->until, p, x0, f->low, f->high, message))
        return NULL;
    for (uint32_t i = 0; i < dim; i++) {
        if (f->high[i] - f->low[i] < 1e-3) { /* it does not move: look around it */
            f->low[i] -= 0.25;
            f->high[i] += 0.25;
        }
        if (options->low && isfinite(options->low[i]))
            f->low[i] = options->low[i];
        if (options->high && isfinite(options->high[i]))
            f->high[i] = options->high[i];
    }
    choose_points(f, options->points ? options->points : dim > 1 ? 16 : 9);
    f->Phi = numbers(c, (size_t)f->points * m * m);
    f->W = numbers(c, f->points);
    f->W_trace = numbers(c, f->points);
    double *copy = numbers(c, (size_t)m * m);
    for (uint32_t k = 0; k < f->points; k++) {
        double *Phi = f->Phi + (size_t)k * m * m;
        f->W[k] = f->W_trace[k] = NAN;
        if (!carry(c, p, f->base, f->at + (size_t)k * dim, Phi, &trace))
            continue;
        memcpy(copy, Phi, sizeof *copy * m * m);
        f->W[k] = determinant(m, copy);
        f->W_trace[k] = ns_math_exp(trace);
    }
    decide(f, p);
    if (!f->used) {
        *message = "the momentum equation is not defined at any point of the region";
        return NULL;
    }
    along_basis(f, p);
    f->constant = is_constant(c);
    if (f->found && !watch(s, f, run, p, x0, message))
        return NULL;
    return f;
}
