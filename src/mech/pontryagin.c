/* Formulation `pontryagin`: a body on a horizontal plane, from its reduced Lagrangian (Jachnik
 * 2011, section 2).
 *
 *     lagrangian l(omega, Y, Gamma)        rolling { arm s(Gamma); variations after }
 *
 * Omega (`omega`) is the angular velocity, Y = A^-1 x' the velocity of the centre of mass and
 * Gamma = A^-1 e3 the vertical, all in the body frame; s(Gamma) points from the contact to the
 * centre of mass.  Rolling: Y = Omega x s, (2.2).  With
 *
 *     Pi = dl/dOmega,   kappa = dl/dGamma (through s too),   lambda = dl/dY              (2.25)
 *
 * the Hamilton-Pontryagin principle (2.14) gives, depending on how variations are taken,
 *
 *   after   rolling put in after variations within the distribution (2.12), which is right:
 *           (d/dt + Omega x)(Pi - lambda x s) = kappa x Gamma - lambda x s'           (2.24)
 *   before  rolling put in first, l_c(Omega, Gamma) = l(Omega, Omega x s, Gamma), which is
 *   wrong:
 *           (d/dt + Omega x) Pi_c = kappa_c x Gamma                                    (2.34)
 *   free    variations that do not respect rolling, wrong too; it holds at the start only:
 *           (d/dt + Omega x) Pi = lambda x Y + kappa x Gamma,   lambda' = lambda x Omega
 *                                                               (2.38)
 *
 * A constraint f(Gamma) = 0 adds mu df/dGamma to kappa (7.1); mu is found together with Omega'
 * from d^2f/dt^2 = 0 as one linear system, so that nothing like (7.7) is typed.  A penalty
 * (7.11) is a term of the Lagrangian.
 *
 * States: quaternion, Omega, contact X with X' = -A s' (2.31); `free`: Y and x with x' = A Y.
 * Gamma is the third row of A.  Energy (3.2): Omega . dl_c/dOmega - l_c, or Omega . Pi + Y .
 * lambda - l. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/common/dense.h"
#include "mech/common/orientation.h"
#include "mech/formulations.h"

typedef enum variations { AFTER, BEFORE, FREE } variations;

typedef struct pontryagin {
    ns_description *d;
    ns_system *s;
    ns_graph *g;
    const ns_block *block, *start;
    variations how;
    ns_ex quat[4];
    ns_m3 A;
    ns_v3 Omega, Y, Gamma;     /* symbols; Omega (and Y if FREE) are states */
    ns_v3 vertical;            /* Gamma in states */
    ns_v3 place;               /* contact, or centre of mass if FREE: states */
    ns_v3 arm, arm_rate, slip; /* s, s' = ds/dGamma Gamma', Omega x s */
    ns_ex l;
    ns_v3 Pi, kappa, lambda;
    ns_v3 momentum; /* what is differentiated in the equation of motion */
    ns_v3 torque;   /* right-hand side of it */
    ns_ex *M;       /* of the linear system for accelerations and multipliers, in states */
    uint32_t size;
    uint32_t first; /* place of the first component of omega among the states */
    ns_ex off;      /* Gamma . s' : vanishes if the contact stays on the plane */
} pontryagin;

static bool fits(const ns_description *d)
{
    for (uint32_t i = 0; i < d->blocks.n; i++)
        if (d->blocks.at[i].form == &ns_block_rolling)
            return true;
    return false;
}

static ns_v3 vector_symbol(pontryagin *w, const char *name, ns_symbol_kind kind)
{
    static const char axes[3] = {'x', 'y', 'z'};
    ns_v3 v;
    for (uint32_t i = 0; i < 3; i++)
        v.at[i] = ns_symbol_new(w->g, ns_arena_format(w->s->arena, "%s.%c", name, axes[i]),
                                kind, i);
    return v;
}

