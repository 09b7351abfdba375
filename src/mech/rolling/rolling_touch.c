/* A body under a contact law (mech/contact/meet.c): states, modes and the jumps between them.
 *
 * States in all modes: quaternion, omega (body), com and its velocity (space), contact
 * coordinates where they have no closed form, work.friction and work.impact (what the contact
 * took, negative).  Internal ones, which only jumps change:
 *
 *     way    reference direction of slip, ground frame
 *     hold   friction acts along it, not along the slip itself
 *     far    slip turns, far from zero: friction acts along it, whatever `way` is; `hold` is 1
 *     begin  slip has just begun;  rise  the body has just left the ground
 *
 * Direction of slip.  u/|u| has no limit from its own equation at u = 0, and turns ever faster
 * before, unless slip is straight: u_across ~ s^(k2/k1), k the two inverse masses.  It is taken
 * as the sign of u.way times u/|u|, which is analytic through zero where slip is straight.
 * Where slip turns, `way` follows by jumps as long as |u| is below 2 % of the speeds around;
 * above it is u/|u| itself (`far`), until |u| falls below 1 %.  The last 1e-10 are slid with
 * friction along a fixed direction, until the slip along it vanishes, where an impulse takes
 * what is left across it: as any friction brings the slip to zero with the same impulse,
 * velocities are right to the square of that.  Slip begins the same way, along the direction
 * that its own acceleration has (meet_impact.c).
 *
 *     event    in           when                              goes on in
 *     lands    fly          gap falls to 0                    after the impact: fly, roll,
 * slide
 *     liftoff  roll, slide  normal force falls to 0           fly
 *     slips    roll         friction leaves the static cone   slide
 *     sticks   slide        slip along its way falls to 0     roll within the cone, else slide
 *     jams     slide        the normal force has no solution  ends
 *     rests    roll, slide  resistance has stopped the body   ends
 *     changes  all          the gap of the other part falls   after the impact of that part
 *                           to 0
 *     both     all          it stays there                    ends
 *
 * Bodies with two parts: rolling_parts.c.  `both` is called `falls` for a can: on its side. */
#include <string.h>

#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/rolling/rolling.h"

enum { ROLL = NS_MEET_ROLL, SLIDE = NS_MEET_SLIDE, FLY = NS_MEET_FLY };

/* Relative to the speeds around: slip below which friction keeps its direction at the end and
 * at the beginning, rounding of a slip of zero; relative to |s|: heights. */
static const double ends_at = 1e-10, begins_at = 1e-7, nothing = 1e-13, touching = 1e-9;
static const double instants = 1e-12;              /* of the time */
static const double near_at = 1e-2, far_at = 2e-2; /* slip that comes near zero; is far */

typedef struct work {
    ns_description *d;
    ns_system *s;
    ns_rolling *r;
    ns_graph *g;
    ns_meet *w;
    uint32_t way, hold, far, begin, rise, friction, impact, piece; /* states */
    ns_ex begins, rises;
    ns_ex slow; /* |slip| */
    ns_event_action liftoff, slip;
} work;

static bool has(const work *q, int mode)
{
    return q->r->mode[mode] != UINT32_MAX;
}

static ns_ex number(const work *q, double value)
{
    return ns_number(q->g, value);
}

static ns_ex by_mode(work *q, ns_ex roll, ns_ex slide, ns_ex fly)
{
    const ns_ex all[3] = {roll, slide, fly};
    ns_ex value[3];
    for (int k = 0; k < 3; k++)
        if (has(q, k))
            value[q->r->mode[k]] = all[k];
    return ns_system_by_mode(q->s, value);
}

static ns_v3 by_mode_vector(work *q, const ns_v3 of[3])
{
    ns_v3 out;
    for (int i = 0; i < 3; i++)
        out.at[i] = by_mode(q, of[0].at[i], of[1].at[i], of[2].at[i]);
    return out;
}

/* ---- states --------------------------------------------------------------------------------
 * */

static uint32_t internal(work *q, const char *name, ns_ex *symbol)
{
    *symbol = ns_symbol_new(q->g, name, NS_SYM_STATE, q->s->states.n);
    uint32_t k = ns_system_add_state(q->s, NS_QUANTITY_OTHER, name, *symbol, ns_zero(q->g), "");
    q->s->states.at[k].internal = true;
    return k;
}

