/* The differential and algebraic equations for eta, on the graph; see momentum.h.
 *
 * With a group coordinate s, s' = Z_a Omega^a + y_alpha r'^alpha and Y = I_S^-1 Z, the
 * derivative of <p, eta> by powers of p and r' gives
 *
 *     pp:    sym(d_s eta^c Y^d) + eta^a Q_a^cd = 0
 *     pr':   d_alpha eta^c + d_s eta^c y_alpha + tau_a alpha^c eta^a = 0
 *     r'r':  D_a alpha beta eta^a = 0.
 *
 * sym(v Y) = M has at most one solution v: with any u, u.Y = 1, v = 2 M u - Y (u.M u).  Here u
 * = Z/(Z.Y), which has the units of a momentum.  What is left of M is a condition on eta.
 *
 * All conditions are compared in one unit: momenta are measured by sqrt(I_aa), shape velocities
 * by sqrt(G_alpha alpha), so that Q, tau, D and the structure coefficients are comparable. */
#include "study/invariants/momentum.h"

#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/subst.h"

static ns_ex *array(const ns_symmetry *y, size_t n)
{
    ns_ex *out = NS_NEW_ARRAY(y->d->arena, ns_ex, n + 1);
    for (size_t i = 0; i < n; i++)
        out[i] = ns_zero(y->d->graph);
    return out;
}

static void add2(ns_graph *g, ns_ex *sum, ns_ex a, ns_ex b)
{
    *sum = ns_add(g, *sum, ns_mul(g, a, b));
}

/* A velocity of the model in states. */
static ns_ex in_states(const ns_system *s, ns_ex velocity)
{
    for (uint32_t i = 0; i < s->accelerations.n; i++)
        if (s->accelerations.at[i].from == velocity)
            return s->accelerations.at[i].to;
    return velocity;
}

/* How the rate of coordinate `along` is made of Omega and r'. */
typedef struct rate {
    ns_ex *Z, *Y, *u, *shape; /* [m], [m], [m], [sigma] */
} rate;

static bool rate_of(const ns_symmetry *y, uint32_t along, rate *w, const char **why)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k, m = y->m;
    ns_ex size = ns_zero(g);
    *w = (rate){array(y, m), array(y, m), array(y, m), array(y, y->sigma)};
    for (uint32_t A = 0; A < k; A++) {
        ns_ex along_e = ns_zero(g);
        for (uint32_t B = 0; B < k; B++)
            add2(g, &along_e, y->e[A * k + B], y->E[B * y->n + along]);
        if (A < m)
            w->Z[A] = along_e;
        for (uint32_t i = 0; i < y->sigma; i++)
            w->shape[i] = ns_sub(g, w->shape[i], ns_mul(g, y->A[i * k + A], along_e));
    }
    for (uint32_t i = 0; i < k; i++) {
        bool uses = false;
        for (uint32_t a = 0; a < m; a++)
            uses = uses || ns_graph_depends(g, w->Z[a], &y->q[y->group[i]], 1);
        for (uint32_t a = 0; a < y->sigma; a++)
            uses = uses || ns_graph_depends(g, w->shape[a], &y->q[y->group[i]], 1);
        if (uses && y->group[i] != along) {
            *why = ns_arena_format(y->d->arena,
                                   "the rate of %s depends on %s: no frame can depend on %s "
                                   "alone",
                                   y->d->coordinates.at[along].name,
                                   y->d->coordinates.at[y->group[i]].name,
                                   y->d->coordinates.at[along].name);
            return false;
        }
    }
    bool moved = false;
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t b = 0; b < m; b++)
            add2(g, &w->Y[a], y->ISi[a * m + b], w->Z[b]);
    for (uint32_t a = 0; a < m; a++) {
        add2(g, &size, w->Z[a], w->Y[a]);
        moved = moved || !(ns_graph_is_zero(g, w->Y[a]) || ns_eval_vanishes(g, w->Y[a], 0));
    }
    if (!moved) {
        *why = ns_arena_format(y->d->arena, "no momentum moves %s",
                               y->d->coordinates.at[along].name);
        return false;
    }
    for (uint32_t a = 0; a < m; a++)
        w->u[a] = ns_div(g, w->Z[a], size);
    return true;
}

