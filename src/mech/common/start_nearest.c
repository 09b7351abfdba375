/* Starts with guesses: what was written with ~ wins over what was left open.
 *
 * Each step dx of the free states solves linear problems in order, each among the solutions of
 * those before it (lexicographic least squares):
 *
 *     0.  J dx = -r                          the equations r(x) = 0
 *     1.  |W dx + w|^2 + |x + dx - guess|^2  least, guesses of what is not a state (w(x) = 0)
 *     and of states
 *     2.  |x + dx - x_0|^2                   least, over states that should stay
 *     3.  |x + dx - x_0|^2                   least, over those left open
 *
 * With the solution of the first levels  dx = y + Z u,  Z an orthonormal basis of what they
 * leave free, the next one  A dx = b  is  (A Z) u = b - A y  by least squares of least norm;  y
 * += Z u,  and Z is restricted to the null space of A Z.  Velocities enter linearly, so that
 * one step is exact.  Places are found by repeating it, which leads to the nearest one as the
 * target stays the guess itself.
 *
 * As in start.c places come first, from the equations without velocities. */
#include <math.h>
#include <string.h>

#include "base/math/newton.h"
#include "base/math/vecmath.h"
#include "mech/common/dense.h"
#include "mech/common/start_internal.h"

typedef struct levels {
    ns_arena *arena;
    uint32_t c, d; /* columns; dimension of what is free */
    double *y, *Z; /* [c]; [d][c] */
    double *A, *b; /* [rows][c], [rows] of the level that is made */
    uint32_t rows;
    double *B, *right, *u, *sigma, *V, *next; /* work */
} levels;

static levels levels_new(ns_arena *arena, uint32_t most, uint32_t c)
{
    const size_t wide = most > c ? most : c;
    levels w = {.arena = arena, .c = c};
    w.y = NS_NEW_ARRAY(arena, double, c + 1);
    w.Z = NS_NEW_ARRAY(arena, double, (size_t)c * c + 1);
    w.A = NS_NEW_ARRAY(arena, double, wide * c + 1);
    w.b = NS_NEW_ARRAY(arena, double, wide + 1);
    w.B = NS_NEW_ARRAY(arena, double, wide * c + 1);
    w.right = NS_NEW_ARRAY(arena, double, wide + 1);
    w.u = NS_NEW_ARRAY(arena, double, c + 1);
    w.sigma = NS_NEW_ARRAY(arena, double, wide + 1);
    w.V = NS_NEW_ARRAY(arena, double, (size_t)c * c + 1);
    w.next = NS_NEW_ARRAY(arena, double, (size_t)c * c + 1);
    return w;
}

static void levels_begin(levels *w)
{
    memset(w->y, 0, w->c * sizeof *w->y);
    memset(w->Z, 0, (size_t)w->c * w->c * sizeof *w->Z);
    for (uint32_t i = 0; i < w->c; i++)
        w->Z[(size_t)i * w->c + i] = 1;
    w->d = w->c;
    w->rows = 0;
}

/* The level that was made: A dx = b. */
static void level(levels *w)
{
    const uint32_t rows = w->rows, c = w->c, d = w->d;
    w->rows = 0;
    if (!rows || !d)
        return;
    for (uint32_t i = 0; i < rows; i++) {
        w->right[i] = w->b[i] - ns_dense_dot(c, w->A + (size_t)i * c, w->y);
        for (uint32_t k = 0; k < d; k++)
            w->B[(size_t)i * d + k] = ns_dense_dot(c, w->A + (size_t)i * c,
                                                   w->Z + (size_t)k * c);
    }
    const double few = 1e-12; /* singular values below it, against the largest, are none */
    const uint32_t rank = ns_dense_least(w->arena, rows, d, w->B, w->right, few, w->u);
    for (uint32_t k = 0; k < d; k++)
        for (uint32_t j = 0; j < c; j++)
            w->y[j] += w->u[k] * w->Z[(size_t)k * c + j];
    w->d = d - rank;
    if (!w->d)
        return;
    ns_dense_svd(w->arena, rows, d, w->B, w->sigma, w->V);
    memset(w->next, 0, (size_t)w->d * c * sizeof *w->next);
    for (uint32_t i = 0; i < w->d; i++)
        for (uint32_t k = 0; k < d; k++)
            for (uint32_t j = 0; j < c; j++)
                w->next[(size_t)i * c + j] += w->V[(size_t)(rank + i) * d + k] *
                                              w->Z[(size_t)k * c + j];
    memcpy(w->Z, w->next, (size_t)w->d * c * sizeof *w->Z);
}

