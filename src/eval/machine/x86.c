/* Encoding: see x86.h, and "Intel 64 and IA-32 Architectures Software Developer's Manual",
 * volume 2, chapter 2 (VEX: 2.3, EVEX: 2.7). */
#include "eval/machine/x86.h"

#include <string.h>

#include "base/check.h"

typedef struct opcode {
    uint8_t map, prefix, code;
    bool w;         /* W of the VEX form; EVEX has 1 for doubles */
    bool immediate; /* a byte after */
    bool scalar;    /* prefix F2 for one double */
} opcode;

enum { P66 = 1, PF2 = 3 };

static const opcode opcodes[NS_X86_OPS] = {
    [NS_X86_ADD] = {.map = 1, .prefix = P66, .code = 0x58, .scalar = true},
    [NS_X86_SUB] = {.map = 1, .prefix = P66, .code = 0x5c, .scalar = true},
    [NS_X86_MUL] = {.map = 1, .prefix = P66, .code = 0x59, .scalar = true},
    [NS_X86_DIV] = {.map = 1, .prefix = P66, .code = 0x5e, .scalar = true},
    [NS_X86_SQRT] = {.map = 1, .prefix = P66, .code = 0x51, .scalar = true},
    [NS_X86_AND] = {.map = 1, .prefix = P66, .code = 0x54},
    [NS_X86_XOR] = {.map = 1, .prefix = P66, .code = 0x57},
    [NS_X86_LOAD] = {.map = 1, .prefix = P66, .code = 0x28},  /* one double: 10 */
    [NS_X86_STORE] = {.map = 1, .prefix = P66, .code = 0x29}, /* one double: 11 */
    [NS_X86_MOVE] = {.map = 1, .prefix = P66, .code = 0x28},
    [NS_X86_SPREAD] = {.map = 2, .prefix = P66, .code = 0x19},
    [NS_X86_COMPARE] = {.map = 1, .prefix = P66, .code = 0xc2, .immediate = true},
    [NS_X86_EQUAL] = {.map = 2, .prefix = P66, .code = 0x29},
    [NS_X86_BLEND] = {.map = 3, .prefix = P66, .code = 0x4b, .immediate = true},
    [NS_X86_SIGNS] = {.map = 1, .prefix = P66, .code = 0x50},
    [NS_X86_ORDER] = {.map = 1, .prefix = P66, .code = 0x2e},
    [NS_X86_ADD_PRODUCT] = {.map = 2, .prefix = P66, .code = 0xb8, .w = true},
    [NS_X86_SUB_PRODUCT] = {.map = 2, .prefix = P66, .code = 0xbc, .w = true},
    [NS_X86_PRODUCT_SUB] = {.map = 2, .prefix = P66, .code = 0xba, .w = true},
};

static void byte(ns_x86 *x, uint32_t value)
{
    NS_PUSH(x->arena, x->code, (uint8_t)value);
}

static void word(ns_x86 *x, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        byte(x, value >> (8 * i) & 0xff);
}

void ns_x86_bytes(ns_x86 *x, const uint8_t *bytes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        byte(x, bytes[i]);
}

/* ---- operands ---------------------------------------------------------------------------- */

/* The byte ModRM and what belongs to it.  unit: a short displacement counts these; behind:
 * bytes of the instruction after the displacement. */
static void operand(ns_x86 *x, uint8_t reg, ns_x86_operand rm, int32_t unit, uint32_t behind)
{
    const uint32_t field = (uint32_t)(reg & 7) << 3;
    if (!rm.memory) {
        byte(x, 0xc0 | field | (rm.reg & 7));
        return;
    }
    if (rm.reg == NS_X86_NUMBERS) {
        byte(x, field | 5);
        const uint32_t at = x->code.n;
        NS_PUSH(x->arena, x->fixups,
                (ns_x86_fixup){.at = at, .end = at + 4 + behind, .number = (uint32_t)rm.disp});
        word(x, 0);
        return;
    }
    NS_CHECK((rm.reg & 7) != NS_X86_RSP); /* it and r12 need one byte more */
    const int32_t units = rm.disp / unit;
    const bool small = rm.disp % unit == 0 && units >= -128 && units <= 127;
    byte(x, (small ? 0x40u : 0x80u) | field | (rm.reg & 7));
    if (small)
        byte(x, (uint32_t)units & 0xff);
    else
        word(x, (uint32_t)rm.disp);
}

