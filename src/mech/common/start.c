/* Consistent initial states.
 *
 * The user sets some states; the others are free and are found so that every constraint
 * r(t0, x; p) = 0 holds, by Gauss-Newton steps of least norm in the free states alone:
 *
 *     dx = -J^+ r,   J = dr/dx_free
 *
 * States the user left open start from zero.  Where the states are coordinates and velocities,
 * positions are found first, from the equations without velocities, and then velocities at
 * these places: a place should not give way to a velocity.  Only if that fails all are changed
 * together.  Values written with ~ are targets, which what was left open gives way to:
 * start_nearest.c. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/math/newton.h"
#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "mech/common/dense.h"
#include "mech/common/order.h"
#include "mech/common/start_internal.h"

static uint32_t state_index(const ns_system *s, ns_ex symbol)
{
    uint32_t i = 0;
    while (i < s->states.n && s->states.at[i].symbol != symbol)
        i++;
    return i;
}

uint32_t ns_system_start_rows(const ns_system *s)
{
    return s->constraints.n - s->levels + s->start.extra.n;
}

const ns_constraint *ns_system_start_row(const ns_system *s, uint32_t k)
{
    const uint32_t n = s->constraints.n - s->levels;
    return k < n ? &s->constraints.at[k] : &s->start.extra.at[k - n];
}

void ns_system_start_equation(ns_system *s, const char *name, ns_ex residual, bool guess,
                              ns_span span)
{
    const ns_constraint line = {.name = name, .residual = residual, .span = span};
    if (guess)
        NS_PUSH(s->arena, s->start.wishes, line);
    else
        NS_PUSH(s->arena, s->start.extra, line);
}

/* A velocity that is not a state (hamel): an equation for the states instead. */
static bool as_equation(ns_system *s, const ns_start_line *line)
{
    for (uint32_t i = 0; i < s->accelerations.n; i++)
        if (s->accelerations.at[i].from == line->symbol) {
            ns_system_start_equation(s, ns_graph_symbol(s->graph, line->symbol)->name,
                                     ns_sub(s->graph, s->accelerations.at[i].to, line->value),
                                     line->guess, line->span);
            return true;
        }
    return false;
}

static void set(ns_system *s, uint32_t i, ns_ex value, bool guess, ns_span span)
{
    s->start.value[i] = value;
    s->start.free[i] = s->start.guess[i] = guess;
    s->start.span[i] = span;
}

/* States that only the formulation knows, set by name:  start { v1 = 2 } */
static bool by_name(const ns_description *d, ns_system *s)
{
    bool good = true;
    for (uint32_t b = 0; b < d->blocks.n; b++) {
        const ns_block *block = &d->blocks.at[b];
        for (uint32_t k = 0; block->form == &ns_block_start && k < block->properties.n; k++) {
            const ns_property *p = &block->properties.at[k];
            uint32_t i = 0;
            while (i < s->states.n &&
                   (strcmp(s->states.at[i].name, p->name) != 0 || s->states.at[i].internal))
                i++;
            bool number = p->values == 1 && p->value[0].rows == 1 && p->value[0].cols == 1;
            if (i < s->states.n && p->assigned && number) {
                set(s, i, p->value[0].at[0], p->guess, p->value_span);
                continue;
            }
            ns_diag_error(d->diag, p->span,
                          i < s->states.n ? "`%s` starts with one number:  %s = VALUE"
                                          : "`%s` is not a state of the system",
                          p->name, p->name);
            good = false;
        }
    }
    return good;
}

static bool prepare_values(const ns_description *d, ns_system *s)
{
    uint32_t n = s->states.n;
    bool good = true;
    s->start.value = NS_NEW_ARRAY(s->arena, ns_ex, n);
    s->start.free = NS_NEW_ARRAY(s->arena, bool, n);
    s->start.guess = NS_NEW_ARRAY(s->arena, bool, n);
    s->start.span = NS_NEW_ARRAY(s->arena, ns_span, n);
    for (uint32_t k = 0; k < d->starts.n; k++)
        if (state_index(s, d->starts.at[k].symbol) == n && !as_equation(s, &d->starts.at[k])) {
            ns_diag_error(d->diag, d->starts.at[k].span, "this is not a state of the system");
            good = false;
        }
    for (uint32_t i = 0; i < n; i++) {
        s->start.value[i] = ns_zero(s->graph);
        s->start.free[i] = ns_system_start_rows(s) + s->start.wishes.n > 0;
    }
    for (uint32_t k = 0; k < d->starts.n; k++) {
        const ns_start_line *line = &d->starts.at[k];
        if (state_index(s, line->symbol) < n)
            set(s, state_index(s, line->symbol), line->value, line->guess, line->span);
    }
    return by_name(d, s) && good;
}

