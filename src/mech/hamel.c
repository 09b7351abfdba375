/* Formulation `hamel`: motion in quasivelocities (seed 001, sections 2.2 and 3.2).
 *
 * A frame u_1(q) .. u_n(q) defines quasivelocities by q' = v^i u_i(q).  With l(q, v) = L(q, v^i u_i)
 * the equations of motion, with constraints a^s(q).q' = 0 that the first n-p fields satisfy, are
 *
 *     d/dt dl/dv^j = c_ij^m v^i dl/dv^m + u_j[l] + u_j.F + lambda_s a^s(u_j),   v^i = 0 for i > n-p
 *                                                                     (2.8), (3.4), (3.6)
 *
 * where [u_i, u_j] = c_ij^m u_m.  Contracting with dl/dv avoids the inverse of the frame:
 * dl/dv^m = pi.u_m with pi = dL/dq', so
 *
 *     c_ij^m v^i dl/dv^m = pi.[X, u_j],   X = v^i u_i at fixed v,   [X, Y] = DY X - DX Y.
 *
 * The first n-p equations give v', one `solve` node with the matrix u_j.M u_k; the others give
 * the multipliers (the same numbers as (3.8)).  The derivatives by v are taken before v^i = 0 is
 * put in: m runs over all fields (see the notes on (3.4) in docs/theory/hamel.md).
 *
 * Without a frame the program makes one: p velocities are expressed by the others through the
 * constraints,  u_i = e_i - e_D A_D^-1 A_i,  and the fields e_D complete it. */
#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/subst.h"
#include "mech/block.h"
#include "mech/formulations.h"
#include "mech/symmetry.h"

typedef struct work {
    ns_description *d;
    ns_system *s;
    ns_graph *g;
    uint32_t n, p;   /* coordinates, constraints */
    ns_ex *q, *dq;   /* [n] coordinates and their velocities as symbols */
    ns_ex *u;        /* [n][n] field i by rows: u[i*n + k] is its component along q_k */
    ns_ex *A;        /* [p][n] constraint rows */
    ns_ex *v;        /* [n] quasivelocities: states, zero for i >= n-p */
    ns_ex *vs;       /* [n] quasivelocities as symbols, before the constraints */
    ns_ex *rate;     /* [n] q' in terms of q and vs */
    ns_ex *momentum; /* [n] dl/dv */
    ns_ex *dv;       /* [n-p] v' */
    ns_ex *lambda;   /* [p] */
} work;

static bool fits(const ns_description *d)
{
    bool frame = false;
    for (uint32_t i = 0; i < d->blocks.n; i++)
        frame = frame || strcmp(d->blocks.at[i].keyword, "frame") == 0;
    return frame && d->coordinates.n > 0 && d->lagrangian;
}

/* ---- constraints and frame ------------------------------------------------------------------- */

static bool read_constraints(work *w)
{
    for (uint32_t k = 0; k < w->p; k++) {
        const ns_constraint_line *line = &w->d->constraints.at[k];
        ns_ex rest;
        if (!ns_graph_depends(w->g, line->residual, w->dq, w->n)) {
            ns_diag_error(w->d->diag, line->span,
                          "formulation `hamel` takes constraints on velocities; `%s` is on "
                          "positions (use `lagrange`)",
                          line->name);
            return false;
        }
        if (!ns_subst_collect_linear(w->g, line->residual, w->dq, w->n, w->A + k * w->n,
                                     &rest) ||
            !ns_graph_is_zero(w->g, rest) ||
            ns_graph_depends(w->g, line->residual, &w->d->time, 1)) {
            ns_diag_error(w->d->diag, line->span,
                          "constraint `%s` must be linear in the velocities and free of time",
                          line->name);
            return false;
        }
    }
    return true;
}