static void add_states(pontryagin *w)
{
    static const char *const names[4] = {"quat.w", "quat.x", "quat.y", "quat.z"};
    for (uint32_t i = 0; i < 4; i++)
        w->quat[i] = ns_symbol_new(w->g, names[i], NS_SYM_STATE, i);
    ns_system_add_vector(w->s, NS_QUANTITY_QUATERNION, "quat", "wxyz", w->quat, "");
    w->Omega = vector_symbol(w, "omega", NS_SYM_STATE);
    w->Y = vector_symbol(w, "Y", w->how == FREE ? NS_SYM_STATE : NS_SYM_LOCAL);
    w->Gamma = vector_symbol(w, "Gamma", NS_SYM_LOCAL);
    w->place = vector_symbol(w, w->how == FREE ? "com" : "contact", NS_SYM_STATE);
    w->first = w->s->states.n;
    ns_system_add_vector(w->s, NS_QUANTITY_ANGULAR, "omega", "xyz", w->Omega.at, "rad/s");
    if (w->how == FREE)
        ns_system_add_vector(w->s, NS_QUANTITY_QUASIVELOCITY, "Y", "xyz", w->Y.at, "m/s");
    ns_system_add_vector(w->s, NS_QUANTITY_PLACE, w->how == FREE ? "com" : "contact",
                         w->how == FREE ? "xyz" : "xy", w->place.at, "m");
    w->A = ns_m3_rotation(w->g, w->quat);
    w->vertical = ns_v3_make(w->A.at[2][0], w->A.at[2][1], w->A.at[2][2]);
}

static bool read_block(pontryagin *w)
{
    static const char *const names[] = {"arm", "variations", NULL};
    static const char *const ways[] = {"after", "before", "free", NULL};
    const ns_description *d = w->d;
    w->block = ns_block_single(d, &ns_block_rolling);
    w->start = ns_block_single(d, &ns_block_start);
    if (!w->block) {
        ns_diag_error(d->diag, d->whole,
                      "formulation `pontryagin` needs  rolling { arm VECTOR }  with the vector "
                      "from the contact to the centre of mass");
        return false;
    }
    if (!ns_block_known(d, w->block, names))
        return false;
    const ns_property *p = ns_block_find(w->block, "variations");
    while (p && ways[w->how] && !(p->word && strcmp(p->word, ways[w->how]) == 0))
        w->how++;
    if (p && !ways[w->how]) {
        ns_diag_error(d->diag, p->value_span,
                      "variations are taken `after` rolling is put in (right), `before`, or "
                      "`free` of it");
        return false;
    }
    return true;
}

/* What the model says in terms of Omega, Y, Gamma. */
static bool read_functions(pontryagin *w)
{
    ns_description *d = w->d;
    const ns_scope_entry names[] = {
        {.name = "omega", .value = {3, 1, w->Omega.at}, .unit = "rad/s"},
        {.name = "Y", .value = {3, 1, w->Y.at}, .unit = "m/s"},
        {.name = "Gamma", .value = {3, 1, w->Gamma.at}, .unit = "1"}};
    if (!ns_description_define(d, names, 3))
        return false;
    /* with its properties, now that they have names */
    w->block = ns_block_single(d, &ns_block_rolling);
    w->start = ns_block_single(d, &ns_block_start);
    const ns_property *arm = ns_block_find(w->block, "arm");
    if (!arm || !ns_block_vector(d, arm, 0, &w->arm)) {
        if (!arm)
            ns_diag_error(d->diag, w->block->span,
                          "`rolling` needs `arm`: the vector from the contact to the centre of "
                          "mass, a function of Gamma");
        return false;
    }
    if (!d->lagrangian) {
        ns_diag_error(d->diag, w->block->span,
                      "a `lagrangian` of omega, Y and Gamma is needed");
        return false;
    }
    w->l = d->lagrangian;
    ns_span at = arm->value_span;
    for (int i = 0; i < 3; i++)
        if (ns_graph_depends(w->g, w->arm.at[i], w->Omega.at, 3) ||
            ns_graph_depends(w->g, w->arm.at[i], w->Y.at, 3) ||
            ns_graph_depends(w->g, w->arm.at[i], &d->time, 1)) {
            ns_diag_error(d->diag, at, "the arm may depend on Gamma and parameters only");
            return false;
        }
    for (uint32_t k = 0; k < d->constraints.n; k++) {
        const ns_constraint_line *c = &d->constraints.at[k];
        if (ns_graph_depends(w->g, c->residual, w->Omega.at, 3) ||
            ns_graph_depends(w->g, c->residual, w->Y.at, 3) ||
            ns_graph_depends(w->g, c->residual, &d->time, 1) ||
            !ns_graph_depends(w->g, c->residual, w->Gamma.at, 3)) {
            ns_diag_error(d->diag, c->span,
                          "constraint `%s` must be a function of Gamma and parameters; rolling "
                          "itself is known",
                          c->name);
            return false;
        }
    }
    if (d->forces.n || d->coordinates.n || d->states.n) {
        ns_diag_error(
            d->diag,
            d->forces.n        ? d->forces.at[0].span
            : d->coordinates.n ? d->coordinates.at[0].span
                               : d->states.at[0].span,
            "a model of formulation `pontryagin` has no coordinates, states or forces "
            "of its own");
        return false;
    }
    return true;
}