bool ns_system_start_prepare(const ns_description *d, ns_system *s)
{
    if (!s->start.value &&
        !prepare_values(d, s)) /* unless the formulation did it its own way */
        return false;
    uint32_t n = s->states.n, m = ns_system_start_rows(s);
    const ns_ex *symbols = ns_system_state_symbols(s, s->arena);
    ns_ex *residuals = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
    for (uint32_t k = 0; k < m; k++)
        residuals[k] = ns_system_start_row(s, k)->residual;
    s->start.jacobian = ns_diff_sparse(s->graph, s->arena, residuals, m, symbols, n);
    m = s->start.wishes.n;
    residuals = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
    for (uint32_t k = 0; k < m; k++)
        residuals[k] = s->start.wishes.at[k].residual;
    s->start.wish = ns_diff_sparse(s->graph, s->arena, residuals, m, symbols, n);
    return true;
}

static void eval_rows(const ns_system *s, const ns_sparse_rows *rows, double t, const double *p,
                      const double *x, double *value)
{
    ns_system_eval(s, rows->value, rows->start[rows->rows], t, p, x, value);
}

void ns_system_eval_dense(const ns_system *s, const ns_sparse_rows *rows, double t,
                          const double *p, const double *x, double *dense)
{
    const uint32_t n = s->states.n, count = rows->start[rows->rows];
    double *value = NS_NEW_ARRAY(s->arena, double, count + 1);
    eval_rows(s, rows, t, p, x, value);
    memset(dense, 0, (size_t)rows->rows * n * sizeof *dense);
    for (uint32_t k = 0; k < rows->rows; k++)
        for (uint32_t e = rows->start[k]; e < rows->start[k + 1]; e++)
            dense[(size_t)k * n + rows->column[e]] = value[e];
}

typedef ns_start_equations equations;

static equations equations_new(const ns_system *s, uint32_t m)
{
    uint32_t n = s->states.n;
    equations q = {.m = m, .n = n, .rows = s->start.jacobian};
    q.r = NS_NEW_ARRAY(s->arena, double, m + 1);
    q.J = NS_NEW_ARRAY(s->arena, double, q.rows->start[q.rows->rows] + 1);
    q.row = NS_NEW_ARRAY(s->arena, double, n + 1);
    q.size = NS_NEW_ARRAY(s->arena, double, m + 1);
    q.residual = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
    for (uint32_t k = 0; k < m; k++)
        q.residual[k] = ns_system_start_row(s, k)->residual;
    return q;
}

void ns_start_look(const ns_system *s, ns_start_equations *q, double t, const double *p,
                   const double *x)
{
    ns_system_eval(s, q->residual, q->m, t, p, x, q->r);
    eval_rows(s, q->rows, t, p, x, q->J);
    for (uint32_t k = 0; k < q->m; k++) {
        q->size[k] = 0;
        for (uint32_t e = q->rows->start[k]; e < q->rows->start[k + 1]; e++)
            q->size[k] += fabs(q->J[e]) * (fabs(x[q->rows->column[e]]) + 1e-3);
    }
}

const double *ns_start_jacobian_row(const ns_start_equations *q, uint32_t k)
{
    memset(q->row, 0, q->n * sizeof *q->row);
    for (uint32_t e = q->rows->start[k]; e < q->rows->start[k + 1]; e++)
        q->row[q->rows->column[e]] = q->J[e];
    return q->row;
}

double ns_start_worst(const ns_start_equations *q, uint32_t *which)
{
    double most = 0;
    *which = 0;
    for (uint32_t k = 0; k < q->m; k++) {
        if (q->use && !q->use[k])
            continue;
        double ratio = fabs(q->r[k]) / (q->size[k] > 0 ? q->size[k] : 1);
        if (!(ratio <= most)) {
            *which = k;
            most = isnan(ratio) ? INFINITY : ratio;
        }
    }
    return most;
}

