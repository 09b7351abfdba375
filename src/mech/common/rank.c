#include "mech/common/rank.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/sparse.h"
#include "mech/common/dense.h"
#include "mech/common/order.h"

/* Rows have length one, and states lie on the constraints to some 1e-14: a row that depends on
 * others leaves about that much. */
const double ns_rank_small = 1e-9;

static uint32_t *order_in(double *work, uint32_t n, uint32_t rows)
{
    return (uint32_t *)(work + (size_t)rows * n + rows);
}

size_t ns_rank_work(uint32_t n, uint32_t m)
{
    size_t rows = (size_t)n + m;
    return rows * n + 2 * rows + 2;
}

void ns_rank_fill(const ns_rank_watch *watch, const double *values, double *work)
{
    memset(work, 0, (size_t)(watch->n + watch->m) * watch->n * sizeof *work);
    for (uint32_t k = 0; k < watch->entries.n; k++) {
        const ns_rank_entry *e = &watch->entries.at[k];
        work[(size_t)e->row * watch->n + e->column] = values[k];
    }
}

/* Takes rows from order[*rank ..] with index below `end`, longest first, up to `most` in
 * all. */
static double take_rows(uint32_t n, uint32_t rows, uint32_t end, uint32_t most, double *B,
                        double *square, uint32_t *order, uint32_t *rank)
{
    double least = 1;
    while (*rank < most) {
        uint32_t best = UINT32_MAX;
        for (uint32_t k = *rank; k < rows; k++)
            if (order[k] < end &&
                (best == UINT32_MAX || square[order[k]] > square[order[best]]))
                best = k;
        if (best == UINT32_MAX || !(square[order[best]] > ns_rank_small * ns_rank_small))
            break;
        uint32_t p = order[best];
        order[best] = order[*rank];
        order[(*rank)++] = p;
        double *q = B + (size_t)p * n, length = sqrt(square[p]);
        least = ns_min(least, length);
        for (uint32_t i = 0; i < n; i++)
            q[i] /= length;
        for (uint32_t k = *rank; k < rows; k++) {
            double *r = B + (size_t)order[k] * n, part = ns_dense_dot(n, r, q);
            if (part == 0)
                continue;
            for (uint32_t i = 0; i < n; i++)
                r[i] -= part * q[i];
            square[order[k]] = ns_dense_dot(n, r, r);
        }
    }
    return least;
}

/* Counts; `work` holds the matrix and is used up.  Rows of length one are orthogonalised, those
 * of A first, always the longest remaining one next; what is shorter than ns_rank_small is
 * zero.
 * Where the rank of A is known to be `most`, no more are taken: a state that is only near the
 * constraints has rows that are only nearly dependent.  Otherwise UINT32_MAX. */
static ns_ranks count_dense(uint32_t n, uint32_t m, uint32_t most, double *work)
{
    const uint32_t rows = n + m;
    double *B = work, *square = work + (size_t)rows * n;
    uint32_t *order = order_in(work, n, rows), rank = 0;
    for (uint32_t k = 0; k < rows; k++) {
        double *r = B + (size_t)k * n, length = sqrt(ns_dense_dot(n, r, r));
        for (uint32_t i = 0; length > 0 && i < n; i++)
            r[i] /= length;
        square[k] = length > 0;
        order[k] = k;
    }
    ns_ranks ranks = {0};
    ranks.least_A = take_rows(n, rows, m, most < n ? most : n, B, square, order, &rank);
    ranks.A = rank;
    ranks.least_all = ns_min(ranks.least_A,
                             take_rows(n, rows, rows, n, B, square, order, &rank));
    ranks.all = rank;
    return ranks;
}

/* After a count with all < n: share[n], how much of each coordinate lies in the null space. */
static void find_undetermined(uint32_t n, uint32_t m, const double *work, double *share)
{
    const uint32_t rows = n + m;
    const double *square = work + (size_t)rows * n;
    const uint32_t *order = (const uint32_t *)(square + rows);
    for (uint32_t i = 0; i < n; i++)
        share[i] = 1;
    /* the rows taken are an orthonormal basis of the row space */
    for (uint32_t k = 0; k < rows && k < n; k++) {
        const double *q = work + (size_t)order[k] * n;
        if (fabs(ns_dense_dot(n, q, q) - 1) > 1e-6)
            break;
        for (uint32_t i = 0; i < n; i++)
            share[i] -= q[i] * q[i];
    }
    for (uint32_t i = 0; i < n; i++)
        share[i] = sqrt(ns_max(0, share[i]));
}

