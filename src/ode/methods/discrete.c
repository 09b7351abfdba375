/* discrete: one step of discrete mechanics, of order 2, time-symmetric, constant length.
 *
 * Equations as a formulation gives them (mech/system.h):
 *
 *     q' = U(t, q, v),   P(t, q, v)' = G(t, q, v) + A(t, q)^T lambda,   psi(t, q, v) = 0
 *
 * Between two nodes the motion has the place qm = (q0 + q1)/2 and the velocity w, at the time
 * tm = t0 + h/2; forces of constraint act at the nodes:
 *
 *     q1 - q0 = h U(tm, qm, w),       psi(tm, qm, w) = 0   (of a position: phi(t1, q1) = 0)
 *     P(tm, qm, w) - h/2 G(tm, qm, w) = P(t0, q0, v0) + A(t0, q0)^T lambda            (1)
 *     P(t1, q1, v1) = P(tm, qm, w) + h/2 G(tm, qm, w) + A(t1, q1)^T mu,
 *     psi(t1, q1, v1) = 0                                                             (2)
 *
 * In `lagrange` U = v, P = dL/dv, G = dL/dq + F: with L_d(q0, q1) = h L(qm, (q1 - q0)/h), (1)
 * and (2) of the step before are
 *
 *     D2 L_d(q0, q1) + D1 L_d(q1, q2) = forces of constraint at q1
 *
 * the discrete Lagrange-d'Alembert equations (Cortes and Martinez 2001); the velocity at the
 * node is the one in between that obeys the constraints (McLachlan and Perlmutter 2006).
 * Without constraints this is a variational integrator: symplectic, and momenta of symmetries
 * that are linear in q are kept to round-off.
 *
 * In `hamel` v are quasivelocities on the fields u_i that the constraints allow, P = dl/dv and
 * G = u[l] + dl/dv.[v, u]: the discrete Hamel equations (Ball and Zenkov 2015, with tau = 1/2).
 * No multiplier is left, and the frame is part of the method.
 *
 * (1) is solved for (q1 - q0, w, lambda), (2) for (v1, mu), by Newton's method with exact
 * derivatives, to round-off. */
#include <float.h>

#include "base/math/vecmath.h"
#include "ode/stepper.h"

#define NS_LU_REAL double
#define NS_LU_ABS fabs
#define NS_LU_NAME(name) discrete_##name
#include "expr/lu.inc"

enum { ROUNDS = 50 };
#define NEAR 1e-9 /* changes below that no longer fall are round-off */

typedef struct kept {
    double h, from; /* of the last step; h = 0: none yet */
    double unused[6];
} kept;

typedef struct discrete {
    kept *k;
    double *f0, *f1;       /* [n] rates at the ends of the last step */
    double *pieces, *ends; /* of the programs: in the middle, and at an end */
    double *x, *z, *r, *K; /* [n] where they are; unknowns, residuals, Jacobian */
    double *A0, *P0, *x_new, *x_new_lo;
    double *work, *work_rhs;
    unsigned *pivot;
} discrete;

static void layout(ns_stepper *s, ns_layout *kept_arrays, ns_layout *scratch)
{
    discrete *d = s->view;
    const ns_balance *e = s->problem->balance;
    const size_t all = (size_t)e->nq + e->nv + e->m, out = ns_program_nout(s->problem->pieces);
    d->k = ns_layout_take(kept_arrays, 1, sizeof *d->k);
    NS_LAYOUT_EACH(kept_arrays, s->n, &d->f0, &d->f1);
    NS_LAYOUT_EACH(scratch, out, &d->pieces, &d->ends);
    NS_LAYOUT_EACH(scratch, s->n, &d->x, &d->x_new, &d->x_new_lo);
    NS_LAYOUT_EACH(scratch, all, &d->z, &d->r);
    d->K = ns_layout_doubles(scratch, all * all);
    d->A0 = ns_layout_doubles(scratch, (size_t)e->m * e->nv);
    d->P0 = ns_layout_doubles(scratch, e->nv);
    d->work = ns_layout_doubles(scratch, ns_program_work1(s->problem->pieces));
    d->work_rhs = ns_layout_doubles(scratch, ns_program_work1(s->problem->rhs));
    d->pivot = ns_layout_take(scratch, all, sizeof *d->pivot);
}

