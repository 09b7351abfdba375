/* The geometry of a symmetric system on shape space (Bloch, Marsden and Zenkov 2009, sections
 * 2.5, 4.1, 4.2).
 *
 * By invariance l(r, r', xi) = L(r, g, r', xi^A E_A(g)) does not depend on g: it is evaluated
 * at one point of the group.  With the kinetic energy (4.5),
 *     G_ab r'r' + 2 K_aA r' xi^A + I_AB xi^A xi^B,
 * the constraints N_A xi^A + N_alpha r'^alpha = 0 and a frame e_A(r), N e_a = 0 for a <= m:
 *
 *     A^a' :  N_b' A_alpha^b' = N_alpha                                            (4.1)
 *     A^a  =  I_S^-1 (K_S - I_SU A^U)                                              Def 4.2
 *     Lambda_a'alpha = K_alpha a' - I_a'A A_alpha^A
 *     [e_A, e_B] = C_AB^C e_C,   d e_A/dr^alpha = gamma_Aalpha^B e_B                (2.16)
 *     B_ab^C = d_b A_a^C - d_a A_b^C + C_AB^C A_a^A A_b^B                           after
 *     (2.17), sign corrected
 *              + gamma_Ab^C A_a^A - gamma_Aa^C A_b^A                                 (2.19),
 *              (4.11)
 *     E_alpha b^C = gamma_b alpha^C - C_Ab^C A_alpha^A                               (2.18)
 *
 * and with J = I_US I_S^-1, Omega = I_S^-1 p, P = (p, J p + Lambda r') the momentum equation
 *
 *     p'_a = C_ba^C Omega^b P_C + E_alpha a^C P_C r'^alpha                           (4.3),
 *     (4.7) corrected
 *          = Q_a^cd p_c p_d + tau_a alpha^c p_c r'^alpha + R_a alpha beta r'^alpha r'^beta
 *          (4.10), (4.11)
 *
 * Terms of l linear in the velocities, gr r' + b_A xi^A (gyroscopic forces), and affine
 * constraints N_A xi^A + N_alpha r'^alpha + beta = 0 add given parts: Omega^a' = w^a' with
 * N_U w = -beta, p_a = (I_S Omega)_a + base_a, P_a' = J p + Lambda r' + rise, and the sums over
 * b in (4.2), (4.3) run over all of Omega.
 *
 * Without constraints m = k: A is the mechanical connection (Def 2.4) and these are
 * (2.13)-(2.15). */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/subst.h"
#include "mech/common/dense.h"
#include "mech/common/lean.h"
#include "mech/reduced/symmetry_internal.h"

/* ---- what the model gives, at one point of the group ------------------------------------- */

typedef struct raw {
    ns_ex *G, *K, *I; /* in the basis E: [sigma][sigma], [sigma][k], [k][k] */
    ns_ex *N, *Nr;    /* [constraints][k], [constraints][sigma] */
    ns_ex *beta;      /* [constraints] */
    ns_ex *linear;    /* [sigma + k] terms of l linear in r', xi */
    double *N_start;  /* [constraints][k] numbers at the start */
} raw;

