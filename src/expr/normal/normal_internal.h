/* Polynomials in atoms, for expr/normal/normal.c.  An atom is a symbol or a function of
 * anything: sin(x). */
#ifndef NS_EXPR_NORMAL_NORMAL_INTERNAL_H
#define NS_EXPR_NORMAL_NORMAL_INTERNAL_H

#include "expr/graph.h"

enum {
    NS_ATOMS = 32,       /* different atoms of one expression */
    NS_TERMS_MOST = 1500 /* of a polynomial; beyond that nobody reads it */
};

typedef struct ns_term {
    double c;
    uint8_t e[NS_ATOMS]; /* exponents */
} ns_term;

/* Terms in falling lexicographic order of their exponents; none for zero. */
typedef struct ns_poly {
    const ns_term *at;
    uint32_t n;
} ns_poly;

/* Rules atom_i^2 = square, applied wherever the exponent is 2 or more. */
typedef struct ns_poly_rule {
    bool has;
    ns_poly square;
} ns_poly_rule;

typedef struct ns_polys {
    ns_arena *arena;
    ns_poly_rule rule[NS_ATOMS];
    bool failed; /* too large: all results from then on are worthless */
} ns_polys;

ns_poly ns_poly_number(ns_polys *w, double c);
ns_poly ns_poly_atom(ns_polys *w, uint32_t atom);
ns_poly ns_poly_add(ns_polys *w, ns_poly a, ns_poly b, double factor); /* a + factor*b */
ns_poly ns_poly_scale(ns_polys *w, ns_poly a, double factor);
ns_poly ns_poly_mul(ns_polys *w, ns_poly a, ns_poly b);
bool ns_poly_is_number(ns_poly a, double *c);
/* a = q b without remainder? */
bool ns_poly_divide(ns_polys *w, ns_poly a, ns_poly b, ns_poly *q);
/* The monomial that divides all terms of a, as exponents (those of a polynomial 0: all
 * zero). */
void ns_poly_content(ns_poly a, uint8_t e[NS_ATOMS]);
/* a divided by that monomial. */
ns_poly ns_poly_strip(ns_polys *w, ns_poly a, const uint8_t e[NS_ATOMS]);
/* det of an n x n matrix by rows */
ns_poly ns_poly_determinant(ns_polys *w, uint32_t n, const ns_poly *m);

#endif
