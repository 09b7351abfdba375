/* Does the body reach into the ground anywhere but at the contact?
 *
 * The curvatures at the contact (ns_contact: regular, fit) say whether body and ground fit near
 * it; elsewhere nobody asks, unless the ground says `overlap warn` or `overlap stop`.  Then the
 * depth is watched,
 *
 *     depth = min over k of  D(C (y_k - y) + x)
 *
 * where the y_k are points spread over the body's surface, y and x the contact in the frames of
 * body and ground, and D the distance from the ground to first order, F/|grad F|, positive where
 * the body is.  It is zero or a little more while the body touches at one point, so the event is
 * where it falls below a millionth of the body's size.  A spike of the ground that passes between
 * the points is not seen: they are about a fifteenth of a turn apart.
 *
 * The points: from the body's chart; by its outward normals where there is a closed form; by rays
 * from the origin of its frame (Newton's iteration on the graph, so that they follow parameters);
 * circles for bodies with edges. */
#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/subst.h"
#include "mech/block.h"
#include "mech/rolling.h"

enum { TURN = 24, DIRECTIONS = 300, MOST = 1024 };

typedef struct work {
    ns_description *d;
    ns_system *s;
    const ns_rolling *r;
    ns_graph *g;
    ns_v3 at[MOST];
    uint32_t n;
} work;

static ns_ex number(work *w, double value)
{
    return ns_number(w->g, value);
}

/* Directions spread evenly over the sphere (a spiral by the golden angle). */
static void direction(int k, double out[3])
{
    const double z = 1 - (2.0 * k + 1) / DIRECTIONS, rho = sqrt(1 - z * z);
    const double phi = k * 2.399963229728653;
    out[0] = rho * cos(phi);
    out[1] = rho * sin(phi);
    out[2] = z;
}

static void add(work *w, ns_v3 point)
{
    if (w->n < MOST)
        w->at[w->n++] = point;
}

/* TURN points of a circle about the z axis */
static void add_circle(work *w, ns_ex radius, ns_ex z)
{
    for (int i = 0; i < TURN; i++) {
        const double angle = 6.283185307179586 * i / TURN;
        add(w, ns_v3_make(ns_mul(w->g, number(w, cos(angle)), radius),
                          ns_mul(w->g, number(w, sin(angle)), radius), z));
    }
}

/* a disk of this radius at height z, from its middle to its rim */
static void add_face(work *w, ns_ex radius, ns_ex z)
{
    add(w, ns_v3_make(ns_zero(w->g), ns_zero(w->g), z));
    for (int i = 1; i <= 3; i++)
        add_circle(w, ns_mul(w->g, number(w, i / 3.0), radius), z);
}

static void add_chart(work *w, const ns_drawing *d, uint32_t n)
{
    static const double turn[4] = {0, 6.283185307179586, 0, 6.283185307179586};
    const double *range = d->ranged ? d->range : turn;
    for (int i = 0; i < TURN; i++)
        for (int j = 0; j <= (n > 1 ? TURN / 2 : 0); j++) {
            ns_ex u[2] = {number(w, range[0] + (range[1] - range[0]) * i / TURN),
                          number(w, range[2] + (range[3] - range[2]) * 2 * j / TURN)};
            ns_v3 point = {{0}};
            ns_subst(w->g, d->point.at, 3, d->u, u, n, point.at);
            add(w, point);
        }
}

