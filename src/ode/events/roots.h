/* Zeros and extrema of a polynomial of degree 9 given by its values, through its Bernstein
 * form.
 *
 * Nodes are 0, the eight Gauss nodes, and 1.  The Bernstein coefficients enclose the
 * polynomial, and their sign changes bound the number of zeros (Descartes), so that no zero of
 * the polynomial can be missed. */
#ifndef NS_ODE_EVENTS_ROOTS_H
#define NS_ODE_EVENTS_ROOTS_H

enum { NS_ROOTS_POINTS = 10, NS_ROOTS_DEGREE = 9 };

typedef struct ns_roots_poly {
    double b[NS_ROOTS_POINTS]; /* Bernstein coefficients on [0, 1] */
    double size;               /* largest value at the nodes */
    double error;              /* size of the terms left out, judged by the last ones */
} ns_roots_poly;

/* From values at 0, c_1, ..., c_8, 1. */
void ns_roots_fit(const double *values, ns_roots_poly *p);
double ns_roots_value(const ns_roots_poly *p, double u);
double ns_roots_slope(const ns_roots_poly *p, double u);
/* The zero between l and r; the polynomial has the given sign at l and the other one at r. */
double ns_roots_between(const ns_roots_poly *p, double l, double r, double sign);
/* Zeros of the derivative in (0, 1), ascending; returns how many (at most 8). */
int ns_roots_extrema(const ns_roots_poly *p, double *u);
/* Zeros of the Bernstein polynomial b[degree + 1], degree 8 or 9, in (0, 1), ascending. */
int ns_roots_bernstein(const double *b, int degree, double *u);

#endif
