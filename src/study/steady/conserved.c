#include "study/steady/conserved.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "mech/common/dense.h"

/* A change along a symmetry or the motion, relative to the terms, that is rounding. */
static const double rounding = 1e-7;

typedef NS_LIST(ns_invariant) functions;

/* ---- which functions --------------------------------------------------------------------- */

/* Does F stay the same along the symmetries that move x and, if `moving`, along the motion, at
 * x and at states of the manifold near it? */
static bool stays(ns_flow *field, const ns_generators *g, ns_ex F, const double *x, bool moving)
{
    enum { STATES = 5 };
    const ns_system *s = field->system;
    const uint32_t n = field->n;
    ns_arena *a = field->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    const ns_ex *symbols = ns_system_state_symbols(s, a);
    ns_ex *gradient = NS_NEW_ARRAY(a, ns_ex, n + 1);
    double *D = NS_NEW_ARRAY(a, double, n + 1), *y = NS_NEW_ARRAY(a, double, n + 1);
    double *xi = NS_NEW_ARRAY(a, double, ((size_t)g->count + 1) * n + 1);
    uint64_t seed = 1998;
    bool good = true;
    ns_diff_gradient(s->graph, F, symbols, n, gradient);
    for (uint32_t k = 0; k < STATES && good; k++) {
        for (uint32_t i = 0; i < n; i++)
            y[i] = x[i] + (k ? 0.05 * field->sigma[i] * (2 * ns_eval_random(&seed) - 1) : 0);
        if (k && !ns_flow_project(field, y))
            continue;
        ns_system_eval(s, gradient, n, field->t, field->p, y, D);
        ns_generators_at(g, y, xi);
        ns_flow_rhs(field, y, xi + (size_t)g->count * n);
        for (uint32_t j = 0; j < g->count + (moving ? 1 : 0); j++) {
            if (j < g->count && ns_generators_rests(field, g, j, x))
                continue;
            double sum = 0, size = 0;
            for (uint32_t i = 0; i < n; i++) {
                sum += D[i] * xi[(size_t)j * n + i];
                size += fabs(D[i] * xi[(size_t)j * n + i]);
            }
            good = good && fabs(sum) <= rounding * size + 1e-300;
        }
    }
    ns_arena_release(a, mark);
    return good;
}

/* eta_i^e as a polynomial of the shape near r0; see above. */
static ns_ex series(const ns_system *s, const ns_parallel *c, const double *eta,
                    const double *T, const double *dT, const ns_ex *d, uint32_t e)
{
    ns_graph *g = s->graph;
    const uint32_t m = c->m, dim = c->dim;
    ns_ex sum = ns_number(g, eta[e]);
    for (uint32_t i = 0; i < dim; i++) {
        double first = 0;
        for (uint32_t a = 0; a < m; a++)
            first -= T[((size_t)i * m + e) * m + a] * eta[a];
        sum = ns_add(g, sum, ns_mul(g, ns_number(g, first), d[i]));
        for (uint32_t j = 0; j < dim; j++) {
            double second = 0;
            for (uint32_t a = 0; a < m; a++) {
                second -= dT[(((size_t)i * m + e) * m + a) * dim + j] * eta[a];
                for (uint32_t b = 0; b < m; b++)
                    second += T[((size_t)i * m + e) * m + a] * T[((size_t)j * m + a) * m + b] *
                              eta[b];
            }
            sum = ns_add(g, sum, ns_mul(g, ns_number(g, second / 2), ns_mul(g, d[i], d[j])));
        }
    }
    return sum;
}

