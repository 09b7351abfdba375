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

#include <string.h>

#include "expr/diff.h"
#include "mech/common/block.h"
#include "mech/contact/solid.h"
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

void ns_constrained_row(ns_description *d, ns_constrained *c, const char *name, ns_ex residual,
                        ns_span span)
{
    NS_PUSH(d->arena, c->rows,
            (ns_constraint_line){.name = name, .residual = residual, .span = span});
}

/* ---- members ----------------------------------------------------------------------------- */

/* A new coordinate NAME with its derivatives as symbols. */
const ns_coordinate *ns_constrained_coordinate(ns_description *d, const char *name,
                                               const char *unit, ns_span span)
{
    uint32_t i = d->coordinates.n;
    ns_coordinate c = {.name = name, .unit = unit, .span = span};
    c.q = ns_symbol_new(d->graph, name, NS_SYM_COORD, i);
    c.v = ns_symbol_new(d->graph, ns_arena_format(d->arena, "%s'", name), NS_SYM_VELOCITY, i);
    c.a = ns_symbol_new(d->graph, ns_arena_format(d->arena, "%s''", name), NS_SYM_ACCEL, i);
    NS_PUSH(d->arena, d->coordinates, c);
    return &d->coordinates.at[i];
}

static void place(ns_description *d, ns_member *m)
{
    m->first = d->coordinates.n;
    for (int i = 0; i < 3; i++) {
        const ns_coordinate *c = ns_constrained_coordinate(
            d, ns_arena_format(d->arena, "%s.%c", m->name, "xyz"[i]), "m", m->block->span);
        m->position.at[i] = c->q;
        m->velocity.at[i] = c->v;
    }
    for (int i = 0; m->is_body && i < 4; i++) {
        const ns_coordinate *c = ns_constrained_coordinate(
            d, ns_arena_format(d->arena, "%s.quat.%c", m->name, "wxyz"[i]), "", m->block->span);
        m->quat[i] = c->q;
        m->quat_rate[i] = c->v;
    }
}

uint32_t ns_constrained_member(ns_description *d, ns_constrained *c, const char *name,
                               const ns_block *block, bool is_body)
{
    ns_member m = {.name = name, .block = block, .is_body = is_body};
    m.mass = ns_zero(d->graph);
    m.com = ns_v3_zero(d->graph);
    place(d, &m);
    m.com_space = m.position;
    m.com_velocity = m.velocity;
    NS_PUSH(d->arena, c->members, m);
    return c->members.n - 1;
}

uint32_t ns_constrained_argument(const ns_constrained *c, const ns_block *block, uint32_t i)
{
    const char *word = block->arg_words ? block->arg_words[i] : NULL;
    const ns_value *value = &block->args[i];
    for (uint32_t k = 0; k < c->members.n; k++) {
        const ns_member *m = &c->members.at[k];
        if (word ? strcmp(m->name, word) == 0
                 : !m->is_body && value->rows == 3 && value->cols == 1 &&
                       memcmp(value->at, m->position.at, sizeof m->position.at) == 0)
            return k;
    }
    return UINT32_MAX;
}

/* Omega = 2 E(u) u' :  the vector part of 2 conj(u) u' */
static ns_v3 omega_of(ns_graph *g, const ns_ex u[4], const ns_ex du[4])
{
    ns_v3 e = ns_v3_make(u[1], u[2], u[3]), de = ns_v3_make(du[1], du[2], du[3]), out;
    ns_v3 cross = ns_v3_cross(g, e, de);
    for (int i = 0; i < 3; i++)
        out.at[i] = ns_mul(
            g, ns_number(g, 2),
            ns_sub(g, ns_sub(g, ns_mul(g, u[0], de.at[i]), ns_mul(g, du[0], e.at[i])),
                   cross.at[i]));
    return out;
}

static void kinematics(ns_description *d, ns_member *m)
{
    ns_graph *g = d->graph;
    m->com_space = m->position;
    m->com_velocity = m->velocity;
    if (!m->is_body)
        return;
    m->A = ns_m3_rotation(g, m->quat);
    m->omega = omega_of(g, m->quat, m->quat_rate);
    if (ns_v3_is_zero(g, m->com))
        return;
    m->com_space = ns_v3_add(g, m->position, ns_m3_apply(g, m->A, m->com));
    ns_v3 swing = ns_m3_apply(g, m->A, ns_v3_cross(g, m->omega, m->com));
    m->com_velocity = ns_v3_add(g, m->velocity, swing);
}

