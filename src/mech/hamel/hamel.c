/* Formulation `hamel`: motion in quasivelocities (Bloch, Marsden and Zenkov 2009, sections 2.2
 * and 3.2).
 *
 * A frame u_1(q) .. u_n(q) defines quasivelocities by q' = v^i u_i(q).  With l(q, v) = L(q, v^i
 * u_i) the equations of motion, with constraints a^s(q).q' = 0 that the first n-p fields
 * satisfy, are
 *
 *     d/dt dl/dv^j = c_ij^m v^i dl/dv^m + u_j[l] + u_j.F + lambda_s a^s(u_j),   v^i = 0 for i >
 *     n-p
 *                                                                     (2.8), (3.4), (3.6)
 *
 * where [u_i, u_j] = c_ij^m u_m.  Contracting with dl/dv avoids the inverse of the frame:
 * dl/dv^m = pi.u_m with pi = dL/dq', so
 *
 *     c_ij^m v^i dl/dv^m = pi.[X, u_j],   X = v^i u_i at fixed v,   [X, Y] = DY X - DX Y.
 *
 * The first n-p equations give v', one `solve` node with the matrix u_j.M u_k; the others give
 * the multipliers (the same numbers as (3.8)).  The derivatives by v are taken before v^i = 0
 * is put in: m runs over all fields (see the notes on (3.4) in docs/theory/hamel.md).
 *
 * Constraints may be affine, a^s(t, q).q' + b^s(t, q) = 0, and the fields may depend on time.
 * Then the last p quasivelocities are functions v^r(t, q) with a^s(u_r) v^r = -b^s, and
 *
 *     d/dt dl/dv^j = pi.([X, u_j] + du_j/dt) + u_j[l] + u_j.F + lambda_s a^s(u_j),
 *
 * X with all v, where d/dt dl/dv^j contains M_jr v'^r as a given term (docs/theory/hamel.md).
 *
 * With `solve multipliers` the frame need not know the constraints: then all v are states, and
 * v' and lambda solve (3.6) together with the derivative of the constraints, as (3.8) does.
 *
 * Frames, given or made by the program, are the matter of hamel_frame.c. */
#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/normal/shorten.h"
#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/common/lean.h"
#include "mech/formulations.h"
#include "mech/hamel/hamel.h"
#include "mech/moving.h"
#include "mech/reduced/symmetry.h"

static bool fits(const ns_description *d)
{
    bool frame = false;
    for (uint32_t i = 0; i < d->blocks.n; i++)
        frame = frame || d->blocks.at[i].form == &ns_block_frame;
    return frame && d->coordinates.n > 0 && d->lagrangian;
}

/* ---- equations --------------------------------------------------------------------------- */

static ns_ex restricted(ns_hamel *w, ns_ex e)
{
    return ns_subst_one(w->g, e, w->vs, w->v, w->n);
}

/* (3.4): the first n-p rows give v'; the multipliers follow from the other rows,
 * sum_s lambda_s a^s(u_j) = M_jk v'^k - right_j. */
static void solve_free(ns_hamel *w, const ns_ex *M, const ns_ex *right)
{
    ns_graph *g = w->g;
    ns_arena *arena = w->d->arena;
    uint32_t n = w->n, p = w->p, m = n - p;
    ns_ex *MD = NS_NEW_ARRAY(arena, ns_ex, m * m + 1);
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < m; j++)
            MD[i * m + j] = M[i * n + j];
    ns_solve(g, m, MD, right, w->dv);
    ns_ex *dv = NS_NEW_ARRAY(arena, ns_ex, m);
    ns_lean_solve(g, m, MD, right, 1, dv);
    if (ns_shorten_cost(g, dv, m) < ns_shorten_cost(g, w->dv, m))
        memcpy(w->dv, dv, m * sizeof *dv);
    ns_ex *T = NS_NEW_ARRAY(arena, ns_ex, p * p + 1), *rest = NS_NEW_ARRAY(arena, ns_ex, p + 1);
    for (uint32_t r = 0; r < p; r++) {
        uint32_t j = m + r;
        rest[r] = ns_neg(g, right[j]);
        for (uint32_t k = 0; k < m; k++)
            rest[r] = ns_add(g, rest[r], ns_mul(g, M[j * n + k], w->dv[k]));
        for (uint32_t c = 0; c < p; c++)
            T[r * p + c] = ns_hamel_on_field(w, c, j);
    }
    ns_solve(g, p, T, rest, w->lambda);
}

