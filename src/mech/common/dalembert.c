#include "mech/common/dalembert.h"

#include <string.h>

#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/normal/shorten.h"
#include "expr/subst.h"

typedef struct along {
    ns_ex *qt; /* [n+1] coordinates and time */
    ns_ex *vt; /* [n+1] velocities and one: the direction d/dt at fixed v */
} along;

static along direction(const ns_dalembert *w)
{
    along a = {NS_NEW_ARRAY(w->s->arena, ns_ex, w->n + 1),
                            NS_NEW_ARRAY(w->s->arena, ns_ex, w->n + 1)};
    for (uint32_t i = 0; i < w->n; i++) {
        a.qt[i] = w->q[i];
        a.vt[i] = w->v[i];
    }
    a.qt[w->n] = w->d->time;
    a.vt[w->n] = ns_one(w->s->graph);
    return a;
}

static bool uses_time(const ns_dalembert *w, ns_ex e)
{
    return ns_graph_depends(w->s->graph, e, &w->d->time, 1);
}

/* Accelerations may stand only in what is observed. */
static bool no_acceleration(const ns_dalembert *w, ns_ex e, ns_span span, const char *where)
{
    ns_ex found;
    if (!ns_graph_depends_kind(w->s->graph, e, NS_SYM_ACCEL, &found))
        return true;
    ns_diag_error(w->d->diag, span, "%s cannot contain the acceleration %s", where,
                  ns_graph_symbol(w->s->graph, found)->name);
    return false;
}

/* Which reactions do the forces contain, and are they linear in them? */
static bool find_reactions(ns_dalembert *w)
{
    ns_graph *g = w->s->graph;
    ns_ex z[NS_REACTIONS_MOST];
    for (uint32_t i = 0; i < w->n_reactions; i++)
        for (uint32_t k = 0; k < w->n_forces; k++) {
            if (!ns_graph_depends(g, w->forces[k].value, w->reaction + i, 1))
                continue;
            if (w->n_used == NS_REACTIONS_MOST) {
                ns_diag_error(w->d->diag, w->forces[k].span,
                              "forces may contain %d reactions at most", NS_REACTIONS_MOST);
                return false;
            }
            z[w->n_used] = w->reaction[i];
            w->used[w->n_used++] = i;
            break;
        }
    bool good = true;
    for (uint32_t k = 0; k < w->n_forces; k++)
        good = ns_reactions_affine(w->s, w->forces[k].value, z, w->n_used, w->forces[k].span) &&
               good;
    return good;
}

void ns_dalembert_settle(ns_dalembert *w, const ns_ex *y, ns_ex *a, ns_ex *lambda)
{
    ns_system *s = w->s;
    ns_graph *g = s->graph;
    const uint32_t n = w->n_used, all = w->n + w->m + w->n;
    if (!w->n_reactions)
        return;
    ns_ex z[NS_REACTIONS_MOST], of[NS_REACTIONS_MOST], value[NS_REACTIONS_MOST];
    ns_ex **at = NS_NEW_ARRAY(s->arena, ns_ex *, all + w->n_reactions);
    ns_ex *known = ns_arena_copy(s->arena, y, w->n_reactions * sizeof *y);
    w->given = w->Q;
    w->Q = ns_arena_copy(s->arena, w->Q, w->n * sizeof *w->Q);
    for (uint32_t i = 0; i < all; i++)
        at[i] = i < w->n ? &a[i] : i < w->n + w->m ? &lambda[i - w->n] : &w->Q[i - w->n - w->m];
    for (uint32_t i = 0; i < w->n_reactions; i++)
        at[all + i] = &known[i];
    for (uint32_t i = 0; i < n; i++) {
        z[i] = w->reaction[w->used[i]];
        of[i] = y[w->used[i]];
    }
    if (n) {
        ns_reactions_watch(s, ns_reactions_solve(g, n, z, of, value));
        ns_reactions_put(g, n, z, value, at, all + w->n_reactions);
    }
    for (uint32_t i = 0; i < w->n_reactions; i++) /* for what is observed */
        NS_PUSH(s->arena, s->accelerations,
                (ns_replacement){.from = w->reaction[i], .to = known[i]});
}

