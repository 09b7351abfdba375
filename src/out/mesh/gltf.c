#include "out/mesh/gltf.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/math/vecmath.h"
#include "out/formats.h"
#include "out/mesh/gltf_internal.h"
#include "out/mesh/mesh_internal.h"
#include "out/mesh/mesh_shapes.h"
#include "session/motion.h"

enum { MOST_FRAMES = 12000, MOST_POINTS = 5000, CURVE = 301 };

typedef struct stage {
    ns_gltf *f;
    ns_arena *arena;
    const ns_model *model;
    const ns_scene *scene;
    ns_frames *frames;
    uint32_t *keep; /* [kept] frames with increasing times */
    uint32_t kept;
    double size; /* of the picture */
    int *bodies; /* node of each body, -1 if it is not drawn */
} stage;

/* ---- time -------------------------------------------------------------------------------- */

/* Times as floats increase strictly; with too many, some are left out evenly. */
static void choose_times(stage *s)
{
    const size_t n = s->frames->n, stride = n / MOST_FRAMES + 1;
    float *t = NS_NEW_ARRAY(s->arena, float, n + 1);
    s->keep = NS_NEW_ARRAY(s->arena, uint32_t, n + 1);
    for (size_t k = 0; k < n; k++) {
        const float at = (float)(s->frames->t[k] - s->frames->t[0]);
        const bool last = k + 1 == n;
        if ((k % stride && !last) || (s->kept && !(at > t[s->kept - 1])))
            continue;
        t[s->kept] = at;
        s->keep[s->kept++] = (uint32_t)k;
    }
    s->f->times = -1;
    if (s->kept > 1)
        s->f->times = (int)ns_gltf_floats(s->f, t, s->kept, 1, true, 0);
}

/* The kept rows of a track; what is not finite keeps its last value. */
static float *rows(const stage *s, const ns_track *track)
{
    const uint32_t w = track->width;
    float *v = NS_NEW_ARRAY(s->arena, float, (size_t)s->kept * w + 1);
    for (uint32_t k = 0; k < s->kept; k++)
        for (uint32_t i = 0; i < w; i++) {
            const double x = track->at[(size_t)s->keep[k] * w + i];
            v[k * w + i] = isfinite(x) ? (float)x : k ? v[(k - 1) * w + i] : 0;
        }
    return v;
}

static bool is_still(const float *v, uint32_t n, uint32_t width)
{
    for (uint32_t i = width; i < n * width; i++)
        if (v[i] != v[i % width])
            return false;
    return true;
}

static void move(const stage *s, uint32_t node, const ns_track *position)
{
    if (!position->at || !s->kept)
        return;
    const float *v = rows(s, position);
    for (int i = 0; i < 3; i++)
        s->f->nodes.at[node].translation[i] = (double)v[i];
    if (s->f->times >= 0 && !is_still(v, s->kept, 3))
        ns_gltf_animate(s->f, node, NS_GLTF_TRANSLATION, v, s->kept);
}

/* Quaternions (w, x, y, z) of length 1 that never jump to the opposite sign; then (x, y, z,
 * w). */
static void turn_by(const stage *s, uint32_t node, const double *quat)
{
    float *v = NS_NEW_ARRAY(s->arena, float, 4 * (size_t)s->kept + 1);
    double before[4] = {1, 0, 0, 0};
    for (uint32_t k = 0; k < s->kept; k++) {
        double q[4], length = 0, along = 0;
        for (int i = 0; i < 4; i++) {
            q[i] = quat[4 * (size_t)k + (size_t)i];
            length += q[i] * q[i];
        }
        length = sqrt(length);
        for (int i = 0; i < 4; i++) {
            q[i] = length > 0 && isfinite(length) ? q[i] / length : before[i];
            along += q[i] * before[i];
        }
        for (int i = 0; i < 4; i++)
            before[i] = along < 0 ? -q[i] : q[i];
        for (int i = 0; i < 4; i++)
            v[4 * k + (uint32_t)i] = (float)before[(i + 1) % 4];
    }
    if (!s->kept)
        return;
    for (int i = 0; i < 4; i++)
        s->f->nodes.at[node].rotation[i] = (double)v[i];
    if (s->f->times >= 0 && !is_still(v, s->kept, 4))
        ns_gltf_animate(s->f, node, NS_GLTF_ROTATION, v, s->kept);
}

static void turn(const stage *s, uint32_t node, const ns_track *quat)
{
    if (!quat->at)
        return;
    double *q = NS_NEW_ARRAY(s->arena, double, 4 * (size_t)s->kept + 1);
    for (uint32_t k = 0; k < s->kept; k++)
        memcpy(q + 4 * (size_t)k, quat->at + 4 * (size_t)s->keep[k], 4 * sizeof *q);
    turn_by(s, node, q);
}

