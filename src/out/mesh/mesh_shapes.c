#include "out/mesh/mesh_shapes.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "out/mesh/mesh_internal.h"

enum { ROUND = 40, ALONG = 20 };
static const double turn = 6.283185307179586;

typedef struct placed {
    ns_mesh_maker maker;
    double e[3][3], at[3]; /* columns: where x, y, z of the shape point; its place */
} placed;

static uint32_t vertex(placed *m, double x, double y, double z, double nx, double ny, double nz)
{
    double p[3], n[3];
    for (int i = 0; i < 3; i++) {
        p[i] = m->at[i] + m->e[i][0] * x + m->e[i][1] * y + m->e[i][2] * z;
        n[i] = m->e[i][0] * nx + m->e[i][1] * ny + m->e[i][2] * nz;
    }
    return ns_mesh_vertex(&m->maker, p, n);
}

static void quad(placed *m, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    ns_mesh_triangle(&m->maker, a, b, c);
    ns_mesh_triangle(&m->maker, a, c, d);
}

/* The shortest turn that brings z to the axis (as the page does). */
static void aim(double e[3][3], const double axis[3])
{
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double x = length > 0 ? axis[0] / length : 0, y = length > 0 ? axis[1] / length : 0,
           z = length > 0 ? axis[2] / length : 1;
    if (z < -1 + 1e-12) { /* opposite: half a turn about y */
        const double half[3][3] = {{-1, 0, 0}, {0, 1, 0}, {0, 0, -1}};
        memcpy(e, half, sizeof half);
        return;
    }
    const double k = 1 / (1 + z);
    const double m[3][3] = {
        {1 - x * x * k, -x * y * k, x}, {-x * y * k, 1 - y * y * k, y}, {-x, -y, z}};
    memcpy(e, m, sizeof m);
}

/* A profile in (r, z) turned about z, each segment with its own normal: from below upwards on
 * the outside. */
static void lathe(placed *m, const double (*profile)[2], size_t n)
{
    for (size_t k = 0; k + 1 < n; k++) {
        const double dr = profile[k + 1][0] - profile[k][0],
                     dz = profile[k + 1][1] - profile[k][1], length = ns_math_hypot(dr, dz);
        if (!(length > 0))
            continue;
        const uint32_t first = m->maker.positions.n / 3;
        for (unsigned i = 0; i <= ROUND; i++) {
            const double c = ns_math_cos(turn * i / ROUND), s = ns_math_sin(turn * i / ROUND);
            for (size_t j = k; j <= k + 1; j++)
                vertex(m, profile[j][0] * c, profile[j][0] * s, profile[j][1], dz / length * c,
                       dz / length * s, -dr / length);
        }
        for (uint32_t i = 0; i < ROUND; i++)
            quad(m, first + 2 * i, first + 2 * i + 2, first + 2 * i + 3, first + 2 * i + 1);
    }
}

static void cylinder(placed *m, double radius, double top, double low, double high)
{
    const double profile[][2] = {{0, low}, {radius, low}, {top, high}, {0, high}};
    lathe(m, profile, 4);
}

static void ellipsoid(placed *m, const double a[3])
{
    const uint32_t first = m->maker.positions.n / 3;
    for (uint32_t j = 0; j <= ALONG; j++)
        for (uint32_t i = 0; i <= ROUND; i++) {
            const double v = turn / 2 * j / ALONG, u = turn * i / ROUND;
            const double x = ns_math_sin(v) * ns_math_cos(u),
                         y = ns_math_sin(v) * ns_math_sin(u), z = -ns_math_cos(v);
            double n[3] = {x / a[0], y / a[1], z / a[2]};
            const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
            vertex(m, a[0] * x, a[1] * y, a[2] * z, n[0] / length, n[1] / length,
                   n[2] / length);
        }
    for (uint32_t j = 0; j < ALONG; j++)
        for (uint32_t i = 0; i < ROUND; i++) {
            const uint32_t at = first + j * (ROUND + 1) + i;
            if (j + 1 < ALONG)
                ns_mesh_triangle(&m->maker, at, at + ROUND + 2, at + ROUND + 1);
            if (j > 0)
                ns_mesh_triangle(&m->maker, at, at + 1, at + ROUND + 2);
        }
}

static void torus(placed *m, double radius, double tube)
{
    enum { AROUND = 16 };
    const uint32_t first = m->maker.positions.n / 3;
    for (uint32_t i = 0; i <= ROUND; i++)
        for (uint32_t j = 0; j <= AROUND; j++) {
            const double c = ns_math_cos(turn * i / ROUND), s = ns_math_sin(turn * i / ROUND);
            const double a = ns_math_cos(turn * j / AROUND), b = ns_math_sin(turn * j / AROUND);
            vertex(m, (radius + tube * a) * c, (radius + tube * a) * s, tube * b, a * c, a * s,
                   b);
        }
    for (uint32_t i = 0; i < ROUND; i++)
        for (uint32_t j = 0; j < AROUND; j++) {
            const uint32_t at = first + i * (AROUND + 1) + j;
            quad(m, at, at + AROUND + 1, at + AROUND + 2, at + 1);
        }
}

