/* Builders that simplify.
 *
 * Normal forms, so that equal things meet:
 *   - a commutative pair is ordered: a number first, then by handle;
 *   - signs are pulled out: (-a)*b = -(a*b), a + (-b) = a - b;
 *   - numeric factors stand left: 2*(3*x) = 6*x;
 *   - x*x = x^2, negative powers are quotients, (a/b)/c = a/(b*c).
 * Numbers fold only when the result is exact (checked with error-free transformations), so
 * that a graph means the same in double and in quadruple precision. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/math/quad.h"
#include "base/math/vecmath.h"
#include "expr/graph_internal.h"

typedef struct parts {
    ns_op op;
    ns_ex a, b;
    int32_t integer;
} parts;

static parts look(const ns_graph *g, ns_ex e)
{
    const ns_node *node = ns_graph_node(g, e);
    const ns_ex *args = g->pool.at + node->first;
    return (parts){.op = (ns_op)node->op,
                   .a = node->n > 0 ? args[0] : 0,
                   .b = node->n > 1 ? args[1] : 0,
                   .integer = node->integer};
}

/* Numbers that arithmetic may fold: plain doubles. */
static bool plain(const ns_graph *g, ns_ex e, double *value)
{
    const ns_node *node = ns_graph_node(g, e);
    *value = node->hi;
    return node->op == NS_OP_NUMBER && node->lo == 0;
}

static ns_ex make(ns_graph *g, ns_op op, ns_ex a, ns_ex b)
{
    ns_ex args[2] = {a, b};
    return ns_graph_intern(g, (ns_node){.op = (uint16_t)op, .n = b ? 2 : 1}, args);
}

static ns_ex make_commutative(ns_graph *g, ns_op op, ns_ex a, ns_ex b)
{
    bool na = ns_graph_is_number(g, a, NULL), nb = ns_graph_is_number(g, b, NULL);
    bool swap = na != nb ? nb : a > b;
    return swap ? make(g, op, b, a) : make(g, op, a, b);
}

ns_ex ns_number2(ns_graph *g, double hi, double lo)
{
    NS_CHECK(lo == 0 || isfinite(hi));
    NS_CHECK(fabs(lo) <= fabs(hi) || isnan(hi) || isnan(lo));
    if (hi == 0)
        hi = 0; /* one zero, not two */
    if (g->shaken && lo != 0) {
        hi = nextafter(hi, lo > 0 ? (double)INFINITY : -(double)INFINITY);
        lo = 0;
    }
    if (lo == 0)
        lo = 0;
    return ns_graph_intern(g, (ns_node){.op = NS_OP_NUMBER, .hi = hi, .lo = lo}, NULL);
}

ns_ex ns_number(ns_graph *g, double value)
{
    return ns_number2(g, value, 0);
}

ns_ex ns_integer(ns_graph *g, int64_t value)
{
    double hi = (double)value;
    return ns_number2(g, hi, (double)(value - (int64_t)hi));
}

ns_ex ns_zero(ns_graph *g)
{
    return ns_number(g, 0);
}

ns_ex ns_one(ns_graph *g)
{
    return ns_number(g, 1);
}

ns_ex ns_pi(ns_graph *g)
{
    return ns_number2(g, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53);
}

ns_ex ns_decimal(ns_graph *g, const char *text)
{
    NS_CHECK(text);
    double hi = strtod(text, NULL), lo = 0;
    if (isfinite(hi))
        lo = (double)(NS_QUAD_READ(text, NULL) - (ns_quad)hi);
    return ns_number2(g, hi, lo);
}

/* Exact arithmetic on doubles: true when the rounded result has no error. */

static bool exact_add(double a, double b, double *sum)
{
    double s = a + b, t = s - a;
    *sum = s;
    return isfinite(s) && (a - (s - t)) + (b - t) == 0;
}

static bool exact_mul(double a, double b, double *product)
{
    *product = a * b;
    return isfinite(*product) && fma(a, b, -*product) == 0 &&
           (*product != 0 || a == 0 || b == 0);
}

static bool exact_div(double a, double b, double *quotient)
{
    *quotient = a / b;
    return b != 0 && isfinite(*quotient) && fma(*quotient, b, -a) == 0 &&
           (*quotient != 0 || a == 0);
}

static bool power_of_two(double x)
{
    int exponent;
    return fabs(frexp(x, &exponent)) == 0.5;
}

