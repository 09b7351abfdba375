/* Lowering: a walk over the graph, arguments first, that gives every node its cell. */
#include "eval/tape.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "expr/sparse.h"

/* Factors of a sparse matrix: cells of the elements of L, of the inverse pivots. */
typedef struct sparse {
    const ns_pattern *pattern;
    uint32_t *L, *inverse;
} sparse;

typedef struct lowering {
    ns_arena *arena, *scratch;
    const ns_graph *g;
    ns_tape *tape;
    uint32_t *cell; /* [graph size] of a node, NS_TAPE_NONE if it has none (yet) */
    NS_LIST(ns_tape_op) ops;
    NS_LIST(bool) varies; /* by cell */
    NS_LIST(bool) matrix_varies;
    NS_LIST(uint32_t) factor_n;
    bool *done;       /* [graph size] */
    uint32_t *factor; /* [graph size] number of the matrix of a FACTOR node */
    sparse **sparse;  /* [graph size] of an LDL node */
    uint32_t **parts; /* [graph size] cells of a solution by an LDL node */
    uint32_t one, zero;
    bool blocks; /* small LDL nodes as dense FACTORs: jets take those in one piece */
    const uint32_t *divisions; /* [graph size] by a node; NULL: all are left as they are */
    /* operations that powers add are made once: open addressing over ops, +1, 0 = free */
    uint32_t *table;
    uint32_t table_size, table_used;
} lowering;

static uint32_t new_cells(lowering *l, uint32_t n, bool varies)
{
    uint32_t first = l->tape->ncells;
    l->tape->ncells += n;
    for (uint32_t i = 0; i < n; i++)
        NS_PUSH(l->scratch, l->varies, varies);
    return first;
}

static uint32_t new_constant(lowering *l, double hi, double lo)
{
    uint32_t cell = new_cells(l, 1, false);
    NS_PUSH(l->arena, l->tape->constants, (ns_tape_constant){.cell = cell, .hi = hi, .lo = lo});
    return cell;
}

static uint32_t place_of(const lowering *l, uint32_t op, uint32_t a, uint32_t b)
{
    uint64_t h = ((uint64_t)op << 32 ^ a) * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ (h >> 29) ^ b) * UINT64_C(0xBF58476D1CE4E5B9);
    uint32_t i = (uint32_t)(h >> 32) & (l->table_size - 1);
    for (; l->table[i]; i = (i + 1) & (l->table_size - 1)) {
        const ns_tape_op *found = &l->ops.at[l->table[i] - 1];
        if (found->op == op && found->a == a && found->b == b)
            break;
    }
    return i;
}

static void grow_table(lowering *l)
{
    const uint32_t *old = l->table;
    uint32_t old_size = l->table_size;
    l->table_size = old_size ? old_size * 2 : 64;
    l->table = NS_NEW_ARRAY(l->scratch, uint32_t, l->table_size);
    for (uint32_t k = 0; k < old_size; k++) {
        if (!old[k])
            continue;
        const ns_tape_op *op = &l->ops.at[old[k] - 1];
        l->table[place_of(l, op->op, op->a, op->b)] = old[k];
    }
}

static uint32_t add_op(lowering *l, uint16_t op, uint32_t a, uint32_t b)
{
    bool varies = l->varies.at[a] || l->varies.at[b];
    uint32_t y = new_cells(l, 1, varies);
    NS_PUSH(l->scratch, l->ops,
            (ns_tape_op){.op = op, .varies = varies, .y = y, .a = a, .b = b});
    return y;
}

/* A product that may have been made before for another power. */
static uint32_t add_shared(lowering *l, uint16_t op, uint32_t a, uint32_t b)
{
    if (l->table_used * 2 >= l->table_size)
        grow_table(l);
    uint32_t i = place_of(l, op, a, b);
    if (l->table[i])
        return l->ops.at[l->table[i] - 1].y;
    uint32_t y = add_op(l, op, a, b);
    l->table[i] = l->ops.n;
    l->table_used++;
    return y;
}

