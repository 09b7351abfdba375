/* Jets: preparing and driving them.
 *
 * Taylor coefficients of powers of (time - t) go through the tape one order n at a time.
 * Coefficient n of an operation needs coefficients 0..n of its arguments and 0..n-1 of itself
 * (enum ns_taylor).  A linear system M a = b with the LU factors of M_0 gives
 *
 *     M_0 a_n = b_n - sum_{k=1..n} M_k a_{n-k}
 *
 * Order 0 is the tape itself.  For the others the tape is turned into ns_jet_op: sums of
 * products used nowhere else become one operation, so that their convolutions need one
 * horizontal sum. */
#include "eval/jet/jet.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "eval/engine.h"
#include "eval/jet/jet_internal.h"

#define NS_LU_REAL double
#define NS_LU_ABS(x) fabs(x)
#define NS_LU_NAME(name) lu_##name
#include "expr/lu.inc"

/* ---- companions -------------------------------------------------------------------------- */

/* Companions of every varying operation, and their companions, until nothing is new. */
typedef struct companions {
    ns_arena *scratch;
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
        NS_PUSH(c->scratch, c->roots, spec->out[i]);
    ns_ex *of = NULL;
    for (bool more = true; more;) {
        more = false;
        uint32_t size = c->size = ns_graph_size(c->g);
        bool *used = NS_NEW_ARRAY(c->scratch, bool, size);
        bool *varies = NS_NEW_ARRAY(c->scratch, bool, size);
        of = NS_NEW_ARRAY(c->scratch, ns_ex, size);
        ns_graph_mark(c->g, c->roots.at, c->roots.n, used);
        mark_varying(c->g, spec, varies);
        for (ns_ex e = 1; e < size; e++) {
            if (!used[e] || !varies[e])
                continue;
            of[e] = companion_of(c->g, e, varies);
            if (of[e] && (of[e] >= size || !used[of[e]])) {
                NS_PUSH(c->scratch, c->roots, of[e]);
                more = true;
            }
        }
    }
    c->of = of;
}

/* ---- operations -------------------------------------------------------------------------- */

typedef struct building {
    ns_arena *arena, *scratch;
    ns_jet *jet;
    const ns_tape *tape;
    uint32_t *companion;  /* [cells of the tape] */
    uint32_t *maker;      /* [cells of the tape] operation, NS_TAPE_NONE for leaves */
    uint32_t *uses;       /* [cells of the tape] at orders above 0 */
    uint32_t *derivative; /* [cells of the tape] its cell, 0 if none yet */
    uint32_t *row;        /* [cells of the tape and derivatives] 0 if none yet */
    bool *fused;          /* [operations] sum or product of which a part is inside it */
    bool *inside;         /* [operations] is such a part */
} building;

static ns_jet_place without_row(uint32_t cell)
{
    return (ns_jet_place){.cell = cell};
}

/* A cell whose coefficients enter convolutions; constants have row 0. */
static ns_jet_place with_row(building *b, uint32_t cell)
{
    bool varies = cell >= b->tape->ncells || b->tape->varies[cell];
    if (varies && !b->row[cell]) {
        b->row[cell] = b->jet->rows.n;
        NS_PUSH(b->arena, b->jet->rows, cell);
    }
    return (ns_jet_place){.cell = cell, .row = b->row[cell]};
}

/* The derivative of a cell: k a_k. */
static ns_jet_place derivative_of(building *b, uint32_t cell)
{
    if (!b->derivative[cell])
        b->derivative[cell] = b->jet->ncells++;
    return with_row(b, b->derivative[cell]);
}

static bool is_product(const building *b, const ns_tape_op *op)
{
    return op->op == NS_TAPE_SQUARE ||
           (op->op == NS_OP_MUL && b->tape->varies[op->a] && b->tape->varies[op->b]);
}

static bool is_sum(const ns_tape_op *op)
{
    return op->op == NS_OP_ADD || op->op == NS_OP_SUB;
}

static uint32_t entries_of(const ns_tape_op *op)
{
    return op->op == NS_OP_FACTOR ? op->b * op->b : op->op == NS_OP_SOLVE ? op->b : 0;
}

static void count_uses(building *b)
{
    const ns_tape *tape = b->tape;
    for (uint32_t i = tape->nbound; i < tape->ops.n; i++) {
        const ns_tape_op *op = &tape->ops.at[i];
        for (uint32_t k = 0; k < entries_of(op); k++)
            b->uses[tape->args.at[op->a + k]] += 2; /* 2 and more: it needs a cell */
        if (entries_of(op))
            continue;
        b->uses[op->a]++;
        b->uses[op->b] += op->b != op->a;
        if (b->companion[op->y] != NS_TAPE_NONE)
            b->uses[b->companion[op->y]] += 2;
    }
    for (uint32_t i = 0; i < tape->nout; i++)
        b->uses[tape->out[i]] += 2;
}

