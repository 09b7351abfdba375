/* Symbolic and numerical factorisation.  Left-looking, column by column:
 *
 *     V_ij = K_ij - sum_{k<j} V_ik L_jk,   d_j = V_jj,   L_ij = V_ij / d_j
 *
 * The structure of a column of L is that of K and of the columns whose first entry below the
 * diagonal is in this row (the elimination tree). */
#include "expr/sparse.h"

#include <string.h>

#include "base/check.h"
#include "expr/graph_internal.h"

typedef NS_LIST(uint32_t) numbers;

static int ascending(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

/* Few numbers mostly in order: insertion; many: shell sort's first passes do the work. */
static void sort(uint32_t *at, uint32_t n)
{
    static const uint32_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (uint32_t i = gaps[g]; i < n; i++) {
            const uint32_t value = at[i];
            uint32_t j = i;
            for (; j >= gaps[g] && ascending(at[j - gaps[g]], value) > 0; j -= gaps[g])
                at[j] = at[j - gaps[g]];
            at[j] = value;
        }
}

typedef struct symbolic {
    ns_arena *arena, *scratch;
    uint32_t n;
    numbers *column;   /* [n] positions below the diagonal, ascending */
    numbers *children; /* [n] in the elimination tree */
} symbolic;

/* Adds the positions below j of a list to column j; mark[i] == j + 1: already there. */
static void merge(symbolic *s, uint32_t j, const numbers *list, uint32_t *mark)
{
    for (uint32_t k = 0; k < list->n; k++) {
        const uint32_t i = list->at[k];
        if (i <= j || mark[i] == j + 1)
            continue;
        mark[i] = j + 1;
        NS_PUSH(s->scratch, s->column[j], i);
    }
}

static void find_columns(symbolic *s, const numbers *given)
{
    uint32_t *mark = NS_NEW_ARRAY(s->scratch, uint32_t, s->n + 1);
    for (uint32_t j = 0; j < s->n; j++) {
        merge(s, j, &given[j], mark);
        for (uint32_t c = 0; c < s->children[j].n; c++)
            merge(s, j, &s->column[s->children[j].at[c]], mark);
        sort(s->column[j].at, s->column[j].n);
        if (s->column[j].n)
            NS_PUSH(s->scratch, s->children[s->column[j].at[0]], j);
    }
}

static void by_rows(const symbolic *s, ns_pattern *p)
{
    const uint32_t n = s->n, count = p->start[n];
    uint32_t *start = NS_NEW_ARRAY(s->arena, uint32_t, n + 2);
    uint32_t *left = NS_NEW_ARRAY(s->arena, uint32_t, count + 1);
    uint32_t *at = NS_NEW_ARRAY(s->arena, uint32_t, count + 1);
    for (uint32_t e = 0; e < count; e++)
        start[p->below[e] + 2]++;
    for (uint32_t i = 2; i <= n + 1 && n > 0; i++)
        start[i] += start[i - 1];
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t e = p->start[j]; e < p->start[j + 1]; e++) {
            const uint32_t k = start[p->below[e] + 1]++;
            left[k] = j;
            at[k] = e;
        }
    p->row_start = start;
    p->left = left;
    p->at = at;
}

static ns_pattern *analyse(ns_graph *g, const ns_pattern *given)
{
    const uint32_t n = given->n;
    symbolic s = {.arena = g->arena, .scratch = g->scratch, .n = n};
    s.column = NS_NEW_ARRAY(s.scratch, numbers, n + 1);
    s.children = NS_NEW_ARRAY(s.scratch, numbers, n + 1);
    ns_pattern *p = NS_NEW(s.arena, ns_pattern);
    *p = *given;
    p->row = ns_arena_copy(s.arena, given->row, given->entries * sizeof *p->row);
    p->col = ns_arena_copy(s.arena, given->col, given->entries * sizeof *p->col);
    p->order = ns_arena_copy(s.arena, given->order, n * sizeof *p->order);
    uint32_t *position = NS_NEW_ARRAY(s.scratch, uint32_t, n + 1);
    for (uint32_t k = 0; k < n; k++)
        position[p->order[k]] = k;
    numbers *column = NS_NEW_ARRAY(s.scratch, numbers, n + 1);
    for (uint32_t e = 0; e < p->entries; e++) {
        const uint32_t a = position[p->row[e]], b = position[p->col[e]];
        if (a != b)
            NS_PUSH(s.scratch, column[a < b ? a : b], a < b ? b : a);
    }
    find_columns(&s, column);
    uint32_t *start = NS_NEW_ARRAY(s.arena, uint32_t, n + 1);
    for (uint32_t j = 0; j < n; j++)
        start[j + 1] = start[j] + s.column[j].n;
    uint32_t *below = NS_NEW_ARRAY(s.arena, uint32_t, start[n] + 1);
    uint32_t *source = NS_NEW_ARRAY(s.arena, uint32_t, start[n] + 1);
    uint32_t *diagonal = NS_NEW_ARRAY(s.arena, uint32_t, n + 1);
    memset(source, 0xff, start[n] * sizeof *source);
    memset(diagonal, 0xff, n * sizeof *diagonal);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t k = 0; k < s.column[j].n; k++)
            below[start[j] + k] = s.column[j].at[k];
    for (uint32_t e = 0; e < p->entries; e++) {
        const uint32_t a = position[p->row[e]], b = position[p->col[e]];
        const uint32_t j = a < b ? a : b, i = a < b ? b : a;
        if (i == j) {
            diagonal[j] = e;
            continue;
        }
        uint32_t low = start[j], high = start[j + 1];
        while (high - low > 1) {
            const uint32_t middle = low + (high - low) / 2;
            *(below[middle] > i ? &high : &low) = middle;
        }
        source[low] = e;
    }
    p->start = start;
    p->below = below;
    p->source = source;
    p->diagonal = diagonal;
    by_rows(&s, p);
    return p;
}

