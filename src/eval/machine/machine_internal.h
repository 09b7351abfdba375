/* What machine_steps.c (steps), machine_registers.c (who has a register), machine_lu.c (pivots
 * of systems) and machine.c (arithmetic, calls, the function) share. */
#ifndef NS_EVAL_MACHINE_MACHINE_INTERNAL_H
#define NS_EVAL_MACHINE_MACHINE_INTERNAL_H

#include "eval/machine/machine.h"

#define NS_NEVER UINT32_MAX

typedef enum ns_step_kind {
    NS_STEP_NOTHING,
    NS_STEP_ARITHMETIC, /* y = a op b; or c and a * b */
    NS_STEP_COPY,       /* y = a */
    NS_STEP_STORE,      /* the same, to the work block */
    NS_STEP_INVERSE,    /* y = 1 / a */
    NS_STEP_PIVOT,      /* looks for the pivot of a row of the matrix y, exchanges rows */
    NS_STEP_EXCHANGE,   /* exchanges components of y as the matrix a was */
    /* calls of the engine: no register keeps its value */
    NS_STEP_CALL,
    NS_STEP_SINCOS,
    NS_STEP_FACTOR,
    NS_STEP_SOLVE
} ns_step_kind;

/* One operation on cells of the work block. */
typedef struct ns_machine_step {
    ns_step_kind kind;
    bool form;              /* ARITHMETIC of the stream: may be rounded once */
    uint32_t op;            /* ARITHMETIC: an ns_x86_op; CALL: row of the table */
    uint32_t n, row;        /* of systems */
    uint32_t y, z, a, b, c; /* cells; y, z: written */
    uint32_t next, next_a, next_b, next_c; /* steps that use y, a, b, c next */
    uint32_t *next_entry; /* PIVOT: the same of the entries from the diagonal down */
} ns_machine_step;

typedef struct ns_register {
    uint32_t cell, next; /* what it holds, and the step that uses it next */
} ns_register;

/* A place whose value is to be exchanged. */
typedef struct ns_spot {
    ns_x86_operand at;
    bool both;           /* in a register, and in memory as well */
    ns_x86_operand cell; /* there */
} ns_spot;

/* Rows to be exchanged, written after the function: row 0 of the spots with each other row. */
typedef struct ns_cold {
    uint32_t jump, back; /* from, to */
    uint32_t rows, columns, row;
    const ns_spot *spots;
    uint8_t temporary[4];
    uint8_t pivot;           /* the register with the rows that the lanes name */
    ns_x86_operand pivot_at; /* one lane: where the row is */
} ns_cold;

typedef struct ns_machine {
    ns_arena *arena;
    ns_x86 *x;
    const ns_stream *stream;
    ns_machine_target target;
    NS_LIST(ns_machine_step) steps;
    uint32_t registers;
    uint32_t part, parts;                /* of a cell */
    uint8_t math, work, t, in, out;      /* general registers */
    uint32_t position;                   /* the step that is being written */
    uint32_t *next;                      /* [cells + 1] */
    uint8_t *where;                      /* [cells + 1] register, NS_X86_NONE: memory */
    bool *moved;                         /* [nx + 1] inputs that are read from the work block */
    const ns_stream_constant **constant; /* [cells + 1] */
    ns_register held[32];
    uint32_t free, pinned, dirty, temporary; /* sets of registers */
    NS_LIST(ns_cold) colds;
} ns_machine;

/* machine_steps.c */
void ns_machine_steps(ns_machine *m);

/* machine_registers.c: places */
ns_x86_operand ns_machine_register(uint8_t reg);
ns_x86_operand ns_machine_memory(const ns_machine *m, uint8_t base, uint32_t cell);
ns_x86_operand ns_machine_cell(const ns_machine *m, uint32_t cell); /* in the work block */
ns_x86_operand ns_machine_number(ns_machine *m, uint64_t bits);
ns_x86_operand ns_machine_outside(ns_machine *m, uint32_t cell); /* what no register has */
ns_x86_operand ns_machine_operand(ns_machine *m, uint32_t cell); /* wherever it is */

/* machine_registers.c: moves */
void ns_machine_instruction(ns_machine *m, ns_x86_op op, uint8_t first, uint8_t second,
                            ns_x86_operand third);
void ns_machine_load(ns_machine *m, uint8_t reg, ns_x86_operand from);
void ns_machine_load_number(ns_machine *m, uint8_t reg, uint64_t bits);
void ns_machine_store(ns_machine *m, uint8_t reg, ns_x86_operand to);

/* machine_registers.c: who has a register */
uint8_t ns_machine_take(ns_machine *m);      /* for a new value: it is no longer free */
uint8_t ns_machine_temporary(ns_machine *m); /* until ns_machine_end_temporaries */
void ns_machine_end_temporaries(ns_machine *m);
bool ns_machine_is_held(const ns_machine *m, uint32_t cell);
void ns_machine_pin(ns_machine *m, uint32_t cell); /* stays where it is during this step */
/* The register of an operand; loads it if there is none. */
uint8_t ns_machine_fetch(ns_machine *m, uint32_t cell, uint32_t next);
/* The step no longer needs its operand, which is used next by step `next`. */
void ns_machine_release(ns_machine *m, uint32_t cell, uint32_t next);
/* A new value of the cell, in a register that was taken. */
void ns_machine_define(ns_machine *m, uint32_t cell, uint8_t reg, uint32_t next);
void ns_machine_let_go(ns_machine *m, uint8_t reg); /* its value is not needed */
void ns_machine_evict(ns_machine *m, uint8_t reg);  /* its value goes to memory */
static inline uint32_t ns_machine_bit(uint32_t reg)
{
    return UINT32_C(1) << reg;
}

/* machine_lu.c */
void ns_machine_pivot(ns_machine *m, const ns_machine_step *s);
void ns_machine_exchange(ns_machine *m, const ns_machine_step *s);
void ns_machine_colds(ns_machine *m);

#endif