/* `uniform`: the body's shape filled evenly gives centre of mass and inertia. */
static bool read_uniform(ns_description *d, const ns_block *block, const ns_property *uniform,
                         ns_member *m)
{
    const ns_property *extra = ns_block_find(block, "inertia");
    extra = extra ? extra : ns_block_find(block, "com");
    if (extra) {
        ns_diag_error(d->diag, extra->span,
                      "a uniform body has its centre of mass and inertia already");
        return false;
    }
    const char *solid = block->kind ? ns_shapes_solid(block->kind) : NULL;
    ns_mass mass;
    ns_ex sizes[4];
    for (uint32_t i = 0; solid && i < block->nargs && i < 4; i++)
        if (!ns_block_argument(d, block, i, &sizes[i]))
            return false;
    if (!solid || !ns_solid_uniform(d->graph, solid, sizes, block->nargs, m->mass, &mass)) {
        ns_diag_error(d->diag, uniform->span,
                      "no closed form for a uniform `%s`: give `inertia`",
                      block->kind ? block->kind : "body without a shape");
        return false;
    }
    m->com = mass.centre;
    m->inertia = mass.inertia;
    return true;
}

static bool read_member(ns_description *d, const ns_block *block, ns_member *m)
{
    ns_graph *g = d->graph;
    const ns_property *mass = ns_block_find(block, "mass");
    const ns_property *uniform = ns_block_find(block, "uniform");
    const ns_property *inertia = ns_block_find(block, "inertia");
    const ns_property *com = ns_block_find(block, "com");
    if (!mass || !ns_block_scalar(d, mass, 0, &m->mass)) {
        if (!mass)
            ns_diag_error(d->diag, block->span,
                          "`%s` needs a mass (0 is allowed for particles)", m->name);
        return false;
    }
    if (m->is_body && block->kind && !ns_shapes_known(d, block))
        return false;
    if (m->is_body && uniform)
        return read_uniform(d, block, uniform, m);
    m->com = ns_v3_zero(g);
    if (com && !ns_block_vector(d, com, 0, &m->com))
        return false;
    if (!m->is_body && (inertia || com)) {
        ns_diag_error(d->diag, (inertia ? inertia : com)->span, "a particle has no `%s`",
                      inertia ? "inertia" : "com");
        return false;
    }
    if (m->is_body && !inertia) {
        ns_diag_error(
            d->diag, block->span,
            "body `%s` needs `inertia`: six tensor entries about its centre of mass%s", m->name,
            block->kind ? ", or `uniform`" : "");
        return false;
    }
    return !inertia || ns_block_matrix(d, inertia, 0, &m->inertia);
}

typedef NS_LIST(ns_scope_entry) names;

/* Names of a member: P, S.position, S.quat, S.omega, S.omega.space, S.e1.., S.POINT. */
static bool name_member(ns_description *d, const ns_member *m, names *list)
{
    ns_graph *g = d->graph;
    static const char *const known[] = {"mass",    "inertia", "com",     "shape",
                                        "uniform", "flip",    "contact", NULL};
#define NAME(format, vector, rows, of)                                                         \
    NS_PUSH(d->arena, *list,                                                                   \
            (ns_scope_entry){                                                                  \
                .name = ns_arena_format(d->arena, format, m->name),                            \
                .value = {rows, 1, ns_arena_copy(d->arena, vector, (rows) * sizeof(ns_ex))},   \
                .unit = of})
    if (!m->is_body) {
        NAME("%s", m->position.at, 3, "m");
        NAME("%s.position", m->position.at, 3, "m");
        return true;
    }
    ns_v3 space = ns_m3_apply(g, m->A, m->omega);
    NAME("%s.position", m->position.at, 3, "m");
    NAME("%s.quat", m->quat, 4, "1");
    NAME("%s.omega", m->omega.at, 3, "rad/s");
    NAME("%s.omega.space", space.at, 3, "rad/s");
    NAME("%s.com", m->com_space.at, 3, "m");
    for (int i = 0; i < 3; i++) {
        ns_v3 axis = ns_v3_make(m->A.at[0][i], m->A.at[1][i], m->A.at[2][i]);
        NS_PUSH(
            d->arena, *list,
            (ns_scope_entry){.name = ns_arena_format(d->arena, "%s.e%d", m->name, i + 1),
                             .value = {3, 1, ns_arena_copy(d->arena, axis.at, sizeof axis.at)},
                             .unit = "1"});
    }
    bool good = true;
    for (uint32_t k = 0; k < m->block->properties.n; k++) {
        const ns_property *p = &m->block->properties.at[k];
        bool property = false;
        for (uint32_t i = 0; known[i]; i++)
            property = property || strcmp(known[i], p->name) == 0;
        if (property)
            continue;
        ns_v3 r;
        if (!p->assigned) {
            ns_diag_error(d->diag, p->span,
                          "`%s` is not a property of a body (mass, inertia, com); a point is "
                          "written  %s = [x, y, z]",
                          p->name, p->name);
            good = false;
        } else if (ns_block_vector(d, p, 0, &r)) {
            ns_v3 point = ns_v3_add(g, m->position, ns_m3_apply(g, m->A, r));
            NS_PUSH(d->arena, *list,
                    (ns_scope_entry){
                        .name = ns_arena_format(d->arena, "%s.%s", m->name, p->name),
                        .value = {3, 1, ns_arena_copy(d->arena, point.at, sizeof point.at)},
                        .unit = "m"});
        } else {
            good = false;
        }
    }
#undef NAME
    return good;
}

