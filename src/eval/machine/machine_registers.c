/* Where values are: registers, the work block, inputs, numbers; and which register a new one
 * gets. */
#include <string.h>

#include "base/check.h"
#include "eval/machine/machine_internal.h"

/* ---- places ------------------------------------------------------------------------------ */

ns_x86_operand ns_machine_register(uint8_t reg)
{
    NS_CHECK(reg < 32);
    return (ns_x86_operand){.reg = reg};
}

ns_x86_operand ns_machine_memory(const ns_machine *m, uint8_t base, uint32_t cell)
{
    const uint32_t size = m->target.shape == NS_X86_ONE ? 8 : 64;
    return (ns_x86_operand){
        .memory = true, .reg = base, .disp = (int32_t)(cell * size + 32 * m->part)};
}

ns_x86_operand ns_machine_cell(const ns_machine *m, uint32_t cell)
{
    NS_CHECK(cell <= m->stream->cells);
    return ns_machine_memory(m, m->work, cell);
}

ns_x86_operand ns_machine_number(ns_machine *m, uint64_t bits)
{
    return ns_x86_number(m->x, bits, m->target.shape != NS_X86_ONE);
}

ns_x86_operand ns_machine_outside(ns_machine *m, uint32_t cell)
{
    if (cell < m->stream->nx && !m->moved[cell])
        return ns_machine_memory(m, m->in, cell);
    if (cell == m->stream->nx && !m->moved[cell])
        return ns_machine_memory(m, m->t, 0);
    if (m->constant[cell] && m->target.shape == NS_X86_512) {
        uint64_t bits;
        memcpy(&bits, &m->constant[cell]->hi, sizeof bits);
        return ns_machine_number(m, bits);
    }
    return ns_machine_cell(m, cell);
}

ns_x86_operand ns_machine_operand(ns_machine *m, uint32_t cell)
{
    NS_CHECK(cell <= m->stream->cells);
    const uint8_t reg = m->where[cell];
    return reg == NS_X86_NONE ? ns_machine_outside(m, cell) : ns_machine_register(reg);
}

/* ---- registers --------------------------------------------------------------------------- */

void ns_machine_instruction(ns_machine *m, ns_x86_op op, uint8_t first, uint8_t second,
                            ns_x86_operand third)
{
    const ns_x86_instruction i = {
        .op = op, .shape = m->target.shape, .first = first, .second = second, .third = third};
    ns_x86_vector(m->x, &i);
}

void ns_machine_load(ns_machine *m, uint8_t reg, ns_x86_operand from)
{
    const ns_x86_op op = !from.memory ? NS_X86_MOVE : from.spread ? NS_X86_SPREAD : NS_X86_LOAD;
    from.spread = false;
    ns_machine_instruction(m, op, reg, NS_X86_NONE, from);
}

void ns_machine_load_number(ns_machine *m, uint8_t reg, uint64_t bits)
{
    ns_machine_load(m, reg, ns_machine_number(m, bits));
}

void ns_machine_store(ns_machine *m, uint8_t reg, ns_x86_operand to)
{
    ns_machine_instruction(m, NS_X86_STORE, reg, NS_X86_NONE, to);
}

void ns_machine_let_go(ns_machine *m, uint8_t reg)
{
    m->where[m->held[reg].cell] = NS_X86_NONE;
    m->free |= ns_machine_bit(reg);
    m->dirty &= ~ns_machine_bit(reg);
    m->pinned &= ~ns_machine_bit(reg);
}

static bool is_dead(const ns_machine *m, uint32_t reg)
{
    return m->held[reg].next == NS_NEVER || m->held[reg].next < m->position;
}

void ns_machine_evict(ns_machine *m, uint8_t reg)
{
    if (m->dirty & ns_machine_bit(reg) && !is_dead(m, reg)) {
        NS_CHECK(m->held[reg].cell < m->stream->cells);
        ns_machine_store(m, reg, ns_machine_cell(m, m->held[reg].cell));
    }
    ns_machine_let_go(m, reg);
}

uint8_t ns_machine_take(ns_machine *m)
{
    if (!m->free) {
        uint32_t best = NS_NEVER;
        for (uint32_t r = 0; r < m->registers; r++) {
            if (m->pinned & ns_machine_bit(r))
                continue;
            if (best == NS_NEVER || is_dead(m, r) ||
                (!is_dead(m, best) && m->held[r].next > m->held[best].next))
                best = r;
        }
        NS_CHECK(best != NS_NEVER);
        ns_machine_evict(m, (uint8_t)best);
    }
    const uint8_t reg = (uint8_t)__builtin_ctz(m->free);
    m->free &= ~ns_machine_bit(reg);
    return reg;
}

uint8_t ns_machine_temporary(ns_machine *m)
{
    const uint8_t reg = ns_machine_take(m);
    m->pinned |= ns_machine_bit(reg);
    m->temporary |= ns_machine_bit(reg);
    return reg;
}

void ns_machine_end_temporaries(ns_machine *m)
{
    m->free |= m->temporary;
    m->pinned &= ~m->temporary;
    m->temporary = 0;
}

static void hold(ns_machine *m, uint8_t reg, uint32_t cell, uint32_t next)
{
    m->where[cell] = reg;
    m->held[reg] = (ns_register){.cell = cell, .next = next};
}

void ns_machine_pin(ns_machine *m, uint32_t cell)
{
    if (cell != NS_NEVER && m->where[cell] != NS_X86_NONE)
        m->pinned |= ns_machine_bit(m->where[cell]);
}

bool ns_machine_is_held(const ns_machine *m, uint32_t cell)
{
    return m->where[cell] != NS_X86_NONE;
}

uint8_t ns_machine_fetch(ns_machine *m, uint32_t cell, uint32_t next)
{
    if (ns_machine_is_held(m, cell))
        return m->where[cell];
    const uint8_t reg = ns_machine_temporary(m);
    ns_machine_load(m, reg, ns_machine_outside(m, cell));
    if (next != NS_NEVER) { /* it is kept */
        m->temporary &= ~ns_machine_bit(reg);
        hold(m, reg, cell, next);
    }
    return reg;
}

void ns_machine_release(ns_machine *m, uint32_t cell, uint32_t next)
{
    if (cell == NS_NEVER || !ns_machine_is_held(m, cell))
        return;
    const uint8_t reg = m->where[cell];
    m->held[reg].next = next;
    m->pinned &= ~ns_machine_bit(reg);
    if (next == NS_NEVER)
        ns_machine_let_go(m, reg);
}

void ns_machine_define(ns_machine *m, uint32_t cell, uint8_t reg, uint32_t next)
{
    if (ns_machine_is_held(m, cell))
        ns_machine_let_go(m, m->where[cell]);
    m->free &= ~ns_machine_bit(reg);
    hold(m, reg, cell, next);
    m->dirty |= ns_machine_bit(reg);
}
