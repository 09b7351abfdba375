/* Formulation `lagrange`: Lagrange-d'Alembert with multipliers (seed 001, section 3.1).
 *
 * Coordinates q, velocities v = q', a Lagrangian L(t, q, v), generalised forces F, and
 * constraints of two kinds, told apart by whether velocities enter:
 *
 *     holonomic      phi(t, q) = 0,    differentiated once:  psi = d phi/dt
 *     nonholonomic   psi(t, q, v) = 0, affine in v
 *
 * The equations of motion are
 *
 *     d/dt dL/dv - dL/dq = F + A^T lambda,      A = d psi/dv                    (3.1)
 *
 * With M = d2L/dv2, and b from d psi/dt = A a - b, accelerations and multipliers solve
 *
 *     [ M  A^T ] [   a     ]   [ dL/dq + F - (d2L/dv dq) v - d2L/dv dt ]
 *     [ A   0  ] [ -lambda ] = [ b                                     ]
 *
 * which is one `solve` node.  The states are (q, v); phi and psi are the manifold on which
 * they are kept.  Energy: E = v . dL/dv - L. */
#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/subst.h"
#include "mech/dense.h"
#include "mech/formulations.h"

typedef struct work {
    const ns_description *d;
    ns_system *s;
    ns_graph *g;
    uint32_t n, m;     /* coordinates, constraints */
    ns_ex *q, *v, *qt; /* [n], [n], [n+1]: coordinates and time */
    ns_ex *vt;         /* [n+1]: velocities and one: the direction d/dt at fixed v */
    ns_ex *psi;        /* [m] constraints at velocity level */
    ns_ex *M, *A;      /* n x n, m x n by rows */
    ns_ex *right;      /* [n+m] */
    bool autonomous;   /* nothing seen yet that changes the energy */
} work;

static bool fits(const ns_description *d)
{
    return d->coordinates.n > 0 || d->lagrangian;
}

static void begin(work *w, const ns_description *d, ns_system *s)
{
    uint32_t n = d->coordinates.n, m = d->constraints.n;
    *w = (work){.d = d, .s = s, .g = d->graph, .n = n, .m = m, .autonomous = true};
    w->q = NS_NEW_ARRAY(s->arena, ns_ex, n);
    w->v = NS_NEW_ARRAY(s->arena, ns_ex, n);
    w->qt = NS_NEW_ARRAY(s->arena, ns_ex, n + 1);
    w->vt = NS_NEW_ARRAY(s->arena, ns_ex, n + 1);
    w->psi = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
    w->M = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)n * n);
    w->A = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)m * n + 1);
    w->right = NS_NEW_ARRAY(s->arena, ns_ex, n + m);
    for (uint32_t i = 0; i < n; i++) {
        w->q[i] = w->qt[i] = d->coordinates.at[i].q;
        w->v[i] = w->vt[i] = d->coordinates.at[i].v;
    }
    w->qt[n] = d->time;
    w->vt[n] = ns_one(w->g);
}

static bool uses_time(const work *w, ns_ex e)
{
    return ns_graph_depends(w->g, e, &w->d->time, 1);
}

/* Accelerations may stand only in what is observed. */
static bool no_acceleration(const work *w, ns_ex e, ns_span span, const char *where)
{
    ns_ex found;
    if (!ns_graph_depends_kind(w->g, e, NS_SYM_ACCEL, &found))
        return true;
    ns_diag_error(w->d->diag, span, "%s cannot contain the acceleration %s", where,
                  ns_graph_symbol(w->g, found)->name);
    return false;
}