static bool metric(ns_symmetry *y, raw *w)
{
    ns_graph *g = y->d->graph;
    const uint32_t n = y->n, k = y->k, sigma = y->sigma;
    ns_ex *v = array(y, n), *rate = array(y, n);
    for (uint32_t i = 0; i < sigma; i++)
        v[i] = rate[y->shape[i]] = y->dr[i];
    for (uint32_t A = 0; A < k; A++)
        v[sigma + A] = ns_symbol_new(g, ns_arena_format(y->d->arena, "xi%u", A + 1),
                                     NS_SYM_LOCAL, A);
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t A = 0; A < k; A++)
            add2(g, &rate[y->group[i]], v[sigma + A], y->E[A * n + y->group[i]]);
    ns_ex l = ns_subst_one(g, y->d->lagrangian, y->dq, rate, n), rest;
    l = ns_subst_one(g, l, y->from, y->to, y->n_from);
    ns_ex *M = array(y, (size_t)n * n);
    if (!ns_subst_collect_quadratic(g, l, v, n, M, w->linear, &rest)) {
        ns_diag_error(y->d->diag, y->d->lagrangian_span,
                      "with a symmetry the Lagrangian must be kinetic minus potential energy: "
                      "quadratic in the velocities, perhaps with linear terms");
        return false;
    }
    y->linear = y->affine;
    for (uint32_t i = 0; i < n; i++) {
        if (ns_graph_is_zero(g, w->linear[i]) || ns_eval_vanishes(g, w->linear[i], 0))
            w->linear[i] = ns_zero(g);
        else
            y->linear = true;
    }
    y->V = ns_neg(g, rest);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            if (i < sigma && j < sigma)
                w->G[i * sigma + j] = M[i * n + j];
            else if (i < sigma)
                w->K[i * k + j - sigma] = M[i * n + j];
            else if (j >= sigma)
                w->I[(i - sigma) * k + j - sigma] = M[i * n + j];
        }
    for (uint32_t s = 0; s < y->constraints; s++) {
        for (uint32_t i = 0; i < sigma; i++)
            w->Nr[s * sigma + i] = y->rows[s * n + y->shape[i]];
        for (uint32_t A = 0; A < k; A++)
            for (uint32_t i = 0; i < k; i++)
                add2(g, &w->N[s * k + A], y->rows[s * n + y->group[i]],
                     y->E[A * n + y->group[i]]);
    }
    ns_subst(g, w->N, (size_t)y->constraints * k, y->from, y->to, y->n_from, w->N);
    ns_subst(g, w->Nr, (size_t)y->constraints * sigma, y->from, y->to, y->n_from, w->Nr);
    ns_subst(g, y->rest, y->constraints, y->from, y->to, y->n_from, w->beta);
    ns_subst(g, y->C0, (size_t)k * k * k, y->from, y->to, y->n_from, y->C0);
    return true;
}

/* D + V = TQ: the constraints, on vertical velocities, are independent. */
static bool principal_case(ns_symmetry *y, raw *w)
{
    const uint32_t p = y->constraints, k = y->k;
    double *N = NS_NEW_ARRAY(y->d->arena, double, (size_t)p * k + 1);
    double *sigma = NS_NEW_ARRAY(y->d->arena, double, p + 1);
    w->N_start = NS_NEW_ARRAY(y->d->arena, double, (size_t)p * k + 1);
    y->principal = 1;
    uint64_t seed = 1996;
    for (uint32_t point = 0; p && point < NS_SYMMETRY_POINTS; point++) {
        const ns_ex *symbol;
        const double *value;
        uint32_t count;
        ns_symmetry_point(y, point, &seed, &symbol, &value, &count);
        ns_eval(y->d->graph, w->N, (size_t)p * k, symbol, value, count, N);
        if (!point)
            memcpy(w->N_start, N, sizeof(double) * p * k);
        bool defined = p <= k;
        for (uint32_t s = 0; s < p; s++) { /* rows of unit length: units do not matter */
            const double size = ns_dense_unit(k, N + s * k);
            defined = defined && isfinite(size);
        }
        if (p > k)
            y->principal = 0;
        if (!defined)
            continue;
        ns_dense_svd(y->d->arena, p, k, N, sigma, NULL);
        y->principal = ns_min(y->principal, sigma[p - 1]);
    }
    if (y->principal > 1e-10)
        return true;
    ns_diag_error(y->d->diag, y->block->span,
                  "the dimension assumption fails: constraints and orbits do not span all "
                  "velocities (smallest singular value %.2g), so the constraints restrict the "
                  "shape alone; give the group fewer constraints or a larger part of the "
                  "coordinates",
                  y->principal);
    return false;
}

/* ---- the frame e_A(r) -------------------------------------------------------------------- */

/* Which `rows` of the k directions a matrix determines: its pivots, with numbers M[rows][k] at
 * the start.  Entries that are numbers in `as` count for more: a frame built on them does not
 * end where a function has a zero. */
