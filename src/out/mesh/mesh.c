#include "out/mesh/mesh.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "out/mesh/mesh_internal.h"
#include "out/mesh/vec.h"

static const double turn = 6.283185307179586;

enum {
    ROUND = 96,       /* segments of a circle */
    CURVE = 400,      /* of a curve */
    LEAST_CELLS = 16, /* of a patch along one side, ... */
    MOST_CELLS = 144  /* ... as many as its curvature needs */
};

static void constants(const ns_model *model, const ns_ex *f, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = 0;
        if (f[i])
            ns_system_eval(model->system, &f[i], 1, 0, model->p, model->x0, &out[i]);
    }
}

/* ---- small vectors ----------------------------------------------------------------------- */

static bool normalise(double a[3])
{
    const double length = sqrt(ns_vec_dot(a, a));
    if (!(length > 0) || isinf(length))
        return false;
    for (int i = 0; i < 3; i++)
        a[i] /= length;
    return true;
}

/* ---- making ------------------------------------------------------------------------------ */

static void quad(ns_mesh_maker *m, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    ns_mesh_triangle(m, a, b, c);
    ns_mesh_triangle(m, a, c, d);
}

/* ---- patches of charts and graphs -------------------------------------------------------- */

/* y(u, v) with the derivatives by both. */
static ns_field chart_field(ns_arena *arena, const ns_model *model, const ns_drawing *d)
{
    ns_graph *g = model->system->graph;
    const ns_ex *u = d->kind == NS_DRAW_GRAPH ? d->x : d->u;
    ns_ex f[9];
    for (int i = 0; i < 3; i++)
        f[i] = d->kind == NS_DRAW_GRAPH ? (i < 2 ? d->x[i] : d->F) : d->point.at[i];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            f[3 + 3 * k + i] = ns_diff(g, f[i], u[k]);
    return ns_field_new(arena, model, u, 2, f, 9);
}

/* Largest distance of cell centres from the mean of their corners. */
static double roughness(ns_arena *arena, const ns_field *field, const double range[4],
                        const unsigned cells[2])
{
    const size_t nu = 2 * (size_t)cells[0] + 1, nv = 2 * (size_t)cells[1] + 1;
    double *in = NS_NEW_ARRAY(arena, double, 2 * nu * nv);
    double *out = NS_NEW_ARRAY(arena, double, 9 * nu * nv);
    for (size_t j = 0; j < nv; j++)
        for (size_t i = 0; i < nu; i++) {
            in[2 * (j * nu + i)] = range[0] +
                                   (range[1] - range[0]) * (double)i / (double)(nu - 1);
            in[2 * (j * nu + i) + 1] = range[2] +
                                       (range[3] - range[2]) * (double)j / (double)(nv - 1);
        }
    ns_field_eval(field, in, nu * nv, out);
    double most = 0;
    for (size_t j = 1; j < nv; j += 2)
        for (size_t i = 1; i < nu; i += 2) {
            double square = 0;
            for (size_t c = 0; c < 3; c++) {
                double mean = 0;
                for (size_t k = 0; k < 4; k++)
                    mean += out[9 * ((j - 1 + k / 2 * 2) * nu + i - 1 + k % 2 * 2) + c] / 4;
                square += ns_math_pow(mean - out[9 * (j * nu + i) + c], 2);
            }
            if (square > most)
                most = square;
        }
    return sqrt(most);
}

/* Where the derivatives do not span a plane (poles), the normal is that of points close by. */
static void chart_normal(const ns_field *field, const double uv[2], const double range[4],
                         const double *value, double normal[3])
{
    ns_vec_cross(value + 3, value + 6, normal);
    const double scale = sqrt(ns_vec_dot(value + 3, value + 3) *
                              ns_vec_dot(value + 6, value + 6));
    if (sqrt(ns_vec_dot(normal, normal)) > 1e-6 * scale && normalise(normal))
        return;
    double sum[3] = {0, 0, 0};
    for (int k = 0; k < 8; k++) {
        double at[2], near[9], n[3];
        for (int i = 0; i < 2; i++) {
            const double middle = (range[2 * i] + range[2 * i + 1]) / 2;
            at[i] = uv[i] + 0.002 * (middle - uv[i]);
        }
        at[0] += (range[1] - range[0]) * k / 8; /* all round a pole of v */
        if (at[0] > range[1])
            at[0] -= range[1] - range[0];
        ns_field_eval(field, at, 1, near);
        ns_vec_cross(near + 3, near + 6, n);
        if (normalise(n))
            for (int i = 0; i < 3; i++)
                sum[i] += n[i];
    }
    memcpy(normal, sum, sizeof sum);
    if (!normalise(normal))
        normal[2] = 1;
}

