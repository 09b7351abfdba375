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
#include "expr/graph_internal.h"
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
    ns_ex *node; /* [n] the same nodes, ascending */
    uint32_t n;
    ns_ex top;
    bool *in;       /* is it one of them? */
    ns_ex *d;       /* derivative, 0 where it vanishes */
    ns_ex **vector; /* the same for the components of a SOLVE */
    /* those that use node k: user[first[k]] .. user[first[k+1]-1], as places in the list; made
     * where columns are many (find_users) */
    uint32_t *first, *user, *touched;
    bool *seen; /* [n] */
} sweep;

bool ns_diff_plain(const ns_graph *g, ns_ex e)
{
    const ns_op op = ns_graph_op(g, e);
    return op != NS_OP_PICK && op != NS_OP_FACTOR && op != NS_OP_LDL && op != NS_OP_SOLVE;
}

/* In the graph's scratch memory; ends with sweep_end. */
static sweep sweep_new(ns_graph *g, const ns_ex *f, size_t nf)
{
    ns_arena *arena = ns_graph_scratch(g);
    sweep s = {0};
    s.node = ns_graph_reach(g, f, nf, &s.n);
    s.top = s.n ? s.node[s.n - 1] : 0;
    s.list = NS_NEW_ARRAY(arena, passed, s.n + 1);
    const ns_slots slots = ns_graph_slots(g);
    s.d = slots.value;
    s.vector = slots.vector;
    s.in = slots.flag;
    for (uint32_t i = 0; i < s.n; i++) {
        const ns_ex e = s.node[i];
        const ns_node *node = ns_graph_node(g, e);
        const ns_ex *args = ns_graph_args(g, e);
        s.in[e] = true;
        s.list[i] = (passed){.e = e,
                             .a = node->n > 0 ? args[0] : 0,
                             .b = node->n > 1 ? args[1] : 0,
                             .plain = ns_diff_plain(g, e)};
    }
    return s;
}

static void sweep_end(ns_graph *g, const sweep *s)
{
    ns_graph_slots_clear(g, s->node, s->n);
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

static void sweep_node(ns_graph *g, sweep *s, const passed *at)
{
    ns_ex *d = s->d;
    if (d[at->e] || (at->plain && !d[at->a] && !d[at->b])) /* d[0] is 0 */
        return;
    const ns_ex made = at->plain ? along_plain(g, at, d) : along_system(g, at->e, s);
    d[at->e] = made && !ns_graph_is_zero(g, made) ? made : 0;
}

static void sweep_run(ns_graph *g, sweep *s, const ns_ex *x, const ns_ex *dx, size_t nx)
{
    for (size_t j = 0; j < nx; j++)
        if (x[j] <= s->top && s->in[x[j]] && !ns_graph_is_zero(g, dx[j]))
            s->d[x[j]] = dx[j];
    for (uint32_t i = 0; i < s->n; i++)
        sweep_node(g, s, &s->list[i]);
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
    sweep_end(g, &s);
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
    uint32_t count;
    const ns_ex *used = ns_graph_reach(g, &f, 1, &count);
    const ns_slots slots = ns_graph_slots(g);
    /* Only nodes that depend on x need an adjoint. */
    bool *active = slots.flag;
    for (size_t j = 0; j < nx; j++)
        active[x[j]] = true;
    for (uint32_t i = 0; i < count; i++) {
        const ns_ex e = used[i];
        const ns_node *node = ns_graph_node(g, e);
        for (uint32_t k = 0; k < node->n && !active[e]; k++)
            active[e] = active[ns_graph_args(g, e)[k]];
    }
    ns_ex *bar = slots.value;
    ns_ex **vector = slots.vector; /* adjoints of the picks of a SOLVE */
    bar[f] = ns_one(g);
    for (uint32_t i = count; i-- > 0;) {
        const ns_ex e = used[i];
        if (!active[e] || !(bar[e] || vector[e]))
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
        out[j] = bar[x[j]] ? bar[x[j]] : ns_zero(g);
    ns_graph_slots_clear(g, used, count);
    for (size_t j = 0; j < nx; j++)
        active[x[j]] = false;
    ns_arena_release(arena, mark);
}

/* Who uses whom, for columns that touch few nodes. */
static void find_users(ns_graph *g, sweep *s)
{
    ns_arena *arena = ns_graph_scratch(g);
    uint32_t *place = s->d; /* while it is free: places in the list, plus one */
    s->first = NS_NEW_ARRAY(arena, uint32_t, s->n + 2);
    s->touched = NS_NEW_ARRAY(arena, uint32_t, s->n + 1);
    s->seen = NS_NEW_ARRAY(arena, bool, s->n + 1);
    for (uint32_t i = 0; i < s->n; i++)
        place[s->node[i]] = i + 1;
    for (int turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < s->n; i++) {
            const ns_node *node = ns_graph_node(g, s->node[i]);
            const ns_ex *args = ns_graph_args(g, s->node[i]);
            for (uint32_t k = 0; k < node->n; k++) {
                const uint32_t at = place[args[k]] - 1;
                if (turn)
                    s->user[s->first[at + 1]++] = i;
                else
                    s->first[at + 2]++;
            }
        }
        for (uint32_t i = 2; i <= s->n + 1 && !turn; i++)
            s->first[i] += s->first[i - 1];
        if (!turn)
            s->user = NS_NEW_ARRAY(arena, uint32_t, s->first[s->n + 1] + 1);
    }
    for (uint32_t i = 0; i < s->n; i++)
        place[s->node[i]] = 0;
}
/* Where node e stands in the list. */
static uint32_t place_of(const sweep *s, ns_ex e)
{
    uint32_t low = 0, high = s->n;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        *(s->node[middle] > e ? &high : &low) = middle;
    }
    return low;
}

