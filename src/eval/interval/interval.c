/* Enclosures on the tape: see interval.h.
 *
 * One operation after the other, each with all its coefficients: a row of order + 1 intervals
 * for every cell.  The recurrences are those of ops.h; companions are made where they are
 * needed, in two rows of scratch.  The first coefficient is the range of the operation
 * (interval_value.c). */
#include <string.h>

#include "base/check.h"
#include "base/math/vecmath.h"
#include "eval/engine.h"
#include "eval/interval/interval.inc"
#include "eval/tape.h"

double ns_interval_size(ns_interval a)
{
    return ns_max(fabs(a.lo), fabs(a.hi));
}

/* ---- coefficients ------------------------------------------------------------------------ */

/* sum of w_k a_k b_(n-k), k = from .. to, with w_k = k or 1.  Rounding errors of all products
 * and sums are made good at the end, by the sizes of the products. */
static iv convolve_weighted(const iv *a, const iv *b, uint32_t n, uint32_t from, uint32_t to,
                            bool weighted)
{
    double lo = 0, hi = 0, size = 0;
    to = to < n ? to : n;
    while (to > from && is_zero(a[to])) /* polynomials in time have few coefficients */
        to--;
    for (uint32_t k = from; k <= to; k++) {
        const iv c = a[k], d = b[n - k];
        const double p = c.lo * d.lo, q = c.lo * d.hi, r = c.hi * d.lo, s = c.hi * d.hi;
        const double w = weighted ? k : 1;
        const double least = w * smaller(smaller(p, q), smaller(r, s)),
                     most = w * larger(larger(p, q), larger(r, s));
        lo += least;
        hi += most;
        size += larger(-least, most) + (p - p) + (q - q) + (r - r) + (s - s);
    }
    if (size > 0 && size <= DBL_MAX) {
        const double off = (n + 4) * (DBL_EPSILON * size + (n + 1) * DBL_MIN);
        return (iv){lo - off, hi + off};
    }
    iv sum = zero; /* nothing but zeros, or infinities among them */
    for (uint32_t k = from; k <= to; k++)
        sum = add(sum, scale(mul(a[k], b[n - k]), weighted ? k : 1));
    return sum;
}

static iv convolve(const iv *a, const iv *b, uint32_t n, uint32_t from, uint32_t to)
{
    return convolve_weighted(a, b, n, from, to, false);
}

/* The same of k a_k b_(n-k), over n: the coefficient n of the integral of a' b. */
static iv convolve_rate(const iv *a, const iv *b, uint32_t n, uint32_t from, uint32_t to)
{
    return divide(convolve_weighted(a, b, n, from, to, true), point(n));
}

/* y_n of y = a^2, of y = sqrt(a), given those before */
static iv next_square(const iv *a, uint32_t n)
{
    iv sum = scale(convolve(a, a, n, 0, (n - 1) / 2), 2);
    return n % 2 ? sum : add(sum, square(a[n / 2]));
}

static iv next_root(const iv *a, const iv *y, uint32_t n)
{
    return divide(sub(a[n], convolve(y, y, n, 1, n - 1)), scale(y[0], 2));
}

/* w = sign a^2 + one, all coefficients */
static void fill_square(const iv *a, double by, uint32_t order, iv *w)
{
    w[0] = add(scale(square(a[0]), by), point(1));
    for (uint32_t n = 1; n <= order; n++)
        w[n] = scale(next_square(a, n), by);
}

/* The companion of w y' = a'. */
static void fill_divisor(unsigned op, const iv *a, const iv *b, uint32_t order, iv *w,
                         iv *other)
{
    if (op == NS_OP_LOG) {
        memcpy(w, a, (order + 1) * sizeof *w);
        return;
    }
    if (op == NS_OP_ATAN2) {
        for (uint32_t n = 0; n <= order; n++)
            w[n] = n ? add(next_square(a, n), next_square(b, n))
                     : add(square(a[0]), square(b[0]));
        return;
    }
    const bool rooted = op != NS_OP_ATAN && op != NS_OP_ATANH;
    iv *inside = rooted ? other : w;
    fill_square(a, op == NS_OP_ATAN || op == NS_OP_ASINH || op == NS_OP_ACOSH ? 1 : -1, order,
                inside);
    if (op == NS_OP_ACOSH) /* (a - 1)(a + 1) */
        inside[0] = mul(sub(a[0], point(1)), add(a[0], point(1)));
    for (uint32_t n = 0; n <= order && rooted; n++)
        w[n] = n ? next_root(inside, w, n)
                 : ns_interval_value(NS_OP_SQRT, inside[0], inside[0]);
}