/* The same products in the same order as integer_power of expr/eval.c, less those by 1. */
static uint32_t add_power(lowering *l, uint32_t a, int32_t n)
{
    NS_CHECK(n >= 1);
    uint32_t power = NS_TAPE_NONE, square = a;
    for (uint32_t k = (uint32_t)n;; square = add_shared(l, NS_TAPE_SQUARE, square, square)) {
        if (k & 1)
            power = power == NS_TAPE_NONE ? square : add_shared(l, NS_OP_MUL, power, square);
        k >>= 1;
        if (k == 0)
            return power;
    }
}

static uint32_t push_args(lowering *l, const ns_ex *args, uint32_t n, bool *varies)
{
    NS_CHECK(l->tape->args.n <= UINT32_MAX - n);
    uint32_t first = l->tape->args.n;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t cell = l->cell[args[k]];
        *varies = *varies || l->varies.at[cell];
        NS_PUSH(l->arena, l->tape->args, cell);
    }
    return first;
}

static void add_factor(lowering *l, ns_ex e, uint32_t a, uint32_t n, bool varies)
{
    l->factor[e] = l->tape->nfactors++;
    NS_PUSH(l->scratch, l->factor_n, n);
    NS_PUSH(
        l->arena, l->ops,
        (ns_tape_op){.op = NS_OP_FACTOR, .varies = varies, .y = l->factor[e], .a = a, .b = n});
    NS_PUSH(l->scratch, l->matrix_varies, varies);
}

static void lower_factor(lowering *l, ns_ex e, const ns_ex *args, uint32_t n)
{
    NS_CHECK(n > 0);
    bool varies = false;
    uint32_t a = push_args(l, args, n * n, &varies);
    add_factor(l, e, a, n, varies);
}

static uint32_t lower_solve(lowering *l, const ns_ex *args, uint32_t n)
{
    bool varies = l->matrix_varies.at[l->factor[args[0]]];
    uint32_t a = push_args(l, args + 1, n, &varies);
    uint32_t y = new_cells(l, n, varies);
    NS_PUSH(l->scratch, l->ops,
            (ns_tape_op){.op = NS_OP_SOLVE,
                         .varies = varies,
                         .y = y,
                         .a = a,
                         .b = n,
                         .c = l->factor[args[0]]});
    return y;
}

/* ---- sparse symmetric systems: see expr/sparse.c for the formulas ------------------------ */

static uint32_t constant(lowering *l, uint32_t *kept, double value)
{
    if (*kept == NS_TAPE_NONE)
        *kept = new_constant(l, value, 0);
    return *kept;
}

/* sum - a b; a sum that is not there yet is 0 */
static uint32_t subtract_product(lowering *l, uint32_t sum, uint32_t a, uint32_t b)
{
    const uint32_t from = sum == NS_TAPE_NONE ? constant(l, &l->zero, 0) : sum;
    return add_op(l, NS_OP_SUB, from, add_op(l, NS_OP_MUL, a, b));
}

static void lower_sparse(lowering *l, ns_ex e, const ns_ex *args)
{
    const ns_pattern *p = ns_sparse_of(l->g, e);
    const uint32_t count = p->start[p->n];
    sparse *s = l->sparse[e] = NS_NEW(l->scratch, sparse);
    s->pattern = p;
    s->L = NS_NEW_ARRAY(l->scratch, uint32_t, count + 1);
    s->inverse = NS_NEW_ARRAY(l->scratch, uint32_t, p->n + 1);
    uint32_t *V = NS_NEW_ARRAY(l->scratch, uint32_t, count + 1);
    uint32_t *column = NS_NEW_ARRAY(l->scratch, uint32_t, p->n + 1);
    for (uint32_t j = 0; j < p->n; j++) {
        const uint32_t d = p->diagonal[j];
        column[j] = d == NS_SPARSE_NONE ? NS_TAPE_NONE : l->cell[args[d]];
        for (uint32_t k = p->start[j]; k < p->start[j + 1]; k++)
            column[p->below[k]] = p->source[k] == NS_SPARSE_NONE ? NS_TAPE_NONE
                                                                 : l->cell[args[p->source[k]]];
        for (uint32_t r = p->row_start[j]; r < p->row_start[j + 1]; r++)
            for (uint32_t k = p->at[r]; k < p->start[p->left[r] + 1]; k++)
                column[p->below[k]] = subtract_product(l, column[p->below[k]], V[k],
                                                       s->L[p->at[r]]);
        const uint32_t pivot = column[j] == NS_TAPE_NONE ? constant(l, &l->zero, 0) : column[j];
        s->inverse[j] = add_op(l, NS_OP_DIV, constant(l, &l->one, 1), pivot);
        for (uint32_t k = p->start[j]; k < p->start[j + 1]; k++) {
            V[k] = column[p->below[k]];
            s->L[k] = add_op(l, NS_OP_MUL, V[k], s->inverse[j]);
        }
    }
}