static void patch(ns_mesh_maker *m, const ns_field *field, const double range[4],
                  const unsigned cells[2])
{
    const size_t nu = cells[0] + 1U, nv = cells[1] + 1U;
    double *in = NS_NEW_ARRAY(m->arena, double, 2 * nu * nv);
    double *out = NS_NEW_ARRAY(m->arena, double, 9 * nu * nv);
    for (size_t j = 0; j < nv; j++)
        for (size_t i = 0; i < nu; i++) {
            in[2 * (j * nu + i)] = range[0] + (range[1] - range[0]) * (double)i / cells[0];
            in[2 * (j * nu + i) + 1] = range[2] + (range[3] - range[2]) * (double)j / cells[1];
        }
    ns_field_eval(field, in, nu * nv, out);
    const uint32_t first = m->positions.n / 3;
    bool *good = NS_NEW_ARRAY(m->arena, bool, nu * nv);
    for (size_t k = 0; k < nu * nv; k++) {
        double normal[3];
        chart_normal(field, in + 2 * k, range, out + 9 * k, normal);
        good[k] = isfinite(out[9 * k] + out[9 * k + 1] + out[9 * k + 2]);
        static const double nowhere[3] = {0, 0, 0};
        ns_mesh_vertex(m, good[k] ? out + 9 * k : nowhere, normal);
    }
    for (size_t j = 0; j < cells[1]; j++)
        for (size_t i = 0; i < cells[0]; i++) {
            const size_t a = j * nu + i;
            if (good[a] && good[a + 1] && good[a + nu] && good[a + nu + 1])
                quad(m, first + (uint32_t)a, first + (uint32_t)a + 1,
                     first + (uint32_t)(a + nu) + 1, first + (uint32_t)(a + nu));
        }
}

/* Cells until the surface is met to a small part of `size`. */
static void choose_cells(ns_arena *arena, const ns_field *field, const double range[4],
                         double size, unsigned cells[2])
{
    ns_arena *scratch = ns_arena_child(arena);
    double lengths[2], in[4] = {range[0], range[2], range[1], range[3]}, value[18];
    ns_field_eval(field, in, 2, value);
    for (int i = 0; i < 2; i++)
        lengths[i] = (range[2 * i + 1] - range[2 * i]) *
                     sqrt(ns_max(ns_vec_dot(value + 3 + 3 * i, value + 3 + 3 * i),
                                 ns_vec_dot(value + 12 + 3 * i, value + 12 + 3 * i)));
    const double ratio = lengths[0] > 0 && lengths[1] > 0
                             ? ns_min(4, ns_max(0.25, lengths[0] / lengths[1]))
                             : 1;
    for (double n = LEAST_CELLS;; n *= 1.4) {
        cells[0] = (unsigned)ns_min(MOST_CELLS, ceil(n * ns_max(1, ratio)));
        cells[1] = (unsigned)ns_min(MOST_CELLS, ceil(n * ns_max(1, 1 / ratio)));
        const ns_arena_place mark = ns_arena_mark(scratch);
        const double off = roughness(scratch, field, range, cells);
        ns_arena_release(scratch, mark);
        if (off < 0.004 * size || n > MOST_CELLS)
            return;
    }
}

static bool same_point(const ns_field *field, double u, double v, double u1, double v1)
{
    const double in[4] = {u, v, u1, v1};
    double out[18], size = 0, off = 0;
    ns_field_eval(field, in, 2, out);
    for (int i = 0; i < 3; i++) {
        size += fabs(out[i]);
        off += fabs(out[i] - out[9 + i]);
    }
    return off <= 1e-9 * size;
}

