/* Starts of bodies under a contact law.
 *
 *     start {
 *         orientation as for rolling bodies (rolling_start.c)
 *         contact [x, y] or [x, y, z]   it touches there  |  com [..]  |  centre [..]  anywhere
 *         omega [..]  |  omega.space [..]
 *         com' [..]  |  centre' [..]    of three components, or two where the body touches
 *         mode roll | slide | fly       if it must be said
 *         NAME = value                  for any state
 *     }
 *
 * On the ground, what is not said of omega and com' follows from rolling; in the air it is
 * zero.
 * Both said: the body slips where they do not fit.  The equations differ from mode to mode;
 * ns_system_start takes the first mode that fits. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "mech/common/block.h"
#include "mech/common/dense.h"
#include "mech/common/orientation.h"
#include "mech/rolling/rolling.h"

typedef struct work {
    ns_description *d;
    ns_system *s;
    ns_rolling *r;
    ns_graph *g;
    const ns_block *b;
    ns_m3 A;
} work;

static void set(work *w, uint32_t state, ns_ex value, bool is_free, ns_span span)
{
    w->s->start.value[state] = value;
    w->s->start.free[state] = is_free;
    w->s->start.span[state] = span;
}

/* An equation on the ground, and another one in the air; where the contact is given, the body
 * is on the ground in any mode. */
static void demand(work *w, const char *name, ns_ex on_ground, ns_ex in_air, ns_span span)
{
    ns_ex value[3];
    const bool touches = !w->r->placed;
    for (int k = 0; k < 3; k++)
        if (w->r->mode[k] != UINT32_MAX)
            value[w->r->mode[k]] = k == NS_MEET_FLY && !touches ? in_air : on_ground;
    NS_PUSH(w->s->arena, w->s->start.extra,
            (ns_constraint){
                .name = name, .residual = ns_system_by_mode(w->s, value), .span = span});
}

/* contact [x, y] or [x, y, z]; the origin if nothing is said */
static bool at_contact(work *w, const ns_property *given)
{
    ns_rolling *r = w->r;
    ns_graph *g = w->g;
    ns_ex origin[2] = {ns_zero(g), ns_zero(g)};
    const ns_ex *to = origin;
    uint32_t rows = 2;
    ns_span span = given ? given->value_span : (ns_span){0};
    if (given) {
        const ns_value *v = given->value;
        if (given->values != 1 || v->cols != 1 || v->rows < 2 || v->rows > 3) {
            ns_diag_error(w->d->diag, span, "contact: expected [x, y, z] or [x, y]");
            return false;
        }
        to = v->at;
        rows = v->rows;
    }
    const ns_side *ground = &r->contact.ground;
    if (rows == 2 && ground->kind == NS_SIDE_IMPLICIT) {
        ns_diag_error(w->d->diag, given ? span : r->ground_block->span,
                      "say where the body touches this ground: contact [x, y, z], or where it "
                      "is: com [x, y, z]");
        return false;
    }
    for (uint32_t i = 0; i < 3; i++)
        set(w, r->com + i, i < rows ? to[i] : ns_zero(g), true, (ns_span){0});
    demand(w, "contact", r->touch.gap, r->touch.gap, span);
    for (uint32_t i = 0; i < rows; i++) {
        ns_ex off = ns_sub(g, r->contact.point.at[i], to[i]);
        if (!given && !ground->flat && ground->kind == NS_SIDE_CHART)
            off = ground->symbol[i]; /* u = v = 0 */
        else if (!given && ground->flat)
            off = r->touch.place[i];
        demand(w, "contact", off, off, span);
    }
    for (uint32_t i = 0; !ground->flat && i < ground->n; i++)
        set(w, r->support + i, ground->kind != NS_SIDE_CHART && i < rows ? to[i] : ns_zero(g),
            true, (ns_span){0});
    return true;
}

