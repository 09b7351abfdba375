/* Formulation `reduced`: the dynamics of a symmetric system on shape space and in the momenta
 * or velocities along the symmetry, and the reconstruction of the group (Bloch, Marsden and
 * Zenkov 2009, sections 2.5, 4).
 *
 *   solve reduced    states r, r', Omega^a, g:
 *       d/dt dl/dr' - dl/dr = -<P, i_r' B + <i_r' gamma, A> - <gamma, i_r' A> + <E, Omega>>
 *       (4.2)
 *       d/dt (I_S Omega)_a  = C_ba^C Omega^b P_C + E_alpha a^C P_C r'^alpha
 *       (4.3)
 *       g' = g(Omega - A r')
 *       (2.15)
 *   solve momentum   states r, r', p_a, g: the same with Omega = I_S^-1 p
 *   (4.6), (4.7)
 *
 * where P_a = p_a = (I_S Omega)_a and P_a' = (I_US Omega + Lambda r')_a'
 * (docs/theory/symmetry.md on the misprint in (4.7)).  Without constraints these are (2.13),
 * (2.14).  The first equations do not contain g: `reduced` of the system says how many states
 * they are. */
#include <string.h>

#include "expr/diff.h"
#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/common/lean.h"
#include "mech/formulations.h"
#include "mech/moving.h"
#include "mech/reduced/symmetry.h"

static bool fits(const ns_description *d)
{
    bool symmetry = false, solve = false;
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *b = &d->blocks.at[i];
        symmetry = symmetry || (b->form == &ns_block_symmetry && !b->kind);
        solve = solve || b->form == &ns_block_solve;
    }
    return symmetry && solve && d->coordinates.n > 0 && d->lagrangian;
}

/* Is it `solve momentum` (true) or `solve reduced`?  False after an error in *good. */
static bool wants_momentum(ns_description *d, bool *good)
{
    const ns_block *block = ns_block_single(d, &ns_block_solve);
    const bool momentum = !block || strcmp(block->kind, "momentum") == 0;
    *good = momentum || strcmp(block->kind, "reduced") == 0;
    if (!*good)
        ns_diag_error(d->diag, block->kind_span,
                      "`solve %s` is not known with a symmetry; there are: `solve reduced` "
                      "(r, r', Omega) and `solve momentum` (r, r', p)",
                      block->kind);
    else if (block && (block->properties.n || block->nargs)) {
        ns_diag_error(d->diag, block->kind_span, "`solve %s` takes no arguments", block->kind);
        *good = false;
    }
    return momentum;
}

/* Multipliers from the rows of (3.6) that (4.3) leaves out, a' in U:
 *
 *     lambda_s a^s(e_a') = d/dt P_a' - C_ba'^C Omega^b P_C - E_alpha a'^C P_C r'^alpha
 *
 * x, dx: states and their rates. */
static void multipliers(const ns_symmetry *y, const ns_ex *Omega, const ns_ex *P,
                        const ns_ex *x, const ns_ex *dx, uint32_t nx)
{
    ns_system *s = y->s;
    ns_graph *g = s->graph;
    const uint32_t n = y->n, k = y->k, m = y->m, sigma = y->sigma, u = k - m;
    ns_ex *T = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)u * u + 1);
    ns_ex *right = NS_NEW_ARRAY(s->arena, ns_ex, u + 1);
    ns_diff_along(g, P + m, u, x, dx, nx, right);
    for (uint32_t v = 0; v < u; v++) {
        const uint32_t a = m + v;
        for (uint32_t C = 0; C < k; C++) {
            ns_ex along = ns_zero(g);
            for (uint32_t b = 0; b < m; b++)
                along = ns_add(g, along, ns_mul(g, y->C[(b * k + a) * k + C], Omega[b]));
            for (uint32_t b = m; b < k; b++)
                along = ns_add(g, along, ns_mul(g, y->C[(b * k + a) * k + C], y->w[b - m]));
            for (uint32_t i = 0; i < sigma; i++) {
                ns_ex E = y->gamma[(a * sigma + i) * k + C];
                for (uint32_t A = 0; A < k; A++)
                    E = ns_sub(g, E, ns_mul(g, y->C[(A * k + a) * k + C], y->A[i * k + A]));
                along = ns_add(g, along, ns_mul(g, E, y->dr[i]));
            }
            right[v] = ns_sub(g, right[v], ns_mul(g, along, P[C]));
        }
        for (uint32_t c = 0; c < u; c++) {
            T[v * u + c] = ns_zero(g);
            for (uint32_t A = 0; A < k; A++)
                for (uint32_t i = 0; i < n; i++)
                    T[v * u + c] = ns_add(g, T[v * u + c],
                                          ns_mul(g, ns_mul(g, y->e[a * k + A], y->E[A * n + i]),
                                                 y->rows[c * n + i]));
        }
    }
    ns_solve(g, u, T, right, right);
    for (uint32_t c = 0; c < u; c++)
        ns_system_multiplier(s, y->d->constraints.at[c].name, right[c], true);
}

