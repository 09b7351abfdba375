/* Functions of one or two arguments through measured values:
 *
 *   let h(u) from "profile.csv"                       column `h` over column `u`
 *   let z(x, y) from "ground.csv" column "height"     over a full grid of x and y
 *
 * In the piece that holds the argument the value is a polynomial of s = u - u_k,
 *
 *   h = c_k0 + s (c_k1 + s (c_k2 + s c_k3)),    u_k <= u < u_(k+1),
 *
 * of two arguments the tensor product of such splines, sum c_klij s^i r^j.  The first and the
 * last piece go on beyond the table.  On the graph the piece is picked by numbers that are 0 or
 * 1 and have no derivatives,
 *
 *   e_k = step(sign(u - u_k) + 1/2),    I_k = e_k - e_(k+1),    c_i = sum_k I_k c_ki,
 *
 * so that all derivatives are those of the one polynomial, at the knots too, and cost
 * little. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/series/series.h"
#include "lang/blocks.h"

enum { MOST_ARGS = 2, MOST_TERMS = 200000, WIDTH = 4 };

/* Along one argument: n knots, n - 1 pieces. */
typedef struct axis {
    const double *knot;
    size_t n;
} axis;

typedef struct ns_table {
    axis axis[MOST_ARGS];
    uint32_t n;      /* of arguments */
    uint32_t width;  /* of a polynomial: order + 1 */
    const double *c; /* [pieces][pieces][width][width], or [pieces][width] */
} ns_table;

/* What is being read. */
typedef struct reading {
    ns_arena *arena;
    ns_diag *diag;
    ns_span span; /* of the file's name */
    ns_series s;
    const double *at[MOST_ARGS], *value;
    const char *const *names;
} reading;

/* "FILE:LINE", or the row where the file has no lines */
static const char *row_of(const reading *q, size_t k)
{
    return q->s.line ? ns_arena_format(q->arena, "%s:%zu", q->s.path, q->s.line[k])
                     : ns_arena_format(q->arena, "%s, row %zu", q->s.path, k + 1);
}

static bool whole(const reading *q, const double *column, const char *name)
{
    for (size_t k = 0; k < q->s.rows; k++)
        if (!isfinite(column[k])) {
            ns_diag_error(q->diag, q->span,
                          "%s: there is no value of `%s`; tables have no gaps", row_of(q, k),
                          name);
            return false;
        }
    return true;
}

/* The column of an argument: of its name, or at its place. */
static const double *column_of(const reading *q, const char *name, uint32_t place)
{
    for (uint32_t i = 0; i < q->s.columns.n; i++)
        if (strcmp(q->s.columns.at[i].name, name) == 0)
            return q->s.columns.at[i].value;
    return q->s.columns.at[place].value;
}

static bool take_columns(reading *q, const char *column, uint32_t n)
{
    const char *message = "";
    if (!ns_series_columns(q->arena, q->s.path, &q->s, &message)) {
        ns_diag_error(q->diag, q->span, "%s", message);
        return false;
    }
    if (q->s.columns.n <= n || q->s.rows < 2) {
        ns_diag_error(q->diag, q->span,
                      "%s has no table: expected %u columns or more, and two rows or more",
                      q->s.path, n + 1);
        return false;
    }
    q->value = ns_series_find(q->arena, &q->s, column, &message);
    if (!q->value) {
        ns_diag_error(q->diag, q->span, "%s", message);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        q->at[i] = column_of(q, q->names[i], i);
        if (q->at[i] == q->value) {
            ns_diag_error(q->diag, q->span,
                          "%s: `%s` and the argument `%s` would be the same column", q->s.path,
                          column, q->names[i]);
            return false;
        }
        if (i && q->at[i] == q->at[0]) {
            ns_diag_error(q->diag, q->span, "%s has no column `%s`", q->s.path, q->names[i]);
            return false;
        }
        if (!whole(q, q->at[i], q->names[i]))
            return false;
    }
    return whole(q, q->value, column);
}

static bool ascends(const reading *q)
{
    const double *u = q->at[0];
    for (size_t k = 1; k < q->s.rows; k++)
        if (!(u[k] > u[k - 1])) {
            ns_diag_error(q->diag, q->span,
                          "%s: the values of `%s` must ascend; %.10g follows %.10g",
                          row_of(q, k), q->names[0], u[k], u[k - 1]);
            return false;
        }
    return true;
}