static void lower_sparse_solve(lowering *l, ns_ex e, const ns_ex *args)
{
    const sparse *s = l->sparse[args[0]];
    const ns_pattern *p = s->pattern;
    uint32_t *x = l->parts[e] = NS_NEW_ARRAY(l->scratch, uint32_t, p->n + 1);
    uint32_t *z = NS_NEW_ARRAY(l->scratch, uint32_t, p->n + 1);
    for (uint32_t j = 0; j < p->n; j++) {
        const ns_ex b = args[1 + p->order[j]];
        z[j] = ns_graph_is_zero(l->g, b) ? NS_TAPE_NONE : l->cell[b];
        for (uint32_t r = p->row_start[j]; r < p->row_start[j + 1]; r++)
            if (z[p->left[r]] != NS_TAPE_NONE)
                z[j] = subtract_product(l, z[j], s->L[p->at[r]], z[p->left[r]]);
    }
    for (uint32_t j = p->n; j-- > 0;) {
        if (z[j] != NS_TAPE_NONE)
            z[j] = add_op(l, NS_OP_MUL, z[j], s->inverse[j]);
        for (uint32_t k = p->start[j]; k < p->start[j + 1]; k++)
            if (z[p->below[k]] != NS_TAPE_NONE)
                z[j] = subtract_product(l, z[j], s->L[k], z[p->below[k]]);
        x[p->order[j]] = z[j] == NS_TAPE_NONE ? constant(l, &l->zero, 0) : z[j];
    }
}

/* A sparse matrix as a dense one. */
static void lower_dense(lowering *l, ns_ex e, const ns_ex *args)
{
    const ns_pattern *p = ns_sparse_of(l->g, e);
    const uint32_t n = p->n, zero = constant(l, &l->zero, 0), first = l->tape->args.n;
    bool varies = false;
    for (uint32_t k = 0; k < n * n; k++)
        NS_PUSH(l->arena, l->tape->args, zero);
    for (uint32_t k = 0; k < p->entries; k++) {
        const uint32_t i = p->row[k], j = p->col[k], cell = l->cell[args[k]];
        varies = varies || l->varies.at[cell];
        l->tape->args.at[first + i * n + j] = l->tape->args.at[first + j * n + i] = cell;
    }
    add_factor(l, e, first, n, varies);
}

enum { MOST_DENSE = 80 };

/* a/b where other nodes are divided by b too, or b is known when parameters are: a product with
 * the reciprocal.  Of all arithmetic divisions take longest, and vectors cannot overlap
 * them. */
static uint32_t lower_quotient(lowering *l, const ns_ex *args)
{
    const uint32_t a = l->cell[args[0]], b = l->cell[args[1]];
    const bool bound = !l->varies.at[b]; /* and so is its reciprocal */
    if (!l->divisions || (bound ? !l->varies.at[a] : l->divisions[args[1]] < 2))
        return add_op(l, NS_OP_DIV, a, b);
    const uint32_t inverse = add_shared(l, NS_OP_DIV, constant(l, &l->one, 1), b);
    return ns_graph_is_one(l->g, args[0]) ? inverse : add_op(l, NS_OP_MUL, a, inverse);
}