/* The constraints hold by construction; residual.NAME says how well. */
static void residuals(const ns_symmetry *y, const ns_ex *rate)
{
    ns_system *s = y->s;
    ns_ex *velocity = NS_NEW_ARRAY(s->arena, ns_ex, y->k + 1);
    for (uint32_t i = 0; i < y->k; i++)
        velocity[i] = y->dq[y->group[i]];
    for (uint32_t c = 0; c < y->constraints; c++) {
        const ns_constraint_line *line = &y->d->constraints.at[c];
        ns_system_observe(
            s, NS_QUANTITY_OTHER, ns_arena_format(s->arena, "residual.%s", line->name),
            ns_subst_one(s->graph, line->residual, velocity, rate, y->k), "", false);
    }
}

/* Group velocities, which are not states, in states: for starts and what the user observes. */
static void reconstruct(const ns_symmetry *y, const ns_ex *ddr, const ns_ex *z, const ns_ex *dz,
                        const ns_ex *rate, const ns_ex *Omega, const ns_ex *P)
{
    ns_system *s = y->s;
    const ns_description *d = y->d;
    const uint32_t n = y->n, k = y->k, m = y->m, sigma = y->sigma, all = 2 * sigma + m + k;
    ns_ex *x = NS_NEW_ARRAY(s->arena, ns_ex, all), *dx = NS_NEW_ARRAY(s->arena, ns_ex, all);
    ns_ex *second = NS_NEW_ARRAY(s->arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < sigma; i++) {
        x[i] = y->r[i];
        dx[i] = y->dr[i];
        x[sigma + i] = y->dr[i];
        dx[sigma + i] = ddr[i];
    }
    for (uint32_t a = 0; a < m; a++) {
        x[2 * sigma + a] = z[a];
        dx[2 * sigma + a] = dz[a];
    }
    for (uint32_t i = 0; i < k; i++) {
        x[2 * sigma + m + i] = y->q[y->group[i]];
        dx[2 * sigma + m + i] = rate[i];
    }
    ns_diff_along(y->d->graph, rate, k, x, dx, all, second);
    if (y->constraints)
        multipliers(y, Omega, P, x, dx, all);
    for (uint32_t i = 0; i < k; i++)
        ns_system_derived_velocity(s, &d->coordinates.at[y->group[i]], rate[i], second[i]);
}

/* Of twice the kinetic energy: what the given velocities w add. */
static ns_ex twice_given(const ns_symmetry *y, const ns_ex *O)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k, m = y->m;
    const ns_ex two = ns_integer(g, 2);
    ns_ex sum = ns_zero(g);
    for (uint32_t c = m; c < k; c++) {
        ns_ex along = ns_zero(g);
        for (uint32_t a = 0; a < m; a++)
            along = ns_add(g, along, ns_mul(g, y->I[a * k + c], O[a]));
        for (uint32_t i = 0; i < y->sigma; i++)
            along = ns_add(g, along, ns_mul(g, y->Lambda[(c - m) * y->sigma + i], y->dr[i]));
        along = ns_mul(g, two, along);
        for (uint32_t e = m; e < k; e++)
            along = ns_add(g, along, ns_mul(g, y->I[c * k + e], y->w[e - m]));
        sum = ns_add(g, sum, ns_mul(g, along, y->w[c - m]));
    }
    return sum;
}