static ns_v3 gradient(pontryagin *w, ns_ex f, ns_v3 by)
{
    ns_v3 out = {{0}};
    ns_diff_gradient(w->g, f, by.at, 3, out.at);
    return out;
}

/* Y = Omega x s put in. */
static ns_v3 rolled(pontryagin *w, ns_v3 v)
{
    ns_v3 out = {{0}};
    ns_subst(w->g, v.at, 3, w->Y.at, w->slip.at, 3, out.at);
    return out;
}

static void derive_torque(pontryagin *w)
{
    ns_graph *g = w->g;
    ns_v3 rate = ns_v3_cross(g, w->Gamma, w->Omega); /* Gamma' (2.26) */
    ns_diff_along(g, w->arm.at, 3, w->Gamma.at, rate.at, 3, w->arm_rate.at);
    w->off = ns_v3_dot(g, w->Gamma, w->arm_rate);
    w->slip = ns_v3_cross(g, w->Omega, w->arm);
    ns_ex l = w->l;
    if (w->how == BEFORE)
        l = ns_subst_one(g, l, w->Y.at, w->slip.at, 3);
    w->Pi = gradient(w, l, w->Omega);
    w->kappa = gradient(w, l, w->Gamma);
    w->lambda = gradient(w, w->l, w->Y);
    if (w->how == AFTER) {
        w->Pi = rolled(w, w->Pi);
        w->kappa = rolled(w, w->kappa);
    }
    if (w->how != FREE)
        w->lambda = rolled(w, w->lambda);
    w->momentum = w->Pi;
    w->torque = ns_v3_cross(g, w->kappa, w->Gamma);
    if (w->how == AFTER) {
        w->momentum = ns_v3_sub(g, w->Pi, ns_v3_cross(g, w->lambda, w->arm));
        w->torque = ns_v3_sub(g, w->torque, ns_v3_cross(g, w->lambda, w->arm_rate));
    }
    if (w->how == FREE)
        w->torque = ns_v3_add(g, w->torque, ns_v3_cross(g, w->lambda, w->Y));
    w->torque = ns_v3_sub(g, w->torque, ns_v3_cross(g, w->Omega, w->momentum));
}

/* The linear system for z = (Omega', Y' if FREE, mu): equations of motion, then d^2f/dt^2 =
 * 0. */
static void solve_accelerations(pontryagin *w, ns_ex *z)
{
    ns_graph *g = w->g;
    const uint32_t free = w->how == FREE ? 6 : 3, k = w->d->constraints.n, size = free + k;
    ns_v3 rate = ns_v3_cross(g, w->Gamma, w->Omega);
    ns_ex unknown[6], moving[6], drift[6], right[6];
    for (uint32_t i = 0; i < 3; i++) {
        unknown[i] = w->Omega.at[i];
        unknown[3 + i] = w->Y.at[i];
        moving[i] = w->momentum.at[i];
        moving[3 + i] = w->lambda.at[i];
        right[i] = w->torque.at[i];
        right[3 + i] = ns_v3_cross(g, w->lambda, w->Omega).at[i];
    }
    w->size = size;
    w->M = NS_NEW_ARRAY(w->s->arena, ns_ex, (size_t)size * size);
    ns_ex *b = NS_NEW_ARRAY(w->s->arena, ns_ex, size);
    ns_ex J[36];
    ns_diff_jacobian(g, moving, free, unknown, free, J);
    ns_diff_along(g, moving, free, w->Gamma.at, rate.at, 3, drift);
    for (uint32_t i = 0; i < size * size; i++)
        w->M[i] = ns_zero(g);
    for (uint32_t i = 0; i < free; i++) {
        for (uint32_t j = 0; j < free; j++)
            w->M[i * size + j] = J[i * free + j];
        b[i] = ns_sub(g, right[i], drift[i]);
        if (ns_graph_depends(g, moving[i], &w->d->time, 1))
            b[i] = ns_sub(g, b[i], ns_diff(g, moving[i], w->d->time));
    }
    for (uint32_t c = 0; c < k; c++) {
        ns_ex f = w->d->constraints.at[c].residual, f1, f2, row[3];
        ns_v3 pull = ns_v3_cross(g, gradient(w, f, w->Gamma), w->Gamma);
        ns_diff_along(g, &f, 1, w->Gamma.at, rate.at, 3, &f1);
        ns_diff_along(g, &f1, 1, w->Gamma.at, rate.at, 3, &f2);
        ns_diff_gradient(g, f1, w->Omega.at, 3, row);
        for (uint32_t i = 0; i < 3; i++) {
            w->M[i * size + free + c] = ns_neg(g, pull.at[i]);
            w->M[(free + c) * size + i] = row[i];
        }
        b[free + c] = ns_neg(g, f2);
    }
    ns_subst(g, w->M, (size_t)size * size, w->Gamma.at, w->vertical.at, 3, w->M);
    ns_subst(g, b, size, w->Gamma.at, w->vertical.at, 3, b);
    ns_solve(g, size, w->M, b, z);
}

