/* Accelerations of a constrained system with dependent constraints and a singular mass matrix:
 *
 *     M a = Q + A^T l,   A a = b,   unique iff rank [M | A^T] = n  (43).
 *
 * Route `saddle` (default).  K_0 x = r with x = (a, -l),
 *
 *     K_0 = [ M~  A^T ; A  0 ],   r = [ Q + sum s u b_u ; b ],
 *
 * where M~ = M + sum s u u^T over the rows u of unit quaternions, s = 4 tr J / 3: that changes
 * nothing (see (44)) and gives the quaternion's own direction a mass, so that M~ is regular on
 * every body.  K_0 is singular where rows depend on each other, though a is unique.  Regular is
 *
 *     K = K_0 + [ D 0 ; 0 -E ],   D, E > 0 of small relative size,
 *
 * quasidefinite: it has factors L D L^T in any order without exchanges (expr/sparse.h), so that
 * an order that fills in little can be fixed beforehand (constrained_order.c), and
 *
 *     x <- x + K^-1 (r - K_0 x)
 *
 * converges to a solution of K_0 x = r.  An error in the range of A is multiplied by E/(E + S),
 * S being A M~^-1 A^T there; the multiplier along a null vector of A^T is arbitrary and may
 * grow, but A^T of it is zero.  Rows are kept, none is dropped: the right-hand side stays
 * smooth off the constraints, where a dependent row is only nearly dependent.  If there is no
 * sound order, or the factors are not sparse and large, the same matrix is factorised by rows
 * with exchanges.
 *
 * Route `augmented(kappa2 = k)`: eqs (44)-(45) with M^ = M + kappa^2 A^T A, positive definite,
 *
 *     K_eps = [ M^  A^T ; A  -eps ],   x <- x + K_eps^-1 (r - K_0 x),  twice.
 *
 * Route `pinv`, eq (42), is for runs: see ode/pinv.c; all else about such a model uses
 * `saddle`. */
#include <string.h>

#include "expr/diff.h"
#include "expr/sparse.h"
#include "mech/common/block.h"
#include "mech/common/order.h"
#include "mech/constrained/constrained.h"

static bool read_route(ns_description *d, ns_ex *kappa2, bool *pinv, ns_ex *baumgarte)
{
    const ns_block *block = ns_block_single(d, &ns_block_solve);
    *kappa2 = 0;
    if (!block)
        return true;
    static const char *const names[] = {"kappa2", "baumgarte", NULL};
    if (!ns_block_known(d, block, names))
        return false;
    const ns_property *p = ns_block_find(block, "kappa2");
    const ns_property *rate = ns_block_find(block, "baumgarte");
    bool augmented = block->kind && strcmp(block->kind, "augmented") == 0;
    *pinv = block->kind && strcmp(block->kind, "pinv") == 0;
    if (!augmented && !*pinv && !(block->kind && strcmp(block->kind, "saddle") == 0)) {
        ns_diag_error(d->diag, block->span,
                      "expected `solve saddle`, `solve pinv` or `solve augmented(kappa2 = "
                      "VALUE)`");
        return false;
    }
    if (augmented != (p != NULL)) {
        ns_diag_error(d->diag, block->span,
                      "`augmented` takes kappa2, `saddle` and `pinv` do not");
        return false;
    }
    return (!p || ns_block_scalar(d, p, 0, kappa2)) &&
           (!rate || ns_block_scalar(d, rate, 0, baumgarte));
}

