/* Which samples a report holds: so few that the page stays small, so many that what it draws
 * between them is right.
 *
 * The page interpolates (docs/report.md, "Motion between samples"): positions by cubic Hermite
 * splines and so do series, orientations in the same way in the rotation vector.  The same is
 * done here at the samples left out, and compared with them: every second sample is never
 * written, so that there is always something to compare with.  Both sides of a jump are.
 *
 * In blocks of samples the spacing is 2, 4, ... times that of the motion, as large as the
 * errors allow; if that gives too many, the tolerance is widened. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "out/mesh/vec.h"
#include "out/report/report_internal.h"

enum {
    MOST_KEPT = 5000,
    BLOCK = 128, /* samples */
    LEVELS = 7   /* spacings 2^1 ... 2^7 */
};

static const double position_tolerance = 4e-4; /* of the picture */
static const double angle_tolerance = 4e-3;    /* radians */
static const double series_tolerance = 0.002;  /* of the range */

/* ---- the rules of the page --------------------------------------------------------------- */

static double slope(double left, double h_left, double right, double h_right)
{
    return (left / h_left * h_right + right / h_right * h_left) / (h_left + h_right);
}

static double end_slope(double d0, double h0, double d1, double h1)
{
    const double s0 = d0 / h0;
    return h1 > 0 ? s0 + (s0 - d1 / h1) * h0 / (h0 + h1) : s0;
}

/* Four neighbouring samples a, b, c, d; the time lies between b and c.  before, after: lengths
 * of the outer intervals, 0 if there are none. */
typedef struct place {
    uint32_t a, b, c, d;
    double before, h, after;
} place;

/* Slopes at b and c from differences of the three intervals. */
static void slopes(const place *at, double before, double d, double after, double out[2])
{
    out[0] = at->before > 0 ? slope(before, at->before, d, at->h)
                            : end_slope(d, at->h, after, at->after);
    out[1] = at->after > 0 ? slope(d, at->h, after, at->after)
                           : end_slope(d, at->h, before, at->before);
}

static double cubic(double a, double b, const double slope_of[2], double h, double u)
{
    const double v = 1 - u;
    return a * v * v * (1 + 2 * u) + b * u * u * (3 - 2 * u) +
           h * u * v * (slope_of[0] * v - slope_of[1] * u);
}

enum { WIDEST = 4 }; /* numbers of a track's sample */

/* A track between b and c: what its samples there have in common. */
typedef struct span {
    double slope[WIDEST][2];
    double turn[3]; /* rotations: the vector from b to c */
} span;

static span point_span(const ns_track *track, const place *at)
{
    span out = {0};
    for (uint32_t i = 0; i < track->width; i++) {
        const double *v = track->at + i;
        const size_t w = track->width;
        slopes(at, v[w * at->b] - v[w * at->a], v[w * at->c] - v[w * at->b],
               v[w * at->d] - v[w * at->c], out.slope[i]);
    }
    return out;
}

static double point_error(const ns_track *track, const place *at, const span *in, double u,
                          uint32_t k)
{
    double square = 0;
    for (uint32_t i = 0; i < track->width; i++) {
        const double *v = track->at + i;
        const size_t w = track->width;
        const double off = cubic(v[w * at->b], v[w * at->c], in->slope[i], at->h, u) - v[w * k];
        square += off * off;
    }
    return sqrt(square);
}

/* Rotation vector of p^-1 q. */
static void relative(const double p[4], const double q[4], double out[3])
{
    double w = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3], v[3], c[3];
    ns_vec_cross(p + 1, q + 1, c);
    for (int i = 0; i < 3; i++)
        v[i] = p[0] * q[1 + i] - q[0] * p[1 + i] - c[i];
    if (w < 0) {
        w = -w;
        for (int i = 0; i < 3; i++)
            v[i] = -v[i];
    }
    const double s = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double factor = s > 1e-12 ? 2 * ns_math_atan2(s, w) / s : 2;
    for (int i = 0; i < 3; i++)
        out[i] = v[i] * factor;
}

static span turn_span(const ns_track *track, const place *at)
{
    const double *q = track->at;
    span out = {0};
    double *r = out.turn, before[3], after[3], right[3], x1[3], x2[3];
    relative(q + 4 * (size_t)at->b, q + 4 * (size_t)at->c, r);
    relative(q + 4 * (size_t)at->a, q + 4 * (size_t)at->b, before);
    relative(q + 4 * (size_t)at->c, q + 4 * (size_t)at->d, after);
    for (int i = 0; i < 3; i++) {
        slopes(at, before[i], r[i], after[i], out.slope[i]);
        right[i] = out.slope[i][1];
    }
    ns_vec_cross(r, right, x1);
    ns_vec_cross(r, x1, x2);
    for (int i = 0; i < 3; i++)
        out.slope[i][1] = right[i] + x1[i] / 2 + x2[i] / 12;
    return out;
}

