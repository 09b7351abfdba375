/* Binary glTF 2.0: buffers, accessors and the JSON that describes them. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/math/vecmath.h"
#include "out/mesh/gltf_internal.h"

enum { ARRAY_BUFFER = 34962, ELEMENT_BUFFER = 34963 };

static void put32(ns_text *out, uint32_t v)
{
    const char bytes[4] = {(char)(v & 255), (char)(v >> 8 & 255), (char)(v >> 16 & 255),
                           (char)(v >> 24 & 255)};
    ns_text_add_bytes(out, bytes, 4);
}

static uint32_t view(ns_gltf *f, size_t length, int target)
{
    NS_PUSH(f->arena, f->views, (ns_gltf_view){f->bytes.length, length, target});
    return f->views.n - 1;
}

uint32_t ns_gltf_floats(ns_gltf *f, const float *v, uint32_t count, uint32_t width,
                        bool bounded, int target)
{
    ns_gltf_accessor a = {.view = view(f, (size_t)count * width * 4, target),
                          .count = count,
                          .width = width,
                          .bounded = bounded};
    for (uint32_t k = 0; k < 3; k++) {
        a.low[k] = INFINITY;
        a.high[k] = -INFINITY;
    }
    for (size_t i = 0; i < (size_t)count * width; i++) {
        uint32_t bits;
        memcpy(&bits, &v[i], 4);
        put32(&f->bytes, bits);
        if (bounded) {
            float *low = &a.low[i % width], *high = &a.high[i % width];
            *low = v[i] < *low ? v[i] : *low;
            *high = v[i] > *high ? v[i] : *high;
        }
    }
    NS_PUSH(f->arena, f->accessors, a);
    return f->accessors.n - 1;
}

static uint32_t add_indices(ns_gltf *f, const uint32_t *v, uint32_t count)
{
    ns_gltf_accessor a = {.view = view(f, (size_t)count * 4, ELEMENT_BUFFER),
                          .count = count,
                          .width = 1,
                          .indices = true};
    for (uint32_t i = 0; i < count; i++)
        put32(&f->bytes, v[i]);
    NS_PUSH(f->arena, f->accessors, a);
    return f->accessors.n - 1;
}

/* ---- materials --------------------------------------------------------------------------- */

static unsigned hex(char c)
{
    return c >= 'a'   ? (unsigned)(c - 'a' + 10)
           : c >= 'A' ? (unsigned)(c - 'A' + 10)
                      : (unsigned)(c - '0');
}

/* The page's colours in daylight. */
static const char *named(const char *colour)
{
    static const char *const table[][2] = {
        {"blue", "#0072b2"},      {"orange", "#e69f00"}, {"green", "#009e73"},
        {"vermilion", "#d55e00"}, {"purple", "#cc79a7"}, {"sky", "#56b4e9"},
        {"yellow", "#f0e442"},    {"grey", "#8c8c8c"},   {"black", "#2b2b2b"},
        {"white", "#f7f7f7"},     {"brown", "#7a5230"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i][0], colour) == 0)
            return table[i][1];
    return colour[0] == '#' ? colour : "#8c8c8c";
}

uint32_t ns_gltf_colour(ns_gltf *f, const char *colour, const char *fallback, double shade,
                        double opacity, bool thin)
{
    const char *code = named(colour ? colour : fallback);
    ns_gltf_material m = {
        .name = colour ? colour : fallback, .alpha = opacity > 0 ? opacity : 1, .thin = thin};
    for (int i = 0; i < 3; i++) {
        double c = (hex(code[1 + 2 * i]) * 16 + hex(code[2 + 2 * i])) / 255.0;
        c += shade * (1 - c);
        m.rgb[i] = c <= 0.04045 ? c / 12.92 : ns_math_pow((c + 0.055) / 1.055, 2.4);
    }
    for (uint32_t i = 0; i < f->materials.n; i++) {
        const ns_gltf_material *o = &f->materials.at[i];
        if (memcmp(o->rgb, m.rgb, sizeof m.rgb) == 0 && o->alpha == m.alpha &&
            o->thin == m.thin)
            return i;
    }
    NS_PUSH(f->arena, f->materials, m);
    return f->materials.n - 1;
}

/* ---- meshes and nodes -------------------------------------------------------------------- */

uint32_t ns_gltf_mesh_new(ns_gltf *f, const char *name)
{
    NS_PUSH(f->arena, f->meshes, (ns_gltf_mesh){.name = name});
    return f->meshes.n - 1;
}

static bool is_other(const ns_mesh *mesh, uint32_t triangle, char pattern)
{
    double c[3] = {0, 0, 0};
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t i = 0; i < 3; i++)
            c[i] += mesh->positions[3 * mesh->indices[3 * triangle + k] + i];
    if (pattern == 's') {
        const double sector = floor((ns_math_atan2(c[1], c[0]) + 4) / 1.0471975511965976 +
                                    1e-9);
        return fmod(sector, 2) != 0;
    }
    return (c[0] > 0) ^ (c[1] > 0) ^ (c[2] > 0);
}

