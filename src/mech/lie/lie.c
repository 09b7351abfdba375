/* Formulation `lie`: motion on a Lie group in the velocities of its algebra (Bloch, Marsden and
 * Zenkov 2009, (2.23) and section 5).
 *
 * With v = g^-1 g' in the algebra, a Lagrangian l(v) = v.I v/2 that does not see g, momenta
 * p = dl/dv, and constraints a^s.v = 0,
 *
 *     p_b' = C_ab^c v^a p_c + lambda_s a^s_b                       (2.23), (5.3), (5.4)
 *     g'   = g v^a E_a
 *
 * In space the momentum is mu = Ad*_{g^-1} p, and
 *
 *     mu'  = lambda_s Ad*_{g^-1} a^s                                (5.7)
 *
 * so that it is constant without constraints.
 *
 * The same file serves Lagrangians and constraints that do depend on g (the heavy top, the
 * Veselova problem): e_b being the left-invariant fields, e_b[g] = g E_b, these are Hamel's
 * equations (2.8), (3.6) in that frame, whose brackets are constants,
 *
 *     p_b' = C_ab^c v^a p_c + e_b[l] + lambda_s a^s_b(g).
 *
 * With M = d2l/dv2 velocities' rates and multipliers are one solve,
 *
 *     [ M  a^T ] [   v'    ]   [ C v p + e[l] - (dp/dg) g' - dp/dt ]
 *     [ a   0  ] [ -lambda ] = [ -(da/dg g') v                     ]
 *
 * whose matrix is factored once per run where it is constant.  Constraints may be affine,
 * a^s(g, t).v + c^s(g, t) = 0: then the last rows are -(da/dt) v - dc/dt, and the energy
 * changes at the rate -lambda_s c^s. */
#include "mech/lie/lie.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/normal/normal.h"
#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/formulations.h"

enum { READABLE = 10 }; /* dimension up to which equations are put in order for print */

typedef struct work {
    ns_description *d;
    ns_system *s;
    ns_graph *g;
    ns_lie *w;
    ns_ex lagrangian;
    ns_ex *entry;      /* moving entries of g */
    ns_ex *entry_rate; /* their derivatives */
    uint32_t entries;
    ns_ex *dv; /* [n] */
} work;

const ns_lie *ns_lie_of(const ns_system *s)
{
    return s->formulation == &ns_formulation_lie ? s->own : NULL;
}

static bool fits(const ns_description *d)
{
    for (uint32_t i = 0; i < d->blocks.n; i++)
        if (d->blocks.at[i].form == &ns_block_algebra)
            return true;
    return false;
}

/* ---- input ------------------------------------------------------------------------------- */

static bool depends_on_symbols(const work *k, ns_ex e)
{
    double number;
    if (ns_graph_is_number(k->g, e, &number))
        return false;
    return ns_graph_depends(k->g, e, k->w->v, k->w->n) ||
           ns_graph_depends(k->g, e, k->entry, k->entries) ||
           ns_graph_depends(k->g, e, &k->d->time, 1);
}

/* Names for the rest of the model: v, v1 .., g, g.11 .. */
static bool define(work *k)
{
    ns_lie *w = k->w;
    ns_arena *arena = k->d->arena;
    uint32_t n = w->n, N = w->N;
    w->v = NS_NEW_ARRAY(arena, ns_ex, n);
    NS_LIST(ns_scope_entry) list = {0};
    for (uint32_t a = 0; a < n; a++) {
        const char *name = ns_arena_format(arena, "v%u", a + 1);
        w->v[a] = ns_symbol_new(k->g, name, NS_SYM_STATE, a);
        NS_PUSH(arena, list, (ns_scope_entry){.name = name, .value = {1, 1, &w->v[a]}});
    }
    NS_PUSH(arena, list, (ns_scope_entry){.name = "v", .value = {n, 1, w->v}});
    k->entry = NS_NEW_ARRAY(arena, ns_ex, (size_t)N * N + 1);
    ns_lie_group_symbols(w, k->s, k->entry, &k->entries);
    for (uint32_t i = 0; i < N * N; i++)
        NS_PUSH(arena, list,
                (ns_scope_entry){.name = ns_lie_group_entry(w, arena, i / N, i % N),
                                 .value = {1, 1, &w->g[i]}});
    if (N)
        NS_PUSH(arena, list, (ns_scope_entry){.name = "g", .value = {N, N, w->g}});
    return ns_description_define(k->d, list.at, list.n);
}

