/* Machine code: see machine.h.  The stream becomes steps (machine_steps.c), which are written
 * one by one on registers that machine_registers.c gives out. */
#include "eval/machine/machine.h"

#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "eval/machine/machine_internal.h"

static const uint64_t bits_of_one = UINT64_C(0x3ff0000000000000);
static const uint64_t bits_of_sign = UINT64_C(0x8000000000000000);

static uint32_t cell_of(uint32_t place)
{
    return place / NS_STREAM_CELL;
}

/* ---- arithmetic -------------------------------------------------------------------------- */

static void exchange_operands(ns_machine_step *s)
{
    const uint32_t a = s->a, next = s->next_a;
    s->a = s->b;
    s->next_a = s->next_b;
    s->b = a;
    s->next_b = next;
}

/* The factor or term that is in a register, or will be needed there, comes first. */
static void order_operands(const ns_machine *m, ns_machine_step *s)
{
    const bool a = ns_machine_is_held(m, s->a), b = ns_machine_is_held(m, s->b);
    if (a ? false : b || (s->next_a == NS_NEVER && s->next_b != NS_NEVER))
        exchange_operands(s);
}

/* First and second operand of an instruction: a register, and wherever b is. */
static uint8_t operands(ns_machine *m, const ns_machine_step *s, ns_x86_operand *b)
{
    const uint8_t a = ns_machine_fetch(m, s->a, s->next_a);
    *b = s->b == s->a ? ns_machine_register(a) : ns_machine_operand(m, s->b);
    return a;
}

static void write_simple(ns_machine *m, ns_machine_step s)
{
    ns_x86_operand b;
    if (s.op == NS_X86_ADD || s.op == NS_X86_MUL)
        order_operands(m, &s);
    uint8_t a;
    if (s.op == NS_X86_XOR) {
        a = ns_machine_fetch(m, s.a, s.next_a);
        b = ns_machine_number(m, bits_of_sign);
        if (m->target.shape == NS_X86_256) { /* which cannot spread an operand */
            const uint8_t sign = ns_machine_temporary(m);
            ns_machine_load(m, sign, b);
            b = ns_machine_register(sign);
        }
    } else if (s.op == NS_X86_SQRT) {
        a = NS_X86_NONE;
        b = ns_machine_operand(m, s.a);
        if (m->target.shape == NS_X86_ONE) { /* its upper half is taken from somewhere */
            a = ns_machine_fetch(m, s.a, s.next_a);
            b = ns_machine_register(a);
        }
    } else
        a = operands(m, &s, &b);
    ns_machine_release(m, s.a, s.next_a);
    ns_machine_release(m, s.b, s.next_b);
    ns_machine_end_temporaries(m);
    const uint8_t y = ns_machine_take(m);
    ns_machine_instruction(m, (ns_x86_op)s.op, y, a, b);
    ns_machine_define(m, s.y, y, s.next);
}

/* c and a * b, rounded twice. */
static void write_product(ns_machine *m, ns_machine_step s)
{
    ns_x86_operand b;
    order_operands(m, &s);
    const uint8_t a = operands(m, &s, &b);
    if (s.a != s.c)
        ns_machine_release(m, s.a, s.next_a);
    if (s.b != s.c)
        ns_machine_release(m, s.b, s.next_b);
    ns_machine_end_temporaries(m);
    const uint8_t product = ns_machine_temporary(m);
    ns_machine_instruction(m, NS_X86_MUL, product, a, b);
    uint8_t first = product;
    ns_x86_operand second;
    if (s.op == NS_X86_SUB_PRODUCT) {
        first = ns_machine_fetch(m, s.c, s.next_c);
        second = ns_machine_register(product);
    } else
        second = ns_machine_operand(m, s.c);
    ns_machine_release(m, s.c, s.next_c);
    ns_machine_end_temporaries(m);
    const uint8_t y = ns_machine_take(m);
    ns_machine_instruction(m, s.op == NS_X86_ADD_PRODUCT ? NS_X86_ADD : NS_X86_SUB, y, first,
                           second);
    ns_machine_define(m, s.y, y, s.next);
}

