/* Ready-made constraints, built on the same rows that a user could write:
 *
 *   rod(A, B, l)              |A - B|^2 = l^2
 *   ball(A, B), at(A, B)      A = B
 *   parallel(a, b)            the directions a, b parallel: t.b = 0 for two t orthogonal to a
 *   revolute(A, B, a, b)      A = B and a, b parallel
 *   universal(A, B, a, b)     A = B and a, b orthogonal
 *   cylindrical(A, B, a, b)   a, b parallel and A - B along a
 *   prismatic(A, B, a, b, c, d)   the same, and d stays in the plane of a and c: no turning
 *   planar(A, B, a, b)        a, b parallel and A - B orthogonal to b
 *   gear(S, T, a, b, k)       S turns about a at -k times the rate of T about b; relative to
 *                             the
 *                             body C with a sixth argument C
 *   motion(A, f)              the point A is where f(t) says
 *   angle(a, b, n, phi)       b is a turned by phi about n (n orthogonal to a):
 *                             b.(n x a) cos phi = b.a sin phi
 *   knife(A, n)               no velocity of A along n
 *   wheel(S, r)               body S touches z = 0 with a circle of radius r about its e2 axis
 *                             and rolls without slipping
 *   rolling(S, G), sliding(S, G)   contact: constrained_contact.c
 *   keep energy               the energy stays what it was (Udwadia and Mogharabin 2021 (40),
 *                             (63))
 *
 * Points and directions are vectors in space (S.tip, S.e3, [0, 0, 1], ...); the bare name of a
 * body is its origin where a point is expected.  The rows of one constraint are independent of
 * each other. */
#include <string.h>

#include "expr/diff.h"
#include "mech/common/block.h"
#include "mech/constrained/constrained.h"
#include "mech/keep.h"
#include "mech/rolling/rolling.h"

typedef struct work {
    ns_description *d;
    ns_graph *g;
    ns_constrained *c;
    const ns_block *block;
    const char *name;
    uint32_t rows; /* made so far for this block */
} work;

static void row(work *w, ns_ex residual)
{
    w->rows++;
    ns_constrained_row(w->d, w->c, ns_arena_format(w->d->arena, "%s.%u", w->name, w->rows),
                       residual, w->block->span);
}

static void rows3(work *w, ns_v3 v)
{
    for (int i = 0; i < 3; i++)
        row(w, v.at[i]);
}

/* "there is no `x`", with what was expected and a name that is near */
static bool not_a(work *w, uint32_t i, const char *expected)
{
    const char *word = w->block->arg_words[i];
    const char *near = word ? ns_description_nearest(w->d, word) : NULL;
    if (word)
        ns_diag_error(w->d->diag, w->block->arg_spans[i],
                      near ? "%s: expected %s, found `%s`; did you mean `%s`?"
                           : "%s: expected %s, found `%s`",
                      w->block->kind, expected, word, near);
    else
        ns_diag_error(w->d->diag, w->block->arg_spans[i], "%s: expected %s", w->block->kind,
                      expected);
    return false;
}

/* Argument i as a point or direction. */
static bool vector(work *w, uint32_t i, ns_v3 *out)
{
    if (w->block->arg_words && w->block->arg_words[i]) {
        uint32_t k = ns_constrained_argument(w->c, w->block, i);
        if (k == UINT32_MAX)
            return not_a(w, i, "a point or direction");
        *out = w->c->members.at[k].position;
        return true;
    }
    return ns_block_value_vector(w->d, w->block->args[i], w->block->arg_spans[i],
                                 w->block->kind, out);
}

static bool number(work *w, uint32_t i, const char *what, ns_ex *out)
{
    if (w->block->arg_words && w->block->arg_words[i])
        return not_a(w, i, "a number");
    return ns_block_value_scalar(w->d, w->block->args[i], w->block->arg_spans[i], what, out);
}