/* e = factor * rest with a plain number as factor. */
static double split_factor(const ns_graph *g, ns_ex e, ns_ex *rest)
{
    parts p = look(g, e);
    double factor;
    *rest = e;
    if (p.op == NS_OP_NEG) {
        factor = -split_factor(g, p.a, rest); /* at most one level: NEG holds no NEG */
        return factor;
    }
    if (p.op == NS_OP_MUL && plain(g, p.a, &factor)) {
        *rest = p.b;
        return factor;
    }
    return 1;
}

/* sin(x)^2 + cos(x)^2, with a common factor f in both terms: returns f, or 0. */
static ns_ex pythagoras(ns_graph *g, ns_ex a, ns_ex b)
{
    parts p = look(g, a), q = look(g, b);
    if (p.op == NS_OP_POWI && q.op == NS_OP_POWI && p.integer == 2 && q.integer == 2) {
        parts x = look(g, p.a), y = look(g, q.a);
        bool found = (x.op == NS_OP_SIN && y.op == NS_OP_COS && x.a == y.a) ||
                     (x.op == NS_OP_COS && y.op == NS_OP_SIN && x.a == y.a);
        return found ? ns_one(g) : 0;
    }
    if (p.op == NS_OP_MUL && q.op == NS_OP_MUL) {
        const ns_ex x[2] = {p.a, p.b}, y[2] = {q.a, q.b};
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                if (x[i] == y[j] && look(g, x[1 - i]).op == NS_OP_POWI &&
                    look(g, y[1 - j]).op == NS_OP_POWI && pythagoras(g, x[1 - i], y[1 - j]))
                    return x[i];
    }
    return 0;
}

ns_ex(ns_add)(ns_graph *g, ns_ex a, ns_ex b)
{
    double x, y, sum;
    if (ns_graph_is_zero(g, a))
        return b;
    if (ns_graph_is_zero(g, b))
        return a;
    bool na = plain(g, a, &x), nb = plain(g, b, &y);
    if (na && nb && exact_add(x, y, &sum))
        return ns_number(g, sum);
    parts p = look(g, a), q = look(g, b);
    if (q.op == NS_OP_NEG)
        return ns_sub(g, a, q.a);
    if (p.op == NS_OP_NEG)
        return ns_sub(g, b, p.a);
    if (nb && !na) /* numbers first, so the rules below need one form only */
        return ns_add(g, b, a);
    double inner;
    if (na && q.op == NS_OP_ADD && plain(g, q.a, &inner) && exact_add(x, inner, &sum))
        return ns_add(g, ns_number(g, sum), q.b);
    if (na && q.op == NS_OP_SUB && plain(g, q.a, &inner) && exact_add(x, inner, &sum))
        return ns_sub(g, ns_number(g, sum), q.b);
    if (p.op == NS_OP_SUB && p.b == b)
        return p.a;
    if (q.op == NS_OP_SUB && q.b == a)
        return q.a;
    ns_ex u, v;
    double fu = split_factor(g, a, &u), fv = split_factor(g, b, &v);
    if (u == v && exact_add(fu, fv, &sum))
        return ns_mul(g, ns_number(g, sum), u);
    ns_ex common = pythagoras(g, a, b);
    if (common)
        return common;
    return make_commutative(g, NS_OP_ADD, a, b);
}

