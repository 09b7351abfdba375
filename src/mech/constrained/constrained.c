/* Formulation `constrained`: bodies, particles (any of zero mass) and any constraints
 * (Udwadia and Mogharabin 2021, the three-step procedure).
 *
 *   1. Unconstrained system: coordinates of all members (position and quaternion of a body,
 *      position of a particle), M q'' = Q by differentiating the Lagrangian; M may be singular:
 *      zero-mass particles, and the quaternion's own direction.
 *   2. Constraints: the user's, unit quaternions, labels and joints; each brought to A q'' = b.
 *      They may depend on each other.
 *   3. Accelerations by eq (42), (44)-(45) or a regularised saddle system: constrained_solve.c.
 *
 * A body has  T = m |w_G'|^2/2 + Omega.J Omega/2,  w_G = w + A(u) com,  Omega = 2 E(u) u'
 * (Udwadia and Mogharabin 2021 (2), (5), (6)), with J about its centre of mass. */
#include "mech/constrained/constrained.h"

#include "mech/common/block.h"
#include "mech/formulations.h"
#include "mech/keep.h"

/* One body on a ground and nothing else is for formulation `rolling`. */
static bool fits(const ns_description *d)
{
    uint32_t bodies = 0, named = 0, particles = 0, grounds = 0, others = 0;
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *b = &d->blocks.at[i];
        bodies += b->form == &ns_block_body;
        named += b->form == &ns_block_body && b->name;
        grounds += b->form == &ns_block_ground;
        particles += b->form == &ns_block_particle;
        others += b->form == &ns_block_label || b->form == &ns_block_spring ||
                  (b->form == &ns_block_constraint && !ns_keep_is(b));
    }
    return bodies + particles > 0 && (named > 1 || particles || others || !grounds);
}

/* ---- Lagrangian -------------------------------------------------------------------------- */

static void add_energy(ns_description *d, ns_constrained *c)
{
    ns_graph *g = d->graph;
    ns_ex half = ns_number(g, 0.5), L = d->lagrangian ? d->lagrangian : ns_zero(g);
    for (uint32_t i = 0; i < c->members.n; i++) {
        ns_member *m = &c->members.at[i];
        ns_ex T = ns_mul(g, m->mass, ns_v3_dot(g, m->com_velocity, m->com_velocity));
        if (m->is_body) {
            ns_v3 Jw = ns_m3_apply(g, m->inertia, m->omega);
            T = ns_add(g, T, ns_v3_dot(g, m->omega, Jw));
            ns_ex norm = ns_neg(g, ns_one(g));
            for (int k = 0; k < 4; k++)
                norm = ns_add(g, norm, ns_powi(g, m->quat[k], 2));
            m->unit = c->rows.n;
            ns_constrained_row(d, c, ns_arena_format(d->arena, "%s.unit", m->name),
                               ns_mul(g, half, norm), m->block->span);
        }
        ns_ex fall = ns_mul(g, m->mass, ns_v3_dot(g, c->gravity, m->com_space));
        L = ns_add(g, L, ns_add(g, ns_mul(g, half, T), fall));
    }
    c->lagrangian = L;
}

/* ---- assembling -------------------------------------------------------------------------- */

static void add_states(ns_description *d, ns_system *s, ns_constrained *c)
{
    uint32_t n = d->coordinates.n;
    for (uint32_t i = 0; i < n; i++)
        ns_system_add_coordinate(s, &d->coordinates.at[i], d->coordinates.at[i].v);
    for (uint32_t i = 0; i < n; i++)
        ns_system_add_velocity(s, &d->coordinates.at[i], c->acceleration[i], "1/s");
    for (uint32_t i = 0; i < c->members.n; i++) {
        const ns_member *m = &c->members.at[i];
        ns_system_group(s, NS_QUANTITY_COORDINATE, m->name, m->first, 3);
        ns_system_group(s, NS_QUANTITY_VELOCITY, m->name, n + m->first, 3);
        if (!m->is_body)
            continue;
        const char *quat = ns_arena_format(s->arena, "%s.quat", m->name);
        ns_system_group(s, NS_QUANTITY_QUATERNION, quat, m->first + 3, 4);
        ns_system_group(s, NS_QUANTITY_QUATERNION_RATE, quat, n + m->first + 3, 4);
    }
    if (c->energy_level)
        s->states
            .at[ns_system_add_state(s, NS_QUANTITY_OTHER, "energy.level", c->energy_level,
                                    ns_zero(s->graph), "J")]
            .level = true;
}

