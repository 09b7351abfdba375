#include "command/studies/matrices.h"

#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/json.h"
#include "out/program/zip.h"

uint32_t ns_matrices_of(const ns_linear_set *set, uint32_t i, ns_matrix m[NS_MATRICES])
{
    const ns_linear_model *l = set->at[i];
    m[0] = (ns_matrix){"A", 'x', 'x', l->n, l->n, l->A};
    m[1] = (ns_matrix){"B", 'x', 'u', l->n, l->m, l->B};
    m[2] = (ns_matrix){"C", 'y', 'x', l->k, l->n, l->C};
    m[3] = (ns_matrix){"D", 'y', 'u', l->k, l->m, l->D};
    if (!set->lqr)
        return 4;
    m[4] = (ns_matrix){"K", 'u', 'x', l->m, l->n, set->lqr->K};
    m[5] = (ns_matrix){"P", 'x', 'x', l->n, l->n, set->lqr->P};
    return NS_MATRICES;
}

const char *ns_matrix_name(const ns_linear_model *l, char kind, uint32_t i)
{
    return kind == 'x' ? l->state[i].name : kind == 'u' ? l->input[i] : l->output[i].name;
}

static void octave_names(ns_text *out, const char *name, const ns_linear_model *l, char kind,
                         uint32_t n)
{
    ns_text_addf(out, "%s = {", name);
    for (uint32_t i = 0; i < n; i++) {
        ns_text_addf(out, "%s\"", i ? ", " : "");
        ns_text_add(out, ns_matrix_name(l, kind, i));
        ns_text_add(out, "\"");
    }
    ns_text_add(out, "};\n");
}

static void octave_matrix(ns_text *out, const ns_matrix *m, const char *place)
{
    ns_text_addf(out, "%s%s = ", m->name, place);
    if (!m->rows || !m->columns) {
        ns_text_addf(out, "zeros(%u, %u);\n", m->rows, m->columns);
        return;
    }
    for (uint32_t i = 0; i < m->rows; i++)
        for (uint32_t k = 0; k < m->columns; k++) {
            ns_text_add(out, k ? ", " : i ? ";\n     " : "[");
            ns_text_add_double(out, m->at[(size_t)i * m->columns + k]);
        }
    ns_text_add(out, "];\n");
}

/* A script for Octave: matrices A, ..., or A(:,:,k) at the times t(k). */
static void write_octave(const ns_linear_set *set, ns_text *out)
{
    const ns_linear_model *l = set->at[0];
    ns_text_addf(out, "%% dz/dt = A z + B u, y = C z + D u; deviations\n");
    octave_names(out, "states", l, 'x', l->n);
    octave_names(out, "inputs", l, 'u', l->m);
    octave_names(out, "outputs", l, 'y', l->k);
    for (uint32_t i = 0; i < set->n; i++) {
        ns_matrix m[NS_MATRICES];
        const uint32_t n = ns_matrices_of(set, i, m);
        const char *place = set->n > 1 ? ns_arena_format(set->arena, "(:,:,%u)", i + 1) : "";
        ns_text_add(out, set->n > 1 ? ns_arena_format(set->arena, "t(%u) = ", i + 1) : "t = ");
        ns_text_add_double(out, set->at[i]->t);
        ns_text_add(out, ";\n");
        for (uint32_t k = 0; k < n; k++)
            octave_matrix(out, &m[k], place);
    }
}

/* An array in the format of NumPy, version 1.0: doubles, little end first. */
static void add_array(const ns_linear_set *set, ns_zip *zip, const char *name,
                      const char *shape, const double *at, size_t count)
{
    ns_text out = ns_text_new(set->arena);
    const char *head = ns_arena_format(
        set->arena, "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", shape);
    const size_t length = strlen(head), whole = (10 + length + 1 + 63) / 64 * 64;
    ns_text_add_bytes(&out, "\x93NUMPY\x01\x00", 8);
    const char size[2] = {(char)((whole - 10) & 0xff), (char)((whole - 10) >> 8)};
    ns_text_add_bytes(&out, size, 2);
    ns_text_add(&out, head);
    for (size_t i = 10 + length; i + 1 < whole; i++)
        ns_text_add_bytes(&out, " ", 1);
    ns_text_add_bytes(&out, "\n", 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        char bytes[8];
        memcpy(&bits, &at[i], sizeof bits);
        for (int b = 0; b < 8; b++)
            bytes[b] = (char)(bits >> (8 * b) & 0xff);
        ns_text_add_bytes(&out, bytes, sizeof bytes);
    }
    ns_zip_add(zip, ns_arena_format(set->arena, "%s.npy", name), ns_text_string(&out),
               out.length);
}