/* x, y, z, u, v as names inside shapes, where a shape is given by functions of them. */
static bool define_locals(ns_description *d, ns_constrained *c)
{
    bool needed = false, good = true;
    for (uint32_t i = 0; i < d->blocks.n; i++)
        needed = needed || ns_shapes_variables(&d->blocks.at[i]);
    if (!ns_shapes_offer(d, &c->locals, needed))
        return false;
    if (!needed)
        return true;
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *b = &d->blocks.at[i];
        const char *variables = ns_shapes_variables(b);
        for (uint32_t k = 0; variables && k < 5; k++) {
            ns_value value;
            const char *letter = ns_shapes_letters[k];
            const ns_ex own = k < 3 ? c->locals.x[k] : c->locals.u[k - 3];
            if (!strstr(variables, letter) ||
                (ns_description_evaluate(d, letter, letter, &value) && value.rows == 1 &&
                 value.at[0] == own))
                continue;
            ns_diag_error(d->diag, b->kind_span,
                          "in a shape `%s` is its own coordinate, but the model uses this name "
                          "for something else: rename that",
                          letter);
            good = false;
        }
    }
    return good;
}

/* Names of shapes must not be used elsewhere. */
static bool no_locals(ns_description *d, ns_ex e, ns_span span)
{
    ns_ex found;
    if (!ns_graph_depends_kind(d->graph, e, NS_SYM_LOCAL, &found))
        return true;
    ns_diag_error(d->diag, span, "`%s` has a meaning only in the shape of a body or ground",
                  ns_graph_symbol(d->graph, found)->name);
    return false;
}

static bool add_members(ns_description *d, ns_constrained *c)
{
    bool good = define_locals(d, c);
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *block = &d->blocks.at[i];
        bool body = block->form == &ns_block_body, label = block->form == &ns_block_label;
        if (!body && !label && block->form != &ns_block_particle)
            continue;
        if (!block->name) {
            ns_diag_error(d->diag, block->span, "a %s needs a name", block->form->keyword);
            return false;
        }
        uint32_t k = ns_constrained_member(d, c, block->name, block, body);
        if (!label)
            good = read_member(d, block, &c->members.at[k]) && good;
    }
    names list = {0};
    for (uint32_t i = 0; good && i < c->members.n; i++) {
        kinematics(d, &c->members.at[i]);
        good = name_member(d, &c->members.at[i], &list) && good;
    }
    /* all at once: a name that is missing then is an error */
    return good && ns_description_define(d, list.at, list.n);
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

/* Where a line of block `start` goes. */
typedef struct target {
    const ns_member *member;
    const char *rest;     /* of the name, after the member's and `.position` */
    uint32_t first, rows; /* states; no rows if the name is unknown or an angular velocity */
    bool omega;
} target;

static target find_target(const ns_system *s, const ns_constrained *c, const char *name)
{
    target to = {.rest = ""};
    for (uint32_t i = 0; i < c->members.n && !to.member; i++) {
        const ns_member *m = &c->members.at[i];
        const size_t length = strlen(m->name);
        if (strncmp(name, m->name, length) == 0 && strchr(".'", name[length])) {
            to.member = m;
            to.rest = name + length;
        }
    }
    if (strncmp(to.rest, ".position", 9) == 0)
        to.rest += 9;
    const ns_member *m = to.member;
    const char *rest = to.rest;
    const uint32_t half = c->eq.n; /* velocities follow the coordinates */
    if (m && (*rest == 0 || strcmp(rest, "'") == 0)) {
        to.first = m->first + (*rest ? half : 0);
        to.rows = 3;
    } else if (m && m->is_body && (strcmp(rest, ".quat") == 0 || strcmp(rest, ".quat'") == 0)) {
        to.first = m->first + 3 + (rest[5] ? half : 0);
        to.rows = 4;
    } else if (m && m->is_body &&
               (strcmp(rest, ".omega") == 0 || strcmp(rest, ".omega.space") == 0)) {
        to.omega = true;
    } else {
        for (uint32_t i = 0; i < s->states.n && !to.rows; i++)
            if (strcmp(s->states.at[i].name, name) == 0) {
                to.first = i;
                to.rows = 1;
            }
    }
    return to;
}