static void add_states(work *q)
{
    static const char *const names[4][4] = {{"quat.w", "quat.x", "quat.y", "quat.z"},
                                            {"omega.x", "omega.y", "omega.z", NULL},
                                            {"com.x", "com.y", "com.z", NULL},
                                            {"velocity.x", "velocity.y", "velocity.z", NULL}};
    static const char *const way[3] = {"way.x", "way.y", "way.z"};
    ns_system *s = q->s;
    ns_rolling *r = q->r;
    ns_contact *c = &r->contact;
    ns_ex *const at[4] = {c->quat, c->Omega.at, c->com.at, c->velocity.at};
    for (int k = 0; k < 4; k++)
        for (uint32_t i = 0; i < 4 && names[k][i]; i++)
            at[k][i] = ns_symbol_new(q->g, names[k][i], NS_SYM_STATE, i);
    r->quat = ns_system_add_vector(s, NS_QUANTITY_QUATERNION, "quat", "wxyz", c->quat, "");
    r->omega = ns_system_add_vector(s, NS_QUANTITY_ANGULAR, "omega", "xyz", c->Omega.at,
                                    "rad/s");
    r->com = ns_system_add_vector(s, NS_QUANTITY_PLACE, "com", "xyz", c->com.at, "m");
    r->velocity = ns_system_add_vector(s, NS_QUANTITY_VELOCITY, "velocity", "xyz",
                                       c->velocity.at, "m/s");
    r->side = s->states.n;
    const char *unit = c->body.kind == NS_SIDE_IMPLICIT ? "m" : "";
    if (!c->closed)
        ns_system_add_vector(s, r->body.kind, r->body.vector, r->body.axes, c->body.symbol,
                             unit);
    r->support = s->states.n;
    unit = c->ground.kind == NS_SIDE_CHART ? "" : "m";
    if (!c->ground.flat)
        ns_system_add_vector(s, r->ground.kind, r->ground.vector, r->ground.axes,
                             c->ground.symbol, unit);
    const ns_ex none = ns_zero(q->g);
    ns_ex work_symbol[2] = {ns_symbol_new(q->g, "work.friction", NS_SYM_STATE, 0),
                            ns_symbol_new(q->g, "work.impact", NS_SYM_STATE, 1)};
    q->friction = ns_system_add_state(s, NS_QUANTITY_OTHER, "work.friction", work_symbol[0],
                                      none, "J");
    q->impact = ns_system_add_state(s, NS_QUANTITY_OTHER, "work.impact", work_symbol[1], none,
                                    "J");
    q->rise = internal(q, "rise", &q->rises);
    if (r->piece) {
        q->piece = ns_system_add_state(s, NS_QUANTITY_OTHER, "piece", r->piece, none, "");
        s->states.at[q->piece].internal = true;
    }
    if (r->law.friction != NS_FRICTION_COULOMB)
        return;
    q->way = internal(q, way[0], &q->w->way[0]);
    internal(q, way[1], &q->w->way[1]);
    internal(q, way[2], &q->w->way[2]);
    q->hold = internal(q, "hold", &q->w->hold);
    q->far = internal(q, "far", &q->w->far);
    q->begin = internal(q, "begin", &q->begins);
}

static void set_rates(work *q)
{
    const ns_rolling *r = q->r;
    const ns_contact *c = &r->contact;
    const ns_meet *w = q->w;
    const ns_v3 a[3] = {w->in[0].acceleration, w->in[1].acceleration, w->in[2].acceleration};
    const ns_v3 turn[3] = {w->in[0].Omega_rate, w->in[1].Omega_rate, w->in[2].Omega_rate};
    const ns_v3 v = by_mode_vector(q, a), Omega = by_mode_vector(q, turn);
    ns_state *at = q->s->states.at;
    for (uint32_t i = 0; i < 4; i++)
        at[r->quat + i].rate = c->quat_rate[i];
    for (uint32_t i = 0; i < 3; i++) {
        at[r->omega + i].rate = Omega.at[i];
        at[r->com + i].rate = c->velocity.at[i];
        at[r->velocity + i].rate = v.at[i];
    }
    for (uint32_t i = 0; i < c->body.n && !c->closed; i++)
        at[r->side + i].rate = c->body_rate[i];
    for (uint32_t i = 0; i < c->ground.n && !c->ground.flat; i++)
        at[r->support + i].rate = c->ground_rate[i];
    at[q->friction].rate = by_mode(q, w->in[0].power, w->in[1].power, w->in[2].power);
}