static bool equal(const ns_pattern *a, const ns_pattern *b)
{
    return a->n == b->n && a->entries == b->entries &&
           memcmp(a->order, b->order, a->n * sizeof *a->order) == 0 &&
           memcmp(a->row, b->row, a->entries * sizeof *a->row) == 0 &&
           memcmp(a->col, b->col, a->entries * sizeof *a->col) == 0;
}

const ns_pattern *ns_sparse_pattern(ns_graph *g, uint32_t n, uint32_t entries,
                                    const uint32_t *row, const uint32_t *col,
                                    const uint32_t *order)
{
    NS_CHECK(n > 0);
    NS_CHECK(entries <= n * (n + 1) / 2);
    NS_CHECK(row && col && order);
    const ns_pattern given = {
        .n = n, .entries = entries, .row = row, .col = col, .order = order};
    for (uint32_t i = 0; i < g->patterns.n; i++)
        if (equal(g->patterns.at[i], &given))
            return g->patterns.at[i];
    const ns_arena_place mark = ns_arena_mark(g->scratch);
    const ns_pattern *p = analyse(g, &given);
    ns_arena_release(g->scratch, mark);
    NS_PUSH(g->arena, g->patterns, p);
    return p;
}

const ns_pattern *ns_sparse_of(const ns_graph *g, ns_ex e)
{
    NS_CHECK(ns_graph_op(g, e) == NS_OP_LDL);
    NS_CHECK((uint32_t)ns_graph_node(g, e)->hi < g->patterns.n);
    return g->patterns.at[(uint32_t)ns_graph_node(g, e)->hi];
}

void ns_sparse_solve(ns_graph *g, const ns_pattern *pattern, const ns_ex *K, const ns_ex *b,
                     ns_ex *x)
{
    NS_CHECK(K && b && x);
    const uint32_t n = pattern->n;
    bool zero = true;
    for (uint32_t i = 0; i < n; i++)
        zero = zero && ns_graph_is_zero(g, b[i]);
    if (zero) {
        for (uint32_t i = 0; i < n; i++)
            x[i] = ns_zero(g);
        return;
    }
    uint32_t id = 0;
    while (g->patterns.at[id] != pattern)
        id++;
    ns_ex *args = NS_NEW_ARRAY(g->arena, ns_ex, n + 1);
    args[0] = ns_graph_intern(
        g, (ns_node){.op = NS_OP_LDL, .n = pattern->entries, .integer = (int32_t)n, .hi = id},
        K);
    memcpy(args + 1, b, n * sizeof *b);
    ns_ex solve = ns_graph_intern(
        g, (ns_node){.op = NS_OP_SOLVE, .n = n + 1, .integer = (int32_t)n}, args);
    for (uint32_t i = 0; i < n; i++)
        x[i] = ns_graph_intern(g, (ns_node){.op = NS_OP_PICK, .n = 1, .integer = (int32_t)i},
                               &solve);
}

void ns_sparse_factor(const ns_pattern *p, const double *K, double *V, double *L,
                      double *inverse, double *column)
{
    NS_CHECK(K && V && L && inverse && column);
    for (uint32_t j = 0; j < p->n; j++) {
        column[j] = p->diagonal[j] == NS_SPARSE_NONE ? 0 : K[p->diagonal[j]];
        for (uint32_t e = p->start[j]; e < p->start[j + 1]; e++)
            column[p->below[e]] = p->source[e] == NS_SPARSE_NONE ? 0 : K[p->source[e]];
        for (uint32_t r = p->row_start[j]; r < p->row_start[j + 1]; r++) {
            const uint32_t k = p->left[r];
            const double factor = L[p->at[r]];
            for (uint32_t e = p->at[r]; e < p->start[k + 1]; e++) /* rows from j on */
                column[p->below[e]] -= V[e] * factor;
        }
        inverse[j] = 1 / column[j];
        for (uint32_t e = p->start[j]; e < p->start[j + 1]; e++) {
            V[e] = column[p->below[e]];
            L[e] = V[e] * inverse[j];
        }
    }
}

void ns_sparse_apply(const ns_pattern *p, const double *L, const double *inverse,
                     const double *b, double *x, double *scratch)
{
    NS_CHECK(scratch != x && scratch != b);
    double *z = scratch;
    for (uint32_t j = 0; j < p->n; j++) {
        z[j] = b[p->order[j]];
        for (uint32_t r = p->row_start[j]; r < p->row_start[j + 1]; r++)
            z[j] -= L[p->at[r]] * z[p->left[r]];
    }
    for (uint32_t j = p->n; j-- > 0;) {
        z[j] *= inverse[j];
        for (uint32_t e = p->start[j]; e < p->start[j + 1]; e++)
            z[j] -= L[e] * z[p->below[e]];
    }
    for (uint32_t j = 0; j < p->n; j++)
        x[p->order[j]] = z[j];
}