/* Where a number is in the table, or belongs. */
static uint32_t *number_slot(const ns_x86 *x, uint64_t bits)
{
    const uint32_t mask = x->slots - 1;
    uint32_t i = (uint32_t)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
    while (x->slot[i] && x->numbers.at[x->slot[i] - 1] != bits)
        i = (i + 1) & mask;
    return &x->slot[i];
}

ns_x86_operand ns_x86_number(ns_x86 *x, uint64_t bits, bool spread)
{
    if (x->numbers.n * 2 >= x->slots) {
        x->slots = x->slots ? x->slots * 2 : 64;
        x->slot = NS_NEW_ARRAY(x->arena, uint32_t, x->slots);
        for (uint32_t k = 0; k < x->numbers.n; k++)
            *number_slot(x, x->numbers.at[k]) = k + 1;
    }
    uint32_t *slot = number_slot(x, bits);
    if (!*slot) {
        NS_PUSH(x->arena, x->numbers, bits);
        *slot = x->numbers.n;
    }
    return (ns_x86_operand){
        .memory = true, .spread = spread, .reg = NS_X86_NUMBERS, .disp = (int32_t)*slot - 1};
}

/* ---- vectors ----------------------------------------------------------------------------- */

/* Code and prefix of an instruction in its shape. */
static opcode form_of(const ns_x86_instruction *i)
{
    opcode form = opcodes[i->op];
    if (i->shape != NS_X86_ONE)
        return form;
    if (form.scalar)
        form.prefix = PF2;
    if (i->op == NS_X86_LOAD || i->op == NS_X86_STORE) {
        form.prefix = PF2;
        form.code = i->op == NS_X86_LOAD ? 0x10 : 0x11;
    } else if (form.map == 2 && form.w)
        form.code++; /* products and sums: of one double */
    return form;
}

static void put_vex(ns_x86 *x, const ns_x86_instruction *i, opcode form, uint32_t second)
{
    const bool extended = i->third.reg >= 8 && i->third.reg < 16;
    const uint32_t last = (~second & 15) << 3 | (i->shape == NS_X86_256 ? 4u : 0u) |
                          form.prefix;
    if (!extended && form.map == 1 && !form.w) {
        byte(x, 0xc5);
        byte(x, (i->first < 8 ? 0x80u : 0) | last);
    } else {
        byte(x, 0xc4);
        byte(x, (i->first < 8 ? 0x80u : 0) | 0x40u | (extended ? 0 : 0x20u) | form.map);
        byte(x, (form.w ? 0x80u : 0) | last);
    }
}

static void put_evex(ns_x86 *x, const ns_x86_instruction *i, opcode form, uint32_t second)
{
    const uint32_t r = i->first, b = i->third.reg;
    uint32_t bits = form.map;
    bits |= r & 8 ? 0 : 0x80u;
    bits |= r & 16 ? 0 : 0x10u;
    if (i->third.memory)
        bits |= 0x40u | (b != NS_X86_NUMBERS && b & 8 ? 0 : 0x20u);
    else
        bits |= (b & 16 ? 0 : 0x40u) | (b & 8 ? 0 : 0x20u);
    byte(x, 0x62);
    byte(x, bits);
    byte(x, 0x84u | (~second & 15) << 3 | form.prefix);
    byte(x, (uint32_t)i->shape << 5 | (i->third.spread ? 0x10u : 0) | (second & 16 ? 0 : 8u) |
                i->mask);
}

void ns_x86_vector(ns_x86 *x, const ns_x86_instruction *i)
{
    NS_CHECK(i->op < NS_X86_OPS);
    NS_CHECK(i->shape <= NS_X86_512);
    NS_CHECK(i->first < 32);
    const opcode form = form_of(i);
    const uint32_t second = i->second == NS_X86_NONE ? 0 : i->second;
    const bool long_form = i->shape == NS_X86_512 || i->mask || i->first >= 16 ||
                           second >= 16 || (!i->third.memory && i->third.reg >= 16) ||
                           (i->third.spread && i->op != NS_X86_SPREAD);
    int32_t unit = 1;
    if (long_form) {
        put_evex(x, i, form, second);
        unit = i->third.spread || i->op == NS_X86_SPREAD || i->shape == NS_X86_ONE
                   ? 8
                   : 16 << i->shape;
    } else
        put_vex(x, i, form, second);
    byte(x, form.code);
    operand(x, i->first, i->third, unit, form.immediate);
    if (form.immediate)
        byte(x, i->op == NS_X86_BLEND ? (uint32_t)i->condition << 4 : i->condition);
}