static void add_manifold(work *q)
{
    ns_graph *g = q->g;
    const ns_rolling *r = q->r;
    const ns_meet *w = q->w;
    const ns_contact *c = &r->contact;
    ns_span ground = r->ground_block->span;
    ns_ex zero = ns_zero(g);
    ns_rolling_manifold(q->s, r);
    if (!c->ground.flat) {
        ns_rolling_constrain(q->s, "foot.x", w->foot.at[0], ground);
        ns_rolling_constrain(q->s, "foot.y", w->foot.at[1], ground);
    }
    ns_rolling_constrain(q->s, "gap", by_mode(q, w->gap, w->gap, zero), ground);
    ns_rolling_constrain(q->s, "approach", by_mode(q, w->approach, w->approach, zero), ground);
    if (!has(q, ROLL))
        return;
    ns_v3 base[2] = {c->ground.base[0], c->ground.base[1]};
    if (!r->ground.planar)
        ns_v3_tangents(g, c->ground.normal, base);
    for (int a = 0; a < 2; a++) {
        ns_ex along = ns_v3_dot(g, base[a], w->relative);
        ns_rolling_constrain(q->s, a ? "no slip.y" : "no slip.x", by_mode(q, along, zero, zero),
                             ground);
    }
}

/* Forces, energy, and what the values of rolling.c take. */
static void add_values(work *q)
{
    static const char *const slip[3] = {"slip.x", "slip.y", "slip.z"};
    ns_graph *g = q->g;
    ns_rolling *r = q->r;
    ns_contact *c = &r->contact;
    const ns_meet *w = q->w;
    ns_v3 force[3], zero = ns_v3_zero(g);
    ns_ex friction[3], ratio[3];
    for (int k = 0; k < 3; k++) {
        const ns_meet_force *f = &w->in[k];
        force[k] = zero;
        friction[k] = ratio[k] = ns_zero(g);
        if (!has(q, k) || k == FLY)
            continue;
        force[k] = ns_m3_apply(g, c->A, f->force);
        ns_v3 along = ns_v3_sub(g, f->force, ns_v3_scale(g, f->normal, c->gamma));
        friction[k] = ns_v3_norm(g, along);
        ratio[k] = ns_div(g, friction[k], ns_abs(g, f->normal));
    }
    c->normal_force = by_mode(q, w->in[0].normal, w->in[1].normal, w->in[2].normal);
    c->force_space = by_mode_vector(q, force);
    c->friction = by_mode(q, friction[0], friction[1], friction[2]);
    r->ratio = by_mode(q, ratio[0], ratio[1], ratio[2]);
    ns_v3 momentum = ns_m3_apply(g, c->inertia, c->Omega);
    ns_ex twice = ns_mul(g, c->mass, ns_v3_dot(g, c->velocity, c->velocity));
    twice = ns_add(g, ns_v3_dot(g, c->Omega, momentum), twice);
    c->kinetic = ns_mul(g, ns_number(g, 0.5), twice);
    ns_ex weight = ns_mul(g, c->mass, c->gravity);
    c->energy = ns_add(g, c->kinetic, ns_mul(g, weight, c->com.at[2]));
    ns_rolling_values(q->s, r);
    q->slow = ns_v3_norm(g, w->slip);
    ns_system_observe(q->s, NS_QUANTITY_OTHER, "gap", w->gap, "m", true);
    ns_system_observe(q->s, NS_QUANTITY_OTHER, "slip", q->slow, "m/s", true);
    for (int i = 0; i < 3; i++)
        ns_system_observe(q->s, NS_QUANTITY_OTHER, slip[i], w->slip_space.at[i], "m/s", false);
}

/* ---- jumps ---------------------------------------------------------------------------------
 * */

static void reset(work *q, ns_jump *j, uint32_t state, ns_ex value)
{
    NS_PUSH(q->s->arena, j->resets, (ns_reset){state, value});
}

static void reset_vector(work *q, ns_jump *j, uint32_t first, ns_v3 v)
{
    for (uint32_t i = 0; i < 3; i++)
        reset(q, j, first + i, v.at[i]);
}