/* Where things are among the pieces. */
typedef struct view {
    const double *U, *P, *G, *psi, *phi;
    const double *dU, *dP, *dG, *dpsi, *dphi; /* by rows of n */
    const double *A;
} view;

static view look(const ns_stepper *s, const double *out)
{
    const ns_balance *e = s->problem->balance;
    const size_t n = s->n, rows = (size_t)e->nq + 2 * (size_t)e->nv + 2 * (size_t)e->m;
    const double *J = out + rows;
    view v = {.U = out, .dU = J, .A = J + rows * n};
    v.P = v.U + e->nq;
    v.G = v.P + e->nv;
    v.psi = v.G + e->nv;
    v.phi = v.psi + e->m;
    v.dP = v.dU + e->nq * n;
    v.dG = v.dP + e->nv * n;
    v.dpsi = v.dG + e->nv * n;
    v.dphi = v.dpsi + e->m * n;
    return v;
}

static view evaluate(ns_stepper *s, const discrete *d, double t, const double *x, double *out)
{
    s->now.evaluations++;
    ns_program_eval1(s->problem->pieces, d->work, t, x, out);
    return look(s, out);
}

static ns_status begin(ns_stepper *s)
{
    const discrete d = *(const discrete *)s->view;
    memset(d.k, 0, sizeof *d.k);
    ns_program_bind1(s->problem->rhs, d.work_rhs, s->p);
    ns_program_bind1(s->problem->pieces, d.work, s->p);
    ns_stepper_rhs(s, d.work_rhs, s->now.t, s->x, d.f1);
    s->now.h = s->fixed_step;
    return NS_OK;
}

/* Residuals and Jacobian of (1) at z = (q1 - q0, w, lambda). */
static void first(ns_stepper *s, const discrete *d, double t, double h)
{
    const ns_balance *e = s->problem->balance;
    const uint32_t nq = e->nq, nv = e->nv, m = e->m, n = s->n, all = nq + nv + m;
    const double *lambda = d->z + nq + nv;
    bool ends = false;
    for (uint32_t i = 0; i < n; i++)
        d->x[i] = i < nq ? s->x[i] + d->z[i] / 2 : d->z[i];
    const view y = evaluate(s, d, t + h / 2, d->x, d->pieces);
    for (uint32_t k = 0; k < m; k++)
        ends = ends || e->phi[k];
    for (uint32_t i = 0; i < nq; i++)
        d->x[i] = s->x[i] + d->z[i];
    const view z = ends ? evaluate(s, d, t + h, d->x, d->ends) : y;
    memset(d->K, 0, (size_t)all * all * sizeof(double));
    for (uint32_t i = 0; i < nq; i++) {
        double *row = d->K + (size_t)i * all;
        d->r[i] = d->z[i] - h * y.U[i];
        for (uint32_t j = 0; j < n; j++)
            row[j] = -(j < nq ? h / 2 : h) * y.dU[(size_t)i * n + j];
        row[i] += 1;
    }
    for (uint32_t i = 0; i < nv; i++) {
        double *row = d->K + (size_t)(nq + i) * all, pull = 0;
        for (uint32_t k = 0; k < m; k++) {
            pull += d->A0[k * nv + i] * lambda[k];
            row[n + k] = -d->A0[k * nv + i];
        }
        d->r[nq + i] = y.P[i] - h / 2 * y.G[i] - d->P0[i] - pull;
        for (uint32_t j = 0; j < n; j++)
            row[j] = (j < nq ? 0.5 : 1) *
                     (y.dP[(size_t)i * n + j] - h / 2 * y.dG[(size_t)i * n + j]);
    }
    for (uint32_t k = 0; k < m; k++) {
        double *row = d->K + (size_t)(n + k) * all;
        const bool place = e->phi[k];
        d->r[n + k] = place ? z.phi[k] / h : y.psi[k];
        for (uint32_t j = 0; j < n; j++)
            row[j] = place    ? (j < nq ? z.dphi[(size_t)k * n + j] / h : 0)
                     : j < nq ? y.dpsi[(size_t)k * n + j] / 2
                              : y.dpsi[(size_t)k * n + j];
    }
}

