/* Native code without a compiler: a stream as machine code of x86-64.
 *
 * It does what the text of emit.h does, with the same operations in the same order on the same
 * work block, and so gives the same bits.  It takes about a millisecond for 10,000 operations:
 * deciding which values to keep in registers, where a compiler is slow, is easy in code without
 * loops.
 *
 * Registers.  A result takes a free register.  If there is none it takes that of the value
 *             whose next use is farthest away, which is saved in its cell of the stream,
 *             unless it is there already.  What is not in a register is used from memory.
 * Systems.    Those of up to NS_MACHINE_SMALL equations are written out as single operations.
 *             Code after the function exchanges rows where they are, in registers or memory.
 * Calls.      The engine does functions and larger systems.  Before a call all live values are
 *             saved to memory.
 * 256 bits.   Eight lanes are two halves; what lies between two calls is done for one, then for
 *             the other.  Long code is the same for both and done by pieces. */
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