/* (3.6), (3.8): with B_sj = a^s(u_j),
 *
 *     [ M  B^T ] [   v'    ]   [ right ]
 *     [ B   0  ] [ -lambda ] = [ -B' v - b' ]                                       */
static void solve_with_multipliers(ns_hamel *w, const ns_ex *M, const ns_ex *right,
                                   const ns_ex *qt, const ns_ex *along)
{
    ns_graph *g = w->g;
    ns_arena *arena = w->d->arena;
    uint32_t n = w->n, p = w->p, size = n + p;
    ns_ex *B = NS_NEW_ARRAY(arena, ns_ex, p * n + 1);
    ns_ex *dB = NS_NEW_ARRAY(arena, ns_ex, p * n + 1), *db = NS_NEW_ARRAY(arena, ns_ex, p + 1);
    for (uint32_t s = 0; s < p; s++)
        for (uint32_t j = 0; j < n; j++)
            B[s * n + j] = ns_hamel_on_field(w, s, j);
    ns_diff_along(g, B, (size_t)p * n, qt, along, n + 1, dB);
    ns_diff_along(g, w->b, p, qt, along, n + 1, db);
    ns_ex *K = NS_NEW_ARRAY(arena, ns_ex, size * size), *b = NS_NEW_ARRAY(arena, ns_ex, size);
    ns_ex *x = NS_NEW_ARRAY(arena, ns_ex, size);
    for (uint32_t i = 0; i < size; i++) {
        b[i] = i < n ? right[i] : ns_neg(g, db[i - n]);
        for (uint32_t j = 0; i >= n && j < n; j++)
            b[i] = ns_sub(g, b[i], ns_mul(g, dB[(i - n) * n + j], w->vs[j]));
        for (uint32_t j = 0; j < size; j++)
            K[i * size + j] = i < n && j < n ? M[i * n + j]
                              : i < n        ? B[(j - n) * n + i]
                              : j < n        ? B[(i - n) * n + j]
                                             : ns_zero(g);
    }
    ns_solve(g, size, K, b, x);
    for (uint32_t i = 0; i < n; i++)
        w->dv[i] = x[i];
    for (uint32_t s = 0; s < p; s++) {
        w->lambda[s] = ns_neg(g, x[n + s]);
        ns_ex residual = w->b[s];
        for (uint32_t j = 0; j < n; j++)
            residual = ns_add(g, residual, ns_mul(g, B[s * n + j], w->vs[j]));
        NS_PUSH(arena, w->s->constraints,
                (ns_constraint){.name = w->d->constraints.at[s].name,
                                .residual = residual,
                                .project = true,
                                .span = w->d->constraints.at[s].span});
    }
}

static ns_ex shorter(const ns_hamel *w, ns_ex e)
{
    return w->n <= NS_SHORTEN_MOST ? ns_shorten(w->g, e) : e;
}

/* l = 1/2 v.M v + a.v + l0 with M and a in short form; l itself if it is not of this form or no
 * shorter then. */