static ns_v3 in_states(pontryagin *w, ns_v3 v)
{
    ns_v3 out = {{0}};
    ns_subst(w->g, v.at, 3, w->Gamma.at, w->vertical.at, 3, out.at);
    return out;
}

static void set_rates(pontryagin *w, const ns_ex *z)
{
    ns_graph *g = w->g;
    ns_state *state = w->s->states.at;
    ns_ex quat[4];
    ns_v3_quaternion_rate(g, w->quat, w->Omega, quat);
    for (uint32_t i = 0; i < 4; i++)
        state[i].rate = quat[i];
    for (uint32_t i = 0; i < 3; i++)
        state[w->first + i].rate = z[i];
    if (w->how == FREE) {
        ns_v3 velocity = ns_m3_apply(g, w->A, w->Y);
        for (uint32_t i = 0; i < 3; i++) {
            state[w->first + 3 + i].rate = z[3 + i];
            state[w->first + 6 + i].rate = velocity.at[i];
        }
        return;
    }
    ns_v3 way = ns_v3_neg(g, ns_m3_apply(g, w->A, in_states(w, w->arm_rate)));
    for (uint32_t i = 0; i < 2; i++)
        state[w->first + 3 + i].rate = way.at[i];
}

static void add_values(pontryagin *w, const ns_ex *z)
{
    ns_graph *g = w->g;
    ns_system *s = w->s;
    ns_v3 arm = in_states(w, w->arm), turned = ns_m3_apply(g, w->A, arm);
    ns_v3 Y = w->how == FREE ? w->Y : in_states(w, w->slip), contact = w->place, com = w->place;
    if (w->how == FREE) {
        contact = ns_v3_sub(g, com, turned);
    } else {
        contact.at[2] = ns_zero(g);
        com = ns_v3_add(g, contact, turned);
    }
    for (uint32_t i = 0; i < 3; i++) {
        NS_PUSH(s->arena, s->accelerations,
                (ns_replacement){.from = w->Gamma.at[i], .to = w->vertical.at[i]});
        if (w->how != FREE)
            NS_PUSH(s->arena, s->accelerations,
                    (ns_replacement){.from = w->Y.at[i], .to = Y.at[i]});
    }
    ns_ex E, l = w->l;
    if (w->how == FREE) {
        E = ns_add(g, ns_v3_dot(g, w->Omega, w->Pi), ns_v3_dot(g, w->Y, w->lambda));
    } else {
        l = ns_subst_one(g, l, w->Y.at, w->slip.at, 3);
        E = ns_v3_dot(g, w->Omega, gradient(w, l, w->Omega));
    }
    s->energy = ns_subst_one(g, ns_sub(g, E, l), w->Gamma.at, w->vertical.at, 3);
    s->kinetic = ns_subst_one(g, ns_mul(g, ns_number(g, 0.5), E), w->Gamma.at, w->vertical.at,
                              3);
    s->conservative = !ns_graph_depends(g, w->l, &w->d->time, 1);
    ns_system_define(s, "quat", w->quat, 4);
    s->vectors.at[s->vectors.n - 1].axes = "wxyz";
    ns_system_observe_vector(s, NS_QUANTITY_PLACE, "com", com, "m", true);
    ns_system_observe_vector(s, NS_QUANTITY_PLACE, "contact", contact, "m", true);
    ns_system_observe(s, NS_QUANTITY_ENERGY, "energy", s->energy, "J", true);
    for (uint32_t k = 0; k < w->d->constraints.n; k++)
        ns_system_observe(s, NS_QUANTITY_MULTIPLIER,
                          ns_arena_format(s->arena, "mu.%s", w->d->constraints.at[k].name),
                          z[w->size - w->d->constraints.n + k], "N", true);
    ns_system_observe_vector(s, NS_QUANTITY_ON_BODY, "s", arm, "m", false);
    ns_system_observe_vector(s, NS_QUANTITY_OTHER, "Gamma", w->vertical, "", false);
    if (w->how != FREE)
        ns_system_observe_vector(s, NS_QUANTITY_QUASIVELOCITY, "Y", Y, "m/s", false);
    ns_system_observe_vector(s, NS_QUANTITY_OTHER, "velocity", ns_m3_apply(g, w->A, Y), "m/s",
                             false);
    ns_system_observe_vector(s, NS_QUANTITY_ANGULAR, "omega.space",
                             ns_m3_apply(g, w->A, w->Omega), "rad/s", false);
    ns_system_observe_vector(s, NS_QUANTITY_MOMENTUM, "Pi", in_states(w, w->Pi), "kg m^2/s",
                             false);
    ns_system_observe_vector(s, NS_QUANTITY_OTHER, "kappa", in_states(w, w->kappa), "N m",
                             false);
    ns_system_observe_vector(s, NS_QUANTITY_OTHER, "lambda", in_states(w, w->lambda), "kg m/s",
                             false);
    static const char *const axes[3] = {"e1", "e2", "e3"}; /* of the body, in space */
    for (int i = 0; i < 3; i++)
        ns_system_define(s, axes[i], ns_m3_apply(g, w->A, ns_v3_unit(g, i)).at, 3);
}

