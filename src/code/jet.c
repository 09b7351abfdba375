/* Taylor coefficients through the tape, one pass per order n.
 *
 * Every cell holds order+1 coefficients of powers of (time - t); cells constant in time use the
 * first alone.  Coefficient n of an operation needs coefficients 0..n of its arguments and
 * 0..n-1 of itself (enum ns_taylor).  A linear system M a = b with the LU factors of M_0 gives
 *
 *     M_0 a_n = b_n - sum_{k=1..n} M_k a_{n-k}
 *
 * Recurrences that come from y' = w a' work with derivatives da_k = k a_k, which operations of
 * the same argument share; they are rows of the work block like cells. */
#include "code/jet.h"

#include <math.h>
#include <string.h>

#define NS_LU_REAL double
#define NS_LU_ABS(x) fabs(x)
#define NS_LU_NAME(name) lu_##name
#include "expr/lu.h"

/* What to do at order n > 0.  S stands for an argument constant in time. */
typedef enum rule {
    RULE_ADD,        /* y_n = a_n + b_n */
    RULE_SUB,        /* y_n = a_n - b_n */
    RULE_COPY,       /* y_n = a_n */
    RULE_NEG,        /* y_n = -a_n */
    RULE_SCALE,      /* y_n = S a_n, S the value of b */
    RULE_SHRINK,     /* y_n = a_n / S */
    RULE_MUL,        /* PRODUCT */
    RULE_SQUARE,     /* the same, by symmetry */
    RULE_DIV,        /* QUOTIENT */
    RULE_INVERSE,    /* QUOTIENT with constant a */
    RULE_POWER,      /* POWER */
    RULE_ROOT,       /* ROOT */
    RULE_TIMES,      /* TIMES */
    RULE_MINUS,      /* MINUS_TIMES */
    RULE_OVER,       /* OVER */
    RULE_MINUS_OVER, /* MINUS_OVER */
    RULE_ANGLE,      /* ANGLE */
    RULE_ABS,        /* ABS */
    RULE_SELECT,     /* SELECT */
    RULE_ZERO,       /* y_n = 0 */
    RULE_FACTOR,     /* nothing: the factors of order 0 serve all */
    RULE_SOLVE
} rule;

/* One operation: its cells (FACTOR and SOLVE as in the tape). */
typedef struct jet_op {
    uint16_t op;
    uint16_t rule;
    uint32_t y, a, b, c;
    uint32_t w;      /* companion */
    uint32_t da, db; /* rows of derivatives k a_k, k b_k */
    uint32_t dy;     /* row of k y_k */
} jet_op;

/* A varying entry of a matrix: M_ij is in a cell. */
typedef struct entry {
    uint32_t i, j, cell;
} entry;

typedef struct matrix {
    uint32_t n, first, count; /* its varying entries */
    size_t place;             /* of its factors, in doubles after the rows */
} matrix;

typedef struct derivative {
    uint32_t row, cell;
} derivative;

struct ns_jet {
    const ns_tape *tape;
    jet_op *ops;
    uint32_t nops;
    uint32_t nrows; /* cells, then derivatives */
    matrix *matrices;
    NS_LIST(entry) entries;
    uint32_t zero;      /* a row that is zero but for its first coefficient */
    size_t factor_size; /* doubles */
    uint32_t largest;   /* size of the largest system */
};

/* Companions of every varying operation, and their companions, until nothing is new. */
typedef struct companions {
    ns_arena *arena;
    ns_graph *g;
    NS_LIST(ns_ex) roots;
    ns_ex *of; /* [size] by node */
    uint32_t size;
} companions;

static void mark_varying(const ns_graph *g, const ns_program_spec *spec, bool *varies)
{
    uint32_t size = ns_graph_size(g);
    for (uint32_t i = 0; i < spec->nx; i++)
        varies[spec->x[i]] = true;
    if (spec->time)
        varies[spec->time] = true;
    for (ns_ex e = 1; e < size; e++) {
        const ns_node *node = ns_graph_node(g, e);
        const ns_ex *args = ns_graph_args(g, e);
        for (uint32_t k = 0; k < node->n && !varies[e]; k++)
            varies[e] = varies[args[k]];
    }
}

/* The companion of a varying node e, 0 if it needs none.  A power with a varying exponent is
 * y = exp(c), c = b log a: its companion is c, and y' = y c'. */
