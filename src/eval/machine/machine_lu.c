/* Small systems in machine code: pivots and exchanged rows.
 *
 * Entry (r, c) of a matrix of n rows is cell y + r * n + c.  After the entries comes, for each
 * row, the one it was exchanged with: eight integers, or for one lane integers of 32 bits, as
 * in the engines.
 *
 * Exchanges are rare.  The code for them comes after the function and works on the values where
 * they are at that time, so that on return everything is where it was. */
#include <string.h>

#include "base/check.h"
#include "eval/machine/machine_internal.h"

static const uint64_t bits_of_size = UINT64_C(0x7fffffffffffffff);
enum { GREATER = 0x1e }; /* ordered, quiet */
enum { MASK = 1 };       /* the mask register in use */

/* ---- pivots ------------------------------------------------------------------------------ */

static void masked(ns_machine *m, ns_x86_op op, uint8_t first, uint8_t second,
                   ns_x86_operand third, uint8_t mask, uint8_t condition)
{
    const ns_x86_instruction i = {.op = op,
                                  .shape = m->target.shape,
                                  .first = first,
                                  .second = second,
                                  .third = third,
                                  .mask = mask,
                                  .condition = condition};
    ns_x86_vector(m->x, &i);
}

static void load_size(ns_machine *m, const ns_cold *cold, uint8_t reg, uint32_t cell)
{
    ns_x86_operand from = ns_machine_operand(m, cell), bits;
    if (from.memory) {
        ns_machine_load(m, reg, from);
        from = ns_machine_register(reg);
    }
    if (m->target.shape == NS_X86_256) {
        ns_machine_load_number(m, cold->temporary[2], bits_of_size);
        bits = ns_machine_register(cold->temporary[2]);
    } else
        bits = ns_machine_number(m, bits_of_size);
    ns_machine_instruction(m, NS_X86_AND, reg, from.reg, bits);
}

/* Where the row exchanged with `row` is kept. */
static ns_x86_operand pivot_at(const ns_machine *m, uint32_t matrix, uint32_t n, uint32_t row)
{
    ns_x86_operand at = ns_machine_cell(m, matrix + n * n);
    at.disp += (int32_t)(m->target.shape == NS_X86_ONE ? 4 * row : 64 * row);
    return at;
}

/* A jump that is taken if some lane's pivot is another row. */
static uint32_t jump_if_other(ns_machine *m, ns_cold *cold)
{
    static const uint8_t all_four[] = {0x83, 0xf8, 0x0f};        /* cmp eax, 15 */
    static const uint8_t all_eight[] = {0xc5, 0xf9, 0x98, 0xc9}; /* kortestb k1, k1 */
    switch (m->target.shape) {
    case NS_X86_ONE:
        ns_x86_compare(m->x, cold->pivot_at.reg, cold->pivot_at.disp, (uint8_t)cold->row);
        return ns_x86_jump(m->x, NS_X86_IF_NOT_ZERO);
    case NS_X86_256:
        ns_machine_load_number(m, cold->temporary[3], cold->row);
        ns_machine_instruction(m, NS_X86_EQUAL, cold->temporary[3], cold->pivot,
                               ns_machine_register(cold->temporary[3]));
        ns_machine_instruction(m, NS_X86_SIGNS, 0, NS_X86_NONE,
                               ns_machine_register(cold->temporary[3]));
        ns_x86_bytes(m->x, all_four, sizeof all_four);
        return ns_x86_jump(m->x, NS_X86_IF_NOT_ZERO);
    default:
        masked(m, NS_X86_EQUAL, MASK, cold->pivot, ns_machine_number(m, cold->row), 0, 0);
        ns_x86_bytes(m->x, all_eight, sizeof all_eight);
        return ns_x86_jump(m->x, NS_X86_IF_NOT_CARRY); /* carry: all lanes */
    }
}

/* The rest of the code for `rows` rows of `columns` cells each, the first of them being
 * `row`. */
static void add_cold(ns_machine *m, ns_cold cold, uint32_t first)
{
    ns_spot *spots = NS_NEW_ARRAY(m->arena, ns_spot, cold.rows * cold.columns);
    for (uint32_t i = 0; i < cold.rows * cold.columns; i++) {
        const uint8_t reg = m->where[first + i];
        spots[i].cell = ns_machine_cell(m, first + i);
        spots[i].at = reg == NS_X86_NONE ? spots[i].cell : ns_machine_register(reg);
        spots[i].both = reg != NS_X86_NONE && !(m->dirty >> reg & 1);
    }
    cold.spots = spots;
    cold.jump = jump_if_other(m, &cold);
    cold.back = m->x->code.n;
    NS_PUSH(m->arena, m->colds, cold);
}

static void take_temporaries(ns_machine *m, ns_cold *cold)
{
    const int n = m->target.shape == NS_X86_256 ? 4 : 2;
    for (int i = 0; i < n; i++)
        cold->temporary[i] = ns_machine_temporary(m);
    cold->pivot = m->target.shape == NS_X86_ONE ? 0 : ns_machine_temporary(m);
}

