/* Ranges of operations on intervals.
 *
 * Rounding.  Sums and products are off by half a unit in the last place, functions by less than
 * one in any engine: bounds are moved by one and by four units, and by DBL_MIN where a result
 * may underflow.  0 times anything is 0, also times infinity: an infinite bound stands for
 * numbers without bound, not for infinity. */
#include "base/math/vecmath.h"
#include "eval/interval/interval.inc"
#include "eval/tape.h"

/* From the values at the ends of a monotone stretch, within what the function can be. */
static iv between(double lo, double hi, double least, double most)
{
    const iv y = outward(smaller(lo, hi), larger(lo, hi), 4, DBL_MIN);
    return lo != lo || hi != hi ? (iv){least, most}
                                : (iv){larger(y.lo, least), smaller(y.hi, most)};
}

static const double pi = 3.14159265358979323846;

/* May the interval hold a number  at + m period? */
static bool holds_one_of(iv a, double at, double period)
{
    const double slack = 8 * DBL_EPSILON * (larger(fabs(a.lo), fabs(a.hi)) + period);
    return ceil((a.lo - slack - at) / period) <= floor((a.hi + slack - at) / period);
}

/* Beyond this the period is not known well enough, and nobody needs it. */
static const double far = 0x1p40;

static iv sine_like(iv a, double f_lo, double f_hi, double maximum)
{
    if (!(fabs(a.lo) < far) || !(fabs(a.hi) < far) || a.hi - a.lo >= 2 * pi)
        return (iv){-1, 1};
    const iv ends = between(f_lo, f_hi, -1, 1);
    return (iv){holds_one_of(a, maximum + pi, 2 * pi) ? -1 : ends.lo,
                holds_one_of(a, maximum, 2 * pi) ? 1 : ends.hi};
}

static iv sine(iv a)
{
    return sine_like(a, ns_math_sin(a.lo), ns_math_sin(a.hi), pi / 2);
}

static iv cosine(iv a)
{
    return sine_like(a, ns_math_cos(a.lo), ns_math_cos(a.hi), 0);
}

static iv tangent(iv a)
{
    if (!(fabs(a.lo) < far) || !(fabs(a.hi) < far) || a.hi - a.lo >= pi ||
        holds_one_of(a, pi / 2, pi))
        return whole;
    return between(ns_math_tan(a.lo), ns_math_tan(a.hi), -INFINITY, INFINITY);
}

static iv hyperbolic_cosine(iv a)
{
    const double p = ns_math_cosh(a.lo), q = ns_math_cosh(a.hi);
    return between(holds_zero(a) ? 1 : smaller(p, q), larger(p, q), 1, INFINITY);
}

/* Cut to the domain of a function; false if nothing is left. */
static bool cut(iv *a, double lo, double hi)
{
    if (!(a->hi >= lo) || !(a->lo <= hi))
        return false;
    *a = (iv){larger(a->lo, lo), smaller(a->hi, hi)};
    return true;
}

/* Monotone in each argument where a > 0, so that the corners tell all. */
static iv power(iv a, iv b)
{
    const bool whole_number = b.lo == b.hi && b.lo == floor(b.lo);
    if (a.lo < 0 && whole_number) {
        if (b.lo < 0 && holds_zero(a))
            return whole;
        const double p = ns_math_pow(a.lo, b.lo), q = ns_math_pow(a.hi, b.lo);
        const iv ends = outward(smaller(p, q), larger(p, q), 4, DBL_MIN);
        return holds_zero(a) ? hull(ends, b.lo == 0 ? point(1) : zero) : ends;
    }
    if (!cut(&a, 0, INFINITY) || (a.lo == 0 && b.lo < 0))
        return a.hi >= 0 ? (iv){0, INFINITY} : whole;
    const double p = ns_math_pow(a.lo, b.lo), q = ns_math_pow(a.lo, b.hi),
                 r = ns_math_pow(a.hi, b.lo), s = ns_math_pow(a.hi, b.hi);
    if (p != p || q != q || r != r || s != s)
        return (iv){0, INFINITY};
    const iv y = outward(smaller(smaller(p, q), smaller(r, s)),
                         larger(larger(p, q), larger(r, s)), 4, DBL_MIN);
    return (iv){larger(y.lo, 0), y.hi};
}