static ns_ex companion_of(ns_graph *g, ns_ex e, const bool *varies)
{
    const ns_node *node = ns_graph_node(g, e);
    if (ns_ops[node->op].arity < 0)
        return 0;
    const ns_ex *args = ns_graph_args(g, e);
    ns_ex a = args[0], b = node->n > 1 ? args[1] : 0;
    if (node->op == NS_OP_POW)
        return varies[b] ? ns_mul(g, b, ns_log(g, a)) : 0;
    return ns_ops[node->op].companion(g, e, a, b);
}

static void add_companions(companions *c, const ns_program_spec *spec)
{
    for (uint32_t i = 0; i < spec->nout; i++)
        NS_PUSH(c->arena, c->roots, spec->out[i]);
    ns_ex *of = NULL;
    for (bool more = true; more;) {
        more = false;
        uint32_t size = c->size = ns_graph_size(c->g);
        bool *used = NS_NEW_ARRAY(c->arena, bool, size);
        bool *varies = NS_NEW_ARRAY(c->arena, bool, size);
        of = NS_NEW_ARRAY(c->arena, ns_ex, size);
        ns_graph_mark(c->g, c->roots.at, c->roots.n, used);
        mark_varying(c->g, spec, varies);
        for (ns_ex e = 1; e < size; e++) {
            if (!used[e] || !varies[e])
                continue;
            of[e] = companion_of(c->g, e, varies);
            if (of[e] && (of[e] >= size || !used[of[e]])) {
                NS_PUSH(c->arena, c->roots, of[e]);
                more = true;
            }
        }
    }
    c->of = of;
}

static rule rule_of(const ns_tape_op *op, const bool *varies)
{
    if (op->op == NS_OP_FACTOR)
        return RULE_FACTOR;
    if (op->op == NS_OP_SOLVE)
        return RULE_SOLVE;
    if (op->op == NS_TAPE_SQUARE)
        return RULE_SQUARE;
    bool va = varies[op->a], vb = varies[op->b];
    switch (ns_ops[op->op].taylor) {
    case NS_TAYLOR_LINEAR:
        if (op->op == NS_OP_NEG)
            return RULE_NEG;
        if (va && vb)
            return op->op == NS_OP_ADD ? RULE_ADD : RULE_SUB;
        return va || op->op == NS_OP_ADD ? RULE_COPY : RULE_NEG;
    case NS_TAYLOR_PRODUCT:
        return !va || !vb ? RULE_SCALE : op->a == op->b ? RULE_SQUARE : RULE_MUL;
    case NS_TAYLOR_QUOTIENT:
        return !vb ? RULE_SHRINK : !va ? RULE_INVERSE : RULE_DIV;
    case NS_TAYLOR_POWER:
        return vb ? RULE_TIMES : RULE_POWER;
    case NS_TAYLOR_ROOT:
        return RULE_ROOT;
    case NS_TAYLOR_TIMES:
        return RULE_TIMES;
    case NS_TAYLOR_MINUS_TIMES:
        return RULE_MINUS;
    case NS_TAYLOR_OVER:
        return RULE_OVER;
    case NS_TAYLOR_MINUS_OVER:
        return RULE_MINUS_OVER;
    case NS_TAYLOR_ANGLE:
        return RULE_ANGLE;
    case NS_TAYLOR_ABS:
        return RULE_ABS;
    case NS_TAYLOR_SELECT:
        return RULE_SELECT;
    case NS_TAYLOR_CONSTANT:
    case NS_TAYLOR_NONE:
        break;
    }
    return RULE_ZERO;
}

typedef struct building {
    ns_arena *arena;
    ns_jet *jet;
    uint32_t *row; /* by cell: its row of derivatives, 0 if none */
} building;

/* Rows that hold k a_k are filled by RULE_COPY-like operations placed where a is known. */
static uint32_t derivative_row(building *b, uint32_t cell)
{
    if (!b->row[cell])
        b->row[cell] = b->jet->nrows++;
    return b->row[cell];
}

static void add_matrix(building *b, const ns_tape_op *op)
{
    ns_jet *jet = b->jet;
    const ns_tape *tape = jet->tape;
    uint32_t n = op->b;
    matrix *m = &jet->matrices[op->y];
    *m = (matrix){.n = n, .first = jet->entries.n, .place = jet->factor_size};
    for (uint32_t k = 0; k < n * n; k++) {
        uint32_t cell = tape->args.at[op->a + k];
        if (tape->varies[cell])
            NS_PUSH(b->arena, jet->entries, (entry){.i = k / n, .j = k % n, .cell = cell});
    }
    m->count = jet->entries.n - m->first;
    jet->factor_size += (size_t)n * n + n;
    jet->largest = n > jet->largest ? n : jet->largest;
}

