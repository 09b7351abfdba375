/* First guesses for the start of a rolling body, when there are numbers: which point of the
 * body touches, and where on the ground.  Newton's iteration (mech/common/start.c) does the
 * rest. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "mech/common/block.h"
#include "mech/rolling/rolling.h"

typedef struct ray {
    const ns_system *s;
    double t0;
    const double *p;
    double *x;
    double centre[3], way[3]; /* centre of mass; direction */
    bool hollow;              /* the outside is in */
} ray;

/* Is the point of the ray at this distance from the origin of the geometric frame inside? */
static bool inside(const ray *a, double length)
{
    const ns_rolling *r = a->s->own;
    double F;
    for (uint32_t j = 0; j < 3; j++)
        a->x[r->side + j] = a->way[j] * length - a->centre[j];
    ns_system_eval(a->s, &r->contact.body.residual, 1, a->t0, a->p, a->x, &F);
    return a->hollow ? F > 0 : F < 0; /* nan: outside */
}

/* Sizes that a body or a ground may have, in metres, and the steps in which they are tried. */
static const double smallest = 1e-12, largest = 1e12, ratio = 1.3;

/* The first length beyond `from` at which the ray is inside (or outside); nan if there is
 * none. */
static double next(const ray *a, double from, double to, bool wanted)
{
    while (from <= to && inside(a, from) != wanted)
        from *= ratio;
    return from <= to ? from : (double)NAN;
}

/* Where the ray leaves the body of about this size; nan if it does not meet it.  From within,
 * that is the first crossing (expressions like to have further sheets far away); if the origin
 * is not in the body, as for a torus, the last one that is not far away. */
static double crossing(const ray *a, double size)
{
    double in = 1e-3 * size, out = 1e3 * size;
    if (inside(a, in)) {
        out = next(a, in, out, false);
        in = out / ratio;
    } else {
        for (in = out; in > 1e-3 * size && !inside(a, in); in /= ratio)
            out = in;
        if (in == out || in <= 1e-3 * size)
            return (double)NAN;
    }
    for (int k = 0; k < 30; k++) {
        double mid = (out + in) / 2;
        *(inside(a, mid) ? &in : &out) = mid;
    }
    return out;
}

/* Does the body's contact point x belong to the part that may touch? */
static bool on_part(const ns_system *s, double t0, const double *p, const double *x)
{
    const ns_rolling *r = s->own;
    for (uint32_t i = 0; i < r->body.n_limits; i++) {
        double value = 1;
        if (r->body.limit[i].value)
            ns_system_eval(s, &r->body.limit[i].value, 1, t0, p, x, &value);
        if (!(value > 0))
            return false;
    }
    return true;
}

/* Directions spread evenly over the sphere. */
enum { RAYS = 400 };

static void aim(ray *a, int k)
{
    double z = 1 - (2.0 * k + 1) / RAYS, phi = k * 2.399963229728653;
    double rho = sqrt(1 - z * z);
    a->way[0] = rho * ns_math_cos(phi);
    a->way[1] = rho * ns_math_sin(phi);
    a->way[2] = z;
}

/* About how large the body is: the least distance from the origin of the geometric frame at
 * which it ends (it may be open), or, if that is not in the body, begins; nan if no ray meets
 * it. */
static double size_of(ray *a)
{
    double size = NAN;
    aim(a, 0);
    const bool within = inside(a, smallest);
    for (int k = 0; k < RAYS; k += 5) {
        aim(a, k);
        const double at = next(a, smallest, isnan(size) ? largest : size, !within);
        size = isnan(at) ? size : at;
    }
    return size;
}

/* For implicit bodies without a closed form: of the points where rays from the origin of the
 * geometric frame leave the body, the lowest (of hollow ones the highest). */
