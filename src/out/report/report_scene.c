/* The picture of a report: bodies and grounds as meshes, and everything that moves with
 * them. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "out/report/report_stage.h"

enum { CURVE = 241 }; /* points of a curve of the model */

static double number(const ns_report_stage *s, ns_ex f)
{
    double value = 0;
    if (f)
        ns_system_eval(s->r->system, &f, 1, s->r->record->options.run.t0, s->r->model->p,
                       s->r->model->x0, &value);
    return value;
}

void ns_report_numbers(const ns_report_stage *s, const ns_v3 *v, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = number(s, v->at[i]);
}

void ns_report_put_vector(const ns_report_stage *s, const char *key, const ns_v3 *v)
{
    double value[3];
    ns_report_numbers(s, v, value);
    ns_json_numbers(&s->r->json, key, value, 3);
}

void ns_report_put_track(const ns_report_stage *s, const char *key, const ns_track *track)
{
    if (!track->at)
        return;
    ns_packed_f32(&s->r->json, key, track->at, track->width, s->r->keep, s->r->kept);
}

/* ---- meshes ------------------------------------------------------------------------------ */

void ns_report_put_mesh(const ns_report_stage *s, const ns_mesh *mesh)
{
    ns_json *j = &s->r->json;
    ns_json_object(j, "mesh");
    ns_packed_floats(j, "positions", mesh->positions, 3 * (size_t)mesh->vertices);
    ns_packed_floats(j, "normals", mesh->normals, 3 * (size_t)mesh->vertices);
    ns_packed_indices(j, "indices", mesh->indices, 3 * (size_t)mesh->triangles, mesh->vertices);
    ns_json_end(j);
}

void ns_report_put_size(const ns_report_stage *s, const char *key, ns_ex size)
{
    if (size)
        ns_json_number(&s->r->json, key, number(s, size));
}

static void make_meshes(ns_report_stage *s)
{
    const ns_scene *scene = s->scene;
    s->meshes = NS_NEW_ARRAY(s->r->arena, ns_mesh, scene->bodies.n + 1);
    for (uint32_t i = 0; i < scene->bodies.n; i++) {
        if (ns_mesh_scene_body(s->r->arena, s->r->model, s->frames, i, &s->meshes[i]))
            s->size = ns_max(s->size, ns_mesh_radius(&s->meshes[i]));
        else
            s->meshes[i] = (ns_mesh){0};
    }
}

/* ---- ground ------------------------------------------------------------------------------ */

/* Contact points in the ground's frame, of all bodies one after the other; if there are none,
 * the places of the bodies. */
static ns_mesh_fit fit_ground(const ns_report_stage *s)
{
    const ns_report *r = s->r;
    const ns_scene *scene = s->scene;
    ns_mesh_fit fit = {.size = s->size};
    uint32_t contacts = 0;
    double *path = NS_NEW_ARRAY(r->arena, double,
                                3 * r->n * (scene->paths.n + scene->bodies.n) + 3);
    for (uint32_t k = 0; k < scene->paths.n; k++)
        if (scene->paths.at[k].body < 0 && scene->paths.at[k].role == NS_PATH_CONTACT) {
            memcpy(path + 3 * fit.n, ns_frames_on_ground(s->frames, k, r->arena),
                   3 * r->n * sizeof(double));
            fit.n += r->n;
            contacts++;
        }
    for (uint32_t k = 0; !contacts && k < scene->bodies.n; k++)
        if (s->frames->bodies[k].position.at) {
            memcpy(path + 3 * fit.n, s->frames->bodies[k].position.at,
                   3 * r->n * sizeof(double));
            fit.n += r->n;
        }
    fit.path = path;
    for (int i = 0; contacts == 1 && i < 2; i++)
        fit.u[i] = s->frames->ground_u[i].at;
    for (uint32_t k = 0; contacts && k < scene->paths.n; k++)
        if (scene->paths.at[k].body < 0 && scene->paths.at[k].role == NS_PATH_COM &&
            !fit.toward)
            fit.toward = ns_frames_on_ground(s->frames, k, r->arena);
    return fit;
}

static void put_ground_pose(const ns_report_stage *s)
{
    ns_json *j = &s->r->json;
    if (!s->frames->ground_origin.at)
        return;
    ns_json_object(j, "pose");
    ns_report_put_track(s, "position", &s->frames->ground_origin);
    ns_report_put_track(s, "quaternion", &s->frames->ground_quat);
    ns_json_end(j);
}

