#include "mech/common/nullspace.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/normal/shorten.h"

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
        const double far = fabs(ns_math_log(fabs(value)));
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
    ns_graph *g = w->g;
    for (uint32_t i = 0; i < w->d; i++)
        for (uint32_t j = i + 1; j < w->d; j++) {
            if (ns_graph_is_zero(g, w->alpha[i]) || ns_graph_is_zero(g, w->alpha[j]))
                continue;
            double value = 0;
            *one = i;
            *two = j;
            *norm = ns_shorten(
                g, ns_add(g, ns_powi(g, w->alpha[i], 2), ns_powi(g, w->alpha[j], 2)));
            if (ns_graph_is_number(g, *norm, &value) && value > 0)
                return true;
        }
    return false;
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
    } else if (turned_pair(w, &i, &j, &norm)) {
        for (uint32_t k = 0; k < w->n; k++) {
            const ns_ex along = ns_add(g, ns_mul(g, w->alpha[i], w->at[i][k]),
                                       ns_mul(g, w->alpha[j], w->at[j][k]));
            b[k] = ns_shorten(g, ns_div(g, along, norm));
        }
        combine(w, w->alpha[j], w->at[i], ns_neg(g, w->alpha[i]), w->at[j]);
        w->alpha[i] = ns_zero(g);
    } else
        return false;
    drop(w, j);
    for (i = 0; i < w->d; i++)
        if (!ns_graph_is_zero(g, w->alpha[i]))
            combine(w, ns_one(g), w->at[i], ns_neg(g, w->alpha[i]), b);
    return true;
}

/* Row k; false if it has to be left. */
static bool take(work *w, ns_nullspace *s, uint32_t k)
{
    ns_graph *g = w->g;
    const ns_ex *row = s->A + (size_t)k * s->n;
    ns_ex *b = s->B + (size_t)s->taken * s->n;
    for (uint32_t j = 0; j < w->d; j++)
        w->alpha[j] = ns_shorten(g, ns_nullspace_dot(g, s->n, row, w->at[j]));
    if (!eliminate(w, b))
        return false;
    const ns_ex left = ns_shorten(g, ns_sub(g, s->b[k], ns_nullspace_dot(g, s->n, row, s->c)));
    combine(w, ns_one(g), s->c, left, b);
    return true;
}

ns_nullspace ns_nullspace_make(ns_graph *g, uint32_t n, uint32_t m, const ns_ex *A,
                               const ns_ex *b)
{
    ns_arena *arena = ns_graph_arena(g);
    ns_nullspace s = {.n = n, .m = m, .A = A, .b = b};
    ns_ex *columns = NS_NEW_ARRAY(arena, ns_ex, (size_t)n * n + 1);
    work w = {.g = g, .n = n, .d = n};
    w.at = NS_NEW_ARRAY(arena, ns_ex *, n + 1);
    w.alpha = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    s.B = NS_NEW_ARRAY(arena, ns_ex, (size_t)n * m + 1);
    s.c = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    s.row = NS_NEW_ARRAY(arena, uint32_t, m + 1);
    for (uint32_t j = 0; j < n; j++) {
        w.at[j] = columns + (size_t)j * n;
        s.c[j] = ns_zero(g);
        for (uint32_t i = 0; i < n; i++)
            w.at[j][i] = i == j ? ns_one(g) : ns_zero(g);
    }
    for (uint32_t k = 0; k < m; k++)
        s.row[k] = k;
    bool progress = true; /* what others took may make a row simple */
    while (progress) {
        progress = false;
        for (uint32_t k = s.taken; k < m; k++) {
            const uint32_t row = s.row[k];
            if (!take(&w, &s, row))
                continue;
            memmove(s.row + s.taken + 1, s.row + s.taken, (k - s.taken) * sizeof *s.row);
            s.row[s.taken++] = row;
            progress = true;
        }
    }
    s.d = w.d;
    s.T = NS_NEW_ARRAY(arena, ns_ex, (size_t)n * s.d + 1);
    for (uint32_t j = 0; j < s.d; j++)
        memcpy(s.T + (size_t)j * n, w.at[j], n * sizeof(ns_ex));
    return s;
}

void ns_nullspace_multipliers(ns_graph *g, const ns_nullspace *s, const ns_ex *residual,
                              ns_ex *lambda)
{
    for (uint32_t k = s->taken; k-- > 0;) {
        const ns_ex *B = s->B + (size_t)k * s->n;
        ns_ex sum = ns_nullspace_dot(g, s->n, B, residual);
        for (uint32_t l = k + 1; l < s->m; l++) {
            const ns_ex *row = s->A + (size_t)s->row[l] * s->n;
            const ns_ex part = ns_shorten(g, ns_nullspace_dot(g, s->n, row, B));
            sum = ns_sub(g, sum, ns_mul(g, part, lambda[s->row[l]]));
        }
        lambda[s->row[k]] = sum;
    }
}