/* Do these take fewer operations than w->M, w->Q? */
static bool cheaper(const ns_dalembert *w, const ns_ex *M, const ns_ex *Q)
{
    const uint32_t n = w->n;
    ns_ex *all = NS_NEW_ARRAY(w->s->arena, ns_ex, (size_t)n * (n + 1));
    memcpy(all, M, (size_t)n * n * sizeof *M);
    memcpy(all + (size_t)n * n, Q, n * sizeof *Q);
    const double cost = ns_shorten_cost(w->s->graph, all, (size_t)n * (n + 1));
    memcpy(all, w->M, (size_t)n * n * sizeof *M);
    memcpy(all + (size_t)n * n, w->Q, n * sizeof *Q);
    return cost < ns_shorten_cost(w->s->graph, all, (size_t)n * (n + 1));
}

/* A natural Lagrangian L = 1/2 v.M v + l.v + L0, with M and l in short form:
 *
 *     Q_i = 1/2 v.(dM/dq_i) v - (dM/dt v)_i  + d(l.v)/dq_i - dl_i/dt  +  dL0/dq_i + F_i
 *
 * What comes from L0 stays as it is: expanding a potential could cost digits.  False, and
 * nothing changed, if L is not of this form. */
static bool natural(ns_dalembert *w, along a)
{
    ns_graph *g = w->s->graph;
    const uint32_t n = w->n;
    ns_arena *arena = w->s->arena;
    ns_ex *M = NS_NEW_ARRAY(arena, ns_ex, (size_t)n * n), *zero = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_ex *Q = NS_NEW_ARRAY(arena, ns_ex, n), *momentum = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_ex *rate = NS_NEW_ARRAY(arena, ns_ex, n), *slope = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t i = 0; i < n; i++) {
        zero[i] = ns_zero(g);
        for (uint32_t j = i; j < n; j++) {
            M[i * n + j] = M[j * n + i] = ns_shorten(g, w->M[i * n + j]);
            if (ns_graph_depends(g, M[i * n + j], w->v, n))
                return false;
        }
    }
    const ns_ex at_rest = ns_subst_one(g, w->lagrangian, w->v, zero, n);
    ns_ex twice = zero[0], linear = zero[0];
    ns_subst(g, w->momentum, n, w->v, zero, n, momentum);
    for (uint32_t i = 0; i < n; i++) {
        ns_ex Mv = ns_zero(g);
        for (uint32_t j = 0; j < n; j++)
            Mv = ns_add(g, Mv, ns_mul(g, M[i * n + j], w->v[j]));
        momentum[i] = ns_shorten(g, momentum[i]);
        linear = ns_add(g, linear, ns_mul(g, momentum[i], w->v[i]));
        momentum[i] = ns_add(g, Mv, momentum[i]);
        twice = ns_add(g, twice, ns_mul(g, Mv, w->v[i]));
    }
    const ns_ex kinetic = ns_mul(g, ns_number(g, 0.5), twice);
    ns_diff_gradient(g, ns_add(g, kinetic, linear), w->q, n, slope);
    ns_diff_along(g, momentum, n, a.qt, a.vt, n + 1, rate);
    for (uint32_t i = 0; i < n; i++)
        Q[i] = ns_shorten(g, ns_sub(g, slope[i], rate[i]));
    ns_diff_gradient(g, at_rest, w->q, n, slope);
    for (uint32_t i = 0; i < n; i++)
        Q[i] = ns_add(g, Q[i], slope[i]);
    for (uint32_t k = 0; k < w->n_forces; k++)
        Q[w->forces[k].coordinate] = ns_add(g, Q[w->forces[k].coordinate], w->forces[k].value);
    if (!cheaper(w, M, Q))
        return false;
    w->M = M;
    w->Q = Q;
    w->momentum = momentum;
    w->s->kinetic = kinetic;
    w->s->energy = ns_sub(g, kinetic, at_rest);
    return true;
}

/* Is M regular as far as one can see, with the parameters of the model?  Where it is not, rows
 * with constraints may still be, which the tree cannot see. */