static void add_manifold(pontryagin *w)
{
    ns_graph *g = w->g;
    ns_system *s = w->s;
    ns_ex norm = ns_neg(g, ns_one(g));
    for (int i = 0; i < 4; i++)
        norm = ns_add(g, norm, ns_powi(g, w->quat[i], 2));
    NS_PUSH(s->arena, s->constraints,
            (ns_constraint){.name = "quaternion",
                            .residual = ns_mul(g, ns_number(g, 0.5), norm),
                            .project = true,
                            .span = w->block->span});
    ns_v3 rate = ns_v3_cross(g, w->Gamma, w->Omega);
    for (uint32_t k = 0; k < w->d->constraints.n; k++) {
        const ns_constraint_line *c = &w->d->constraints.at[k];
        ns_ex f[2] = {c->residual};
        ns_diff_along(g, f, 1, w->Gamma.at, rate.at, 3, &f[1]);
        for (int i = 0; i < 2; i++)
            NS_PUSH(s->arena, s->constraints,
                    (ns_constraint){
                        .name = i ? ns_arena_format(s->arena, "%s'", c->name) : c->name,
                        .residual = ns_subst_one(g, f[i], w->Gamma.at, w->vertical.at, 3),
                        .project = true,
                        .span = c->span});
    }
}

static void set(pontryagin *w, uint32_t state, ns_ex value, bool guess, ns_span span)
{
    w->s->start.value[state] = value;
    w->s->start.free[state] = w->s->start.guess[state] = guess;
    w->s->start.span[state] = span;
}