/* inertia MATRIX or VECTOR (its diagonal): l = v.I v/2 */
static bool from_inertia(work *k, const ns_property *p)
{
    uint32_t n = k->w->n;
    ns_graph *g = k->g;
    bool matrix = p->values == 1 && p->value[0].rows == n && p->value[0].cols == n;
    bool diagonal = p->values == 1 && p->value[0].rows == n && p->value[0].cols == 1;
    if (!matrix && !diagonal) {
        ns_diag_error(k->d->diag, p->values ? p->value_span : p->span,
                      "`inertia` is a symmetric %u x %u matrix, or the %u numbers of its "
                      "diagonal",
                      n, n, n);
        return false;
    }
    const ns_ex *I = p->value[0].at;
    ns_ex twice = ns_zero(g);
    for (uint32_t i = 0; i < n * (matrix ? n : 1); i++)
        if (depends_on_symbols(k, I[i])) {
            ns_diag_error(k->d->diag, p->value_span,
                          "`inertia` may depend on parameters only; use `lagrangian` for more");
            return false;
        }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            if (!matrix && i != j)
                continue;
            ns_ex entry = matrix ? I[i * n + j] : I[i];
            const ns_ex other = matrix ? I[j * n + i] : entry;
            const ns_ex sizes = ns_add(g, ns_abs(g, entry), ns_abs(g, other));
            if (matrix && j > i && !ns_eval_vanishes(g, ns_sub(g, entry, other), sizes)) {
                ns_diag_error(k->d->diag, p->value_span,
                              "the inertia is not symmetric: entries (%u, %u) and (%u, %u) "
                              "differ",
                              i + 1, j + 1, j + 1, i + 1);
                return false;
            }
            twice = ns_add(g, twice, ns_mul(g, entry, ns_mul(g, k->w->v[i], k->w->v[j])));
        }
    k->lagrangian = ns_mul(g, ns_number(g, 0.5), twice);
    return true;
}

static bool read_lagrangian(work *k)
{
    const ns_block *block = ns_block_single(k->d, &ns_block_algebra);
    const ns_property *inertia = ns_block_find(block, "inertia");
    const ns_property *potential = ns_block_find(block, "potential");
    if (inertia && k->d->lagrangian) {
        ns_diag_error(k->d->diag, inertia->span,
                      "either `inertia` or `lagrangian` gives the kinetic energy, not both");
        return false;
    }
    if (!inertia && !k->d->lagrangian) {
        ns_diag_error(k->d->diag, block->span,
                      "expected `inertia` in the block, or a `lagrangian` in v1, v2, ...");
        return false;
    }
    k->lagrangian = k->d->lagrangian;
    if (inertia && !from_inertia(k, inertia))
        return false;
    if (potential) {
        ns_ex value;
        if (potential->word) {
            ns_diag_error(k->d->diag, potential->value_span, "undefined name `%s`%s",
                          potential->word,
                          k->w->N ? "" : ": the group is not followed, there is no g");
            return false;
        }
        if (!ns_block_scalar(k->d, potential, 0, &value))
            return false;
        if (ns_graph_depends(k->g, value, k->w->v, k->w->n)) {
            ns_diag_error(k->d->diag, potential->value_span,
                          "a potential depends on g and time, not on velocities");
            return false;
        }
        k->lagrangian = ns_sub(k->g, k->lagrangian, value);
    }
    return true;
}

static bool read_constraints(work *k)
{
    ns_lie *w = k->w;
    uint32_t n = w->n, p = k->d->constraints.n;
    w->constraints = p;
    w->a = NS_NEW_ARRAY(k->d->arena, ns_ex, (size_t)p * n + 1);
    w->c = NS_NEW_ARRAY(k->d->arena, ns_ex, p + 1);
    if (p >= n) {
        ns_diag_error(k->d->diag, k->d->constraints.at[n - 1].span,
                      "%u constraints leave nothing of %u velocities to move", p, n);
        return false;
    }
    for (uint32_t i = 0; i < p; i++) {
        const ns_constraint_line *line = &k->d->constraints.at[i];
        if (!ns_subst_collect_linear(k->g, line->residual, w->v, n, w->a + i * n, &w->c[i]) ||
            !ns_graph_depends(k->g, line->residual, w->v, n)) {
            ns_diag_error(k->d->diag, line->span,
                          "constraint `%s` must be linear in the velocities v1 .. v%u, with "
                          "further terms of g and time",
                          line->name, n);
            return false;
        }
        w->affine = w->affine || !ns_graph_is_zero(k->g, w->c[i]);
    }
    return true;
}

