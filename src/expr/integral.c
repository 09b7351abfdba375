/* The integral of an expression by Gauss's rule with 64 nodes,
 *
 *     (b - a)/2 sum_i w_i F(m + x_i (b - a)/2),      m = (a + b)/2
 *
 * written out on the graph: its derivatives, series and enclosures are those of what is
 * computed, in both precisions.  The rule is exact to degree 127.  Is F resolved by it?  Its
 * last two coefficients in Legendre polynomials, from the same values of F,
 *
 *     c_k = (2k+1)/2 sum_i w_i P_k(x_i) F_i,     k = 62, 63
 *
 * are compared with the mean of |F|.  For analytic F they fall geometrically and the error of
 * the integral is of the size of c_128, so that 1e-8 for them is 1e-16 for it.  */
#include "expr/integral.h"

#include <stdlib.h>

#include "expr/subst.h"

enum { HALF = 32, DEGREE = 63 };

static const struct node {
    const char *x, *weight;
} nodes[HALF] = {
#define NODE(x, weight) {x, weight},
#include "expr/gauss_nodes.def"
#undef NODE
};

/* w P_k(x) (2k+1)/2 for k = 62 and 63; P_k is even or odd as k is. */
static void coefficients(const struct node *node, double *c62, double *c63)
{
    const double x = strtod(node->x, NULL), w = strtod(node->weight, NULL);
    double before = 1, P = x;
    for (int k = 2; k <= DEGREE; k++) {
        const double next = ((2 * k - 1) * x * P - (k - 1) * before) / k;
        before = P;
        P = next;
    }
    *c62 = w * before * (2 * (DEGREE - 1) + 1) / 2;
    *c63 = w * P * (2 * DEGREE + 1) / 2;
}

ns_ex ns_integral(ns_graph *g, ns_ex f, ns_ex u, ns_ex a, ns_ex b, ns_ex *margin)
{
    const ns_ex half = ns_number(g, 0.5), reach = ns_mul(g, half, ns_sub(g, b, a));
    const ns_ex middle = ns_mul(g, half, ns_add(g, a, b));
    ns_ex sum = ns_zero(g), size = ns_zero(g), even = ns_zero(g), odd = ns_zero(g);
    for (uint32_t i = 0; i < HALF; i++) {
        double c62, c63;
        const ns_ex x = ns_mul(g, ns_decimal(g, nodes[i].x), reach);
        const ns_ex w = ns_decimal(g, nodes[i].weight);
        const ns_ex left_of = ns_sub(g, middle, x), right_of = ns_add(g, middle, x);
        coefficients(&nodes[i], &c62, &c63);
        const ns_ex left = ns_subst_one(g, f, &u, &left_of, 1);
        const ns_ex right = ns_subst_one(g, f, &u, &right_of, 1);
        const ns_ex both = ns_add(g, left, right), apart = ns_sub(g, right, left);
        const ns_ex part = ns_mul(g, half, w), at_left = ns_abs(g, left);
        sum = ns_add(g, sum, ns_mul(g, w, both));
        size = ns_add(g, size, ns_mul(g, part, ns_add(g, at_left, ns_abs(g, right))));
        even = ns_add(g, even, ns_mul(g, ns_number(g, c62), both));
        odd = ns_add(g, odd, ns_mul(g, ns_number(g, c63), apart));
    }
    const ns_ex tail = ns_add(g, ns_abs(g, even), ns_abs(g, odd));
    *margin = ns_sub(g, ns_mul(g, ns_number(g, 1e-8), size), tail);
    return ns_mul(g, reach, sum);
}