/* The momentum integrals of a model with a symmetry. */
static void add_momenta(ns_conserved *q, const double *x, functions *list)
{
    ns_flow *field = q->field;
    const ns_system *s = field->system;
    const char *why;
    if (!s->symmetry || !s->symmetry->m || !s->symmetry->sigma || !s->conservative)
        return;
    const ns_parallel *c = ns_momentum_connection(s, UINT32_MAX, &why);
    const ns_momentum_options options = {.until = 1e-3};
    const ns_run_options run = ns_run_defaults();
    const ns_momentum *f = c ? ns_momentum_search(s, c, &options, &run, field->p, x, &why)
                             : NULL;
    if (!f)
        return;
    q->momentum = f;
    ns_graph *g = s->graph;
    const uint32_t m = c->m, dim = c->dim, size = dim * m * m;
    ns_ex *by = NS_NEW_ARRAY(field->arena, ns_ex, (size_t)size * dim + 1);
    double *T = NS_NEW_ARRAY(field->arena, double, size + 1);
    double *dT = NS_NEW_ARRAY(field->arena, double, (size_t)size * dim + 1);
    ns_ex *d = NS_NEW_ARRAY(field->arena, ns_ex, dim + 1);
    ns_diff_jacobian(g, c->T, size, c->z, dim, by);
    ns_system_eval(s, c->T, size, field->t, field->p, x, T);
    ns_system_eval(s, by, (size_t)size * dim, field->t, field->p, x, dT);
    for (uint32_t i = 0; i < dim; i++)
        d[i] = ns_sub(g, c->z[i], ns_number(g, x[ns_momentum_state(s, c->z[i])]));
    for (uint32_t i = 0; i < f->found; i++) {
        ns_ex sum = ns_zero(g);
        for (uint32_t e = 0; e < m; e++)
            sum = ns_add(
                g, sum,
                ns_mul(g, c->y->p[e], series(s, c, f->eta0 + (size_t)i * m, T, dT, d, e)));
        const char *name = ns_arena_format(field->arena, "<p, eta%u>", i + 1);
        NS_PUSH(field->arena, *list, (ns_invariant){.name = name, .value = sum});
    }
}

/* ---- derivatives ------------------------------------------------------------------------- */

/* Functions and rows of the manifold, once and twice differentiated along a direction. */
static void prepare(ns_conserved *q, const functions *list)
{
    ns_flow *field = q->field;
    const ns_system *s = field->system;
    ns_arena *a = field->arena;
    const uint32_t n = field->n;
    const ns_ex *x = ns_system_state_symbols(s, a);
    ns_ex *f = NS_NEW_ARRAY(a, ns_ex, list->n + s->constraints.n + 1);
    ns_ex *u = NS_NEW_ARRAY(a, ns_ex, n + 1);
    uint32_t k = 0;
    for (uint32_t i = 0; i < list->n; i++)
        f[k++] = list->at[i].value;
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (s->constraints.at[i].project)
            f[k++] = s->constraints.at[i].residual;
    q->rows = k - list->n;
    for (uint32_t i = 0; i < n; i++)
        u[i] = ns_symbol_new(s->graph, "u", NS_SYM_LOCAL, i);
    ns_ex *out = NS_NEW_ARRAY(a, ns_ex, 2 * (size_t)k + 1);
    ns_diff_along(s->graph, f, k, x, u, n, out);
    ns_diff_along(s->graph, out, k, x, u, n, out + k);
    q->jet = ns_flow_program_new(field, out, 2 * k, u, n);
}

/* out[2 (n + rows)]: derivatives along u. */
static void along(const ns_conserved *q, const double *x, const double *u, double *out)
{
    ns_flow *field = q->field;
    const ns_arena_place mark = ns_arena_mark(field->scratch);
    double *in = NS_NEW_ARRAY(field->scratch, double, 2 * (size_t)field->n + 1);
    memcpy(in, x, field->n * sizeof *in);
    memcpy(in + field->n, u, field->n * sizeof *in);
    ns_flow_eval(field, q->jet, in, out);
    ns_arena_release(field->scratch, mark);
}