/* ---- equations --------------------------------------------------------------------------- */

/* g E_b: the left-invariant field of basis vector b at the moving entries */
static void left_field(work *k, uint32_t b, ns_ex *out)
{
    ns_lie *w = k->w;
    ns_ex *unit = NS_NEW_ARRAY(k->d->arena, ns_ex, w->n);
    for (uint32_t a = 0; a < w->n; a++)
        unit[a] = ns_integer(k->g, a == b);
    for (uint32_t i = 0, e = 0; i < w->N * w->N; i++)
        if (e < k->entries && w->g[i] == k->entry[e])
            out[e++] = ns_lie_group_rate(w, k->g, unit, i / w->N, i % w->N);
}

/* The energy changes at the rate lambda_s a^s.v.  A v that violates the constraints by a
 * rounding error, as every v does, would let it drift; so the right-hand sides are taken at the
 * nearest velocity that satisfies them (in the metric M), which the same factors give:
 *
 *     [ M  a^T ] [ v^ ]   [ M v ]
 *     [ a   0  ] [ .. ] = [ -c  ]
 *
 * On the constraints nothing changes. */
static void onto_constraints(work *k, const ns_ex *K, ns_ex *right)
{
    ns_graph *g = k->g;
    ns_lie *w = k->w;
    uint32_t n = w->n, size = n + w->constraints;
    double number;
    for (uint32_t i = 0; i < n * n; i++)
        if (!ns_graph_is_number(g, w->M[i], &number) && ns_graph_depends(g, w->M[i], w->v, n))
            return;
    ns_ex *b = NS_NEW_ARRAY(k->d->arena, ns_ex, size);
    ns_ex *near = NS_NEW_ARRAY(k->d->arena, ns_ex, size);
    for (uint32_t i = 0; i < size; i++) {
        b[i] = i < n ? ns_zero(g) : ns_neg(g, w->c[i - n]);
        for (uint32_t j = 0; i < n && j < n; j++)
            b[i] = ns_add(g, b[i], ns_mul(g, w->M[i * n + j], w->v[j]));
    }
    ns_solve(g, size, K, b, near);
    ns_subst(g, right, size, w->v, near, n, right);
    ns_subst(g, k->entry_rate, k->entries, w->v, near, n, k->entry_rate);
}