static bool read_start(pontryagin *w)
{
    static const ns_block none;
    ns_system *s = w->s;
    ns_graph *g = w->g;
    const ns_block *b = w->start ? w->start : &none;
    const char *names[16] = {"omega", "omega.space", "contact"};
    uint32_t n = 3;
    for (uint32_t i = 0; ns_orientation_properties[i]; i++)
        names[n++] = ns_orientation_properties[i];
    if (w->start && !ns_block_known(w->d, b, names))
        return false;
    s->start.value = NS_NEW_ARRAY(s->arena, ns_ex, s->states.n);
    s->start.free = NS_NEW_ARRAY(s->arena, bool, s->states.n);
    s->start.guess = NS_NEW_ARRAY(s->arena, bool, s->states.n);
    s->start.span = NS_NEW_ARRAY(s->arena, ns_span, s->states.n);
    ns_ex quat[4];
    bool guess;
    if (!ns_orientation_read(w->d, b, quat, &guess))
        return false;
    for (uint32_t i = 0; i < 4; i++)
        set(w, i, quat[i], guess, b->span);
    ns_m3 A = ns_m3_rotation(g, quat);
    ns_v3 Omega = ns_v3_zero(g), Gamma = ns_v3_make(A.at[2][0], A.at[2][1], A.at[2][2]), arm;
    const ns_property *body = ns_block_find(b, "omega"),
                      *space = ns_block_find(b, "omega.space");
    const ns_property *omega = body ? body : space, *contact = ns_block_find(b, "contact");
    if (body && space) {
        ns_diag_error(w->d->diag, space->span, "give either omega or omega.space");
        return false;
    }
    if (omega && !ns_block_vector(w->d, omega, 0, &Omega))
        return false;
    if (space)
        Omega = ns_m3_apply_transposed(g, A, Omega);
    for (uint32_t i = 0; i < 3; i++)
        set(w, w->first + i, Omega.at[i], omega && omega->guess,
            omega ? omega->value_span : (ns_span){0});
    ns_ex at[2] = {ns_zero(g), ns_zero(g)};
    if (contact) {
        if (contact->values != 1 || contact->value[0].rows != 2 ||
            contact->value[0].cols != 1) {
            ns_diag_error(w->d->diag, contact->value_span, "contact: expected [x, y]");
            return false;
        }
        memcpy(at, contact->value[0].at, sizeof at);
    }
    uint32_t place = w->first + (w->how == FREE ? 6 : 3);
    ns_subst(g, w->arm.at, 3, w->Gamma.at, Gamma.at, 3, arm.at);
    ns_v3 turned = ns_m3_apply(g, A, arm), Y = ns_v3_cross(g, Omega, arm);
    for (uint32_t i = 0; i < 3; i++) {
        ns_ex x = i < 2 ? at[i] : ns_zero(g);
        if (w->how == FREE) {
            set(w, w->first + 3 + i, Y.at[i], false, (ns_span){0});
            set(w, place + i, ns_add(g, x, turned.at[i]), false, (ns_span){0});
        } else if (i < 2) {
            set(w, place + i, x, false, (ns_span){0});
        }
    }
    return true;
}