static const ns_member *body(work *w, uint32_t i)
{
    uint32_t k = ns_constrained_argument(w->c, w->block, i);
    if (k != UINT32_MAX && w->c->members.at[k].is_body)
        return &w->c->members.at[k];
    not_a(w, i, "the name of a body");
    return NULL;
}

static bool rod(work *w)
{
    ns_v3 a, b;
    ns_ex length;
    if (!vector(w, 0, &a) || !vector(w, 1, &b) || !number(w, 2, "length of a rod", &length))
        return false;
    if (ns_graph_is_zero(w->g, length)) {
        ns_diag_error(w->d->diag, w->block->arg_spans[2],
                      "a rod of no length: write ball(A, B) for two points at one place");
        return false;
    }
    ns_v3 apart = ns_v3_sub(w->g, a, b);
    /* divided by 2 l, so that the residual is the error of the length */
    ns_ex square = ns_sub(w->g, ns_v3_dot(w->g, apart, apart), ns_powi(w->g, length, 2));
    row(w, ns_div(w->g, square, ns_mul(w->g, ns_number(w->g, 2), length)));
    return true;
}

static bool at(work *w)
{
    ns_v3 a, b;
    if (!vector(w, 0, &a) || !vector(w, 1, &b))
        return false;
    rows3(w, ns_v3_sub(w->g, a, b));
    return true;
}

/* Does the vector stay as it is? */
static bool fixed(const work *w, ns_v3 a)
{
    const ns_description *d = w->d;
    bool moves = ns_graph_depends(w->g, a.at[0], &d->time, 1) ||
                 ns_graph_depends(w->g, a.at[1], &d->time, 1) ||
                 ns_graph_depends(w->g, a.at[2], &d->time, 1);
    for (int i = 0; i < 3 && !moves; i++)
        moves = ns_graph_depends_kind(w->g, a.at[i], NS_SYM_COORD, NULL);
    return !moves;
}

static bool same(ns_v3 a, ns_v3 b)
{
    return a.at[0] == b.at[0] && a.at[1] == b.at[1] && a.at[2] == b.at[2];
}

/* Two directions orthogonal to a, for an axis of a body its other two axes (true: that is
 * so). */
static bool base_of(work *w, ns_v3 a, ns_v3 base[2])
{
    for (uint32_t k = 0; k < w->c->members.n; k++) {
        const ns_member *m = &w->c->members.at[k];
        ns_m3 columns = m->is_body ? ns_m3_transpose(m->A) : (ns_m3){0};
        for (int i = 0; i < 3 && m->is_body; i++) {
            ns_v3 axis[3];
            memcpy(axis, columns.at, sizeof axis);
            if (!same(a, axis[i]))
                continue;
            base[0] = axis[(i + 1) % 3];
            base[1] = axis[(i + 2) % 3];
            return true;
        }
    }
    ns_v3_tangents(w->g, ns_v3_normalise(w->g, a, NULL), base);
    return false;
}

/* v is along a: two rows. */
static void along(work *w, ns_v3 v, ns_v3 a)
{
    ns_v3 base[2];
    base_of(w, a, base);
    row(w, ns_v3_dot(w->g, base[0], v));
    row(w, ns_v3_dot(w->g, base[1], v));
}

static bool parallel_from(work *w, uint32_t first)
{
    ns_v3 a, b, base[2];
    if (!vector(w, first, &a) || !vector(w, first + 1, &b))
        return false;
    bool swap = fixed(w, b) || (!fixed(w, a) && !base_of(w, a, base) && base_of(w, b, base));
    along(w, swap ? a : b, swap ? b : a); /* the simpler one gives the base */
    return true;
}

static bool parallel(work *w)
{
    return parallel_from(w, 0);
}

static bool revolute(work *w)
{
    return at(w) && parallel_from(w, 2);
}

static bool universal(work *w)
{
    ns_v3 a, b;
    if (!at(w) || !vector(w, 2, &a) || !vector(w, 3, &b))
        return false;
    row(w, ns_v3_dot(w->g, a, b));
    return true;
}