/* (44)-(45) */
static ns_ex *augmented(ns_system *s, const ns_dalembert *w, ns_ex kappa2)
{
    const int refinements = s->description->precise ? 5 : 2;
    ns_graph *g = s->graph;
    uint32_t n = w->n, m = w->m, size = n + m;
    ns_ex *K = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)size * size);
    ns_ex *r = NS_NEW_ARRAY(s->arena, ns_ex, size), *x = NS_NEW_ARRAY(s->arena, ns_ex, size);
    for (uint32_t i = 0; i < n; i++) {
        ns_ex pull = ns_zero(g);
        for (uint32_t k = 0; k < m; k++)
            pull = ns_add(g, pull, ns_mul(g, w->A[k * n + i], w->b[k]));
        r[i] = m ? ns_add(g, w->Q[i], ns_mul(g, kappa2, pull)) : w->Q[i];
        for (uint32_t j = 0; j <= i; j++) {
            ns_ex square = ns_zero(g);
            for (uint32_t k = 0; k < m; k++)
                square = ns_add(g, square, ns_mul(g, w->A[k * n + i], w->A[k * n + j]));
            ns_ex entry = m ? ns_add(g, w->M[i * n + j], ns_mul(g, kappa2, square))
                            : w->M[i * n + j];
            K[i * size + j] = K[j * size + i] = entry;
        }
    }
    ns_ex minus_eps = m ? ns_neg(g, ns_div(g, ns_number(g, 0x1p-27), kappa2)) : 0;
    for (uint32_t k = 0; k < m; k++) {
        r[n + k] = w->b[k];
        for (uint32_t i = 0; i < n; i++)
            K[(n + k) * size + i] = K[i * size + n + k] = w->A[k * n + i];
        for (uint32_t j = 0; j < m; j++)
            K[(n + k) * size + n + j] = j == k ? minus_eps : ns_zero(g);
    }
    ns_solve(g, size, K, r, x);
    ns_ex *step = x; /* the last correction; r - K_0 x is -eps times its multipliers */
    for (int round = 0; m && round < refinements; round++) {
        ns_ex *rest = NS_NEW_ARRAY(s->arena, ns_ex, size);
        ns_ex *next = NS_NEW_ARRAY(s->arena, ns_ex, size);
        for (uint32_t i = 0; i < size; i++)
            rest[i] = i < n ? ns_zero(g) : ns_mul(g, minus_eps, step[i]);
        ns_solve(g, size, K, rest, next);
        step = next;
        ns_ex *sum = NS_NEW_ARRAY(s->arena, ns_ex, size);
        for (uint32_t i = 0; i < size; i++)
            sum[i] = ns_add(g, x[i], step[i]);
        x = sum;
    }
    return x;
}

/* ---- saddle ------------------------------------------------------------------------------ */

/* Each correction multiplies errors by about `regular`, times the condition of A M^-1 A^T.  It
 * must not be much smaller: a row that depends on others up to d, at a stage off the
 * constraints, changes accelerations by d^2/regular, which is to stay below what a step of the
 * integrator leaves.  That condition grows with the square of the length of a chain: long ones
 * take less and more often.
 * Quadruple precision takes as many as its digits ask for. */
typedef struct strategy {
    double regular;
    int corrections;
} strategy;

static strategy strategy_for(uint32_t rows, bool precise)
{
    enum { MANY = 64, PRECISE = 5 };
    strategy how = rows < MANY ? (strategy){0x1p-23, 2} : (strategy){0x1p-30, 3};
    if (precise)
        how.corrections = PRECISE;
    return how;
}

enum {
    MOST_OPERATIONS = 60000 /* of sparse factors that are hardly sparser than dense ones */
};

typedef struct entry {
    uint32_t row, col;    /* row >= col */
    ns_ex value, regular; /* of K_0 and of K */
} entry;

typedef struct saddle {
    ns_system *s;
    ns_graph *g;
    const ns_constrained *c;
    const ns_dalembert *w;
    uint32_t n, m, size;
    ns_ex *r;
    ns_ex mean; /* mass of a coordinate */
    strategy how;
    bool positions; /* rows on positions only */
    NS_LIST(entry) entries;
} saddle;

static void add_entry(saddle *k, uint32_t row, uint32_t col, ns_ex value, ns_ex extra)
{
    if (ns_graph_is_zero(k->g, value) && ns_graph_is_zero(k->g, extra))
        return;
    NS_PUSH(
        k->s->arena, k->entries,
        (entry){.row = row, .col = col, .value = value, .regular = ns_add(k->g, value, extra)});
}