static int smaller(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The different values of a column, ascending. */
static axis values_of(const reading *q, const double *column)
{
    double *knot = ns_arena_copy(q->arena, column, q->s.rows * sizeof *column);
    size_t n = 0;
    qsort(knot, q->s.rows, sizeof *knot, smaller);
    for (size_t k = 0; k < q->s.rows; k++)
        if (!n || knot[k] > knot[n - 1])
            knot[n++] = knot[k];
    return (axis){knot, n};
}

static size_t index_of(const axis *a, double value)
{
    const double *found = bsearch(&value, a->knot, a->n, sizeof value, smaller);
    return (size_t)(found - a->knot);
}

/* Values on the grid, [nx][ny]; NULL after a message. */
static const double *grid(const reading *q, const axis *x, const axis *y)
{
    const size_t size = x->n * y->n;
    if (x->n < 2 || y->n < 2 || q->s.rows > size || size / x->n != y->n ||
        size > 2 * (q->s.rows + 1000)) {
        ns_diag_error(q->diag, q->span,
                      "%s: %zu rows do not fill a grid of %zu values of `%s` and %zu of `%s`",
                      q->s.path, q->s.rows, x->n, q->names[0], y->n, q->names[1]);
        return NULL;
    }
    double *z = NS_NEW_ARRAY(q->arena, double, size);
    bool *there = NS_NEW_ARRAY(q->arena, bool, size);
    for (size_t k = 0; k < q->s.rows; k++) {
        const size_t i = index_of(x, q->at[0][k]) * y->n + index_of(y, q->at[1][k]);
        if (there[i]) {
            ns_diag_error(q->diag, q->span,
                          "%s: the point %s = %.10g, %s = %.10g is given twice", row_of(q, k),
                          q->names[0], q->at[0][k], q->names[1], q->at[1][k]);
            return NULL;
        }
        there[i] = true;
        z[i] = q->value[k];
    }
    for (size_t i = 0; i < size; i++)
        if (!there[i]) {
            ns_diag_error(
                q->diag, q->span, "%s: the point %s = %.10g, %s = %.10g of the grid is missing",
                q->s.path, q->names[0], x->knot[i / y->n], q->names[1], y->knot[i % y->n]);
            return NULL;
        }
    return z;
}

/* Splines along y of all rows, then along x of their coefficients. */
static const double *surface_of(const reading *q, const ns_table *t, const double *z)
{
    const size_t nx = t->axis[0].n, ny = t->axis[1].n, w = t->width;
    const size_t along = (ny - 1) * w;
    double *row = NS_NEW_ARRAY(q->arena, double, nx * ny * w);
    double *line = NS_NEW_ARRAY(q->arena, double, nx),
                                *c = NS_NEW_ARRAY(q->arena, double, nx * w);
    double *out = NS_NEW_ARRAY(q->arena, double, (nx - 1) * w * along);
    for (size_t i = 0; i < nx; i++)
        ns_series_spline(q->arena, ny, t->axis[1].knot, z + i * ny, t->width - 1,
                         row + i * ny * w);
    for (size_t a = 0; a < along; a++) {
        for (size_t i = 0; i < nx; i++)
            line[i] = row[i * ny * w + a];
        ns_series_spline(q->arena, nx, t->axis[0].knot, line, t->width - 1, c);
        for (size_t k = 0; k + 1 < nx; k++)
            for (size_t i = 0; i < w; i++) /* [k][l][i][j], a = l w + j */
                out[((k * (ny - 1) + a / w) * w + i) * w + a % w] = c[k * w + i];
    }
    return out;
}

static bool too_many(const reading *q, size_t terms)
{
    if (terms <= MOST_TERMS)
        return false;
    ns_diag_error(q->diag, q->span,
                  "%s: this table makes polynomials with %zu coefficients; %d are possible",
                  q->s.path, terms, MOST_TERMS);
    return true;
}

static bool are_finite(const reading *q, const double *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(c[i])) {
            ns_diag_error(q->diag, q->span,
                          "%s: the curve through these values overflows: they lie too close "
                          "together or are too large",
                          q->s.path);
            return false;
        }
    return true;
}

