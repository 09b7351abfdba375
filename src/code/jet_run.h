/* One order of all jets, a template: included once per instruction set with NS_WIDTH, the number
 * of doubles in its vectors, 2 or 4.
 *
 * Convolutions sum_{k=1..n-1} a_k b_{n-k} run in four partial sums whatever the width: a quarter
 * of the additions wait for each other, roundoff grows with a quarter of the terms, and all
 * instruction sets give the same bits.  The last four products are masked instead of counted,
 * since all convolutions of one order have the same length and then the processor has no jump to
 * guess.
 *
 * Terms with the two latest coefficients are added one by one: those with a_n, b_n come from the
 * dense array; coefficient n-1 may still be on its way to memory, and a vector loaded around it
 * would have to wait until it has arrived. */
#ifdef NS_WIDTH

#include <math.h>
#include <stdint.h>

#include "code/jet_internal.h"

#define NS_LU_REAL double
#define NS_LU_ABS(x) fabs(x)
#define NS_LU_NAME(name) lu_##name
#include "expr/lu.inc"

enum { FOUR = 4, PARTS = FOUR / NS_WIDTH };

typedef double vector __attribute__((vector_size(8 * NS_WIDTH)));
typedef int64_t mask __attribute__((vector_size(8 * NS_WIDTH)));
typedef double unaligned __attribute__((vector_size(8 * NS_WIDTH), aligned(8), may_alias));

typedef struct four {
    vector part[PARTS];
} four;

/* How long the convolutions of this order are: chunks of four, the last one masked. */
typedef struct length {
    uint32_t chunks;
    mask last[PARTS];
} length;

typedef struct pass {
    uint32_t n;
    length full, half; /* k = 2 .. n-2;  k = 2 .. (n-1)/2 */
    const double *rows;
    size_t stride;
} pass;

static length length_of(uint32_t count)
{
    length l = {.chunks = (count + FOUR - 1) / FOUR};
    for (uint32_t i = 0; i < FOUR; i++)
        l.last[i / NS_WIDTH][i % NS_WIDTH] = l.chunks * FOUR - count < FOUR - i ? -1 : 0;
    return l;
}

static inline vector reversed(vector v)
{
#ifdef __clang__
#if NS_WIDTH == 4
    return __builtin_shufflevector(v, v, 3, 2, 1, 0);
#else
    return __builtin_shufflevector(v, v, 1, 0);
#endif
#else
#if NS_WIDTH == 4
    return __builtin_shuffle(v, (mask){3, 2, 1, 0});
#else
    return __builtin_shuffle(v, (mask){1, 0});
#endif
#endif
}

/* sum += (or -=) sum_{k=2..} a_k b_{n-k} over a length */
static inline void convolve(const pass *p, const length *l, uint32_t row_a, uint32_t row_b,
                            bool minus, four *sum)
{
    const double *a = p->rows + row_a * p->stride + 1;        /* a_2 */
    const double *b = p->rows + row_b * p->stride + p->n - 3; /* b_{n-2} */
    for (uint32_t chunk = l->chunks; chunk > 0; chunk--, a += FOUR, b -= FOUR)
        for (int i = 0; i < PARTS; i++) {
            const vector forward = *(const unaligned *)(a + i * NS_WIDTH);
            const vector backward = *(const unaligned *)(b - i * NS_WIDTH - (NS_WIDTH - 1));
            vector product = forward * reversed(backward);
            if (chunk == 1)
                product = (vector)((mask)product & l->last[i]);
            sum->part[i] = minus ? sum->part[i] - product : sum->part[i] + product;
        }
}

static inline double total(const four *sum)
{
#if NS_WIDTH == 4
    const vector s = sum->part[0];
    return (s[0] + s[2]) + (s[1] + s[3]);
#else
    const vector s = sum->part[0] + sum->part[1];
    return s[0] + s[1];
#endif
}

/* a_1 b_{n-1} + a_{n-1} b_1, or a_1 b_1 for n = 2 */
static inline double edges(const pass *p, uint32_t row_a, uint32_t row_b)
{
    const double *a = p->rows + row_a * p->stride, *b = p->rows + row_b * p->stride;
    const uint32_t last = p->n - 2;
    return p->n > 2 ? a[0] * b[last] + a[last] * b[0] : p->n == 2 ? a[0] * b[0] : 0;
}

