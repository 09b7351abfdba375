/* See quick.h. */
#include "expr/normal/quick.h"

#include "base/check.h"

typedef struct quick {
    ns_graph *g;
    ns_ex top;
    bool *used, *runs;
    ns_ex *image;     /* [top + 1] what a node has become */
    uint32_t *common; /* [top + 1] quotients that have it as denominator */
} quick;

static void survey(quick *q, const ns_ex *x, uint32_t nx)
{
    for (uint32_t i = 0; i < nx; i++)
        if (x[i] && x[i] <= q->top)
            q->runs[x[i]] = true;
    for (ns_ex e = 1; e <= q->top; e++) {
        if (!q->used[e])
            continue;
        const ns_node *node = ns_graph_node(q->g, e);
        const ns_ex *args = ns_graph_args(q->g, e);
        for (uint32_t k = 0; k < node->n; k++)
            q->runs[e] = q->runs[e] || q->runs[args[k]];
        if (node->op == NS_OP_DIV && q->runs[e])
            q->common[args[1]]++;
    }
}

static ns_ex reciprocal(quick *q, ns_ex e)
{
    return ns_div(q->g, ns_one(q->g), e);
}

static ns_ex det2(ns_graph *g, ns_ex a, ns_ex b, ns_ex c, ns_ex d)
{
    return ns_sub(g, ns_mul(g, a, d), ns_mul(g, b, c));
}

/* Component i of the solution of M y = r, of two or three equations: row i of the adjugate
 * times r over the determinant. */
static ns_ex cramer(quick *q, uint32_t n, const ns_ex *M, const ns_ex *r, uint32_t i)
{
    ns_graph *g = q->g;
    if (n == 2) {
        const ns_ex over = reciprocal(q, det2(g, M[0], M[1], M[2], M[3]));
        const ns_ex top = i == 0 ? det2(g, r[0], r[1], M[1], M[3])
                                 : det2(g, M[0], M[2], r[0], r[1]);
        return ns_times(g, top, over);
    }
    /* cofactors C[j][k] of M[j][k] */
    ns_ex C[3][3];
    for (uint32_t j = 0; j < 3; j++)
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t a = (j + 1) % 3, b = (j + 2) % 3, c = (k + 1) % 3, d = (k + 2) % 3;
            C[j][k] = det2(g, M[3 * a + c], M[3 * a + d], M[3 * b + c], M[3 * b + d]);
        }
    ns_ex det = ns_zero(g), top = ns_zero(g);
    for (uint32_t j = 0; j < 3; j++) {
        det = ns_add(g, det, ns_mul(g, M[j], C[0][j]));
        top = ns_add(g, top, ns_mul(g, C[j][i], r[j]));
    }
    return ns_times(g, top, reciprocal(q, det));
}

/* PICK of a SOLVE with a small FACTOR? */
static bool small_solve(const quick *q, ns_ex e, ns_ex *factor, ns_ex *solve)
{
    const ns_graph *g = q->g;
    if (ns_graph_op(g, e) != NS_OP_PICK)
        return false;
    *solve = ns_graph_args(g, e)[0];
    *factor = ns_graph_args(g, *solve)[0];
    const int32_t n = ns_graph_node(g, *factor)->integer;
    return ns_graph_op(g, *factor) == NS_OP_FACTOR && (n == 2 || n == 3) && q->runs[*factor];
}

static ns_ex rewrite(quick *q, ns_ex e, ns_ex *args)
{
    ns_graph *g = q->g;
    ns_ex factor = 0, solve = 0;
    if (small_solve(q, e, &factor, &solve)) {
        const uint32_t n = (uint32_t)ns_graph_node(g, factor)->integer;
        ns_ex M[9] = {0}, r[3] = {0};
        for (uint32_t k = 0; k < n * n; k++)
            M[k] = q->image[ns_graph_args(g, factor)[k]];
        for (uint32_t k = 0; k < n; k++)
            r[k] = q->image[ns_graph_args(g, solve)[1 + k]];
        return cramer(q, n, M, r, (uint32_t)ns_graph_node(g, e)->integer);
    }
    const ns_op op = ns_graph_op(g, e);
    const uint32_t n = ns_graph_node(g, e)->n;
    bool changed = false;
    for (uint32_t k = 0; k < n; k++) {
        const ns_ex arg = ns_graph_args(g, e)[k];
        args[k] = q->image[arg];
        changed = changed || args[k] != arg;
    }
    if (op == NS_OP_DIV && q->runs[e] && !ns_graph_is_one(g, args[0])) {
        const ns_ex below = ns_graph_args(g, e)[1];
        if (!q->runs[below] || q->common[below] > 1)
            return ns_times(g, args[0], reciprocal(q, args[1]));
    }
    if (!changed)
        return e;
    return op == NS_OP_MUL ? ns_times(g, args[0], args[1]) : ns_rebuild(g, e, args);
}

void ns_quick(ns_graph *g, const ns_ex *f, uint32_t n, const ns_ex *x, uint32_t nx, ns_ex *out)
{
    NS_CHECK((f && out) || !n);
    NS_CHECK(x || !nx);
    ns_arena *scratch = ns_graph_scratch(g);
    const ns_arena_place mark = ns_arena_mark(scratch);
    quick q = {.g = g};
    for (uint32_t i = 0; i < n; i++)
        q.top = f[i] > q.top ? f[i] : q.top;
    q.used = NS_NEW_ARRAY(scratch, bool, q.top + 1);
    q.runs = NS_NEW_ARRAY(scratch, bool, q.top + 1);
    q.image = NS_NEW_ARRAY(scratch, ns_ex, q.top + 1);
    q.common = NS_NEW_ARRAY(scratch, uint32_t, q.top + 1);
    ns_graph_mark(g, f, n, q.used);
    survey(&q, x, nx);
    uint32_t most = 1;
    for (ns_ex e = 1; e <= q.top; e++)
        if (q.used[e] && ns_graph_node(g, e)->n > most)
            most = ns_graph_node(g, e)->n;
    ns_ex *args = NS_NEW_ARRAY(scratch, ns_ex, most);
    for (ns_ex e = 1; e <= q.top; e++)
        if (q.used[e])
            q.image[e] = rewrite(&q, e, args);
    for (uint32_t i = 0; i < n; i++)
        out[i] = q.image[f[i]];
    ns_arena_release(scratch, mark);
}