/* The same rounded once: the register with c becomes the result. */
static void write_fused(ns_machine *m, ns_machine_step s)
{
    ns_x86_operand b;
    order_operands(m, &s);
    const uint8_t a = operands(m, &s, &b);
    const bool mine = ns_machine_is_held(m, s.c) && s.next_c == NS_NEVER && s.c != s.a &&
                      s.c != s.b;
    uint8_t y;
    if (mine) {
        y = m->where[s.c];
        ns_machine_let_go(m, y);
        m->free &= ~ns_machine_bit(y);
    } else {
        y = ns_machine_take(m);
        ns_machine_load(m, y, ns_machine_operand(m, s.c));
    }
    ns_machine_instruction(m, (ns_x86_op)s.op, y, a, b);
    ns_machine_release(m, s.a, s.next_a);
    ns_machine_release(m, s.b, s.next_b);
    ns_machine_release(m, s.c, s.next_c);
    ns_machine_end_temporaries(m);
    ns_machine_define(m, s.y, y, s.next);
}

static void write_arithmetic(ns_machine *m, const ns_machine_step *s)
{
    ns_machine_pin(m, s->a);
    ns_machine_pin(m, s->b);
    ns_machine_pin(m, s->c);
    if (s->c == NS_NEVER)
        write_simple(m, *s);
    else if (m->target.fused && s->form)
        write_fused(m, *s);
    else
        write_product(m, *s);
}

static void write_copy(ns_machine *m, const ns_machine_step *s)
{
    uint8_t y;
    ns_machine_pin(m, s->a);
    if (ns_machine_is_held(m, s->a) && s->next_a == NS_NEVER) {
        y = m->where[s->a];
        ns_machine_let_go(m, y);
    } else {
        y = ns_machine_take(m);
        ns_machine_load(m, y, ns_machine_operand(m, s->a));
        ns_machine_release(m, s->a, s->next_a);
    }
    ns_machine_define(m, s->y, y, s->next);
}

static void write_store(ns_machine *m, const ns_machine_step *s)
{
    ns_machine_pin(m, s->a);
    ns_machine_store(m, ns_machine_fetch(m, s->a, s->next_a), ns_machine_cell(m, s->y));
    ns_machine_release(m, s->a, s->next_a);
    ns_machine_end_temporaries(m);
}

static void write_inverse(ns_machine *m, const ns_machine_step *s)
{
    ns_machine_pin(m, s->a);
    const uint8_t one = ns_machine_temporary(m);
    ns_machine_load_number(m, one, bits_of_one);
    const ns_x86_operand a = ns_machine_operand(m, s->a);
    ns_machine_release(m, s->a, s->next_a);
    ns_machine_end_temporaries(m);
    const uint8_t y = ns_machine_take(m);
    ns_machine_instruction(m, NS_X86_DIV, y, one, a);
    ns_machine_define(m, s->y, y, s->next);
}

/* ---- calls ------------------------------------------------------------------------------- */

/* Functions find their arguments in memory, numbers in the work block. */
static void address(ns_machine *m, uint8_t to, uint32_t cell)
{
    const ns_x86_operand at = m->constant[cell] ? ns_machine_cell(m, cell)
                                                : ns_machine_outside(m, cell);
    ns_x86_address(m->x, to, at.reg, at.disp);
}

static void write_call(ns_machine *m, const ns_machine_step *s)
{
    size_t function;
    m->part = 0;
    switch (s->kind) {
    case NS_STEP_CALL:
        address(m, NS_X86_RDI, s->y);
        address(m, NS_X86_RSI, s->a);
        address(m, NS_X86_RDX, s->b);
        function = offsetof(ns_engine_math, call) + s->op * sizeof(void (*)(void));
        break;
    case NS_STEP_SINCOS:
        address(m, NS_X86_RDI, s->y);
        address(m, NS_X86_RSI, s->z);
        address(m, NS_X86_RDX, s->a);
        function = offsetof(ns_engine_math, sincos);
        break;
    case NS_STEP_FACTOR:
        ns_x86_immediate(m->x, NS_X86_RDI, s->n);
        address(m, NS_X86_RSI, s->y);
        function = offsetof(ns_engine_math, factor);
        break;
    default:
        ns_x86_immediate(m->x, NS_X86_RDI, s->n);
        address(m, NS_X86_RSI, s->a);
        address(m, NS_X86_RDX, s->y);
        function = offsetof(ns_engine_math, solve);
    }
    ns_x86_call(m->x, m->math, (int32_t)function);
}

static bool is_call(const ns_machine_step *s)
{
    return s->kind >= NS_STEP_CALL;
}

