/* Shared by symmetry_geometry.c and symmetry_rates.c. */
#ifndef NS_MECH_REDUCED_SYMMETRY_INTERNAL_H
#define NS_MECH_REDUCED_SYMMETRY_INTERNAL_H

#include "mech/reduced/symmetry.h"

static inline ns_ex *array(const ns_symmetry *y, size_t n)
{
    ns_ex *out = NS_NEW_ARRAY(y->d->arena, ns_ex, n + 1);
    for (size_t i = 0; i < n; i++)
        out[i] = ns_zero(y->d->graph);
    return out;
}

/* *sum += a b c */
static inline void add3(ns_graph *g, ns_ex *sum, ns_ex a, ns_ex b, ns_ex c)
{
    *sum = ns_add(g, *sum, ns_mul(g, ns_mul(g, a, b), c));
}

static inline void add2(ns_graph *g, ns_ex *sum, ns_ex a, ns_ex b)
{
    *sum = ns_add(g, *sum, ns_mul(g, a, b));
}

#endif
