/* Machine instructions of x86-64 as bytes: the few that straight-line arithmetic on vectors
 * needs.
 *
 * An instruction on vectors has a first operand (a register; the one written, or stored), a
 * second (a register, or none) and a third (a register, or memory).  It is written with the
 * prefix VEX where that suffices, otherwise with EVEX: registers from 16 on, 512 bits, masks,
 * and a number in memory that is spread over all lanes.
 *
 * Numbers are collected in a table after the code and addressed relative to it. */
#ifndef NS_EVAL_MACHINE_X86_H
#define NS_EVAL_MACHINE_X86_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* General registers by their numbers; and the pointer that numbers are relative to. */
enum {
    NS_X86_RBX = 3,
    NS_X86_RSP = 4,
    NS_X86_RBP = 5,
    NS_X86_RSI = 6,
    NS_X86_RDI = 7,
    NS_X86_RCX = 1,
    NS_X86_RDX = 2,
    NS_X86_R8 = 8,
    NS_X86_R11 = 11,
    NS_X86_R13 = 13,
    NS_X86_R14 = 14,
    NS_X86_R15 = 15,
    NS_X86_NUMBERS = 16
};

enum { NS_X86_ONE = 0, NS_X86_256 = 1, NS_X86_512 = 2 }; /* shapes: one double, 4, 8 */

/* What an instruction on vectors does. */
typedef enum ns_x86_op {
    NS_X86_ADD,
    NS_X86_SUB,
    NS_X86_MUL,
    NS_X86_DIV,
    NS_X86_SQRT,
    NS_X86_AND,
    NS_X86_XOR,
    NS_X86_LOAD,        /* aligned */
    NS_X86_STORE,       /* aligned */
    NS_X86_MOVE,        /* between registers */
    NS_X86_SPREAD,      /* a number in memory to all lanes */
    NS_X86_COMPARE,     /* with a condition: a mask, or all bits of the lanes where it holds */
    NS_X86_EQUAL,       /* integers of 64 bits; the same */
    NS_X86_BLEND,       /* under a register of bits (VEX) */
    NS_X86_SIGNS,       /* the highest bit of each lane to a general register */
    NS_X86_ORDER,       /* compares two numbers, sets flags */
    NS_X86_ADD_PRODUCT, /* first + second * third, rounded once */
    NS_X86_SUB_PRODUCT, /* first - second * third */
    NS_X86_PRODUCT_SUB, /* second * third - first */
    NS_X86_OPS
} ns_x86_op;

/* Register or memory. */
typedef struct ns_x86_operand {
    bool memory;
    bool spread;  /* memory: one number for all lanes */
    uint8_t reg;  /* the register; memory: the general register it is relative to */
    int32_t disp; /* bytes after it; NUMBERS: which number */
} ns_x86_operand;

typedef struct ns_x86_fixup {
    uint32_t at, end; /* four bytes at `at` are relative to `end` */
    uint32_t number;
} ns_x86_fixup;

typedef struct ns_x86 {
    ns_arena *arena;
    NS_LIST(uint8_t) code;
    NS_LIST(uint64_t) numbers; /* their bits */
    uint32_t *slot, slots;     /* open addressing over numbers: index + 1, 0 = free */
    NS_LIST(ns_x86_fixup) fixups;
} ns_x86;

enum { NS_X86_NONE = 0xff }; /* no second operand */

typedef struct ns_x86_instruction {
    ns_x86_op op;
    uint8_t shape, first, second, mask; /* mask 0: none */
    ns_x86_operand third;
    uint8_t condition; /* of COMPARE; BLEND: the register of bits */
} ns_x86_instruction;

void ns_x86_vector(ns_x86 *x, const ns_x86_instruction *i);
/* The operand for a number, given by its bits. */
ns_x86_operand ns_x86_number(ns_x86 *x, uint64_t bits, bool spread);

void ns_x86_bytes(ns_x86 *x, const uint8_t *bytes, uint32_t n);
void ns_x86_push(ns_x86 *x, uint8_t reg);
void ns_x86_pop(ns_x86 *x, uint8_t reg);
void ns_x86_copy(ns_x86 *x, uint8_t to, uint8_t from); /* 64 bits */
void ns_x86_address(ns_x86 *x, uint8_t to, uint8_t base, int32_t disp);
void ns_x86_immediate(ns_x86 *x, uint8_t to, uint32_t value);           /* 32 bits */
void ns_x86_call(ns_x86 *x, uint8_t base, int32_t disp);                /* through memory */
void ns_x86_put(ns_x86 *x, uint8_t base, int32_t disp, uint32_t value); /* 32 bits in memory */
void ns_x86_compare(ns_x86 *x, uint8_t base, int32_t disp, uint8_t value); /* the same */

/* Jumps on a condition (the low half of the opcode); returns where the target is to be set. */
enum {
    NS_X86_IF_NOT_CARRY = 3,
    NS_X86_IF_NOT_ZERO = 5,
    NS_X86_IF_NOT_ABOVE = 6,
    NS_X86_ALWAYS = 16
};
uint32_t ns_x86_jump(ns_x86 *x, uint8_t condition);
void ns_x86_target(ns_x86 *x, uint32_t jump, uint32_t target);

/* The numbers after the code: after this the code is whole and can be put anywhere. */
void ns_x86_finish(ns_x86 *x);

#endif