/* The mass matrix with s u u^T, and what that adds to the right-hand side. */
static ns_ex *masses(saddle *k)
{
    ns_graph *g = k->g;
    const ns_dalembert *w = k->w;
    uint32_t n = k->n;
    ns_ex *M = ns_arena_copy(k->s->arena, w->M, (size_t)n * n * sizeof *M);
    for (uint32_t i = 0; i < k->c->members.n; i++) {
        const ns_member *member = &k->c->members.at[i];
        if (!member->is_body)
            continue;
        const ns_ex *u = w->A + (size_t)member->unit * n + member->first + 3;
        ns_ex trace = ns_add(g, member->inertia.at[0][0],
                             ns_add(g, member->inertia.at[1][1], member->inertia.at[2][2]));
        ns_ex s = ns_mul(g, ns_div(g, ns_number(g, 4), ns_number(g, 3)), trace);
        if (ns_graph_is_zero(g, s)) /* a body without inertia: any size does */
            s = ns_one(g);
        for (uint32_t a = 0; a < 4; a++) {
            uint32_t row = member->first + 3 + a;
            ns_ex su = ns_mul(g, s, u[a]);
            k->r[row] = ns_add(g, k->r[row], ns_mul(g, su, w->b[member->unit]));
            for (uint32_t b = 0; b <= a; b++) {
                uint32_t col = member->first + 3 + b;
                M[row * n + col] = ns_add(g, M[row * n + col], ns_mul(g, su, u[b]));
            }
        }
    }
    return M;
}

static void assemble(saddle *k)
{
    ns_graph *g = k->g;
    const ns_dalembert *w = k->w;
    uint32_t n = k->n, count = 0;
    for (uint32_t i = 0; i < n; i++)
        k->r[i] = w->Q[i];
    const ns_ex *M = masses(k);
    ns_ex sum = ns_zero(g);
    for (uint32_t i = 0; i < n; i++)
        if (!ns_graph_is_zero(g, w->M[i * n + i])) {
            sum = ns_add(g, sum, w->M[i * n + i]);
            count++;
        }
    k->mean = count ? ns_div(g, sum, ns_number(g, count)) : ns_one(g);
    /* what has no mass gets one from its rows when these are eliminated before it, even if they
     * hardly hold it: it is enough to keep the pivot from zero, should they not do so at a
     * moment */
    ns_ex tiny = ns_mul(g, ns_number(g, 0x1p-70), k->mean);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            ns_ex value = M[i * n + j];
            ns_ex extra = i != j ? ns_zero(g)
                          : ns_graph_is_zero(g, value)
                              ? tiny
                              : ns_mul(g, ns_number(g, k->how.regular), value);
            add_entry(k, i, j, value, extra);
        }
    for (uint32_t row = 0; row < k->m; row++) {
        const ns_ex *A = w->A + (size_t)row * n;
        if (k->positions && w->at_position[row] == UINT32_MAX) {
            add_entry(k, n + row, n + row, ns_zero(g), ns_neg(g, ns_one(g)));
            continue; /* alone, and of no effect */
        }
        ns_ex square = ns_number(g, 0x1p-40); /* a row may vanish at a moment */
        k->r[n + row] = w->b[row];
        for (uint32_t i = 0; i < n; i++) {
            add_entry(k, n + row, i, A[i], ns_zero(g));
            square = ns_add(g, square, ns_powi(g, A[i], 2));
        }
        ns_ex eps = ns_div(g, ns_mul(g, ns_number(g, k->how.regular), square), k->mean);
        add_entry(k, n + row, n + row, ns_zero(g), ns_neg(g, eps));
    }
}