static bool read_frame(work *w, const ns_block *block)
{
    if (block->properties.n != w->n) {
        ns_diag_error(w->d->diag, block->span, "the frame needs %u fields, it has %u", w->n,
                      block->properties.n);
        return false;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        const ns_property *p = &block->properties.at[i];
        if (p->values != 1 || p->value[0].rows * p->value[0].cols != w->n) {
            ns_diag_error(w->d->diag, p->values ? p->value_span : p->span,
                          "field `%s` needs %u components, one per coordinate", p->name, w->n);
            return false;
        }
        for (uint32_t k = 0; k < w->n; k++) {
            ns_ex component = p->value[0].at[k];
            if (ns_graph_depends(w->g, component, w->dq, w->n) ||
                ns_graph_depends(w->g, component, &w->d->time, 1)) {
                ns_diag_error(w->d->diag, p->value_span,
                              "field `%s` may depend on coordinates and parameters only",
                              p->name);
                return false;
            }
            w->u[i * w->n + k] = component;
        }
        for (uint32_t k = 0; i + w->p < w->n && k < w->p; k++) {
            ns_ex along = ns_zero(w->g), size = ns_zero(w->g);
            for (uint32_t j = 0; j < w->n; j++) {
                ns_ex term = ns_mul(w->g, w->A[k * w->n + j], w->u[i * w->n + j]);
                along = ns_add(w->g, along, term);
                size = ns_add(w->g, size, ns_abs(w->g, term));
            }
            if (!ns_eval_vanishes(w->g, along, size)) {
                ns_diag_error(
                    w->d->diag, p->span,
                    "field `%s` does not satisfy constraint `%s`: the first %u fields "
                    "must",
                    p->name, w->d->constraints.at[k].name, w->n - w->p);
                return false;
            }
        }
    }
    return true;
}