void ns_gltf_triangles(ns_gltf *f, uint32_t mesh, const ns_mesh *t, uint32_t material,
                       int other, char pattern)
{
    const int position = (int)ns_gltf_floats(f, t->positions, t->vertices, 3, true,
                                             ARRAY_BUFFER),
              normal = (int)ns_gltf_floats(f, t->normals, t->vertices, 3, false, ARRAY_BUFFER);
    uint32_t *part = NS_NEW_ARRAY(f->arena, uint32_t, 3 * (size_t)t->triangles);
    for (int which = 0; which < (other >= 0 ? 2 : 1); which++) {
        uint32_t n = 0;
        for (uint32_t k = 0; k < t->triangles; k++) {
            if (other >= 0 && is_other(t, k, pattern) != (which == 1))
                continue;
            memcpy(part + n, t->indices + 3 * (size_t)k, 3 * sizeof *part);
            n += 3;
        }
        if (n)
            NS_PUSH(f->arena, f->meshes.at[mesh].primitives,
                    (ns_gltf_primitive){position, normal, (int)add_indices(f, part, n),
                                        which ? (uint32_t)other : material, false});
    }
}

void ns_gltf_line(ns_gltf *f, uint32_t mesh, const float *points, uint32_t n, uint32_t material)
{
    const int position = (int)ns_gltf_floats(f, points, n, 3, true, ARRAY_BUFFER);
    NS_PUSH(f->arena, f->meshes.at[mesh].primitives,
            (ns_gltf_primitive){position, -1, -1, material, true});
}

uint32_t ns_gltf_node_new(ns_gltf *f, const char *name, int mesh, int parent)
{
    NS_PUSH(f->arena, f->nodes,
            (ns_gltf_node){.name = name,
                           .mesh = mesh,
                           .parent = parent,
                           .rotation = {0, 0, 0, 1},
                           .scale = {1, 1, 1}});
    return f->nodes.n - 1;
}