/* ---- functions --------------------------------------------------------------------------- */

static void write_step(ns_machine *m, const ns_machine_step *s)
{
    switch (s->kind) {
    case NS_STEP_ARITHMETIC:
        write_arithmetic(m, s);
        break;
    case NS_STEP_COPY:
        write_copy(m, s);
        break;
    case NS_STEP_STORE:
        write_store(m, s);
        break;
    case NS_STEP_INVERSE:
        write_inverse(m, s);
        break;
    case NS_STEP_PIVOT:
        ns_machine_pivot(m, s);
        for (uint32_t i = s->row; i < s->n; i++)
            ns_machine_release(m, s->y + i * s->n + s->row, s->next_entry[i]);
        ns_machine_end_temporaries(m);
        break;
    case NS_STEP_EXCHANGE:
        ns_machine_exchange(m, s);
        ns_machine_end_temporaries(m);
        break;
    default:
        break;
    }
}

static void write_outputs(ns_machine *m)
{
    const ns_stream *stream = m->stream;
    for (uint32_t j = 0; j < stream->nout; j++)
        ns_machine_pin(m, cell_of(stream->out[j]));
    /* those in registers first: they make room for the others */
    for (int held = 1; held >= 0; held--)
        for (uint32_t j = 0; j < stream->nout; j++) {
            const uint32_t cell = cell_of(stream->out[j]);
            if (ns_machine_is_held(m, cell) == (held == 1))
                ns_machine_store(m, held ? m->where[cell] : ns_machine_fetch(m, cell, NS_NEVER),
                                 ns_machine_memory(m, m->out, j));
            if (held == 0)
                ns_machine_end_temporaries(m);
            else if (j + 1 == stream->nout)
                m->pinned = 0;
        }
}

/* Inputs that are outputs too: the caller may have both in one place. */
static void move_inputs(ns_machine *m)
{
    for (uint32_t i = 0; i <= m->stream->nx; i++)
        if (m->moved[i]) {
            const uint8_t base = i < m->stream->nx ? m->in : m->t;
            ns_machine_load(m, 0, ns_machine_memory(m, base, i < m->stream->nx ? i : 0));
            ns_machine_store(m, 0, ns_machine_cell(m, i));
        }
}

/* Steps from..to without calls, for one part of the cells. */
static void write_stretch(ns_machine *m, uint32_t from, uint32_t to)
{
    m->free = (uint32_t)((UINT64_C(1) << m->registers) - 1);
    m->pinned = m->dirty = m->temporary = 0;
    if (from == 0)
        move_inputs(m);
    for (m->position = from; m->position < to; m->position++)
        write_step(m, &m->steps.at[m->position]);
    if (to == m->steps.n)
        write_outputs(m);
    for (uint32_t r = 0; r < m->registers; r++)
        if (!(m->free & ns_machine_bit(r))) {
            if (to == m->steps.n)
                ns_machine_let_go(m, (uint8_t)r);
            else
                ns_machine_evict(m, (uint8_t)r);
        }
}

static const uint8_t saved[] = {NS_X86_RBX, NS_X86_RBP, NS_X86_R13, NS_X86_R14, NS_X86_R15};

/* With calls the arguments are kept in registers that calls leave alone; the pushes align the
 * stack. */
static void begin(ns_machine *m, bool calls)
{
    m->math = NS_X86_RDI;
    m->work = NS_X86_RSI;
    m->t = NS_X86_RDX;
    m->in = NS_X86_RCX;
    m->out = NS_X86_R8;
    if (!calls)
        return;
    uint8_t *const places[] = {&m->work, &m->in, &m->t, &m->out, &m->math};
    for (size_t i = 0; i < sizeof saved; i++)
        ns_x86_push(m->x, saved[i]);
    for (size_t i = 0; i < sizeof saved; i++) {
        ns_x86_copy(m->x, saved[i], *places[i]);
        *places[i] = saved[i];
    }
}

static void end(ns_machine *m, bool calls)
{
    static const uint8_t clear[] = {0xc5, 0xf8, 0x77}, back[] = {0xc3}; /* vzeroupper, ret */
    if (m->target.shape != NS_X86_ONE)
        ns_x86_bytes(m->x, clear, sizeof clear);
    for (size_t i = 0; calls && i < sizeof saved; i++)
        ns_x86_pop(m->x, saved[sizeof saved - 1 - i]);
    ns_x86_bytes(m->x, back, sizeof back);
}

