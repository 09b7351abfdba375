/* Evaluating drawings at points, and putting triangles together. */
#include <math.h>

#include "base/math/vecmath.h"
#include "out/mesh/mesh_internal.h"
#include "out/mesh/vec.h"

/* ---- evaluation -------------------------------------------------------------------------- */

ns_field ns_field_new(ns_arena *arena, const ns_model *model, const ns_ex *locals, uint32_t nx,
                      const ns_ex *f, uint32_t nout)
{
    const ns_system *s = model->system;
    const uint32_t np = s->description->params.n;
    const ns_ex *p = ns_system_param_symbols(s, arena);
    const ns_program_spec spec = {.graph = s->graph,
                                  .time = s->time,
                                  .x = locals,
                                  .p = p,
                                  .out = f,
                                  .nx = nx,
                                  .np = np,
                                  .nout = nout};
    ns_field field = {.program = ns_program_build(arena, &spec), .nx = nx, .nout = nout};
    field.work = NS_NEW_ARRAY(arena, double, ns_program_work8(field.program) + 8);
    field.in8 = NS_NEW_ARRAY(arena, double, 8 * (nx + (size_t)1));
    field.out8 = NS_NEW_ARRAY(arena, double, 8 * (nout + (size_t)1));
    field.t8 = NS_NEW_ARRAY(arena, double, 8);
    double *p8 = NS_NEW_ARRAY(arena, double, 8 * (np + (size_t)1));
    for (uint32_t i = 0; i < np; i++)
        for (unsigned lane = 0; lane < 8; lane++)
            p8[8 * i + lane] = model->p[i];
    ns_program_bind8(field.program, field.work, p8);
    return field;
}

void ns_field_eval(const ns_field *field, const double *in, size_t n, double *out)
{
    const size_t nx = field->nx, nout = field->nout;
    for (size_t k = 0; k < n; k += 8) {
        const size_t lanes = n - k < 8 ? n - k : 8;
        for (size_t lane = 0; lane < 8; lane++)
            for (size_t i = 0; i < nx; i++)
                field->in8[8 * i + lane] = in[(k + (lane < lanes ? lane : 0)) * nx + i];
        ns_program_eval8(field->program, field->work, field->t8, field->in8, field->out8);
        for (size_t lane = 0; lane < lanes; lane++)
            for (size_t i = 0; i < nout; i++)
                out[(k + lane) * nout + i] = field->out8[8 * i + lane];
    }
}

/* ---- making ------------------------------------------------------------------------------ */

uint32_t ns_mesh_vertex(ns_mesh_maker *m, const double position[3], const double normal[3])
{
    for (int i = 0; i < 3; i++) {
        NS_PUSH(m->arena, m->positions, (float)position[i]);
        NS_PUSH(m->arena, m->normals, (float)normal[i]);
    }
    return m->positions.n / 3 - 1;
}

void ns_mesh_triangle(ns_mesh_maker *m, uint32_t a, uint32_t b, uint32_t c)
{
    NS_PUSH(m->arena, m->indices, a);
    NS_PUSH(m->arena, m->indices, b);
    NS_PUSH(m->arena, m->indices, c);
}

void ns_mesh_finish(ns_mesh_maker *m, ns_mesh *out)
{
    *out = (ns_mesh){.positions = m->positions.at,
                     .normals = m->normals.at,
                     .indices = m->indices.at,
                     .vertices = m->positions.n / 3,
                     .triangles = m->indices.n / 3};
}

void ns_mesh_orient(ns_mesh *mesh, bool flip)
{
    if (flip)
        for (uint32_t i = 0; i < 3 * mesh->vertices; i++)
            mesh->normals[i] = -mesh->normals[i];
    for (uint32_t k = 0; k < mesh->triangles; k++) {
        uint32_t *at = mesh->indices + 3 * (size_t)k;
        double a[3], b[3], n[3], sum[3];
        for (int i = 0; i < 3; i++) {
            const double p = mesh->positions[3 * at[0] + (uint32_t)i];
            a[i] = mesh->positions[3 * at[1] + (uint32_t)i] - p;
            b[i] = mesh->positions[3 * at[2] + (uint32_t)i] - p;
            sum[i] = mesh->normals[3 * at[0] + (uint32_t)i] +
                     mesh->normals[3 * at[1] + (uint32_t)i] +
                     mesh->normals[3 * at[2] + (uint32_t)i];
        }
        ns_vec_cross(a, b, n);
        if (ns_vec_dot(n, sum) < 0) {
            const uint32_t swap = at[1];
            at[1] = at[2];
            at[2] = swap;
        }
    }
}

double ns_mesh_radius(const ns_mesh *mesh)
{
    double most = 0;
    for (uint32_t k = 0; k < mesh->vertices; k++) {
        double square = 0;
        for (uint32_t i = 0; i < 3; i++)
            square += (double)mesh->positions[3 * k + i] * mesh->positions[3 * k + i];
        most = ns_max(most, square);
    }
    return sqrt(most);
}

void ns_mesh_box(const ns_mesh_fit *fit, double low[3], double high[3])
{
    for (int i = 0; i < 3; i++) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
        for (size_t k = 0; k < fit->n; k++) {
            low[i] = ns_min(low[i], fit->path[3 * k + (size_t)i]);
            high[i] = ns_max(high[i], fit->path[3 * k + (size_t)i]);
        }
        if (!(low[i] <= high[i]))
            low[i] = high[i] = 0;
    }
}

void ns_mesh_broaden(double low[3], double high[3], double margin)
{
    const double half = 0.25 * ns_max(high[0] - low[0], high[1] - low[1]) + 0.5 * margin;
    for (int i = 0; i < 2; i++) {
        const double more = ns_max(margin, half - (high[i] - low[i]) / 2);
        low[i] -= more;
        high[i] += more;
    }
}

/* A ground's normals point to the side on which the body is. */
void ns_mesh_face(ns_mesh *mesh, const ns_mesh_fit *fit)
{
    if (!fit->toward || !fit->n || !mesh->vertices) {
        ns_mesh_orient(mesh, false);
        return;
    }
    uint32_t nearest = 0;
    double least = INFINITY;
    for (uint32_t k = 0; k < mesh->vertices; k++) {
        double square = 0;
        for (uint32_t i = 0; i < 3; i++)
            square += ns_math_pow(mesh->positions[3 * k + i] - fit->path[i], 2);
        if (square < least) {
            least = square;
            nearest = k;
        }
    }
    double side = 0;
    for (uint32_t i = 0; i < 3; i++)
        side += mesh->normals[3 * nearest + i] * (fit->toward[i] - fit->path[i]);
    ns_mesh_orient(mesh, side < 0);
}

/* A closed surface's normals point out of it: the volume it encloses is positive. */
void ns_mesh_face_out(ns_mesh *mesh)
{
    ns_mesh_orient(mesh, false);
    double volume = 0;
    for (uint32_t k = 0; k < mesh->triangles; k++) {
        const uint32_t *at = mesh->indices + 3 * (size_t)k;
        double p[3][3], c[3];
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                p[j][i] = mesh->positions[3 * at[j] + (uint32_t)i];
        ns_vec_cross(p[1], p[2], c);
        volume += ns_vec_dot(p[0], c);
    }
    if (volume < 0)
        ns_mesh_orient(mesh, true);
}
