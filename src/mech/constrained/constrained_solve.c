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
    const ns_ex *M = ns_dalembert_dense(w, &w->masses), *A = ns_dalembert_dense(w, &w->rows);
    ns_ex *K = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)size * size);
    ns_ex *r = NS_NEW_ARRAY(s->arena, ns_ex, size), *x = NS_NEW_ARRAY(s->arena, ns_ex, size);
    for (uint32_t i = 0; i < n; i++) {
        ns_ex pull = ns_zero(g);
        for (uint32_t k = 0; k < m; k++)
            pull = ns_add(g, pull, ns_mul(g, A[k * n + i], w->b[k]));
        r[i] = m ? ns_add(g, w->Q[i], ns_mul(g, kappa2, pull)) : w->Q[i];
        for (uint32_t j = 0; j <= i; j++) {
            ns_ex square = ns_zero(g);
            for (uint32_t k = 0; k < m; k++)
                square = ns_add(g, square, ns_mul(g, A[k * n + i], A[k * n + j]));
            ns_ex entry = m ? ns_add(g, M[i * n + j], ns_mul(g, kappa2, square)) : M[i * n + j];
            K[i * size + j] = K[j * size + i] = entry;
        }
    }
    ns_ex minus_eps = m ? ns_neg(g, ns_div(g, ns_number(g, 0x1p-27), kappa2)) : 0;
    for (uint32_t k = 0; k < m; k++) {
        r[n + k] = w->b[k];
        for (uint32_t i = 0; i < n; i++)
            K[(n + k) * size + i] = K[i * size + n + k] = A[k * n + i];
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

/* One component of the system: bodies that no row and no mass couples to others have a matrix
 * of their own, so that many of them cost as many times what one does. */
typedef struct saddle {
    ns_system *s;
    ns_graph *g;
    const ns_constrained *c;
    const ns_dalembert *w;
    uint32_t n, m, size;
    const uint32_t *coordinate, *row; /* [n], [m] which they are, ascending */
    const uint32_t *place;            /* [coordinates of the system] the other way round */
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

/* After the last coordinate of a member. */
static uint32_t end_of(const ns_constrained *c, uint32_t member)
{
    const ns_member *m = &c->members.at[member];
    return m->first + (m->is_body ? 7 : 3);
}

static ns_ex mass(const saddle *k, uint32_t i, uint32_t j)
{
    return ns_dalembert_entry(k->w, &k->w->masses, k->coordinate[i], k->coordinate[j]);
}

/* s u u^T in row i of the masses, a coordinate of the member: s u_i, and u; what it adds to the
 * right-hand side.  Returns how many columns, from the first of the quaternion to i. */
static uint32_t from_unit(saddle *k, const ns_member *member, uint32_t i, ns_ex u[4], ns_ex *su)
{
    ns_graph *g = k->g;
    const ns_dalembert *w = k->w;
    const uint32_t quat = member->first + 3, at = k->coordinate[i];
    if (!member->is_body || at < quat)
        return 0;
    for (uint32_t a = 0; a < 4; a++)
        u[a] = ns_dalembert_entry(w, &w->rows, member->unit, quat + a);
    ns_ex trace = ns_add(g, member->inertia.at[0][0],
                         ns_add(g, member->inertia.at[1][1], member->inertia.at[2][2]));
    ns_ex s = ns_mul(g, ns_div(g, ns_number(g, 4), ns_number(g, 3)), trace);
    if (ns_graph_is_zero(g, s)) /* a body without inertia: any size does */
        s = ns_one(g);
    *su = ns_mul(g, s, u[at - quat]);
    k->r[i] = ns_add(g, k->r[i], ns_mul(g, *su, w->b[member->unit]));
    return at - quat + 1;
}

/* The mass matrix with s u u^T, below the diagonal and on it, row by row; what that adds to the
 * right-hand side. */
static ns_sparse_rows masses(saddle *k)
{
    ns_arena *arena = k->s->arena;
    const ns_sparse_rows *M = &k->w->masses;
    ns_sparse_rows out = {.rows = k->n};
    NS_LIST(uint32_t) column = {0};
    NS_LIST(ns_ex) value = {0};
    out.start = NS_NEW_ARRAY(arena, uint32_t, k->n + 1);
    uint32_t member = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        const uint32_t at = k->coordinate[i];
        ns_ex u[4], su = 0;
        uint32_t adds = 0, first = 0; /* in columns first .. first+adds-1 of the system */
        while (member < k->c->members.n && end_of(k->c, member) <= at)
            member++;
        if (member < k->c->members.n && k->c->members.at[member].first <= at) {
            adds = from_unit(k, &k->c->members.at[member], i, u, &su);
            first = k->c->members.at[member].first + 3;
        }
        for (uint32_t e = M->start[at]; e < M->start[at + 1] && M->column[e] <= at; e++) {
            const uint32_t col = M->column[e];
            if (adds && col >= first)
                continue;
            NS_PUSH(arena, column, k->place[col]);
            NS_PUSH(arena, value, M->value[e]);
        }
        for (uint32_t b = 0; b < adds; b++) {
            NS_PUSH(arena, column, k->place[first + b]);
            NS_PUSH(arena, value,
                    ns_add(k->g, ns_dalembert_entry(k->w, M, at, first + b),
                           ns_mul(k->g, su, u[b])));
        }
        out.start[i + 1] = column.n;
    }
    out.column = column.at;
    out.value = value.at;
    return out;
}

/* The entries of the masses, and the size of a coordinate's. */
static void assemble_masses(saddle *k)
{
    ns_graph *g = k->g;
    const uint32_t n = k->n;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        k->r[i] = k->w->Q[k->coordinate[i]];
    const ns_sparse_rows M = masses(k);
    ns_ex sum = ns_zero(g);
    for (uint32_t i = 0; i < n; i++)
        if (!ns_graph_is_zero(g, mass(k, i, i))) {
            sum = ns_add(g, sum, mass(k, i, i));
            count++;
        }
    k->mean = count ? ns_div(g, sum, ns_number(g, count)) : ns_one(g);
    /* what has no mass gets one from its rows when these are eliminated before it, even if they
     * hardly hold it: it is enough to keep the pivot from zero, should they not do so at a
     * moment */
    ns_ex tiny = ns_mul(g, ns_number(g, 0x1p-70), k->mean);
    for (uint32_t i = 0; i < n; i++) {
        bool diagonal = false;
        for (uint32_t e = M.start[i]; e < M.start[i + 1]; e++) {
            const ns_ex value = M.value[e];
            if (M.column[e] != i) {
                add_entry(k, i, M.column[e], value, ns_zero(g));
                continue;
            }
            diagonal = true;
            add_entry(k, i, i, value,
                      ns_graph_is_zero(g, value)
                          ? tiny
                          : ns_mul(g, ns_number(g, k->how.regular), value));
        }
        if (!diagonal)
            add_entry(k, i, i, ns_zero(g), tiny);
    }
}

static void assemble(saddle *k)
{
    ns_graph *g = k->g;
    const ns_dalembert *w = k->w;
    const uint32_t n = k->n;
    assemble_masses(k);
    for (uint32_t row = 0; row < k->m; row++) {
        const uint32_t at = k->row[row];
        if (k->positions && w->at_position[at] == UINT32_MAX) {
            add_entry(k, n + row, n + row, ns_zero(g), ns_neg(g, ns_one(g)));
            continue; /* alone, and of no effect */
        }
        ns_ex square = ns_number(g, 0x1p-40); /* a row may vanish at a moment */
        k->r[n + row] = w->b[at];
        for (uint32_t e = w->rows.start[at]; e < w->rows.start[at + 1]; e++) {
            add_entry(k, n + row, k->place[w->rows.column[e]], w->rows.value[e], ns_zero(g));
            square = ns_add(g, square, ns_powi(g, w->rows.value[e], 2));
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
    uint32_t member = 0;
    for (uint32_t v = 0; v < size; v++) {
        kind[v] = v >= k->n                               ? NS_ORDER_ROW
                  : ns_graph_is_zero(k->g, mass(k, v, v)) ? NS_ORDER_MASSLESS
                                                          : NS_ORDER_MASS;
        group[v] = v;
        group_size[v] = 1;
    }
    for (uint32_t v = 0; v < k->n; v++) { /* members have all their coordinates here */
        const uint32_t at = k->coordinate[v];
        uint32_t massless = 0;
        while (member < k->c->members.n && end_of(k->c, member) <= at)
            member++;
        if (member == k->c->members.n || k->c->members.at[member].first != at)
            continue;
        const uint32_t end = v + end_of(k->c, member) - at;
        for (uint32_t i = v; i < end; i++)
            massless += kind[i] == NS_ORDER_MASSLESS;
        for (uint32_t i = v; i < end; i++) {
            group[i] = v;
            group_size[i] = massless;
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

/* ---- components -------------------------------------------------------------------------- */

static uint32_t root_of(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

/* The first of a set is its root. */
static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    parent[a < b ? b : a] = a < b ? a : b;
}

typedef struct component {
    uint32_t n, m;
    uint32_t *coordinate, *row;
} component;
typedef struct components {
    uint32_t n;
    component *at;
    uint32_t *place; /* [coordinates] in its component */
} components;

/* What rows, masses and members couple, in the order of the first coordinates. */
static components components_of(ns_arena *arena, const ns_constrained *c)
{
    const ns_dalembert *w = &c->eq;
    const uint32_t n = w->n, m = w->m;
    uint32_t *parent = NS_NEW_ARRAY(arena, uint32_t, n + m + 1);
    uint32_t *number = NS_NEW_ARRAY(arena, uint32_t, n + m + 1);
    components all = {.place = NS_NEW_ARRAY(arena, uint32_t, n + 1)};
    for (uint32_t v = 0; v < n + m; v++)
        parent[v] = v;
    for (uint32_t i = 0; i < c->members.n; i++)
        for (uint32_t v = c->members.at[i].first + 1; v < end_of(c, i); v++)
            join(parent, v - 1, v);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = w->masses.start[i]; e < w->masses.start[i + 1]; e++)
            join(parent, i, w->masses.column[e]);
    for (uint32_t k = 0; k < m; k++)
        for (uint32_t e = w->rows.start[k]; e < w->rows.start[k + 1]; e++)
            join(parent, n + k, w->rows.column[e]);
    for (uint32_t v = 0; v < n + m; v++)
        if (parent[v] == v)
            number[v] = all.n++;
    all.at = NS_NEW_ARRAY(arena, component, all.n + 1);
    for (int turn = 0; turn < 2; turn++) {
        for (uint32_t v = 0; v < n + m; v++) {
            component *to = &all.at[number[root_of(parent, v)]];
            if (turn && v < n) {
                to->coordinate[to->n] = v;
                all.place[v] = to->n;
            } else if (turn) {
                to->row[to->m] = v - n;
            }
            *(v < n ? &to->n : &to->m) += 1;
        }
        for (uint32_t i = 0; i < all.n && !turn; i++) {
            all.at[i].coordinate = NS_NEW_ARRAY(arena, uint32_t, all.at[i].n + 1);
            all.at[i].row = NS_NEW_ARRAY(arena, uint32_t, all.at[i].m + 1);
            all.at[i].n = all.at[i].m = 0;
        }
    }
    return all;
}

static saddle saddle_of(ns_system *s, const ns_constrained *c, const components *all,
                        const component *one, bool positions)
{
    saddle k = {.s = s,
                .g = s->graph,
                .c = c,
                .w = &c->eq,
                .n = one->n,
                .m = one->m,
                .size = one->n + one->m,
                .coordinate = one->coordinate,
                .row = one->row,
                .place = all->place,
                .how = strategy_for(one->m, s->description->precise),
                .positions = positions};
    k.r = NS_NEW_ARRAY(s->arena, ns_ex, k.size);
    assemble(&k);
    return k;
}

/* Into x [coordinates, rows of the system]. */
static void solve_component(const saddle *k, ns_ex *out)
{
    ns_arena *arena = k->s->arena;
    const ns_pattern *p = pattern_of(k);
    const ns_ex *K = matrix_of(k, p);
    ns_ex *x = NS_NEW_ARRAY(arena, ns_ex, k->size);
    ns_ex *rest = NS_NEW_ARRAY(arena, ns_ex, k->size);
    ns_ex *step = NS_NEW_ARRAY(arena, ns_ex, k->size);
    solve_once(k, p, K, k->r, x);
    for (int round = 0; round < k->how.corrections; round++) {
        memcpy(rest, k->r, k->size * sizeof *rest);
        for (uint32_t e = 0; e < k->entries.n; e++) {
            const entry *at = &k->entries.at[e];
            rest[at->row] = ns_sub(k->g, rest[at->row], ns_mul(k->g, at->value, x[at->col]));
            if (at->row != at->col)
                rest[at->col] = ns_sub(k->g, rest[at->col],
                                       ns_mul(k->g, at->value, x[at->row]));
        }
        solve_once(k, p, K, rest, step);
        for (uint32_t i = 0; i < k->size; i++)
            x[i] = ns_add(k->g, x[i], step[i]);
    }
    for (uint32_t i = 0; i < k->size; i++)
        out[i < k->n ? k->coordinate[i] : k->w->n + k->row[i - k->n]] = x[i];
}

static ns_ex *solve_saddle(ns_system *s, const ns_constrained *c)
{
    const components all = components_of(s->arena, c);
    ns_ex *x = NS_NEW_ARRAY(s->arena, ns_ex, c->eq.n + c->eq.m + 1);
    for (uint32_t i = 0; i < all.n; i++) {
        const saddle k = saddle_of(s, c, &all, &all.at[i], false);
        solve_component(&k, x);
    }
    return x;
}

/* Smallest change d in the metric of the masses with A d = -g:  K (d, l) = (0, -g).  Velocities
 * with all rows, positions with those on positions. */
static void change(ns_system *s, const ns_constrained *c, bool positions, const ns_ex *g,
                   ns_ex *out)
{
    const components all = components_of(s->arena, c);
    const uint32_t *at = positions ? c->eq.at_position : c->eq.at_velocity;
    for (uint32_t which = 0; which < all.n; which++) {
        const saddle k = saddle_of(s, c, &all, &all.at[which], positions);
        const ns_pattern *p = pattern_of(&k);
        ns_ex *r = NS_NEW_ARRAY(s->arena, ns_ex, k.size);
        ns_ex *x = NS_NEW_ARRAY(s->arena, ns_ex, k.size);
        for (uint32_t i = 0; i < k.size; i++) {
            const uint32_t row = i < k.n ? UINT32_MAX : at[k.row[i - k.n]];
            r[i] = row == UINT32_MAX ? ns_zero(k.g) : ns_neg(k.g, g[row]);
        }
        solve_once(&k, p, matrix_of(&k, p), r, x);
        for (uint32_t i = 0; i < k.n; i++)
            out[k.coordinate[i]] = x[i];
    }
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
