/* From tape to stream: fuse, order, place, encode.
 *
 * Fuse.   A product used once, by a sum or difference, becomes part of it.  Sine and cosine of
 *         one argument become one operation.  What remains are `units`.
 * Order.  Depth first from the outputs; of the arguments of a unit the one that needs most
 *         cells comes first (Sethi and Ullman's rule, which is exact for trees).  The unit that
 *         uses a value then often comes right after the one that made it, and finds it in the
 *         accumulator.
 * Place.  A value lives from its unit to its last use; the cell freed last is taken first, so
 *         that the cells in use stay in the nearest cache.  Values that bind makes and eval
 *         uses keep their cells.  A value whose only use takes it from the accumulator has no
 *         cell at all. */
#include "eval/stream.h"

#include <string.h>

#include "base/check.h"

#define NONE NS_TAPE_NONE

typedef struct block {
    uint32_t slot, n;
} block;

/* Slots: places in the work block.  Those that have become free, single and in rows. */
typedef struct pool {
    NS_LIST(uint32_t) singles;
    NS_LIST(block) blocks;
    uint32_t top; /* slots below are in use or in the lists */
} pool;

typedef struct building {
    ns_arena *arena, *scratch;
    const ns_tape *tape;
    const ns_tape_op *ops;
    uint32_t *maker;         /* [ncells] operation that writes the cell, NONE for leaves */
    uint32_t *factory;       /* [nfactors] operation that makes the matrix */
    uint32_t *uses;          /* [ncells] by units and outputs */
    uint32_t *product;       /* [ops] the product absorbed into this sum, or NONE */
    uint32_t *twin;          /* [ops] the sine for a cosine and the other way round, or NONE */
    bool *absorbed;          /* [ops] */
    bool *done;              /* [ops] */
    uint32_t *need;          /* [ops] cells needed to compute it */
    NS_LIST(uint32_t) order; /* operations, one per unit */
    uint32_t *last;          /* [ops] position in the order of the last use */
    uint32_t *slot;          /* [ncells] */
    uint32_t *matrix;        /* [nfactors] slot */
    pool pool;
    NS_LIST(uint32_t) words;
} building;

static bool is_block(const ns_tape_op *op)
{
    return op->op == NS_OP_FACTOR || op->op == NS_OP_SOLVE;
}

/* ---- units ------------------------------------------------------------------------------- */

/* The cells a unit reads, each once, at most 3 (not for FACTOR and SOLVE). */
static uint32_t operands(const building *b, uint32_t i, uint32_t cell[3])
{
    const ns_tape_op *op = &b->ops[i];
    uint32_t n = 0;
    cell[n++] = op->a;
    if (b->product[i] != NONE) {
        const ns_tape_op *product = &b->ops[b->product[i]];
        cell[0] = product->y == op->a ? op->b : op->a; /* the other term first */
        cell[n++] = product->a;
        if (product->b != product->a)
            cell[n++] = product->b;
    } else if (op->b != op->a)
        cell[n++] = op->b;
    return n;
}

static bool is_product(const building *b, uint32_t cell, const ns_tape_op *of)
{
    uint32_t i = b->maker[cell];
    return i != NONE && (b->ops[i].op == NS_OP_MUL || b->ops[i].op == NS_TAPE_SQUARE) &&
           b->uses[cell] == 1 && b->ops[i].varies == of->varies;
}

static void count_uses(building *b)
{
    const ns_tape *tape = b->tape;
    for (uint32_t i = 0; i < tape->ops.n; i++) {
        const ns_tape_op *op = &b->ops[i];
        uint32_t cell[3];
        uint32_t n = is_block(op) ? 0 : operands(b, i, cell);
        for (uint32_t k = 0; k < n; k++)
            b->uses[cell[k]]++;
        if (is_block(op)) {
            n = op->op == NS_OP_FACTOR ? op->b * op->b : op->b;
            for (uint32_t k = 0; k < n; k++)
                b->uses[tape->args.at[op->a + k]]++;
        }
    }
    for (uint32_t i = 0; i < tape->nout; i++)
        b->uses[tape->out[i]] += 2; /* never the only use, so always stored */
}

