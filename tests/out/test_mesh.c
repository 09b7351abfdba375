/* Motions, frames and meshes: the pictures are where the mechanics says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/mesh/mesh.h"
#include "session/record.h"
#include "support/gallery.h"
#include "support/motion.h"

typedef struct bench {
    ns_model *model;
    ns_record *record;
    ns_arena *arena;
    ns_frames *frames;
} bench;

static bench ready(ns_model *model, double until)
{
    bench b = {.model = model, .record = motion_record(model, until), .arena = ns_arena_new()};
    b.frames = ns_frames_new(&b.record->motion, model, b.arena);
    return b;
}

static bench run_text(const char *text, double until)
{
    return ready(ns_model_load_text("test.mech", text, strlen(text), NULL, 0, NS_MODEL_READY),
                 until);
}

static void done(bench *b)
{
    ns_record_free(b->record);
    ns_model_free(b->model);
    ns_arena_free(b->arena);
}

/* ---- distance of a point from a mesh ----------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Least distance to the points of a triangle, by its barycentric regions. */
static double to_triangle(const double p[3], double t[3][3])
{
    double least = INFINITY, e[2][3], d[3];
    for (int i = 0; i < 3; i++) {
        e[0][i] = t[1][i] - t[0][i];
        e[1][i] = t[2][i] - t[0][i];
        d[i] = p[i] - t[0][i];
    }
    const double a = dot(e[0], e[0]), b = dot(e[0], e[1]), c = dot(e[1], e[1]);
    const double f = dot(e[0], d), g = dot(e[1], d), det = a * c - b * b;
    const double u = (c * f - b * g) / det, v = (a * g - b * f) / det;
    if (det > 0 && u >= 0 && v >= 0 && u + v <= 1) {
        double square = 0;
        for (int i = 0; i < 3; i++)
            square += pow(d[i] - u * e[0][i] - v * e[1][i], 2);
        return sqrt(square);
    }
    for (int k = 0; k < 3; k++) {
        const double *from = t[k], *to = t[(k + 1) % 3];
        double way[3], off[3], square = 0;
        for (int i = 0; i < 3; i++) {
            way[i] = to[i] - from[i];
            off[i] = p[i] - from[i];
        }
        const double s = fmin(1, fmax(0, dot(way, off) / fmax(dot(way, way), 1e-300)));
        for (int i = 0; i < 3; i++)
            square += pow(off[i] - s * way[i], 2);
        least = fmin(least, sqrt(square));
    }
    return least;
}

static double distance(const ns_mesh *mesh, const double p[3])
{
    double least = INFINITY;
    for (uint32_t k = 0; k < mesh->triangles; k++) {
        double t[3][3];
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                t[j][i] = mesh->positions[3 * mesh->indices[3 * k + (uint32_t)j] + (uint32_t)i];
        least = fmin(least, to_triangle(p, t));
    }
    return least;
}

/* Volume enclosed by a mesh whose triangles are seen counter-clockwise from outside. */
static double volume(const ns_mesh *mesh)
{
    double sum = 0;
    for (uint32_t k = 0; k < mesh->triangles; k++) {
        double p[3][3];
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                p[j][i] = mesh->positions[3 * mesh->indices[3 * k + (uint32_t)j] + (uint32_t)i];
        sum += (p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0])) /
               6;
    }
    return sum;
}

static void check_mesh(const ns_mesh *mesh, const char *what)
{
    for (uint32_t k = 0; k < 3 * mesh->triangles; k++)
        assert_true(mesh->indices[k] < mesh->vertices);
    for (uint32_t k = 0; k < mesh->vertices; k++) {
        double square = 0;
        for (uint32_t i = 0; i < 3; i++) {
            assert_true(isfinite(mesh->positions[3 * k + i]));
            square += (double)mesh->normals[3 * k + i] * mesh->normals[3 * k + i];
        }
        if (fabs(square - 1) > 1e-5)
            fail_msg("%s: normal %u has length %g", what, k, sqrt(square));
    }
}