static void search_surface(const ns_system *s, double t0, const double *p, double *x)
{
    const ns_rolling *r = s->own;
    ray a = {.s = s, .t0 = t0, .p = p, .x = x, .hollow = ns_block_has(r->body_block, "flip")};
    double up[3], best = INFINITY;
    double found[3] = {0, 0, -1}; /* if there is no surface: Newton's iteration will say so */
    ns_system_eval(s, r->up.at, 3, t0, p, x, up);
    ns_system_eval(s, r->mass.centre.at, 3, t0, p, x, a.centre);
    for (int i = 0; i < 3; i++)
        up[i] = a.hollow ? -up[i] : up[i];
    const double size = size_of(&a);
    for (int k = 0; k < RAYS && isfinite(size); k++) {
        aim(&a, k);
        double slope = a.way[0] * up[0] + a.way[1] * up[1] + a.way[2] * up[2];
        if (slope > 0.2)
            continue; /* upwards */
        double length = crossing(&a, size);
        for (uint32_t j = 0; j < 3; j++)
            x[r->side + j] = a.way[j] * length - a.centre[j];
        if (length * slope < best && on_part(s, t0, p, x)) {
            best = length * slope;
            memcpy(found, x + r->side, sizeof found);
        }
    }
    memcpy(x + r->side, found, sizeof found);
}

/* ---- charts
 * --------------------------------------------------------------------------------------
 *
 * A chart may cover its surface twice, a sphere's beyond its pole, and there its normal y_u x
 * y_v points to the other side.  The part about u = v = 0 counts: the normal elsewhere has the
 * right side if it flips an even number of times on the way there. */

typedef struct covering {
    const ns_system *s;
    double t0;
    const double *p;
    double *x;
    const ns_v3 *normal;
    uint32_t first;
} covering;

