/* What the kernels of `gauss` share, for one motion and for motions in lanes. */
#ifndef NS_ODE_GAUSS_GAUSS_VECTOR_H
#define NS_ODE_GAUSS_GAUSS_VECTOR_H

#include "ode/gauss/gauss_control.h"
#include "ode/gauss/gauss_table.h"
#include "ode/vector.h"

/* The order in which increments are summed: from the outer stages to the inner. */
static const int gauss_inwards[8] = {0, 7, 1, 6, 2, 5, 3, 4};

/* prod_{k != j} (at - c_k): with the weights gauss_w the Lagrange polynomials of the nodes.  No
 * division, so points on nodes are fine. */
static inline void gauss_products(vector at, vector l[8])
{
    vector d[8];
    for (int j = 0; j < 8; j++)
        d[j] = at - gauss_c[j];
    const vector d01 = d[0] * d[1], d23 = d[2] * d[3], d45 = d[4] * d[5], d67 = d[6] * d[7];
    const vector left = d01 * d23, right = d45 * d67, l6 = left * d45, r2 = d23 * right;
    l[0] = d[1] * r2;
    l[1] = d[0] * r2;
    l[2] = (d01 * d[3]) * right;
    l[3] = (d01 * d[2]) * right;
    l[4] = left * (d[5] * d67);
    l[5] = left * (d[4] * d67);
    l[6] = l6 * d[7];
    l[7] = l6 * d[6];
}

#endif