/* A way to a mode with up to four needs (0: none), at the end of a list. */
#define WAY(q, list, to, ...)                                                                  \
    way((q), &(list).at, &(list).n, &(list).room, (to), (ns_ex[4]){__VA_ARGS__})
static void way(work *q, ns_way **at, uint32_t *n, uint32_t *room, int mode,
                const ns_ex needs[4])
{
    if (!has(q, mode))
        return;
    NS_LIST(ns_way) list = {.at = *at, .n = *n, .room = *room};
    ns_way one = {.mode = q->r->mode[mode]};
    for (int i = 0; i < 4 && needs[i]; i++)
        NS_PUSH(q->s->arena, one.needs, needs[i]);
    NS_PUSH(q->s->arena, list, one);
    *at = list.at;
    *n = list.n;
    *room = list.room;
}

/* Accelerations that are nothing: without gravity a contact may neither press nor part. */
static ns_ex weightless(work *q)
{
    ns_graph *g = q->g;
    const ns_meet *w = q->w;
    return ns_mul(g, number(q, touching), ns_div(g, ns_powi(g, w->speed, 2), w->size));
}

/* Where a contact goes on without approach and with any slip: not slipping within the cone,
 * slipping, parting. */
#define STAY(q, list)                                                                          \
    do {                                                                                       \
        const ns_meet *touch_ = (q)->w;                                                        \
        ns_ex still_ = ns_sub((q)->g, ns_mul((q)->g, number((q), touching), touch_->speed),    \
                              (q)->slow);                                                      \
        WAY(q, list, ROLL, touch_->in[ROLL].normal, still_, touch_->margin);                   \
        WAY(q, list, SLIDE, touch_->in[SLIDE].normal, touch_->stiff);                          \
        WAY(q, list, FLY, ns_add((q)->g, touch_->parting, weightless(q)));                     \
    } while (0)

static ns_jump *jump(work *q, const char *name, int in, ns_ex value, int direction,
                     const char *meaning, bool hidden)
{
    ns_jump *j = NS_NEW(q->s->arena, ns_jump);
    for (int k = 0; k < 3; k++)
        if ((in >> k & 1) && has(q, k))
            j->in |= (uint64_t)1 << q->r->mode[k];
    NS_PUSH(q->s->arena, q->s->events,
            (ns_event){.name = name,
                       .value = value,
                       .direction = direction,
                       .action = NS_EVENT_RECORD,
                       .meaning = meaning,
                       .internal = hidden,
                       .jump = j});
    return j;
}

/* The last event ends the run instead of jumping, if the ground says so. */
static void ends(work *q, ns_event_action action, ns_ex value, const char *meaning)
{
    ns_event *last = &q->s->events.at[q->s->events.n - 1];
    if (action != NS_EVENT_STOP)
        return;
    last->action = action;
    last->jump = NULL;
    last->value = value;
    last->meaning = meaning;
    last->asked = true;
}

static void reset_slip(work *q, ns_jump *j, ns_v3 direction, ns_ex hold, ns_ex far, ns_ex begin)
{
    reset_vector(q, j, q->way, direction);
    reset(q, j, q->hold, hold);
    reset(q, j, q->far, far);
    reset(q, j, q->begin, begin);
}

/* How slip goes on after velocities have changed: along itself, if it slips, else in the
 * direction in which it would begin. */
static void reset_slip_after(work *q, ns_jump *j, const ns_meet_impact *hit)
{
    ns_graph *g = q->g;
    const ns_contact *c = &q->r->contact;
    ns_ex from[6], to[6], one = ns_one(g);
    for (int i = 0; i < 3; i++) {
        from[i] = c->velocity.at[i];
        from[i + 3] = c->Omega.at[i];
        to[i] = hit->velocity.at[i];
        to[i + 3] = hit->Omega.at[i];
    }
    ns_v3 begins = {{0}};
    ns_subst(g, q->w->onset.at, 3, from, to, 6, begins.at);
    ns_ex speed = ns_v3_norm(g, hit->slip);
    ns_ex least = ns_mul(g, number(q, touching), q->w->speed);
    ns_ex slips = ns_step(g, ns_sub(g, speed, least)), rests = ns_sub(g, one, slips);
    ns_ex over = ns_div(g, slips, ns_add(g, speed, number(q, 1e-140)));
    ns_v3 mix = ns_v3_scale(g, rests, begins);
    mix = ns_v3_add(g, mix, ns_v3_scale(g, over, hit->slip));
    reset_slip(q, j, mix, rests, ns_zero(g), rests);
}