/* T_s and the conditions from the terms quadratic in p. */
static void along_group(ns_parallel *c, const rate *w)
{
    const ns_symmetry *y = c->y;
    ns_graph *g = y->d->graph;
    const uint32_t m = y->m, sigma = y->sigma;
    ns_ex *Ts = c->T + (size_t)sigma * m * m;
    for (uint32_t a = 0; a < m; a++) {
        ns_ex twice = ns_zero(g), *Mu = array(y, m);
        for (uint32_t e = 0; e < m; e++)
            for (uint32_t d = 0; d < m; d++)
                add2(g, &Mu[e], y->Q[(a * m + e) * m + d], w->u[d]);
        for (uint32_t e = 0; e < m; e++)
            add2(g, &twice, w->u[e], Mu[e]);
        for (uint32_t e = 0; e < m; e++)
            Ts[e * m + a] = ns_sub(g, ns_mul(g, ns_integer(g, 2), Mu[e]),
                                   ns_mul(g, w->Y[e], twice));
    }
    for (uint32_t i = 0; i < sigma; i++)
        for (uint32_t e = 0; e < m * m; e++)
            c->T[(size_t)i * m * m + e] = ns_sub(g, c->T[(size_t)i * m * m + e],
                                                 ns_mul(g, w->shape[i], Ts[e]));
}

/* One condition: coefficients of eta^a times unit/scale_a. */
static void condition(ns_parallel *c, const ns_ex *row, ns_ex unit)
{
    ns_graph *g = c->y->d->graph;
    for (uint32_t a = 0; a < c->m; a++)
        c->K[(size_t)c->rows * c->m + a] = ns_div(g, ns_mul(g, row[a], unit), c->scale[a]);
    c->rows++;
}

static void term(ns_parallel *c, ns_ex value)
{
    c->terms[c->n_terms++] = value;
}

/* A term of the curvature. */
static void add_term(ns_graph *g, ns_parallel *c, uint32_t at, ns_ex value)
{
    c->F[at] = ns_add(g, c->F[at], value);
    c->F_size[at] = ns_add(g, c->F_size[at], ns_abs(g, value));
}

static void add_state(ns_system *t, const char *name, ns_ex symbol, ns_ex rate_of)
{
    ns_system_add_state(t, NS_QUANTITY_OTHER, name, symbol, rate_of, "");
}

/* The equations of (4.12) and (6.15) along a straight line in z. */
static void make_carrier(ns_parallel *c, const ns_system *s)
{
    ns_graph *g = s->graph;
    const uint32_t m = c->m, dim = c->dim;
    ns_system *t = NS_NEW(s->arena, ns_system);
    t->description = s->description;
    t->arena = s->arena;
    t->graph = g;
    t->time = s->time;
    t->formulation = s->formulation;
    ns_ex *delta = NS_NEW_ARRAY(s->arena, ns_ex, dim + 1), trace = ns_zero(g);
    c->Phi = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)m * m);
    for (uint32_t i = 0; i < dim; i++)
        delta[i] = ns_symbol_new(g, "delta", NS_SYM_STATE, dim + i);
    for (uint32_t i = 0; i < m * m; i++)
        c->Phi[i] = ns_symbol_new(g,
                                  ns_arena_format(s->arena, "eta%u.%u", i % m + 1, i / m + 1),
                                  NS_SYM_STATE, 2 * dim + i);
    for (uint32_t i = 0; i < dim; i++)
        add_state(t, c->name[i], c->z[i], delta[i]);
    for (uint32_t i = 0; i < dim; i++)
        add_state(t, "delta", delta[i], ns_zero(g));
    for (uint32_t e = 0; e < m; e++)
        for (uint32_t f = 0; f < m; f++) {
            ns_ex rate_of_eta = ns_zero(g);
            for (uint32_t i = 0; i < dim; i++)
                for (uint32_t a = 0; a < m; a++)
                    rate_of_eta = ns_sub(
                        g, rate_of_eta,
                        ns_mul(g, ns_mul(g, c->T[((size_t)i * m + e) * m + a], delta[i]),
                               c->Phi[a * m + f]));
            const ns_ex symbol = c->Phi[e * m + f];
            const char *name = ns_graph_symbol(g, symbol)->name;
            add_state(t, name, symbol, rate_of_eta);
        }
    for (uint32_t i = 0; i < dim; i++)
        for (uint32_t a = 0; a < m; a++)
            trace = ns_sub(g, trace, ns_mul(g, c->T[((size_t)i * m + a) * m + a], delta[i]));
    const ns_ex log_W = ns_symbol_new(g, "lnW", NS_SYM_STATE, 2 * dim + m * m);
    add_state(t, "lnW", log_W, trace);
    c->carrier = ns_problem_new(t, false);
}