/* The same of (2) at z = (v1, mu), with the momentum P0 and the place in x. */
static void second(ns_stepper *s, const discrete *d, double t)
{
    const ns_balance *e = s->problem->balance;
    const uint32_t nq = e->nq, nv = e->nv, m = e->m, n = s->n, all = nv + m;
    memcpy(d->x + nq, d->z, nv * sizeof(double));
    const view y = evaluate(s, d, t, d->x, d->ends);
    memset(d->K, 0, (size_t)all * all * sizeof(double));
    for (uint32_t i = 0; i < nv; i++) {
        double *row = d->K + (size_t)i * all, pull = 0;
        for (uint32_t k = 0; k < m; k++) {
            pull += y.A[k * nv + i] * d->z[nv + k];
            row[nv + k] = -y.A[k * nv + i];
        }
        d->r[i] = y.P[i] - d->P0[i] - pull;
        memcpy(row, y.dP + (size_t)i * n + nq, nv * sizeof(double));
    }
    for (uint32_t k = 0; k < m; k++) {
        d->r[nv + k] = y.psi[k];
        memcpy(d->K + (size_t)(nv + k) * all, y.dpsi + (size_t)k * n + nq, nv * sizeof(double));
    }
}

/* One correction of z[all]; its size relative to z, in the parts [0, nq) and [nq, n): lengths
 * and velocities are not compared. */
static double correct(const discrete *d, uint32_t all, uint32_t nq, uint32_t n)
{
    double change[2] = {0}, size[2] = {0};
    discrete_factor(all, d->K, d->pivot);
    discrete_solve(all, d->K, d->pivot, d->r);
    if (!ns_stepper_finite(d->r, all))
        return NAN;
    for (uint32_t i = 0; i < all; i++) {
        d->z[i] -= d->r[i];
        if (i >= n)
            continue;
        change[i >= nq] = ns_max(change[i >= nq], fabs(d->r[i]));
        size[i >= nq] = ns_max(size[i >= nq], fabs(d->z[i]));
    }
    double off = 0;
    for (int part = 0; part < 2; part++)
        if (change[part] > 0)
            off = ns_max(off, change[part] / ns_max(size[part], change[part]));
    return off;
}

/* Newton's method for (1), if h is not 0, or (2). */
static bool settle(ns_stepper *s, const discrete *d, double t, double h)
{
    const ns_balance *e = s->problem->balance;
    const uint32_t nq = h != 0 ? e->nq : 0, n = nq + e->nv;
    double before = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        if (h != 0)
            first(s, d, t, h);
        else
            second(s, d, t);
        const double off = correct(d, n + e->m, nq, n);
        if (isnan(off))
            break;
        if (off <= DBL_EPSILON || (off < NEAR && off > before / 2))
            return true;
        before = off;
    }
    s->why = NS_WHY_ITERATION;
    return false;
}