typedef struct search {
    const ns_system *s;
    ns_start_equations *q;
    double t;
    const double *p, *goal; /* [n] guesses, and where the others began */
    const uint32_t *column; /* [columns] states that may move */
    uint32_t columns;
    bool wishes; /* guesses of what is not a state count */
    ns_ex *wish;
    double *w, *W; /* their residuals and Jacobian */
    double *x;
    levels levels;
    bool failed; /* a step was not finite */
} search;

static bool is_guess(const ns_system *s, uint32_t i)
{
    return s->start.free[i] && s->start.guess && s->start.guess[i];
}

/* 1: guessed, 2: should stay, 3: open */
static int level_of(const ns_system *s, uint32_t i)
{
    return is_guess(s, i) ? 1 : s->start.keep && s->start.keep[i] ? 2 : 3;
}

static void make_equations(const search *a, levels *w)
{
    const ns_start_equations *q = a->q;
    for (uint32_t k = 0; k < q->m; k++) {
        double square = 0, *row = w->A + (size_t)w->rows * w->c;
        if (q->use && !q->use[k])
            continue;
        const double *all = ns_start_jacobian_row(q, k);
        for (uint32_t j = 0; j < w->c; j++) {
            row[j] = all[a->column[j]];
            square += row[j] * row[j];
        }
        if (!(square > 0))
            continue;
        const double scale = 1 / sqrt(square);
        for (uint32_t j = 0; j < w->c; j++)
            row[j] *= scale;
        w->b[w->rows++] = -q->r[k] * scale;
    }
    level(w);
}

static void make_wishes(const search *a, levels *w, const double *x)
{
    const uint32_t n = a->q->n, m = a->wishes ? a->s->start.wishes.n : 0;
    if (!m)
        return;
    ns_system_eval(a->s, a->wish, m, a->t, a->p, x, a->w);
    ns_system_eval_dense(a->s, a->s->start.wish, a->t, a->p, x, a->W);
    for (uint32_t k = 0; k < m; k++) {
        for (uint32_t j = 0; j < w->c; j++)
            w->A[(size_t)w->rows * w->c + j] = a->W[(size_t)k * n + a->column[j]];
        w->b[w->rows++] = -a->w[k];
    }
}

static void make_step(const search *a, levels *w, const double *x)
{
    levels_begin(w);
    make_equations(a, w);
    make_wishes(a, w, x);
    for (int which = 1; which <= 3; which++) {
        for (uint32_t j = 0; j < w->c; j++) {
            if (level_of(a->s, a->column[j]) != which)
                continue;
            memset(w->A + (size_t)w->rows * w->c, 0, w->c * sizeof *w->A);
            w->A[(size_t)w->rows * w->c + j] = 1;
            w->b[w->rows++] = a->goal[a->column[j]] - x[a->column[j]];
        }
        level(w);
    }
}

static double look(void *context, double *r, double *D)
{
    const search *a = context;
    uint32_t which;
    (void)r;
    (void)D;
    ns_start_look(a->s, a->q, a->t, a->p, a->x);
    return ns_start_worst(a->q, &which);
}