/* Is (u, v) -> (a u + b, c v + d) a symmetry of the chart? */
static bool repeats(const ns_field *field, double a, double b, double c, double d)
{
    static const double at[][2] = {{0.31, 0.72}, {1.17, 0.43}, {-0.64, 1.01}, {2.05, -0.38}};
    for (size_t k = 0; k < 4; k++)
        if (!same_point(field, at[k][0], at[k][1], a * at[k][0] + b, c * at[k][1] + d))
            return false;
    return true;
}

/* The part of a chart's (u, v) to draw: whole turns where it is periodic (half of one where
 * that already covers the surface, as latitudes do), otherwise as far as the motion goes. */
static bool chart_range(const ns_field *field, const ns_mesh_fit *fit, double margin,
                        double range[4])
{
    bool whole[2] = {repeats(field, 1, turn, 1, 0), repeats(field, 1, 0, 1, turn)};
    for (int i = 0; i < 2; i++) {
        double low = INFINITY, high = -INFINITY, steep = 0;
        for (size_t k = 0; fit->u[i] && k < fit->n; k++) {
            low = ns_min(low, fit->u[i][k]);
            high = ns_max(high, fit->u[i][k]);
        }
        if (!(low <= high))
            low = high = 0;
        const double middle[2] = {fit->u[0] && fit->n ? fit->u[0][0] : 0,
                                  fit->u[1] && fit->n ? fit->u[1][0] : 0};
        double value[9];
        ns_field_eval(field, middle, 1, value);
        steep = sqrt(ns_vec_dot(value + 3 + 3 * i, value + 3 + 3 * i));
        const double more = steep > 0 ? margin / steep : 1;
        range[2 * i] = whole[i] ? 0 : low - more;
        range[2 * i + 1] = whole[i] ? turn : high + more;
    }
    if (whole[0] && whole[1]) {
        if (repeats(field, 1, turn / 2, -1, turn / 2)) { /* latitude */
            range[2] = -turn / 4;
            range[3] = turn / 4;
        } else if (repeats(field, 1, turn / 2, -1, 0)) { /* colatitude */
            range[3] = turn / 2;
        } else if (repeats(field, -1, turn / 2, 1, turn / 2)) {
            range[0] = -turn / 4;
            range[1] = turn / 4;
        } else if (repeats(field, -1, 0, 1, turn / 2)) {
            range[1] = turn / 2;
        }
    }
    return whole[0] && whole[1];
}

static double margin_of(const ns_mesh_fit *fit)
{
    double low[3], high[3], extent = 0;
    ns_mesh_box(fit, low, high);
    for (int i = 0; i < 3; i++)
        extent = ns_max(extent, high[i] - low[i]);
    return ns_max(1.6 * fit->size, 0.12 * extent);
}

static bool chart(ns_mesh_maker *m, const ns_model *model, const ns_drawing *d,
                  const ns_mesh_fit *fit, bool body)
{
    const ns_field field = chart_field(m->arena, model, d);
    double range[4], margin = margin_of(fit);
    if (!(margin > 0))
        margin = 1;
    bool closed = true;
    if (d->kind == NS_DRAW_GRAPH) {
        double low[3], high[3];
        ns_mesh_box(fit, low, high);
        ns_mesh_broaden(low, high, margin);
        for (int i = 0; i < 2; i++) {
            range[2 * i] = low[i];
            range[2 * i + 1] = high[i];
        }
        closed = false;
    } else if (d->ranged) {
        memcpy(range, d->range, sizeof range);
    } else {
        closed = chart_range(&field, fit, margin, range);
    }
    unsigned cells[2] = {ROUND, ROUND / 2};
    if (!closed || !body)
        choose_cells(m->arena, &field, range, body ? margin : ns_max(fit->size, 1e-3 * margin),
                     cells);
    patch(m, &field, range, cells);
    return m->indices.n > 0;
}

/* ---- turned and flat things -------------------------------------------------------------- */

/* A profile in (r, z), from the lower end of the axis to the upper one, turned about z; each
 * segment has its own normal. */
