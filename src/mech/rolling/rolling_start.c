/* Starts of rolling bodies.
 *
 *     start {
 *         quat [w, x, y, z]  |  axis [x, y, z], angle  |  euler phi, theta, psi  (z, x, z)
 *                            |  heading, tilt, turn    (the same, by name)
 *                            |  roll, pitch, yaw       (about x, the turned y, the turned z)
 *         contact [x, y] or [x, y, z]  |  com [..]  |  centre [..]
 *         omega [..]  |  omega.space [..]  |  centre' [..] or com' [..], with spin
 *         NAME = value  or  NAME ~ guess   for any state
 *     }
 * Orientation and contact written with ~ are guesses: met as nearly as the contact allows.
 *
 * What is not said is found: the contact point of the body from orientation and ground (in
 * closed form where the shape has one), the rest by the equations of the manifold. */
#include <string.h>

#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/common/orientation.h"
#include "mech/rolling/rolling.h"

typedef struct work {
    ns_description *d;
    ns_system *s;
    ns_rolling *r;
    ns_graph *g;
    const ns_block *b;
    ns_m3 A;    /* orientation at the start, in terms of parameters */
    bool loose; /* the orientation is a guess */
} work;

static void set(work *w, uint32_t state, ns_ex value, bool is_free, ns_span span)
{
    w->s->start.value[state] = value;
    w->s->start.free[state] = is_free;
    w->s->start.span[state] = span;
}

/* A value or a guess of the user's. */
static void set_as(work *w, uint32_t state, ns_ex value, const ns_property *p)
{
    set(w, state, value, p->guess, p->value_span);
    w->s->start.guess[state] = p->guess;
}

static void demand(work *w, const char *name, ns_ex residual, ns_span span)
{
    NS_PUSH(w->s->arena, w->s->start.extra,
            (ns_constraint){.name = name, .residual = residual, .span = span});
}

/* The contact should be near this coordinate. */
static void miss(work *w, uint32_t i, ns_ex value)
{
    ns_ex off = ns_powi(w->g, ns_sub(w->g, w->r->contact.point.at[i], value), 2);
    w->r->misfit = w->r->misfit ? ns_add(w->g, w->r->misfit, off) : off;
}

/* First values for the contact on a moving ground whose coordinates are Cartesian, in its own
 * frame: near a place in space. */
static void guess_on_moving(work *w, ns_v3 at)
{
    const ns_contact *c = &w->r->contact;
    if (!c->moving || (c->ground.kind != NS_SIDE_IMPLICIT && c->ground.kind != NS_SIDE_GRAPH))
        return;
    ns_v3 local = ns_m3_apply_transposed(w->g, c->B, ns_v3_sub(w->g, at, c->o));
    for (uint32_t i = 0; i < c->ground.n; i++)
        set(w, w->r->support + i, local.at[i], true, (ns_span){0});
}

/* contact [x, y] or [x, y, z].  CARTESIAN: these are the ground's own coordinates. */
static bool place_contact(work *w, const ns_property *contact, bool cartesian)
{
    ns_rolling *r = w->r;
    ns_graph *g = w->g;
    const ns_side *ground = &r->contact.ground;
    if (contact->values != 1 || contact->value[0].cols != 1 || contact->value[0].rows < 2 ||
        contact->value[0].rows > 3) {
        ns_diag_error(w->d->diag, contact->value_span, "contact: expected [x, y, z] or [x, y]");
        return false;
    }
    uint32_t rows = contact->value[0].rows;
    if ((cartesian || ground->kind == NS_SIDE_IMPLICIT) && rows < ground->n) {
        ns_diag_error(w->d->diag, contact->value_span,
                      "contact: this ground needs three coordinates [x, y, z]");
        return false;
    }
    const ns_ex *to = contact->value[0].at;
    guess_on_moving(w, ns_v3_make(to[0], to[1], rows > 2 ? to[2] : ns_zero(g)));
    for (uint32_t i = 0; i < rows; i++) {
        if (cartesian && i < ground->n)
            set_as(w, r->support + i, to[i], contact);
        else
            ns_system_start_equation(w->s, "contact", ns_sub(g, r->contact.point.at[i], to[i]),
                                     contact->guess, contact->value_span);
        miss(w, i, to[i]);
    }
    /* of an upper and a lower place the body lies on the latter */
    if (rows == 2 && r->misfit && !ns_side_is_curve(ground)) {
        ns_ex hangs = ns_apply(g, NS_OP_MAX, ns_zero(g), ns_neg(g, ground->normal.at[2]));
        r->misfit = ns_add(g, r->misfit, ns_mul(g, ns_number(g, 1e3), hangs));
    }
    return true;
}