static bool pivots(const ns_symmetry *y, double *M, const ns_ex *as, uint32_t rows,
                   bool *dependent)
{
    const uint32_t k = y->k;
    uint32_t *order = NS_NEW_ARRAY(y->d->arena, uint32_t, rows + 1);
    for (uint32_t s = 0; s < rows; s++)
        order[s] = s;
    for (uint32_t s = 0; s < rows; s++) {
        uint32_t row = s, column = 0;
        double most = 0, value;
        for (uint32_t i = s; i < rows; i++)
            for (uint32_t j = 0; j < k; j++) {
                const double weight =
                    ns_graph_is_number(y->d->graph, as[order[i] * k + j], &value) ? 1000 : 1;
                /* among equals the last: later members of a basis complete it */
                if (!dependent[j] && weight * fabs(M[i * k + j]) > most * (1 - 1e-9)) {
                    most = ns_max(most, weight * fabs(M[i * k + j]));
                    row = i;
                    column = j;
                }
            }
        if (!(most > 1e-12) || dependent[column])
            return false;
        for (uint32_t j = 0; j < k; j++) {
            const double swap = M[s * k + j];
            M[s * k + j] = M[row * k + j];
            M[row * k + j] = swap;
        }
        const uint32_t swap = order[s];
        order[s] = order[row];
        order[row] = swap;
        dependent[column] = true;
        for (uint32_t i = s + 1; i < rows; i++) {
            const double factor = M[i * k + column] / M[s * k + column];
            for (uint32_t j = 0; j < k; j++)
                M[i * k + j] -= factor * M[s * k + j];
        }
    }
    return true;
}

/* e_i = E_i - E_D N_D^-1 N_i for the free directions i, then E_D. */
static bool make_frame(ns_symmetry *y, const raw *w)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k, p = y->constraints;
    bool *dependent = NS_NEW_ARRAY(y->d->arena, bool, k);
    if (!pivots(y, w->N_start, w->N, p, dependent))
        return false;
    uint32_t *D = NS_NEW_ARRAY(y->d->arena, uint32_t, p + 1), found = 0, next = 0;
    for (uint32_t A = 0; A < k; A++)
        if (dependent[A])
            D[found++] = A;
    ns_ex *ND = array(y, (size_t)p * p), *right = array(y, p), *x = array(y, p);
    for (uint32_t s = 0; s < p; s++)
        for (uint32_t j = 0; j < p; j++)
            ND[s * p + j] = w->N[s * k + D[j]];
    for (uint32_t A = 0; A < k; A++) {
        if (dependent[A])
            continue;
        for (uint32_t s = 0; s < p; s++)
            right[s] = w->N[s * k + A];
        ns_lean_solve(g, p, ND, right, 1, x);
        y->e[next * k + A] = ns_one(g);
        for (uint32_t j = 0; j < p; j++)
            y->e[next * k + D[j]] = ns_neg(g, x[j]);
        next++;
    }
    for (uint32_t j = 0; j < p; j++)
        y->e[(next + j) * k + D[j]] = ns_one(g);
    double value;
    ns_ex det = p == 1   ? ND[0]
                : p == 2 ? ns_sub(g, ns_mul(g, ND[0], ND[3]), ns_mul(g, ND[1], ND[2]))
                         : 0;
    y->frame_det = det && !ns_graph_is_number(g, det, &value) ? det : 0;
    return true;
}

