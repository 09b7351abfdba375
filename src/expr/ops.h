/* Operations of the expression graph: what ops.def says, as an enumeration and a table. */
#ifndef NS_EXPR_OPS_H
#define NS_EXPR_OPS_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t ns_ex; /* handle of an expression; 0 is none */
typedef struct ns_graph ns_graph;

typedef enum ns_op {
    NS_OP_NONE, /* so that a zeroed node is not an operation */
#define NS_OP(ID, ...) NS_OP_##ID,
#define NS_OP_SPECIAL(ID, ...) NS_OP_##ID,
#include "expr/ops.def"
#undef NS_OP
#undef NS_OP_SPECIAL
    NS_OP_COUNT
} ns_op;

/* Recurrences for Taylor coefficients.  y_n is the n-th coefficient of y = f(a, b) along a
 * curve; w is the companion; sums run as stated. */
typedef enum ns_taylor {
    NS_TAYLOR_NONE,        /* special operations: see eval/jet */
    NS_TAYLOR_LINEAR,      /* y_n = f(a_n, b_n) */
    NS_TAYLOR_PRODUCT,     /* y_n = sum_{k=0..n} a_k b_{n-k} */
    NS_TAYLOR_QUOTIENT,    /* y_n = (a_n - sum_{k=1..n} b_k y_{n-k}) / b_0 */
    NS_TAYLOR_POWER,       /* y = a^b, b constant in time:
                              n a_0 y_n = sum_{k=1..n} (k b - (n - k)) a_k y_{n-k} */
    NS_TAYLOR_ROOT,        /* y_n = (a_n - sum_{k=1..n-1} y_k y_{n-k}) / (2 y_0) */
    NS_TAYLOR_TIMES,       /* y' = w a':    n y_n = sum_{k=1..n} k a_k w_{n-k} */
    NS_TAYLOR_MINUS_TIMES, /* y' = -w a' */
    NS_TAYLOR_OVER,        /* w y' = a':    n w_0 y_n = n a_n - sum_{k=1..n-1} k y_k w_{n-k} */
    NS_TAYLOR_MINUS_OVER,  /* w y' = -a' */
    NS_TAYLOR_ANGLE,       /* w y' = b a' - a b' */
    NS_TAYLOR_ABS,         /* y_n = sign(a_0) a_n */
    NS_TAYLOR_SELECT,      /* y_n = a_n or b_n, whichever y_0 is */
    NS_TAYLOR_CONSTANT     /* y_n = 0 for n > 0 */
} ns_taylor;

typedef struct ns_op_info {
    const char *name;
    double (*value)(double a, double b);
    /* partial derivative by argument k = 0 or 1; y is the node itself */
    ns_ex (*partial)(ns_graph *g, ns_ex y, ns_ex a, ns_ex b, int k);
    ns_ex (*companion)(ns_graph *g, ns_ex y, ns_ex a, ns_ex b); /* 0 when there is none */
    ns_taylor taylor;
    int arity; /* -1 for special operations */
} ns_op_info;

extern const ns_op_info ns_ops[NS_OP_COUNT];

/* The function of the language with this name (arity 1 or 2), or NS_OP_NONE. */
ns_op ns_ops_find(const char *name);

/* Value by the table in double precision; programmer error for special operations. */
double ns_ops_value(ns_op op, double a, double b);

#endif