/* Row i if its entry is larger than all before: `size` is its, `most` the largest so far. */
static void choose_larger(ns_machine *m, const ns_cold *cold, uint32_t i)
{
    const uint8_t most = cold->temporary[0], size = cold->temporary[1];
    switch (m->target.shape) {
    case NS_X86_ONE: {
        ns_machine_instruction(m, NS_X86_ORDER, size, NS_X86_NONE, ns_machine_register(most));
        const uint32_t jump = ns_x86_jump(m->x, NS_X86_IF_NOT_ABOVE);
        ns_machine_load(m, most, ns_machine_register(size));
        ns_x86_put(m->x, cold->pivot_at.reg, cold->pivot_at.disp, i);
        ns_x86_target(m->x, jump, m->x->code.n);
        break;
    }
    case NS_X86_256: {
        const uint8_t larger = cold->temporary[2], row = cold->temporary[3];
        masked(m, NS_X86_COMPARE, larger, size, ns_machine_register(most), 0, GREATER);
        masked(m, NS_X86_BLEND, most, most, ns_machine_register(size), 0, larger);
        ns_machine_load_number(m, row, i);
        masked(m, NS_X86_BLEND, cold->pivot, cold->pivot, ns_machine_register(row), 0, larger);
        break;
    }
    default: {
        ns_x86_operand row = ns_machine_number(m, i);
        row.spread = false;
        masked(m, NS_X86_COMPARE, MASK, size, ns_machine_register(most), 0, GREATER);
        masked(m, NS_X86_MOVE, most, NS_X86_NONE, ns_machine_register(size), MASK, 0);
        masked(m, NS_X86_SPREAD, cold->pivot, NS_X86_NONE, row, MASK, 0);
    }
    }
}

void ns_machine_pivot(ns_machine *m, const ns_machine_step *s)
{
    NS_CHECK(s->kind == NS_STEP_PIVOT && s->row < s->n);
    const uint32_t n = s->n, row = s->row;
    ns_cold cold = {.rows = n - row, .columns = n, .row = row};
    take_temporaries(m, &cold);
    cold.pivot_at = pivot_at(m, s->y, n, row);
    if (m->target.shape == NS_X86_ONE)
        ns_x86_put(m->x, cold.pivot_at.reg, cold.pivot_at.disp, row);
    else
        ns_machine_load_number(m, cold.pivot, row);
    load_size(m, &cold, cold.temporary[0], s->y + row * n + row);
    for (uint32_t i = row + 1; i < n; i++) {
        load_size(m, &cold, cold.temporary[1], s->y + i * n + row);
        choose_larger(m, &cold, i);
    }
    if (m->target.shape != NS_X86_ONE)
        ns_machine_instruction(m, NS_X86_STORE, cold.pivot, NS_X86_NONE, cold.pivot_at);
    add_cold(m, cold, s->y + row * n);
}

void ns_machine_exchange(ns_machine *m, const ns_machine_step *s)
{
    NS_CHECK(s->kind == NS_STEP_EXCHANGE);
    ns_cold cold = {.rows = s->n - s->row, .columns = 1, .row = s->row};
    take_temporaries(m, &cold);
    cold.pivot_at = pivot_at(m, s->a, s->n, s->row);
    if (m->target.shape != NS_X86_ONE)
        ns_machine_load(m, cold.pivot, cold.pivot_at);
    add_cold(m, cold, s->y + s->row);
}

/* ---- exchanging -------------------------------------------------------------------------- */

static void put_spot(ns_machine *m, const ns_spot *spot, uint8_t value, uint8_t mask)
{
    if (spot->at.memory)
        masked(m, NS_X86_STORE, value, NS_X86_NONE, spot->at, mask, 0);
    else
        masked(m, NS_X86_MOVE, spot->at.reg, NS_X86_NONE, ns_machine_register(value), mask, 0);
    if (spot->both)
        masked(m, NS_X86_STORE, value, NS_X86_NONE, spot->cell, mask, 0);
}

static void swap(ns_machine *m, const ns_cold *cold, const ns_spot *a, const ns_spot *b)
{
    const uint8_t *t = cold->temporary;
    ns_machine_load(m, t[0], a->at);
    ns_machine_load(m, t[1], b->at);
    if (m->target.shape == NS_X86_256) {
        masked(m, NS_X86_BLEND, t[2], t[0], ns_machine_register(t[1]), 0, t[3]);
        put_spot(m, a, t[2], 0);
        masked(m, NS_X86_BLEND, t[2], t[1], ns_machine_register(t[0]), 0, t[3]);
        put_spot(m, b, t[2], 0);
        return;
    }
    const uint8_t mask = m->target.shape == NS_X86_512 ? MASK : 0;
    put_spot(m, a, t[1], mask);
    put_spot(m, b, t[0], mask);
}

static void write_cold(ns_machine *m, const ns_cold *cold)
{
    ns_x86_target(m->x, cold->jump, m->x->code.n);
    for (uint32_t i = 1; i < cold->rows; i++) {
        const uint32_t row = cold->row + i;
        uint32_t jump = 0;
        switch (m->target.shape) {
        case NS_X86_ONE:
            ns_x86_compare(m->x, cold->pivot_at.reg, cold->pivot_at.disp, (uint8_t)row);
            jump = ns_x86_jump(m->x, NS_X86_IF_NOT_ZERO);
            break;
        case NS_X86_256:
            ns_machine_load_number(m, cold->temporary[3], row);
            ns_machine_instruction(m, NS_X86_EQUAL, cold->temporary[3], cold->pivot,
                                   ns_machine_register(cold->temporary[3]));
            break;
        default:
            masked(m, NS_X86_EQUAL, MASK, cold->pivot, ns_machine_number(m, row), 0, 0);
        }
        for (uint32_t c = 0; c < cold->columns; c++)
            swap(m, cold, &cold->spots[c], &cold->spots[i * cold->columns + c]);
        if (jump)
            ns_x86_target(m->x, jump, m->x->code.n);
    }
    ns_x86_target(m->x, ns_x86_jump(m->x, NS_X86_ALWAYS), cold->back);
}

void ns_machine_colds(ns_machine *m)
{
    for (uint32_t i = 0; i < m->colds.n; i++)
        write_cold(m, &m->colds.at[i]);
}