static void note_equations(pontryagin *w)
{
    static const char axes[3] = {'x', 'y', 'z'};
    const struct {
        const char *group, *name;
        ns_v3 value;
    } table[] = {{"arm, contact to centre of mass", "s", w->arm},
                 {"Pi = dl/dOmega", "Pi", w->Pi},
                 {"kappa = dl/dGamma", "kappa", w->kappa},
                 {"lambda = dl/dY", "lambda", w->lambda},
                 {"momentum P of the equation P' = ...", "P", w->momentum},
                 {"P' without multipliers", "P'", w->torque}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        for (int i = 0; i < 3; i++)
            NS_PUSH(w->s->arena, w->s->equations,
                    (ns_equation_line){
                        .group = table[k].group,
                        .name = ns_arena_format(w->s->arena, "%s.%c", table[k].name, axes[i]),
                        .value = table[k].value.at[i]});
}

static bool derive(ns_description *d, ns_system *s)
{
    static const char *const ways[] = {
        "after rolling is put in, within the distribution (2.24)",
        "before rolling is put in (2.34): not the motion of the body",
        "free of rolling (2.38): not the motion of the body"};
    pontryagin *w = NS_NEW(s->arena, pontryagin);
    *w = (pontryagin){.d = d, .s = s, .g = d->graph};
    s->own = w;
    if (!read_block(w))
        return false;
    add_states(w);
    if (!read_functions(w))
        return false;
    derive_torque(w);
    ns_ex *z = NS_NEW_ARRAY(s->arena, ns_ex, 6 + d->constraints.n);
    solve_accelerations(w, z);
    set_rates(w, z);
    add_values(w, z);
    add_manifold(w);
    note_equations(w);
    ns_system_fact(s, "variations", "%s", ways[w->how]);
    ns_system_fact(s, "degrees of freedom", "%u", 3 - d->constraints.n);
    return read_start(w);
}

/* The arm must keep the contact on the plane, Gamma . ds = 0 (2.11), and the accelerations must
 * be determined. */
static bool verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                   const double *x)
{
    const pontryagin *w = s->own;
    double *y = NS_NEW_ARRAY(s->arena, double, s->states.n);
    double *M = NS_NEW_ARRAY(s->arena, double, (size_t)w->size * w->size);
    double *V = NS_NEW_ARRAY(s->arena, double, (size_t)w->size * w->size);
    double *sigma = NS_NEW_ARRAY(s->arena, double, w->size), worst = 0;
    ns_ex ask[4] = {w->off, w->arm_rate.at[0], w->arm_rate.at[1], w->arm_rate.at[2]};
    ns_subst(s->graph, ask, 4, w->Gamma.at, w->vertical.at, 3, ask);
    uint64_t seed = 1;
    for (int trial = 0; trial < 16; trial++) {
        double norm = 0, value[4], size = 0;
        memcpy(y, x, s->states.n * sizeof *y);
        for (uint32_t i = 0; i < w->first + 3; i++)
            y[i] = ns_eval_random(&seed);
        for (int i = 0; i < 4; i++)
            norm += y[i] * y[i];
        for (int i = 0; i < 4; i++)
            y[i] /= sqrt(norm);
        ns_system_eval(s, ask, 4, t0, p, y, value);
        for (int i = 1; i < 4; i++)
            size = ns_max(size, fabs(value[i]));
        if (isfinite(size) && size > 0)
            worst = ns_max(worst, fabs(value[0]) / size);
    }
    if (worst > 1e-9) {
        ns_diag_error(diag, ns_block_find(w->block, "arm")->value_span,
                      "no body rolls with this arm: the contact would leave the plane (Gamma . "
                      "s' is %.2g of |s'|, and must vanish)",
                      worst);
        return false;
    }
    ns_system_eval(s, w->M, (size_t)w->size * w->size, t0, p, x, M);
    for (uint32_t i = 0; i < w->size * w->size; i++)
        if (!isfinite(M[i])) {
            ns_diag_error(diag, s->description->lagrangian_span,
                          "the inertia of the reduced Lagrangian is not defined at the start");
            return false;
        }
    ns_dense_svd(s->arena, w->size, w->size, M, sigma, V);
    if (!(sigma[w->size - 1] > 1e-13 * sigma[0])) {
        ns_diag_error(
            diag, s->description->lagrangian_span,
            w->size > 3 && w->how != FREE
                ? "accelerations and multipliers are not determined at the start: the "
                  "Lagrangian gives no inertia to some rotation, or a constraint has "
                  "no effect there"
                : "the Lagrangian gives no inertia to some velocity");
        return false;
    }
    return true;
}

static const ns_block_form *const blocks[] = {&ns_block_rolling, &ns_block_start, NULL};

const ns_formulation ns_formulation_pontryagin = {
    .name = "pontryagin",
    .summary = "a body rolling on a plane, from its reduced Lagrangian l(omega, Y, Gamma)",
    .doc =
        "lagrangian l(omega, Y, Gamma)   rolling { arm s(Gamma); variations after }\n\n"
        "omega: angular velocity, Y: velocity of the centre of mass, Gamma: the vertical, all "
        "in\n"
        "the body frame; the arm points from the contact to the centre of mass.  Constraints "
        "on\n"
        "Gamma are kept by multipliers mu.NAME; penalties are terms of the Lagrangian.  With\n"
        "`variations before` or `free` the (wrong) equations that follow when the order of\n"
        "variation and constraint is changed.\n\n"
        "Values: quat, omega, com, contact, Gamma, s, Y, velocity, omega.space, Pi, kappa, "
        "lambda\n"
        "(vectors .x .y .z), energy, mu.NAME; e1, e2, e3 are the body's axes in space.\n\n"
        "Source: Jachnik 2011, (2.13)-(2.38), (7.1), (7.11); docs/theory/pontryagin.md.",
    .fits = fits,
    .derive = derive,
    .verify = verify,
    .blocks = blocks,
};