/* False when the step changes nothing, or is none. */
static bool solve(void *context, double *r, double *D, double *step)
{
    search *a = context;
    double longest = 0;
    (void)r;
    (void)D;
    make_step(a, &a->levels, a->x);
    for (uint32_t j = 0; j < a->columns; j++) {
        step[j] = -a->levels.y[j];
        if (!isfinite(step[j])) {
            a->failed = true;
            return false;
        }
        longest = ns_max(longest, fabs(step[j]) / (fabs(a->x[a->column[j]]) + 1e-3));
    }
    return longest > 4e-16;
}

static bool find(search *a, double *x)
{
    const ns_system *s = a->s;
    const uint32_t m = a->q->m + s->start.wishes.n + a->columns;
    a->x = x;
    a->failed = false;
    a->levels = levels_new(s->arena, m, a->columns);
    a->wish = NS_NEW_ARRAY(s->arena, ns_ex, s->start.wishes.n + 1);
    a->w = NS_NEW_ARRAY(s->arena, double, s->start.wishes.n + 1);
    a->W = NS_NEW_ARRAY(s->arena, double, (size_t)s->start.wishes.n * a->q->n + 1);
    for (uint32_t k = 0; k < s->start.wishes.n; k++)
        a->wish[k] = s->start.wishes.at[k].residual;
    const ns_newton newton = {
        .columns = a->columns,
        .z = x,
        .size = a->q->n,
        .context = a,
        .look = look,
        .column = a->column,
        .solve = solve,
        .rounds = a->columns ? 100 : 0,
        .halvings = 12,
        .exact = -1,      /* the guesses count even where the equations hold */
        .enough = 1e-13}; /* then the step only follows the equations towards the guess */
    const double off = ns_newton_solve(
        &newton, NS_NEW_ARRAY(s->arena, double, ns_newton_work(&newton))).off;
    return !a->failed && off < ns_start_met;
}

bool ns_start_guessed(const ns_system *s)
{
    bool any = s->start.wishes.n > 0;
    for (uint32_t i = 0; i < s->states.n; i++)
        any = any || is_guess(s, i);
    return any;
}

/* Is it a position? */
static bool is_place(const ns_system *s, uint32_t i)
{
    return ns_graph_symbol(s->graph, s->states.at[i].symbol)->kind == NS_SYM_COORD;
}

/* Does equation k depend on positions alone? */
static bool of_places(const ns_system *s, uint32_t k)
{
    const ns_sparse_rows *J = s->start.jacobian;
    bool only = true;
    for (uint32_t e = J->start[k]; e < J->start[k + 1]; e++)
        only = only && is_place(s, J->column[e]);
    return only;
}

static bool find_among(search *a, double *x, bool places, bool others, const bool *use)
{
    uint32_t *column = NS_NEW_ARRAY(a->s->arena, uint32_t, a->q->n + 1);
    a->columns = 0;
    a->column = column;
    for (uint32_t i = 0; i < a->q->n; i++)
        if (a->s->start.free[i] && (is_place(a->s, i) ? places : others))
            column[a->columns++] = i;
    a->q->use = use;
    a->wishes = others;
    const bool good = find(a, x);
    a->q->use = NULL;
    return good;
}

bool ns_start_nearest(const ns_system *s, ns_start_equations *q, double t, const double *p,
                      double *x)
{
    const uint32_t n = q->n;
    const double *goal = ns_arena_copy(s->arena, x, n * sizeof *x);
    search a = {.s = s, .q = q, .t = t, .p = p, .goal = goal};
    bool *use = NS_NEW_ARRAY(s->arena, bool, q->m + 1), any = false;
    for (uint32_t i = 0; i < n; i++)
        any = any || is_place(s, i);
    for (uint32_t k = 0; k < q->m; k++)
        use[k] = of_places(s, k);
    if (any && find_among(&a, x, true, false, use) && find_among(&a, x, false, true, NULL))
        return true;
    memcpy(x, goal, n * sizeof *x);
    return find_among(&a, x, true, true, NULL);
}