static bool read_frame(ns_symmetry *y, const raw *w)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k, m = y->m;
    uint32_t given = 0;
    for (uint32_t i = 0; i < y->block->properties.n; i++) {
        const ns_property *p = &y->block->properties.at[i];
        if (!p->assigned)
            continue;
        bool own = p->values == 1 && p->value[0].rows * p->value[0].cols == k;
        for (uint32_t A = 0; own && A < k; A++)
            own = !ns_graph_depends(g, p->value[0].at[A], y->dq, y->n) &&
                  !ns_graph_depends(g, p->value[0].at[A], &y->d->time, 1);
        for (uint32_t A = 0; own && A < k; A++)
            for (uint32_t c = 0; c < k; c++)
                own = own && !ns_graph_depends(g, p->value[0].at[A], &y->q[y->group[c]], 1);
        if (!own || given == k) {
            ns_diag_error(y->d->diag, p->values ? p->value_span : p->span,
                          given == k
                              ? "the frame has %u vectors already"
                              : "a vector of the frame has %u components along the basis "
                                "of the Lie algebra, functions of the shape",
                          k);
            return false;
        }
        memcpy(y->e + (size_t)given * k, p->value[0].at, k * sizeof(ns_ex));
        for (uint32_t s = 0; given < m && s < y->constraints; s++) {
            ns_ex along = ns_zero(g), size = ns_zero(g);
            for (uint32_t A = 0; A < k; A++) {
                const ns_ex term = ns_mul(g, w->N[s * k + A], y->e[given * k + A]);
                along = ns_add(g, along, term);
                size = ns_add(g, size, ns_abs(g, term));
            }
            if (!ns_graph_is_zero(g, along) && !ns_eval_vanishes(g, along, size)) {
                ns_diag_error(y->d->diag, p->span,
                              "vector `%s` does not satisfy constraint `%s`: the first %u span "
                              "the directions of the group that the constraints allow",
                              p->name, y->d->constraints.at[s].name, m);
                return false;
            }
        }
        given++;
    }
    if (!given)
        return make_frame(y, w);
    y->framed = true;
    if (given != m && given != k) {
        ns_diag_error(y->d->diag, y->block->span,
                      "the frame needs %u vectors (those the constraints allow) or all %u, "
                      "there are %u",
                      m, k, given);
        return false;
    }
    /* complete it, and see that it is one */
    const ns_ex *symbol;
    const double *value;
    uint32_t count;
    uint64_t seed = 1;
    double *at = NS_NEW_ARRAY(y->d->arena, double, (size_t)k * k);
    bool *covered = NS_NEW_ARRAY(y->d->arena, bool, k);
    ns_symmetry_point(y, 0, &seed, &symbol, &value, &count);
    ns_eval(g, y->e, (size_t)given * k, symbol, value, count, at);
    if (!pivots(y, at, y->e, given, covered)) {
        ns_diag_error(y->d->diag, y->block->span,
                      "the vectors of the frame depend on each other at the start");
        return false;
    }
    for (uint32_t A = 0; A < k && given < k; A++)
        if (!covered[A])
            y->e[given++ * k + A] = ns_one(g);
    return true;
}

/* ---- in the frame ------------------------------------------------------------------------ */

/* Components along e_A of vectors w (given along E_B): e_A^B c^A = w^B; [count] vectors. */
static void along_frame(const ns_symmetry *y, uint32_t count, const ns_ex *w, ns_ex *c)
{
    const uint32_t k = y->k;
    ns_ex *M = array(y, (size_t)k * k);
    for (uint32_t A = 0; A < k; A++)
        for (uint32_t B = 0; B < k; B++)
            M[B * k + A] = y->e[A * k + B];
    ns_lean_solve(y->d->graph, k, M, w, count, c);
}

static void structure(ns_symmetry *y)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k, sigma = y->sigma;
    ns_ex *w = array(y, (size_t)k * k * k);
    for (uint32_t D = 0; D < k; D++)
        for (uint32_t F = 0; F < k; F++)
            for (uint32_t G = 0; G < k; G++) {
                const ns_ex c = y->C0[(D * k + F) * k + G];
                if (ns_graph_is_zero(g, c))
                    continue;
                for (uint32_t A = 0; A < k; A++)
                    for (uint32_t B = 0; B < k; B++)
                        if (A != B)
                            add3(g, &w[(A * k + B) * k + G], y->e[A * k + D], y->e[B * k + F],
                                 c);
            }
    along_frame(y, k * k, w, y->C);
    ns_ex *d = array(y, (size_t)k * sigma * k);
    for (uint32_t A = 0; A < k; A++)
        for (uint32_t i = 0; i < sigma; i++)
            for (uint32_t B = 0; B < k; B++)
                d[(A * sigma + i) * k + B] = ns_diff(g, y->e[A * k + B], y->r[i]);
    along_frame(y, k * sigma, d, y->gamma);
}

