#include "mech/nullspace.h"

#include <math.h>
#include <string.h>

#include "expr/shorten.h"

ns_ex ns_nullspace_dot(ns_graph *g, uint32_t n, const ns_ex *x, const ns_ex *y)
{
    ns_ex sum = ns_zero(g);
    for (uint32_t i = 0; i < n; i++)
        sum = ns_add(g, sum, ns_mul(g, x[i], y[i]));
    return sum;
}

/* What is left of T while rows are worked on: columns at[0 .. d). */
typedef struct work {
    ns_graph *g;
    uint32_t n, d;
    ns_ex **at;
    ns_ex *alpha; /* [d] */
} work;

/* x = p x + q y */
static void combine(const work *w, ns_ex p, ns_ex *x, ns_ex q, const ns_ex *y)
{
    ns_graph *g = w->g;
    for (uint32_t i = 0; i < w->n; i++)
        x[i] = ns_shorten(g, ns_add(g, ns_mul(g, p, x[i]), ns_mul(g, q, y[i])));
}

static void drop(work *w, uint32_t j)
{
    for (uint32_t i = j; i + 1 < w->d; i++) {
        w->at[i] = w->at[i + 1];
        w->alpha[i] = w->alpha[i + 1];
    }
    w->d--;
}

/* The column whose entry is a number, the one next to 1; false if there is none. */
static bool plain_entry(const work *w, uint32_t *column)
{
    double best = INFINITY;
    for (uint32_t j = 0; j < w->d; j++) {
        double value = 0;
        if (!ns_graph_is_number(w->g, w->alpha[j], &value) || value == 0)
            continue;
        const double far = fabs(log(fabs(value)));
        if (far < best) {
            best = far;
            *column = j;
        }
    }
    return best < 3; /* 0.05 .. 20 */
}

/* Two entries whose squares add up to a number? */
static bool turned_pair(const work *w, uint32_t *one, uint32_t *two, ns_ex *norm)
{
    uint32_t found[2] = {0}, count = 0;
    for (uint32_t j = 0; j < w->d; j++)
        if (!ns_graph_is_zero(w->g, w->alpha[j])) {
            if (count == 2)
                return false;
            found[count++] = j;
        }
    if (count < 2)
        return false;
    *one = found[0];
    *two = found[1];
    *norm = ns_shorten(w->g, ns_add(w->g, ns_powi(w->g, w->alpha[found[0]], 2),
                                    ns_powi(w->g, w->alpha[found[1]], 2)));
    double value = 0;
    return ns_graph_is_number(w->g, *norm, &value) && value > 0;
}

/* Column B_k into b; T without it. */
static bool eliminate(work *w, ns_ex *b)
{
    ns_graph *g = w->g;
    uint32_t i = 0, j = 0;
    ns_ex norm = 0;
    if (plain_entry(w, &j)) {
        const ns_ex over = ns_div(g, ns_one(g), w->alpha[j]);
        for (uint32_t k = 0; k < w->n; k++)
            b[k] = ns_mul(g, over, w->at[j][k]);
        for (i = 0; i < w->d; i++)
            if (i != j && !ns_graph_is_zero(g, w->alpha[i]))
                combine(w, ns_one(g), w->at[i], ns_neg(g, w->alpha[i]), b);
        drop(w, j);
        return true;
    }
    if (!turned_pair(w, &i, &j, &norm))
        return false;
    for (uint32_t k = 0; k < w->n; k++) {
        const ns_ex along = ns_add(g, ns_mul(g, w->alpha[i], w->at[i][k]),
                                   ns_mul(g, w->alpha[j], w->at[j][k]));
        b[k] = ns_shorten(g, ns_div(g, along, norm));
    }
    combine(w, w->alpha[j], w->at[i], ns_neg(g, w->alpha[i]), w->at[j]);
    drop(w, j);
    return true;
}

bool ns_nullspace_make(ns_graph *g, uint32_t n, uint32_t m, const ns_ex *A, const ns_ex *b,
                       ns_nullspace *out)
{
    ns_arena *arena = ns_graph_arena(g);
    *out = (ns_nullspace){.n = n, .m = m, .d = n - m};
    if (m > n)
        return false;
    ns_ex *columns = NS_NEW_ARRAY(arena, ns_ex, (size_t)n * n + 1);
    work w = {.g = g, .n = n, .d = n};
    w.at = NS_NEW_ARRAY(arena, ns_ex *, n + 1);
    w.alpha = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    out->B = NS_NEW_ARRAY(arena, ns_ex, (size_t)n * m + 1);
    out->L = NS_NEW_ARRAY(arena, ns_ex, (size_t)m * m + 1);
    out->c = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    for (uint32_t j = 0; j < n; j++) {
        w.at[j] = columns + (size_t)j * n;
        out->c[j] = ns_zero(g);
        for (uint32_t i = 0; i < n; i++)
            w.at[j][i] = i == j ? ns_one(g) : ns_zero(g);
    }
    for (uint32_t k = 0; k < m; k++) {
        const ns_ex *row = A + (size_t)k * n;
        ns_ex *b_k = out->B + (size_t)k * n;
        for (uint32_t j = 0; j < w.d; j++)
            w.alpha[j] = ns_shorten(g, ns_nullspace_dot(g, n, row, w.at[j]));
        if (!eliminate(&w, b_k))
            return false;
        const ns_ex left = ns_shorten(g, ns_sub(g, b[k], ns_nullspace_dot(g, n, row, out->c)));
        combine(&(work){.g = g, .n = n}, ns_one(g), out->c, left, b_k);
    }
    for (uint32_t l = 0; l < m; l++)
        for (uint32_t k = 0; k < m; k++)
            out->L[l * m + k] = l < k ? ns_zero(g)
                                : l == k
                                    ? ns_one(g)
                                    : ns_shorten(g, ns_nullspace_dot(g, n, A + (size_t)l * n,
                                                                     out->B + (size_t)k * n));
    out->T = NS_NEW_ARRAY(arena, ns_ex, (size_t)n * out->d + 1);
    for (uint32_t j = 0; j < out->d; j++)
        memcpy(out->T + (size_t)j * n, w.at[j], n * sizeof(ns_ex));
    return true;
}

void ns_nullspace_multipliers(ns_graph *g, const ns_nullspace *s, const ns_ex *residual,
                              ns_ex *lambda)
{
    for (uint32_t k = s->m; k-- > 0;) {
        lambda[k] = ns_nullspace_dot(g, s->n, s->B + (size_t)k * s->n, residual);
        for (uint32_t l = k + 1; l < s->m; l++)
            lambda[k] = ns_sub(g, lambda[k], ns_mul(g, s->L[l * s->m + k], lambda[l]));
    }
}