static double turn_error(const ns_track *track, const place *at, const span *in, double u,
                         uint32_t k)
{
    const double *q = track->at, *p = q + 4 * (size_t)at->b;
    double s[3], c[3], found[4], off[3];
    for (int i = 0; i < 3; i++)
        s[i] = cubic(0, in->turn[i], in->slope[i], at->h, u);
    const double angle = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
    const double f = angle > 1e-12 ? ns_math_sin(angle / 2) / angle : 0.5;
    const double e[4] = {ns_math_cos(angle / 2), s[0] * f, s[1] * f, s[2] * f};
    ns_vec_cross(p + 1, e + 1, c);
    found[0] = p[0] * e[0] - p[1] * e[1] - p[2] * e[2] - p[3] * e[3];
    for (int i = 0; i < 3; i++)
        found[1 + i] = p[0] * e[1 + i] + e[0] * p[1 + i] + c[i];
    relative(found, q + 4 * (size_t)k, off);
    return sqrt(off[0] * off[0] + off[1] * off[1] + off[2] * off[2]);
}

/* ---- choosing ---------------------------------------------------------------------------- */

typedef struct thinner {
    ns_report *r;
    double size;  /* of the picture */
    size_t jumps; /* samples that come at the time of the one before */
    double *range;
    NS_LIST(const ns_track *) points;
    NS_LIST(const ns_track *) turns;
} thinner;

typedef struct errors {
    double position, angle, series; /* each relative to its tolerance 1 */
} errors;

static place find(const ns_report *r, const uint32_t *keep, size_t kept, size_t i)
{
    place at = {.a = keep[i ? i - 1 : i], .b = keep[i], .c = keep[i + 1]};
    at.d = keep[i + 2 < kept ? i + 2 : i + 1];
    at.before = r->t[at.b] - r->t[at.a];
    at.h = r->t[at.c] - r->t[at.b];
    at.after = r->t[at.d] - r->t[at.c];
    return at;
}

static void widen(double *most, double value)
{
    if (!(value <= *most))
        *most = isnan(value) ? *most : value;
}

/* Widens *most by the errors at the samples between kept samples i and i + 1, which are all of
 * one block. */
static void look_between(const thinner *w, const uint32_t *keep, size_t kept, size_t i,
                         errors *most)
{
    const ns_report *r = w->r;
    const place at = find(r, keep, kept, i);
    for (uint32_t c = 0; c < w->points.n; c++) {
        const span in = point_span(w->points.at[c], &at);
        for (uint32_t k = at.b + 1; k < at.c; k++)
            widen(&most->position,
                  point_error(w->points.at[c], &at, &in, (r->t[k] - r->t[at.b]) / at.h, k) /
                      w->size);
    }
    for (uint32_t c = 0; c < w->turns.n; c++) {
        const span in = turn_span(w->turns.at[c], &at);
        for (uint32_t k = at.b + 1; k < at.c; k++)
            widen(&most->angle,
                  turn_error(w->turns.at[c], &at, &in, (r->t[k] - r->t[at.b]) / at.h, k));
    }
    for (uint32_t c = 0; c < r->series.n; c++) {
        const ns_track track = {(double *)r->series.at[c].data, 1};
        if (!(w->range[c] > 0))
            continue;
        const span in = point_span(&track, &at);
        for (uint32_t k = at.b + 1; k < at.c; k++)
            widen(&most->series,
                  point_error(&track, &at, &in, (r->t[k] - r->t[at.b]) / at.h, k) /
                      w->range[c]);
    }
}

/* Of the picture: how far the paths and bodies reach, or the body's size if it hardly moves. */
static double extent(const ns_track *track, size_t n)
{
    double square = 0;
    for (uint32_t i = 0; i < track->width; i++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t k = 0; k < n; k++) {
            const double v = track->at[track->width * k + i];
            low = v < low ? v : low; /* gaps do not count */
            high = v > high ? v : high;
        }
        square += (high - low) * (high - low);
    }
    return sqrt(square);
}

static void gather(thinner *w)
{
    ns_report *r = w->r;
    const ns_frames *f = r->frames;
    const ns_scene *scene = f->scene;
    for (uint32_t i = 0; i < scene->bodies.n; i++) {
        if (f->bodies[i].position.at)
            NS_PUSH(r->arena, w->points, &f->bodies[i].position);
        if (f->bodies[i].quat.at)
            NS_PUSH(r->arena, w->turns, &f->bodies[i].quat);
    }
    for (uint32_t i = 0; i < scene->paths.n; i++)
        if (f->paths[i].at)
            NS_PUSH(r->arena, w->points, &f->paths[i]);
    for (uint32_t i = 0; i < scene->links.n; i++) {
        if (f->links[i].a.at)
            NS_PUSH(r->arena, w->points, &f->links[i].a);
        if (f->links[i].b.at)
            NS_PUSH(r->arena, w->points, &f->links[i].b);
    }
    for (uint32_t i = 0; i < scene->points.n; i++)
        if (f->points[i].at)
            NS_PUSH(r->arena, w->points, &f->points[i]);
    for (uint32_t c = 0; c < w->points.n; c++)
        w->size = ns_max(w->size, extent(w->points.at[c], r->n));
    if (!(w->size > 0) || isinf(w->size))
        w->size = 1;
    for (size_t k = 1; k < r->n; k++)
        w->jumps += r->t[k] == r->t[k - 1];
    w->range = NS_NEW_ARRAY(r->arena, double, r->series.n + 1);
    for (uint32_t c = 0; c < r->series.n; c++) {
        const ns_track track = {(double *)r->series.at[c].data, 1};
        const double range = extent(&track, r->n);
        double most = 0;
        for (size_t k = 0; k < r->n; k++)
            most = fabs(track.at[k]) > most ? fabs(track.at[k]) : most;
        if (!r->series.at[c].noise && range > 1e-9 * most && isfinite(range))
            w->range[c] = range;
    }
}