/* com [x, y, z] or centre [x, y, z] */
static bool at_point(work *w, const ns_property *given, bool centre)
{
    ns_rolling *r = w->r;
    ns_v3 at;
    const ns_side *ground = &r->contact.ground;
    if (!ns_block_vector(w->d, given, 0, &at))
        return false;
    if (centre)
        at = ns_v3_add(w->g, at, ns_m3_apply(w->g, w->A, r->mass.centre));
    for (uint32_t i = 0; i < 3; i++)
        set(w, r->com + i, at.at[i], false, given->value_span);
    ns_v3 local = at;
    if (r->contact.moving)
        local = ns_m3_apply_transposed(w->g, r->contact.B, ns_v3_sub(w->g, at, r->contact.o));
    for (uint32_t i = 0; !ground->flat && i < ground->n; i++)
        set(w, r->support + i, ground->kind != NS_SIDE_CHART ? local.at[i] : ns_zero(w->g),
            true, (ns_span){0});
    r->placed = given;
    ns_ex off = ns_zero(w->g); /* for a first guess on a chart */
    for (int i = 0; i < 3; i++)
        off = ns_add(w->g, off,
                     ns_powi(w->g, ns_sub(w->g, r->contact.point.at[i], at.at[i]), 2));
    r->misfit = off;
    return true;
}

static bool place(work *w)
{
    const ns_property *contact = ns_block_find(w->b, "contact");
    const ns_property *com = ns_block_find(w->b, "com"),
                      *centre = ns_block_find(w->b, "centre");
    if ((contact != NULL) + (com != NULL) + (centre != NULL) > 1) {
        ns_diag_error(
            w->d->diag, w->b->span,
            "the position is given more than once: choose one of contact, com, centre");
        return false;
    }
    if (com || centre)
        return at_point(w, com ? com : centre, centre != NULL);
    return at_contact(w, contact);
}

/* omega and com' both open or one of them; V = v + Omega x s - v_ground vanishes in rolling */
static bool velocity(work *w)
{
    ns_rolling *r = w->r;
    ns_graph *g = w->g;
    const ns_contact *c = &r->contact;
    const ns_property *body = ns_block_find(w->b, "omega");
    const ns_property *space = ns_block_find(w->b, "omega.space");
    const ns_property *centre = ns_block_find(w->b, "centre'"),
                      *com = ns_block_find(w->b, "com'");
    const ns_property *spin = ns_block_find(w->b, "spin"), *point = centre ? centre : com;
    ns_ex zero = ns_zero(g);
    if ((body && space) || (centre && com)) {
        ns_diag_error(w->d->diag, w->b->span,
                      "the velocity is given more than once: choose one of omega and "
                      "omega.space, and one of com' and centre'");
        return false;
    }
    if (spin && (!point || body || space)) {
        ns_diag_error(w->d->diag, spin->span,
                      "`spin` goes with centre' or com', where omega is not given");
        return false;
    }
    ns_v3 omega = ns_v3_zero(g);
    if ((body || space) && !ns_block_vector(w->d, body ? body : space, 0, &omega))
        return false;
    if (space)
        omega = ns_m3_apply_transposed(g, w->A, omega);
    const bool rolls = point && !body && !space; /* omega follows from com' */
    ns_span span = body ? body->value_span : space ? space->value_span : (ns_span){0};
    for (uint32_t i = 0; i < 3; i++) {
        set(w, r->omega + i, omega.at[i], rolls, span);
        set(w, r->velocity + i, zero, true, (ns_span){0});
    }
    /* V in space */
    ns_v3 V = c->moving ? ns_m3_apply(g, c->B, r->touch.relative) : r->touch.relative;
    ns_v3 normal = c->moving ? ns_m3_apply(g, c->B, c->ground.normal) : c->ground.normal;
    if (!point) {
        for (int i = 0; i < 3; i++)
            demand(w, "velocity", V.at[i], c->velocity.at[i], span);
        return true;
    }
    const ns_value *given = point->value;
    if (point->values != 1 || given->cols != 1 || given->rows < 2 || given->rows > 3) {
        ns_diag_error(w->d->diag, point->value_span, "%s: expected [x, y] or [x, y, z]",
                      point->name);
        return false;
    }
    ns_v3 v = c->velocity;
    if (centre) /* v_O = v_G - Omega x centre */
        v = ns_v3_sub(g, v, ns_m3_apply(g, c->A, ns_v3_cross(g, c->Omega, c->centre)));
    for (uint32_t i = 0; i < given->rows; i++) {
        ns_ex off = ns_sub(g, v.at[i], given->at[i]);
        demand(w, point->name, off, off, point->value_span);
    }
    if (given->rows == 2)
        demand(w, point->name, ns_v3_dot(g, normal, V), v.at[2], point->value_span);
    if (!rolls)
        return true;
    ns_ex about = zero;
    if (spin && !ns_block_scalar(w->d, spin, 0, &about))
        return false;
    ns_v3 base[2];
    ns_v3_tangents(g, normal, base);
    for (int a = 0; a < 2; a++)
        demand(w, "rolling", ns_v3_dot(g, base[a], V), c->Omega.at[a], point->value_span);
    demand(w, "spin", ns_sub(g, ns_v3_dot(g, c->Omega, c->gamma), about), c->Omega.at[2],
           spin ? spin->value_span : point->value_span);
    return true;
}