/* Can what makes this cell be a part of a sum with products? */
static bool can_be_inside(const building *b, uint32_t cell)
{
    uint32_t i = b->maker[cell];
    if (i == NS_TAPE_NONE || b->uses[cell] != 1)
        return false;
    const ns_tape_op *op = &b->tape->ops.at[i];
    return op->varies && (is_product(b, op) || (is_sum(op) && b->fused[i]));
}

static void find_sums(building *b)
{
    const ns_tape *tape = b->tape;
    for (uint32_t i = tape->nbound; i < tape->ops.n; i++) {
        const ns_tape_op *op = &tape->ops.at[i];
        b->fused[i] = is_sum(op) && (can_be_inside(b, op->a) || can_be_inside(b, op->b));
    }
    for (uint32_t i = tape->nbound; i < tape->ops.n; i++) {
        const ns_tape_op *op = &tape->ops.at[i];
        if (!b->fused[i])
            continue;
        if (can_be_inside(b, op->a))
            b->inside[b->maker[op->a]] = true;
        if (can_be_inside(b, op->b))
            b->inside[b->maker[op->b]] = true;
    }
}

static void add_sum(building *b, ns_jet_op *j, const ns_tape_op *root)
{
    typedef struct part {
        uint32_t cell;
        bool minus;
    } part;
    enum { SINGLE, SQUARE, PRODUCT, KINDS };
    NS_LIST(part) stack = {0};
    NS_LIST(ns_jet_term) terms[KINDS] = {{0}};
    NS_PUSH(b->scratch, stack, (part){.cell = root->y});
    while (stack.n) {
        const part top = stack.at[--stack.n];
        uint32_t i = b->maker[top.cell];
        const ns_tape_op *op = i == NS_TAPE_NONE ? NULL : &b->tape->ops.at[i];
        bool inside = op && (op == root || b->inside[i]);
        double sign = top.minus ? -1 : 1;
        if (inside && is_sum(op)) {
            NS_PUSH(b->scratch, stack, (part){op->b, top.minus != (op->op == NS_OP_SUB)});
            NS_PUSH(b->scratch, stack, (part){op->a, top.minus});
        } else if (inside)
            NS_PUSH(
                b->arena, terms[op->a == op->b ? SQUARE : PRODUCT],
                (ns_jet_term){.sign = sign, .a = with_row(b, op->a), .b = with_row(b, op->b)});
        else if (b->tape->varies[top.cell])
            NS_PUSH(b->scratch, terms[SINGLE],
                    (ns_jet_term){.sign = sign, .a = without_row(top.cell)});
    }
    j->rule = NS_JET_SUM;
    j->first = b->jet->terms.n;
    for (int kind = 0; kind < KINDS; kind++)
        for (uint32_t k = 0; k < terms[kind].n; k++)
            NS_PUSH(b->arena, b->jet->terms, terms[kind].at[k]);
    j->count = b->jet->terms.n - j->first;
}

static void add_matrix(building *b, const ns_tape_op *op)
{
    ns_jet *jet = b->jet;
    uint32_t n = op->b;
    ns_jet_matrix *m = &jet->matrices[op->y];
    *m = (ns_jet_matrix){.n = n, .first = jet->entries.n, .place = jet->factor_size};
    for (uint32_t k = 0; k < n * n; k++) {
        uint32_t cell = b->tape->args.at[op->a + k];
        if (b->tape->varies[cell])
            NS_PUSH(b->arena, jet->entries,
                    (ns_jet_entry){.i = k / n, .j = k % n, .M = with_row(b, cell)});
    }
    m->count = jet->entries.n - m->first;
    jet->factor_size += (size_t)n * n + n;
    jet->largest = n > jet->largest ? n : jet->largest;
}