static void add_landing(work *q)
{
    ns_graph *g = q->g;
    const ns_meet *w = q->w;
    const ns_law *law = w->law;
    const bool coulomb = law->friction == NS_FRICTION_COULOMB;
    ns_ex slack = ns_mul(g, q->rises, ns_mul(g, number(q, 1e-3 * touching), w->size));
    static const char j_meaning[] = "the body hits the ground and nothing can follow";
    ns_jump *j = jump(q, "lands", 1 << FLY, ns_add(g, w->gap, slack), -1, j_meaning, false);
    ns_jump plastic = {0};
    for (int k = 0; k < 2; k++) {
        ns_jump *to = k ? &plastic : j;
        ns_meet_impact hit = ns_meet_hit(g, w, k ? ns_zero(g) : law->normal,
                                         k ? ns_zero(g) : law->tangential);
        reset_vector(q, to, q->r->velocity, hit.velocity);
        reset_vector(q, to, q->r->omega, hit.Omega);
        reset(q, to, q->impact, ns_add(g, q->s->states.at[q->impact].symbol, hit.work));
        reset(q, to, q->rise, ns_zero(g));
        if (coulomb)
            reset_slip_after(q, to, &hit);
    }
    memcpy(&j->rest_resets, &plastic.resets, sizeof plastic.resets);
    ns_ex least = ns_mul(g, number(q, nothing), w->speed);
    WAY(q, j->ways, FLY, ns_sub(g, w->approach, least));
    STAY(q, j->ways);
    STAY(q, j->rest);
    /* a bounce that is lower than rounding errors of the gap is missed: there are no more */
    ns_jump *low = jump(q, "gap.sinks", 1 << FLY,
                        ns_add(g, w->gap, ns_mul(g, number(q, 1e-12), w->size)), -1, j_meaning,
                        true);
    memcpy(&low->resets, &j->rest_resets, sizeof low->resets);
    memcpy(&low->ways, &j->rest, sizeof low->ways);
    ns_ex high = ns_sub(g, w->gap, ns_mul(g, number(q, touching), w->size));
    ns_ex value = ns_sub(g, ns_mul(g, q->rises, high), ns_sub(g, ns_one(g), q->rises));
    j = jump(q, "gap.rises", 1 << FLY, value, 1, NULL, true);
    reset(q, j, q->rise, ns_zero(g));
}

/* e, were the other part of the body below. */
static ns_ex swapped(work *q, ns_ex e)
{
    ns_ex to = ns_sub(q->g, ns_one(q->g), q->r->piece);
    return ns_subst_one(q->g, e, &q->r->piece, &to, 1);
}

/* The other part comes down to the ground: it hits with it, and goes on with it if the first
 * part leaves the ground then. */