/* A rod from p to q, in the shape's frame. */
static void rod(placed *m, const double p[3], const double q[3], double radius)
{
    placed inner = *m;
    double d[3], e[3][3], length = 0;
    for (int i = 0; i < 3; i++) {
        d[i] = q[i] - p[i];
        length += d[i] * d[i];
    }
    aim(e, d);
    for (int i = 0; i < 3; i++) {
        inner.at[i] = m->at[i];
        for (int k = 0; k < 3; k++) {
            inner.at[i] += m->e[i][k] * p[k];
            inner.e[i][k] = 0;
            for (int j = 0; j < 3; j++)
                inner.e[i][k] += m->e[i][j] * e[j][k];
        }
    }
    cylinder(&inner, radius, radius, 0, sqrt(length));
    m->maker = inner.maker;
}

static void wheel(placed *m, double radius, double tube, uint32_t spokes)
{
    const double hub = ns_max(2 * tube, 0.08 * radius), thin = 0.2 * tube;
    torus(m, radius - tube, tube);
    cylinder(m, hub / 2, hub / 2, -1.5 * tube, 1.5 * tube);
    for (uint32_t i = 0; i < spokes; i++) {
        const double u = turn * i / spokes, from[3] = {0, 0, 0},
                     to[3] = {(radius - tube) * ns_math_cos(u),
                              (radius - tube) * ns_math_sin(u), 0};
        rod(m, from, to, ns_max(thin, 0.006 * radius));
    }
    /* the valve shows the rotation */
    const double valve[3] = {0.8 * radius, 0, 0}, rim[3] = {radius - tube, 0, 0};
    rod(m, valve, rim, 3 * ns_max(thin, 0.006 * radius));
}

/* ---- things with corners ----------------------------------------------------------------- */

