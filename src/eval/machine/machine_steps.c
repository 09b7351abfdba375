/* From stream to steps: operations on cells, one for each instruction of the stream, many for a
 * small system; and a look back from the end, which tells for each value when it is used
 * next. */
#include <string.h>

#include "base/check.h"
#include "eval/machine/machine_internal.h"

/* ---- steps ------------------------------------------------------------------------------- */

static ns_machine_step *add_step(ns_machine *m, ns_step_kind kind)
{
    NS_CHECK(kind <= NS_STEP_SOLVE);
    NS_PUSH(m->arena, m->steps, (ns_machine_step){.kind = kind, .y = NS_NEVER, .z = NS_NEVER});
    return &m->steps.at[m->steps.n - 1];
}

/* ---- systems -----------------------------------------------------------------------------
 *
 * expr/lu.inc as single steps if they are small, calls of the engine if not. */

static void add_copies(ns_machine *m, ns_step_kind kind, uint32_t n, uint32_t y,
                       const uint32_t *words)
{
    for (uint32_t i = 0; i < n; i++) {
        ns_machine_step *s = add_step(m, kind);
        s->a = words[i] / NS_STREAM_CELL;
        s->y = y + i;
    }
}

static void add_arithmetic(ns_machine *m, ns_x86_op op, uint32_t y, uint32_t a, uint32_t b,
                           uint32_t c)
{
    ns_machine_step *s = add_step(m, NS_STEP_ARITHMETIC);
    s->op = op;
    s->y = y;
    s->a = a;
    s->b = b;
    s->c = c;
}

static void add_system(ns_machine *m, ns_step_kind kind, uint32_t n, uint32_t row, uint32_t y,
                       uint32_t matrix)
{
    ns_machine_step *s = add_step(m, kind);
    s->n = n;
    s->row = row;
    s->y = y;
    s->a = matrix;
}

static void add_factor(ns_machine *m, uint32_t n, uint32_t matrix, const uint32_t *words)
{
    NS_CHECK(n > 0);
    if (n > NS_MACHINE_SMALL) {
        add_copies(m, NS_STEP_STORE, n * n, matrix, words);
        add_system(m, NS_STEP_FACTOR, n, 0, matrix, matrix);
        return;
    }
    add_copies(m, NS_STEP_COPY, n * n, matrix, words);
    for (uint32_t r = 0; r < n; r++) {
        const uint32_t upper = matrix + r * n;
        if (r + 1 < n)
            add_system(m, NS_STEP_PIVOT, n, r, matrix, matrix);
        ns_machine_step *s = add_step(m, NS_STEP_INVERSE);
        s->y = s->a = upper + r;
        for (uint32_t i = r + 1; i < n; i++) {
            const uint32_t lower = matrix + i * n;
            add_arithmetic(m, NS_X86_MUL, lower + r, lower + r, upper + r, NS_NEVER);
            for (uint32_t c = r + 1; c < n; c++)
                add_arithmetic(m, NS_X86_SUB_PRODUCT, lower + c, lower + r, upper + c,
                               lower + c);
        }
    }
}

static void add_solve(ns_machine *m, uint32_t n, uint32_t matrix, uint32_t y,
                      const uint32_t *words)
{
    NS_CHECK(n > 0);
    if (n > NS_MACHINE_SMALL) {
        add_copies(m, NS_STEP_STORE, n, y, words);
        add_system(m, NS_STEP_SOLVE, n, 0, y, matrix);
        return;
    }
    add_copies(m, NS_STEP_COPY, n, y, words);
    for (uint32_t r = 0; r + 1 < n; r++)
        add_system(m, NS_STEP_EXCHANGE, n, r, y, matrix);
    for (uint32_t r = 1; r < n; r++)
        for (uint32_t c = 0; c < r; c++)
            add_arithmetic(m, NS_X86_SUB_PRODUCT, y + r, matrix + r * n + c, y + c, y + r);
    for (uint32_t r = n; r-- > 0;) {
        for (uint32_t c = r + 1; c < n; c++)
            add_arithmetic(m, NS_X86_SUB_PRODUCT, y + r, matrix + r * n + c, y + c, y + r);
        add_arithmetic(m, NS_X86_MUL, y + r, y + r, matrix + r * n + r, NS_NEVER);
    }
}

