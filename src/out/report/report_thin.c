/* Which samples a report holds: so few that the page stays small, so many that what it draws
 * between them is right.
 *
 * The page interpolates (docs/report.md, "Motion between samples"): positions by cubic Hermite
 * splines, orientations in the same way in the rotation vector, series linearly.  The same is
 * done here at the samples left out, and compared with them: every second sample is never
 * written, so that there is always something to compare with.
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
static const double series_tolerance = 0.004;  /* of the range */

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
    double before, h, after, u;
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

static double point_error(const ns_track *track, const place *at, uint32_t k)
{
    double square = 0;
    for (uint32_t i = 0; i < track->width; i++) {
        const double *v = track->at + i;
        const size_t w = track->width;
        double pair[2];
        slopes(at, v[w * at->b] - v[w * at->a], v[w * at->c] - v[w * at->b],
               v[w * at->d] - v[w * at->c], pair);
        const double off = cubic(v[w * at->b], v[w * at->c], pair, at->h, at->u) - v[w * k];
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

static double angle_error(const ns_track *track, const place *at, uint32_t k)
{
    const double *q = track->at;
    double r[3], before[3], after[3], m[3], right[3], x1[3], x2[3], s[3];
    relative(q + 4 * (size_t)at->b, q + 4 * (size_t)at->c, r);
    relative(q + 4 * (size_t)at->a, q + 4 * (size_t)at->b, before);
    relative(q + 4 * (size_t)at->c, q + 4 * (size_t)at->d, after);
    for (int i = 0; i < 3; i++) {
        double pair[2];
        slopes(at, before[i], r[i], after[i], pair);
        m[i] = pair[0];
        right[i] = pair[1];
    }
    ns_vec_cross(r, right, x1);
    ns_vec_cross(r, x1, x2);
    for (int i = 0; i < 3; i++) {
        const double pair[2] = {m[i], right[i] + x1[i] / 2 + x2[i] / 12};
        s[i] = cubic(0, r[i], pair, at->h, at->u);
    }
    const double angle = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
    const double f = angle > 1e-12 ? ns_math_sin(angle / 2) / angle : 0.5;
    const double e[4] = {ns_math_cos(angle / 2), s[0] * f, s[1] * f, s[2] * f};
    const double *p = q + 4 * (size_t)at->b;
    double c[3], found[4], off[3];
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
    double size; /* of the picture */
    double *range;
    NS_LIST(const ns_track *) points;
    NS_LIST(const ns_track *) turns;
} thinner;

typedef struct errors {
    double position, angle, series; /* each relative to its tolerance 1 */
} errors;

static place find(const ns_report *r, const uint32_t *keep, size_t kept, size_t i, uint32_t k)
{
    place at = {.a = keep[i ? i - 1 : i], .b = keep[i], .c = keep[i + 1]};
    at.d = keep[i + 2 < kept ? i + 2 : i + 1];
    at.before = r->t[at.b] - r->t[at.a];
    at.h = r->t[at.c] - r->t[at.b];
    at.after = r->t[at.d] - r->t[at.c];
    at.u = (r->t[k] - r->t[at.b]) / at.h;
    return at;
}

static void widen(double *most, double value)
{
    if (!(value <= *most))
        *most = isnan(value) ? *most : value;
}

/* Errors at sample k between kept samples i and i + 1. */
static errors errors_at(const thinner *w, const uint32_t *keep, size_t kept, size_t i,
                        uint32_t k)
{
    const ns_report *r = w->r;
    const place at = find(r, keep, kept, i, k);
    errors e = {0};
    for (uint32_t c = 0; c < w->points.n; c++)
        widen(&e.position, point_error(w->points.at[c], &at, k) / w->size);
    for (uint32_t c = 0; c < w->turns.n; c++)
        widen(&e.angle, angle_error(w->turns.at[c], &at, k));
    for (uint32_t c = 0; c < r->series.n; c++) {
        const double *v = r->series.at[c].data;
        if (w->range[c] > 0)
            widen(&e.series, fabs(v[at.b] + at.u * (v[at.c] - v[at.b]) - v[k]) / w->range[c]);
    }
    return e;
}

/* Of the picture: how far the paths and bodies reach, or the body's size if it hardly moves. */
static double extent(const ns_track *track, size_t n)
{
    double square = 0;
    for (uint32_t i = 0; i < track->width; i++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t k = 0; k < n; k++) {
            low = ns_min(low, track->at[track->width * k + i]);
            high = ns_max(high, track->at[track->width * k + i]);
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
    w->range = NS_NEW_ARRAY(r->arena, double, r->series.n + 1);
    for (uint32_t c = 0; c < r->series.n; c++) {
        const ns_track track = {(double *)r->series.at[c].data, 1};
        const double range = extent(&track, r->n);
        double most = 0;
        for (size_t k = 0; k < r->n; k++)
            most = ns_max(most, fabs(track.at[k]));
        if (!r->series.at[c].noise && range > 1e-9 * most && isfinite(range))
            w->range[c] = range;
    }
}

/* Kept samples when block b has the spacing 2^level[b]. */
static size_t select_rows(const ns_report *r, const uint8_t *level, uint32_t *keep)
{
    size_t kept = 0;
    for (uint32_t k = 0; k + 1 < r->n; k++)
        if (k % (1U << level[k / BLOCK]) == 0)
            keep[kept++] = k;
    keep[kept++] = (uint32_t)(r->n - 1);
    return kept;
}

/* Largest errors in each block. */
static void measure(const thinner *w, const uint32_t *keep, size_t kept, errors *blocks)
{
    memset(blocks, 0, (w->r->n / BLOCK + 1) * sizeof *blocks);
    for (size_t i = 0; i + 1 < kept; i++)
        for (uint32_t k = keep[i] + 1; k < keep[i + 1]; k++) {
            const errors e = errors_at(w, keep, kept, i, k);
            errors *most = &blocks[k / BLOCK];
            widen(&most->position, e.position);
            widen(&most->angle, e.angle);
            widen(&most->series, e.series);
        }
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
    errors *table = NS_NEW_ARRAY(r->arena, errors, (LEVELS + 1) * blocks);
    uint8_t *level = NS_NEW_ARRAY(r->arena, uint8_t, blocks);
    for (unsigned l = 1; l <= LEVELS; l++) {
        memset(level, (int)l, blocks);
        const size_t kept = select_rows(r, level, r->keep);
        measure(&w, r->keep, kept, table + l * blocks);
    }
    for (double wide = 1;; wide *= 1.6) {
        for (size_t b = 0; b < blocks; b++) {
            level[b] = 1;
            for (unsigned l = 2; l <= LEVELS; l++) {
                const errors *e = &table[l * blocks + b];
                if (e->position > wide * position_tolerance ||
                    e->angle > wide * angle_tolerance || e->series > wide * series_tolerance)
                    break;
                level[b] = (uint8_t)l;
            }
        }
        for (size_t b = 1; b < blocks; b++) /* no sudden changes */
            level[b] = level[b] > level[b - 1] + 1 ? (uint8_t)(level[b - 1] + 1) : level[b];
        for (size_t b = blocks - 1; b-- > 0;)
            level[b] = level[b] > level[b + 1] + 1 ? (uint8_t)(level[b + 1] + 1) : level[b];
        r->kept = select_rows(r, level, r->keep);
        if (r->kept <= MOST_KEPT || wide > 1e6)
            break;
    }
    measure(&w, r->keep, r->kept, table);
    for (size_t b = 0; b < blocks; b++) {
        r->off_position = ns_max(r->off_position, table[b].position);
        r->off_angle = ns_max(r->off_angle, table[b].angle);
    }
}