/* y' = w a' with a companion that follows from y, or goes along with it */
static void fill_times(unsigned op, const iv *a, uint32_t order, iv *y, iv *w)
{
    const double way = op == NS_OP_COS ? -1 : 1;  /* y' = way w a' */
    const double back = op == NS_OP_SIN ? -1 : 1; /* w' = back y a' */
    const bool goes_along = op == NS_OP_SIN || op == NS_OP_COS || op == NS_OP_SINH ||
                            op == NS_OP_COSH;
    w[0] = op == NS_OP_SIN    ? ns_interval_value(NS_OP_COS, a[0], a[0])
           : op == NS_OP_COS  ? ns_interval_value(NS_OP_SIN, a[0], a[0])
           : op == NS_OP_SINH ? ns_interval_value(NS_OP_COSH, a[0], a[0])
           : op == NS_OP_COSH ? ns_interval_value(NS_OP_SINH, a[0], a[0])
           : op == NS_OP_TAN  ? add(square(y[0]), point(1))
           : op == NS_OP_TANH ? sub(point(1), square(y[0]))
                              : y[0];
    if (op == NS_OP_TANH) /* 1 - y^2 >= 0 loses its digits at the wings; 1/cosh^2 does not */
        w[0] = divide(point(1), square(ns_interval_value(NS_OP_COSH, a[0], a[0])));
    for (uint32_t n = 1; n <= order; n++) {
        y[n] = scale(convolve_rate(a, w, n, 1, n), way);
        if (goes_along)
            w[n] = scale(convolve_rate(a, y, n, 1, n), back);
        else
            w[n] = op == NS_OP_EXP    ? y[n]
                   : op == NS_OP_TANH ? neg(next_square(y, n))
                                      : next_square(y, n);
    }
}

/* y = a^b, b constant */
static iv next_power(const iv *a, iv b, const iv *y, uint32_t n)
{
    iv sum = zero;
    for (uint32_t k = 1; k <= n; k++)
        sum = add(sum, mul(sub(scale(b, k), point(n - k)), mul(a[k], y[n - k])));
    return divide(sum, scale(a[0], n));
}

/* The same with an exponent that varies: y' = c' y, c = b log a. */
static void fill_power(const iv *a, const iv *b, uint32_t order, iv *y, iv *logarithm, iv *c)
{
    logarithm[0] = ns_interval_value(NS_OP_LOG, a[0], a[0]);
    c[0] = mul(b[0], logarithm[0]);
    for (uint32_t n = 1; n <= order; n++) {
        logarithm[n] = divide(sub(a[n], convolve_rate(logarithm, a, n, 1, n - 1)), a[0]);
        c[n] = convolve(b, logarithm, n, 0, n);
        y[n] = convolve_rate(c, y, n, 1, n);
    }
}

static void unknown(iv *y, uint32_t from, uint32_t order)
{
    for (uint32_t n = from; n <= order; n++)
        y[n] = whole;
}

/* y takes a where `first`, b where not: for certain, or one cannot tell. */
static void choose(const iv *a, const iv *b, uint32_t order, bool first, bool certain, iv *y)
{
    for (uint32_t n = 1; n <= order; n++)
        y[n] = certain ? (first ? a[n] : b[n]) : n == 1 ? hull(a[n], b[n]) : whole;
}

