/* Meshes and curves of a scene in motion, for the page and for glTF. */
#include "mech/draw/scene.h"
#include "out/mesh/mesh_internal.h"
#include "session/motion.h"

bool ns_mesh_scene_body(ns_arena *arena, const ns_model *model, const ns_frames *frames,
                        uint32_t i, ns_mesh *out)
{
    const ns_scene *scene = frames->scene;
    ns_mesh_fit fit = {0};
    for (uint32_t k = 0; k < scene->paths.n; k++)
        if (scene->paths.at[k].body == (int)i && frames->paths[k].at) {
            fit.path = frames->paths[k].at;
            fit.n = frames->n;
        }
    return ns_mesh_body(arena, model, &scene->bodies.at[i].drawing, &fit, out);
}

double *ns_mesh_scene_curve(ns_arena *arena, const ns_model *model, const ns_scene_curve *curve,
                            size_t n)
{
    double *u = NS_NEW_ARRAY(arena, double, n), *points = NS_NEW_ARRAY(arena, double, 3 * n);
    double range[2];
    ns_system_eval(model->system, curve->range, 2, 0, model->p, model->x0, range);
    for (size_t k = 0; k < n; k++)
        u[k] = range[0] + (range[1] - range[0]) * (double)k / (double)(n - 1);
    const ns_field field = ns_field_new(arena, model, &curve->u, 1, curve->point.at, 3);
    ns_field_eval(&field, u, n, points);
    return points;
}
