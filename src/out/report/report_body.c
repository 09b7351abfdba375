/* Bodies of a report's picture: their shapes, centres of mass and principal axes. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "out/report/report_stage.h"

/* Eigenvectors of a symmetric matrix by Jacobi's rotations: rows of v. */
static void principal(const double given[3][3], double v[3][3])
{
    double a[3][3];
    memcpy(a, given, sizeof a);
    memset(v, 0, 9 * sizeof(double));
    v[0][0] = v[1][1] = v[2][2] = 1;
    for (int sweep = 0; sweep < 60; sweep++) {
        const int p = sweep % 3 == 2 ? 1 : 0, q = sweep % 3 == 0 ? 1 : 2;
        if (fabs(a[p][q]) < 1e-300)
            continue;
        const double theta = 0.5 * ns_math_atan2(2 * a[p][q], a[p][p] - a[q][q]);
        const double c = ns_math_cos(theta), d = ns_math_sin(theta);
        for (int k = 0; k < 3; k++) {
            const double x = a[p][k], y = a[q][k], vx = v[p][k], vy = v[q][k];
            a[p][k] = c * x + d * y;
            a[q][k] = c * y - d * x;
            v[p][k] = c * vx + d * vy;
            v[q][k] = c * vy - d * vx;
        }
        for (int k = 0; k < 3; k++) {
            const double x = a[k][p], y = a[k][q];
            a[k][p] = c * x + d * y;
            a[k][q] = c * y - d * x;
        }
    }
}

/* As long as they stick out of the body. */
static void put_axes(const ns_report_stage *s, uint32_t i)
{
    const struct ns_frame_body *body = &s->frames->bodies[i];
    const ns_mesh *mesh = &s->meshes[i];
    double v[3][3], trace = body->inertia[0][0] + body->inertia[1][1] + body->inertia[2][2];
    if (!(trace > 0) || !mesh->vertices)
        return;
    principal(body->inertia, v);
    ns_json *j = &s->r->json;
    ns_json_array(j, "axes");
    for (int k = 0; k < 3; k++) {
        double reach = 0;
        for (uint32_t n = 0; n < mesh->vertices; n++) {
            double along = 0;
            for (uint32_t c = 0; c < 3; c++)
                along += (mesh->positions[3 * n + c] - body->com[c]) * v[k][c];
            reach = ns_max(reach, along);
        }
        reach = 1.15 * reach + 0.12 * ns_mesh_radius(mesh);
        double axis[3];
        for (int c = 0; c < 3; c++)
            axis[c] = reach * v[k][c];
        ns_json_numbers(j, NULL, axis, 3);
    }
    ns_json_end(j);
}

static void put_sizes(const ns_report_stage *s, const char *key, const ns_ex size[3])
{
    const ns_v3 v = {{size[0], size[1], size[2]}};
    if (size[0])
        ns_report_put_vector(s, key, &v);
}

static void put_outline(const ns_report_stage *s, const ns_scene_shape *shape)
{
    ns_json *j = &s->r->json;
    ns_json_array(j, "outline");
    for (uint32_t k = 0; k < shape->outlines; k++) {
        double v[3];
        ns_report_numbers(s, &shape->outline[k], v);
        ns_json_numbers(j, NULL, v, 2);
    }
    ns_json_end(j);
}

/* What its kind calls the sizes of a shape. */
static void put_shape_sizes(const ns_report_stage *s, const ns_scene_shape *shape)
{
    static const char *const names[][3] = {
        [NS_SHAPE_SPHERE] = {"radius"},
        [NS_SHAPE_TORUS] = {"radius", "tube"},
        [NS_SHAPE_CYLINDER] = {"radius", "height", "top"},
        [NS_SHAPE_DISK] = {"radius", "thickness"},
        [NS_SHAPE_WHEEL] = {"radius", "tube"},
        [NS_SHAPE_ROD] = {"radius"},
        [NS_SHAPE_PLATE] = {"thickness"},
        [NS_SHAPE_BLADE] = {"length", "width", "height"},
    };
    if (shape->kind == NS_SHAPE_ELLIPSOID || shape->kind == NS_SHAPE_BOX) {
        put_sizes(s, shape->kind == NS_SHAPE_BOX ? "size" : "radii", shape->size);
        return;
    }
    for (int i = 0; i < 3; i++)
        if (names[shape->kind][i])
            ns_report_put_size(s, names[shape->kind][i], shape->size[i]);
}