/* Places of all nodes that contain x, ascending; 0 where they are so many that one may as well
 * look at every node. */
static uint32_t find_touched(sweep *s, ns_ex x)
{
    uint32_t n = 0;
    s->touched[n++] = place_of(s, x);
    s->seen[s->touched[0]] = true;
    for (uint32_t i = 0; i < n && n < s->n / 8; i++) {
        const uint32_t at = s->touched[i];
        for (uint32_t k = s->first[at]; k < s->first[at + 1]; k++) {
            if (s->seen[s->user[k]])
                continue;
            s->seen[s->user[k]] = true;
            s->touched[n++] = s->user[k];
        }
    }
    for (uint32_t i = 0; i < n; i++)
        s->seen[s->touched[i]] = false;
    if (n >= s->n / 8)
        return 0;
    ns_graph_sort(s->touched, n);
    return n;
}

typedef void entry_taker(void *to, uint32_t row, uint32_t column, ns_ex value);

/* Column j of the derivatives of f, what is not zero.  next[i]: the next row that is the same
 * node as row i, head[k] the first one that is node k of the list, both plus one. */
static void column_of(ns_graph *g, sweep *s, const ns_ex *f, size_t nf, ns_ex x, uint32_t j,
                      const uint32_t *head, const uint32_t *next, entry_taker *take, void *to)
{
    const uint32_t few = s->first ? find_touched(s, x) : 0, n = few ? few : s->n;
    s->d[x] = ns_one(g);
    for (uint32_t i = 0; i < n; i++)
        sweep_node(g, s, &s->list[few ? s->touched[i] : i]);
    for (uint32_t i = 0; i < few; i++) {
        const uint32_t at = s->touched[i];
        const ns_ex value = s->d[s->node[at]];
        for (uint32_t row = head[at]; value && row; row = next[row - 1])
            take(to, row - 1, j, value);
    }
    for (size_t i = 0; i < nf && !few; i++)
        if (s->d[f[i]])
            take(to, (uint32_t)i, j, s->d[f[i]]);
    for (uint32_t i = 0; i < n; i++) {
        const ns_ex e = s->node[few ? s->touched[i] : i];
        s->d[e] = 0;
        s->vector[e] = NULL;
    }
}

static void by_columns(ns_graph *g, const ns_ex *f, size_t nf, const ns_ex *x, size_t nx,
                       entry_taker *take, void *to)
{
    enum { MANY = 2000 }; /* nodes: less are walked over faster than they are looked for */
    ns_arena *arena = ns_graph_scratch(g);
    const ns_arena_place mark = ns_arena_mark(arena);
    sweep s = sweep_new(g, f, nf);
    uint32_t *head = NULL, *next = NULL;
    if (s.n > MANY) {
        find_users(g, &s);
        head = NS_NEW_ARRAY(arena, uint32_t, s.n + 1);
        next = NS_NEW_ARRAY(arena, uint32_t, nf + 1);
        for (size_t i = nf; i-- > 0;) {
            uint32_t *at = &head[place_of(&s, f[i])];
            next[i] = *at;
            *at = (uint32_t)i + 1;
        }
    }
    for (size_t j = 0; j < nx; j++) {
        const ns_arena_place before = ns_arena_mark(arena);
        if (x[j] <= s.top && s.in[x[j]])
            column_of(g, &s, f, nf, x[j], (uint32_t)j, head, next, take, to);
        ns_arena_release(arena, before);
    }
    sweep_end(g, &s);
    ns_arena_release(arena, mark);
}