static void add_change(work *q)
{
    static const char on_side[] = "the cylinder lies on its side: it touches along a line";
    ns_graph *g = q->g;
    const ns_meet *w = q->w;
    const ns_law *law = w->law;
    q->r->other = swapped(q, w->gap);
    ns_jump *j = jump(
        q, "changes", 1 << ROLL | 1 << SLIDE | 1 << FLY, q->r->other, -1,
        q->r->stem ? "body and stem touch the ground, and neither leaves it" : on_side, false);
    const ns_meet_impact hit = ns_meet_hit(g, w, law->normal, law->tangential);
    reset_vector(q, j, q->r->velocity, hit.velocity);
    reset_vector(q, j, q->r->omega, hit.Omega);
    reset(q, j, q->impact, ns_add(g, q->s->states.at[q->impact].symbol, hit.work));
    reset(q, j, q->rise, ns_zero(g));
    if (law->friction == NS_FRICTION_COULOMB)
        reset_slip_after(q, j, &hit);
    for (uint32_t i = 0; i < j->resets.n; i++)
        j->resets.at[i].value = swapped(q, j->resets.at[i].value);
    reset(q, j, q->piece, ns_sub(g, ns_one(g), q->r->piece));
    ns_ex least = ns_mul(g, number(q, nothing), w->speed);
    /* the first part leaves the ground, or is above it */
    ns_ex high = ns_sub(g, q->r->other, ns_mul(g, number(q, touching), w->size));
    ns_ex parts = ns_add(g, swapped(q, w->approach), least);
    parts = ns_apply(g, NS_OP_MAX, parts, high);
    ns_ex still = ns_sub(g, ns_mul(g, number(q, touching), w->speed), q->slow);
    WAY(q, j->ways, FLY, parts, ns_sub(g, w->approach, least));
    WAY(q, j->ways, ROLL, parts, w->in[ROLL].normal, still, w->margin);
    WAY(q, j->ways, SLIDE, parts, w->in[SLIDE].normal, w->stiff);
    WAY(q, j->ways, FLY, parts, w->parting);
    /* changes that are too small to be seen: there are no more */
    NS_PUSH(q->s->arena, q->s->events,
            (ns_event){
                .name = q->r->stem ? "both" : "falls",
                .value = ns_add(g, q->r->other, ns_mul(g, number(q, 0.1 * touching), w->size)),
                .direction = -1,
                .action = NS_EVENT_STOP,
                .meaning = q->r->stem ? "body and stem have come to lie on the ground "
                                        "together: two points of contact"
                                      : on_side});
}

static void add_leaving(work *q)
{
    ns_graph *g = q->g;
    const ns_meet *w = q->w;
    const ns_contact *c = &q->r->contact;
    ns_ex one = ns_one(g);
    ns_jump *j = jump(q, "liftoff", 1 << ROLL | 1 << SLIDE,
                      by_mode(q, w->in[ROLL].normal, w->in[SLIDE].normal, one), -1,
                      "the normal force vanishes, but a body without friction would fall into "
                      "the ground: no motion follows",
                      false);
    reset(q, j, q->rise, one);
    ns_ex slack = ns_mul(g, number(q, 1e-6), ns_abs(g, c->gravity));
    WAY(q, j->ways, FLY, ns_add(g, w->parting, slack));
    ends(q, q->liftoff, q->s->events.at[q->s->events.n - 1].value,
         "the normal force vanishes: the body leaves the ground");
    const bool slides = has(q, SLIDE) && !ns_graph_is_number(g, w->stiff, NULL);
    if (slides || !ns_graph_is_number(g, w->firm, NULL))
        NS_PUSH(
            q->s->arena, q->s->events,
            (ns_event){
                .name = "jams",
                .value = by_mode(q, w->firm, slides ? ns_mul(g, c->mass, w->stiff) : one, one),
                .direction = -1,
                .action = NS_EVENT_SINGULAR,
                .meaning = "friction pulls the contact together as fast as the normal "
                           "force pushes it apart: no or several forces fit "
                           "(Painleve's paradox)"});
}

/* Rolling resistance brings the body to rest where it also holds it: the weight has an arm
 * shorter than the length of resistance. */
static void add_rest(work *q)
{
    ns_graph *g = q->g;
    const ns_meet *w = q->w;
    const ns_contact *c = &q->r->contact;
    ns_ex one = ns_one(g), turns = ns_v3_dot(g, c->omega, c->omega);
    ns_ex moves = ns_v3_dot(g, w->slip, w->slip);
    ns_ex arm = ns_v3_norm(g, ns_v3_cross(g, c->s, c->vertical));
    ns_ex excess = ns_apply(g, NS_OP_MAX, ns_zero(g), ns_sub(g, arm, w->law->rolling));
    ns_ex tips = ns_div(g, excess, w->size);
    ns_ex sum = ns_add(g, turns, ns_div(g, moves, ns_powi(g, w->size, 2)));
    ns_ex least = ns_mul(g, number(q, 1e-4), w->faint);
    ns_ex value = ns_add(g, ns_sub(g, sum, least), tips);
    NS_PUSH(q->s->arena, q->s->events,
            (ns_event){.name = "rests",
                       .value = by_mode(q, value, value, one),
                       .direction = -1,
                       .action = NS_EVENT_STOP,
                       .asked = true,
                       .meaning = "the body has come to rest"});
}