static void face(placed *m, const double p[4][3])
{
    double a[3], b[3], n[3], length = 0;
    for (int i = 0; i < 3; i++) {
        a[i] = p[1][i] - p[0][i];
        b[i] = p[2][i] - p[0][i];
    }
    for (int i = 0; i < 3; i++) {
        n[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
        length += n[i] * n[i];
    }
    length = sqrt(length);
    if (!(length > 0))
        return;
    uint32_t v[4];
    for (int k = 0; k < 4; k++)
        v[k] = vertex(m, p[k][0], p[k][1], p[k][2], n[0] / length, n[1] / length,
                      n[2] / length);
    quad(m, v[0], v[1], v[2], v[3]);
}

static double area(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Cuts ears off a polygon (counter-clockwise) and gives each triangle to both flat faces. */
static void ears(placed *m, const double (*p)[2], size_t n, const uint32_t *low,
                 const uint32_t *high)
{
    uint32_t *left = NS_NEW_ARRAY(m->maker.arena, uint32_t, n);
    size_t count = n, i = 0, idle = 0;
    for (size_t k = 0; k < n; k++)
        left[k] = (uint32_t)k;
    while (count > 2 && idle <= count) {
        const uint32_t a = left[(i + count - 1) % count], b = left[i % count],
                       c = left[(i + 1) % count];
        bool ear = area(p[a], p[b], p[c]) > 0;
        for (size_t k = 0; ear && k < count; k++) {
            const uint32_t q = left[k];
            if (q != a && q != b && q != c)
                ear = !(area(p[a], p[b], p[q]) >= 0 && area(p[b], p[c], p[q]) >= 0 &&
                        area(p[c], p[a], p[q]) >= 0);
        }
        if (!ear && count > 3) {
            i = (i + 1) % count;
            idle++;
            continue;
        }
        ns_mesh_triangle(&m->maker, high[a], high[b], high[c]);
        ns_mesh_triangle(&m->maker, low[a], low[c], low[b]);
        memmove(left + i % count, left + i % count + 1, (count - i % count - 1) * sizeof *left);
        count--;
        i = i % count;
        idle = 0;
    }
}

static void plate(placed *m, double (*p)[2], size_t n, double thickness)
{
    double sum = 0, h = thickness / 2;
    for (size_t k = 0; k < n; k++)
        sum += p[k][0] * p[(k + 1) % n][1] - p[k][1] * p[(k + 1) % n][0];
    for (size_t k = 0; sum < 0 && k < n / 2; k++)
        for (int i = 0; i < 2; i++) {
            const double swap = p[k][i];
            p[k][i] = p[n - 1 - k][i];
            p[n - 1 - k][i] = swap;
        }
    uint32_t *low = NS_NEW_ARRAY(m->maker.arena, uint32_t, n),
                                 *high = NS_NEW_ARRAY(m->maker.arena, uint32_t, n);
    for (size_t k = 0; k < n; k++) {
        low[k] = vertex(m, p[k][0], p[k][1], -h, 0, 0, -1);
        high[k] = vertex(m, p[k][0], p[k][1], h, 0, 0, 1);
    }
    ears(m, (const double(*)[2])p, n, low, high);
    for (size_t k = 0; k < n; k++) {
        const double *a = p[k], *b = p[(k + 1) % n];
        const double side[4][3] = {
            {a[0], a[1], -h}, {b[0], b[1], -h}, {b[0], b[1], h}, {a[0], a[1], h}};
        face(m, side);
    }
}

static void box(placed *m, const double size[3])
{
    double x = size[0] / 2, y = size[1] / 2;
    double outline[4][2] = {{-x, -y}, {x, -y}, {x, y}, {-x, y}};
    plate(m, outline, 4, size[2]);
}

/* ---- shapes ------------------------------------------------------------------------------ */

static void numbers(const ns_model *model, const ns_ex *f, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        if (f[i])
            ns_system_eval(model->system, &f[i], 1, 0, model->p, NULL, &out[i]);
}

static void blade(placed *m, double length, double width, double height)
{
    double a = length / 2, b = width / 2;
    double outline[6][2] = {{-a, 0}, {-0.6 * a, -b}, {0.6 * a, -b},
                            {a, 0},  {0.6 * a, b},   {-0.6 * a, b}};
    plate(m, outline, 6, height);
}

bool ns_mesh_shape(ns_arena *arena, const ns_model *model, const ns_scene_shape *shape,
                   double scene, ns_mesh *out)
{
    placed m = {.maker = {.arena = arena}, .e = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    double size[3] = {0, 0, 0}, end[3] = {0, 0, 0}, axis[3] = {0, 0, 1};
    numbers(model, shape->size, 3, size);
    numbers(model, shape->at.at, 3, m.at);
    numbers(model, shape->end.at, 3, end);
    if (shape->turned) {
        numbers(model, shape->axis.at, 3, axis);
        aim(m.e, axis);
    }
    switch (shape->kind) {
    case NS_SHAPE_SPHERE:
        size[0] = size[0] > 0 ? size[0] : scene / 20;
        ellipsoid(&m, (const double[3]){size[0], size[0], size[0]});
        break;
    case NS_SHAPE_ELLIPSOID:
        if (size[0] > 0 && size[1] > 0 && size[2] > 0)
            ellipsoid(&m, size);
        break;
    case NS_SHAPE_TORUS:
        torus(&m, size[0], size[1] > 0 ? size[1] : size[0] / 12);
        break;
    case NS_SHAPE_CYLINDER:
        cylinder(&m, size[0], shape->size[2] ? size[2] : size[0], -size[1] / 2, size[1] / 2);
        break;
    case NS_SHAPE_DISK:
        size[1] = size[1] > 0 ? size[1] : size[0] / 12;
        cylinder(&m, size[0], size[0], -size[1] / 2, size[1] / 2);
        break;
    case NS_SHAPE_WHEEL:
        wheel(&m, size[0], size[1] > 0 ? size[1] : size[0] / 20,
              shape->spokes ? shape->spokes : 8);
        break;
    case NS_SHAPE_BOX:
        box(&m, size);
        break;
    case NS_SHAPE_ROD: {
        double from[3];
        memcpy(from, m.at, sizeof from);
        memset(m.at, 0, sizeof m.at);
        rod(&m, from, end, size[0] > 0 ? size[0] : scene / 100);
        break;
    }
    case NS_SHAPE_PLATE: {
        double(*outline)[2] = ns_arena_alloc(arena, shape->outlines * sizeof *outline);
        for (uint32_t k = 0; k < shape->outlines; k++)
            numbers(model, shape->outline[k].at, 2, outline[k]);
        plate(&m, outline, shape->outlines, size[0] > 0 ? size[0] : scene / 50);
        break;
    }
    case NS_SHAPE_BLADE:
        size[0] = size[0] > 0 ? size[0] : scene / 6;
        blade(&m, size[0], size[1] > 0 ? size[1] : size[0] / 10,
              size[2] > 0 ? size[2] : size[0] / 8);
        break;
    }
    ns_mesh_finish(&m.maker, out);
    ns_mesh_orient(out, false);
    return out->triangles > 0;
}

void ns_mesh_rod(ns_arena *arena, ns_mesh *out)
{
    placed m = {.maker = {.arena = arena}, .e = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    cylinder(&m, 1, 1, 0, 1);
    ns_mesh_finish(&m.maker, out);
}

void ns_mesh_ball(ns_arena *arena, double radius, ns_mesh *out)
{
    placed m = {.maker = {.arena = arena}, .e = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    ellipsoid(&m, (const double[3]){radius, radius, radius});
    ns_mesh_finish(&m.maker, out);
}

void ns_mesh_coil(ns_arena *arena, double radius, double wire, ns_mesh *out)
{
    enum { COILS = 10, PER = 16, N = COILS * PER + 5 };
    double points[N][3];
    for (int i = 0; i < N; i++) {
        const double s = i < 2 ? 0 : i > N - 3 ? 1 : (i - 2.0) / (N - 5);
        const bool straight = i < 2 || i > N - 3;
        const double u = turn * COILS * s;
        points[i][0] = straight ? 0 : radius * ns_math_cos(u);
        points[i][1] = straight ? 0 : radius * ns_math_sin(u);
        points[i][2] = i == 0 ? 0 : i == N - 1 ? 1 : 0.1 + 0.8 * s;
    }
    ns_mesh_tube(arena, &points[0][0], N, false, wire, out);
}