/* NULL if there is no sound order, or dense factors are better. */
static const ns_pattern *pattern_of(const saddle *k)
{
    ns_arena *arena = k->s->arena;
    uint32_t size = k->size, count = k->entries.n;
    ns_order_kind *kind = NS_NEW_ARRAY(arena, ns_order_kind, size);
    uint32_t *group = NS_NEW_ARRAY(arena, uint32_t, size);
    uint32_t *group_size = NS_NEW_ARRAY(arena, uint32_t, size);
    uint32_t *first, *neighbour;
    uint32_t *row = NS_NEW_ARRAY(arena, uint32_t, count + 1);
    uint32_t *col = NS_NEW_ARRAY(arena, uint32_t, count + 1);
    uint32_t *order = NS_NEW_ARRAY(arena, uint32_t, size);
    for (uint32_t v = 0; v < size; v++) {
        kind[v] = v >= k->n                                               ? NS_ORDER_ROW
                  : ns_graph_is_zero(k->g, k->w->M[(size_t)v * k->n + v]) ? NS_ORDER_MASSLESS
                                                                          : NS_ORDER_MASS;
        group[v] = v;
        group_size[v] = 1;
    }
    for (uint32_t i = 0; i < k->c->members.n; i++) {
        const ns_member *member = &k->c->members.at[i];
        uint32_t end = member->first + (member->is_body ? 7 : 3), massless = 0;
        for (uint32_t v = member->first; v < end; v++)
            massless += kind[v] == NS_ORDER_MASSLESS;
        for (uint32_t v = member->first; v < end; v++) {
            group[v] = member->first;
            group_size[v] = massless;
        }
    }
    for (uint32_t e = 0; e < count; e++) {
        row[e] = k->entries.at[e].row;
        col[e] = k->entries.at[e].col;
    }
    ns_order_neighbours(arena, size, count, row, col, &first, &neighbour);
    const ns_order_request request = {.size = size,
                                      .kind = kind,
                                      .group = group,
                                      .group_size = group_size,
                                      .first = first,
                                      .neighbour = neighbour};
    if (!ns_constrained_order(arena, &request, order))
        return NULL;
    const ns_pattern *p = ns_sparse_pattern(k->g, size, count, row, col, order);
    uint64_t operations = 0, dense = (uint64_t)size * size * size / 3;
    for (uint32_t j = 0; j < size; j++) {
        uint64_t length = p->start[j + 1] - p->start[j];
        operations += length * (length + 3) / 2;
    }
    return operations <= MOST_OPERATIONS || operations < dense / 16 ? p : NULL;
}

static void solve_once(const saddle *k, const ns_pattern *p, const ns_ex *K, const ns_ex *r,
                       ns_ex *x)
{
    if (p)
        ns_sparse_solve(k->g, p, K, r, x);
    else
        ns_solve(k->g, k->size, K, r, x);
}

/* Order and entries of K: by the pattern, or all of them. */
static ns_ex *matrix_of(const saddle *k, const ns_pattern *p)
{
    ns_ex *K;
    if (p) {
        K = NS_NEW_ARRAY(k->s->arena, ns_ex, k->entries.n + 1);
        for (uint32_t e = 0; e < k->entries.n; e++)
            K[e] = k->entries.at[e].regular;
        return K;
    }
    K = NS_NEW_ARRAY(k->s->arena, ns_ex, (size_t)k->size * k->size);
    for (uint32_t e = 0; e < k->size * k->size; e++)
        K[e] = ns_zero(k->g);
    for (uint32_t e = 0; e < k->entries.n; e++) {
        const entry *at = &k->entries.at[e];
        K[at->row * k->size + at->col] = K[at->col * k->size + at->row] = at->regular;
    }
    return K;
}

static saddle saddle_of(ns_system *s, const ns_constrained *c, bool positions)
{
    saddle k = {.s = s,
                .g = s->graph,
                .c = c,
                .w = &c->eq,
                .n = c->eq.n,
                .m = c->eq.m,
                .size = c->eq.n + c->eq.m,
                .how = strategy_for(c->eq.m, s->description->precise),
                .positions = positions};
    k.r = NS_NEW_ARRAY(s->arena, ns_ex, k.size);
    assemble(&k);
    return k;
}

static ns_ex *solve_saddle(ns_system *s, const ns_constrained *c)
{
    const saddle k = saddle_of(s, c, false);
    const ns_pattern *p = pattern_of(&k);
    const ns_ex *K = matrix_of(&k, p);
    ns_ex *x = NS_NEW_ARRAY(s->arena, ns_ex, k.size);
    ns_ex *rest = NS_NEW_ARRAY(s->arena, ns_ex, k.size);
    ns_ex *step = NS_NEW_ARRAY(s->arena, ns_ex, k.size);
    solve_once(&k, p, K, k.r, x);
    for (int round = 0; round < k.how.corrections; round++) {
        memcpy(rest, k.r, k.size * sizeof *rest);
        for (uint32_t e = 0; e < k.entries.n; e++) {
            const entry *at = &k.entries.at[e];
            rest[at->row] = ns_sub(k.g, rest[at->row], ns_mul(k.g, at->value, x[at->col]));
            if (at->row != at->col)
                rest[at->col] = ns_sub(k.g, rest[at->col], ns_mul(k.g, at->value, x[at->row]));
        }
        solve_once(&k, p, K, rest, step);
        for (uint32_t i = 0; i < k.size; i++)
            x[i] = ns_add(k.g, x[i], step[i]);
    }
    return x;
}