static void fill_kinked(unsigned op, const iv *a, const iv *b, uint32_t order, iv *y)
{
    if (op == NS_OP_SIGN) {
        const bool certain = a[0].lo > 0 || a[0].hi < 0 || is_zero(a[0]);
        for (uint32_t n = 1; n <= order; n++)
            y[n] = certain ? zero : whole;
        return;
    }
    if (op == NS_OP_ABS) {
        for (uint32_t n = 1; n <= order; n++)
            y[n] = a[0].lo >= 0   ? a[n]
                   : a[0].hi <= 0 ? neg(a[n])
                   : n == 1       ? hull(a[n], neg(a[n]))
                                  : whole;
        return;
    }
    const bool below = a[0].hi<b[0].lo, above = a[0].lo> b[0].hi;
    choose(a, b, order, op == NS_OP_MIN ? below : above, below || above, y);
}

static bool constant(const iv *a, uint32_t order)
{
    for (uint32_t n = 1; n <= order; n++)
        if (!is_zero(a[n]))
            return false;
    return true;
}

static void fill_row(const ns_tape_op *op, const iv *a, const iv *b, uint32_t order, iv *y,
                     iv *w, iv *other)
{
    y[0] = ns_interval_value(op->op == NS_OP_MUL && op->a == op->b ? NS_TAPE_SQUARE : op->op,
                             a[0], b[0]);
    if (order == 0)
        return;
    if (op->op == NS_TAPE_SQUARE || (op->op == NS_OP_MUL && op->a == op->b)) {
        for (uint32_t n = 1; n <= order; n++)
            y[n] = next_square(a, n);
        return;
    }
    switch (ns_ops[op->op].taylor) {
    case NS_TAYLOR_LINEAR:
        for (uint32_t n = 1; n <= order; n++)
            y[n] = ns_interval_value(op->op, a[n], b[n]);
        break;
    case NS_TAYLOR_PRODUCT:
        for (uint32_t n = 1; n <= order; n++)
            y[n] = convolve(a, b, n, 0, n);
        break;
    case NS_TAYLOR_QUOTIENT:
        for (uint32_t n = 1; n <= order; n++)
            y[n] = divide(sub(a[n], convolve(b, y, n, 1, n)), b[0]);
        break;
    case NS_TAYLOR_POWER:
        if (!constant(b, order)) {
            fill_power(a, b, order, y, w, other);
            break;
        }
        for (uint32_t n = 1; n <= order; n++)
            y[n] = next_power(a, b[0], y, n);
        break;
    case NS_TAYLOR_ROOT:
        for (uint32_t n = 1; n <= order; n++)
            y[n] = next_root(a, y, n);
        break;
    case NS_TAYLOR_TIMES:
    case NS_TAYLOR_MINUS_TIMES:
        fill_times(op->op, a, order, y, w);
        break;
    case NS_TAYLOR_OVER:
    case NS_TAYLOR_MINUS_OVER:
        fill_divisor(op->op, a, b, order, w, other);
        for (uint32_t n = 1; n <= order; n++) {
            const iv rate = op->op == NS_OP_ACOS ? neg(a[n]) : a[n];
            y[n] = divide(sub(rate, convolve_rate(y, w, n, 1, n - 1)), w[0]);
        }
        break;
    case NS_TAYLOR_ANGLE:
        fill_divisor(op->op, a, b, order, w, other);
        for (uint32_t n = 1; n <= order; n++) {
            const iv rate = sub(convolve_rate(a, b, n, 1, n), convolve_rate(b, a, n, 1, n));
            y[n] = divide(sub(rate, convolve_rate(y, w, n, 1, n - 1)), w[0]);
        }
        if (meets_cut(a[0], b[0]))
            unknown(y, 1, order);
        break;
    case NS_TAYLOR_ABS:
    case NS_TAYLOR_SELECT:
    case NS_TAYLOR_CONSTANT:
        fill_kinked(op->op, a, b, order, y);
        break;
    default:
        unknown(y, 1, order);
    }
}

/* ---- linear systems ---------------------------------------------------------------------- */

/* The factors of a matrix: n x n intervals by rows (those of U on and above the diagonal), rows
 * in the order of their pivots, and whether all pivots differ from 0. */
typedef struct factors {
    double entries; /* place of the entries among the tape's args */
    double regular;
    iv lu[];
} factors;