/* Code that is longer than the nearest cache is written once for both halves, in pieces that
 * are run twice each: fetching it from afar takes longer than what it does. */
enum { LONG = 2048, PIECE = 1024 }; /* steps */

/* Where a piece that begins at `from` ends: not while a value is alive that has no cell. */
static uint32_t end_of_piece(const ns_machine *m, uint32_t from, uint32_t to)
{
    uint32_t used = 0; /* the step that uses it */
    for (uint32_t k = from; k < to; k++) {
        const ns_machine_step *s = &m->steps.at[k];
        if (k >= from + PIECE && k > used)
            return k;
        if (s->kind == NS_STEP_ARITHMETIC && s->y == m->stream->cells)
            used = s->next;
    }
    return to;
}

static void write_twice(ns_machine *m, uint32_t from, uint32_t to)
{
    static const uint8_t count[] = {0x41, 0x83, 0xeb, 0x01}; /* sub r11d, 1 */
    const uint8_t bases[] = {m->work, m->t, m->in, m->out};
    ns_x86_immediate(m->x, NS_X86_R11, 2);
    const uint32_t again = m->x->code.n;
    m->part = 0;
    write_stretch(m, from, to);
    for (size_t i = 0; i < sizeof bases; i++)
        ns_x86_address(m->x, bases[i], bases[i], 32);
    ns_x86_bytes(m->x, count, sizeof count);
    ns_x86_target(m->x, ns_x86_jump(m->x, NS_X86_IF_NOT_ZERO), again);
    for (size_t i = 0; i < sizeof bases; i++)
        ns_x86_address(m->x, bases[i], bases[i], -64);
}

/* Steps from..to without calls, for all parts of the cells. */
static void write_parts(ns_machine *m, uint32_t from, uint32_t to)
{
    if (m->parts == 1 || m->steps.n < LONG) {
        for (m->part = 0; m->part < m->parts; m->part++)
            write_stretch(m, from, to);
        return;
    }
    do {
        const uint32_t end = end_of_piece(m, from, to);
        write_twice(m, from, end);
        from = end;
    } while (from < to);
}

static void write_function(ns_machine *m)
{
    bool calls = false;
    for (uint32_t k = 0; k < m->steps.n; k++)
        calls = calls || is_call(&m->steps.at[k]);
    begin(m, calls);
    for (uint32_t from = 0;;) {
        uint32_t to = from;
        while (to < m->steps.n && !is_call(&m->steps.at[to]))
            to++;
        write_parts(m, from, to);
        if (to == m->steps.n)
            break;
        write_call(m, &m->steps.at[to]);
        from = to + 1;
    }
    end(m, calls);
    ns_machine_colds(m);
}

uint32_t ns_machine_program(ns_x86 *x, ns_arena *scratch, const ns_stream *stream,
                            ns_machine_target target)
{
    NS_CHECK(target.shape <= NS_X86_512);
    NS_CHECK(stream->run);
    static const uint8_t stop[] = {0xcc};
    const size_t cells = (size_t)stream->cells + 1; /* the last: a value without a cell */
    ns_machine *m = NS_NEW(scratch, ns_machine);
    *m = (ns_machine){.arena = scratch, .x = x, .stream = stream, .target = target};
    m->registers = target.long_form ? 32 : 16;
    m->parts = target.shape == NS_X86_256 ? 2 : 1;
    m->next = NS_NEW_ARRAY(scratch, uint32_t, cells);
    m->where = NS_NEW_ARRAY(scratch, uint8_t, cells);
    m->moved = NS_NEW_ARRAY(scratch, bool, stream->nx + 1);
    m->constant = NS_NEW_ARRAY(scratch, const ns_stream_constant *, cells);
    memset(m->where, NS_X86_NONE, cells);
    for (uint32_t i = 0; i < stream->constants.n; i++)
        m->constant[cell_of(stream->constants.at[i].place)] = &stream->constants.at[i];
    for (uint32_t j = 0; j < stream->nout; j++)
        if (cell_of(stream->out[j]) <= stream->nx)
            m->moved[cell_of(stream->out[j])] = true;
    ns_machine_steps(m);
    while (x->code.n % 64)
        ns_x86_bytes(x, stop, 1);
    const uint32_t begins = x->code.n;
    write_function(m);
    return begins;
}