static void fuse(building *b)
{
    const ns_tape *tape = b->tape;
    uint32_t *angle = NS_NEW_ARRAY(b->scratch, uint32_t, tape->ncells); /* its first op + 1 */
    for (uint32_t i = 0; i < tape->ops.n; i++) {
        const ns_tape_op *op = &b->ops[i];
        if (op->op == NS_OP_ADD || op->op == NS_OP_SUB) {
            /* a difference of products is (accumulator) - product, so b first */
            uint32_t term = is_product(b, op->b, op)   ? op->b
                            : is_product(b, op->a, op) ? op->a
                                                       : NONE;
            if (term != NONE && op->a != op->b) {
                b->product[i] = b->maker[term];
                b->absorbed[b->maker[term]] = true;
            }
        } else if (op->op == NS_OP_SIN || op->op == NS_OP_COS) {
            uint32_t other = angle[op->a];
            if (!other)
                angle[op->a] = i + 1;
            else if (b->ops[other - 1].op != op->op) {
                b->twin[i] = other - 1;
                b->twin[other - 1] = i;
            }
        }
    }
}

/* ---- order ------------------------------------------------------------------------------- */

static uint32_t need_of(const building *b, uint32_t cell)
{
    uint32_t i = b->maker[cell];
    return i == NONE || !b->ops[i].varies ? 0 : b->need[i];
}

static void estimate_need(building *b, uint32_t i)
{
    const ns_tape_op *op = &b->ops[i];
    if (is_block(op)) {
        uint32_t most = 0, n = op->op == NS_OP_FACTOR ? op->b * op->b : op->b;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t need = need_of(b, b->tape->args.at[op->a + k]);
            most = need > most ? need : most;
        }
        b->need[i] = most + n;
        return;
    }
    uint32_t cell[3], need[3] = {0, 0, 0};
    uint32_t n = operands(b, i, cell);
    for (uint32_t k = 0; k < n; k++) { /* sorted, most first */
        uint32_t value = need_of(b, cell[k]), at = k;
        for (; at > 0 && need[at - 1] < value; at--)
            need[at] = need[at - 1];
        need[at] = value;
    }
    b->need[i] = 1;
    for (uint32_t k = 0; k < n; k++)
        if (need[k] && need[k] + k > b->need[i])
            b->need[i] = need[k] + k;
}

/* An operation that must run before i and has not; NONE if i can run.  next counts the
 * arguments of blocks already looked at. */
static uint32_t missing(const building *b, uint32_t i, uint32_t *next)
{
    const ns_tape_op *op = &b->ops[i];
    if (is_block(op)) {
        uint32_t n = op->op == NS_OP_FACTOR ? op->b * op->b : op->b;
        while (*next < n) {
            uint32_t maker = b->maker[b->tape->args.at[op->a + (*next)++]];
            if (maker != NONE && !b->done[maker])
                return maker;
        }
        uint32_t factor = op->op == NS_OP_SOLVE ? b->factory[op->c] : NONE;
        return factor != NONE && !b->done[factor] ? factor : NONE;
    }
    uint32_t cell[3], best = NONE;
    uint32_t n = operands(b, i, cell);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t maker = b->maker[cell[k]];
        if (maker != NONE && !b->done[maker] &&
            (best == NONE || b->need[maker] > b->need[best]))
            best = maker;
    }
    return best;
}

static void emit_unit(building *b, uint32_t i)
{
    NS_CHECK(!b->done[i] && !b->absorbed[i]);
    NS_PUSH(b->scratch, b->order, i);
    b->done[i] = true;
    if (b->twin[i] != NONE)
        b->done[b->twin[i]] = true;
}

static void order_below(building *b, uint32_t root)
{
    typedef struct frame {
        uint32_t op, next;
    } frame;
    NS_LIST(frame) stack = {0};
    NS_PUSH(b->scratch, stack, (frame){.op = root});
    while (stack.n) {
        frame *top = &stack.at[stack.n - 1];
        uint32_t first = b->done[top->op] ? NONE : missing(b, top->op, &top->next);
        if (first != NONE) {
            NS_PUSH(b->scratch, stack, (frame){.op = first});
            continue;
        }
        if (!b->done[top->op])
            emit_unit(b, top->op);
        stack.n--;
    }
}

/* Bound operations in the order of the tape, then the others. */
static uint32_t order(building *b)
{
    const ns_tape *tape = b->tape;
    for (uint32_t i = 0; i < tape->nbound; i++)
        if (!b->absorbed[i] && !b->done[i])
            emit_unit(b, i);
    uint32_t bound = b->order.n;
    for (uint32_t i = tape->nbound; i < tape->ops.n; i++)
        if (!b->absorbed[i])
            estimate_need(b, i);
    for (uint32_t i = 0; i < tape->nout; i++) {
        uint32_t maker = b->maker[tape->out[i]];
        if (maker != NONE && !b->done[maker])
            order_below(b, maker);
    }
    return bound;
}

