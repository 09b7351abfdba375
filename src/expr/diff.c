/* Differentiation.
 *
 * Both modes walk handles in order, so no depth matters.  For y = M^-1 b (a SOLVE node)
 *     forward   dy = M^-1 (db - dM y)
 *     reverse   bbar = M^-T ybar,  Mbar = -bbar y^T
 * stay SOLVE nodes with the same FACTOR (or that of the transpose), so one factorisation
 * serves the value and all derivatives; no matrix is ever inverted symbolically. */
#include "expr/diff.h"

#include <string.h>

#include "base/check.h"
#include "expr/sparse.h"

ns_ex ns_diff(ns_graph *g, ns_ex f, ns_ex x)
{
    NS_CHECK(ns_graph_op(g, x) == NS_OP_SYMBOL);
    ns_ex one = ns_one(g), out;
    ns_diff_along(g, &f, 1, &x, &one, 1, &out);
    return out;
}

/* Derivative of the SOLVE node e along the direction; d[] holds those of its arguments, and
 * for the FACTOR node nothing: its entries are looked up here. */
static void along_sparse(ns_graph *g, ns_ex e, const ns_ex *d, ns_ex *out)
{
    ns_arena *arena = ns_graph_scratch(g);
    uint32_t n = (uint32_t)ns_graph_node(g, e)->integer;
    ns_ex factor = ns_graph_args(g, e)[0];
    const ns_pattern *p = ns_sparse_of(g, factor);
    ns_ex *K = ns_arena_copy(arena, ns_graph_args(g, factor), p->entries * sizeof *K);
    ns_ex *b = ns_arena_copy(arena, ns_graph_args(g, e) + 1, n * sizeof *b);
    ns_ex *y = NS_NEW_ARRAY(arena, ns_ex, n), *rhs = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_sparse_solve(g, p, K, b, y);
    for (uint32_t i = 0; i < n; i++)
        rhs[i] = d[b[i]] ? d[b[i]] : ns_zero(g);
    for (uint32_t k = 0; k < p->entries; k++) {
        uint32_t i = p->row[k], j = p->col[k];
        if (!d[K[k]])
            continue;
        rhs[i] = ns_sub(g, rhs[i], ns_mul(g, d[K[k]], y[j]));
        if (i != j)
            rhs[j] = ns_sub(g, rhs[j], ns_mul(g, d[K[k]], y[i]));
    }
    ns_sparse_solve(g, p, K, rhs, out);
}

static void along_solve(ns_graph *g, ns_ex e, const ns_ex *d, ns_ex *out)
{
    ns_arena *arena = ns_graph_scratch(g);
    uint32_t n = (uint32_t)ns_graph_node(g, e)->integer;
    ns_ex factor = ns_graph_args(g, e)[0];
    if (ns_graph_op(g, factor) == NS_OP_LDL) {
        along_sparse(g, e, d, out);
        return;
    }
    ns_ex *M = ns_arena_copy(arena, ns_graph_args(g, factor), n * n * sizeof *M);
    ns_ex *b = ns_arena_copy(arena, ns_graph_args(g, e) + 1, n * sizeof *b);
    ns_ex *y = NS_NEW_ARRAY(arena, ns_ex, n), *rhs = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_solve(g, n, M, b, y); /* hash-consing finds the existing picks */
    for (uint32_t i = 0; i < n; i++) {
        rhs[i] = d[b[i]] ? d[b[i]] : ns_zero(g);
        for (uint32_t j = 0; j < n; j++)
            if (d[M[i * n + j]])
                rhs[i] = ns_sub(g, rhs[i], ns_mul(g, d[M[i * n + j]], y[j]));
    }
    ns_solve(g, n, M, rhs, out);
}

/* The nodes that a sweep from arguments to results passes, and its results.  Made once for all
 * columns of a Jacobian, most of which touch few of the nodes. */
typedef struct passed {
    ns_ex e, a, b; /* a, b: what its derivative depends on, if it is plain */
    bool plain;
} passed;

typedef struct sweep {
    passed *list;
    uint32_t n;
    ns_ex top;
    ns_ex *d;       /* [top + 1] derivative, 0 where it vanishes */
    ns_ex **vector; /* [top + 1] the same for the components of a SOLVE */
} sweep;

