/* First guesses for the start of a rolling body, when there are numbers: which point of the body
 * touches, and where on the ground.  Newton's iteration (mech/start.c) does the rest. */
#include <math.h>
#include <string.h>

#include "mech/block.h"
#include "mech/rolling.h"

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

/* The first length beyond `from` at which the ray is inside (or outside); nan if there is none. */
static double next(const ray *a, double from, double to, bool wanted)
{
    while (from <= to && inside(a, from) != wanted)
        from *= ratio;
    return from <= to ? from : (double)NAN;
}

/* Where the ray leaves the body of about this size; nan if it does not meet it.  From within, that
 * is the first crossing (expressions like to have further sheets far away); if the origin is not in
 * the body, as for a torus, the last one that is not far away. */
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
    a->way[0] = rho * cos(phi);
    a->way[1] = rho * sin(phi);
    a->way[2] = z;
}

/* About how large the body is: the least distance from the origin of the geometric frame at which it
 * ends (it may be open), or, if that is not in the body, begins; nan if no ray meets it. */
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

/* States x[first], x[first + 1] (n of them): the point of a grid over a full turn of each where the
 * expression is least.  Points where it has no value do not count; x as it is does, if present. */
static void search_grid(const ns_system *s, ns_ex least, uint32_t first, uint32_t n,
                        bool present, double t0, const double *p, double *x)
{
    enum { GRID = 32 };
    const double turn = 6.283185307179586;
    double value, best = INFINITY, found[2] = {x[first], n > 1 ? x[first + 1] : 0};
    if (present) {
        ns_system_eval(s, &least, 1, t0, p, x, &value);
        best = isnan(value) ? best : value;
    }
    for (int i = 0; i < GRID; i++)
        for (int j = 0; j < (n > 1 ? GRID : 1); j++) {
            double u[2] = {turn * (i + 0.37) / GRID - turn / 2,
                           turn * (j + 0.41) / GRID - turn / 2};
            memcpy(x + first, u, n * sizeof *x);
            ns_system_eval(s, &least, 1, t0, p, x, &value);
            if (value < best) {
                best = value;
                memcpy(found, u, sizeof found);
            }
        }
    memcpy(x + first, found, n * sizeof *x);
}

/* For bodies given by parameters.  A curve touches with its lowest point.  A surface has its normal
 * down there; of two such points the lower one, for charts that run over a pole cover the surface
 * twice, once with the normal inwards. */
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
    search_grid(s, least, r->side, body->n, false, t0, p, x);
}

/* A floor on the vertical through the origin, looked for from `far` above it to `far` below: where F
 * changes its sign and the body's side is above. */
static bool find_floor(const ns_system *s, double far, double t0, const double *p, double *x)
{
    const ns_rolling *r = s->own;
    const ns_side *ground = &r->contact.ground;
    const int samples = (int)ceil(log(far / smallest) / log(ratio));
    double *z = x + r->support + 2, F, above = NAN, last = NAN;
    for (int k = 0; k < 2 * samples; k++) {
        *z = k < samples ? far * pow(ratio, -k) : -far * pow(ratio, k + 1 - 2 * samples);
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

/* Where the vertical through the origin enters the ground from the body's side, coming from above;
 * stays at the origin if that lies on the ground, or if there is no such place. */
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
        search_grid(s, r->misfit, r->support, ground->n, true, t0, p, x);
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