/* com [x, y, z] or centre [x, y, z]: GIVEN, and NOW as the states have it. */
static bool place_point(work *w, const ns_property *given, ns_v3 now, bool cartesian)
{
    ns_rolling *r = w->r;
    ns_graph *g = w->g;
    const ns_side *ground = &r->contact.ground;
    ns_v3 at;
    if (!ns_block_vector(w->d, given, 0, &at))
        return false;
    for (uint32_t i = 0; cartesian && i < ground->n; i++) /* a guess: straight below */
        set(w, r->support + i, at.at[i], true, given->value_span);
    guess_on_moving(w, at);
    for (uint32_t i = 0; i < 3; i++)
        miss(w, i, at.at[i]);
    ns_v3 way[3] = {ns_v3_unit(g, 0), ns_v3_unit(g, 1), ns_v3_unit(g, 2)};
    bool surface = !ns_side_is_curve(ground);
    if (surface) { /* along the ground here; across it: ns_rolling_verify */
        way[2] = r->contact.moving ? ns_m3_apply(g, r->contact.B, ground->normal)
                                   : ground->normal;
        ns_v3_tangents(g, way[2], way);
        r->placed = given;
        r->gap = ns_v3_dot(g, ns_v3_sub(g, at, now), way[2]);
    }
    for (int i = 0; i < (surface ? 2 : 3); i++)
        demand(w, given->name, ns_v3_dot(g, ns_v3_sub(g, now, at), way[i]), given->value_span);
    return true;
}

/* Where the contact is on the ground. */
static bool place(work *w)
{
    ns_rolling *r = w->r;
    const ns_property *contact = ns_block_find(w->b, "contact");
    const ns_property *com = ns_block_find(w->b, "com"),
                      *centre = ns_block_find(w->b, "centre");
    const bool given = contact || com || centre;
    if ((contact != NULL) + (com != NULL) + (centre != NULL) > 1) {
        ns_diag_error(
            w->d->diag, w->b->span,
            "the position is given more than once: choose one of contact, com, centre");
        return false;
    }
    if (r->contact.reduced) {
        if (given)
            ns_diag_error(w->d->diag, w->b->span,
                          "the reduced system has no place on the plane");
        return !given;
    }
    const ns_side *ground = &r->contact.ground;
    bool cartesian = !r->contact.moving && (ground->kind == NS_SIDE_IMPLICIT ||
                                            ground->kind == NS_SIDE_GRAPH || r->ground.level);
    /* a closed ground may not have the origin: ns_rolling_guess looks for a place then */
    r->anywhere = ground->kind == NS_SIDE_IMPLICIT && !given;
    if (r->anywhere)
        w->s->start.hint = "say where the body touches the ground: contact [x, y, z]";
    bool open = !cartesian || com || centre || r->anywhere;
    for (uint32_t i = 0; i < ground->n; i++) {
        set(w, r->support + i, ns_zero(w->g), open, (ns_span){0});
        w->s->start.keep[r->support + i] = open && !given;
    }
    if (contact)
        return place_contact(w, contact, cartesian);
    if (com)
        return place_point(w, com, r->contact.com, cartesian);
    return !centre || place_point(w, centre, r->body_centre, cartesian);
}

/* The reduced system has no orientation among its states, which would say where the body
 * touches: with the normal downwards, unless the contact itself is given. */
static void face_down(work *w, ns_v3 up)
{
    const ns_contact *c = &w->r->contact;
    for (uint32_t i = 0; i < c->body.n; i++)
        if (ns_block_find(w->b, ns_graph_symbol(w->g, c->body.symbol[i])->name))
            return;
    ns_v3 base[2], align = ns_v3_add(w->g, c->body.normal, up);
    ns_v3_tangents(w->g, up, base);
    w->s->start.unless.name = "orientation";
    w->s->start.unless.first = w->r->side;
    w->s->start.unless.n = c->body.n;
    for (int i = 0; i < 2; i++)
        demand(w, w->s->start.unless.name, ns_v3_dot(w->g, align, base[i]),
               w->r->body_block->span);
}