void ns_rank_names(const ns_system *s, const double *share, char *text, size_t size)
{
    double most = 0;
    size_t used = 0;
    uint32_t left = 0, shown = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < s->watch->n; i++)
        most = ns_max(most, share[i]);
    for (uint32_t i = 0; i < s->watch->n; i++) {
        if (!(share[i] > 0.1 * most))
            continue;
        const char *name = s->states.at[i].name;
        if (shown >= 12 || used + strlen(name) + 24 > size) {
            left++;
            continue;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", shown++ ? ", " : "", name);
    }
    if (left)
        snprintf(text + used, size - used, " and %u more", left);
}

ns_dependences ns_rank_dependences(ns_arena *arena, uint32_t n, uint32_t m, const double *A)
{
    ns_dependences list = {0};
    /* row k = length of its own direction + sum of those before: C[k] in terms of the rows */
    double *Q = NS_NEW_ARRAY(arena, double, (size_t)m * n + 1);
    double *C = NS_NEW_ARRAY(arena, double, (size_t)m * m + 1);
    uint32_t *basis = NS_NEW_ARRAY(arena, uint32_t, m + 1), rank = 0;
    for (uint32_t k = 0; k < m; k++) {
        double *q = Q + (size_t)k * n, *c = C + (size_t)k * m;
        double size = sqrt(ns_dense_dot(n, A + (size_t)k * n, A + (size_t)k * n));
        memcpy(q, A + (size_t)k * n, n * sizeof *q);
        c[k] = 1;
        for (int pass = 0; pass < 2; pass++)
            for (uint32_t l = 0; l < rank; l++) {
                const double *ql = Q + (size_t)basis[l] * n, *cl = C + (size_t)basis[l] * m;
                double part = ns_dense_dot(n, q, ql);
                for (uint32_t i = 0; i < n; i++)
                    q[i] -= part * ql[i];
                for (uint32_t j = 0; j <= basis[l]; j++)
                    c[j] -= part * cl[j];
            }
        double length = sqrt(ns_dense_dot(n, q, q));
        if (length > ns_rank_small * size) {
            for (uint32_t i = 0; i < n; i++)
                q[i] /= length;
            for (uint32_t j = 0; j <= k; j++)
                c[j] /= length;
            basis[rank++] = k;
            continue;
        }
        ns_dependence d = {.row = k};
        d.from = NS_NEW_ARRAY(arena, uint32_t, k + 1);
        d.share = NS_NEW_ARRAY(arena, double, k + 1);
        for (uint32_t j = 0; j < k; j++) {
            double row = sqrt(ns_dense_dot(n, A + (size_t)j * n, A + (size_t)j * n));
            if (fabs(c[j]) * row > 1e-7 * size) {
                d.from[d.count] = j;
                d.share[d.count++] = -c[j];
            }
        }
        NS_PUSH(arena, list, d);
    }
    return list;
}

/* ---- large systems
 * --------------------------------------------------------------------------- Rows of length
 * one.  In  [ 1 A^T ; A -e ]  the ones are eliminated first and leave -(e + A A^T): a row that
 * depends on others has the pivot -e, all others a larger one, the square of the length that
 * orthogonalising leaves, about.  In the same way  [ 1 B ; B^T -e ]  has -e for a coordinate
 * that B = [A; M] does not determine. */

static const double tiny = 1e-15, counts = 1e-12; /* e; least pivot that counts */

enum { DENSE_COST = 4000000 };