/* Coulomb's friction: begin and end of slip. */
static void add_slipping(work *q)
{
    ns_graph *g = q->g;
    const ns_meet *w = q->w;
    ns_ex one = ns_one(g), zero = ns_zero(g), held = ns_sub(g, w->hold, w->far);
    ns_jump *j = jump(q, "slips", 1 << ROLL, w->margin, -1,
                      "friction leaves its cone, but no slip can follow", false);
    reset_slip(q, j, w->onset, one, zero, one);
    WAY(q, j->ways, SLIDE, w->in[SLIDE].normal, w->stiff);
    WAY(q, j->ways, FLY, w->parting);
    ends(q, q->slip, by_mode(q, w->margin, one, one),
         "the friction needed leaves its cone: the body slips");

    ns_ex slack = ns_mul(g, q->begins, ns_mul(g, number(q, nothing), w->speed));
    ns_ex value = ns_add(g, ns_mul(g, held, ns_add(g, w->along, slack)), ns_sub(g, one, held));
    j = jump(q, "sticks", 1 << SLIDE, value, -1, "slip ends, but nothing can follow", false);
    const ns_meet_impact caught = ns_meet_catch(g, w);
    reset_vector(q, j, q->r->velocity, caught.velocity);
    reset_vector(q, j, q->r->omega, caught.Omega);
    reset(q, j, q->friction, ns_add(g, q->s->states.at[q->friction].symbol, caught.work));
    reset_slip(q, j, w->onset, one, zero, one);
    STAY(q, j->ways);
}

/* The reference direction of slip, and whether it is needed. */
static void add_direction(work *q)
{
    ns_graph *g = q->g;
    const ns_meet *w = q->w;
    ns_ex one = ns_one(g), zero = ns_zero(g), loose = ns_sub(g, one, w->hold);
    ns_ex value = ns_sub(g, number(q, 0.25), ns_powi(g, w->tau, 2));
    ns_jump *j = jump(q, "slip.turns", 1 << SLIDE, value, -1, NULL, true);
    ns_ex fast = ns_sub(g, w->along, ns_mul(g, number(q, far_at), w->speed));
    ns_ex far = ns_step(g, fast);
    reset_slip(q, j, w->direction, far, far, zero);

    /* what the slip loses in some thousand units in the last place of the time, too */
    ns_ex drag = ns_div(g, ns_mul(g, w->law->moving, w->in[SLIDE].normal), w->c->mass);
    ns_ex soon = ns_mul(g, number(q, instants), ns_abs(g, ns_mul(g, q->s->time, drag)));
    ns_ex least = ns_add(g, ns_mul(g, number(q, ends_at), w->speed), soon);
    ns_ex left = ns_sub(g, w->along, least);
    value = ns_add(g, ns_mul(g, loose, left), w->hold);
    j = jump(q, "slip.ends", 1 << SLIDE, value, -1, NULL, true);
    reset_slip(q, j, w->direction, one, zero, zero);

    ns_ex begun = ns_mul(g, number(q, begins_at), w->speed);
    ns_ex missed = ns_mul(g, ns_sub(g, one, q->begins), ns_mul(g, number(q, 10), least));
    ns_ex more = ns_sub(g, w->along, ns_add(g, ns_mul(g, q->begins, begun), missed));
    ns_ex held = ns_sub(g, w->hold, w->far);
    value = ns_sub(g, ns_mul(g, held, more), ns_sub(g, one, held));
    j = jump(q, "slip.begins", 1 << SLIDE, value, 1, NULL, true);
    reset(q, j, q->hold, zero);
    reset(q, j, q->begin, zero);

    ns_ex close = ns_powi(g, ns_mul(g, number(q, near_at), w->speed), 2);
    ns_ex slow = ns_sub(g, ns_v3_dot(g, w->slip, w->slip), close);
    value = ns_add(g, ns_mul(g, w->far, slow), ns_sub(g, one, w->far));
    j = jump(q, "slip.nears", 1 << SLIDE, value, -1, NULL, true);
    reset_slip(q, j, w->direction, zero, zero, zero);
}

