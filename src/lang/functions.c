/* Built-in functions of vectors and matrices, and partial derivatives. */
#include "lang/functions.h"

#include <math.h>
#include <string.h>

#include "base/near.h"
#include "expr/diff.h"
#include "expr/integral.h"
#include "lang/reader.h"

enum { MOST_SIZE = 1000, MOST_SOLVE = 300 };

static bool is_scalar(const ns_cell *a)
{
    return a->rows == 1 && a->cols == 1;
}

static bool is_vector(const ns_cell *a)
{
    return a->cols == 1;
}

static ns_ex dot_of(ns_graph *g, const ns_cell *a, const ns_cell *b)
{
    ns_ex sum = ns_zero(g);
    for (uint32_t i = 0; i < a->rows; i++)
        sum = ns_add(g, sum, ns_mul(g, ns_cell_at(a)[i], ns_cell_at(b)[i]));
    return sum;
}

static bool apply_dot(ns_reader *r, ns_span place, const ns_cell *args, uint32_t n,
                      ns_cell *out)
{
    (void)n;
    if (!is_vector(&args[0]) || !is_vector(&args[1]) || args[0].rows != args[1].rows) {
        ns_diag_error(r->diag, place, "dot needs two vectors of one length, found %s and %s",
                      ns_arithmetic_shape(r, &args[0]), ns_arithmetic_shape(r, &args[1]));
        return false;
    }
    *out = ns_arithmetic_scalar(dot_of(r->g, &args[0], &args[1]));
    return true;
}

static bool apply_norm(ns_reader *r, ns_span place, const ns_cell *args, uint32_t n,
                       ns_cell *out)
{
    (void)n;
    if (!is_vector(&args[0])) {
        ns_diag_error(r->diag, place, "norm needs a vector, found %s",
                      ns_arithmetic_shape(r, &args[0]));
        return false;
    }
    *out = ns_arithmetic_scalar(ns_sqrt(r->g, dot_of(r->g, &args[0], &args[0])));
    return true;
}

static bool apply_cross(ns_reader *r, ns_span place, const ns_cell *args, uint32_t n,
                        ns_cell *out)
{
    (void)n;
    const ns_cell *a = &args[0], *b = &args[1];
    if (!is_vector(a) || !is_vector(b) || a->rows != 3 || b->rows != 3) {
        ns_diag_error(r->diag, place, "cross needs two vectors of 3, found %s and %s",
                      ns_arithmetic_shape(r, a), ns_arithmetic_shape(r, b));
        return false;
    }
    ns_ex *at;
    *out = ns_arithmetic_new(r, 3, 1, &at);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        at[i] = ns_sub(r->g, ns_mul(r->g, a->at[j], b->at[k]),
                       ns_mul(r->g, a->at[k], b->at[j]));
    }
    return true;
}

static bool apply_transpose(ns_reader *r, ns_span place, const ns_cell *args, uint32_t n,
                            ns_cell *out)
{
    (void)n;
    const ns_cell *a = &args[0];
    *out = *a;
    if (is_scalar(a))
        return true;
    if (!ns_evaluate_spend(r, place, (uint64_t)a->rows * a->cols))
        return false;
    ns_ex *at;
    *out = ns_arithmetic_new(r, a->cols, a->rows, &at);
    for (uint32_t i = 0; i < a->rows; i++)
        for (uint32_t j = 0; j < a->cols; j++)
            at[j * a->rows + i] = a->at[i * a->cols + j];
    return true;
}

static bool apply_sum(ns_reader *r, ns_span place, const ns_cell *args, uint32_t n,
                      ns_cell *out)
{
    (void)n, (void)place;
    ns_ex sum = ns_zero(r->g);
    for (uint32_t i = 0; i < args[0].rows * args[0].cols; i++)
        sum = ns_add(r->g, sum, ns_cell_at(&args[0])[i]);
    *out = ns_arithmetic_scalar(sum);
    return true;
}