ns_ex(ns_sub)(ns_graph *g, ns_ex a, ns_ex b)
{
    double x, y, sum;
    if (a == b)
        return ns_zero(g);
    if (ns_graph_is_zero(g, b))
        return a;
    if (ns_graph_is_zero(g, a))
        return ns_neg(g, b);
    bool na = plain(g, a, &x), nb = plain(g, b, &y);
    if (na && nb && exact_add(x, -y, &sum))
        return ns_number(g, sum);
    if (nb)
        return ns_add(g, ns_number(g, -y), a);
    parts p = look(g, a), q = look(g, b);
    if (q.op == NS_OP_NEG)
        return ns_add(g, a, q.a);
    if (p.op == NS_OP_NEG)
        return ns_neg(g, ns_add(g, p.a, b));
    double inner;
    if (na && q.op == NS_OP_ADD && plain(g, q.a, &inner) && exact_add(x, -inner, &sum))
        return ns_sub(g, ns_number(g, sum), q.b);
    if (na && q.op == NS_OP_SUB && plain(g, q.a, &inner) && exact_add(x, -inner, &sum))
        return ns_add(g, ns_number(g, sum), q.b);
    if (p.op == NS_OP_ADD && p.a == b)
        return p.b;
    if (p.op == NS_OP_ADD && p.b == b)
        return p.a;
    if (p.op == NS_OP_SUB && p.a == b)
        return ns_neg(g, p.b);
    if (q.op == NS_OP_ADD && (q.a == a || q.b == a))
        return ns_neg(g, q.a == a ? q.b : q.a);
    if (q.op == NS_OP_SUB && q.a == a)
        return q.b;
    ns_ex u, v;
    double fu = split_factor(g, a, &u), fv = split_factor(g, b, &v);
    if (u == v && exact_add(fu, -fv, &sum))
        return ns_mul(g, ns_number(g, sum), u);
    if (na && x == 1 && q.op == NS_OP_POWI && q.integer == 2) { /* 1 - sin^2 = cos^2 */
        parts in = look(g, q.a);
        if (in.op == NS_OP_SIN)
            return ns_powi(g, ns_cos(g, in.a), 2);
        if (in.op == NS_OP_COS)
            return ns_powi(g, ns_sin(g, in.a), 2);
    }
    return make(g, NS_OP_SUB, a, b);
}

ns_ex ns_neg(ns_graph *g, ns_ex a)
{
    const ns_node *node = ns_graph_node(g, a);
    if (node->op == NS_OP_NUMBER)
        return ns_number2(g, -node->hi, -node->lo);
    parts p = look(g, a);
    double x;
    if (p.op == NS_OP_NEG)
        return p.a;
    if (p.op == NS_OP_SUB)
        return ns_sub(g, p.b, p.a);
    if (p.op == NS_OP_MUL && plain(g, p.a, &x))
        return ns_mul(g, ns_number(g, -x), p.b);
    return make(g, NS_OP_NEG, a, 0);
}

/* e = base^exponent with exponent >= 1 */
static int32_t split_power(const ns_graph *g, ns_ex e, ns_ex *base)
{
    parts p = look(g, e);
    *base = p.op == NS_OP_POWI ? p.a : e;
    return p.op == NS_OP_POWI ? p.integer : 1;
}

ns_ex(ns_mul)(ns_graph *g, ns_ex a, ns_ex b)
{
    double x, y, product;
    if (ns_graph_is_zero(g, a) || ns_graph_is_zero(g, b))
        return ns_zero(g);
    if (ns_graph_is_one(g, a))
        return b;
    if (ns_graph_is_one(g, b))
        return a;
    bool na = plain(g, a, &x), nb = plain(g, b, &y);
    if (na && nb && exact_mul(x, y, &product))
        return ns_number(g, product);
    if (na && x == -1)
        return ns_neg(g, b);
    if (nb && y == -1)
        return ns_neg(g, a);
    if (nb && !na)
        return ns_mul(g, b, a);
    parts p = look(g, a), q = look(g, b);
    if (na && q.op == NS_OP_NEG)
        return ns_mul(g, ns_number(g, -x), q.a);
    if (p.op == NS_OP_NEG)
        return ns_neg(g, ns_mul(g, p.a, b));
    if (q.op == NS_OP_NEG)
        return ns_neg(g, ns_mul(g, a, q.a));
    double inner;
    if (na && q.op == NS_OP_MUL && plain(g, q.a, &inner) && exact_mul(x, inner, &product))
        return ns_mul(g, ns_number(g, product), q.b);
    if (na && q.op == NS_OP_DIV && plain(g, q.a, &inner) && exact_mul(x, inner, &product))
        return ns_div(g, ns_number(g, product), q.b);
    if (na && q.op == NS_OP_DIV && plain(g, q.b, &inner) && exact_div(x, inner, &product))
        return ns_mul(g, ns_number(g, product), q.a);
    /* numeric factors move to the front */
    if (!na && q.op == NS_OP_MUL && plain(g, q.a, &inner))
        return ns_mul(g, q.a, ns_mul(g, a, q.b));
    if (!na && p.op == NS_OP_MUL && plain(g, p.a, &inner))
        return ns_mul(g, p.a, ns_mul(g, p.b, b));
    if (!na) {
        ns_ex u, v;
        int32_t m = split_power(g, a, &u), n = split_power(g, b, &v);
        if (u == v)
            return ns_powi(g, u, m + n);
    }
    if (p.op == NS_OP_DIV && ns_graph_is_one(g, p.a))
        return ns_div(g, b, p.b);
    if (q.op == NS_OP_DIV && ns_graph_is_one(g, q.a))
        return ns_div(g, a, q.b);
    if (p.op == NS_OP_DIV && p.b == b)
        return p.a;
    if (q.op == NS_OP_DIV && q.b == a)
        return q.a;
    return make_commutative(g, NS_OP_MUL, a, b);
}