static bool cylindrical(work *w)
{
    ns_v3 A, B, a;
    if (!parallel_from(w, 2) || !vector(w, 0, &A) || !vector(w, 1, &B) || !vector(w, 2, &a))
        return false;
    along(w, ns_v3_sub(w->g, A, B), a);
    return true;
}

static bool prismatic(work *w)
{
    ns_v3 a, c, d;
    if (!cylindrical(w) || !vector(w, 2, &a) || !vector(w, 4, &c) || !vector(w, 5, &d))
        return false;
    row(w, ns_v3_dot(w->g, d, ns_v3_cross(w->g, a, c)));
    return true;
}

/* d/dt of a vector in coordinates */
static ns_v3 rate(work *w, ns_v3 v)
{
    const ns_description *d = w->d;
    uint32_t n = d->coordinates.n;
    ns_ex *q = NS_NEW_ARRAY(d->arena, ns_ex, n + 1), *dq = NS_NEW_ARRAY(d->arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        q[i] = d->coordinates.at[i].q;
        dq[i] = d->coordinates.at[i].v;
    }
    q[n] = d->time;
    dq[n] = ns_one(w->g);
    ns_v3 out = {{0}};
    ns_diff_along(w->g, v.at, 3, q, dq, n + 1, out.at);
    return out;
}

static bool knife(work *w)
{
    ns_v3 A, n;
    if (!vector(w, 0, &A) || !vector(w, 1, &n))
        return false;
    row(w, ns_v3_dot(w->g, rate(w, A), n));
    return true;
}

static bool planar(work *w)
{
    ns_v3 A, B, b;
    if (!parallel_from(w, 2) || !vector(w, 0, &A) || !vector(w, 1, &B) || !vector(w, 3, &b))
        return false;
    row(w, ns_v3_dot(w->g, ns_v3_sub(w->g, A, B), b));
    return true;
}

/* Angular velocities relative to the carrier, if there is one. */
static bool gear(work *w)
{
    ns_graph *g = w->g;
    const ns_member *of[3] = {body(w, 0), body(w, 1), NULL};
    ns_v3 a, b, omega[3];
    ns_ex ratio;
    if (w->block->nargs == 6)
        of[2] = body(w, 5);
    if (!of[0] || !of[1] || (w->block->nargs == 6 && !of[2]) || !vector(w, 2, &a) ||
        !vector(w, 3, &b) || !number(w, 4, "ratio of a gear", &ratio))
        return false;
    for (int i = 0; i < 3; i++)
        omega[i] = of[i] ? ns_m3_apply(g, of[i]->A, of[i]->omega) : ns_v3_zero(g);
    ns_ex first = ns_v3_dot(g, ns_v3_sub(g, omega[0], omega[2]), a);
    ns_ex second = ns_v3_dot(g, ns_v3_sub(g, omega[1], omega[2]), b);
    row(w, ns_add(g, first, ns_mul(g, ratio, second)));
    return true;
}

static bool angle(work *w)
{
    ns_graph *g = w->g;
    ns_v3 a, b, n;
    ns_ex phi;
    if (!vector(w, 0, &a) || !vector(w, 1, &b) || !vector(w, 2, &n) ||
        !number(w, 3, "angle", &phi))
        return false;
    ns_ex sine = ns_v3_dot(g, b, ns_v3_cross(g, n, a)), cosine = ns_v3_dot(g, b, a);
    row(w, ns_sub(g, ns_mul(g, sine, ns_cos(g, phi)), ns_mul(g, cosine, ns_sin(g, phi))));
    return true;
}

static bool rolling(work *w)
{
    return ns_constrained_contact(w->d, w->c, w->block, w->name, false);
}

static bool sliding(work *w)
{
    return ns_constrained_contact(w->d, w->c, w->block, w->name, true);
}

