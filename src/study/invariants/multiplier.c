/* Chaplygin's reducing multiplier: is a nonholonomic system Hamiltonian in another time?
 *
 * Constraints give the velocities of some coordinates, the fibre, by those of the others, the
 * base r; nothing depends on the fibre.  With the Lagrangian L_c(r, r') on the constraints and
 * p = dL_c/dr' the motion of the base is
 *
 *     p' - dL_c/dr = F(r, r'),     F.r' = 0.
 *
 * If there is a function N(r) with
 *
 *     F_a = (d log N/dr_a) (p.r') - (log N)' p_a                                         (*)
 *
 * then in the time tau, dtau = N dt, with momenta P = N p, the motion is that of the
 * Hamiltonian P.M^-1 P/(2 N^2) + V (Chaplygin 1911; Garcia-Naranjo and Marrero 2020: phi-simple
 * systems).  (*) implies, n the dimension of the base,
 *
 *     (log N)' = - tr(M^-1 dF/dr')/(n - 1)
 *
 * an expression, of which d log N/dr is the derivative by r'; then (*) is verified.  N^(n-1) is
 * the density of the invariant measure dr dp: for n = 2 a measure implies a multiplier, for
 * n > 2 it does not. */
#include "study/invariants/measure.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/subst.h"
#include "mech/grip.h"

enum { MOST = 8, POINTS = 12 };

static const double small = 1e-9; /* of the terms: rounding errors of exact expressions */

typedef struct work {
    const ns_system *s;
    const ns_dalembert *eq;
    ns_graph *g;
    ns_arena *arena;
    const double *p, *x0;
    uint32_t nq, m, n; /* coordinates, constraints, base */
    uint32_t base[MOST], fibre[MOST];
    ns_ex r[MOST], v[MOST];  /* base */
    ns_ex q[MOST], vs[MOST]; /* fibre, its velocities by those of the base */
    ns_ex L, momentum[MOST], acceleration[MOST];
    double *x; /* [states] a point */
} work;

/* A point near the start: coordinates and velocities moved, fibre velocities do not matter. */
static void random_point(const work *w, uint64_t *seed)
{
    for (uint32_t i = 0; i < w->s->states.n; i++) {
        const double scale = i < w->nq ? 0.3 * (fabs(w->x0[i]) + 0.5) : fabs(w->x0[i]) + 0.5;
        w->x[i] = w->x0[i] + scale * (2 * ns_eval_random(seed) - 1);
    }
}

static void eval(const work *w, const ns_ex *f, size_t n, double *out)
{
    ns_system_eval(w->s, f, n, 0, w->p, w->x, out);
}

/* vs = -A_s^-1 A_r v, and what is a function of base and fibre: L, accelerations, momenta. */
static void build(work *w)
{
    ns_graph *g = w->g;
    const uint32_t m = w->m, n = w->n, nq = w->nq;
    ns_ex *A = NS_NEW_ARRAY(w->arena, ns_ex, (size_t)m * m + 1), b[MOST], from[MOST];
    for (uint32_t a = 0; a < n; a++) {
        w->r[a] = w->eq->q[w->base[a]];
        w->v[a] = w->eq->v[w->base[a]];
    }
    for (uint32_t k = 0; k < m; k++) {
        w->q[k] = w->eq->q[w->fibre[k]];
        from[k] = w->eq->v[w->fibre[k]];
        b[k] = ns_zero(g);
        for (uint32_t j = 0; j < m; j++)
            A[k * m + j] = w->eq->A[k * nq + w->fibre[j]];
        for (uint32_t a = 0; a < n; a++)
            b[k] = ns_sub(g, b[k], ns_mul(g, w->eq->A[k * nq + w->base[a]], w->v[a]));
    }
    ns_solve(g, m, A, b, w->vs);
    w->L = ns_subst_one(g, w->eq->lagrangian, from, w->vs, m);
    for (uint32_t a = 0; a < n; a++)
        w->acceleration[a] = ns_subst_one(g, w->s->states.at[nq + w->base[a]].rate, from, w->vs,
                                          m);
    ns_diff_gradient(g, w->L, w->v, n, w->momentum);
}

/* Do L and the accelerations depend on the fibre?  Their derivatives along it, relative;
 * infinite if the constraints do not give its velocities. */