/* Arrays A, ... [rows][columns], or [times][rows][columns], and t. */
static void write_numpy(const ns_linear_set *set, ns_text *out)
{
    ns_arena *a = set->arena;
    ns_zip zip = ns_zip_new(out);
    ns_matrix m[NS_MATRICES];
    const uint32_t n = ns_matrices_of(set, 0, m);
    double *t = NS_NEW_ARRAY(a, double, set->n + 1);
    for (uint32_t k = 0; k < n; k++) {
        ns_matrix part[NS_MATRICES];
        const size_t size = (size_t)m[k].rows * m[k].columns;
        double *all = NS_NEW_ARRAY(a, double, size * set->n + 1);
        for (uint32_t i = 0; i < set->n; i++) {
            ns_matrices_of(set, i, part);
            memcpy(all + i * size, part[k].at, size * sizeof *all);
        }
        const char *times = set->n > 1 ? ns_arena_format(a, "%u, ", set->n) : "";
        add_array(set, &zip, m[k].name,
                  ns_arena_format(a, "%s%u, %u", times, m[k].rows, m[k].columns), all,
                  size * set->n);
    }
    for (uint32_t i = 0; i < set->n; i++)
        t[i] = set->at[i]->t;
    add_array(set, &zip, "t", ns_arena_format(a, "%u,", set->n), t, set->n);
    ns_zip_end(&zip);
}

static void json_names(ns_json *json, const char *key, const ns_linear_model *l, char kind,
                       uint32_t n)
{
    ns_json_array(json, key);
    for (uint32_t i = 0; i < n; i++)
        ns_json_text(json, NULL, ns_matrix_name(l, kind, i));
    ns_json_end(json);
}

/* One object, or an array of them, one for each time. */
static void write_json(const ns_linear_set *set, ns_text *out)
{
    ns_json json = ns_json_new(set->arena);
    if (set->n > 1)
        ns_json_array(&json, NULL);
    for (uint32_t i = 0; i < set->n; i++) {
        const ns_linear_model *l = set->at[i];
        ns_matrix m[NS_MATRICES];
        const uint32_t n = ns_matrices_of(set, i, m);
        ns_json_object(&json, NULL);
        ns_json_number(&json, "t", l->t);
        json_names(&json, "states", l, 'x', l->n);
        json_names(&json, "inputs", l, 'u', l->m);
        json_names(&json, "outputs", l, 'y', l->k);
        for (uint32_t k = 0; k < n; k++) {
            ns_json_array(&json, m[k].name);
            for (uint32_t r = 0; r < m[k].rows; r++)
                ns_json_numbers(&json, NULL, m[k].at + (size_t)r * m[k].columns, m[k].columns);
            ns_json_end(&json);
        }
        ns_json_end(&json);
    }
    if (set->n > 1)
        ns_json_end(&json);
    ns_text_add(out, ns_json_string(&json));
    ns_text_add(out, "\n");
}

static const struct {
    const char *ending;
    void (*write)(const ns_linear_set *set, ns_text *out);
} kinds[] = {{".m", write_octave}, {".npz", write_numpy}, {".json", write_json}};

enum { KINDS = sizeof kinds / sizeof *kinds };

static unsigned kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    unsigned k = 0;
    while (k < KINDS && (!dot || strcasecmp(dot, kinds[k].ending) != 0))
        k++;
    return k;
}

bool ns_matrices_know(const char *path)
{
    return kind_of(path) < KINDS;
}

int ns_matrices_write(const ns_linear_set *set, const char *path)
{
    ns_text out = ns_text_new(set->arena);
    kinds[kind_of(path)].write(set, &out);
    return ns_file_write(path, ns_text_string(&out), out.length);
}
