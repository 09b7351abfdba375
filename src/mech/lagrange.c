/* Formulation `lagrange`: Lagrange-d'Alembert with multipliers (Bloch, Marsden and Zenkov 2009,
 * section 3.1).
 *
 * Coordinates q, velocities v = q', a Lagrangian L(t, q, v), generalised forces F, and
 * constraints of two kinds, told apart by whether velocities enter:
 *
 *     holonomic      phi(t, q) = 0,    differentiated once:  psi = d phi/dt
 *     nonholonomic   psi(t, q, v) = 0, affine in v
 *
 * The equations of motion are
 *
 *     d/dt dL/dv - dL/dq = F + A^T lambda,      A = d psi/dv                    (3.1)
 *
 * that is M a = Q + A^T lambda, A a = b with the matrices of mech/common/dalembert.h, and
 * accelerations and multipliers solve
 *
 *     [ M  A^T ] [   a     ]   [ Q ]
 *     [ A   0  ] [ -lambda ] = [ b ]
 *
 * Forces may contain multipliers linearly: mech/common/reactions.h.
 *
 * Constraints like x' = ... and blades are eliminated first (mech/common/nullspace.h), with M
 * and Q in short form (expr/normal/shorten.h); this is used where it takes fewer operations
 * than the solve as it stands: a sleigh's equations come out as one writes them by hand.  The
 * states are (q, v); phi and psi are the manifold on which they are kept.  Energy: E = v .
 * dL/dv - L. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/normal/shorten.h"
#include "mech/common/dalembert.h"
#include "mech/common/dense.h"
#include "mech/common/lean.h"
#include "mech/common/nullspace.h"
#include "mech/formulations.h"
#include "mech/grip.h"
#include "mech/moving.h"
#include "mech/reduced/symmetry.h"

static bool fits(const ns_description *d)
{
    return d->coordinates.n > 0 || d->lagrangian;
}

/* Accelerations and multipliers by the saddle system. */
static void solve_saddle(const ns_dalembert *w, ns_ex *a, ns_ex *lambda)
{
    ns_system *s = w->s;
    ns_graph *g = s->graph;
    uint32_t n = w->n, m = w->m, size = n + m;
    ns_ex *K = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)size * size);
    ns_ex *x = NS_NEW_ARRAY(s->arena, ns_ex, size);
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t j = 0; j < size; j++)
            K[i * size + j] = i < n && j < n ? w->M[i * n + j]
                              : i < n        ? w->A[(j - n) * n + i]
                              : j < n        ? w->A[(i - n) * n + j]
                                             : ns_zero(g);
    ns_ex *right = NS_NEW_ARRAY(s->arena, ns_ex, size);
    for (uint32_t i = 0; i < size; i++)
        right[i] = i < n ? w->Q[i] : w->b[i - n];
    ns_solve(g, size, K, right, x);
    memcpy(a, x, n * sizeof *a);
    for (uint32_t k = 0; k < m; k++)
        lambda[k] = ns_neg(g, x[n + k]);
}

/* The same on the velocities that the constraints leave, with the rows that are left:
 *
 *     [ T^T M T   (A T)^T ] [    u    ]   [ T^T (Q - M c) ]
 *     [   A T        0    ] [ -lambda ] = [    b - A c    ] */