/* The lowest point of a circle of radius r about the axis a through c is
 * p = c - r (e3 - (e3.a) a)/|e3 - (e3.a) a|; it stays on z = 0, and its material point is at
 * rest: c' + omega x (p - c) = 0, of which the vertical part follows from the position. */
static bool wheel(work *w)
{
    ns_graph *g = w->g;
    const ns_member *S = body(w, 0);
    ns_ex r;
    if (!S || !number(w, 1, "radius of a wheel", &r))
        return false;
    ns_v3 a = ns_v3_make(S->A.at[0][1], S->A.at[1][1], S->A.at[2][1]), up = ns_v3_unit(g, 2);
    ns_v3 across = ns_v3_sub(g, up, ns_v3_scale(g, a.at[2], a));
    ns_v3 arm = ns_v3_scale(g, ns_neg(g, r), ns_v3_normalise(g, across, NULL));
    ns_v3 omega = ns_m3_apply(g, S->A, S->omega);
    ns_v3 slip = ns_v3_add(g, S->velocity, ns_v3_cross(g, omega, arm));
    row(w, ns_add(g, S->position.at[2], arm.at[2]));
    row(w, slip.at[0]);
    row(w, slip.at[1]);
    return true;
}

static bool keep(work *w)
{
    const ns_description *d = w->d;
    uint32_t n = d->coordinates.n;
    if (!ns_keep_of(w->block, "energy")) /* other integrals: mech/keep.h */
        return true;
    ns_ex *v = NS_NEW_ARRAY(d->arena, ns_ex, n), *p = NS_NEW_ARRAY(d->arena, ns_ex, n);
    for (uint32_t i = 0; i < n; i++)
        v[i] = d->coordinates.at[i].v;
    ns_diff_gradient(w->g, w->c->lagrangian, v, n, p);
    ns_ex energy = ns_neg(w->g, w->c->lagrangian);
    for (uint32_t i = 0; i < n; i++)
        energy = ns_add(w->g, energy, ns_mul(w->g, p[i], v[i]));
    w->c->energy_level = ns_symbol_new(w->g, "energy.level", NS_SYM_STATE, 0);
    ns_constrained_row(w->d, w->c, w->name, ns_sub(w->g, energy, w->c->energy_level),
                       w->block->span);
    return true;
}

static const struct joint {
    const char *name, *args;
    uint32_t least, most; /* arguments */
    bool (*make)(work *w);
} joints[] = {
    {"rod", "A, B, length", 3, 3, rod},
    {"ball", "A, B", 2, 2, at},
    {"at", "A, B", 2, 2, at},
    {"parallel", "a, b", 2, 2, parallel},
    {"revolute", "A, B, a, b", 4, 4, revolute},
    {"universal", "A, B, a, b", 4, 4, universal},
    {"cylindrical", "A, B, a, b", 4, 4, cylindrical},
    {"prismatic", "A, B, a, b, c, d", 6, 6, prismatic},
    {"planar", "A, B, a, b", 4, 4, planar},
    {"gear", "BODY, BODY, a, b, ratio [, BODY]", 5, 6, gear},
    {"motion", "A, place", 2, 2, at},
    {"angle", "a, b, axis, angle", 4, 4, angle},
    {"knife", "A, n", 2, 2, knife},
    {"wheel", "BODY, radius", 2, 2, wheel},
    {"rolling", "BODY [, BODY or GROUND [, PARTICLE]]", 1, 3, rolling},
    {"sliding", "BODY [, BODY or GROUND [, PARTICLE]]", 1, 3, sliding},
    {"keep", "energy", 1, 1, keep},
};
enum { JOINTS = sizeof joints / sizeof *joints };