bool ns_diff_plain(const ns_graph *g, ns_ex e)
{
    const ns_op op = ns_graph_op(g, e);
    return op != NS_OP_PICK && op != NS_OP_FACTOR && op != NS_OP_LDL && op != NS_OP_SOLVE;
}

/* In the graph's scratch memory. */
static sweep sweep_new(ns_graph *g, const ns_ex *f, size_t nf)
{
    ns_arena *arena = ns_graph_scratch(g);
    sweep s = {0};
    for (size_t i = 0; i < nf; i++)
        s.top = f[i] > s.top ? f[i] : s.top;
    bool *used = NS_NEW_ARRAY(arena, bool, s.top + 1);
    ns_graph_mark(g, f, nf, used);
    for (ns_ex e = 1; e <= s.top; e++)
        s.n += used[e];
    s.list = NS_NEW_ARRAY(arena, passed, s.n + 1);
    s.d = NS_NEW_ARRAY(arena, ns_ex, s.top + 1);
    s.vector = NS_NEW_ARRAY(arena, ns_ex *, s.top + 1);
    uint32_t n = 0;
    for (ns_ex e = 1; e <= s.top; e++) {
        if (!used[e])
            continue;
        const ns_node *node = ns_graph_node(g, e);
        const ns_ex *args = ns_graph_args(g, e);
        s.list[n++] = (passed){.e = e,
                               .a = node->n > 0 ? args[0] : 0,
                               .b = node->n > 1 ? args[1] : 0,
                               .plain = ns_diff_plain(g, e)};
    }
    return s;
}

/* A node whose arguments vary. */
static ns_ex along_plain(ns_graph *g, const passed *at, const ns_ex *d)
{
    const ns_ex e = at->e, a = at->a, b = at->b;
    const ns_node node = *ns_graph_node(g, e);
    if (node.op == NS_OP_POWI)
        return ns_mul(
            g, ns_mul(g, ns_integer(g, node.integer), ns_powi(g, a, node.integer - 1)), d[a]);
    ns_ex sum = 0;
    if (node.op == NS_OP_DIV) {
        /* (da - y db)/b: one division */
        sum = d[a] ? d[a] : ns_zero(g);
        if (d[b])
            sum = ns_sub(g, sum, ns_mul(g, e, d[b]));
        return ns_div(g, sum, b);
    }
    if (d[a])
        sum = ns_mul(g, ns_ops[node.op].partial(g, e, a, b, 0), d[a]);
    if (d[b]) {
        const ns_ex term = ns_mul(g, ns_ops[node.op].partial(g, e, a, b, 1), d[b]);
        sum = sum ? ns_add(g, sum, term) : term;
    }
    return sum;
}

ns_ex ns_diff_step(ns_graph *g, ns_ex e, const ns_ex *d)
{
    const ns_node *node = ns_graph_node(g, e);
    const ns_ex *args = ns_graph_args(g, e);
    const passed at = {
        .e = e, .a = node->n > 0 ? args[0] : 0, .b = node->n > 1 ? args[1] : 0, .plain = true};
    NS_CHECK(ns_diff_plain(g, e));
    const ns_ex made = d[at.a] || d[at.b] ? along_plain(g, &at, d) : 0; /* d[0] is 0 */
    return made && !ns_graph_is_zero(g, made) ? made : 0;
}

/* Matrices and systems; what it returns for a FACTOR only records whether any entry varies. */
static ns_ex along_system(ns_graph *g, ns_ex e, sweep *s)
{
    const ns_node node = *ns_graph_node(g, e);
    const ns_ex *args = ns_graph_args(g, e);
    if (node.op == NS_OP_PICK)
        return s->vector[args[0]] ? s->vector[args[0]][node.integer] : 0;
    bool varies = false;
    for (uint32_t k = 0; k < node.n; k++)
        varies = varies || s->d[args[k]];
    if (varies && node.op != NS_OP_SOLVE)
        return e;
    if (varies) {
        s->vector[e] = NS_NEW_ARRAY(ns_graph_scratch(g), ns_ex, node.integer);
        along_solve(g, e, s->d, s->vector[e]);
    }
    return 0;
}

