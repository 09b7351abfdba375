/* Formulation `hamel`: what `noslip equations` prints. */
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/normal/normal.h"
#include "expr/subst.h"
#include "mech/hamel/hamel.h"

ns_ex ns_hamel_bracket(const ns_hamel *w, const ns_ex *X, const ns_ex *Y, uint32_t k)
{
    ns_ex forward, back;
    ns_diff_along(w->g, &Y[k], 1, w->q, X, w->n, &forward);
    ns_diff_along(w->g, &X[k], 1, w->q, Y, w->n, &back);
    return ns_sub(w->g, forward, back);
}

typedef struct note {
    ns_hamel *w;
    ns_normal_names names; /* parameters that are defined by others */
} note;

static void add(note *k, const char *group, const char *name, ns_ex value)
{
    NS_PUSH(k->w->d->arena, k->w->s->equations,
            (ns_equation_line){.group = group, .name = name, .value = value});
}

static void add_frame(note *k)
{
    ns_hamel *w = k->w;
    uint32_t n = w->n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < n; c++)
            if (!ns_graph_is_zero(w->g, w->u[i * n + c]))
                add(k, "frame: components of u_i along the coordinates",
                    ns_arena_format(w->d->arena, "u%u.%s", i + 1, w->d->coordinates.at[c].name),
                    ns_normal(w->g, w->u[i * n + c], NULL));
}

/* structure coefficients: U^T c_ij = [u_i, u_j] */
static void add_brackets(note *k)
{
    ns_hamel *w = k->w;
    ns_arena *arena = w->d->arena;
    uint32_t n = w->n;
    ns_ex *U = NS_NEW_ARRAY(arena, ns_ex, n * n), *b = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_ex *c = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            U[j * n + i] = w->u[i * n + j];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++) {
            for (uint32_t m = 0; m < n; m++)
                b[m] = ns_hamel_bracket(w, w->u + i * n, w->u + j * n, m);
            ns_solve(w->g, n, U, b, c);
            for (uint32_t m = 0; m < n; m++)
                if (!ns_eval_vanishes(w->g, c[m], 0))
                    add(k, "brackets [u_i, u_j] = c_ij^m u_m",
                        ns_arena_format(arena, "c[%u,%u,%u]", i + 1, j + 1, m + 1),
                        ns_normal(w->g, c[m], &k->names));
        }
}

void ns_hamel_note(ns_hamel *w)
{
    ns_arena *arena = w->d->arena;
    const ns_description *d = w->d;
    ns_ex *name = NS_NEW_ARRAY(arena, ns_ex, d->params.n + 1);
    ns_ex *value = NS_NEW_ARRAY(arena, ns_ex, d->params.n + 1);
    note k = {.w = w, .names = {.name = name, .value = value}};
    for (uint32_t i = 0; i < d->params.n; i++)
        if (ns_graph_depends_kind(w->g, d->params.at[i].value, NS_SYM_PARAM, NULL)) {
            name[k.names.n] = d->params.at[i].symbol;
            value[k.names.n++] = d->params.at[i].value;
        }
    add_frame(&k);
    add_brackets(&k);
    add(&k, "Lagrangian in quasivelocities", "l",
        ns_normal_collect(w->g, w->l, w->vs, w->n, &k.names));
    for (uint32_t i = w->n - w->p; i < w->n && !w->multipliers; i++)
        if (!ns_graph_is_zero(w->g, w->v[i]))
            add(&k, "quasivelocities given by the constraints",
                ns_arena_format(arena, "v%u", i + 1), ns_normal(w->g, w->v[i], &k.names));
    for (uint32_t i = 0; i < w->n; i++)
        add(&k,
            w->affine && !w->multipliers ? "momenta p = dl/dv, with the given v"
            : w->p && !w->multipliers    ? "momenta p = dl/dv, with v = 0 for the other fields"
                                         : "momenta p = dl/dv",
            ns_arena_format(arena, "p%u", i + 1),
            ns_normal_collect(w->g, ns_subst_one(w->g, w->momentum[i], w->vs, w->v, w->n),
                              w->vs, w->n, &k.names));
    uint32_t shown = w->multipliers ? w->n : w->n - w->p;
    for (uint32_t i = 0; i < shown; i++)
        add(&k,
            w->multipliers && w->p ? "Hamel's equations (3.6), without the forces lambda_s a^s"
            : w->p                 ? "constrained Hamel equations (3.4)"
                                   : "Hamel's equations (2.8)",
            ns_arena_format(arena, "p%u'", i + 1),
            ns_normal_collect(w->g, w->force[i], w->vs, w->n, &k.names));
}