ns_ex(ns_times)(ns_graph *g, ns_ex a, ns_ex b)
{
    bool reciprocal = (look(g, a).op == NS_OP_DIV && ns_graph_is_one(g, look(g, a).a)) ||
                      (look(g, b).op == NS_OP_DIV && ns_graph_is_one(g, look(g, b).a));
    bool number = ns_graph_is_number(g, a, NULL) || ns_graph_is_number(g, b, NULL);
    return reciprocal && !number && a != b ? make_commutative(g, NS_OP_MUL, a, b)
                                           : ns_mul(g, a, b);
}

ns_ex(ns_div)(ns_graph *g, ns_ex a, ns_ex b)
{
    double x, y, quotient;
    if (ns_graph_is_one(g, b))
        return a;
    bool na = plain(g, a, &x), nb = plain(g, b, &y);
    if (na && nb && exact_div(x, y, &quotient))
        return ns_number(g, quotient);
    if (nb && y == 0)
        return make(g, NS_OP_DIV, a, b); /* the language reports it; never folded away */
    if (na && x == 0)
        return a;
    if (a == b)
        return ns_one(g);
    if (nb && power_of_two(y))
        return ns_mul(g, ns_number(g, 1 / y), a);
    parts p = look(g, a), q = look(g, b);
    if (p.op == NS_OP_NEG)
        return ns_neg(g, ns_div(g, p.a, b));
    if (q.op == NS_OP_NEG)
        return ns_neg(g, ns_div(g, a, q.a));
    if (nb && y < 0)
        return ns_neg(g, ns_div(g, a, ns_number(g, -y)));
    double inner;
    if (nb && p.op == NS_OP_MUL && plain(g, p.a, &inner) && exact_div(inner, y, &quotient))
        return ns_mul(g, ns_number(g, quotient), p.b);
    if (p.op == NS_OP_MUL && (p.a == b || p.b == b))
        return p.a == b ? p.b : p.a;
    ns_ex u, v;
    int32_t m = split_power(g, a, &u), n = split_power(g, b, &v);
    if (u == v)
        return m > n ? ns_powi(g, u, m - n) : ns_div(g, ns_one(g), ns_powi(g, u, n - m));
    if (p.op == NS_OP_DIV)
        return ns_div(g, p.a, ns_mul(g, p.b, b));
    if (q.op == NS_OP_DIV)
        return ns_div(g, ns_mul(g, a, q.b), q.a);
    if (q.op == NS_OP_SQRT && q.a == a)
        return b;
    return make(g, NS_OP_DIV, a, b);
}

ns_ex ns_powi(ns_graph *g, ns_ex a, int32_t n)
{
    if (n == 0)
        return ns_one(g);
    if (n == 1)
        return a;
    if (n < 0)
        return ns_div(g, ns_one(g), ns_powi(g, a, -n));
    double x;
    if (plain(g, a, &x)) {
        double power = 1;
        bool exact = true;
        if (fabs(x) == 1 || x == 0)
            return ns_number(g, x == 0 ? 0 : n % 2 ? x : 1);
        for (int32_t i = 0; i < n && exact; i++)
            exact = exact_mul(power, x, &power);
        if (exact)
            return ns_number(g, power);
    }
    parts p = look(g, a);
    if (p.op == NS_OP_POWI && (int64_t)p.integer * n <= INT32_MAX)
        return ns_powi(g, p.a, p.integer * n);
    if (p.op == NS_OP_NEG)
        return n % 2 ? ns_neg(g, ns_powi(g, p.a, n)) : ns_powi(g, p.a, n);
    if (p.op == NS_OP_ABS && n % 2 == 0)
        return ns_powi(g, p.a, n);
    if (p.op == NS_OP_SQRT)
        return n % 2 ? ns_mul(g, a, ns_powi(g, p.a, n / 2)) : ns_powi(g, p.a, n / 2);
    return ns_graph_intern(g, (ns_node){.op = NS_OP_POWI, .n = 1, .integer = n}, &a);
}

