#include "session/model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/near.h"
#include "base/simd.h"
#include "expr/eval.h"
#include "mech/keep.h"
#include "ode/auto.h"
#include "session/inputs/inputs.h"
#include "session/settings.h"
#include "session/variant.h"

enum { MOST_BYTES = 64 << 20 }; /* a model of this size is surely another kind of file */

/* ---- near names -------------------------------------------------------------------------- */

int64_t ns_model_observable(const ns_model *model, const char *name)
{
    const ns_system *s = model->system;
    for (uint32_t i = 0; i < s->observables.n; i++)
        if (strcmp(s->observables.at[i].name, name) == 0)
            return i;
    return -1;
}

const char *ns_model_nearest_observable(const ns_model *model, const char *name)
{
    const ns_system *s = model->system;
    ns_near near = {.word = name};
    for (uint32_t i = 0; i < s->observables.n; i++)
        ns_near_try(&near, s->observables.at[i].name);
    return near.found;
}

/* ---- settings of the run block ----------------------------------------------------------- */

void ns_model_read_settings(ns_model *model)
{
    const ns_description *d = model->description;
    ns_ex *symbols = NS_NEW_ARRAY(model->arena, ns_ex, d->params.n + 1);
    for (uint32_t i = 0; i < d->params.n; i++)
        symbols[i] = d->params.at[i].symbol;
    for (uint32_t i = 0; i < d->settings.n; i++) {
        const ns_setting *setting = &d->settings.at[i];
        char *place = (char *)&model->settings + setting->form->place;
        double value;
        if (setting->word) {
            memcpy(place, &setting->word, sizeof setting->word);
            continue;
        }
        ns_eval(d->graph, &setting->value, 1, symbols, model->p, d->params.n, &value);
        if (ns_description_setting(model->diag, setting, value))
            memcpy(place, &value, sizeof value);
    }
}

ns_run_options ns_model_run_options(const ns_model *model)
{
    const ns_model_settings *s = &model->settings;
    ns_run_options o = ns_run_defaults();
    if (s->method)
        o.method = s->method;
    o.t0 = isnan(s->from) ? 0 : s->from;
    o.until = s->until; /* nan if the model does not say */
    if (!isnan(s->tolerance))
        o.tolerance = s->tolerance;
    if (!isnan(s->step))
        o.fixed_step = s->step;
    if (!isnan(s->first_step))
        o.first_step = s->first_step;
    if (!isnan(s->max_step))
        o.max_step = s->max_step;
    if (!isnan(s->max_steps))
        o.max_steps = s->max_steps < 1e18 ? (uint64_t)s->max_steps : 0;
    o.interrupt = model->interrupt;
    o.schedule = model->schedule;
    if (s->project)
        o.project = strcmp(s->project, "on") == 0;
    return o;
}

/* ---- loading ----------------------------------------------------------------------------- */

static void render(ns_model *model)
{
    ns_text text = ns_text_new(model->arena);
    ns_diag_render(model->diag, &text);
    model->messages = ns_text_string(&text);
}

static bool check_params(ns_model *model)
{
    const ns_description *d = model->description;
    for (uint32_t i = 0; i < d->params.n; i++)
        if (!isfinite(model->p[i]))
            ns_diag_error(model->diag, d->params.at[i].span,
                          "parameter `%s` has no finite value", d->params.at[i].name);
    return model->diag->errors == 0;
}

/* The system in the mode it starts in. */
static const ns_system *at_start(const ns_system *s, double t0, const double *p,
                                 const double *x0)
{
    const uint32_t mode = ns_system_first_mode(s, t0, p, x0);
    return ns_system_mode(s, mode == UINT32_MAX ? 0 : mode);
}

/* All that needs the arena.  Errors end up in diag. */
static void build(ns_model *model, ns_model_depth depth)
{
    const bool shaken = model->kind == NS_MODEL_SHAKEN;
    model->description = (shaken ? ns_description_read_shaken : ns_description_read)(
        model->arena, model->diag, &ns_settings_grammar, model->name, model->text,
        model->length, model->overrides, model->n_overrides);
    if (!model->description || depth == NS_MODEL_READ)
        return;
    model->description->precise = model->kind == NS_MODEL_PRECISE;
    model->system = ns_system_derive(model->description);
    if (!model->system || model->diag->errors)
        return;
    model->p = NS_NEW_ARRAY(model->arena, double, model->description->params.n + 1);
    ns_system_params(model->system, NULL, NULL, model->p);
    if (!check_params(model))
        return;
    ns_model_read_settings(model);
    if (model->diag->errors || depth == NS_MODEL_DERIVED)
        return;
    if (!ns_inputs_read(model))
        return;
    ns_inputs_schedule(model, model);
    if (model->diag->errors)
        return;
    model->x0 = NS_NEW_ARRAY(model->arena, double, model->system->states.n + 1);
    const double t0 = ns_model_run_options(model).t0;
    if (!ns_system_start(model->system, model->diag, t0, model->p, model->x0) ||
        !ns_keep_verify(model->system, model->diag, model->p, model->x0))
        return;
    if (model->schedule && model->kind == NS_MODEL_PLAIN)
        ns_inputs_check_moves(model);
    if (model->diag->errors)
        return;
    model->problem = ns_problem_new(model->system, false);
    if (model->system->formulation->doubts)
        model->system->formulation->doubts(at_start(model->system, t0, model->p, model->x0),
                                           model->diag, t0, model->p, model->x0);
}