/* Rule and places of an operation of the table by its entry in the column TAYLOR. */
static void add_rule(building *b, ns_jet_op *j, const ns_tape_op *op)
{
    bool va = b->tape->varies[op->a], vb = b->tape->varies[op->b];
    uint32_t companion = b->companion[op->y];
    switch (ns_ops[op->op].taylor) {
    case NS_TAYLOR_LINEAR:
        j->rule = op->op == NS_OP_ADD   ? NS_JET_ADD
                  : op->op == NS_OP_SUB ? NS_JET_SUB
                                        : NS_JET_NEG;
        break;
    case NS_TAYLOR_PRODUCT:
        if (va && vb) {
            j->rule = op->a == op->b ? NS_JET_SQUARE : NS_JET_MUL;
            j->a = with_row(b, op->a);
            j->b = with_row(b, op->b);
        } else {
            j->rule = NS_JET_SCALE;
            j->a = without_row(va ? op->a : op->b);
            j->b = without_row(va ? op->b : op->a);
        }
        break;
    case NS_TAYLOR_QUOTIENT:
        j->rule = vb ? NS_JET_DIV : NS_JET_SHRINK;
        j->b = vb ? with_row(b, op->b) : j->b;
        j->y = vb ? with_row(b, op->y) : j->y;
        break;
    case NS_TAYLOR_POWER:
        if (vb) { /* y = exp(c) with the companion c = b log a */
            j->rule = NS_JET_TIMES;
            j->a = without_row(companion);
            j->da = derivative_of(b, companion);
            j->w = with_row(b, op->y);
        } else {
            j->rule = NS_JET_POWER;
            j->a = with_row(b, op->a);
            j->y = with_row(b, op->y);
        }
        break;
    case NS_TAYLOR_ROOT:
        j->rule = NS_JET_ROOT;
        j->y = with_row(b, op->y);
        break;
    case NS_TAYLOR_TIMES:
    case NS_TAYLOR_MINUS_TIMES:
        j->rule = ns_ops[op->op].taylor == NS_TAYLOR_TIMES ? NS_JET_TIMES : NS_JET_MINUS_TIMES;
        j->da = derivative_of(b, op->a);
        j->w = with_row(b, companion);
        break;
    case NS_TAYLOR_OVER:
    case NS_TAYLOR_MINUS_OVER:
        j->rule = ns_ops[op->op].taylor == NS_TAYLOR_OVER ? NS_JET_OVER : NS_JET_MINUS_OVER;
        j->dy = derivative_of(b, op->y);
        j->w = with_row(b, companion);
        break;
    case NS_TAYLOR_ANGLE:
        j->rule = NS_JET_ANGLE;
        j->a = with_row(b, op->a);
        j->b = with_row(b, op->b);
        j->da = derivative_of(b, op->a);
        j->db = derivative_of(b, op->b);
        j->dy = derivative_of(b, op->y);
        j->w = with_row(b, companion);
        break;
    case NS_TAYLOR_ABS:
        j->rule = NS_JET_ABS;
        break;
    case NS_TAYLOR_SELECT:
        j->rule = NS_JET_SELECT;
        break;
    case NS_TAYLOR_CONSTANT:
    case NS_TAYLOR_NONE:
        j->rule = NS_JET_ZERO;
        break;
    }
}

static void add_op(building *b, uint32_t i)
{
    const ns_tape_op *op = &b->tape->ops.at[i];
    if (op->op == NS_OP_FACTOR)
        add_matrix(b, op);
    if (op->op == NS_OP_FACTOR || !op->varies || b->inside[i])
        return;
    ns_jet_op j = {.y = without_row(op->y)};
    if (op->op == NS_OP_SOLVE) {
        j.rule = NS_JET_SOLVE;
        j.first = op->a;
        j.matrix = op->c;
        j.y = with_row(b, op->y);
    } else {
        j.a = without_row(op->a);
        j.b = without_row(op->b);
        if (b->fused[i])
            add_sum(b, &j, op);
        else if (op->op == NS_TAPE_SQUARE) {
            j.rule = NS_JET_SQUARE;
            j.a = with_row(b, op->a);
        } else
            add_rule(b, &j, op);
    }
    NS_PUSH(b->arena, b->jet->ops, j);
}

static uint32_t *array_of(ns_arena *arena, uint32_t n, bool none)
{
    uint32_t *array = NS_NEW_ARRAY(arena, uint32_t, n + 1);
    if (none)
        memset(array, 0xff, n * sizeof *array);
    return array;
}