/* How often the graph below the roots divides by each node. */
static const uint32_t *count_divisions(lowering *l, const bool *used, uint32_t size)
{
    uint32_t *times = NS_NEW_ARRAY(l->scratch, uint32_t, size);
    for (ns_ex e = 1; e < size; e++)
        if (used[e] && ns_graph_node(l->g, e)->op == NS_OP_DIV)
            times[ns_graph_args(l->g, e)[1]]++;
    return times;
}

static void lower_node(lowering *l, ns_ex e)
{
    const ns_node *node = ns_graph_node(l->g, e);
    const ns_ex *args = ns_graph_args(l->g, e);
    uint32_t *cell = l->cell;
    switch (node->op) {
    case NS_OP_NUMBER:
        cell[e] = new_constant(l, node->hi, node->lo);
        break;
    case NS_OP_SYMBOL:
        if (cell[e] == NS_TAPE_NONE) /* neither input nor parameter: as in ns_eval */
            cell[e] = new_constant(l, NAN, 0);
        break;
    case NS_OP_POWI:
        cell[e] = add_power(l, cell[args[0]], node->integer);
        break;
    case NS_OP_FACTOR:
        lower_factor(l, e, args, (uint32_t)node->integer);
        break;
    case NS_OP_LDL:
        if (l->blocks && node->integer <= MOST_DENSE)
            lower_dense(l, e, args);
        else
            lower_sparse(l, e, args);
        break;
    case NS_OP_SOLVE:
        if (l->sparse[args[0]])
            lower_sparse_solve(l, e, args);
        else
            cell[e] = lower_solve(l, args, (uint32_t)node->integer);
        break;
    case NS_OP_PICK:
        cell[e] = l->parts[args[0]] ? l->parts[args[0]][node->integer]
                                    : cell[args[0]] + (uint32_t)node->integer;
        break;
    case NS_OP_DIV:
        cell[e] = lower_quotient(l, args);
        break;
    default: {
        uint32_t a = cell[args[0]];
        cell[e] = add_op(l, node->op, a, node->n > 1 ? cell[args[1]] : a);
    }
    }
}

/* Lowers root and what it needs and is not yet lowered, depth first with a stack of its own. */
static void lower_below(lowering *l, ns_ex root, const ns_ex *before)
{
    typedef struct frame {
        ns_ex node;
        uint32_t next; /* argument to look at */
    } frame;
    NS_LIST(frame) stack = {0};
    if (!l->done[root])
        NS_PUSH(l->scratch, stack, (frame){.node = root});
    while (stack.n) {
        frame *top = &stack.at[stack.n - 1];
        const ns_node *node = ns_graph_node(l->g, top->node);
        ns_ex next = 0;
        if (top->next < node->n)
            next = ns_graph_args(l->g, top->node)[top->next];
        else if (top->next == node->n && before)
            next = before[top->node];
        if (top->next <= node->n) {
            top->next++;
            if (next && !l->done[next])
                NS_PUSH(l->scratch, stack, (frame){.node = next});
            continue;
        }
        if (!l->done[top->node])
            lower_node(l, top->node);
        l->done[top->node] = true;
        stack.n--;
    }
}

/* Constant operations to the front, both parts in their old order. */
static void split_bound(lowering *l)
{
    ns_tape *tape = l->tape;
    tape->ops.at = NS_NEW_ARRAY(l->arena, ns_tape_op, l->ops.n + 1);
    for (int varies = 0; varies < 2; varies++) {
        for (uint32_t i = 0; i < l->ops.n; i++)
            if (l->ops.at[i].varies == (varies != 0))
                tape->ops.at[tape->ops.n++] = l->ops.at[i];
        if (!varies)
            tape->nbound = tape->ops.n;
    }
}