ns_conserved *ns_conserved_at(ns_flow *field, const ns_generators *g, const double *x)
{
    const ns_system *s = field->system;
    ns_arena *a = field->arena;
    ns_conserved *q = NS_NEW(a, ns_conserved);
    functions list = {0};
    q->field = field;
    if (s->energy && s->conservative && !g->A0 && stays(field, g, s->energy, x, false))
        NS_PUSH(a, list, (ns_invariant){.name = "energy", .value = s->energy});
    for (uint32_t i = 0; i < s->invariants.n; i++)
        if (s->invariants.at[i].value != s->energy &&
            stays(field, g, s->invariants.at[i].value, x, !g->A0))
            NS_PUSH(a, list, s->invariants.at[i]);
    add_momenta(q, x, &list);
    q->n = list.n;
    q->name = NS_NEW_ARRAY(a, const char *, list.n + 1);
    q->unit = NS_NEW_ARRAY(a, double, list.n + 1);
    for (uint32_t i = 0; i < list.n; i++) {
        q->name[i] = list.at[i].name;
        q->unit[i] = 1;
    }
    prepare(q, &list);
    const ns_arena_place mark = ns_arena_mark(field->scratch);
    double *N = NS_NEW_ARRAY(field->scratch, double, (size_t)field->n * field->n + 1);
    const uint32_t t = ns_flow_tangent(field, x, N);
    double *D = NS_NEW_ARRAY(field->scratch, double, (size_t)list.n * t + 1);
    ns_conserved_differentials(q, x, t, N, D);
    for (uint32_t i = 0; i < list.n; i++) {
        const double length = ns_dense_unit(t, D + (size_t)i * t);
        q->unit[i] = length > 1e-12 ? length : 1;
    }
    ns_arena_release(field->scratch, mark);
    return q;
}

void ns_conserved_differentials(const ns_conserved *q, const double *x, uint32_t r,
                                const double *B, double *D)
{
    ns_arena *a = q->field->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *out = NS_NEW_ARRAY(a, double, 2 * (size_t)(q->n + q->rows) + 1);
    for (uint32_t k = 0; k < r; k++) {
        along(q, x, B + (size_t)k * q->field->n, out);
        for (uint32_t i = 0; i < q->n; i++)
            D[(size_t)i * r + k] = out[i] / q->unit[i];
    }
    ns_arena_release(a, mark);
}

/* mu[rows] of least length with sum_i lambda_i dF_i = mu_j dC_j on all states. */
static void multipliers(const ns_conserved *q, const double *x, const double *lambda,
                        double *mu)
{
    const uint32_t n = q->field->n, rows = q->rows;
    ns_arena *a = q->field->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *out = NS_NEW_ARRAY(a, double, 2 * (size_t)(q->n + rows) + 1);
    double *G = NS_NEW_ARRAY(a, double, (size_t)n * rows + 1);
    double *d = NS_NEW_ARRAY(a, double, n + 1), *unit = NS_NEW_ARRAY(a, double, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        unit[i] = 1;
        along(q, x, unit, out);
        unit[i] = 0;
        for (uint32_t k = 0; k < q->n; k++)
            d[i] += lambda[k] * out[k] / q->unit[k];
        for (uint32_t j = 0; j < rows; j++)
            G[(size_t)i * rows + j] = out[q->n + j];
    }
    if (rows)
        ns_dense_least(a, n, rows, G, d, 1e-9, mu);
    ns_arena_release(a, mark);
}

/* The second variation along one direction. */
static double second(const ns_conserved *q, const double *x, const double *lambda,
                     const double *mu, const double *u, double *out)
{
    double sum = 0;
    along(q, x, u, out);
    out += q->n + q->rows;
    for (uint32_t i = 0; i < q->n; i++)
        sum += lambda[i] * out[i] / q->unit[i];
    for (uint32_t j = 0; j < q->rows; j++)
        sum -= mu[j] * out[q->n + j];
    return sum;
}

void ns_conserved_second(const ns_conserved *q, const double *x, const double *lambda,
                         uint32_t r, const double *B, double *H)
{
    const uint32_t n = q->field->n;
    ns_arena *a = q->field->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *mu = NS_NEW_ARRAY(a, double, q->rows + 1), *u = NS_NEW_ARRAY(a, double, n + 1);
    double *out = NS_NEW_ARRAY(a, double, 2 * (size_t)(q->n + q->rows) + 1);
    multipliers(q, x, lambda, mu);
    for (uint32_t k = 0; k < r; k++)
        H[(size_t)k * r + k] = second(q, x, lambda, mu, B + (size_t)k * n, out);
    for (uint32_t k = 0; k < r; k++)
        for (uint32_t l = 0; l < k; l++) {
            for (uint32_t i = 0; i < n; i++)
                u[i] = B[(size_t)k * n + i] + B[(size_t)l * n + i];
            H[(size_t)k * r + l] = H[(size_t)l * r + k] = (second(q, x, lambda, mu, u, out) -
                                                           H[(size_t)k * r + k] -
                                                           H[(size_t)l * r + l]) /
                                                          2;
        }
    ns_arena_release(a, mark);
}
