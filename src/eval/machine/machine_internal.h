/* What machine_steps.c (steps), machine.c (registers, arithmetic) and machine_lu.c (systems)
 * share. */
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

/* Rows to be exchanged, written behind the function: row 0 of the spots with each other row. */
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
ns_machine_step *ns_machine_add(ns_machine *m, ns_step_kind kind);

/* machine.c */
void ns_machine_instruction(ns_machine *m, ns_x86_op op, uint8_t first, uint8_t second,
                            ns_x86_operand third);
ns_x86_operand ns_machine_register(uint8_t reg);
ns_x86_operand ns_machine_cell(const ns_machine *m, uint32_t cell); /* in the work block */
ns_x86_operand ns_machine_number(ns_machine *m, uint64_t bits);
ns_x86_operand ns_machine_operand(ns_machine *m, uint32_t cell); /* wherever it is */
uint8_t ns_machine_temporary(ns_machine *m); /* a register until the step ends */
void ns_machine_load(ns_machine *m, uint8_t reg, ns_x86_operand from);
void ns_machine_load_number(ns_machine *m, uint8_t reg, uint64_t bits);

/* machine_lu.c */
void ns_machine_add_factor(ns_machine *m, uint32_t n, uint32_t matrix, const uint32_t *words);
void ns_machine_add_solve(ns_machine *m, uint32_t n, uint32_t matrix, uint32_t y,
                          const uint32_t *words);
void ns_machine_pivot(ns_machine *m, const ns_machine_step *s);
void ns_machine_exchange(ns_machine *m, const ns_machine_step *s);
void ns_machine_colds(ns_machine *m);

#endif