/* Smallest change d in the metric of the masses with A d = -g:  K (d, l) = (0, -g).  Velocities
 * with all rows, positions with those on positions. */
static void change(ns_system *s, const ns_constrained *c, bool positions, const ns_ex *g,
                   ns_ex *out)
{
    const saddle k = saddle_of(s, c, positions);
    const ns_pattern *p = pattern_of(&k);
    const uint32_t *at = positions ? c->eq.at_position : c->eq.at_velocity;
    ns_ex *r = NS_NEW_ARRAY(s->arena, ns_ex, k.size);
    ns_ex *x = NS_NEW_ARRAY(s->arena, ns_ex, k.size);
    for (uint32_t i = 0; i < k.size; i++)
        r[i] = i < k.n || at[i - k.n] == UINT32_MAX ? ns_zero(k.g)
                                                    : ns_neg(k.g, g[at[i - k.n]]);
    solve_once(&k, p, matrix_of(&k, p), r, x);
    memcpy(out, x, k.n * sizeof *out);
}

void ns_constrained_correction(ns_system *s, const ns_constrained *c)
{
    ns_correction *correction = NS_NEW(s->arena, ns_correction);
    uint32_t n = c->eq.n;
    correction->residual = NS_NEW_ARRAY(s->arena, ns_ex, s->constraints.n + 1);
    correction->change = NS_NEW_ARRAY(s->arena, ns_ex, s->states.n + 1);
    for (uint32_t k = 0; k < s->constraints.n; k++)
        correction->residual[k] = ns_symbol_new(s->graph, s->constraints.at[k].name,
                                                NS_SYM_LOCAL, k);
    change(s, c, true, correction->residual, correction->change);
    /* the change of positions changes the residuals on velocities */
    uint32_t count = s->constraints.n;
    ns_ex *psi = NS_NEW_ARRAY(s->arena, ns_ex, count + 1);
    ns_ex *moved = NS_NEW_ARRAY(s->arena, ns_ex, count + 1);
    for (uint32_t k = 0; k < count; k++)
        psi[k] = s->constraints.at[k].residual;
    ns_diff_along(s->graph, psi, count, c->eq.q, correction->change, n, moved);
    for (uint32_t k = 0; k < count; k++)
        moved[k] = ns_add(s->graph, correction->residual[k], moved[k]);
    change(s, c, false, moved, correction->change + n);
    for (uint32_t i = 2 * n; i < s->states.n; i++)
        correction->change[i] = ns_zero(s->graph);
    s->correction = correction;
}

/* Baumgarte: phi'' = -2 a phi' - a^2 phi,  psi' = -a psi; and no projection. */
static void stabilise(ns_system *s, const ns_dalembert *w, ns_ex a)
{
    ns_graph *g = s->graph;
    for (uint32_t k = 0; k < w->m; k++) {
        const uint32_t at = w->at_position[k];
        ns_ex pull = ns_mul(g, a, w->psi[k]);
        if (at != UINT32_MAX)
            pull = ns_add(g, ns_mul(g, ns_number(g, 2), pull),
                          ns_mul(g, ns_powi(g, a, 2), s->constraints.at[at].residual));
        w->b[k] = ns_sub(g, w->b[k], pull);
    }
    for (uint32_t k = 0; k < s->constraints.n; k++)
        s->constraints.at[k].project = false;
}

void ns_constrained_accelerate(ns_system *s, const ns_constrained *c, ns_ex *a, ns_ex *lambda)
{
    const ns_ex *x = c->kappa2 ? augmented(s, &c->eq, c->kappa2) : solve_saddle(s, c);
    memcpy(a, x, c->eq.n * sizeof *a);
    for (uint32_t k = 0; k < c->eq.m; k++)
        lambda[k] = ns_neg(s->graph, x[c->eq.n + k]);
}

bool ns_constrained_route(ns_description *d, ns_system *s, ns_constrained *c)
{
    if (!read_route(d, &c->kappa2, &c->pinv, &c->baumgarte))
        return false;
    if (c->baumgarte)
        stabilise(s, &c->eq, c->baumgarte);
    c->acceleration = NS_NEW_ARRAY(s->arena, ns_ex, c->eq.n);
    c->multiplier = NS_NEW_ARRAY(s->arena, ns_ex, c->eq.m + 1);
    s->iterated = true;
    return true;
}