static double depends(const work *w)
{
    const uint32_t n = w->n, m = w->m, rows = n + 1;
    ns_ex f[MOST + 1], *J = NS_NEW_ARRAY(w->arena, ns_ex, (size_t)rows * (m + n) + 1);
    double worst = 0, out[(MOST + 1) * MOST], size[(MOST + 1) * MOST];
    ns_ex *own = J + (size_t)rows * m;
    f[n] = w->L;
    memcpy(f, w->acceleration, n * sizeof *f);
    ns_diff_jacobian(w->g, f, rows, w->q, m, J);
    ns_diff_jacobian(w->g, f, rows, w->v, n, own);
    uint64_t seed = 1911;
    for (int point = 0; point < POINTS; point++) {
        random_point(w, &seed);
        eval(w, J, (size_t)rows * m, out);
        eval(w, own, (size_t)rows * n, size);
        for (uint32_t i = 0; i < rows; i++) {
            double scale = 1e-300;
            for (uint32_t a = 0; a < n; a++)
                scale += fabs(size[i * n + a]);
            for (uint32_t k = 0; k < m; k++)
                if (!(fabs(out[i * m + k]) / (scale + 1e-6) <= worst))
                    worst = isfinite(out[i * m + k]) ? fabs(out[i * m + k]) / (scale + 1e-6)
                                                     : INFINITY;
        }
    }
    return worst;
}

/* The set of coordinates in the bits as base; false if it has not the right number. */
static bool take(work *w, uint32_t bits)
{
    uint32_t n = 0, m = 0;
    for (uint32_t i = 0; i < w->nq; i++) {
        if (bits >> i & 1)
            w->base[n++ % MOST] = i;
        else
            w->fibre[m++ % MOST] = i;
    }
    w->n = n;
    return m == w->m;
}

/* Looks for a base: coordinates that close among themselves. */
static const char *find_base(work *w)
{
    for (uint32_t bits = 1; bits < 1u << w->nq; bits++) {
        if (!take(w, bits))
            continue;
        build(w);
        if (depends(w) < small)
            return NULL;
    }
    return "no choice of coordinates moves by itself: not a Chaplygin system in these";
}

static const char *choose(work *w, const uint32_t *base, uint32_t n_base)
{
    const ns_system *s = w->s;
    w->eq = ns_lagrange_equations(s);
    if (!w->eq)
        return "written with coordinates (formulation `lagrange`) it would be looked for";
    w->nq = w->eq->n;
    w->m = w->eq->m;
    if (!w->m || w->eq->grips)
        return w->m ? "contacts with friction" : "there are no constraints";
    if (w->eq->n_forces || !s->conservative)
        return "forces do work";
    if (w->eq->holonomic || w->eq->tree || w->nq > MOST)
        return w->eq->holonomic ? "there are constraints on positions: use free coordinates"
                                : "too many coordinates";
    if (w->nq - w->m < 2)
        return "one base coordinate: every such system is Hamiltonian";
    for (uint32_t k = 0; k < w->m; k++)
        if (!w->eq->rest || !ns_graph_is_zero(w->g, w->eq->rest[k]))
            return "constraints have terms without velocities";
    if (!n_base)
        return find_base(w);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < n_base; i++)
        bits |= 1u << base[i];
    if (!take(w, bits))
        return "the base must have as many coordinates as the constraints leave free";
    build(w);
    return depends(w) < small ? NULL
                              : "the motion of this base depends on the other coordinates";
}

/* F_a = dp_a/dt - dL_c/dr_a on the motion; the terms of it into size. */
static void forces(const work *w, ns_ex *F, ns_ex *size)
{
    ns_graph *g = w->g;
    const uint32_t n = w->n, m = w->m;
    ns_ex from[3 * MOST], to[3 * MOST], rate[MOST], slope[MOST];
    for (uint32_t a = 0; a < n; a++) {
        from[a] = w->r[a];
        to[a] = w->v[a];
        from[n + a] = w->v[a];
        to[n + a] = w->acceleration[a];
    }
    for (uint32_t k = 0; k < m; k++) {
        from[2 * n + k] = w->q[k];
        to[2 * n + k] = w->vs[k];
    }
    ns_diff_along(g, w->momentum, n, from, to, 2 * n + m, rate);
    ns_diff_gradient(g, w->L, w->r, n, slope);
    for (uint32_t a = 0; a < n; a++) {
        F[a] = ns_sub(g, rate[a], slope[a]);
        size[a] = ns_add(g, ns_abs(g, rate[a]), ns_abs(g, slope[a]));
    }
}

/* -tr(M^-1 dF/dv)/(n - 1) */
static ns_ex find_rate(const work *w, const ns_ex *F)
{
    ns_graph *g = w->g;
    const uint32_t n = w->n;
    ns_ex M[MOST * MOST], D[MOST * MOST], column[MOST], x[MOST], sum = ns_zero(g);
    ns_diff_jacobian(g, w->momentum, n, w->v, n, M);
    ns_diff_jacobian(g, F, n, w->v, n, D);
    for (uint32_t c = 0; c < n; c++) {
        for (uint32_t a = 0; a < n; a++)
            column[a] = D[a * n + c];
        ns_solve(g, n, M, column, x);
        sum = ns_add(g, sum, x[c]);
    }
    return ns_div(g, ns_neg(g, sum), ns_integer(g, (int64_t)n - 1));
}