static ns_ex natural(const ns_hamel *w, ns_ex l)
{
    ns_graph *g = w->g;
    ns_arena *arena = w->d->arena;
    const uint32_t n = w->n;
    ns_ex *M = NS_NEW_ARRAY(arena, ns_ex, (size_t)n * n), *a = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_ex rest = 0;
    if (n > NS_SHORTEN_MOST || !ns_subst_collect_quadratic(g, l, w->vs, n, M, a, &rest))
        return l;
    ns_ex sum = rest;
    for (uint32_t i = 0; i < n; i++) {
        ns_ex Mv = ns_zero(g);
        for (uint32_t j = 0; j < n; j++)
            Mv = ns_add(g, Mv, ns_mul(g, ns_shorten(g, M[i * n + j]), w->vs[j]));
        Mv = ns_add(g, ns_mul(g, ns_number(g, 0.5), Mv), ns_shorten(g, a[i]));
        sum = ns_add(g, sum, ns_mul(g, Mv, w->vs[i]));
    }
    return ns_shorten_cost(g, &sum, 1) < ns_shorten_cost(g, &l, 1) ? sum : l;
}

/* Mass matrix and right-hand sides in short form, if that takes fewer operations.  What does
 * not depend on velocities, `rest`, stays as it is: expanding a potential could cost digits. */
static void shorten(const ns_hamel *w, ns_ex *M, ns_ex *right, const ns_ex *rest)
{
    ns_graph *g = w->g;
    const uint32_t n = w->n;
    if (n > NS_SHORTEN_MOST)
        return;
    const size_t count = (size_t)n * n + n;
    ns_ex *old = NS_NEW_ARRAY(w->d->arena, ns_ex, count);
    ns_ex *new = NS_NEW_ARRAY(w->d->arena, ns_ex, count);
    memcpy(old, M, (size_t)n * n * sizeof *M);
    memcpy(old + (size_t)n * n, right, n * sizeof *right);
    for (size_t i = 0; i < count; i++)
        new[i] = ns_shorten(g, i < (size_t)n * n ? old[i] : ns_sub(g, old[i], rest[i - n * n]));
    for (uint32_t j = 0; j < n; j++)
        new[n * n + j] = ns_add(g, new[n * n + j], rest[j]);
    if (ns_shorten_cost(g, new, count) >= ns_shorten_cost(g, old, count))
        return;
    memcpy(M, new, (size_t)n * n * sizeof *M);
    memcpy(right, new + (size_t)n *n, n * sizeof *right);
}

/* right_j -= M_jr v'^r for the quasivelocities that the constraints give */
static void given_rates(ns_hamel *w, const ns_ex *M, const ns_ex *qt, const ns_ex *along,
                        ns_ex *right)
{
    const uint32_t n = w->n, p = w->p, m = n - p;
    ns_ex *here = NS_NEW_ARRAY(w->d->arena, ns_ex, n + 1);
    ns_ex *rate = NS_NEW_ARRAY(w->d->arena, ns_ex, p + 1);
    for (uint32_t k = 0; k <= n; k++)
        here[k] = restricted(w, along[k]);
    ns_diff_along(w->g, w->v + m, p, qt, here, n + 1, rate);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t r = 0; r < p; r++)
            right[j] = ns_sub(w->g, right[j], ns_mul(w->g, M[j * n + m + r], rate[r]));
}

/* M: with the constraints put in */
static void energies(ns_hamel *w, ns_ex l, const ns_ex *M)
{
    ns_graph *g = w->g;
    const uint32_t n = w->n;
    ns_ex energy = ns_neg(g, l), twice = ns_zero(g);
    for (uint32_t i = 0; i < n; i++)
        energy = ns_add(g, energy, ns_mul(g, w->momentum[i], w->vs[i]));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            twice = ns_add(g, twice, ns_mul(g, M[i * n + j], ns_mul(g, w->v[i], w->v[j])));
    w->s->energy = restricted(w, energy);
    w->s->kinetic = ns_mul(g, ns_number(g, 0.5), twice);
    bool work = w->d->forces.n > 0; /* constraints without such terms do none, timed or not */
    for (uint32_t i = 0; i < w->p; i++)
        work = work || !ns_graph_is_zero(g, w->b[i]);
    w->s->conservative = !work && !ns_graph_depends(g, w->d->lagrangian, &w->d->time, 1);
}