/* M, and the right-hand side without constraints. */
static bool dynamics(work *w)
{
    const ns_description *d = w->d;
    ns_graph *g = w->g;
    uint32_t n = w->n;
    if (!no_acceleration(w, d->lagrangian, d->lagrangian_span, "the Lagrangian"))
        return false;
    ns_ex *momentum = NS_NEW_ARRAY(w->s->arena, ns_ex, n);
    ns_ex *slope = NS_NEW_ARRAY(w->s->arena, ns_ex, n);
    ns_ex *rate = NS_NEW_ARRAY(w->s->arena, ns_ex, n);
    ns_diff_gradient(g, d->lagrangian, w->v, n, momentum);
    ns_diff_gradient(g, d->lagrangian, w->q, n, slope);
    ns_diff_jacobian(g, momentum, n, w->v, n, w->M);
    for (uint32_t i = 0; i < n; i++) /* one node for both halves of a symmetric matrix */
        for (uint32_t j = 0; j < i; j++)
            w->M[i * n + j] = w->M[j * n + i];
    ns_diff_along(g, momentum, n, w->qt, w->vt, n + 1, rate);
    for (uint32_t i = 0; i < n; i++)
        w->right[i] = ns_sub(g, slope[i], rate[i]);
    for (uint32_t k = 0; k < d->forces.n; k++) {
        const ns_force_line *force = &d->forces.at[k];
        if (!no_acceleration(w, force->value, force->span, "a force"))
            return false;
        w->right[force->coordinate] = ns_add(g, w->right[force->coordinate], force->value);
    }
    w->autonomous = d->forces.n == 0 && !uses_time(w, d->lagrangian);

    ns_ex energy = ns_neg(g, d->lagrangian), twice = ns_zero(g);
    for (uint32_t i = 0; i < n; i++) {
        energy = ns_add(g, energy, ns_mul(g, momentum[i], w->v[i]));
        ns_ex Mv = ns_zero(g);
        for (uint32_t j = 0; j < n; j++)
            Mv = ns_add(g, Mv, ns_mul(g, w->M[i * n + j], w->v[j]));
        twice = ns_add(g, twice, ns_mul(g, Mv, w->v[i]));
    }
    w->s->energy = energy;
    w->s->kinetic = ns_mul(g, ns_number(g, 0.5), twice);
    return true;
}

static void add_constraint(work *w, const char *name, ns_ex residual, ns_span span)
{
    NS_PUSH(w->s->arena, w->s->constraints,
            (ns_constraint){.name = name, .residual = residual, .project = true, .span = span});
}

/* Row k of A and b. */
static bool constraint(work *w, uint32_t k)
{
    const ns_constraint_line *line = &w->d->constraints.at[k];
    ns_graph *g = w->g;
    uint32_t n = w->n;
    ns_arena *arena = w->s->arena;
    if (!no_acceleration(w, line->residual, line->span, "a constraint"))
        return false;
    ns_ex psi = line->residual, rest, *row = w->A + (size_t)k * n;
    bool velocity = ns_graph_depends(g, psi, w->v, n);
    if (!velocity && !ns_graph_depends(g, psi, w->q, n)) {
        ns_diag_error(w->d->diag, line->span,
                      "constraint `%s` contains no coordinate and no velocity", line->name);
        return false;
    }
    if (!velocity) {
        add_constraint(w, line->name, psi, line->span);
        ns_diff_along(g, &line->residual, 1, w->qt, w->vt, n + 1, &psi);
    }
    add_constraint(w, velocity ? line->name : ns_arena_format(arena, "%s'", line->name), psi,
                   line->span);
    if (!ns_subst_collect_linear(g, psi, w->v, n, row, &rest)) {
        ns_diag_error(w->d->diag, line->span,
                      "constraint `%s` is not affine in the velocities: Lagrange-d'Alembert "
                      "needs  a(q).q' + b(q, t) = 0",
                      line->name);
        return false;
    }
    /* An inhomogeneous or time-dependent constraint does work. */
    w->autonomous = w->autonomous && !uses_time(w, psi) && ns_graph_is_zero(g, rest);
    w->psi[k] = psi;
    ns_ex rate;
    ns_diff_along(g, &psi, 1, w->qt, w->vt, n + 1, &rate);
    w->right[n + k] = ns_neg(g, rate);
    return true;
}

static void note_equations(work *w)
{
    ns_system *s = w->s;
    uint32_t n = w->n;
    NS_PUSH(s->arena, s->equations,
            (ns_equation_line){.group = "Lagrangian", .name = "L", .value = w->d->lagrangian});
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i; j < n; j++)
            NS_PUSH(s->arena, s->equations,
                    (ns_equation_line){
                        .group = "mass matrix M (symmetric) of  M q'' = Q + A^T lambda",
                        .name = ns_arena_format(s->arena, "M[%u,%u]", i + 1, j + 1),
                        .value = w->M[i * n + j]});
    for (uint32_t i = 0; i < n; i++)
        NS_PUSH(s->arena, s->equations,
                (ns_equation_line){.group = "forces Q",
                                   .name = ns_arena_format(s->arena, "Q[%u]", i + 1),
                                   .value = w->right[i]});
    for (uint32_t k = 0; k < w->m; k++)
        for (uint32_t i = 0; i < n; i++)
            NS_PUSH(
                s->arena, s->equations,
                (ns_equation_line){.group = "constraint rows A of  A q'' = b",
                                   .name = ns_arena_format(s->arena, "A[%u,%u]", k + 1, i + 1),
                                   .value = w->A[k * n + i]});
    for (uint32_t k = 0; k < w->m; k++)
        NS_PUSH(s->arena, s->equations,
                (ns_equation_line){.group = "right-hand sides b",
                                   .name = ns_arena_format(s->arena, "b[%u]", k + 1),
                                   .value = w->right[n + k]});
}