/* ---- size -------------------------------------------------------------------------------- */

static void stretch(const ns_track *track, size_t n, double low[3], double high[3])
{
    for (size_t k = 0; track->at && k < 3 * n; k++)
        if (isfinite(track->at[k])) {
            low[k % 3] = ns_min(low[k % 3], track->at[k]);
            high[k % 3] = ns_max(high[k % 3], track->at[k]);
        }
}

static double size_of(const stage *s)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const size_t n = s->frames->n ? 1
                                  : 0; /* at the start: a long way does not make things large */
    for (uint32_t i = 0; i < s->scene->bodies.n; i++)
        stretch(&s->frames->bodies[i].position, n, low, high);
    for (uint32_t i = 0; i < s->scene->links.n; i++) {
        stretch(&s->frames->links[i].a, n, low, high);
        stretch(&s->frames->links[i].b, n, low, high);
    }
    for (uint32_t i = 0; i < s->scene->points.n; i++)
        stretch(&s->frames->points[i], n, low, high);
    double size = ns_max(high[0] - low[0], ns_max(high[1] - low[1], high[2] - low[2]));
    if (size > 0)
        return size;
    for (uint32_t i = 0; i < s->scene->paths.n; i++)
        stretch(&s->frames->paths[i], s->frames->n, low, high);
    size = ns_max(high[0] - low[0], ns_max(high[1] - low[1], high[2] - low[2]));
    return size > 0 && isfinite(size) ? size : 1;
}

/* ---- bodies ------------------------------------------------------------------------------ */

static const char *const palette[] = {"blue", "vermilion", "green", "purple", "orange", "sky"};

static const char *body_colour(const ns_scene_body *body, uint32_t i)
{
    return body->colour ? body->colour : palette[i % 6];
}

static char pattern_of(const ns_scene_shape *shape)
{
    static const char usual[] = {
        [NS_SHAPE_SPHERE] = 'o',   [NS_SHAPE_ELLIPSOID] = 'o', [NS_SHAPE_TORUS] = 's',
        [NS_SHAPE_CYLINDER] = 's', [NS_SHAPE_DISK] = 's',      [NS_SHAPE_WHEEL] = 0,
        [NS_SHAPE_BOX] = 0,        [NS_SHAPE_ROD] = 0,         [NS_SHAPE_PLATE] = 0,
        [NS_SHAPE_BLADE] = 0};
    const char *p = shape->pattern;
    if (!p)
        return usual[shape->kind];
    return (char)(strcmp(p, "octants") == 0 ? 'o' : strcmp(p, "sectors") == 0 ? 's' : 0);
}

static void add_body(stage *s, uint32_t i)
{
    const ns_scene_body *body = &s->scene->bodies.at[i];
    ns_mesh mesh;
    int index = -1;
    if (ns_mesh_scene_body(s->arena, s->model, s->frames, i, &mesh) && mesh.triangles) {
        const char *colour = body_colour(body, i);
        const bool round = body->drawing.kind >= NS_DRAW_CURVE;
        index = (int)ns_gltf_mesh_new(s->f, body->name);
        ns_gltf_triangles(
            s->f, (uint32_t)index, &mesh, ns_gltf_colour(s->f, colour, colour, 0, 1, false),
            (int)ns_gltf_colour(s->f, colour, colour, 0.65, 1, false), round ? 's' : 'o');
    }
    for (uint32_t k = 0; k < body->shapes.n; k++) {
        const ns_scene_shape *shape = &body->shapes.at[k];
        const char *colour = shape->colour ? shape->colour : body_colour(body, i);
        const char pattern = pattern_of(shape);
        if (!ns_mesh_shape(s->arena, s->model, shape, s->size, &mesh))
            continue;
        if (index < 0)
            index = (int)ns_gltf_mesh_new(s->f, body->name);
        ns_gltf_triangles(
            s->f, (uint32_t)index, &mesh,
            ns_gltf_colour(s->f, colour, colour, 0, shape->opacity, false),
            pattern ? (int)ns_gltf_colour(s->f, colour, colour, 0.65, shape->opacity, false)
                    : -1,
            pattern);
    }
    bool carries = false;
    for (uint32_t k = 0; k < s->scene->paths.n; k++)
        carries = carries || s->scene->paths.at[k].body == (int)i;
    s->bodies[i] = -1;
    if (index < 0 && !carries)
        return;
    const uint32_t node = ns_gltf_node_new(s->f, body->name, index, -1);
    s->bodies[i] = (int)node;
    move(s, node, &s->frames->bodies[i].position);
    turn(s, node, &s->frames->bodies[i].quat);
}