static void put_drawn_ground(const ns_report_stage *s)
{
    const ns_drawing *d = &s->scene->ground;
    ns_json *j = &s->r->json;
    const ns_mesh_fit fit = fit_ground(s);
    if (d->kind == NS_DRAW_PLANE) {
        double point[3], normal[3], along[3];
        ns_mesh_plane(s->r->model, d, point, normal, along);
        ns_json_object(j, NULL);
        ns_json_object(j, "plane");
        ns_json_numbers(j, "point", point, 3);
        ns_json_numbers(j, "normal", normal, 3);
        ns_json_end(j);
    } else if (d->kind == NS_DRAW_CURVE) {
        size_t n;
        bool closed;
        const double *points = ns_mesh_curve(s->r->arena, s->r->model, d, &fit, &n, &closed);
        ns_json_object(j, NULL);
        ns_json_object(j, "wire");
        ns_packed_f32(j, "points", points, 3, NULL, n);
        ns_json_bool(j, "closed", closed);
        ns_json_number(j, "radius", 0.04 * (s->size > 0 ? s->size : 1));
        ns_json_end(j);
    } else {
        ns_mesh mesh;
        if (!ns_mesh_ground(s->r->arena, s->r->model, d, &fit, &mesh))
            return;
        ns_json_object(j, NULL);
        ns_report_put_mesh(s, &mesh);
    }
    put_ground_pose(s);
    ns_json_end(j);
}

/* Curves that are grounds or wires; plain lines are paths. */
static void put_curve_ground(const ns_report_stage *s, const ns_scene_curve *curve)
{
    ns_json *j = &s->r->json;
    const double *points = ns_mesh_scene_curve(s->r->arena, s->r->model, curve, CURVE);
    ns_json_object(j, NULL);
    if (curve->kind == NS_CURVE_GROUND) {
        ns_packed_f32(j, "curve", points, 3, NULL, CURVE);
        ns_json_number(j, "side", curve->side < 0 ? -1 : 1);
    } else {
        ns_json_object(j, "wire");
        ns_packed_f32(j, "points", points, 3, NULL, CURVE);
        ns_report_put_size(s, "radius", curve->radius);
        ns_json_end(j);
    }
    ns_json_text(j, "color", curve->colour);
    ns_json_end(j);
}

static void put_grounds(const ns_report_stage *s)
{
    ns_json *j = &s->r->json;
    ns_json_array(j, "ground");
    if (s->scene->ground.kind != NS_DRAW_NONE)
        put_drawn_ground(s);
    for (uint32_t i = 0; i < s->scene->curves.n; i++)
        if (s->scene->curves.at[i].kind != NS_CURVE_LINE)
            put_curve_ground(s, &s->scene->curves.at[i]);
    ns_json_end(j);
}

/* ---- paths, arrows, links, points -------------------------------------------------------- */

static void put_path(const ns_report_stage *s, const char *name, const char *frame,
                     const double *points, const ns_scene_path *path, bool contact)
{
    ns_json *j = &s->r->json;
    ns_json_object(j, NULL);
    ns_json_text(j, "name", name);
    ns_json_text(j, "frame", frame);
    ns_packed_f32(j, "points", points, 3, s->r->keep, s->r->kept);
    if (contact)
        ns_json_text(j, "role", "contact");
    else if (path->role == NS_PATH_COM)
        ns_json_text(j, "role", "com");
    ns_json_text(j, "color", path->colour);
    ns_json_end(j);
}