static void equations(work *k)
{
    ns_graph *g = k->g;
    ns_lie *w = k->w;
    ns_arena *arena = k->d->arena;
    uint32_t n = w->n, p = w->constraints, m = k->entries, size = n + p;
    w->torque = NS_NEW_ARRAY(arena, ns_ex, n);
    /* moving symbols besides v: entries of g, time */
    ns_ex *x = NS_NEW_ARRAY(arena, ns_ex, m + 1), *dx = NS_NEW_ARRAY(arena, ns_ex, m + 1);
    k->entry_rate = dx;
    for (uint32_t i = 0, e = 0; i < w->N * w->N; i++)
        if (e < m && w->g[i] == k->entry[e]) {
            x[e] = k->entry[e];
            dx[e++] = ns_lie_group_rate(w, g, w->v, i / w->N, i % w->N);
        }
    x[m] = k->d->time;
    dx[m] = ns_one(g);
    bool sees = ns_graph_depends(g, k->lagrangian, k->entry, m);
    ns_ex *field = NS_NEW_ARRAY(arena, ns_ex, m + 1);
    ns_ex *right = NS_NEW_ARRAY(arena, ns_ex, size),
                                *K = NS_NEW_ARRAY(arena, ns_ex,
                                                                       (size_t)size * size);
    ns_ex *change = NS_NEW_ARRAY(arena, ns_ex, n + (size_t)p * n + 1);
    ns_ex *dc = NS_NEW_ARRAY(arena, ns_ex, p + 1);
    ns_diff_along(g, w->c, p, x, dx, m + 1, dc);
    ns_diff_along(g, w->p, n, x, dx, m + 1, change);
    ns_diff_along(g, w->a, (size_t)p * n, x, dx, m + 1, change + n);
    for (uint32_t b = 0; b < n; b++) {
        w->torque[b] = ns_zero(g);
        if (sees) {
            left_field(k, b, field);
            ns_diff_along(g, &k->lagrangian, 1, k->entry, field, m, &w->torque[b]);
        }
        ns_ex sum = ns_zero(g); /* C_ab^c v^a p_c */
        for (uint32_t a = 0; a < n; a++) {
            ns_ex row = ns_zero(g);
            for (uint32_t c = 0; c < n; c++) {
                ns_ex C = w->C[((size_t)a * n + b) * n + c];
                if (!ns_graph_is_zero(g, C))
                    row = ns_add(g, row, ns_mul(g, C, w->p[c]));
            }
            sum = ns_add(g, sum, ns_mul(g, w->v[a], row));
        }
        sum = ns_add(g, sum, w->torque[b]);
        NS_PUSH(arena, k->s->equations,
                (ns_equation_line){
                    .group = p ? "momentum equations, without the forces lambda_s a^s of the "
                                 "constraints"
                               : "momentum equations",
                    .name = ns_arena_format(arena, "p%u'", b + 1),
                    .value = n <= READABLE ? ns_normal_collect(g, sum, w->v, n, NULL) : sum});
        right[b] = ns_sub(g, sum, change[b]);
    }
    for (uint32_t i = 0; i < p; i++) {
        right[n + i] = ns_neg(g, dc[i]);
        for (uint32_t a = 0; a < n; a++)
            right[n + i] = ns_sub(g, right[n + i],
                                  ns_mul(g, change[n + (size_t)i * n + a], w->v[a]));
    }
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t j = 0; j < size; j++)
            K[(size_t)i * size + j] = i < n && j < n ? w->M[i * n + j]
                                      : i < n        ? w->a[(j - n) * n + i]
                                      : j < n        ? w->a[(i - n) * n + j]
                                                     : ns_zero(g);
    if (p)
        onto_constraints(k, K, right);
    ns_ex *solution = NS_NEW_ARRAY(arena, ns_ex, size);
    ns_solve(g, size, K, right, solution);
    k->dv = solution;
    w->lambda = NS_NEW_ARRAY(arena, ns_ex, p + 1);
    for (uint32_t i = 0; i < p; i++)
        w->lambda[i] = ns_neg(g, solution[n + i]);
}

/* ---- the system -------------------------------------------------------------------------- */

static void note(work *k)
{
    ns_lie *w = k->w;
    ns_system *s = k->s;
    uint32_t n = w->n;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++)
            for (uint32_t c = 0; c < n; c++) {
                ns_ex C = w->C[((size_t)a * n + b) * n + c];
                if (!ns_graph_is_zero(k->g, C))
                    NS_PUSH(s->arena, s->equations,
                            (ns_equation_line){.group = "brackets [e_i, e_j] = c_ij^m e_m",
                                               .name = ns_arena_format(s->arena, "c[%u,%u,%u]",
                                                                       a + 1, b + 1, c + 1),
                                               .value = C});
            }
    NS_PUSH(s->arena, s->equations,
            (ns_equation_line){.group = "Lagrangian", .name = "l", .value = k->lagrangian});
    for (uint32_t a = 0; a < n; a++)
        NS_PUSH(s->arena, s->equations,
                (ns_equation_line){.group = "momenta p = dl/dv",
                                   .name = ns_arena_format(s->arena, "p%u", a + 1),
                                   .value = w->p[a]});
    for (uint32_t i = 0; i < w->constraints; i++)
        NS_PUSH(s->arena, s->equations,
                (ns_equation_line){.group = "constraints, = 0",
                                   .name = k->d->constraints.at[i].name,
                                   .value = k->d->constraints.at[i].residual});
}

static void add_states(work *k)
{
    ns_lie *w = k->w;
    ns_system *s = k->s;
    for (uint32_t a = 0; a < w->n; a++)
        ns_system_add_state(s, NS_QUANTITY_QUASIVELOCITY,
                            ns_arena_format(s->arena, "v%u", a + 1), w->v[a], k->dv[a], "");
    for (uint32_t e = 0; e < k->entries; e++)
        ns_system_add_state(s, NS_QUANTITY_COORDINATE, ns_graph_symbol(k->g, k->entry[e])->name,
                            k->entry[e], k->entry_rate[e], "");
    if (k->entries)
        ns_system_group(s, NS_QUANTITY_MATRIX, "g", w->n, k->entries);
    for (uint32_t i = 0; i < w->constraints; i++)
        NS_PUSH(s->arena, s->constraints,
                (ns_constraint){.name = k->d->constraints.at[i].name,
                                .residual = k->d->constraints.at[i].residual,
                                .project = true,
                                .span = k->d->constraints.at[i].span});
    ns_lie_group_manifold(w, s);
}