static void copy_overrides(ns_model *model, const ns_override *from, size_t n)
{
    ns_override *copy = NS_NEW_ARRAY(model->arena, ns_override, n + 1);
    for (size_t i = 0; i < n; i++) {
        copy[i].name = ns_arena_string(model->arena, from[i].name, strlen(from[i].name));
        copy[i].expression = ns_arena_string(model->arena, from[i].expression,
                                             strlen(from[i].expression));
    }
    model->overrides = copy;
    model->n_overrides = n;
}

static void no_memory(ns_model *model)
{
    model->status = NS_ERR_MEMORY;
    model->messages = "error: out of memory\n";
}

/* The guarded part of loading: `model` is whole when memory runs out anywhere in here. */
static void fill(ns_model *model, const char *name, int error, const ns_override *overrides,
                 size_t n_overrides, ns_model_depth depth)
{
    if (NS_ARENA_GUARD(model->arena)) {
        ns_arena_unguard(model->arena);
        no_memory(model);
        return;
    }
    model->diag = ns_diag_new(model->arena);
    model->name = ns_arena_string(model->arena, name, strlen(name));
    char why[200];
    if (!ns_simd_check_variable(why, sizeof why)) {
        model->status = NS_ERR_USAGE;
        ns_diag_error(model->diag, (ns_span){0}, "%s", why);
    } else if (error) {
        model->status = error == EIO ? NS_ERR_IO : NS_ERR_USAGE;
        ns_diag_error(model->diag, (ns_span){0}, "cannot read %s: %s", name,
                      error == EFBIG ? "it is larger than 64 MB; this is not a model"
                                     : strerror(error));
    } else {
        copy_overrides(model, overrides, n_overrides);
        build(model, depth);
        if (model->diag->errors || !model->description ||
            (depth >= NS_MODEL_DERIVED && !model->system) ||
            (depth >= NS_MODEL_READY && !model->problem))
            model->status = NS_ERR_MODEL;
        else if (model->system)
            model->shared = ns_system_fork(model->system, model->arena);
    }
    render(model);
    ns_arena_unguard(model->arena);
}

ns_model_settings ns_model_no_settings(void)
{
    const double none = (double)NAN;
    return (ns_model_settings){.from = none,
                               .until = none,
                               .tolerance = none,
                               .every = none,
                               .step = none,
                               .first_step = none,
                               .max_step = none,
                               .max_steps = none};
}

/* Takes the text, which malloc gave. */
static ns_model *load(const char *name, char *text, size_t length, int error,
                      ns_model_kind kind, const ns_override *overrides, size_t n_overrides,
                      ns_model_depth depth)
{
    ns_model *model = calloc(1, sizeof *model);
    if (!model || pthread_mutex_init(&model->lock, NULL)) {
        free(model);
        free(text);
        return NULL;
    }
    model->kind = kind;
    model->text = text;
    model->length = length;
    model->name = model->messages = "";
    model->users = 1;
    model->settings = ns_model_no_settings();
    model->arena = ns_arena_new();
    if (!model->arena || error == ENOMEM)
        no_memory(model);
    else
        fill(model, name, error, overrides, n_overrides, depth);
    return model;
}

ns_model *ns_model_load(const char *path, const ns_override *overrides, size_t n_overrides,
                        ns_model_depth depth)
{
    char *text = NULL;
    size_t length = 0;
    int error = ns_file_read(path, MOST_BYTES, &text, &length);
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    return load(name, text, length, error, NS_MODEL_PLAIN, overrides, n_overrides, depth);
}

static ns_model *load_copy(const char *name, const char *text, size_t length,
                           ns_model_kind kind, const ns_override *overrides, size_t n_overrides,
                           ns_model_depth depth)
{
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return load(name, copy, copy ? length : 0, copy ? 0 : ENOMEM, kind, overrides, n_overrides,
                depth);
}

ns_model *ns_model_load_text(const char *name, const char *text, size_t length,
                             const ns_override *overrides, size_t n_overrides,
                             ns_model_depth depth)
{
    return load_copy(name, text, length, NS_MODEL_PLAIN, overrides, n_overrides, depth);
}

