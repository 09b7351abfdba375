/* The work stack of the printers (print.c, mathml.c): what is still to be written, as nodes and
 * pieces of text, the next one on top.  No depth of a graph can overflow anything. */
#ifndef NS_EXPR_PIECES_H
#define NS_EXPR_PIECES_H

#include "expr/print/print.h"

typedef struct ns_piece {
    const char *text; /* written as it is; NULL for a node */
    ns_ex node;
    uint8_t least;  /* brackets round anything looser */
    bool unsign;    /* without its leading minus, which was written already */
    bool expand;    /* even if it has a name */
    uint32_t index; /* text NULL, node 0: write this number */
} ns_piece;

typedef struct ns_pieces ns_pieces;

/* How tightly an expression holds together; a place that asks for more puts brackets round
 * it. */
enum { NS_LEVEL_SUM = 1, NS_LEVEL_PRODUCT, NS_LEVEL_SIGN, NS_LEVEL_POWER, NS_LEVEL_ATOM };

/* How a printer writes what all have. */
typedef struct ns_notation {
    const char *open, *close; /* brackets */
    const char *before_index, *behind_index;
    void (*name)(const char *name, ns_text *out);
    int (*level)(const ns_pieces *p, const ns_piece *what);
    void (*node)(ns_pieces *p, ns_ex e, bool unsign); /* writes or pushes its pieces */
    /* Where sin^2 x is written so: the name of a function in front of its arguments, NULL for
     * all else; and a function to a power (0: without) of its arguments. */
    const char *(*function)(ns_op op);
    void (*call)(ns_pieces *p, ns_ex e, uint32_t power);
} ns_notation;

struct ns_pieces {
    const ns_notation *notation;
    const ns_graph *g;
    ns_text *out;
    const ns_shared *shared;
    bool latex;
    bool plain; /* no brackets after + and * of the same kind */
    NS_LIST(ns_piece) stack;
};

/* Writes an expression; with `expand` even if it has a name. */
void ns_pieces_print(ns_pieces *p, ns_ex e, bool expand);

void ns_pieces_text(ns_pieces *p, const char *text);
void ns_pieces_push(ns_pieces *p, ns_ex node, int least);
void ns_pieces_unsigned(ns_pieces *p, ns_ex node, int least);
void ns_pieces_index(ns_pieces *p, uint32_t index);

/* ADD and SUB, with the minus of a term in place of a plus. */
void ns_pieces_sum(ns_pieces *p, ns_ex e, const char *plus, const char *minus);
/* POW and POWI: texts before the base, between it and the exponent, and after. */
void ns_pieces_power(ns_pieces *p, ns_ex e, const char *before, const char *between,
                     const char *behind);
/* Is the function's argument a lone name, which needs no brackets? */
bool ns_pieces_lone(const ns_pieces *p, ns_ex e);

/* The shared item that a node is, NULL if it is none. */
const ns_shared_item *ns_pieces_item(const ns_pieces *p, ns_ex e);
ns_ex ns_pieces_arg(const ns_pieces *p, ns_ex e, uint32_t k);
bool ns_pieces_negative(const ns_pieces *p, ns_ex e); /* a number below zero */

/* Entries of the matrix of an LDL or FACTOR node, [n][n] by rows; 0 where there is none. */
const ns_ex *ns_pieces_entries(const ns_pieces *p, ns_ex e);

/* Length of the part of a name before a dot, an underscore, a digit or a prime. */
size_t ns_pieces_word(const char *name, size_t length);

#endif