/* ---- what had to change ------------------------------------------------------------------ */

/* The equations that do not hold with a guess as it was: why it changed.  Those with velocities
 * say nothing about a place. */
static const char *reasons(const ns_system *s, ns_start_equations *q, double t, const double *p,
                           const double *x, bool place)
{
    enum { SHOWN = 3 };
    ns_text text = ns_text_new(s->arena);
    uint32_t count = 0;
    ns_start_look(s, q, t, p, x);
    for (uint32_t k = 0; k < q->m; k++)
        if (!(fabs(q->r[k]) <= ns_start_met * (q->size[k] > 0 ? q->size[k] : 1)) &&
            !(place && !of_places(s, k)) && count++ < SHOWN)
            ns_text_addf(&text, "%s`%s`", count > 1 ? ", " : "",
                         ns_system_start_row(s, k)->name);
    if (count > SHOWN)
        ns_text_addf(&text, " and %u more", count - SHOWN);
    return count ? ns_text_string(&text) : "the constraints";
}

static bool same_place(ns_span a, ns_span b)
{
    return a.source == b.source && a.begin == b.begin && a.end == b.end;
}

void ns_start_changed(const ns_system *s, ns_diag *diag, ns_start_equations *q, double t,
                      const double *p, const double *given, const double *x)
{
    const double rounding = 1e-9;
    const uint32_t n = q->n, m = s->start.wishes.n;
    double *mixed = NS_NEW_ARRAY(s->arena, double, n + 1);
    for (uint32_t i = 0, end; i < n; i = end) { /* states that were given in one place */
        double size = 0, off = 0;
        memcpy(mixed, x, n * sizeof *x);
        for (end = i;
             end < n && is_guess(s, end) && same_place(s->start.span[end], s->start.span[i]);
             end++) {
            size = ns_max(size, ns_max(fabs(given[end]), fabs(x[end])));
            off = ns_max(off, fabs(given[end] - x[end]));
            mixed[end] = given[end];
        }
        if (end == i)
            end++;
        if (!(off > rounding * size))
            continue;
        ns_text text = ns_text_new(s->arena);
        for (uint32_t k = i, count = 0; k < end; k++)
            if (fabs(given[k] - x[k]) > rounding * size)
                ns_text_addf(&text, "%s%s from %.6g to %.6g", count++ ? ", " : "",
                             s->states.at[k].name, given[k],
                             fabs(x[k]) > rounding * size ? x[k] : 0.0);
        ns_diag_note(diag, s->start.span[i], "the guess is changed, %s, to satisfy %s",
                     ns_text_string(&text), reasons(s, q, t, p, mixed, is_place(s, i)));
    }
    double *r = NS_NEW_ARRAY(s->arena, double, m + 1);
    for (uint32_t k = 0; k < m; k++)
        ns_system_eval(s, &s->start.wishes.at[k].residual, 1, t, p, x, &r[k]);
    double *W = NS_NEW_ARRAY(s->arena, double, (size_t)m * n + 1);
    ns_system_eval_dense(s, s->start.wish, t, p, x, W);
    for (uint32_t k = 0, end; k < m; k = end) {
        double size = 0, off = 0;
        ns_text text = ns_text_new(s->arena);
        const ns_constraint *c = &s->start.wishes.at[k];
        for (end = k; end < m && same_place(s->start.wishes.at[end].span, c->span); end++) {
            double sum = fabs(r[end]);
            for (uint32_t i = 0; i < n; i++)
                sum += fabs(W[(size_t)end * n + i] * x[i]);
            size = ns_max(size, sum);
            off = ns_max(off, fabs(r[end]));
            ns_text_addf(&text, "%s%.6g", end > k ? ", " : "", r[end]);
        }
        if (off > rounding * size)
            ns_diag_note(diag, c->span,
                         "the guess of %s cannot be met with the constraints: it is off by %s",
                         c->name, ns_text_string(&text));
    }
}