bool ns_rolling_aim(ns_system *s, ns_rolling *r, ns_m3 A)
{
    ns_graph *g = s->graph;
    ns_contact *c = &r->contact;
    ns_v3 normal = c->ground.normal; /* in its frame */
    if (ns_side_is_curve(&c->ground)) {
        /* on a wire: as far above as the wire's direction allows */
        ns_v3 t = ns_v3_normalise(g, c->ground.tangent, NULL), up = ns_v3_unit(g, 2);
        normal = ns_v3_normalise(g, ns_v3_sub(g, up, ns_v3_scale(g, t.at[2], t)), NULL);
    }
    ns_m3 C = c->moving ? ns_m3_mul(g, ns_m3_transpose(c->B), A) : A;
    r->up = ns_m3_apply_transposed(g, C, normal);
    if (c->closed)
        return true;
    ns_v3 down = ns_v3_neg(g, r->up); /* outward normal of the body at the contact */
    for (uint32_t i = 0; i < c->body.n; i++) {
        s->start.value[r->side + i] = ns_zero(g);
        s->start.free[r->side + i] = true;
    }
    if (c->body.kind == NS_SIDE_CIRCLE) {
        /* a disk that lies flat gets some point, and is refused by ns_rolling_verify */
        ns_ex way[2] = {ns_add(g, down.at[0], ns_number(g, 1e-150)), down.at[1]};
        ns_ex length = ns_sqrt(g, ns_add(g, ns_powi(g, way[0], 2), ns_powi(g, way[1], 2)));
        for (int i = 0; i < 2; i++)
            r->closed[i] = ns_div(g, way[i], length);
        return true;
    }
    for (int i = 0; i < 3 && r->body.has_support; i++) {
        ns_ex y = ns_subst_one(g, r->body.support.at[i], r->locals.x, down.at, 3);
        r->closed[i] = ns_sub(g, y, r->mass.centre.at[i]);
    }
    return r->body.has_support;
}

/* NAME = value or NAME ~ value for a single value */
static const ns_property *named(const work *w, const char *name)
{
    const ns_property *p = ns_block_find(w->b, name);
    return p && p->assigned ? p : NULL;
}

/* Values that are not states but could be: they may start, and sweeps may vary them, as if they
 * were. */
static void offer(work *w, const char *name, ns_ex value, ns_ex given, bool spin)
{
    const ns_rolling *r = w->r;
    ns_start_value other = {.name = name, .value = value, .given = given};
    if (spin) {
        other.first = r->omega;
        other.n = 3;
        other.through = r->quat;
    } else {
        other.first = other.through = w->s->states.n; /* none */
    }
    NS_PUSH(w->s->arena, w->s->start.other, other);
}

/* The angular velocity of a ball: its states are the components in space, `body` those in the
 * body frame, if given. */
static bool ball_turns(work *w, const ns_property *space, ns_v3 body, bool open, ns_span span)
{
    static const char *const names[3] = {"omega.x", "omega.y", "omega.z"};
    ns_rolling *r = w->r;
    ns_contact *c = &r->contact;
    ns_v3 turn = ns_m3_apply(w->g, w->A, body);
    const ns_property *single[3];
    bool some = false;
    if (space && !ns_block_vector(w->d, space, 0, &turn))
        return false;
    for (int i = 0; i < 3; i++) {
        single[i] = named(w, names[i]);
        some = some || single[i];
        if (single[i] && !ns_block_scalar(w->d, single[i], 0, &body.at[i]))
            return false;
    }
    if (some)
        turn = ns_m3_apply(w->g, w->A, body);
    bool equations = !open && (some || (w->loose && !space));
    for (uint32_t i = 0; i < 3; i++) {
        set(w, r->omega + i, turn.at[i], open || equations,
            single[i] ? single[i]->value_span : span);
        w->s->start.guess[r->omega + i] = single[i] && single[i]->guess;
        if ((equations || single[i]) && !(single[i] && single[i]->guess))
            demand(w, names[i], ns_sub(w->g, c->Omega.at[i], body.at[i]),
                   single[i] ? single[i]->value_span : span);
        offer(w, names[i], c->Omega.at[i], open ? 0 : body.at[i], true);
    }
    return true;
}