/* sum_{k=1..n-1} a_k b_{n-k} */
static inline double middle(const pass *p, uint32_t a, uint32_t b)
{
    four sum = {0};
    convolve(p, &p->full, a, b, false, &sum);
    return total(&sum) + edges(p, a, b);
}

/* The first and the middle term of a square: 2 a_1 a_{n-1} + a_{n/2}^2. */
static inline double square_edges(const pass *p, uint32_t row)
{
    const double *a = p->rows + row * p->stride;
    const double centre = p->n % 2 ? 0 : a[p->n / 2 - 1];
    return (p->n > 2 ? 2 * a[0] * a[p->n - 2] : 0) + centre * centre;
}

/* sum_{k=1..n-1} a_k a_{n-k} by symmetry */
static inline double middle_square(const pass *p, uint32_t a)
{
    four sum = {0};
    convolve(p, &p->half, a, a, false, &sum);
    return 2 * total(&sum) + square_edges(p, a);
}

static double sum_of_terms(const ns_jet *jet, const ns_jet_work_block *work, const pass *p,
                           const ns_jet_op *op)
{
    const ns_jet_term *term = jet->terms.at + op->first, *end = term + op->count;
    double ends = 0;
    four sum = {0};
    for (; term < end && !term->b.row && !term->a.row; term++)
        ends += term->sign * work->latest[term->a.cell];
    for (; term < end && term->a.row == term->b.row; term++) {
        convolve(p, &p->half, term->a.row, term->a.row, term->sign < 0, &sum);
        const double a_0 = work->value[term->a.cell], a_n = work->latest[term->a.cell];
        ends += term->sign * (2 * a_0 * a_n + square_edges(p, term->a.row));
    }
    for (int i = 0; i < PARTS; i++)
        sum.part[i] += sum.part[i]; /* squares were summed half */
    for (; term < end; term++) {
        convolve(p, &p->full, term->a.row, term->b.row, term->sign < 0, &sum);
        ends += term->sign * (work->value[term->a.cell] * work->latest[term->b.cell] +
                              work->latest[term->a.cell] * work->value[term->b.cell] +
                              edges(p, term->a.row, term->b.row));
    }
    return total(&sum) + ends;
}

static double power(const pass *p, const ns_jet_work_block *work, const ns_jet_op *op)
{
    const double *a = p->rows + op->a.row * p->stride - 1;
    const double *y = p->rows + op->y.row * p->stride - 1;
    const double b = work->value[op->b.cell], n = p->n;
    double sum = n * b * (work->latest[op->a.cell] * work->value[op->y.cell]);
    for (uint32_t k = 1; k < p->n; k++)
        sum += (k * b - (n - k)) * (a[k] * y[p->n - k]);
    return sum / (n * work->value[op->a.cell]);
}

static void solve(const ns_jet *jet, const ns_jet_work_block *work, const pass *p,
                  const ns_jet_op *op)
{
    const ns_jet_matrix *m = &jet->matrices[op->matrix];
    const uint32_t *b = jet->tape->args.at + op->first;
    const double *lu = work->factors + m->place;
    const ns_jet_entry *M = jet->entries.at + m->first, *end = M + m->count;
    double *s = work->scratch;
    for (uint32_t i = 0; i < m->n; i++) {
        double ends = work->latest[b[i]];
        four sum = {0};
        for (; M < end && M->i == i; M++) {
            convolve(p, &p->full, M->M.row, op->y.row + M->j, true, &sum);
            ends -= work->latest[M->M.cell] * work->value[op->y.cell + M->j] +
                    edges(p, M->M.row, op->y.row + M->j);
        }
        s[i] = ends + total(&sum);
    }
    lu_solve(m->n, lu, (const unsigned *)(lu + (size_t)m->n * m->n), s);
    for (uint32_t i = 0; i < m->n; i++)
        work->latest[op->y.cell + i] = s[i];
}

