/* Formulation `hamel`: what `noslip equations` prints. */
#include "expr/diff.h"
#include "expr/eval.h"
#include "mech/hamel.h"

ns_ex ns_hamel_bracket(const ns_hamel *w, const ns_ex *X, const ns_ex *Y, uint32_t k)
{
    ns_ex forward, back;
    ns_diff_along(w->g, &Y[k], 1, w->q, X, w->n, &forward);
    ns_diff_along(w->g, &X[k], 1, w->q, Y, w->n, &back);
    return ns_sub(w->g, forward, back);
}

static void line(ns_hamel *w, const char *group, const char *name, ns_ex value)
{
    NS_PUSH(w->d->arena, w->s->equations,
            (ns_equation_line){.group = group, .name = name, .value = value});
}

void ns_hamel_note(ns_hamel *w)
{
    ns_arena *arena = w->d->arena;
    uint32_t n = w->n;
    line(w, "Lagrangian in quasivelocities", "l", w->l);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            if (!ns_graph_is_zero(w->g, w->u[i * n + k]))
                line(w, "frame: components of u_i along the coordinates",
                     ns_arena_format(arena, "u%u.%s", i + 1, w->d->coordinates.at[k].name),
                     w->u[i * n + k]);
    /* structure coefficients: U^T c_ij = [u_i, u_j] */
    ns_ex *U = NS_NEW_ARRAY(arena, ns_ex, n * n), *b = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_ex *c = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            U[k * n + i] = w->u[i * n + k];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++) {
            for (uint32_t k = 0; k < n; k++)
                b[k] = ns_hamel_bracket(w, w->u + i * n, w->u + j * n, k);
            ns_solve(w->g, n, U, b, c);
            for (uint32_t m = 0; m < n; m++)
                if (!ns_eval_vanishes(w->g, c[m], 0))
                    line(w, "brackets [u_i, u_j] = c_ij^m u_m",
                         ns_arena_format(arena, "c[%u,%u,%u]", i + 1, j + 1, m + 1), c[m]);
        }
}