static void equations(ns_hamel *w)
{
    ns_graph *g = w->g;
    ns_arena *arena = w->d->arena;
    const uint32_t n = w->n;
    w->dv = NS_NEW_ARRAY(arena, ns_ex, n);
    w->lambda = NS_NEW_ARRAY(arena, ns_ex, w->p + 1);
    w->rate = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t k = 0; k < n; k++) {
        w->rate[k] = ns_zero(g);
        for (uint32_t i = 0; i < n; i++)
            w->rate[k] = ns_add(g, w->rate[k], ns_mul(g, w->vs[i], w->u[i * n + k]));
    }
    ns_ex l = ns_subst_one(g, w->d->lagrangian, w->dq, w->rate, n);
    l = natural(w, l);
    ns_ex *pi = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_diff_gradient(g, w->d->lagrangian, w->dq, n, pi);
    ns_subst(g, pi, n, w->dq, w->rate, n, pi);
    for (uint32_t k = 0; k < n; k++)
        pi[k] = shorter(w, pi[k]);
    w->momentum = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_diff_gradient(g, l, w->vs, n, w->momentum);
    ns_ex *M = NS_NEW_ARRAY(arena, ns_ex, n * n), *right = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_diff_jacobian(g, w->momentum, n, w->vs, n, M);
    ns_ex *force = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t k = 0; k < n; k++)
        force[k] = ns_zero(g);
    for (uint32_t k = 0; k < w->d->forces.n; k++) {
        const ns_force_line *line = &w->d->forces.at[k];
        force[line->coordinate] = ns_add(g, force[line->coordinate],
                                         ns_subst_one(g, line->value, w->dq, w->rate, n));
    }
    w->force = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_ex *along = NS_NEW_ARRAY(arena, ns_ex, n + 1), *qt = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        along[k] = w->rate[k];
        qt[k] = w->q[k];
    }
    along[n] = ns_one(g);
    qt[n] = w->d->time;
    ns_ex *rest = NS_NEW_ARRAY(arena, ns_ex, n), *still = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t k = 0; k < n; k++)
        still[k] = ns_zero(g);
    const ns_ex l0 = ns_subst_one(g, l, w->vs, still, n);
    for (uint32_t j = 0; j < n; j++) {
        ns_ex change, push;
        ns_diff_along(g, &l0, 1, w->q, w->u + j * n, n, &rest[j]);
        ns_diff_along(g, &w->momentum[j], 1, qt, along, n + 1, &change);
        ns_diff_along(g, &l, 1, w->q, w->u + j * n, n, &push);
        for (uint32_t k = 0; k < n; k++) {
            const ns_ex given = ns_mul(g, w->u[j * n + k], force[k]);
            rest[j] = ns_add(g, rest[j], given);
            push = ns_add(g, push, given);
            const ns_ex turn = ns_add(g, ns_hamel_bracket(w, w->rate, w->u + j * n, k),
                                      ns_diff(g, w->u[j * n + k], w->d->time));
            push = ns_add(g, push, ns_mul(g, pi[k], shorter(w, turn)));
        }
        w->force[j] = restricted(w, push);
        right[j] = restricted(w, ns_sub(g, push, change));
        rest[j] = restricted(w, rest[j]);
    }
    for (uint32_t k = 0; k < n * n; k++)
        M[k] = restricted(w, M[k]);
    for (uint32_t i = 0; i < n; i++) /* exactly symmetric */
        for (uint32_t j = 0; j < i; j++)
            M[i * n + j] = M[j * n + i];
    if (!w->multipliers)
        given_rates(w, M, qt, along, right);
    shorten(w, M, right, rest);
    if (w->multipliers)
        solve_with_multipliers(w, M, right, qt, along);
    else
        solve_free(w, M, right);
    energies(w, l, M);
    w->l = l;
    w->pi = pi;
}