static size_t factors_size(uint32_t n)
{
    return 2 + 2 * (size_t)n * n + n;
}

static double *rows_of(factors *f, uint32_t n)
{
    return (double *)(f->lu + (size_t)n * n);
}

/* The least absolute value: a pivot must keep away from 0. */
static double distance(iv a)
{
    return holds_zero(a) ? 0 : smaller(fabs(a.lo), fabs(a.hi));
}

static void factor(uint32_t n, factors *f)
{
    double *row = rows_of(f, n);
    iv *M = f->lu;
    f->regular = 1;
    for (uint32_t i = 0; i < n; i++)
        row[i] = i;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t best = k;
        for (uint32_t i = k + 1; i < n; i++)
            if (distance(M[(size_t)i * n + k]) > distance(M[(size_t)best * n + k]))
                best = i;
        if (!(distance(M[(size_t)best * n + k]) > 0)) {
            f->regular = 0;
            return;
        }
        for (uint32_t j = 0; j < n && best != k; j++) {
            const iv swap = M[(size_t)best * n + j];
            M[(size_t)best * n + j] = M[(size_t)k * n + j];
            M[(size_t)k * n + j] = swap;
        }
        const double swap = row[best];
        row[best] = row[k];
        row[k] = swap;
        for (uint32_t i = k + 1; i < n; i++) {
            iv *lower = M + (size_t)i * n;
            lower[k] = divide(lower[k], M[(size_t)k * n + k]);
            for (uint32_t j = k + 1; j < n; j++)
                lower[j] = sub(lower[j], mul(lower[k], M[(size_t)k * n + j]));
        }
    }
}

/* x[i*stride] from the right-hand side b[i] */
static void solve(uint32_t n, factors *f, const iv *b, iv *x, size_t stride)
{
    const double *row = rows_of(f, n);
    for (uint32_t i = 0; i < n; i++) {
        iv sum = f->regular != 0 ? b[(size_t)row[i]] : whole;
        for (uint32_t j = 0; j < i && f->regular != 0; j++)
            sum = sub(sum, mul(f->lu[(size_t)i * n + j], x[j * stride]));
        x[i * stride] = sum;
    }
    for (uint32_t i = n; i-- > 0 && f->regular != 0;) {
        iv sum = x[i * stride];
        for (uint32_t j = i + 1; j < n; j++)
            sum = sub(sum, mul(f->lu[(size_t)i * n + j], x[j * stride]));
        x[i * stride] = divide(sum, f->lu[(size_t)i * n + i]);
    }
}

/* ---- the tape ---------------------------------------------------------------------------- */

/* The work block: rows of the cells, two rows of scratch, a right-hand side, the matrices. */
typedef struct block {
    const ns_tape *tape;
    uint32_t order;
    iv *cells, *scratch, *b;
    double *matrices;
} block;

static uint32_t largest(const ns_tape *tape)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < tape->nfactors; i++)
        n = tape->factor_n[i] > n ? tape->factor_n[i] : n;
    return n;
}

static block arrange(const ns_program *program, double *work, uint32_t order)
{
    block k = {.tape = ns_program_tape(program), .order = order, .cells = (iv *)work};
    k.scratch = k.cells + (size_t)k.tape->ncells * (order + 1);
    k.b = k.scratch + 2 * ((size_t)order + 1);
    k.matrices = (double *)(k.b + largest(k.tape));
    return k;
}

size_t ns_interval_work(const ns_program *program, uint32_t order)
{
    const ns_tape *tape = ns_program_tape(program);
    size_t doubles = 2 * (((size_t)tape->ncells + 2) * (order + 1) + largest(tape));
    for (uint32_t i = 0; i < tape->nfactors; i++)
        doubles += factors_size(tape->factor_n[i]);
    return doubles;
}

static iv *row_of(const block *k, uint32_t cell)
{
    return k->cells + (size_t)cell * (k->order + 1);
}

static factors *matrix(const block *k, uint32_t number)
{
    double *at = k->matrices;
    for (uint32_t i = 0; i < number; i++)
        at += factors_size(k->tape->factor_n[i]);
    return (factors *)at;
}