/* Points by their outward normals. */
static void add_support(work *w)
{
    for (int k = 0; k < DIRECTIONS; k++) {
        double way[3];
        direction(k, way);
        ns_ex n[3] = {number(w, way[0]), number(w, way[1]), number(w, way[2])};
        ns_v3 point = {{0}};
        ns_subst(w->g, w->r->body.support.at, 3, w->r->locals.x, n, 3, point.at);
        add(w, point);
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

/* Where F becomes positive beyond `from`, for the parameters' present values; nan if it does not. */
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

/* Where the rays leave F < 0.  The length found with the parameters' present values is the start
 * of Newton's iteration in the graph. */
static bool add_rays(work *w, const ns_drawing *d)
{
    enum { NEWTON = 3 };
    ns_graph *g = w->g;
    const uint32_t n = w->d->params.n;
    ns_ex length = ns_symbol_new(g, "length", NS_SYM_LOCAL, 0);
    ns_ex *symbols = NS_NEW_ARRAY(w->d->arena, ns_ex, n + 3);
    double *values = NS_NEW_ARRAY(w->d->arena, double, n + 3);
    ns_system_params(w->s, NULL, NULL, values);
    for (uint32_t i = 0; i < n; i++)
        symbols[i] = w->d->params.at[i].symbol;
    memcpy(symbols + n, d->x, sizeof d->x);
    ray a = {.g = g, .F = d->F, .symbols = symbols, .values = values, .n = n};
    const bool constant = !ns_graph_depends(g, d->F, symbols, n);
    double found = 0;
    for (int k = 0; k < DIRECTIONS; k++) {
        direction(k, a.way);
        found = leaves(&a, k == 0 ? 1e-12 : 1e-3 * found);
        if (isnan(found))
            return false;
        ns_ex t = number(w, found), at[3];
        for (int i = 0; i < 3; i++)
            at[i] = ns_mul(g, number(w, a.way[i]), length);
        if (!constant) {
            ns_ex F = ns_subst_one(g, d->F, d->x, at, 3);
            ns_ex move = ns_div(g, F, ns_diff(g, F, length));
            for (int i = 0; i < NEWTON; i++)
                t = ns_sub(g, t, ns_subst_one(g, move, &length, &t, 1));
        }
        ns_v3 point;
        for (int i = 0; i < 3; i++)
            point.at[i] = ns_mul(g, number(w, a.way[i]), t);
        add(w, point);
    }
    return true;
}

static bool spread_points(work *w)
{
    const ns_drawing *d = &w->r->body.drawing;
    ns_graph *g = w->g;
    ns_ex half;
    switch (d->kind) {
    case NS_DRAW_CHART:
        add_chart(w, d, 2);
        return true;
    case NS_DRAW_CURVE:
        add_chart(w, d, 1);
        return true;
    case NS_DRAW_DISK:
        add_face(w, d->size[0], d->size[1]);
        return true;
    case NS_DRAW_HOOP:
        add_circle(w, d->size[0], d->size[1]);
        return true;
    case NS_DRAW_CYLINDER:
        half = ns_mul(g, number(w, 0.5), d->size[1]);
        add_face(w, d->size[0], half);
        add_face(w, d->size[0], ns_neg(g, half));
        for (int i = -2; i <= 2; i++)
            add_circle(w, d->size[0], ns_mul(g, number(w, i / 3.0), half));
        return true;
    case NS_DRAW_CONE:
        add_face(w, d->size[0], ns_zero(g));
        for (int i = 1; i <= 6; i++) /* the last one is the apex */
            add_circle(w, ns_mul(g, number(w, 1 - i / 6.0), d->size[0]),
                       ns_mul(g, number(w, i / 6.0), d->size[1]));
        return true;
    case NS_DRAW_IMPLICIT:
        if (!w->r->body.has_support)
            return add_rays(w, d);
        add_support(w);
        return true;
    default:
        return false;
    }
}

/* D as an expression of the local names x, y, z; 0 if the ground has no such function. */
static ns_ex distance(work *w)
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
    if (!spread_points(w)) {
        ns_diag_error(d->diag, span,
                      "`overlap` needs a body whose surface each ray from the origin of its "
                      "frame meets: the origin must lie inside");
        return false;
    }
    ns_ex depth = 0, size = ns_v3_norm(g, c->s);
    for (uint32_t k = 0; k < w->n; k++) {
        ns_v3 arm = ns_v3_sub(g, w->at[k], c->body.point), x;
        x = ns_v3_add(g, ns_m3_apply(g, c->C, arm), c->ground.point);
        ns_ex above = ns_subst_one(g, D, r->ground.drawing.x, x.at, 3);
        depth = depth ? ns_apply(g, NS_OP_MIN, depth, above) : above;
    }
    *out = ns_add(g, depth, ns_mul(g, number(w, 1e-6), size));
    return true;
}