static void assemble(ns_hamel *w)
{
    ns_system *s = w->s;
    const ns_description *d = w->d;
    ns_graph *g = w->g;
    uint32_t n = w->n, free_ones = w->multipliers ? n : n - w->p;
    ns_ex *rate = NS_NEW_ARRAY(s->arena, ns_ex, n), *second = NS_NEW_ARRAY(s->arena, ns_ex, n);
    ns_ex *x = NS_NEW_ARRAY(s->arena, ns_ex, n + free_ones + 1);
    ns_ex *dx = NS_NEW_ARRAY(s->arena, ns_ex, n + free_ones + 1);
    for (uint32_t k = 0; k < n; k++) {
        rate[k] = restricted(w, w->rate[k]);
        x[k] = w->q[k];
        dx[k] = rate[k];
        ns_system_add_coordinate(s, &d->coordinates.at[k], rate[k]);
    }
    for (uint32_t i = 0; i < free_ones; i++) {
        x[n + i] = w->v[i];
        dx[n + i] = w->dv[i];
        ns_system_add_state(s, NS_QUANTITY_QUASIVELOCITY,
                            ns_arena_format(s->arena, "v%u", i + 1), w->v[i], w->dv[i], "");
    }
    x[n + free_ones] = d->time;
    dx[n + free_ones] = ns_one(g);
    ns_diff_along(g, rate, n, x, dx, n + free_ones + 1, second);
    for (uint32_t k = 0; k < n; k++)
        ns_system_derived_velocity(s, &d->coordinates.at[k], rate[k], second[k]);
    ns_system_observe(s, NS_QUANTITY_ENERGY, "energy", s->energy, "J", true);
    for (uint32_t i = 0; i < n; i++)
        ns_system_observe(s, NS_QUANTITY_MOMENTUM, ns_arena_format(s->arena, "p%u", i + 1),
                          restricted(w, w->momentum[i]), "", i < free_ones);
    for (uint32_t k = 0; k < w->p; k++)
        ns_system_multiplier(s, d->constraints.at[k].name, w->lambda[k], true);
}

/* P = dl/dv, G = u[l] + dl/dv.[v, u] + u.F on the fields that move; with `solve multipliers`
 * on all, A = a^s(u_j). */
static const ns_balance *balance(const ns_system *s)
{
    const ns_hamel *w = s->own;
    ns_graph *g = s->graph;
    const uint32_t n = w->n, m = w->multipliers ? w->p : 0;
    const uint32_t moving = w->multipliers ? n : n - w->p;
    if (s->states.n != n + moving || s->states.at[0].symbol != w->q[0])
        return NULL;
    ns_balance *d = NS_NEW(s->arena, ns_balance);
    ns_ex *P = NS_NEW_ARRAY(s->arena, ns_ex, n), *U = NS_NEW_ARRAY(s->arena, ns_ex, n);
    ns_ex *A = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)m * n + 1);
    ns_ex *psi = NS_NEW_ARRAY(s->arena, ns_ex, m + 1),
                              *phi = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
    ns_subst(g, w->momentum, n, w->vs, w->v, n, P);
    ns_subst(g, w->rate, n, w->vs, w->v, n, U);
    for (uint32_t k = 0; k < m; k++) {
        psi[k] = ns_zero(g);
        phi[k] = 0;
        for (uint32_t j = 0; j < n; j++) {
            ns_ex *a = &A[k * n + j];
            *a = ns_zero(g);
            for (uint32_t i = 0; i < n; i++)
                *a = ns_add(g, *a, ns_mul(g, w->A[k * n + i], w->u[j * n + i]));
            psi[k] = ns_add(g, psi[k], ns_mul(g, *a, w->vs[j]));
        }
    }
    *d = (ns_balance){n, moving, m, U, P, w->force, A, psi, phi};
    return d;
}