static void run_factor(const block *k, const ns_tape_op *op)
{
    const uint32_t n = op->b;
    factors *f = matrix(k, op->y);
    f->entries = op->a;
    for (uint32_t i = 0; i < n * n; i++)
        f->lu[i] = row_of(k, k->tape->args.at[op->a + i])[0];
    factor(n, f);
}

/* M_0 x_m = b_m - sum_{j=1..m} M_j x_(m-j) */
static void run_solve(const block *k, const ns_tape_op *op, uint32_t order)
{
    const uint32_t n = op->b;
    factors *f = matrix(k, op->c);
    const uint32_t *entry = k->tape->args.at + (size_t)f->entries;
    for (uint32_t m = 0; m <= order; m++) {
        for (uint32_t i = 0; i < n; i++) {
            k->b[i] = row_of(k, k->tape->args.at[op->a + i])[m];
            for (uint32_t j = 0; j < n && m; j++)
                k->b[i] = sub(k->b[i], convolve(row_of(k, entry[i * n + j]),
                                                row_of(k, op->y + j), m, 1, m));
        }
        solve(n, f, k->b, row_of(k, op->y) + m, (size_t)k->order + 1);
    }
}

static void run(const block *k, uint32_t from, uint32_t to, uint32_t order)
{
    for (uint32_t i = from; i < to; i++) {
        const ns_tape_op *op = &k->tape->ops.at[i];
        if (op->op == NS_OP_FACTOR)
            run_factor(k, op);
        else if (op->op == NS_OP_SOLVE)
            run_solve(k, op, order);
        else
            fill_row(op, row_of(k, op->a), row_of(k, op->b), order, row_of(k, op->y),
                     k->scratch, k->scratch + k->order + 1);
    }
}

void ns_interval_bind(const ns_program *program, double *work, uint32_t order, const double *p)
{
    NS_CHECK(work);
    const block k = arrange(program, work, order);
    memset(work, 0, ns_interval_work(program, order) * sizeof *work);
    for (uint32_t i = 0; i < k.tape->constants.n; i++) {
        const ns_tape_constant *c = &k.tape->constants.at[i];
        row_of(&k, c->cell)[0] = c->lo == 0       ? point(c->hi)
                                 : c->hi == c->hi ? outward(c->hi, c->hi, 1, 0)
                                                  : whole;
    }
    for (uint32_t i = 0; i < k.tape->np; i++)
        if (k.tape->param[i] != NS_TAPE_NONE)
            row_of(&k, k.tape->param[i])[0] = p[i] == p[i] ? point(p[i]) : whole;
    run(&k, 0, k.tape->nbound, 0);
}

static void eval(const ns_program *program, double *work, uint32_t order, ns_interval t,
                 double unit, const ns_interval *x, ns_interval *out)
{
    const block k = arrange(program, work, order);
    const size_t width = (size_t)order + 1;
    if (x)
        memcpy(k.cells, x, k.tape->nx * width * sizeof *x);
    iv *time = row_of(&k, k.tape->nx);
    memset(time, 0, width * sizeof *time);
    time[0] = t;
    if (order)
        time[1] = point(unit);
    run(&k, k.tape->nbound, k.tape->ops.n, order);
    for (uint32_t i = 0; i < k.tape->nout; i++)
        memcpy(out + i * width, row_of(&k, k.tape->out[i]), width * sizeof *out);
}

void ns_interval_eval(const ns_program *program, double *work, uint32_t order, ns_interval t,
                      const ns_interval *x, ns_interval *out)
{
    NS_CHECK(t.lo <= t.hi);
    NS_CHECK(out || !ns_program_nout(program));
    eval(program, work, order, t, 1, x, out);
}

void ns_interval_series(const ns_program *program, double *work, uint32_t order, ns_interval t,
                        double unit, ns_interval *out)
{
    NS_CHECK(unit > 0);
    NS_CHECK(ns_program_nx(program) == 0);
    eval(program, work, order, t, unit, NULL, out);
}