/* E - <p, Z> where the constraints are affine. */
static void moving(const ns_symmetry *y, const ns_ex *rate)
{
    ns_system *s = y->s;
    const uint32_t n = y->n, k = y->k;
    ns_ex *pi = NS_NEW_ARRAY(s->arena, ns_ex, n + 1);
    ns_ex *velocity = NS_NEW_ARRAY(s->arena, ns_ex, k + 1);
    for (uint32_t i = 0; i < k; i++)
        velocity[i] = y->dq[y->group[i]];
    ns_diff_gradient(s->graph, y->d->lagrangian, y->dq, n, pi);
    ns_subst(s->graph, pi, n, velocity, rate, k, pi);
    ns_moving_energy(s, y->d, y->constraints, y->rows, y->rest, s->energy, pi);
}

static void assemble(ns_symmetry *y, bool momentum)
{
    ns_system *s = y->s;
    ns_graph *g = s->graph;
    const ns_description *d = y->d;
    const uint32_t k = y->k, m = y->m, sigma = y->sigma;
    ns_ex *z = NS_NEW_ARRAY(s->arena, ns_ex, m + 1), *dz = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
    ns_ex *p = NS_NEW_ARRAY(s->arena, ns_ex, m + 1), *O = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
    ns_ex *P = NS_NEW_ARRAY(s->arena, ns_ex, k + 1);
    ns_ex *ddr = NS_NEW_ARRAY(s->arena, ns_ex, sigma + 1);
    ns_ex *rate = NS_NEW_ARRAY(s->arena, ns_ex, k + 1);
    for (uint32_t a = 0; a < m; a++)
        z[a] = ns_symbol_new(g, ns_arena_format(s->arena, momentum ? "p%u" : "Omega%u", a + 1),
                             NS_SYM_STATE, 2 * sigma + a);
    ns_symmetry_velocity(y, z, O);
    for (uint32_t a = 0; a < m; a++) {
        p[a] = y->base[a];
        for (uint32_t b = 0; b < m; b++)
            p[a] = ns_add(g, p[a], ns_mul(g, y->IS[a * m + b], z[b]));
        *(momentum ? &p[a] : &O[a]) = z[a];
    }
    ns_symmetry_full_momentum(y, p, P);
    ns_symmetry_shape_rate(y, O, P, ddr);
    ns_symmetry_momentum_rate(y, O, P, dz);
    if (!momentum) { /* I_S Omega' = rate - I_S' Omega - base' */
        ns_ex *IS = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)m * m + 1);
        ns_ex *ds = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
        ns_diff_along(g, y->IS, (size_t)m * m, y->r, y->dr, sigma, IS);
        ns_diff_along(g, y->base, m, y->r, y->dr, sigma, ds);
        for (uint32_t a = 0; a < m; a++)
            dz[a] = ns_sub(g, dz[a], ds[a]);
        for (uint32_t a = 0; a < m; a++)
            for (uint32_t b = 0; b < m; b++)
                dz[a] = ns_sub(g, dz[a], ns_mul(g, IS[a * m + b], z[b]));
        ns_lean_solve(g, m, y->IS, dz, 1, dz);
    }
    ns_symmetry_group_rate(y, O, rate);
    ns_ex twice = ns_zero(g);
    for (uint32_t a = 0; a < m; a++)
        twice = ns_add(g, twice, ns_mul(g, ns_sub(g, p[a], y->base[a]), O[a]));
    for (uint32_t i = 0; i < sigma; i++)
        for (uint32_t j = 0; j < sigma; j++)
            twice = ns_add(g, twice,
                           ns_mul(g, y->Gc[i * sigma + j], ns_mul(g, y->dr[i], y->dr[j])));
    twice = ns_add(g, twice, twice_given(y, O));
    s->kinetic = ns_mul(g, ns_number(g, 0.5), twice);
    s->energy = ns_add(g, s->kinetic, y->V);
    s->conservative = !y->affine;

    for (uint32_t i = 0; i < sigma; i++)
        ns_system_add_coordinate(s, &d->coordinates.at[y->shape[i]], y->dr[i]);
    for (uint32_t i = 0; i < sigma; i++)
        ns_system_add_velocity(s, &d->coordinates.at[y->shape[i]], ddr[i], "");
    for (uint32_t a = 0; a < m; a++)
        ns_system_add_state(s, momentum ? NS_QUANTITY_MOMENTUM : NS_QUANTITY_QUASIVELOCITY,
                            ns_graph_symbol(g, z[a])->name, z[a], dz[a], "");
    s->reduced = s->states.n;
    for (uint32_t i = 0; i < k; i++)
        ns_system_add_coordinate(s, &d->coordinates.at[y->group[i]], rate[i]);
    residuals(y, rate);
    reconstruct(y, ddr, z, dz, rate, O, P);
    ns_system_observe(s, NS_QUANTITY_ENERGY, "energy", s->energy, "J", true);
    for (uint32_t a = 0; a < m; a++)
        ns_system_observe(s, momentum ? NS_QUANTITY_QUASIVELOCITY : NS_QUANTITY_MOMENTUM,
                          ns_arena_format(s->arena, momentum ? "Omega%u" : "p%u", a + 1),
                          momentum ? O[a] : p[a], "", true);
    y->p = p;
    y->Omega = O;
    moving(y, rate);
    if (y->frame_det)
        NS_PUSH(s->arena, s->events,
                (ns_event){.name = "frame",
                           .value = y->frame_det,
                           .action = NS_EVENT_SINGULAR,
                           .meaning = "the frame made from the constraints becomes singular: "
                                      "give one in `symmetry`"});
}