static bool regular(const ns_dalembert *w, const ns_tree *tree)
{
    const ns_description *d = w->d;
    const uint32_t n = w->n, np = d->params.n;
    ns_arena *arena = w->s->arena;
    ns_ex *symbols = NS_NEW_ARRAY(arena, ns_ex, np + 2 * n + 1);
    double *value = NS_NEW_ARRAY(arena, double, np + 2 * n + 1);
    double *pivot = NS_NEW_ARRAY(arena, double, n), *size = NS_NEW_ARRAY(arena, double, n);
    uint64_t seed = 1;
    ns_system_params(w->s, NULL, NULL, value);
    for (uint32_t i = 0; i < np; i++)
        symbols[i] = d->params.at[i].symbol;
    for (uint32_t i = 0; i < 2 * n + 1; i++) {
        symbols[np + i] = i < n ? w->q[i] : i < 2 * n ? w->v[i - n] : d->time;
        value[np + i] = ns_eval_random(&seed);
    }
    ns_eval(w->s->graph, ns_tree_pivots(tree), n, symbols, value, np + 2 * n + 1, pivot);
    ns_eval(w->s->graph, ns_tree_sizes(tree), n, symbols, value, np + 2 * n + 1, size);
    for (uint32_t i = 0; i < n; i++)
        if (!(pivot[i] > 1e-10 * size[i]))
            return false;
    return true;
}

