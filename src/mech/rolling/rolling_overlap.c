/* Does the body reach into the ground anywhere but at the contact?
 *
 * The curvatures at the contact (ns_contact: regular, fit) say whether body and ground fit near
 * it; elsewhere the start is looked at, and the motion if the ground says `overlap warn` or
 * `overlap stop`.  Then the depth is watched,
 *
 *     depth = min over k of  D(C (y_k - y) + x)
 *
 * where the y_k are points spread over the body's surface, y and x the contact in the frames of
 * body and ground, and D the distance from the ground to first order, F/|grad F|, positive
 * where the body is.  It is zero or a little more while the body touches at one point, so the
 * event is where it falls below a millionth of the body's size.  A spike of the ground that
 * passes between the points is not seen: they are about a fifteenth of a turn apart.
 *
 * The points: from the body's chart; by its outward normals where there is a closed form; by
 * rays from the origin of its frame (Newton's iteration on the graph, so that they follow
 * parameters); circles for bodies with edges. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/rolling/rolling.h"

enum { TURN = 24, DIRECTIONS = 300, MOST = 1024 };

/* Depths below this part of the body's size are rounding. */
static const double shallow = 1e-6;

/* A point of the body's surface, and how it is found. */
typedef enum point_kind {
    BY_NORMAL,    /* outward normal a[0], a[1], a[2] */
    BY_RAY,       /* direction a[0], a[1], a[2] */
    BY_PARAMETER, /* u = a[0], v = a[1] */
    BY_SIZE       /* (a[0] r, a[1] r, a[2] h) for a round body of radius r and height h */
} point_kind;

typedef struct point {
    point_kind kind;
    double a[3];
} point;

typedef struct work {
    const ns_description *d;
    const ns_system *s;
    const ns_rolling *r;
    ns_graph *g;
    point at[MOST];
    uint32_t n;
} work;

static ns_ex number(const work *w, double value)
{
    return ns_number(w->g, value);
}

static void add(work *w, point_kind kind, double a, double b, double c)
{
    if (w->n < MOST)
        w->at[w->n++] = (point){kind, {a, b, c}};
}

/* Directions spread evenly over the sphere (a spiral by the golden angle). */
static void add_directions(work *w, point_kind kind)
{
    for (int k = 0; k < DIRECTIONS; k++) {
        const double z = 1 - (2.0 * k + 1) / DIRECTIONS, rho = sqrt(1 - z * z);
        const double phi = k * 2.399963229728653;
        add(w, kind, rho * ns_math_cos(phi), rho * ns_math_sin(phi), z);
    }
}

/* TURN points of a circle about the z axis, as parts of the body's sizes */
static void add_circle(work *w, double radius, double z)
{
    for (int i = 0; i < TURN; i++) {
        const double angle = 6.283185307179586 * i / TURN;
        add(w, BY_SIZE, radius * ns_math_cos(angle), radius * ns_math_sin(angle), z);
    }
}

/* a disk at height z, from its middle to its rim */
static void add_face(work *w, double z)
{
    add(w, BY_SIZE, 0, 0, z);
    for (int i = 1; i <= 3; i++)
        add_circle(w, i / 3.0, z);
}

static void add_chart(work *w, const ns_drawing *d, uint32_t n)
{
    static const double turn[4] = {0, 6.283185307179586, 0, 6.283185307179586};
    const double *range = d->ranged ? d->range : turn;
    for (int i = 0; i < TURN; i++)
        for (int j = 0; j <= (n > 1 ? TURN / 2 : 0); j++)
            add(w, BY_PARAMETER, range[0] + (range[1] - range[0]) * i / TURN,
                range[2] + (range[3] - range[2]) * 2 * j / TURN, 0);
}