void ns_report_put_shape(const ns_report_stage *s, const ns_scene_shape *shape,
                         const char *name)
{
    static const char *const kinds[] = {
        [NS_SHAPE_SPHERE] = "sphere", [NS_SHAPE_ELLIPSOID] = "ellipsoid",
        [NS_SHAPE_TORUS] = "torus",   [NS_SHAPE_CYLINDER] = "cylinder",
        [NS_SHAPE_DISK] = "disk",     [NS_SHAPE_WHEEL] = "wheel",
        [NS_SHAPE_BOX] = "box",       [NS_SHAPE_ROD] = "rod",
        [NS_SHAPE_PLATE] = "plate",   [NS_SHAPE_BLADE] = "blade",
    };
    ns_json *j = &s->r->json;
    ns_json_object(j, NULL);
    ns_json_text(j, "shape", kinds[shape->kind]);
    ns_json_text(j, "name", name);
    put_shape_sizes(s, shape);
    if (shape->kind == NS_SHAPE_ROD) {
        ns_report_put_vector(s, "from", &shape->at);
        ns_report_put_vector(s, "to", &shape->end);
    } else {
        ns_report_put_vector(s, "at", &shape->at);
    }
    if (shape->turned)
        ns_report_put_vector(s, "axis", &shape->axis);
    if (shape->outlines)
        put_outline(s, shape);
    if (shape->spokes)
        ns_json_number(j, "spokes", shape->spokes);
    ns_json_text(j, "color", shape->colour);
    ns_json_text(j, "pattern", shape->pattern);
    if (shape->opacity > 0)
        ns_json_number(j, "opacity", shape->opacity);
    ns_json_end(j);
}

/* Round flat things are painted in sectors, others in octants. */
static bool is_round(ns_drawing_kind kind)
{
    return kind == NS_DRAW_DISK || kind == NS_DRAW_HOOP || kind == NS_DRAW_CYLINDER ||
           kind == NS_DRAW_CONE || kind == NS_DRAW_CURVE;
}

static void put_shapes(const ns_report_stage *s, uint32_t i)
{
    const ns_scene_body *body = &s->scene->bodies.at[i];
    const ns_mesh *mesh = &s->meshes[i];
    ns_json *j = &s->r->json;
    if (mesh->vertices && !body->shapes.n && !is_round(body->drawing.kind)) {
        ns_report_put_mesh(s, mesh);
        return;
    }
    ns_json_array(j, "shapes");
    if (mesh->vertices) {
        ns_json_object(j, NULL);
        ns_json_text(j, "shape", "mesh");
        ns_json_text(j, "pattern", is_round(body->drawing.kind) ? "sectors" : "octants");
        ns_report_put_mesh(s, mesh);
        ns_json_end(j);
    }
    for (uint32_t k = 0; k < body->shapes.n; k++)
        ns_report_put_shape(s, &body->shapes.at[k], NULL);
    ns_json_end(j);
}

void ns_report_put_body(const ns_report_stage *s, uint32_t i)
{
    const ns_scene_body *body = &s->scene->bodies.at[i];
    const struct ns_frame_body *frame = &s->frames->bodies[i];
    ns_json *j = &s->r->json;
    ns_json_object(j, NULL);
    ns_json_text(j, "name", body->name);
    ns_json_text(j, "color", body->colour);
    if (frame->position.at) {
        ns_json_object(j, "pose");
        ns_report_put_track(s, "position", &frame->position);
        ns_report_put_track(s, "quaternion", &frame->quat);
        ns_json_end(j);
    }
    put_shapes(s, i);
    if (body->massive) {
        ns_json_numbers(j, "com", frame->com, 3);
        put_axes(s, i);
    }
    ns_json_end(j);
}