/* ---- the rest ---------------------------------------------------------------------------- */

void ns_x86_push(ns_x86 *x, uint8_t reg)
{
    NS_CHECK(reg < 16);
    if (reg >= 8)
        byte(x, 0x41);
    byte(x, 0x50u | (reg & 7));
}

void ns_x86_pop(ns_x86 *x, uint8_t reg)
{
    NS_CHECK(reg < 16);
    if (reg >= 8)
        byte(x, 0x41);
    byte(x, 0x58u | (reg & 7));
}

static void rex(ns_x86 *x, bool wide, uint8_t reg, uint8_t base)
{
    const uint32_t bits = (wide ? 8u : 0) | (reg >= 8 ? 4u : 0) | (base >= 8 ? 1u : 0);
    if (bits)
        byte(x, 0x40 | bits);
}

static ns_x86_operand at(uint8_t base, int32_t disp)
{
    return (ns_x86_operand){.memory = true, .reg = base, .disp = disp};
}

void ns_x86_copy(ns_x86 *x, uint8_t to, uint8_t from)
{
    NS_CHECK(to < 16 && from < 16);
    rex(x, true, from, to);
    byte(x, 0x89);
    operand(x, from, (ns_x86_operand){.reg = to}, 1, 0);
}

void ns_x86_address(ns_x86 *x, uint8_t to, uint8_t base, int32_t disp)
{
    NS_CHECK(to < 16 && base < 16);
    rex(x, true, to, base);
    byte(x, 0x8d);
    operand(x, to, at(base, disp), 1, 0);
}

void ns_x86_immediate(ns_x86 *x, uint8_t to, uint32_t value)
{
    rex(x, false, 0, to);
    byte(x, 0xb8u | (to & 7));
    word(x, value);
}

void ns_x86_call(ns_x86 *x, uint8_t base, int32_t disp)
{
    rex(x, false, 0, base);
    byte(x, 0xff);
    operand(x, 2, at(base, disp), 1, 0);
}

void ns_x86_put(ns_x86 *x, uint8_t base, int32_t disp, uint32_t value)
{
    rex(x, false, 0, base);
    byte(x, 0xc7);
    operand(x, 0, at(base, disp), 1, 4);
    word(x, value);
}

void ns_x86_compare(ns_x86 *x, uint8_t base, int32_t disp, uint8_t value)
{
    rex(x, false, 0, base);
    byte(x, 0x83);
    operand(x, 7, at(base, disp), 1, 1);
    byte(x, value);
}

uint32_t ns_x86_jump(ns_x86 *x, uint8_t condition)
{
    NS_CHECK(condition <= NS_X86_ALWAYS);
    if (condition == NS_X86_ALWAYS)
        byte(x, 0xe9);
    else {
        byte(x, 0x0f);
        byte(x, 0x80u | condition);
    }
    word(x, 0);
    return x->code.n - 4;
}

static void set_word(ns_x86 *x, uint32_t at_, uint32_t value)
{
    for (uint32_t i = 0; i < 4; i++)
        x->code.at[at_ + i] = (uint8_t)(value >> (8 * i));
}

void ns_x86_target(ns_x86 *x, uint32_t jump, uint32_t target)
{
    NS_CHECK(jump + 4 <= x->code.n && target <= x->code.n);
    set_word(x, jump, target - (jump + 4));
}

void ns_x86_finish(ns_x86 *x)
{
    while (x->code.n % 64)
        byte(x, 0xcc);
    const uint32_t begin = x->code.n;
    for (uint32_t i = 0; i < x->numbers.n; i++) {
        word(x, (uint32_t)x->numbers.at[i]);
        word(x, (uint32_t)(x->numbers.at[i] >> 32));
    }
    word(x, 0); /* operations on one double may read two */
    word(x, 0);
    for (uint32_t i = 0; i < x->fixups.n; i++) {
        const ns_x86_fixup *f = &x->fixups.at[i];
        set_word(x, f->at, begin + 8 * f->number - f->end);
    }
}