/* Momenta as values NAME1, NAME2, ..., and the vector itself for expressions. */
static void observe_momenta(ns_system *s, const char *name, const ns_ex *at, uint32_t n,
                            bool basic)
{
    for (uint32_t a = 0; a < n; a++)
        ns_system_observe(s, NS_QUANTITY_MOMENTUM,
                          ns_arena_format(s->arena, "%s%u", name, a + 1), at[a], "", basic);
    ns_system_define(s, name, at, n);
}

static void add_values(work *k)
{
    ns_lie *w = k->w;
    ns_system *s = k->s;
    ns_graph *g = k->g;
    uint32_t n = w->n, p = w->constraints;
    ns_ex energy = ns_neg(g, k->lagrangian), twice = ns_zero(g);
    for (uint32_t a = 0; a < n; a++)
        energy = ns_add(g, energy, ns_mul(g, w->p[a], w->v[a]));
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            twice = ns_add(g, twice, ns_mul(g, w->M[a * n + b], ns_mul(g, w->v[a], w->v[b])));
    s->kinetic = ns_mul(g, ns_number(g, 0.5), twice);
    bool timed = ns_graph_depends(g, k->lagrangian, &k->d->time, 1);
    w->quadratic = !ns_graph_depends(g, k->lagrangian, k->entry, k->entries) && !timed;
    double number;
    for (uint32_t i = 0; i < n * n && w->quadratic; i++)
        w->quadratic = ns_graph_is_number(g, w->M[i], &number) ||
                       !ns_graph_depends(g, w->M[i], w->v, n);
    if (w->quadratic) /* and nothing linear in v */
        w->quadratic = ns_eval_vanishes(g, ns_sub(g, k->lagrangian, s->kinetic), 0);
    /* l = v.I v/2 is an energy of positive terms: better so than as p.v - l */
    s->energy = w->quadratic ? s->kinetic : energy;
    s->conservative = !timed && !w->affine;
    w->invariant = !ns_graph_depends(g, k->lagrangian, k->entry, k->entries) && !timed &&
                   !w->affine;
    for (uint32_t i = 0; i < p * n; i++)
        w->invariant = w->invariant && !ns_graph_depends(g, w->a[i], k->entry, k->entries) &&
                       !ns_graph_depends(g, w->a[i], &k->d->time, 1);
    ns_system_observe(s, NS_QUANTITY_ENERGY, "energy", s->energy, "J", true);
    observe_momenta(s, "p", w->p, n, n <= 6);
    for (uint32_t i = 0; i < p; i++)
        ns_system_multiplier(s, k->d->constraints.at[i].name, w->lambda[i], true);
    bool free_motion = p == 0 && w->invariant;
    if (w->N) {
        w->mu = NS_NEW_ARRAY(s->arena, ns_ex, n);
        ns_lie_group_to_space(w, s, w->p, w->mu);
        observe_momenta(s, "mu", w->mu, n, false);
        NS_PUSH(s->arena, s->vectors,
                (ns_scope_entry){.name = "g", .value = {w->N, w->N, w->g}});
        for (uint32_t a = 0; a < n && free_motion; a++)
            NS_PUSH(s->arena, s->invariants,
                    (ns_invariant){.name = ns_arena_format(s->arena, "mu%u", a + 1),
                                   .value = w->mu[a]});
    }
    ns_system_define(s, "v", w->v, n);
    ns_lie_casimirs(w, s, free_motion);
}