static iv angle(iv a, iv b)
{
    if (meets_cut(a, b))
        return outward(-pi, pi, 4, 0);
    const double p = ns_math_atan2(a.lo, b.lo), q = ns_math_atan2(a.lo, b.hi),
                 r = ns_math_atan2(a.hi, b.lo), s = ns_math_atan2(a.hi, b.hi);
    return outward(smaller(smaller(p, q), smaller(r, s)), larger(larger(p, q), larger(r, s)), 4,
                   DBL_MIN);
}

static iv absolute(iv a)
{
    return a.lo >= 0 ? a : a.hi <= 0 ? neg(a) : (iv){0, larger(-a.lo, a.hi)};
}

static double sign(double a)
{
    return (double)((a > 0) - (a < 0));
}

static iv root(iv a)
{
    return cut(&a, 0, INFINITY) ? between(sqrt(a.lo), sqrt(a.hi), 0, INFINITY) : whole;
}

ns_interval ns_interval_value(unsigned op, ns_interval a, ns_interval b)
{
    switch (op) {
    case NS_OP_ADD:
        return add(a, b);
    case NS_OP_SUB:
        return sub(a, b);
    case NS_OP_MUL:
        return mul(a, b);
    case NS_TAPE_SQUARE:
        return square(a);
    case NS_OP_DIV:
        return divide(a, b);
    case NS_OP_NEG:
        return neg(a);
    case NS_OP_POW:
        return power(a, b);
    case NS_OP_SQRT:
        return root(a);
    case NS_OP_ABS:
        return absolute(a);
    case NS_OP_SIGN:
        return (iv){sign(a.lo), sign(a.hi)};
    case NS_OP_MIN:
        return (iv){smaller(a.lo, b.lo), smaller(a.hi, b.hi)};
    case NS_OP_MAX:
        return (iv){larger(a.lo, b.lo), larger(a.hi, b.hi)};
    case NS_OP_EXP:
        return between(ns_math_exp(a.lo), ns_math_exp(a.hi), 0, INFINITY);
    case NS_OP_LOG:
        if (!cut(&a, 0, INFINITY))
            return whole;
        return between(ns_math_log(a.lo), ns_math_log(a.hi), -INFINITY, INFINITY);
    case NS_OP_SIN:
        return sine(a);
    case NS_OP_COS:
        return cosine(a);
    case NS_OP_TAN:
        return tangent(a);
    case NS_OP_ASIN:
        return cut(&a, -1, 1) ? between(ns_math_asin(a.lo), ns_math_asin(a.hi), -2, 2) : whole;
    case NS_OP_ACOS:
        return cut(&a, -1, 1) ? between(ns_math_acos(a.lo), ns_math_acos(a.hi), 0, 4) : whole;
    case NS_OP_ATAN:
        return between(ns_math_atan(a.lo), ns_math_atan(a.hi), -2, 2);
    case NS_OP_ATAN2:
        return angle(a, b);
    case NS_OP_SINH:
        return between(ns_math_sinh(a.lo), ns_math_sinh(a.hi), -INFINITY, INFINITY);
    case NS_OP_COSH:
        return hyperbolic_cosine(a);
    case NS_OP_TANH:
        return between(ns_math_tanh(a.lo), ns_math_tanh(a.hi), -1, 1);
    case NS_OP_ASINH:
        return between(ns_math_asinh(a.lo), ns_math_asinh(a.hi), -INFINITY, INFINITY);
    case NS_OP_ACOSH:
        return cut(&a, 1, INFINITY)
                   ? between(ns_math_acosh(a.lo), ns_math_acosh(a.hi), 0, INFINITY)
                   : whole;
    case NS_OP_ATANH:
        return cut(&a, -1, 1)
                   ? between(ns_math_atanh(a.lo), ns_math_atanh(a.hi), -INFINITY, INFINITY)
                   : whole;
    default:
        return whole;
    }
}