static bool spread_points(work *w)
{
    const ns_drawing *d = &w->r->body.drawing;
    switch (d->kind) {
    case NS_DRAW_CHART:
        add_chart(w, d, 2);
        return true;
    case NS_DRAW_CURVE:
        add_chart(w, d, 1);
        return true;
    case NS_DRAW_DISK:
        add_face(w, 1);
        return true;
    case NS_DRAW_HOOP:
        add_circle(w, 1, 1);
        return true;
    case NS_DRAW_CYLINDER:
        add_face(w, 0.5);
        add_face(w, -0.5);
        for (int i = -2; i <= 2; i++)
            add_circle(w, 1, i / 6.0);
        return true;
    case NS_DRAW_CONE:
        add_face(w, 0);
        for (int i = 1; i <= 6; i++) /* the last one is the apex */
            add_circle(w, 1 - i / 6.0, i / 6.0);
        return true;
    case NS_DRAW_IMPLICIT:
        add_directions(w, w->r->body.has_support ? BY_NORMAL : BY_RAY);
        return true;
    default:
        return false;
    }
}

/* F along a ray: x, y, z are the last three of the symbols */
typedef struct ray {
    const ns_graph *g;
    ns_ex F;
    const ns_ex *symbols;
    double *values;
    uint32_t n;
    double way[3];
} ray;

static bool inside(const ray *a, double length)
{
    double F;
    for (uint32_t i = 0; i < 3; i++)
        a->values[a->n + i] = a->way[i] * length;
    ns_eval(a->g, &a->F, 1, a->symbols, a->values, a->n + 3, &F);
    return F < 0;
}

/* Where F becomes positive beyond `from`, for the parameters' present values; nan if it does
 * not. */
static double leaves(const ray *a, double from)
{
    const double most = 1e12; /* metres */
    double in = 0, out = from;
    for (; out < most && inside(a, out); out *= 1.3)
        in = out;
    if (in == 0 || out >= most)
        return (double)NAN;
    for (int k = 0; k < 50; k++) {
        const double middle = (in + out) / 2;
        *(inside(a, middle) ? &in : &out) = middle;
    }
    return out;
}

/* For points by rays, with parameters p; room for x, y, z after them. */
static ray ray_new(const work *w, const double *p)
{
    const ns_drawing *d = &w->r->body.drawing;
    const uint32_t n = w->d->params.n;
    ns_ex *symbols = NS_NEW_ARRAY(w->s->arena, ns_ex, n + 3);
    double *values = NS_NEW_ARRAY(w->s->arena, double, n + 3);
    for (uint32_t i = 0; i < n; i++) {
        symbols[i] = w->d->params.at[i].symbol;
        values[i] = p[i];
    }
    memcpy(symbols + n, d->x, sizeof d->x);
    return (ray){.g = w->g, .F = d->F, .symbols = symbols, .values = values, .n = n};
}

/* Where the ray to a point leaves F < 0; `found` is that of the ray before, 0 for the first. */
static double along_ray(ray *a, const point *at, double found)
{
    memcpy(a->way, at->a, sizeof a->way);
    return leaves(a, found == 0 ? 1e-12 : 1e-3 * found);
}

/* ---- as expressions, for the event ------------------------------------------------------- */

/* A point by a ray.  The length found with the parameters' present values is the start of
 * Newton's iteration in the graph. */
static ns_v3 ray_point(const work *w, const point *at, double found)
{
    enum { NEWTON = 3 };
    ns_graph *g = w->g;
    const ns_drawing *d = &w->r->body.drawing;
    ns_ex length = ns_symbol_new(g, "length", NS_SYM_LOCAL, 0), t = number(w, found), on[3];
    for (int i = 0; i < 3; i++)
        on[i] = ns_mul(g, number(w, at->a[i]), length);
    if (ns_graph_depends_kind(g, d->F, NS_SYM_PARAM, NULL)) {
        ns_ex F = ns_subst_one(g, d->F, d->x, on, 3);
        ns_ex move = ns_div(g, F, ns_diff(g, F, length));
        for (int i = 0; i < NEWTON; i++)
            t = ns_sub(g, t, ns_subst_one(g, move, &length, &t, 1));
    }
    ns_v3 y;
    for (int i = 0; i < 3; i++)
        y.at[i] = ns_mul(g, number(w, at->a[i]), t);
    return y;
}