static void inertia(ns_symmetry *y, const raw *w)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k, sigma = y->sigma;
    for (uint32_t A = 0; A < k; A++)
        for (uint32_t B = 0; B < k; B++) {
            /* symmetric to the bit */
            const uint32_t low = A < B ? A : B, high = A < B ? B : A;
            if (A > B) {
                y->I[A * k + B] = y->I[low * k + high];
                continue;
            }
            for (uint32_t C = 0; C < k; C++)
                for (uint32_t D = 0; D < k; D++)
                    add3(g, &y->I[A * k + B], y->e[A * k + C], w->I[C * k + D],
                         y->e[B * k + D]);
        }
    for (uint32_t i = 0; i < sigma; i++)
        for (uint32_t A = 0; A < k; A++)
            for (uint32_t B = 0; B < k; B++)
                add2(g, &y->K[i * k + A], w->K[i * k + B], y->e[A * k + B]);
}

static void connections(ns_symmetry *y, const raw *w)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k, m = y->m, sigma = y->sigma, p = y->constraints;
    /* A^U from the constraints */
    ns_ex *NU = array(y, (size_t)p * p), *right = array(y, (size_t)sigma * (k + 1));
    ns_ex *x = array(y, (size_t)sigma * (k + 1));
    for (uint32_t s = 0; s < p; s++)
        for (uint32_t c = 0; c < p; c++)
            for (uint32_t A = 0; A < k; A++)
                add2(g, &NU[s * p + c], w->N[s * k + A], y->e[(m + c) * k + A]);
    for (uint32_t i = 0; i < sigma; i++)
        for (uint32_t s = 0; s < p; s++)
            right[i * p + s] = w->Nr[s * sigma + i];
    ns_lean_solve(g, p, NU, right, sigma, x);
    for (uint32_t i = 0; i < sigma; i++)
        for (uint32_t c = 0; c < p; c++)
            y->A[i * k + m + c] = x[i * p + c];
    /* A^S: horizontal in D and orthogonal to S */
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t b = 0; b < m; b++)
            y->IS[a * m + b] = y->I[a * k + b];
    for (uint32_t i = 0; i < sigma; i++)
        for (uint32_t a = 0; a < m; a++) {
            right[i * m + a] = y->K[i * k + a];
            for (uint32_t c = m; c < k; c++)
                right[i * m + a] = ns_sub(g, right[i * m + a],
                                          ns_mul(g, y->I[a * k + c], y->A[i * k + c]));
        }
    ns_lean_solve(g, m, y->IS, right, sigma, x);
    for (uint32_t i = 0; i < sigma; i++)
        for (uint32_t a = 0; a < m; a++)
            y->A[i * k + a] = x[i * m + a];
    ns_lean_solve(g, k, y->I, y->K, sigma, y->mech);
    ns_ex *unit = array(y, (size_t)m * m);
    for (uint32_t a = 0; a < m; a++)
        unit[a * m + a] = ns_one(g);
    ns_lean_solve(g, m, y->IS, unit, m, y->ISi);
    for (uint32_t c = 0; c < k - m; c++)
        for (uint32_t a = 0; a < m; a++) {
            y->IUS[c * m + a] = y->I[(m + c) * k + a];
            for (uint32_t b = 0; b < m; b++)
                add2(g, &y->J[c * m + a], y->I[(m + c) * k + b], y->ISi[b * m + a]);
        }
    for (uint32_t c = 0; c < k - m; c++)
        for (uint32_t i = 0; i < sigma; i++) {
            ns_ex *out = &y->Lambda[c * sigma + i];
            *out = y->K[i * k + m + c];
            for (uint32_t A = 0; A < k; A++)
                *out = ns_sub(g, *out, ns_mul(g, y->I[(m + c) * k + A], y->A[i * k + A]));
        }
    for (uint32_t i = 0; i < sigma; i++)
        for (uint32_t j = 0; j < sigma; j++) {
            ns_ex *out = &y->Gc[i * sigma + j];
            if (j < i) {
                *out = y->Gc[j * sigma + i];
                continue;
            }
            *out = w->G[i * sigma + j];
            for (uint32_t A = 0; A < k; A++) {
                *out = ns_sub(g, *out, ns_mul(g, y->K[i * k + A], y->A[j * k + A]));
                *out = ns_sub(g, *out, ns_mul(g, y->K[j * k + A], y->A[i * k + A]));
                for (uint32_t B = 0; B < k; B++)
                    add3(g, out, y->A[i * k + A], y->I[A * k + B], y->A[j * k + B]);
            }
        }
}