static bool solve_reduced(const ns_dalembert *w, ns_ex *a, ns_ex *lambda)
{
    ns_graph *g = w->s->graph;
    ns_arena *arena = w->s->arena;
    const uint32_t n = w->n;
    if (n > NS_SHORTEN_MOST)
        return false;
    const ns_nullspace t = ns_nullspace_make(g, n, w->m, w->A, w->b);
    const uint32_t d = t.d, left = t.m - t.taken, size = d + left;
    ns_ex *MT = NS_NEW_ARRAY(arena, ns_ex, (size_t)n * d + 1); /* by columns */
    ns_ex *K = NS_NEW_ARRAY(arena, ns_ex, (size_t)size * size + 1);
    ns_ex *right = NS_NEW_ARRAY(arena, ns_ex, size + 1);
    ns_ex *u = NS_NEW_ARRAY(arena, ns_ex, size + 1);
    ns_ex *residual = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t i = 0; i < n; i++) /* M c - Q */
        residual[i] = ns_sub(g, ns_nullspace_dot(g, n, w->M + (size_t)i * n, t.c), w->Q[i]);
    for (uint32_t j = 0; j < d; j++) {
        const ns_ex *T = t.T + (size_t)j * n;
        for (uint32_t i = 0; i < n; i++)
            MT[j * n + i] = ns_shorten(g, ns_nullspace_dot(g, n, w->M + (size_t)i * n, T));
        right[j] = ns_shorten(g, ns_neg(g, ns_nullspace_dot(g, n, T, residual)));
        for (uint32_t i = 0; i <= j; i++)
            K[i * size + j] = K[j * size + i] = ns_shorten(
                g, ns_nullspace_dot(g, n, t.T + (size_t)i * n, MT + (size_t)j * n));
    }
    for (uint32_t k = 0; k < left; k++) {
        const uint32_t row = t.row[t.taken + k], at = d + k;
        const ns_ex *A = w->A + (size_t)row * n;
        right[at] = ns_shorten(g, ns_sub(g, w->b[row], ns_nullspace_dot(g, n, A, t.c)));
        for (uint32_t j = 0; j < d; j++)
            K[at * size + j] = K[j * size + at] = ns_shorten(
                g, ns_nullspace_dot(g, n, A, t.T + (size_t)j * n));
        for (uint32_t l = 0; l < left; l++)
            K[at * size + d + l] = ns_zero(g);
    }
    ns_lean_solve(g, size, K, right, 1, u);
    for (uint32_t i = 0; i < n; i++) {
        a[i] = t.c[i];
        for (uint32_t j = 0; j < d; j++) {
            a[i] = ns_add(g, a[i], ns_mul(g, t.T[j * n + i], u[j]));
            residual[i] = ns_add(g, residual[i], ns_mul(g, MT[j * n + i], u[j]));
        }
    }
    for (uint32_t k = 0; k < left; k++)
        lambda[t.row[t.taken + k]] = ns_neg(g, u[d + k]);
    ns_nullspace_multipliers(g, &t, residual, lambda);
    return true;
}

/* The same along the tree, where M is not written down (expr/tree.h):
 *
 *     (A M^-1 A^T) lambda = b - A M^-1 Q,     a = M^-1 Q + (M^-1 A^T) lambda */
static void solve_tree(const ns_dalembert *w, ns_ex *a, ns_ex *lambda)
{
    ns_graph *g = w->s->graph;
    ns_arena *arena = w->s->arena;
    const uint32_t n = w->n, m = w->m;
    ns_ex *Y = NS_NEW_ARRAY(arena, ns_ex, (size_t)m * n + 1); /* M^-1 A^T, by columns */
    ns_ex *S = NS_NEW_ARRAY(arena, ns_ex, (size_t)m * m + 1);
    ns_ex *right = NS_NEW_ARRAY(arena, ns_ex, m + 1);
    ns_tree_solve(w->tree, w->Q, a);
    for (uint32_t k = 0; k < m; k++) {
        const ns_ex *row = w->A + (size_t)k * n;
        ns_tree_solve(w->tree, row, Y + (size_t)k * n);
        right[k] = ns_sub(g, w->b[k], ns_nullspace_dot(g, n, row, a));
        for (uint32_t l = 0; l <= k; l++)
            S[k * m + l] = S[l * m + k] = ns_nullspace_dot(g, n, row, Y + (size_t)l * n);
    }
    if (m)
        ns_solve(g, m, S, right, lambda);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < m; k++)
            a[i] = ns_add(g, a[i], ns_mul(g, Y[k * n + i], lambda[k]));
}