static bool joint(work *w)
{
    for (uint32_t i = 0; i < JOINTS; i++) {
        if (!w->block->kind || strcmp(joints[i].name, w->block->kind) != 0)
            continue;
        if (w->block->nargs >= joints[i].least && w->block->nargs <= joints[i].most)
            return joints[i].make(w);
        ns_diag_error(w->d->diag, w->block->kind_span, "expected %s(%s)", joints[i].name,
                      joints[i].args);
        return false;
    }
    ns_text known = ns_text_new(w->d->arena);
    for (uint32_t i = 0; i < JOINTS; i++)
        ns_text_addf(&known, "%s%s(%s)", i ? ", " : "", joints[i].name, joints[i].args);
    ns_diag_error(w->d->diag, w->block->span, "there is no constraint `%s`; there are: %s",
                  w->block->kind ? w->block->kind : "", ns_text_string(&known));
    return false;
}

/* label L { at POINT } : the zero-mass particle L stays at the point */
static bool label(work *w)
{
    const ns_property *p = ns_block_find(w->block, "at");
    ns_v3 point;
    if (!p || !ns_block_vector(w->d, p, 0, &point)) {
        if (!p)
            ns_diag_error(w->d->diag, w->block->span, "a label needs a place: { at POINT }");
        return false;
    }
    for (uint32_t i = 0; i < w->c->members.n; i++)
        if (w->c->members.at[i].block == w->block)
            rows3(w, ns_v3_sub(w->g, w->c->members.at[i].position, point));
    return true;
}

/* spring { from A; to B; stiffness k; length l; damping c }, damper { from A; to B; damping c
 * } */
static bool spring(work *w)
{
    static const char *const of_spring[] = {"from",   "to",      "stiffness",
                                            "length", "damping", NULL};
    static const char *const of_damper[] = {"from", "to", "damping", NULL};
    const bool damper = w->block->form == &ns_block_damper;
    const char *const *names = damper ? of_damper : of_spring;
    ns_graph *g = w->g;
    const ns_property *from = ns_block_find(w->block, "from"),
                      *to = ns_block_find(w->block, "to");
    const ns_property *stiffness = ns_block_find(w->block, "stiffness");
    const ns_property *length = ns_block_find(w->block, "length");
    const ns_property *damping = ns_block_find(w->block, "damping");
    ns_v3 a, b;
    ns_ex k = ns_zero(g), l = ns_zero(g);
    if (!ns_block_known(w->d, w->block, names))
        return false;
    if (!from || !to || (damper && !damping)) {
        ns_diag_error(w->d->diag, w->block->span, "a %s needs `from` and `to`%s",
                      w->block->form->keyword, damper ? " and `damping`" : "");
        return false;
    }
    if (!ns_block_vector(w->d, from, 0, &a) || !ns_block_vector(w->d, to, 0, &b) ||
        (stiffness && !ns_block_scalar(w->d, stiffness, 0, &k)) ||
        (length && !ns_block_scalar(w->d, length, 0, &l)))
        return false;
    ns_v3 apart = ns_v3_sub(g, b, a);
    ns_ex stretch = ns_sub(g, ns_v3_norm(g, apart), l);
    ns_ex V = ns_mul(g, ns_mul(g, ns_number(g, 0.5), k), ns_powi(g, stretch, 2));
    w->c->lagrangian = ns_sub(g, w->c->lagrangian, V);
    if (!damping)
        return true;
    ns_ex c;
    if (!ns_block_scalar(w->d, damping, 0, &c))
        return false;
    /* generalised force -c (d stretch/dt) d stretch/dq */
    ns_v3 unit = ns_v3_normalise(g, apart, NULL);
    ns_ex speed = ns_v3_dot(g, unit, rate(w, apart));
    for (uint32_t i = 0; i < w->d->coordinates.n; i++) {
        ns_ex slope = ns_diff(g, stretch, w->d->coordinates.at[i].q);
        ns_ex force = ns_neg(g, ns_mul(g, c, ns_mul(g, speed, slope)));
        if (!ns_graph_is_zero(g, force))
            NS_PUSH(w->d->arena, w->c->forces,
                    (ns_force_line){.coordinate = i, .value = force, .span = w->block->span});
    }
    return true;
}