/* A square matrix with the given diagonal (NULL: of ones). */
static bool diagonal(ns_reader *r, ns_span place, const ns_ex *entries, uint32_t n,
                     ns_cell *out)
{
    if (n == 1) {
        *out = ns_arithmetic_scalar(entries ? entries[0] : ns_one(r->g));
        return true;
    }
    if (!ns_evaluate_spend(r, place, (uint64_t)n * n))
        return false;
    ns_ex *at, zero = ns_zero(r->g), one = ns_one(r->g);
    *out = ns_arithmetic_new(r, n, n, &at);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            at[i * n + j] = i != j ? zero : entries ? entries[i] : one;
    return true;
}

static bool apply_identity(ns_reader *r, ns_span place, const ns_cell *args, uint32_t n,
                           ns_cell *out)
{
    (void)n;
    double size;
    if (!is_scalar(&args[0]) || !ns_facts_constant(r, args[0].one, &size) || size < 1 ||
        size > MOST_SIZE || size != floor(size)) {
        ns_diag_error(r->diag, place, "identity needs an integer constant from 1 to %d",
                      MOST_SIZE);
        return false;
    }
    return diagonal(r, place, NULL, (uint32_t)size, out);
}

static bool apply_diag(ns_reader *r, ns_span place, const ns_cell *args, uint32_t n,
                       ns_cell *out)
{
    NS_LIST(ns_ex) entries = {0};
    for (uint32_t k = 0; k < n; k++) {
        if (!is_vector(&args[k])) {
            ns_diag_error(r->diag, place, "diag needs numbers or vectors, found %s",
                          ns_arithmetic_shape(r, &args[k]));
            return false;
        }
        for (uint32_t i = 0; i < args[k].rows; i++)
            NS_PUSH(r->arena, entries, ns_cell_at(&args[k])[i]);
    }
    if (entries.n > MOST_SIZE) {
        ns_diag_error(r->diag, place, "a matrix of %u rows is too large; the limit is %d",
                      entries.n, MOST_SIZE);
        return false;
    }
    return diagonal(r, place, entries.at, entries.n, out);
}

static bool apply_solve(ns_reader *r, ns_span place, const ns_cell *args, uint32_t n,
                        ns_cell *out)
{
    (void)n;
    const ns_cell *M = &args[0], *b = &args[1];
    if (M->rows != M->cols || !is_vector(b) || b->rows != M->rows) {
        ns_diag_error(r->diag, place,
                      "solve needs a square matrix and a vector of the same size, found %s and "
                      "%s",
                      ns_arithmetic_shape(r, M), ns_arithmetic_shape(r, b));
        return false;
    }
    uint32_t size = M->rows;
    double value;
    if (size > MOST_SOLVE) {
        ns_diag_error(r->diag, place, "a system of %u equations is too large; the limit is %d",
                      size, MOST_SOLVE);
        return false;
    }
    if (size == 1 && ns_facts_constant(r, M->one, &value) && value == 0) {
        ns_diag_error(r->diag, place, "the matrix is singular");
        return false;
    }
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < size * size; i++)
        kinds |= ns_facts_kinds(r, ns_cell_at(M)[i]);
    /* A constant matrix is factored here and now, to see that it can be. */
    if (!ns_evaluate_spend(r, place, (uint64_t)size * size * (kinds ? 1 : size)))
        return false;
    ns_ex *at;
    *out = ns_arithmetic_new(r, size, 1, &at);
    ns_solve(r->g, size, ns_cell_at(M), ns_cell_at(b), at);
    if (size == 1)
        *out = ns_arithmetic_scalar(at[0]);
    if (kinds)
        return true;
    ns_ex *unit = NS_NEW_ARRAY(r->arena, ns_ex, size);
    ns_ex *probe = NS_NEW_ARRAY(r->arena, ns_ex, size);
    for (uint32_t i = 0; i < size; i++)
        unit[i] = ns_one(r->g);
    ns_solve(r->g, size, ns_cell_at(M), unit, probe);
    if (ns_facts_constant(r, probe[0], &value) && !isfinite(value)) {
        ns_diag_error(r->diag, place, "the matrix is singular");
        return false;
    }
    return true;
}