static ns_status step(ns_stepper *s)
{
    const discrete d = *(const discrete *)s->view;
    const ns_balance *e = s->problem->balance;
    const uint32_t nq = e->nq, nv = e->nv, n = s->n;
    const double t = s->now.t, h = ns_stepper_clip(s, s->now.h);
    if (ns_stepper_too_small(s, h))
        return ns_stepper_give_up(s);
    if (s->now.moved)
        ns_stepper_rhs(s, d.work_rhs, t, s->x, d.f1);
    view y = evaluate(s, &d, t, s->x, d.ends);
    memcpy(d.P0, y.P, nv * sizeof(double));
    memcpy(d.A0, y.A, (size_t)e->m * nv * sizeof(double));
    memset(d.z, 0, ((size_t)n + e->m) * sizeof(double));
    for (uint32_t i = 0; i < n; i++)
        d.z[i] = i < nq ? h * y.U[i] : s->x[i];
    if (!settle(s, &d, t, h))
        return NS_STOP_SINGULAR;
    /* x = (q1, .), P0 = P + h/2 G in the middle */
    for (uint32_t i = 0; i < n; i++)
        d.x[i] = i < nq ? s->x[i] + d.z[i] / 2 : d.z[i];
    y = evaluate(s, &d, t + h / 2, d.x, d.pieces);
    for (uint32_t i = 0; i < nv; i++)
        d.P0[i] = y.P[i] + h / 2 * y.G[i];
    for (uint32_t i = 0; i < nq; i++) {
        d.x_new[i] = s->x[i];
        d.x_new_lo[i] = s->x_lo[i];
        ns_add_compensated(&d.x_new[i], &d.x_new_lo[i], d.z[i], 0);
        d.x[i] = d.x_new[i];
    }
    for (uint32_t i = 0; i < nv; i++)
        d.z[i] = 2 * d.z[nq + i] - s->x[nq + i];
    memset(d.z + nv, 0, e->m * sizeof(double));
    if (!settle(s, &d, t + h, 0))
        return NS_STOP_SINGULAR;
    for (uint32_t i = 0; i < nv; i++) {
        d.x_new[nq + i] = d.z[i];
        d.x_new_lo[nq + i] = 0;
    }
    *d.k = (kept){.h = h, .from = t};
    memcpy(d.f0, d.f1, n * sizeof(double));
    ns_stepper_rhs(s, d.work_rhs, t + h, d.x_new, d.f1);
    ns_stepper_accept(s, h, d.x_new, d.x_new_lo);
    s->now.h = s->fixed_step;
    s->why = NS_WHY_NONE;
    return NS_OK;
}

/* Between the nodes: the cubic through both states with their rates. */
static double between(const ns_stepper *s, const discrete *d, double u, uint32_t i)
{
    const double h = d->k->h, D = s->x[i] - s->x0[i];
    const double a = h * d->f0[i] - D, b = D - h * d->f1[i];
    return s->x0[i] + u * (D + (1 - u) * ((1 - u) * a + u * b));
}

static void state_at(ns_stepper *s, double t, double *x)
{
    const discrete d = *(const discrete *)s->view;
    const double u = (t - d.k->from) / d.k->h;
    for (uint32_t i = 0; i < s->n; i++)
        x[i] = between(s, &d, u, i);
}

static void sample(ns_stepper *s, const double *tau, double *x)
{
    const discrete d = *(const discrete *)s->view;
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t j = 0; j < 8; j++)
            x[8 * i + j] = between(s, &d, tau[j], i);
}

const ns_method ns_method_discrete = {
    .name = "discrete",
    .summary = "discrete Lagrange-d'Alembert and discrete Hamel equations, constant steps",
    .doc =
        "Order 2, time-symmetric, steps of the length `step` of `run { }`.  In `lagrange`:\n"
        "the discrete Lagrange-d'Alembert equations of the midpoint Lagrangian, constraints\n"
        "held between the nodes and at them; without constraints a variational integrator,\n"
        "which is symplectic.  In `hamel`: the discrete Hamel equations in the model's frame.\n"
        "\n"
        "Use it to study discrete mechanics, and where many coarse steps must keep the\n"
        "character of a motion; for accuracy the other methods are far cheaper.\n"
        "\n"
        "Sources: J. Cortes, S. Martinez, Non-holonomic integrators, Nonlinearity 14 (2001);\n"
        "R. McLachlan, M. Perlmutter, Integrators for nonholonomic mechanical systems,\n"
        "J. Nonlinear Sci. 16 (2006); K. Ball, D. Zenkov, Hamel's formalism and variational\n"
        "integrators (2015).\n",
    .order = 2,
    .needs_balance = true,
    .exact_restart = true,
    .lanes = 1,
    .interpolates = true,
    .drive_order = 4,
    .drive_part = 0.5,
    .price = {.step = 5000, .state = 2, .digits = 1, .least = 1},
    .default_tolerance = 1e-14,
    .least_tolerance = 1e-15,
    .view = sizeof(discrete),
    .layout = layout,
    .begin = begin,
    .step = step,
    .state_at = state_at,
    .sample = sample,
};