/* ---- places ------------------------------------------------------------------------------ */

static uint32_t take(pool *slots, uint32_t n)
{
    NS_CHECK(n > 0);
    if (n == 1 && slots->singles.n)
        return slots->singles.at[--slots->singles.n];
    for (uint32_t i = slots->blocks.n; n > 1 && i-- > 0;)
        if (slots->blocks.at[i].n == n) {
            uint32_t slot = slots->blocks.at[i].slot;
            slots->blocks.at[i] = slots->blocks.at[--slots->blocks.n];
            return slot;
        }
    uint32_t slot = slots->top;
    slots->top += n;
    return slot;
}

static void give(building *b, uint32_t slot, uint32_t n)
{
    NS_CHECK(n > 0 && slot + n <= b->pool.top);
    if (n == 1)
        NS_PUSH(b->scratch, b->pool.singles, slot);
    else
        NS_PUSH(b->scratch, b->pool.blocks, (block){.slot = slot, .n = n});
}

/* x and t, parameters and numbers have fixed slots. */
static void place_leaves(building *b, ns_stream *stream)
{
    const ns_tape *tape = b->tape;
    memset(b->slot, 0xff, tape->ncells * sizeof *b->slot);
    for (uint32_t i = 0; i <= tape->nx; i++)
        b->slot[i] = take(&b->pool, 1);
    for (uint32_t i = 0; i < tape->np; i++) {
        if (tape->param[i] == NONE)
            continue;
        uint32_t slot = b->slot[tape->param[i]] = take(&b->pool, 1);
        NS_PUSH(b->arena, stream->params,
                (ns_stream_param){.place = slot * NS_STREAM_CELL, .index = i});
    }
    for (uint32_t i = 0; i < tape->constants.n; i++) {
        const ns_tape_constant *constant = &tape->constants.at[i];
        uint32_t slot = b->slot[constant->cell] = take(&b->pool, 1);
        NS_PUSH(b->arena, stream->constants,
                (ns_stream_constant){
                    .place = slot * NS_STREAM_CELL, .hi = constant->hi, .lo = constant->lo});
    }
}

static void use_last(building *b, uint32_t cell, uint32_t position)
{
    if (b->maker[cell] != NONE)
        b->last[b->maker[cell]] = position;
}

/* Last uses; what bind makes and eval uses lives for ever, as outputs do. */
static void find_last(building *b, uint32_t bound)
{
    const ns_tape *tape = b->tape;
    for (uint32_t position = 0; position < b->order.n; position++) {
        uint32_t i = b->order.at[position], cell[3];
        const ns_tape_op *op = &b->ops[i];
        uint32_t n = is_block(op) ? op->op == NS_OP_FACTOR ? op->b * op->b : op->b
                                  : operands(b, i, cell);
        for (uint32_t k = 0; k < n; k++)
            use_last(b, is_block(op) ? tape->args.at[op->a + k] : cell[k], position);
        if (op->op == NS_OP_SOLVE)
            b->last[b->factory[op->c]] = position;
    }
    for (uint32_t i = 0; i < tape->nbound; i++)
        if (b->last[i] >= bound)
            b->last[i] = NONE;
    for (uint32_t i = 0; i < tape->nout; i++)
        use_last(b, tape->out[i], NONE);
}

/* Frees what operation i made if this was its last use. */
static void release(building *b, uint32_t i, uint32_t position)
{
    if (i == NONE || b->last[i] != position)
        return;
    const ns_tape_op *op = &b->ops[i];
    uint32_t *slot = op->op == NS_OP_FACTOR ? &b->matrix[op->y] : &b->slot[op->y];
    uint32_t n = op->op == NS_OP_FACTOR  ? op->b * (op->b + 1)
                 : op->op == NS_OP_SOLVE ? op->b
                                         : 1;
    if (*slot != NONE)
        give(b, *slot, n);
    *slot = NONE;
}

/* ---- words ------------------------------------------------------------------------------- */

/* How a unit with one result is done when the accumulator holds the cell acc. */
typedef struct form {
    uint32_t code; /* without storing */
    uint32_t n;
    uint32_t cell[3];
    bool from_acc;
} form;