/* Largest |value| over largest size, over all points. */
typedef struct ratio {
    double off, size;
} ratio;

static void look(ratio *r, double off, double size)
{
    r->off = !(fabs(off) <= r->off) ? fabs(off) : r->off;
    r->size = ns_max(r->size, fabs(size));
}

static double value_of(const ratio *r)
{
    return r->size > 0 ? r->off / r->size : r->off;
}

static void verify(const work *w, ns_multiplier *out, const ns_ex *F, const ns_ex *size,
                   ns_ex given)
{
    ns_graph *g = w->g;
    const uint32_t n = w->n;
    ns_ex h[MOST], d[MOST * MOST], f[5 * MOST + 2];
    ns_ex along = ns_zero(g);
    ns_diff_gradient(g, out->rate, w->v, n, h);
    ns_diff_jacobian(g, h, n, w->r, n, d);
    if (given) {
        ns_ex slope[MOST], fibre[MOST];
        ns_diff_gradient(g, ns_log(g, given), w->r, n, slope);
        ns_diff_gradient(g, ns_log(g, given), w->q, w->m, fibre);
        for (uint32_t a = 0; a < n; a++)
            along = ns_add(g, along, ns_mul(g, slope[a], w->v[a]));
        for (uint32_t k = 0; k < w->m; k++)
            along = ns_add(g, along, ns_mul(g, fibre[k], w->vs[k]));
    }
    for (uint32_t a = 0; a < n; a++) {
        f[a] = F[a];
        f[n + a] = size[a];
        f[2 * n + a] = h[a];
        f[3 * n + a] = w->momentum[a];
        f[4 * n + a] = w->v[a];
    }
    f[5 * n] = out->rate;
    f[5 * n + 1] = along;
    ratio force = {0}, linear = {0}, closed = {0}, condition = {0}, same = {0};
    uint64_t seed = 2005;
    for (int point = 0; point < POINTS; point++) {
        double y[5 * MOST + 2], z[MOST], e[MOST * MOST], twice = 0;
        random_point(w, &seed);
        eval(w, f, 5 * n + 2, y);
        eval(w, d, (size_t)n * n, e);
        for (uint32_t a = 0; a < n; a++)
            twice += y[3 * n + a] * y[4 * n + a];
        for (uint32_t a = 0; a < n; a++) {
            look(&force, y[a], y[n + a]);
            const double s = y[2 * n + a] * twice, t = y[5 * n] * y[3 * n + a];
            look(&condition, y[a] - s + t, fabs(s) + fabs(t) + fabs(y[a]));
            for (uint32_t b = 0; b < n; b++)
                look(&closed, e[a * n + b] - e[b * n + a],
                     fabs(e[a * n + b]) + fabs(e[b * n + a]) + fabs(y[2 * n + a]));
        }
        look(&same, y[5 * n + 1] - y[5 * n], fabs(y[5 * n]) + fabs(y[5 * n + 1]));
        for (uint32_t i = 0; i < w->nq; i++) /* the same place, other velocities */
            w->x[w->nq + i] += 0.7 * (2 * ns_eval_random(&seed) - 1);
        eval(w, h, n, z);
        for (uint32_t a = 0; a < n; a++)
            look(&linear, z[a] - y[2 * n + a], fabs(z[a]) + fabs(y[2 * n + a]));
    }
    out->force = value_of(&force);
    out->linear = value_of(&linear);
    out->closed = value_of(&closed);
    out->condition = value_of(&condition);
    out->given = given ? value_of(&same) : NAN;
}

ns_multiplier *ns_multiplier_new(const ns_system *s, const uint32_t *base, uint32_t n_base,
                                 ns_ex given, const double *p, const double *x0)
{
    work w = {.s = s, .g = s->graph, .arena = s->arena, .p = p, .x0 = x0};
    ns_multiplier *out = NS_NEW(s->arena, ns_multiplier);
    ns_ex F[MOST], size[MOST];
    w.x = NS_NEW_ARRAY(s->arena, double, s->states.n + 1);
    out->given = NAN;
    out->why = choose(&w, base, n_base);
    if (out->why)
        return out;
    out->n = w.n;
    out->base = ns_arena_copy(s->arena, w.base, w.n * sizeof *w.base);
    forces(&w, F, size);
    out->rate = find_rate(&w, F);
    verify(&w, out, F, size, given);
    out->trivial = out->force < small;
    out->measure = out->trivial || (out->linear < small && out->closed < small);
    out->exists = out->trivial || (out->measure && out->condition < small);
    return out;
}
