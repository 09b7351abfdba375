/* Binary glTF: a validator of what the specification asks, run over scenes of every kind, and a
 * comparison of the animation with the motion. */
#include "support/json.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out/formats.h"
#include "out/mesh/gltf.h"
#include "out/mesh/mesh_shapes.h"
#include "session/record.h"

typedef struct file {
    char *bytes;
    size_t length;
    const char *json;
    const unsigned char *bin;
    size_t bin_length;
    /* by accessor */
    size_t n;
    struct accessor {
        size_t count, width, offset;
        bool floats;
    } * a;
} file;

static uint32_t word(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static float number(const file *f, size_t accessor, size_t i)
{
    float v;
    uint32_t bits = word(f->bin + f->a[accessor].offset + 4 * i);
    memcpy(&v, &bits, 4);
    return v;
}

/* header and chunks */
static void open_chunks(file *f)
{
    const unsigned char *p = (const unsigned char *)f->bytes;
    assert_true(f->length >= 28 && f->length % 4 == 0);
    assert_memory_equal(p, "glTF", 4);
    assert_int_equal(word(p + 4), 2);
    assert_int_equal(word(p + 8), f->length);
    size_t json = word(p + 12);
    assert_int_equal(json % 4, 0);
    assert_memory_equal(p + 16, "JSON", 4);
    assert_true(20 + json + 8 <= f->length);
    f->bin_length = word(p + 20 + json);
    assert_int_equal(f->bin_length % 4, 0);
    assert_memory_equal(p + 24 + json, "BIN\0", 4);
    assert_int_equal(28 + json + f->bin_length, f->length);
    f->bin = p + 28 + json;
    char *text = malloc(json + 1);
    assert_non_null(text);
    memcpy(text, p + 20, json);
    text[json] = 0;
    f->json = text;
    assert_non_null(json_skip(text));
}

static void check_accessors(file *f)
{
    const char *views = json_get(f->json, "bufferViews"),
               *accessors = json_get(f->json, "accessors");
    assert_int_equal(json_count(json_get(f->json, "buffers")), 1);
    assert_int_equal(
        json_number(json_get(json_at(json_get(f->json, "buffers"), 0), "byteLength"), -1),
        f->bin_length);
    f->n = json_count(accessors);
    f->a = calloc(f->n + 1, sizeof *f->a);
    const char *one = json_at(accessors, 0);
    for (size_t i = 0; i < f->n; i++) {
        struct accessor *a = &f->a[i];
        const char *type = json_get(one, "type");
        const char *view = json_at(views,
                                   (size_t)json_number(json_get(one, "bufferView"), 1e9));
        assert_non_null(view);
        double component = json_number(json_get(one, "componentType"), 0);
        assert_true(component == 5126 || component == 5125);
        a->floats = component == 5126;
        a->count = (size_t)json_number(json_get(one, "count"), 0);
        a->width = strncmp(type, "\"SCALAR", 7) == 0 ? 1
                   : strncmp(type, "\"VEC3", 5) == 0 ? 3
                                                     : 4;
        a->offset = (size_t)json_number(json_get(view, "byteOffset"), 0);
        double length = json_number(json_get(view, "byteLength"), 0);
        assert_true(a->count > 0);
        assert_int_equal(a->offset % 4, 0);
        assert_true((double)(4 * a->count * a->width) <= length);
        assert_true((double)a->offset + length <= (double)f->bin_length);
        const char *low = json_get(one, "min"), *high = json_get(one, "max");
        for (size_t k = 0; a->floats && k < a->count * a->width; k++)
            assert_true(isfinite(number(f, i, k)));
        for (size_t c = 0; low && c < a->width; c++) {
            float least = INFINITY, most = -INFINITY;
            for (size_t k = 0; k < a->count; k++) {
                least = fminf(least, number(f, i, k * a->width + c));
                most = fmaxf(most, number(f, i, k * a->width + c));
            }
            assert_true((float)json_number(json_at(low, c), NAN) == least);
            assert_true((float)json_number(json_at(high, c), NAN) == most);
        }
        one = json_blank(json_skip(one));
        one = *one == ',' ? json_blank(one + 1) : NULL;
    }
}

static size_t index_of(const char *object, const char *key, size_t limit)
{
    double i = json_number(json_get(object, key), -1);
    assert_true(i >= 0 && i < (double)limit && i == floor(i));
    return (size_t)i;
}

static void check_meshes(const file *f)
{
    const char *meshes = json_get(f->json, "meshes"),
               *accessors = json_get(f->json, "accessors");
    size_t materials = json_count(json_get(f->json, "materials")), n = json_count(meshes);
    for (size_t i = 0; i < n; i++) {
        const char *primitives = json_get(json_at(meshes, i), "primitives");
        size_t m = json_count(primitives);
        assert_true(m > 0);
        for (size_t k = 0; k < m; k++) {
            const char *p = json_at(primitives, k), *attributes = json_get(p, "attributes");
            size_t position = index_of(attributes, "POSITION", f->n);
            assert_true(f->a[position].width == 3 && f->a[position].floats);
            assert_non_null(json_get(json_at(accessors, position), "min"));
            index_of(p, "material", materials);
            if (json_number(json_get(p, "mode"), 4) == 3) {
                assert_true(f->a[position].count >= 2);
                continue;
            }
            size_t normal = index_of(attributes, "NORMAL", f->n),
                   indices = index_of(p, "indices", f->n);
            assert_int_equal(f->a[normal].count, f->a[position].count);
            for (size_t v = 0; v < f->a[normal].count; v++) {
                double x = number(f, normal, 3 * v), y = number(f, normal, 3 * v + 1),
                       z = number(f, normal, 3 * v + 2);
                assert_true(fabs(x * x + y * y + z * z - 1) < 1e-3);
            }
            assert_true(!f->a[indices].floats && f->a[indices].count % 3 == 0);
            for (size_t v = 0; v < f->a[indices].count; v++)
                assert_true(word(f->bin + f->a[indices].offset + 4 * v) < f->a[position].count);
        }
    }
}

static void check_nodes(const file *f)
{
    const char *nodes = json_get(f->json, "nodes");
    size_t n = json_count(nodes), meshes = json_count(json_get(f->json, "meshes")), edges = 0;
    int *parents = calloc(n + 1, sizeof *parents);
    for (size_t i = 0; i < n; i++) {
        const char *node = json_at(nodes, i), *children = json_get(node, "children"),
                   *rotation = json_get(node, "rotation");
        if (json_get(node, "mesh"))
            index_of(node, "mesh", meshes);
        double length = 0;
        for (size_t k = 0; k < 4; k++)
            length += pow(json_number(json_at(rotation, k), NAN), 2);
        assert_true(fabs(length - 1) < 1e-5);
        for (size_t k = 0; k < json_count(children); k++, edges++) {
            size_t child = (size_t)json_number(json_at(children, k), 1e9);
            assert_true(child < n && child != i);
            assert_int_equal(parents[child]++, 0);
        }
    }
    assert_int_equal(edges, n - 1); /* one tree */
    free(parents);
}

static void check_animation(const file *f, bool moving)
{
    const char *animation = json_at(json_get(f->json, "animations"), 0);
    assert_true((animation != NULL) == moving);
    const char *channels = json_get(animation, "channels"),
               *samplers = json_get(animation, "samplers");
    size_t n = json_count(samplers), nodes = json_count(json_get(f->json, "nodes"));
    assert_int_equal(json_count(channels), n);
    for (size_t i = 0; i < n; i++) {
        const char *channel = json_at(channels, i), *target = json_get(channel, "target"),
                   *path = json_get(target, "path");
        const char *sampler = json_at(samplers, index_of(channel, "sampler", n));
        size_t input = index_of(sampler, "input", f->n),
               output = index_of(sampler, "output", f->n);
        index_of(target, "node", nodes);
        assert_int_equal(f->a[input].count, f->a[output].count);
        assert_int_equal(f->a[input].width, 1);
        assert_true(number(f, input, 0) == 0);
        for (size_t k = 1; k < f->a[input].count; k++)
            assert_true(number(f, input, k) > number(f, input, k - 1));
        bool turn = strncmp(path, "\"rotation", 9) == 0;
        assert_int_equal(f->a[output].width, turn ? 4 : 3);
        for (size_t k = 0; turn && k < f->a[output].count; k++) {
            double length = 0, along = 0;
            for (size_t c = 0; c < 4; c++) {
                double q = number(f, output, 4 * k + c);
                length += q * q;
                along += q * (k ? (double)number(f, output, 4 * (k - 1) + c) : q);
            }
            assert_true(fabs(length - 1) < 1e-5);
            assert_true(along > 0.5); /* no jump to the opposite sign */
        }
    }
}

static void validate(file *f, bool moving)
{
    open_chunks(f);
    assert_true(strncmp(json_get(json_get(f->json, "asset"), "version"), "\"2.0\"", 5) == 0);
    check_accessors(f);
    check_meshes(f);
    check_nodes(f);
    check_animation(f, moving);
}

static void close_file(file *f)
{
    free(f->bytes);
    free((char *)(size_t)f->json);
    free(f->a);
}

/* Runs a model and reads the file it writes. */
static file written(ns_model *model, double until)
{
    char name[] = "gltf-test-XXXXXX.glb";
    int descriptor = mkstemps(name, 4);
    assert_true(descriptor >= 0);
    close(descriptor);
    ns_record_options o = ns_record_defaults(model);
    const char *outputs[] = {name};
    o.run.until = until;
    o.formats = ns_output_formats;
    o.outputs = outputs;
    o.n_outputs = 1;
    ns_record *r = ns_record_new(model, &o);
    assert_non_null(r);
    if (r->status)
        fail_msg("%s", r->message);
    assert_true(ns_record_run(r) >= 0);
    ns_record_free(r);
    file f = {0};
    FILE *in = fopen(name, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    f.length = (size_t)ftell(in);
    rewind(in);
    f.bytes = malloc(f.length);
    assert_int_equal(fread(f.bytes, 1, f.length, in), f.length);
    fclose(in);
    unlink(name);
    return f;
}

static void test_gallery(void **state)
{
    (void)state;
    static const char *const names[] = {
        "rattleback",   "bicycle",      "double-pendulum",    "snakeboard",   "falling-disk",
        "kepler",       "four-bar",     "spherical-pendulum", "ball-in-bowl", "turntable",
        "bead-on-hoop", "ball-on-wire", "sphere-one-particle"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ns_model *m = motion_model_file(names[i], NULL);
        file f = written(m, 1);
        validate(&f, true);
        assert_true(json_count(json_get(f.json, "meshes")) >= 2);
        close_file(&f);
        ns_model_free(m);
    }
}

/* Node and accessor of an animated path of a node by name. */
static size_t output_of(const file *f, const char *name, const char *path)
{
    const char *nodes = json_get(f->json, "nodes"),
               *animation = json_at(json_get(f->json, "animations"), 0),
               *channels = json_get(animation, "channels"),
               *samplers = json_get(animation, "samplers");
    for (size_t i = 0; i < json_count(channels); i++) {
        const char *target = json_get(json_at(channels, i), "target");
        const char *node = json_at(nodes, index_of(target, "node", 1000));
        if (strncmp(json_get(node, "name") + 1, name, strlen(name)) == 0 &&
            strncmp(json_get(target, "path") + 1, path, strlen(path)) == 0)
            return index_of(json_at(samplers, i), "output", f->n);
    }
    fail_msg("%s has no %s", name, path);
    return 0;
}

/* A uniform rotation in a plane and a rod between moving points, where everything is known. */
static void test_motion(void **state)
{
    (void)state;
    ns_model *m = motion_model_text(
        "param w = 3\nstate x' = 1, a' = w\nstart { x = 0; a = 0 }\n"
        "draw side {\n roller: disk [x, 0.5], 0.5, a\n"
        " arm: rod [0, 0], [cos(a), sin(a)]\n trail [x, 0]\n}\nrun { until 4 }\n",
        NULL);
    file f = written(m, 4);
    validate(&f, true);
    size_t move = output_of(&f, "roller", "translation"),
           turn = output_of(&f, "roller", "rotation"), arm = output_of(&f, "arm", "rotation");
    const char *sampler = json_at(
        json_get(json_at(json_get(f.json, "animations"), 0), "samplers"), 0);
    size_t time = index_of(sampler, "input", f.n);
    assert_true(f.a[time].count >= 10);
    for (size_t k = 0; k < f.a[time].count; k++) {
        double t = number(&f, time, k);
        assert_true(fabs(number(&f, move, 3 * k) - t) < 1e-6);
        assert_true(fabs(number(&f, move, 3 * k + 2) - 0.5) < 1e-6);
        /* about -y by 3 t, up to the sign of the whole */
        double w = number(&f, turn, 4 * k + 3), y = number(&f, turn, 4 * k + 1);
        assert_true(fabs(fabs(w * cos(1.5 * t) - y * sin(1.5 * t)) - 1) < 1e-6);
        /* the rod's z points along the arm: R e3 = (2(xz + wy), 2(yz - wx), 1 - 2(x^2 +
         * y^2)) */
        double q[4];
        for (size_t c = 0; c < 4; c++)
            q[c] = number(&f, arm, 4 * k + c);
        assert_true(fabs(2 * (q[0] * q[2] + q[3] * q[1]) - cos(3 * t)) < 3e-6);
        assert_true(fabs(1 - 2 * (q[0] * q[0] + q[1] * q[1]) - sin(3 * t)) < 3e-6);
    }
    close_file(&f);
    ns_model_free(m);
}

/* Closed meshes of all shapes: the volume inside is that of the shape, so all triangles face
 * out. */
static double volume(const ns_mesh *mesh)
{
    double sum = 0;
    for (uint32_t i = 0; i < mesh->triangles; i++) {
        const float *p[3];
        for (uint32_t k = 0; k < 3; k++)
            p[k] = mesh->positions + 3 * (size_t)mesh->indices[3 * i + k];
        sum += (double)p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
               (double)p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
               (double)p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    }
    return sum / 6;
}

static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        double volume;
    } shapes[] = {
        {"ball [1, 2, 3], 0.5", 0.5235987755982988},
        {"ellipsoid [1, 2, 3], [1, 2, 0.5]", 4.1887902047863905},
        {"disk [0, 0, 0], 1, thickness = 0.2, axis = [1, 1, 0]", 0.6283185307179586},
        {"cylinder [0, 1, 0], 0.5, 2, axis = [0, 0, -1]", 1.5707963267948966},
        {"torus [0, 0, 0], 1, 0.25, axis = [0, -1, 0]", 1.2337005501361697},
        {"box [0, 0, 1], [1, 2, 3]", 6},
        {"polygon [0, 0, 0], [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], thickness = 0.5",
         1.5},
        {"polygon [0, 0, 0], [[0, 2], [1, 2], [1, 1], [2, 1], [2, 0], [0, 0]], thickness = 0.5",
         1.5},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "state x' = 1\nstart { x = 0 }\ndraw space {\n %s\n}\nrun { until 1 }\n",
                 shapes[i].line);
        ns_model *m = motion_model_text(text, NULL);
        const ns_scene_body *body = &m->system->scene.bodies.at[0];
        ns_arena *arena = ns_arena_new();
        ns_mesh mesh;
        assert_true(ns_mesh_shape(arena, m, &body->shapes.at[0], 1, &mesh));
        double v = volume(&mesh); /* a polyhedron inside: somewhat less */
        if (!(v <= shapes[i].volume * (1 + 1e-5) && v > 0.96 * shapes[i].volume))
            fail_msg("%s: volume %g", shapes[i].line, v);
        ns_arena_free(arena);
        ns_model_free(m);
    }
}

static void test_nothing(void **state)
{
    (void)state;
    ns_model *m = motion_model_text("state x' = 1\nstart { x = 0 }\nrun { until 1 }\n", NULL);
    ns_record_options o = ns_record_defaults(m);
    const char *outputs[] = {"nothing.glb"};
    o.formats = ns_output_formats;
    o.outputs = outputs;
    o.n_outputs = 1;
    ns_record *r = ns_record_new(m, &o);
    assert_int_equal(r->status, NS_ERR_USAGE);
    assert_non_null(strstr(r->message, "the model has no picture; a `draw` block"));
    ns_record_free(r);
    assert_int_not_equal(access("nothing.glb", F_OK), 0);
    ns_model_free(m);
    /* the picture in a Lie algebra alone */
    m = motion_model_text(
        "state x' = y, y' = -x, z' = 0\nstart { x = 1; y = 0; z = 1 }\n"
        "draw algebra {\n \"<M>\": point [x, y, z]\n sphere 1.5\n}\nrun { until 1 }\n",
        NULL);
    file f = written(m, 1);
    validate(&f, true);
    close_file(&f);
    ns_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gallery),
        cmocka_unit_test(test_motion),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