/* diff(f, x): f a number: the gradient; f a vector: its Jacobian, one row per component. */
static bool apply_diff(ns_reader *r, ns_span place, const ns_cell *args, uint32_t n,
                       ns_cell *out)
{
    (void)n;
    const ns_cell *f = &args[0], *x = &args[1];
    if (!is_vector(f) || !is_vector(x)) {
        ns_diag_error(r->diag, place, "diff needs numbers or vectors, found %s and %s",
                      ns_arithmetic_shape(r, f), ns_arithmetic_shape(r, x));
        return false;
    }
    for (uint32_t i = 0; i < x->rows; i++)
        if (!ns_graph_symbol(r->g, ns_cell_at(x)[i])) {
            ns_diag_error(r->diag, place,
                          "diff needs as its second argument a coordinate, velocity, state, "
                          "parameter or t, or a vector of them, not an expression; for the "
                          "derivative of a function at a point there is grad(F)(...)");
            return false;
        }
    if (!ns_evaluate_spend(r, place, (uint64_t)f->rows * x->rows + ns_graph_size(r->g) / 16))
        return false;
    ns_ex *at;
    ns_cell jacobian = ns_arithmetic_new(r, f->rows, x->rows, &at);
    ns_diff_jacobian(r->g, ns_cell_at(f), f->rows, ns_cell_at(x), x->rows, at);
    if (f->rows == 1) { /* a gradient is a vector, not a row */
        jacobian.rows = x->rows;
        jacobian.cols = 1;
    }
    *out = is_scalar(&jacobian) ? ns_arithmetic_scalar(at[0]) : jacobian;
    return true;
}

/* ---- integral(F)(a, b) ------------------------------------------------------------------- */

/* An event that ends the run where F is not resolved.  In terms of a curve's parameter it is
 * for the formulation to say where along the motion that is; in terms of a function's arguments
 * it is of no use. */
static void watch(ns_reader *r, const ns_name *function, ns_span place, ns_ex margin)
{
    const char *name = ns_arena_format(r->arena, "integral.%s", function->text);
    for (uint32_t i = 0; i < r->d->events.n; i++)
        if (r->d->events.at[i].value == margin)
            return;
    for (uint32_t i = 0, k = 2; i < r->d->events.n; i++)
        if (strcmp(r->d->events.at[i].name, name) == 0) {
            name = ns_arena_format(r->arena, "integral.%s.%u", function->text, k++);
            i = UINT32_MAX; /* once more from the first */
        }
    NS_PUSH(
        r->arena, r->d->events,
        (ns_event_line){.name = name,
                        .value = margin,
                        .direction = -1,
                        .condition = true,
                        .action = NS_EVENT_SINGULAR,
                        .meaning = ns_arena_format(
                            r->arena, "%s varies too fast for its integral: split the range",
                            function->text),
                        .span = place});
}

bool ns_functions_integral(ns_reader *r, ns_name *function, ns_span place, const ns_cell *args,
                           uint32_t n, ns_evaluated *outcome, ns_cell *out)
{
    const ns_ex u = ns_symbol_new(r->g, "u", NS_SYM_LOCAL, 0);
    const ns_cell formal = ns_arithmetic_scalar(u);
    ns_cell value;
    ns_ex margin;
    if (n != 2 || !is_scalar(&args[0]) || !is_scalar(&args[1])) {
        ns_diag_error(r->diag, place, "an integral has two limits: integral(%s)(from, to)",
                      function->text);
        return false;
    }
    *outcome = ns_evaluate_call(r, function, place, &formal, 1, false, &value);
    if (outcome->progress != NS_READ_DONE)
        return true;
    if (!is_scalar(&value)) {
        ns_diag_error(r->diag, place,
                      "integral needs a function whose value is a number; `%s` is %s",
                      function->text, ns_arithmetic_shape(r, &value));
        return false;
    }
    if (!ns_evaluate_spend(r, place, (uint64_t)64 * (ns_graph_size(r->g) / 64 + 16)))
        return false;
    *out = ns_arithmetic_scalar(
        ns_integral(r->g, value.one, u, args[0].one, args[1].one, &margin));
    watch(r, function, place, margin);
    return ns_arithmetic_check(r, place, out);
}

/* ---- the table --------------------------------------------------------------------------- */

enum { ANY = 1 << 20 };