/* Which velocities are expressed by the others: pivots of A at the start. */
static bool choose_dependent(work *w, bool *dependent)
{
    const ns_description *d = w->d;
    uint32_t n = w->n, p = w->p, np = d->params.n;
    double *params = NS_NEW_ARRAY(d->arena, double, np + 1);
    double *A = NS_NEW_ARRAY(d->arena, double, p * n + 1);
    double *value = NS_NEW_ARRAY(d->arena, double, np + n + 1);
    ns_ex *symbol = NS_NEW_ARRAY(d->arena, ns_ex, np + n + 1);
    ns_system_params(w->s, NULL, NULL, params);
    for (uint32_t i = 0; i < np; i++) {
        symbol[i] = d->params.at[i].symbol;
        value[i] = params[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        symbol[np + i] = w->q[i];
        for (uint32_t k = 0; k < d->starts.n; k++)
            if (d->starts.at[k].symbol == w->q[i])
                ns_eval(w->g, &d->starts.at[k].value, 1, symbol, value, np, &value[np + i]);
    }
    ns_eval(w->g, w->A, p * n, symbol, value, np + n, A);
    for (uint32_t k = 0; k < p; k++) { /* elimination with complete pivoting */
        uint32_t row = k, column = 0;
        double most = 0;
        for (uint32_t i = k; i < p; i++)
            for (uint32_t j = 0; j < n; j++)
                if (!dependent[j] && fabs(A[i * n + j]) > most) {
                    most = fabs(A[i * n + j]);
                    row = i;
                    column = j;
                }
        if (!(most > 1e-12)) {
            ns_diag_error(d->diag, d->constraints.at[k].span,
                          "the constraints depend on each other at the start; `constrained` "
                          "accepts that");
            return false;
        }
        for (uint32_t j = 0; j < n; j++) {
            double swap = A[k * n + j];
            A[k * n + j] = A[row * n + j];
            A[row * n + j] = swap;
        }
        dependent[column] = true;
        for (uint32_t i = k + 1; i < p; i++) {
            double factor = A[i * n + column] / A[k * n + column];
            for (uint32_t j = 0; j < n; j++)
                A[i * n + j] -= factor * A[k * n + j];
        }
    }
    return true;
}

/* With a frame given, too, dependent constraints would take a motion that is free. */
static bool independent(work *w)
{
    return choose_dependent(w, NS_NEW_ARRAY(w->d->arena, bool, w->n));
}

static bool complete_frame(work *w)
{
    uint32_t n = w->n, p = w->p, field = 0;
    bool *dependent = NS_NEW_ARRAY(w->d->arena, bool, n);
    if (!choose_dependent(w, dependent))
        return false;
    uint32_t *D = NS_NEW_ARRAY(w->d->arena, uint32_t, p + 1), found = 0;
    for (uint32_t j = 0; j < n; j++)
        if (dependent[j])
            D[found++] = j;
    ns_ex *AD = NS_NEW_ARRAY(w->d->arena, ns_ex, p * p + 1);
    ns_ex *right = NS_NEW_ARRAY(w->d->arena, ns_ex, p + 1);
    ns_ex *x = NS_NEW_ARRAY(w->d->arena, ns_ex, p + 1);
    for (uint32_t k = 0; k < p; k++)
        for (uint32_t j = 0; j < p; j++)
            AD[k * p + j] = w->A[k * n + D[j]];
    for (uint32_t k = 0; k < n * n; k++)
        w->u[k] = ns_zero(w->g);
    ns_text names = ns_text_new(w->d->arena);
    for (uint32_t i = 0; i < n; i++) {
        if (dependent[i])
            continue;
        for (uint32_t k = 0; k < p; k++)
            right[k] = w->A[k * n + i];
        ns_solve(w->g, p, AD, right, x);
        w->u[field * n + i] = ns_one(w->g);
        for (uint32_t j = 0; j < p; j++)
            w->u[field * n + D[j]] = ns_neg(w->g, x[j]);
        ns_text_addf(&names, "%sv%u = %s'", field ? ", " : "", field + 1,
                     w->d->coordinates.at[i].name);
        field++;
    }
    for (uint32_t j = 0; j < p; j++)
        w->u[(field + j) * n + D[j]] = ns_one(w->g);
    ns_system_fact(w->s, "frame", "made by the program: %s", ns_text_string(&names));
    /* it ends where A_D becomes singular; for more constraints the step size tells */
    ns_ex det = p == 1   ? AD[0]
                : p == 2 ? ns_sub(w->g, ns_mul(w->g, AD[0], AD[3]), ns_mul(w->g, AD[1], AD[2]))
                         : 0;
    if (det)
        NS_PUSH(w->d->arena, w->s->events,
                (ns_event){.name = "frame",
                           .value = det,
                           .action = NS_EVENT_SINGULAR,
                           .meaning = "the frame made from the constraints becomes singular: "
                                      "give one with `frame`"});
    return true;
}

/* ---- equations ------------------------------------------------------------------------------- */

/* component k of [X, Y] = DY X - DX Y */
static ns_ex bracket(work *w, const ns_ex *X, const ns_ex *Y, uint32_t k)
{
    ns_ex forward, back;
    ns_diff_along(w->g, &Y[k], 1, w->q, X, w->n, &forward);
    ns_diff_along(w->g, &X[k], 1, w->q, Y, w->n, &back);
    return ns_sub(w->g, forward, back);
}

static ns_ex restricted(work *w, ns_ex e)
{
    return ns_subst_one(w->g, e, w->vs, w->v, w->n);
}

static bool equations(work *w)
{
    ns_graph *g = w->g;
    ns_arena *arena = w->d->arena;
    uint32_t n = w->n, p = w->p, free_ones = n - p;
    w->rate = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t k = 0; k < n; k++) {
        w->rate[k] = ns_zero(g);
        for (uint32_t i = 0; i < n; i++)
            w->rate[k] = ns_add(g, w->rate[k], ns_mul(g, w->vs[i], w->u[i * n + k]));
    }
    ns_ex l = ns_subst_one(g, w->d->lagrangian, w->dq, w->rate, n);
    ns_ex *pi = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_diff_gradient(g, w->d->lagrangian, w->dq, n, pi);
    ns_subst(g, pi, n, w->dq, w->rate, n, pi);
    w->momentum = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_diff_gradient(g, l, w->vs, n, w->momentum);
    ns_ex *M = NS_NEW_ARRAY(arena, ns_ex, n * n), *right = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_diff_jacobian(g, w->momentum, n, w->vs, n, M);
    ns_ex *force = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t k = 0; k < n; k++)
        force[k] = ns_zero(g);
    for (uint32_t k = 0; k < w->d->forces.n; k++) {
        const ns_force_line *line = &w->d->forces.at[k];
        force[line->coordinate] = ns_add(g, force[line->coordinate],
                                         ns_subst_one(g, line->value, w->dq, w->rate, n));
    }
    ns_ex *along = NS_NEW_ARRAY(arena, ns_ex, n + 1), *qt = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        along[k] = w->rate[k];
        qt[k] = w->q[k];
    }
    along[n] = ns_one(g);
    qt[n] = w->d->time;
    for (uint32_t j = 0; j < n; j++) {
        ns_ex change, push;
        ns_diff_along(g, &w->momentum[j], 1, qt, along, n + 1, &change);
        ns_diff_along(g, &l, 1, w->q, w->u + j * n, n, &push);
        right[j] = ns_sub(g, push, change);
        for (uint32_t k = 0; k < n; k++) {
            right[j] = ns_add(g, right[j], ns_mul(g, w->u[j * n + k], force[k]));
            right[j] = ns_add(g, right[j],
                              ns_mul(g, pi[k], bracket(w, w->rate, w->u + j * n, k)));
        }
        right[j] = restricted(w, right[j]);
    }
    for (uint32_t k = 0; k < n * n; k++)
        M[k] = restricted(w, M[k]);
    ns_ex *MD = NS_NEW_ARRAY(arena, ns_ex, free_ones * free_ones + 1);
    for (uint32_t i = 0; i < free_ones; i++)
        for (uint32_t j = 0; j < free_ones; j++)
            MD[i * free_ones + j] = M[(i < j ? i : j) * n + (i < j ? j : i)];
    w->dv = NS_NEW_ARRAY(arena, ns_ex, free_ones + 1);
    ns_solve(g, free_ones, MD, right, w->dv);
    /* multipliers from the other rows: sum_s lambda_s a^s(u_j) = M_jk v'^k - right_j */
    ns_ex *T = NS_NEW_ARRAY(arena, ns_ex, p * p + 1), *rest = NS_NEW_ARRAY(arena, ns_ex, p + 1);
    w->lambda = NS_NEW_ARRAY(arena, ns_ex, p + 1);
    for (uint32_t r = 0; r < p; r++) {
        uint32_t j = free_ones + r;
        rest[r] = ns_neg(g, right[j]);
        for (uint32_t k = 0; k < free_ones; k++)
            rest[r] = ns_add(g, rest[r], ns_mul(g, M[j * n + k], w->dv[k]));
        for (uint32_t c = 0; c < p; c++) {
            T[r * p + c] = ns_zero(g);
            for (uint32_t k = 0; k < n; k++)
                T[r * p + c] = ns_add(g, T[r * p + c],
                                      ns_mul(g, w->A[c * n + k], w->u[j * n + k]));
        }
    }
    ns_solve(g, p, T, rest, w->lambda);
    ns_ex energy = ns_neg(g, l), twice = ns_zero(g);
    for (uint32_t i = 0; i < n; i++)
        energy = ns_add(g, energy, ns_mul(g, w->momentum[i], w->vs[i]));
    for (uint32_t i = 0; i < free_ones; i++)
        for (uint32_t j = 0; j < free_ones; j++)
            twice = ns_add(g, twice,
                           ns_mul(g, MD[i * free_ones + j], ns_mul(g, w->v[i], w->v[j])));
    w->s->energy = restricted(w, energy);
    w->s->kinetic = ns_mul(g, ns_number(g, 0.5), twice);
    w->s->conservative = w->d->forces.n == 0 && !ns_graph_depends(g, l, &w->d->time, 1);
    NS_PUSH(
        arena, w->s->equations,
        (ns_equation_line){.group = "Lagrangian in quasivelocities", .name = "l", .value = l});
    return true;
}