static void add_facts(work *k)
{
    ns_lie *w = k->w;
    uint32_t n = w->n;
    double *p = NS_NEW_ARRAY(k->d->arena, double, k->d->params.n + 1);
    double *C = NS_NEW_ARRAY(k->d->arena, double, (size_t)n * n * n);
    double *T = NS_NEW_ARRAY(k->d->arena, double, n), most = 0;
    ns_system_params(k->s, NULL, NULL, p);
    ns_lie_constants(w, k->s, p, C);
    ns_lie_trace(n, C, T);
    for (uint32_t a = 0; a < n; a++)
        most = ns_max(most, fabs(T[a]));
    ns_system_fact(k->s, "algebra", "%s, dimension %u, %s", w->name, n,
                   most < 1e-12 ? "unimodular" : "not unimodular");
    ns_system_fact(k->s, "velocities", "%u, %u constraint%s", n, w->constraints,
                   w->constraints == 1 ? "" : "s");
    if (!w->N)
        ns_system_fact(k->s, "group", "not followed (`reconstruct adjoint` does)");
    else
        ns_system_fact(k->s, "group", "%u x %u matrices%s, %u moving entries", w->N, w->N,
                       w->adjoint ? " Ad_g" : "", k->entries);
}

/* ---- start ------------------------------------------------------------------------------- */

static void set(ns_system *s, uint32_t i, ns_ex value, const ns_property *p)
{
    s->start.value[i] = value;
    s->start.free[i] = s->start.guess[i] = p->guess;
    s->start.span[i] = p->value_span;
}

/* v = [..], g = [[..]], p = [..], single states and momenta */
static bool start_with(work *k, const ns_property *p)
{
    ns_system *s = k->s;
    ns_lie *w = k->w;
    uint32_t n = w->n, count = p->values == 1 ? p->value[0].rows * p->value[0].cols : 0;
    const ns_ex *at = count ? p->value[0].at : NULL;
    const uint32_t state = ns_system_state_named(s, p->name);
    if (state < s->states.n && count == 1) {
        set(s, state, at[0], p);
        return true;
    }
    if (strcmp(p->name, "v") == 0 && count == n) {
        for (uint32_t a = 0; a < n; a++)
            set(s, a, at[a], p);
        return true;
    }
    if (strcmp(p->name, "g") == 0 && w->N && count == w->N * w->N) {
        for (uint32_t i = 0, e = 0; i < count; i++)
            if (e < k->entries && w->g[i] == k->entry[e])
                set(s, n + e++, at[i], p);
            else if (!ns_eval_vanishes(k->g, ns_sub(k->g, w->g[i], at[i]), 0)) {
                ns_diag_error(k->d->diag, p->value_span,
                              "entry (%u, %u) of g must be %d for this group", i / w->N + 1,
                              i % w->N + 1, i / w->N == i % w->N);
                return false;
            }
        return true;
    }
    for (uint32_t a = 0; a < n; a++) { /* momenta are equations for v */
        bool all = strcmp(p->name, "p") == 0 && count == n;
        if (!all &&
            (count != 1 || strcmp(p->name, ns_arena_format(s->arena, "p%u", a + 1)) != 0))
            continue;
        ns_system_start_equation(s, ns_arena_format(s->arena, "p%u", a + 1),
                                 ns_sub(k->g, w->p[a], at[all ? a : 0]), p->guess,
                                 p->value_span);
        if (!all || a + 1 == n)
            return true;
    }
    ns_diag_error(k->d->diag, p->span,
                  "`%s` is not something a start sets here: expected v, v1 .. v%u, p, p1 .. "
                  "p%u%s of the right size",
                  p->name, n, n, w->N ? ", g or an entry g.11, ..." : "");
    return false;
}

static bool start(work *k)
{
    ns_system *s = k->s;
    uint32_t states = s->states.n, n = k->w->n;
    s->start.value = NS_NEW_ARRAY(s->arena, ns_ex, states);
    s->start.free = NS_NEW_ARRAY(s->arena, bool, states);
    s->start.guess = NS_NEW_ARRAY(s->arena, bool, states);
    s->start.span = NS_NEW_ARRAY(s->arena, ns_span, states);
    /* velocities left open follow from the constraints; the group begins at the identity */
    for (uint32_t i = 0; i < states; i++) {
        s->start.value[i] = ns_zero(k->g);
        s->start.free[i] = i < n;
    }
    for (uint32_t i = 0, e = 0; i < k->w->N * k->w->N; i++)
        if (e < k->entries && k->w->g[i] == k->entry[e])
            s->start.value[n + e++] = ns_integer(k->g, i / k->w->N == i % k->w->N);
    const ns_block *block = ns_block_single(k->d, &ns_block_start);
    bool good = true;
    for (uint32_t i = 0; block && i < block->properties.n; i++) {
        const ns_property *p = &block->properties.at[i];
        for (uint32_t j = 0; p->values == 1 && j < p->value[0].rows * p->value[0].cols; j++)
            if (depends_on_symbols(k, p->value[0].at[j])) {
                ns_diag_error(k->d->diag, p->value_span,
                              "a start value may depend on parameters only");
                return false;
            }
        good = start_with(k, p) && good;
    }
    return good;
}