static ns_model *twin_load(const ns_model *model, ns_model_kind kind)
{
    if (!model->variant)
        return load_copy(model->name, model->text, model->length, kind, model->overrides,
                         model->n_overrides, NS_MODEL_READY);
    ns_model *twin = ns_model_twin(model->variant->of, kind);
    return twin ? ns_variant_again(twin, model) : NULL;
}

static ns_model *twin_new(const ns_model *model, ns_model_kind kind)
{
    ns_model *other = twin_load(model, kind);
    bool good = other && other->status == NS_OK &&
                other->system->states.n == model->system->states.n &&
                other->system->observables.n == model->system->observables.n;
    for (uint32_t i = 0; good && i < model->system->states.n; i++)
        good = strcmp(model->system->states.at[i].name, other->system->states.at[i].name) == 0;
    if (good)
        return other;
    ns_model_free(other);
    return NULL;
}

ns_model *ns_model_twin(ns_model *model, ns_model_kind kind)
{
    pthread_mutex_lock(&model->lock);
    if (!model->twins[kind])
        model->twins[kind] = twin_new(model, kind);
    ns_model *twin = model->twins[kind];
    pthread_mutex_unlock(&model->lock);
    return twin;
}

void ns_model_free(ns_model *model)
{
    if (!model)
        return;
    pthread_mutex_lock(&model->lock);
    const bool used = --model->users > 0;
    pthread_mutex_unlock(&model->lock);
    if (used)
        return;
    ns_model *of = model->variant ? model->variant->of : NULL;
    for (size_t i = 0; i < sizeof model->twins / sizeof *model->twins; i++)
        ns_model_free(model->twins[i]);
    pthread_mutex_destroy(&model->lock);
    ns_arena_free(model->arena);
    if (!of)
        free(model->text);
    free(model);
    ns_model_free(of);
}

/* ---- what is made when it is first asked for --------------------------------------------- */

/* The lock is the arena's as well. */
static ns_system *begin(ns_model *model)
{
    return ns_system_fork(model->shared, model->arena);
}

ns_model *ns_model_precise(ns_model *model)
{
    const bool same = !model->system->iterated || model->kind == NS_MODEL_PRECISE;
    return same ? model : ns_model_twin(model, NS_MODEL_PRECISE);
}

const ns_exact *ns_model_exact(ns_model *model, bool shaken)
{
    pthread_mutex_lock(&model->lock);
    if (!model->exact[shaken] && !NS_ARENA_GUARD(model->arena)) {
        ns_exact *exact = NS_NEW(model->arena, ns_exact);
        const double t0 = ns_model_run_options(model).t0;
        *exact = ns_quad_start(at_start(begin(model), t0, model->p, model->x0), model->arena,
                               t0, model->p, model->x0, shaken);
        model->exact[shaken] = exact;
    }
    const ns_exact *exact = model->exact[shaken];
    ns_arena_unguard(model->arena);
    pthread_mutex_unlock(&model->lock);
    return exact;
}

/* Whose problems a model uses: its own, or of a variant those of the model it is one of. */
static ns_model *owner_of(ns_model *model)
{
    return model->variant ? model->variant->of : model;
}

static const ns_problem *with_jacobian(ns_model *model)
{
    pthread_mutex_lock(&model->lock);
    if (!model->with_jacobian && !NS_ARENA_GUARD(model->arena))
        model->with_jacobian = ns_problem_new(begin(model), true);
    const ns_problem *problem = model->with_jacobian;
    ns_arena_unguard(model->arena);
    pthread_mutex_unlock(&model->lock);
    return problem;
}

const ns_problem *ns_model_problem(ns_model *model, bool jacobian)
{
    return jacobian ? with_jacobian(owner_of(model)) : owner_of(model)->problem;
}

/* The problem with what a method needs beside it, made once. */
static const ns_problem *with_more(ns_model *model, ns_problem **made,
                                   void (*add)(ns_problem *))
{
    pthread_mutex_lock(&model->lock);
    if (!*made && !NS_ARENA_GUARD(model->arena)) {
        ns_problem *problem = ns_arena_copy(model->arena, model->problem, sizeof *problem);
        add(problem);
        *made = problem;
    }
    const ns_problem *problem = *made;
    ns_arena_unguard(model->arena);
    pthread_mutex_unlock(&model->lock);
    return problem;
}

const ns_problem *ns_model_problem_for(ns_model *model, const ns_method *method)
{
    if (method->needs_balance)
        return with_more(owner_of(model), &owner_of(model)->with_balance,
                         ns_problem_add_balance);
    if (!method->precise)
        return ns_model_problem(model, method->needs_jacobian);
    ns_model *from = ns_model_precise(model);
    if (!from || !ns_model_exact(model, false))
        return NULL;
    from = owner_of(from);
    return with_more(from, &from->with_tangent, ns_problem_add_tangent);
}