ns_ex(ns_pow)(ns_graph *g, ns_ex a, ns_ex b)
{
    double y;
    if (plain(g, b, &y) && fabs(y) <= 1024) {
        if (y == floor(y))
            return ns_powi(g, a, (int32_t)y);
        if (y == 0.5)
            return ns_sqrt(g, a);
        if (y == floor(y) + 0.5)
            return ns_mul(g, ns_powi(g, a, (int32_t)floor(y)), ns_sqrt(g, a));
    }
    if (ns_graph_is_one(g, a))
        return a;
    return make(g, NS_OP_POW, a, b);
}

ns_ex ns_sqrt(ns_graph *g, ns_ex a)
{
    double x;
    if (plain(g, a, &x) && x >= 0) {
        double root = sqrt(x);
        if (fma(root, root, -x) == 0)
            return ns_number(g, root);
    }
    parts p = look(g, a);
    if (p.op == NS_OP_POWI && p.integer % 2 == 0)
        return ns_abs(g, ns_powi(g, p.a, p.integer / 2));
    return make(g, NS_OP_SQRT, a, 0);
}

ns_ex ns_abs(ns_graph *g, ns_ex a)
{
    const ns_node *node = ns_graph_node(g, a);
    if (node->op == NS_OP_NUMBER)
        return node->hi < 0 ? ns_neg(g, a) : a;
    parts p = look(g, a);
    if (p.op == NS_OP_NEG)
        return ns_abs(g, p.a);
    if (p.op == NS_OP_ABS || p.op == NS_OP_SQRT || p.op == NS_OP_EXP || p.op == NS_OP_COSH ||
        (p.op == NS_OP_POWI && p.integer % 2 == 0))
        return a;
    return make(g, NS_OP_ABS, a, 0);
}

ns_ex ns_sign(ns_graph *g, ns_ex a)
{
    double x;
    if (ns_graph_is_number(g, a, &x))
        return ns_number(g, ns_sgn(x));
    if (look(g, a).op == NS_OP_NEG)
        return ns_neg(g, ns_sign(g, look(g, a).a));
    return make(g, NS_OP_SIGN, a, 0);
}

ns_ex ns_step(ns_graph *g, ns_ex a)
{
    return ns_mul(g, ns_number(g, 0.5), ns_add(g, ns_one(g), ns_sign(g, a)));
}

ns_ex ns_exp(ns_graph *g, ns_ex a)
{
    if (ns_graph_is_zero(g, a))
        return ns_one(g);
    return look(g, a).op == NS_OP_LOG ? look(g, a).a : make(g, NS_OP_EXP, a, 0);
}

ns_ex ns_log(ns_graph *g, ns_ex a)
{
    if (ns_graph_is_one(g, a))
        return ns_zero(g);
    return look(g, a).op == NS_OP_EXP ? look(g, a).a : make(g, NS_OP_LOG, a, 0);
}

/* f(-a) = -f(a) and f(0) = 0 */
static ns_ex odd(ns_graph *g, ns_op op, ns_ex a)
{
    double x;
    if (ns_graph_is_zero(g, a))
        return a;
    if (look(g, a).op == NS_OP_NEG)
        return ns_neg(g, odd(g, op, look(g, a).a));
    if (ns_graph_is_number(g, a, &x) && x < 0)
        return ns_neg(g, odd(g, op, ns_neg(g, a)));
    return make(g, op, a, 0);
}

/* f(-a) = f(a) and f(0) = 1 */
static ns_ex even(ns_graph *g, ns_op op, ns_ex a)
{
    double x;
    if (ns_graph_is_zero(g, a))
        return ns_one(g);
    if (look(g, a).op == NS_OP_NEG)
        a = look(g, a).a;
    else if (ns_graph_is_number(g, a, &x) && x < 0)
        a = ns_neg(g, a);
    return make(g, op, a, 0);
}

ns_ex ns_sin(ns_graph *g, ns_ex a)
{
    return odd(g, NS_OP_SIN, a);
}

ns_ex ns_cos(ns_graph *g, ns_ex a)
{
    return even(g, NS_OP_COS, a);
}

ns_ex ns_tan(ns_graph *g, ns_ex a)
{
    return odd(g, NS_OP_TAN, a);
}

ns_ex ns_sinh(ns_graph *g, ns_ex a)
{
    return odd(g, NS_OP_SINH, a);
}