static void add_values(ns_system *s, const ns_constrained *c)
{
    ns_graph *g = s->graph;
    const ns_dalembert *eq = &c->eq;
    ns_system_observe(s, NS_QUANTITY_ENERGY, "energy", s->energy, "J", true);
    for (uint32_t i = 0; i < c->members.n; i++) {
        const ns_member *m = &c->members.at[i];
        if (m->is_body) {
            ns_system_observe_vector(s, NS_QUANTITY_ANGULAR,
                                     ns_arena_format(s->arena, "%s.omega", m->name), m->omega,
                                     "rad/s", true);
            ns_system_observe_vector(s, NS_QUANTITY_PLACE,
                                     ns_arena_format(s->arena, "%s.com", m->name), m->com_space,
                                     "m", false);
        }
        /* total constraint force on the member: the part of A^T lambda on its position */
        ns_v3 force;
        for (uint32_t k = 0; k < 3; k++) {
            force.at[k] = ns_zero(g);
            const ns_sparse_rows *A = &eq->columns;
            for (uint32_t e = A->start[m->first + k]; e < A->start[m->first + k + 1]; e++)
                force.at[k] = ns_add(g, force.at[k],
                                     ns_mul(g, A->value[e], c->multiplier[A->column[e]]));
        }
        ns_system_observe_vector(s, NS_QUANTITY_FORCE,
                                 ns_arena_format(s->arena, "%s.reaction", m->name), force, "N",
                                 false);
    }
    ns_constrained_contact_values(s, c);
    for (uint32_t j = 0; j < eq->m; j++)
        ns_system_multiplier(s, eq->constraints[j].name, c->multiplier[j], false);
}

/* gravity [x, y, z], or downwards with the parameter g, or 9.81 */
static bool read_gravity(ns_description *d, ns_constrained *c)
{
    ns_graph *g = d->graph;
    ns_ex size = ns_description_param(d, "g", "m/s^2");
    if (!size)
        size = ns_decimal(g, "9.81");
    c->gravity = ns_v3_make(ns_zero(g), ns_zero(g), ns_neg(g, size));
    const ns_block *block = ns_block_single(d, &ns_block_gravity);
    if (!block)
        return true;
    if (block->nargs != 1) {
        ns_diag_error(d->diag, block->span, "gravity is one vector:  gravity [x, y, z]");
        return false;
    }
    return ns_block_value_vector(d, block->args[0], block->arg_spans[0], "gravity",
                                 &c->gravity);
}

/* Does a spring or damper of the model hold this member? */
static bool is_held(const ns_description *d, const ns_member *m)
{
    const ns_ex *x = m->position.at;
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *b = &d->blocks.at[i];
        if (b->form != &ns_block_spring && b->form != &ns_block_damper)
            continue;
        for (uint32_t k = 0; k < b->properties.n; k++)
            for (uint32_t j = 0; j < b->properties.at[k].values; j++) {
                const ns_value *v = &b->properties.at[k].value[j];
                for (uint32_t e = 0; e < v->rows * v->cols; e++)
                    if (ns_graph_depends(d->graph, v->at[e], x, 3))
                        return true;
            }
    }
    return false;
}

/* A member among others that no constraint, force or spring mentions is probably a slip. */
static void note_unconnected(ns_description *d, const ns_constrained *c)
{
    uint32_t own = 0;
    for (uint32_t i = 0; i < c->members.n; i++)
        own += c->members.at[i].is_body ? 1 : 0;
    if (c->members.n < 2 || c->rows.n == own || d->lagrangian)
        return;
    for (uint32_t i = 0; i < c->members.n; i++) {
        const ns_member *m = &c->members.at[i];
        NS_LIST(ns_ex) q = {0};
        const uint32_t n = m->is_body ? 7 : 3;
        for (uint32_t k = 0; k < n; k++) {
            NS_PUSH(d->arena, q, d->coordinates.at[m->first + k].q);
            NS_PUSH(d->arena, q, d->coordinates.at[m->first + k].v);
        }
        bool connected = is_held(d, m);
        for (uint32_t k = 0; k < c->rows.n && !connected; k++)
            connected = !(m->is_body && k == m->unit) &&
                        ns_graph_depends(d->graph, c->rows.at[k].residual, q.at, q.n);
        for (uint32_t k = 0; k < c->forces.n && !connected; k++)
            connected = c->forces.at[k].coordinate - m->first < n;
        if (!connected)
            ns_diag_note(d->diag, m->block->span,
                         "`%s` is connected to nothing: it flies freely", m->name);
    }
}