const ns_builtin ns_builtins[] = {
    {"dot", 2, 2, apply_dot, "dot(a, b)", "scalar product of two vectors"},
    {"cross", 2, 2, apply_cross, "cross(a, b)", "vector product of two vectors of 3"},
    {"norm", 1, 1, apply_norm, "norm(a)", "length of a vector"},
    {"sum", 1, 1, apply_sum, "sum(a)", "sum of all entries of a vector or matrix"},
    {"transpose", 1, 1, apply_transpose, "transpose(M)", "rows become columns"},
    {"identity", 1, 1, apply_identity, "identity(n)", "unit matrix"},
    {"diag", 1, ANY, apply_diag, "diag(a, b, ...)", "diagonal matrix of numbers or a vector"},
    {"solve", 2, 2, apply_solve, "solve(M, b)", "the vector x with M*x = b"},
    {"diff", 2, 2, apply_diff, "diff(f, x)",
     "partial derivative by a coordinate, velocity, state, parameter, t, or a vector of them"},
    {"grad", 0, 0, NULL, "grad(F)(x, y, ...)", "derivatives of a function F by its arguments"},
    {"integral", 0, 0, NULL, "integral(F)(a, b)",
     "integral of a function F of one argument from a to b"},
    {NULL, 0, 0, NULL, NULL, NULL},
};

static const ns_builtin *find(const char *name, size_t length)
{
    for (const ns_builtin *f = ns_builtins; f->name; f++)
        if (strlen(f->name) == length && memcmp(f->name, name, length) == 0)
            return f;
    return NULL;
}

static ns_op find_op(const char *name, size_t length)
{
    char word[16];
    if (length >= sizeof word)
        return NS_OP_NONE;
    memcpy(word, name, length);
    word[length] = 0;
    return ns_ops_find(word);
}

bool ns_functions_is(const char *name, size_t length)
{
    return find(name, length) || find_op(name, length) != NS_OP_NONE;
}

const char *ns_functions_nearest(const char *name)
{
    ns_near near = {.word = name};
    for (const ns_builtin *f = ns_builtins; f->name; f++)
        ns_near_try(&near, f->name);
    for (int op = 1; op < NS_OP_COUNT; op++)
        if (ns_ops_find(ns_ops[op].name) != NS_OP_NONE)
            ns_near_try(&near, ns_ops[op].name);
    return near.found;
}

static bool count_fits(ns_reader *r, ns_span place, const char *name, uint32_t least,
                       uint32_t most, uint32_t n)
{
    if (n >= least && n <= most)
        return true;
    ns_diag_error(r->diag, place, "%s takes %u argument%s, found %u", name,
                  n < least ? least : most, (n < least ? least : most) == 1 ? "" : "s", n);
    return false;
}

ns_cell ns_functions_apply(ns_reader *r, ns_span place, const ns_cell *args, uint32_t n,
                           bool *found)
{
    const char *name = ns_reader_text(r, place);
    size_t length = place.end - place.begin;
    const ns_builtin *builtin = find(name, length);
    ns_op op = builtin ? NS_OP_NONE : find_op(name, length);
    ns_cell out = {0};
    *found = builtin || op != NS_OP_NONE;
    if (builtin && builtin->apply) {
        if (!count_fits(r, place, builtin->name, builtin->least, builtin->most, n) ||
            !builtin->apply(r, place, args, n, &out))
            return (ns_cell){0};
    } else if (op != NS_OP_NONE) {
        uint32_t arity = (uint32_t)ns_ops[op].arity;
        if (!count_fits(r, place, ns_ops[op].name, arity, arity, n))
            return out;
        for (uint32_t i = 0; i < n; i++)
            if (!is_scalar(&args[i])) {
                ns_diag_error(r->diag, place, "%s needs a number, found %s", ns_ops[op].name,
                              ns_arithmetic_shape(r, &args[i]));
                return out;
            }
        out = ns_arithmetic_scalar(
            ns_apply(r->g, op, args[0].one, arity > 1 ? args[1].one : 0));
    }
    return out.rows && ns_arithmetic_check(r, place, &out) ? out : (ns_cell){0};
}