/* ---- the gallery ------------------------------------------------------------------------- */

/* In every model with a contact, drawn bodies and grounds have the contact point on them. */
static void check_contact(const char *name, bench *b)
{
    const ns_scene *scene = b->frames->scene;
    const ns_frames *f = b->frames;
    if (!scene->bodies.n || scene->paths.n < 2 || scene->paths.at[1].body != 0 ||
        scene->bodies.at[0].drawing.kind == NS_DRAW_NONE)
        return;
    ns_mesh body, ground;
    ns_mesh_fit fit = {.path = f->paths[1].at, .n = f->n};
    if (!ns_mesh_body(b->arena, b->model, &scene->bodies.at[0].drawing, &fit, &body))
        fail_msg("%s: no body", name);
    check_mesh(&body, name);
    const double size = ns_mesh_radius(&body);
    double toward[3];
    const double *path = ns_frames_on_ground(f, 0, b->arena);
    memcpy(toward, ns_frames_on_ground(f, 2, b->arena), sizeof toward);
    ns_mesh_fit under = {.path = path, .n = f->n, .toward = toward, .size = size};
    for (int i = 0; i < 2; i++)
        under.u[i] = f->ground_u[i].at;
    if (!ns_mesh_ground(b->arena, b->model, &scene->ground, &under, &ground))
        fail_msg("%s: no ground", name);
    check_mesh(&ground, name);
    const bool wire = scene->ground.kind == NS_DRAW_CURVE;
    for (size_t k = 0; k < f->n; k += f->n / 7 + 1) {
        const double from_body = distance(&body, f->paths[1].at + 3 * k);
        const double from_ground = distance(&ground, path + 3 * k);
        if (from_body > 0.015 * size)
            fail_msg("%s: the body is %g of its size from the contact at row %zu", name,
                     from_body / size, k);
        if (from_ground > (wire ? 0.045 : 0.012) * size)
            fail_msg("%s: the ground is %g of the body's size from the contact at row %zu",
                     name, from_ground / size, k);
        /* body and ground meet, unless the body can fly: the contact in the body's frame,
         * moved to space, is the other */
        if (ns_system_modes(b->model->system) > 1)
            continue;
        double p[3];
        ns_frames_rotate(f->bodies[0].quat.at + 4 * k, f->paths[1].at + 3 * k, p);
        for (size_t i = 0; i < 3; i++)
            assert_true(
                fabs(p[i] + f->bodies[0].position.at[3 * k + i] - f->paths[0].at[3 * k + i]) <
                1e-9 * (size + fabs(f->paths[0].at[3 * k + i])));
    }
    printf("%-24s body %5u, ground %5u vertices, %zu rows\n", name, body.vertices,
           ground.vertices, f->n);
}

static void test_gallery(void **state)
{
    (void)state;
    char *names[GALLERY_MOST];
    const size_t n = gallery_list(names);
    unsigned found = 0;
    for (size_t k = 0; k < n; k++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.mech", NS_MODELS_DIR, names[k]);
        ns_model *model = ns_model_load(path, NULL, 0, NS_MODEL_DERIVED);
        const bool rolls = model && model->status == NS_OK &&
                           model->system->scene.bodies.n == 1;
        ns_model_free(model);
        if (!rolls)
            continue;
        bench b = ready(ns_model_load(path, NULL, 0, NS_MODEL_READY), 2);
        check_contact(names[k], &b);
        done(&b);
        found++;
    }
    gallery_free(names, n);
    assert_true(found >= 20);
}

/* ---- shapes ------------------------------------------------------------------------------ */

static ns_mesh body_of(bench *b)
{
    ns_mesh mesh;
    const ns_mesh_fit fit = {.path = b->frames->paths[1].at, .n = b->frames->n};
    assert_true(
        ns_mesh_body(b->arena, b->model, &b->frames->scene->bodies.at[0].drawing, &fit, &mesh));
    check_mesh(&mesh, "body");
    return mesh;
}