static void lathe(ns_mesh_maker *m, const double (*profile)[2], size_t n)
{
    for (size_t k = 0; k + 1 < n; k++) {
        const double dr = profile[k + 1][0] - profile[k][0],
                     dz = profile[k + 1][1] - profile[k][1];
        const double length = ns_math_hypot(dr, dz);
        if (!(length > 0))
            continue;
        const uint32_t first = m->positions.n / 3;
        for (unsigned i = 0; i <= ROUND; i++) {
            const double c = ns_math_cos(turn * i / ROUND), s = ns_math_sin(turn * i / ROUND);
            const double normal[3] = {dz / length * c, dz / length * s, -dr / length};
            for (size_t j = k; j <= k + 1; j++)
                ns_mesh_vertex(
                    m, (const double[3]){profile[j][0] * c, profile[j][0] * s, profile[j][1]},
                    normal);
        }
        for (unsigned i = 0; i < ROUND; i++)
            quad(m, first + 2 * i, first + 2 * i + 2, first + 2 * i + 3, first + 2 * i + 1);
    }
}

static void ring(ns_mesh_maker *m, double radius, double z, double tube)
{
    enum { AROUND = 16 };
    const uint32_t first = m->positions.n / 3;
    for (unsigned i = 0; i <= ROUND; i++)
        for (unsigned j = 0; j <= AROUND; j++) {
            const double c = ns_math_cos(turn * i / ROUND), s = ns_math_sin(turn * i / ROUND);
            const double a = ns_math_cos(turn * j / AROUND), b = ns_math_sin(turn * j / AROUND);
            const double rho = radius + tube * a;
            ns_mesh_vertex(m, (const double[3]){rho * c, rho * s, z + tube * b},
                           (const double[3]){a * c, a * s, b});
        }
    for (unsigned i = 0; i < ROUND; i++)
        for (unsigned j = 0; j < AROUND; j++) {
            const uint32_t at = first + i * (AROUND + 1) + j;
            quad(m, at, at + AROUND + 1, at + AROUND + 2, at + 1);
        }
}

static void turned(ns_mesh_maker *m, const ns_drawing *d, double r, double z)
{
    if (d->kind == NS_DRAW_HOOP) {
        ring(m, r * 0.975, z, r * 0.025);
    } else if (d->kind == NS_DRAW_DISK) {
        /* thin, with a sharp edge: the circle that touches */
        const double half = 0.006 * r;
        const double profile[][2] = {
            {0, z - half}, {0.94 * r, z - half}, {r, z}, {0.94 * r, z + half}, {0, z + half}};
        lathe(m, profile, 5);
    } else if (d->kind == NS_DRAW_CYLINDER) {
        const double h = ns_max(z, 0.01 * r);
        const double profile[][2] = {{0, -h / 2}, {r, -h / 2}, {r, h / 2}, {0, h / 2}};
        lathe(m, profile, 4);
    } else {
        const double profile[][2] = {{0, 0}, {r, 0}, {0, z}};
        lathe(m, profile, 3);
    }
}

/* ---- curves ------------------------------------------------------------------------------ */

double *ns_mesh_curve(ns_arena *arena, const ns_model *model, const ns_drawing *d,
                      const ns_mesh_fit *fit, size_t *n, bool *closed)
{
    ns_graph *g = model->system->graph;
    ns_ex f[9] = {0};
    for (int i = 0; i < 3; i++) {
        f[i] = d->point.at[i];
        f[3 + i] = ns_diff(g, f[i], d->u[0]);
        f[6 + i] = ns_zero(g);
    }
    const ns_field field = ns_field_new(arena, model, d->u, 2, f, 9);
    double range[4];
    chart_range(&field, fit, margin_of(fit), range);
    *closed = repeats(&field, 1, turn, 1, 0);
    *n = CURVE + (*closed ? 0 : 1);
    double *in = NS_NEW_ARRAY(arena, double, 2 * *n),
                              *out = NS_NEW_ARRAY(arena, double, 9 * *n);
    double *points = NS_NEW_ARRAY(arena, double, 3 * *n);
    for (size_t k = 0; k < *n; k++)
        in[2 * k] = range[0] + (range[1] - range[0]) * (double)k / CURVE;
    ns_field_eval(&field, in, *n, out);
    for (size_t k = 0; k < *n; k++)
        memcpy(points + 3 * k, out + 9 * k, 3 * sizeof(double));
    return points;
}