static void sweep_run(ns_graph *g, sweep *s, const ns_ex *x, const ns_ex *dx, size_t nx)
{
    ns_ex *d = s->d;
    for (size_t j = 0; j < nx; j++)
        if (x[j] <= s->top && !ns_graph_is_zero(g, dx[j]))
            d[x[j]] = dx[j];
    for (uint32_t i = 0; i < s->n; i++) {
        const passed *at = &s->list[i];
        if (d[at->e] || (at->plain && !d[at->a] && !d[at->b])) /* d[0] is 0 */
            continue;
        const ns_ex made = at->plain ? along_plain(g, at, d) : along_system(g, at->e, s);
        d[at->e] = made && !ns_graph_is_zero(g, made) ? made : 0;
    }
}

static void sweep_clear(sweep *s, const ns_ex *x, size_t nx)
{
    for (uint32_t i = 0; i < s->n; i++) {
        s->d[s->list[i].e] = 0;
        if (!s->list[i].plain)
            s->vector[s->list[i].e] = NULL;
    }
    for (size_t j = 0; j < nx; j++)
        if (x[j] <= s->top)
            s->d[x[j]] = 0;
}

void ns_diff_along(ns_graph *g, const ns_ex *f, size_t nf, const ns_ex *x, const ns_ex *dx,
                   size_t nx, ns_ex *out)
{
    NS_CHECK((f && out) || !nf);
    NS_CHECK((x && dx) || !nx);
    ns_arena *arena = ns_graph_scratch(g);
    const ns_arena_place mark = ns_arena_mark(arena);
    sweep s = sweep_new(g, f, nf);
    sweep_run(g, &s, x, dx, nx);
    for (size_t i = 0; i < nf; i++)
        out[i] = s.d[f[i]] ? s.d[f[i]] : ns_zero(g);
    ns_arena_release(arena, mark);
}

static void accumulate(ns_graph *g, ns_ex *bar, ns_ex e, ns_ex term)
{
    if (!ns_graph_is_zero(g, term))
        bar[e] = bar[e] ? ns_add(g, bar[e], term) : term;
}

/* Adjoint of a SOLVE node: from those of its picks to those of M and b. */
static void reverse_sparse(ns_graph *g, ns_ex e, const ns_ex *ybar, ns_ex *bar)
{
    ns_arena *arena = ns_graph_scratch(g);
    uint32_t n = (uint32_t)ns_graph_node(g, e)->integer;
    ns_ex factor = ns_graph_args(g, e)[0];
    const ns_pattern *p = ns_sparse_of(g, factor);
    ns_ex *K = ns_arena_copy(arena, ns_graph_args(g, factor), p->entries * sizeof *K);
    ns_ex *b = ns_arena_copy(arena, ns_graph_args(g, e) + 1, n * sizeof *b);
    ns_ex *y = NS_NEW_ARRAY(arena, ns_ex, n), *rhs = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_ex *bbar = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t i = 0; i < n; i++)
        rhs[i] = ybar[i] ? ybar[i] : ns_zero(g);
    ns_sparse_solve(g, p, K, b, y);
    ns_sparse_solve(g, p, K, rhs, bbar); /* K is symmetric */
    for (uint32_t i = 0; i < n; i++)
        accumulate(g, bar, b[i], bbar[i]);
    for (uint32_t k = 0; k < p->entries; k++) {
        uint32_t i = p->row[k], j = p->col[k];
        accumulate(g, bar, K[k], ns_neg(g, ns_mul(g, bbar[i], y[j])));
        if (i != j)
            accumulate(g, bar, K[k], ns_neg(g, ns_mul(g, bbar[j], y[i])));
    }
}

static void reverse_solve(ns_graph *g, ns_ex e, const ns_ex *ybar, ns_ex *bar)
{
    ns_arena *arena = ns_graph_scratch(g);
    uint32_t n = (uint32_t)ns_graph_node(g, e)->integer;
    ns_ex factor = ns_graph_args(g, e)[0];
    if (ns_graph_op(g, factor) == NS_OP_LDL) {
        reverse_sparse(g, e, ybar, bar);
        return;
    }
    ns_ex *M = ns_arena_copy(arena, ns_graph_args(g, factor), n * n * sizeof *M);
    ns_ex *b = ns_arena_copy(arena, ns_graph_args(g, e) + 1, n * sizeof *b);
    ns_ex *T = NS_NEW_ARRAY(arena, ns_ex, n * n), *y = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_ex *rhs = NS_NEW_ARRAY(arena, ns_ex, n), *bbar = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t i = 0; i < n; i++) {
        rhs[i] = ybar[i] ? ybar[i] : ns_zero(g);
        for (uint32_t j = 0; j < n; j++)
            T[i * n + j] = M[j * n + i];
    }
    ns_solve(g, n, M, b, y);
    ns_solve(g, n, T, rhs, bbar);
    for (uint32_t i = 0; i < n; i++) {
        accumulate(g, bar, b[i], bbar[i]);
        for (uint32_t j = 0; j < n; j++)
            accumulate(g, bar, M[i * n + j], ns_neg(g, ns_mul(g, bbar[i], y[j])));
    }
}