static bool velocity(work *w)
{
    ns_rolling *r = w->r;
    ns_graph *g = w->g;
    ns_contact *c = &r->contact;
    const ns_property *body = ns_block_find(w->b, "omega");
    const ns_property *space = ns_block_find(w->b, "omega.space");
    const ns_property *centre = ns_block_find(w->b, "centre'"),
                      *com = ns_block_find(w->b, "com'");
    const ns_property *spin = ns_block_find(w->b, "spin");
    bool by_point = centre || com;
    if (by_point && c->reduced) {
        ns_diag_error(w->d->diag, (centre ? centre : com)->span,
                      "the reduced system has no velocity in space: give omega");
        return false;
    }
    if ((body != NULL) + (space != NULL) + (centre != NULL) + (com != NULL) > 1) {
        ns_diag_error(w->d->diag, w->b->span,
                      "the velocity is given more than once: choose one of omega, omega.space, "
                      "centre', com'");
        return false;
    }
    if (spin && !by_point) {
        ns_diag_error(w->d->diag, spin->span, "`spin` goes with centre' or com'");
        return false;
    }
    ns_v3 omega = ns_v3_zero(g);
    if (body && !ns_block_vector(w->d, body, 0, &omega))
        return false;
    if (space) {
        if (!ns_block_vector(w->d, space, 0, &omega))
            return false;
        omega = ns_m3_apply_transposed(g, w->A, omega);
    }
    ns_span span = body ? body->value_span : space ? space->value_span : (ns_span){0};
    if (c->ball && !ball_turns(w, space, omega, by_point, span))
        return false;
    for (uint32_t i = 0; i < 3 && !c->ball; i++)
        set(w, r->omega + i, omega.at[i], by_point, span);
    if (!by_point)
        return true;
    const ns_property *given = centre ? centre : com;
    if (given->values != 1 || given->value[0].cols != 1 || given->value[0].rows < 2 ||
        given->value[0].rows > 3) {
        ns_diag_error(w->d->diag, given->value_span, "%s: expected [x, y] or [x, y, z]",
                      given->name);
        return false;
    }
    ns_v3 v = c->velocity, arm = c->s; /* from the point to the contact */
    if (centre) {                      /* v_O = v_G - Omega x centre */
        ns_v3 carried = ns_v3_cross(g, c->Omega, c->centre);
        v = ns_v3_sub(g, v, ns_m3_apply(g, c->A, carried));
        arm = ns_v3_add(g, arm, c->centre);
    }
    const ns_ex *wanted = given->value[0].at;
    if (given->value[0].rows == 2) {
        for (int i = 0; i < 2; i++)
            demand(w, given->name, ns_sub(g, v.at[i], wanted[i]), given->value_span);
    } else { /* no omega changes the component along the arm: ns_rolling_verify looks at it */
        ns_v3 excess = ns_v3_sub(g, ns_v3_make(wanted[0], wanted[1], wanted[2]), v), way[3];
        way[2] = ns_v3_normalise(g, ns_m3_apply(g, c->A, arm), NULL);
        ns_v3_tangents(g, way[2], way);
        for (int i = 0; i < 2; i++)
            demand(w, given->name, ns_v3_dot(g, excess, way[i]), given->value_span);
        r->moved = given;
        r->excess = ns_v3_dot(g, excess, way[2]);
    }
    ns_ex about_normal = ns_zero(g);
    if (spin && !ns_block_scalar(w->d, spin, 0, &about_normal))
        return false;
    demand(w, "spin", ns_sub(g, ns_v3_dot(g, c->Omega, c->gamma), about_normal),
           spin ? spin->value_span : given->value_span);
    return true;
}

/* The contact on the body where it is not a state; its guess says nothing new.  The
 * angular velocity has been read. */
static bool as_equation(work *w, const ns_start_value *other, const ns_property *p)
{
    ns_ex value;
    if (!ns_block_scalar(w->d, p, 0, &value))
        return false;
    if (!other->n && !p->guess)
        demand(w, p->name, ns_sub(w->g, other->value, value), p->value_span);
    return true;
}

/* ---- what a start block may say ------------------------------------------------------------
 * The last word is for bodies with modes alone. */
static const char *const ways[] = {"quat", "axis",   "euler", "heading",     "tilt",
                                   "turn", "roll",   "pitch", "yaw",         "contact",
                                   "com",  "centre", "omega", "omega.space", "centre'",
                                   "com'", "spin",   "mode",  NULL};

