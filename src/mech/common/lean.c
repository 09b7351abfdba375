#include "mech/common/lean.h"

#include <math.h>
#include <string.h>

typedef struct work {
    ns_graph *g;
    uint32_t n, count;
    ns_ex *M, *b;              /* [n][n], [n][count] */
    bool *row_done, *col_done; /* [n] */
    uint32_t *row, *col;       /* pivots in the order they were taken */
    uint32_t taken;
} work;

/* Entries of row i (or column i) among what is left. */
static uint32_t entries(const work *w, uint32_t i, bool column)
{
    uint32_t found = 0;
    for (uint32_t j = 0; j < w->n; j++)
        if (!(column ? w->row_done : w->col_done)[j] &&
            !ns_graph_is_zero(w->g, w->M[column ? j * w->n + i : i * w->n + j]))
            found++;
    return found;
}

/* The next entry to divide by, 0 to 2 by how little it costs; false if there is none. */
static bool next_pivot(const work *w, uint32_t *row, uint32_t *col)
{
    int best = 3;
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = 0; j < w->n && !w->row_done[i]; j++) {
            double value = 0;
            if (w->col_done[j] || ns_graph_is_zero(w->g, w->M[i * w->n + j]))
                continue;
            const bool number = ns_graph_is_number(w->g, w->M[i * w->n + j], &value);
            const bool lone = entries(w, i, false) == 1 || entries(w, j, true) == 1;
            const bool unit = number && (value > 0 ? value : -value) == 1;
            const int cost = lone && unit ? 0 : lone ? 1 : unit ? 2 : 3;
            if (cost < best) {
                best = cost;
                *row = i;
                *col = j;
            }
        }
    return best < 3;
}

static void eliminate(work *w, uint32_t row, uint32_t col)
{
    const uint32_t n = w->n;
    w->row_done[row] = w->col_done[col] = true;
    w->row[w->taken] = row;
    w->col[w->taken++] = col;
    for (uint32_t i = 0; i < n; i++) {
        if (w->row_done[i] || ns_graph_is_zero(w->g, w->M[i * n + col]))
            continue;
        const ns_ex factor = ns_div(w->g, w->M[i * n + col], w->M[row * n + col]);
        for (uint32_t j = 0; j < n; j++)
            if (!w->col_done[j] && !ns_graph_is_zero(w->g, w->M[row * n + j]))
                w->M[i * n + j] = ns_sub(w->g, w->M[i * n + j],
                                         ns_mul(w->g, factor, w->M[row * n + j]));
        for (uint32_t c = 0; c < w->count; c++)
            w->b[i * w->count + c] = ns_sub(w->g, w->b[i * w->count + c],
                                            ns_mul(w->g, factor, w->b[row * w->count + c]));
    }
}

/* What is left, by a solve node. */
static void solve_rest(work *w, ns_arena *arena, ns_ex *x)
{
    const uint32_t n = w->n, left = n - w->taken;
    uint32_t *rows = NS_NEW_ARRAY(arena, uint32_t, left + 1), nr = 0;
    uint32_t *cols = NS_NEW_ARRAY(arena, uint32_t, left + 1), nc = 0;
    ns_ex *M = NS_NEW_ARRAY(arena, ns_ex, (size_t)left * left + 1);
    ns_ex *b = NS_NEW_ARRAY(arena, ns_ex, left + 1), *y = NS_NEW_ARRAY(arena, ns_ex, left + 1);
    for (uint32_t i = 0; i < n; i++) {
        if (!w->row_done[i])
            rows[nr++] = i;
        if (!w->col_done[i])
            cols[nc++] = i;
    }
    for (uint32_t i = 0; i < left; i++)
        for (uint32_t j = 0; j < left; j++)
            M[i * left + j] = w->M[rows[i] * n + cols[j]];
    for (uint32_t c = 0; left && c < w->count; c++) {
        bool zero = true;
        for (uint32_t i = 0; i < left; i++) {
            b[i] = w->b[rows[i] * w->count + c];
            y[i] = ns_zero(w->g);
            zero = zero && ns_graph_is_zero(w->g, b[i]);
        }
        if (!zero)
            ns_solve(w->g, left, M, b, y);
        for (uint32_t i = 0; i < left; i++)
            x[c * n + cols[i]] = y[i];
    }
}

void ns_lean_solve(ns_graph *g, uint32_t n, const ns_ex *M, const ns_ex *b, uint32_t count,
                   ns_ex *x)
{
    ns_arena *arena = ns_graph_arena(g);
    work w = {.g = g, .n = n, .count = count};
    w.M = NS_NEW_ARRAY(arena, ns_ex, (size_t)n * n + 1);
    w.b = NS_NEW_ARRAY(arena, ns_ex, (size_t)n * count + 1);
    w.row_done = NS_NEW_ARRAY(arena, bool, n + 1);
    w.col_done = NS_NEW_ARRAY(arena, bool, n + 1);
    w.row = NS_NEW_ARRAY(arena, uint32_t, n + 1);
    w.col = NS_NEW_ARRAY(arena, uint32_t, n + 1);
    memcpy(w.M, M, sizeof(ns_ex) * n * n);
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t i = 0; i < n; i++)
            w.b[i * count + c] = b[c * n + i];
    uint32_t row = 0, col = 0;
    while (next_pivot(&w, &row, &col))
        eliminate(&w, row, col);
    solve_rest(&w, arena, x);
    for (uint32_t step = w.taken; step-- > 0;) {
        row = w.row[step];
        col = w.col[step];
        for (uint32_t c = 0; c < count; c++) {
            ns_ex value = w.b[row * count + c];
            for (uint32_t j = 0; j < n; j++)
                if (j != col && !ns_graph_is_zero(g, w.M[row * n + j])) {
                    /* columns taken before this one were zeroed from this row by elimination */
                    bool earlier = false;
                    for (uint32_t s = 0; s < step; s++)
                        earlier = earlier || w.col[s] == j;
                    if (!earlier)
                        value = ns_sub(g, value, ns_mul(g, w.M[row * n + j], x[c * n + j]));
                }
            x[c * n + col] = ns_div(g, value, w.M[row * n + col]);
        }
    }
}
