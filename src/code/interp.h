/* The interpreter, a template: included once per engine with
 *
 *     NS_REAL            the number type of arrays
 *     NS_PART            what one machine operation works on: NS_REAL or a vector of it
 *     NS_MEMORY          NS_PART as it lies in arrays of NS_REAL
 *     NS_PARTS           parts of a cell (NS_PARTS vectors make the eight lanes)
 *     NS_ENGINE(name)    decorates names; NS_LINKAGE is static or nothing
 *     F(f)               the function f for an NS_PART, and F(sincos)
 *     NS_SPREAD(hi, lo)  the number hi + lo in all lanes of a part
 *     engine_factor(n, lu), engine_solve(n, lu, x): on cells, n of pivots behind the factors
 *
 * A cell of the work block is NS_PARTS parts.  Each code's handler ends with the jump to the
 * next one's, so that the processor predicts every jump from its own history; the accumulator
 * acc stays in registers from one handler to the next. */
#ifdef NS_PART

#include "code/engine.h"

typedef struct cell {
    NS_MEMORY part[NS_PARTS];
} cell;

static inline cell *at(NS_REAL *work, uint32_t place)
{
    return (cell *)((char *)work + (size_t)place * (sizeof(cell) / NS_STREAM_CELL));
}

static inline NS_PART load(NS_REAL *work, uint32_t place, unsigned part)
{
    return at(work, place)->part[part];
}

static inline const cell *input(const NS_REAL *array, uint32_t i)
{
    return (const cell *)array + i;
}

/* Values by the table of operations: value_ADD(a, b) and so on, and as functions of a call. */
#define NS_OP_SPECIAL(...)
#define NS_OP(ID, NAME, ARITY, VALUE, ...)                                                      \
    static inline NS_PART value_##ID(NS_PART a, NS_PART b)                                      \
    {                                                                                           \
        (void)b;                                                                                \
        return VALUE;                                                                           \
    }                                                                                           \
    static void call_##ID(cell *y, const cell *a, const cell *b)                                \
    {                                                                                           \
        for (unsigned part = 0; part < NS_PARTS; part++)                                        \
            y->part[part] = value_##ID(a->part[part], b->part[part]);                           \
    }
#include "expr/ops.def"
#undef NS_OP

static void (*const calls[])(cell *y, const cell *a, const cell *b) = {
#define NS_OP(ID, ...) [NS_OP_##ID] = call_##ID,
#include "expr/ops.def"
#undef NS_OP
};

/* What is too long for a handler stays out of it, so that the compiler can keep pc, work and
 * acc in registers there. */

__attribute__((noinline)) static void run_call(const uint32_t *pc, NS_REAL *work)
{
    calls[pc[1]](at(work, pc[4]), at(work, pc[2]), at(work, pc[3]));
}

__attribute__((noinline)) static void run_sincos(const uint32_t *pc, NS_REAL *work)
{
    const cell *a = at(work, pc[1]);
    cell *sine = at(work, pc[2]), *cosine = at(work, pc[3]);
    for (unsigned part = 0; part < NS_PARTS; part++) {
        NS_PART s, c;
        F(sincos)(a->part[part], &s, &c);
        sine->part[part] = s;
        cosine->part[part] = c;
    }
}

__attribute__((noinline)) static void run_factor(const uint32_t *pc, NS_REAL *work)
{
    uint32_t n = pc[1];
    cell *lu = at(work, pc[2]);
    for (uint32_t k = 0; k < n * n; k++)
        lu[k] = *at(work, pc[3 + k]);
    engine_factor(n, (NS_REAL *)lu);
}

__attribute__((noinline)) static void run_solve(const uint32_t *pc, NS_REAL *work)
{
    uint32_t n = pc[1];
    cell *x = at(work, pc[3]);
    for (uint32_t k = 0; k < n; k++)
        x[k] = *at(work, pc[4 + k]);
    engine_solve(n, (const NS_REAL *)at(work, pc[2]), (NS_REAL *)x);
}

/* Labels as values are an extension that gcc and clang share. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

/* Without this gcc finds that two handlers begin with the same operation on acc (a square root,
 * say) and does it in advance before every jump. */
#if defined(__x86_64__)
#define PIN(acc) __asm__("" : "+x"(acc))
#else
#define PIN(acc) (void)0
#endif

