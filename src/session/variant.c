#include "session/variant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mech/keep.h"
#include "session/inputs/inputs.h"
#include "session/start.h"

static int64_t find(const ns_variant *v, const char *name)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (strcmp(v->name[i], name) == 0)
            return i;
    return -1;
}

static int64_t parameter(const ns_model *model, const char *name)
{
    for (uint32_t i = 0; i < model->description->params.n; i++)
        if (strcmp(model->description->params.at[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- expressions ------------------------------------------------------------------------- */

/* The expression in the scope of the model, whose lock is held; 0 after errors, which go to the
 * diag of the variant. */
static ns_ex read_expression(ns_model *variant, ns_model *of, const ns_variant_value *v)
{
    ns_diag *diag = of->diag;
    const ns_diag before = *diag; /* the messages of the model stay as they are */
    ns_value value = {0};
    const bool good = ns_description_evaluate(of->description, v->name, v->expression,
                                              &value) &&
                      diag->errors == before.errors;
    for (uint32_t i = before.messages.n; i < diag->messages.n && !good; i++) {
        const ns_message *m = &diag->messages.at[i];
        ns_diag_say(variant->diag, m->severity, (ns_span){0}, "%s = %s: %s", v->name,
                    v->expression, m->text);
    }
    *diag = before;
    if (good && value.rows == 1 && value.cols == 1)
        return value.at[0];
    if (good)
        ns_diag_error(variant->diag, (ns_span){0}, "%s = %s: expected a number, not a vector",
                      v->name, v->expression);
    return 0;
}

static bool number_of(ns_model *variant, ns_model *of, const ns_variant_value *v, double *out)
{
    *out = v->number;
    if (v->expression) {
        const ns_ex e = read_expression(variant, of, v);
        if (!e)
            return false;
        ns_system_eval(of->system, &e, 1, 0, variant->p, NULL, out);
    }
    if (isfinite(*out))
        return true;
    ns_diag_error(variant->diag, (ns_span){0}, "%s%s%s is not a finite number", v->name,
                  v->expression ? " = " : "", v->expression ? v->expression : "");
    return false;
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* Parameters from what is set so far. */
static void settle(ns_model *variant, ns_variant *own)
{
    double *given = NS_NEW_ARRAY(variant->arena, double, variant->description->params.n + 1);
    for (uint32_t i = 0; i < own->n; i++) {
        const int64_t at = parameter(variant, own->name[i]);
        if (at < 0)
            continue;
        given[at] = own->value[i];
        own->is_set[at] = true;
    }
    ns_system_params(variant->system, own->is_set, given, variant->p);
}

static bool set_all(ns_model *variant, ns_variant *own, const ns_variant_value *values,
                    size_t n)
{
    settle(variant, own);
    for (size_t i = 0; i < n; i++) {
        double number;
        if (!number_of(variant, own->of, &values[i], &number))
            return false;
        int64_t at = find(own, values[i].name);
        if (at < 0) {
            at = own->n++;
            own->name[at] = ns_arena_string(variant->arena, values[i].name,
                                            strlen(values[i].name));
        }
        own->value[at] = number;
        settle(variant, own);
    }
    for (uint32_t i = 0; i < variant->description->params.n; i++)
        if (!isfinite(variant->p[i]))
            ns_diag_error(variant->diag, variant->description->params.at[i].span,
                          "parameter `%s` has no finite value",
                          variant->description->params.at[i].name);
    return variant->diag->errors == 0;
}

static bool find_start(ns_model *variant, const ns_variant *own, double t0)
{
    char reason[300] = "";
    const char *message = reason;
    ns_starter *starter = ns_starter_new(variant->arena, variant->system, t0, own->name, own->n,
                                         &message);
    if (starter &&
        ns_starter_find(starter, own->value, variant->p, variant->x0, reason, sizeof reason))
        return true;
    ns_diag_error(variant->diag, (ns_span){0}, "%s", message);
    return false;
}

/* ---- the whole --------------------------------------------------------------------------- */

static ns_variant *own_part(const ns_model *variant, ns_model *model, size_t n)
{
    ns_arena *arena = variant->arena;
    const ns_variant *before = model->variant ? model->variant : model->taken;
    ns_variant *own = NS_NEW(arena, ns_variant);
    own->of = model->variant ? model->variant->of : model;
    own->n = before ? before->n : 0;
    own->name = NS_NEW_ARRAY(arena, const char *, own->n + n + 1);
    own->value = NS_NEW_ARRAY(arena, double, own->n + n + 1);
    own->is_set = NS_NEW_ARRAY(arena, bool, model->description->params.n + 1);
    for (uint32_t i = 0; i < own->n; i++) {
        own->name[i] = ns_arena_string(arena, before->name[i], strlen(before->name[i]));
        own->value[i] = before->value[i];
    }
    return own;
}

static void build(ns_model *variant, ns_variant *own, const ns_variant_value *values, size_t n)
{
    ns_arena *arena = variant->arena;
    variant->system = ns_system_fork(own->of->system, arena);
    variant->p = NS_NEW_ARRAY(arena, double, variant->description->params.n + 1);
    variant->x0 = NS_NEW_ARRAY(arena, double, variant->system->states.n + 1);
    if (!set_all(variant, own, values, n))
        return;
    ns_model_read_settings(variant);
    ns_inputs_schedule(variant, own->of);
    if (variant->diag->errors)
        return;
    const double t0 = ns_model_run_options(variant).t0;
    const ns_formulation *f = variant->system->formulation;
    if (find_start(variant, own, t0) &&
        ns_keep_verify(variant->system, variant->diag, variant->p, variant->x0) && f->doubts)
        f->doubts(variant->system, variant->diag, t0, variant->p, variant->x0);
}

/* There are no variants of a wrong model: what is wrong with it is wrong with this one. */
static void take_failure(ns_model *variant, const ns_model *of)
{
    variant->status = of->status;
    variant->name = ns_arena_string(variant->arena, of->name, strlen(of->name));
    variant->messages = ns_arena_string(variant->arena, of->messages, strlen(of->messages));
}

/* Both arenas may run out: what is wrong with an expression is found in the model's. */
static bool guarded(ns_model *variant, ns_model *model, const ns_variant_value *values,
                    size_t n)
{
    ns_model *of = model->variant ? model->variant->of : model;
    if (NS_ARENA_GUARD(variant->arena) || NS_ARENA_GUARD(of->arena))
        return false;
    variant->diag = of->diag ? ns_diag_like(variant->arena, of->diag)
                             : ns_diag_new(variant->arena);
    if (of->status != NS_OK) {
        take_failure(variant, of);
        return true;
    }
    if (of->sensitivity) {
        variant->status = NS_ERR_MODEL;
        variant->messages = "error: a model with sensitivities has no variants: set values "
                            "first, then ask for sensitivities\n";
        return true;
    }
    ns_variant *own = own_part(variant, model, n);
    variant->variant = own;
    variant->text = of->text;
    variant->length = of->length;
    variant->description = of->description;
    build(variant, own, values, n);
    variant->status = variant->diag->errors ? NS_ERR_MODEL : NS_OK;
    ns_text text = ns_text_new(variant->arena);
    ns_diag_render(variant->diag, &text);
    variant->messages = ns_text_string(&text);
    return true;
}

ns_model *ns_variant_new(ns_model *model, const ns_variant_value *values, size_t n)
{
    ns_model *of = model->variant ? model->variant->of : model;
    ns_model *variant = calloc(1, sizeof *variant);
    ns_arena *arena = ns_arena_new();
    if (!variant || !arena || pthread_mutex_init(&variant->lock, NULL)) {
        ns_arena_free(arena);
        free(variant);
        return NULL;
    }
    *variant = (ns_model){.status = of->status,
                          .kind = of->kind,
                          .name = of->name,
                          .messages = of->messages,
                          .overrides = of->overrides,
                          .n_overrides = of->n_overrides,
                          .settings = ns_model_no_settings(),
                          .interrupt = model->interrupt,
                          .problem = of->problem,
                          .shared = of->shared,
                          .arena = arena,
                          .users = 1,
                          .lock = variant->lock};
    pthread_mutex_lock(&of->lock);
    const bool good = guarded(variant, model, values, n);
    of->users += variant->variant ? 1 : 0;
    ns_arena_unguard(arena);
    ns_arena_unguard(of->arena);
    pthread_mutex_unlock(&of->lock);
    if (!good) {
        variant->status = NS_ERR_MEMORY;
        variant->messages = "error: out of memory\n";
    }
    return variant;
}

ns_model *ns_variant_again(ns_model *model, const ns_model *like)
{
    const ns_variant *from = like->variant;
    ns_variant_value *values = calloc(from->n + (size_t)1, sizeof *values);
    for (uint32_t i = 0; values && i < from->n; i++)
        values[i] = (ns_variant_value){.name = from->name[i], .number = from->value[i]};
    ns_model *variant = values ? ns_variant_new(model, values, from->n) : NULL;
    free(values);
    return variant;
}

/* ---- copies ------------------------------------------------------------------------------ */

static bool is_among(const ns_override *overrides, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(overrides[i].name, name) == 0)
            return true;
    return false;
}

/* The numbers of a variant, but for those that are overridden. */
static void take_numbers(ns_model *copy, const ns_variant *from, const ns_override *more,
                         size_t n)
{
    if (NS_ARENA_GUARD(copy->arena)) {
        ns_arena_unguard(copy->arena);
        copy->status = NS_ERR_MEMORY;
        return;
    }
    ns_variant *left = NS_NEW(copy->arena, ns_variant);
    left->name = NS_NEW_ARRAY(copy->arena, const char *, from->n + 1);
    left->value = NS_NEW_ARRAY(copy->arena, double, from->n + 1);
    for (uint32_t i = 0; i < from->n; i++)
        if (!is_among(more, n, from->name[i])) {
            left->name[left->n] = ns_arena_string(copy->arena, from->name[i],
                                                  strlen(from->name[i]));
            left->value[left->n++] = from->value[i];
        }
    copy->taken = left;
    if (!find_start(copy, left, ns_model_run_options(copy).t0)) {
        copy->status = NS_ERR_MODEL;
    } else {
        copy->settings = ns_model_no_settings();
        ns_model_read_settings(copy);
    }
    ns_arena_unguard(copy->arena);
}

ns_model *ns_variant_copy(const ns_model *model, const ns_override *more, size_t n)
{
    const size_t before = model->n_overrides;
    ns_override *all = calloc(before + n + 1, sizeof *all);
    if (!all)
        return NULL;
    memcpy(all, model->overrides, before * sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[before + i] = more[i];
    ns_model *copy = ns_model_load_text(model->name, model->text, model->length, all,
                                        before + n, NS_MODEL_READY);
    free(all);
    if (copy && copy->status == NS_OK && model->variant)
        take_numbers(copy, model->variant, more, n);
    return copy;
}