/* The saddle system, states, rates, multipliers. */
static void assemble(work *w)
{
    const ns_description *d = w->d;
    ns_system *s = w->s;
    ns_graph *g = w->g;
    uint32_t n = w->n, m = w->m, size = n + m;
    ns_ex *K = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)size * size);
    ns_ex *a = NS_NEW_ARRAY(s->arena, ns_ex, size);
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t j = 0; j < size; j++)
            K[i * size + j] = i < n && j < n ? w->M[i * n + j]
                              : i < n        ? w->A[(j - n) * n + i]
                              : j < n        ? w->A[(i - n) * n + j]
                                             : ns_zero(g);
    ns_solve(g, size, K, w->right, a);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = ns_system_add_state(s, d->coordinates.at[i].name, w->q[i],
                                         d->coordinates.at[i].unit);
        s->states.at[k].rate = w->v[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        const char *unit = d->coordinates.at[i].unit;
        uint32_t k = ns_system_add_state(
            s, ns_arena_format(s->arena, "%s'", d->coordinates.at[i].name), w->v[i],
            unit[0] ? ns_arena_format(s->arena, "%s/s", unit) : "");
        s->states.at[k].rate = a[i];
        NS_PUSH(s->arena, s->accelerations,
                (ns_replacement){.from = d->coordinates.at[i].a, .to = a[i]});
    }
    ns_system_observe(s, "energy", s->energy, "J", true);
    for (uint32_t k = 0; k < m; k++)
        ns_system_observe(s, ns_arena_format(s->arena, "lambda.%s", d->constraints.at[k].name),
                          ns_neg(g, a[n + k]), "", true);
    for (uint32_t i = 0; m && i < n; i++) {
        ns_ex reaction = ns_zero(g);
        for (uint32_t k = 0; k < m; k++)
            reaction = ns_sub(g, reaction, ns_mul(g, w->A[k * n + i], a[n + k]));
        ns_system_observe(s,
                          ns_arena_format(s->arena, "reaction.%s", d->coordinates.at[i].name),
                          reaction, "", false);
    }
}

static bool derive(ns_description *d, ns_system *s)
{
    if (d->states.n > 0) {
        ns_diag_error(d->diag, d->states.at[0].span,
                      "a model has either `state` lines or coordinates with a Lagrangian");
        return false;
    }
    if (!d->lagrangian || d->coordinates.n == 0) {
        ns_diag_error(d->diag,
                      d->coordinates.n ? d->coordinates.at[0].span : d->lagrangian_span,
                      d->lagrangian ? "a Lagrangian needs coordinates: add a `coordinate` line"
                                    : "coordinates need a `lagrangian` line");
        return false;
    }
    work w;
    begin(&w, d, s);
    bool good = dynamics(&w);
    for (uint32_t k = 0; good && k < w.m; k++)
        good = constraint(&w, k) && good;
    if (!good)
        return false;
    assemble(&w);
    note_equations(&w);
    s->conservative = w.autonomous;
    uint32_t holonomic = s->constraints.n - w.m;
    ns_system_fact(s, "coordinates", "%u", w.n);
    ns_system_fact(s, "constraints", "%u (%u on positions, %u on velocities)", w.m, holonomic,
                   w.m - holonomic);
    ns_system_fact(s, "degrees of freedom", "%d", (int)w.n - (int)w.m);
    return true;
}

/* Names of the coordinates with a large share in a vector. */
static const char *participants(const ns_system *s, const double *vector, uint32_t n)
{
    ns_text text = ns_text_new(s->arena);
    double most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = fmax(most, fabs(vector[i]));
    for (uint32_t i = 0; i < n; i++)
        if (fabs(vector[i]) > 0.1 * most)
            ns_text_addf(&text, "%s%s", text.length ? ", " : "",
                         s->description->coordinates.at[i].name);
    return ns_text_string(&text);
}