static ns_v3 point_expression(const work *w, const point *at)
{
    const ns_drawing *d = &w->r->body.drawing;
    ns_ex a[3] = {number(w, at->a[0]), number(w, at->a[1]), number(w, at->a[2])};
    ns_v3 y = {{0}};
    switch (at->kind) {
    case BY_NORMAL:
        ns_subst(w->g, w->r->body.support.at, 3, w->r->locals.x, a, 3, y.at);
        break;
    case BY_PARAMETER:
        ns_subst(w->g, d->point.at, 3, d->u, a, d->kind == NS_DRAW_CURVE ? 1 : 2, y.at);
        break;
    default:
        for (int i = 0; i < 3; i++)
            y.at[i] = ns_mul(w->g, a[i], d->size[i / 2]);
    }
    return y;
}

/* D as an expression of the local names x, y, z; 0 if the ground has no such function. */
static ns_ex distance(const work *w)
{
    const ns_drawing *d = &w->r->ground.drawing;
    const ns_side *side = &w->r->contact.ground;
    ns_graph *g = w->g;
    ns_v3 x = ns_v3_make(d->x[0], d->x[1], d->x[2]), slope;
    ns_ex F;
    switch (d->kind) {
    case NS_DRAW_PLANE:
        return ns_v3_dot(g, ns_v3_sub(g, x, d->point), side->normal);
    case NS_DRAW_GRAPH:
        F = ns_sub(g, x.at[2], d->F);
        break;
    case NS_DRAW_IMPLICIT:
        F = d->F;
        break;
    default:
        return 0;
    }
    ns_diff_gradient(g, F, d->x, 3, slope.at);
    return ns_div(g, F, ns_v3_norm(g, slope));
}

bool ns_rolling_overlap(ns_description *d, ns_system *s, const ns_rolling *r, ns_ex *out)
{
    const ns_contact *c = &r->contact;
    ns_graph *g = d->graph;
    ns_span span = ns_block_find(r->ground_block, "overlap")->span;
    work *w = NS_NEW(d->arena, work);
    *w = (work){.d = d, .s = s, .r = r, .g = g};
    if (c->reduced) {
        ns_diag_error(d->diag, span, "the reduced system has no place to look for overlaps");
        return false;
    }
    ns_ex D = distance(w);
    if (!D) {
        ns_diag_error(d->diag, span,
                      "`overlap` needs a ground that says where inside and outside are: plane, "
                      "height, implicit or a named surface, not %s",
                      r->ground_block->kind);
        return false;
    }
    bool good = spread_points(w);
    double *p = NS_NEW_ARRAY(d->arena, double, d->params.n + 1), found = 0;
    ns_system_params(s, NULL, NULL, p);
    ray a = ray_new(w, p);
    ns_ex depth = 0, size = ns_v3_norm(g, c->s);
    for (uint32_t k = 0; k < w->n && good; k++) {
        if (w->at[k].kind == BY_RAY) {
            found = along_ray(&a, &w->at[k], found);
            good = !isnan(found);
        }
        ns_v3 y = w->at[k].kind == BY_RAY ? ray_point(w, &w->at[k], found)
                                          : point_expression(w, &w->at[k]);
        ns_v3 x = ns_v3_add(g, ns_m3_apply(g, c->C, ns_v3_sub(g, y, c->body.point)),
                            c->ground.point);
        ns_ex above = ns_subst_one(g, D, r->ground.drawing.x, x.at, 3);
        depth = depth ? ns_apply(g, NS_OP_MIN, depth, above) : above;
    }
    if (!good) {
        ns_diag_error(d->diag, span,
                      "`overlap` needs a body whose surface each ray from the origin of its "
                      "frame meets: the origin must lie inside");
        return false;
    }
    *out = ns_add(g, depth, ns_mul(g, number(w, shallow), size));
    return true;
}