/* The normal at u, v; false where there is none. */
static bool normal_at(const covering *c, const double u[2], double n[3])
{
    memcpy(c->x + c->first, u, 2 * sizeof *u);
    ns_system_eval(c->s, c->normal->at, 3, c->t0, c->p, c->x, n);
    return isfinite(n[0] + n[1] + n[2]);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Does the normal flip between two points?  It turns smoothly elsewhere, so the way is halved
 * until it changes little, or from one bit to the next. */
static bool flips(const covering *c, const double from[2], const double to[2],
                  const double n_from[3], const double n_to[3], int depth)
{
    const double little = 0.5;
    if (depth == 0 || dot(n_from, n_to) > little)
        return dot(n_from, n_to) < 0;
    double middle[2], n[3];
    for (int i = 0; i < 2; i++)
        middle[i] = from[i] + 0.49 * (to[i] - from[i]);
    if (!normal_at(c, middle, n))
        return dot(n_from, n_to) < 0;
    return flips(c, from, middle, n_from, n, depth - 1) !=
           flips(c, middle, to, n, n_to, depth - 1);
}

bool ns_rolling_flipped(const ns_system *s, const ns_v3 *normal, uint32_t first, double t0,
                        const double *p, const double *x)
{
    enum { PARTS = 16, DEPTH = 40 };
    const double near = 1e-3; /* the poles of many charts are at 0 */
    const covering c = {s,      t0,   p, ns_arena_copy(s->arena, x, s->states.n * sizeof *x),
                        normal, first};
    const double *to = x + first;
    double from[2] = {near, near}, next[2], n_from[3], n_next[3];
    bool flipped = false;
    if (!normal_at(&c, from, n_from))
        return false;
    for (int k = 1; k <= PARTS; k++) {
        for (int i = 0; i < 2; i++)
            next[i] = k < PARTS ? near + (to[i] - near) * k / PARTS : to[i];
        if (!normal_at(&c, next, n_next))
            continue;
        flipped = flipped != flips(&c, from, next, n_from, n_next, DEPTH);
        memcpy(from, next, sizeof from);
        memcpy(n_from, n_next, sizeof n_from);
    }
    return flipped;
}

enum { GRID = 32 };

static double grid_point(int i, double offset)
{
    const double turn = 6.283185307179586;
    return turn * (i + offset) / GRID - turn / 2;
}

/* Which points of the grid have the normal on the other side, by comparing neighbours. */
static void flipped_points(const covering *c, bool flipped[GRID][GRID])
{
    static const int middle = GRID / 2;
    double n[GRID][GRID][3];
    for (int i = 0; i < GRID; i++)
        for (int j = 0; j < GRID; j++)
            if (!normal_at(c, (double[2]){grid_point(i, 0.37), grid_point(j, 0.41)}, n[i][j]))
                memset(n[i][j], 0, sizeof n[i][j]);
    flipped[middle][middle] = false;
    for (int way = -1; way <= 1; way += 2)
        for (int i = middle + way; i >= 0 && i < GRID; i += way)
            flipped[i][middle] = flipped[i - way][middle] !=
                                 (dot(n[i][middle], n[i - way][middle]) < 0);
    for (int i = 0; i < GRID; i++)
        for (int way = -1; way <= 1; way += 2)
            for (int j = middle + way; j >= 0 && j < GRID; j += way)
                flipped[i][j] = flipped[i][j - way] != (dot(n[i][j], n[i][j - way]) < 0);
}

/* From a point of the grid to where the expression is least nearby, in ever smaller steps: near
 * a pole of the chart Newton's iteration needs a good start. */
static void refine(const covering *c, ns_ex least, double best, double u[2])
{
    double n[3], other[3], value;
    if (!normal_at(c, u, n))
        return;
    for (double step = 6.283185307179586 / GRID / 2; step > 1e-3;) {
        double from[2] = {u[0], u[1]};
        for (int k = 0; k < 9; k++) {
            const int across = k / 3 - 1, along = k % 3 - 1;
            const double to[2] = {from[0] + across * step, from[1] + along * step};
            const bool same = normal_at(c, to, other) && dot(n, other) > 0;
            ns_system_eval(c->s, &least, 1, c->t0, c->p, c->x, &value);
            if (same && value < best) {
                best = value;
                memcpy(u, to, sizeof to);
            }
        }
        if (u[0] == from[0] && u[1] == from[1])
            step /= 2;
        else
            normal_at(c, u, n);
    }
}

/* States x[first], x[first + 1] (n of them): the point of a grid over a full turn of each where
 * the expression is least.  Points where it has no value do not count, nor those where the
 * chart's normal, if one is given, has the wrong side; x as it is does, if present. */
static void search_grid(const ns_system *s, ns_ex least, uint32_t first, uint32_t n,
                        const ns_v3 *normal, bool present, double t0, const double *p,
                        double *x)
{
    const covering c = {s, t0, p, x, normal, first};
    bool flipped[GRID][GRID] = {{false}};
    double value, best = INFINITY, found[2] = {x[first], n > 1 ? x[first + 1] : 0};
    if (normal && n == 2)
        flipped_points(&c, flipped);
    memcpy(x + first, found, n * sizeof *x);
    if (present) {
        ns_system_eval(s, &least, 1, t0, p, x, &value);
        best = isnan(value) ? best : value;
    }
    for (int i = 0; i < GRID; i++)
        for (int j = 0; j < (n > 1 ? GRID : 1); j++) {
            double u[2] = {grid_point(i, 0.37), grid_point(j, 0.41)};
            if (flipped[i][j])
                continue;
            memcpy(x + first, u, n * sizeof *x);
            ns_system_eval(s, &least, 1, t0, p, x, &value);
            if (value < best) {
                best = value;
                memcpy(found, u, sizeof found);
            }
        }
    if (normal && n == 2)
        refine(&c, least, best, found);
    memcpy(x + first, found, n * sizeof *x);
}

/* For bodies given by parameters.  A curve touches with its lowest point.  A surface has its
 * normal down there; of two such points the lower one, for charts that run over a pole cover
 * the surface twice, once with the normal inwards. */
static void search_body(const ns_system *s, double t0, const double *p, double *x)
{
    const ns_rolling *r = s->own;
    const ns_side *body = &r->contact.body;
    ns_graph *g = s->graph;
    ns_ex least = ns_v3_dot(g, body->point, r->up);
    if (body->kind != NS_SIDE_CURVE) {
        ns_ex size = ns_v3_norm(g, body->point);
        least = ns_add(g, ns_v3_dot(g, body->normal, r->up),
                       ns_mul(g, ns_number(g, 0.1), ns_div(g, least, size)));
    }
    search_grid(s, least, r->side, body->n, NULL, false, t0, p, x);
}

/* A floor on the vertical through the origin, looked for from `far` above it to `far` below:
 * where F changes its sign and the body's side is above. */
static bool find_floor(const ns_system *s, double far, double t0, const double *p, double *x)
{
    const ns_rolling *r = s->own;
    const ns_side *ground = &r->contact.ground;
    const int samples = (int)ceil(ns_math_log(far / smallest) / ns_math_log(ratio));
    double *z = x + r->support + 2, F, above = NAN, last = NAN;
    for (int k = 0; k < 2 * samples; k++) {
        *z = k < samples ? far * ns_math_pow(ratio, -k)
                         : -far * ns_math_pow(ratio, k + 1 - 2 * samples);
        ns_system_eval(s, &ground->residual, 1, t0, p, x, &F);
        if (F * above < 0) {
            double high = last, low = *z, up = -1;
            for (int i = 0; i < 60; i++) {
                *z = (high + low) / 2;
                ns_system_eval(s, &ground->residual, 1, t0, p, x, &F);
                *(F * above > 0 ? &high : &low) = *z;
            }
            *z = high;
            ns_system_eval(s, &ground->normal.at[2], 1, t0, p, x, &up);
            if (up > 0)
                return true;
            *z = low; /* a ceiling */
            ns_system_eval(s, &ground->residual, 1, t0, p, x, &F);
        }
        last = *z;
        above = F;
    }
    *z = 0;
    return false;
}

/* Where the vertical through the origin enters the ground from the body's side, coming from
 * above; stays at the origin if that lies on the ground, or if there is no such place. */
static void search_ground(const ns_system *s, double t0, const double *p, double *x)
{
    const ns_rolling *r = s->own;
    const ns_side *ground = &r->contact.ground;
    double F;
    ns_system_eval(s, &ground->residual, 1, t0, p, x, &F);
    if (fabs(F) < smallest)
        return;
    if (!find_floor(s, 100, t0, p, x)) /* expressions like to have further sheets far away */
        find_floor(s, largest, t0, p, x);
}

void ns_rolling_guess(const ns_system *s, double t0, const double *p, double *x)
{
    const ns_rolling *r = s->own;
    const ns_side *body = &r->contact.body, *ground = &r->contact.ground;
    bool chart = ground->kind == NS_SIDE_CURVE ||
                 (ground->kind == NS_SIDE_CHART && !ground->flat);
    if (chart && r->misfit && !s->start.span[r->support].source)
        search_grid(s, r->misfit, r->support, ground->n, &ground->normal, true, t0, p, x);
    if (r->anywhere && !s->start.span[r->support].source)
        search_ground(s, t0, p, x);
    if (r->contact.closed)
        return;
    for (uint32_t i = 0; i < body->n; i++)
        if (s->start.span[r->side + i].source)
            return; /* the user's own guess */
    double given[3];
    memcpy(given, x + r->side, body->n * sizeof *x);
    if (r->closed[0])
        ns_system_eval(s, r->closed, body->n, t0, p, x, x + r->side);
    else if (body->kind == NS_SIDE_IMPLICIT)
        search_surface(s, t0, p, x);
    else
        search_body(s, t0, p, x);
    for (uint32_t i = 0; i < body->n; i++)
        if (!s->start.free[r->side + i]) /* set by a study */
            x[r->side + i] = given[i];
}