static void put_paths(const ns_report_stage *s)
{
    const ns_scene *scene = s->scene;
    ns_json *j = &s->r->json;
    ns_json_array(j, "paths");
    for (uint32_t i = 0; i < scene->paths.n; i++) {
        const ns_scene_path *path = &scene->paths.at[i];
        const double *points = s->frames->paths[i].at;
        const bool contact = path->role == NS_PATH_CONTACT;
        if (!points)
            continue;
        if (path->body >= 0) {
            put_path(s, path->name, scene->bodies.at[path->body].name, points, path, contact);
        } else if (contact && s->frames->ground_origin.at) {
            /* on a ground that moves the path moves with it; in space it is another one */
            put_path(s, path->name, "ground", ns_frames_on_ground(s->frames, i, s->r->arena),
                     path, true);
            ns_scene_path other = *path;
            other.colour = "sky";
            put_path(s, "contact, seen in space", NULL, points, &other, false);
        } else {
            put_path(s, path->name, NULL, points, path, contact);
        }
    }
    for (uint32_t i = 0; i < scene->curves.n; i++) {
        const ns_scene_curve *curve = &scene->curves.at[i];
        if (curve->kind != NS_CURVE_LINE)
            continue;
        const double *points = ns_mesh_scene_curve(s->r->arena, s->r->model, curve, CURVE);
        ns_json_object(j, NULL);
        ns_json_text(j, "name",
                     curve->name ? curve->name
                                 : ns_arena_format(s->r->arena, "line %u", i + 1));
        ns_packed_f32(j, "points", points, 3, NULL, CURVE);
        ns_json_bool(j, "static", true);
        ns_json_text(j, "color", curve->colour);
        ns_json_end(j);
    }
    ns_json_end(j);
}

static void put_arrows(const ns_report_stage *s)
{
    ns_json *j = &s->r->json;
    ns_json_array(j, "arrows");
    for (uint32_t i = 0; i < s->scene->arrows.n; i++) {
        const ns_scene_arrow *arrow = &s->scene->arrows.at[i];
        if (!s->frames->arrows[i].origin.at || !s->frames->arrows[i].vector.at)
            continue;
        ns_json_object(j, NULL);
        ns_json_text(j, "name", arrow->name);
        ns_json_text(j, "unit", arrow->unit);
        ns_json_text(j, "color", arrow->colour);
        if (arrow->scale)
            ns_json_number(j, "scale", number(s, arrow->scale));
        ns_report_put_track(s, "origin", &s->frames->arrows[i].origin);
        ns_report_put_track(s, "vector", &s->frames->arrows[i].vector);
        ns_json_end(j);
    }
    ns_json_end(j);
}

static void put_end(const ns_report_stage *s, const char *key, const ns_track *track)
{
    ns_json_object(&s->r->json, key);
    ns_report_put_track(s, "track", track);
    ns_json_end(&s->r->json);
}

static void put_links(const ns_report_stage *s)
{
    static const char *const kinds[] = {
        [NS_LINK_ROD] = "rod", [NS_LINK_SPRING] = "spring", [NS_LINK_LINE] = "line"};
    ns_json *j = &s->r->json;
    ns_json_array(j, "links");
    for (uint32_t i = 0; i < s->scene->links.n; i++) {
        const ns_scene_link *link = &s->scene->links.at[i];
        if (!s->frames->links[i].a.at || !s->frames->links[i].b.at)
            continue;
        ns_json_object(j, NULL);
        ns_json_text(j, "kind", kinds[link->kind]);
        ns_json_text(j, "name", link->name);
        ns_json_text(j, "color", link->colour);
        ns_report_put_size(s, "radius", link->radius);
        put_end(s, "a", &s->frames->links[i].a);
        put_end(s, "b", &s->frames->links[i].b);
        ns_json_end(j);
    }
    ns_json_end(j);
    ns_json_array(j, "points");
    for (uint32_t i = 0; i < s->scene->points.n; i++) {
        const ns_scene_point *point = &s->scene->points.at[i];
        if (!s->frames->points[i].at)
            continue;
        ns_json_object(j, NULL);
        ns_json_text(j, "name", point->name);
        if (!point->name) {
            ns_json_bool(j, "label", false);
        }
        ns_json_text(j, "color", point->colour);
        ns_report_put_track(s, "track", &s->frames->points[i]);
        ns_json_end(j);
    }
    ns_json_end(j);
    ns_json_array(j, "decor");
    for (uint32_t i = 0; i < s->scene->decor.n; i++)
        ns_report_put_shape(s, &s->scene->decor.at[i], NULL);
    ns_json_end(j);
}

/* ---- the algebra ------------------------------------------------------------------------- */

