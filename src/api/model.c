/* Models: opening, variants, messages, and what they have. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "base/process/plain.h"
#include "session/gallery.h"
#include "session/sensitivity.h"
#include "session/variant.h"

/* ---- opening ----------------------------------------------------------------------------- */

static ns_override *overrides_of(const char *const *names, const char *const *expressions,
                                 size_t n)
{
    ns_override *o = calloc(n + 1, sizeof *o);
    for (size_t i = 0; o && i < n; i++)
        o[i] = (ns_override){.name = names[i], .expression = expressions[i]};
    return o;
}

ns_model *ns_model_open(const char *path, const char *const *names,
                        const char *const *expressions, size_t n)
{
    NS_PLAIN_NUMBERS;
    ns_override *o = overrides_of(names, expressions, n);
    ns_model *model = o ? ns_model_load(path, o, n, NS_MODEL_READY) : NULL;
    free(o);
    return model;
}

ns_model *ns_model_open_text(const char *name, const char *text, const char *const *names,
                             const char *const *expressions, size_t n)
{
    NS_PLAIN_NUMBERS;
    ns_override *o = overrides_of(names, expressions, n);
    ns_model *model = o ? ns_model_load_text(name, text, strlen(text), o, n, NS_MODEL_READY)
                        : NULL;
    free(o);
    return model;
}

/* A model that is nothing but what is wrong with the request. */
static ns_model *refuse(const char *name)
{
    ns_model *model = ns_model_load_text(name, "", 0, NULL, 0, NS_MODEL_READ);
    if (!model || !model->diag)
        return model;
    const char *nearest = ns_gallery_nearest(name);
    if (NS_ARENA_GUARD(model->arena)) {
        ns_arena_unguard(model->arena);
        model->status = NS_ERR_MEMORY;
        return model;
    }
    model->diag = ns_diag_new(model->arena);
    ns_diag_error(model->diag, (ns_span){0}, "no bundled model `%s`%s%s%s", name,
                  nearest ? "; did you mean `" : "", nearest ? nearest : "",
                  nearest ? "`?" : "");
    ns_text text = ns_text_new(model->arena);
    ns_diag_render(model->diag, &text);
    model->messages = ns_text_string(&text);
    model->status = NS_ERR_USAGE;
    ns_arena_unguard(model->arena);
    return model;
}

ns_model *ns_model_open_gallery(const char *name, const char *const *names,
                                const char *const *expressions, size_t n)
{
    const struct ns_gallery_entry *entry = ns_gallery_find(name);
    return entry ? ns_model_open_text(entry->name, entry->text, names, expressions, n)
                 : refuse(name);
}

ns_model *ns_model_find(const char *name, const char *const *names,
                        const char *const *expressions, size_t n)
{
    const bool bundled = access(name, F_OK) != 0 && ns_gallery_find(name);
    return bundled ? ns_model_open_gallery(name, names, expressions, n)
                   : ns_model_open(name, names, expressions, n);
}

static ns_model *variant(ns_model *model, const char *const *names,
                         const char *const *expressions, const double *numbers, size_t n)
{
    ns_variant_value *values = model ? calloc(n + 1, sizeof *values) : NULL;
    for (size_t i = 0; values && i < n; i++)
        values[i] = (ns_variant_value){.name = names[i],
                                       .expression = expressions ? expressions[i] : NULL,
                                       .number = numbers ? numbers[i] : 0};
    ns_model *made = values ? ns_variant_new(model, values, n) : NULL;
    free(values);
    return made;
}

ns_model *ns_model_variant(ns_model *model, const char *const *names,
                           const char *const *expressions, size_t n)
{
    NS_PLAIN_NUMBERS;
    return variant(model, names, expressions, NULL, n);
}

ns_model *ns_model_variant_numbers(ns_model *model, const char *const *names,
                                   const double *values, size_t n)
{
    NS_PLAIN_NUMBERS;
    return variant(model, names, NULL, values, n);
}

ns_model *ns_model_sensitivities(const ns_model *model, const char *names)
{
    NS_PLAIN_NUMBERS;
    return model ? ns_sensitivity_model(model, names ? names : "") : NULL;
}

void ns_model_close(ns_model *model)
{
    ns_model_free(model);
}

/* ---- messages ---------------------------------------------------------------------------- */

ns_verdict ns_model_verdict(const ns_model *model)
{
    return model ? ns_api_verdict(model->status) : NS_FAILED;
}

const char *ns_model_messages(const ns_model *model)
{
    return model ? model->messages : "error: out of memory\n";
}

/* Reading an expression for a variant borrows the diag for a while. */
static void lock(const ns_model *model)
{
    pthread_mutex_lock((pthread_mutex_t *)&model->lock);
}

static void unlock(const ns_model *model)
{
    pthread_mutex_unlock((pthread_mutex_t *)&model->lock);
}

size_t ns_model_message_count(const ns_model *model)
{
    if (!model || !model->diag)
        return 0;
    lock(model);
    const size_t n = model->diag->messages.n;
    unlock(model);
    return n;
}