/* Meshes enclose the right volume, so they are closed, whole and turned outwards. */
static void test_volumes(void **state)
{
    (void)state;
    const double pi = 3.14159265358979;
    static const struct {
        const char *shape;
        double volume; /* of pi */
    } table[] = {
        {"sphere(0.2)", 4.0 / 3 * 0.008},
        {"ellipsoid(0.3, 0.2, 0.1)", 4.0 / 3 * 0.006},
        {"implicit(x^2/0.09 + y^2/0.04 + z^2/0.01 - 1)", 4.0 / 3 * 0.006},
        {"egg(0.3, 0.1, 0)", 4.0 / 3 * 0.003},
        {"parametric([0.2*cos(u)*cos(v), 0.2*sin(u)*cos(v), 0.2*sin(v)])", 4.0 / 3 * 0.008},
        {"parametric([0.2*cos(u)*sin(v), 0.2*sin(u)*sin(v), 0.2*cos(v)]) { flip }",
         4.0 / 3 * 0.008},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[600];
        const char *brace = strchr(table[i].shape, '{');
        const int length = brace ? (int)(brace - table[i].shape) : (int)strlen(table[i].shape);
        snprintf(text, sizeof text,
                 "ground plane\nbody %.*s { mass 1; inertia diag(1, 1, 1)%s }\n"
                 "start { omega [1, 0.2, 0] }\nrun { until 0.1 }\n",
                 length, table[i].shape, brace ? "; flip" : "");
        bench b = run_text(text, 0);
        const ns_mesh mesh = body_of(&b);
        const double v = volume(&mesh) / pi / table[i].volume;
        if (fabs(v - 1) > 0.01)
            fail_msg("%s: volume %g of what it should be", table[i].shape, v);
        done(&b);
    }
}

/* A run backwards in time gives ascending times, a short one at least its two ends. */
static void test_times(void **state)
{
    (void)state;
    static const char text[] =
        "coordinate x\nlagrangian x'^2/2 - x^2/2\nstart { x = 1; x' = 0 }\n"
        "observe y = x\nrun { until 1 }\n";
    bench b = run_text(text, 0);
    assert_true(b.frames->n >= 2);
    assert_true(b.frames->t[0] == 0 && b.frames->t[b.frames->n - 1] == 1);
    done(&b);
    ns_model *model = ns_model_load_text("t", text, strlen(text), NULL, 0, NS_MODEL_READY);
    ns_record *r = motion_record(model, -300);
    ns_arena *arena = ns_arena_new();
    const double *t = ns_motion_times(&r->motion, arena);
    const size_t n = r->motion.rows;
    assert_true(t[0] == -300 && t[n - 1] == 0);
    const ns_ex x = model->system->states.at[0].symbol;
    const double *value = ns_motion_values(&r->motion, model, arena, &x, 1);
    for (size_t k = 0; k < n; k++) {
        assert_true(k == 0 || t[k] > t[k - 1]);
        assert_true(fabs(value[k] - cos(t[k])) < 1e-11);
    }
    ns_arena_free(arena);
    ns_record_free(r);
    ns_model_free(model);
}

/* However many steps there are, memory is bounded and both ends are there. */
static void test_bounded(void **state)
{
    (void)state;
    bench b = run_text("coordinate x\nlagrangian x'^2/2 - x^2/2\nstart { x = 1; x' = 0 }\n"
                       "run { until 40; step 0.01; method dop853 }\n",
                       0);
    const ns_motion *m = &b.record->motion;
    assert_true(m->rows <= m->room + 1 && m->stride > 1);
    assert_true(b.frames->t[0] == 0 && b.frames->t[m->rows - 1] == 40);
    for (size_t k = 1; k + 1 < m->rows; k++) /* evenly thinned */
        assert_true(fabs((m->t[k] - m->t[k - 1]) / (m->t[1] - m->t[0]) - 1) < 1e-6);
    done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times), cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_volumes), cmocka_unit_test(test_gallery)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