static void build_ops(building *b)
{
    const ns_tape *tape = b->tape;
    b->maker = array_of(b->scratch, tape->ncells, true);
    b->uses = array_of(b->scratch, tape->ncells, false);
    b->derivative = array_of(b->scratch, tape->ncells, false);
    b->row = array_of(b->scratch, 2 * tape->ncells, false);
    b->fused = NS_NEW_ARRAY(b->scratch, bool, tape->ops.n + 1);
    b->inside = NS_NEW_ARRAY(b->scratch, bool, tape->ops.n + 1);
    NS_PUSH(b->arena, b->jet->rows, 0); /* row 0 belongs to no cell */
    for (uint32_t i = 0; i < tape->ops.n; i++) {
        const ns_tape_op *op = &tape->ops.at[i];
        if (op->op == NS_OP_SOLVE && op->varies)
            for (uint32_t k = 0; k < op->b; k++)
                with_row(b, op->y + k); /* one after the other, as `solve` takes them */
        else if (op->op != NS_OP_FACTOR && op->op != NS_OP_SOLVE)
            b->maker[op->y] = i;
    }
    count_uses(b);
    find_sums(b);
    for (uint32_t i = 0; i < tape->ops.n; i++)
        add_op(b, i);
}

static const ns_jet_runner *best_runner(void)
{
#if NS_X86
    if (ns_simd_level() >= NS_SIMD_AVX2)
        return &ns_jet_avx2;
#endif
    return &ns_jet_plain;
}

ns_jet *ns_jet_build(ns_arena *arena, const ns_program_spec *spec)
{
    NS_CHECK(spec->jets);
    ns_arena *scratch = ns_graph_scratch(spec->graph);
    companions c = {.scratch = scratch, .g = spec->graph};
    add_companions(&c, spec);
    /* A power with a varying exponent needs coefficient n of its companion; all other rules
     * need lower ones only. */
    ns_ex *before = NS_NEW_ARRAY(scratch, ns_ex, ns_graph_size(spec->graph));
    for (ns_ex e = 1; e < c.size; e++)
        before[e] = c.of[e] && ns_graph_op(spec->graph, e) == NS_OP_POW ? c.of[e] : 0;
    const uint32_t *cell;
    const ns_tape *tape = ns_tape_lower(arena, spec, c.roots.at, c.roots.n, before, &cell);
    ns_jet *jet = NS_NEW(arena, ns_jet);
    jet->tape = tape;
    jet->ncells = tape->ncells;
    jet->matrices = NS_NEW_ARRAY(arena, ns_jet_matrix, tape->nfactors + 1);
    jet->runner = best_runner();
    building b = {.arena = arena, .scratch = scratch, .jet = jet, .tape = tape};
    b.companion = array_of(scratch, tape->ncells, true);
    for (ns_ex e = 1; e < c.size; e++)
        if (c.of[e])
            b.companion[cell[e]] = cell[c.of[e]];
    build_ops(&b);
    return jet;
}

double ns_jet_weight(const ns_jet *jet, double *products)
{
    NS_CHECK(products);
    double weight = jet->rows.n, full = 0, half = 0; /* a row is filled */
    for (uint32_t i = 0; i < jet->ops.n; i++) {
        const ns_jet_op *op = &jet->ops.at[i];
        weight += 2;
        if (op->rule == NS_JET_MUL || op->rule == NS_JET_DIV || op->rule == NS_JET_POWER ||
            (op->rule >= NS_JET_TIMES && op->rule <= NS_JET_MINUS_OVER))
            full++;
        else if (op->rule == NS_JET_SQUARE || op->rule == NS_JET_ROOT)
            half++;
        else if (op->rule == NS_JET_ANGLE)
            full += 3;
        else if (op->rule == NS_JET_SOLVE) {
            const ns_jet_matrix *m = &jet->matrices[op->matrix];
            full += m->count;
            weight += (double)m->n * m->n;
        }
        for (uint32_t k = 0; k < op->count && op->rule == NS_JET_SUM; k++) {
            const ns_jet_term *term = &jet->terms.at[op->first + k];
            full += term->b.row && term->a.row != term->b.row;
            half += term->b.row && term->a.row == term->b.row;
        }
    }
    *products = full + half / 2;
    return weight;
}

/* ---- running ----------------------------------------------------------------------------- */

/* Chunks of four may reach over the ends of the rows. */
enum { FOUR = 4 };

static size_t stride_of(uint32_t order)
{
    return (order + (size_t)FOUR - 1) / FOUR * FOUR;
}

size_t ns_jet_work(const ns_jet *jet, uint32_t order)
{
    return 2 * (size_t)jet->ncells + jet->rows.n * (stride_of(order) + 1) + (size_t)2 * FOUR +
           jet->factor_size + jet->largest;
}

static ns_jet_work_block block_of(const ns_jet *jet, double *work, uint32_t order)
{
    ns_jet_work_block block = {.stride = stride_of(order)};
    block.rows = work + FOUR;
    block.value = block.rows + jet->rows.n * block.stride + FOUR;
    block.latest = block.value + jet->ncells;
    block.factors = block.latest + jet->ncells;
    block.scratch = block.factors + jet->factor_size;
    block.prev = block.scratch + jet->largest;
    return block;
}