static form form_of_sum(const building *b, uint32_t i, uint32_t acc)
{
    NS_CHECK(b->ops[i].op == NS_OP_ADD || b->ops[i].op == NS_OP_SUB);
    NS_CHECK(b->absorbed[b->product[i]]);
    const ns_tape_op *op = &b->ops[i], *product = &b->ops[b->product[i]];
    bool first = product->y == op->a;
    uint32_t other = first ? op->b : op->a, P = product->a, Q = product->b;
    /* codes M, A, F of one kind follow each other, each with its storing form */
    uint32_t kind = op->op == NS_OP_ADD ? NS_CODE_ADD_PRODUCT_M
                    : first             ? NS_CODE_PRODUCT_SUB_M
                                        : NS_CODE_SUB_PRODUCT_M;
    if (other == acc && P != acc && Q != acc)
        return (form){.code = kind + 2, .n = 2, .cell = {P, Q}, .from_acc = true};
    if (other != acc && (P == acc) != (Q == acc))
        return (form){
            .code = kind + 4, .n = 2, .cell = {P == acc ? Q : P, other}, .from_acc = true};
    return (form){.code = kind, .n = 3, .cell = {P, Q, other}};
}

static form form_of(const building *b, uint32_t i, uint32_t acc)
{
    if (b->product[i] != NONE)
        return form_of_sum(b, i, acc);
    const ns_tape_op *op = &b->ops[i];
    uint32_t mm, am, ma; /* both in cells, a in the accumulator, b there */
    switch (op->op) {
    case NS_OP_ADD:
        mm = NS_CODE_ADD_MM, am = ma = NS_CODE_ADD_AM;
        break;
    case NS_OP_SUB:
        mm = NS_CODE_SUB_MM, am = NS_CODE_SUB_AM, ma = NS_CODE_SUB_MA;
        break;
    case NS_OP_MUL:
        mm = NS_CODE_MUL_MM, am = ma = NS_CODE_MUL_AM;
        break;
    case NS_OP_DIV:
        mm = NS_CODE_DIV_MM, am = NS_CODE_DIV_AM, ma = NS_CODE_DIV_MA;
        break;
    case NS_TAPE_SQUARE:
        if (op->a == acc)
            return (form){.code = NS_CODE_MUL_AA, .from_acc = true};
        return (form){.code = NS_CODE_MUL_MM, .n = 2, .cell = {op->a, op->a}};
    case NS_OP_NEG:
    case NS_OP_SQRT: {
        bool neg = op->op == NS_OP_NEG;
        if (op->a == acc)
            return (form){.code = neg ? NS_CODE_NEG_A : NS_CODE_SQRT_A, .from_acc = true};
        return (form){.code = neg ? NS_CODE_NEG_M : NS_CODE_SQRT_M, .n = 1, .cell = {op->a}};
    }
    default:
        return (form){.code = NS_CODE_CALL, .n = 2, .cell = {op->a, op->b}};
    }
    if (op->a == acc && op->b != acc)
        return (form){.code = am, .n = 1, .cell = {op->b}, .from_acc = true};
    if (op->b == acc && op->a != acc)
        return (form){.code = ma, .n = 1, .cell = {op->a}, .from_acc = true};
    return (form){.code = mm, .n = 2, .cell = {op->a, op->b}};
}

static void put(building *b, uint32_t word)
{
    NS_PUSH(b->scratch, b->words, word);
}

static uint32_t place(const building *b, uint32_t cell)
{
    NS_CHECK(b->slot[cell] != NONE);
    return b->slot[cell] * NS_STREAM_CELL;
}

static void encode_block(building *b, const ns_tape_op *op, uint32_t position)
{
    uint32_t n = op->b;
    bool factor = op->op == NS_OP_FACTOR;
    uint32_t count = factor ? n * n : n;
    put(b, factor ? NS_CODE_FACTOR : NS_CODE_SOLVE);
    put(b, n);
    if (factor)
        b->matrix[op->y] = take(&b->pool, n * (n + 1));
    put(b, b->matrix[factor ? op->y : op->c] * NS_STREAM_CELL);
    if (!factor) {
        uint32_t slot = take(&b->pool, n);
        for (uint32_t k = 0; k < n; k++)
            b->slot[op->y + k] = slot + k;
        put(b, slot * NS_STREAM_CELL);
    }
    const uint32_t *cell = b->tape->args.at + op->a;
    for (uint32_t k = 0; k < count; k++)
        put(b, place(b, cell[k]));
    for (uint32_t k = 0; k < count; k++)
        release(b, b->maker[cell[k]], position);
    if (!factor)
        release(b, b->factory[op->c], position);
}