/* `bracket` and `term` may come several times, where they belong; the others once. */
static bool properties_known(const ns_description *d, const ns_block *block)
{
    static const char *const once[] = {"inertia", "potential", "reconstruct", NULL};
    bool table = strcmp(block->kind, "table") == 0, sum = strcmp(block->kind, "sum") == 0;
    ns_block rest = *block;
    memset(&rest.properties, 0, sizeof rest.properties);
    for (uint32_t i = 0; i < block->properties.n; i++) {
        const ns_property *p = &block->properties.at[i];
        bool bracket = strcmp(p->name, "bracket") == 0, term = strcmp(p->name, "term") == 0;
        if ((bracket && !table) || (term && !sum)) {
            ns_diag_error(d->diag, p->span, "`%s` belongs to `algebra %s`", p->name,
                          bracket ? "table(n)" : "sum");
            return false;
        }
        if (!bracket && !term)
            NS_PUSH(d->arena, rest.properties, *p);
    }
    return ns_block_known(d, &rest, once);
}

static bool derive(ns_description *d, ns_system *s)
{
    work k = {.d = d, .s = s, .g = d->graph};
    const ns_block *block = ns_block_single(d, &ns_block_algebra);
    if (!block) {
        ns_diag_error(d->diag, d->whole, "formulation `lie` needs an `algebra`");
        return false;
    }
    if (d->coordinates.n || d->states.n) {
        ns_diag_error(d->diag,
                      d->coordinates.n ? d->coordinates.at[0].span : d->states.at[0].span,
                      "a model with an `algebra` has no coordinates or states of its own");
        return false;
    }
    if (!properties_known(d, block))
        return false;
    k.w = ns_lie_read(d, s, block);
    if (!k.w)
        return false;
    s->own = k.w;
    if (!define(&k) || !read_lagrangian(&k) || !read_constraints(&k))
        return false;
    k.w->p = NS_NEW_ARRAY(s->arena, ns_ex, k.w->n);
    k.w->M = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)k.w->n * k.w->n);
    ns_diff_gradient(k.g, k.lagrangian, k.w->v, k.w->n, k.w->p);
    ns_diff_jacobian(k.g, k.w->p, k.w->n, k.w->v, k.w->n, k.w->M);
    note(&k);
    equations(&k);
    add_states(&k);
    add_facts(&k);
    add_values(&k);
    return start(&k);
}

static const ns_block_form *const blocks[] = {&ns_block_algebra, &ns_block_start, NULL};

const ns_formulation ns_formulation_lie = {
    .name = "lie",
    .summary = "a Lie algebra, an inertia, constraint covectors: Euler-Poincare(-Suslov)",
    .doc =
        "algebra so(3) { inertia MATRIX; potential EXPR; reconstruct matrices|adjoint|no }\n"
        "algebra sum { term so(3); term R(2); inertia .. }\n"
        "algebra table(3) { bracket 1, 2, e3;  bracket 2, 3, e1;  bracket 3, 1, e2; inertia .. "
        "}\n\n"
        "Algebras: so(n), se(2), se(3), sl(2), heisenberg(k), R(n), sums, tables of brackets.\n"
        "Constraints are lines `constraint NAME: dot(a, v) = c`.  Instead of `inertia` a\n"
        "`lagrangian` in v1, v2, ... may be given.  Potential and constraints may depend on "
        "the\n"
        "group matrix g, constraints on time too.\n\n"
        "Values: v1.. (g^-1 g'), p1.. (momenta), mu1.. (momenta in space), lambda.NAME, "
        "g.11..,\n"
        "energy, casimir1...\n\n"
        "Source: Bloch, Marsden, Zenkov 2009, (2.23), (5.4), (5.7).",
    .fits = fits,
    .derive = derive,
    .verify = ns_lie_verify,
    .blocks = blocks,
};