static bool derive(ns_description *d, ns_system *s)
{
    uint32_t n = d->coordinates.n, p = d->constraints.n;
    ns_hamel *w = NS_NEW(s->arena, ns_hamel);
    *w = (ns_hamel){.d = d, .s = s, .g = d->graph, .n = n, .p = p};
    s->own = w;
    if (!d->lagrangian || n == 0) {
        ns_diag_error(d->diag, d->whole,
                      "formulation `hamel` needs coordinates and a Lagrangian");
        return false;
    }
    if (p >= n) {
        ns_diag_error(d->diag, d->constraints.at[n - 1].span,
                      "%u constraints leave nothing of %u coordinates to move", p, n);
        return false;
    }
    const ns_block *frame = ns_block_single(d, &ns_block_frame),
                   *how = ns_block_single(d, &ns_block_solve);
    if (how && (strcmp(how->kind, "multipliers") != 0 || how->nargs || how->properties.n)) {
        ns_diag_error(d->diag, how->kind_span,
                      "formulation `hamel` knows `solve multipliers` only");
        return false;
    }
    w->multipliers = how != NULL;
    w->q = NS_NEW_ARRAY(s->arena, ns_ex, n);
    w->dq = NS_NEW_ARRAY(s->arena, ns_ex, n);
    w->u = NS_NEW_ARRAY(s->arena, ns_ex, n * n);
    w->A = NS_NEW_ARRAY(s->arena, ns_ex, p * n + 1);
    w->b = NS_NEW_ARRAY(s->arena, ns_ex, p + 1);
    w->v = NS_NEW_ARRAY(s->arena, ns_ex, n);
    w->vs = NS_NEW_ARRAY(s->arena, ns_ex, n);
    for (uint32_t i = 0; i < n; i++) {
        w->q[i] = d->coordinates.at[i].q;
        w->dq[i] = d->coordinates.at[i].v;
        w->vs[i] = ns_symbol_new(d->graph, ns_arena_format(s->arena, "v%u", i + 1),
                                 NS_SYM_STATE, i);
        w->v[i] = i < n - p || w->multipliers ? w->vs[i] : ns_zero(d->graph);
    }
    if (!ns_hamel_constraints(w) || !ns_hamel_frame(w, frame))
        return false;
    equations(w);
    ns_hamel_note(w);
    assemble(w);
    ns_system_fact(s, "coordinates", "%u", n);
    if (w->multipliers)
        ns_system_fact(s, "quasivelocities", "%u, bound by %u constraint%s", n, p,
                       p == 1 ? "" : "s");
    else
        ns_system_fact(s, "quasivelocities", "%u free, %u %s by the constraints", n - p, p,
                       w->affine ? "given" : "zero");
    for (uint32_t k = 0; k < n; k++)
        w->pi[k] = restricted(w, w->pi[k]);
    if (!ns_symmetry_attach(d, s))
        return false;
    ns_moving_energy(s, d, p, w->A, w->b, s->energy, w->pi);
    return true;
}

static const ns_block_form *const blocks[] = {&ns_block_frame, &ns_block_symmetry,
                                              &ns_block_solve, &ns_block_start, NULL};

const ns_formulation ns_formulation_hamel = {
    .name = "hamel",
    .summary = "coordinates, a Lagrangian and constraints in quasivelocities of a frame",
    .doc =
        "coordinate ...   lagrangian ...   constraint ...   frame { e1 = [..]; e2 = [..]; ... "
        "}\n\n"
        "The first n-p fields of the frame satisfy the p constraints; their quasivelocities\n"
        "v1, v2, ... are states, the others vanish.  Without `frame` (write `formulation "
        "hamel`)\n"
        "the program makes one from the constraints and says which.  With `solve multipliers`\n"
        "the frame may be any: all quasivelocities are states, bound by the constraints.\n"
        "Constraints and frame may depend on time, and constraints may have terms without\n"
        "velocities: then the other quasivelocities are given functions.\n\n"
        "Values: coordinates, v1.., q', momenta p1.. = dl/dv, lambda.NAME, energy.\n"
        "`noslip equations` prints frame, brackets and l(q, v).\n\n"
        "Source: Bloch, Marsden, Zenkov 2009, (2.5), (3.4), (3.6).",
    .refuses = NS_REFUSES_STATE,
    .fits = fits,
    .derive = derive,
    .balance = balance,
    .verify = ns_hamel_verify,
    .blocks = blocks,
};