/* Accelerations and multipliers the way that takes fewer operations. */
static void solve(const ns_dalembert *w, ns_ex *a, ns_ex *lambda)
{
    ns_graph *g = w->s->graph;
    const uint32_t n = w->n;
    if (w->tree) {
        solve_tree(w, a, lambda);
        return;
    }
    ns_ex *b = NS_NEW_ARRAY(w->s->arena, ns_ex, n);
    ns_ex *mu = NS_NEW_ARRAY(w->s->arena, ns_ex, w->m + 1);
    solve_saddle(w, a, lambda);
    if (!solve_reduced(w, b, mu) || ns_shorten_cost(g, a, n) <= ns_shorten_cost(g, b, n))
        return;
    memcpy(a, b, n * sizeof *a);
    memcpy(lambda, mu, w->m * sizeof *lambda);
}

/* States, rates, multipliers. */
static void assemble(ns_dalembert *w)
{
    const ns_description *d = w->d;
    ns_system *s = w->s;
    ns_graph *g = s->graph;
    const uint32_t n = w->n, m = w->m;
    ns_ex *a = NS_NEW_ARRAY(s->arena, ns_ex, n);
    ns_ex *lambda = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
    solve(w, a, lambda);
    ns_dalembert_settle(w, lambda, a, lambda);
    for (uint32_t i = 0; i < n; i++)
        ns_system_add_coordinate(s, &d->coordinates.at[i], w->v[i]);
    for (uint32_t i = 0; i < n; i++)
        ns_system_add_velocity(s, &d->coordinates.at[i], a[i], "");
    ns_system_observe(s, NS_QUANTITY_ENERGY, "energy", s->energy, "J", true);
    for (uint32_t k = 0; k < m; k++)
        ns_system_multiplier(s, d->constraints.at[k].name, lambda[k], true);
    for (uint32_t i = 0; m && i < n; i++) {
        ns_ex reaction = ns_zero(g);
        for (uint32_t k = 0; k < m; k++)
            reaction = ns_add(g, reaction, ns_mul(g, w->A[k * n + i], lambda[k]));
        ns_system_observe(s, NS_QUANTITY_FORCE,
                          ns_arena_format(s->arena, "reaction.%s", d->coordinates.at[i].name),
                          reaction, "", false);
    }
}

/* Multipliers that forces contain: lambda.NAME. */
static bool offer_reactions(ns_description *d, ns_dalembert *w)
{
    const uint32_t m = d->constraints.n;
    if (!ns_description_awaits_reactions(d))
        return true;
    ns_ex *symbol = NS_NEW_ARRAY(d->arena, ns_ex, m + 1);
    ns_scope_entry *entry = NS_NEW_ARRAY(d->arena, ns_scope_entry, m + 1);
    for (uint32_t k = 0; k < m; k++) {
        const char *name = ns_arena_format(d->arena, "lambda.%s", d->constraints.at[k].name);
        symbol[k] = ns_symbol_new(d->graph, name, NS_SYM_LOCAL, k);
        entry[k] = (ns_scope_entry){.name = name, .value = {1, 1, &symbol[k]}};
    }
    w->reaction = symbol;
    w->n_reactions = m;
    /* the model's lines are published again; those of a formulation are not among them */
    ns_constraint_line *all = ns_arena_copy(d->arena, d->constraints.at, m * sizeof *all);
    bool good = ns_description_reactions(d, entry, m);
    for (uint32_t k = 0; good && k < d->constraints.n; k++)
        good = ns_reactions_absent(w->s, d->constraints.at[k].residual, symbol, m,
                                   d->constraints.at[k].span, "a constraint");
    d->constraints.at = all;
    d->constraints.n = d->constraints.room = m;
    return good;
}