static ns_table *read_table(reading *q, const char *column, uint32_t n, uint32_t order)
{
    ns_table *t = NS_NEW(q->arena, ns_table);
    t->n = n;
    t->width = order + 1;
    if (!take_columns(q, column, n))
        return NULL;
    if (n == 1) {
        t->axis[0] = (axis){q->at[0], q->s.rows};
        if (!ascends(q) || too_many(q, q->s.rows * t->width))
            return NULL;
        double *c = NS_NEW_ARRAY(q->arena, double, q->s.rows * t->width);
        ns_series_spline(q->arena, q->s.rows, q->at[0], q->value, order, c);
        t->c = c;
        return are_finite(q, c, q->s.rows * t->width) ? t : NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        t->axis[i] = values_of(q, q->at[i]);
    const double *z = grid(q, &t->axis[0], &t->axis[1]);
    const size_t terms = (t->axis[0].n - 1) * (t->axis[1].n - 1) * t->width * t->width;
    if (!z || too_many(q, terms))
        return NULL;
    t->c = surface_of(q, t, z);
    return are_finite(q, t->c, terms) ? t : NULL;
}

static void remember(ns_reader *r, const reading *q, uint32_t order)
{
    const size_t bytes = q->s.rows * sizeof(double);
    uint64_t hash = ns_hash_bytes(r->tables ? r->tables : ns_hash_start, &order, sizeof order);
    for (uint32_t i = 0; i < MOST_ARGS && q->at[i]; i++)
        hash = ns_hash_bytes(hash, q->at[i], bytes);
    r->tables = ns_hash_bytes(hash, q->value, bytes);
}

/* `from` and what follows it in the definition of a function. */
bool ns_table_parse(ns_parser *p, ns_name *name)
{
    ns_reader *r = p->r;
    ns_input input = {.order = 3};
    const ns_span place = ns_parser_span(p);
    if (!ns_input_table(p, &input))
        return false;
    if (!name)
        return true;
    if (!input.order || name->arity > MOST_ARGS) {
        ns_diag_error(r->diag, place, "%s",
                      input.order ? "a table has one or two arguments"
                                  : "the order of a function is 1 (lines) or 3 (cubic spline)");
        return false;
    }
    const char *model = r->diag->sources.at[r->source - 1].name;
    const char *slash = strrchr(model, '/'), *path = input.file;
    if (slash && path[0] != '/')
        path = ns_arena_format(r->arena, "%.*s/%s", (int)(slash - model), model, path);
    reading q = {.arena = r->arena,
                 .diag = r->diag,
                 .span = input.file_span,
                 .s = {.path = path},
                 .names = name->formals};
    name->table = read_table(&q, input.column ? input.column : name->text, name->arity,
                             input.order);
    if (name->table)
        remember(r, &q, input.order);
    return name->table != NULL;
}

/* ---- on the graph ------------------------------------------------------------------------ */

/* I_k of all pieces, and the knot at the beginning of the one that holds u. */
static const ns_ex *pieces(ns_reader *r, const axis *a, ns_ex u, ns_ex *from)
{
    ns_graph *g = r->g;
    const size_t n = a->n - 1;
    ns_ex *in = NS_NEW_ARRAY(r->arena, ns_ex, n), last = ns_one(g);
    for (size_t k = 0; k < n; k++) {
        ns_ex next = ns_zero(g);
        if (k + 1 < n) {
            const ns_ex side = ns_sign(g, ns_sub(g, u, ns_number(g, a->knot[k + 1])));
            next = ns_step(g, ns_add(g, side, ns_number(g, 0.5)));
        }
        in[k] = ns_sub(g, last, next);
        last = next;
    }
    *from = ns_zero(g);
    for (size_t k = 0; k < n; k++)
        *from = ns_add(g, *from, ns_mul(g, in[k], ns_number(g, a->knot[k])));
    return in;
}

/* Coefficient i of the piece: sum_k I_k c[k stride + i] */
static ns_ex picked(ns_graph *g, const ns_ex *in, size_t n, const double *c, size_t stride,
                    size_t i)
{
    ns_ex sum = ns_zero(g);
    for (size_t k = 0; k < n; k++)
        sum = ns_add(g, sum, ns_mul(g, in[k], ns_number(g, c[k * stride + i])));
    return sum;
}

static ns_ex horner(ns_graph *g, const ns_ex *c, uint32_t n, ns_ex s)
{
    ns_ex value = c[n - 1];
    for (uint32_t i = n - 1; i-- > 0;)
        value = ns_add(g, c[i], ns_mul(g, s, value));
    return value;
}

bool ns_table_call(ns_reader *r, const ns_name *function, ns_span place, const ns_cell *args,
                   ns_cell *out)
{
    const ns_table *t = function->table;
    ns_graph *g = r->g;
    const uint32_t arguments = t->n;
    NS_CHECK(arguments == 1 || arguments == 2);
    const ns_ex *in[MOST_ARGS] = {NULL};
    ns_ex s[MOST_ARGS] = {0}, c[WIDTH] = {0}, line[WIDTH] = {0};
    uint64_t terms = t->width;
    for (uint32_t i = 0; i < arguments; i++) {
        if (args[i].rows != 1 || args[i].cols != 1) {
            ns_diag_error(r->diag, place, "`%s` takes numbers; `%s` is %s", function->text,
                          function->formals[i], ns_arithmetic_shape(r, &args[i]));
            return false;
        }
        terms *= t->axis[i].n * (i ? t->width : 1);
    }
    if (!ns_evaluate_spend(r, place, terms))
        return false;
    for (uint32_t i = 0; i < arguments; i++) {
        ns_ex from;
        in[i] = pieces(r, &t->axis[i], args[i].one, &from);
        s[i] = ns_sub(g, args[i].one, from);
    }
    const size_t n = t->axis[0].n - 1, w = t->width, m = arguments > 1 ? t->axis[1].n - 1 : 0;
    for (size_t i = 0; i < w; i++) {
        if (arguments == 1) {
            c[i] = picked(g, in[0], n, t->c, w, i);
            continue;
        }
        for (size_t j = 0; j < w; j++) {
            ns_ex sum = ns_zero(g);
            for (size_t k = 0; k < n; k++) {
                const ns_ex one = picked(g, in[1], m, t->c + k * m * w * w, w * w, i * w + j);
                sum = ns_add(g, sum, ns_mul(g, in[0][k], one));
            }
            line[j] = sum;
        }
        c[i] = horner(g, line, t->width, s[1]);
    }
    *out = ns_arithmetic_scalar(horner(g, c, t->width, s[0]));
    return true;
}