static void run(const uint32_t *pc, NS_REAL *work)
{
    static const void *const handler[NS_CODE_COUNT] = {
        [NS_CODE_END] = &&END,
#define NS_FORM(NAME, ...) [NS_CODE_##NAME] = &&NAME, [NS_CODE_##NAME##_S] = &&NAME##_S,
#include "code/forms.def"
#undef NS_FORM
        [NS_CODE_CALL] = &&CALL,
        [NS_CODE_SINCOS] = &&SINCOS,
        [NS_CODE_FACTOR] = &&FACTOR,
        [NS_CODE_SOLVE] = &&SOLVE,
    };
    NS_PART acc_[NS_PARTS] = {0};

#define NEXT(words)                                                                             \
    do {                                                                                        \
        pc += (words);                                                                          \
        goto *handler[*pc];                                                                     \
    } while (0)
#define NEXT_CLEARED(words)                                                                     \
    do {                                                                                        \
        for (unsigned part = 0; part < NS_PARTS; part++)                                        \
            acc_[part] = (NS_PART){0};                                                          \
        NEXT(words);                                                                            \
    } while (0)
#define OPERAND(k) load(work, pc[k], part_)
#define RESULT(k) at(work, pc[k])->part[part_]
#define ADD value_ADD
#define SUB value_SUB
#define MUL value_MUL
#define DIV value_DIV
#define NEG value_NEG
#define SQRT value_SQRT

    goto *handler[*pc];

#define NS_FORM(NAME, OPERANDS, EXPRESSION)                                                     \
    NAME:                                                                                       \
    for (unsigned part_ = 0; part_ < NS_PARTS; part_++) {                                       \
        NS_PART acc = acc_[part_];                                                              \
        PIN(acc);                                                                               \
        const NS_PART A = OPERANDS > 0 ? OPERAND(1) : acc, B = OPERANDS > 1 ? OPERAND(2) : acc, \
                      C = OPERANDS > 2 ? OPERAND(3) : acc;                                      \
        (void)A, (void)B, (void)C, (void)acc;                                                   \
        acc_[part_] = EXPRESSION;                                                               \
    }                                                                                           \
    NEXT(1 + OPERANDS);                                                                         \
    NAME##_S:                                                                                   \
    for (unsigned part_ = 0; part_ < NS_PARTS; part_++) {                                       \
        NS_PART acc = acc_[part_];                                                              \
        PIN(acc);                                                                               \
        const NS_PART A = OPERANDS > 0 ? OPERAND(1) : acc, B = OPERANDS > 1 ? OPERAND(2) : acc, \
                      C = OPERANDS > 2 ? OPERAND(3) : acc;                                      \
        (void)A, (void)B, (void)C, (void)acc;                                                   \
        RESULT(1 + OPERANDS) = acc_[part_] = EXPRESSION;                                        \
    }                                                                                           \
    NEXT(2 + OPERANDS);
#include "code/forms.def"
#undef NS_FORM

    /* behind these the accumulator holds nothing */
CALL:
    run_call(pc, work);
    NEXT_CLEARED(5);
SINCOS:
    run_sincos(pc, work);
    NEXT_CLEARED(4);
FACTOR:
    run_factor(pc, work);
    NEXT_CLEARED(3 + pc[1] * pc[1]);
SOLVE:
    run_solve(pc, work);
    NEXT_CLEARED(4 + pc[1]);
END:
    return;

#undef PIN
#undef NEXT
#undef NEXT_CLEARED
#undef OPERAND
#undef RESULT
#undef ADD
#undef SUB
#undef MUL
#undef DIV
#undef NEG
#undef SQRT
}

#pragma GCC diagnostic pop
#undef NS_OP_SPECIAL

static void fill_bound(const ns_stream *stream, NS_REAL *work, const NS_REAL *p)
{
    for (uint32_t i = 0; i < stream->constants.n; i++) {
        const ns_stream_constant *c = &stream->constants.at[i];
        for (unsigned part = 0; part < NS_PARTS; part++)
            at(work, c->place)->part[part] = NS_SPREAD(c->hi, c->lo);
    }
    for (uint32_t i = 0; i < stream->params.n; i++)
        *at(work, stream->params.at[i].place) = *input(p, stream->params.at[i].index);
}

NS_LINKAGE void NS_ENGINE(bind)(const ns_stream *stream, NS_REAL *work, const NS_REAL *p)
{
    fill_bound(stream, work, p);
    run(stream->bound, work);
}

NS_LINKAGE void NS_ENGINE(eval)(const ns_stream *stream, NS_REAL *work, const NS_REAL *t, const NS_REAL *x,
                     NS_REAL *out)
{
    cell *inputs = (cell *)work, *outputs = (cell *)out;
    for (uint32_t i = 0; i < stream->nx; i++)
        inputs[i] = *input(x, i);
    inputs[stream->nx] = *input(t, 0);
    run(stream->run, work);
    for (uint32_t i = 0; i < stream->nout; i++)
        outputs[i] = *at(work, stream->out[i]);
}

#endif
