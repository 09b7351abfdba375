/* Arithmetic of numbers, vectors and matrices of expressions, with sizes checked. */
#include <math.h>
#include <string.h>

#include "lang/reader.h"

ns_cell ns_arithmetic_scalar(ns_ex e)
{
    return (ns_cell){.rows = 1, .cols = 1, .one = e};
}

ns_cell ns_arithmetic_cell(ns_value value)
{
    if (value.rows == 1 && value.cols == 1)
        return ns_arithmetic_scalar(value.at[0]);
    return (ns_cell){.rows = value.rows, .cols = value.cols, .at = value.at};
}

ns_value ns_arithmetic_value(ns_reader *r, const ns_cell *cell)
{
    ns_value value = {.rows = cell->rows, .cols = cell->cols, .at = cell->at};
    if (!value.at)
        value.at = ns_arena_copy(r->arena, &cell->one, sizeof cell->one);
    return value;
}

ns_cell ns_arithmetic_new(ns_reader *r, uint32_t rows, uint32_t cols, ns_ex **at)
{
    *at = NS_NEW_ARRAY(r->arena, ns_ex, (size_t)rows * cols);
    return (ns_cell){.rows = rows, .cols = cols, .at = *at};
}

const char *ns_arithmetic_shape(ns_reader *r, const ns_cell *cell)
{
    if (cell->rows == 1 && cell->cols == 1)
        return "a number";
    if (cell->cols == 1)
        return ns_arena_format(r->arena, "a vector of %u", cell->rows);
    return ns_arena_format(r->arena, "a %u x %u matrix", cell->rows, cell->cols);
}

static bool is_scalar(const ns_cell *a)
{
    return a->rows == 1 && a->cols == 1;
}

bool ns_arithmetic_check(ns_reader *r, ns_span place, const ns_cell *a)
{
    enum { MOST_CHECKED = 64 };
    uint32_t n = a->rows * a->cols;
    for (uint32_t i = 0; i < n && i < MOST_CHECKED; i++) {
        double value;
        if (!ns_facts_constant(r, ns_cell_at(a)[i], &value) || isfinite(value))
            continue;
        ns_diag_error(r->diag, place, "this has no finite value");
        return false;
    }
    return true;
}

static ns_cell none(void)
{
    return (ns_cell){0};
}

static ns_cell add(ns_reader *r, ns_span place, bool minus, const ns_cell *a, const ns_cell *b)
{
    if (a->rows != b->rows || a->cols != b->cols) {
        const char *left = ns_arithmetic_shape(r, a), *right = ns_arithmetic_shape(r, b);
        ns_diag_error(r->diag, place,
                      minus ? "%s cannot be subtracted from %s" : "%s cannot be added to %s",
                      right, left);
        return none();
    }
    if (is_scalar(a))
        return ns_arithmetic_scalar(minus ? ns_sub(r->g, a->one, b->one)
                                          : ns_add(r->g, a->one, b->one));
    ns_ex *at;
    ns_cell sum = ns_arithmetic_new(r, a->rows, a->cols, &at);
    for (uint32_t i = 0; i < a->rows * a->cols; i++)
        at[i] = minus ? ns_sub(r->g, a->at[i], b->at[i]) : ns_add(r->g, a->at[i], b->at[i]);
    return sum;
}

/* Every entry of a with the number b. */
static ns_cell scale(ns_reader *r, const ns_cell *a, ns_ex b, bool divide)
{
    if (is_scalar(a))
        return ns_arithmetic_scalar(divide ? ns_div(r->g, a->one, b) : ns_mul(r->g, a->one, b));
    ns_ex *at;
    ns_cell out = ns_arithmetic_new(r, a->rows, a->cols, &at);
    for (uint32_t i = 0; i < a->rows * a->cols; i++)
        at[i] = divide ? ns_div(r->g, a->at[i], b) : ns_mul(r->g, a->at[i], b);
    return out;
}

static ns_cell multiply(ns_reader *r, ns_span place, const ns_cell *a, const ns_cell *b)
{
    if (is_scalar(a) && is_scalar(b))
        return ns_arithmetic_scalar(ns_mul(r->g, a->one, b->one));
    if (is_scalar(b))
        return scale(r, a, b->one, false);
    if (is_scalar(a))
        return scale(r, b, a->one, false);
    if (a->cols != b->rows) {
        ns_diag_error(r->diag, place, "%s cannot be multiplied by %s%s",
                      ns_arithmetic_shape(r, a), ns_arithmetic_shape(r, b),
                      a->cols == 1 && b->cols == 1 ? "; the products of vectors are dot(a, b) "
                                                     "and cross(a, b)"
                                                   : "");
        return none();
    }
    if (!ns_evaluate_spend(r, place, (uint64_t)a->rows * a->cols * b->cols))
        return none();
    ns_ex *at;
    ns_cell product = ns_arithmetic_new(r, a->rows, b->cols, &at);
    for (uint32_t i = 0; i < a->rows; i++)
        for (uint32_t j = 0; j < b->cols; j++) {
            ns_ex sum = ns_zero(r->g);
            for (uint32_t k = 0; k < a->cols; k++)
                sum = ns_add(
                    r->g, sum,
                    ns_mul(r->g, a->at[i * a->cols + k], ns_cell_at(b)[k * b->cols + j]));
            at[i * b->cols + j] = sum;
        }
    return is_scalar(&product) ? ns_arithmetic_scalar(at[0]) : product;
}