/* The mode at the start, and the internal states there. */
static void add_start(work *q)
{
    ns_graph *g = q->g;
    const ns_meet *w = q->w;
    ns_start *start = &q->s->start;
    ns_ex high = ns_sub(g, w->gap, ns_mul(g, number(q, touching), w->size));
    ns_ex up = ns_sub(g, w->approach, ns_mul(g, number(q, touching), w->speed));
    WAY(q, start->ways, FLY, high);
    STAY(q, start->ways);
    WAY(q, start->ways, FLY, up);
    if (w->law->friction != NS_FRICTION_COULOMB)
        return;
    const ns_contact *c = &q->r->contact;
    const ns_meet_impact as_is = {.velocity = c->velocity, .Omega = c->Omega, .slip = w->slip};
    ns_jump settle = {0};
    reset_slip_after(q, &settle, &as_is);
    memcpy(&start->settle, &settle.resets, sizeof settle.resets);
}

/* ---- the system ----------------------------------------------------------------------------
 * */

static bool fits(work *q)
{
    ns_rolling *r = q->r;
    const ns_contact *c = &r->contact;
    const char *why = NULL;
    ns_span span = r->ground_block->span;
    if (ns_side_is_curve(&c->ground))
        why = "a wire has no side on which a body lies: contact laws need a surface";
    if (c->reduced) {
        why = "the reduced system only rolls: leave the contact law or `reduced` out";
        span = ns_block_find(r->body_block, "reduced")->span;
    }
    if (why)
        ns_diag_error(q->d->diag, span, "%s", why);
    return !why;
}

static void add_modes(work *q)
{
    static const char *const names[3] = {"roll", "slide", "fly"};
    const ns_friction friction = q->r->law.friction;
    const bool is[3] = {friction == NS_FRICTION_IDEAL || friction == NS_FRICTION_COULOMB,
                        friction != NS_FRICTION_IDEAL, true};
    for (int k = 0; k < 3; k++) {
        q->r->mode[k] = is[k] ? q->s->modes.n : UINT32_MAX;
        if (is[k])
            NS_PUSH(q->s->arena, q->s->modes, names[k]);
    }
}

static void add_integrals(work *q, bool loaded)
{
    ns_graph *g = q->g;
    const ns_rolling *r = q->r;
    const ns_contact *c = &r->contact;
    ns_state *at = q->s->states.at;
    if (loaded || c->moving)
        return;
    ns_ex spent = ns_add(g, at[q->friction].symbol, at[q->impact].symbol);
    NS_PUSH(q->s->arena, q->s->invariants,
            (ns_invariant){.name = "balance", .value = ns_sub(g, c->energy, spent)});
}

bool ns_rolling_touch(ns_description *d, ns_system *s, ns_rolling *r)
{
    ns_contact *c = &r->contact;
    ns_meet *w = &r->touch;
    work q = {.d = d, .s = s, .r = r, .g = d->graph, .w = w};
    ns_graph *g = d->graph;
    bool loaded;
    w->law = &r->law;
    w->c = c;
    if (!fits(&q) || !ns_rolling_action(d, r->ground_block, "liftoff", &q.liftoff) ||
        !ns_rolling_action(d, r->ground_block, "slip", &q.slip))
        return false;
    add_modes(&q);
    add_states(&q);
    const ns_v3 com = c->com, velocity = c->velocity;
    ns_contact_kinematics(g, c);
    c->com = com;
    c->velocity = velocity;
    r->body_centre = ns_v3_sub(g, c->com, ns_m3_apply(g, c->A, r->mass.centre));
    ns_meet_kinematics(g, w);
    ns_rolling_limits(g, r);
    if (!ns_rolling_names(d, r) || !ns_rolling_loads(d, s, r, &loaded))
        return false;
    ns_contact_dynamics(g, c);
    w->reaction = r->reaction;
    w->n_reactions = r->n_reactions;
    ns_meet_dynamics(g, w);
    set_rates(&q);
    add_values(&q);
    ns_rolling_reactions(s, r);
    s->energy = c->energy;
    s->kinetic = c->kinetic;
    s->conservative = false;
    add_manifold(&q);
    add_landing(&q);
    if (r->piece)
        add_change(&q);
    add_leaving(&q);
    if (has(&q, ROLL) && has(&q, SLIDE)) {
        add_slipping(&q);
        add_direction(&q);
    }
    if (r->law.rolling && !c->moving)
        add_rest(&q);
    if (!ns_rolling_ends(d, s, r))
        return false;
    add_start(&q);
    add_integrals(&q, loaded);
    ns_rolling_tell(d, s, r);
    return ns_rolling_touch_start(d, s, r);
}