bool ns_lagrange_derive(ns_description *d, ns_system *s, ns_grips *grips)
{
    if (d->states.n > 0) {
        ns_diag_error(d->diag, d->states.at[0].span,
                      "a model has either `state` lines or coordinates with a Lagrangian");
        return false;
    }
    if (!d->lagrangian || d->coordinates.n == 0) {
        ns_diag_error(d->diag,
                      d->coordinates.n ? d->coordinates.at[0].span : d->lagrangian_span,
                      d->lagrangian ? "a Lagrangian needs coordinates: add a `coordinate` line"
                                    : "coordinates need a `lagrangian` line");
        return false;
    }
    ns_dalembert w = ns_dalembert_new(d, s);
    w.lagrangian = d->lagrangian;
    if (!offer_reactions(d, &w) || !ns_grip_normals(d, s, &w, grips))
        return false;
    w.forces = d->forces.at;
    w.n_forces = d->forces.n;
    w.constraints = d->constraints.at;
    w.m = d->constraints.n;
    w.affine = w.shorten = true;
    if (!ns_dalembert_derive(&w))
        return false;
    if (grips->n) {
        w.grips = ns_arena_copy(s->arena, grips, sizeof *grips);
        ns_grip_assemble(&w, w.grips, solve);
        w.conservative = false;
    } else {
        assemble(&w);
    }
    ns_dalembert_note(&w);
    s->own = ns_arena_copy(s->arena, &w, sizeof w);
    s->conservative = w.conservative;
    ns_system_fact(s, "coordinates", "%u", w.n);
    ns_system_fact(s, "constraints", "%u (%u on positions, %u on velocities)", w.m, w.holonomic,
                   w.m - w.holonomic);
    ns_system_fact(s, "degrees of freedom", "%d", (int)w.n - (int)w.m);
    if (!w.holonomic && !grips->n)
        ns_moving_energy(s, d, w.m, w.A, w.rest, s->energy, w.momentum);
    return ns_symmetry_attach(d, s);
}

/* P = dL/dv, G = dL/dq + F; contacts with friction and reactions in forces have no such
 * form. */
static const ns_balance *balance(const ns_system *s)
{
    const ns_dalembert *w = s->own;
    ns_graph *g = s->graph;
    const uint32_t n = w->n, m = w->m;
    if (w->grips || w->n_used || s->states.n != 2 * n || s->states.at[0].symbol != w->q[0])
        return NULL;
    ns_balance *d = NS_NEW(s->arena, ns_balance);
    ns_ex *G = NS_NEW_ARRAY(s->arena, ns_ex, n), *phi = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
    ns_diff_gradient(g, w->lagrangian, w->q, n, G);
    for (uint32_t k = 0; k < w->n_forces; k++) {
        const uint32_t i = w->forces[k].coordinate;
        G[i] = ns_add(g, G[i], w->forces[k].value);
    }
    for (uint32_t k = 0; k < m; k++)
        phi[k] = w->at_position[k] == UINT32_MAX
                     ? 0
                     : s->constraints.at[w->at_position[k]].residual;
    *d = (ns_balance){n, n, m, w->v, w->momentum, G, w->A, w->psi, phi};
    return d;
}

static bool derive(ns_description *d, ns_system *s)
{
    ns_grips *grips = NS_NEW(s->arena, ns_grips);
    return ns_grip_read(d, s, grips) && ns_lagrange_derive(d, s, grips);
}

bool ns_lagrange_sizes(const ns_system *s, ns_diag *diag, const double *p)
{
    const ns_dalembert *w = s->own;
    return ns_grip_sizes(s, w->grips, diag, p);
}

#define SINGULAR                                                                               \
    "the mass matrix is singular: the accelerations of %s are not determined; "                \
    "formulation `constrained` handles singular mass matrices"
static const char undefined[] = "the mass matrix or a constraint is not defined at the start";

/* Names of the coordinates with a large share in a vector. */
static const char *participants(const ns_system *s, const double *vector, uint32_t n)
{
    ns_text text = ns_text_new(s->arena);
    double most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = ns_max(most, fabs(vector[i]));
    for (uint32_t i = 0; i < n; i++)
        if (fabs(vector[i]) > 0.1 * most)
            ns_text_addf(&text, "%s%s", text.length ? ", " : "",
                         s->description->coordinates.at[i].name);
    return ns_text_string(&text);
}

