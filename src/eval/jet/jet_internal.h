/* What the builder of jets (jet.c) prepares for those who run them (jet_run.inc).
 *
 * At order n > 0 every cell has its latest coefficient, number n, in a dense array; the value,
 * coefficient 0, is in another.  Coefficients 1 .. n-1 are needed by sums of products only:
 * cells that take part in one have a row for 1 .. n-2, and n-1 in a third array by rows.  Row 0
 * is zero and serves what is constant in time.
 *
 * Recurrences from y' = w a' work with derivatives k a_k: these are cells of their own,
 * numbered after those of the tape, each with a row. */
#ifndef NS_EVAL_JET_JET_INTERNAL_H
#define NS_EVAL_JET_JET_INTERNAL_H

#include "base/math/vecmath.h"
#include "eval/jet/jet.h"

/* x/k, as a product: see jet_inverse.c. */
enum { NS_JET_INVERSES = 65 };
extern const double ns_jet_inverse[NS_JET_INVERSES][2];

static inline double ns_jet_divide(double x, uint32_t k)
{
    return k < NS_JET_INVERSES ? x * ns_jet_inverse[k][0] + x * ns_jet_inverse[k][1] : x / k;
}

/* What to do at order n > 0. */
typedef enum ns_jet_rule {
    NS_JET_ADD,    /* y_n = a_n + b_n */
    NS_JET_SUB,    /* y_n = a_n - b_n */
    NS_JET_NEG,    /* y_n = -a_n */
    NS_JET_SCALE,  /* y_n = a_n b_0, b constant */
    NS_JET_SHRINK, /* y_n = a_n / b_0, b constant */
    NS_JET_MUL,
    NS_JET_SQUARE,
    NS_JET_SUM, /* sum of products and single terms, each with its sign: see ns_jet_term */
    NS_JET_DIV,
    NS_JET_POWER,
    NS_JET_ROOT,
    NS_JET_TIMES, /* y' = w a', y' = -w a' */
    NS_JET_MINUS_TIMES,
    NS_JET_OVER, /* w y' = a', w y' = -a' */
    NS_JET_MINUS_OVER,
    NS_JET_ANGLE,
    NS_JET_ABS,
    NS_JET_SELECT,
    NS_JET_ZERO,
    NS_JET_SOLVE
} ns_jet_rule;

/* A cell and its row. */
typedef struct ns_jet_place {
    uint32_t cell, row;
} ns_jet_place;

typedef struct ns_jet_op {
    uint32_t rule;
    uint32_t first, count; /* SUM: terms; SOLVE: first is the place of b in the tape's args */
    uint32_t matrix;       /* SOLVE */
    ns_jet_place y, a, b, w;
    ns_jet_place da, db, dy; /* derivatives k a_k, k b_k, k y_k */
} ns_jet_op;

/* Terms of a SUM stand in this order: single ones, squares, products. */
typedef struct ns_jet_term {
    double sign; /* 1 or -1 */
    ns_jet_place a, b;
} ns_jet_term;

/* An entry M_ij that varies. */
typedef struct ns_jet_entry {
    uint32_t i, j;
    ns_jet_place M;
} ns_jet_entry;

typedef struct ns_jet_matrix {
    uint32_t n, first, count; /* its varying entries, by rows */
    size_t place;             /* of its factors and pivots, in doubles */
} ns_jet_matrix;

struct ns_jet {
    const ns_tape *tape;
    const struct ns_jet_runner *runner;
    NS_LIST(ns_jet_op) ops;
    NS_LIST(ns_jet_term) terms;
    NS_LIST(ns_jet_entry) entries;
    NS_LIST(uint32_t) rows; /* the cell of each row */
    ns_jet_matrix *matrices;
    uint32_t ncells;    /* of the tape, and derivatives */
    uint32_t largest;   /* size of the largest system */
    size_t factor_size; /* of all factors, in doubles */
};

/* The work block of one order. */
typedef struct ns_jet_work_block {
    double *value, *latest; /* [ncells] coefficients 0 and n */
    double *rows;           /* coefficient k of row r is rows[r*stride + k - 1], k < n-1 */
    double *prev;           /* coefficient n-1 by rows */
    size_t stride;
    double *factors, *scratch;
} ns_jet_work_block;

/* y_n of all operations for one n > 0; then the rows are filled. */
typedef struct ns_jet_runner {
    void (*run)(const ns_jet *jet, const ns_jet_work_block *work, uint32_t n);
} ns_jet_runner;

extern const ns_jet_runner ns_jet_plain;
#if NS_X86
extern const ns_jet_runner ns_jet_avx2;
#endif

#endif