static bool derive(ns_description *d, ns_system *s)
{
    ns_constrained *c = NS_NEW(s->arena, ns_constrained);
    s->own = c;
    if (d->states.n) {
        ns_diag_error(d->diag, d->states.at[0].span,
                      "`state` lines do not go with formulation `constrained`");
        return false;
    }
    if (!read_gravity(d, c))
        return false;
    if (!ns_constrained_members(d, c) || !ns_constrained_shapes(d, c))
        return false;
    if (d->coordinates.n == 0) {
        ns_diag_error(d->diag, d->whole, "the model has no body, particle or coordinate");
        return false;
    }
    add_energy(d, c);
    for (uint32_t i = 0; i < d->constraints.n; i++)
        NS_PUSH(d->arena, c->rows, d->constraints.at[i]);
    const bool wait = ns_description_awaits_reactions(d);
    for (uint32_t i = 0; i < d->forces.n && !wait; i++)
        NS_PUSH(d->arena, c->forces, d->forces.at[i]);
    if (!ns_constrained_joints(d, c))
        return false;
    for (uint32_t i = 0; i < d->forces.n && wait; i++)
        NS_PUSH(d->arena, c->forces, d->forces.at[i]);
    note_unconnected(d, c);
    bool clean = ns_constrained_no_locals(d, c->lagrangian, d->whole);
    for (uint32_t i = 0; i < c->rows.n; i++)
        clean = ns_constrained_no_locals(d, c->rows.at[i].residual, c->rows.at[i].span) &&
                clean;
    for (uint32_t i = 0; i < c->forces.n; i++)
        clean = ns_constrained_no_locals(d, ns_constrained_aside(d, c, c->forces.at[i].value),
                                         c->forces.at[i].span) &&
                clean;
    if (!clean)
        return false;
    c->eq = ns_dalembert_new(d, s);
    c->eq.lagrangian = c->lagrangian;
    c->eq.forces = c->forces.at;
    c->eq.n_forces = c->forces.n;
    c->eq.constraints = c->rows.at;
    c->eq.m = c->rows.n;
    c->eq.affine = c->energy_level == 0;
    c->eq.sparse = true;
    c->eq.reaction = c->reaction;
    c->eq.n_reactions = ns_constrained_reactions(c);
    if (!ns_dalembert_derive(&c->eq) || !ns_constrained_route(d, s, c) ||
        !ns_constrained_law_solve(d, s, c))
        return false;
    if (!c->slips)
        ns_constrained_accelerate(s, c, c->acceleration, c->multiplier);
    if (!ns_constrained_settle(d, s, c))
        return false;
    s->conservative = c->eq.conservative;
    add_states(d, s, c);
    ns_constrained_law_states(s, c);
    ns_constrained_watch(s, c);
    if (!c->baumgarte)
        ns_constrained_correction(s, c);
    add_values(s, c);
    ns_constrained_scene(d, s, c);
    ns_constrained_forces(s, c);
    ns_constrained_law_events(s, c);
    ns_dalembert_note(&c->eq);
    ns_system_fact(s, "members", "%u", c->members.n);
    ns_system_fact(s, "coordinates", "%u", c->eq.n);
    ns_system_fact(s, "constraint rows", "%u (%u on positions)", c->rows.n, c->eq.holonomic);
    return ns_constrained_start(d, s, c);
}

static bool verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                   const double *x)
{
    return ns_constrained_contact_verify(s, diag, t0, p, x) &&
           ns_constrained_verify(s, diag, t0, p, x);
}

static const ns_block_form *const blocks[] = {
    &ns_block_body,  &ns_block_particle, &ns_block_label,  &ns_block_constraint,
    &ns_block_force, &ns_block_spring,   &ns_block_damper, &ns_block_gravity,
    &ns_block_solve, &ns_block_start,    &ns_block_ground, NULL};

const ns_formulation ns_formulation_constrained = {
    .name = "constrained",
    .summary = "bodies and particles, any of zero mass, under any constraints",
    .doc =
        "body S [KIND(SIZES)] { mass; inertia | uniform; com; POINT = [x, y, z] }\n"
        "particle P { mass }   label L { at S.POINT }   ground [G] KIND(SIZES)\n"
        "constraint NAME: EXPR = EXPR   or one of\n"
        "  rod(A, B, l)  ball(A, B)  parallel(a, b)  revolute(A, B, a, b)  universal(A, B, a, "
        "b)\n"
        "  cylindrical(A, B, a, b)  prismatic(A, B, a, b, c, d)  planar(A, B, a, b)\n"
        "  gear(S, T, a, b, k [, C])  motion(A, f)  angle(a, b, n, f)  knife(A, n)\n"
        "  rolling(S [, G | T [, P]])  sliding(S [, G | T [, P]])  wheel(S, r)\n"
        "  keep energy  keep NAME (of an invariant)\n"
        "spring { from A; to B; stiffness; length; damping }   damper { from A; to B; damping "
        "}\n"
        "force POINT = [x, y, z]   force S.torque = [x, y, z]   gravity [x, y, z]\n\n"
        "Constraints may depend on each other and the mass matrix may be singular, as long as\n"
        "rank [M | A^T] is full: the accelerations are then unique.\n"
        "`solve saddle` (the default) is fast, `solve augmented(kappa2 = ..)` uses eqs\n"
        "(44)-(45) with that kappa^2, `solve pinv` eq (42); the motion is the same.\n"
        "`solve saddle(baumgarte = RATE)` stabilises constraints instead of projecting.\n\n"
        "Names: P, S.position, S.quat, S.omega, S.omega.space, S.com, S.e1 .. S.e3, S.POINT.\n"
        "Values: coordinates, S.omega, S.com, S.reaction, NAME.force, lambda.NAME, energy; of "
        "a contact C "
        "its\n"
        "point C.contact, C.force, C.force.normal, .friction, .ratio.\n\n"
        "Source: Udwadia and Mogharabin 2021.",
    .fits = fits,
    .derive = derive,
    .sizes = ns_constrained_sizes,
    .verify = verify,
    .doubts = ns_constrained_contact_doubts,
    .ranks = ns_constrained_ranks,
    .guess = ns_constrained_contact_guess,
    .blocks = blocks,
};