/* ---- large systems: the step of least norm by sparse factors of [ 1 J^T ; J -e ], rows of J
 * at length one
 * ------------------------------------------------------------------------------------ */

enum { LARGE = 60000 }; /* entries: dense ones would take more than some tenths of a second */

typedef struct sparse_step {
    const ns_pattern *p;
    uint32_t *place; /* [entries of J used] in J */
    uint32_t count, columns;
    double *K, *V, *L, *inverse, *rhs, *scratch;
} sparse_step;

static sparse_step sparse_step_new(const ns_system *s, const equations *q,
                                   const uint32_t *column, uint32_t columns)
{
    const uint32_t size = columns + q->m;
    sparse_step w = {.columns = columns};
    NS_LIST(uint32_t) row = {0}, col = {0}, place = {0};
    bool *first = NS_NEW_ARRAY(s->arena, bool, size + 1);
    uint32_t *local = NS_NEW_ARRAY(s->arena, uint32_t, q->n + 1); /* plus one */
    for (uint32_t j = 0; j < columns; j++)
        local[column[j]] = j + 1;
    for (uint32_t k = 0; k < q->m; k++)
        for (uint32_t e = q->rows->start[k]; e < q->rows->start[k + 1]; e++)
            if (local[q->rows->column[e]]) {
                NS_PUSH(s->arena, row, columns + k);
                NS_PUSH(s->arena, col, local[q->rows->column[e]] - 1);
                NS_PUSH(s->arena, place, e);
            }
    w.count = place.n;
    w.place = place.at;
    for (uint32_t i = 0; i < size; i++) {
        first[i] = i < columns;
        NS_PUSH(s->arena, row, i);
        NS_PUSH(s->arena, col, i);
    }
    w.p = ns_order_two_stages(s->graph, size, row.n, row.at, col.at, first);
    w.K = NS_NEW_ARRAY(s->arena, double, row.n);
    w.V = NS_NEW_ARRAY(s->arena, double, w.p->start[size] + 1);
    w.L = NS_NEW_ARRAY(s->arena, double, w.p->start[size] + 1);
    w.inverse = NS_NEW_ARRAY(s->arena, double, size);
    w.rhs = NS_NEW_ARRAY(s->arena, double, size);
    w.scratch = NS_NEW_ARRAY(s->arena, double, size);
    return w;
}

static void sparse_step_take(const sparse_step *w, const equations *q, double *dx)
{
    assert(w->p);
    const uint32_t size = w->p->n;
    double *square = w->scratch;
    memset(square, 0, size * sizeof *square);
    for (uint32_t e = 0; e < w->count; e++)
        square[w->p->row[e]] += q->J[w->place[e]] * q->J[w->place[e]];
    for (uint32_t i = 0; i < size; i++)
        square[i] = square[i] > 0 ? 1 / sqrt(square[i]) : 1;
    for (uint32_t k = 0; q->use && k < q->m; k++)
        if (!q->use[k])
            square[w->columns + k] = 0; /* not looked at */
    for (uint32_t e = 0; e < w->count; e++)
        w->K[e] = q->J[w->place[e]] * square[w->p->row[e]];
    for (uint32_t i = 0; i < size; i++) {
        w->K[w->count + i] = i < w->columns ? 1 : -1e-12;
        w->rhs[i] = i < w->columns ? 0 : q->r[i - w->columns] * square[i];
    }
    ns_sparse_factor(w->p, w->K, w->V, w->L, w->inverse, w->scratch);
    ns_sparse_apply(w->p, w->L, w->inverse, w->rhs, w->rhs, w->scratch);
    memcpy(dx, w->rhs, w->columns * sizeof *dx);
}

typedef struct improving {
    const ns_system *s;
    equations *q;
    double t;
    const double *p;
    double *x;
    uint32_t *column; /* [columns] states that may move */
    uint32_t columns, which;
    double *A, *right; /* dense: room for the rows that count */
    sparse_step sparse;
} improving;

static double look(void *context, double *r, double *D)
{
    improving *w = context;
    (void)r;
    (void)D;
    ns_start_look(w->s, w->q, w->t, w->p, w->x);
    return ns_start_worst(w->q, &w->which);
}