/* NAME = value for states; everything else must be a known property. */
static bool by_name(work *w)
{
    bool good = true;
    for (uint32_t k = 0; w->b && k < w->b->properties.n; k++) {
        const ns_property *p = &w->b->properties.at[k];
        bool property;
        if (!ns_rolling_start_line(w->d, w->b, k, true, &property))
            good = false;
        if (p->guess && property) {
            ns_diag_error(w->d->diag, p->span,
                          "under a contact law `%s` cannot be a guess: single states can",
                          p->name);
            good = false;
        }
        if (property)
            continue;
        const uint32_t state = ns_system_state_named(w->s, p->name);
        ns_ex value;
        if (state < w->s->states.n && p->assigned && !w->s->states.at[state].internal) {
            good = ns_block_scalar(w->d, p, 0, &value) && good;
            if (good)
                set(w, state, value, p->guess, p->value_span);
            w->s->start.guess[state] = p->guess;
            continue;
        }
        ns_rolling_start_unknown(w->d, p);
        good = false;
    }
    return good;
}

bool ns_rolling_touch_start(ns_description *d, ns_system *s, ns_rolling *r)
{
    static const ns_block none;
    work w = {
        .d = d, .s = s, .r = r, .g = d->graph, .b = r->start_block ? r->start_block : &none};
    const uint32_t n = s->states.n;
    ns_rolling_start_room(s);
    for (uint32_t i = 0; i < n; i++)
        s->start.value[i] = ns_zero(w.g);
    ns_ex quat[4];
    bool loose;
    if (!ns_orientation_read(d, w.b, quat, &loose))
        return false;
    w.A = ns_m3_rotation(w.g, quat);
    for (uint32_t i = 0; i < 4; i++)
        set(&w, r->quat + i, quat[i], false, w.b->span);
    if (!place(&w))
        return false;
    ns_rolling_aim(s, r, w.A);
    return velocity(&w) && by_name(&w);
}

/* ---- with numbers --------------------------------------------------------------------------
 * */

bool ns_rolling_touch_verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                             const double *x)
{
    const ns_rolling *r = s->own;
    const ns_meet *w = &r->touch;
    const ns_ex ask[4] = {w->gap, w->size, w->approach, w->speed};
    double value[4];
    ns_system_eval(s, ask, 4, t0, p, x, value);
    const bool touches = fabs(value[0]) <= 1e-9 * value[1];
    const ns_span span = r->start_block ? r->start_block->span : r->ground_block->span;
    if (!touches && value[0] < 0) {
        ns_diag_error(diag, r->placed ? r->placed->value_span : span,
                      "the start is under the ground: the body reaches %.6g m into it",
                      -value[0]);
        return false;
    }
    double other = 0;
    if (r->piece)
        ns_system_eval(s, &r->other, 1, t0, p, x, &other);
    if (r->stem) {
        double radius;
        ns_system_eval(s, &r->stem, 1, t0, p, x, &radius);
        if (!(radius > 0)) {
            ns_diag_error(diag, ns_block_find(r->body_block, "stem")->value_span,
                          "the radius of the stem must be positive; it is %.6g", radius);
            return false;
        }
    }
    if (other < -1e-9 * value[1]) {
        ns_diag_error(diag, span, "the %s reaches %.6g m into the ground at the start",
                      r->stem ? "stem" : "other rim", -other);
        return false;
    }
    if (touches && value[2] < -1e-9 * value[3]) {
        ns_diag_error(diag, span,
                      "the body touches the ground and moves into it at the start, with %.6g "
                      "m/s: begin a little earlier, above the ground",
                      -value[2]);
        return false;
    }
    return true;
}