void ns_gltf_animate(ns_gltf *f, uint32_t node, ns_gltf_path path, const float *v, uint32_t n)
{
    const uint32_t width = path == NS_GLTF_ROTATION ? 4 : 3;
    NS_PUSH(f->arena, f->channels,
            (ns_gltf_channel){node, ns_gltf_floats(f, v, n, width, false, 0), path});
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void put_accessors(ns_json *j, const ns_gltf *f)
{
    ns_json_array(j, "accessors");
    for (uint32_t i = 0; i < f->accessors.n; i++) {
        const ns_gltf_accessor *a = &f->accessors.at[i];
        ns_json_object(j, NULL);
        ns_json_number(j, "bufferView", a->view);
        ns_json_number(j, "componentType", a->indices ? 5125 : 5126);
        ns_json_number(j, "count", a->count);
        ns_json_text(j, "type", a->width == 1 ? "SCALAR" : a->width == 3 ? "VEC3" : "VEC4");
        for (int k = 0; a->bounded && k < 2; k++) {
            double v[3];
            for (uint32_t c = 0; c < a->width; c++)
                v[c] = k ? (double)a->high[c] : (double)a->low[c];
            ns_json_numbers(j, k ? "max" : "min", v, a->width);
        }
        ns_json_end(j);
    }
    ns_json_end(j);
    ns_json_array(j, "bufferViews");
    for (uint32_t i = 0; i < f->views.n; i++) {
        ns_json_object(j, NULL);
        ns_json_number(j, "buffer", 0);
        ns_json_number(j, "byteOffset", (double)f->views.at[i].offset);
        ns_json_number(j, "byteLength", (double)f->views.at[i].length);
        if (f->views.at[i].target)
            ns_json_number(j, "target", f->views.at[i].target);
        ns_json_end(j);
    }
    ns_json_end(j);
}

static void put_materials(ns_json *j, const ns_gltf *f)
{
    ns_json_array(j, "materials");
    for (uint32_t i = 0; i < f->materials.n; i++) {
        const ns_gltf_material *m = &f->materials.at[i];
        const double colour[4] = {m->rgb[0], m->rgb[1], m->rgb[2], m->alpha};
        ns_json_object(j, NULL);
        ns_json_text(j, "name", m->name);
        ns_json_object(j, "pbrMetallicRoughness");
        ns_json_numbers(j, "baseColorFactor", colour, 4);
        ns_json_number(j, "metallicFactor", 0);
        ns_json_number(j, "roughnessFactor", 0.6);
        ns_json_end(j);
        if (m->alpha < 1)
            ns_json_text(j, "alphaMode", "BLEND");
        if (m->thin) {
            ns_json_bool(j, "doubleSided", true);
        }
        ns_json_end(j);
    }
    ns_json_end(j);
}

static void put_meshes(ns_json *j, const ns_gltf *f)
{
    ns_json_array(j, "meshes");
    for (uint32_t i = 0; i < f->meshes.n; i++) {
        ns_json_object(j, NULL);
        ns_json_text(j, "name", f->meshes.at[i].name);
        ns_json_array(j, "primitives");
        for (uint32_t k = 0; k < f->meshes.at[i].primitives.n; k++) {
            const ns_gltf_primitive *p = &f->meshes.at[i].primitives.at[k];
            ns_json_object(j, NULL);
            ns_json_object(j, "attributes");
            ns_json_number(j, "POSITION", p->position);
            if (p->normal >= 0)
                ns_json_number(j, "NORMAL", p->normal);
            ns_json_end(j);
            if (p->indices >= 0)
                ns_json_number(j, "indices", p->indices);
            ns_json_number(j, "material", p->material);
            if (p->line)
                ns_json_number(j, "mode", 3);
            ns_json_end(j);
        }
        ns_json_end(j);
        ns_json_end(j);
    }
    ns_json_end(j);
}

static void put_nodes(ns_json *j, const ns_gltf *f)
{
    static const double half = 0.70710678118654752;
    ns_json_array(j, "nodes");
    for (uint32_t i = 0; i <= f->nodes.n; i++) {
        const ns_gltf_node *n = i ? &f->nodes.at[i - 1] : NULL; /* 0: turns z up to y up */
        bool children = false;
        ns_json_object(j, NULL);
        ns_json_text(j, "name", n ? n->name : "z up");
        if (!n) {
            ns_json_numbers(j, "rotation", (const double[]){-half, 0, 0, half}, 4);
        } else {
            if (n->mesh >= 0)
                ns_json_number(j, "mesh", n->mesh);
            ns_json_numbers(j, "translation", n->translation, 3);
            ns_json_numbers(j, "rotation", n->rotation, 4);
            ns_json_numbers(j, "scale", n->scale, 3);
        }
        for (uint32_t k = 0; k < f->nodes.n; k++) {
            if (f->nodes.at[k].parent != (int)i - 1)
                continue;
            if (!children) {
                ns_json_array(j, "children");
            }
            children = true;
            ns_json_number(j, NULL, k + 1);
        }
        if (children)
            ns_json_end(j);
        ns_json_end(j);
    }
    ns_json_end(j);
}

static void put_animation(ns_json *j, const ns_gltf *f)
{
    static const char *const paths[] = {"translation", "rotation", "scale"};
    if (f->channels.n == 0)
        return;
    ns_json_array(j, "animations");
    ns_json_object(j, NULL);
    ns_json_text(j, "name", "motion");
    ns_json_array(j, "channels");
    for (uint32_t i = 0; i < f->channels.n; i++) {
        ns_json_object(j, NULL);
        ns_json_number(j, "sampler", i);
        ns_json_object(j, "target");
        ns_json_number(j, "node", f->channels.at[i].node + 1);
        ns_json_text(j, "path", paths[f->channels.at[i].path]);
        ns_json_end(j);
        ns_json_end(j);
    }
    ns_json_end(j);
    ns_json_array(j, "samplers");
    for (uint32_t i = 0; i < f->channels.n; i++) {
        ns_json_object(j, NULL);
        ns_json_number(j, "input", f->times);
        ns_json_text(j, "interpolation", "LINEAR");
        ns_json_number(j, "output", f->channels.at[i].output);
        ns_json_end(j);
    }
    ns_json_end(j);
    ns_json_end(j);
    ns_json_end(j);
}

const unsigned char *ns_gltf_finish(ns_gltf *f, const char *title, size_t *length)
{
    ns_json j = ns_json_new(f->arena);
    ns_json_object(&j, NULL);
    ns_json_object(&j, "asset");
    ns_json_text(&j, "version", "2.0");
    ns_json_text(&j, "generator", "noslip " NS_VERSION);
    ns_json_end(&j);
    ns_json_number(&j, "scene", 0);
    ns_json_array(&j, "scenes");
    ns_json_object(&j, NULL);
    ns_json_text(&j, "name", title);
    ns_json_numbers(&j, "nodes", (const double[]){0}, 1);
    ns_json_end(&j);
    ns_json_end(&j);
    put_nodes(&j, f);
    put_meshes(&j, f);
    put_materials(&j, f);
    put_animation(&j, f);
    put_accessors(&j, f);
    ns_json_array(&j, "buffers");
    ns_json_object(&j, NULL);
    ns_json_number(&j, "byteLength", (double)f->bytes.length);
    ns_json_end(&j);
    ns_json_end(&j);
    ns_json_end(&j);
    while (j.text.length % 4)
        ns_text_add(&j.text, " ");
    ns_text out = ns_text_new(f->arena);
    const size_t whole = 12 + 8 + j.text.length + 8 + f->bytes.length;
    put32(&out, 0x46546c67); /* "glTF" */
    put32(&out, 2);
    put32(&out, (uint32_t)whole);
    put32(&out, (uint32_t)j.text.length);
    put32(&out, 0x4e4f534a); /* "JSON" */
    ns_text_add_bytes(&out, j.text.at, j.text.length);
    put32(&out, (uint32_t)f->bytes.length); /* all in it is a multiple of 4 */
    put32(&out, 0x004e4942);                /* "BIN" */
    ns_text_add_bytes(&out, f->bytes.at, f->bytes.length);
    *length = out.length;
    return (const unsigned char *)out.at;
}