static void curvature(ns_symmetry *y)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k, m = y->m, sigma = y->sigma;
    const ns_ex *A = y->A, *gamma = y->gamma;
    for (uint32_t i = 0; i < sigma; i++)
        for (uint32_t j = 0; j < sigma; j++)
            for (uint32_t C = 0; C < k && i != j; C++) {
                ns_ex *out = &y->B[(i * sigma + j) * k + C];
                *out = ns_sub(g, ns_diff(g, A[i * k + C], y->r[j]),
                              ns_diff(g, A[j * k + C], y->r[i]));
                for (uint32_t a = 0; a < k; a++) {
                    for (uint32_t b = 0; b < k; b++)
                        add3(g, out, y->C[(a * k + b) * k + C], A[i * k + a], A[j * k + b]);
                    add2(g, out, gamma[(a * sigma + j) * k + C], A[i * k + a]);
                    *out = ns_sub(g, *out,
                                  ns_mul(g, gamma[(a * sigma + i) * k + C], A[j * k + a]));
                }
            }
    for (uint32_t i = 0; i < sigma; i++)
        for (uint32_t b = 0; b < m; b++)
            for (uint32_t C = 0; C < k; C++) {
                ns_ex *out = &y->Ecal[(i * m + b) * k + C];
                *out = gamma[(b * sigma + i) * k + C];
                for (uint32_t a = 0; a < k; a++)
                    *out = ns_sub(g, *out, ns_mul(g, y->C[(a * k + b) * k + C], A[i * k + a]));
            }
}

/* The coefficients of the momentum equation by powers of p and r'. */
static void momentum_terms(ns_symmetry *y)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k, m = y->m, sigma = y->sigma, u = k - m;
    const ns_ex half = ns_number(g, 0.5);
    ns_ex *raw_Q = array(y, (size_t)m * m * m), *raw_R = array(y, (size_t)m * sigma * sigma);
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t b = 0; b < m; b++)
            for (uint32_t c = 0; c < m; c++) {
                ns_ex coefficient = y->C[(b * k + a) * k + c];
                for (uint32_t v = 0; v < u; v++)
                    add2(g, &coefficient, y->C[(b * k + a) * k + m + v], y->J[v * m + c]);
                for (uint32_t d = 0; d < m; d++)
                    add2(g, &raw_Q[(a * m + c) * m + d], coefficient, y->ISi[b * m + d]);
            }
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t c = 0; c < m; c++)
            for (uint32_t d = 0; d < m; d++)
                y->Q[(a * m + c) * m + d] = c == d
                                                ? raw_Q[(a * m + c) * m + d]
                                                : ns_mul(g, half,
                                                         ns_add(g, raw_Q[(a * m + c) * m + d],
                                                                raw_Q[(a * m + d) * m + c]));
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t i = 0; i < sigma; i++)
            for (uint32_t c = 0; c < m; c++) {
                ns_ex *out = &y->tau[(a * sigma + i) * m + c];
                *out = y->Ecal[(i * m + a) * k + c];
                for (uint32_t v = 0; v < u; v++) {
                    add2(g, out, y->Ecal[(i * m + a) * k + m + v], y->J[v * m + c]);
                    for (uint32_t b = 0; b < m; b++)
                        add3(g, out, y->C[(b * k + a) * k + m + v], y->Lambda[v * sigma + i],
                             y->ISi[b * m + c]);
                }
            }
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t i = 0; i < sigma; i++)
            for (uint32_t j = 0; j < sigma; j++)
                for (uint32_t v = 0; v < u; v++)
                    add2(g, &raw_R[(a * sigma + i) * sigma + j], y->Lambda[v * sigma + j],
                         y->Ecal[(i * m + a) * k + m + v]);
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t i = 0; i < sigma; i++)
            for (uint32_t j = 0; j < sigma; j++)
                y->R[(a * sigma + i) * sigma + j] =
                    i == j ? raw_R[(a * sigma + i) * sigma + j]
                           : ns_mul(g, half,
                                    ns_add(g, raw_R[(a * sigma + i) * sigma + j],
                                           raw_R[(a * sigma + j) * sigma + i]));
}