/* A force on the coordinates: dot(slope[i], F) on coordinate i, where slope is the derivative
 * of a point by the coordinates, or of an angular velocity by their derivatives. */
static void push(work *w, ns_v3 of, bool by_velocity, ns_v3 F, ns_span span)
{
    for (uint32_t i = 0; i < w->d->coordinates.n; i++) {
        const ns_coordinate *q = &w->d->coordinates.at[i];
        ns_ex force = ns_v3_dot(w->g, ns_v3_diff(w->g, of, by_velocity ? q->v : q->q), F);
        if (!ns_graph_is_zero(w->g, force))
            NS_PUSH(w->d->arena, w->c->forces,
                    (ns_force_line){.coordinate = i, .value = force, .span = span});
    }
}

/* force POINT = [..] : generalised forces (d point/dq)^T F;
 * force S.torque = [..] : (d omega.space/dq')^T T, in space */
static bool forces(work *w)
{
    for (uint32_t k = 0; k < w->block->properties.n; k++) {
        const ns_property *p = &w->block->properties.at[k];
        ns_value at_point;
        ns_v3 F, point;
        if (!ns_block_vector(w->d, p, 0, &F))
            return false;
        const ns_member *turned = NULL, *moved = NULL;
        for (uint32_t i = 0; i < w->c->members.n; i++) {
            const ns_member *m = &w->c->members.at[i];
            size_t length = strlen(m->name);
            bool its = strncmp(p->name, m->name, length) == 0;
            if (its && p->name[length] == 0)
                moved = m;
            if (its && m->is_body && strcmp(p->name + length, ".torque") == 0)
                turned = m;
        }
        if (turned) {
            push(w, ns_m3_apply(w->g, turned->A, turned->omega), true, F, p->span);
            continue;
        }
        if (moved)
            point = moved->position;
        else if (!ns_description_evaluate(w->d, p->name, p->name, &at_point) ||
                 !ns_block_value_vector(w->d, at_point, p->span, "point of a force", &point))
            return false;
        bool place = true;
        for (int i = 0; i < 3; i++)
            place = place && !ns_graph_depends_kind(w->g, point.at[i], NS_SYM_VELOCITY, NULL);
        if (!place) {
            ns_diag_error(
                w->d->diag, p->span,
                "`%s` is not a point: a force acts at a point, a torque on a body as  "
                "force BODY.torque = [x, y, z]",
                p->name);
            return false;
        }
        push(w, point, false, F, p->span);
    }
    return true;
}

bool ns_constrained_joints(ns_description *d, ns_constrained *c)
{
    bool good = true;
    uint32_t unnamed = 0;
    /* springs change the Lagrangian, so `keep energy` comes last; forces that contain reactions
     * wait for the rows */
    const bool wait = ns_description_awaits_reactions(d);
    for (int pass = 0; pass < (wait ? 3 : 2); pass++) {
        if (pass == 2 && (!good || !ns_constrained_offer(d, c)))
            return false;
        for (uint32_t i = 0; i < d->blocks.n; i++) {
            const ns_block *block = &d->blocks.at[i];
            work w = {.d = d, .g = d->graph, .c = c, .block = block, .name = block->name};
            bool last = block->kind && strcmp(block->kind, "keep") == 0;
            bool waits = wait && block->form == &ns_block_force;
            if (pass != (waits ? 2 : last ? 1 : 0))
                continue;
            if (!w.name)
                w.name = ns_arena_format(d->arena, "%s%u", block->form->keyword, ++unnamed);
            if (block->form == &ns_block_constraint)
                good = joint(&w) && good;
            else if (block->form == &ns_block_label)
                good = label(&w) && good;
            else if (block->form == &ns_block_spring || block->form == &ns_block_damper)
                good = spring(&w) && good;
            else if (block->form == &ns_block_force)
                good = forces(&w) && good;
        }
    }
    return good;
}