void ns_diff_gradient(ns_graph *g, ns_ex f, const ns_ex *x, size_t nx, ns_ex *out)
{
    NS_CHECK((x && out) || !nx);
    ns_arena *arena = ns_graph_scratch(g);
    ns_arena_place mark = ns_arena_mark(arena);
    bool *used = NS_NEW_ARRAY(arena, bool, f + 1);
    ns_graph_mark(g, &f, 1, used);
    /* Only nodes that depend on x need an adjoint. */
    bool *active = NS_NEW_ARRAY(arena, bool, f + 1);
    for (size_t j = 0; j < nx; j++)
        if (x[j] <= f)
            active[x[j]] = true;
    for (ns_ex e = 1; e <= f; e++) {
        if (!used[e])
            continue;
        const ns_node *node = ns_graph_node(g, e);
        for (uint32_t k = 0; k < node->n && !active[e]; k++)
            active[e] = active[ns_graph_args(g, e)[k]];
    }
    ns_ex *bar = NS_NEW_ARRAY(arena, ns_ex, f + 1);
    ns_ex **vector = NS_NEW_ARRAY(arena, ns_ex *, f + 1); /* adjoints of the picks of a SOLVE */
    bar[f] = ns_one(g);
    for (ns_ex e = f; e > 0; e--) {
        if (!used[e] || !active[e] || !(bar[e] || vector[e]))
            continue;
        ns_node node = *ns_graph_node(g, e);
        const ns_ex *args = ns_graph_args(g, e);
        ns_ex a = node.n > 0 ? args[0] : 0, b = node.n > 1 ? args[1] : 0;
        if (node.op == NS_OP_PICK) {
            if (!vector[a])
                vector[a] = NS_NEW_ARRAY(arena, ns_ex, ns_graph_node(g, a)->integer);
            vector[a][node.integer] = bar[e];
        } else if (node.op == NS_OP_SOLVE) {
            reverse_solve(g, e, vector[e], bar);
        } else if (node.op == NS_OP_POWI) {
            accumulate(g, bar, a,
                       ns_mul(g, bar[e],
                              ns_mul(g, ns_integer(g, node.integer),
                                     ns_powi(g, a, node.integer - 1))));
        } else if (ns_ops[node.op].arity > 0) {
            if (active[a])
                accumulate(g, bar, a,
                           ns_mul(g, bar[e], ns_ops[node.op].partial(g, e, a, b, 0)));
            if (b && active[b])
                accumulate(g, bar, b,
                           ns_mul(g, bar[e], ns_ops[node.op].partial(g, e, a, b, 1)));
        }
    }
    for (size_t j = 0; j < nx; j++)
        out[j] = x[j] <= f && bar[x[j]] ? bar[x[j]] : ns_zero(g);
    ns_arena_release(arena, mark);
}

void ns_diff_jacobian(ns_graph *g, const ns_ex *f, size_t nf, const ns_ex *x, size_t nx,
                      ns_ex *out)
{
    NS_CHECK(f || !nf);
    NS_CHECK(x || !nx);
    NS_CHECK(out || !nf || !nx);
    if (nf < nx / 2 || nf == 1) {
        for (size_t i = 0; i < nf; i++)
            ns_diff_gradient(g, f[i], x, nx, out + i * nx);
        return;
    }
    ns_arena *arena = ns_graph_scratch(g);
    const ns_arena_place mark = ns_arena_mark(arena);
    const ns_ex one = ns_one(g);
    sweep s = sweep_new(g, f, nf);
    for (size_t j = 0; j < nx; j++) {
        const ns_arena_place before = ns_arena_mark(arena);
        sweep_run(g, &s, &x[j], &one, 1);
        for (size_t i = 0; i < nf; i++)
            out[i * nx + j] = s.d[f[i]] ? s.d[f[i]] : ns_zero(g);
        sweep_clear(&s, &x[j], 1);
        ns_arena_release(arena, before);
    }
    ns_arena_release(arena, mark);
}