/* A given angular velocity is an equation for the derivative of the quaternion. */
static bool start_omega(ns_description *d, ns_system *s, const target *to, const ns_property *p)
{
    ns_v3 w = to->member->omega, given;
    if (to->rest[6]) /* .omega.space */
        w = ns_m3_apply(s->graph, to->member->A, w);
    if (!ns_block_vector(d, p, 0, &given))
        return false;
    for (int i = 0; i < 3; i++)
        ns_system_start_equation(s, p->name, ns_sub(s->graph, w.at[i], given.at[i]), p->guess,
                                 p->value_span);
    return true;
}

/* A quaternion that is not of length 1 is an error where it is given. */
static void blame_quaternion(ns_system *s, const target *to, ns_span span)
{
    const char *unit = ns_arena_format(s->arena, "%s.unit%s", to->member->name,
                                       to->rest[5] ? "'" : "");
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (strcmp(s->constraints.at[i].name, unit) == 0)
            s->constraints.at[i].span = span;
}

static bool start_property(ns_description *d, ns_system *s, const ns_constrained *c,
                           const ns_property *p)
{
    const target to = find_target(s, c, p->name);
    if (to.omega)
        return start_omega(d, s, &to, p);
    if (!to.rows || p->values != 1 || p->value[0].rows * p->value[0].cols != to.rows) {
        ns_diag_error(d->diag, to.rows ? p->value_span : p->span,
                      to.rows
                          ? "`%s` starts with %u numbers"
                          : "`%s` is no position, velocity, quaternion or omega of a member",
                      p->name, to.rows);
        return false;
    }
    if (to.rows == 4)
        blame_quaternion(s, &to, p->value_span);
    bool good = true;
    for (uint32_t i = 0; i < to.rows; i++) {
        good = no_locals(d, p->value[0].at[i], p->value_span) && good;
        s->start.value[to.first + i] = p->value[0].at[i];
        s->start.free[to.first + i] = s->start.guess[to.first + i] = p->guess;
        s->start.span[to.first + i] = p->value_span;
    }
    return good;
}

/* start { P = [..]; P' = [..]; S.position = ..; S.quat = ..; S.omega = .. } : block `start` */
static bool start(ns_description *d, ns_system *s, const ns_constrained *c)
{
    uint32_t n = s->states.n;
    s->start.value = NS_NEW_ARRAY(s->arena, ns_ex, n);
    s->start.free = NS_NEW_ARRAY(s->arena, bool, n);
    s->start.guess = NS_NEW_ARRAY(s->arena, bool, n);
    s->start.span = NS_NEW_ARRAY(s->arena, ns_span, n);
    for (uint32_t i = 0; i < n; i++) {
        s->start.value[i] = ns_zero(s->graph);
        s->start.free[i] = true;
    }
    for (uint32_t i = 0; i < c->members.n; i++)
        if (c->members.at[i].is_body)
            s->start.value[c->members.at[i].first + 3] = ns_one(s->graph); /* not turned */
    /* the model's own coordinates */
    for (uint32_t k = 0; k < d->starts.n; k++)
        for (uint32_t i = 0; i < n; i++)
            if (s->states.at[i].symbol == d->starts.at[k].symbol) {
                s->start.value[i] = d->starts.at[k].value;
                s->start.free[i] = s->start.guess[i] = d->starts.at[k].guess;
                s->start.span[i] = d->starts.at[k].span;
            }
    const ns_block *block = ns_block_single(d, &ns_block_start);
    bool good = true;
    for (uint32_t k = 0; block && k < block->properties.n; k++)
        good = start_property(d, s, c, &block->properties.at[k]) && good;
    return good;
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
    if (!add_members(d, c) || !ns_constrained_shapes(d, c))
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
    bool clean = no_locals(d, c->lagrangian, d->whole);
    for (uint32_t i = 0; i < c->rows.n; i++)
        clean = no_locals(d, c->rows.at[i].residual, c->rows.at[i].span) && clean;
    for (uint32_t i = 0; i < c->forces.n; i++)
        clean = no_locals(d, ns_constrained_aside(d, c, c->forces.at[i].value),
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
    if (!ns_dalembert_derive(&c->eq) || !ns_constrained_solve(d, s, c) ||
        !ns_constrained_settle(d, s, c))
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
    return start(d, s, c);
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
        "  rolling(S [, G | T [, P]])  sliding(S [, G | T [, P]])  wheel(S, r)  keep energy\n"
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