static void add_op(building *b, const ns_tape_op *op, uint32_t companion)
{
    ns_jet *jet = b->jet;
    const bool *varies = jet->tape->varies;
    jet_op *j = &jet->ops[jet->nops++];
    *j = (jet_op){.op = op->op, .y = op->y, .a = op->a, .b = op->b, .c = op->c};
    if (!op->varies) {
        j->rule = RULE_ZERO;
        if (op->op == NS_OP_FACTOR)
            add_matrix(b, op);
        return;
    }
    j->rule = (uint16_t)rule_of(op, varies);
    j->w = companion;
    switch (j->rule) {
    case RULE_FACTOR:
        add_matrix(b, op);
        break;
    case RULE_TIMES:
    case RULE_MINUS:
        if (op->op == NS_OP_POW) {
            j->da = derivative_row(b, companion);
            j->w = op->y;
            j->c = companion;
        } else
            j->da = derivative_row(b, op->a);
        break;
    case RULE_OVER:
    case RULE_MINUS_OVER:
        j->da = derivative_row(b, op->a);
        j->dy = derivative_row(b, op->y);
        break;
    case RULE_ANGLE:
        j->da = varies[op->a] ? derivative_row(b, op->a) : jet->zero;
        j->db = varies[op->b] ? derivative_row(b, op->b) : jet->zero;
        j->dy = derivative_row(b, op->y);
        break;
    default:
        break;
    }
}

ns_jet *ns_jet_build(ns_arena *arena, const ns_program_spec *spec)
{
    companions c = {.arena = arena, .g = spec->graph};
    add_companions(&c, spec);
    uint32_t size = ns_graph_size(spec->graph);
    /* A power with a varying exponent needs coefficient n of its companion; all other rules
     * need lower ones only. */
    ns_ex *before = NS_NEW_ARRAY(arena, ns_ex, size);
    for (ns_ex e = 1; e < c.size; e++)
        before[e] = c.of[e] && ns_graph_op(spec->graph, e) == NS_OP_POW ? c.of[e] : 0;
    ns_jet *jet = NS_NEW(arena, ns_jet);
    const ns_tape *tape = ns_tape_lower(arena, spec, c.roots.at, c.roots.n, before);
    jet->tape = tape;
    jet->zero = tape->ncells;
    jet->nrows = tape->ncells + 1;
    jet->ops = NS_NEW_ARRAY(arena, jet_op, tape->ops.n + 1);
    jet->matrices = NS_NEW_ARRAY(arena, matrix, tape->nfactors + 1);
    building b = {.arena = arena, .jet = jet};
    b.row = NS_NEW_ARRAY(arena, uint32_t, tape->ncells);
    /* companion by cell instead of by node */
    uint32_t *companion = NS_NEW_ARRAY(arena, uint32_t, tape->ncells);
    for (ns_ex e = 1; e < c.size; e++)
        if (c.of[e])
            companion[tape->cell[e]] = tape->cell[c.of[e]];
    for (uint32_t i = 0; i < tape->ops.n; i++) {
        const ns_tape_op *op = &tape->ops.at[i];
        add_op(&b, op, op->op == NS_OP_FACTOR ? 0 : companion[op->y]);
    }
    return jet;
}

size_t ns_jet_work(const ns_jet *jet, uint32_t order)
{
    return (size_t)jet->nrows * (order + 1) + jet->factor_size + jet->largest;
}

/* The work block of one order. */
typedef struct rows {
    const ns_jet *jet;
    double *work;
    size_t stride;
    double *factors, *scratch;
} rows;

static rows rows_of(const ns_jet *jet, double *work, uint32_t order)
{
    rows r = {.jet = jet, .work = work, .stride = (size_t)order + 1};
    r.factors = work + jet->nrows * r.stride;
    r.scratch = r.factors + jet->factor_size;
    return r;
}

static double *row(const rows *r, uint32_t cell)
{
    return r->work + cell * r->stride;
}

static void factor(const rows *r, const jet_op *op)
{
    const matrix *m = &r->jet->matrices[op->y];
    const uint32_t *cells = r->jet->tape->args.at + op->a;
    double *lu = r->factors + m->place;
    for (uint32_t k = 0; k < m->n * m->n; k++)
        lu[k] = *row(r, cells[k]);
    lu_factor(m->n, lu, (unsigned *)(lu + (size_t)m->n * m->n));
}