/* Rows that depend on those before them: by Gram-Schmidt on the normalised rows. */
static bool independent_rows(const ns_dalembert *w, ns_diag *diag, double *A)
{
    const uint32_t m = w->m, n = w->n;
    bool good = true;
    for (uint32_t k = 0; k < m; k++) {
        double *row = A + (size_t)k * n, norm = 0, left = 0;
        for (uint32_t i = 0; i < n; i++)
            norm += row[i] * row[i];
        for (int twice = 0; twice < 2; twice++)
            for (uint32_t j = 0; j < k; j++) {
                double dot = 0;
                for (uint32_t i = 0; i < n; i++)
                    dot += row[i] * A[j * n + i];
                for (uint32_t i = 0; i < n; i++)
                    row[i] -= dot * A[j * n + i];
            }
        for (uint32_t i = 0; i < n; i++)
            left += row[i] * row[i];
        bool dependent = !(left > 1e-20 * norm);
        for (uint32_t i = 0; i < n; i++)
            row[i] = dependent ? 0 : row[i] / sqrt(left);
        if (dependent) {
            const ns_constraint_line *line = &w->constraints[k];
            ns_diag_error(diag, line->span,
                          norm > 0
                              ? "constraint `%s` is redundant: at the start it follows from "
                                "those before it; remove it, or use formulation "
                                "`constrained`, which accepts dependent constraints"
                              : "constraint `%s` restricts no velocity at the start",
                          line->name);
            good = false;
        }
    }
    return good;
}

/* The same where M is not written down: M is regular if its pivots say so, and the system is if
 * the rows are independent too. */
static bool verify_tree(const ns_system *s, ns_diag *diag, double t0, const double *p,
                        const double *x)
{
    const ns_dalembert *w = s->own;
    const uint32_t n = w->n, m = w->m;
    double *pivot = NS_NEW_ARRAY(s->arena, double, n),
                                 *size = NS_NEW_ARRAY(s->arena, double, n);
    double *A = NS_NEW_ARRAY(s->arena, double, (size_t)m * n + 1), sum = 0;
    ns_system_eval(s, ns_tree_pivots(w->tree), n, t0, p, x, pivot);
    ns_system_eval(s, ns_tree_sizes(w->tree), n, t0, p, x, size);
    ns_system_eval(s, w->A, (size_t)m * n, t0, p, x, A);
    for (uint32_t i = 0; i < n; i++)
        sum += (pivot[i] - pivot[i]) + (size[i] - size[i]);
    for (size_t i = 0; i < (size_t)m * n; i++)
        sum += A[i] - A[i];
    if (sum != 0) {
        ns_diag_error(diag, s->description->lagrangian_span, "%s", undefined);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!(fabs(pivot[i]) > 1e-13 * fabs(size[i]))) {
            ns_diag_error(diag, s->description->lagrangian_span, SINGULAR,
                          s->description->coordinates.at[i].name);
            return false;
        }
    for (uint32_t k = 0; k < m; k++)
        for (uint32_t i = 0; i < n; i++)
            A[k * n + i] /= sqrt(fabs(size[i]));
    return independent_rows(w, diag, A);
}