/* What linear terms and affine constraints add. */
static void given_parts(ns_symmetry *y, const raw *r)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k, m = y->m, sigma = y->sigma, u = k - m;
    ns_ex *NU = array(y, (size_t)u * u), *right = array(y, u);
    y->gr = array(y, sigma);
    y->b = array(y, k);
    y->w = array(y, u);
    y->base = array(y, m);
    y->rise = array(y, u);
    for (uint32_t A = 0; A < k; A++)
        for (uint32_t B = 0; B < k; B++)
            add2(g, &y->b[A], y->e[A * k + B], r->linear[sigma + B]);
    for (uint32_t i = 0; i < sigma; i++) {
        y->gr[i] = r->linear[i];
        for (uint32_t A = 0; A < k; A++)
            y->gr[i] = ns_sub(g, y->gr[i], ns_mul(g, y->b[A], y->A[i * k + A]));
    }
    for (uint32_t s = 0; s < u; s++) {
        right[s] = ns_neg(g, r->beta[s]);
        for (uint32_t c = 0; c < u; c++)
            for (uint32_t A = 0; A < k; A++)
                add2(g, &NU[s * u + c], r->N[s * k + A], y->e[(m + c) * k + A]);
    }
    if (y->affine)
        ns_lean_solve(g, u, NU, right, 1, y->w);
    for (uint32_t A = 0; A < k; A++) {
        ns_ex *out = A < m ? &y->base[A] : &y->rise[A - m];
        *out = y->b[A];
        for (uint32_t c = 0; c < u; c++)
            add2(g, out, y->I[A * k + m + c], y->w[c]);
    }
    for (uint32_t c = 0; c < u; c++)
        for (uint32_t a = 0; a < m; a++)
            y->rise[c] = ns_sub(g, y->rise[c], ns_mul(g, y->J[c * m + a], y->base[a]));
}

/* p_a = dL/dq' . e_a and Omega = I_S^-1 p in the coordinates of the model */
static void momenta(ns_symmetry *y)
{
    ns_graph *g = y->d->graph;
    const uint32_t n = y->n, k = y->k, m = y->m;
    ns_ex *pi = array(y, n);
    ns_diff_gradient(g, y->d->lagrangian, y->dq, n, pi);
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t A = 0; A < k; A++)
            for (uint32_t i = 0; i < k; i++)
                add3(g, &y->p[a], pi[y->group[i]], y->e[a * k + A], y->E[A * n + y->group[i]]);
    ns_symmetry_velocity(y, y->p, y->Omega);
}

bool ns_symmetry_geometry(ns_symmetry *y)
{
    const size_t k = y->k, sigma = y->sigma, p = y->constraints;
    raw w = {.G = array(y, sigma * sigma),
             .K = array(y, sigma * k),
             .I = array(y, k * k),
             .N = array(y, p * k),
             .Nr = array(y, p * sigma),
             .beta = array(y, p),
             .linear = array(y, sigma + k)};
    if (!metric(y, &w) || !principal_case(y, &w))
        return false;
    y->m = y->k - y->constraints;
    const size_t m = y->m, u = k - m;
    y->e = array(y, k * k);
    y->C = array(y, k * k * k);
    y->gamma = array(y, k * sigma * k);
    y->I = array(y, k * k);
    y->K = array(y, sigma * k);
    y->A = array(y, sigma * k);
    y->mech = array(y, sigma * k);
    y->Gc = array(y, sigma * sigma);
    y->IS = array(y, m * m);
    y->ISi = array(y, m * m);
    y->IUS = array(y, u * m);
    y->J = array(y, u * m);
    y->Lambda = array(y, u * sigma);
    y->B = array(y, sigma * sigma * k);
    y->Ecal = array(y, sigma * m * k);
    y->Q = array(y, m * m * m);
    y->tau = array(y, m * sigma * m);
    y->R = array(y, m * sigma * sigma);
    y->p = array(y, m);
    y->Omega = array(y, m);
    if (!read_frame(y, &w))
        return false;
    structure(y);
    inertia(y, &w);
    connections(y, &w);
    curvature(y);
    momentum_terms(y);
    given_parts(y, &w);
    momenta(y);
    return true;
}
