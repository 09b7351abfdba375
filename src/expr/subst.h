/* Substitution, and collecting forms linear or quadratic in given variables. */
#ifndef NS_EXPR_SUBST_H
#define NS_EXPR_SUBST_H

#include "expr/graph.h"

/* out[i] = f_i with every from[j] (a symbol or any node) replaced by to[j], at once. */
void ns_subst(ns_graph *g, const ns_ex *f, size_t nf, const ns_ex *from, const ns_ex *to,
              size_t n, ns_ex *out);
ns_ex ns_subst_one(ns_graph *g, ns_ex f, const ns_ex *from, const ns_ex *to, size_t n);

/* f = rest + sum_j linear[j] x_j.  False if f is not of this form.  Coefficients that depend
 * on x only in appearance ((x+1)^2 - x^2) are recognised by their values at random points. */
bool ns_subst_collect_linear(ns_graph *g, ns_ex f, const ns_ex *x, size_t n, ns_ex *linear,
                             ns_ex *rest);

/* f = rest + sum_j linear[j] x_j + 1/2 sum_jk quadratic[j*n+k] x_j x_k, quadratic symmetric. */
bool ns_subst_collect_quadratic(ns_graph *g, ns_ex f, const ns_ex *x, size_t n,
                                ns_ex *quadratic, ns_ex *linear, ns_ex *rest);

#endif
