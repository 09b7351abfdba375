/* The expression graph: hash-consed nodes, equal expressions are one node.
 *
 * Handles are indices.  Arguments are always made before the node that uses them, so ascending
 * order of handles is a topological order: every walk over a graph is a loop over indices, and
 * no depth can overflow the stack.
 *
 * Special nodes
 *   NUMBER  a value hi + lo with |lo| <= ulp(hi)/2, so that 0.1 keeps 100 bits for work in
 *           quadruple precision.  Arithmetic on numbers folds only where the result is exact;
 *           2/3 stays a node and is evaluated once per run (see eval/program.h).
 *   SYMBOL  a variable; see ns_symbol.
 *   POWI    a^n for an integer n >= 2 (negative powers are quotients).
 *   FACTOR  the LU factors of an n x n matrix given by rows; only SOLVE uses it.
 *   SOLVE   the vector M^-1 b; arguments: a FACTOR node, then b.  Only PICK uses it.
 *   PICK    component i of a SOLVE.
 *   LDL     the factors of a sparse symmetric matrix (sparse.h); SOLVE uses it like FACTOR.
 *
 * Builders simplify as they build, with rules that keep the value wherever the original has
 * one (x*0 is 0, x/x is 1).  They are called ns_add, ns_mul, ... for the sake of the formulas
 * written with them. */
#ifndef NS_EXPR_GRAPH_H
#define NS_EXPR_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "expr/ops.h"

typedef enum ns_symbol_kind {
    NS_SYM_TIME,
    NS_SYM_PARAM,    /* constant during a run */
    NS_SYM_STATE,    /* component of the state of a first-order system */
    NS_SYM_COORD,    /* generalised coordinate */
    NS_SYM_VELOCITY, /* its derivative */
    NS_SYM_ACCEL,    /* its second derivative */
    NS_SYM_LOCAL     /* anything else: formal variables of functions, unknowns */
} ns_symbol_kind;

typedef struct ns_symbol {
    const char *name;
    ns_symbol_kind kind;
    uint32_t index; /* free for the owner: position among symbols of its kind */
    ns_ex node;
} ns_symbol;

typedef struct ns_node {
    uint16_t op;    /* ns_op */
    uint32_t n;     /* number of arguments */
    uint32_t first; /* their place in the pool */
    int32_t
        integer; /* POWI: exponent; FACTOR, LDL, SOLVE: size; PICK: component; SYMBOL: index */
    double hi, lo; /* NUMBER; LDL: hi is the number of its pattern */
} ns_node;

ns_graph *ns_graph_new(ns_arena *arena);
/* From now on a number that is not a double becomes the double on its other side: 0.3, pi and
 * the like with an error as large as that of rounding, or larger, and of the other sign. */
void ns_graph_shake(ns_graph *g);
/* The same expressions under the same handles, in the memory of another arena: what is added to
 * either is not seen by the other.  Costs next to nothing; the graph must outlive the fork, and
 * one thread may use a fork while others use theirs. */
ns_graph *ns_graph_fork(const ns_graph *g, ns_arena *arena);
ns_arena *ns_graph_arena(const ns_graph *g);
ns_arena *ns_graph_scratch(const ns_graph *g); /* use between ns_arena_mark and _release */

/* The same for work that builds expressions meanwhile: building uses the scratch. */
ns_arena *ns_graph_workspace(const ns_graph *g);

/* Handles run from 1 to ns_graph_size(g) - 1. */
uint32_t ns_graph_size(const ns_graph *g);
const ns_node *ns_graph_node(const ns_graph *g, ns_ex e);
const ns_ex *ns_graph_args(const ns_graph *g, ns_ex e);
ns_op ns_graph_op(const ns_graph *g, ns_ex e);
const ns_symbol *ns_graph_symbol(const ns_graph *g, ns_ex e); /* NULL if e is not a symbol */

/* A new symbol, different from all others even of the same name. */
ns_ex ns_symbol_new(ns_graph *g, const char *name, ns_symbol_kind kind, uint32_t index);

/* If e is a number: true and its value. */
bool ns_graph_is_number(const ns_graph *g, ns_ex e, double *value);
bool ns_graph_is_zero(const ns_graph *g, ns_ex e);
bool ns_graph_is_one(const ns_graph *g, ns_ex e);

/* used[e] becomes true for every node that the roots need (array of ns_graph_size). */
void ns_graph_mark(const ns_graph *g, const ns_ex *roots, size_t n, bool *used);