static void solve(const rows *r, const jet_op *op, uint32_t n)
{
    const matrix *m = &r->jet->matrices[op->c];
    const ns_tape *tape = r->jet->tape;
    const double *lu = r->factors + m->place;
    double *s = r->scratch;
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t cell = tape->args.at[op->a + i];
        s[i] = n == 0 || tape->varies[cell] ? row(r, cell)[n] : 0;
    }
    for (uint32_t e = 0; n > 0 && e < m->count; e++) {
        const entry *M_ij = &r->jet->entries.at[m->first + e];
        const double *M = row(r, M_ij->cell), *a = row(r, op->y + M_ij->j);
        double sum = 0;
        for (uint32_t k = 1; k <= n; k++)
            sum += M[k] * a[n - k];
        s[M_ij->i] -= sum;
    }
    lu_solve(m->n, lu, (const unsigned *)(lu + (size_t)m->n * m->n), s);
    for (uint32_t i = 0; i < m->n; i++)
        row(r, op->y + i)[n] = s[i];
}

/* Order 0: the values. */
static void run_values(const rows *r, uint32_t from, uint32_t to)
{
    for (const jet_op *op = r->jet->ops + from; op < r->jet->ops + to; op++) {
        if (op->op == NS_OP_FACTOR)
            factor(r, op);
        else if (op->op == NS_OP_SOLVE)
            solve(r, op, 0);
        else {
            double a = *row(r, op->a), b = *row(r, op->b);
            *row(r, op->y) = op->op == NS_TAPE_SQUARE ? a * a : ns_ops[op->op].value(a, b);
        }
    }
}

/* sum_{k=from..to} a_k b_{n-k} */
static double convolve(const double *a, const double *b, uint32_t n, uint32_t from, uint32_t to)
{
    double sum = 0;
    for (uint32_t k = from; k <= to; k++)
        sum += a[k] * b[n - k];
    return sum;
}

static double square(const double *a, uint32_t n)
{
    double sum = 2 * convolve(a, a, n, 0, (n - 1) / 2);
    return n % 2 ? sum : sum + a[n / 2] * a[n / 2];
}

static double power(const double *a, const double *y, double b, uint32_t n)
{
    double sum = 0;
    for (uint32_t k = 1; k <= n; k++)
        sum += ((double)k * b - (double)(n - k)) * (a[k] * y[n - k]);
    return sum / ((double)n * a[0]);
}

static double root(const double *a, const double *y, uint32_t n)
{
    double sum = n > 2 ? 2 * convolve(y, y, n, 1, (n - 1) / 2) : 0;
    if (n % 2 == 0)
        sum += y[n / 2] * y[n / 2];
    return (a[n] - sum) / (2 * y[0]);
}