/* ---- links and points -------------------------------------------------------------------- */

/* The shortest turn from u to v, both of length 1. */
static void between(const double u[3], const double v[3], double q[4])
{
    double w = 1, length = 0;
    for (int i = 0; i < 3; i++) {
        w += u[i] * v[i];
        q[i + 1] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
    }
    q[0] = w;
    if (w < 1e-9) { /* opposite: about anything across */
        const bool x = fabs(u[0]) < 0.9;
        q[0] = 0;
        q[1] = x ? 0 : -u[2];
        q[2] = x ? u[2] : 0;
        q[3] = x ? -u[1] : u[0];
    }
    for (int i = 0; i < 4; i++)
        length += q[i] * q[i];
    for (int i = 0; i < 4; i++)
        q[i] /= sqrt(length);
}

static void multiply(const double a[4], const double b[4], double out[4])
{
    const double q[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                         a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                         a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                         a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(out, q, sizeof q);
}

static double parameter(const stage *s, ns_ex e, double fallback)
{
    double value = 0;
    if (!e)
        return fallback;
    ns_system_eval(s->model->system, &e, 1, 0, s->model->p, NULL, &value);
    return value > 0 ? value : fallback;
}

/* A thing along z from 0 to 1, put between two moving points: it turns as little as it can. */
static void span(stage *s, uint32_t node, const ns_track *a, const ns_track *b, double radius)
{
    float *scale = NS_NEW_ARRAY(s->arena, float, 3 * (size_t)s->kept + 1);
    double *quat = NS_NEW_ARRAY(s->arena, double, 4 * (size_t)s->kept + 1);
    double before[3] = {0, 0, 1}, q[4] = {1, 0, 0, 0};
    for (uint32_t k = 0; k < s->kept; k++) {
        double d[3], length = 0, step[4];
        for (size_t i = 0; i < 3; i++) {
            d[i] = b->at[3 * (size_t)s->keep[k] + i] - a->at[3 * (size_t)s->keep[k] + i];
            length += d[i] * d[i];
        }
        length = sqrt(length);
        scale[3 * k] = scale[3 * k + 1] = (float)radius;
        scale[3 * k + 2] = isfinite(length) ? (float)ns_max(length, 1e-9) : 1;
        if (length > 0 && isfinite(length)) {
            for (int i = 0; i < 3; i++)
                d[i] /= length;
            between(before, d, step);
            multiply(step, q, q);
            memcpy(before, d, sizeof d);
        }
        memcpy(quat + 4 * (size_t)k, q, sizeof q);
    }
    move(s, node, a);
    turn_by(s, node, quat);
    for (int i = 0; i < 3 && s->kept; i++)
        s->f->nodes.at[node].scale[i] = (double)scale[i];
    if (s->f->times >= 0 && !is_still(scale, s->kept, 3))
        ns_gltf_animate(s->f, node, NS_GLTF_SCALE, scale, s->kept);
}

static void add_links(stage *s)
{
    for (uint32_t i = 0; i < s->scene->links.n; i++) {
        const ns_scene_link *link = &s->scene->links.at[i];
        if (!s->frames->links[i].a.at || !s->frames->links[i].b.at || !s->kept)
            continue;
        static const char *const kinds[] = {"rod", "spring", "line"};
        const char *name = link->name ? link->name : kinds[link->kind];
        const double usual = link->kind == NS_LINK_LINE ? s->size / 600 : s->size / 100;
        ns_mesh mesh;
        if (link->kind == NS_LINK_SPRING)
            ns_mesh_coil(s->arena, 3, 0.6, &mesh);
        else
            ns_mesh_rod(s->arena, &mesh);
        const uint32_t index = ns_gltf_mesh_new(s->f, name);
        ns_gltf_triangles(s->f, index, &mesh,
                          ns_gltf_colour(s->f, link->colour, "grey", 0, 1, false), -1, 0);
        span(s, ns_gltf_node_new(s->f, name, (int)index, -1), &s->frames->links[i].a,
             &s->frames->links[i].b, parameter(s, link->radius, usual));
    }
}

static void add_ball(stage *s, const char *name, const char *colour, double radius,
                     const ns_track *at)
{
    ns_mesh mesh;
    ns_mesh_ball(s->arena, radius, &mesh);
    const uint32_t index = ns_gltf_mesh_new(s->f, name);
    ns_gltf_triangles(s->f, index, &mesh, ns_gltf_colour(s->f, colour, "black", 0, 1, false),
                      -1, 0);
    move(s, ns_gltf_node_new(s->f, name, (int)index, -1), at);
}

/* ---- lines ------------------------------------------------------------------------------- */

static void add_line(stage *s, const char *name, const char *colour, const double *v, size_t n,
                     int parent)
{
    const size_t stride = n / MOST_POINTS + 1;
    float *points = NS_NEW_ARRAY(s->arena, float, 3 * (n / stride + 2));
    uint32_t count = 0;
    for (size_t k = 0; k < n; k++) {
        const double *p = v + 3 * k;
        if ((k % stride && k + 1 != n) || !isfinite(p[0] + p[1] + p[2]))
            continue;
        for (int i = 0; i < 3; i++)
            points[3 * count + (uint32_t)i] = (float)p[i];
        count++;
    }
    if (count < 2)
        return;
    const uint32_t index = ns_gltf_mesh_new(s->f, name);
    ns_gltf_line(s->f, index, points, count,
                 ns_gltf_colour(s->f, colour, "vermilion", 0, 1, true));
    ns_gltf_node_new(s->f, name, (int)index, parent);
}

static void add_paths(stage *s)
{
    for (uint32_t i = 0; i < s->scene->paths.n; i++) {
        const ns_scene_path *path = &s->scene->paths.at[i];
        const int parent = path->body < 0 ? -1 : s->bodies[path->body];
        if (s->frames->paths[i].at && (path->body < 0 || parent >= 0))
            add_line(s, path->name,
                     path->colour                ? path->colour
                     : path->role == NS_PATH_COM ? "grey"
                                                 : NULL,
                     s->frames->paths[i].at, s->frames->n, parent);
    }
    for (uint32_t i = 0; i < s->scene->curves.n; i++) {
        const ns_scene_curve *curve = &s->scene->curves.at[i];
        const double *points = ns_mesh_scene_curve(s->arena, s->model, curve, CURVE);
        if (curve->kind == NS_CURVE_LINE) {
            add_line(s, curve->name, curve->colour ? curve->colour : "black", points, CURVE,
                     -1);
            continue;
        }
        ns_mesh mesh;
        ns_mesh_tube(s->arena, points, CURVE, false, parameter(s, curve->radius, s->size / 150),
                     &mesh);
        const uint32_t index = ns_gltf_mesh_new(s->f, curve->name);
        ns_gltf_triangles(s->f, index, &mesh,
                          ns_gltf_colour(s->f, curve->colour, "grey", 0, 1, false), -1, 0);
        ns_gltf_node_new(s->f, curve->name, (int)index, -1);
    }
}

/* ---- the ground -------------------------------------------------------------------------- */

static void add_ground(stage *s)
{
    const ns_frames *fr = s->frames;
    double *path = NULL;
    double toward[3] = {0, 0, 1};
    if (s->scene->ground.kind == NS_DRAW_NONE || !s->kept)
        return;
    for (uint32_t i = 0; i < s->scene->paths.n && !path; i++)
        if (s->scene->paths.at[i].body < 0 && fr->paths[i].at &&
            s->scene->paths.at[i].role == NS_PATH_CONTACT)
            path = ns_frames_on_ground(fr, i, s->arena);
    for (uint32_t i = 0; i < s->scene->paths.n && !path; i++)
        if (s->scene->paths.at[i].body < 0 && fr->paths[i].at)
            path = ns_frames_on_ground(fr, i, s->arena);
    if (!path && s->scene->bodies.n)
        path = fr->bodies[0].position.at;
    if (!path)
        return;
    ns_mesh_fit fit = {.path = path, .n = fr->n, .size = s->size};
    if (fr->ground_u[0].at && fr->ground_u[1].at) {
        fit.u[0] = fr->ground_u[0].at;
        fit.u[1] = fr->ground_u[1].at;
    }
    for (uint32_t i = 0; i < s->scene->bodies.n; i++)
        if (fr->bodies[i].position.at) {
            memcpy(toward, fr->bodies[i].position.at, sizeof toward);
            fit.toward = toward;
            break;
        }
    ns_mesh mesh;
    if (!ns_mesh_ground(s->arena, s->model, &s->scene->ground, &fit, &mesh) || !mesh.triangles)
        return;
    const uint32_t index = ns_gltf_mesh_new(s->f, "ground");
    ns_gltf_triangles(s->f, index, &mesh, ns_gltf_colour(s->f, "#d9d4c7", "grey", 0, 1, true),
                      -1, 0);
    const uint32_t node = ns_gltf_node_new(s->f, "ground", (int)index, -1);
    move(s, node, &fr->ground_origin);
    turn(s, node, &fr->ground_quat);
}

/* ---- the picture in a Lie algebra -------------------------------------------------------- */

static void add_algebra(stage *s)
{
    const ns_scene_algebra *a = &s->scene->algebra;
    double low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
    if (!a->drawn || !s->frames->algebra.at)
        return;
    stretch(&s->frames->algebra, s->frames->n, low, high);
    const double size = ns_max(high[0] - low[0], ns_max(high[1] - low[1], high[2] - low[2]));
    add_line(s, a->name, NULL, s->frames->algebra.at, s->frames->n, -1);
    add_ball(s, a->name, "vermilion", ns_max(size, 1e-9) / 40, &s->frames->algebra);
    for (uint32_t i = 0; i < a->levels.n; i++) {
        const ns_scene_level *level = &a->levels.at[i];
        double v[4] = {0};
        const ns_ex e[4] = {level->at.at[0], level->at.at[1], level->at.at[2], level->size};
        ns_system_eval(s->model->system, e, 4, s->frames->t[0], s->model->p, s->model->x0, v);
        if (level->kind != NS_LEVEL_SPHERE && level->kind != NS_LEVEL_ELLIPSOID)
            continue;
        ns_mesh mesh;
        ns_mesh_ball(s->arena, 1, &mesh);
        const uint32_t index = ns_gltf_mesh_new(s->f, level->name);
        ns_gltf_triangles(
            s->f, index, &mesh,
            ns_gltf_colour(s->f, level->colour, i ? "orange" : "sky", 0, 0.3, true), -1, 0);
        const uint32_t node = ns_gltf_node_new(s->f, level->name, (int)index, -1);
        for (int k = 0; k < 3; k++)
            s->f->nodes.at[node].scale[k] = level->kind == NS_LEVEL_SPHERE ? v[3] : v[k];
    }
}

/* ---- the whole --------------------------------------------------------------------------- */

/* The bytes of the file, in the arena; NULL if the model has no picture. */
static const unsigned char *make_file(const ns_record *record, ns_arena *arena, size_t *length)
{
    ns_gltf file = {.arena = arena, .bytes = ns_text_new(arena)};
    stage s = {.f = &file,
               .arena = arena,
               .model = record->model,
               .scene = &record->model->system->scene};
    if (!ns_scene_is_drawn(s.scene))
        return NULL;
    s.frames = ns_frames_new(&record->motion, s.model, arena);
    s.size = size_of(&s);
    s.bodies = NS_NEW_ARRAY(arena, int, s.scene->bodies.n + 1);
    choose_times(&s);
    for (uint32_t i = 0; i < s.scene->bodies.n; i++)
        add_body(&s, i);
    add_links(&s);
    for (uint32_t i = 0; i < s.scene->points.n; i++)
        if (s.frames->points[i].at)
            add_ball(&s, s.scene->points.at[i].name ? s.scene->points.at[i].name : "point",
                     s.scene->points.at[i].colour, s.size / 60, &s.frames->points[i]);
    add_paths(&s);
    add_ground(&s);
    add_algebra(&s);
    return ns_gltf_finish(&file, s.model->system->description->title, length);
}

/* Two arenas may run out, this one and the model's; *bytes stays as it is then. */
static void make(const ns_record *r, ns_arena *arena, const unsigned char **bytes,
                 size_t *length)
{
    pthread_mutex_lock(&r->model->lock);
    if (!NS_ARENA_GUARD(r->model->arena) && !NS_ARENA_GUARD(arena))
        *bytes = make_file(r, arena, length);
    ns_arena_unguard(arena);
    ns_arena_unguard(r->model->arena);
    pthread_mutex_unlock(&r->model->lock);
}

/* Once, at the end: a picture of half a motion is of no use. */
static bool write_gltf(ns_output *o, const ns_record *r)
{
    if (r->running || !r->outcome)
        return true;
    ns_arena *arena = ns_arena_new();
    const unsigned char *bytes = NULL;
    size_t length = 0;
    if (!arena)
        return ns_output_error(o, ENOMEM, NULL);
    make(r, arena, &bytes, &length);
    int error = bytes ? ns_file_put(o->descriptor, bytes, length) : ENOMEM;
    ns_arena_free(arena);
    if (!error)
        error = ns_file_target_publish(&o->target);
    return error ? ns_output_error(o, error, NULL) : true;
}

const ns_output_format ns_output_gltf = {
    .extension = "glb",
    .summary = "the moving scene as binary glTF 2.0, for Blender and other viewers",
    .needs_motion = true,
    .needs_scene = true,
    .write = write_gltf,
};