/* What bounds eta: the terms of (pp) and (r'r'), each in the common unit. */
static void make_conditions(ns_parallel *c, const rate *w, const ns_ex *shape)
{
    const ns_symmetry *y = c->y;
    ns_graph *g = y->d->graph;
    const uint32_t m = y->m, sigma = y->sigma;
    c->K = array(y, ((size_t)m * m + (size_t)sigma * sigma) * m);
    ns_ex *row = array(y, m);
    for (uint32_t e = 0; e < m; e++)
        for (uint32_t d = 0; d <= e; d++) {
            for (uint32_t a = 0; a < m; a++) {
                row[a] = y->Q[(a * m + e) * m + d];
                if (w->Y) {
                    const ns_ex *Ts = c->T + (size_t)sigma * m * m;
                    const ns_ex both = ns_add(g, ns_mul(g, Ts[e * m + a], w->Y[d]),
                                              ns_mul(g, Ts[d * m + a], w->Y[e]));
                    row[a] = ns_sub(g, row[a], ns_mul(g, ns_number(g, 0.5), both));
                }
            }
            condition(c, row, ns_mul(g, c->scale[e], c->scale[d]));
        }
    for (uint32_t i = 0; i < sigma; i++)
        for (uint32_t j = 0; j <= i; j++) {
            for (uint32_t a = 0; a < m; a++)
                row[a] = y->R[(a * sigma + i) * sigma + j];
            condition(c, row, ns_div(g, ns_one(g), ns_mul(g, shape[i], shape[j])));
        }
}

/* Curvature F_ij = d_i T_j - d_j T_i + T_i T_j - T_j T_i. */
static void make_curvature(ns_parallel *c, const ns_ex *shape)
{
    const ns_symmetry *y = c->y;
    ns_graph *g = y->d->graph;
    const uint32_t m = c->m, dim = c->dim, sigma = y->sigma;
    c->pairs = dim * (dim - (dim > 0)) / 2;
    c->F = array(y, (size_t)c->pairs * m * m);
    c->F_size = array(y, (size_t)c->pairs * m * m);
    for (uint32_t i = 0, at = 0; i < dim; i++)
        for (uint32_t j = 0; j < i; j++)
            for (uint32_t e = 0; e < m; e++)
                for (uint32_t a = 0; a < m; a++, at++) {
                    const ns_ex *Ti = c->T + (size_t)i * m * m, *Tj = c->T + (size_t)j * m * m;
                    ns_ex unit = ns_div(g, c->scale[e], c->scale[a]);
                    if (i < sigma)
                        unit = ns_div(g, unit, shape[i]);
                    if (j < sigma)
                        unit = ns_div(g, unit, shape[j]);
                    add_term(g, c, at, ns_mul(g, unit, ns_diff(g, Tj[e * m + a], c->z[i])));
                    add_term(g, c, at,
                             ns_neg(g, ns_mul(g, unit, ns_diff(g, Ti[e * m + a], c->z[j]))));
                    for (uint32_t b = 0; b < m; b++) {
                        const ns_ex ij = ns_mul(g, Ti[e * m + b], Tj[b * m + a]);
                        const ns_ex ji = ns_mul(g, Tj[e * m + b], Ti[b * m + a]);
                        add_term(g, c, at, ns_mul(g, unit, ij));
                        add_term(g, c, at, ns_neg(g, ns_mul(g, unit, ji)));
                    }
                }
}