static const char *hint_of(const char *text)
{
    static const char *const marks[] = {"did you mean", "use ", "give ", "add ", "expected "};
    for (const char *at = text; (at = strpbrk(at, ";:")) != NULL; at++)
        for (size_t i = 0; at[1] == ' ' && i < sizeof marks / sizeof *marks; i++)
            if (strncmp(at + 2, marks[i], strlen(marks[i])) == 0)
                return at + 2;
    return "";
}

const char *ns_model_message(const ns_model *model, size_t i, const char **severity,
                             const char **file, unsigned *line, unsigned *column,
                             unsigned *length, const char **hint)
{
    static const char *const words[] = {"note", "warning", "error"};
    const char *text = "", *level = "", *name = "";
    unsigned at[3] = {0};
    if (i < ns_model_message_count(model)) {
        lock(model);
        const ns_message m = model->diag->messages.at[i];
        text = m.text;
        level = words[m.severity];
        if (m.span.source) {
            name = model->diag->sources.at[m.span.source - 1].name;
            ns_diag_position(model->diag, m.span, &at[0], &at[1]);
            at[2] = m.span.end - m.span.begin;
        }
        unlock(model);
    }
    const char **const texts[] = {severity, file, hint};
    const char *const said[] = {level, name, hint_of(text)};
    unsigned *const numbers[] = {line, column, length};
    for (size_t k = 0; k < 3; k++) {
        if (texts[k])
            *texts[k] = said[k];
        if (numbers[k])
            *numbers[k] = at[k];
    }
    return text;
}

/* ---- what it has ------------------------------------------------------------------------- */

const char *ns_model_title(const ns_model *model)
{
    return model && model->description ? model->description->title : "";
}

const char *ns_model_source(const ns_model *model)
{
    return model ? model->name : "";
}

const char *ns_model_text(const ns_model *model)
{
    return model && model->text ? model->text : "";
}

const char *ns_model_formulation(const ns_model *model)
{
    return model && model->system ? model->system->formulation->name : "";
}

size_t ns_model_count(const ns_model *model, ns_kind kind)
{
    if (!ns_api_good(model))
        return 0;
    const ns_system *s = model->system;
    switch (kind) {
    case NS_PARAMETERS:
        return model->description->params.n;
    case NS_STATES:
        return s->states.n;
    case NS_VALUES:
        return s->observables.n;
    case NS_CONSTRAINTS:
        return s->constraints.n;
    case NS_INVARIANTS:
        return s->invariants.n;
    case NS_EVENTS:
        return s->events.n;
    case NS_INPUTS:
        return s->description->inputs.n;
    }
    return 0;
}

const char *ns_model_name(const ns_model *model, ns_kind kind, size_t i)
{
    if (i >= ns_model_count(model, kind))
        return "";
    const ns_system *s = model->system;
    switch (kind) {
    case NS_PARAMETERS:
        return model->description->params.at[i].name;
    case NS_STATES:
        return s->states.at[i].name;
    case NS_VALUES:
        return s->observables.at[i].name;
    case NS_CONSTRAINTS:
        return s->constraints.at[i].name;
    case NS_INVARIANTS:
        return s->invariants.at[i].name;
    case NS_EVENTS:
        return s->events.at[i].name;
    case NS_INPUTS:
        return s->description->inputs.at[i].name;
    }
    return "";
}

long ns_model_index(const ns_model *model, ns_kind kind, const char *name)
{
    const size_t n = ns_model_count(model, kind);
    for (size_t i = 0; i < n; i++)
        if (strcmp(ns_model_name(model, kind, i), name) == 0)
            return (long)i;
    return -1;
}

const char *ns_model_unit(const ns_model *model, ns_kind kind, size_t i)
{
    if (i >= ns_model_count(model, kind))
        return "";
    const char *unit = kind == NS_PARAMETERS ? model->description->params.at[i].unit
                       : kind == NS_STATES   ? model->system->states.at[i].unit
                       : kind == NS_VALUES   ? model->system->observables.at[i].unit
                                             : NULL;
    return unit ? unit : "";
}

double ns_model_number(const ns_model *model, ns_kind kind, size_t i)
{
    if (i >= ns_model_count(model, kind))
        return (double)NAN;
    return kind == NS_PARAMETERS ? model->p[i] : kind == NS_STATES ? model->x0[i] : (double)NAN;
}

size_t ns_model_numbers(const ns_model *model, ns_kind kind, double *numbers, size_t n)
{
    const size_t count = kind == NS_PARAMETERS || kind == NS_STATES
                             ? ns_model_count(model, kind)
                             : 0;
    for (size_t i = 0; i < count && i < n; i++)
        numbers[i] = ns_model_number(model, kind, i);
    return count;
}

double ns_model_setting(const ns_model *model, const char *name)
{
    if (!ns_api_good(model))
        return (double)NAN;
    const ns_model_settings *s = &model->settings;
    const struct {
        const char *name;
        double value;
    } settings[] = {{"from", isnan(s->from) ? 0 : s->from},
                    {"until", s->until},
                    {"tolerance", s->tolerance},
                    {"every", s->every},
                    {"step", s->step},
                    {"first_step", s->first_step},
                    {"max_step", s->max_step},
                    {"max_steps", s->max_steps}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (strcmp(settings[i].name, name) == 0)
            return settings[i].value;
    return (double)NAN;
}
