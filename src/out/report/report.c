#define _GNU_SOURCE
#include "out/report/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/math/vecmath.h"
#include "out/report/report_internal.h"

static const char placeholder[] = "/*NOSLIP_DATA*/";

static void observe(ns_report *r)
{
    const uint32_t n = r->system->observables.n;
    ns_ex *f = NS_NEW_ARRAY(r->arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++)
        f[i] = r->system->observables.at[i].value;
    r->observed = ns_motion_values(&r->record->motion, r->model, r->arena, f, n);
}

/* The comment at the head of the model: its first paragraph says what the model is. */
static const char *about(const ns_model *model, ns_arena *arena)
{
    ns_text text = ns_text_new(arena);
    const char *at = model->text;
    while (at && *at == '#') {
        const size_t length = strcspn(at, "\n");
        size_t skip = strspn(at, "# \t");
        if (skip > length)
            skip = length;
        if (skip == length && text.length)
            break;
        if (skip < length) {
            ns_text_add(&text, text.length ? " " : "");
            ns_text_add_bytes(&text, at + skip, length - skip);
        }
        at += length + (at[length] ? 1 : 0);
    }
    return text.length ? ns_text_string(&text) : NULL;
}

void ns_report_put_model(ns_json *j, const ns_model *model, ns_arena *arena)
{
    const char *slash = strrchr(model->name, '/');
    ns_json_text(j, "title", model->system->description->title);
    ns_json_text(j, "file", slash ? slash + 1 : model->name);
    ns_json_text(j, "about", about(model, arena));
    ns_json_text(j, "model", model->text);
    ns_json_text(j, "formulation", model->system->formulation->name);
}

static const char *accuracy(const ns_report *r)
{
    ns_text text = ns_text_new(r->arena);
    if (r->frames->scene->bodies.n || r->frames->scene->paths.n)
        ns_text_addf(&text,
                     "between them the drawing is within %.1g of the size of what it shows",
                     ns_max(r->off_position, 1e-7));
    if (r->frames->scene->bodies.n)
        ns_text_addf(&text, " and %.1g degrees", ns_max(r->off_angle * 57.3, 1e-5));
    return text.length ? ns_text_string(&text) : NULL;
}

static void put_head(ns_report *r, const char *command)
{
    const ns_record *record = r->record;
    ns_json *j = &r->json;
    ns_json_number(j, "format", 1);
    ns_report_put_model(j, r->model, r->arena);
    ns_json_text(j, "method", record->method->name);
    if (record->chosen && record->choice[0])
        ns_json_text(j, "method_choice", record->choice);
    ns_json_text(j, "engine", record->native ? "native" : "interpreter");
    ns_json_text(j, "version", NS_VERSION);
    if (record->options.run.fixed_step <= 0)
        ns_json_number(j, "tolerance", record->options.run.tolerance);
    ns_json_number(j, "steps", (double)record->outcome->steps);
    ns_json_number(j, "evaluations", (double)record->outcome->evaluations);
    ns_json_number(j, "seconds", record->seconds);
    ns_json_text(j, "status", record->status == NS_OK ? "done" : "stopped");
    if (record->message[0])
        ns_json_text(j, "reason", record->message);
    ns_json_text(j, "command", command);
    ns_json_text(j, "accuracy", accuracy(r));
}

const char *ns_report_data(const ns_record *record, const char *command, bool formulas,
                           ns_arena *arena, size_t *length)
{
    ns_report *r = NS_NEW(arena, ns_report);
    r->record = record;
    r->model = record->model;
    r->system = record->model->system;
    r->arena = arena;
    r->json = ns_json_new(arena);
    r->frames = ns_frames_new(&record->motion, r->model, arena);
    r->n = r->frames->n;
    r->t = r->frames->t;
    observe(r);
    ns_report_collect(r);
    ns_report_thin(r);
    ns_json_object(&r->json, NULL);
    put_head(r, command);
    ns_report_put_facts(r);
    if (formulas)
        ns_report_put_equations(r);
    ns_packed_f64(&r->json, "time", r->t, 1, r->keep, r->kept);
    ns_report_put_series(r);
    ns_report_put_scene(r);
    ns_json_end(&r->json);
    *length = r->json.text.length;
    return ns_json_string(&r->json);
}

/* Template, data, rest of the template; under its name only when it is complete. */
static int put_page(const char *path, const ns_report_options *o, const char *data,
                    size_t length)
{
    const char *place = memmem(o->template, o->length, placeholder, strlen(placeholder));
    if (!place)
        return EINVAL;
    const size_t before = (size_t)(place - o->template);
    const char *rest = place + strlen(placeholder);
    ns_file_target target;
    int descriptor = -1, error = ns_file_target_init(&target, path);
    if (!error)
        error = ns_file_target_create(&target, &descriptor);
    if (!error)
        error = ns_file_put(descriptor, o->template, before);
    if (!error)
        error = ns_file_put(descriptor, data, length);
    if (!error)
        error = ns_file_put(descriptor, rest, o->length - before - strlen(placeholder));
    if (descriptor >= 0 && close(descriptor) && !error)
        error = errno;
    if (!error)
        error = ns_file_target_publish(&target);
    ns_file_target_free(&target);
    return error;
}

bool ns_report_put_page(const char *path, const ns_report_options *o, const char *data,
                        size_t length, char buffer[300])
{
    const int error = data ? put_page(path, o, data, length) : ENOMEM;
    if (error)
        snprintf(buffer, 300, "%s: %s", path, strerror(error));
    return !error;
}

/* Programs are built and derivatives taken on the model's graph: two arenas may run out.  *data
 * stays as it is then. */
static void make(const ns_record *record, const char *command, ns_arena *arena,
                 const char **data, size_t *length)
{
    ns_model *model = record->model;
    pthread_mutex_lock(&model->lock);
    if (!NS_ARENA_GUARD(model->arena) && !NS_ARENA_GUARD(arena))
        *data = ns_report_data(record, command, true, arena, length);
    ns_arena_unguard(arena);
    ns_arena_unguard(model->arena);
    pthread_mutex_unlock(&model->lock);
}

bool ns_report_write(const ns_record *record, const ns_report_options *options,
                     const char *path, char buffer[300])
{
    size_t length = 0;
    const char *data = NULL;
    ns_arena *arena = ns_arena_new();
    if (arena)
        make(record, options->command, arena, &data, &length);
    const bool good = ns_report_put_page(path, options, data, length, buffer);
    ns_arena_free(arena);
    return good;
}
