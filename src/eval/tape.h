/* The tape: a graph lowered to operations on numbered cells, in an order in which they can run.
 * It is what every engine starts from: the interpreters, the jets, and emitted code.
 *
 * Cells hold one value each.  Cells 0 .. nx-1 are the inputs x, cell nx is the time; the others
 * are numbered as they are made and written once.
 *
 *   - PICK disappears: it is a cell of the SOLVE.
 *   - POWI becomes products:  a^13 = a * a^4 * a^8, with squares shared between powers.
 *   - LDL and SOLVE with it become single operations, those that the pattern of the matrix and
 *     zeros of the right-hand side leave.  For jets a small LDL is a FACTOR of all its entries.
 *   - FACTOR fills a matrix of its own (no cell), SOLVE writes n cells in a row.
 *   - What depends on parameters and constants alone comes first and is run once, by bind. */
#ifndef NS_EVAL_TAPE_H
#define NS_EVAL_TAPE_H

#include "eval/program.h"

enum {
    NS_TAPE_SQUARE = NS_OP_COUNT, /* y = a * a */
    NS_TAPE_COUNT
};

typedef struct ns_tape_op {
    uint16_t op; /* an operation of the table, SQUARE, FACTOR or SOLVE */
    bool varies; /* depends on x or t */
    uint32_t y;  /* cell written (SOLVE: first of n; FACTOR: number of the matrix) */
    uint32_t a;  /* cell (FACTOR, SOLVE: place in args of the entries, of b) */
    uint32_t b;  /* cell (FACTOR, SOLVE: n) */
    uint32_t c;  /* SOLVE: number of the matrix */
} ns_tape_op;

typedef struct ns_tape_constant {
    uint32_t cell;
    double hi, lo;
} ns_tape_constant;

typedef struct ns_tape {
    uint32_t nx, np, nout;
    uint32_t ncells, nfactors;
    uint32_t nbound; /* operations 0 .. nbound-1 are run by bind */
    NS_LIST(ns_tape_op) ops;
    NS_LIST(uint32_t) args;              /* cells: entries of matrices, right-hand sides */
    NS_LIST(ns_tape_constant) constants; /* cells that bind fills with numbers */
    uint32_t *param;                     /* [np] cells, NS_TAPE_NONE if not used */
    uint32_t *out;                       /* [nout] cells */
    uint32_t *factor_n;                  /* [nfactors] sizes */
    bool *varies;                        /* [ncells] depends on x or t */
} ns_tape;

#define NS_TAPE_NONE UINT32_MAX

/* Lowers what the roots need.  before[e], if given and not 0, is a node to be evaluated before
 * e though it is not an argument of it (given by jets).  cell, if given, is set to an array in
 * the graph's scratch memory with the cell of every node. */
ns_tape *ns_tape_lower(ns_arena *arena, const ns_program_spec *spec, const ns_ex *roots,
                       size_t nroots, const ns_ex *before, const uint32_t **cell);

/* Arithmetic operations of one run of tape->ops[from .. to). */
uint32_t ns_tape_count(const ns_tape *tape, uint32_t from, uint32_t to);
/* The same with divisions and functions counted as what they cost in sums and products. */
double ns_tape_weight(const ns_tape *tape, uint32_t from, uint32_t to);

#endif
