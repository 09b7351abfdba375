/* Members of `constrained`: bodies and particles with their coordinates, what the rest of the
 * model may call them, and the rows that all files of the formulation add to. */
#include <string.h>

#include "mech/common/block.h"
#include "mech/constrained/constrained.h"
#include "mech/contact/solid.h"

void ns_constrained_row(ns_description *d, ns_constrained *c, const char *name, ns_ex residual,
                        ns_span span)
{
    NS_PUSH(d->arena, c->rows,
            (ns_constraint_line){.name = name, .residual = residual, .span = span});
}

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
    list->at[list->n - 1].axes = "wxyz";
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

bool ns_constrained_no_locals(ns_description *d, ns_ex e, ns_span span)
{
    ns_ex found;
    if (!ns_graph_depends_kind(d->graph, e, NS_SYM_LOCAL, &found))
        return true;
    ns_diag_error(d->diag, span, "`%s` has a meaning only in the shape of a body or ground",
                  ns_graph_symbol(d->graph, found)->name);
    return false;
}

bool ns_constrained_members(ns_description *d, ns_constrained *c)
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