/* The shortest step that meets the rows that count. */
static bool least_step(void *context, double *r, double *D, double *dx)
{
    const improving *w = context;
    const equations *q = w->q;
    const uint32_t columns = w->columns;
    (void)r;
    (void)D;
    if (!w->A) {
        sparse_step_take(&w->sparse, q, dx);
        return true;
    }
    uint32_t rows = 0;
    for (uint32_t i = 0; i < q->m; i++) {
        if (q->use && !q->use[i])
            continue;
        const double *row = ns_start_jacobian_row(q, i);
        double square = 0;
        for (uint32_t j = 0; j < columns; j++)
            square += row[w->column[j]] * row[w->column[j]];
        const double scale = q->even && square > 0 ? 1 / sqrt(square) : 1;
        for (uint32_t j = 0; j < columns; j++)
            w->A[rows * columns + j] = scale * row[w->column[j]];
        w->right[rows++] = scale * q->r[i];
    }
    ns_dense_least(w->s->arena, rows, columns, w->A, w->right, 1e-12, dx);
    return true;
}

/* Gauss-Newton on the states with free[i] (all if free is NULL); returns the final
 * ns_start_worst(). */
static double improve(const ns_system *s, equations *q, double t, const double *p,
                      const bool *is_free, double *x, uint32_t *which)
{
    improving w = {.s = s, .q = q, .t = t, .p = p, .x = x};
    w.column = NS_NEW_ARRAY(s->arena, uint32_t, q->n + 1);
    for (uint32_t i = 0; i < q->n; i++)
        if (!is_free || is_free[i])
            w.column[w.columns++] = i;
    if ((uint64_t)q->m * w.columns > LARGE)
        w.sparse = sparse_step_new(s, q, w.column, w.columns);
    else
        w.A = NS_NEW_ARRAY(s->arena, double, (size_t)q->m * w.columns + 1);
    w.right = NS_NEW_ARRAY(s->arena, double, q->m + 1);
    const ns_newton newton = {.columns = w.columns,
                              .z = x,
                              .size = q->n,
                              .context = &w,
                              .look = look,
                              .column = w.column,
                              .solve = least_step,
                              .rounds = w.columns ? 60 : 0,
                              .halvings = 12,
                              .exact = 1e-16};
    const double off = ns_newton_solve(
        &newton, NS_NEW_ARRAY(s->arena, double, ns_newton_work(&newton))).off;
    *which = w.which;
    return off;
}

/* Positions first, then velocities; false if that does not meet the equations. */
static bool in_turn(const ns_system *s, equations *q, double t, const double *p,
                    const bool *movable, double *x)
{
    bool *use = NS_NEW_ARRAY(s->arena, bool, q->m + 1);
    bool *place = NS_NEW_ARRAY(s->arena, bool, q->n + 1);
    bool *rest = NS_NEW_ARRAY(s->arena, bool, q->n + 1);
    bool any = false;
    uint32_t which;
    for (uint32_t i = 0; i < q->n; i++) {
        bool is = ns_graph_symbol(s->graph, s->states.at[i].symbol)->kind == NS_SYM_COORD;
        any = any || is;
        place[i] = movable[i] && is;
        rest[i] = movable[i] && !is;
    }
    for (uint32_t k = 0; k < q->m; k++)
        use[k] = !ns_graph_depends_kind(s->graph, q->residual[k], NS_SYM_VELOCITY, NULL);
    if (!any)
        return false;
    q->use = use;
    bool met_places = improve(s, q, t, p, place, x, &which) < ns_start_met;
    q->use = NULL;
    return met_places && improve(s, q, t, p, rest, x, &which) < ns_start_met;
}

/* Brings x near the guesses of what is not a state.  They are linear in the velocities, so one
 * step of least norm is enough; places are not moved for them. */