/* Order 0: the operations of the tape. */
static void run_values(const ns_jet *jet, const ns_jet_work_block *work, uint32_t from,
                       uint32_t to)
{
    const ns_tape *tape = jet->tape;
    double *v = work->value;
    for (uint32_t i = from; i < to; i++) {
        const ns_tape_op *op = &tape->ops.at[i];
        if (op->op == NS_OP_FACTOR) {
            const uint32_t *args = tape->args.at + op->a;
            const ns_jet_matrix *m = &jet->matrices[op->y];
            double *lu = work->factors + m->place;
            for (uint32_t k = 0; k < m->n * m->n; k++)
                lu[k] = v[args[k]];
            lu_factor(m->n, lu, (void *)(lu + (size_t)m->n * m->n));
        } else if (op->op == NS_OP_SOLVE) {
            const uint32_t *args = tape->args.at + op->a;
            const ns_jet_matrix *m = &jet->matrices[op->c];
            const double *lu = work->factors + m->place;
            for (uint32_t k = 0; k < m->n; k++)
                v[op->y + k] = v[args[k]];
            lu_solve(m->n, lu, (const void *)(lu + (size_t)m->n * m->n), v + op->y);
        } else if (op->op == NS_TAPE_SQUARE)
            v[op->y] = v[op->a] * v[op->a];
        else
            v[op->y] = ns_ops[op->op].value(v[op->a], v[op->b]);
    }
}

void ns_jet_bind(const ns_jet *jet, double *work, uint32_t order, const double *p)
{
    NS_CHECK(work);
    NS_CHECK(p || !jet->tape->np);
    const ns_tape *tape = jet->tape;
    const ns_jet_work_block block = block_of(jet, work, order);
    for (uint32_t i = 0; i < tape->constants.n; i++)
        block.value[tape->constants.at[i].cell] = tape->constants.at[i].hi;
    for (uint32_t i = 0; i < tape->np; i++)
        if (tape->param[i] != NS_TAPE_NONE)
            block.value[tape->param[i]] = p[i];
    run_values(jet, &block, 0, tape->nbound);
    memset(block.rows, 0, block.stride * sizeof(double));  /* row 0 */
    memset(block.latest, 0, jet->ncells * sizeof(double)); /* of constants, for ever */
    block.prev[0] = 0;
}

void ns_jet_solve(const ns_jet *jet, double *work, double t, uint32_t order, double *x,
                  size_t per_state, size_t per_order)
{
    NS_CHECK(jet->tape->nout == jet->tape->nx);
    NS_CHECK(per_state && per_order);
    const ns_tape *tape = jet->tape;
    const ns_jet_work_block block = block_of(jet, work, order);
    for (uint32_t i = 0; i < tape->nx; i++)
        block.value[i] = x[i * per_state];
    block.value[tape->nx] = t;
    for (uint32_t n = 0; n < order; n++) {
        const double *rate = n == 0 ? block.value : block.latest;
        if (n == 0)
            run_values(jet, &block, tape->nbound, tape->ops.n);
        else {
            for (uint32_t i = 0; i < tape->nx; i++)
                block.latest[i] = x[i * per_state + n * per_order];
            block.latest[tape->nx] = n == 1;
            jet->runner->run(jet, &block, n);
        }
        for (uint32_t i = 0; i < tape->nx; i++)
            x[i * per_state + (n + 1) * per_order] = ns_jet_divide(rate[tape->out[i]], n + 1);
    }
}

void ns_jet_eval(const ns_jet *jet, double *work, double t, uint32_t order, const double *x,
                 double *out)
{
    NS_CHECK(work && out);
    const ns_tape *tape = jet->tape;
    const ns_jet_work_block block = block_of(jet, work, order);
    const size_t stride = (size_t)order + 1;
    for (uint32_t n = 0; n <= order; n++) {
        double *input = n == 0 ? block.value : block.latest;
        for (uint32_t i = 0; i < tape->nx; i++)
            input[i] = x[i * stride + n];
        input[tape->nx] = n == 0 ? t : n == 1;
        if (n == 0)
            run_values(jet, &block, tape->nbound, tape->ops.n);
        else
            jet->runner->run(jet, &block, n);
        for (uint32_t i = 0; i < tape->nout; i++)
            out[i * stride + n] = input[tape->out[i]];
    }
}