/* Inputs have cells 0 .. nx, parameters the next ones as far as they are used. */
static void lower_symbols(lowering *l, const ns_program_spec *spec, const bool *used)
{
    ns_tape *tape = l->tape;
    new_cells(l, spec->nx + 1, true);
    for (uint32_t i = 0; i < spec->nx; i++)
        l->cell[spec->x[i]] = i;
    if (spec->time)
        l->cell[spec->time] = spec->nx;
    tape->param = NS_NEW_ARRAY(l->arena, uint32_t, spec->np + 1);
    for (uint32_t i = 0; i < spec->np; i++) {
        tape->param[i] = used[spec->p[i]] ? new_cells(l, 1, false) : NS_TAPE_NONE;
        l->cell[spec->p[i]] = tape->param[i];
    }
}

ns_tape *ns_tape_lower(ns_arena *arena, const ns_program_spec *spec, const ns_ex *roots,
                       size_t nroots, const ns_ex *before, const uint32_t **cell)
{
    NS_CHECK((roots && nroots >= spec->nout) || !spec->nout);
    NS_CHECK(spec->x || !spec->nx);
    NS_CHECK(spec->p || !spec->np);
    ns_arena *scratch = ns_graph_scratch(spec->graph);
    uint32_t size = ns_graph_size(spec->graph);
    ns_tape *tape = NS_NEW(arena, ns_tape);
    tape->nx = spec->nx;
    tape->np = spec->np;
    tape->nout = spec->nout;
    lowering l = {.arena = arena, .scratch = scratch, .g = spec->graph, .tape = tape};
    l.done = NS_NEW_ARRAY(scratch, bool, size);
    l.factor = NS_NEW_ARRAY(scratch, uint32_t, size);
    l.sparse = NS_NEW_ARRAY(scratch, sparse *, size);
    l.parts = NS_NEW_ARRAY(scratch, uint32_t *, size);
    l.one = l.zero = NS_TAPE_NONE;
    l.blocks = before != NULL;
    l.cell = NS_NEW_ARRAY(scratch, uint32_t, size);
    memset(l.cell, 0xff, size * sizeof *l.cell);
    bool *used = NS_NEW_ARRAY(scratch, bool, size);
    ns_graph_mark(spec->graph, roots, nroots, used);
    if (spec->reciprocals && !before)
        l.divisions = count_divisions(&l, used, size);

    lower_symbols(&l, spec, used);
    for (size_t i = 0; i < nroots; i++)
        lower_below(&l, roots[i], before);
    tape->out = NS_NEW_ARRAY(arena, uint32_t, spec->nout + 1);
    for (uint32_t i = 0; i < spec->nout; i++)
        tape->out[i] = l.cell[spec->out[i]];
    tape->varies = ns_arena_copy(arena, l.varies.at, l.varies.n * sizeof *l.varies.at);
    tape->factor_n = ns_arena_copy(arena, l.factor_n.at, l.factor_n.n * sizeof *l.factor_n.at);
    split_bound(&l);
    if (cell)
        *cell = l.cell;
    return tape;
}

uint32_t ns_tape_count(const ns_tape *tape, uint32_t from, uint32_t to)
{
    NS_CHECK(from <= to && to <= tape->ops.n);
    uint64_t count = 0;
    for (uint32_t i = from; i < to; i++) {
        const ns_tape_op *op = &tape->ops.at[i];
        uint64_t n = op->b;
        if (op->op == NS_OP_FACTOR) /* (n^3 - n)/3 multiply-adds and the divisions */
            count += (n * n * n - n) / 3 + n;
        else if (op->op == NS_OP_SOLVE)
            count += n * n;
        else
            count++;
    }
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

double ns_tape_weight(const ns_tape *tape, uint32_t from, uint32_t to)
{
    NS_CHECK(from <= to && to <= tape->ops.n);
    static const double division = 6, function = 60;
    double weight = ns_tape_count(tape, from, to);
    for (uint32_t i = from; i < to; i++) {
        const ns_tape_op *op = &tape->ops.at[i];
        if (op->op == NS_OP_DIV || op->op == NS_OP_SQRT)
            weight += division - 1;
        else if (op->op == NS_OP_FACTOR)
            weight += op->b * (division - 1);
        else if (op->op == NS_OP_POW || (op->op >= NS_OP_EXP && op->op < NS_OP_NUMBER))
            weight += function - 1;
    }
    return weight;
}