bool ns_rolling_start_line(const ns_description *d, const ns_block *b, uint32_t k, bool modes,
                           bool *way)
{
    const ns_property *p = &b->properties.at[k];
    bool good = true;
    *way = false;
    for (uint32_t i = 0; ways[i]; i++)
        *way = *way || (strcmp(ways[i], p->name) == 0 && (ways[i + 1] || modes));
    for (uint32_t i = 0; i < k; i++)
        if (strcmp(b->properties.at[i].name, p->name) == 0) {
            ns_diag_error(d->diag, p->span, "`%s` is given twice", p->name);
            good = false;
        }
    return good;
}

void ns_rolling_start_unknown(const ns_description *d, const ns_property *p)
{
    const char *near = ns_block_nearest(p->name, ways);
    ns_diag_error(d->diag, p->span, "`%s` is neither a state nor a way to start%s%s%s", p->name,
                  near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

void ns_rolling_start_room(ns_system *s)
{
    const uint32_t n = s->states.n;
    s->start.value = NS_NEW_ARRAY(s->arena, ns_ex, n);
    s->start.free = NS_NEW_ARRAY(s->arena, bool, n);
    s->start.guess = NS_NEW_ARRAY(s->arena, bool, n);
    s->start.keep = NS_NEW_ARRAY(s->arena, bool, n);
    s->start.span = NS_NEW_ARRAY(s->arena, ns_span, n);
}

/* NAME = value and NAME ~ guess for states; everything else must be a known property. */
static bool by_name(work *w)
{
    static const char *const firm[] = {"com",     "centre", "omega", "omega.space",
                                       "centre'", "com'",   "spin",  NULL};
    bool good = true;
    for (uint32_t k = 0; w->b && k < w->b->properties.n; k++) {
        const ns_property *p = &w->b->properties.at[k];
        for (uint32_t i = 0; firm[i]; i++)
            if (p->guess && strcmp(firm[i], p->name) == 0) {
                ns_diag_error(w->d->diag, p->span,
                              "`%s` cannot be a guess: contact, the orientation and single "
                              "states can",
                              p->name);
                good = false;
            }
        bool property;
        if (!ns_rolling_start_line(w->d, w->b, k, false, &property))
            good = false;
        if (property)
            continue;
        const uint32_t state = ns_system_state_named(w->s, p->name);
        uint32_t other = 0;
        while (other < w->s->start.other.n &&
               strcmp(w->s->start.other.at[other].name, p->name) != 0)
            other++;
        if (other < w->s->start.other.n && p->assigned) {
            good = as_equation(w, &w->s->start.other.at[other], p) && good;
            continue;
        }
        ns_ex value;
        if (state < w->s->states.n && p->assigned) {
            good = ns_block_scalar(w->d, p, 0, &value) && good;
            if (good)
                set_as(w, state, value, p);
            continue;
        }
        ns_rolling_start_unknown(w->d, p);
        good = false;
    }
    return good;
}

bool ns_rolling_start(ns_description *d, ns_system *s, ns_rolling *r)
{
    static const ns_block none;
    work w = {
        .d = d, .s = s, .r = r, .g = d->graph, .b = r->start_block ? r->start_block : &none};
    ns_rolling_start_room(s);
    ns_ex quat[4];
    if (!ns_orientation_read(d, w.b, quat, &w.loose))
        return false;
    static const char *const names[4] = {"quat.w", "quat.x", "quat.y", "quat.z"};
    for (int i = 0; i < 4; i++) { /* by name: see by_name */
        const ns_property *p = named(&w, names[i]);
        if (p && !ns_block_scalar(d, p, 0, &quat[i]))
            return false;
        w.loose = w.loose || (p && p->guess);
    }
    w.A = ns_m3_rotation(w.g, quat);
    for (uint32_t i = 0; i < 4 && !r->contact.reduced; i++)
        set(&w, r->quat + i, quat[i], w.loose, w.b->span);
    for (uint32_t i = 0; i < 4 && !r->contact.reduced; i++)
        s->start.keep[r->quat + i] = s->start.guess[r->quat + i] = w.loose;
    if (!place(&w))
        return false;
    if (!ns_rolling_aim(s, r, w.A) && r->contact.reduced)
        face_down(&w, r->up);
    for (uint32_t i = 0; i < r->contact.body.n && r->contact.closed; i++)
        offer(&w, ns_rolling_side_name(s, r, i), r->contact.side[i], 0, false);
    return velocity(&w) && by_name(&w);
}