/* Is sample k one side of a jump? */
static bool beside_jump(const ns_report *r, uint32_t k)
{
    return (k > 0 && r->t[k] == r->t[k - 1]) || (k + 1 < r->n && r->t[k] == r->t[k + 1]);
}

/* Kept samples when block b has the spacing 2^level[b]. */
static size_t select_rows(const ns_report *r, const uint8_t *level, uint32_t *keep)
{
    size_t kept = 0;
    for (uint32_t k = 0; k + 1 < r->n; k++)
        if (k % (1U << level[k / BLOCK]) == 0 || beside_jump(r, k))
            keep[kept++] = k;
    keep[kept++] = (uint32_t)(r->n - 1);
    return kept;
}

/* Errors of block b at the spacing 2^l, measured when they are asked for. */
typedef struct table {
    const thinner *w;
    size_t blocks;
    uint32_t *keep[LEVELS + 1]; /* all samples at that spacing; NULL until needed */
    size_t kept[LEVELS + 1];
    bool *known;
    errors *at; /* [LEVELS + 1][blocks] */
} table;

static const errors *errors_of(table *t, unsigned l, size_t b)
{
    const ns_report *r = t->w->r;
    errors *most = &t->at[l * t->blocks + b];
    if (t->known[l * t->blocks + b])
        return most;
    t->known[l * t->blocks + b] = true;
    if (!t->keep[l]) {
        uint8_t *level = NS_NEW_ARRAY(r->arena, uint8_t, t->blocks);
        memset(level, (int)l, t->blocks);
        t->keep[l] = NS_NEW_ARRAY(r->arena, uint32_t, (r->n >> l) + 3 + 2 * t->w->jumps);
        t->kept[l] = select_rows(r, level, t->keep[l]);
    }
    const uint32_t *keep = t->keep[l];
    size_t first = 0;
    for (size_t end = t->kept[l]; first < end;) {
        const size_t middle = first + (end - first) / 2;
        if (keep[middle] < b * BLOCK)
            first = middle + 1;
        else
            end = middle;
    }
    for (size_t i = first; i + 1 < t->kept[l] && keep[i] < (b + 1) * BLOCK; i++)
        look_between(t->w, keep, t->kept[l], i, most);
    return most;
}

/* The largest spacing that block b bears. */
static uint8_t level_of(table *t, size_t b, double wide)
{
    unsigned l = 1;
    while (l < LEVELS) {
        const errors *e = errors_of(t, l + 1, b);
        if (e->position > wide * position_tolerance || e->angle > wide * angle_tolerance ||
            e->series > wide * series_tolerance)
            break;
        l++;
    }
    return (uint8_t)l;
}

void ns_report_thin(ns_report *r)
{
    r->keep = NS_NEW_ARRAY(r->arena, uint32_t, r->n + 1);
    if (r->n < 3) {
        for (uint32_t k = 0; k < r->n; k++)
            r->keep[r->kept++] = k;
        return;
    }
    thinner w = {.r = r};
    gather(&w);
    const size_t blocks = r->n / BLOCK + 1;
    table t = {
        .w = &w,
        .blocks = blocks,
        .known = NS_NEW_ARRAY(r->arena, bool, (LEVELS + 1) * blocks),
                              .at = NS_NEW_ARRAY(r->arena, errors, (LEVELS + 1) * blocks)};
    uint8_t *level = NS_NEW_ARRAY(r->arena, uint8_t, blocks);
    for (double wide = 1;; wide *= 1.6) {
        for (size_t b = 0; b < blocks; b++)
            level[b] = level_of(&t, b, wide);
        for (size_t b = 1; b < blocks; b++) /* no sudden changes */
            level[b] = level[b] > level[b - 1] + 1 ? (uint8_t)(level[b - 1] + 1) : level[b];
        for (size_t b = blocks - 1; b-- > 0;)
            level[b] = level[b] > level[b + 1] + 1 ? (uint8_t)(level[b + 1] + 1) : level[b];
        r->kept = select_rows(r, level, r->keep);
        if (r->kept <= MOST_KEPT || wide > 1e6)
            break;
    }
    errors most = {0};
    for (size_t i = 0; i + 1 < r->kept; i++)
        look_between(&w, r->keep, r->kept, i, &most);
    r->off_position = most.position;
    r->off_angle = most.angle;
}