ns_ex ns_dalembert_entry(const ns_dalembert *w, const ns_sparse_rows *list, uint32_t row,
                         uint32_t column)
{
    uint32_t low = list->start[row], high = list->start[row + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (list->column[middle] == column)
            return list->value[middle];
        if (list->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return ns_zero(w->s->graph);
}

/* The list of M: entries below the diagonal are those above it. */
static void one_node_for_both_halves(ns_dalembert *w)
{
    ns_arena *arena = w->s->arena;
    const uint32_t n = w->n;
    const ns_sparse_rows *all = ns_diff_sparse(w->s->graph, arena, w->momentum, n, w->v, n);
    const ns_sparse_rows *turned = ns_sparse_transposed(arena, all, n);
    uint32_t count = 0;
    w->masses.rows = n;
    w->masses.start = NS_NEW_ARRAY(arena, uint32_t, n + 1);
    w->masses.column = NS_NEW_ARRAY(arena, uint32_t, 2 * (size_t)all->start[n] + 1);
    w->masses.value = NS_NEW_ARRAY(arena, ns_ex, 2 * (size_t)all->start[n] + 1);
    for (uint32_t i = 0; i < n; i++) {
        for (int above = 0; above < 2; above++) {
            const ns_sparse_rows *from = above ? all : turned;
            for (uint32_t e = from->start[i]; e < from->start[i + 1]; e++)
                if (above ? from->column[e] >= i : from->column[e] < i) {
                    w->masses.column[count] = from->column[e];
                    w->masses.value[count++] = from->value[e];
                }
        }
        w->masses.start[i + 1] = count;
    }
}

ns_ex *ns_dalembert_dense(const ns_dalembert *w, const ns_sparse_rows *list)
{
    const size_t size = (size_t)list->rows * w->n;
    ns_ex *dense = NS_NEW_ARRAY(w->s->arena, ns_ex, size + 1);
    for (size_t i = 0; i < size; i++)
        dense[i] = ns_zero(w->s->graph);
    for (uint32_t k = 0; k < list->rows; k++)
        for (uint32_t e = list->start[k]; e < list->start[k + 1]; e++)
            dense[(size_t)k * w->n + list->column[e]] = list->value[e];
    return dense;
}

/* M, or its tree where that takes fewer operations: with m constraints, m + 1 solutions, the
 * products of rows with them, and a system of m equations. */
static void mass_matrix(ns_dalembert *w)
{
    enum { A_COORDINATE = 1000 }; /* more would be too many nodes */
    ns_graph *g = w->s->graph;
    const uint32_t n = w->n;
    const double m = w->m, all = n + m, nodes = (double)A_COORDINATE * n;
    /* 4 n^2: writing M down */
    const double dense = 2.0 / 3 * (all * all * all - m * m * m) - n * m * m + 4.0 * n * n;
    if (w->shorten && n > NS_SHORTEN_MOST)
        w->tree = ns_tree_make(g, w->s->arena, w->lagrangian, n, w->v, w->m + 1,
                               dense < nodes ? dense : nodes);
    if (w->tree && !regular(w, w->tree))
        w->tree = NULL;
    if (w->tree)
        return;
    if (w->sparse) {
        one_node_for_both_halves(w);
        return;
    }
    w->M = NS_NEW_ARRAY(w->s->arena, ns_ex, (size_t)n * n);
    ns_diff_jacobian(g, w->momentum, n, w->v, n, w->M);
    for (uint32_t i = 0; i < n; i++) /* one node for both halves of a symmetric matrix */
        for (uint32_t j = 0; j < i; j++)
            w->M[i * n + j] = w->M[j * n + i];
}

/* M, Q and the energy. */
static bool dynamics(ns_dalembert *w, along a)
{
    ns_graph *g = w->s->graph;
    ns_arena *arena = w->s->arena;
    uint32_t n = w->n;
    if (!no_acceleration(w, w->lagrangian, w->lagrangian_span, "the Lagrangian") ||
        !ns_reactions_absent(w->s, w->lagrangian, w->reaction, w->n_reactions,
                             w->lagrangian_span, "the Lagrangian") ||
        !find_reactions(w))
        return false;
    w->momentum = NS_NEW_ARRAY(arena, ns_ex, n);
    w->Q = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_ex *slope = NS_NEW_ARRAY(arena, ns_ex, n), *rate = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_diff_gradient(g, w->lagrangian, w->v, n, w->momentum);
    ns_diff_gradient(g, w->lagrangian, w->q, n, slope);
    mass_matrix(w);
    ns_diff_along(g, w->momentum, n, a.qt, a.vt, n + 1, rate);
    for (uint32_t i = 0; i < n; i++)
        w->Q[i] = ns_sub(g, slope[i], rate[i]);
    for (uint32_t k = 0; k < w->n_forces; k++) {
        const ns_force_line *force = &w->forces[k];
        if (!no_acceleration(w, force->value, force->span, "a force"))
            return false;
        w->Q[force->coordinate] = ns_add(g, w->Q[force->coordinate], force->value);
    }
    w->conservative = w->n_forces == 0 && !uses_time(w, w->lagrangian);
    if (w->shorten && n <= NS_SHORTEN_MOST && natural(w, a))
        return true;

    ns_ex energy = ns_neg(g, w->lagrangian), twice = ns_zero(g);
    if (w->tree) /* M v: slope is free for it */
        ns_diff_along(g, w->momentum, n, w->v, w->v, n, slope);
    for (uint32_t i = 0; i < n; i++) {
        energy = ns_add(g, energy, ns_mul(g, w->momentum[i], w->v[i]));
        ns_ex Mv = w->tree ? slope[i] : ns_zero(g);
        for (uint32_t j = 0; !w->tree && !w->sparse && j < n; j++)
            Mv = ns_add(g, Mv, ns_mul(g, w->M[i * n + j], w->v[j]));
        for (uint32_t e = w->sparse ? w->masses.start[i] : 0;
             w->sparse && e < w->masses.start[i + 1]; e++)
            Mv = ns_add(g, Mv, ns_mul(g, w->masses.value[e], w->v[w->masses.column[e]]));
        twice = ns_add(g, twice, ns_mul(g, Mv, w->v[i]));
    }
    w->s->energy = energy;
    w->s->kinetic = ns_mul(g, ns_number(g, 0.5), twice);
    return true;
}

static void add_constraint(ns_dalembert *w, const char *name, ns_ex residual, ns_span span)
{
    NS_PUSH(w->s->arena, w->s->constraints,
            (ns_constraint){.name = name, .residual = residual, .project = true, .span = span});
}

/* What a row contains of the coordinates and velocities: those with the numbers at[n],
 * ascending. */
typedef struct part {
    uint32_t n, *at;
    ns_ex *q, *v, *qt, *vt, *row; /* as in `along` */
} part;

static part part_of(const ns_dalembert *w, ns_ex psi)
{
    ns_graph *g = w->s->graph;
    ns_arena *arena = w->s->arena;
    part p = {0};
    const uint32_t found = ns_graph_coordinates(g, arena, psi, &p.at);
    for (uint32_t i = 0; i < found; i++)
        if (p.at[i] < w->n)
            p.at[p.n++] = p.at[i];
    p.q = NS_NEW_ARRAY(arena, ns_ex, p.n + 1);
    p.v = NS_NEW_ARRAY(arena, ns_ex, p.n + 1);
    p.qt = NS_NEW_ARRAY(arena, ns_ex, p.n + 1);
    p.vt = NS_NEW_ARRAY(arena, ns_ex, p.n + 1);
    p.row = NS_NEW_ARRAY(arena, ns_ex, p.n + 1);
    for (uint32_t i = 0; i < p.n; i++) {
        p.q[i] = p.qt[i] = w->q[p.at[i]];
        p.v[i] = p.vt[i] = w->v[p.at[i]];
    }
    p.qt[p.n] = w->d->time;
    p.vt[p.n] = ns_one(g);
    return p;
}

/* Row k of A and b; what is not zero of A goes to `row` at the places of the part. */
static bool constraint(ns_dalembert *w, uint32_t k, part *p)
{
    const ns_constraint_line *line = &w->constraints[k];
    ns_graph *g = w->s->graph;
    *p = part_of(w, line->residual);
    if (!no_acceleration(w, line->residual, line->span, "a constraint") ||
        !ns_reactions_absent(w->s, line->residual, w->reaction, w->n_reactions, line->span,
                             "a constraint"))
        return false;
    ns_ex psi = line->residual, rest, rate;
    bool velocity = ns_graph_depends(g, psi, p->v, p->n);
    if (!velocity && !ns_graph_depends(g, psi, p->q, p->n)) {
        ns_diag_error(w->d->diag, line->span,
                      "constraint `%s` contains no coordinate and no velocity", line->name);
        return false;
    }
    if (!velocity) {
        w->holonomic++;
        w->at_position[k] = w->s->constraints.n;
        add_constraint(w, line->name, psi, line->span);
        ns_diff_along(g, &line->residual, 1, p->qt, p->vt, p->n + 1, &psi);
    }
    w->at_velocity[k] = w->s->constraints.n;
    add_constraint(w, velocity ? line->name : ns_arena_format(w->s->arena, "%s'", line->name),
                   psi, line->span);
    if (!w->affine) {
        ns_diff_gradient(g, psi, p->v, p->n, p->row);
        rest = ns_zero(g);
    } else if (!ns_subst_collect_linear(g, psi, p->v, p->n, p->row, &rest)) {
        ns_diag_error(w->d->diag, line->span,
                      "constraint `%s` is not affine in the velocities: Lagrange-d'Alembert "
                      "needs  a(q).q' + b(q, t) = 0",
                      line->name);
        return false;
    }
    /* An inhomogeneous or time-dependent constraint does work. */
    w->conservative = w->conservative && !uses_time(w, psi) && ns_graph_is_zero(g, rest);
    w->psi[k] = psi;
    w->rest[k] = rest;
    ns_diff_along(g, &psi, 1, p->qt, p->vt, p->n + 1, &rate);
    w->b[k] = ns_neg(g, rate);
    return true;
}

/* The rows that were found, as a matrix or as lists. */
static void keep_rows(ns_dalembert *w, const part *parts)
{
    ns_graph *g = w->s->graph;
    ns_arena *arena = w->s->arena;
    const uint32_t n = w->n, m = w->m;
    uint32_t count = 0;
    if (!w->sparse) {
        w->A = NS_NEW_ARRAY(arena, ns_ex, (size_t)m * n + 1);
        for (size_t i = 0; i < (size_t)m * n; i++)
            w->A[i] = ns_zero(g);
        for (uint32_t k = 0; k < m; k++)
            for (uint32_t i = 0; i < parts[k].n; i++)
                w->A[(size_t)k * n + parts[k].at[i]] = parts[k].row[i];
        return;
    }
    for (uint32_t k = 0; k < m; k++)
        count += parts[k].n;
    w->rows.rows = m;
    w->rows.start = NS_NEW_ARRAY(arena, uint32_t, m + 1);
    w->rows.column = NS_NEW_ARRAY(arena, uint32_t, count + 1);
    w->rows.value = NS_NEW_ARRAY(arena, ns_ex, count + 1);
    count = 0;
    for (uint32_t k = 0; k < m; k++) {
        for (uint32_t i = 0; i < parts[k].n; i++) {
            if (ns_graph_is_zero(g, parts[k].row[i]))
                continue;
            w->rows.column[count] = parts[k].at[i];
            w->rows.value[count++] = parts[k].row[i];
        }
        w->rows.start[k + 1] = count;
    }
    w->columns = *ns_sparse_transposed(arena, &w->rows, n);
}

ns_dalembert ns_dalembert_new(ns_description *d, ns_system *s)
{
    const uint32_t n = d->coordinates.n;
    ns_ex *q = NS_NEW_ARRAY(s->arena, ns_ex, n), *v = NS_NEW_ARRAY(s->arena, ns_ex, n);
    for (uint32_t i = 0; i < n; i++) {
        q[i] = d->coordinates.at[i].q;
        v[i] = d->coordinates.at[i].v;
    }
    return (ns_dalembert){
        .d = d, .s = s, .n = n, .q = q, .v = v, .lagrangian_span = d->lagrangian_span};
}

bool ns_dalembert_derive(ns_dalembert *w)
{
    along a = direction(w);
    ns_arena *arena = w->s->arena;
    w->b = NS_NEW_ARRAY(arena, ns_ex, w->m + 1);
    w->psi = NS_NEW_ARRAY(arena, ns_ex, w->m + 1);
    w->rest = NS_NEW_ARRAY(arena, ns_ex, w->m + 1);
    w->at_position = NS_NEW_ARRAY(arena, uint32_t, w->m + 1);
    w->at_velocity = NS_NEW_ARRAY(arena, uint32_t, w->m + 1);
    for (uint32_t k = 0; k < w->m; k++)
        w->at_position[k] = UINT32_MAX;
    part *parts = NS_NEW_ARRAY(arena, part, w->m + 1);
    bool good = dynamics(w, a);
    for (uint32_t k = 0; k < w->m; k++)
        good = constraint(w, k, &parts[k]) && good;
    if (good)
        keep_rows(w, parts);
    return good;
}

static void line(const ns_dalembert *w, const char *group, const char *name, ns_ex value)
{
    NS_PUSH(w->s->arena, w->s->equations,
            (ns_equation_line){.group = group, .name = name, .value = value});
}

enum { LARGE = 60 }; /* coordinates: from here on zeros are left out */

static void note_entry(const ns_dalembert *w, const char *group, char letter, uint32_t row,
                       uint32_t column, ns_ex value)
{
    if (w->n < LARGE || !ns_graph_is_zero(w->s->graph, value))
        line(w, group, ns_arena_format(w->s->arena, "%c[%u,%u]", letter, row + 1, column + 1),
             value);
}

/* A matrix of n columns, or what is listed of it; of a symmetric one what is not below the
 * diagonal. */
static void note_matrix(const ns_dalembert *w, const char *group, char letter, uint32_t rows,
                        const ns_ex *dense, const ns_sparse_rows *list, bool symmetric)
{
    const uint32_t n = w->n;
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t first = symmetric ? i : 0;
        for (uint32_t j = first; j < n && (dense || n < LARGE); j++)
            note_entry(w, group, letter, i, j,
                       dense ? dense[(size_t)i * n + j] : ns_dalembert_entry(w, list, i, j));
        for (uint32_t e = dense || n < LARGE ? UINT32_MAX : list->start[i];
             e < (dense ? 0 : list->start[i + 1]); e++)
            if (list->column[e] >= first)
                note_entry(w, group, letter, i, list->column[e], list->value[e]);
    }
}

void ns_dalembert_note(const ns_dalembert *w)
{
    ns_arena *arena = w->s->arena;
    uint32_t n = w->n;
    line(w, "Lagrangian", "L", w->lagrangian);
    for (uint32_t i = 0; w->tree && i < n; i++)
        line(w, "pivots D of M in  M q'' = Q + A^T lambda,  along the tree of velocities",
             ns_arena_format(arena, "D[%u]", i + 1), ns_tree_pivots(w->tree)[i]);
    if (!w->tree)
        note_matrix(w, "mass matrix M (symmetric) of  M q'' = Q + A^T lambda", 'M', n, w->M,
                    &w->masses, true);
    for (uint32_t i = 0; i < n; i++)
        line(w, "forces Q", ns_arena_format(arena, "Q[%u]", i + 1),
             w->given ? w->given[i] : w->Q[i]);
    note_matrix(w, "constraint rows A of  A q'' = b", 'A', w->m, w->A, &w->rows, false);
    for (uint32_t k = 0; k < w->m; k++)
        line(w, "right-hand sides b", ns_arena_format(arena, "b[%u]", k + 1), w->b[k]);
}