static void try_wishes(const ns_system *s, double t, const double *p, double *x)
{
    const uint32_t n = s->states.n, m = s->start.wishes.n;
    uint32_t columns = 0;
    uint32_t *column = NS_NEW_ARRAY(s->arena, uint32_t, n + 1);
    ns_ex *residual = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
    double *r = NS_NEW_ARRAY(s->arena, double, m + 1);
    double *J = NS_NEW_ARRAY(s->arena, double, (size_t)m * n + 1);
    double *A = NS_NEW_ARRAY(s->arena, double, (size_t)m * n + 1);
    double *dx = NS_NEW_ARRAY(s->arena, double, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (s->start.free[i] &&
            ns_graph_symbol(s->graph, s->states.at[i].symbol)->kind != NS_SYM_COORD)
            column[columns++] = i;
    for (uint32_t k = 0; k < m; k++)
        residual[k] = s->start.wishes.at[k].residual;
    if (!m || !columns)
        return;
    ns_system_eval(s, residual, m, t, p, x, r);
    ns_system_eval_dense(s, s->start.wish, t, p, x, J);
    for (uint32_t k = 0; k < m; k++)
        for (uint32_t j = 0; j < columns; j++)
            A[k * columns + j] = J[k * n + column[j]];
    ns_dense_least(s->arena, m, columns, A, r, 1e-12, dx);
    for (uint32_t j = 0; j < columns; j++)
        if (isfinite(dx[j]))
            x[column[j]] -= dx[j];
}

/* With the states that should stay as they are; false, and x as it was, if that does not meet
 * the equations to the last digits. */
static bool kept(const ns_system *s, equations *q, double t, const double *p, double *x)
{
    if (!s->start.keep)
        return false;
    const double exact = 1e-14;
    bool *rest = NS_NEW_ARRAY(s->arena, bool, q->n + 1);
    double *before = ns_arena_copy(s->arena, x, q->n * sizeof *x);
    uint32_t which;
    for (uint32_t i = 0; i < q->n; i++)
        rest[i] = s->start.free[i] && !s->start.keep[i];
    if (improve(s, q, t, p, rest, x, &which) < exact)
        return true;
    memcpy(x, before, q->n * sizeof *x);
    return false;
}

bool ns_system_project(const ns_system *s, double t, const double *p, double *x)
{
    equations q = equations_new(s, s->constraints.n - s->levels);
    uint32_t which;
    return q.m == 0 || improve(s, &q, t, p, NULL, x, &which) < ns_start_met;
}

/* The states that constraint k depends on and the user fixed, for the message. */
static void list_fixed(const ns_system *s, const equations *q, uint32_t k, ns_text *out)
{
    bool first = true;
    const double *row = ns_start_jacobian_row(q, k);
    for (uint32_t i = 0; i < q->n; i++)
        if (!s->start.free[i] && row[i] != 0) {
            ns_text_addf(out, "%s%s", first ? "" : ", ", s->states.at[i].name);
            first = false;
        }
}

/* Which other equations cannot be met together with equation k, and by how much. */
static const char *not_met(const ns_system *s, const equations *q, uint32_t k)
{
    enum { SHOWN = 6 };
    ns_text text = ns_text_new(s->arena);
    uint32_t count = 0;
    for (uint32_t i = 0; i < q->m; i++) {
        if (i == k || !(fabs(q->r[i]) > ns_start_met * (q->size[i] > 0 ? q->size[i] : 1)))
            continue;
        if (count++ < SHOWN)
            ns_text_addf(&text, "%s`%s` (%.6g)",
                         count == 1 ? "; it contradicts others that are not met either: "
                                    : ", ",
                         ns_system_start_row(s, i)->name, q->r[i]);
    }
    if (count > SHOWN)
        ns_text_addf(&text, " and %u more", count - SHOWN);
    return count ? ns_text_string(&text) : "; the constraints contradict each other";
}

/* Is an equation far from met, though it counts as met beside changes of 1e-3 of the states?
 * Bodies may be smaller than that. */
static bool missed(const equations *q, const double *x, uint32_t *which)
{
    const double gross = 1e-6;
    for (uint32_t k = 0; k < q->m; k++) {
        double size = 1;
        for (uint32_t e = q->rows->start[k]; e < q->rows->start[k + 1]; e++)
            size = ns_max(size, fabs(q->J[e] * x[q->rows->column[e]]));
        if (fabs(q->r[k]) > gross * size) {
            *which = k;
            return true;
        }
    }
    return false;
}

/* With all free states alike, guesses or not.  Near places where a row vanishes, equal rows
 * step too far; where rows differ in units, as for bodies as large as planets, only they
 * converge. */
static bool solve_alike(const ns_system *s, equations *q, double t0, const double *p, double *x,
                        uint32_t *which)
{
    try_wishes(s, t0, p, x);
    double *before = ns_arena_copy(s->arena, x, q->n * sizeof *x);
    if (in_turn(s, q, t0, p, s->start.free, x) ||
        improve(s, q, t0, p, s->start.free, x, which) < ns_start_met)
        return true;
    double *failed = ns_arena_copy(s->arena, x, q->n * sizeof *x);
    memcpy(x, before, q->n * sizeof *x);
    q->even = true;
    if (in_turn(s, q, t0, p, s->start.free, x) ||
        improve(s, q, t0, p, s->start.free, x, which) < ns_start_met)
        return true;
    memcpy(x, failed, q->n * sizeof *x); /* what is told about */
    ns_start_look(s, q, t0, p, x);
    ns_start_worst(q, which);
    return false;
}

/* With the guesses as they are, or as near to them as can be.  Large systems only try the
 * former. */
static bool solve_guesses(const ns_system *s, equations *q, double t0, const double *p,
                          double *x)
{
    if ((uint64_t)q->m * q->n <= LARGE)
        return ns_start_nearest(s, q, t0, p, x);
    bool *movable = NS_NEW_ARRAY(s->arena, bool, q->n + 1);
    for (uint32_t i = 0; i < q->n; i++)
        movable[i] = s->start.free[i] && !s->start.guess[i];
    return s->start.wishes.n == 0 && in_turn(s, q, t0, p, movable, x);
}

static bool solve(const ns_system *s, equations *q, double t0, const double *p, double *x,
                  uint32_t *which)
{
    const bool guessed = ns_start_guessed(s);
    double *before = ns_arena_copy(s->arena, x, q->n * sizeof *x);
    if (!guessed && kept(s, q, t0, p, x))
        return true;
    bool done = guessed && solve_guesses(s, q, t0, p, x);
    if (!done && guessed) {
        memcpy(x, before, q->n * sizeof *x);
        if (kept(s, q, t0, p, x))
            return true;
    }
    if (!done && !solve_alike(s, q, t0, p, x, which))
        return false;
    q->even = true;
    improve(s, q, t0, p, s->start.free, x, which);
    return !missed(q, x, which);
}

/* Where the user set a state, or else the model. */
static ns_span where(const ns_system *s, uint32_t i)
{
    return s->start.span[i].source ? s->start.span[i] : s->description->whole;
}

/* Where an equation stands, or else the first of the values that it contradicts. */
static ns_span place_of(const ns_system *s, const equations *q, uint32_t k)
{
    ns_span span = ns_system_start_row(s, k)->span;
    const double *row = ns_start_jacobian_row(q, k);
    for (uint32_t i = 0; i < q->n && !span.source; i++)
        if (!s->start.free[i] && row[i] != 0)
            span = s->start.span[i];
    return span.source ? span : s->description->whole;
}

/* The energy and what the model calls invariant are what a run is judged by: they must be
 * numbers. */
static bool measurable(const ns_system *s, ns_diag *diag, double t0, const double *p,
                       const double *x)
{
    double value = 0;
    if (s->energy)
        ns_system_eval(s, &s->energy, 1, t0, p, x, &value);
    if (!isfinite(value))
        ns_diag_error(diag, s->description->whole,
                      "the energy is not a finite number at the start: parameters or starts "
                      "are too large, or too small");
    for (uint32_t i = 0; i < s->invariants.n && isfinite(value); i++) {
        const ns_invariant *one = &s->invariants.at[i];
        if (one->span.source)
            ns_system_eval(s, &one->value, 1, t0, p, x, &value);
        if (!isfinite(value))
            ns_diag_error(diag, one->span, "`%s` is not a finite number at the start",
                          one->name);
    }
    return isfinite(value);
}

/* Of an ordinary system, or one in a mode; what is left open is near `from`, if that is
 * given. */
static bool start(const ns_system *s, ns_diag *diag, double t0, const double *p, double *x,
                  const double *from)
{
    uint32_t n = s->states.n, errors = diag->errors;
    ns_system_eval(s, s->start.value, n, t0, p, NULL, x);
    for (uint32_t i = 0; i < n && from; i++)
        if (s->start.free[i] && !s->start.guess[i])
            x[i] = from[i];
    for (uint32_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            ns_diag_error(diag, where(s, i), "the start value of %s is not a finite number",
                          s->states.at[i].name);
    for (uint32_t i = 0; i < s->description->params.n; i++)
        if (!isfinite(p[i]))
            ns_diag_error(diag, s->description->params.at[i].span,
                          "the value of parameter %s is not a finite number",
                          s->description->params.at[i].name);
    if (diag->errors != errors)
        return false;
    if (s->formulation->sizes && !s->formulation->sizes(s, diag, p))
        return false;
    if (s->formulation->guess)
        s->formulation->guess(s, t0, p, x);
    const double *given = ns_arena_copy(s->arena, x, n * sizeof *x);
    equations q = equations_new(s, ns_system_start_rows(s));
    uint32_t which = 0;
    const bool guessed = ns_start_guessed(s);
    if ((q.m > 0 || guessed) && !solve(s, &q, t0, p, x, &which)) {
        const ns_constraint *c = ns_system_start_row(s, which);
        const ns_span span = place_of(s, &q, which);
        ns_text fixed = ns_text_new(s->arena);
        list_fixed(s, &q, which, &fixed);
        if (isnan(q.r[which]))
            ns_diag_error(diag, span, "constraint `%s` is undefined at the start; %s", c->name,
                          s->start.hint ? s->start.hint
                                        : "give other values or better guesses");
        else
            ns_diag_error(diag, span,
                          "the start does not satisfy `%s`: it is off by %.6g%s%s%s", c->name,
                          q.r[which], fixed.length ? " with the given values of " : "",
                          ns_text_string(&fixed),
                          fixed.length ? "; leave one of them open (or write ~ for a guess)"
                                       : not_met(s, &q, which));
        return false;
    }
    for (uint32_t i = 0; i < s->start.settle.n; i++) {
        const ns_reset *one = &s->start.settle.at[i];
        ns_system_eval(s, &one->value, 1, t0, p, x, &x[one->state]);
    }
    const ns_ex *rates = ns_system_state_rates(s, s->arena);
    double *rate = NS_NEW_ARRAY(s->arena, double, n);
    if (s->formulation->verify && !s->formulation->verify(s, diag, t0, p, x))
        return false;
    ns_system_eval(s, rates, n, t0, p, x, rate);
    for (uint32_t i = 0; i < n; i++)
        if (!isfinite(rate[i])) {
            ns_diag_error(diag, where(s, i),
                          "the equations are not defined at the start: the derivative of %s is "
                          "not a finite number",
                          s->states.at[i].name);
            return false;
        }
    if (!measurable(s, diag, t0, p, x))
        return false;
    if (guessed)
        ns_start_changed(s, diag, &q, t0, p, given, x);
    return true;
}

/* In the first mode whose needs hold at the start that is found in it. */
bool ns_system_start(const ns_system *s, ns_diag *diag, double t0, const double *p, double *x)
{
    const uint32_t ways = s->start.mode ? 0 : s->start.ways.n;
    if (s->modes.n < 2)
        return start(s, diag, t0, p, x, NULL);
    if (ways < 2) /* the only one: what is wrong in it is said */
        return start(
            ns_system_mode(s, ways ? s->start.ways.at[0].mode : ns_system_given_mode(s)), diag,
            t0, p, x, NULL);
    bool any = false;
    double *held = NULL;
    for (uint32_t i = 0; i < ways; i++) {
        const uint32_t mode = s->start.ways.at[i].mode;
        ns_diag *quiet = ns_diag_like(s->arena, diag);
        if (!start(ns_system_mode(s, mode), quiet, t0, p, x, held))
            continue;
        any = true;
        if (ns_system_first_mode(s, t0, p, x) == mode) /* again, with its warnings */
            return start(ns_system_mode(s, mode), diag, t0, p, x, held);
        if (s->start.carry && !held)
            held = ns_arena_copy(s->arena, x, s->states.n * sizeof *x);
    }
    if (!any)
        return start(ns_system_mode(s, s->start.ways.at[0].mode), diag, t0, p, x, NULL);
    ns_text names = ns_text_new(s->arena);
    uint64_t named = 0;
    for (uint32_t i = 0; i < ways; i++) {
        const uint32_t mode = s->start.ways.at[i].mode;
        if (!(named >> mode & 1))
            ns_text_addf(&names, "%s%s", named ? ", " : "", s->modes.at[mode]);
        named |= (uint64_t)1 << mode;
    }
    ns_diag_error(diag, s->description->whole,
                  "the start fits none of the modes (%s): say which by  start { mode NAME }",
                  ns_text_string(&names));
    return false;
}