/* ---- with numbers, at the start ---------------------------------------------------------- */

void ns_rolling_prepare_overlap(ns_description *d, ns_system *s, ns_rolling *r)
{
    const ns_contact *c = &r->contact;
    work w = {.d = d, .s = s, .r = r, .g = d->graph};
    const bool apart = c->ground.flat && (r->body.convex || r->body.lowest);
    r->above = c->reduced || apart ? 0 : distance(&w);
}

/* A point of the body, by numbers; false if there is none. */
static bool point_number(const work *w, ray *a, const point *at, double *found, double y[3])
{
    const ns_drawing *d = &w->r->body.drawing;
    const uint32_t n = a->n;
    ns_ex *symbols = (ns_ex *)a->symbols; /* the last three places are free */
    double size[2];
    switch (at->kind) {
    case BY_RAY:
        *found = along_ray(a, at, *found);
        for (int i = 0; i < 3; i++)
            y[i] = at->a[i] * *found;
        break;
    case BY_NORMAL:
        memcpy(symbols + n, w->r->locals.x, sizeof w->r->locals.x);
        memcpy(a->values + n, at->a, sizeof at->a);
        ns_eval(w->g, w->r->body.support.at, 3, symbols, a->values, n + 3, y);
        break;
    case BY_PARAMETER:
        memcpy(symbols + n, d->u, sizeof d->u);
        memcpy(a->values + n, at->a, 2 * sizeof *at->a);
        ns_eval(w->g, d->point.at, 3, symbols, a->values, n + 2, y);
        break;
    case BY_SIZE:
        ns_eval(w->g, d->size, 2, symbols, a->values, n, size);
        for (int i = 0; i < 3; i++)
            y[i] = at->a[i] * size[i / 2];
        break;
    }
    return isfinite(y[0] + y[1] + y[2]);
}

double ns_rolling_overlaps(const ns_system *s, double t0, const double *p, const double *x)
{
    const ns_rolling *r = s->own;
    const ns_contact *c = &r->contact;
    work *w = NS_NEW(s->arena, work);
    *w = (work){.d = s->description, .s = s, .r = r, .g = s->graph};
    if (!r->above || !spread_points(w))
        return 0;
    ns_ex ask[18];
    double value[18], found = 0, deepest = 0, size = 0;
    memcpy(ask, c->C.at, 9 * sizeof *ask);
    memcpy(ask + 9, c->s.at, sizeof c->s.at);
    memcpy(ask + 12, c->ground.point.at, sizeof c->ground.point.at);
    memcpy(ask + 15, c->centre.at, sizeof c->centre.at);
    ns_system_eval(s, ask, 18, t0, p, x, value);
    for (int i = 0; i < 3; i++) {
        size = ns_math_hypot(size, value[9 + i]);
        value[9 + i] += value[15 + i]; /* the contact in the body's frame */
    }
    ray a = ray_new(w, p), ground = ray_new(w, p);
    memcpy((ns_ex *)ground.symbols + ground.n, r->ground.drawing.x, sizeof r->ground.drawing.x);
    for (uint32_t k = 0; k < w->n; k++) {
        double y[3], above;
        if (!point_number(w, &a, &w->at[k], &found, y))
            return 0; /* not known */
        for (int i = 0; i < 3; i++) {
            ground.values[ground.n + (uint32_t)i] = value[12 + i];
            for (int j = 0; j < 3; j++)
                ground.values[ground.n + (uint32_t)i] += value[3 * i + j] *
                                                         (y[j] - value[9 + j]);
        }
        ns_eval(s->graph, &r->above, 1, ground.symbols, ground.values, ground.n + 3, &above);
        deepest = above < deepest ? above : deepest;
    }
    return deepest < -shallow * size ? -deepest : 0;
}