/* Rows that depend on those before them: by Gram-Schmidt on the normalised rows. */
static bool independent_rows(const ns_system *s, ns_diag *diag, uint32_t m, uint32_t n,
                             double *A)
{
    bool good = true;
    for (uint32_t k = 0; k < m; k++) {
        double *row = A + (size_t)k * n, norm = 0, left = 0;
        for (uint32_t i = 0; i < n; i++)
            norm += row[i] * row[i];
        for (int twice = 0; twice < 2; twice++)
            for (uint32_t j = 0; j < k; j++) {
                double dot = 0;
                for (uint32_t i = 0; i < n; i++)
                    dot += row[i] * A[j * n + i];
                for (uint32_t i = 0; i < n; i++)
                    row[i] -= dot * A[j * n + i];
            }
        for (uint32_t i = 0; i < n; i++)
            left += row[i] * row[i];
        bool dependent = !(left > 1e-20 * norm);
        for (uint32_t i = 0; i < n; i++)
            row[i] = dependent ? 0 : row[i] / sqrt(left);
        if (dependent) {
            const ns_constraint_line *line = &s->description->constraints.at[k];
            ns_diag_error(diag, line->span,
                          norm > 0
                              ? "constraint `%s` is redundant: at the start it follows from "
                                "those before it; remove it, or use formulation "
                                "`constrained`, which accepts dependent constraints"
                              : "constraint `%s` restricts no velocity at the start",
                          line->name);
            good = false;
        }
    }
    return good;
}

static bool verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                   const double *x)
{
    const ns_description *d = s->description;
    uint32_t n = d->coordinates.n, m = d->constraints.n, size = n + m;
    /* The matrix of the saddle system is found again through the graph: it is what the
     * accelerations solve. */
    ns_ex solve = ns_graph_op(s->graph, s->accelerations.at[0].to) == NS_OP_PICK
                      ? ns_graph_args(s->graph, s->accelerations.at[0].to)[0]
                      : 0;
    double *K = NS_NEW_ARRAY(s->arena, double, (size_t)size * size);
    if (!solve)
        return true; /* one coordinate: a division, whose result is checked to be finite */
    ns_ex factor = ns_graph_args(s->graph, solve)[0];
    ns_system_eval(s, ns_graph_args(s->graph, factor), (size_t)size * size, t0, p, x, K);
    for (uint32_t i = 0; i < size * size; i++)
        if (!isfinite(K[i])) {
            ns_diag_error(diag, d->lagrangian_span,
                          "the mass matrix or a constraint is not defined at the start");
            return false;
        }
    double *A = NS_NEW_ARRAY(s->arena, double, (size_t)m * n + 1);
    for (uint32_t k = 0; k < m; k++)
        memcpy(A + (size_t)k * n, K + (size_t)(n + k) * size, n * sizeof *A);
    if (!independent_rows(s, diag, m, n, A))
        return false;
    /* A now holds orthonormal rows.  The system is regular iff M is regular on their null space;
     * scale M to unit diagonal first so that units do not matter. */
    double *T = NS_NEW_ARRAY(s->arena, double, (size_t)size * size);
    double *sigma = NS_NEW_ARRAY(s->arena, double, size);
    double *V = NS_NEW_ARRAY(s->arena, double, (size_t)size * size), largest = 0;
    for (uint32_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(K[i * size + i]));
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t j = 0; j < size; j++) {
            double scale = sqrt(fabs(K[i * size + i]) * fabs(K[j * size + j]));
            T[i * size + j] = i < n && j < n ? K[i * size + j] /
                                                   (scale > 0 ? scale : fmax(largest, 1e-300))
                              : i < n && j >= n ? A[(j - n) * n + i]
                              : j < n && i >= n ? A[(i - n) * n + j]
                                                : 0;
        }
    ns_dense_svd(s->arena, size, size, T, sigma, V);
    if (!(sigma[size - 1] > 1e-13 * sigma[0])) {
        ns_diag_error(
            diag, d->lagrangian_span,
            "the mass matrix is singular: the accelerations of %s are not determined; "
            "formulation `constrained` handles singular mass matrices",
            participants(s, V + (size_t)(size - 1) * size, n));
        return false;
    }
    return true;
}

const ns_formulation ns_formulation_lagrange = {
    .name = "lagrange",
    .summary =
        "coordinates, a Lagrangian and constraints: Lagrange-d'Alembert with multipliers",
    .doc =
        "Coordinates q, a Lagrangian L(t, q, q'), forces and constraints on positions or on\n"
        "velocities (affine in them; told apart by whether velocities enter).  The equations\n"
        "d/dt dL/dq' - dL/dq = F + A^T lambda are derived by exact differentiation; holonomic\n"
        "constraints are differentiated twice and the state is kept on the constraints.\n\n"
        "Values: every coordinate q and q', energy, lambda.NAME (multiplier of constraint "
        "NAME,\n"
        "the force along its row) and reaction.q (generalised constraint force on q).\n\n"
        "Source: Bloch, Marsden, Zenkov 2009, section 3.1.",
    .fits = fits,
    .derive = derive,
    .verify = verify,
};