static void tube(ns_mesh_maker *m, const double *points, size_t n, bool closed, double radius)
{
    enum { AROUND = 12 };
    const uint32_t first = m->positions.n / 3;
    const size_t rings = closed ? n + 1 : n;
    double side[3] = {0, 0, 0};
    for (size_t k = 0; k < rings; k++) {
        const size_t at = k % n;
        const size_t before = at ? at - 1 : closed ? n - 1 : 0;
        const size_t after = at + 1 < n ? at + 1 : closed ? 0 : n - 1;
        double along[3], up[3];
        for (size_t i = 0; i < 3; i++)
            along[i] = points[3 * after + i] - points[3 * before + i];
        normalise(along);
        if (k == 0) { /* any direction across */
            const double x[3] = {1, 0, 0}, z[3] = {0, 0, 1};
            ns_vec_cross(along, fabs(along[2]) < 0.9 ? z : x, side);
        }
        const double part = ns_vec_dot(side, along); /* carried along without turning */
        for (int i = 0; i < 3; i++)
            side[i] -= part * along[i];
        normalise(side);
        ns_vec_cross(along, side, up);
        for (unsigned j = 0; j < AROUND; j++) {
            const double c = ns_math_cos(turn * j / AROUND), s = ns_math_sin(turn * j / AROUND);
            double normal[3], position[3];
            for (int i = 0; i < 3; i++) {
                normal[i] = c * side[i] + s * up[i];
                position[i] = points[3 * at + (size_t)i] + radius * normal[i];
            }
            ns_mesh_vertex(m, position, normal);
        }
    }
    for (size_t k = 0; k + 1 < rings; k++)
        for (unsigned j = 0; j < AROUND; j++) {
            const uint32_t a = first + (uint32_t)k * AROUND, next = (j + 1) % AROUND;
            quad(m, a + j, a + next, a + AROUND + next, a + AROUND + j);
        }
}

void ns_mesh_tube(ns_arena *arena, const double *points, size_t n, bool closed, double radius,
                  ns_mesh *out)
{
    ns_mesh_maker m = {.arena = arena};
    tube(&m, points, n, closed, radius);
    ns_mesh_finish(&m, out);
    ns_mesh_orient(out, false);
}

/* A body that is an edge: the edge, and a skin from its middle to it. */
static void edge(ns_mesh_maker *m, const double *points, size_t n, bool closed)
{
    double middle[3] = {0, 0, 0}, size = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < 3; i++)
            middle[i] += points[3 * k + i] / (double)n;
    for (size_t k = 0; k < n; k++) {
        double square = 0;
        for (size_t i = 0; i < 3; i++)
            square += ns_math_pow(points[3 * k + i] - middle[i], 2);
        size = ns_max(size, sqrt(square));
    }
    tube(m, points, n, closed, 0.012 * size);
    if (!closed)
        return;
    for (int face_of = -1; face_of <= 1; face_of += 2)
        for (size_t k = 0; k < n; k++) {
            double corner[3][3], a[3], b[3], normal[3];
            for (size_t i = 0; i < 3; i++) {
                corner[0][i] = middle[i];
                corner[1][i] = points[3 * k + i];
                corner[2][i] = points[3 * ((k + 1) % n) + i];
                a[i] = corner[1][i] - corner[0][i];
                b[i] = corner[2][i] - corner[0][i];
            }
            ns_vec_cross(a, b, normal);
            if (!normalise(normal))
                continue;
            uint32_t at[3];
            for (int j = 0; j < 3; j++) {
                double out[3];
                for (int i = 0; i < 3; i++) {
                    corner[j][i] += 0.004 * size * face_of * normal[i];
                    out[i] = face_of * normal[i];
                }
                at[j] = ns_mesh_vertex(m, corner[j], out);
            }
            ns_mesh_triangle(m, at[0], at[1], at[2]);
        }
}

/* ---- planes ------------------------------------------------------------------------------ */

