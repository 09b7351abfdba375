/* Starts of `constrained`: what is not said is at rest and not turned, and may change until the
 * constraints hold.
 *
 *     start { P = [..]; P' = [..]; S.position = [..]; S.quat = [..]; S.omega = [..] } */
#include <string.h>

#include "mech/common/block.h"
#include "mech/constrained/constrained.h"

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
        to.first = ns_system_state_named(s, name);
        to.rows = to.first < s->states.n;
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
                          : "`%s` is not a position, velocity, quaternion or omega of a member",
                      p->name, to.rows);
        return false;
    }
    if (to.rows == 4)
        blame_quaternion(s, &to, p->value_span);
    bool good = true;
    for (uint32_t i = 0; i < to.rows; i++) {
        good = ns_constrained_no_locals(d, p->value[0].at[i], p->value_span) && good;
        s->start.value[to.first + i] = p->value[0].at[i];
        s->start.free[to.first + i] = s->start.guess[to.first + i] = p->guess;
        s->start.span[to.first + i] = p->value_span;
    }
    return good;
}

bool ns_constrained_start(ns_description *d, ns_system *s, const ns_constrained *c)
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