static void note_frame(work *w)
{
    ns_arena *arena = w->d->arena;
    uint32_t n = w->n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            if (!ns_graph_is_zero(w->g, w->u[i * n + k]))
                NS_PUSH(arena, w->s->equations,
                        (ns_equation_line){
                            .group = "frame: components of u_i along the coordinates",
                            .name = ns_arena_format(arena, "u%u.%s", i + 1,
                                                    w->d->coordinates.at[k].name),
                            .value = w->u[i * n + k]});
    /* structure coefficients: U^T c_ij = [u_i, u_j] */
    ns_ex *U = NS_NEW_ARRAY(arena, ns_ex, n * n), *b = NS_NEW_ARRAY(arena, ns_ex, n);
    ns_ex *c = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            U[k * n + i] = w->u[i * n + k];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++) {
            for (uint32_t k = 0; k < n; k++)
                b[k] = bracket(w, w->u + i * n, w->u + j * n, k);
            ns_solve(w->g, n, U, b, c);
            for (uint32_t m = 0; m < n; m++)
                if (!ns_eval_vanishes(w->g, c[m], 0))
                    NS_PUSH(arena, w->s->equations,
                            (ns_equation_line){.group = "brackets [u_i, u_j] = c_ij^m u_m",
                                               .name = ns_arena_format(arena, "c[%u,%u,%u]",
                                                                       i + 1, j + 1, m + 1),
                                               .value = c[m]});
        }
}