void ns_mesh_plane(const ns_model *model, const ns_drawing *d, double point[3],
                   double normal[3], double along[3])
{
    double base[2][3];
    constants(model, d->point.at, 3, point);
    constants(model, d->base[0].at, 3, base[0]);
    constants(model, d->base[1].at, 3, base[1]);
    ns_vec_cross(base[0], base[1], normal);
    normalise(normal);
    memcpy(along, base[0], sizeof base[0]);
    normalise(along);
}

static void plane(ns_mesh_maker *m, const ns_model *model, const ns_drawing *d,
                  const ns_mesh_fit *fit)
{
    double point[3], normal[3], base[2][3];
    ns_mesh_plane(model, d, point, normal, base[0]);
    ns_vec_cross(normal, base[0], base[1]);
    const double margin = ns_max(margin_of(fit), 1e-6);
    double range[4] = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (size_t k = 0; k < fit->n; k++)
        for (int i = 0; i < 2; i++) {
            double from[3];
            for (size_t c = 0; c < 3; c++)
                from[c] = fit->path[3 * k + c] - point[c];
            range[2 * i] = ns_min(range[2 * i], ns_vec_dot(from, base[i]) - margin);
            range[2 * i + 1] = ns_max(range[2 * i + 1], ns_vec_dot(from, base[i]) + margin);
        }
    if (!fit->n)
        range[0] = range[2] = -(range[1] = range[3] = margin);
    uint32_t at[4];
    for (int k = 0; k < 4; k++) {
        double position[3];
        for (int i = 0; i < 3; i++)
            position[i] = point[i] + range[k % 2] * base[0][i] + range[2 + k / 2] * base[1][i];
        at[k] = ns_mesh_vertex(m, position, normal);
    }
    quad(m, at[0], at[1], at[3], at[2]);
}

/* ---- all kinds --------------------------------------------------------------------------- */

static bool make(ns_mesh_maker *m, const ns_model *model, const ns_drawing *d,
                 const ns_mesh_fit *fit, bool body)
{
    double size[2];
    size_t n;
    bool closed;
    switch (d->kind) {
    case NS_DRAW_CHART:
    case NS_DRAW_GRAPH:
        return chart(m, model, d, fit, body);
    case NS_DRAW_PLANE:
        plane(m, model, d, fit);
        return true;
    case NS_DRAW_DISK:
    case NS_DRAW_HOOP:
    case NS_DRAW_CYLINDER:
    case NS_DRAW_CONE:
        constants(model, d->size, 2, size);
        turned(m, d, size[0], size[1]);
        return true;
    case NS_DRAW_CURVE: {
        const double *points = ns_mesh_curve(m->arena, model, d, fit, &n, &closed);
        if (body)
            edge(m, points, n, closed);
        else
            tube(m, points, n, closed, 0.04 * fit->size);
        return true;
    }
    case NS_DRAW_NONE:
    case NS_DRAW_IMPLICIT:
        break;
    }
    return false;
}

bool ns_mesh_body(ns_arena *arena, const ns_model *model, const ns_drawing *d,
                  const ns_mesh_fit *fit, ns_mesh *out)
{
    *out = (ns_mesh){0};
    if (d->kind == NS_DRAW_IMPLICIT)
        return ns_mesh_implicit_body(arena, model, d, fit, out);
    ns_mesh_maker m = {.arena = arena};
    if (!make(&m, model, d, fit, true))
        return false;
    ns_mesh_finish(&m, out);
    if (d->kind == NS_DRAW_CHART)
        ns_mesh_face_out(out);
    else
        ns_mesh_orient(out, false);
    return out->triangles > 0;
}

bool ns_mesh_ground(ns_arena *arena, const ns_model *model, const ns_drawing *d,
                    const ns_mesh_fit *fit, ns_mesh *out)
{
    *out = (ns_mesh){0};
    if (d->kind == NS_DRAW_IMPLICIT) {
        if (!ns_mesh_implicit_ground(arena, model, d, fit, out))
            return false;
    } else {
        ns_mesh_maker m = {.arena = arena};
        if (!make(&m, model, d, fit, false))
            return false;
        ns_mesh_finish(&m, out);
    }
    if (d->kind == NS_DRAW_CURVE)
        ns_mesh_orient(out, false);
    else
        ns_mesh_face(out, fit);
    return out->triangles > 0;
}