ns_ex ns_cosh(ns_graph *g, ns_ex a)
{
    return even(g, NS_OP_COSH, a);
}

static ns_ex min_or_max(ns_graph *g, ns_op op, ns_ex a, ns_ex b)
{
    double x, y;
    if (a == b)
        return a;
    if (ns_graph_is_number(g, a, &x) && ns_graph_is_number(g, b, &y) && x != y)
        return (x < y) == (op == NS_OP_MIN) ? a : b;
    return make_commutative(g, op, a, b);
}

/* Of the table of operations this column alone: the table itself is made with the builders. */
static const uint8_t arity[NS_OP_COUNT] = {
#define NS_OP(ID, NAME, ARITY, ...) [NS_OP_##ID] = ARITY,
#define NS_OP_SPECIAL(ID, NAME)
#include "expr/ops.def"
#undef NS_OP
#undef NS_OP_SPECIAL
};

ns_ex ns_apply(ns_graph *g, ns_op op, ns_ex a, ns_ex b)
{
    NS_CHECK(op > NS_OP_NONE && op < NS_OP_COUNT);
    NS_CHECK(a);
    switch (op) {
    case NS_OP_ADD:
        return ns_add(g, a, b);
    case NS_OP_SUB:
        return ns_sub(g, a, b);
    case NS_OP_MUL:
        return ns_mul(g, a, b);
    case NS_OP_DIV:
        return ns_div(g, a, b);
    case NS_OP_NEG:
        return ns_neg(g, a);
    case NS_OP_POW:
        return ns_pow(g, a, b);
    case NS_OP_SQRT:
        return ns_sqrt(g, a);
    case NS_OP_ABS:
        return ns_abs(g, a);
    case NS_OP_SIGN:
        return ns_sign(g, a);
    case NS_OP_MIN:
    case NS_OP_MAX:
        return min_or_max(g, op, a, b);
    case NS_OP_EXP:
        return ns_exp(g, a);
    case NS_OP_LOG:
        return ns_log(g, a);
    case NS_OP_SIN:
    case NS_OP_TAN:
    case NS_OP_ASIN:
    case NS_OP_ATAN:
    case NS_OP_SINH:
    case NS_OP_TANH:
    case NS_OP_ASINH:
    case NS_OP_ATANH:
        return odd(g, op, a);
    case NS_OP_COS:
    case NS_OP_COSH:
        return even(g, op, a);
    default:
        NS_CHECK(arity[op] > 0);
        return make(g, op, a, arity[op] == 2 ? b : 0);
    }
}

void ns_solve(ns_graph *g, uint32_t n, const ns_ex *M, const ns_ex *b, ns_ex *x)
{
    NS_CHECK((M && b && x) || !n);
    if (n == 0)
        return;
    if (n == 1) {
        x[0] = ns_div(g, b[0], M[0]);
        return;
    }
    bool zero = true;
    for (uint32_t i = 0; i < n; i++)
        zero = zero && ns_graph_is_zero(g, b[i]);
    if (zero) {
        for (uint32_t i = 0; i < n; i++)
            x[i] = b[i];
        return;
    }
    ns_ex *args = NS_NEW_ARRAY(g->arena, ns_ex, n + 1);
    args[0] = ns_graph_intern(
        g, (ns_node){.op = NS_OP_FACTOR, .n = n * n, .integer = (int32_t)n}, M);
    for (uint32_t i = 0; i < n; i++)
        args[i + 1] = b[i];
    ns_ex solve = ns_graph_intern(
        g, (ns_node){.op = NS_OP_SOLVE, .n = n + 1, .integer = (int32_t)n}, args);
    for (uint32_t i = 0; i < n; i++)
        x[i] = ns_graph_intern(g, (ns_node){.op = NS_OP_PICK, .n = 1, .integer = (int32_t)i},
                               &solve);
}

ns_ex ns_rebuild(ns_graph *g, ns_ex like, const ns_ex *args)
{
    NS_CHECK(args || !ns_graph_node(g, like)->n);
    ns_node node = *ns_graph_node(g, like);
    if (node.n == 0)
        return like;
    if (arity[node.op] > 0)
        return ns_apply(g, (ns_op)node.op, args[0], node.n > 1 ? args[1] : 0);
    if (node.op == NS_OP_POWI)
        return ns_powi(g, args[0], node.integer);
    return ns_graph_intern(g, node, args);
}