/* w y' = b a' - a b' */
static double angle(const pass *p, const ns_jet_work_block *work, const ns_jet_op *op)
{
    const double n = p->n;
    const double da = n * work->latest[op->a.cell], db = n * work->latest[op->b.cell];
    four sum = {0};
    convolve(p, &p->full, op->da.row, op->b.row, false, &sum);
    convolve(p, &p->full, op->db.row, op->a.row, true, &sum);
    convolve(p, &p->full, op->dy.row, op->w.row, true, &sum);
    work->latest[op->da.cell] = da;
    work->latest[op->db.cell] = db;
    const double ends = da * work->value[op->b.cell] - db * work->value[op->a.cell] +
                        (edges(p, op->da.row, op->b.row) - edges(p, op->db.row, op->a.row) -
                         edges(p, op->dy.row, op->w.row));
    return (ends + total(&sum)) / work->value[op->w.cell];
}

static void run(const ns_jet *jet, const ns_jet_work_block *work, uint32_t order)
{
    const pass p = {.n = order,
                    .full = length_of(order > 3 ? order - 3 : 0),
                    .half = length_of(order > 4 ? (order - 1) / 2 - 1 : 0),
                    .rows = work->rows,
                    .stride = work->stride};
    const double n = order;
    const double *value = work->value;
    double *latest = work->latest;
    const ns_jet_op *const end = jet->ops.at + jet->ops.n;
    for (const ns_jet_op *op = jet->ops.at; op < end; op++) {
        const double a_n = latest[op->a.cell], b_n = latest[op->b.cell];
        const double a_0 = value[op->a.cell], b_0 = value[op->b.cell];
        double y_n = 0;
        switch ((ns_jet_rule)op->rule) {
        case NS_JET_ADD:
            y_n = a_n + b_n;
            break;
        case NS_JET_SUB:
            y_n = a_n - b_n;
            break;
        case NS_JET_NEG:
            y_n = -a_n;
            break;
        case NS_JET_SCALE:
            y_n = a_n * b_0;
            break;
        case NS_JET_SHRINK:
            y_n = a_n / b_0;
            break;
        case NS_JET_MUL:
            y_n = middle(&p, op->a.row, op->b.row) + (a_0 * b_n + a_n * b_0);
            break;
        case NS_JET_SQUARE:
            y_n = middle_square(&p, op->a.row) + 2 * a_0 * a_n;
            break;
        case NS_JET_SUM:
            y_n = sum_of_terms(jet, work, &p, op);
            break;
        case NS_JET_DIV:
            y_n = middle(&p, op->b.row, op->y.row) + b_n * value[op->y.cell];
            y_n = (a_n - y_n) / b_0;
            break;
        case NS_JET_POWER:
            y_n = power(&p, work, op);
            break;
        case NS_JET_ROOT:
            y_n = (a_n - middle_square(&p, op->y.row)) / (2 * value[op->y.cell]);
            break;
        case NS_JET_TIMES:
        case NS_JET_MINUS_TIMES:
            latest[op->da.cell] = n * a_n;
            y_n = middle(&p, op->da.row, op->w.row) + n * a_n * value[op->w.cell];
            y_n = (op->rule == NS_JET_TIMES ? y_n : -y_n) / n;
            break;
        case NS_JET_OVER:
        case NS_JET_MINUS_OVER: {
            const double da = op->rule == NS_JET_OVER ? n * a_n : -(n * a_n);
            const double dy = (da - middle(&p, op->dy.row, op->w.row)) / value[op->w.cell];
            latest[op->dy.cell] = dy;
            y_n = dy / n;
            break;
        }
        case NS_JET_ANGLE: {
            const double dy = angle(&p, work, op);
            latest[op->dy.cell] = dy;
            y_n = dy / n;
            break;
        }
        case NS_JET_ABS:
            y_n = ns_sgn(a_0) * a_n;
            break;
        case NS_JET_SELECT:
            y_n = value[op->y.cell] == a_0 ? a_n : b_n;
            break;
        case NS_JET_ZERO:
            break;
        case NS_JET_SOLVE:
            solve(jet, work, &p, op);
            continue;
        }
        latest[op->y.cell] = y_n;
    }
    for (uint32_t row = 1; row < jet->rows.n; row++)
        work->rows[row * work->stride + order - 1] = latest[jet->rows.at[row]];
}

#endif