static ns_cell divide(ns_reader *r, ns_span place, const ns_cell *a, const ns_cell *b)
{
    double value;
    if (!is_scalar(b)) {
        ns_diag_error(r->diag, place, "%s cannot be divided by %s; expected a number%s",
                      ns_arithmetic_shape(r, a), ns_arithmetic_shape(r, b),
                      b->rows == b->cols ? ", or solve(M, b)" : "");
        return none();
    }
    if (ns_facts_constant(r, b->one, &value) && value == 0) {
        ns_diag_error(r->diag, place, "division by zero");
        return none();
    }
    return scale(r, a, b->one, true);
}

ns_cell ns_arithmetic_binary(ns_reader *r, ns_span place, ns_postfix_op op, const ns_cell *a,
                             const ns_cell *b)
{
    ns_cell out = none();
    switch (op) {
    case NS_POSTFIX_ADD:
    case NS_POSTFIX_SUB:
        out = add(r, place, op == NS_POSTFIX_SUB, a, b);
        break;
    case NS_POSTFIX_MUL:
        out = multiply(r, place, a, b);
        break;
    case NS_POSTFIX_DIV:
        out = divide(r, place, a, b);
        break;
    default:
        if (is_scalar(a) && is_scalar(b))
            out = ns_arithmetic_scalar(ns_pow(r->g, a->one, b->one));
        else
            ns_diag_error(r->diag, place, "%s cannot be raised to %s; expected numbers",
                          ns_arithmetic_shape(r, a), ns_arithmetic_shape(r, b));
    }
    return out.rows && ns_arithmetic_check(r, place, &out) ? out : none();
}

/* -7 is the number -7, with a low part of +0: the one node that ns_number makes of it too. */
static ns_ex negate(ns_graph *g, ns_ex e)
{
    const ns_node *node = ns_graph_node(g, e);
    if (node->op == NS_OP_NUMBER && node->lo == 0)
        return ns_number(g, -node->hi);
    return ns_neg(g, e);
}

ns_cell ns_arithmetic_negate(ns_reader *r, const ns_cell *a)
{
    if (is_scalar(a))
        return ns_arithmetic_scalar(negate(r->g, a->one));
    ns_ex *at;
    ns_cell out = ns_arithmetic_new(r, a->rows, a->cols, &at);
    for (uint32_t i = 0; i < a->rows * a->cols; i++)
        at[i] = negate(r->g, a->at[i]);
    return out;
}

ns_cell ns_arithmetic_vector(ns_reader *r, ns_span place, const ns_cell *elements, uint32_t n)
{
    uint32_t m = elements[0].rows;
    for (uint32_t i = 0; i < n; i++) {
        if (elements[i].cols == 1 && elements[i].rows == m)
            continue;
        ns_diag_error(r->diag, place,
                      "element %u is %s and element 1 is %s; expected numbers, or rows of one "
                      "length",
                      i + 1, ns_arithmetic_shape(r, &elements[i]),
                      ns_arithmetic_shape(r, &elements[0]));
        return none();
    }
    if (n == 1 && m == 1)
        return elements[0];
    if (!ns_evaluate_spend(r, place, (uint64_t)n * m))
        return none();
    ns_ex *at;
    ns_cell out = ns_arithmetic_new(r, n, m, &at);
    for (uint32_t i = 0; i < n; i++)
        memcpy(at + (size_t)i * m, ns_cell_at(&elements[i]), m * sizeof *at);
    return out;
}

/* A constant integer from 1 to most. */
static bool index_of(ns_reader *r, ns_span place, const ns_cell *c, uint32_t most,
                     uint32_t *index)
{
    double value;
    if (!is_scalar(c) || !ns_facts_constant(r, c->one, &value) || value != floor(value)) {
        ns_diag_error(r->diag, place, "an index must be an integer constant");
        return false;
    }
    if (value < 1 || value > most) {
        ns_diag_error(r->diag, place, "index %g is out of range: expected 1 to %u", value,
                      most);
        return false;
    }
    *index = (uint32_t)value - 1;
    return true;
}

ns_cell ns_arithmetic_index(ns_reader *r, ns_span place, const ns_cell *a,
                            const ns_cell *indices, uint32_t n)
{
    uint32_t i = 0, j = 0;
    if (is_scalar(a)) {
        ns_diag_error(r->diag, place, "a number has no components");
        return none();
    }
    if (n > 2 || (n == 1 && a->cols > 1) || (n == 2 && a->cols == 1)) {
        ns_diag_error(r->diag, place, "expected %s to pick from %s, found %u",
                      a->cols == 1 ? "1 index" : "2 indices", ns_arithmetic_shape(r, a), n);
        return none();
    }
    if (!index_of(r, place, &indices[0], a->rows, &i) ||
        (n == 2 && !index_of(r, place, &indices[1], a->cols, &j)))
        return none();
    return ns_arithmetic_scalar(a->at[i * a->cols + j]);
}

ns_cell ns_arithmetic_difference(ns_reader *r, ns_span place, const ns_cell *a,
                                 const ns_cell *b)
{
    if (is_scalar(b) && ns_graph_is_zero(r->g, b->one))
        return *a;
    if (is_scalar(a) && ns_graph_is_zero(r->g, a->one))
        return ns_arithmetic_negate(r, b);
    if (a->rows == b->rows && a->cols == b->cols)
        return add(r, place, true, a, b);
    ns_diag_error(r->diag, place, "the left side is %s, the right side is %s",
                  ns_arithmetic_shape(r, a), ns_arithmetic_shape(r, b));
    return none();
}