/* ---- the stream -------------------------------------------------------------------------- */

enum { A, B, C, ACC, NO };

/* The forms of forms.def: what is done with which operands. */
typedef struct form {
    uint8_t op, a, b, c; /* c: what a product is added to or subtracted from */
} form;

static const form forms[NS_CODE_COUNT] = {
#define FORM(NAME, OP, a, b, c)                                                                \
    [NS_CODE_##NAME] = {NS_X86_##OP, a, b, c}, [NS_CODE_##NAME##_S] = {NS_X86_##OP, a, b, c}
#define FORM3(NAME)                                                                            \
    FORM(NAME##_M, NAME, A, B, C), FORM(NAME##_A, NAME, A, B, ACC),                            \
        FORM(NAME##_F, NAME, A, ACC, B)
    FORM(ADD_MM, ADD, A, B, NO),
    FORM(ADD_AM, ADD, ACC, A, NO),
    FORM(SUB_MM, SUB, A, B, NO),
    FORM(SUB_AM, SUB, ACC, A, NO),
    FORM(SUB_MA, SUB, A, ACC, NO),
    FORM(MUL_MM, MUL, A, B, NO),
    FORM(MUL_AM, MUL, ACC, A, NO),
    FORM(MUL_AA, MUL, ACC, ACC, NO),
    FORM(DIV_MM, DIV, A, B, NO),
    FORM(DIV_AM, DIV, ACC, A, NO),
    FORM(DIV_MA, DIV, A, ACC, NO),
    FORM(NEG_M, XOR, A, NO, NO),
    FORM(NEG_A, XOR, ACC, NO, NO),
    FORM(SQRT_M, SQRT, A, NO, NO),
    FORM(SQRT_A, SQRT, ACC, NO, NO),
    FORM3(ADD_PRODUCT),
    FORM3(SUB_PRODUCT),
    FORM3(PRODUCT_SUB),
#undef FORM
#undef FORM3
};

static const struct {
    uint8_t operands;
    bool stores;
} lengths[NS_CODE_COUNT] = {
#define NS_FORM(NAME, OPERANDS, EXPRESSION)                                                    \
    [NS_CODE_##NAME] = {OPERANDS, false}, [NS_CODE_##NAME##_S] = {OPERANDS, true},
#include "eval/forms.def"
#undef NS_FORM
};

static uint32_t cell_of(uint32_t place)
{
    return place / NS_STREAM_CELL;
}

/* A form at pc; acc: the cell whose value the accumulator has.  Returns the same after it. */
static uint32_t add_form(ns_machine *m, const uint32_t *pc, uint32_t acc)
{
    const form f = forms[*pc];
    const uint32_t n = lengths[*pc].operands;
    const uint32_t cells[] = {cell_of(pc[1]), n > 1 ? cell_of(pc[2]) : 0,
                              n > 2 ? cell_of(pc[3]) : 0, acc, NS_NEVER};
    ns_machine_step *s = add_step(m, NS_STEP_ARITHMETIC);
    s->op = f.op;
    s->form = true;
    s->a = cells[f.a];
    s->b = cells[f.b];
    s->c = cells[f.c];
    s->y = lengths[*pc].stores ? cell_of(pc[1 + n]) : m->stream->cells;
    return s->y;
}

static void add_stream(ns_machine *m)
{
    uint32_t acc = NS_NEVER;
    for (const uint32_t *pc = m->stream->run; *pc != NS_CODE_END;) {
        ns_machine_step *s;
        switch (*pc) {
        case NS_CODE_CALL:
            s = add_step(m, NS_STEP_CALL);
            s->op = pc[1];
            s->a = cell_of(pc[2]);
            s->b = cell_of(pc[3]);
            s->y = cell_of(pc[4]);
            pc += 5;
            break;
        case NS_CODE_SINCOS:
            s = add_step(m, NS_STEP_SINCOS);
            s->a = s->b = cell_of(pc[1]);
            s->y = cell_of(pc[2]);
            s->z = cell_of(pc[3]);
            pc += 4;
            break;
        case NS_CODE_FACTOR:
            add_factor(m, pc[1], cell_of(pc[2]), pc + 3);
            pc += 3 + pc[1] * pc[1];
            break;
        case NS_CODE_SOLVE:
            add_solve(m, pc[1], cell_of(pc[2]), cell_of(pc[3]), pc + 4);
            pc += 4 + pc[1];
            break;
        default:
            acc = add_form(m, pc, acc);
            pc += 1 + lengths[*pc].operands + lengths[*pc].stores;
        }
    }
}

/* ---- next uses --------------------------------------------------------------------------- */

static uint32_t note_read(ns_machine *m, uint32_t cell, uint32_t k)
{
    const uint32_t next = m->next[cell];
    m->next[cell] = k;
    return next;
}

static uint32_t note_write(ns_machine *m, uint32_t cell)
{
    const uint32_t next = m->next[cell];
    m->next[cell] = NS_NEVER;
    return next;
}

/* Rows of a system are exchanged where they are; they must be somewhere. */
static void note_alive(ns_machine *m, uint32_t first, uint32_t n, uint32_t k)
{
    for (uint32_t i = 0; i < n; i++)
        if (m->next[first + i] == NS_NEVER)
            m->next[first + i] = k;
}

static void note_arithmetic(ns_machine *m, ns_machine_step *s, uint32_t k)
{
    const bool one = s->kind != NS_STEP_ARITHMETIC || s->b == NS_NEVER;
    s->next = note_write(m, s->y);
    if (s->next == NS_NEVER) {
        s->kind = NS_STEP_NOTHING;
        return;
    }
    /* an operand that occurs twice: both times what comes after the step */
    s->next_a = m->next[s->a];
    s->next_b = one ? NS_NEVER : m->next[s->b];
    s->next_c = one || s->c == NS_NEVER ? NS_NEVER : m->next[s->c];
    m->next[s->a] = k;
    if (!one)
        m->next[s->b] = k;
    if (!one && s->c != NS_NEVER)
        m->next[s->c] = k;
}

static void note_call(ns_machine *m, const ns_machine_step *s, uint32_t k)
{
    switch (s->kind) {
    case NS_STEP_FACTOR: /* the matrix is read, and written */
        for (uint32_t i = 0; i < s->n * s->n; i++)
            note_read(m, s->y + i, k);
        break;
    case NS_STEP_SOLVE:
        for (uint32_t i = 0; i < s->n; i++)
            note_read(m, s->y + i, k);
        break;
    default:
        note_write(m, s->y);
        if (s->z != NS_NEVER)
            note_write(m, s->z);
        note_read(m, s->a, k);
        note_read(m, s->b, k);
    }
}

static void find_next(ns_machine *m)
{
    memset(m->next, 0xff, (m->stream->cells + 1) * sizeof *m->next);
    for (uint32_t j = 0; j < m->stream->nout; j++)
        m->next[cell_of(m->stream->out[j])] = m->steps.n;
    for (uint32_t k = m->steps.n; k-- > 0;) {
        ns_machine_step *s = &m->steps.at[k];
        switch (s->kind) {
        case NS_STEP_PIVOT:
            s->next_entry = NS_NEW_ARRAY(m->arena, uint32_t, s->n);
            note_alive(m, s->y + s->row * s->n, (s->n - s->row) * s->n, k);
            for (uint32_t i = s->row; i < s->n; i++)
                s->next_entry[i] = note_read(m, s->y + i * s->n + s->row, k);
            break;
        case NS_STEP_EXCHANGE:
            note_alive(m, s->y, s->n, k);
            break;
        case NS_STEP_NOTHING:
        case NS_STEP_ARITHMETIC:
        case NS_STEP_COPY:
        case NS_STEP_INVERSE:
            note_arithmetic(m, s, k);
            break;
        case NS_STEP_STORE:
            note_write(m, s->y);
            s->next_a = note_read(m, s->a, k);
            break;
        case NS_STEP_CALL:
        case NS_STEP_SINCOS:
        case NS_STEP_FACTOR:
        case NS_STEP_SOLVE:
            note_call(m, s, k);
        }
    }
}

void ns_machine_steps(ns_machine *m)
{
    NS_CHECK(m->steps.n == 0);
    add_stream(m);
    find_next(m);
}