typedef struct dense {
    ns_ex *out;
    size_t columns;
} dense;

static void take_dense(void *to, uint32_t row, uint32_t column, ns_ex value)
{
    const dense *d = to;
    d->out[row * d->columns + column] = value;
}

/* By rows in reverse, or by columns forward?  The order of what is built follows from it. */
static bool by_rows(size_t nf, size_t nx)
{
    return nf < nx / 2 || nf == 1;
}

void ns_diff_jacobian(ns_graph *g, const ns_ex *f, size_t nf, const ns_ex *x, size_t nx,
                      ns_ex *out)
{
    NS_CHECK(f || !nf);
    NS_CHECK(x || !nx);
    NS_CHECK(out || !nf || !nx);
    for (size_t i = 0; i < nf && by_rows(nf, nx); i++)
        ns_diff_gradient(g, f[i], x, nx, out + i * nx);
    if (by_rows(nf, nx))
        return;
    const ns_ex zero = ns_zero(g);
    for (size_t i = 0; i < nf * nx; i++)
        out[i] = zero;
    by_columns(g, f, nf, x, nx, take_dense, &(dense){out, nx});
}

typedef struct entry {
    uint32_t row, column;
    ns_ex value;
} entry;
typedef struct entries {
    ns_arena *arena;
    NS_LIST(entry) list;
} entries;

static void take_entry(void *to, uint32_t row, uint32_t column, ns_ex value)
{
    entries *e = to;
    NS_PUSH(e->arena, e->list, (entry){row, column, value});
}

/* Of a few functions of many variables, each of which contains few of them. */
static void rows_in_reverse(ns_graph *g, const ns_ex *f, size_t nf, const ns_ex *x, size_t nx,
                            entries *to)
{
    ns_ex *slope = NS_NEW_ARRAY(to->arena, ns_ex, nx + 1);
    for (size_t i = 0; i < nf; i++) {
        ns_diff_gradient(g, f[i], x, nx, slope);
        for (size_t j = 0; j < nx; j++)
            if (!ns_graph_is_zero(g, slope[j]))
                take_entry(to, (uint32_t)i, (uint32_t)j, slope[j]);
    }
}

ns_sparse_rows *ns_diff_sparse(ns_graph *g, ns_arena *arena, const ns_ex *f, size_t nf,
                               const ns_ex *x, size_t nx)
{
    NS_CHECK(f || !nf);
    NS_CHECK(x || !nx);
    entries all = {.arena = ns_graph_workspace(g)};
    const ns_arena_place mark = ns_arena_mark(all.arena);
    (by_rows(nf, nx) ? rows_in_reverse(g, f, nf, x, nx, &all)
                     : by_columns(g, f, nf, x, nx, take_entry, &all));
    const uint32_t n = all.list.n;
    ns_sparse_rows *r = NS_NEW(arena, ns_sparse_rows);
    r->rows = (uint32_t)nf;
    r->start = NS_NEW_ARRAY(arena, uint32_t, nf + 3);
    r->column = NS_NEW_ARRAY(arena, uint32_t, n + 1);
    r->value = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++)
        r->start[all.list.at[i].row + 2]++;
    for (uint32_t i = 2; i <= nf + 1; i++)
        r->start[i] += r->start[i - 1];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = r->start[all.list.at[i].row + 1]++;
        r->column[at] = all.list.at[i].column;
        r->value[at] = all.list.at[i].value;
    }
    ns_arena_release(all.arena, mark);
    return r;
}

ns_sparse_rows *ns_sparse_transposed(ns_arena *arena, const ns_sparse_rows *a, uint32_t columns)
{
    const uint32_t n = a->start[a->rows];
    ns_sparse_rows *r = NS_NEW(arena, ns_sparse_rows);
    r->rows = columns;
    r->start = NS_NEW_ARRAY(arena, uint32_t, (size_t)columns + 3);
    r->column = NS_NEW_ARRAY(arena, uint32_t, n + 1);
    r->value = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    for (uint32_t e = 0; e < n; e++)
        r->start[a->column[e] + 2]++;
    for (uint32_t i = 2; i <= columns + 1; i++)
        r->start[i] += r->start[i - 1];
    for (uint32_t k = 0; k < a->rows; k++)
        for (uint32_t e = a->start[k]; e < a->start[k + 1]; e++) {
            const uint32_t at = r->start[a->column[e] + 1]++;
            r->column[at] = k;
            r->value[at] = a->value[e];
        }
    return r;
}