static bool derive(ns_description *d, ns_system *s)
{
    ns_symmetry *y;
    bool good;
    const bool momentum = wants_momentum(d, &good);
    if (!good || !ns_symmetry_read(d, s, &y))
        return false;
    if (!y) {
        ns_diag_error(d->diag, d->whole, "formulation `reduced` needs a `symmetry` block");
        return false;
    }
    s->symmetry = y;
    ns_system_fact(s, "equations",
                   !y->constraints ? "Euler-Lagrange-Poincare (2.13)-(2.15), %s"
                   : momentum      ? "(4.6), (4.7), %s"
                                   : "(4.2), (4.3), %s",
                   momentum ? "in momenta" : "in velocities");
    ns_symmetry_note(y);
    assemble(y, momentum);
    return true;
}

static const ns_block_form *const blocks[] = {&ns_block_symmetry, &ns_block_solve,
                                              &ns_block_start, NULL};

const ns_formulation ns_formulation_reduced = {
    .name = "reduced",
    .summary = "a symmetric system on shape space: reduced equations and reconstruction",
    .doc =
        "coordinate ...   lagrangian ...   constraint ...\n"
        "symmetry { shape r; group SE(2); e1 = [..]; ... }   solve momentum\n\n"
        "`solve momentum` integrates r, r' and the momenta p1.. along the symmetry directions\n"
        "that the constraints allow, `solve reduced` their velocities Omega1..; the group\n"
        "coordinates are reconstructed.  Without `solve`, the symmetry is analysed in\n"
        "formulations lagrange and hamel.\n\n"
        "Values: coordinates, their velocities, p1.., Omega1.., lambda.NAME, residual.NAME, "
        "energy.\n"
        "`noslip equations` prints connection, inertia, curvature and the momentum equation;\n"
        "`noslip invariants` finds the integrals linear in the momenta.\n\n"
        "Source: Bloch, Marsden, Zenkov 2009, (2.13)-(2.15), (4.2)-(4.7).",
    .refuses = NS_REFUSES_STATE,
    .fits = fits,
    .derive = derive,
    .blocks = blocks,
};