static void assemble(work *w)
{
    ns_system *s = w->s;
    const ns_description *d = w->d;
    ns_graph *g = w->g;
    uint32_t n = w->n, free_ones = n - w->p;
    ns_ex *rate = NS_NEW_ARRAY(s->arena, ns_ex, n), *second = NS_NEW_ARRAY(s->arena, ns_ex, n);
    ns_ex *x = NS_NEW_ARRAY(s->arena, ns_ex, n + free_ones);
    ns_ex *dx = NS_NEW_ARRAY(s->arena, ns_ex, n + free_ones);
    for (uint32_t k = 0; k < n; k++) {
        rate[k] = restricted(w, w->rate[k]);
        x[k] = w->q[k];
        dx[k] = rate[k];
        uint32_t place = ns_system_add_state(s, d->coordinates.at[k].name, w->q[k],
                                             d->coordinates.at[k].unit);
        s->states.at[place].rate = rate[k];
    }
    for (uint32_t i = 0; i < free_ones; i++) {
        x[n + i] = w->v[i];
        dx[n + i] = w->dv[i];
        uint32_t place = ns_system_add_state(s, ns_arena_format(s->arena, "v%u", i + 1),
                                             w->v[i], "");
        s->states.at[place].rate = w->dv[i];
        s->states.at[place].odd = true;
    }
    ns_diff_along(g, rate, n, x, dx, n + free_ones, second);
    for (uint32_t k = 0; k < n; k++) {
        const ns_coordinate *c = &d->coordinates.at[k];
        NS_PUSH(s->arena, s->accelerations, (ns_replacement){.from = c->v, .to = rate[k]});
        NS_PUSH(s->arena, s->accelerations, (ns_replacement){.from = c->a, .to = second[k]});
        ns_system_observe(s, ns_arena_format(s->arena, "%s'", c->name), rate[k],
                          c->unit[0] ? ns_arena_format(s->arena, "%s/s", c->unit) : "", true);
    }
    ns_system_observe(s, "energy", s->energy, "J", true);
    for (uint32_t i = 0; i < n; i++)
        ns_system_observe(s, ns_arena_format(s->arena, "p%u", i + 1),
                          restricted(w, w->momentum[i]), "", i < free_ones);
    for (uint32_t k = 0; k < w->p; k++)
        ns_system_observe(s, ns_arena_format(s->arena, "lambda.%s", d->constraints.at[k].name),
                          w->lambda[k], "", true);
}

static bool derive(ns_description *d, ns_system *s)
{
    uint32_t n = d->coordinates.n, p = d->constraints.n;
    work w = {.d = d, .s = s, .g = d->graph, .n = n, .p = p};
    if (!d->lagrangian || n == 0) {
        ns_diag_error(d->diag, d->whole,
                      "formulation `hamel` needs coordinates and a Lagrangian");
        return false;
    }
    if (p >= n) {
        ns_diag_error(d->diag, d->constraints.at[n].span,
                      "%u constraints leave nothing of %u coordinates to move", p, n);
        return false;
    }
    w.q = NS_NEW_ARRAY(s->arena, ns_ex, n);
    w.dq = NS_NEW_ARRAY(s->arena, ns_ex, n);
    w.u = NS_NEW_ARRAY(s->arena, ns_ex, n * n);
    w.A = NS_NEW_ARRAY(s->arena, ns_ex, p * n + 1);
    w.v = NS_NEW_ARRAY(s->arena, ns_ex, n);
    w.vs = NS_NEW_ARRAY(s->arena, ns_ex, n);
    for (uint32_t i = 0; i < n; i++) {
        w.q[i] = d->coordinates.at[i].q;
        w.dq[i] = d->coordinates.at[i].v;
        w.vs[i] = ns_symbol_new(d->graph, ns_arena_format(s->arena, "v%u", i + 1), NS_SYM_STATE,
                                i);
        w.v[i] = i < n - p ? w.vs[i] : ns_zero(d->graph);
    }
    const ns_block *frame = ns_block_single(d, "frame");
    if (!read_constraints(&w) ||
        !(frame ? read_frame(&w, frame) && independent(&w) : complete_frame(&w)) ||
        !equations(&w))
        return false;
    note_frame(&w);
    assemble(&w);
    ns_system_fact(s, "coordinates", "%u", n);
    ns_system_fact(s, "quasivelocities", "%u free, %u zero by the constraints", n - p, p);
    return ns_symmetry_attach(d, s);
}

static const char *const blocks[] = {"frame", "symmetry", "start", NULL};

const ns_formulation ns_formulation_hamel = {
    .name = "hamel",
    .summary = "coordinates, a Lagrangian and constraints in quasivelocities of a frame",
    .doc =
        "coordinate ...   lagrangian ...   constraint ...   frame { e1 = [..]; e2 = [..]; ... "
        "}\n\n"
        "The first n-p fields of the frame satisfy the p constraints; their quasivelocities\n"
        "v1, v2, ... are states, the others vanish.  Without `frame` (write `formulation "
        "hamel`)\n"
        "the program makes one from the constraints and says which.\n\n"
        "Values: coordinates, v1.., q', momenta p1.. = dl/dv, lambda.NAME, energy.\n"
        "`noslip equations` prints frame, brackets and l(q, v).\n\n"
        "Source: Bloch, Marsden, Zenkov 2009, (2.5), (3.4), (3.6).",
    .fits = fits,
    .derive = derive,
    .blocks = blocks,
};