/* Does e depend on any of the symbols? */
bool ns_graph_depends(const ns_graph *g, ns_ex e, const ns_ex *symbols, size_t n);
/* Does e depend on any symbol of this kind?  If so and found is given, one such symbol. */
bool ns_graph_depends_kind(const ns_graph *g, ns_ex e, ns_symbol_kind kind, ns_ex *found);
/* Numbers of the coordinates and velocities (ns_symbol.index) that e contains, ascending, each
 * once: *at[of the returned number]. */
uint32_t ns_graph_coordinates(const ns_graph *g, ns_arena *arena, ns_ex e, uint32_t **at);

/* Ascending. */
void ns_graph_sort(uint32_t *list, uint32_t n);

/* Builders */
ns_ex ns_number(ns_graph *g, double value);
ns_ex ns_number2(ns_graph *g, double hi, double lo);
ns_ex ns_integer(ns_graph *g, int64_t value);
ns_ex ns_zero(ns_graph *g);
ns_ex ns_one(ns_graph *g);
ns_ex ns_pi(ns_graph *g);
/* From decimal text, with the bits beyond double where the compiler has 128-bit floats. */
ns_ex ns_decimal(ns_graph *g, const char *text);

ns_ex ns_apply(ns_graph *g, ns_op op, ns_ex a, ns_ex b); /* any operation of the table */
ns_ex ns_add(ns_graph *g, ns_ex a, ns_ex b);
ns_ex ns_sub(ns_graph *g, ns_ex a, ns_ex b);
ns_ex ns_mul(ns_graph *g, ns_ex a, ns_ex b);
ns_ex ns_div(ns_graph *g, ns_ex a, ns_ex b);
/* a*b as a product even when b is a reciprocal 1/c: divides once where many products share
 * c. */
ns_ex ns_times(ns_graph *g, ns_ex a, ns_ex b);
ns_ex ns_neg(ns_graph *g, ns_ex a);
ns_ex ns_pow(ns_graph *g, ns_ex a, ns_ex b);
ns_ex ns_powi(ns_graph *g, ns_ex a, int32_t n);
ns_ex ns_sqrt(ns_graph *g, ns_ex a);
ns_ex ns_abs(ns_graph *g, ns_ex a);
ns_ex ns_sign(ns_graph *g, ns_ex a);
ns_ex ns_step(ns_graph *g, ns_ex a); /* (1 + sign(a))/2 */
ns_ex ns_exp(ns_graph *g, ns_ex a);
ns_ex ns_log(ns_graph *g, ns_ex a);
ns_ex ns_sin(ns_graph *g, ns_ex a);
ns_ex ns_cos(ns_graph *g, ns_ex a);
ns_ex ns_tan(ns_graph *g, ns_ex a);
ns_ex ns_sinh(ns_graph *g, ns_ex a);
ns_ex ns_cosh(ns_graph *g, ns_ex a);

/* C leaves open which argument of a call is made first, and the order of nodes decides how sums
 * are rounded: nested formulas would give other bits with another compiler.  These make the
 * last argument first.  Functions of one's own with two arguments that build nodes: name the
 * arguments before. */
#ifndef __cppcheck__ /* which cannot read them */
#define NS_LAST_FIRST(f, g, a, b) NS_LAST_FIRST_(__COUNTER__, f, g, a, b)
#define NS_LAST_FIRST_(id, f, g, a, b) NS_LAST_FIRST__(id, f, g, a, b)
#define NS_LAST_FIRST__(id, f, g, a, b)                                                        \
    __extension__({                                                                            \
        const __auto_type last_##id = (b);                                                     \
        f(g, a, last_##id);                                                                    \
    })
#define ns_add(g, a, b) NS_LAST_FIRST(ns_add, g, a, b)
#define ns_sub(g, a, b) NS_LAST_FIRST(ns_sub, g, a, b)
#define ns_mul(g, a, b) NS_LAST_FIRST(ns_mul, g, a, b)
#define ns_div(g, a, b) NS_LAST_FIRST(ns_div, g, a, b)
#define ns_times(g, a, b) NS_LAST_FIRST(ns_times, g, a, b)
#define ns_pow(g, a, b) NS_LAST_FIRST(ns_pow, g, a, b)
#endif

/* x = M^-1 b for an n x n matrix M given by rows. */
void ns_solve(ns_graph *g, uint32_t n, const ns_ex *M, const ns_ex *b, ns_ex *x);

/* For substitution and the like: the node with the operation of `like` and new arguments. */
ns_ex ns_rebuild(ns_graph *g, ns_ex like, const ns_ex *args);

#endif
