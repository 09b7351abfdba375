/* Native code without a compiler: a stream as machine code of x86-64.
 *
 * Does what the text of emit.h does, with the same operations in the same order on the same
 * work block, and so with the same bits; it takes about a millisecond for 10,000 operations,
 * for what a compiler is slow at is easy on code without loops: which values to have in
 * registers.
 *
 * Registers.  A result takes a free register; if there is none, that of the value which is used
 *             again last, and this one goes to the cell that the stream has for it, unless it
 *             is there already.  What is not in a register is used from memory.
 * Systems.    Of up to NS_MACHINE_SMALL equations: written out as single operations.  Rows are
 *             exchanged behind the code, wherever they are, in registers or in memory.
 * Calls.      Functions and larger systems are the engine's.  Before a call all values that
 *             live
 *             are in memory.
 * 256 bits.   Eight lanes are two halves; what lies between two calls is done for one, then for
 *             the other. */
#ifndef NS_EVAL_MACHINE_MACHINE_H
#define NS_EVAL_MACHINE_MACHINE_H

#include "eval/engine.h"
#include "eval/machine/x86.h"

enum { NS_MACHINE_SMALL = 5 };

typedef struct ns_machine_target {
    uint8_t shape;  /* NS_X86_ONE: one lane; 256 or 512: eight */
    bool long_form; /* the machine has AVX-512 */
    bool fused;     /* sums with a product are rounded once, but not in systems */
} ns_machine_target;

/* Adds the function (an ns_program_code) at the end of the code; returns where it begins. */
uint32_t ns_machine_program(ns_x86 *x, ns_arena *scratch, const ns_stream *stream,
                            ns_machine_target target);

#endif