/* What sizes are compared with: structure coefficients in the same units, then the terms. */
static void make_terms(ns_parallel *c, const ns_ex *shape)
{
    const ns_symmetry *y = c->y;
    ns_graph *g = y->d->graph;
    const uint32_t m = y->m, k = y->k, sigma = y->sigma;
    c->terms = array(y, (size_t)k * k * k + (size_t)m * m * m + (size_t)m * sigma * m +
                            (size_t)m * sigma * sigma);
    ns_ex *full = array(y, k);
    for (uint32_t A = 0; A < k; A++)
        full[A] = ns_sqrt(g, y->I[A * k + A]);
    for (uint32_t A = 0; A < k; A++)
        for (uint32_t B = 0; B < k; B++)
            for (uint32_t C = 0; C < k; C++)
                if (!ns_graph_is_zero(g, y->C[(A * k + B) * k + C]))
                    term(c, ns_div(g, ns_mul(g, y->C[(A * k + B) * k + C], full[C]),
                                   ns_mul(g, full[A], full[B])));
    c->n_structure = c->n_terms;
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t e = 0; e < m; e++)
            for (uint32_t d = 0; d < m; d++)
                term(c, ns_div(g,
                               ns_mul(g, y->Q[(a * m + e) * m + d],
                                      ns_mul(g, c->scale[e], c->scale[d])),
                               c->scale[a]));
    c->n_Q = c->n_terms;
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t i = 0; i < sigma; i++)
            for (uint32_t e = 0; e < m; e++)
                term(c, ns_div(g, ns_mul(g, y->tau[(a * sigma + i) * m + e], c->scale[e]),
                               ns_mul(g, c->scale[a], shape[i])));
    c->n_tau = c->n_terms;
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t i = 0; i < sigma; i++)
            for (uint32_t j = 0; j < sigma; j++)
                term(c, ns_div(g, y->R[(a * sigma + i) * sigma + j],
                               ns_mul(g, c->scale[a], ns_mul(g, shape[i], shape[j]))));
    c->n_D = c->n_terms;
}

/* The variables eta depends on, with their rates. */
static void make_variables(ns_parallel *c, const ns_system *s)
{
    const ns_symmetry *y = c->y;
    c->z = array(y, c->dim);
    c->dz = array(y, c->dim);
    c->name = NS_NEW_ARRAY(y->d->arena, const char *, c->dim + 1);
    for (uint32_t i = 0; i < c->dim; i++) {
        const ns_coordinate *q = &y->d->coordinates.at[i < y->sigma ? y->shape[i] : c->along];
        c->z[i] = q->q;
        c->dz[i] = in_states(s, q->v);
        c->name[i] = q->name;
    }
}

const ns_parallel *ns_momentum_connection(const ns_system *s, uint32_t along, const char **why)
{
    const ns_symmetry *y = s->symmetry;
    ns_graph *g = y->d->graph;
    const uint32_t m = y->m, sigma = y->sigma, group = along != UINT32_MAX;
    rate w = {0};
    if (m == 0) {
        *why = "the constraints leave no momentum: the system is purely kinematic";
        return NULL;
    }
    if (y->linear) {
        *why = "the momentum equation has terms other than those quadratic in p and r': the "
               "Lagrangian has gyroscopic terms, or the constraints are affine";
        return NULL;
    }
    if (group && !rate_of(y, along, &w, why))
        return NULL;
    ns_parallel *c = NS_NEW(y->d->arena, ns_parallel);
    *c = (ns_parallel){.y = y, .dim = sigma + group, .m = m, .along = along};
    make_variables(c, s);
    c->scale = array(y, m);
    ns_ex *shape = array(y, sigma);
    for (uint32_t a = 0; a < m; a++)
        c->scale[a] = ns_sqrt(g, y->IS[a * m + a]);
    for (uint32_t i = 0; i < sigma; i++)
        shape[i] = ns_sqrt(g, y->Gc[i * sigma + i]);
    c->T = array(y, (size_t)c->dim * m * m);
    for (uint32_t i = 0; i < sigma; i++)
        for (uint32_t a = 0; a < m; a++)
            for (uint32_t e = 0; e < m; e++)
                c->T[((size_t)i * m + e) * m + a] = y->tau[(a * sigma + i) * m + e];
    if (group)
        along_group(c, &w);
    make_conditions(c, &w, shape);
    make_curvature(c, shape);
    make_terms(c, shape);
    make_carrier(c, s);
    return c;
}