static bool verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                   const double *x)
{
    const ns_description *d = s->description;
    /* not taken from the solve node, which a vanishing right-hand side folds */
    const ns_dalembert *w = s->own;
    if (w->tree)
        return verify_tree(s, diag, t0, p, x);
    const uint32_t n = w->n, m = w->m, size = n + m;
    double *M = NS_NEW_ARRAY(s->arena, double, (size_t)n * n);
    double *rows = NS_NEW_ARRAY(s->arena, double, (size_t)m * n + 1);
    ns_system_eval(s, w->M, (size_t)n * n, t0, p, x, M);
    ns_system_eval(s, w->A, (size_t)m * n, t0, p, x, rows);
    double sum = 0; /* nan if any entry is not finite */
    for (uint32_t i = 0; i < n * n; i++)
        sum += M[i] - M[i];
    for (uint32_t i = 0; i < m * n; i++)
        sum += rows[i] - rows[i];
    if (sum != 0) {
        ns_diag_error(diag, d->lagrangian_span, "%s", undefined);
        return false;
    }
    /* units do not matter if coordinates are measured so that the diagonal of M is 1 */
    double *A = NS_NEW_ARRAY(s->arena, double, (size_t)m * n + 1), largest = 0;
    double *unit = NS_NEW_ARRAY(s->arena, double, n);
    for (uint32_t i = 0; i < n; i++)
        largest = ns_max(largest, fabs(M[i * n + i]));
    for (uint32_t i = 0; i < n; i++) {
        const double inertia = fabs(M[i * n + i]);
        unit[i] = 1 / sqrt(inertia > 0 ? inertia : ns_max(largest, 1e-300));
    }
    for (uint32_t k = 0; k < m; k++)
        for (uint32_t i = 0; i < n; i++)
            A[k * n + i] = rows[k * n + i] * unit[i];
    if (!independent_rows(w, diag, A))
        return false;
    /* A now holds orthonormal rows.  The system is regular iff M is regular on their null
     * space. */
    double *T = NS_NEW_ARRAY(s->arena, double, (size_t)size * size);
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t j = 0; j < size; j++)
            T[i * size + j] = i < n && j < n ? M[i * n + j] * unit[i] * unit[j]
                              : i < n        ? A[(j - n) * n + i]
                              : j < n        ? A[(i - n) * n + j]
                                             : 0;
    if (ns_dense_regular(s->arena, size, T, 1e11)) /* almost always, and quick to see */
        return true;
    double *sigma = NS_NEW_ARRAY(s->arena, double, size);
    double *V = NS_NEW_ARRAY(s->arena, double, (size_t)size * size);
    ns_dense_svd(s->arena, size, size, T, sigma, V);
    if (!(sigma[size - 1] > 1e-13 * sigma[0])) {
        ns_diag_error(diag, d->lagrangian_span, SINGULAR,
                      participants(s, V + (size_t)(size - 1) * size, n));
        return false;
    }
    return true;
}

static const ns_block_form *const blocks[] = {&ns_block_symmetry, &ns_block_contact,
                                              &ns_block_start, NULL};

const ns_formulation ns_formulation_lagrange = {
    .name = "lagrange",
    .summary =
        "coordinates, a Lagrangian and constraints: Lagrange-d'Alembert with multipliers",
    .doc =
        "Coordinates q, a Lagrangian L(t, q, q'), forces and constraints on positions or on\n"
        "velocities (affine in them; told apart by whether velocities enter).  The equations\n"
        "d/dt dL/dq' - dL/dq = F + A^T lambda are derived by exact differentiation; holonomic\n"
        "constraints are differentiated twice and the state is kept on the constraints.\n"
        "contact NAME { slip EXPR; normal EXPR; friction coulomb(STATIC, KINETIC) }: friction\n"
        "that holds a slip velocity at zero while it can, and slides otherwise.\n\n"
        "Values: every coordinate q and q', energy, lambda.NAME (multiplier of constraint "
        "NAME,\n"
        "the force along its row) and reaction.q (generalised constraint force on q).\n\n"
        "Source: Bloch, Marsden, Zenkov 2009, section 3.1.",
    .fits = fits,
    .derive = derive,
    .balance = balance,
    .sizes = ns_lagrange_sizes,
    .verify = verify,
    .blocks = blocks,
};

const ns_dalembert *ns_lagrange_equations(const ns_system *s)
{
    return s->formulation == &ns_formulation_lagrange ? s->own : NULL;
}