static void put_level(const ns_report_stage *s, const ns_scene_level *level)
{
    static const char *const what[] = {[NS_LEVEL_ELLIPSOID] = "radii",
                                       [NS_LEVEL_PLANE] = "normal",
                                       [NS_LEVEL_POINT] = "point"};
    ns_json *j = &s->r->json;
    ns_json_object(j, NULL);
    ns_json_text(j, "name", level->name);
    ns_json_text(j, "color", level->colour);
    ns_report_put_vector(s, what[level->kind], &level->at);
    if (level->kind == NS_LEVEL_PLANE)
        ns_report_put_size(s, "offset", level->size);
    ns_json_end(j);
}

static void put_levels(const ns_report_stage *s, const char *key, int kind)
{
    const ns_scene_algebra *a = &s->scene->algebra;
    ns_json *j = &s->r->json;
    ns_json_array(j, key);
    for (uint32_t i = 0; i < a->levels.n; i++)
        if ((int)a->levels.at[i].kind == kind)
            put_level(s, &a->levels.at[i]);
    ns_json_end(j);
}

static void put_algebra(const ns_report_stage *s)
{
    const ns_scene_algebra *a = &s->scene->algebra;
    ns_json *j = &s->r->json;
    if (!a->drawn || !s->frames->algebra.at)
        return;
    ns_json_object(j, "sphere");
    ns_json_text(j, "title", a->title);
    ns_json_text(j, "unit", a->unit);
    ns_json_text(j, "name", a->name);
    if (a->axes[0] && a->axes[1] && a->axes[2]) {
        ns_json_texts(j, "axes", a->axes, 3);
    }
    ns_report_put_track(s, "curve", &s->frames->algebra);
    for (uint32_t i = 0; i < a->levels.n; i++)
        if (a->levels.at[i].kind == NS_LEVEL_SPHERE) {
            ns_report_put_size(s, "radius", a->levels.at[i].size);
            ns_json_text(j, "radius_name", a->levels.at[i].name);
            break; /* the page draws one */
        }
    put_levels(s, "ellipsoids", NS_LEVEL_ELLIPSOID);
    put_levels(s, "planes", NS_LEVEL_PLANE);
    put_levels(s, "points", NS_LEVEL_POINT);
    ns_json_array(j, "vectors");
    for (uint32_t i = 0; i < a->vectors.n; i++) {
        ns_json_object(j, NULL);
        ns_json_text(j, "name", a->vectors.at[i].name);
        ns_json_text(j, "unit", a->vectors.at[i].unit);
        ns_json_text(j, "color", a->vectors.at[i].colour);
        ns_report_put_track(s, "vector", &s->frames->algebra_arrows[i]);
        ns_json_end(j);
    }
    ns_json_end(j);
    ns_json_end(j);
}

/* ---- all --------------------------------------------------------------------------------- */

static bool is_drawn(const ns_scene *scene)
{
    return scene->bodies.n || scene->paths.n || scene->links.n || scene->points.n ||
           scene->curves.n || scene->decor.n;
}

void ns_report_put_scene(ns_report *r)
{
    ns_report_stage s = {.r = r, .scene = r->frames->scene, .frames = r->frames};
    ns_json *j = &r->json;
    ns_json_object(j, "scene");
    if (!is_drawn(s.scene) || !r->n) {
        ns_json_text(j, "kind", "none");
        if (s.scene->unseen)
            ns_json_text(j, "hint", s.scene->unseen);
        ns_json_end(j);
        put_algebra(&s);
        return;
    }
    ns_json_text(j, "kind", s.scene->view == NS_VIEW_SPACE ? "3d" : "plane");
    if (s.scene->view != NS_VIEW_SPACE)
        ns_json_text(j, "plane", s.scene->view == NS_VIEW_ABOVE ? "xy" : "xz");
    ns_json_text(j, "unit", s.scene->unit);
    if (s.scene->ground.kind != NS_DRAW_NONE && s.scene->ground.kind != NS_DRAW_PLANE) {
        /* the ground has an end and is worth seeing as a whole */
        ns_json_object(j, "camera");
        ns_json_bool(j, "follow", false);
        ns_json_end(j);
    }
    make_meshes(&s);
    ns_json_array(j, "bodies");
    for (uint32_t i = 0; i < s.scene->bodies.n; i++)
        ns_report_put_body(&s, i);
    ns_json_end(j);
    put_grounds(&s);
    put_paths(&s);
    put_arrows(&s);
    put_links(&s);
    ns_json_end(j);
    put_algebra(&s);
}