static void encode_sincos(building *b, uint32_t i, uint32_t position)
{
    NS_CHECK(b->ops[i].a == b->ops[b->twin[i]].a);
    const ns_tape_op *op = &b->ops[i], *twin = &b->ops[b->twin[i]];
    const ns_tape_op *sine = op->op == NS_OP_SIN ? op : twin, *cosine = sine == op ? twin : op;
    put(b, NS_CODE_SINCOS);
    put(b, place(b, op->a));
    release(b, b->maker[op->a], position);
    b->slot[sine->y] = take(&b->pool, 1);
    b->slot[cosine->y] = take(&b->pool, 1);
    put(b, place(b, sine->y));
    put(b, place(b, cosine->y));
}

/* Returns the cell the accumulator holds afterwards. */
static uint32_t encode_unit(building *b, uint32_t position, uint32_t end, uint32_t acc)
{
    uint32_t i = b->order.at[position];
    const ns_tape_op *op = &b->ops[i];
    if (is_block(op)) {
        encode_block(b, op, position);
        return NONE;
    }
    if (b->twin[i] != NONE) {
        encode_sincos(b, i, position);
        return NONE;
    }
    form f = form_of(b, i, acc);
    bool store = true;
    bool call = f.code == NS_CODE_CALL;
    if (!call && position + 1 < end && b->uses[op->y] == 1) {
        uint32_t next = b->order.at[position + 1];
        store = is_block(&b->ops[next]) || b->twin[next] != NONE ||
                !form_of(b, next, op->y).from_acc;
    }
    put(b, f.code + (store && !call));
    if (call)
        put(b, op->op);
    for (uint32_t k = 0; k < f.n; k++)
        put(b, place(b, f.cell[k]));
    uint32_t cell[3], n = operands(b, i, cell);
    for (uint32_t k = 0; k < n; k++)
        release(b, b->maker[cell[k]], position);
    if (store) {
        b->slot[op->y] = take(&b->pool, 1);
        put(b, place(b, op->y));
    }
    return call ? NONE : op->y;
}

static const uint32_t *encode(building *b, uint32_t begin, uint32_t end)
{
    uint32_t acc = NONE;
    b->words.n = 0;
    for (uint32_t position = begin; position < end; position++)
        acc = encode_unit(b, position, end, acc);
    put(b, NS_CODE_END);
    return ns_arena_copy(b->arena, b->words.at, b->words.n * sizeof *b->words.at);
}

static uint32_t *array_of(ns_arena *arena, uint32_t n, bool none)
{
    uint32_t *array = NS_NEW_ARRAY(arena, uint32_t, n + 1);
    if (none)
        memset(array, 0xff, n * sizeof *array);
    return array;
}

ns_stream *ns_stream_build(ns_arena *arena, ns_arena *scratch, const ns_tape *tape)
{
    NS_CHECK(scratch != arena);
    NS_CHECK(tape->ncells > tape->nx);
    NS_CHECK(tape->nbound <= tape->ops.n);
    uint32_t nops = tape->ops.n;
    building *b = NS_NEW(scratch, building);
    *b = (building){.arena = arena, .scratch = scratch, .tape = tape, .ops = tape->ops.at};
    b->maker = array_of(scratch, tape->ncells, true);
    b->uses = array_of(scratch, tape->ncells, false);
    b->slot = array_of(scratch, tape->ncells, true);
    b->factory = array_of(scratch, tape->nfactors, true);
    b->matrix = array_of(scratch, tape->nfactors, true);
    b->product = array_of(scratch, nops, true);
    b->twin = array_of(scratch, nops, true);
    b->need = array_of(scratch, nops, false);
    b->last = array_of(scratch, nops, true);
    b->absorbed = NS_NEW_ARRAY(scratch, bool, nops + 1);
    b->done = NS_NEW_ARRAY(scratch, bool, nops + 1);
    for (uint32_t i = 0; i < nops; i++) {
        const ns_tape_op *op = &b->ops[i];
        if (op->op == NS_OP_FACTOR)
            b->factory[op->y] = i;
        else
            for (uint32_t k = 0; k < (op->op == NS_OP_SOLVE ? op->b : 1); k++)
                b->maker[op->y + k] = i;
    }
    count_uses(b);
    fuse(b);
    uint32_t bound = order(b);

    ns_stream *stream = NS_NEW(arena, ns_stream);
    stream->nx = tape->nx;
    stream->nout = tape->nout;
    place_leaves(b, stream);
    find_last(b, bound);
    stream->bound = encode(b, 0, bound);
    stream->run = encode(b, bound, b->order.n);
    stream->cells = b->pool.top;
    stream->out = array_of(arena, tape->nout, false);
    for (uint32_t i = 0; i < tape->nout; i++)
        stream->out[i] = place(b, tape->out[i]);
    return stream;
}