static void run_order(const rows *r, uint32_t n)
{
    const ns_jet *jet = r->jet;
    for (const jet_op *op = jet->ops + jet->tape->nbound; op < jet->ops + jet->nops; op++) {
        if (op->rule == RULE_FACTOR)
            continue;
        if (op->rule == RULE_SOLVE) {
            solve(r, op, n);
            continue;
        }
        double *y = row(r, op->y), *da = row(r, op->da), *dy = row(r, op->dy);
        const double *a = row(r, op->a), *b = row(r, op->b), *w = row(r, op->w);
        switch ((rule)op->rule) {
        case RULE_ADD:
            y[n] = a[n] + b[n];
            break;
        case RULE_SUB:
            y[n] = a[n] - b[n];
            break;
        case RULE_COPY:
            y[n] = jet->tape->varies[op->a] ? a[n] : b[n];
            break;
        case RULE_NEG:
            y[n] = jet->tape->varies[op->a] ? -a[n] : -b[n];
            break;
        case RULE_SCALE:
            y[n] = jet->tape->varies[op->a] ? a[n] * b[0] : a[0] * b[n];
            break;
        case RULE_SHRINK:
            y[n] = a[n] / b[0];
            break;
        case RULE_MUL:
            y[n] = convolve(a, b, n, 0, n);
            break;
        case RULE_SQUARE:
            y[n] = square(a, n);
            break;
        case RULE_DIV:
            y[n] = (a[n] - convolve(b, y, n, 1, n)) / b[0];
            break;
        case RULE_INVERSE:
            y[n] = -convolve(b, y, n, 1, n) / b[0];
            break;
        case RULE_POWER:
            y[n] = power(a, y, b[0], n);
            break;
        case RULE_ROOT:
            y[n] = root(a, y, n);
            break;
        case RULE_TIMES:
            da[n] = n * (op->op == NS_OP_POW ? row(r, op->c)[n] : a[n]);
            y[n] = convolve(da, w, n, 1, n) / n;
            break;
        case RULE_MINUS:
            da[n] = n * a[n];
            y[n] = -convolve(da, w, n, 1, n) / n;
            break;
        case RULE_OVER:
            dy[n] = (n * a[n] - convolve(dy, w, n, 1, n - 1)) / w[0];
            y[n] = dy[n] / n;
            break;
        case RULE_MINUS_OVER:
            dy[n] = -(n * a[n] + convolve(dy, w, n, 1, n - 1)) / w[0];
            y[n] = dy[n] / n;
            break;
        case RULE_ANGLE: {
            double *db = row(r, op->db);
            double sum = 0;
            if (op->da != jet->zero) {
                da[n] = n * a[n];
                sum += op->db != jet->zero ? convolve(da, b, n, 1, n) : da[n] * b[0];
            }
            if (op->db != jet->zero) {
                db[n] = n * b[n];
                sum -= op->da != jet->zero ? convolve(db, a, n, 1, n) : db[n] * a[0];
            }
            dy[n] = (sum - convolve(dy, w, n, 1, n - 1)) / w[0];
            y[n] = dy[n] / n;
            break;
        }
        case RULE_ABS:
            y[n] = ns_sgn(a[0]) * a[n];
            break;
        case RULE_SELECT: {
            bool first = y[0] == a[0];
            y[n] = jet->tape->varies[first ? op->a : op->b] ? (first ? a[n] : b[n]) : 0;
            break;
        }
        default:
            y[n] = 0;
        }
    }
}

void ns_jet_bind(const ns_jet *jet, double *work, uint32_t order, const double *p)
{
    const ns_tape *tape = jet->tape;
    rows r = rows_of(jet, work, order);
    for (uint32_t i = 0; i < tape->constants.n; i++)
        *row(&r, tape->constants.at[i].cell) = tape->constants.at[i].hi;
    for (uint32_t i = 0; i < tape->np; i++)
        if (tape->param[i] != NS_TAPE_NONE)
            *row(&r, tape->param[i]) = p[i];
    run_values(&r, 0, tape->nbound);
}

static void set_time(const rows *r, double t, uint32_t order)
{
    double *row_t = row(r, r->jet->tape->nx);
    row_t[0] = t;
    for (uint32_t k = 1; k <= order; k++)
        row_t[k] = k == 1;
}

/* out_k[i], 0 for coefficients of constants */
static double coefficient(const rows *r, uint32_t cell, uint32_t k)
{
    return k == 0 || r->jet->tape->varies[cell] ? row(r, cell)[k] : 0;
}

void ns_jet_solve(const ns_jet *jet, double *work, double t, uint32_t order, double *x)
{
    const ns_tape *tape = jet->tape;
    rows r = rows_of(jet, work, order);
    set_time(&r, t, order);
    for (uint32_t i = 0; i < tape->nx; i++)
        *row(&r, i) = x[i * r.stride];
    for (uint32_t n = 0; n < order; n++) {
        if (n == 0)
            run_values(&r, tape->nbound, jet->nops);
        else
            run_order(&r, n);
        for (uint32_t i = 0; i < tape->nx; i++)
            row(&r, i)[n + 1] = coefficient(&r, tape->out[i], n) / (n + 1);
    }
    memcpy(x, work, tape->nx * r.stride * sizeof *x);
}

void ns_jet_eval(const ns_jet *jet, double *work, double t, uint32_t order, const double *x,
                 double *out)
{
    const ns_tape *tape = jet->tape;
    rows r = rows_of(jet, work, order);
    set_time(&r, t, order);
    memcpy(work, x, tape->nx * r.stride * sizeof *x);
    run_values(&r, tape->nbound, jet->nops);
    for (uint32_t n = 1; n <= order; n++)
        run_order(&r, n);
    for (uint32_t i = 0; i < tape->nout; i++)
        for (uint32_t k = 0; k <= order; k++)
            out[i * r.stride + k] = coefficient(&r, tape->out[i], k);
}