void ns_rank_prepare(ns_system *s, ns_rank_watch *watch)
{
    const uint32_t n = watch->n, m = watch->m, count = watch->entries.n;
    if ((uint64_t)n * n * (n + m) <= DENSE_COST)
        return;
    for (int all = 0; all < 2; all++) {
        const uint32_t ones = all ? n + m : n, size = all ? 2 * n + m : n + m;
        uint32_t *row = NS_NEW_ARRAY(s->arena, uint32_t, count + size);
        uint32_t *col = NS_NEW_ARRAY(s->arena, uint32_t, count + size), k = 0;
        bool *first = NS_NEW_ARRAY(s->arena, bool, size);
        for (uint32_t e = 0; e < count; e++) {
            const ns_rank_entry *at = &watch->entries.at[e];
            if (!all && at->row >= m)
                continue;
            row[k] = ones + (all ? at->column : at->row);
            col[k++] = all ? at->row : at->column;
        }
        for (uint32_t i = 0; i < size; i++, k++) {
            row[k] = col[k] = i;
            first[i] = i < ones;
        }
        const ns_pattern *p = ns_order_two_stages(s->graph, size, k, row, col, first);
        *(all ? &watch->of_all : &watch->of_A) = p;
    }
}

static size_t work_of(const ns_pattern *p)
{
    return p->entries + 2 * (size_t)p->start[p->n] + 2 * (size_t)p->n;
}

/* With sparse factors (ns_rank_prepare), in the place of fill and count. */
static size_t work_large(const ns_rank_watch *watch)
{
    const size_t a = work_of(watch->of_A), b = work_of(watch->of_all);
    return (a > b ? a : b) + 2 * ((size_t)watch->n + watch->m);
}

/* Number of pivots that count, the least of them; held[i] of what is eliminated last. */
static uint32_t pivots(const ns_pattern *p, uint32_t ones, double *work, double *least,
                       double *held)
{
    double *K = work, *V = K + p->entries, *L = V + p->start[p->n],
           *inverse = L + p->start[p->n];
    uint32_t rank = 0;
    *least = 1;
    ns_sparse_factor(p, K, V, L, inverse, inverse + p->n);
    for (uint32_t j = 0; j < p->n; j++) {
        if (p->order[j] < ones)
            continue;
        const double pivot = -1 / inverse[j];
        held[p->order[j] - ones] = pivot > counts;
        rank += pivot > counts;
        if (pivot > counts)
            *least = ns_min(*least, sqrt(pivot));
    }
    return rank;
}

static ns_ranks count_large(const ns_rank_watch *watch, const double *values, double *work)
{
    const uint32_t n = watch->n, m = watch->m, count = watch->entries.n;
    double *length = work, *held = work + n + m, *K = held + n + m;
    ns_ranks ranks;
    memset(length, 0, ((size_t)n + m) * sizeof *length);
    for (uint32_t e = 0; e < count; e++)
        length[watch->entries.at[e].row] += values[e] * values[e];
    for (uint32_t i = 0; i < n + m; i++)
        length[i] = length[i] > 0 ? 1 / sqrt(length[i]) : 0;
    for (int all = 0; all < 2; all++) {
        const ns_pattern *p = all ? watch->of_all : watch->of_A;
        const uint32_t ones = all ? n + m : n;
        uint32_t k = 0;
        for (uint32_t e = 0; e < count; e++)
            if (all || watch->entries.at[e].row < m)
                K[k++] = values[e] * length[watch->entries.at[e].row];
        for (uint32_t i = 0; i < p->n; i++)
            K[k++] = i < ones ? 1 : -tiny;
        if (all)
            ranks.all = pivots(p, ones, K, &ranks.least_all, held);
        else
            ranks.A = pivots(p, ones, K, &ranks.least_A, held);
    }
    return ranks;
}

size_t ns_rank_room(const ns_rank_watch *watch)
{
    return watch->of_A ? work_large(watch) : ns_rank_work(watch->n, watch->m);
}

ns_ranks ns_rank_of(const ns_rank_watch *watch, const double *values, uint32_t most,
                    double *work, double *share)
{
    ns_ranks ranks;
    if (watch->of_A) {
        ranks = count_large(watch, values, work);
        for (uint32_t i = 0; share && i < watch->n; i++)
            share[i] = 1 - work[watch->n + watch->m + i];
        return ranks;
    }
    ns_rank_fill(watch, values, work);
    ranks = count_dense(watch->n, watch->m, most, work);
    if (share)
        find_undetermined(watch->n, watch->m, work, share);
    return ranks;
}
